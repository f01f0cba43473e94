"""Best response in the real game to a policy that plays by card buckets, in two-player hold'em.

With buckets that forget, a best response *within the buckets* is out of reach: the responder would have to play alike
wherever the present bucket is the same, whatever was held or seen before, so decisions cannot be taken one by one
from the last street up, and the best joint choice is NP-hard to find (Koller and Megiddo 1992). The responder here sees
its cards, the board and all that was bet. Its best response is exact, by one walk of the public game, and wins at least
as much as any that is tied to buckets. In no-limit games it bets what the tree offers, so it is a lower bound there.

    v(line)[h] = what the responder wins with hand h, times the opponent's reach, summed over the compatible hands

The walk visits one board of each class under renamings of suits that leave the cards above it alone, and counts it for
all: policies from tables over canonical boards treat suits alike, which is checked (`unequal_suits`). Flops are
independent of each other once the opponent's reach there is known, so `flop_values` is the unit of work, and what
happens before the flop is solved on their mean (`flops.RootStreet`).

float32 below the flop, float64 above. Symbols: H = 1326 hands, C = 169 classes of hands, V lanes (betting lines).
"""

import hashlib
import math
import time
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from poker.abstraction.buckets import CardAbstraction, is_holdem
from poker.cards import HOLDEM
from poker.errors import PokernetsError
from poker.kernels.cards.hands import CARD_PERMUTATION, HAND_PERMUTATION, NUM_HANDS
from poker.kernels.cards.isomorphism import NUM_DEALS, canonical_boards
from poker.kernels.simd import LANES, aligned_zeros
from poker.kernels.vector import response
from poker.solvers.best_response.flops import CLASS_HAND, NUM_FLOPS, ResponseCost, RootStreet
from poker.solvers.best_response.lanes import BucketPolicy, LaneGroup, lanes_of
from poker.solvers.best_response.ranges import check_whole_hands
from poker.tree import BettingTree
from poker.types import Board, Floats, Singles

_ROW = NUM_HANDS * LANES
_TIMED = 5
_TOLERATED = 0.01
_LOOKED_AT, _CHECKED = 4000, 40
"""Boards of each size that are looked at, and the most for each renaming on which buckets are compared."""

Renamings = NDArray[np.int64]
"""Numbers of suit permutations that leave a board as it is."""


@dataclass
class WalkInputs:
    """Inputs of the walk for one responder."""

    entries: list[int]
    """[V] nodes where the first walked street begins, in ascending order."""
    reach: Singles
    """[V, H] the opponent's reach there."""
    streets: list[list[LaneGroup]]
    """Groups of lanes of each street from the first walked one on."""


@dataclass
class WalkScratch:
    """Memory of one thread: reach and values [groups, H * 16] of every lane, by seat and street."""

    reach: list[list[Singles]]
    values: list[list[Singles]]
    work: Singles
    records: NDArray[np.uint16]
    down: NDArray[np.int16]


class _NextBoards(NamedTuple):
    """Boards that follow a board: one of each class, how many it stands for, the renamings that leave it alone."""

    boards: NDArray[np.uint8]
    weights: Singles
    renamings: list[Renamings]


