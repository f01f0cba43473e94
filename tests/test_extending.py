"""The steps of docs/extending.md suffice: each part of the package `examples/mine` works at the entry points.

The commands find it through `hydra.searchpath` and `PYTHONPATH`.
"""

import json
import os
import re
import sys
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path

import numpy as np
import pytest

from models.opponent.inference import load_opponent_net
from models.training.inference import LEAF_NET, LeafNet
from poker.depth_limit import inputs
from poker.solvers.blueprint import CONTINUATIONS
from poker.store.artifacts import MismatchedArtifactError, open_artifact
from tests.artifacts import write_leaf_net
from tests.cases import table
from tests.commands import Done, call_here, run_here, run_program
from tests.killed import ROOT
from tests.models.shards import write_leaf_states

EXAMPLES = ROOT / "examples"
Run = Callable[..., Done]


@pytest.fixture
def run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Run]:
    """Runs a command beside the package `mine`, of the examples unless `beside` is another folder."""

    def command(program: str, *arguments: str, status: int = 0, beside: Path = EXAMPLES) -> Done:
        monkeypatch.syspath_prepend(beside)
        done = run_here(program, *arguments, *places(tmp_path, beside))
        assert done.returncode == status, done.stderr
        return done

    yield command
    for name in [name for name in sys.modules if name.partition(".")[0] == "mine"]:
        del sys.modules[name]


def places(folder: Path, beside: Path) -> tuple[str, ...]:
    """Where a command writes below `folder`, and finds the configuration of a package in the folder `beside`."""
    return f"artifacts={folder}/made", f"runs={folder}/runs", f"hydra.searchpath=[{beside}/mine/conf]"


def write(folder: Path, files: Mapping[str, str]) -> Path:
    """Write a package `mine` with configuration under `conf/` into a folder, and return the folder."""
    for name, text in {"__init__.py": "", **files}.items():
        path = folder / "mine" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    return folder


TUTORIAL = (ROOT / "docs" / "tutorial_agent.md").read_text()
FILES = {
    "shy.py": re.findall(r"```python\n(.*?)```", TUTORIAL, re.DOTALL)[0],
    "conf/agents/shy.yaml": re.findall(r"```yaml\n(.*?)```", TUTORIAL, re.DOTALL)[0],
    "conf/game/big_kuhn.yaml": """defaults: [kuhn, _self_]
name: big_kuhn
num_ranks: 5
""",
}


def test_an_agent_is_a_class_and_a_file_and_a_game_a_file(tmp_path: Path) -> None:
    match = ("evaluate.py", "evaluate=match", "game=big_kuhn", "agents=[shy,always_raise]", "aivat=false")
    settings = ("agent.shy.folds=false", "hands=20", "cluster.processes=1", *places(tmp_path, write(tmp_path, FILES)))
    run_program(sys.executable, *match, *settings, PYTHONPATH=f"{ROOT}{os.pathsep}{tmp_path}")
    [file] = tmp_path.glob("runs/matches/big_kuhn/*/results.json")
    record = json.loads(file.read_text())
    assert record["lineups"][0]["hands"] == 20
    assert record["configuration"]["agents"]["shy"] == {"_target_": "mine.shy.Shy", "name": "shy", "folds": False}
    assert record["configuration"]["game"]["num_ranks"] == 5


BROKEN = table(__file__, "BROKEN")


@pytest.mark.parametrize(
    ("evaluation", "line"),
    [(("match", "game=kuhn", "agents=[broken,random]", "hands=2", "aivat=false"), 6), (("broken",), 7)],
)
def test_an_error_in_code_of_the_user_is_one_line_with_its_place(
    tmp_path: Path, run: Run, evaluation: tuple[str, ...], line: int
) -> None:
    command = ("evaluate", f"evaluate={evaluation[0]}", *evaluation[1:])
    error = run(*command, status=2, beside=write(tmp_path, BROKEN)).stderr
    assert error.splitlines()[-1].startswith("error: ")
    assert error.endswith(f"ValueError: no idea ({tmp_path}/mine/broken.py, line {line})\n")


