"""Asking for memory before it is needed, so that fetches overlap."""

from typing import Any

from llvmlite import ir
from numba import types
from numba.core import cgutils
from numba.extending import intrinsic

_operation: Any = intrinsic


@_operation
def prefetch(typing: Any, array: Any, index: Any) -> Any:
    """Ask for the cache line of `array[index]`, to write to it unless the array is read-only; no effect on results. The
    array is 1-D and contiguous."""

    def codegen(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        array_type, index_type = signature.args
        data = context.make_array(array_type)(context, builder, args[0]).data
        position = context.cast(builder, args[1], index_type, types.intp)
        address = builder.bitcast(builder.gep(data, [position]), cgutils.voidptr_t)
        i32 = ir.IntType(32)
        kind = ir.FunctionType(ir.VoidType(), [cgutils.voidptr_t, i32, i32, i32])
        function: Any = cgutils.get_or_insert_function(builder.module, kind, "llvm.prefetch.p0")  # type: ignore[no-untyped-call]
        builder.call(function, [address, i32(int(array_type.mutable)), i32(3), i32(1)])
        return context.get_dummy_value()

    return types.none(array, index), codegen
