"""Bundles: one compressed file with all artifacts that some agents need, used like a folder of artifacts.

`open_artifact("laptop.bundle/leaf_net", ...)` opens an artifact in the bundle, so commands accept `artifacts=FILE`.

A bundle is a zip archive of artifact directories and `bundle.json`. That file has the schema version, the agents that
can play from the bundle, the kind and fingerprint of each artifact, its sources and its provenance. Artifacts that are
too large are stored as recipes: settings and fingerprint, from which anybody can remake the artifact bit for bit. The
bundle is unpacked once, into a directory of the user's cache named after the SHA-256 of the file. Later commands check
that directory again and map its arrays into memory.

Bundles may come from anybody. Names, kinds of files and sizes are checked before anything is written; checksums and
headers are checked before anything is used. Nothing in a bundle is executed.
"""

import json
import os
import re
import shutil
import tempfile
import zipfile
import zlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any, NoReturn

from poker.run.atomic import MANIFEST, SUFFIX, remove, written_atomically
from poker.run.commands import GET_A_BUNDLE, how_to_make
from poker.run.errors import PokernetsError
from poker.store.folders import (
    ArtifactError,
    CorruptArtifactError,
    MismatchedArtifactError,
    MissingArtifactError,
    file_sha256,
    open_folder,
)

CONTENTS = "bundle.json"
SCHEMA = 1
_MOST_BYTES = 1 << 30
_MOST_FILES = 500
_CONTENTS_BYTES = 1 << 20
_CHUNK = 1 << 20
_COMPRESSIONS = (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED, zipfile.ZIP_BZIP2)
_ARTIFACT = r"[a-z0-9_]{1,100}(?:/[a-z0-9_]{1,100}){0,2}"
_FILE = r"manifest\.json|[A-Za-z0-9_]{1,100}\.(?:npy|safetensors)"
_MEMBER = re.compile(f"(?P<artifact>{_ARTIFACT})/(?P<file>{_FILE})")
_EPOCH = (1980, 1, 1, 0, 0, 0)


@dataclass(frozen=True)
class Bundle:
    """A checked bundle, unpacked at `path`.

    Attributes:
        file: the bundle's file.
        path: folder of the unpacked artifacts.
        seats: names of the agents that need no artifacts beyond these.
        artifacts: `kind` and `fingerprint` of each artifact, by its folder below `path`.
        recipes: `config` and `fingerprint` of artifacts that are made at first use, by their folder below `path`.
        contents: all of `bundle.json`.
    """

    file: Path
    path: Path
    seats: tuple[str, ...]
    artifacts: Mapping[str, Mapping[str, Any]]
    recipes: Mapping[str, Mapping[str, Any]]
    contents: Mapping[str, Any]

    @property
    def fingerprints(self) -> Mapping[str, str]:
        """Fingerprints of all artifacts and recipes, by their folder below `path`."""
        return {name: str(entry["fingerprint"]) for name, entry in {**self.artifacts, **self.recipes}.items()}

    def place(self, name: str) -> Path:
        """Return the folder of an artifact, where a recipe's artifact will be made.

        Raises:
            MissingArtifactError: the bundle has neither the artifact nor its recipe.
        """
        if name not in self.fingerprints:
            seated = ", ".join(self.seats)
            problem = f"no {name} at {self.file / name}; the bundle seats {seated} and agents that need no artifacts"
            raise MissingArtifactError(problem, how_to_make("", self.file / name))
        return self.path / name


