"""The compiler of kernels: numba's, which makes better code of them and takes half the time; and all patches of numba.

Gains are of CPU time on an EPYC core with and without, in turn: speeds are medians of three runs, seconds to compile of
one.

Numba copies the arguments of each call that it inlines, and all of a named tuple where one field is read. LLVM takes
these copies apart field by field, which costs the square of their number and is not always done to the end. Here,
before types are inferred, copies of an argument are replaced by the argument, and fields are read at the entry, once:
`vector.sweep` compiles in 17.5 s, without it in 37.2.

Numba counts references to arrays, and where a loop takes a row of an array or passes it on, each time anew: an atomic
operation there and back. The caller of a kernel keeps what it passes until the kernel returns, so arguments and all
that is taken from them are not counted here: external sampling does 2.31 million iterations of Leduc a second, with
counts 1.48.

Numba lets indices count from the end, and looks at each for its sign. Here only constants do, as in `row[-1]`; a
variable is never negative, or memory of others is read and written: 2.31 million iterations a second against 1.84, and
8.2 million episodes of UCT against 6.7. `make bounds` runs the tests of all kernels with NUMBA_BOUNDSCHECK=1, where
such an index is an error.
"""

import importlib
import sys
from collections import Counter
from typing import Any

from llvmlite import ir as llvm
from numba.core import cgutils, ir, ssa, types
from numba.core.caching import IndexDataCacheFile
from numba.core.compiler import CompilerBase, DefaultPassBuilder
from numba.core.compiler_machinery import FunctionPass, register_pass
from numba.core.ir_utils import build_definitions, replace_vars
from numba.core.lowering import Lower
from numba.core.targetconfig import ConfigStack
from numba.core.typed_passes import NativeLowering
from numba.core.types.functions import BaseFunction
from numba.core.typing import templates
from numba.core.untyped_passes import InlineInlinables
from numba.np import arrayobj

_SCIPY = "scipy.linalg"
"""Linear algebra that `numba.np.arraymath` loads for products of matrices. No kernel has any, and importing the
registry of kernels takes 0.30 s, with it 0.42: so it counts as not installed there, unless it is loaded already."""
if _SCIPY not in sys.modules:
    sys.modules[_SCIPY] = None  # type: ignore[assignment]
    try:
        importlib.import_module("numba.np.arraymath")
    finally:
        del sys.modules[_SCIPY]

_pass: Any = register_pass
_numbas_index: Any = arrayobj.fix_integer_index
_KERNEL = "is_kernel"
"""An attribute of the functions of LLVM that come from this compiler."""


class KernelCompiler(CompilerBase):
    """Numba's own with `ReadFieldsOnce`, and `LowerKernel` for its lowering to LLVM."""

    def define_pipelines(self) -> list[Any]:
        passes = DefaultPassBuilder.define_nopython_pipeline(self.state)
        passes.add_pass_after(ReadFieldsOnce, InlineInlinables)
        passes.passes = [(LowerKernel if each is NativeLowering else each, what) for each, what in passes.passes]
        passes.finalize()
        return [passes]


@_pass(mutates_CFG=False, analysis_only=False)
class ReadFieldsOnce(FunctionPass):
    """Hoist field reads of arrays and named tuples that are arguments and never assigned to."""

    _name = "read_fields_once"

    def __init__(self) -> None:
        super().__init__()

    def run_pass(self, state: Any) -> bool:
        blocks = state.func_ir.blocks
        names = _Names(blocks, state.args)
        for block in blocks.values():
            block.body = [statement for statement in block.body if statement not in names.replaced]
        replace_vars(blocks, names.original)
        arguments = blocks[min(blocks)].body
        last = max((i for i, statement in enumerate(arguments) if _is(statement, ir.Arg)), default=-1)
        arguments[last + 1 : last + 1] = names.reads
        state.func_ir._definitions = build_definitions(blocks)
        return bool(names.replaced)


class _Names:
    """Variables of a kernel that are other names of arguments and their fields; all are assigned once.

    `original` is what each stands for, `replaced` where it is assigned, `reads` are those of fields at the entry.
    """

    def __init__(self, blocks: dict[int, Any], arguments: tuple[Any, ...]) -> None:
        every: list[Any] = [x for block in blocks.values() for x in block.body if isinstance(x, ir.Assign)]
        times = Counter(x.target.name for x in every)
        left = [x for x in every if times[x.target.name] == 1]
        given = {x.target.name: arguments[x.value.index] for x in left if _is(x, ir.Arg)}
        self.types = {name: x for name, x in given.items() if isinstance(x, types.Array | types.BaseNamedTuple)}
        self.original: dict[str, Any] = {}
        self.reads: list[Any] = []
        self.fields: dict[tuple[str, str], Any] = {}
        self.replaced: set[Any] = set()
        replaced = -1
        while replaced < len(self.replaced):
            replaced = len(self.replaced)
            for x in [x for x in left if x not in self.replaced]:
                if (origin := self._origin(x)) is not None:
                    self.original[x.target.name] = origin
                    self.replaced.add(x)

    def _origin(self, x: Any) -> Any:
        """The argument or field that is assigned, or None."""
        if _is(x, ir.Var):
            origin = self.original.get(x.value.name, x.value)
            return origin if origin.name in self.types else None
        if not (_is(x, ir.Expr) and x.value.op == "getattr"):
            return None
        owner, field = self.original.get(x.value.value.name, x.value.value), x.value.attr
        kind: Any = self.types.get(owner.name)
        if field not in getattr(kind, "fields", ()):
            return None
        if (owner.name, field) not in self.fields:
            variable = x.target.scope.redefine(f"${owner.name}.{field}", x.loc)
            self.types[variable.name] = kind.types[kind.fields.index(field)]
            self.reads.append(ir.Assign(ir.Expr.getattr(owner, field, x.loc), variable, x.loc))
            self.fields[owner.name, field] = variable
        return self.fields[owner.name, field]


