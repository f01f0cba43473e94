"""`job=bundle`: what it packs plays as the artifacts do, says what it takes, and seats the agents that it names."""

import re
import shutil
import threading
from dataclasses import fields
from pathlib import Path
from typing import Any
from unittest.mock import Mock

import numpy as np
import pytest
from omegaconf import DictConfig, OmegaConf

from conf.compose import build, compose
from poker.abstraction.buckets import CardAbstraction, make_abstraction
from poker.abstraction.making import make_again
from poker.agents.base import Agent
from poker.agents.blueprint import BlueprintAgent, load_blueprint
from poker.depth_limit.leaves.table import TableLeaf
from poker.evaluation.matches import match
from poker.game.cards import NUM_HANDS, PREFLOP_CLASS
from poker.game.state import Betting, HandState
from poker.opponents.limit.preflop import IncomeRates
from poker.run.errors import PokernetsError
from poker.solvers.blueprint import FirstRound, blueprint_from
from poker.store.artifacts import MissingArtifactError, open_artifact
from poker.store.bundle import Bundle, open_bundle
from poker.tree import build_tree
from poker.tree.menus import bet_menu
from tests.artifacts import leaves_of, write_blueprint, write_leaf_net, write_leaf_table
from tests.cases import cases
from tests.commands import call_here
from tests.killed import ROOT
from tests.run.test_machine import held

TRAINED = ROOT / "models" / "trained" / "laptop.bundle"
QUICK = ("search.solver.iterations=[4,2]", "leaves.clusters=8", "search.menu.flop=[[1.0],[a]]")


def _agent(name: str, artifacts: Path, *overrides: str) -> Agent:
    config = _match(f"agents=[{name}]", f"artifacts={artifacts}", *QUICK, *overrides)
    agent: Agent = build(config.agent[name])
    assert agent.has_policy
    return agent


def _match(*overrides: str) -> DictConfig:
    return compose("evaluate", ["evaluate=match", *overrides])


def _pack(folder: Path, *overrides: str) -> Path:
    call_here("data_gen", "job=bundle", f"artifacts={folder}", f"runs={folder}/runs", *overrides)
    return Path(f"{folder}.bundle")


