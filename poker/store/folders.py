"""Artifacts in folders: files that one command writes and another reads, described by a `manifest.json`.

The manifest has the schema version, the kind, the full configuration, the fingerprints of the sources, counts, and the
size and SHA-256 of every file. The artifact's fingerprint is the SHA-256 of the manifest without the seconds that the
work took. So two artifacts with the same fingerprint have the same bytes, and repeating the same work gives the same
fingerprint.

Invariants:

- A directory with a manifest is complete. It is written under a temporary name, synced and renamed. A directory that it
  replaces is moved aside first; `find_artifact` restores that one if the process was killed in between.
- Arrays are `.npy` files without pickles, opened memory-mapped and read-only. Nothing read from disk is executed.
- A reader never mixes two versions. If an artifact is replaced while it is read, `open_folder` and readers of whole
  artifacts (`refuses_by_name`) start again. Later reads of its arrays or files raise an error.
"""

import hashlib
import json
import os
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import wraps
from pathlib import Path
from typing import TYPE_CHECKING, Any, NoReturn, ParamSpec, TypeVar

from poker.run.atomic import MANIFEST, bundle_of, wait_for_replacement, written_whole
from poker.run.commands import how_to_make, how_to_replace
from poker.run.errors import PokernetsError

if TYPE_CHECKING:
    from numpy.typing import DTypeLike, NDArray


P = ParamSpec("P")
T = TypeVar("T")

SCHEMA = 1

_FINGERPRINT = re.compile("[0-9a-f]{64}")
_SECONDS = re.compile(r"(?:\w+_)?seconds")
_FILE = re.compile(r"(?!\.)[^/\0]{1,100}")
_MOST_MANIFEST_BYTES = 1 << 26
_MOST_REREADS = 4
_LONG, _LONGEST = 200, 800  # characters of a foreign message, and of an error
_SECTIONS = {"schema": int, "kind": str, "config": dict, "made_from": dict, "counts": dict, "files": dict}
_UNREADABLE = (ArithmeticError, AttributeError, LookupError, RecursionError, SyntaxError, TypeError, ValueError)
"""Errors raised when malformed files are read; `SyntaxError` comes from the headers of arrays."""


class ArtifactError(PokernetsError):
    """Base of errors about an artifact on disk.

    Args:
        problem: the problem in one sentence.
        remedy: what the user can do about it.
    """

    def __init__(self, problem: str, remedy: str = "") -> None:
        """Join the problem and its remedy to the message."""
        self.problem = _short(problem, _LONGEST)
        super().__init__(f"{self.problem}. {remedy}" if remedy else self.problem)


class MissingArtifactError(ArtifactError):
    """There is no complete artifact at the path."""


class CorruptArtifactError(ArtifactError):
    """A file is missing, truncated or altered, or the manifest cannot be read."""


class MissingFileError(CorruptArtifactError, KeyError):
    """The manifest does not list the requested array or file."""

    __str__ = Exception.__str__


class MismatchedArtifactError(ArtifactError):
    """The artifact is sound but has another kind, configuration or source than requested."""


class ReplacedArtifactError(MismatchedArtifactError):
    """The artifact was replaced or removed after it was opened."""


