"""The 34 inputs of the leaf net: a heads-up hold'em state whose betting round is over, the next card not yet dealt.

`own` is the player whose value is predicted, `opp` the other. [DLS] gives the number of inputs and not the list: this
list is ours. Eleven describe own's hand, the same eleven opp's, two the pair of hands, ten what both players see.
"""

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache
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
Ints = NDArray[np.int64]

VERSION = 1
"""Raised whenever a feature's definition changes under an unchanged name."""

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
    "earlier_bets",  # those of the rounds before it, / 8
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
    """Features that depend on the cards alone, read-only, float32.

    `hands` [1326, 11] in the order of `HAND_NAMES`, 0 for hands that cannot be; `texture` [4] in that of
    `TEXTURE_NAMES`.
    """

    board: Board
    hands: Singles
    texture: Singles

    @cached_property
    def pairs(self) -> Singles:
        """[1326, 1326, 2] own hand, opp's hand, `PAIR_NAMES`; 0 for pairs that cannot be."""
        pairs = np.stack((all_in_equity(self.board), ahead_now(self.board)), axis=2)
        pairs.setflags(write=False)
        return pairs


def board_features(board: Sequence[int]) -> BoardFeatures:
    """Features of the cards on a board of 0 or 3 cards (some 100 ms for a new flop, then cached)."""
    return _board_features(tuple(int(card) for card in board))


def public_features(betting: Betting, own: int) -> Singles:
    """[6] in the order of `BETTING_NAMES`: what the betting says, at the first decision of a new round, to `own`."""
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
    """[n, 34] for n states that differ only in the hands [n] of the two players (indices 0..1325)."""
    cards = board_features(board)
    out = np.empty((len(own_hands), SIZE), dtype=np.float32)
    out[:, _OWN] = cards.hands[own_hands]
    out[:, _OPP] = cards.hands[opp_hands]
    out[:, _PAIR] = cards.pairs[own_hands, opp_hands]
    out[:, _BETTING] = public_features(betting, own)
    out[:, _TEXTURE] = cards.texture
    return out


class GridParts(NamedTuple):
    """Features of the cards of every pair out of n own and m opp hands on one board, or means over groups of hands.

    `own` [n, 11], `opp` [m, 11], `pairs` [n, m, 2], `texture` [4].
    """

    own: Singles
    opp: Singles
    pairs: Singles
    texture: Singles


def grid_rows(parts: GridParts, betting: Singles) -> Iterator[Singles]:
    """Rows [n * m, 34], opp's hand running fastest, for each of `betting` [L, 6], the `public_features` of L states.

    They are bitwise what `encode_pairs` gives. Only the columns that depend on the betting are written for each, into
    one buffer, which the next overwrites: the fast way in search.
    """
    grid = np.empty((len(parts.own), len(parts.opp), SIZE), dtype=np.float32)
    fill_cards(grid, *parts)
    rows = grid.reshape(-1, SIZE)
    for features in betting:
        fill_betting(rows, features)
        yield rows


def fill_cards(rows: Any, own: Any, opp: Any, pairs: Any, texture: Any) -> None:
    """Writes the columns of `rows` [..., n, m, 34] that depend on cards alone; arrays or tensors, those of
    `GridParts`."""
    rows[..., _OWN] = own[:, None]
    rows[..., _OPP] = opp[None]
    rows[..., _PAIR] = pairs
    rows[..., _TEXTURE] = texture


def fill_betting(rows: Any, betting: Any) -> None:
    """Writes the columns of `rows` [..., 34] that depend on the betting, `public_features`."""
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
    """Each field [1326]. Without a board a pocket pair is one pair and both hole cards are overcards."""

    category: Ints  # best hand made now: 0 high card .. 8 straight flush
    suited: Ints  # cards of one suit among hand and board, the most for a suit of a hole card
    straight_outs: Ints  # unseen cards that complete five ranks in a row; 0 where there are five already
    overcards: Ints  # hole cards that rank above every board card


class BoardTexture(NamedTuple):
    """Features of the board alone; all 0 without one."""

    pairing: float  # 0 no pair, 0.5 one pair, 1 trips or two pair (and better)
    suited: int  # most cards of one suit
    straight_windows: int  # windows of five ranks (there are ten) that hold three or more ranks of the board
    high_rank: int


def hand_shape(board: Sequence[int]) -> HandShape:
    """Shapes of all hands on `board`."""
    cards = np.asarray(board, dtype=np.int64)
    live = HOLDEM.live(cards.tolist())
    mask = np.bitwise_or.reduce(1 << (cards // NUM_SUITS), initial=0) | (1 << _RANKS[:, 0]) | (1 << _RANKS[:, 1])
    highest = int((cards // NUM_SUITS).max(initial=-1))
    fields = (_categories(cards), _most_suited(cards), _straight_outs(mask), (highest < _RANKS).sum(axis=1))
    return HandShape(*(np.where(live, field, 0) for field in fields))


def board_texture(board: Sequence[int]) -> BoardTexture:
    """Texture of `board`."""
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
    """Straight outs of rank masks. A rank that completes a straight is not held yet: four cards of it are unseen."""
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
