"""Artifacts are complete or absent, and refused by name when they are not the requested ones."""

import json
import os
import re
import resource
import shutil
import signal
import stat
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from poker.run.atomic import remove, write_atomically, written_atomically
from poker.run.errors import PokernetsError
from poker.store import folders
from poker.store.artifacts import (
    CorruptArtifactError,
    MismatchedArtifactError,
    MissingArtifactError,
    find_artifact,
    fingerprint_of,
    fingerprint_of_settings,
    open_artifact,
    refuses_by_name,
    write_artifact,
)
from tests.cases import cases


@pytest.fixture
def made(tmp_path: Path) -> Path:
    path = tmp_path / "abstraction"
    write_artifact(
        path,
        "abstraction",
        config={"buckets": (169, 10), "seed": 1},
        made_from={"rules": "abc"},
        arrays={"flop": np.arange(12, dtype=np.uint8).reshape(3, 4)},
        files={"note.txt": b"hello"},
    )
    return path


def test_round_trip(made: Path) -> None:
    artifact = open_artifact(made, "abstraction", config={"buckets": [169, 10]}, made_from={"rules": "abc"})
    assert artifact.arrays["flop"].tolist() == [[0, 1, 2, 3], [4, 5, 6, 7], [8, 9, 10, 11]]
    assert not artifact.arrays["flop"].flags.writeable
    assert [child.name for child in made.parent.iterdir()] == ["abstraction"]


def test_equal_contents_have_equal_fingerprints(made: Path, tmp_path: Path) -> None:
    first = open_artifact(made, "abstraction")
    arrays = {"flop": np.array(first.arrays["flop"])}
    files = {"note.txt": b"hello"}
    again = write_artifact(
        tmp_path / "b", "abstraction", config=first.config, made_from=first.made_from, arrays=arrays, files=files
    )
    other = write_artifact(
        tmp_path / "c", "abstraction", config=first.config, made_from=first.made_from, arrays=arrays, files={}
    )
    assert again.fingerprint == first.fingerprint
    assert other.fingerprint != first.fingerprint


def test_fingerprint_does_not_depend_on_the_time_taken(tmp_path: Path) -> None:
    """Equal bytes are one source: what was made from one is not refused beside the other."""

    def made(name: str, seconds: float, iterations: int) -> str:
        steps = [{"value": 1.5, "seconds": {"solve": seconds}}]
        counts = {"iterations": iterations, "seconds": seconds, "cpu_seconds": 2 * seconds, "steps": steps}
        written = write_artifact(tmp_path / name, "blueprint", config={}, arrays={}, counts=counts)
        assert open_artifact(tmp_path / name, "blueprint").counts == counts
        return written.fingerprint

    assert made("a", 1.25, 10) == made("b", 99.0, 10) != made("c", 1.25, 11)
    (tmp_path / "a").rename(tmp_path / "kept")
    before = fingerprint_of_settings({"path": str(tmp_path / "b")})
    assert made("b", 7.0, 10) == open_artifact(tmp_path / "kept", "blueprint").fingerprint
    assert fingerprint_of_settings({"path": str(tmp_path / "b")}) == before
    limits = [write_artifact(tmp_path / "d", "blueprint", config={"seconds": n}, arrays={}) for n in (1, 2)]
    assert limits[0].fingerprint != limits[1].fingerprint


def test_fingerprints_with_seconds_equal_older_artifacts(tmp_path: Path) -> None:
    write_artifact(tmp_path / "old", "blueprint", config={}, arrays={}, counts={"seconds": 1.0})
    manifest = json.loads((tmp_path / "old" / "manifest.json").read_text())
    del manifest["fingerprint"]
    old = fingerprint_of(manifest)
    (tmp_path / "old" / "manifest.json").write_text(json.dumps({**manifest, "fingerprint": old}))
    assert open_artifact(tmp_path / "old", "blueprint").fingerprint == old


def test_missing_names_the_command(tmp_path: Path) -> None:
    with pytest.raises(MissingArtifactError, match="python -m data_gen job=blueprint"):
        open_artifact(tmp_path / "nothing", "blueprint")
    assert find_artifact(tmp_path / "nothing", "blueprint") is None


@cases
def test_mismatch_is_refused_by_name(
    made: Path, kind: str, config: dict[str, int], made_from: dict[str, str], named: str
) -> None:
    with pytest.raises(MismatchedArtifactError, match=named):
        open_artifact(made, kind, config=config, made_from=made_from)