class UnabstractedResponse:
    """Best response to `policy`, the opponent's [B, A] at every decision node. The tree begins before the flop, or
    later with the board at which its root is played.

    `roots` are the street before the flop as either seat responds on it; `fingerprint` changes with the policy, the
    buckets and the game. Raises PokernetsError for games that are not two-player hold'em, and for buckets that tell
    suits apart.
    """

    def __init__(self, tree: BettingTree, cards: CardAbstraction, policy: BucketPolicy, board: Board = ()) -> None:
        rules = tree.rules
        if rules.num_players != 2 or not is_holdem(rules) or rules.num_streets < 2:
            raise PokernetsError(f"the unabstracted best response is for two-player hold'em, not '{rules.name}'")
        check_whole_hands(tree)
        self.tree, self.cards = tree, cards
        self.first, self.last = max(int(tree.street[0]), 1), rules.num_streets - 1
        if len(board) != (0 if tree.street[0] == 0 else rules.board_sizes[self.first]):
            raise PokernetsError(
                f"the tree begins on street {tree.street[0]}, which a board of {len(board)} cards is not"
            )
        self.unequal_suits = _unequal_suits(cards)
        self.renamings: Renamings = np.arange(24)
        self.live = math.comb(52 - rules.board_sizes[self.last], 2)
        hands = cards.buckets(())
        seats = () if board else range(2)
        self.roots = [RootStreet(tree, lambda node: policy(node)[hands], seat) for seat in seats]
        self.seats: list[WalkInputs] = []
        digest = hashlib.sha256(cards.fingerprint.encode())
        for seat in range(2):
            entries, reach = (
                (self.roots[seat].entries, self.roots[seat].reach) if self.roots else ([0], np.ones((1, NUM_HANDS)))
            )
            streets = lanes_of(tree, policy, cards.num_buckets, seat, entries) if entries else []
            self.seats.append(WalkInputs(entries, reach.astype(np.float32), streets))
            digest.update(self.seats[-1].reach.tobytes())
            for group in (group for street in streets for group in street):
                for part in (group.entries, group.ends, group.shares, group.steps, group.factors, group.targets):
                    digest.update(part.tobytes())
            streets += [[]] * (rules.num_streets - self.first - len(streets))
        self.fingerprint = digest.hexdigest()

    def cost(self, flops: int, threads: int) -> ResponseCost:
        """Cost extrapolated from one board of the last street; the rest of the walk takes a few percent more."""
        policy = sum(group.shares.nbytes for group in self._groups())
        return ResponseCost(
            self.board_seconds() * self.boards_per_flop(), flops, threads, policy + threads * self.scratch_bytes
        )

    @property
    def scratch_bytes(self) -> int:
        """Memory of one thread."""
        return len(self._groups()) * 2 * _ROW * 4 + 4 * self._work_size()

    def _groups(self) -> list[LaneGroup]:
        return [group for seat in self.seats for street in seat.streets for group in street]

    def _work_size(self) -> int:
        sizes = (response.work_size(group.num_rows, group.num_slots, self.live) for group in self._groups())
        return max(sizes, default=0) + _ROW

    def scratch(self) -> WalkScratch:
        reach, values = (
            [[aligned_zeros(len(street) * _ROW).reshape(-1, _ROW) for street in seat.streets] for seat in self.seats]
            for _ in range(2)
        )
        shape = (52, self.live)
        work = aligned_zeros(self._work_size())
        return WalkScratch(reach, values, work, np.zeros((*shape, 4), np.uint16), np.zeros(shape, np.int16))

    def boards_per_flop(self) -> float:
        """Boards of the last street that the walk visits, on average over the 1,755 flops."""
        return NUM_DEALS[self.tree.rules.board_sizes[self.last]] / NUM_FLOPS

    def board_seconds(self) -> float:
        """CPU seconds that the last street of one board takes: nearly all of the work, times their number."""
        scratch = self.scratch()
        for reach in scratch.reach:
            reach[-1][:] = 1.0
        board = np.arange(0, 52, 9, dtype=np.uint8)[: self.tree.rules.board_sizes[self.last]]
        deal = _NextBoards(board[None], np.ones(1, np.float32), [])
        self._last_street(self.last - self.first, deal, scratch)
        started = time.thread_time()
        for _ in range(_TIMED):
            self._last_street(self.last - self.first, deal, scratch)
        return (time.thread_time() - started) / _TIMED

    def flop_values(self, flop: int, scratch: WalkScratch) -> list[Floats]:
        """Values [V, C] for either seat on canonical flop number `flop`, averaged over its images."""
        values = self.board_values(tuple(canonical_boards(3)[flop].tolist()), scratch)
        return [each[:, HAND_PERMUTATION[:, CLASS_HAND]].mean(axis=1) for each in values]

    def board_values(self, board: Board, scratch: WalkScratch) -> list[Floats]:
        """Values [V, H] for either seat of the lines with which the street of `board` begins."""
        for seat, reach, values in zip(self.seats, scratch.reach, scratch.values, strict=True):
            values[0][:] = 0.0
            for group, own in zip(seat.streets[0], reach[0], strict=True):
                lanes = np.searchsorted(seat.entries, group.entries)
                own.reshape(NUM_HANDS, LANES)[:, : len(lanes)] = seat.reach[lanes].T
        images = np.sort(CARD_PERMUTATION[self.renamings][:, list(board)], axis=1)
        alike = self.renamings[(images == np.sort(board)).all(axis=1)]
        if self.first == self.last:
            self._last_street(0, _NextBoards(np.array([board], np.uint8), np.ones(1, np.float32), [alike]), scratch)
        else:
            self._walk(0, board, alike, 1.0, scratch)
        found = []
        for seat, values in zip(self.seats, scratch.values, strict=True):
            found.append(np.zeros((len(seat.entries), NUM_HANDS)))
            for group, won in zip(seat.streets[0], values[0], strict=True):
                lanes = np.searchsorted(seat.entries, group.entries)
                found[-1][lanes] = won.reshape(NUM_HANDS, LANES)[:, : len(lanes)].T
        return found

    def _walk(self, depth: int, board: Board, renamings: Renamings, weight: float, scratch: WalkScratch) -> None:
        """Adds `weight` times the values on a board to the lanes of its street, number `depth` of those walked."""
        live = np.flatnonzero(HOLDEM.live(board))
        buckets = self.cards.buckets(board)
        for seat, reach, values in zip(self.seats, scratch.reach, scratch.values, strict=True):
            values[depth + 1][:] = 0.0
            below = reach[depth + 1].reshape(-1)
            for group, own in zip(seat.streets[depth], reach[depth], strict=True):
                response.descend(live, buckets, group.shares, group.num_rows, group.targets, own, below)
        deal = _next_cards(board, renamings)
        if self.first + depth + 1 == self.last:
            self._last_street(depth + 1, deal, scratch)
        else:
            for cards, times, alike in zip(deal.boards.tolist(), deal.weights.tolist(), deal.renamings, strict=True):
                self._walk(depth + 1, tuple(cards), alike, times, scratch)
        scale = 1.0 / (52 - len(board) - 4)
        images = HAND_PERMUTATION[renamings]
        for seat, reach, values in zip(self.seats, scratch.reach, scratch.values, strict=True):
            below = values[depth + 1].reshape(-1)
            response.symmetrise(images, scale, below, scratch.work)
            for group, own, won in zip(seat.streets[depth], reach[depth], values[depth], strict=True):
                response.ascend(
                    live, buckets, weight, group.shares, group.num_rows, group.steps, group.factors, group.targets,
                    below, own, won, scratch.work,
                )  # fmt: skip

    def _last_street(self, depth: int, deal: _NextBoards, scratch: WalkScratch) -> None:
        count = len(deal.boards)
        records, down = scratch.records[:count], scratch.down[:count]
        response.sort_boards(deal.boards, self.cards.tables[self.last], records, down)
        for seat, reach, values in zip(self.seats, scratch.reach, scratch.values, strict=True):
            for group, coming, won in zip(seat.streets[depth], reach[depth], values[depth], strict=True):
                if coming.any():
                    response.last_street(
                        records, down, deal.weights, group.shares, group.num_rows, len(group.ends), group.steps,
                        group.factors, coming, won, scratch.work,
                    )  # fmt: skip


