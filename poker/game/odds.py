"""Pot odds, equity and stack-to-pot ratio of the player to act, and what an all-in wins on average."""

from dataclasses import dataclass

import numpy as np

from poker.game.state import HandState
from poker.kernels.cards.equity import sampled_equity
from poker.kernels.cards.hands import NUM_HANDS
from poker.kernels.cards.runouts import runout_ranks
from poker.kernels.rng import streams
from poker.kernels.types import Floats

_DEALS = 20_000
"""Random deals per equity; they give a standard error below 0.4%."""


@dataclass(frozen=True)
class PotOdds:
    """The price of a call and its equity, before the call.

    Attributes:
        to_call: chips that a call costs.
        to_win: chips in the pot that the player can win.
        equity: expected share of the pot at a showdown against random hands of all opponents; None if not computed.
        opponents: players left besides the player to act.
        spr: stack-to-pot ratio after a call. The stack is the smaller of the player's and the largest other stack.
    """

    to_call: int
    to_win: int
    equity: float | None
    opponents: int
    spr: float

    @property
    def needed(self) -> float:
        """Equity at which a call that ends the betting breaks even, 0 to 1."""
        return self.to_call / (self.to_win + self.to_call)


def pot_odds(state: HandState) -> PotOdds:
    """Compute the pot odds, equity and SPR of the player to act.

    Equity is computed for hold'em only, from random deals with a standard error below 0.4%.

    Args:
        state: the hand; the player to act must have cards.
    """
    betting, stacks, player = state.betting, state.rules.stacks, state.to_act
    opponents = [seat for seat, out in enumerate(betting.folded) if not out and seat != player]
    total = betting.committed[player] + betting.to_call
    to_win = sum(min(chips, total) for chips in betting.committed)
    behind = max(stacks[seat] - max(betting.committed[seat], min(stacks[seat], total)) for seat in opponents)
    spr = min(stacks[player] - total, behind) / (to_win + betting.to_call)
    return PotOdds(betting.to_call, to_win, _equity(state, len(opponents)), len(opponents), spr)


def _equity(state: HandState, opponents: int) -> float | None:
    rules = state.rules
    if (rules.num_hole_cards, rules.deck_size) != (2, 52) or rules.total_board_cards < 3:
        return None
    hand, board = (np.array(cards, dtype=np.uint8) for cards in (state.hole_cards[state.to_act], state.board))
    strength, floors = np.zeros(NUM_HANDS, np.float32), np.zeros(opponents, np.float32)
    return sampled_equity(hand, board, rules.total_board_cards, strength, floors, 1.0, _DEALS, streams(1, 1)[0])


def all_in_winnings(state: HandState) -> Floats | None:
    """Compute what each player wins on average if the betting of a finished hand ended with cards to come.

    The mean is exact: over all boards that the hands of the players at the showdown allow.

    Args:
        state: a finished hand of hold'em.

    Returns:
        [P] chips from the pots, before a rake; None if no cards came after the betting, or a hand is not known.
    """
    betting, live = state.betting, [seat for seat, out in enumerate(state.betting.folded) if not out]
    street = max((street for street, actions in enumerate(betting.actions) if actions), default=0)
    hands = [state.hole_cards[seat] for seat in live]
    if not betting.is_showdown or street == betting.street or not all(hands):
        return None
    board = np.array(state.runout[: state.rules.board_sizes[street]], dtype=np.uint8)
    ranks, winnings = runout_ranks(board, np.array(hands, dtype=np.uint8)), np.zeros(state.rules.num_players)
    for pot in state.pots():
        players = [place for place, seat in enumerate(live) if seat in pot.players]
        wins = ranks[:, players] == ranks[:, players].max(axis=1, keepdims=True)
        shares = np.mean(wins / wins.sum(axis=1, keepdims=True), axis=0)
        winnings[[live[place] for place in players]] += pot.amount * shares
    return winnings
