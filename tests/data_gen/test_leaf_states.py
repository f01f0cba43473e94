"""`job=leaf_states` and `job=self_generated`: killed and continued, what the rows are, refusals."""

import re
from collections.abc import Sequence
from functools import lru_cache
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from data_gen.leaf_states import ShardSettings, shard_rows
from data_gen.support.self_generated import above, solve_first_round
from poker.abstraction.buckets import CardAbstraction, SmallGameBuckets, make_abstraction
from poker.abstraction.dealers import sample_boards
from poker.abstraction.features import all_in_equity
from poker.depth_limit import inputs
from poker.depth_limit.continuations.forms import Biased
from poker.depth_limit.continuations.generation import Solving
from poker.depth_limit.continuations.leaf_states import LeafSampler
from poker.depth_limit.continuations.rollout import Continuations
from poker.depth_limit.leaves.leaf_table import LeafTable, preflop_leaves
from poker.depth_limit.shards import open_shards
from poker.game.cards import HOLDEM, NUM_HANDS, PREFLOP_CLASS
from poker.game.rules import CALL
from poker.game.state import Betting
from poker.kernels.types import Singles
from poker.run.errors import PokernetsError
from poker.solvers.blueprint import Blueprint, blueprint_from
from poker.tree import Kind, bet_menu, build_tree
from tests.blueprints import random_blueprint
from tests.data_gen.commands import data_gen, data_gen_fails, data_gen_killed, digests, tiny_blueprint
from tests.games import load_rules

SIZES = "job.settings.boards_per_shard=2 job.settings.states_per_board=2 job.settings.preflop_share=1.0"
SMALL = "job=leaf_states", *SIZES.split(), "cluster.processes=2"


@pytest.mark.slow
def test_killed_and_continued_is_byte_identical(tmp_path: Path) -> None:
    common = tiny_blueprint(tmp_path)
    whole, broken = tmp_path / "whole", tmp_path / "broken"
    said = data_gen(*SMALL, "job.shards=12", *common, f"job.output={whole}")
    assert re.search(r"0 of 12 shards are there, 12 to make, up to [\d,]+ rows; about [\d,]+ s of CPU", said)
    data_gen_killed(
        "data_gen.support.progress:JobProgress.update", *SMALL, "job.shards=12", *common, f"job.output={broken}"
    )
    assert 0 < len(list(broken.glob("shard-*"))) < 12
    data_gen(*SMALL, "job.shards=12", *common, f"job.output={broken}")
    assert digests(broken) == digests(whole)
    refused = data_gen_fails(*SMALL, "job.settings.preflop_share=0.2", *common, f"job.output={tmp_path}/other")
    assert "no betting after the flop" in refused
    assert "12 of 12 shards are there" in data_gen(*SMALL, "job.shards=12", *common, f"job.output={broken}")
    refused = data_gen_fails(*SMALL, "job.shards=12", "seed=2", *common, f"job.output={broken}")
    assert "made with config seed=1, not with 2" in refused
    shards = open_shards(whole)
    assert len(shards) == 12
    groups = [set(shard.arrays["group"].tolist()) for shard in shards]
    assert sum(map(len, groups)) == len(set.union(*groups))


class Classes:
    """Buckets for tests of four streets without their tables: preflop classes, later one bucket in five by hand."""

    num_buckets = (169, 5, 5, 5)
    fingerprint = "classes"

    def buckets(self, board: Sequence[int]) -> NDArray[np.int32]:
        if not board:
            return PREFLOP_CLASS.astype(np.int32)
        return np.where(HOLDEM.live(board), (np.arange(1326) + sum(board)) % 5, -1).astype(np.int32)


def four_streets() -> Blueprint:
    menu = bet_menu(preflop=[[1], []], flop=[[1], []], turn=[["a"], []], river=[[1], []])
    return random_blueprint(build_tree(Betting.start(load_rules("holdem_nolimit_2p")), menu), Classes())


