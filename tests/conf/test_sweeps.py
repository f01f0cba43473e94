"""`--multirun`: each job of a sweep keeps what it makes, one that fails leaves the others, sweepers get a metric."""

import json
import re
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace
from typing import Any, ClassVar

import pytest
from hydra.core.utils import JobReturn
from hydra.experimental.callback import Callback

from conf.launch import launch, task_of
from poker.store.artifacts import open_artifact
from tests.games import CONF
from tests.models.shards import write_leaf_states

AGENTS = "agents=[random,always_call]"
MATCH = ("evaluate.py", "-m", "evaluate=match", AGENTS, "game=leduc", "cluster.processes=1")


def sweep(*arguments: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run([sys.executable, *arguments], cwd=CONF.parent, capture_output=True, text=True, check=False)


def records(folder: Path) -> dict[str, Any]:
    """Results of a sweep by the folder of the job."""
    return {file.relative_to(folder).parts[0]: json.loads(file.read_text()) for file in folder.rglob("results.json")}


def test_matches_are_kept_apart_and_fail_alone(tmp_path: Path) -> None:
    done = sweep(*MATCH, "aivat=false", "hands=0,20", "seed=1,2", f"runs={tmp_path}")
    results = records(tmp_path)
    assert sorted(record["seed"] for record in results.values()) == [1, 2]
    assert all(f"seed-{record['seed']}" in folder for folder, record in results.items())
    assert done.returncode == 2
    assert "Traceback" not in done.stderr
    table = done.stderr[done.stderr.index("settings  ") :].splitlines()[:3]
    assert [line.split()[:2] for line in table[1:]] == [["hands=20", f"seed={seed}"] for seed in (1, 2)]
    for line in table[1:]:
        *_, metric, folder = line.split()
        [file] = Path(folder).rglob("results.json")
        mean = json.loads(file.read_text())["lineups"][0]["players"][0]["mean"]
        assert float(metric) == pytest.approx(mean, rel=1e-5)
    errors = done.stderr[done.stderr.rindex("error: ") :].splitlines()
    assert "`hands` and `session` must be at least 1" in errors[0]
    assert ["hands=0 seed=1" in errors[1], "hands=0 seed=2" in errors[2], len(errors)] == [True, True, 3]


def test_blueprints_of_a_sweep_are_kept_apart(tmp_path: Path) -> None:
    places = (f"artifacts={tmp_path}/made", f"runs={tmp_path}/runs")
    length = ("job.iterations=null,2000", "job.seconds=null")
    done = sweep("-m", "data_gen", "-m", "job=blueprint", "game=kuhn", "solver.threads=1", *length, "seed=1,2", *places)
    assert done.returncode == 2
    assert "job=blueprint needs job.iterations" in done.stderr
    made = [open_artifact(file.parent, "blueprint") for file in (tmp_path / "made").rglob("blueprint/manifest.json")]
    assert sorted(artifact.config["seed"] for artifact in made) == [1, 2]


class Kept(Callback):
    """Notes what a job returned, as a sweeper sees it."""

    metrics: ClassVar[list[Any]] = []

    def on_job_end(self, config: Any, job_return: JobReturn, **kwargs: Any) -> None:
        self.metrics.append(job_return.return_value)


@pytest.mark.parametrize(("result", "metric"), [(2.5, 2.5), (SimpleNamespace(metric=1.5), 1.5), ("text", None)])
def test_sweepers_get_a_number(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, result: object, metric: float | None
) -> None:
    callback = f"+hydra.callbacks.kept._target_={__name__}.Kept"
    monkeypatch.setattr(sys, "argv", ["train.py", "-m", "model=leaf", "seed=1,2", f"runs={tmp_path}", callback])
    Kept.metrics.clear()
    launch("train", lambda config: result)
    assert Kept.metrics == [metric, metric]


@pytest.mark.parametrize(
    ("evaluation", "metric"),
    [
        (
            [AGENTS, "evaluate=match", "hands=20", "aivat=false"],
            lambda record: record["lineups"][0]["players"][0]["mean"],
        ),
        ([AGENTS, "evaluate=exploitability"], lambda record: record["agents"][0]["exploitability_mbb"]),
        (["evaluate=exploitability", "iterations=20"], lambda record: record["nash_conv"]),
    ],
)
def test_sweepers_get_the_metric_of_an_evaluation(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, evaluation: list[str], metric: Callable[[Any], float]
) -> None:
    callback = f"+hydra.callbacks.kept._target_={__name__}.Kept"
    monkeypatch.setattr(
        sys, "argv", ["evaluate.py", "-m", "game=kuhn", "seed=1,2", *evaluation, f"runs={tmp_path}", callback]
    )
    Kept.metrics.clear()
    launch("evaluate", task_of("evaluate"))
    results = records(tmp_path)
    assert Kept.metrics == pytest.approx([metric(results[folder]) for folder in sorted(results)])


def test_nets_of_a_sweep_are_kept_apart(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """`python train.py -m model=leaf model.learning_rate=0.001,0.002 seed=1,2`: four nets, four losses."""
    write_leaf_states(tmp_path / "made" / "leaf_states", rows=2000)
    places = [f"artifacts={tmp_path}/made", f"runs={tmp_path}/runs", f"+hydra.callbacks.kept._target_={__name__}.Kept"]
    small = ["model.net.hidden=[8]", "model.data.epoch_rows=2000", "trainer.max_epochs=1", "trainer.accelerator=cpu"]
    swept = ["model=leaf", "model.learning_rate=0.001,0.002", "seed=1,2"]
    monkeypatch.setattr(sys, "argv", ["train.py", "-m", *swept, *small, *places])
    Kept.metrics.clear()
    launch("train", task_of("model"))
    made = [open_artifact(file.parent, "leaf_net") for file in tmp_path.rglob("leaf_net/manifest.json")]
    assert {(each.config["learning_rate"], each.config["net"]["seed"]) for each in made} == {
        (0.001, 1), (0.001, 2), (0.002, 1), (0.002, 2)
    }  # fmt: skip
    assert sorted(Kept.metrics) == sorted(each.counts["validation"]["huber"] for each in made)
    assert len(set(Kept.metrics)) == 4


def test_jobs_with_long_overrides_have_folders_of_their_own(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    places = []
    long = f"+note={'very_' * 60}long"
    arguments = ["-m", "model=leaf", long, "model.learning_rate=0.001,0.002", "seed=1,2", f"runs={tmp_path}"]
    monkeypatch.setattr(sys, "argv", ["train.py", *arguments])
    launch("train", lambda config: places.append((config.outputs, config.runs, config.artifacts)))
    assert len({outputs for outputs, _, _ in places}) == len({runs for _, runs, _ in places}) == 4
    assert {artifacts for _, _, artifacts in places} == {"artifacts/demo"}
    assert all(len(part) < 150 for outputs, _, _ in places for part in Path(outputs).parts)
    names = [re.sub("-[0-9a-f]{8}$", "", Path(outputs).name) for outputs, _, _ in places]
    assert names == [f"model.learning_rate-{rate}+seed-{seed}" for rate in (0.001, 0.002) for seed in (1, 2)]
    assert sys.argv[1:] == arguments


def test_the_command_line_of_a_job_is_its_own(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Lightning starts the other processes of a job with it."""
    given = ["model=leaf", "seed=1,2", f"runs={tmp_path}", "artifacts=made"]
    monkeypatch.setattr(sys, "argv", ["train.py", "-m", *given])
    seen: list[list[str]] = []
    launch("train", lambda config: seen.append(sys.argv[1:]))
    for seed, arguments in zip((1, 2), seen, strict=True):
        folder = f"model-leaf+seed-{seed}"
        own = [f"seed={seed}", f"outputs=made/{folder}", f"runs={tmp_path}/{folder}"]
        assert "-m" not in arguments
        assert set(own) <= set(arguments)
