"""Leaf evaluators: the same numbers as their definitions, whoever asks, and exact equity where all are in."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
import pytest
from numpy.typing import NDArray

from poker.abstraction.dealers import sample_boards
from poker.abstraction.features import all_in_equity, hand_features
from poker.depth_limit.continuations.forms import Biased
from poker.depth_limit.continuations.rollout import Continuations
from poker.depth_limit.evaluator import GiveUpContinuation, LeafQuery, SingleValue, leaf_states
from poker.depth_limit.inputs import GridParts, encode_pairs, grid_rows
from poker.depth_limit.leaves.clusters import hand_clusters
from poker.depth_limit.leaves.net import NetLeaf
from poker.depth_limit.leaves.rollout import RolloutLeaf, representatives
from poker.game.beliefs import observe_board, start_ranges
from poker.game.betting import Betting
from poker.game.cards import HOLDEM, NUM_HANDS, hand_index, parse_cards
from poker.game.rules import CALL
from poker.game.state import HandState
from poker.kernels.cards.hands import CARD_PERMUTATION, HAND_PERMUTATION
from poker.run.errors import PokernetsError
from poker.solve.solver import DepthLimitedSolver
from poker.solve.types import Request, SolverSettings
from poker.solvers.blueprint import CONTINUATIONS, Blueprint
from poker.solvers.vector.leaves import LeafValues
from poker.tree import BetMenu, DepthLimit, Kind, bet_menu, build_tree
from tests.blueprints import random_blueprint
from tests.games import HEADS_UP as RULES
from tests.games import load_rules
from tests.given import given
from tests.search.even_leaf import even_solver

FLOP = parse_cards("2c7cJh")
RANGES = observe_board(start_ranges(RULES), FLOP)


class StrengthBuckets:
    """Ten buckets of equal width in E[HS]."""

    num_buckets = (10, 10, 10, 10)
    fingerprint = "ten buckets"

    def buckets(self, board: Sequence[int]) -> NDArray[np.int32]:
        buckets = np.minimum(hand_features(board).ehs * 10, 9).astype(np.int32)
        buckets[~HOLDEM.live(board)] = -1
        return buckets


@dataclass(eq=False)
class LinearNet:
    """Values that are linear in the features, so that the mean of values is the value of the mean."""

    weights: NDArray[np.float32]

    @property
    def num_continuations(self) -> int:
        return int(self.weights.shape[1])

    def values(self, features: NDArray[np.float32]) -> NDArray[np.float32]:
        return features @ self.weights

    def grid_values(self, grids: Sequence[tuple[GridParts, NDArray[np.float32]]]) -> list[NDArray[np.float32]]:
        return [np.stack([self.values(rows) for rows in grid_rows(*grid)]) for grid in grids]


@pytest.fixture(scope="module")
def menu() -> BetMenu:
    return bet_menu(preflop=[[1.0], ["a"]], flop=[[1.0, "a"], ["a"]], turn=[[1.0], ["a"]], river=[[1.0], ["a"]])


@pytest.fixture(scope="module")
def flop_root() -> Betting:
    return Betting.start(RULES).apply(300).apply(CALL)


@pytest.fixture(scope="module")
def leaves(menu: BetMenu, flop_root: Betting) -> list[Betting]:
    return leaf_states(flop_root, build_tree(flop_root, menu, DepthLimit(1, 4, (1,), cut_runouts=True)))


@pytest.fixture(scope="module")
def net() -> LinearNet:
    return LinearNet(np.random.default_rng(5).normal(0, 0.3, (34, 4)).astype(np.float32))


@pytest.fixture(scope="module")
def blueprint(menu: BetMenu) -> Blueprint:
    return random_blueprint(build_tree(Betting.start(RULES), menu), StrengthBuckets())


def test_leaves_are_ends_of_the_round_in_the_order_of_the_tree(leaves: list[Betting]) -> None:
    assert [leaf.text() for leaf in leaves if not leaf.is_over] == ["r300c/cc/", "r300c/r900c/", "r300c/cr900c/"]
    assert all(leaf.committed == (20000, 20000) for leaf in leaves if leaf.is_over)
    assert sum(leaf.is_over for leaf in leaves) == 4


@pytest.mark.parametrize("own", [0, 1])
def test_net_leaf_on_single_hands_is_the_net_on_their_features(net: LinearNet, leaves: list[Betting], own: int) -> None:
    chosen = [leaves[0], next(leaf for leaf in leaves if leaf.is_over)]
    predicted = NetLeaf(net=net, clusters=None).values(chosen, FLOP, RANGES, own)
    rng = np.random.default_rng(own)
    hands, others = rng.choice(np.flatnonzero(HOLDEM.live(FLOP)), (2, 50))
    equity = all_in_equity(FLOP)
    for index, leaf in enumerate(chosen):
        values = predicted.values[index][:, predicted.own_cluster[hands], predicted.opp_cluster[others]]
        if leaf.is_over:
            expected = np.tile(40000 * (equity[hands, others] - 0.5), (4, 1))
        else:
            expected = sum(leaf.committed) * net.values(encode_pairs(FLOP, leaf, own, hands, others)).T
        possible = HOLDEM.disjoint[hands, others]
        np.testing.assert_allclose(values[:, possible], expected[:, possible], rtol=1e-4, atol=0.05)


def test_net_leaf_on_clusters_is_the_mean_over_hands_that_the_net_values_alike(
    net: LinearNet, leaves: list[Betting]
) -> None:
    every, clustered = (NetLeaf(net=net, clusters=limit).values(leaves, FLOP, RANGES, 0) for limit in (None, 64))
    assert clustered.values.shape == (len(leaves), 4, 64, 64)
    clusters, opponents = clustered.own_cluster, np.flatnonzero(RANGES[1])
    assert (clusters[HOLDEM.live(FLOP)] >= 0).all()
    unpaired, backdoor = (clusters[hand_index(*parse_cards(hand))] for hand in ("AsKd", "AhKh"))
    assert clusters[hand_index(*parse_cards("AdKs"))] == unpaired != backdoor
    first, last = (np.flatnonzero(clusters == cluster) for cluster in (0, 63))
    own, opp = (grid.ravel() for grid in np.meshgrid(first, last, indexing="ij"))
    equity = all_in_equity(FLOP)[own, opp][HOLDEM.disjoint[own, opp]].mean()
    allin = next(i for i, leaf in enumerate(leaves) if leaf.is_over)
    np.testing.assert_allclose(clustered.values[allin][:, 0, 63], 40000 * (equity - 0.5), rtol=1e-4)
    by_hand = every.values[0, 0][every.own_cluster[opponents]].mean(axis=1)

    def within(clusters: NDArray[np.int32]) -> float:
        means = np.bincount(clusters[opponents], by_hand) / np.bincount(clusters[opponents])
        return float(((by_hand - means[clusters[opponents]]) ** 2).mean())

    strength = hand_features(FLOP).ehs.astype(np.float32)
    kinds = hand_clusters(every.own_cluster, strength, 64)
    assert within(clusters) < 0.2 * within(kinds)


def test_net_leaf_distinguishes_stacks(net: LinearNet, menu: BetMenu) -> None:
    """Fewer chips behind make the same bets another state."""
    evaluator = NetLeaf(net=net, clusters=8)
    by_stack = []
    for stack in (20000, 6000):
        root = Betting.parse(replace(RULES, stacks=(stack, stack)), "r300c")
        leaf = leaf_states(root, build_tree(root, menu, DepthLimit(1, 4, (1,), cut_runouts=True)))[0]
        by_stack.append(evaluator.values([leaf], FLOP, RANGES, 0).values)
        fresh = NetLeaf(net=net, clusters=8).values([leaf], FLOP, RANGES, 0).values
        np.testing.assert_array_equal(by_stack[-1], fresh)
    assert not np.allclose(by_stack[0], by_stack[1])


def test_leaf_values_of_a_blueprint_of_another_game_are_refused(blueprint: Blueprint, net: LinearNet) -> None:
    """The check that agents make refuses them; a net's values belong to no blueprint, and stacks may differ."""
    rollout = RolloutLeaf(blueprint=blueprint, factor=10.0, clusters=4, hands_per_cluster=1, runouts=1, seed=0)
    flop_game = load_rules("flop_holdem_nolimit")
    for leaf in (rollout, SingleValue(of=rollout), GiveUpContinuation(of=rollout)):
        leaf.check_game(replace(RULES, name="short", stacks=(5000, 5000)))
        with pytest.raises(PokernetsError, match=r"the leaf values was made for .* board_cards is \(0, 3, 1, 1\)"):
            leaf.check_game(flop_game)
    SingleValue(of=NetLeaf(net=net, clusters=4)).check_game(flop_game)