def write_bundle(path: str | Path, folder: Path, contents: Mapping[str, Any], most_bytes: int) -> dict[str, int]:
    """Write the artifacts below a folder as a bundle.

    Args:
        path: the bundle's file.
        folder: folder of artifacts.
        contents: `bundle.json` without the schema version and the list of artifacts.
        most_bytes: largest size allowed for the file.

    Returns:
        compressed bytes of each artifact.

    Raises:
        PokernetsError: the bundle would exceed `most_bytes`.
    """
    folders = sorted(file.parent for file in folder.rglob(MANIFEST))
    listed = {}
    for artifact in folders:
        manifest = json.loads((artifact / MANIFEST).read_text())
        listed[str(artifact.relative_to(folder))] = {key: manifest[key] for key in ("kind", "fingerprint")}
    text = json.dumps({"schema": SCHEMA, **contents, "artifacts": listed}, indent=2) + "\n"
    with written_atomically(Path(path)) as file:
        with zipfile.ZipFile(file, "w") as archive:
            archive.writestr(_member(CONTENTS), text)
            for artifact in folders:
                for part in sorted(artifact.iterdir()):
                    archive.writestr(_member(str(part.relative_to(folder))), part.read_bytes())
            members = archive.infolist()
        sizes = {name: sum(m.compress_size for m in members if m.filename.startswith(f"{name}/")) for name in listed}
        if file.tell() > most_bytes:
            parts = ", ".join(f"{name} {size / 1e6:.1f} MB" for name, size in sizes.items())
            raise PokernetsError(
                f"the bundle would have {file.tell() / 1e6:.1f} MB, more than {most_bytes / 1e6:.1f} ({parts}):"
                " pack for fewer agents or raise job.megabytes"
            )
    return sizes


def open_bundle(file: str | Path) -> Bundle:
    """Unpack a bundle into the user's cache and check all of it.

    Raises:
        MissingArtifactError: there is no such file.
        ArtifactError: the bundle is damaged, altered or not a bundle.
        PokernetsError: the cache cannot be written.
    """
    source = Path(file)
    if not source.is_file():
        there = ", ".join(file.name for file in sorted(source.parent.glob(f"*{SUFFIX}")))
        raise MissingArtifactError(f"no bundle at {source}", f"{source.parent} has {there}" if there else GET_A_BUNDLE)
    path = _cache() / file_sha256(source)
    if path.is_dir():
        try:
            return _checked(source, path)
        except ArtifactError:  # what lies in the cache was cut off or altered
            remove(path)
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory(dir=path.parent, prefix=".unpacking.") as folder:
            staging = Path(folder) / "artifacts"
            _unpack(source, staging)
            _checked(source, staging, nothing_else=True)
            if not path.is_dir():  # another process may have been faster
                staging.rename(path)
    except OSError as error:
        if not path.is_dir():
            raise PokernetsError(f"{source} cannot be unpacked to {path} ({error}); set XDG_CACHE_HOME") from None
    return _checked(source, path)


def bundle_at(file: Path) -> Bundle:
    """Call `open_bundle` once per process for each state (size and time of change) of the file."""
    state = file.stat() if file.is_file() else None
    return _opened(file, state and (state.st_size, state.st_mtime_ns))


@lru_cache(maxsize=8)
def _opened(file: Path, _: tuple[int, int] | None) -> Bundle:
    return open_bundle(file)


def _cache() -> Path:
    return Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "pokernets" / "bundles"


def _member(name: str) -> zipfile.ZipInfo:
    """Return an archive entry without a time, so that equal contents give equal bytes."""
    info = zipfile.ZipInfo(name, _EPOCH)
    info.compress_type = zipfile.ZIP_BZIP2
    info.external_attr = 0o644 << 16
    return info


def _unpack(source: Path, target: Path) -> None:
    try:
        with zipfile.ZipFile(source) as archive:
            members = archive.infolist()
            _check_members(source, members)
            for member in members:
                out = target / member.filename
                out.parent.mkdir(parents=True, exist_ok=True)
                with archive.open(member) as packed, out.open("xb") as unpacked:  # gives no more than `file_size`
                    shutil.copyfileobj(packed, unpacked, _CHUNK)
    except (zipfile.BadZipFile, zlib.error, EOFError, RuntimeError, ValueError, OSError) as error:
        if isinstance(error, OSError) and error.errno is not None:  # bz2 gives none for a damaged stream
            raise
        _refuse(source, f"cannot be read: {error}")


