"""The vector type against numpy."""

import numpy as np
from numba import njit
from numpy.typing import NDArray

from poker.kernels.simd import (
    fma,
    lanes_to_rows,
    lanes_to_rows8,
    load,
    load8,
    maximum,
    rows_to_lanes,
    rows_to_lanes8,
    splat,
    splat8,
    store,
    total,
    where_positive,
)

Floats = NDArray[np.float32]


@njit()
def _arithmetic(a: Floats, b: Floats, out: Floats) -> float:
    x, y = load(a, 16), load(b, 0)
    value = maximum(x, splat(0.25)) * y - fma(x, y, y) / (x + splat(9.0))
    store(out, 0, where_positive(x, value, y))
    summed: float = total(value)
    return summed


@njit()
def _there_and_back(source: Floats, rows: NDArray[np.int64], lanes: Floats, target: Floats) -> None:
    rows_to_lanes(source, rows, 32, lanes, 16)
    lanes_to_rows(lanes, 16, target, rows, 32)


@njit()
def _half(source: Floats, rows: NDArray[np.int64], lanes: Floats, target: Floats) -> None:
    rows_to_lanes8(source, rows, 32, lanes, 16)
    for i in range(16, 80, 8):
        store(lanes, i, (load8(lanes, i) + splat8(1.0)) * splat8(2.0))
    lanes_to_rows8(lanes, 16, target, rows, 32)


def test_arithmetic_is_lane_by_lane() -> None:
    a, b = np.random.default_rng(1).normal(size=(2, 32)).astype(np.float32)
    out = np.zeros(16, np.float32)
    sum_of_lanes = _arithmetic(a, b, out)
    x, y = a[16:], b[:16]
    value = np.maximum(x, 0.25) * y - (x * y + y) / (x + 9)
    np.testing.assert_allclose(out, np.where(x > 0, value, y), rtol=1e-5, atol=1e-6)
    np.testing.assert_allclose(sum_of_lanes, value.sum(), rtol=1e-5)


def test_transposes_move_every_element() -> None:
    source = np.arange(16 * 64, dtype=np.float32)
    rows = np.random.default_rng(2).permutation(16).astype(np.int64) * 64
    lanes, target = np.zeros(16 * 17, np.float32), np.zeros(16 * 64, np.float32)
    _there_and_back(source, rows, lanes, target)
    block = source.reshape(16, 64)[rows // 64, 32:48]
    np.testing.assert_array_equal(lanes[16:].reshape(16, 16), block.T)
    np.testing.assert_array_equal(target.reshape(16, 64)[:, 32:48], source.reshape(16, 64)[:, 32:48])
    assert (target.reshape(16, 64)[:, :32] == 0).all()


def test_vectors_of_eight_do_the_same() -> None:
    source = np.arange(8 * 64, dtype=np.float32)
    rows = np.random.default_rng(2).permutation(8).astype(np.int64) * 64
    lanes, target = np.zeros(100, np.float32), np.zeros(8 * 64, np.float32)
    _half(source, rows, lanes, target)
    block = source.reshape(8, 64)[rows // 64, 32:40]
    np.testing.assert_array_equal(lanes[16:80].reshape(8, 8), 2 * (block.T + 1))
    np.testing.assert_array_equal(target.reshape(8, 64)[:, 32:40], 2 * (source.reshape(8, 64)[:, 32:40] + 1))
    assert (lanes[80:] == 0).all()
    assert (target.reshape(8, 64)[:, 40:] == 0).all()
