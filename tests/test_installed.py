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

from conf.compose import compose
from models.training.inference import LEAF_NET
from poker.store.artifacts import open_artifact
from poker.store.naming import PACKAGES
from pokernets import TRAINED, __version__
from pokernets.command import VERBS, overrides
from tests.cases import cases
from tests.commands import Done, run_program
from tests.compiled import copy_compiled
from tests.killed import ROOT
from tests.models.shards import write_leaf_states
from tests.solvers.games import SPOTS
from tests.studio.pages.serving import Client, Server

pytestmark = pytest.mark.slow
_PACKED = ("pokernets", *PACKAGES, "pyproject.toml", "README.md", "LICENSE", "evaluate.py", "train.py")
_LIBRARIES = Path(numpy.__file__).parents[1]


class Installed(NamedTuple):
    """The program `pokernets` of an environment, a folder to use it in, and the variables that its processes see."""

    program: Path
    folder: Path
    variables: dict[str, str]

    def run(self, *arguments: str, status: int = 0) -> Done:
        return run_program(self.program, *arguments, cwd=self.folder, environment=self.variables, status=status)


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The wheel of this clone, built from a copy of its sources."""
    source, out = tmp_path_factory.mktemp("wheel") / "clone", tmp_path_factory.mktemp("dist")
    copy_sources(source)
    build = f"from setuptools.build_meta import build_wheel; build_wheel({str(out)!r})"
    subprocess.run([sys.executable, "-c", build], cwd=source, check=True, capture_output=True)
    [built] = out.glob("*.whl")
    return built


def copy_sources(folder: Path) -> None:
    folder.mkdir()
    for name in _PACKED:
        if (ROOT / name).is_dir():
            shutil.copytree(ROOT / name, folder / name, ignore=shutil.ignore_patterns("__pycache__"))
        else:
            shutil.copy(ROOT / name, folder)


@pytest.fixture(scope="module")
def installed(wheel: Path, tmp_path_factory: pytest.TempPathFactory) -> Installed:
    place, folder = tmp_path_factory.mktemp("environment"), tmp_path_factory.mktemp("folder")
    venv.create(place, symlinks=True)
    variables = {
        name: value for name, value in os.environ.items() if not name.startswith(("PYTHON", "PYTEST", "NUMBA"))
    }
    pip = [sys.executable, "-m", "pip", f"--python={place}/bin/python", "install", "--no-index", "--no-deps"]
    subprocess.run([*pip, "--no-compile", str(wheel)], env=variables, check=True, capture_output=True)
    [packages] = place.glob("lib/python*/site-packages")
    (packages / "libraries.pth").write_text(str(_LIBRARIES))
    copy_compiled(ROOT / "poker" / "kernels", packages / "pokernets" / "poker" / "kernels")
    return Installed(place / "bin" / "pokernets", folder, {**variables, "XDG_CACHE_HOME": str(place / "cache")})


def test_wheel_has_one_name_and_the_files_beside_code(wheel: Path) -> None:
    with zipfile.ZipFile(wheel) as archive:
        names = set(archive.namelist())
        described = f"pokernets-{__version__}.dist-info"
        assert archive.read(f"{described}/top_level.txt") == b"pokernets\n"
    assert {name.split("/")[0] for name in names} == {"pokernets", described}
    assert {f"pokernets/{name}" for name in ("models/trained/laptop.bundle", "conf/base.yaml", "py.typed")} <= names


def test_an_editable_installation_keeps_the_folders_of_the_clone(tmp_path: Path) -> None:
    copy_sources(tmp_path / "clone")
    build = "from setuptools.build_meta import build_editable; build_editable('.')"
    subprocess.run([sys.executable, "-c", build], cwd=tmp_path / "clone", check=True, capture_output=True)
    assert (tmp_path / "clone" / "poker" / "py.typed").is_file()
    assert not (tmp_path / "clone" / "pokernets" / "poker").exists()


def test_the_first_command_compiles_with_a_bar_and_its_files_are_in_the_current_folder(installed: Installed) -> None:
    match = ("match", "agents=[random,always_call]", "hands=20", "cluster.processes=1")
    done = installed.run(*match)
    assert "numba compiles the kernels" in done.stderr
    assert "compiling kernels" in done.stderr
    [file] = (installed.folder / "runs").rglob("results.json")
    record = json.loads(file.read_text())
    assert record["command"].startswith("pokernets match ")
    assert record["versions"]["pokernets"] == __version__
    assert "compil" not in installed.run(*match).stderr
    assert installed.run("kernels").stderr == "all kernels are compiled for this machine\n"


def test_a_spot_is_solved(installed: Installed) -> None:
    (installed.folder / "turn.json").write_text(json.dumps(SPOTS["t1_turn_basic"]["config"]))
    done = installed.run("solve", "turn.json", "exploitability=0.05")
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


_PROJECT = {
    **{f"{name}/__init__.py": f"OWN = '{name}'\n" for name in ("conf", "data_gen", "models", "poker")},
    "models/nets.py": """