@dataclass(frozen=True)
class Artifact:
    """A checked artifact.

    Attributes:
        path: folder of the artifact.
        config: settings that it was made with.
        made_from: fingerprints of its sources by role.
        counts: counts, such as rows or seconds.
        fingerprint: SHA-256 (hex) of the manifest without times.
        arrays: arrays by name, opened when they are used, memory-mapped and read-only.
        files: names of all files except the manifest.
    """

    path: Path
    kind: str
    config: dict[str, Any]
    made_from: dict[str, str]
    counts: dict[str, Any]
    fingerprint: str
    arrays: "_Arrays"
    files: tuple[str, ...]

    def array(
        self,
        name: str,
        shape: "tuple[int | None, ...] | None" = None,
        *,
        dtypes: "Sequence[DTypeLike]" = (),
        within: tuple[float, float] | None = None,
        or_value: int | None = None,
    ) -> "NDArray[Any]":
        """Return an array after checking its shape, type and values.

        Args:
            shape: expected shape, None for an axis of any length; None accepts any shape.
            dtypes: accepted types; empty accepts any.
            within: (low, high) for arrays of indexes, low <= value < high.
            or_value: a value outside `within` that is accepted too.

        Returns:
            the array of the given shape, memory-mapped and read-only.

        Raises:
            CorruptArtifactError: the array is missing or has another shape, type or range.
            ReplacedArtifactError: the artifact was replaced after it was opened.
        """
        array = self.arrays[name]
        wrong_type = dtypes and all(array.dtype != dtype for dtype in dtypes)
        if wrong_type or not (shape is None or _has_shape(array, shape)):
            wanted = f"{' or '.join(map(_dtype_name, dtypes))} {'' if shape is None else shape}".strip()
            raise _corrupt(
                f"{self.path}: '{name}' should be {wanted}, it is {array.dtype} {array.shape}", self.kind, self.path
            )
        if within is not None and array.size:
            values = array if or_value is None else array[array != or_value]
            low, high = (values.min(), values.max()) if values.size else within[:1] * 2
            if not (within[0] <= low and high < within[1]):
                problem = f"{self.path}: '{name}' holds {low} to {high}, not {within[0]} to below {within[1]}"
                raise _corrupt(problem, self.kind, self.path)
        return array

    def file(self, name: str) -> Path:
        """Return the path of a file in the artifact; call `check_unchanged` after reading it.

        Raises:
            MissingFileError: the manifest does not list the file.
        """
        if name not in self.files:
            raise MissingFileError(f"{self.path} has no {name} in its manifest", how_to_replace(self.kind, self.path))
        return self.path / name

    def check_unchanged(self) -> None:
        """Check that the artifact has not been replaced or removed since it was opened.

        Raises:
            ReplacedArtifactError: it has been.
        """
        self.arrays.check_unchanged()


class _Section(dict[str, Any]):
    """A part of a manifest, whose missing keys raise an error that names the artifact."""

    def __init__(self, path: Path, kind: str, name: str, entries: dict[str, Any]) -> None:
        super().__init__(entries)
        self._path, self._kind, self._name = path, kind, name

    def __missing__(self, key: str) -> NoReturn:
        raise _corrupt(f"the manifest of {self._path} has no {self._name} '{key}'", self._kind, self._path)

    def __reduce__(self) -> tuple[Any, ...]:
        return dict, (dict(self),)


class _Arrays(Mapping[str, "NDArray[Any]"]):
    """Arrays of one artifact by name; `manifest` is the SHA-256 of its manifest."""

    def __init__(self, path: Path, kind: str, names: list[str], manifest: str) -> None:
        self._path, self._kind, self._names, self._manifest = path, kind, names, manifest

    def check_unchanged(self) -> None:
        if _manifest_sha256(self._path) != self._manifest:
            raise ReplacedArtifactError(f"{self._path} was replaced while it was read", "Run the command again")

    def __getitem__(self, name: str) -> "NDArray[Any]":
        import numpy as np  # noqa: PLC0415 (a tenth of a second, which --help and errors do without)

        if name not in self._names:
            problem = f"{self._path} has no array '{name}'; it has {', '.join(self._names) or 'none'}"
            raise MissingFileError(problem, how_to_replace(self._kind, self._path))
        try:
            array: NDArray[Any] = np.load(self._path / f"{name}.npy", mmap_mode="r", allow_pickle=False)
        finally:
            self.check_unchanged()
        return array

    def __iter__(self) -> Iterator[str]:
        return iter(self._names)

    def __len__(self) -> int:
        return len(self._names)


def _has_shape(array: "NDArray[Any]", shape: tuple[int | None, ...]) -> bool:
    pairs = zip(shape, array.shape, strict=False)
    return array.ndim == len(shape) and all(wanted in (None, length) for wanted, length in pairs)


