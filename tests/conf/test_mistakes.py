"""Mistakes that show in settings, or by what is not on disk, get one line before anything is built."""

import contextlib
import dataclasses
import re
from collections.abc import Callable
from pathlib import Path

import pytest
import torch

from conf import launch
from conf.compose import call, compose, resolve
from poker.run.errors import PokernetsError
from poker.store.artifacts import write_artifact
from poker.store.bundle import open_bundle
from tests.commands import run_here
from tests.games import CONF, load_rules
from tests.models.shards import write_leaf_states

TRAINED = CONF.parent / "models" / "trained" / "laptop.bundle"
BUNDLE = f"artifacts={TRAINED}"
MATCH = ("evaluate=match", "scale=laptop")
LIMITED = (*MATCH, "agents=[depth_limited,random]", BUNDLE)
Refused = Callable[..., str]


@pytest.fixture
def refused(tmp_path: Path) -> Refused:
    """The one line that a command ends with."""

    def run(command: str, *arguments: str) -> str:
        done = run_here(command, *arguments, f"runs={tmp_path}/runs")
        assert done.returncode == 2
        *_, line = done.stderr.strip().splitlines()
        assert line.startswith("error: ")
        return line

    return run


@pytest.mark.parametrize(
    ("command", "arguments", "message"),
    [
        ("train", ("model=leaf", "model.learning_rate=-1"), "'learning_rate' must be positive, not -1"),
        ("train", ("model=leaf", "model.learning_rate=nan"), "'learning_rate' must be positive, not nan"),
        ("evaluate", (*LIMITED, "search.seconds_per_decision=nan"), "'seconds_per_decision' must be a number, not nan"),
        ("train", ("model=leaf", "model.huber_delta=0"), "'huber_delta' must be positive, not 0"),
        ("train", ("model=leaf", "model.threads=0"), "'threads' must be at least 1, not 0"),
        ("train", ("model=leaf", "model.data.batch_rows=-5"), "LeafData: 'batch_rows' must be at least 1, not -5"),
        ("train", ("model=opponent", "model.weight_decay=-1"), "'weight_decay' must be at least 0, not -1"),
        ("data_gen", ("job=leaf_states", "job.shards=-1"), "'shards' must be at least 1, not -1"),
        ("evaluate", (*LIMITED, "search.solver.device=cdua"), "device `cdua`: choose cpu, cuda"),
        pytest.param(
            "evaluate", (*LIMITED, "search.solver.device=cuda"), "`cuda` was asked for and torch finds no CUDA device",
            marks=pytest.mark.skipif(torch.cuda.is_available(), reason="there is a CUDA device"),
        ),
    ],
)  # fmt: skip
def test_numbers_and_devices_out_of_range(
    refused: Refused, monkeypatch: pytest.MonkeyPatch, command: str, arguments: tuple[str, ...], message: str
) -> None:
    monkeypatch.setattr(launch, "call", lambda node: pytest.fail("it is built"))
    assert message in refused(command, *arguments)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["evaluate=match", "hand=10"], "there is no setting 'hand'; did you mean 'hands'?"),
        (["evaluate=matsch"], "there is no evaluate=matsch; did you mean 'match'?"),
        (["evaluate=match", "agents=[equity,nobody]"], "there is no agents=nobody"),
        (["evaluate=match", "agents=[equity,random]", "~game.blinds"], "needs a value for 'blinds'"),
        (["evaluate=match", "agents=[equity,random]", "game.blinds=[100]"], "field `blinds` must be 2 amounts"),
        (["evaluate=match", "agents=[random,always_call]", "+agent.random.x=3"], "no parameter 'x'"),
        (["evaluate=match", "agents=[equity]"], "`agents` are 1"),
        ([], "choose what to run: evaluate=NAME"),
    ],
)
def test_settings_that_do_not_exist_or_fit(
    refused: Refused, tmp_path: Path, arguments: list[str], message: str
) -> None:
    assert message in refused("evaluate", *arguments)
    assert not list(tmp_path.glob("runs/matches/**/*.log"))


def test_game_definition_with_a_missing_field(refused: Refused, tmp_path: Path) -> None:
    path = tmp_path / "half.game"
    path.write_text(load_rules("leduc").to_acpc().replace("numHoleCards = 1\n", ""))
    line = refused("evaluate", "evaluate=match", "agents=[random,always_call]", "game=acpc", f"game.path={path}")
    assert "game definition `half`: missing field `numHoleCards`" in line
    line = refused("evaluate", "evaluate=match", "agents=[random,always_call]", "game=acpc", "game.path=none.game")
    assert "game definition none.game cannot be read" in line