import torch

class Plain(torch.nn.Module):
    def __init__(self, inputs, outputs):
        super().__init__()
        self.layer = torch.nn.Linear(inputs, outputs)

    def forward(self, features):
        return self.layer(features)
""",
    "use.py": """
import models, poker
import pokernets

if __name__ == "__main__":
    agent = pokernets.load_agent("laptop")
    print(len(pokernets.evaluate(agents=["random", "always_call"], hands=20).lineups))
    import conf, data_gen
    print([module.OWN for module in (conf, data_gen, models, poker)], len(agent.strategy(agent.state())["hand"]))
""",
}
"""A project whose own packages have the names of a clone's."""


@pytest.fixture
def project(installed: Installed, tmp_path: Path) -> Installed:
    for name, text in _PROJECT.items():
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text(text)
    return installed._replace(folder=tmp_path)


def test_packages_of_a_project_keep_their_names(project: Installed) -> None:
    done = project._replace(program=project.program.parent / "python").run("use.py")
    assert done.stdout.endswith("\n1\n['conf', 'data_gen', 'models', 'poker'] 1326\n")


def test_a_net_of_the_project_is_trained_by_two_processes(project: Installed) -> None:
    write_leaf_states(project.folder / "made" / "leaf_states", rows=2000)
    few = ["trainer.max_epochs=1", "trainer.accelerator=cpu", "trainer.devices=2", "data.epoch_rows=2000"]
    net = ["net._target_=models.nets.Plain", "~net.hidden", "~net.seed", "~net.standardise"]
    variables = {**project.variables, "PYTHONPATH": str(project.folder)}
    project._replace(variables=variables).run("train", "leaf", "artifacts=made", "data.batch_rows=512", *few, *net)
    config = open_artifact(project.folder / "made" / "leaf_net", LEAF_NET).config
    assert config["net"]["_target_"] == "models.nets.Plain"
    assert config["callbacks"]["early_stopping"]["_target_"] == "models.training.callbacks.EarlyStopping"


def test_messages_name_the_command(installed: Installed) -> None:
    err = installed.run("data", "blueprint", status=2).stderr
    assert "Make it with: pokernets data job=abstraction" in err
    assert "error: unknown command `ply`; choose from play, match, " in installed.run("ply", status=2).stderr
    assert installed.run("--version").stdout == f"pokernets {__version__}\n"
    assert re.match(r"model=NAME", installed.run("train", "--help").stdout)


@cases
def test_verbs_give_the_entry_points_their_overrides(
    verb: str, arguments: tuple[str, ...], passed_on: tuple[str, ...]
) -> None:
    assert overrides(VERBS[verb], [*arguments]) == [word.replace("TRAINED", str(TRAINED)) for word in passed_on]


def test_an_installation_may_lie_in_a_folder_with_spaces(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("pokernets.command.TRAINED", Path("/my tools (1)"))
    assert compose("evaluate", overrides(VERBS["match"], [])).artifacts == "/my tools (1)/laptop.bundle"
