"""A round's strategies, completed by play that is solved to the end of the hand around them."""

from poker.solvers.vector.game import VectorGame
from poker.solvers.vector.solver import VectorSolver
from poker.tree import Kind


def completed(limited: VectorSolver, whole: VectorGame, iterations: int) -> VectorSolver:
    """A solver of `whole` whose average strategies are those of `limited` in the root's round and, after it, those of a
    solve around them. `whole` has the tree of `limited` without its depth limit, and tells suits apart as it does.

    The `exploitability` of the result counts responses that deviate in any round.
    """
    around, free = VectorSolver(whole), VectorSolver(whole)
    pairs = [(0, 0)]
    while pairs:
        there, here = pairs.pop()
        if limited.game.tree.kind[there] == Kind.DECISION:
            around.lock(here, limited.strategy(there))
            below = limited.game.tree.children(there), whole.tree.children(here)
            pairs += zip(*below, strict=True)
    around.advance(iterations)
    free.arrays["sums"][:] = around.arrays["sums"]
    return free
