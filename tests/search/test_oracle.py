"""Depth-limited solves with exact values at the leaves are as good as full ones ([DLS] section 4)."""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import pytest
from numpy.typing import NDArray

from poker.depth_limit.evaluator import leaf_states
from poker.experiments.rps_plus import CONTINUATIONS, EQUILIBRIUM, depth_limited, exploitability
from poker.formats.ranges import parse_range
from poker.game.betting import Betting
from poker.game.cards import parse_cards
from poker.solvers.best_response.ranges import RangePolicy
from poker.solvers.vector.game import VectorGame
from poker.solvers.vector.solver import VectorSolver
from poker.tree import BetMenu, DepthLimit, bet_menu, build_tree
from poker.tree.spots import spot_rules
from tests.search.oracle import OracleLeaf, PairGame, load_policy
from tests.solvers.games import leduc


@dataclass(frozen=True)
class Subgame:
    root: Betting
    menu: BetMenu | None
    board: tuple[int, ...]
    ranges: NDArray[np.float32]
    dead: int
    accuracy: float


def leduc_game() -> Subgame:
    return Subgame(Betting.start(leduc()), None, (), np.ones((2, 6), np.float32), 0, 2e-3)


def river_after_turn() -> Subgame:
    root = Betting.at_street(spot_rules(60), 2, (0, 0))
    menu = bet_menu(turn=[["75%"], ["a"]], river=[["a"], []])
    ranges = np.stack([parse_range("AhKh,QhQd,9h8h,7s7h,JcTc"), parse_range("KdJd,AsQs,9s8s,5h4h,TsTd")])
    return Subgame(root, menu, parse_cards("Kc9d6h2s"), ranges, 20, 0.02)


def continued(trunk: VectorSolver, rest: RangePolicy, full: VectorSolver) -> RangePolicy:
    """The depth-limited solution on its round, `rest` afterwards."""
    first, street = trunk.game.tree, full.game.layout.first_street

    def policy(node: int, board: tuple[int, ...]) -> NDArray[np.float32]:
        tree = full.game.tree
        return trunk.strategy(first.find(tree.path(node))) if tree.street[node] == street else rest(node, board)

    return policy


@pytest.mark.parametrize("own", [0, 1])
@pytest.mark.parametrize("make", [leduc_game, river_after_turn])
def test_oracle_leaves_equal_the_full_solve(make: Callable[[], Subgame], own: int) -> None:
    game = make()
    tree = build_tree(game.root, game.menu, dead=game.dead)
    full = VectorSolver(VectorGame(tree, game.board, game.ranges), "dcfr")
    full.run(iterations=2000)
    pairs = PairGame(tree, game.board, game.ranges)
    replies: list[RangePolicy] = [full.strategy]
    judge = VectorSolver(VectorGame(tree, game.board, game.ranges, isomorphism=False), "cfr_plus")
    for _ in range(12):
        street = full.game.layout.first_street
        limited = build_tree(game.root, game.menu, DepthLimit(street, len(replies), (1 - own,)), game.dead)
        oracle = OracleLeaf(pairs, full.strategy, replies)
        values = oracle.values(leaf_states(game.root, limited), game.board, game.ranges, own)
        trunk = VectorSolver(VectorGame(limited, game.board, game.ranges, values), "dcfr")
        trunk.run(iterations=1000)
        mine = continued(trunk, full.strategy, full)
        load_policy(judge, mine)
        loss = judge.best_response_value(1 - own) - full.game_value(1 - own)
        if loss < game.accuracy:
            break
        replies.append(pairs.best_reply(1 - own, mine))
    assert loss < game.accuracy
    assert len(replies) > 1 or make is river_after_turn  # in Leduc one continuation is not enough
    assert trunk.game_value(own) == pytest.approx(full.game_value(own), abs=game.accuracy)


def test_pair_values_are_those_of_the_engine() -> None:
    game = river_after_turn()
    tree = build_tree(game.root, game.menu, dead=game.dead)
    full = VectorSolver(VectorGame(tree, game.board, game.ranges), "dcfr")
    full.run(iterations=50)
    pairs = PairGame(tree, game.board, game.ranges)
    values = pairs.pair_values(0, game.board, (full.strategy, full.strategy)) * pairs.compatible
    expected = full.values(0)[pairs.hands[0]] * full.game.compatible[0, pairs.hands[0]]
    mass = pairs.compatible @ pairs.weights[1]
    np.testing.assert_allclose(values @ pairs.weights[1] + 0.5 * game.dead * mass, expected, rtol=1e-4, atol=1e-4)


def test_rps_plus_needs_more_than_one_value() -> None:
    naive, limited = depth_limited(EQUILIBRIUM[None]), depth_limited(CONTINUATIONS)
    assert exploitability(naive) > 0.1
    np.testing.assert_allclose(limited, EQUILIBRIUM, atol=1e-3)
    assert exploitability(limited) < 5e-3
