"""A solve of a decision of the searcher's opponent: sound play there, the value of each action against the searcher's
range, and the range that the searcher believes the opponent to have.

Everything is by hand in the suits that were dealt. Values are chips of the whole hand under the average strategies of
both players from the decision on, given that the searcher holds a hand of the range that it has there.

Symbols: H hands, A actions, K continuations.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Protocol, runtime_checkable

import numpy as np

from poker.betting import Betting
from poker.cards import HOLDEM
from poker.kernels.cards.hands import HAND_PERMUTATION
from poker.search.beliefs import Ranges
from poker.search.round_solver import DepthLimitedSolver, Request
from poker.solvers.vector.response_values import ResponseValues
from poker.solvers.vector.solver import VectorSolver
from poker.state import HandState, Policy
from poker.tree import Kind
from poker.types import Board, Path, Singles

_PATIENCE = 20
"""Factor on the iterations of a solve for play that a solve of another player's decision may take to its precision."""
_BARELY = 1e-6
"""Least weight of a hand, relative to the mean, so that hands that the searcher rules out are solved too."""


@dataclass(frozen=True)
class SolvedDecision:
    """Solved decision of `player`: `strategy` [H, A] and `values` [H, A] over `actions`, NaN for hands that the board
    rules out, and `ranges` [2, H] that both are believed to have.

    `best` [H, A] are the values if the player goes on from each action as well as possible, `exploitability` that of
    the solve in chips, and `finished` whether the solve reached its target. By the actions that lead there: `answers`
    of the opponent, how likely [H] with the value [H] of each, which add up to that of the action; and `ends` at the
    depth limit, how likely the player picks each continuation [H, K] with its value [H, K].
    """

    player: int
    actions: tuple[int, ...]
    strategy: Singles
    values: Singles
    ranges: Ranges
    best: Singles
    exploitability: float
    finished: bool
    answers: Mapping[Path, tuple[Singles, Singles]]
    ends: Mapping[Path, tuple[Singles, Singles]]


@runtime_checkable
class DecisionSolver(Protocol):
    """Solver of its opponent's decisions."""

    def policy(self, state: HandState) -> Policy:
        """Strategy of the player to act in `state` with every hand."""

    def opponents_decision(self, state: HandState, raises: tuple[int, ...] = ()) -> SolvedDecision:
        """Solve the decision at `state`, with `raises` among the actions; cards held do not matter."""

    def others_decision(self, state: HandState, raises: tuple[int, ...] = ()) -> SolvedDecision:
        """Solve a decision in a hand of two others, whose stacks and small blind may differ from the solver's game."""


def every_hand(ranges: Ranges, player: int, board: Board) -> Ranges:
    """The ranges, with hardly any weight for the hands of `player` that had none."""
    live = HOLDEM.live(board)
    out = ranges.copy()
    out[player] = np.where(live, np.maximum(ranges[player], _BARELY * ranges[player].sum() / live.sum()), 0.0)
    return out


def decision(
    solver: DepthLimitedSolver,
    believed: Ranges,
    betting: Betting,
    board: Board,
    raises: tuple[int, ...] = (),
    renaming: int | None = None,
) -> SolvedDecision:
    """Solve the decision at `betting` for the ranges `believed` of the opponent's searcher, with `raises` among the
    actions; `board` is in the suits dealt after the permutation `renaming`."""
    player = betting.to_act
    ranges = every_hand(believed, player, board)
    request = Request(betting, board, ranges, 1 - player, raises)
    found = solver.solved(request, every_hand=True, patience=_PATIENCE)
    return solved_decision(found, believed, renaming, solver.target(request))


def solved_decision(
    solver: VectorSolver, ranges: Ranges, renaming: int | None, target: float | None = None
) -> SolvedDecision:
    """The decision at the root of `solver`, whose suits are those dealt after the permutation `renaming`; `target` is
    the exploitability in chips that it was to reach, None where any will do."""
    tree, exploitability = solver.game.tree, solver.exploitability()
    player = int(tree.player[0])
    best = solver.best_response_values(player)
    found = solver.average_values(player)

    def dealt(rows: Singles) -> Singles:
        return rows if renaming is None else rows[HAND_PERMUTATION[renaming]]

    def after(node: int, values: ResponseValues = found) -> Singles:
        return dealt(np.stack([values.at(child) for child in tree.children(node)], axis=1))

    def likely(node: int, child: int) -> Singles:
        """[H] that the opponent, at `node`, goes to `child`, by the hand of the player."""
        after, before = (HOLDEM.compatible_mass(found.arriving(at)) for at in (child, node))
        return dealt(np.divide(after, before, out=np.zeros_like(before), where=before > 0).astype(np.float32))

    replies = [node for node in tree.children(0) if tree.kind[node] == Kind.DECISION]
    replied = [(node, child) for node in replies for child in tree.children(node)]
    answers = {tree.path(child): (likely(node, child), dealt(found.at(child))) for node, child in replied}
    choices = np.flatnonzero((tree.kind == Kind.CHOICE) & (tree.player == player)).tolist()
    ends = {tree.path(node): (dealt(solver.strategy(node)), after(node)) for node in choices}
    believed = np.stack([dealt(row) for row in ranges])
    finished = target is None or exploitability <= target
    solved = tree.actions(0), dealt(solver.strategy(0)), after(0), believed, after(0, best)
    return SolvedDecision(player, *solved, exploitability, finished, answers, ends)
