"""Artifacts by path, where the path is a folder or leads into a bundle.

`folders.py` defines the artifact itself and how it is read and written; `bundle.py` defines bundles.
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
    """Open and check the artifact at a path.

    Args:
        path: folder of the artifact, or a path into a bundle, from which it is unpacked (`poker.store.bundle`).
        kind: kind that the artifact must have; None accepts any.
        config: settings that must equal the manifest's; null equals an absent key. Keys that are not given are not
            checked.
        made_from: fingerprints by role that must equal the manifest's.
        verify: whether to compare the SHA-256 of every file.

    Raises:
        ArtifactError: the artifact is missing, damaged, altered, of another kind, or made with other settings.
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
    path: str | Path, kind: str, *, config: Mapping[str, Any] | None = None, made_from: Mapping[str, str] | None = None
) -> Artifact | None:
    """Open an artifact, or return None if none has been made yet.

    Jobs call it to reuse earlier results. It takes the arguments of `open_artifact`.

    Raises:
        ArtifactError: as in `open_artifact`; also if a bundle lacks the artifact, because nothing can be written there.
    """
    take_back(Path(path))
    if bundle_of(Path(path)) is None and not os.path.exists(Path(path) / MANIFEST):
        return None
    return open_artifact(path, kind, config=config, made_from=made_from)


def artifacts_in(value: Any) -> dict[str, str]:
    """Return the paths among these settings that are artifacts, with their fingerprints.

    A manifest without a fingerprint is represented by its checksum.
    """
    if isinstance(value, dict):
        return {path: sha for item in value.values() for path, sha in artifacts_in(item).items()}
    if isinstance(value, list | tuple):
        return {path: sha for item in value for path, sha in artifacts_in(item).items()}
    with suppress(ArtifactError):  # of a bundle that cannot be opened
        if isinstance(value, str) and len(value) < 4096 and (fingerprint := _fingerprint_at(Path(value))):
            return {value: fingerprint}
    return {}


def artifact_exists(path: str | Path) -> bool:
    """Return whether there is an artifact at `path`, which may lead into a bundle."""
    return bool(_fingerprint_at(Path(path)))


def _fingerprint_at(path: Path) -> str:
    """Return the fingerprint of the artifact at `path`, the checksum of a manifest without one, or an empty string."""
    if (bundled := _bundled(path)) is not None:
        bundle, name = bundled
        return bundle.fingerprints.get(name, "")
    if not os.path.isfile(path / MANIFEST):
        return ""
    with suppress(CorruptArtifactError):
        return str(manifest_of(path, "")[0]["fingerprint"])
    return file_sha256(path / MANIFEST)


def recipe_at(path: Path) -> tuple[Mapping[str, Any], Path] | None:
    """Return the recipe of an artifact and its target folder if the bundle stores only the recipe.

    Returns:
        (recipe, folder); None if the path does not lead into a bundle, the bundle has no recipe for it, or the artifact
        has been made already.
    """
    if (bundled := _bundled(path)) is None:
        return None
    bundle, name = bundled
    recipe, place = bundle.recipes.get(name), bundle.path / name
    return None if recipe is None or place.is_dir() else (recipe, place)


def _bundled(path: Path) -> "tuple[Bundle, str] | None":
    """Return the bundle that `path` leads into and the artifact's name in it."""
    if os.path.isdir(path) or (file := bundle_of(path)) is None:
        return None
    from poker.store.bundle import bundle_at  # noqa: PLC0415 (what commands on folders do without)

    return bundle_at(file), str(path.relative_to(file))


def fingerprint_of_settings(settings: Any, *others: Any) -> str:
    """Return the SHA-256 (hex) of settings, of the current artifacts that they name, and of `others`."""
    return fingerprint_of([*others, settings, artifacts_in(settings)])
