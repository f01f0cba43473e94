"""The 19 inputs of the opponent nets ([POKI], [Davidson 2000]) for the player to act, in limit and no-limit hold'em.

All inputs are public: they describe the player's situation and actions in this hand as an observer sees them. In
no-limit, two inputs of the board are replaced by the stack behind and by whether a raise is impossible. No-limit nets
also predict before the flop.
"""

from collections.abc import Sequence

import numpy as np

from poker.game.betting import Betting
from poker.game.cards import NUM_RANKS, NUM_SUITS
from poker.game.rules import CALL
from poker.kernels.types import Board, Singles
from poker.opponents.inputs.no_limit import pot_of
from poker.store.shards import hash_of

VERSION = 2
"""Increased whenever the definition of an input changes but its name does not."""

NAMES = (
    "pot_odds",  # to call / (pot + to call)
    "bet_ratio",  # own bets and raises / own bets, raises and calls of a bet, in the hand; 0 before the first
    "pot_ratio",  # own chips in / pot
    "committed",  # has put chips in voluntarily this round
    "bets_0",  # no bet to call
    "bets_1",  # no-limit: raises since the player's last action, with the big blind as one
    "bets_2",  # two or more
    "flop",
    "turn",
    "river",
    "faced_bet",  # own last decision faced a bet
    "was_aggressive",  # own last action was a bet or a raise
    "dealt_in",  # players / 10
    "active",  # players who have not folded, including this one, / 10
    "still_to_act",  # players to act after this one if nobody raises, without all-in players, / 10
    "flush_possible",  # three board cards of one suit
    "ace",  # on the board
    "king",
    "high_cards",  # number of different ranks among A, K, Q on the board / board cards
)
SIZE = len(NAMES)
NOLIMIT = {
    "ace": "behind",  # b / (b + pot), where b is the most that the player can still lose
    "king": "all_in",  # nobody may raise, because a call is all-in
}
"""The limit inputs that no-limit replaces, with their replacements."""
HASH = hash_of((*NAMES, *NOLIMIT.values()), VERSION)

NUM_BET_LEVELS = 3
_ACE, _KING, _QUEEN = NUM_RANKS - 1, NUM_RANKS - 2, NUM_RANKS - 3


def bets_to_call(betting: Betting) -> int:
    """Count the bets that the player to act must call.

    In limit, a part of a bet counts as one. In no-limit these are the raises since the player's last action in the
    round. A big blind that the player did not post counts as one.

    Returns:
        0, 1 or 2; 2 stands for two and more.
    """
    rules = betting.rules
    if rules.is_limit:
        bets = -(-betting.to_call // rules.raise_sizes[betting.street])
    elif betting.to_call == 0:
        bets = 0
    else:
        bets = int(betting.street == 0 and rules.blinds[betting.to_act] < rules.big_blind)
        for actor, action in betting.moves(betting.street):
            bets = 0 if actor == betting.to_act else bets + (action > 0)
        bets = max(bets, 1)
    return min(bets, NUM_BET_LEVELS - 1)


def encode(betting: Betting, board: Board) -> Singles:
    """Compute the inputs for the player to act.

    Args:
        board: cards on the board. Before the flop the inputs of the board are 0.

    Returns:
        [19] inputs, in the order of `NAMES`.

    Raises:
        ValueError: nobody is to act.
    """
    (row,) = encode_on(betting, [board])
    return np.asarray(row)


def encode_on(betting: Betting, boards: Sequence[Board]) -> Singles:
    """Compute the inputs for the player to act on each of several boards.

    Args:
        boards: B boards.

    Returns:
        [B, 19] inputs, in the order of `NAMES`.

    Raises:
        ValueError: nobody is to act.
    """
    rows = np.tile(_encode(betting), (len(boards), 1))
    for row, board in zip(rows, boards, strict=True):
        flush, ace, king, high = _board_inputs(board) if len(board) else (False, False, False, 0.0)
        row[15], row[18] = flush, high
        if betting.rules.is_limit:
            row[16], row[17] = ace, king
    return rows


def _encode(betting: Betting) -> Singles:
    """Return the inputs [19], with the inputs of the board left at 0."""
    player = betting.to_act
    if player < 0:
        raise ValueError(f"nobody is to act after `{betting.text()}`")
    bets, calls, faced, aggressive, committed = _own_play(betting, player)
    level = bets_to_call(betting)
    row = np.zeros(SIZE, dtype=np.float32)
    pot = max(pot_of(betting), 1)
    row[0] = betting.to_call / (pot + betting.to_call)
    row[1] = bets / max(bets + calls, 1)
    row[2] = betting.committed[player] / pot
    row[3] = committed
    row[4 + level] = 1
    if betting.street:
        row[6 + betting.street] = 1
    row[10] = faced
    row[11] = aggressive
    row[12] = betting.rules.num_players / 10
    row[13] = betting.folded.count(False) / 10
    row[14] = (betting.waiting.bit_count() - 1) / 10
    if not betting.rules.is_limit:
        row[16], row[17] = _stack_inputs(betting, pot)
    return row


def _stack_inputs(betting: Betting, pot: int) -> tuple[float, bool]:
    player, stacks = betting.to_act, betting.rules.stacks
    others = [stacks[i] for i, out in enumerate(betting.folded) if not out and i != player]
    behind = max(min(stacks[player], max(others, default=0)) - betting.committed[player], 0)
    return behind / (behind + pot), betting.to_call > 0 and betting.legal().max_raise == 0


def _own_play(betting: Betting, player: int) -> tuple[int, int, bool, bool, bool]:
    """Summarise the play of a player; checks and blinds are neither bets nor calls.

    Returns:
        Number of bets and raises; number of calls of a bet; whether the last decision faced a bet; whether the last
        action was a bet or raise; and whether the player put chips in voluntarily in this round.
    """
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
