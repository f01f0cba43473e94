"""A solve of a decision of the searcher's opponent: sound play there, the value of each action against the searcher's
range, and the range that the searcher believes the opponent to have.

Everything is by hand in the suits that were dealt. Values are chips of the whole hand under the average strategies of
both players from the decision on, given that the searcher holds a hand of the range that it has there.

Symbols: H hands, A actions.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Protocol, runtime_checkable

import numpy as np

from poker.abstraction.equities import check_down_chances
from poker.game.beliefs import relative
from poker.game.betting import Betting
from poker.game.cards import HOLDEM, CanonicalBoard
from poker.game.rules import Rules
from poker.game.state import HandState, RangedPolicy
from poker.kernels.types import Board, Path, Ranges, Singles
from poker.search.nested import NestedSearch
from poker.search.round_solver import DepthLimitedSolver, Request
from poker.solvers.vector.game import VectorGame
from poker.solvers.vector.response_values import ResponseValues
from poker.solvers.vector.solver import VectorSolver
from poker.tree import Kind

_PATIENCE = 20
"""Factor on the iterations of a solve for play that one of another player's decision may take to its exploitability."""
_BARELY = 1e-6
"""Least weight of a hand, relative to the mean, so that hands that the searcher rules out are solved too."""
IMPROBABLE = 0.02
"""Likelihood of an action below which what it says of a range is a guess: the share of actions that beliefs put down to
chance explains it better than the model of the player."""
_AT_RANDOM = 0.5
"""Share of hands that may have acted at random throughout, where an action was improbable."""
_STRONGEST, _WEAKEST = 0.1, 0.3
"""Parts of such a range that may have taken the action alone."""


@dataclass(frozen=True)
class Believed:
    """Beliefs of the opponent's searcher where a player decides: `ranges` [2, H], and how likely each action of the
    searcher was; `weights` [H] of the player's hands in sound play of their own, relative to the likeliest."""

    ranges: Ranges
    weights: Singles
    likelihoods: tuple[float, ...]

    @classmethod
    def at(
        cls, search: NestedSearch, own: NestedSearch, betting: Betting, board: Board, players: Sequence[int] = (0, 1)
    ) -> "Believed":
        """The beliefs of a search at a decision of its opponent, whose `own` search gives the weights, of the two
        `players` that are left."""
        belief, reach = search.belief(betting, board), own.belief(betting, board).reach
        others = {*players} - {betting.to_act}
        likelihoods = tuple(share for player, share in belief.likelihoods if player in others)
        return cls(belief.ranges[list(players)], relative(reach[betting.to_act]), likelihoods)


@dataclass(frozen=True)
class SolvedDecision:
    """Solved decision of `player`: `strategy` [H, A] and `values` [H, A] over `actions`, NaN for hands that the board
    rules out, and `ranges` [2, H] that both are believed to have.

    `best` [H, A] are the values if the player goes on from each action as well as possible, `exploitability` that of
    the solve in chips, and `finished` whether that is as low as the settings say. `answers` of the opponent, by the two
    actions that lead there: how likely [H] with the value [H] of each, which add up to that of the action.

    `weights` and `likelihoods` are as in `Believed`. Where an action of the opponent was improbable, `guesses` are
    values [H, A] against other ranges that may have taken it. `method` says in words how far the solve goes,
    `search` is the name of the searcher's settings.
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
    weights: Singles
    likelihoods: tuple[float, ...]
    guesses: tuple[Singles, ...] = ()
    method: str = ""
    search: str = ""


@runtime_checkable
class DecisionSolver(Protocol):
    """Solver of its opponent's decisions."""

    def ranged_policy(self, state: HandState) -> RangedPolicy:
        """Strategy and range of the player to act in `state`, solved for the cards that the player has there."""

    def opponents_decision(
        self, state: HandState, raises: tuple[int, ...] = (), hand: int | None = None
    ) -> SolvedDecision:
        """Solve the decision at `state`, with `raises` among the actions, for the `hand` or for all; cards held in
        `state` do not matter."""

    def others_decision(
        self, state: HandState, raises: tuple[int, ...] = (), hand: int | None = None
    ) -> SolvedDecision:
        """Solve a decision in a hand of two others, whose stacks and small blind may differ from the solver's game."""


def every_hand(ranges: Ranges, player: int, board: Board) -> Ranges:
    """The ranges, with hardly any weight for the hands of `player` that had none."""
    live = HOLDEM.live(board)
    out = ranges.copy()
    out[player] = np.where(live, np.maximum(ranges[player], _BARELY * ranges[player].sum() / live.sum()), 0.0)
    return out


