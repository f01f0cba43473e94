"""The compiler of kernels: numba's compiler with patches that improve the code and halve compilation time.

All patches of numba are in this module. Gains are CPU times on an EPYC core with and without the patch, in alternating
runs. Speeds are medians of three runs, and compilation times are from one run.

- Numba copies the arguments of each call that it inlines, and copies all of a named tuple where one field is read. LLVM
  resolves these copies field by field. The cost grows with the square of their number, and LLVM does not always finish.
  Here copies of an argument are replaced by the argument before types are inferred, and fields are read once at the
  entry. `vector.sweep` then compiles in 17.5 s instead of 37.2.
- Numba counts references to arrays. Where a loop takes a row of an array or passes it on, this costs two atomic
  operations each time. The caller of a kernel owns the arguments until the kernel returns. Arguments and everything
  derived from them are therefore not counted here. External sampling does 2.31 million iterations of Leduc per second,
  and 1.48 million with counts.
- Numba allows indices that count from the end, and checks the sign of each index. Here only constants may be negative,
  as in `row[-1]`. A negative variable would access other memory. This gives 2.31 million iterations per second instead
  of 1.84, and 8.2 million episodes of UCT instead of 6.7. `make bounds` runs the tests of all kernels with
  NUMBA_BOUNDSCHECK=1, which reports such an index as an error.
"""

import hashlib
import importlib
import os
import re
import sys
from collections import Counter
from functools import cache
from pathlib import Path
from typing import Any

from llvmlite import ir as llvm
from numba.core import cgutils, ir, ssa, types
from numba.core.caching import IndexDataCacheFile, _SourceFileBackedLocatorMixin
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
"""Linear algebra that `numba.np.arraymath` loads for matrix products. No kernel uses it, and importing the registry of
kernels takes 0.30 s without it and 0.42 s with it. We mark it as not installed there unless it is already loaded."""
if _SCIPY not in sys.modules:
    sys.modules[_SCIPY] = None  # type: ignore[assignment]
    try:
        importlib.import_module("numba.np.arraymath")
    finally:
        del sys.modules[_SCIPY]

_pass: Any = register_pass
_numbas_index: Any = arrayobj.fix_integer_index
_KERNEL = "is_kernel"
"""Attribute that marks LLVM functions from this compiler."""


class KernelCompiler(CompilerBase):
    """Numba's compiler with the pass `ReadFieldsOnce`, and with `LowerKernel` for the lowering to LLVM."""

    def define_pipelines(self) -> list[Any]:
        """Return numba's pipeline with the changed passes."""
        passes = DefaultPassBuilder.define_nopython_pipeline(self.state)
        passes.add_pass_after(ReadFieldsOnce, InlineInlinables)
        passes.passes = [(LowerKernel if each is NativeLowering else each, what) for each, what in passes.passes]
        passes.finalize()
        return [passes]


@_pass(mutates_CFG=False, analysis_only=False)
class ReadFieldsOnce(FunctionPass):
    """A pass that hoists field reads of arrays and named tuples that are arguments and never reassigned."""

    _name = "read_fields_once"

    def __init__(self) -> None:
        """Register the pass without state."""
        super().__init__()

    def run_pass(self, state: Any) -> bool:
        """Rewrite one kernel; return whether anything changed."""
        blocks = state.func_ir.blocks
        names = _Names(blocks, state.args)
        for block in blocks.values():
            block.body = [statement for statement in block.body if statement not in names.replaced]
        replace_vars(blocks, names.original)
        arguments = blocks[min(blocks)].body
        last = max((i for i, statement in enumerate(arguments) if _assigns(statement, ir.Arg)), default=-1)
        arguments[last + 1 : last + 1] = names.reads
        state.func_ir._definitions = build_definitions(blocks)
        return bool(names.replaced)


class _Names:
    """Variables of a kernel that are other names of arguments and their fields; all are assigned once.

    `original` maps each to what it stands for, `replaced` has the assignments, and `reads` the reads of fields at the
    entry.
    """

    def __init__(self, blocks: dict[int, Any], arguments: tuple[Any, ...]) -> None:
        every: list[Any] = [x for block in blocks.values() for x in block.body if isinstance(x, ir.Assign)]
        times = Counter(x.target.name for x in every)
        left = [x for x in every if times[x.target.name] == 1]
        given = {x.target.name: arguments[x.value.index] for x in left if _assigns(x, ir.Arg)}
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
        """Return the argument or field that is assigned, or None."""
        if _assigns(x, ir.Var):
            origin = self.original.get(x.value.name, x.value)
            return origin if origin.name in self.types else None
        if not (_assigns(x, ir.Expr) and x.value.op == "getattr"):
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
    """The lowering to LLVM for kernels, in which arguments have no reference counts and indices are not negative."""

    _name = "lower_kernel"

    @property
    def lowering_class(self) -> type[Lower]:
        """The class that lowers a kernel."""
        return _LowerKernel


