"""Plays by solving: the depth-limited agent of [DLS], for heads-up games with two hole cards.

Every decision is the strategy of a subgame solved for it (`poker.search`), over all hands of both players; the agent's
own cards only pick the row to sample from.
"""

from poker.agents.base import SamplingAgent
from poker.errors import PokernetsError
from poker.rules import Rules
from poker.search.leaf import LeafEvaluator
from poker.search.nested import NestedSearch
from poker.search.round_solver import DepthLimitedSolver, SolverSettings
from poker.search.safety import DealtValues, Safety
from poker.state import HandState, Policy
from poker.tree import BetMenu


class DepthLimitedAgent(SamplingAgent):
    """`menu` are the bets of the round that is played, `ahead` those of later rounds within its solve.

    `leaves` value the ends of the first rounds, in order; rounds beyond are solved to the end of the hand.
    `opponent_noise` is the share of the opponent's actions that beliefs put down to chance. `safety` says how solves
    that follow others are kept from conceding more (`poker.search.safety`), with `dealt` for what no solution holds.
    """

    def __init__(
        self,
        *,
        name: str,
        game: Rules,
        menu: BetMenu,
        ahead: BetMenu,
        leaves: list[LeafEvaluator],
        solver: SolverSettings,
        opponent_noise: float,
        remembered_states: int,
        safety: str = "unsafe",
        dealt: DealtValues | None = None,
    ) -> None:
        if game.num_players != 2 or game.num_hole_cards != 2 or game.deck_size != 52:
            raise PokernetsError(f"{name} plays heads-up hold'em, not '{game.name}'; choose another agent or game")
        super().__init__(name)
        solve = DepthLimitedSolver(menu, ahead, dict(enumerate(leaves)), solver, Safety(safety, dealt))
        self._search = [
            NestedSearch(game, seat, solve, opponent_noise=opponent_noise, remembered=remembered_states)
            for seat in range(2)
        ]

    def policy(self, state: HandState) -> Policy:
        found = self._search[state.to_act].policy(state.betting, state.board)
        return found.actions, found.probs
