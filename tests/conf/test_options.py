"""Every option composes and can be built, and the settings of known commands stay as they are."""

import contextlib
import json
from pathlib import Path
from typing import Any

import pytest

from conf.checks import check
from conf.compose import build, compose
from poker.store.artifacts import MissingArtifactError
from tests.games import CONF, choices, load_rules, resolve
from tests.killed import ROOT

TRAINING = ("callbacks", "data", "logger", "model", "net", "trainer")
"""Groups of train.py, whose options `tests/models` builds."""
MATCH, LBR, BLUEPRINT = ("evaluate", "evaluate=match"), ("evaluate", "evaluate=lbr"), ("data_gen", "job=blueprint")
COMMANDS = {
    **dict.fromkeys(("agents", "blueprint", "cluster", "leaf", "search", "values"), MATCH),
    "adversaries": LBR,
    **dict.fromkeys(("abstraction", "bets", "continuations", "exploration", "game", "ring", "scale"), BLUEPRINT),
    "solver": (*BLUEPRINT, "game=leduc"),
    "source": ("data_gen", "job=opponent_actions", "path=hands.txt"),
    "evaluate": ("evaluate",),
    "job": ("data_gen",),
}
"""The command that chooses from a group: its root and overrides."""
NODES = {"agents": "agent", "adversaries": "adversary", "ring": "scale"}
"""Where the options of a group stand, if not under its name."""
REQUIRED = {
    ("evaluate", "acpc_client"): ["port=1"],
    ("evaluate", "decisions"): ["file=[decisions.csv]"],
    ("evaluate", "flops"): ["spot=my.spot"],
    ("evaluate", "judge"): ["log=match.log"],
    ("evaluate", "replay"): ["log=hands.txt"],
    ("evaluate", "spot"): ["spot=my.spot"],
    ("game", "acpc"): ["game.path=my.game"],
    ("source", "irc"): ["path=irc"],
}
"""Settings that only the user can give."""
OPTIONS = [
    (folder.name, option)
    for folder in sorted(CONF.iterdir())
    if folder.name not in (*TRAINING, "experiment")
    for option in choices(folder.name)
    if (folder.name, option) != ("leaf", "none")  # no leaf is nothing to build
]
GOLDEN = json.loads((ROOT / "tests" / "golden" / "configurations.json").read_text())


@pytest.mark.parametrize(("group", "option"), OPTIONS)
def test_every_option_is_composed_and_built(
    group: str, option: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "my.game").write_text(load_rules("leduc").to_acpc())
    (tmp_path / "hands.txt").touch()
    (tmp_path / "irc").mkdir()
    root, *overrides = COMMANDS[group]
    config = compose(root, [*overrides, f"{group}={option}", *REQUIRED.get((group, option), [])])
    node = config[NODES.get(group, group)]
    settings = resolve(node[option] if group in ("agents", "adversaries") else node)
    check(settings)
    if option == "ray":
        pytest.importorskip("ray")
    runs = {"_partial_": True} if group in ("evaluate", "job") else {}
    with contextlib.suppress(MissingArtifactError):
        assert build({**settings, **runs}) is not None


@pytest.mark.parametrize("option", choices("experiment"))
def test_every_experiment_is_the_command_that_it_names(option: str) -> None:
    text = (CONF / "experiment" / f"{option}.yaml").read_text()
    root = "evaluate" if f"python evaluate.py experiment={option}" in text else "data_gen"
    assert root == "evaluate" or f"python -m data_gen experiment={option}" in text
    group = {"evaluate": "evaluate", "data_gen": "job"}[root]
    node = compose(root, [f"experiment={option}"])[group]
    if group == "job":
        node.output = "known while a job runs"
    check(resolve(node))


@pytest.mark.parametrize("command", GOLDEN)
def test_the_settings_of_known_commands_are_those_of_before(command: str) -> None:
    root, *overrides = command.split()
    node = compose(root, overrides)[{"evaluate": "evaluate", "data_gen": "job"}[root]]
    assert _named(resolve(node)) == _named(GOLDEN[command])


def _named(node: Any) -> Any:
    """Settings without those by which Hydra builds them."""
    if isinstance(node, dict):
        return {key: _named(value) for key, value in node.items() if key[0] != "_" or key == "_target_"}
    return [_named(value) for value in node] if isinstance(node, list) else node


@pytest.mark.parametrize(
    ("overrides", "seconds"),
    [([], None), (["search=workstation"], 3.0), (["search=demo", "search.seconds_per_decision=null"], None)],
)
def test_nobody_waits_long_at_the_table_unless_set_so(overrides: list[str], seconds: float | None) -> None:
    """The default search counts its work instead."""
    agent = compose("evaluate", ["evaluate=play", *overrides]).agent.depth_limited
    assert (agent.search.joint, agent.leaves[-1] is None) == 2 * (not overrides,)
    assert (agent.search.seconds_per_decision, agent.search.solver.threads) == (seconds, 2)


def test_questions_are_answered_without_a_limit_of_time() -> None:
    """A solve that is cut short answers with what early iterations play; only a table has to wait no longer."""
    config = compose("evaluate", ["evaluate=play", "agents=[depth_limited]", "search=laptop"])
    assert config.search.seconds_per_decision == 3.0
    [spec] = build(config.evaluate.pages[-1].agents)
    assert spec.settings["search"] == {**resolve(config.search), "seconds_per_decision": None}
    assert compose("evaluate", ["evaluate=mcp"]).search.seconds_per_decision is None


@pytest.mark.parametrize("scale", choices("scale"))
@pytest.mark.parametrize("job", ["abstraction", "blueprint", "leaf_table", "leaf_states", "continuations"])
def test_every_scale_has_the_settings_of_the_jobs(job: str, scale: str) -> None:
    config = compose("data_gen", [f"job={job}", f"scale={scale}"])
    check(resolve(config.job))
    assert config.artifacts == f"artifacts/{scale}"