@_pass(mutates_CFG=True, analysis_only=False)
class LowerKernel(NativeLowering):
    """Arguments have no counts of references, indices are not negative."""

    _name = "lower_kernel"

    @property
    def lowering_class(self) -> type[Lower]:
        return _LowerKernel


class _LowerKernel(Lower):
    def extract_function_arguments(self) -> Any:
        setattr(self.function, _KERNEL, True)
        given = super().extract_function_arguments()
        if not _holds_arrays(self.fndesc.restype):  # what is returned outlives the call, and must be counted
            pairs = zip(self.fndesc.argtypes, given, strict=True)
            self.fnargs = [self._borrowed(kind, value) for kind, value in pairs]
        return self.fnargs

    def _borrowed(self, kind: Any, value: Any) -> Any:
        """Return the value with no counted memory in its arrays."""
        if isinstance(kind, types.Array):
            array = self.context.make_array(kind)(self.context, self.builder, value)
            array.meminfo = llvm.Constant(array.meminfo.type, None)
            return array._getvalue()
        if not _holds_arrays(kind):
            return value
        fields = zip(kind.types, cgutils.unpack_tuple(self.builder, value), strict=True)
        return self.context.make_tuple(self.builder, kind, [self._borrowed(*field) for field in fields])


def _holds_arrays(kind: Any) -> bool:
    """Whether a value of this type is an array or a tuple with one."""
    return isinstance(kind, types.Array) or any(map(_holds_arrays, getattr(kind, "types", ())))


def _index(context: Any, builder: Any, kind: Any, value: Any, size: Any) -> Any:
    """An index as LLVM takes it: in kernels the value itself unless it is a constant."""
    if getattr(builder.function, _KERNEL, False) and not isinstance(value, llvm.Constant):
        return context.cast(builder, value, kind, types.intp)
    return _numbas_index(context, builder, kind, value, size)


arrayobj.fix_integer_index = _index

for _kind in (ir.Scope, ir.Loc):
    setattr(_kind, "__deepcopy__", lambda same, memo: same)  # noqa: B010
"""Numba copies an inlined kernel block by block, and each time all its variables, in a quarter of the time to compile
`vector.sweep`, and all places in the source, in 5% of it."""
setattr(ssa._logger, "debug", lambda *_: None)  # noqa: B010
"""Numba notes a million statements that nobody reads, in 5% of that time."""

_resolve: Any = BaseFunction.get_call_type
_resolved: dict[Any, Any] = {}


def _call_type(function: Any, context: Any, arguments: Any, keywords: Any) -> Any:
    """Signature of a call of one of numba's functions, found once a kernel. Numba tries all templates of the function
    each time that it goes over the types, in a seventh of the time to compile `vector.sweep`."""
    flags = ConfigStack().top_or_none()  # those of the kernel
    key = function, tuple(arguments), tuple(keywords.items()), id(flags)
    if key not in _resolved:
        signature = _resolve(function, context, arguments, keywords)
        _resolved[key] = signature, function._impl_keys[signature.args], flags
    signature, function._impl_keys[signature.args], _ = _resolved[key]
    return signature


setattr(BaseFunction, "get_call_type", _call_type)  # noqa: B010

_build: Any = templates._OverloadFunctionTemplate._build_impl


def _build_without_wrapper(template: Any, *arguments: Any) -> Any:
    """Numba's own function in Python, as `np.empty`, without a wrapper for callers in C, of which there are none."""
    template._jit_options["no_cfunc_wrapper"] = True
    return _build(template, *arguments)


setattr(templates._OverloadFunctionTemplate, "_build_impl", _build_without_wrapper)  # noqa: B010

_load_index: Any = IndexDataCacheFile._load_index


def _index_or_none(file: Any) -> dict[Any, Any]:
    """A cache's index; none, so that all is compiled anew, if it names a class that was renamed in another file, where
    numba's own ends the program with an AttributeError."""
    try:
        index: dict[Any, Any] = _load_index(file)
    except (AttributeError, ImportError):
        return {}
    return index


setattr(IndexDataCacheFile, "_load_index", _index_or_none)  # noqa: B010


def _is(statement: Any, kind: type) -> bool:
    """Whether something of a kind is assigned."""
    return isinstance(statement, ir.Assign) and isinstance(statement.value, kind)
