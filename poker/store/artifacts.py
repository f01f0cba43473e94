"""Artifacts by their paths, which are folders or lead into bundles.

What an artifact is, and how it is read and written, is in `folders.py`; what a bundle is, in `bundle.py`.
"""

import os
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any

from poker.run.atomic import MANIFEST, bundle_of, take_back
from poker.run.commands import GET_A_BUNDLE
from poker.store.folders import (
    Artifact,
    ArtifactError,
    CorruptArtifactError,
    MismatchedArtifactError,
    MissingArtifactError,
    canonical_json,
    file_sha256,
    fingerprint_of,
    manifest_of,
    open_folder,
    refuses_by_name,
    write_artifact,
)

if TYPE_CHECKING:
    from poker.store.bundle import Bundle

__all__ = [
    "Artifact",
    "ArtifactError",
    "CorruptArtifactError",
    "MismatchedArtifactError",
    "MissingArtifactError",
    "artifact_exists",
    "artifacts_in",
    "canonical_json",
    "file_sha256",
    "find_artifact",
    "fingerprint_of",
    "fingerprint_of_settings",
    "open_artifact",
    "recipe_at",
    "refuses_by_name",
    "write_artifact",
]


def open_artifact(
    path: str | Path,
    kind: str | None,
    *,
    config: Mapping[str, Any] | None = None,
    made_from: Mapping[str, str] | None = None,
    verify: bool = True,
) -> Artifact:
    """Open the artifact at `path`; an ArtifactError unless it is complete, of this kind (None: of any) and unaltered
    (`verify`). A path that leads into a bundle opens what is unpacked from it (`poker.store.bundle`).

    Given keys of `config` and `made_from` must equal the manifest's (null equals absent); others are not checked.
    """
    target = Path(path)
    if (bundled := _bundled(target)) is None:
        return open_folder(target, kind, config=config, made_from=made_from, verify=verify)
    place = bundled[0].place(bundled[1])
    try:
        return open_folder(place, kind, config=config, made_from=made_from, verify=verify)
    except ArtifactError as error:
        raise type(error)(error.problem.replace(str(place), str(target)), GET_A_BUNDLE) from None


def find_artifact(
    path: str | Path,
    kind: str,
    *,
    config: Mapping[str, Any] | None = None,
    made_from: Mapping[str, str] | None = None,
) -> Artifact | None:
    """Like `open_artifact`, but None where there is nothing yet: a job calls it to reuse what is already made. An
    artifact that a bundle lacks is an error here too, as nothing is written there."""
    take_back(Path(path))
    if bundle_of(Path(path)) is None and not os.path.exists(Path(path) / MANIFEST):
        return None
    return open_artifact(path, kind, config=config, made_from=made_from)


def artifacts_in(value: Any) -> dict[str, str]:
    """Paths among the settings that are artifacts, with their fingerprints, or the checksums of manifests of others."""
    if isinstance(value, dict):
        return {path: sha for item in value.values() for path, sha in artifacts_in(item).items()}
    if isinstance(value, list | tuple):
        return {path: sha for item in value for path, sha in artifacts_in(item).items()}
    with suppress(ArtifactError):  # of a bundle that cannot be opened
        if isinstance(value, str) and len(value) < 4096 and (fingerprint := _fingerprint_at(Path(value))):
            return {value: fingerprint}
    return {}


def artifact_exists(path: str | Path) -> bool:
    """Whether there is an artifact at `path`, which may lead into a bundle."""
    return bool(_fingerprint_at(Path(path)))


def _fingerprint_at(path: Path) -> str:
    """The fingerprint of the artifact at `path`, or the checksum of a manifest without one; empty if there is none."""
    if (bundled := _bundled(path)) is not None:
        bundle, name = bundled
        return bundle.fingerprints.get(name, "")
    if not os.path.isfile(path / MANIFEST):
        return ""
    with suppress(CorruptArtifactError):
        return str(manifest_of(path, "")[0]["fingerprint"])
    return file_sha256(path / MANIFEST)


def recipe_at(path: Path) -> tuple[Mapping[str, Any], Path] | None:
    """The recipe of the artifact at `path`, and where it is to be made, if that is all that a bundle has of it."""
    if (bundled := _bundled(path)) is None:
        return None
    bundle, name = bundled
    recipe, place = bundle.recipes.get(name), bundle.path / name
    return None if recipe is None or place.is_dir() else (recipe, place)


def _bundled(path: Path) -> "tuple[Bundle, str] | None":
    """The bundle that `path` leads into, and the name of the artifact there."""
    if os.path.isdir(path) or (file := bundle_of(path)) is None:
        return None
    from poker.store.bundle import bundle_at  # noqa: PLC0415 (what commands on folders do without)

    return bundle_at(file), str(path.relative_to(file))


def fingerprint_of_settings(settings: Any, *others: Any) -> str:
    """SHA-256 (hex) of settings, the artifacts that they name as these are now, and `others`."""
    return fingerprint_of([*others, settings, artifacts_in(settings)])
