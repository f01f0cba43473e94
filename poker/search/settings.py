"""Settings of a search, which an agent takes as one argument."""

from dataclasses import dataclass, field

from poker.run.errors import PokernetsError
from poker.search.exploit.exploiting import Exploit
from poker.search.flops import SampledFlops
from poker.search.round_solver import SolverSettings
from poker.tree import BetMenu


@dataclass(frozen=True, kw_only=True)
class SearchSettings:
    """How an agent searches. `name` says so in reports.

    `menu` holds the bets of the round being played, `ahead` those of later rounds within its solve. `opponent_noise` is
    the share of the opponent's actions that beliefs put down to chance. `safety` says how later solves are kept from
    conceding more than earlier ones (`poker.search.safety`). With `follow` the agent keeps to a solution while the hand
    is in it, instead of solving for every decision. With `both_sides` rounds that have a depth limit are solved with
    the opponent as the searcher too, for the opponent's range. With limits in seconds, solves run until their time is
    over instead of for a number of iterations (`poker.search.clock`).
    `exploit` says what part of the opponent's range is taken to play by a model.
    With `flops` an agent that has no leaves for the end of the flop round solves flops to the end, within these limits.
    With `joint` both players' decisions in a round come from one solve of one pair of ranges (`poker.search.joint`).
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
        if not 0 <= self.opponent_noise <= 1:
            raise PokernetsError(
                f"search.opponent_noise is a share of the actions from 0 to 1, not {self.opponent_noise}"
            )
