"""The steps of docs/extending.md suffice: each part, written into a package of its own, works at the entry points.

The files of every part are counted; the commands find them through `hydra.searchpath` and `PYTHONPATH`.
"""

import json
import os
import re
import subprocess
import sys
from collections.abc import Callable, Mapping
from functools import partial
from pathlib import Path

import numpy as np
import pytest

from models.opponent.inference import load_opponent_net
from models.training.export import export_net
from models.training.inference import LEAF_NET, LeafNet, leaf_stamp
from models.training.mlp import Mlp
from poker.depth_limit import inputs
from poker.solvers.blueprint import CONTINUATIONS
from poker.store.artifacts import MismatchedArtifactError, open_artifact
from tests.commands import call_here
from tests.games import CONF
from tests.models.shards import write_leaf_states

Command = Callable[..., subprocess.CompletedProcess[str]]
Extension = Callable[[Mapping[str, str]], Command]


@pytest.fixture
def extension(tmp_path: Path) -> Extension:
    """Writes the files of a package `mine`, configuration under `conf/`; returns what runs commands beside it."""

    def write(files: Mapping[str, str]) -> Command:
        for name, text in {"__init__.py": "", **files}.items():
            path = tmp_path / "mine" / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text)
        places = (f"artifacts={tmp_path}/made", f"runs={tmp_path}/runs", f"hydra.searchpath=[{tmp_path}/mine/conf]")
        paths = f"{CONF.parent}{os.pathsep}{tmp_path}"

        def run(*command: str, status: int = 0) -> subprocess.CompletedProcess[str]:
            done = subprocess.run(
                [sys.executable, *command, *places],
                cwd=CONF.parent,
                env={**os.environ, "PYTHONPATH": paths},
                capture_output=True,
                text=True,
                check=False,
            )
            assert done.returncode == status, done.stderr
            return done

        return run

    return write


