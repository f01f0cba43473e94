"""Leaves by nets over ranges in the solves of an agent: seats, pots, all-ins, and which states a net is for."""

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
import pytest

from poker.depth_limit.evaluator import LeafEvaluator, cluster_equity, leaf_values
from poker.depth_limit.leaves.clusters import hand_clusters
from poker.depth_limit.leaves.range_net import RangeNetLeaf
from poker.depth_limit.range_inputs import equities_against
from poker.game.beliefs import observe_board, start_ranges
from poker.game.betting import Betting
from poker.game.cards import HOLDEM, NUM_HANDS, parse_cards
from poker.game.rules import CALL
from poker.kernels.types import Board, Ranges
from poker.run.errors import PokernetsError
from poker.search.round_solver import DepthLimitedSolver, Request, SolverSettings
from poker.solvers.vector.leaves import LeafValues
from poker.tree import bet_menu
from tests.depth_limit.leaves.range_values import Equities
from tests.games import load_rules

RULES = load_rules("holdem_nolimit_2p")
FLOP = parse_cards("2cKdAh")
RANGES = observe_board(start_ranges(RULES), FLOP)
ROOT = Betting.start(RULES).apply(300).apply(CALL)  # the big blind, player 0, acts first
MENU = bet_menu(flop=[[1.0, "a"], ["a"]])


@pytest.mark.parametrize("first", [0, 1])
def test_values_are_chips_of_the_seats_in_their_order(first: int) -> None:
    rules = replace(RULES, first_player=(1 - first, first, first, first))
    root = Betting.start(rules).apply(300).apply(CALL)
    ended, all_in = root.apply(CALL).apply(CALL), root.apply(rules.stacks[0]).apply(CALL)
    assert (ended.to_act, ended.is_over, all_in.is_over) == (first, False, True)
    following = RangeNetLeaf(net=Equities("end_of_flop", first=0.25), every=1).asked([ended, all_in], FLOP, dead=0)
    ranges = np.stack([RANGES, RANGES * np.random.default_rng(1).random(RANGES.shape).astype(np.float32)])
    chips, live = following.ask(ranges), HOLDEM.live(FLOP)
    even = equities_against(FLOP, ranges[:, ::-1]) - 0.5
    edge = 600 * 0.25 * np.array([1, -1] if first == 0 else [-1, 1])[:, None]
    np.testing.assert_allclose(chips[0][:, live], (600 * even[0] + edge)[:, live], atol=0.05)
    alone = RangeNetLeaf(net=Equities("end_of_flop"), every=1).asked([all_in], FLOP).ask(ranges[1:])
    np.testing.assert_allclose(alone[0], chips[1], atol=0.1)
    np.testing.assert_allclose(chips[1][:, live], (2 * RULES.stacks[0] * even[1])[:, live], atol=2)


class CheckedDown(LeafEvaluator):
    """The equities of all pairs of hands: a game that needs not be asked again."""

    num_continuations = 1

    def values(self, leaves: Sequence[Betting], board: Board, ranges: Ranges, own: int) -> LeafValues:
        clusters = hand_clusters(
            np.where(HOLDEM.live(board), 0, -1).astype(np.int32), np.zeros(NUM_HANDS, np.float32), None
        )
        equity = cluster_equity(leaves[0].rules, board, clusters)
        return leaf_values(leaves, own, clusters, equity, np.stack([equity[None] - np.float32(0.5)] * len(leaves)))


def test_a_round_is_solved_as_with_the_same_values_for_every_pair_of_hands() -> None:
    values = []
    for leaf in (RangeNetLeaf(net=Equities("end_of_flop"), every=2), CheckedDown()):
        solve = DepthLimitedSolver(MENU, MENU, {1: leaf}, SolverSettings("apdcfr", (150,), 1))
        solver = solve.solved(Request(ROOT, FLOP, RANGES, 0))
        assert solver.exploitability() < 0.01 * ROOT.pot
        values.append(solver.game_value(0))
    assert values[0] == pytest.approx(values[1], abs=0.005 * ROOT.pot)


def test_a_net_is_asked_only_about_states_of_its_level() -> None:
    with pytest.raises(PokernetsError, match="where a round has ended"):
        RangeNetLeaf(net=Equities("flop"), every=1)
    with pytest.raises(PokernetsError, match="level `end_of_turn` is asked on 3 cards"):
        RangeNetLeaf(net=Equities("end_of_turn"), every=1).asked([], FLOP)


@pytest.mark.parametrize(("stack", "deep"), [(3600, False), (4000, True)])
def test_shallow_rounds_are_solved_to_the_end_of_the_hand(stack: int, deep: bool) -> None:
    rules, turn, menu = replace(RULES, stacks=(stack, stack)), parse_cards("2cKdAh9s"), bet_menu(turn=[1.0], river=[])
    root = Betting.at_street(rules, 2, (300, 300))
    leaf = RangeNetLeaf(net=Equities("end_of_turn"), every=1, shallow=5.5)
    solve = DepthLimitedSolver(menu, menu, {2: leaf}, SolverSettings("apdcfr", (1,), 1))
    solver = solve.solved(Request(root, turn, observe_board(start_ranges(rules), turn), 0))
    assert (solver.game.tree.num_leaf_states > 0) == deep
