"""A vector of 16 float32 as a numba value, so that kernels state their SIMD loops explicitly.

`load`, `store` and `splat` move data, and `prefetch` requests it. The four arithmetic operators and `maximum`,
`where_positive` and `fma` compute lane by lane. The types are LLVM's own, so they compile on any CPU: one 512-bit
register with AVX-512, two with AVX2, four with NEON. `rows_to_lanes` and `lanes_to_rows` transpose 16 x 16 blocks. The
owners of arrays pad them to multiples of LANES. Vectors of 8 and 32 have their own `load` and `splat`.
"""

import operator
from collections.abc import Callable
from typing import Any

import numpy as np
from llvmlite import ir
from numba.core import cgutils, types
from numba.core.extending import intrinsic, models, overload, register_model

from poker.kernels.types import F32

LANES = 16

_operation: Any = intrinsic


def aligned_zeros(size: int) -> F32:
    """Return zeros that start at a multiple of 64 bytes, so that no vector of a padded row spans cache lines.

    Args:
        size: number of floats.

    Returns:
        float32 [size].
    """
    buffer: F32 = np.zeros(size + 16, np.float32)
    skip = -buffer.ctypes.data % 64 // 4
    return buffer[skip : skip + size]


_F32 = ir.FloatType()
_V16, _V8, _V32 = (ir.VectorType(_F32, count) for count in (LANES, LANES // 2, 2 * LANES))
_I16X16 = ir.VectorType(ir.IntType(16), LANES)


class Lanes(types.Type):
    """The numba type of a vector value."""

    def __init__(self, kind: Any) -> None:
        """Name the type after its number of lanes.

        Args:
            kind: LLVM's vector type.
        """
        super().__init__(name=f"float32x{kind.count}")
        self.kind = kind


float32x16, float32x8, float32x32 = Lanes(_V16), Lanes(_V8), Lanes(_V32)


@register_model(Lanes)
class _LanesModel(models.PrimitiveModel):
    def __init__(self, dmm: Any, fe_type: Any) -> None:
        super().__init__(dmm, fe_type, fe_type.kind)  # type: ignore[no-untyped-call]


def _pointer(context: Any, builder: Any, array_type: Any, array: Any, index: Any, kind: Any = _V16) -> Any:
    """Return the address of a value of `kind` at array[index]; `index` is an intp."""
    struct = cgutils.create_struct_proxy(array_type)(context, builder, array)  # type: ignore[no-untyped-call]
    return builder.bitcast(builder.gep(struct.data, [index], inbounds=True), kind.as_pointer())


def start(context: Any, builder: Any, signature: Any, args: Any, kind: Any = _V16) -> Any:
    """Return a pointer to args[0][args[1]], where a value of `kind` begins."""
    index = context.cast(builder, args[1], signature.args[1], types.intp)
    return _pointer(context, builder, signature.args[0], args[0], index, kind)


def call(builder: Any, name: str, returned: Any, arguments: list[Any]) -> Any:
    """Generate a call of a function of LLVM or C by its name."""
    kind = ir.FunctionType(returned, [argument.type for argument in arguments])
    function: Any = cgutils.get_or_insert_function(builder.module, kind, name)  # type: ignore[no-untyped-call]
    return builder.call(function, arguments)


def _lanes(build: Callable[..., Any]) -> Any:
    """Return the code generator of an operation that needs only LLVM's builder and values."""
    return lambda context, builder, signature, args: build(builder, *args)


def _loaded(typed: Any) -> Any:
    def generate(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        return builder.load(start(context, builder, signature, args, signature.return_type.kind), align=4)

    return typed, generate


@_operation
def load(typing: Any, array: Any, index: Any) -> Any:
    """Load array[index : index + 16] from a contiguous float32 array [n]."""
    return _loaded(float32x16(array, index))


@_operation
def load8(typing: Any, array: Any, index: Any) -> Any:
    """Load array[index : index + 8] from a contiguous float32 array [n]."""
    return _loaded(float32x8(array, index))


@_operation
def load32(typing: Any, array: Any, index: Any) -> Any:
    """Load array[index : index + 32] from a contiguous float32 array [n]."""
    return _loaded(float32x32(array, index))


@_operation
def load_int16(typing: Any, array: Any, index: Any) -> Any:
    """Load array[index : index + 16] from a contiguous int16 array [n], converted to float32."""

    def generate(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        return builder.sitofp(builder.load(start(context, builder, signature, args, _I16X16), align=2), _V16)

    return float32x16(array, index), generate


@_operation
def store(typing: Any, array: Any, index: Any, value: Any) -> Any:
    """Store a vector of 16 (or 8) at array[index] of a contiguous float32 array [n]."""

    def generate(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        builder.store(args[2], start(context, builder, signature, args, value.kind), align=4)
        return context.get_dummy_value()

    return types.void(array, index, value), generate


@_operation
def prefetch(typing: Any, array: Any, index: Any) -> Any:
    """Request the cache line of `array[index]` so that fetches overlap; results do not change.

    The line is fetched for writing unless the array is read-only. The array [n] is contiguous.
    """

    def generate(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        index = context.cast(builder, args[1], signature.args[1], types.intp)
        data = context.make_array(signature.args[0])(context, builder, args[0]).data  # the index may be out of bounds
        address = builder.bitcast(builder.gep(data, [index]), cgutils.voidptr_t)
        writes, keep, data = (ir.IntType(32)(number) for number in (int(signature.args[0].mutable), 3, 1))
        call(builder, "llvm.prefetch.p0", ir.VoidType(), [address, writes, keep, data])
        return context.get_dummy_value()

    return types.void(array, index), generate


def _spread(typed: Any) -> Any:
    kind = typed.return_type.kind

    def generate(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        scalar = context.cast(builder, args[0], signature.args[0], types.float32)
        vector = builder.insert_element(ir.Constant(kind, ir.Undefined), scalar, ir.IntType(32)(0))
        return _shuffle(builder, vector, ir.Constant(kind, ir.Undefined), [0] * kind.count)

    return typed, generate


@_operation
def splat(typing: Any, value: Any) -> Any:
    """Return a vector of 16 lanes equal to `value`, rounded to float32."""
    return _spread(float32x16(value))


@_operation
def splat8(typing: Any, value: Any) -> Any:
    """Return a vector of 8 lanes equal to `value`, rounded to float32."""
    return _spread(float32x8(value))


@_operation
def splat32(typing: Any, value: Any) -> Any:
    """Return a vector of 32 lanes equal to `value`, rounded to float32."""
    return _spread(float32x32(value))


def _operator(symbol: Any, name: str) -> None:
    @_operation
    def apply(typing: Any, a: Any, b: Any) -> Any:
        return a(a, a), _lanes(lambda builder, a, b: getattr(builder, name)(a, b))

    @overload(symbol)
    def implement(a: Any, b: Any) -> Any:
        def lanewise(a: Any, b: Any) -> Any:
            return apply(a, b)

        return lanewise if isinstance(a, Lanes) and a == b else None


for _symbol, _name in (
    (operator.add, "fadd"),
    (operator.sub, "fsub"),
    (operator.mul, "fmul"),
    (operator.truediv, "fdiv"),
):
    _operator(_symbol, _name)


@_operation
def maximum(typing: Any, a: Any, b: Any) -> Any:
    """Return the larger value of each lane (b where one is not a number)."""
    return float32x16(a, b), _lanes(lambda builder, a, b: builder.select(builder.fcmp_ordered(">", a, b), a, b))


@_operation
def where_positive(typing: Any, condition: Any, a: Any, b: Any) -> Any:
    """Return lanes of `a` where `condition` > 0, of `b` elsewhere."""
    zero = ir.Constant(_V16, [0.0] * LANES)
    code = _lanes(lambda builder, x, a, b: builder.select(builder.fcmp_ordered(">", x, zero), a, b))
    return float32x16(condition, a, b), code


@_operation
def any_positive(typing: Any, vector: Any) -> Any:
    """Return whether any lane is > 0."""
    zero, bits = ir.Constant(_V16, [0.0] * LANES), ir.IntType(LANES)

    def test(builder: Any, x: Any) -> Any:
        return builder.icmp_unsigned("!=", builder.bitcast(builder.fcmp_ordered(">", x, zero), bits), bits(0))

    return types.boolean(vector), _lanes(test)


@_operation
def fma(typing: Any, a: Any, b: Any, c: Any) -> Any:
    """Return a * b + c, fused where the CPU supports it."""
    kind = a.kind
    return a(a, a, a), _lanes(lambda builder, *abc: call(builder, f"llvm.fmuladd.v{kind.count}f32", kind, [*abc]))


@_operation
def total(typing: Any, vector: Any) -> Any:
    """Return the sum of the 16 lanes, added pairwise."""

    def add(builder: Any, value: Any) -> Any:
        for size in (8, 4, 2, 1):
            value = builder.fadd(
                value, _shuffle(builder, value, value, [(lane + size) % LANES for lane in range(LANES)])
            )
        return builder.extract_element(value, ir.IntType(32)(0))

    return types.float32(vector), _lanes(add)


def _interleave(builder: Any, rows: list[Any]) -> list[Any]:
    """Return the transpose of as many vectors as have lanes; step s swaps blocks of size s between rows s apart."""
    lanes = len(rows)
    for size in (size for size in (8, 4, 2, 1) if size < lanes):
        low = [i for block in range(0, lanes, 2 * size) for i in range(block, block + size)]
        mask_a, mask_b = [], []
        for lane in range(lanes):
            mask_a.append(lane if lane & size == 0 else lane - size + lanes)
            mask_b.append(lane + size if lane & size == 0 else lane + lanes)
        for i in low:
            a, b = rows[i], rows[i + size]
            rows[i], rows[i + size] = _shuffle(builder, a, b, mask_a), _shuffle(builder, a, b, mask_b)
    return rows


def _shuffle(builder: Any, a: Any, b: Any, mask: list[int]) -> Any:
    return builder.shuffle_vector(a, b, ir.Constant(ir.VectorType(ir.IntType(32), len(mask)), mask))


def _row(context: Any, builder: Any, array: Any, rows: Any, r: int, column: Any, kind: Any) -> Any:
    """Return the address of a vector in row `r`: array[rows[r] + column]; array and rows are (type, value)."""
    int64 = ir.IntType(64)
    begin = builder.load(_pointer(context, builder, rows[0], rows[1], int64(r), int64))
    return _pointer(context, builder, array[0], array[1], builder.add(begin, column), kind)


def _rows_to_lanes(kind: Any, typed: Any) -> Any:
    def generate(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        source, rows, column, target, begin = zip(signature.args, args, strict=True)
        at, to = (context.cast(builder, value, kind, types.intp) for kind, value in (column, begin))
        places = [_row(context, builder, source, rows, r, at, kind) for r in range(kind.count)]
        values = [builder.load(place, align=4) for place in places]
        for i, value in enumerate(_interleave(builder, values)):
            place = builder.add(to, ir.IntType(64)(kind.count * i))
            builder.store(value, _pointer(context, builder, *target, place, kind), align=4)
        return context.get_dummy_value()

    return typed, generate


@_operation
def rows_to_lanes(typing: Any, source: Any, rows: Any, column: Any, target: Any, begin: Any) -> Any:
    """Transpose a 16 x 16 block: target[begin + 16 * i + r] = source[rows[r] + column + i]; `rows` is int64 [16]."""
    return _rows_to_lanes(_V16, types.void(source, rows, column, target, begin))


@_operation
def rows_to_lanes8(typing: Any, source: Any, rows: Any, column: Any, target: Any, begin: Any) -> Any:
    """Transpose an 8 x 8 block: target[begin + 8 * i + r] = source[rows[r] + column + i]; `rows` is int64 [8]."""
    return _rows_to_lanes(_V8, types.void(source, rows, column, target, begin))


def _lanes_to_rows(kind: Any, typed: Any) -> Any:
    def generate(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        source, begin, target, rows, column = zip(signature.args, args, strict=True)
        at, to = (context.cast(builder, value, kind, types.intp) for kind, value in (begin, column))
        places = [builder.add(at, ir.IntType(64)(kind.count * i)) for i in range(kind.count)]
        values = [builder.load(_pointer(context, builder, *source, place, kind), align=4) for place in places]
        for r, value in enumerate(_interleave(builder, values)):
            builder.store(value, _row(context, builder, target, rows, r, to, kind), align=4)
        return context.get_dummy_value()

    return typed, generate


@_operation
def lanes_to_rows(typing: Any, source: Any, begin: Any, target: Any, rows: Any, column: Any) -> Any:
    """Transpose back 16 x 16 values: target[rows[r] + column + i] = source[begin + 16 * i + r]; `rows` int64 [16]."""
    return _lanes_to_rows(_V16, types.void(source, begin, target, rows, column))


@_operation
def lanes_to_rows8(typing: Any, source: Any, begin: Any, target: Any, rows: Any, column: Any) -> Any:
    """Transpose back 8 x 8 values: target[rows[r] + column + i] = source[begin + 8 * i + r]; `rows` is int64 [8]."""
    return _lanes_to_rows(_V8, types.void(source, begin, target, rows, column))