def test_a_mismatch_names_the_setting_that_differs(tmp_path: Path) -> None:
    trainer = {"max_epochs": 1, "callbacks": [{"patience": 3}, {"patience": 5}]}
    sources = {"blueprint": "1" * 64}
    write_artifact(tmp_path / "net", "leaf_net", config={"trainer": trainer}, arrays={}, made_from=sources)
    for wanted, message in (
        (trainer | {"max_epochs": 2}, "config trainer.max_epochs=1, not with 2"),
        (trainer | {"callbacks": [{"patience": 3}, {"patience": 4}]}, r"trainer.callbacks\[1\].patience=5, not with 4"),
        (trainer | {"devices": 2}, "trainer.devices=None, not with 2"),
    ):
        with pytest.raises(MismatchedArtifactError, match=message):
            open_artifact(tmp_path / "net", "leaf_net", config={"trainer": wanted})
    with pytest.raises(MismatchedArtifactError, match=r"another blueprint \(1{12}, not 2{12}\)"):
        open_artifact(tmp_path / "net", "leaf_net", made_from={"blueprint": "2" * 64})


def test_setting_of_null_must_be_absent(made: Path) -> None:
    open_artifact(made, "abstraction", config={"rounds": None})
    with pytest.raises(MismatchedArtifactError, match="seed=1, not with None"):
        open_artifact(made, "abstraction", config={"seed": None})


def test_remedy_for_an_existing_path_begins_with_its_removal(made: Path) -> None:
    make = f"make it with: python -m data_gen job=abstraction artifacts={made.parent}"
    with pytest.raises(MismatchedArtifactError, match=rf"outputs=DIR .*, or move {made} away and {make}$"):
        open_artifact(made, "abstraction", config={"seed": 2})
    (made / "manifest.json").write_text("")
    with pytest.raises(CorruptArtifactError, match=rf"\. Move {made} away and {make}$"):
        open_artifact(made, "abstraction")
    with pytest.raises(CorruptArtifactError, match=rf"\. Move {made} away and run the command that makes it$"):
        open_artifact(made, "blueprint_checkpoint")


def test_truncated_altered_and_missing_files_are_refused_by_name(made: Path) -> None:
    file = made / "flop.npy"
    data = file.read_bytes()
    file.write_bytes(data[:-1])
    with pytest.raises(CorruptArtifactError, match=r"flop\.npy has 139 bytes, its manifest says 140"):
        open_artifact(made, "abstraction")
    file.write_bytes(data[:-1] + b"\x63")
    with pytest.raises(CorruptArtifactError, match=r"flop\.npy does not match the SHA-256"):
        open_artifact(made, "abstraction")
    file.unlink()
    with pytest.raises(CorruptArtifactError, match=r"flop\.npy is missing"):
        open_artifact(made, "abstraction")


@pytest.mark.parametrize("text", ["", "[]", "{}", '{"fingerprint": "x"}'])
def test_unreadable_manifest_is_refused(made: Path, text: str) -> None:
    (made / "manifest.json").write_text(text)
    with pytest.raises(CorruptArtifactError, match=r"manifest\.json"):
        open_artifact(made, "abstraction")


def test_edited_manifest_is_refused(made: Path) -> None:
    manifest = json.loads((made / "manifest.json").read_text())
    manifest["config"]["seed"] = 7
    (made / "manifest.json").write_text(json.dumps(manifest))
    with pytest.raises(CorruptArtifactError, match="fingerprint"):
        open_artifact(made, "abstraction")


def replace(path: Path) -> None:
    """Another artifact at `path`, with files of the same names and sizes."""
    write_artifact(path, "abstraction", config={"seed": 2}, arrays={"flop": np.full((3, 4), 7, np.uint8)})


def test_arrays_of_another_artifact_than_was_opened_are_refused(made: Path) -> None:
    artifact = open_artifact(made, "abstraction")
    mapped = artifact.arrays["flop"]
    replace(made)
    for read in (lambda: artifact.arrays["flop"], lambda: artifact.array("flop"), artifact.check_unchanged):
        with pytest.raises(MismatchedArtifactError, match="abstraction was replaced while it was read"):
            read()
    assert mapped[0, 1] == 1, "what was mapped before stays as it was"
    shutil.rmtree(made)
    with pytest.raises(MismatchedArtifactError, match="was replaced"):
        _ = artifact.arrays["flop"]