def test_a_game_definition_file_is_played(tmp_path: Path) -> None:
    path = tmp_path / "mine.game"
    path.write_text(load_rules("leduc").to_acpc())
    command = ["evaluate", "evaluate=match", "agents=[random,always_call]", "game=acpc", f"game.path={path}"]
    assert run_here(*command, "hands=20", "cluster.processes=1", f"runs={tmp_path}/runs").returncode == 0
    assert list(tmp_path.glob("runs/matches/mine/hands/*.log"))


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("trainer.max_epochs=-7",), "trainer: `max_epochs` must be"),
        (("trainer.precision=7",), "trainer: Precision 7 is invalid"),
        (("model.net.inputs=20",), "a leaf net takes [n, 34] and gives [n, 4]"),
        (("model.net.outputs=3",), "a leaf net takes [n, 34] and gives [n, 4]"),
    ],
)
def test_trainers_and_nets_that_cannot_be_built(
    refused: Refused, tmp_path: Path, arguments: tuple[str, ...], message: str
) -> None:
    write_leaf_states(tmp_path / "leaf_states", rows=20, shards=1)
    assert message in refused("train", "model=leaf", f"artifacts={tmp_path}", *arguments)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ((*LIMITED, "game=holdem_nolimit_6p"), "agents=[depth_limited_ring] plays at tables of three to six"),
        ((*MATCH, "agents=[poki_formula,random]", "game=leduc"), "no preflop_rollouts at"),
        ((*MATCH, "agents=[equity_policy,random]", "game=leduc"), "`equity_policy` plays heads-up hold'em, not"),
        ((*MATCH, "agents=[all_in_10,random]", "game=leduc"), "`all_in_10` plays heads-up no-limit hold'em"),
    ],
)
def test_agents_that_do_not_play_the_game(refused: Refused, arguments: tuple[str, ...], message: str) -> None:
    assert message in refused("evaluate", *arguments)


def test_what_is_missing_is_told_with_the_command_that_makes_it(refused: Refused, tmp_path: Path) -> None:
    """In the order in which it is to be made."""
    blueprints = (*MATCH, "agents=[blueprint,random]", f"artifacts={tmp_path}")
    for name in ("abstraction", "blueprint"):
        line = refused("evaluate", *blueprints)
        assert line.endswith(f"Make it with: python -m data_gen job={name} scale=laptop artifacts={tmp_path}")
        assert f"no {name} at {tmp_path}/{name}" in line
        config = {"rules": dataclasses.asdict(load_rules("leduc"))}
        write_artifact(tmp_path / name, name, config=config, arrays={}, counts={"num_buckets": [169, 5, 5, 5]})
    assert "blueprint" in refused("evaluate", *blueprints)
    limited = (*MATCH, "agents=[depth_limited,random]", f"artifacts={tmp_path}/made")
    (tmp_path / "made").mkdir()
    for name in ("blueprint", "leaf_table", "leaf_net"):
        assert f"no {name} at" in refused("evaluate", *limited)
        (tmp_path / "made" / name).symlink_to(open_bundle(TRAINED).path / name)


def test_what_an_experiment_makes_is_told_with_its_name(
    refused: Refused, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(contextlib, "chdir", lambda _: contextlib.nullcontext())
    monkeypatch.chdir(tmp_path)
    line = refused("evaluate", "evaluate=match", "agents=[rival,random]")
    assert line.endswith("Make it with: python -m data_gen job=abstraction experiment=rival")


@pytest.mark.parametrize(("command", "source"), [("match", "scale=demo"), ("play", BUNDLE)])
def test_a_table_of_six_lacks_what_a_command_for_six_makes(
    refused: Refused, command: str, source: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(contextlib, "chdir", lambda _: contextlib.nullcontext())
    monkeypatch.chdir(tmp_path)
    line = refused("evaluate", f"evaluate={command}", "game=holdem_nolimit_6p", "agents=[depth_limited_ring]", source)
    make = r"python -m data_gen job=(abstraction|blueprint) game=holdem_nolimit_6p"
    other = "num_players is 2; in `holdem_nolimit_6p` it is 6: make one for this game"  # a bundle's blueprint
    assert re.search(make if source != BUNDLE else other, line)


@pytest.mark.parametrize(
    ("game", "name"), [("holdem_nolimit_2p", "depth_limited"), ("holdem_nolimit_6p", "depth_limited_ring")]
)
def test_a_table_is_reviewed_by_an_agent_that_plays_there(game: str, name: str, tmp_path: Path) -> None:
    """It is built only when a review is asked for."""
    config = compose("evaluate", ["evaluate=play", f"game={game}", f"artifacts={tmp_path}"])
    spec = call(config.evaluate.pages[0].reviewer)
    assert spec.name == name
    with pytest.raises(PokernetsError, match=r"no (abstraction|blueprint|leaf_table) at .*Make it with: "):
        spec.build(load_rules(game))


def test_questions_are_answered_without_a_limit_of_time() -> None:
    """A solve that is cut short answers with what early iterations play; only a table has to wait no longer."""
    config = compose("evaluate", ["evaluate=play", "agents=[equity]"])
    config.evaluate.pages[-1].agents.settings = {"solver": {"name": "solver", "search": {**config.search}}}
    assert config.search.seconds_per_decision == 3.0
    [spec] = call(config.evaluate.pages[-1].agents)
    assert spec.settings["search"] == {**resolve(config.search), "seconds_per_decision": None}
    tools = compose("evaluate", ["evaluate=mcp"])
    assert tools.search.seconds_per_decision is None