@pytest.fixture
def made(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Artifacts of hold'em with a leaf table that float16 holds exactly, random but for the blueprint, which calls."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    folder, rng = tmp_path / "made", np.random.default_rng(0)
    flops = rng.integers(0, 300, (1755, NUM_HANDS)).astype(np.uint16)
    cards = make_abstraction((PREFLOP_CLASS[None].astype(np.uint8), flops), (169, 300)).save(
        tmp_path / "abstraction", {}
    )
    write_blueprint(folder, MENU, CardAbstraction(cards.tables, (169, 300, 2, 1), cards.fingerprint))
    write_leaf_table(folder, rng.normal(size=(len(leaves_of(folder)), 2, 4, 169, 169)).astype(np.float16))
    write_leaf_net(folder / "leaf_net")
    return folder


MENU = bet_menu(preflop=[[1], ["a"]], flop=[["a"]], turn=[["a"]], river=[["a"]])


def _states() -> list[HandState]:
    dealt = HandState.deal(build(_match().game), np.random.default_rng(1))
    return [dealt, dealt.apply(0).apply(0), dealt.apply(300).apply(0)]


def test_bundle_plays_as_its_artifacts_and_has_nothing_else(made: Path, capsys: pytest.CaptureFixture[str]) -> None:
    bundle = _pack(made)
    said = capsys.readouterr().err
    assert "to compress" in said
    assert f"{bundle.stat().st_size / 1e6:.1f} MB (blueprint" in said
    assert (
        "is there, for depth_limited, depth_limited_exploit, depth_limited_single, naive"
        in (_pack(made), capsys.readouterr().err)[1]
    )
    whole, packed = _agent("depth_limited", made), _agent("depth_limited", bundle)
    for state in _states():
        (actions, probs), (same, again) = whole.policy(state), packed.policy(state)
        assert actions == same
        np.testing.assert_array_equal(probs, again)
    parts = open_bundle(bundle)
    table = open_artifact(parts.path / "leaf_table", "leaf_table").arrays
    assert table["values"].dtype == np.float16
    assert "sem" not in table
    first, bundled = (FirstRound.load(path / "blueprint") for path in (made, parts.path))
    assert open_artifact(parts.path / "blueprint", "blueprint").arrays["strategy"].size == bundled.strategy.size
    np.testing.assert_array_equal(first.probs(0), bundled.probs(0))
    assert parts.contents["made_from"]["blueprint"] == first.fingerprint
    assert "data_gen" in parts.contents["provenance"]["configuration"]["_target_"]


def test_tables_are_rounded_to_eleven_bits(made: Path) -> None:
    rng = np.random.default_rng(2)
    shape = open_artifact(made / "leaf_table", "leaf_table").arrays["values"].shape
    write_leaf_table(made, rng.normal(size=shape))
    parts, coarse = (open_bundle(_pack(made, f"job.table_step={step}")).path for step in (0.0, 0.0078125))
    dealt, valued = _states()[0].betting, []
    ends = [dealt.apply(0).apply(0), dealt.apply(300).apply(0)]
    for folder in (made, parts, coarse):
        leaf = TableLeaf(path=str(folder / "leaf_table"), blueprint=FirstRound.load(folder / "blueprint"))
        valued.append(leaf.values(ends, (), np.zeros((2, NUM_HANDS), np.float32), 0).values)
    whole, rounded, in_steps = valued
    assert 0 < np.abs(whole - rounded).max() <= np.abs(whole).max() / 2**11
    steps = np.array([200, 600])[:, None, None, None] / 128  # in chips, of the two pots
    assert (np.abs(whole - in_steps) <= 0.501 * steps).all()
    np.testing.assert_array_equal(in_steps / steps, np.round(in_steps / steps))


def test_agents_that_it_does_not_seat_are_named(made: Path) -> None:
    """The error names the agents that a bundle seats, and the command that makes a missing artifact."""
    bundle = _pack(made)
    for name, lacking in (("blueprint", "abstraction"), ("poki_formula", "preflop_rollouts")):
        with pytest.raises(MissingArtifactError) as caught:
            _agent(name, bundle)
        assert f"no {lacking} at {bundle}/{lacking}; the bundle seats depth_limited, depth_limited_exploit" in str(
            caught.value
        )
        assert str(caught.value).endswith(f"make it with: python -m data_gen job={lacking} artifacts=artifacts/made")
    with pytest.raises(MissingArtifactError, match=f"no abstraction at {bundle}"):
        _agent("depth_limited", bundle, "leaf=rollout")
    with pytest.raises(PokernetsError, match="Bundles are only read: use artifacts="):
        call_here("data_gen", "job=leaf_table", f"artifacts={bundle}")
    with pytest.raises(MissingArtifactError, match=r"no bundle at none\.bundle"):
        _agent("depth_limited", Path("none.bundle"))


def test_optional_agents_sit_where_their_artifacts_are(made: Path) -> None:
    """In a bundle too: the agent that learns is offered where its net is."""
    learning = ["depth_limited", "depth_limited_exploit_net"]
    for artifacts, names in ((made, learning[:1]), (_pack(made), learning[:1]), (TRAINED, learning)):
        table = compose("evaluate", ["evaluate=play", f"artifacts={artifacts}"])
        assert [spec.name for spec in build(table.agent)] == names


def test_impossible_packages_are_refused(made: Path, tmp_path: Path) -> None:
    with pytest.raises(PokernetsError, match=r"more than 0.1 .*raise job.megabytes"):
        _pack(made, "job.megabytes=0.1")
    with pytest.raises(PokernetsError, match=r"unknown rival; choose from blueprint, charts, depth_limited"):
        _pack(made, "job.agents=[rival]")
    with pytest.raises(PokernetsError, match="no preflop_rollouts at"):
        _pack(made, "job.agents=[poki_none]")
    with pytest.raises(PokernetsError, match="nothing to pack"):
        _pack(tmp_path / "empty")
    assert not Path(f"{made}.bundle").exists()


def test_a_table_of_another_blueprint_is_refused(made: Path) -> None:
    write_blueprint(made, MENU, CardAbstraction((), (169, 300, 2, 1), "another"))
    with pytest.raises(PokernetsError, match="leaf_table was made with another blueprint"):
        _pack(made)


FLOP_HOLDEM = ("game=flop_holdem_nolimit", "agents=[blueprint]")


@pytest.fixture
def flop_holdem(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A random blueprint of flop hold'em, with an abstraction that is made in a second."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    folder, rng = tmp_path / "made", np.random.default_rng(3)
    buckets = ["job=abstraction", "abstraction=flop_strength", "abstraction.flop=20", f"job.others={tmp_path}/none"]
    call_here("data_gen", *buckets, f"artifacts={folder}")
    cards = CardAbstraction.load(folder / "abstraction")
    bets = bet_menu(preflop=[["a"]], flop=[["a"]], turn=[], river=[])
    tree = build_tree(Betting.start(build(_match(*FLOP_HOLDEM).game)), bets)

    def strategy(node: int) -> np.ndarray[Any, Any]:
        size = int(tree.num_children[node]), cards.num_buckets[int(tree.street[node])]
        return rng.dirichlet(np.ones(size[0]), size[1]).astype(np.float32)

    blueprint_from(tree, cards, strategy).save(folder / "blueprint", {}, {})
    return folder


def _blueprint_of(source: Path) -> BlueprintAgent:
    config = _match(*FLOP_HOLDEM, f"artifacts={source}")
    agent = build(config.agent.blueprint)
    assert isinstance(agent, BlueprintAgent)
    return agent


def test_bundle_has_exactly_the_artifacts_that_its_agents_open(
    flop_holdem: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Each agent opens all that conf/job/bundle.yaml packs for it, and nothing else."""
    _write_everything(flop_holdem)
    needs = compose("data_gen", ["job=bundle"]).job.needs
    names = [file.stem for file in (ROOT / "conf" / "agents").glob("*.yaml")]
    config = _match(f"agents=[{','.join(names)}]", *QUICK, "+search.ahead.flop=[[a]]")
    opened: list[str] = []
    place = Bundle.place

    def noted(bundle: Bundle, name: str) -> Path:
        opened.append(name)
        return place(bundle, name)

    monkeypatch.setattr(Bundle, "place", noted)
    bundles: dict[str, Path] = {}
    for name, packed in needs.items():
        key = "-".join(packed).replace("/", "-")
        if key not in bundles:
            bundles[key] = _pack(flop_holdem, f"job.agents=[{name}]").rename(flop_holdem.with_name(f"{key}.bundle"))
        config.artifacts = str(bundles[key])
        opened.clear()
        load_blueprint.cache_clear()
        build(OmegaConf.to_container(config.agent[name], resolve=True))
        assert {*opened} == {*packed}, name
    for name in {*names} - {*needs}:
        settings = OmegaConf.to_yaml(config.agent[name], resolve=True)
        for data in ("people", "pluribus"):  # hands of people, which no bundle has
            settings = settings.replace(f"{config.artifacts}/{data}", "")
        assert config.artifacts not in settings, name


def _write_everything(folder: Path) -> None:
    """Write the artifacts that agents open beside the blueprint in `folder` and its abstraction."""
    write_leaf_table(folder)
    write_leaf_net(folder / "leaf_net")
    for name, copy in (("blueprint", "smooth_uct"), ("blueprint", "uct"), ("leaf_table", "leaf_table_generated")):
        shutil.copytree(folder / name, folder / copy)
    nets = open_bundle(TRAINED).path / "nolimit" / "opponent_net"
    for parent in ("opponent_net", "nolimit/opponent_net"):
        shutil.copytree(nets, folder / parent)
    shutil.copytree(nets / "hand", folder / "opponent_net" / "small")
    IncomeRates(**{field.name: np.zeros((9, 169)) for field in fields(IncomeRates)}).save(
        folder / "preflop_rollouts", {}
    )


def test_the_released_bundle_has_the_strategy_of_its_source(flop_holdem: Path) -> None:
    """At the settings of `make release`, no probability moves by more than .003."""
    [recipe] = re.findall(r"job=bundle scale=laptop .*\n.*", (ROOT / "Makefile").read_text())
    settings = re.findall(r"job\.(?!agents|output)\w+=\S+", recipe)
    assert len(settings) == 2
    source, packed = (_blueprint_of(path).blueprint for path in (flop_holdem, _pack(flop_holdem, *settings)))
    assert packed.tree.decision_nodes.size > 1
    for node in packed.tree.decision_nodes:
        np.testing.assert_allclose(packed.probs(node), source.probs(node), rtol=0, atol=0.003)


def test_the_abstraction_is_made_again_where_it_is_needed(
    flop_holdem: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    bundle = open_bundle(_pack(flop_holdem))
    assert not (bundle.path / "abstraction").exists()
    assert {*bundle.seats} >= {"blueprint"}
    capsys.readouterr()
    cards = _blueprint_of(bundle.file).blueprint.cards
    assert "s of CPU" in capsys.readouterr().err
    assert cards.fingerprint == CardAbstraction.load(flop_holdem / "abstraction").fingerprint
    _blueprint_of(bundle.file)
    assert capsys.readouterr().err == ""
    assert not [*bundle.path.glob("*.streets")]


@cases
def test_no_abstraction_is_made_that_nobody_in_the_line_up_needs(
    flop_holdem: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, line_up: str, made: bool
) -> None:
    """Before a hand is played: progress bars of both would fill one terminal."""
    monkeypatch.setattr(match, "_Live", Mock(side_effect=InterruptedError))
    settings = (
        "game=flop_holdem_nolimit",
        "search=flop_holdem",
        "agent.depth_limited.leaves=[]",
        f"runs={tmp_path}/runs",
    )
    with pytest.raises(InterruptedError):
        call_here("evaluate", "evaluate=match", *line_up.split(), *settings, f"artifacts={_pack(flop_holdem)}")
    assert any((tmp_path / "cache").rglob("abstraction")) == made


def test_aivat_omits_answers_that_a_bundle_lacks(made: Path, capsys: pytest.CaptureFixture[str]) -> None:
    places = f"artifacts={_pack(made)}", f"runs={made}/runs"
    results = call_here(
        "evaluate", "evaluate=match", "agents=[depth_limited,equity]", "hands=2", "cluster.processes=1", *QUICK, *places
    )
    assert capsys.readouterr().err.count("AIVAT does not use blueprint to answer bets: no abstraction at") == 1
    assert results.lineups[0].has_aivat


def test_a_recipe_waits_for_another_command_that_follows_it(
    flop_holdem: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    recipe, again = open_bundle(_pack(flop_holdem)).recipes["abstraction"], tmp_path / "cache" / "again"
    with held(again.parent, again.name) as holder:
        threading.Timer(0.5, holder.kill).start()
        make_again(recipe, again)
    assert "another command is making" in capsys.readouterr().err
    assert CardAbstraction.load(again).fingerprint == recipe["fingerprint"]


@cases
def test_recipes_that_make_something_else_are_refused(
    flop_holdem: Path, tmp_path: Path, change: dict[str, Any], problem: str
) -> None:
    recipe = open_bundle(_pack(flop_holdem)).recipes["abstraction"]
    with pytest.raises(PokernetsError, match=problem):
        make_again({**recipe, **change}, tmp_path / "again")