def test_single_value_is_the_blueprint_continuation(net: LinearNet, leaves: list[Betting]) -> None:
    every = NetLeaf(net=net, clusters=8)
    naive = SingleValue(of=every)
    single = naive.values(leaves, FLOP, RANGES, 1)
    assert naive.num_continuations == single.num_continuations == 1
    np.testing.assert_array_equal(single.values, every.values(leaves, FLOP, RANGES, 1).values[:, :1])


@pytest.mark.parametrize("own", [0, 1])
def test_an_opponent_who_gives_up_leaves_the_pot(net: LinearNet, leaves: list[Betting], own: int) -> None:
    every = NetLeaf(net=net, clusters=8)
    evaluator = GiveUpContinuation(of=every)
    with_giving_up, without = (leaf.values(leaves, FLOP, RANGES, own) for leaf in (evaluator, every))
    assert evaluator.num_continuations == with_giving_up.num_continuations == without.num_continuations + 1
    np.testing.assert_array_equal(with_giving_up.values[:, :-1], without.values)
    assert {leaf.is_over for leaf in leaves} == {True, False}
    for leaf, last, equity in zip(leaves, with_giving_up.values[:, -1], without.values[:, 0], strict=True):
        np.testing.assert_array_equal(last, equity if leaf.is_over else np.full_like(last, min(leaf.committed)))