def _check_members(source: Path, members: Sequence[zipfile.ZipInfo]) -> None:
    names = [member.filename for member in members]
    if CONTENTS not in names:
        _refuse(source, f"is not a bundle: it has no {CONTENTS}")
    if any(member.compress_type not in _COMPRESSIONS for member in members):
        _refuse(source, "has an unsupported compression")
    if len(names) > _MOST_FILES or len(set(names)) != len(names):
        _refuse(source, f"has {len(names)} files, or one of them twice; a bundle has up to {_MOST_FILES}")
    strange = next((name for name in names if name != CONTENTS and not _MEMBER.fullmatch(name)), None)
    if strange is not None:
        _refuse(source, f"contains {strange!r}, which does not belong into a bundle")
    size = sum(member.file_size for member in members)
    if size > _MOST_BYTES or any(m.filename == CONTENTS and m.file_size > _CONTENTS_BYTES for m in members):
        _refuse(source, f"would unpack to {size / 1e6:,.0f} MB, more than the limit")


def _checked(source: Path, path: Path, *, nothing_else: bool = False) -> Bundle:
    """Check the artifacts of the unpacked bundle at `path`.

    With `nothing_else` any other file there is an error. In the cache other files are allowed, since recipes are made
    there, perhaps by another command at the same time.
    """
    contents = _contents(source, path)
    there = {str(file.relative_to(path)) for file in path.rglob("*") if file.is_file()} - {CONTENTS}
    for name, entry in contents["artifacts"].items():
        files = _verified(source, path, name, entry)
        there -= {f"{name}/{file}" for file in (MANIFEST, *files)}
    if nothing_else and there:
        _refuse(source, f"contains {min(there)!r}, which no manifest lists")
    recipes = contents.get("recipes", {})
    return Bundle(source, path, tuple(contents["seats"]), contents["artifacts"], recipes, contents)


def _contents(source: Path, path: Path) -> dict[str, Any]:
    try:
        contents = json.loads((path / CONTENTS).read_text())
        schema, artifacts, seats = (contents[key] for key in ("schema", "artifacts", "seats"))
        sound = all(isinstance(seat, str) for seat in seats)
        sound &= all(
            re.fullmatch(_ARTIFACT, name) and entry["kind"] and entry["fingerprint"]
            for name, entry in artifacts.items()
        )
        sound &= all(
            re.fullmatch(_ARTIFACT, name) and name not in artifacts and recipe["config"] and recipe["fingerprint"]
            for name, recipe in contents.get("recipes", {}).items()
        )
    except (OSError, ValueError, KeyError, TypeError, AttributeError, RecursionError) as error:
        _refuse(source, f"has a {CONTENTS} that cannot be read ({error!r})")
    if schema != SCHEMA:
        raise MismatchedArtifactError(f"{source} has schema {schema!r}, this version reads {SCHEMA}", GET_A_BUNDLE)
    if not sound:
        _refuse(source, f"has a {CONTENTS} that lists no artifacts and agents")
    return dict(contents)


def _verified(source: Path, root: Path, name: str, entry: Mapping[str, Any]) -> list[str]:
    """Check an artifact and return the names of its files.

    The checksum of the manifest and of every file must match, and the headers of the arrays must be sound.
    """
    try:
        files: list[str] = list(json.loads((root / name / MANIFEST).read_text())["files"])
        if not files or not all(_MEMBER.fullmatch(f"{name}/{file}") for file in files):
            _refuse(source, f"has a manifest of {name} that lists no files, or strange ones")
        artifact = open_folder(root / name, entry["kind"])
        if artifact.fingerprint != entry["fingerprint"]:
            _refuse(source, f"has another {name} than its {CONTENTS} says")
        for array in artifact.arrays:
            _ = artifact.arrays[array]
    except (CorruptArtifactError, MissingArtifactError, MismatchedArtifactError) as error:
        if str(error).startswith(str(source)):
            raise
        raise type(error)(f"{source}: {error.problem}".replace(f"{root}/", ""), GET_A_BUNDLE) from None
    except (OSError, ValueError, KeyError, TypeError, AttributeError, RecursionError, SyntaxError) as error:
        _refuse(source, f"has a {name} that cannot be read ({error!r})")
    return files


def _refuse(source: Path, why: str) -> NoReturn:
    raise CorruptArtifactError(f"{source} {why}", GET_A_BUNDLE)