def _next_cards(board: Board, renamings: Renamings) -> _NextBoards:
    """One more card, up to the renamings that leave the board alone."""
    boards, weights, alike = [], [], []
    for card in sorted(set(range(52)) - set(board)):
        images = CARD_PERMUTATION[renamings, card]
        if images.min() == card:
            boards.append((*board, card))
            weights.append(len(np.unique(images)))
            alike.append(renamings[images == card])
    return _NextBoards(np.array(boards, np.uint8), np.array(weights, np.float32), alike)


def _unequal_suits(cards: CardAbstraction) -> float:
    """Share of hands whose bucket changes under renamings that leave a canonical board alone, on boards looked at; the
    largest over board sizes. Float rounding in clustering can tell apart a few hands that are alike.

    Raises PokernetsError when it is more than `_TOLERATED`.
    """
    worst = 0.0
    for size, whole in zip((0, 3, 4, 5), cards.tables, strict=False):
        step = max(1, len(whole) // _LOOKED_AT)
        boards, table = canonical_boards(size)[::step], whole[::step]
        unequal = seen = 0
        for number in range(1, 24):
            images = np.sort(CARD_PERMUTATION[number][boards], axis=1)
            alone = np.flatnonzero((images == np.sort(boards, axis=1)).all(axis=1))
            for index in alone[:: max(1, len(alone) // _CHECKED)].tolist():
                live = HOLDEM.live(boards[index])
                unequal += int((table[index] != table[index][HAND_PERMUTATION[number]])[live].sum())
                seen += int(live.sum())
        worst = max(worst, unequal / max(seen, 1))
        if worst > _TOLERATED:
            raise PokernetsError(
                f"{worst:.1%} of the buckets on boards of {size} cards change when suits are renamed, so classes of "
                "boards cannot be walked: make an abstraction that treats suits alike"
            )
    return worst