def test_an_error_in_a_net_of_the_user_is_one_line_with_its_place(tmp_path: Path, run: Run) -> None:
    write_leaf_states(tmp_path / "made" / "leaf_states", rows=20, shards=1)
    error = run("train", "model=leaf", "net=broken", status=2, beside=write(tmp_path, BROKEN)).stderr
    assert error.splitlines()[-1].endswith(f"gives: RuntimeError: no idea ({tmp_path}/mine/nets.py, line 4)")


def test_an_evaluation_is_a_function_and_a_file(tmp_path: Path, run: Run) -> None:
    out = run("evaluate", "evaluate=stacks", "game=kuhn").stdout
    folder = tmp_path / "runs" / "stacks" / "kuhn"
    assert "2 ± ?" in out
    assert f"results: {folder / 'results.json'}" in out
    record = json.loads((folder / "results.json").read_text())
    assert record["stack"] == {"mean": 2.0, "half_width_95": None, "interval_95": None}
    assert record["out"] == record["configuration"]["out"] == "runs/stacks"
    assert "<td>kuhn</td><td>2 ± ?</td>" in (folder / "report.html").read_text()
    assert (folder / "results.png").exists()


def test_a_sampling_solver_is_a_kernel_a_class_and_a_file(tmp_path: Path, run: Run) -> None:
    run("data_gen", "job=blueprint", "game=kuhn", "solver=mine", "job.iterations=2000", "job.seconds=null")
    made = open_artifact(tmp_path / "made" / "blueprint", "blueprint")
    assert (made.config["solver"], made.counts["iterations"]) == ("mine", 2000)


@pytest.mark.slow
def test_a_leaf_evaluator_is_a_class_and_a_file(tmp_path: Path, run: Run) -> None:
    match = ("evaluate", "evaluate=match", "agents=[depth_limited,always_call]", "aivat=false", "cluster.processes=1")
    leaves = ("leaf=equity", "leaf@leaves.table=equity", "leaf.bonus=0.1", "search.solver.iterations=[2,2,2,2]")
    run(*match, *leaves, "hands=4")
    [file] = tmp_path.glob("runs/matches/*/*/results.json")
    record = json.loads(file.read_text())
    assert record["lineups"][0]["incidents"] == []
    assert record["configuration"]["agents"]["depth_limited"]["leaves"][1] == {
        "_target_": "mine.leaf.EquityLeaf",
        "bonus": 0.1,
    }


TRAINING = ("train", "trainer.accelerator=cpu", "trainer.max_epochs=1")


