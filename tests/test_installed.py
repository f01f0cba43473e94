"""The wheel in an environment of its own, outside the clone: the command, and all that it needs beside the libraries.

The environment borrows the installed libraries, and the kernels' code that the clone has compiled, so that nothing is
downloaded and little compiled.
"""

import json
import os
import re
import shutil
import subprocess
import sys
import venv
import zipfile
from pathlib import Path
from typing import NamedTuple

import numpy
import pytest

from pokernets import TRAINED, __version__
from pokernets.command import VERBS, overrides
from tests.killed import ROOT
from tests.solvers.games import SPOTS
from tests.table.server import Client, Server

pytestmark = pytest.mark.slow
_PACKED = ("pokernets", "poker", "data_gen", "models", "conf", "pyproject.toml", "README.md", "LICENSE")
_LIBRARIES = Path(numpy.__file__).parents[1]


class Installed(NamedTuple):
    """The program `pokernets` of an environment, a folder to use it in, and the variables that its processes see."""

    program: Path
    folder: Path
    variables: dict[str, str]

    def run(self, *arguments: str, status: int = 0) -> subprocess.CompletedProcess[str]:
        done = subprocess.run(
            [self.program, *arguments],
            cwd=self.folder,
            env=self.variables,
            check=False,
            capture_output=True,
            text=True,
        )
        assert done.returncode == status, done.stderr
        return done


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The wheel of this clone, built from a copy of its sources."""
    source, out = tmp_path_factory.mktemp("source"), tmp_path_factory.mktemp("dist")
    for name in _PACKED:
        if (ROOT / name).is_dir():
            shutil.copytree(ROOT / name, source / name, ignore=shutil.ignore_patterns("__pycache__"))
        else:
            shutil.copy(ROOT / name, source)
    build = f"from setuptools.build_meta import build_wheel; build_wheel({str(out)!r})"
    subprocess.run([sys.executable, "-c", build], cwd=source, check=True, capture_output=True)
    [built] = out.glob("*.whl")
    return built


@pytest.fixture(scope="module")
def installed(wheel: Path, tmp_path_factory: pytest.TempPathFactory) -> Installed:
    place, folder = tmp_path_factory.mktemp("environment"), tmp_path_factory.mktemp("folder")
    venv.create(place, symlinks=True)
    kept = {name: value for name, value in os.environ.items() if not name.startswith(("PYTHON", "PYTEST", "NUMBA"))}
    pip = [sys.executable, "-m", "pip", f"--python={place}/bin/python", "install", "--no-index", "--no-deps"]
    subprocess.run([*pip, "--no-compile", str(wheel)], env=kept, check=True, capture_output=True)
    [packages] = place.glob("lib/python*/site-packages")
    (packages / "libraries.pth").write_text(str(_LIBRARIES))
    _copy_compiled(ROOT / "poker" / "kernels", packages / "poker" / "kernels")
    return Installed(place / "bin" / "pokernets", folder, {**kept, "XDG_CACHE_HOME": str(place / "cache")})


def _copy_compiled(kernels: Path, copy: Path) -> None:
    """Take over what numba has compiled, which it trusts for sources of the same time."""
    for source in kernels.rglob("*.py"):
        os.utime(copy / source.relative_to(kernels), ns=(source.stat().st_atime_ns, source.stat().st_mtime_ns))
    for code in kernels.rglob("*.nb[ic]"):
        target = copy / code.relative_to(kernels)
        target.parent.mkdir(exist_ok=True)
        shutil.copy2(code, target)


def test_the_wheel_has_what_is_no_code_and_nothing_beside_the_packages(wheel: Path) -> None:
    with zipfile.ZipFile(wheel) as archive:
        names = set(archive.namelist())
    assert {name.split("/")[0] for name in names} - set(_PACKED) == {f"pokernets-{__version__}.dist-info"}
    assert {"models/trained/laptop.bundle", "conf/base.yaml", "poker/py.typed", "pokernets/py.typed"} <= names


def test_the_first_command_compiles_with_a_bar_and_its_files_are_in_the_current_folder(installed: Installed) -> None:
    match = ("match", "agents=[random,always_call]", "hands=20", "cluster.processes=1")
    done = installed.run(*match)
    assert "numba compiles the kernels" in done.stderr
    assert "compiling kernels: " in done.stderr
    [found] = (installed.folder / "runs").rglob("results.json")
    record = json.loads(found.read_text())
    assert record["command"].startswith("pokernets evaluate evaluate=match scale=laptop artifacts=")
    assert record["versions"]["pokernets"] == __version__
    assert "compil" not in installed.run(*match).stderr
    assert installed.run("kernels").stderr == "all kernels are compiled for this machine\n"


def test_a_spot_is_solved(installed: Installed) -> None:
    (installed.folder / "turn.json").write_text(json.dumps(SPOTS["t1_turn_basic"]["config"]))
    done = installed.run("solve", "turn.json", "target_percent=5")
    assert "exploitab" in done.stdout


def test_the_first_hand_is_dealt_in_seconds(installed: Installed) -> None:
    """In less than 30 s of CPU time, which a busy machine does not change."""
    installed.run("kernels")
    server = Server(play=[str(installed.program), "play"], cwd=installed.folder, environment=installed.variables)
    try:
        client = Client(server)
        assert client.wait("Call") == "Call"
        assert 0 < server.cpu_seconds() < 30
        client.close()
    finally:
        server.kill()


def test_messages_name_the_command(installed: Installed) -> None:
    told = installed.run("data", "blueprint", status=2).stderr
    assert "Make it with: pokernets data job=abstraction" in told
    assert (
        "pokernets data experiment=leduc_training"
        in installed.run("train", "experiment=leduc_training", status=2).stderr
    )
    assert "error: pokernets has no `ply`; it has play, match, " in installed.run("ply", status=2).stderr
    assert installed.run("--version").stdout == f"pokernets {__version__}\n"
    assert re.match(r"pokernets train model=NAME", installed.run("train", "--help").stdout)


@pytest.mark.parametrize(
    ("verb", "arguments", "passed_on"),
    [
        ("play", ["port=0"], ["evaluate=play", "scale=laptop", f"artifacts={TRAINED}/laptop.bundle", "port=0"]),
        ("match", ["scale=demo"], ["evaluate=match", "scale=demo"]),
        ("play", ["game=holdem_nolimit_6p"], ["evaluate=play", "game=holdem_nolimit_6p"]),
        ("review", ["my hands.txt", "scale=demo"], ["evaluate=play", "log=my hands.txt", "scale=demo"]),
        ("solve", ["spot=a.json"], ["evaluate=spot", "spot=a.json"]),
        ("flops", ["a.spot", "flops=184"], ["evaluate=flops", "spot=a.spot", "flops=184"]),
        ("mcp", [], ["evaluate=mcp", "scale=laptop", f"artifacts={TRAINED}/laptop.bundle"]),
        ("evaluate", ["lbr", "hands=4"], ["evaluate=lbr", "hands=4"]),
        ("data", ["--multirun", "job=abstraction"], ["--multirun", "job=abstraction"]),
        ("train", ["leaf"], ["model=leaf"]),
    ],
)
def test_verbs_give_the_entry_points_their_overrides(verb: str, arguments: list[str], passed_on: list[str]) -> None:
    assert overrides(VERBS[verb], arguments) == passed_on
