"""Bundles come back as they were packed, and are refused by name when anything about them is not as it should be."""

import io
import json
import re
import zipfile
from collections.abc import Callable
from pathlib import Path
from unittest.mock import Mock

import numpy as np
import pytest

from poker.run.errors import PokernetsError
from poker.store import bundle as bundles
from poker.store.artifacts import (
    ArtifactError,
    artifact_exists,
    artifacts_in,
    find_artifact,
    open_artifact,
    write_artifact,
)
from poker.store.bundle import CONTENTS, open_bundle, write_bundle
from tests.cases import cases

Members = dict[str, bytes]


@pytest.fixture
def bundle(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    config = {"made": "here"}
    write_artifact(tmp_path / "made/leaf_table", "leaf_table", config=config, arrays={"values": np.arange(1000)})
    write_artifact(tmp_path / "made/opponent_net/hand", "opponent_net", config=config, arrays={"w": np.ones(3)})
    write_bundle(tmp_path / "a.bundle", tmp_path / "made", {"seats": ["naive"]}, 1 << 20)
    return tmp_path / "a.bundle"


def test_round_trip(bundle: Path) -> None:
    opened = open_bundle(bundle)
    assert (opened.seats, [*opened.artifacts]) == (("naive",), ["leaf_table", "opponent_net/hand"])
    for name, kind in (("leaf_table", "leaf_table"), ("opponent_net/hand", "opponent_net")):
        packed, made = open_artifact(opened.path / name, kind), open_artifact(bundle.parent / "made" / name, kind)
        assert packed.fingerprint == made.fingerprint
    assert open_artifact(opened.path / "leaf_table", "leaf_table").arrays["values"].tolist() == list(range(1000))
    assert [path.name for path in opened.path.parent.iterdir()] == [opened.path.name]


def test_bundle_is_unpacked_once_and_again_after_the_cache_was_altered(bundle: Path) -> None:
    values = open_bundle(bundle).path / "leaf_table/values.npy"
    before = values.stat()
    assert open_bundle(bundle).path / "leaf_table/values.npy" == values
    assert (values.stat().st_ino, values.stat().st_mtime_ns) == (before.st_ino, before.st_mtime_ns)
    values.write_bytes(values.read_bytes()[:-8] + b"12345678")
    open_bundle(bundle)
    assert np.load(values)[-1] == 999


def test_path_into_a_bundle_opens_its_artifact(bundle: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The bundle is checked once in a process, and again when the file was replaced."""
    checks = Mock(side_effect=bundles.open_bundle)
    monkeypatch.setattr(bundles, "open_bundle", checks)
    for _ in range(2):
        assert open_artifact(bundle / "leaf_table", "leaf_table").arrays["values"][-1] == 999
        found = find_artifact(bundle / "opponent_net" / "hand", "opponent_net")
        assert found is not None
        assert artifacts_in({"net": f"{bundle}/opponent_net/hand"}) == {
            f"{bundle}/opponent_net/hand": found.fingerprint
        }
    assert [artifact_exists(bundle / name) for name in ("leaf_table", "leaf_net", "opponent_net")] == [
        True,
        False,
        False,
    ]
    assert checks.call_count == 1
    write_artifact(bundle.parent / "made/leaf_table", "leaf_table", config={}, arrays={"values": np.arange(7)})
    write_bundle(bundle, bundle.parent / "made", {"seats": ["naive"]}, 1 << 20)
    assert open_artifact(bundle / "leaf_table", "leaf_table").arrays["values"][-1] == 6


@cases
def test_errors_about_a_path_into_a_bundle_name_it(bundle: Path, name: str, kind: str, problem: str) -> None:
    path = bundle.parent / name if "none" in name else bundle / name
    with pytest.raises(ArtifactError, match=problem) as caught:
        open_artifact(path, kind)
    assert str(path if "none" not in name else path.parent) in str(caught.value)
    with pytest.raises(PokernetsError, match="is a bundle and read-only"):
        write_artifact(path, kind, config={}, arrays={})


def test_cache_entry_that_another_command_makes_stays(bundle: Path) -> None:
    path = open_bundle(bundle).path
    (path / ".abstraction.x1").mkdir()
    (path / ".abstraction.x1" / "river.npy").write_bytes(b"half")
    assert open_bundle(bundle).path == path
    assert (path / ".abstraction.x1" / "river.npy").read_bytes() == b"half"


def test_equal_contents_give_equal_bytes_and_too_large_ones_leave_the_old_file(bundle: Path, tmp_path: Path) -> None:
    write_bundle(tmp_path / "b.bundle", tmp_path / "made", {"seats": ["naive"]}, 1 << 20)
    assert (tmp_path / "b.bundle").read_bytes() == bundle.read_bytes()
    with pytest.raises(PokernetsError, match=r"more than 0\.0 \(leaf_table .* MB"):
        write_bundle(bundle, tmp_path / "made", {"seats": ["other"]}, 1000)
    assert (tmp_path / "b.bundle").read_bytes() == bundle.read_bytes()


def _members(file: Path) -> Members:
    with zipfile.ZipFile(file) as archive:
        return {name: archive.read(name) for name in archive.namelist()}


def _store(file: Path, members: Members, compression: int = zipfile.ZIP_DEFLATED) -> None:
    with zipfile.ZipFile(file, "w", compression) as archive:
        for name, data in members.items():
            archive.writestr(name, data)


Change = bytes | Callable[[bytes], bytes] | None
"""Content in place of a member's, or what it becomes; None where the member is left out."""
_STRANGE = {"../x": {"kind": "a", "fingerprint": "b"}}


@pytest.mark.parametrize(
    ("member", "change", "named"),
    [
        ("leaf_table/values.npy", lambda data: data[:-8] + b"12345678", "leaf_table/values.npy does not match"),
        ("opponent_net/hand/w.npy", None, "opponent_net/hand/w.npy is missing"),
        ("../evil.npy", b"", "contains '../evil.npy'"),
        ("/tmp/evil/w.npy", b"", "contains '/tmp/evil/w.npy'"),
        ("leaf_table/run.py", b"print()", "contains 'leaf_table/run.py'"),
        ("leaf_table/more.npy", b"", "contains 'leaf_table/more.npy', which no manifest"),
        (CONTENTS, lambda data: data.replace(b'"schema": 1', b'"schema": 2'), "has schema 2, this version reads 1"),
        (CONTENTS, None, "is not a bundle"),
        (CONTENTS, b"[" * 100_000, "cannot be read"),
        (CONTENTS, lambda data: json.dumps({**json.loads(data), "artifacts": _STRANGE}).encode(), "lists no artifacts"),
        (CONTENTS, lambda data: json.dumps({**json.loads(data), "recipes": _STRANGE}).encode(), "lists no artifacts"),
        (CONTENTS, lambda data: re.sub(b"[0-9a-f]{64}", b"0", data, count=1), "has another leaf_table"),
    ],
)
def test_hostile_bundles_are_refused_by_name(
    bundle: Path, tmp_path: Path, member: str, change: Change, named: str
) -> None:
    members = _members(bundle)
    before = members.pop(member, b"")
    if change is not None:
        members[member] = change(before) if callable(change) else change
    _store(tmp_path / "hostile.bundle", members)
    assert named in _refusal(tmp_path / "hostile.bundle")


def test_bundles_that_unpack_to_too_much_are_refused(bundle: Path, tmp_path: Path) -> None:
    parts = {f"leaf_table/part{part}.npy": bytes(100 << 20) for part in range(11)}
    _store(tmp_path / "bomb.bundle", _members(bundle) | parts)
    assert "would unpack to 1,153 MB" in _refusal(tmp_path / "bomb.bundle")


def _refusal(file: Path) -> str:
    """The refusal, in one line that names the file and the remedy, with nothing left in the cache."""
    with pytest.raises(ArtifactError, match=rf"{file}.*job=bundle") as caught:
        open_bundle(file)
    assert "\n" not in str(caught.value)
    assert not any((file.parent / "cache/pokernets/bundles").glob("*"))
    return str(caught.value)


def test_pickled_arrays_are_refused(bundle: Path, tmp_path: Path) -> None:
    stream = io.BytesIO()
    np.save(stream, np.array([{}], dtype=object), allow_pickle=True)
    made = tmp_path / "pickled/leaf_table"
    write_artifact(made, "leaf_table", config={}, arrays={}, files={"values.npy": stream.getvalue()})
    write_bundle(tmp_path / "pickled.bundle", tmp_path / "pickled", {"seats": []}, 1 << 20)
    assert "leaf_table that cannot be read" in _refusal(tmp_path / "pickled.bundle")


@pytest.mark.parametrize("length", [0, 10, 500, -1])
def test_truncated_bundles_are_refused(bundle: Path, length: int) -> None:
    bundle.write_bytes(bundle.read_bytes()[:length])
    assert "cannot be read" in _refusal(bundle)


def test_other_compressions_are_refused(bundle: Path, tmp_path: Path) -> None:
    _store(tmp_path / "lzma.bundle", _members(bundle), zipfile.ZIP_LZMA)
    assert "unsupported compression" in _refusal(tmp_path / "lzma.bundle")


def test_bytes_that_do_not_inflate_are_refused(bundle: Path) -> None:
    data = bytearray(bundle.read_bytes())
    with zipfile.ZipFile(bundle) as archive:
        at = archive.getinfo("leaf_table/values.npy").header_offset
    data[at + 100 : at + 140] = bytes(40)
    bundle.write_bytes(data)
    assert "cannot be read" in _refusal(bundle)


def test_a_missing_bundle_is_named(tmp_path: Path) -> None:
    with pytest.raises(ArtifactError, match=r"no bundle at .*job=bundle"):
        open_bundle(tmp_path / "nothing.bundle")
    (tmp_path / "laptop.bundle").touch()
    with pytest.raises(ArtifactError, match=r"no bundle at .*lptop\.bundle\. .* has laptop\.bundle$"):
        open_bundle(tmp_path / "lptop.bundle")
