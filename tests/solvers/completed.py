"""A round's strategies, completed by play that is solved to the end of the hand around them."""

from poker.solvers.vector.game import VectorGame
from poker.solvers.vector.solver import VectorSolver
from poker.tree import Kind


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
