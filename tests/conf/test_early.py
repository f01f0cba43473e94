"""Mistakes that show in settings and manifests are refused before anything is built."""

import contextlib
import dataclasses
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import torch

from conf import launch, specs
from conf.compose import call, compose, resolve
from conf.early import refuse_parts
from conf.remedies import Invocation
from models.export import Architecture, export_net
from models.inference import LEAF_NET, leaf_stamp
from models.mlp import Mlp
from poker.artifacts import write_artifact
from poker.errors import PokernetsError
from poker.features.leaf import TARGET
from poker.solvers.blueprint import CONTINUATIONS
from tests.commands import run_here
from tests.games import CONF, load_rules
from tests.models.shards import write_leaf_states

BUNDLE = f"artifacts={CONF.parent / 'models' / 'trained' / 'laptop.bundle'}"
MATCH = ("evaluate=match", "scale=laptop")
LIMITED = (*MATCH, "agents=[depth_limited,random]", BUNDLE)
BLUEPRINTS = (*MATCH, "agents=[blueprint,random]")
Refused = Callable[..., str]


@pytest.fixture
def refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Refused:
    """The error of a command that ends before anything is built."""
    for module in (launch, specs):
        monkeypatch.setattr(module, "call", lambda node: pytest.fail("it is built"))

    def run(command: str, *arguments: str) -> str:
        done = run_here(command, *arguments, f"runs={tmp_path}/runs")
        assert done.returncode == 2
        *_, line = done.stderr.strip().splitlines()
        assert line.startswith("error: ")
        return line

    return run


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        ((*LIMITED, "game=leduc"), "depth_limited plays heads-up hold'em, not 'leduc'"),
        ((*LIMITED, "players=6"), "agents=[depth_limited_ring] plays at tables of three to six"),
        (
            (*MATCH, "agents=[equity_policy,random]", "game=leduc"),
            "`equity_policy` plays heads-up hold'em, not",
        ),
        ((*MATCH, "agents=[all_in_10,random]", "game=leduc"), "`all_in_10` plays heads-up no-limit hold'em"),
        ((*MATCH, "agents=[poki_formula,random]"), "`poki_formula` plays limit hold'em"),
        (("evaluate=exploitability", *LIMITED[1:2], "agents=[depth_limited]", BUNDLE, "game=kuhn"), "not 'kuhn'"),
    ],
)
def test_agents_that_do_not_play_the_game(refused: Refused, arguments: tuple[str, ...], told: str) -> None:
    assert told in refused("evaluate", *arguments)


@pytest.mark.parametrize(
    ("command", "arguments", "told"),
    [
        ("train", ("model=leaf", "model.learning_rate=-1"), "'learning_rate' must be positive, not -1"),
        ("train", ("model=leaf", "model.learning_rate=nan"), "'learning_rate' must be positive, not nan"),
        ("train", ("model=leaf", "model.huber_delta=0"), "'huber_delta' must be positive, not 0"),
        ("train", ("model=leaf", "model.threads=0"), "'threads' must be at least 1, not 0"),
        ("train", ("model=leaf", "model.data.batch_rows=-5"), "LeafData: 'batch_rows' must be at least 1, not -5"),
        ("train", ("model=opponent", "model.weight_decay=-1"), "'weight_decay' must be at least 0, not -1"),
        ("train", ("model=leaf", "trainer.max_epochs=-7"), "trainer: `max_epochs` must be"),
        ("train", ("model=leaf", "trainer.precision=7"), "trainer: Precision 7 is invalid"),
        ("data_gen", ("job=leaf_states", "job.shards=-1"), "'shards' must be at least 1, not -1"),
        ("evaluate", (*LIMITED, "search.device=cdua"), "device `cdua`: choose cpu, cuda"),
    ],
)
def test_numbers_and_names_out_of_range(refused: Refused, command: str, arguments: tuple[str, ...], told: str) -> None:
    assert told in refused(command, *arguments)


@pytest.mark.skipif(torch.cuda.is_available(), reason="there is a CUDA device")
@pytest.mark.parametrize(
    ("command", "arguments", "told"),
    [
        ("evaluate", (*LIMITED, "search.device=cuda"), "device `cuda` was asked for and torch finds no CUDA device"),
        ("train", ("model=leaf", "trainer.accelerator=cuda"), "trainer.accelerator=cuda: torch finds no such device"),
    ],
)
def test_devices_that_are_not_there(refused: Refused, command: str, arguments: tuple[str, ...], told: str) -> None:
    assert told in refused(command, *arguments)


def _blueprint(folder: Path, game: str, cards: str) -> str:
    """Write a blueprint's manifest, without arrays, and return its fingerprint."""
    config = {"rules": dataclasses.asdict(load_rules(game))}
    made_from = {"abstraction": cards}
    return write_artifact(folder / "blueprint", "blueprint", config=config, arrays={}, made_from=made_from).fingerprint


