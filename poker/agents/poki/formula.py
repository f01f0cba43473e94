"""The formula player of [POKI]: effective hand strength, pot odds and a style give a probability triple.

Before the flop, hands are ranked by their income rate in iterated roll-outs for the players still in. The style
determines which share of hands enters and which raises. After the flop, a hand bets or raises if its EHS against the
opponents' weight tables is high enough. It calls if its probability to win pays for the cost of seeing the end.
Sometimes it bets a draw or a weak hand. All thresholds are soft, so that opponents cannot infer the hand from the
action.
"""

import operator
from dataclasses import dataclass

import numpy as np

from poker.agents.base import Agent
from poker.game.betting import Betting
from poker.game.cards import hand_index
from poker.game.rules import CALL, FOLD, Rules
from poker.game.state import HandState
from poker.kernels.opponents.playout import Style, style_triple
from poker.opponents.inputs.limit import bets_to_call
from poker.opponents.limit.modelling import Modelling, tracker_for
from poker.opponents.limit.preflop import IncomeRates
from poker.opponents.limit.strength import Strength, board_strength
from poker.opponents.model import Predictor
from poker.run.errors import PokernetsError

Triple = tuple[float, float, float]
"""Probabilities of fold, check or call, bet or raise."""

_FULL_TABLE = 10
_PREFLOP_WIDTH = 0.04


@dataclass(kw_only=True, eq=False)
class PokiFormula(Agent):
    """The formula player.

    Attributes:
        name: name of the agent.
        preflop: path of the artifact of `job=preflop_rollouts`.
        modelling: how opponents are modelled.
        tightness: style, from 0 to 1.
        aggressiveness: style, from 0 to 1.
        bluffing: style, from 0 to 1.
        net: opponent net for modelling=net and best_of.
    """

    name: str
    preflop: str
    modelling: Modelling
    tightness: float
    aggressiveness: float
    bluffing: float
    net: Predictor | None = None

    def __post_init__(self) -> None:
        """Load the income rates, and create the tracker.

        Raises:
            PokernetsError: a style is not between 0 and 1, or the modelling lacks its net.
        """
        self.style = Style(float(self.tightness), float(self.aggressiveness), float(self.bluffing))
        for name, value in self.style._asdict().items():
            if not 0 <= value <= 1:
                raise PokernetsError(f"style: {name} must be between 0 and 1, not {value}")
        self.rates = IncomeRates.load(self.preflop)
        self.tracker = tracker_for(self.modelling, self.net, self.rates)
        self._rng = np.random.default_rng(0)

    def check_game(self, game: Rules) -> None:
        """Check that the agent can play a game.

        Raises:
            PokernetsError: it is not limit hold'em with stacks that cover every bet; nobody may be all-in.
        """
        deepest = game.big_blind + sum(map(operator.mul, game.max_raises, game.raise_sizes))
        holdem = game.deck_size == 52 and game.num_hole_cards == 2 and game.board_sizes == (0, 3, 4, 5)
        if not (game.is_limit and holdem and deepest <= min(game.stacks)):
            raise PokernetsError(
                f"`{self.name}` plays only limit hold'em with stacks that cover every raise, not `{game.name}`"
            )

    def reset(self, seed: int) -> None:
        """Restart the random numbers, and forget the opponents.

        Args:
            seed: seed of the random numbers.
        """
        super().reset(seed)
        self.tracker.forget()

    def start_hand(self, seat: int) -> None:
        """Begin a hand.

        Args:
            seat: seat of the agent.
        """
        self.tracker.start(seat)

    def end_hand(self, state: HandState) -> None:
        """Learn from a finished hand.

        Args:
            state: the agent's view of the end.
        """
        self.tracker.finish(state)

    def act(self, state: HandState) -> int:
        """Sample an action by the formula.

        Args:
            state: view of a state in which the agent is to act.
        """
        self.tracker.follow(state)
        return self.sample(self.triple(state), state)

    def sample(self, triple: Triple, state: HandState) -> int:
        """Sample an action from a triple; an illegal one becomes a check or call.

        Args:
            triple: probabilities of fold, call and raise.
        """
        legal = state.legal()
        u = self._rng.random()
        if legal.fold and u < triple[0]:
            return FOLD
        if legal.max_raise and u >= 1 - triple[2]:
            return legal.max_raise
        return CALL

    def triple(self, state: HandState) -> Triple:
        """Compute the probabilities of fold, call and raise with the player's hand.

        Args:
            state: view of a state in which the agent is to act.
        """
        betting = state.betting
        hand = hand_index(*state.hole_cards[betting.to_act])
        if not state.board:
            quantile = float(self.rates.quantile(betting.folded.count(False))[hand])
            return preflop_triple(quantile, betting, self.style, self.rates)
        return postflop_triple(self.strength(state), betting, self.style)

    def strength(self, state: HandState) -> Strength:
        """Compute the strength of the player's hand against the weight tables of the opponents still in.

        Args:
            state: view of a state after the flop in which the agent is to act.
        """
        betting = state.betting
        others = [i for i, out in enumerate(betting.folded) if not out and i != betting.to_act]
        hand = hand_index(*state.hole_cards[betting.to_act])
        return board_strength(state.board).against(hand, self.tracker.tables(others))


def preflop_triple(quantile: float, betting: Betting, style: Style, rates: IncomeRates) -> Triple:
    """Compute the probabilities of fold, call and raise before the flop.

    Fewer players play a wider share of hands. For one bet at a table of ten, the loosest style plays 0.6 of all hands
    and the tightest 0.12. Fewer hands enter a raised pot. A player who has already paid stays with more.

    Args:
        quantile: share of hands that earn less.
        style: style of the player.
    """
    active = betting.folded.count(False)
    wider = rates.entering_share(active) / rates.entering_share(_FULL_TABLE)
    share = min(0.95, 0.6 * 0.2**style.tightness * wider)
    level = bets_to_call(betting)
    player, size = betting.to_act, betting.rules.raise_sizes[0]
    paid = betting.committed[player] > 0
    stays = share * (1.0 if level < 2 else 0.45)
    if paid and level:
        stays = min(0.97, share * (1.3 if betting.committed[player] < size else 1.8) / (1 if level < 2 else 1.4))
    raises = share * (0.1 + 0.6 * style.aggressiveness) * 0.4 ** max(0, betting.num_raises)
    p_raise = _ramp(quantile - (1 - raises), min(_PREFLOP_WIDTH, raises / 2))
    p_fold = _ramp((1 - stays) - quantile, _PREFLOP_WIDTH) if level else 0.0
    p_fold = min(p_fold, 1 - p_raise)
    return p_fold, 1 - p_fold - p_raise, p_raise


def postflop_triple(strength: Strength, betting: Betting, style: Style) -> Triple:
    """Compute the probabilities after the flop ([POKI] section 5.5), with soft thresholds that depend on the style.

    Args:
        strength: strength of the hand against all opponents.
        style: style of the player.
    """
    return style_triple(
        float(strength.ehs),
        float(strength.win),
        float(strength.ppot),
        betting.pot,
        betting.to_call,
        betting.rules.raise_sizes[betting.street],
        betting.rules.num_streets - 1 - betting.street,
        betting.folded.count(False) - 1,
        style,
    )


def _ramp(x: float, width: float) -> float:
    """Return 0 below -width, 1 above width, and linear values between."""
    return min(1.0, max(0.0, 0.5 + x / (2 * width)))
