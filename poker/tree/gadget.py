"""The gadget of safe re-solving, as a node of the tree.

At the start of a subgame each hand of the opponent may enter the subgame or receive an alternative value. The
alternative value is what the hand wins against the strategy that was followed so far. The searcher's solution is safe
if no hand gains by entering.
"""

from dataclasses import dataclass


@dataclass(frozen=True)
class Gadget:
    """The gadget of safe re-solving (Burch, Johanson, Bowling 2014).

    The tree has a GADGET node at the start of every subgame. This is the root if the round there is `street`, and
    otherwise every deal after which the round of `street` is played.

    Attributes:
        player: the searcher's opponent, whose hands choose between the alternative value and the subgame.
        street: the street at which subgames begin.
    """

    player: int
    street: int
