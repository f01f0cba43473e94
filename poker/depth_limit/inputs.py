"""The 34 inputs of the leaf net, for a heads-up hold'em state between two betting rounds.

The round is over and the next card is not dealt. `own` is the player whose value is predicted, and `opp` is the other.
[DLS] states the number of inputs but does not list them; this list is ours. Eleven inputs describe own's hand, the same
eleven opp's hand, two the pair of hands, and ten the public state.
"""

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import accumulate
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from poker.abstraction.features import ahead_now, all_in_equity, hand_features
from poker.game.betting import NOBODY, Betting
from poker.game.cards import HAND_CARDS, HOLDEM, NUM_RANKS, NUM_SUITS
from poker.kernels.cards.ranks import CATEGORY_START, rank_board_hands
from poker.kernels.types import Board, Singles
from poker.store.shards import hash_of

Hands = NDArray[np.integer[Any]]
"""int [m] indices of hands."""
Ints = NDArray[np.int64]

VERSION = 1
"""Incremented whenever a feature's definition changes under an unchanged name."""

HAND_NAMES = (
    "equity",  # E[HS]: against a uniform hand, cards to come enumerated
    "equity_squared",  # E[HS^2]
    "strength",  # HS on the present board
    "positive_potential",  # PPot [POKI]
    "negative_potential",  # NPot [POKI]
    "category",  # made hand, high card 0 .. straight flush 8, / 8
    "flush_progress",  # cards of the best suit that has a hole card, / 5
    "straight_outs",  # unseen cards that make a straight, 0 when there is one, / 8
    "high_rank",  # of the two hole cards, / 12
    "low_rank",  # / 12
    "overcards",  # hole cards above every board card, / 2
)
PAIR_NAMES = (
    "pair_equity",  # exact all-in equity of own's hand against opp's
    "ahead",  # on the present board: 1 ahead, 0.5 tied, 0 behind
)
BETTING_NAMES = (
    "pot_share",  # pot / (pot + 2 * stack behind)
    "stack_to_pot",  # log2(1 + stack behind / pot) / 8
    "own_acts_first",  # in the next round
    "last_aggressor",  # of the round that ended: own 1, nobody 0, opp -1
    "round_bets",  # bets and raises of the round that ended, blinds excluded, / 4
    "earlier_bets",  # bets and raises of earlier rounds, / 8
)
TEXTURE_NAMES = (
    "board_pairing",  # 0 none, 0.5 one pair, 1 trips or two pair
    "board_suit",  # most board cards of one suit / 5
    "board_windows",  # five-rank windows holding three or more board ranks / 10
    "board_high_rank",  # / 12
)
NAMES = (
    *(f"own_{name}" for name in HAND_NAMES),
    *(f"opp_{name}" for name in HAND_NAMES),
    *PAIR_NAMES,
    *BETTING_NAMES,
    *TEXTURE_NAMES,
)
SIZE = len(NAMES)

_GROUPS = (HAND_NAMES, HAND_NAMES, PAIR_NAMES, BETTING_NAMES, TEXTURE_NAMES)
_ENDS = tuple(accumulate(map(len, _GROUPS)))
_OWN, _OPP, _PAIR, _BETTING, _TEXTURE = (
    slice(end - len(group), end) for group, end in zip(_GROUPS, _ENDS, strict=True)
)

TARGET = "expected net chips of own over the whole hand under each continuation, divided by the pot"