class _LowerKernel(Lower):
    def extract_function_arguments(self) -> Any:
        setattr(self.function, _KERNEL, True)
        given = super().extract_function_arguments()
        if not _holds_arrays(self.fndesc.restype):  # a returned array outlives the call and must be counted
            pairs = zip(self.fndesc.argtypes, given, strict=True)
            self.fnargs = [self._borrowed(kind, value) for kind, value in pairs]
        return self.fnargs

    def _borrowed(self, kind: Any, value: Any) -> Any:
        """Return the value without counted memory in its arrays."""
        if isinstance(kind, types.Array):
            array = self.context.make_array(kind)(self.context, self.builder, value)
            array.meminfo = llvm.Constant(array.meminfo.type, None)
            return array._getvalue()
        if not _holds_arrays(kind):
            return value
        fields = zip(kind.types, cgutils.unpack_tuple(self.builder, value), strict=True)
        return self.context.make_tuple(self.builder, kind, [self._borrowed(*field) for field in fields])


def _holds_arrays(kind: Any) -> bool:
    """Return whether a value of this type is an array or a tuple with one."""
    return isinstance(kind, types.Array) or any(map(_holds_arrays, getattr(kind, "types", ())))


def _index(context: Any, builder: Any, kind: Any, value: Any, size: Any) -> Any:
    """Return an index for LLVM; in kernels this is the value itself unless it is a constant."""
    if getattr(builder.function, _KERNEL, False) and not isinstance(value, llvm.Constant):
        return context.cast(builder, value, kind, types.intp)
    return _numbas_index(context, builder, kind, value, size)


arrayobj.fix_integer_index = _index

for _kind in (ir.Scope, ir.Loc):
    setattr(_kind, "__deepcopy__", lambda same, memo: same)  # noqa: B010
"""Numba copies an inlined kernel block by block, each time with all its variables and source locations. The variables
take a quarter of the time to compile `vector.sweep`, the locations 5%."""
setattr(ssa._logger, "debug", lambda *_: None)  # noqa: B010
"""Numba formats a million debug messages that nobody reads, which takes 5% of that time."""

_resolve: Any = BaseFunction.get_call_type
_resolved: dict[Any, Any] = {}


def _call_type(function: Any, context: Any, arguments: Any, keywords: Any) -> Any:
    """Return the signature of a call of one of numba's functions, cached per kernel.

    Numba tries all templates of the function each time it goes over the types, which takes a seventh of the time to
    compile `vector.sweep`.
    """
    flags = ConfigStack().top_or_none()  # the flags of the kernel
    key = function, tuple(arguments), tuple(keywords.items()), id(flags)
    if key not in _resolved:
        signature = _resolve(function, context, arguments, keywords)
        _resolved[key] = signature, function._impl_keys[signature.args], flags
    signature, function._impl_keys[signature.args], _ = _resolved[key]
    return signature


setattr(BaseFunction, "get_call_type", _call_type)  # noqa: B010

_build: Any = templates._OverloadFunctionTemplate._build_impl


def _build_without_wrapper(template: Any, *arguments: Any) -> Any:
    """Build one of numba's own functions in Python, such as `np.empty`, without a wrapper for C, which nobody calls."""
    template._jit_options["no_cfunc_wrapper"] = True
    return _build(template, *arguments)


setattr(templates._OverloadFunctionTemplate, "_build_impl", _build_without_wrapper)  # noqa: B010

_load_index: Any = IndexDataCacheFile._load_index


def _index_or_none(file: Any) -> dict[Any, Any]:
    """Return the index of a cache, or an empty one if it names a class that was renamed in another file.

    Everything is then compiled again. Numba's own function would end the program with an AttributeError.
    """
    try:
        index: dict[Any, Any] = _load_index(file)
    except (AttributeError, ImportError):
        return {}
    return index


setattr(IndexDataCacheFile, "_load_index", _index_or_none)  # noqa: B010


_source_stamp: Any = _SourceFileBackedLocatorMixin.get_source_stamp
_PACKAGE = Path(__file__).parents[1]
_IMPORT = re.compile(rf"^\s*(?:from|import) ({_PACKAGE.name}\b[\w.]*)(?: import (\([^)]*\)|.*))?", re.MULTILINE)


def _stamp_with_imports(locator: Any) -> Any:
    """Return numba's hash of a kernel's file and the hashes of the files of this package that it imports, at any depth.

    Numba alone notices edits in the file of a kernel, but not in the files of the kernels and constants that it uses.
    """
    files = [str(locator._py_file)]
    for file in files:
        files += _read_imports(file)[1] - {*files}
    hashes = sorted(_read_imports(file)[0] for file in files[1:])
    return (_source_stamp(locator), *hashes) if hashes else _source_stamp(locator)


@cache
def _read_imports(file: str) -> tuple[bytes, set[str]]:
    """Return the hash of a file, and the files of this package that its `import` and `from` lines name."""
    source = Path(file).read_bytes()
    paths = set()
    for module, names in _IMPORT.findall(source.decode("latin-1")):
        path = _PACKAGE.parent.joinpath(*module.split("."))
        paths |= {path, *(path / name for name in re.findall(r"\w+", names))}
    candidates = {str(each) for path in paths for each in (path.with_suffix(".py"), path / "__init__.py")}
    return hashlib.sha256(source).digest(), {*filter(os.path.isfile, candidates)}


setattr(_SourceFileBackedLocatorMixin, "get_source_stamp", _stamp_with_imports)  # noqa: B010


def _assigns(statement: Any, kind: type) -> bool:
    """Return whether a statement assigns a value of this kind."""
    return isinstance(statement, ir.Assign) and isinstance(statement.value, kind)