def _dtype_name(dtype: "DTypeLike") -> str:
    import numpy as np  # noqa: PLC0415

    return np.dtype(dtype).name


def canonical_json(value: Any) -> str:
    """Return JSON with sorted keys and no spaces, so that equal values give equal text."""
    return json.dumps(value, sort_keys=True, separators=(",", ":"), allow_nan=False)


def fingerprint_of(value: Any) -> str:
    """Return the SHA-256 (hex) of the canonical JSON of a value."""
    return hashlib.sha256(canonical_json(value).encode()).hexdigest()


def file_sha256(path: Path) -> str:
    """Return the SHA-256 (hex) of a file's bytes."""
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def write_artifact(
    path: str | Path,
    kind: str,
    *,
    config: Mapping[str, Any],
    arrays: "Mapping[str, NDArray[Any]]",
    files: Mapping[str, bytes] | None = None,
    made_from: Mapping[str, str] | None = None,
    counts: Mapping[str, Any] | None = None,
) -> Artifact:
    """Write an artifact, replacing one that is there.

    Args:
        path: folder of the artifact.
        config: settings, as JSON values.
        arrays: arrays of any shape by name; each is written to its own `.npy` file.
        files: contents of further files by name.
        made_from: fingerprints of the sources by role.
        counts: counts as JSON values.

    Returns:
        the artifact that was written.
    """
    import numpy as np  # noqa: PLC0415

    target = Path(path)
    with written_whole(target) as staging:
        for name, array in arrays.items():
            np.save(staging / f"{name}.npy", np.ascontiguousarray(array), allow_pickle=False)
        for name, data in (files or {}).items():
            (staging / name).write_bytes(data)
        contents = {
            file.name: {"bytes": file.stat().st_size, "sha256": file_sha256(file)} for file in sorted(staging.iterdir())
        }
        manifest: dict[str, Any] = {
            "schema": SCHEMA,
            "kind": kind,
            "config": json.loads(canonical_json(config)),
            "made_from": dict(made_from or {}),
            "counts": json.loads(canonical_json(counts or {})),
            "files": contents,
        }
        manifest["fingerprint"] = _fingerprint(manifest)
        (staging / MANIFEST).write_text(json.dumps(manifest, indent=2) + "\n")
    return open_folder(target, kind, verify=False)


def open_folder(
    path: str | Path,
    kind: str | None,
    *,
    config: Mapping[str, Any] | None = None,
    made_from: Mapping[str, str] | None = None,
    verify: bool = True,
) -> Artifact:
    """Open and check the artifact in a folder.

    Args:
        path: folder of the artifact.
        kind: kind that the artifact must have; None accepts any.
        config: settings that must equal the manifest's; null equals an absent key. Keys that are not given are not
            checked.
        made_from: fingerprints by role that must equal the manifest's.
        verify: whether to compare the SHA-256 of every file.

    Raises:
        ArtifactError: the artifact is missing, damaged, altered, of another kind, or made with other settings.
    """
    target = Path(path)
    manifest, digest = manifest_of(target, kind or target.name)
    own_kind = kind or str(manifest["kind"])
    if manifest["kind"] != own_kind:
        raise _mismatch(f"{target} is a {_short(repr(manifest['kind']))}, not a '{own_kind}'", own_kind, target)
    if manifest["schema"] != SCHEMA:
        schema = _short(str(manifest["schema"]))
        raise _mismatch(f"{target} has schema {schema}, this version reads {SCHEMA}", own_kind, target)
    _compare(target, own_kind, "config", manifest["config"], json.loads(canonical_json(config or {})))
    _compare(target, own_kind, "made_from", manifest["made_from"], dict(made_from or {}))
    try:
        _check_files(target, own_kind, manifest, verify)
    except (CorruptArtifactError, OSError):
        if _manifest_sha256(target) == digest:
            raise
        return open_folder(path, kind, config=config, made_from=made_from, verify=verify)  # it was replaced
    return Artifact(
        path=target,
        kind=own_kind,
        config=_Section(target, own_kind, "setting", manifest["config"]),
        made_from=_Section(target, own_kind, "source", manifest["made_from"]),
        counts=_Section(target, own_kind, "count", manifest["counts"]),
        fingerprint=manifest["fingerprint"],
        arrays=_Arrays(target, own_kind, [name[:-4] for name in manifest["files"] if name.endswith(".npy")], digest),
        files=tuple(manifest["files"]),
    )