_RANKS: Ints = (HAND_CARDS // NUM_SUITS).astype(np.int64)
_SUITS: Ints = (HAND_CARDS % NUM_SUITS).astype(np.int64)
_FIVE = 0b11111


HASH = hash_of(NAMES, VERSION)


@dataclass(frozen=True)
class BoardFeatures:
    """Features that depend only on the cards; read-only float32.

    Attributes:
        board: [B] cards on the board.
        hands: [1326, 11] features in the order of `HAND_NAMES`, 0 for impossible hands.
        texture: [4] features in the order of `TEXTURE_NAMES`.
    """

    board: Board
    hands: Singles
    texture: Singles


def board_features(board: Sequence[int]) -> BoardFeatures:
    """Compute the features of the cards on a board.

    A new flop takes some 100 ms; results are cached.

    Args:
        board: 0 or 3 cards.

    Raises:
        ValueError: the board has another number of cards.
    """
    return _board_features(tuple(int(card) for card in board))


def public_features(betting: Betting, own: int) -> Singles:
    """Compute the betting features at the first decision of a new round.

    Args:
        betting: a heads-up state in which a betting round has just ended.
        own: the player whose value is predicted.

    Returns:
        float32 [6] in the order of `BETTING_NAMES`.

    Raises:
        ValueError: the state is not of this kind.
    """
    opp = 1 - own
    if betting.rules.num_players != 2 or betting.is_over or betting.street == 0 or betting.actions[-1]:
        raise ValueError(f"`{betting.text()}` is not a heads-up state in which a betting round has just ended")
    pot = betting.pot
    behind = min(stack - chips for stack, chips in zip(betting.rules.stacks, betting.committed, strict=True))
    ended = betting.street - 1
    raises = [sum(action > 0 for action in street) for street in betting.actions]
    return np.array(
        [
            pot / (pot + 2 * behind),
            math.log2(1 + behind / pot) / 8,
            betting.to_act == own,
            {own: 1, opp: -1, NOBODY: 0}[betting.last_raiser(ended)],
            raises[ended] / 4,
            sum(raises[:ended]) / 8,
        ],
        dtype=np.float32,
    )


def encode_pairs(board: Sequence[int], betting: Betting, own: int, own_hands: Hands, opp_hands: Hands) -> Singles:
    """Encode states that differ only in the hands of the players.

    Args:
        board: 0 or 3 cards.
        betting: the state in which a betting round has just ended.
        own: the player whose value is predicted.
        own_hands: [n] hand indices 0..1325 of `own`.
        opp_hands: [n] hand indices 0..1325 of the other player.

    Returns:
        float32 [n, 34] inputs of the net.

    Raises:
        ValueError: the board or the betting is not that of a leaf state.
    """
    cards = board_features(board)
    out = np.empty((len(own_hands), SIZE), dtype=np.float32)
    out[:, _OWN] = cards.hands[own_hands]
    out[:, _OPP] = cards.hands[opp_hands]
    for column, values in zip(out[:, _PAIR].T, (all_in_equity(board), ahead_now(board)), strict=True):
        column[:] = values[own_hands, opp_hands]
    out[:, _BETTING] = public_features(betting, own)
    out[:, _TEXTURE] = cards.texture
    return out


class GridParts(NamedTuple):
    """Card features of every pair of n own and m opponent hands on one board, or means over groups of hands.

    Attributes:
        own: [n, 11] features of own's hands.
        opp: [m, 11] features of opp's hands.
        pairs: [n, m, 2] features of the pairs.
        texture: [4] features of the board.
    """

    own: Singles
    opp: Singles
    pairs: Singles
    texture: Singles


def grid_rows(parts: GridParts, betting: Singles) -> Iterator[Singles]:
    """Iterate over the inputs of all pairs of hands, one betting state at a time.

    The rows are bitwise equal to the result of `encode_pairs`. Only the columns that depend on the betting change
    between states. All states share one buffer, which the next iteration overwrites. Search uses this because it is
    fast.

    Args:
        parts: card features of n own and m opponent hands.
        betting: [L, 6] `public_features` of L states.

    Yields:
        float32 [n * m, 34] rows of one state, opp's hand running fastest.
    """
    grid = np.empty((len(parts.own), len(parts.opp), SIZE), dtype=np.float32)
    fill_cards(grid, *parts)
    rows = grid.reshape(-1, SIZE)
    for features in betting:
        fill_betting(rows, features)
        yield rows


def fill_cards(rows: Any, own: Any, opp: Any, pairs: Any, texture: Any) -> None:
    """Write the input columns that depend only on cards.

    All arguments are numpy arrays or torch tensors.

    Args:
        rows: [..., n, m, 34] rows to write to.
        own: [..., n, 11] features of own's hands.
        opp: [..., m, 11] features of opp's hands.
        pairs: [..., n, m, 2] features of the pairs.
        texture: [4] features of the board.
    """
    rows[..., _OWN] = own[:, None]
    rows[..., _OPP] = opp[None]
    rows[..., _PAIR] = pairs
    rows[..., _TEXTURE] = texture


def fill_betting(rows: Any, betting: Any) -> None:
    """Write the input columns that depend on the betting.

    Args:
        rows: [..., 34] rows to write to; an array or tensor.
        betting: [6] result of `public_features`.
    """
    rows[..., _BETTING] = betting


@lru_cache(maxsize=4)
def _board_features(board: Board) -> BoardFeatures:
    if len(board) not in (0, 3):
        raise ValueError(f"a leaf state has 0 or 3 board cards, not {len(board)}")
    exact, shape, texture = hand_features(board), hand_shape(board), board_texture(board)
    live = HOLDEM.live(board)
    high, low = (np.where(live, _RANKS[:, side], 0) for side in (1, 0))
    equities = exact.ehs, exact.ehs2, exact.hs, exact.ppot, exact.npot
    draws = shape.category / 8, shape.suited / 5, shape.straight_outs / 8
    hands = np.stack((*equities, *draws, high / 12, low / 12, shape.overcards / 2), axis=1).astype(np.float32)
    public = texture.pairing, texture.suited / 5, texture.straight_windows / 10, texture.high_rank / 12
    features = BoardFeatures(board, hands, np.array(public, dtype=np.float32))
    for array in (features.hands, features.texture):
        array.setflags(write=False)
    return features


class HandShape(NamedTuple):
    """Shapes of all hands on a board, each int64 [1326].

    Without a board a pocket pair counts as one pair, and both hole cards count as overcards.

    Attributes:
        category: best hand made now, 0 high card .. 8 straight flush.
        suited: cards of one suit among hand and board, the most for a suit of a hole card.
        straight_outs: unseen cards that complete five ranks in a row; 0 if there is a straight already.
        overcards: hole cards that rank above every board card.
    """

    category: Ints  # best hand made now: 0 high card .. 8 straight flush
    suited: Ints  # cards of one suit among hand and board, the most for a suit of a hole card
    straight_outs: Ints  # unseen cards that complete five ranks in a row; 0 where there are five already
    overcards: Ints  # hole cards that rank above every board card


class BoardTexture(NamedTuple):
    """Features of the board alone; all 0 without a board.

    Attributes:
        pairing: 0 no pair, 0.5 one pair, 1 trips, two pair or better.
        suited: most cards of one suit.
        straight_windows: windows of five ranks (out of ten) with three or more ranks of the board.
        high_rank: highest rank on the board, 0..12.
    """

    pairing: float  # 0 no pair, 0.5 one pair, 1 trips or two pair (and better)
    suited: int  # most cards of one suit
    straight_windows: int  # windows of five ranks (there are ten) that hold three or more ranks of the board
    high_rank: int


def hand_shape(board: Sequence[int]) -> HandShape:
    """Compute the shapes of all hands on a board.

    Args:
        board: 0 or 3 to 5 cards.
    """
    cards = np.asarray(board, dtype=np.int64)
    live = HOLDEM.live(cards.tolist())
    mask = np.bitwise_or.reduce(1 << (cards // NUM_SUITS), initial=0) | (1 << _RANKS[:, 0]) | (1 << _RANKS[:, 1])
    highest = int((cards // NUM_SUITS).max(initial=-1))
    fields = (_categories(cards), _most_suited(cards), _straight_outs(mask), (highest < _RANKS).sum(axis=1))
    return HandShape(*(np.where(live, field, 0) for field in fields))


def board_texture(board: Sequence[int]) -> BoardTexture:
    """Compute the texture of a board.

    Args:
        board: 0 or 3 to 5 cards.
    """
    if not len(board):
        return BoardTexture(0.0, 0, 0, 0)
    cards = np.asarray(board, dtype=np.int64)
    ranks = np.bincount(cards // NUM_SUITS, minlength=NUM_RANKS)
    extra = int((ranks - 1).clip(min=0).sum())
    with_low_ace = np.concatenate([ranks[-1:], ranks]) > 0
    windows = np.lib.stride_tricks.sliding_window_view(with_low_ace, 5).sum(axis=1)
    return BoardTexture(
        pairing=min(0.5 * extra, 1.0),
        suited=int(np.bincount(cards % NUM_SUITS).max()),
        straight_windows=int((windows >= 3).sum()),
        high_rank=int((cards // NUM_SUITS).max()),
    )


def _categories(cards: Ints) -> Ints:
    if not len(cards):
        return np.asarray(_RANKS[:, 0] == _RANKS[:, 1], dtype=np.int64)
    ranks = rank_board_hands(cards.astype(np.uint8))
    return np.asarray(np.searchsorted(CATEGORY_START, ranks, side="right") - 1)


def _most_suited(cards: Ints) -> Ints:
    on_board = np.bincount(cards % NUM_SUITS, minlength=NUM_SUITS)
    return np.asarray(on_board[_SUITS].max(axis=1) + 1 + (_SUITS[:, 0] == _SUITS[:, 1]))


def _straight_outs(mask: Ints) -> Ints:
    """Return the straight outs of rank masks; a completing rank is not in the mask, so its four cards are unseen."""
    completing = np.zeros_like(mask)
    for rank in range(NUM_RANKS):
        completing += ~_has_straight(mask) & _has_straight(mask | (1 << rank))
    return 4 * completing


def _has_straight(mask: Ints) -> NDArray[np.bool_]:
    with_low_ace = mask << 1 | mask >> (NUM_RANKS - 1)
    straight = np.zeros(mask.shape, dtype=bool)
    for low in range(NUM_RANKS - 3):
        straight |= with_low_ace >> low & _FIVE == _FIVE
    return straight
