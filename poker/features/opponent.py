"""The 19 inputs of the opponent nets [POKI], [Davidson 2000]: limit hold'em after the flop, seen from who is to act.

Public only: what an observer of the table knows about the player's situation and actions in this hand.
"""

from collections.abc import Sequence

import numpy as np

from poker.betting import Betting
from poker.cards import NUM_RANKS, NUM_SUITS
from poker.errors import PokernetsError
from poker.features.leaf import hash_of
from poker.rules import CALL
from poker.types import Singles

VERSION = 1
"""Raised whenever an input's definition changes under an unchanged name."""

NAMES = (
    "pot_odds",  # to call / (pot + to call)
    "bet_ratio",  # own bets and raises / (those + own calls of a bet), in the hand; 0 before the first of either
    "pot_ratio",  # own chips in / pot
    "committed",  # has put chips in voluntarily this round
    "bets_0",  # no bet to call
    "bets_1",
    "bets_2",  # two or more
    "flop",
    "turn",
    "river",
    "faced_bet",  # own last decision was one to call or not
    "was_aggressive",  # own last action was a bet or a raise
    "dealt_in",  # players / 10
    "active",  # players who have not folded, this one included, / 10
    "still_to_act",  # after this one if nobody raises, nobody all-in, / 10
    "flush_possible",  # three board cards of one suit
    "ace",  # on the board
    "king",
    "high_cards",  # distinct ones of A, K, Q on the board / board cards
)
SIZE = len(NAMES)
HASH = hash_of(NAMES, VERSION)

NUM_BET_LEVELS = 3
_ACE, _KING, _QUEEN = NUM_RANKS - 1, NUM_RANKS - 2, NUM_RANKS - 3


def bets_to_call(betting: Betting) -> int:
    """0, 1 or 2 (and more) bets that the player to act must add; a part of a bet counts as one."""
    rules = betting.rules
    if not rules.is_limit:
        raise PokernetsError(f"opponent models count bets, so they need a limit game; `{rules.name}` is no-limit")
    return min(-(-betting.to_call // rules.raise_sizes[betting.street]), NUM_BET_LEVELS - 1)


def encode(betting: Betting, board: Sequence[int]) -> Singles:
    """[19] for the player to act. Before the flop the inputs about street and board are 0."""
    player = betting.to_act
    if player < 0:
        raise ValueError(f"nobody is to act after `{betting.text()}`")
    bets, calls, faced, aggressive, committed = _own_play(betting, player)
    level = bets_to_call(betting)
    row = np.zeros(SIZE, dtype=np.float32)
    row[0] = betting.to_call / (betting.pot + betting.to_call)
    row[1] = bets / max(bets + calls, 1)
    row[2] = betting.committed[player] / betting.pot
    row[3] = committed
    row[4 + level] = 1
    if betting.street:
        row[6 + betting.street] = 1
    row[10] = faced
    row[11] = aggressive
    row[12] = betting.rules.num_players / 10
    row[13] = betting.folded.count(False) / 10
    row[14] = (betting.waiting.bit_count() - 1) / 10
    if len(board):
        row[15:19] = _board_inputs(board)
    return row


def _own_play(betting: Betting, player: int) -> tuple[int, int, bool, bool, bool]:
    """(bets and raises, calls of a bet, last decision faced a bet, last action was a bet or raise, chips in this round)
    of `player`; checks and blinds are neither bets nor calls."""
    chips = list(map(min, betting.rules.blinds, betting.rules.stacks))
    bets = calls = 0
    faced = aggressive = committed = False
    for street in range(len(betting.actions)):
        committed = False
        for actor, action in betting.moves(street):
            highest = max(chips)
            if actor == player:
                faced, aggressive = chips[actor] < highest, action > 0
                bets += aggressive
                calls += faced and action == CALL
                committed |= aggressive or (faced and action == CALL)
            if action > 0:
                chips[actor] = action
            elif action == CALL:
                chips[actor] = min(highest, betting.rules.stacks[actor])
    return bets, calls, faced, aggressive, committed


def _board_inputs(board: Sequence[int]) -> tuple[float, float, float, float]:
    ranks = {card // NUM_SUITS for card in board}
    suits = [card % NUM_SUITS for card in board]
    flush = max(map(suits.count, suits)) >= 3
    return flush, _ACE in ranks, _KING in ranks, len(ranks & {_ACE, _KING, _QUEEN}) / len(board)
