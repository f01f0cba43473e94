"""Gadgets of safe re-solving, as nodes of the tree.

At the start of a subgame the opponent of the searcher compares entering it with an alternative value, which is what the
strategy followed so far concedes to the hand. The searcher's solution is safe if no hand gains by entering.
"""

from dataclasses import dataclass

from poker.errors import PokernetsError

RESOLVE, MAXMARGIN = "resolve", "maxmargin"
GADGETS = (RESOLVE, MAXMARGIN)


@dataclass(frozen=True)
class Gadget:
    """A GADGET node at the start of every subgame: at the root if the round there is `street`, else below each deal
    after which the round of `street` is played. `player` is the opponent of the searcher.

    resolve (Burch, Johanson, Bowling 2014): each hand takes its alternative value or enters the subgame.
    maxmargin (Moravcik et al. 2016): the player chooses the hand that enters, by its value less its alternative, so the
    searcher makes the least margin over all hands as large as possible.
    """

    kind: str
    player: int
    street: int

    def __post_init__(self) -> None:
        if self.kind not in GADGETS:
            raise PokernetsError(f"gadget `{self.kind}`: choose one of {', '.join(GADGETS)}")
