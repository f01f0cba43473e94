"""Bundles come back as they were packed, and are refused by name when anything about them is not as it should be."""

import io
import json
import zipfile
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from poker.artifacts import ArtifactError, open_artifact, write_artifact
from poker.bundle import CONTENTS, open_bundle, write_bundle
from poker.errors import PokernetsError

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
    assert (opened.seats, opened.artifacts) == (("naive",), ("leaf_table", "opponent_net/hand"))
    for name, kind in (("leaf_table", "leaf_table"), ("opponent_net/hand", "opponent_net")):
        packed, made = open_artifact(opened.path / name, kind), open_artifact(bundle.parent / "made" / name, kind)
        assert packed.fingerprint == made.fingerprint
    assert open_artifact(opened.path / "leaf_table", "leaf_table").arrays["values"].tolist() == list(range(1000))
    assert [path.name for path in opened.path.parent.iterdir()] == [opened.path.name]


def test_unpacked_once_and_anew_when_the_cache_was_altered(bundle: Path) -> None:
    values = open_bundle(bundle).path / "leaf_table/values.npy"
    before = values.stat()
    assert open_bundle(bundle).path / "leaf_table/values.npy" == values
    assert (values.stat().st_ino, values.stat().st_mtime_ns) == (before.st_ino, before.st_mtime_ns)
    values.write_bytes(values.read_bytes()[:-8] + b"12345678")
    open_bundle(bundle)
    assert np.load(values)[-1] == 999


def test_equal_contents_give_equal_bytes_and_too_many_leave_what_was_there(bundle: Path, tmp_path: Path) -> None:
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


def _altered(members: Members) -> None:
    members["leaf_table/values.npy"] = members["leaf_table/values.npy"][:-8] + b"12345678"


def _incomplete(members: Members) -> None:
    del members["opponent_net/hand/w.npy"]


def _outside(members: Members) -> None:
    members["../evil.npy"] = b""


def _absolute(members: Members) -> None:
    members["/tmp/evil/w.npy"] = b""


def _code(members: Members) -> None:
    members["leaf_table/run.py"] = b"print()"


def _unlisted(members: Members) -> None:
    members["leaf_table/more.npy"] = b""


def _newer(members: Members) -> None:
    members[CONTENTS] = members[CONTENTS].replace(b'"schema": 1', b'"schema": 2')


def _no_contents(members: Members) -> None:
    del members[CONTENTS]


def _nonsense(members: Members) -> None:
    members[CONTENTS] = b"[" * 100_000


def _strange_lists(members: Members) -> None:
    contents = json.loads(members[CONTENTS])
    members[CONTENTS] = json.dumps({**contents, "artifacts": {"../x": {"kind": "a", "fingerprint": "b"}}}).encode()


def _other_fingerprint(members: Members) -> None:
    contents = json.loads(members[CONTENTS])
    contents["artifacts"]["leaf_table"]["fingerprint"] = "0"
    members[CONTENTS] = json.dumps(contents).encode()


def _bomb(members: Members) -> None:
    for part in range(11):
        members[f"leaf_table/part{part}.npy"] = bytes(100 << 20)


@pytest.mark.parametrize(
    ("change", "named"),
    [
        (_altered, r"leaf_table/values\.npy was altered"),
        (_incomplete, r"opponent_net/hand/w\.npy is missing"),
        (_outside, r"holds '\.\./evil\.npy'"),
        (_absolute, "holds '/tmp/evil/w.npy'"),
        (_code, "holds 'leaf_table/run.py'"),
        (_unlisted, "holds 'leaf_table/more.npy', which no manifest"),
        (_newer, "has schema 2, this version reads 1"),
        (_no_contents, "is no bundle"),
        (_nonsense, "cannot be read"),
        (_strange_lists, "lists no artifacts"),
        (_other_fingerprint, "has another leaf_table"),
        (_bomb, "would unpack to 1,153 MB"),
    ],
)
def test_hostile_bundles_are_refused_by_name(
    bundle: Path, tmp_path: Path, change: Callable[[Members], None], named: str
) -> None:
    members = _members(bundle)
    change(members)
    file = tmp_path / "hostile.bundle"
    _store(file, members)
    _refused(file, named)


def _refused(file: Path, named: str) -> None:
    """Assert a refusal in one line that names the file, with nothing left in the cache."""
    with pytest.raises(ArtifactError, match=named) as caught:
        open_bundle(file)
    assert str(file) in str(caught.value)
    assert "job=bundle" in str(caught.value)
    assert "\n" not in str(caught.value)
    assert not any((file.parent / "cache/pokernets/bundles").glob("*"))


def test_pickled_arrays_are_refused(bundle: Path, tmp_path: Path) -> None:
    stream = io.BytesIO()
    np.save(stream, np.array([{}], dtype=object), allow_pickle=True)
    made = tmp_path / "pickled/leaf_table"
    write_artifact(made, "leaf_table", config={}, arrays={}, files={"values.npy": stream.getvalue()})
    write_bundle(tmp_path / "pickled.bundle", tmp_path / "pickled", {"seats": []}, 1 << 20)
    _refused(tmp_path / "pickled.bundle", "leaf_table that cannot be read")


@pytest.mark.parametrize("length", [0, 10, 500, -1])
def test_truncated_bundles_are_refused(bundle: Path, length: int) -> None:
    bundle.write_bytes(bundle.read_bytes()[:length])
    _refused(bundle, "cannot be read")


def test_other_compressions_are_refused(bundle: Path, tmp_path: Path) -> None:
    _store(tmp_path / "lzma.bundle", _members(bundle), zipfile.ZIP_LZMA)
    _refused(tmp_path / "lzma.bundle", "compressed in a way")


def test_bytes_that_do_not_inflate_are_refused(bundle: Path) -> None:
    data = bytearray(bundle.read_bytes())
    with zipfile.ZipFile(bundle) as archive:
        at = archive.getinfo("leaf_table/values.npy").header_offset
    data[at + 100 : at + 140] = bytes(40)
    bundle.write_bytes(data)
    _refused(bundle, "cannot be read")


def test_a_missing_bundle_is_named(tmp_path: Path) -> None:
    with pytest.raises(ArtifactError, match=r"no bundle at .*job=bundle"):
        open_bundle(tmp_path / "nothing.bundle")
    (tmp_path / "laptop.bundle").touch()
    with pytest.raises(ArtifactError, match=r"no bundle at .*lptop\.bundle\. .* has laptop\.bundle$"):
        open_bundle(tmp_path / "lptop.bundle")
