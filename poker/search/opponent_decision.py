"""Solves a decision of the searcher's opponent, for hints and reviews.

The result has sound play at the decision, the value of each action against the searcher's range, and the range that the
searcher attributes to the opponent. Everything is by hand, in the suits that were dealt. Values are chips of the whole
hand under the average strategies of both players from the decision on, given that the searcher has a hand of its range
there.

Symbols: H hands, A actions.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from poker.abstraction.equities import check_down_chances
from poker.game.beliefs import relative
from poker.game.betting import Betting
from poker.game.cards import HOLDEM, CanonicalBoard
from poker.game.rules import Rules
from poker.kernels.types import Board, Path, Ranges, Singles
from poker.search.nested import NestedSearch
from poker.solve.solver import DepthLimitedSolver
from poker.solve.types import Request
from poker.solvers.vector.game import VectorGame
from poker.solvers.vector.response_values import ResponseValues
from poker.solvers.vector.solver import VectorSolver
from poker.tree import Kind

_PATIENCE = 20
"""Factor on the iterations of a normal solve, up to which a solve here may run to reach its exploitability."""
_BARELY = 1e-6
"""Least weight of a hand relative to the mean, so that hands that the searcher rules out are solved too."""
IMPROBABLE = 0.02
"""Likelihood of an action below which the range after it is a guess: chance, to which ranges attribute a share of the
actions, then explains the action better than the solution does."""
_AT_RANDOM = 0.5
"""Share of hands that may have acted at random throughout, if an action was improbable."""
_STRONGEST, _WEAKEST = 0.1, 0.3
"""Parts of such a range that alone may have taken the action."""


@dataclass(frozen=True)
class Believed:
    """The searcher's beliefs at a decision of its opponent.

    Attributes:
        ranges: [2, H] ranges of both players.
        weights: [H] weights of the player's hands if they played soundly, relative to the likeliest.
        likelihoods: likelihood of each action of the searcher.
    """

    ranges: Ranges
    weights: Singles
    likelihoods: tuple[float, ...]

    @classmethod
    def at(
        cls, search: NestedSearch, own: NestedSearch, betting: Betting, board: Board, players: Sequence[int] = (0, 1)
    ) -> "Believed":
        """Return the beliefs of a search at a decision of its opponent.

        Args:
            search: the searcher's search.
            own: the opponent's own search, which gives `weights`.
            betting: state of the decision.
            players: the two players that are left.
        """
        belief, reach = search.belief(betting, board), own.belief(betting, board).reach
        others = {*players} - {betting.to_act}
        likelihoods = tuple(share for player, share in belief.likelihoods if player in others)
        return cls(belief.ranges[list(players)], relative(reach[betting.to_act]), likelihoods)


@dataclass(frozen=True)
class SolvedDecision:
    """A solved decision.

    Attributes:
        player: the player who decides.
        actions: the A actions.
        strategy: [H, A] probabilities; NaN for hands that share a card with the board.
        values: [H, A] values in chips; NaN likewise.
        ranges: [2, H] ranges of both players in the searcher's beliefs.
        best: [H, A] values if the player plays as well as possible after each action.
        exploitability: exploitability of the solve in chips.
        finished: whether `exploitability` is as low as the settings require.
        answers: for each pair of an action and the opponent's answer, the probability [H] and the value [H] of the
            answer; their products add up to the value of the action.
        weights: [H] as in `Believed`.
        likelihoods: as in `Believed`.
        guesses: if an action of the opponent was improbable, values [H, A] against other ranges that may have taken it.
        method: description of how far the solve goes.
        search: name of the searcher's settings.
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


def every_hand(ranges: Ranges, player: int, board: Board) -> Ranges:
    """Return ranges in which all hands of a player have at least a tiny weight.

    Args:
        ranges: [2, H] ranges.

    Returns:
        [2, H] ranges.
    """
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
    """Solve a decision for the beliefs of the opponent's searcher.

    If an action of the opponent was improbable, the decision is solved again against other ranges: any hand, and only
    the strongest or the weakest part of the range.

    Args:
        solver: solves the round.
        believed: the beliefs.
        betting: state of the decision.
        board: the board in canonical and in real suits.
        raises: raises that must be among the actions.
        joint: a solver whose tree includes the decision, and the path to it; None solves again.
    """
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
    """Return other ranges of `player` after an improbable action.

    They are ranges with any hand, with only the hands that win most showdowns, and with only those that win fewest. In
    the range they come from, a share of the hands has acted at random since the first action.
    """
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
    """Read a decision out of a solver.

    Args:
        believed: the beliefs.
        board: the board in canonical and in real suits.
        limit: exploitability in pots that the solve should reach; None for any.
        path: actions from the root to the decision.
    """
    tree, exploitability = solver.game.tree, solver.exploitability()
    decided = tree.find(path)
    player = int(tree.player[decided])
    best = solver.best_response_values(player)
    average = solver.average_values(player)

    dealt = board.dealt

    def after(node: int, values: ResponseValues) -> Singles:
        return dealt(_after(values, node))

    def likely(node: int, child: int) -> Singles:
        """Return the probability [H] that the opponent goes from `node` to `child`, by the player's hand."""
        after, before = (HOLDEM.compatible_mass(average.arriving(at)) for at in (child, node))
        return dealt(np.divide(after, before, out=np.zeros_like(before), where=before > 0).astype(np.float32))

    replies = [node for node in tree.children(decided) if tree.kind[node] == Kind.DECISION]
    replied = [(node, child) for node in replies for child in tree.children(node)]
    since = len(path)
    answers = {tree.path(child)[since:]: (likely(node, child), dealt(average.at(child))) for node, child in replied}
    ranges = np.stack([dealt(row) for row in believed.ranges])
    finished = limit is None or exploitability <= limit * solver.game.pot
    strategy = dealt(solver.strategy(decided, rare_by_regrets=since > 0))
    solved = tree.actions(decided), strategy, after(decided, average), ranges, after(decided, best)
    beliefs = dealt(believed.weights), believed.likelihoods
    return SolvedDecision(player, *solved, exploitability, finished, answers, *beliefs, method=_method(solver.game))


def _method(game: VectorGame) -> str:
    """Return a description of how far a solve goes."""
    if game.tree.num_leaf_states:
        return "to the end of the round, with values of leaves there"
    rivers = "" if game.rivers is None else f", with {game.rivers} rivers after each turn"
    return f"to the end of the hand{rivers}"


def _after(values: ResponseValues, node: int) -> Singles:
    """Return the values [H, children] after each action or choice at a node."""
    return np.stack([values.at(child) for child in values.game.tree.children(node)], axis=1)


def _root_values(solver: VectorSolver) -> Singles:
    """Return the values [H, A] of the actions at the root."""
    return _after(solver.average_values(int(solver.game.tree.player[0])), 0)
