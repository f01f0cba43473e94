"""The compiler of kernels reads the fields of named tuples once, counts no references to arguments, and changes nothing
else."""

import gc
from typing import Any, NamedTuple

import numpy as np
from numba import njit
from numba.core import ir

from poker.kernels.compiler import KernelCompiler


class Pair(NamedTuple):
    left: np.ndarray
    right: np.ndarray


class Box(NamedTuple):
    pair: Pair
    scale: int


FIELDS = Pair._fields + Box._fields


@njit(inline="always")
def _take(box: Box, i: int, out: np.ndarray) -> None:
    left, pair = box.pair.left, box.pair
    for j in range(len(out)):
        out[j] += box.scale * left[i] + pair.right[i]


def _twice(box: Box, out: np.ndarray) -> None:
    for i in range(2):
        _take(box, i, out)
    _take(box, 2, out)


def _swapped(box: Box, other: Box, out: np.ndarray) -> None:
    """Assign to the argument; another name for its first value keeps that value."""
    first = box
    for i in range(3):
        if i == 1:
            box = other
        out[i] = 10 * box.pair.left[i] + first.pair.left[i]


def _box(scale: int, start: int) -> Box:
    return Box(Pair(np.arange(start, start + 3), np.arange(3) * 100), scale)


def _reads(kernel: Any) -> list[str]:
    blocks = next(iter(kernel.overloads.values())).type_annotation.blocks
    values = [x.value for block in blocks.values() for x in block.find_insts(ir.Assign)]
    return sorted(x.attr for x in values if isinstance(x, ir.Expr) and x.op == "getattr" and x.attr in FIELDS)


def test_inlined_kernels_share_fields_that_are_read() -> None:
    out, plain = np.zeros(2, np.int64), np.zeros(2, np.int64)
    kernel, usual = njit(pipeline_class=KernelCompiler)(_twice), njit(_twice)
    kernel(_box(7, 1), out)
    usual(_box(7, 1), plain)
    assert out.tolist() == plain.tolist() == [7 * 6 + 300] * 2
    assert _reads(kernel) == ["left", "pair", "right", "scale"]
    assert len(_reads(usual)) == 10


def test_an_argument_that_is_assigned_to_is_left_alone() -> None:
    out = np.zeros(3, np.int64)
    njit(pipeline_class=KernelCompiler)(_swapped)(_box(1, 1), _box(1, 5), out)
    assert out.tolist() == [11, 62, 73]


def _by_row(pair: Pair, out: np.ndarray) -> None:
    """Pass rows of an array on in a loop, from where they are passed on again."""
    for i in range(len(pair.left)):
        out[i] = _sum(pair.left[i])


@njit
def _sum(row: np.ndarray) -> int:
    total = 0
    for x in row:
        total += _above(row, x)
    return total


@njit
def _above(row: np.ndarray, x: int) -> Any:
    return x - row[0]


def test_references_to_arguments_are_not_counted() -> None:
    rows, out = Pair(np.arange(6).reshape(3, 2), np.zeros(1)), np.zeros((2, 3), np.int64)
    usual, kernel = njit(_by_row), njit(pipeline_class=KernelCompiler)(_by_row)
    usual(rows, out[0])
    kernel(rows, out[1])
    assert out.tolist() == [[1, 1, 1]] * 2
    assert _counts(usual) > _counts(kernel) == 0


def _counts(kernel: Any) -> int:
    code: str = next(iter(kernel.inspect_llvm().values()))
    return code.count("call void @NRT_incref")


def _first_row(rows: np.ndarray) -> Any:
    return rows[0]


@njit
def _made_and_cut() -> Any:
    return _cut(np.arange(1 << 20).reshape(2, -1))


_cut = njit(pipeline_class=KernelCompiler)(_first_row)


def test_array_behind_a_returned_argument_stays_alive() -> None:
    """Nothing else refers to the array that it is part of."""
    rows_cut = [_made_and_cut() for _ in range(4)]
    gc.collect()
    assert [row[-1] for row in rows_cut] == [(1 << 19) - 1] * 4
    rows = np.arange(1 << 20).reshape(2, -1)
    first = _cut(rows)
    del rows
    assert first[-1] == (1 << 19) - 1