def _manifest_sha256(target: Path) -> str:
    """Return the SHA-256 of the manifest's bytes; empty if there is none."""
    with suppress(FileNotFoundError, NotADirectoryError):
        return file_sha256(target / MANIFEST)
    return ""


def manifest_of(target: Path, kind: str) -> tuple[dict[str, Any], str]:
    """Read and check a manifest.

    Args:
        target: folder of the artifact.
        kind: kind of the artifact, for error messages.

    Returns:
        (manifest, SHA-256 of its bytes).

    Raises:
        MissingArtifactError: there is no manifest.
        CorruptArtifactError: the manifest cannot be read or does not match its own fingerprint.
    """
    manifest_path = target / MANIFEST
    wait_for_replacement(target)
    if not os.path.isfile(manifest_path):
        raise MissingArtifactError(f"no {kind} at {target} (no {MANIFEST} there)", how_to_make(kind, target))
    try:
        if manifest_path.stat().st_size > _MOST_MANIFEST_BYTES:
            raise ValueError(f"it has more than {_MOST_MANIFEST_BYTES:,} bytes")
        data = manifest_path.read_bytes()
        manifest: dict[str, Any] = json.loads(data)
        body = {key: value for key, value in manifest.items() if key != "fingerprint"}
        fingerprints = _fingerprint(body), fingerprint_of(body)  # the second is that of older ones
        if problem := _malformed(manifest):
            raise ValueError(problem)
    except FileNotFoundError:
        return manifest_of(target, kind)  # it was replaced, or removed, just now
    except (OSError, *_UNREADABLE) as error:
        raise _corrupt(f"{manifest_path} cannot be read ({_short(str(error))})", kind, target) from error
    if manifest.get("fingerprint") not in fingerprints:
        raise _corrupt(f"{manifest_path} does not match its own fingerprint", kind, target)
    return manifest, hashlib.sha256(data).hexdigest()


def _fingerprint(manifest: Mapping[str, Any]) -> str:
    """Return the fingerprint of a manifest without the times among its counts."""
    return fingerprint_of({**manifest, "counts": _without_times(manifest.get("counts"))})


def _without_times(node: Any) -> Any:
    if isinstance(node, dict):
        return {key: _without_times(value) for key, value in node.items() if not _SECONDS.fullmatch(key)}
    return [_without_times(value) for value in node] if isinstance(node, list) else node


def _malformed(manifest: dict[str, Any]) -> str:
    """Return how a manifest, perhaps forged, differs in form from one by `write_artifact`; empty if it does not."""
    for name, section in _SECTIONS.items():
        if not isinstance(manifest.get(name), section):
            return f"its '{name}' is no {section.__name__}"
    if not all(isinstance(source, str) for source in manifest["made_from"].values()):
        return "its 'made_from' contains something other than fingerprints"
    for name, entry in manifest["files"].items():
        sound = isinstance(entry, dict) and isinstance(entry.get("bytes"), int) and isinstance(entry.get("sha256"), str)
        if not sound or not _FILE.fullmatch(name):
            return f"its 'files' do not describe {name!r}"
    return ""


