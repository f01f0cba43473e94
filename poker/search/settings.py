"""Settings of a search, which an agent takes as one argument."""

from dataclasses import dataclass, field

from poker.run.errors import PokernetsError
from poker.solve.flops import SampledFlops
from poker.solve.modelled import Exploit
from poker.solve.types import SolverSettings
from poker.tree import BetMenu


@dataclass(frozen=True, kw_only=True)
class SearchSettings:
    """Settings of an agent's search.

    Attributes:
        name: name of the settings in reports.
        menu: bets of the round that is being played.
        ahead: bets of later rounds within its solve.
        opponent_noise: share of the opponent's actions that is random (`poker.game.beliefs.observe_action`).
        remembered_states: number of cached states of each street.
        safety: how later solves are kept from conceding more than earlier ones (`poker.solve.safety`).
        follow: whether to keep to a solution while the hand is in it, instead of solving for every decision.
        both_sides: whether rounds with a depth limit are also solved with the opponent as the searcher, for the
            opponent's range.
        flops: size limits within which an agent without leaf values for the end of the flop round solves flops to the
            end.
        joint: whether both players' decisions in a round come from one solve with one pair of ranges
            (`poker.search.joint`).
        seconds_per_decision: time limit of a decision, up to which solves then run instead of for a number of
            iterations (`poker.solve.clock`); None for no limit.
        seconds_per_hand: time limit of a hand on average; None for no limit.
        exploit: the part of the opponent's range that plays by a model.
    """

    name: str = ""
    menu: BetMenu
    ahead: BetMenu
    solver: SolverSettings
    opponent_noise: float
    remembered_states: int
    safety: str = "unsafe"
    follow: bool = True
    both_sides: bool = False
    flops: SampledFlops | None = None
    joint: bool = False
    seconds_per_decision: float | None = None
    seconds_per_hand: float | None = None
    exploit: Exploit = field(default_factory=Exploit)

    def __post_init__(self) -> None:
        """Check the settings.

        Raises:
            PokernetsError: `opponent_noise` is not between 0 and 1.
        """
        if not 0 <= self.opponent_noise <= 1:
            raise PokernetsError(f"search.opponent_noise must be between 0 and 1, not {self.opponent_noise}")