@pytest.mark.parametrize("own", [0, 1])
def test_rollout_leaf_is_the_mean_over_sampled_boards(blueprint: Blueprint, leaves: list[Betting], own: int) -> None:
    evaluator = RolloutLeaf(blueprint=blueprint, factor=10.0, clusters=4, hands_per_cluster=30, runouts=3, seed=9)
    rolled = evaluator.values(leaves, FLOP, RANGES, own)
    again = RolloutLeaf(blueprint=blueprint, factor=10.0, clusters=4, hands_per_cluster=30, runouts=3, seed=9)
    np.testing.assert_array_equal(rolled.values, again.values(leaves, FLOP, RANGES, own).values)

    rng = np.random.default_rng([9, *FLOP])
    drawn = representatives(rolled.own_cluster, 30, rng)
    boards = sample_boards(RULES, FLOP, 3, rng)
    leaf = leaves[1]
    tree = blueprint.tree
    node = int(tree.parent[tree.find([300, CALL, 900, CALL])])
    assert tree.kind[node] == Kind.STREET
    hands = drawn[rolled.own_cluster[drawn] == 3]
    others = drawn[rolled.own_cluster[drawn] == 0]
    assert len(hands) == len(others) == 30
    seats = (hands, others) if own == 0 else (others, hands)
    exact = Continuations(blueprint, Biased().of(blueprint)).values(node, boards, *seats)
    counted = (exact.count > 0) & HOLDEM.disjoint[np.ix_(*seats)]
    expected = exact.mean[own][:, counted].mean(axis=1) / 1800 * sum(leaf.committed)
    np.testing.assert_allclose(rolled.values[1][:, 3, 0], expected, rtol=1e-3)


@pytest.mark.parametrize("own", [0, 1])
def test_values_do_not_depend_on_earlier_calls(
    net: LinearNet, blueprint: Blueprint, leaves: list[Betting], own: int
) -> None:
    def build(kind: str) -> NetLeaf | RolloutLeaf:
        if kind == "net":
            return NetLeaf(net=net, clusters=8)
        return RolloutLeaf(blueprint=blueprint, factor=10.0, clusters=8, hands_per_cluster=2, runouts=2, seed=9)

    other = parse_cards("AhKd2c")
    for kind in ("net", "rollout"):
        evaluator = build(kind)
        evaluator.values(leaves[1:], FLOP, RANGES, 1 - own)
        evaluator.values(leaves, other, observe_board(start_ranges(RULES), other), own)
        evaluator.values(leaves[:2], FLOP, RANGES, own)
        again, expected = (each.values(leaves, FLOP, RANGES, own) for each in (evaluator, build(kind)))
        np.testing.assert_array_equal(again.values, expected.values)
        np.testing.assert_array_equal(again.own_cluster, expected.own_cluster)