def test_artifact_replaced_while_it_is_opened_is_opened_again(made: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    sha256 = folders.file_sha256

    def hashed(path: Path) -> str:
        if path.name == "flop.npy":
            monkeypatch.setattr(folders, "file_sha256", sha256)
            replace(made)
        return sha256(path)

    monkeypatch.setattr(folders, "file_sha256", hashed)
    artifact = open_artifact(made, "abstraction")
    assert (artifact.config, artifact.array("flop")[0, 1]) == ({"seed": 2}, 7)


@pytest.mark.parametrize(("replacements", "is_read"), [(4, True), (5, False)])
def test_reader_starts_again_when_its_artifact_is_replaced(made: Path, replacements: int, is_read: bool) -> None:
    left = replacements

    @refuses_by_name("abstraction")
    def read(path: Path) -> tuple[int, int]:
        nonlocal left
        artifact = open_artifact(path, "abstraction")
        if left:
            write_artifact(path, "abstraction", config={"seed": -left}, arrays={"flop": np.full(3, left)})
            left -= 1
        return artifact.config["seed"], int(artifact.arrays["flop"][0])

    if is_read:
        assert read(made) == (-1, 1)
    else:
        with pytest.raises(MismatchedArtifactError, match="was replaced while it was read"):
            read(made)


def test_a_job_that_finds_a_writer_between_its_two_renames_lets_it_finish(
    made: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    rename, found = Path.rename, []

    def renamed(path: Path, target: Path) -> Path:
        if target == made:  # another process looks for the artifact just before
            monkeypatch.setattr(Path, "rename", rename)
            monkeypatch.setattr("time.sleep", lambda _: rename(path, target))
            found.append(find_artifact(made, "abstraction"))
            return target
        return rename(path, target)

    monkeypatch.setattr(Path, "rename", renamed)
    replace(made)
    assert [artifact and artifact.config for artifact in found] == [{"seed": 2}]


@pytest.mark.parametrize("killed", [False, True])
def test_a_reader_between_the_two_renames_of_a_writer_waits(
    made: Path, monkeypatch: pytest.MonkeyPatch, killed: bool
) -> None:
    aside = made.with_name(".abstraction.old")
    made.rename(aside)
    waits: list[float] = []

    def sleep(seconds: float) -> None:
        waits.append(seconds)
        if not killed:
            aside.rename(made)

    monkeypatch.setattr("time.sleep", sleep)
    if killed:
        with pytest.raises(MissingArtifactError):
            open_artifact(made, "abstraction")
    else:
        open_artifact(made, "abstraction")
    assert sum(waits) == pytest.approx(0.1 if killed else 0.001)


@pytest.mark.parametrize("target", ["artifact", "nothing"])
def test_link_is_replaced_and_its_target_stays(made: Path, target: str) -> None:
    """Scales share artifacts through links."""
    link = made.parent / "laptop" / "abstraction"
    link.parent.mkdir()
    link.symlink_to(made if target == "artifact" else made.with_name("nothing"))
    for seed in (2, 3):
        write_artifact(link, "abstraction", config={"seed": seed}, arrays={})
    assert (link.is_symlink(), open_artifact(link, "abstraction").config) == (False, {"seed": 3})
    assert open_artifact(made, "abstraction").config["seed"] == 1
    assert [child.name for child in link.parent.iterdir()] == ["abstraction"]


def test_a_link_that_a_kill_left_moved_aside_is_taken_back(made: Path) -> None:
    made.with_name(".linked.old").symlink_to(made)
    artifact = find_artifact(made.with_name("linked"), "abstraction")
    assert artifact is not None
    assert made.with_name("linked").is_symlink()


@pytest.mark.parametrize("kind", ["link", "folder", "file", "nothing"])
def test_removing_a_link_leaves_its_target(made: Path, kind: str) -> None:
    path = made.with_name("path")
    if kind == "link":
        path.symlink_to(made)
    elif kind == "folder":
        shutil.copytree(made, path)
        (path / "linked").symlink_to(made)
    elif kind == "file":
        path.write_bytes(b"")
    remove(path)
    assert not os.path.lexists(path)
    open_artifact(made, "abstraction")


def test_failed_write_leaves_the_old_artifact(made: Path) -> None:
    with pytest.raises(ValueError, match="pickle"):
        write_artifact(made, "abstraction", config={}, arrays={"bad": np.array([object()])})
    assert open_artifact(made, "abstraction").config["seed"] == 1
    assert [child.name for child in made.parent.iterdir()] == ["abstraction"]


def test_a_disk_that_is_full_is_named_with_the_place(made: Path) -> None:
    size = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (1 << 16, size[1]))  # stands for the end of the disk
    try:
        with pytest.raises(OSError, match=re.escape(f"No space left on device: '{made}'")):
            write_artifact(made, "abstraction", config={}, arrays={"table": np.zeros(1 << 16)})
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, size)
    assert [child.name for child in made.parent.iterdir()] == ["abstraction"]