def refuses_by_name(kind: str) -> Callable[[Callable[P, T]], Callable[P, T]]:
    """Decorate a reader of artifacts so that invalid content raises an error with the artifact's path.

    The path is the first one among the reader's arguments. If the artifact is replaced while it is read, the reader is
    called again.

    Args:
        kind: kind of the artifacts.

    Returns:
        the decorator.

    Raises:
        CorruptArtifactError: by decorated readers, if the manifest is sound but the content is not.
    """

    def decorate(read: Callable[P, T]) -> Callable[P, T]:
        @wraps(read)
        def reading(*args: P.args, **kwargs: P.kwargs) -> T:
            for _ in range(_MOST_REREADS):
                with suppress(ReplacedArtifactError):
                    return reading_once(*args, **kwargs)
            return reading_once(*args, **kwargs)

        def reading_once(*args: P.args, **kwargs: P.kwargs) -> T:
            try:
                return read(*args, **kwargs)
            except (PokernetsError, *_UNREADABLE) as error:
                path = next(Path(each) for each in (*args, *kwargs.values()) if isinstance(each, str | Path))
                if isinstance(error, PokernetsError) and str(bundle_of(path) or path) in str(error):
                    raise
                problem = _short(repr(error))
                if isinstance(error, PokernetsError):
                    problem = error.problem if isinstance(error, ArtifactError) else str(error)
                raise _corrupt(f"{path} is not a valid {kind} ({problem})", kind, path) from error

        return reading

    return decorate


def _short(text: str, most: int = _LONG) -> str:
    """Put `text` on one line and cut the middle of a long one."""
    line = " ".join(text.split())
    return line if len(line) <= most else f"{line[: most // 2]} ... {line[-most // 2 :]}"


def _check_files(target: Path, kind: str, manifest: dict[str, Any], verify: bool) -> None:
    for name, entry in manifest["files"].items():
        file = target / name
        if not file.is_file():
            raise _corrupt(f"{file} is missing", kind, target)
        size = file.stat().st_size
        if size != entry["bytes"]:
            raise _corrupt(f"{file} has {size} bytes, its manifest says {entry['bytes']}", kind, target)
        if verify and file_sha256(file) != entry["sha256"]:
            raise _corrupt(f"{file} does not match the SHA-256 of its manifest", kind, target)


def _compare(target: Path, kind: str, what: str, manifest: dict[str, Any], wanted: dict[str, Any]) -> None:
    for key, value in wanted.items():
        if manifest.get(key) != value:
            name, one, other = _difference(key, manifest.get(key), value)
            difference = f"with {what} {name}={_short(repr(one))}, not with {_short(repr(other))}"
            if _FINGERPRINT.fullmatch(str(one)) and _FINGERPRINT.fullmatch(str(other)):
                difference = f"with another {name} ({one[:12]}, not {other[:12]})"
            raise _mismatch(f"{target} was made {difference}", kind, target)


def _difference(name: str, ours: Any, wanted: Any) -> tuple[str, Any, Any]:
    """Return the first setting within `name` in which two values differ, and both values."""
    parts: list[tuple[str, Any, Any]] = []
    if isinstance(ours, dict) and isinstance(wanted, dict):
        parts = [(f"{name}.{key}", ours.get(key), wanted.get(key)) for key in {**wanted, **ours}]
    elif isinstance(ours, list) and isinstance(wanted, list) and len(ours) == len(wanted):
        parts = [(f"{name}[{place}]", *pair) for place, pair in enumerate(zip(ours, wanted, strict=True))]
        parts = [part for part in parts if isinstance(part[1], dict)]
    differing = next((part for part in parts if part[1] != part[2]), None)
    return (name, ours, wanted) if differing is None else _difference(*differing)


def _corrupt(problem: str, kind: str, target: Path) -> CorruptArtifactError:
    return CorruptArtifactError(problem, how_to_replace(kind, target))


def _mismatch(problem: str, kind: str, target: Path) -> MismatchedArtifactError:
    elsewhere = "Use another place (outputs=DIR to write there, artifacts=DIR to read there)"
    return MismatchedArtifactError(problem, how_to_make(kind, target, first=f"{elsewhere}, or move {target} away and"))
