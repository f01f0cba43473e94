"""Safe nested solving: values that a solution concedes to the opponent's hands bound what the next solve may concede.

At a public state, the solution that the hand has followed concedes to each hand of the opponent the value of its best
response from there: its counterfactual best-response value, in chips given a compatible hand of the searcher. A new
solve at that state gets these values as the alternatives of a gadget (`poker.tree.gadget`) at its root. So it concedes
no hand more, up to the accuracy of the solve:

- After an action in the solution: the values at the next state, whoever acts there.
- An off-tree action is solved from the state before it, with the action in the tree. The alternatives are the values at
  that state, which are the values of each hand's best action in the tree. So no hand gains by choosing another action.
- After the deal that ends a solve to the end of the game (turn to river): the values on the dealt board.
- After a depth limit no values are known, since the solution's leaf values are means over the cards to come. The first
  solve of the street is unsafe, against the searcher's estimate of the range, and safety starts again from its values.
- The first solve of a hand needs no bound: it solves the whole (depth-limited) game.

A gadget weighs hands by the opponent's estimated range, which the noise of beliefs keeps positive. With noise 0, hands
that are ruled out are not protected against.
"""

from poker.game.betting import Betting
from poker.kernels.types import Singles
from poker.run.errors import PokernetsError
from poker.tree import Gadget

UNSAFE, RESOLVE = SAFETY = "unsafe", "resolve"
"""Kinds of nested solving; `resolve` uses the gadget."""


def is_safe(kind: str) -> bool:
    """Return whether solves of a kind are made safe.

    Raises:
        PokernetsError: there is no such kind.
    """
    if kind not in SAFETY:
        raise PokernetsError(f"search.safety `{kind}`: choose one of {', '.join(SAFETY)}")
    return kind == RESOLVE


def gadget(root: Betting, searcher: int, alternatives: Singles | None) -> Gadget | None:
    """Return the gadget at the root of a safe solve; None without alternatives.

    Args:
        root: state at the root.
        searcher: the player who searches.
        alternatives: [H] values of the opponent, or None.
    """
    return None if alternatives is None else Gadget(1 - searcher, root.street)