def test_all_of_it_is_on_disk_before_it_is_there(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """After a power cut a name leads to whole files: they and their folder are synced before the name is given."""
    synced: set[int] = set()
    unsynced: list[str] = []
    fsync, replace, rename = os.fsync, Path.replace, Path.rename

    def noted(descriptor: int) -> None:
        synced.add(os.fstat(descriptor).st_ino)
        fsync(descriptor)

    def checked(source: Path, give: Callable[[Path, Path], Path], target: Path) -> Path:
        parts = [source, *source.iterdir()] if source.is_dir() else [source]
        unsynced.extend(part.name for part in parts if part.stat().st_ino not in synced)
        return give(source, target)

    monkeypatch.setattr(os, "fsync", noted)
    monkeypatch.setattr(Path, "replace", lambda source, target: checked(source, replace, target))
    monkeypatch.setattr(Path, "rename", lambda source, target: checked(source, rename, target))
    made = write_artifact(tmp_path / "made", "abstraction", config={}, arrays={"a": np.ones(3)}, files={"b": b"b"})
    write_atomically(tmp_path / "state.json", b"one")
    assert len(synced) == len([made.path, *made.path.iterdir(), tmp_path / "state.json"])
    assert unsynced == []


def test_files_moved_aside_by_a_killed_writer_are_restored(made: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    rename = Path.rename

    def killed(source: Path, target: Path) -> Path:
        if target == made:
            raise KeyboardInterrupt
        return rename(source, target)

    with monkeypatch.context() as patched:
        patched.setattr(Path, "rename", killed)
        with pytest.raises(KeyboardInterrupt):
            write_artifact(made, "abstraction", config={"seed": 2}, arrays={})
    assert not made.exists()
    artifact = find_artifact(made, "abstraction")
    assert artifact is not None
    assert artifact.config["seed"] == 1
    write_artifact(made, "abstraction", config={"seed": 3}, arrays={})
    shutil.rmtree(made)
    assert find_artifact(made, "abstraction") is None


def test_folders_of_writes_that_were_killed_are_removed_after_a_day(made: Path) -> None:
    names = (".abstraction.abcd_123", ".abstraction.z4isxh7d", ".abstracts.abcd_123")
    old, fresh, other = (made.parent / name for name in names)
    for folder in (old, fresh, other):
        folder.mkdir()
        (folder / "flop.npy").write_bytes(b"half")
    for folder in (old, other):
        os.utime(folder, (0, 0))
    write_artifact(made, "abstraction", config={"seed": 2}, arrays={})
    assert sorted(made.parent.iterdir()) == sorted([made, fresh, other])


def test_files_of_killed_writers_are_removed_and_other_files_stay(tmp_path: Path) -> None:
    file = tmp_path / "hands[1].txt"
    killed = (
        "import os, pathlib\nfrom poker.run.atomic import written_atomically\n"
        f"with written_atomically(pathlib.Path({str(file)!r})) as file:\n"
        "    file.write(b'one'); file.flush(); os.kill(os.getpid(), 9)"
    )
    assert subprocess.run([sys.executable, "-c", killed], check=False).returncode == -signal.SIGKILL
    [left] = tmp_path.iterdir()
    os.utime(left, (0, 0))
    with written_atomically(file) as slow:
        slow.write(b"two")
        with written_atomically(file) as quick:
            quick.write(b"three")
        assert file.read_bytes() == b"three"
        assert len(list(tmp_path.iterdir())) == 2
    assert list(tmp_path.iterdir()) == [file]
    assert file.read_bytes() == b"two"


def test_files_have_the_permissions_of_the_umask_or_of_those_they_replace(tmp_path: Path) -> None:
    file, secret = tmp_path / "state.json", tmp_path / "secret.json"
    old = os.umask(0o027)
    try:
        write_atomically(file, b"one")
        write_atomically(secret, b"one", mode=0o600)
        assert stat.S_IMODE(file.stat().st_mode) == 0o640
        assert stat.S_IMODE(secret.stat().st_mode) == 0o600
        file.chmod(0o604)
        write_atomically(file, b"two")
        assert stat.S_IMODE(file.stat().st_mode) == 0o604
    finally:
        os.umask(old)


def test_a_directory_is_no_file_to_write(tmp_path: Path) -> None:
    with pytest.raises(PokernetsError, match=f"{tmp_path} is a directory; expected a file name"):
        write_atomically(tmp_path, b"one")
    assert not list(tmp_path.iterdir())