def test_artifacts_that_are_missing_or_do_not_go_together(refused: Refused, tmp_path: Path) -> None:
    here = f"artifacts={tmp_path}"
    assert "no blueprint at" in refused("evaluate", *BLUEPRINTS, here)
    _blueprint(tmp_path, "leduc", "cards")
    assert "blueprint that `blueprint` plays was made for `leduc`" in refused("evaluate", *BLUEPRINTS, here)
    blueprint = _blueprint(tmp_path, "holdem_nolimit_2p", "cards")
    assert "no abstraction at" in refused("evaluate", *BLUEPRINTS, here)
    counts = {"num_buckets": [169, 5, 5, 5]}
    write_artifact(tmp_path / "abstraction", "abstraction", config={}, arrays={}, counts=counts)
    assert "blueprint was made with made_from abstraction='cards'" in refused("evaluate", *BLUEPRINTS, here)
    limited = (*LIMITED[:-1], here)
    for made_from, told in (("other", "leaf_table was made with"), (blueprint, "no leaf_net at")):
        table: dict[str, Any] = {"config": {"target": TARGET}, "made_from": {"blueprint": made_from}}
        write_artifact(tmp_path / "leaf_table", "leaf_table", arrays={}, **table)
        assert told in refused("evaluate", *limited)


MAKES_SIX = " && ".join(f"python -m data_gen job={job} game=holdem_nolimit_6p" for job in ("abstraction", "blueprint"))


@pytest.mark.parametrize("source", ["scale=demo", BUNDLE])
def test_what_a_table_of_six_lacks_is_made_by_commands_of_the_error(
    refused: Refused, source: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(contextlib, "chdir", lambda _: contextlib.nullcontext())
    monkeypatch.chdir(tmp_path)
    told = refused("evaluate", "evaluate=play", "game=holdem_nolimit_6p", "agents=[depth_limited_ring]", source)
    assert told.endswith(MAKES_SIX)


@pytest.mark.parametrize(
    ("game", "name", "told"),
    [
        ("holdem_nolimit_2p", "depth_limited", "no blueprint at"),
        ("holdem_nolimit_6p", "depth_limited_ring", f"Make it with: {MAKES_SIX}"),
    ],
)
def test_a_table_is_reviewed_by_an_agent_that_plays_there(game: str, name: str, told: str, tmp_path: Path) -> None:
    config = compose("evaluate", ["evaluate=play", f"game={game}", f"artifacts={tmp_path}"])
    invocation = Invocation("evaluate", {"game": game, "scale": "demo"}, (), f"artifacts/demo_{game[-2:]}")
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(Invocation, "current", lambda _: invocation)
        spec = call(config.given.reviewer)
    assert spec.name == name
    with pytest.raises(PokernetsError, match=re.escape(told)):
        spec.build(load_rules(game))


def test_questions_are_answered_without_a_limit_of_time() -> None:
    """A solve that is cut short answers with what early iterations play; only a table has to wait no longer."""
    config = compose("evaluate", ["evaluate=play", "agents=[depth_limited,equity]"])
    [table] = [page for page in config.evaluate.pages if page._target_.endswith(".questions")]
    specs = call(table.agents)
    assert [spec.name for spec in specs] == ["depth_limited", "equity"]
    assert config.agent.depth_limited.search.seconds_per_decision == 3.0
    assert specs[0].settings == {
        **resolve(config.agent.depth_limited),
        "search": {**resolve(config.agent.depth_limited.search), "seconds_per_decision": None},
    }
    tools = compose("evaluate", ["evaluate=mcp"])
    assert tools.agent.depth_limited.search.seconds_per_decision is None


def test_nets_of_other_shapes(refused: Refused, tmp_path: Path) -> None:
    here = f"artifacts={tmp_path}"
    write_leaf_states(tmp_path / "leaf_states", rows=20, shards=1)
    for change in ("outputs=3", "inputs=20"):
        told = refused("train", "model=leaf", f"model.net.{change}", here)
        assert "a leaf net takes [n, 34] and gives [n, 4]" in told
    mlp = Architecture(Mlp, inputs=34, hidden=[8], outputs=4, seed=1)
    stamp = {**leaf_stamp(CONTINUATIONS), "feature_hash": "0" * 16}
    export_net(tmp_path / "leaf_net", LEAF_NET, mlp, mlp(), stamp=stamp, config={}, made_from={}, counts={})
    blueprint = _blueprint(tmp_path, "holdem_nolimit_2p", "cards")
    table: dict[str, Any] = {"config": {"target": TARGET}, "made_from": {"blueprint": blueprint}}
    write_artifact(tmp_path / "leaf_table", "leaf_table", arrays={}, **table)
    assert "feature_hash" in refused("evaluate", *LIMITED[:-1], here)


@pytest.mark.parametrize("game", ["leduc", "holdem_nolimit_2p"])
def test_a_table_without_the_agent_that_reviews_is_served(game: str, tmp_path: Path) -> None:
    """The reviewer is built only when a review is asked for."""
    overrides = ["evaluate=play", f"game={game}", "agents=[always_call]", f"artifacts={tmp_path}"]
    refuse_parts(resolve(compose("evaluate", overrides).evaluate))