def settings(**changes: Any) -> ShardSettings:
    values: dict[str, Any] = {
        "seed": 3, "boards_per_shard": 2, "states_per_board": 2, "pairs_per_state": 40, "hands": 12, "runouts": 16,
        "preflop_share": 0.0, "exploration": 0.3, "uniform_hands": 0.3, "off_tree": 0.0, "continuations": Biased(),
        **changes,
    }  # fmt: skip
    return ShardSettings(**values)


@pytest.fixture(scope="module")
def continuations() -> Continuations:
    blueprint = four_streets()
    return Continuations(blueprint, Biased().of(blueprint))


def test_rows_of_flop_states(continuations: Continuations) -> None:
    rows = shard_rows(continuations, settings(), 0)
    count = len(rows["group"])
    assert count == 2 * 2 * 2 * 40
    assert rows["features"].shape == (count, inputs.SIZE)
    assert rows["labels"].shape == rows["label_sem"].shape == (count, 4)
    assert np.bincount(rows["seat"]).tolist() == [count // 2, count // 2]
    assert (rows["street"] == 1).all()
    assert len(np.unique(rows["group"])) == 2
    assert rows["group"].max() < 1755
    blueprint = four_streets()
    again = shard_rows(Continuations(blueprint, Biased().of(blueprint)), settings(), 0)
    assert all(np.array_equal(again[name], rows[name]) for name in rows)
    assert not np.array_equal(shard_rows(continuations, settings(), 1)["labels"][:9], rows["labels"][:9])


def test_seats_mirror_each_other(continuations: Continuations) -> None:
    """A pair has a row for either seat: features swapped, values under the unbiased continuation opposite."""
    rows = shard_rows(continuations, settings(), 0)
    hands = len(inputs.HAND_NAMES)
    own, opp = rows["features"][:, :hands], rows["features"][:, hands : 2 * hands]
    public = rows["features"][:, [inputs.NAMES.index("stack_to_pot"), inputs.NAMES.index("board_windows")]]
    first, second = np.flatnonzero(rows["seat"] == 0), np.flatnonzero(rows["seat"] == 1)
    seen = {np.concatenate([own[i], opp[i], public[i]]).tobytes(): rows["labels"][i, 0] for i in first}
    mirrored = [seen[np.concatenate([opp[i], own[i], public[i]]).tobytes()] for i in second]
    assert np.median(np.abs(mirrored + rows["labels"][second, 0])) < 1e-5  # ties in features are few


def test_labels_are_values_to_the_own_seat(continuations: Continuations) -> None:
    """On average the favourite of a pair of hands wins from the other, in either seat."""
    rows = shard_rows(continuations, settings(), 0)
    equity, values = rows["features"][:, inputs.NAMES.index("pair_equity")], rows["labels"][:, 0]
    for seat in (0, 1):
        favourite, underdog = (values[(rows["seat"] == seat) & side].mean() for side in (equity > 0.6, equity < 0.4))
        assert favourite > 0 > underdog


def test_hands_of_a_state_are_those_that_play_so() -> None:
    """Kings raise and others do not: whoever has raised holds a king, whoever has not does not."""
    rules = load_rules("leduc")
    tree, kings = build_tree(Betting.start(rules)), {4, 5}

    def average(node: int) -> Singles:
        actions, buckets = tree.actions(node), rules.num_ranks ** (1 + len(rules.board_sizes[: tree.street[node]]))
        strongest = np.arange(buckets) % rules.num_ranks == rules.num_ranks - 1
        aggressive = np.eye(len(actions), dtype=np.float32)[-1]
        return np.asarray(np.where(strongest[:, None], aggressive, np.array(actions) == CALL), np.float32)

    sampler = LeafSampler(blueprint_from(tree, SmallGameBuckets(rules), average), (), 0.0, 0.0)
    rng, raised = np.random.default_rng(2), set[bool]()
    for _ in range(100):
        state = sampler.draw(6, rng)
        for player, hands in enumerate((state.hands0, state.hands1)):
            line = zip(state.betting.actions[0], state.betting.actors[0], strict=True)
            has_raised = any(action > CALL for action, actor in line if actor == player)
            assert {hand in kings for hand in hands.tolist()} == {has_raised}
            raised.add(has_raised)
    assert raised == {False, True}


def test_more_runouts_agree_within_the_standard_errors() -> None:
    """Labels of 32 run-outs lie around those of 400 as their standard errors say."""
    blueprint, board = four_streets(), (4, 17, 30)
    state = LeafSampler(blueprint, board, 0.3, 0.3).draw(12, np.random.default_rng(8))
    equity = all_in_equity(board)[np.ix_(state.hands0, state.hands1)]
    continuations = Continuations(blueprint, Biased().of(blueprint))
    few, many = (
        continuations.values(
            state.node,
            sample_boards(blueprint.rules, board, count, np.random.default_rng(count)),
            state.hands0,
            state.hands1,
            equity,
        )
        for count in (32, 400)
    )
    sound = few.count >= 16
    deviation = (few.mean - many.mean)[..., sound] / np.hypot(few.sem, many.sem)[..., sound]
    assert 0.5 < np.sqrt(np.mean(deviation**2)) < 1.5
    assert abs(deviation.mean()) < 0.5


def test_settings_that_cannot_work_are_refused() -> None:
    with pytest.raises(PokernetsError, match="2 runouts"):
        settings(runouts=1)
    for share in ({"preflop_share": 7.0}, {"exploration": 2.0}, {"uniform_hands": -1.0}, {"off_tree": 1.5}):
        with pytest.raises(PokernetsError, match="must be between 0 and 1"):
            settings(**share)


def test_states_of_a_round_with_no_betting_after_it_are_refused() -> None:
    flop_holdem = build_tree(Betting.start(load_rules("flop_holdem_nolimit")), bet_menu(preflop=[[1], []], flop=[[1]]))
    blueprint = random_blueprint(flop_holdem, Classes())
    LeafSampler(blueprint, (), 0.2, 0.3)
    with pytest.raises(PokernetsError, match=r"no betting after the flop.*preflop_share=1"):
        LeafSampler(blueprint, (0, 1, 2), 0.2, 0.3)


MENU = bet_menu(preflop=[[1], ["a"]], flop=[["a"], []])


@lru_cache
def blueprint() -> Blueprint:
    """Random strategies of flop hold'em with two buckets on the flop."""
    rng = np.random.default_rng(0)
    flops = rng.integers(0, 2, (1755, NUM_HANDS)).astype(np.uint8)
    cards: CardAbstraction = make_abstraction((PREFLOP_CLASS[None], flops), (169, 2))
    tree = build_tree(Betting.start(load_rules("flop_holdem_nolimit")), MENU)
    return random_blueprint(tree, cards)


def random_values(count: int) -> NDArray[np.float32]:
    """[2, K, 169, 169]"""
    return np.random.default_rng(1).normal(size=(2, count, 169, 169)).astype(np.float32)


def test_the_searcher_plays_the_solved_first_round_above_the_blueprint() -> None:
    policy = blueprint()
    nodes = preflop_leaves(policy.tree)
    values = np.stack([random_values(2)] * len(nodes))
    solver = solve_first_round(policy, LeafTable(nodes, values, values), MENU, 1, Solving(iterations=20))
    searcher = above(policy, solver, 0)
    tree = policy.tree
    for node in np.flatnonzero(tree.kind == Kind.DECISION).tolist():
        expected = policy.probs(node)
        if tree.street[node] == 0 and tree.player[node] == 0:
            hands = solver.strategy(solver.game.tree.find(tree.path(node)))
            expected = np.array([hands[c == PREFLOP_CLASS].mean(axis=0) for c in range(169)])
        np.testing.assert_allclose(searcher.probs(node), expected, atol=0.005)
    table, other = LeafTable(nodes, values, values), bet_menu(preflop=["a"])
    with pytest.raises(PokernetsError, match="menu"):
        above(policy, solve_first_round(policy, table, other, 1, Solving(iterations=1)), 0)
