"""The clone's compiled kernels for an installation, whose modules lie inside `pokernets`.

Numba's cache files are pickles that name the modules. They are renamed opcode by opcode: to unpickle them would build
the compiled code.
"""

import hashlib
import io
import pickle
import pickletools
from collections.abc import Iterator
from pathlib import Path

_MODULES = "poker."


def copy_compiled(kernels: Path, copy: Path) -> None:
    """Write numba's cache of the folder `kernels` beside the same modules in `copy`."""
    for source in kernels.rglob("*.py"):
        target = copy / source.relative_to(kernels)
        stamp, new_stamp = (hashlib.sha256(file.read_bytes()).digest() for file in (source, target))
        for cached in (source.parent / "__pycache__").glob(f"{source.stem}.*.nb[ic]"):
            renamed = _renamed(cached.read_bytes()).replace(stamp, new_stamp)
            (target.parent / "__pycache__").mkdir(exist_ok=True)
            (target.parent / "__pycache__" / cached.name).write_bytes(renamed)


def _renamed(pickles: bytes) -> bytes:
    """Pickles, one after the other, with the names of the installation."""
    return b"".join(_opcodes(pickles))


def _opcodes(pickles: bytes) -> Iterator[bytes]:
    stream = io.BytesIO(pickles)
    while stream.tell() < len(pickles):
        opcodes = list(pickletools.genops(stream))
        ends = [position for _, _, position in opcodes[1:] if position is not None]
        for (opcode, value, position), end in zip(opcodes, [*ends, stream.tell()], strict=True):
            assert position is not None
            if opcode.name == "FRAME":  # holds a length
                continue
            if isinstance(value, str) and value.startswith(_MODULES):
                yield pickle.dumps(f"pokernets.{value}", protocol=2)[2:-3]  # without PROTO, memo and STOP
            elif isinstance(value, bytes) and value.startswith(b"\x80\x04") and _MODULES.encode() in value:
                inner = _renamed(value)
                yield b"B" + len(inner).to_bytes(4, "little") + inner
            else:
                yield pickles[position:end]