def test_leaves_valued_before_are_not_valued_again(net: LinearNet, blueprint: Blueprint, leaves: list[Betting]) -> None:
    calls = 0

    class Counting(LinearNet):
        def values(self, features: NDArray[np.float32]) -> NDArray[np.float32]:
            nonlocal calls
            calls += 1
            return super().values(features)

    evaluator = NetLeaf(net=Counting(net.weights), clusters=8)
    evaluator.values(leaves, FLOP, RANGES, 0)
    assert calls == 4  # once to group the hands
    evaluator.values(leaves, FLOP, RANGES, 0)
    assert calls == 4
    evaluator.values(leaves, FLOP, RANGES, 1)
    assert calls == 7


def test_leaves_of_many_solves_go_through_a_net_at_once(net: LinearNet, leaves: list[Betting]) -> None:
    calls = []

    class Counting(LinearNet):
        def grid_values(self, grids: Sequence[tuple[GridParts, NDArray[np.float32]]]) -> list[NDArray[np.float32]]:
            calls.append([len(betting) for _, betting in grids])
            return super().grid_values(grids)

    other = parse_cards("AhKd2c")
    states = (leaves, FLOP, 0), (leaves[:2], other, 0), (leaves[1:], FLOP, 0), (leaves, FLOP, 1)
    queries: list[LeafQuery] = [(some, board, RANGES, own) for some, board, own in states]
    alone, at_once = (NetLeaf(net=each, clusters=8) for each in (net, Counting(net.weights)))
    for _ in range(2):
        for together, query in zip(SingleValue(of=at_once).together(queries), queries, strict=True):
            assert isinstance(together, LeafValues)
            np.testing.assert_array_equal(together.values, alone.values(*query).values[:, :1])
    assert calls == [[1], [1], [3, 2, 3], []]  # hands of each board are grouped first


def test_values_are_to_own_and_the_opponent_gains_from_choosing(blueprint: Blueprint, leaves: list[Betting]) -> None:
    evaluator = RolloutLeaf(blueprint=blueprint, factor=10.0, clusters=6, hands_per_cluster=8, runouts=8, seed=1)
    rolled = evaluator.values(leaves, FLOP, RANGES, 0)
    assert rolled.num_continuations == len(CONTINUATIONS)
    strong_against_weak = rolled.values[:, :, -1, 0].mean()
    weak_against_strong = rolled.values[:, :, 0, -1].mean()
    assert strong_against_weak > 0 > weak_against_strong
    assert not np.allclose(rolled.values[:3, 0], rolled.values[:3, 3])


@pytest.mark.parametrize("kind", ["net", "rollout"])
def test_flop_in_another_order_or_other_suits_is_the_same_flop(
    net: LinearNet, blueprint: Blueprint, menu: BetMenu, kind: str
) -> None:
    betting = Betting.start(RULES).apply(300).apply(CALL)
    policies = []
    for order in ("2c7cJh", "Jh2c7c", "2d7dJs"):
        rollout = RolloutLeaf(blueprint=blueprint, factor=10.0, clusters=4, hands_per_cluster=2, runouts=2, seed=9)
        flop = rollout if kind == "rollout" else NetLeaf(net=net, clusters=4)
        agent = even_solver(leaves=[rollout, flop], menu=menu, ahead=menu, solver=SolverSettings("dcfr", (4,), 1))
        policies.append(agent.policy(HandState(betting, ((), ()), parse_cards(order)))[1])
    np.testing.assert_array_equal(policies[0], policies[1])
    suits = next(g for g in range(24) if set(CARD_PERMUTATION[g, list(FLOP)]) == set(parse_cards("2d7dJs")))
    np.testing.assert_allclose(policies[2][HAND_PERMUTATION[suits]], policies[0], atol=1e-3)


def test_depth_limited_solve_gives_a_strategy_for_every_hand(net: LinearNet, menu: BetMenu, flop_root: Betting) -> None:
    leaf = NetLeaf(net=net, clusters=16)
    solve = DepthLimitedSolver(menu, menu, {1: leaf}, SolverSettings("dcfr", (20,), 1))
    solution = solve(Request(flop_root, FLOP, RANGES, 0, (450,)))
    root = given(solution.at(flop_root))
    assert 450 in root.actions
    assert root.probs.shape == (NUM_HANDS, len(root.actions))
    np.testing.assert_allclose(root.probs.sum(axis=1), 1.0, rtol=1e-4)
    reply = given(solution.at(flop_root.apply(450)))
    assert reply.player == 1
    assert solution.at(flop_root.apply(CALL).apply(CALL)) is None