@pytest.mark.slow
def test_a_leaf_net_is_a_class_and_a_file(tmp_path: Path, run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    write_leaf_states(tmp_path / "made" / "leaf_states", rows=2000)
    run(*TRAINING, "model=leaf", "net=plain", "net.width=8", "data.epoch_rows=2000")
    monkeypatch.syspath_prepend(EXAMPLES)
    net = LeafNet(tmp_path / "made" / "leaf_net", architectures=["mine.nets.Plain"])
    assert net.values(np.zeros((3, inputs.SIZE), dtype=np.float32)).shape == (3, 4)


def test_export_of_the_page_gives_the_values_of_the_net(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("onnxscript")
    runtime = pytest.importorskip("onnxruntime")
    page = (ROOT / "docs" / "extending.md").read_text()
    [snippet] = re.findall(r"```python\n(import torch\n.*?)```", page, re.DOTALL)
    path = tmp_path / "artifacts" / "demo" / "leaf_net"
    write_leaf_net(path)
    monkeypatch.chdir(tmp_path)
    exec(snippet)
    features = np.random.default_rng(1).random((11, inputs.SIZE), dtype=np.float32)
    [values] = runtime.InferenceSession("leaf_net.onnx").run(None, {"features": features})
    np.testing.assert_allclose(values, LeafNet(path).values(features), atol=0.02)  # bfloat16 on some processors


@pytest.mark.slow
def test_an_opponent_net_is_a_class_and_a_file(tmp_path: Path, run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    run("data_gen", "job=opponent_actions", "source.hands=40")
    run(*TRAINING, "model=opponent", "net=line")
    monkeypatch.syspath_prepend(EXAMPLES)
    path = tmp_path / "made" / "opponent_net" / "line"
    assert type(load_opponent_net(path, architectures=["mine.nets.Line"])).__name__ == "Line"


def test_loss_optimiser_schedule_module_data_and_callback_are_one_override_each(tmp_path: Path, run: Run) -> None:
    write_leaf_states(tmp_path / "made" / "leaf_states", rows=2000, shards=1)
    done = run(
        *TRAINING,
        "model=noisy",
        "data=relabelled",
        "callbacks=average",
        "model.loss._target_=mine.parts.AbsoluteLoss",
        "model.optimizer._target_=torch.optim.AdamW",
        "model.scheduler._target_=mine.parts.falling",
        "data.epoch_rows=2000",
    )
    assert "mean weight" in done.stdout
    config = open_artifact(tmp_path / "made" / "leaf_net", LEAF_NET).config
    assert (config["model"]["_target_"], config["data"]["most"]) == ("mine.parts.Noisy", 2.0)
    targets = [config["model"][part]["_target_"] for part in ("loss", "optimizer", "scheduler")]
    assert targets == ["mine.parts.AbsoluteLoss", "torch.optim.adamw.AdamW", "mine.parts.falling"]
    assert config["callbacks"]["average"] == {"_target_": "mine.parts.Average"}


RUNNER = """
import importlib.util, runpy, sys
spec = importlib.util.spec_from_file_location("poker.depth_limit.inputs", sys.argv[1])
edited = importlib.util.module_from_spec(spec)
import poker.depth_limit
poker.depth_limit.inputs = sys.modules["poker.depth_limit.inputs"] = edited
spec.loader.exec_module(edited)
from tests.models.shards import write_leaf_states
write_leaf_states(sys.argv[2], rows=2000)
sys.argv = ["train.py", *sys.argv[3:]]
runpy.run_path("train.py", run_name="__main__")
"""


@pytest.mark.slow
def test_a_leaf_feature_is_a_name_and_a_value_in_one_file_and_the_number_of_inputs(tmp_path: Path) -> None:
    source = Path(inputs.__file__).read_text()
    for old, new in (
        ('"earlier_bets",', '"earlier_bets",\n    "even_pot",'),
        ("sum(raises[:ended]) / 8,\n", "sum(raises[:ended]) / 8,\n            pot % 200 == 0,\n"),
    ):
        assert source.count(old) == 1
        source = source.replace(old, new)
    (tmp_path / "leaf.py").write_text(source)
    (tmp_path / "runner.py").write_text(RUNNER)
    states = f"{tmp_path}/made/leaf_states"
    model = (*TRAINING[1:], "model=leaf", "net.inputs=35", "net.hidden=[8]", "data.epoch_rows=2000")
    command = (tmp_path / "runner.py", tmp_path / "leaf.py", states, *model, *places(tmp_path, EXAMPLES))
    run_program(sys.executable, *command, PYTHONPATH=str(ROOT))
    made = open_artifact(tmp_path / "made" / "leaf_net", "leaf_net")
    assert made.config["net"]["inputs"] == 35
    with pytest.raises(MismatchedArtifactError, match="feature_hash"):
        LeafNet(made.path)


def test_tutorial_trains_a_net_on_own_labels(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    page = (ROOT / "docs" / "tutorial_leaf_net.md").read_text()
    [snippet] = re.findall(r"```python\n(.*?)```", page, re.DOTALL)
    monkeypatch.chdir(tmp_path)
    exec(snippet, {})
    own = (f"artifacts={tmp_path}/own", f"runs={tmp_path}/runs", *TRAINING[1:], "data.epoch_rows=50_000")
    assert call_here("train", "model=leaf", *own) == pytest.approx(0, abs=0.5)
    assert LeafNet(tmp_path / "own" / "leaf_net").num_continuations == len(CONTINUATIONS)
