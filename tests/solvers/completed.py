"""A round completed by play that is solved around it, and exact rivers at the leaves of a turn."""

from dataclasses import replace

import numpy as np

from poker.abstraction.equities import check_down_chances
from poker.kernels.types import Board, Singles
from poker.solvers.vector.game import VectorGame
from poker.solvers.vector.leaves import AskedLeaves
from poker.solvers.vector.solver import VectorSolver
from poker.tree import BetMenu, BettingTree, Kind, StreetMenu, build_tree
from poker.tree.spots import spot_root


def completed(limited: VectorSolver, whole: VectorGame, iterations: int) -> VectorSolver:
    """A solver of `whole` whose average strategies are those of `limited` in the root's round and, after it, those of
    each player that lose least with them: solved with that player's round held, the opponent free in all rounds.

    `whole` has the tree of `limited` without its depth limit, and tells suits apart as it does. The `exploitability` of
    the result counts responses that deviate in any round.
    """
    out = VectorSolver(whole)
    for player in range(2):
        around = _solved_around(limited, whole, player, iterations)
        for node in whole.layout.decisions.tolist():
            if whole.tree.player[node] == player:
                for board in whole.on(int(whole.tree.street[node])):
                    whole.rows(out.arrays["sums"], node, board)[:] = whole.rows(around.arrays["sums"], node, board)
    return out


def _solved_around(limited: VectorSolver, whole: VectorGame, player: int, iterations: int) -> VectorSolver:
    """`whole` solved with the strategies that `limited` has for `player` locked."""
    around = VectorSolver(whole)
    pairs = [(0, 0)]
    while pairs:
        there, here = pairs.pop()
        if limited.game.tree.kind[there] == Kind.DECISION:
            if whole.tree.player[here] == player:
                around.lock(here, limited.strategy(there))
            pairs += zip(limited.game.tree.children(there), whole.tree.children(here), strict=True)
    around.advance(iterations)
    return around


_TURN, _LEAST = 2, 1e-6


def river_oracle(
    limited: BettingTree, menu: BetMenu, board: Board, ranges: Singles, every: int, iterations: int
) -> AskedLeaves:
    """Leaves of the turn `limited`, a spot's: after every `every` iterations all rivers that follow are solved for
    `iterations`, for the ranges that arrive and for a millionth of every other hand of `ranges`."""
    rules, pots = limited.rules, limited.dead + 2 * limited.committed[limited.leaves].min(axis=1)
    no_bets = replace(menu, streets=(*menu.streets[:_TURN], StreetMenu(((),)), *menu.streets[_TURN + 1 :]))

    def rivers(pot: int, held: Singles) -> Singles:
        """[2, H] chips beyond half of the pot."""
        behind = rules.stacks[0] - (pot - limited.dead) // 2
        if not behind:
            chances = [check_down_chances(rules, board, row.astype(np.float64)) for row in held[::-1]]
            return (pot * (np.stack(chances) - 0.5)).astype(np.float32)
        solver = VectorSolver(VectorGame(build_tree(spot_root(len(board), behind), no_bets, dead=pot), board, held))
        solver.advance(iterations)
        return np.stack([solver.values(player) for player in range(2)]) - np.float32(pot / 2)

    def ask(reaching: Singles) -> Singles:
        held = np.maximum(reaching, _LEAST * reaching.max(axis=(1, 2), keepdims=True, initial=1e-9) * (ranges > 0))
        values = [rivers(int(pot), arriving) for pot, arriving in zip(pots, held.astype(np.float32), strict=True)]
        return np.where(ranges > 0, values, 0).astype(np.float32)

    return AskedLeaves(len(pots), ask, every)
