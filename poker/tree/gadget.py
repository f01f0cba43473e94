"""The gadget of safe re-solving, as a node of the tree.

At the start of a subgame the opponent of the searcher compares entering it with an alternative value, which is what the
strategy followed so far concedes to the hand. The searcher's solution is safe if no hand gains by entering.
"""

from dataclasses import dataclass


@dataclass(frozen=True)
class Gadget:
    """A GADGET node at the start of every subgame: at the root if the round there is `street`, else below each deal
    after which the round of `street` is played. There each hand of `player`, the opponent of the searcher, takes its
    alternative value or enters the subgame (Burch, Johanson, Bowling 2014).
    """

    player: int
    street: int