def importable(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The package `mine` of this test, not that of another, in this process."""
    for name in [name for name in sys.modules if name.split(".")[0] == "mine"]:
        monkeypatch.delitem(sys.modules, name)
    monkeypatch.syspath_prepend(folder)


TUTORIAL = (CONF.parent / "docs" / "tutorial_agent.md").read_text()
AGENT = {
    "shy.py": re.findall(r"```python\n(.*?)```", TUTORIAL, re.DOTALL)[0],
    "conf/agents/shy.yaml": re.findall(r"```yaml\n(.*?)```", TUTORIAL, re.DOTALL)[0],
}
GAME = {
    "conf/game/big_kuhn.yaml": """defaults: [kuhn, _self_]
name: big_kuhn
num_ranks: 5
""",
}


def test_an_agent_is_a_class_and_a_file_and_a_game_a_file(tmp_path: Path, extension: Extension) -> None:
    assert (len(AGENT), len(GAME)) == (2, 1)
    run = extension({**AGENT, **GAME})
    match = ("evaluate.py", "evaluate=match", "game=big_kuhn", "agents=[shy,always_raise]", "aivat=false")
    run(*match, "agent.shy.folds=false", "hands=20", "cluster.processes=1")
    [file] = tmp_path.glob("runs/matches/big_kuhn/*/results.json")
    record = json.loads(file.read_text())
    assert record["lineups"][0]["hands"] == 20
    assert record["configuration"]["agents"]["shy"] == {"_target_": "mine.shy.Shy", "name": "shy", "folds": False}
    assert record["configuration"]["game"]["num_ranks"] == 5


BROKEN = {
    "broken.py": """
class Broken:
    name = "broken"
    def reset(self, seed): pass
    def start_hand(self, seat): pass
    def act(self, state): raise ValueError("no idea")
def evaluate(*, out): raise ValueError("no idea")
""",
    "nets.py": """
from torch import nn
class Broken(nn.Module):
    def forward(self, x): raise RuntimeError("no idea")
""",
    "conf/agents/broken.yaml": "# @package agent.broken\n_target_: mine.broken.Broken\n",
    "conf/net/broken.yaml": "_target_: mine.nets.Broken\n",
    "conf/evaluate/broken.yaml": "# @package _global_\nevaluate: {_target_: mine.broken.evaluate, out: x}\n",
}


@pytest.mark.parametrize(
    ("evaluation", "line"),
    [(("match", "game=kuhn", "agents=[broken,random]", "hands=2", "aivat=false"), 6), (("broken",), 7)],
)
def test_an_error_in_code_of_the_user_is_one_line_with_its_place(
    tmp_path: Path, extension: Extension, evaluation: tuple[str, ...], line: int
) -> None:
    error = extension(BROKEN)("evaluate.py", f"evaluate={evaluation[0]}", *evaluation[1:], status=2).stderr
    assert error.splitlines()[-1].startswith("error: ")
    assert error.endswith(f"ValueError: no idea ({tmp_path}/mine/broken.py, line {line})\n")


def test_an_error_in_a_net_of_the_user_is_one_line_with_its_place(tmp_path: Path, extension: Extension) -> None:
    write_leaf_states(tmp_path / "made" / "leaf_states", rows=20, shards=1)
    error = extension(BROKEN)("train.py", "model=leaf", "net=broken", status=2).stderr
    assert error.splitlines()[-1].endswith(f"gives: RuntimeError: no idea ({tmp_path}/mine/nets.py, line 4)")


EVALUATION = {
    "stacks.py": """
from pathlib import Path

from poker.report import Figure, Report, Table
from poker.report.charts import intervals
from poker.report.estimates import estimate


def run(*, game, out):
    stack = estimate(game.stacks)
    return Report(
        "Stacks",
        [
            Table(("game", "chips"), [(game.name, stack)], "Mean stack"),
            Figure("results", lambda: intervals("Stacks", "chips", {"games": [(game.name, stack)]})),
        ],
        {"stack": stack.record(), "out": out},
        {"stack": stack},
    ).write(Path(out) / game.name)
""",
    "conf/evaluate/stacks.yaml": """# @package _global_
# What players sit down with.
evaluate:
  _target_: mine.stacks.run
  game: ${game}
  out: ${runs}/stacks
""",
}


def test_an_evaluation_is_a_function_and_a_file(tmp_path: Path, extension: Extension) -> None:
    assert len(EVALUATION) == 2
    out = extension(EVALUATION)("evaluate.py", "evaluate=stacks", "game=kuhn").stdout
    folder = tmp_path / "runs" / "stacks" / "kuhn"
    assert "2 ± ?" in out
    assert f"results: {folder / 'results.json'}" in out
    record = json.loads((folder / "results.json").read_text())
    assert record["stack"] == {"mean": 2.0, "half_width_95": None, "interval_95": None}
    assert record["out"] == record["configuration"]["out"] == "runs/stacks"
    assert "<td>kuhn</td><td>2 ± ?</td>" in (folder / "report.html").read_text()
    assert (folder / "results.png").exists()


SOLVER = {
    "kernel.py": """
from poker.kernels.sampling.outcome_sampling import outcome_sampling as episode
""",
    "solver.py": """
from mine.kernel import episode
from poker.solvers.sampling.mccfr import RegretSolver


class Mine(RegretSolver):
    @property
    def settings(self):
        return {**super().settings, "solver": "mine"}

    def _play(self, thread, done, deals, rng):
        return (episode(self.sampling.arrays, self.table, 0.5, False, False, done, deals, rng),)
""",
    "conf/solver/mine.yaml": """_target_: mine.solver.Mine
_partial_: true
seed: ${seed}
threads: 1
""",
}


def test_a_sampling_solver_is_a_kernel_a_class_and_a_file(tmp_path: Path, extension: Extension) -> None:
    assert len(SOLVER) == 3
    run = extension(SOLVER)
    run("-m", "data_gen", "job=blueprint", "game=kuhn", "solver=mine", "job.iterations=2000", "job.seconds=null")
    made = open_artifact(tmp_path / "made" / "blueprint", "blueprint")
    assert (made.config["solver"], made.counts["iterations"]) == ("mine", 2000)


LEAF = {
    "leaf.py": """
import numpy as np

from poker.depth_limit.evaluator import LeafEvaluator, cluster_equity, leaf_values


class EquityLeaf(LeafEvaluator):
    num_continuations = 1

    def __init__(self, *, bonus):
        self._bonus = bonus

    def values(self, leaves, board, ranges, own):
        clusters = np.arange(1326, dtype=np.int32)
        equity = cluster_equity(leaves[0].rules, board, clusters)
        open_leaves = sum(not leaf.is_over for leaf in leaves)
        values = np.broadcast_to(equity - np.float32(0.5 - self._bonus), (open_leaves, 1, 1326, 1326))
        return leaf_values(leaves, own, clusters, equity, values)
""",
    "conf/leaf/equity.yaml": """_target_: mine.leaf.EquityLeaf
bonus: 0.0
""",
}


@pytest.mark.slow
def test_a_leaf_evaluator_is_a_class_and_a_file(tmp_path: Path, extension: Extension) -> None:
    assert len(LEAF) == 2
    run = extension(LEAF)
    match = (
        "evaluate.py",
        "evaluate=match",
        "agents=[depth_limited,always_call]",
        "aivat=false",
        "cluster.processes=1",
    )
    leaves = ("leaf=equity", "leaf@leaves.table=equity", "leaf.bonus=0.1", "search.solver.iterations=[2,2,2,2]")
    run(*match, *leaves, "hands=4")
    [file] = tmp_path.glob("runs/matches/*/*/results.json")
    record = json.loads(file.read_text())
    assert record["lineups"][0]["incidents"] == []
    assert record["configuration"]["agents"]["depth_limited"]["leaves"][1] == {
        "_target_": "mine.leaf.EquityLeaf",
        "bonus": 0.1,
    }


LEAF_NET_FILES = {
    "nets.py": """
from torch import nn


class Plain(nn.Module):
    def __init__(self, inputs, width):
        super().__init__()
        self.layers = nn.Sequential(nn.Linear(inputs, width), nn.Tanh(), nn.Linear(width, 4))

    def forward(self, features):
        return self.layers(features)
""",
    "conf/net/plain.yaml": """_target_: mine.nets.Plain
inputs: 34
width: 16
""",
}
TRAINING = ("train.py", "trainer.accelerator=cpu", "trainer.max_epochs=1")


@pytest.mark.slow
def test_a_leaf_net_is_a_class_and_a_file(
    tmp_path: Path, extension: Extension, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert len(LEAF_NET_FILES) == 2
    write_leaf_states(tmp_path / "made" / "leaf_states", rows=2000)
    run = extension(LEAF_NET_FILES)
    run(*TRAINING, "model=leaf", "net=plain", "net.width=8", "data.epoch_rows=2000")
    importable(tmp_path, monkeypatch)
    net = LeafNet(tmp_path / "made" / "leaf_net", architectures=["mine.nets.Plain"])
    assert net.values(np.zeros((3, inputs.SIZE), dtype=np.float32)).shape == (3, 4)


def test_a_net_is_exported_as_the_page_says(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("onnxscript")
    runtime = pytest.importorskip("onnxruntime")
    page = (CONF.parent / "docs" / "extending.md").read_text()
    [snippet] = re.findall(r"```python\n(import torch\n.*?)```", page, re.DOTALL)
    architecture, stamp = partial(Mlp, inputs=inputs.SIZE, hidden=[8], outputs=4), leaf_stamp(CONTINUATIONS)
    path = tmp_path / "artifacts" / "demo" / "leaf_net"
    export_net(path, LEAF_NET, architecture, architecture(), stamp=stamp, config={}, made_from={}, counts={})
    monkeypatch.chdir(tmp_path)
    exec(snippet)
    features = np.random.default_rng(1).random((11, inputs.SIZE), dtype=np.float32)
    [values] = runtime.InferenceSession("leaf_net.onnx").run(None, {"features": features})
    np.testing.assert_allclose(values, LeafNet(path).values(features), atol=0.02)  # bfloat16 on some processors


OPPONENT_NET = {
    "nets.py": """
from models.opponent.nets import ActionNet
from torch import nn


class Line(ActionNet):
    def __init__(self, seed):
        super().__init__()
        self.layer = nn.Linear(19, 3)

    def forward(self, batch):
        return self.layer(batch.features)
""",
    "conf/net/line.yaml": """# @package _global_
net: {_target_: mine.nets.Line, seed: "${seed}"}
model: {optimizer: {lr: 0.01, weight_decay: 0.0}}
export: {output: "${outputs}/opponent_net/line"}
""",
}


@pytest.mark.slow
def test_an_opponent_net_is_a_class_and_a_file(
    tmp_path: Path, extension: Extension, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert len(OPPONENT_NET) == 2
    run = extension(OPPONENT_NET)
    run("-m", "data_gen", "job=opponent_actions", "source.hands=40")
    run(*TRAINING, "model=opponent", "net=line")
    importable(tmp_path, monkeypatch)
    path = tmp_path / "made" / "opponent_net" / "line"
    assert type(load_opponent_net(path, architectures=["mine.nets.Line"])).__name__ == "Line"


TRAINING_PARTS = {
    "parts.py": """
import lightning
import torch

from models.leaf.data import LeafData
from models.leaf.module import LeafModule


class AbsoluteLoss(torch.nn.Module):
    def forward(self, predicted, labels):
        return (predicted - labels).abs().mean()


def falling(optimizer, T_max):
    return torch.optim.lr_scheduler.LinearLR(optimizer, 1.0, 0.0, T_max)


class Relabelled(LeafData):
    '''Leaf states whose labels are clipped.'''

    def __init__(self, *, most, **settings):
        super().__init__(**settings)
        self.most, self.config = most, {**self.config, "most": most}

    def on_after_batch_transfer(self, batch, dataloader_idx):
        return batch._replace(labels=batch.labels.clamp(-self.most, self.most))


class Noisy(LeafModule):
    '''Training on features with noise.'''

    def __init__(self, *, noise, **settings):
        super().__init__(**settings)
        self.noise = noise

    def training_step(self, batch, index):
        noise = self.noise * torch.randn_like(batch.features)
        return super().training_step(batch._replace(features=batch.features + noise), index)


class Average(lightning.Callback):
    '''Prints the mean weight after each epoch.'''

    def on_train_epoch_end(self, trainer, module):
        print("mean weight", sum(weight.mean().item() for weight in module.net.parameters()))
""",
    "conf/data/relabelled.yaml": """defaults: [leaf, _self_]
_target_: mine.parts.Relabelled
most: 2.0
""",
    "conf/model/noisy.yaml": """# @package _global_
defaults: [leaf, _self_]
model: {_target_: mine.parts.Noisy, noise: 0.01}
""",
    "conf/callbacks/average.yaml": """defaults: [default, _self_]
average: {_target_: mine.parts.Average}
""",
}


def test_loss_optimiser_schedule_module_data_and_callback_are_one_override_each(
    tmp_path: Path, extension: Extension
) -> None:
    write_leaf_states(tmp_path / "made" / "leaf_states", rows=2000, shards=1)
    run = extension(TRAINING_PARTS)
    done = run(
        *TRAINING,
        "model=noisy",
        "data=relabelled",
        "callbacks=average",
        "model.loss._target_=mine.parts.AbsoluteLoss",
        "model.optimizer._target_=torch.optim.SGD",
        "model.scheduler._target_=mine.parts.falling",
        "data.epoch_rows=2000",
    )
    assert "mean weight" in done.stdout
    config = open_artifact(tmp_path / "made" / "leaf_net", LEAF_NET).config
    assert (config["model"]["_target_"], config["data"]["most"]) == ("mine.parts.Noisy", 2.0)
    targets = [config["model"][part]["_target_"] for part in ("loss", "optimizer", "scheduler")]
    assert targets == ["mine.parts.AbsoluteLoss", "torch.optim.sgd.SGD", "mine.parts.falling"]
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
def test_a_leaf_feature_is_a_name_and_a_value_in_one_file_and_the_number_of_inputs(
    tmp_path: Path, extension: Extension
) -> None:
    source = Path(inputs.__file__).read_text()
    for old, new in (
        ('"earlier_bets",', '"earlier_bets",\n    "even_pot",'),
        ("sum(raises[:ended]) / 8,\n", "sum(raises[:ended]) / 8,\n            pot % 200 == 0,\n"),
    ):
        assert source.count(old) == 1
        source = source.replace(old, new)
    (tmp_path / "leaf.py").write_text(source)
    (tmp_path / "runner.py").write_text(RUNNER)
    run = extension({})
    states = f"{tmp_path}/made/leaf_states"
    model = (*TRAINING[1:], "model=leaf", "net.inputs=35", "net.hidden=[8]", "data.epoch_rows=2000")
    run(str(tmp_path / "runner.py"), str(tmp_path / "leaf.py"), states, *model)
    made = open_artifact(tmp_path / "made" / "leaf_net", "leaf_net")
    assert made.config["net"]["inputs"] == 35
    with pytest.raises(MismatchedArtifactError, match="feature_hash"):
        LeafNet(made.path)


def test_a_net_of_own_labels_is_trained_as_the_page_says(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    page = (CONF.parent / "docs" / "tutorial_leaf_net.md").read_text()
    [snippet] = re.findall(r"```python\n(.*?)```", page, re.DOTALL)
    monkeypatch.chdir(tmp_path)
    exec(snippet, {})
    own = (f"artifacts={tmp_path}/own", f"runs={tmp_path}/runs", "trainer.accelerator=cpu", "trainer.max_epochs=1")
    assert call_here("train", "model=leaf", *own) == pytest.approx(0, abs=0.5)
    assert LeafNet(tmp_path / "own" / "leaf_net").num_continuations == len(CONTINUATIONS)