def decision(
    solver: DepthLimitedSolver,
    believed: Believed,
    betting: Betting,
    board: CanonicalBoard,
    raises: tuple[int, ...] = (),
    joint: tuple[VectorSolver, Path] | None = None,
) -> SolvedDecision:
    """Solve the decision at `betting` for what the opponent's searcher believes, with `raises` among the actions,
    unless it is after a path in the tree of a `joint` solver. Where an action of the opponent was improbable,
    the decision is solved again for any hand, and for the strongest and the weakest part of the range alone."""
    player = betting.to_act

    def solved(ranges: Ranges) -> VectorSolver:
        request = Request(betting, board.cards, every_hand(ranges, player, board.cards), 1 - player, raises)
        return solver.solved(request, every_hand=True, patience=_PATIENCE)

    first, path = joint or (solved(believed.ranges), ())
    out = solved_decision(first, believed, board, solver.exploitability(betting.street), path)
    if min(believed.likelihoods, default=1.0) >= IMPROBABLE:
        return out
    raises = tuple(action for action in out.actions if action > 0)
    others = _other_ranges(believed.ranges, 1 - player, betting.rules, board.cards)
    return replace(out, guesses=tuple(board.dealt(_root_values(solved(ranges))) for ranges in others))


def _other_ranges(ranges: Ranges, player: int, rules: Rules, board: Board) -> list[Ranges]:
    """Ranges with any hand of `player`, with those alone that win most showdowns, and with those that win fewest: parts
    of a range in which a share of the hands has acted at random since the first action."""
    live, theirs = HOLDEM.live(board), ranges[1 - player].astype(np.float64)
    weights = ranges[player] * live.astype(np.float64)
    weights = (1.0 - _AT_RANDOM) * weights / weights.sum() + _AT_RANDOM * live / live.sum()
    order = np.argsort(check_down_chances(rules, board, theirs), kind="stable")
    below = np.empty_like(weights)
    below[order] = weights[order].cumsum() - weights[order]
    strong, weak = (np.clip(share, 0.0, weights) for share in (below + weights - (1.0 - _STRONGEST), _WEAKEST - below))
    others = np.repeat(ranges[None], 3, axis=0)
    others[:, player] = live / live.sum(), strong, weak
    return list(others)


def solved_decision(
    solver: VectorSolver, believed: Believed, board: CanonicalBoard, limit: float | None = None, path: Path = ()
) -> SolvedDecision:
    """The decision in the tree of `solver` after `path`, on `board`; `limit` is the exploitability in pots that the
    solve was to reach, None where any will do."""
    tree, exploitability = solver.game.tree, solver.exploitability()
    decided = tree.find(path)
    player = int(tree.player[decided])
    best = solver.best_response_values(player)
    average = solver.average_values(player)

    dealt = board.dealt

    def after(node: int, values: ResponseValues) -> Singles:
        return dealt(_after(values, node))

    def likely(node: int, child: int) -> Singles:
        """[H] that the opponent, at `node`, goes to `child`, by the hand of the player."""
        after, before = (HOLDEM.compatible_mass(average.arriving(at)) for at in (child, node))
        return dealt(np.divide(after, before, out=np.zeros_like(before), where=before > 0).astype(np.float32))

    replies = [node for node in tree.children(decided) if tree.kind[node] == Kind.DECISION]
    replied = [(node, child) for node in replies for child in tree.children(node)]
    since = len(path)
    answers = {tree.path(child)[since:]: (likely(node, child), dealt(average.at(child))) for node, child in replied}
    ranges = np.stack([dealt(row) for row in believed.ranges])
    finished = limit is None or exploitability <= limit * solver.game.pot
    strategy = dealt(solver.strategy(decided))
    solved = tree.actions(decided), strategy, after(decided, average), ranges, after(decided, best)
    beliefs = dealt(believed.weights), believed.likelihoods
    return SolvedDecision(player, *solved, exploitability, finished, answers, *beliefs, method=_method(solver.game))


def _method(game: VectorGame) -> str:
    """How far a solve goes, in words."""
    if game.tree.num_leaf_states:
        return "to the end of the round, with values of leaves there"
    rivers = "" if game.rivers is None else f", with {game.rivers} rivers after each turn"
    return f"to the end of the hand{rivers}"


def _after(values: ResponseValues, node: int) -> Singles:
    """[H, children] values after each action or choice at a node."""
    return np.stack([values.at(child) for child in values.game.tree.children(node)], axis=1)


def _root_values(solver: VectorSolver) -> Singles:
    """[H, A] values of the actions at the root."""
    return _after(solver.average_values(int(solver.game.tree.player[0])), 0)
