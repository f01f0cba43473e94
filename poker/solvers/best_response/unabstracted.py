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
happens before the flop is solved on their mean (`RootStreet`).

float32 below the flop, float64 above. Symbols: H = 1326 hands, C = 169 classes of hands, V lanes (betting lines).
"""

import hashlib
import math
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from poker.abstraction.buckets import CardAbstraction, is_holdem
from poker.cards import HOLDEM, PREFLOP_CLASS
from poker.errors import PokernetsError
from poker.kernels.cards.hands import CARD_PERMUTATION, HAND_PERMUTATION, NUM_HANDS
from poker.kernels.cards.isomorphism import NUM_BOARDS, SuitIndexer, canonical_boards
from poker.kernels.simd import aligned_zeros
from poker.kernels.vector import response
from poker.solvers.best_response.lanes import LANES, BucketPolicy, LaneGroup, lanes_of
from poker.tree import BettingTree, Kind
from poker.types import Floats

NUM_CLASSES = 169
CLASS_HAND: NDArray[np.int64] = np.unique(PREFLOP_CLASS, return_index=True)[1]
"""[169] the first hand of each class."""
NUM_FLOPS = NUM_BOARDS[3]
PAIRS = NUM_HANDS * math.comb(50, 2)
_ROW = NUM_HANDS * LANES
_TIMED = 5
_TOLERATED = 0.01
_LOOKED_AT, _CHECKED = 4000, 40
"""Boards of each size that are looked at, and the most for each renaming on which buckets are compared."""

HandPolicy = Callable[[int], NDArray[np.floating]]
"""Tree node -> [H, A]."""
Renamings = NDArray[np.int64]
"""Numbers of suit permutations that leave a board as it is."""


@dataclass
class WalkInputs:
    """Inputs of the walk for one responder: groups of lanes of each street from the first walked one on."""

    responder: int
    entries: list[int]
    """[V] nodes where the first walked street begins."""
    reach: NDArray[np.float32]
    """[V, H] the opponent's reach there."""
    streets: list[list[LaneGroup]]


@dataclass
class WalkScratch:
    """Memory of one thread: reach and values of every lane of every street, by seat and street."""

    reach: list[list[NDArray[np.float32]]]
    values: list[list[NDArray[np.float32]]]
    work: NDArray[np.float32]
    records: NDArray[np.uint16]
    down: NDArray[np.int16]


@dataclass(frozen=True)
class NextBoards:
    """Boards that follow a board: one of each class, how many it stands for, the renamings that leave it alone."""

    boards: NDArray[np.uint8]
    weights: NDArray[np.float32]
    renamings: list[Renamings] = field(default_factory=list)


class UnabstractedResponse:
    """Best response to `policy`, the opponent's [B, A] at every decision node. The tree begins before the flop, or
    later with the board at which its root is played.

    Raises PokernetsError for games that are not two-player hold'em, and for buckets that tell suits apart.
    """

    def __init__(
        self,
        tree: BettingTree,
        cards: CardAbstraction,
        policy: BucketPolicy,
        board: Sequence[int] = (),
        *,
        isomorphism: bool = True,
    ) -> None:
        rules = tree.rules
        if rules.num_players != 2 or not is_holdem(rules) or rules.num_streets < 2:
            raise PokernetsError(f"the unabstracted best response is for two-player hold'em, not '{rules.name}'")
        if np.isin(tree.kind, (Kind.LEAF, Kind.CHOICE)).any() or tree.dead:
            raise PokernetsError("a best response plays whole hands: no depth limit and no dead chips")
        self.tree, self.cards, self.policy = tree, cards, policy
        self.first = max(int(tree.street[0]), 1)
        self.last = rules.num_streets - 1
        self.board = tuple(board)
        if len(self.board) != (0 if tree.street[0] == 0 else rules.board_sizes[self.first]):
            raise PokernetsError(
                f"the tree begins on street {tree.street[0]}, which a board of {len(board)} cards is not"
            )
        self.unequal_suits = _unequal_suits(cards) if isomorphism else 0.0
        self._renamings = np.arange(24 if isomorphism else 1)
        hands = cards.buckets(())
        self.root = RootStreet(tree, lambda node: policy(node)[hands]) if not board else None
        self.seats = [self._seat(responder) for responder in range(2)]
        self.live = math.comb(52 - rules.board_sizes[self.last], 2)

    def _seat(self, responder: int) -> WalkInputs:
        if self.root is None:
            entries, reach = [0], np.ones((1, NUM_HANDS), np.float32)
        else:
            found = {node: each for node, each in self.root.reach(responder).items() if each.any()}
            entries = sorted(found)
            reach = np.array([found[node] for node in entries], np.float32).reshape(len(entries), NUM_HANDS)
        streets = lanes_of(self.tree, self.policy, self.cards.num_buckets, responder, entries) if entries else []
        return WalkInputs(responder, entries, reach, streets)

    def before(self, seat: int) -> tuple["RootStreet", list[int]]:
        """The street before the flop as `seat` responds on it, and the V nodes where the flop begins."""
        assert self.root is not None
        return self.root, self.seats[seat].entries

    @property
    def fingerprint(self) -> str:
        """Digest that changes with the policy, the buckets and the game."""
        digest = hashlib.sha256(self.cards.fingerprint.encode())
        for seat in self.seats:
            digest.update(seat.reach.tobytes())
            for group in (group for street in seat.streets for group in street):
                for part in (group.entries, group.ends, group.shares, group.steps, group.factors, group.targets):
                    digest.update(part.tobytes())
        return digest.hexdigest()

    @property
    def policy_bytes(self) -> int:
        """Memory of the opponent's policy, shared by all threads."""
        return sum(group.shares.nbytes for seat in self.seats for street in seat.streets for group in street)

    @property
    def scratch_bytes(self) -> int:
        """Memory of one thread."""
        rows = sum(len(street) for seat in self.seats for street in seat.streets) * 2 * _ROW * 4
        return rows + 4 * self._work_size()

    def _work_size(self) -> int:
        groups = [group for seat in self.seats for street in seat.streets for group in street]
        return max((response.work_size(g.num_rows, g.num_slots, self.live) for g in groups), default=0) + _ROW

    def scratch(self) -> WalkScratch:
        def lanes() -> list[list[NDArray[np.float32]]]:
            return [[aligned_zeros(len(street) * _ROW) for street in seat.streets] for seat in self.seats]

        shape = (52, self.live)
        work = aligned_zeros(self._work_size())
        return WalkScratch(lanes(), lanes(), work, np.zeros((*shape, 4), np.uint16), np.zeros(shape, np.int16))

    def boards_per_flop(self) -> float:
        """Boards of the last street that the walk visits, on average over the 1,755 flops."""
        rounds = (3, *(1 for _ in range(1, self.last)))
        if len(self._renamings) == 1:
            return math.perm(49, self.last - 1)
        return SuitIndexer(rounds).size / NUM_FLOPS

    def board_seconds(self) -> float:
        """CPU seconds that the last street of one board takes: nearly all of the work, times their number."""
        scratch = self.scratch()
        for seat, reach in zip(self.seats, scratch.reach, strict=True):
            for street in reach[len(seat.streets) - 1 :]:
                street[:] = 1.0
        board = np.arange(0, 52, 9, dtype=np.uint8)[: self.tree.rules.board_sizes[self.last]]
        deal = NextBoards(board[None], np.ones(1, np.float32))
        self._last_street(self.last - self.first, deal, scratch)
        started = time.thread_time()
        for _ in range(_TIMED):
            self._last_street(self.last - self.first, deal, scratch)
        return (time.thread_time() - started) / _TIMED

    def flop_values(self, flop: int, scratch: WalkScratch) -> list[NDArray[np.float64]]:
        """Values [V, C] for either seat on canonical flop number `flop`, averaged over its images."""
        board = canonical_boards(3)[flop]
        values = self.board_values(tuple(board.tolist()), scratch)
        return [each[:, HAND_PERMUTATION[:, CLASS_HAND]].mean(axis=1) for each in values]

    def board_values(self, board: tuple[int, ...], scratch: WalkScratch) -> list[NDArray[np.float64]]:
        """Values [V, H] for either seat of the lines with which the street of `board` begins."""
        for seat, reach, values in zip(self.seats, scratch.reach, scratch.values, strict=True):
            if seat.streets:
                values[0][:] = 0.0
                for group, start in _groups(seat.streets[0]):
                    lanes = [seat.entries.index(entry) for entry in group.entries.tolist()]
                    reach[0][start : start + _ROW].reshape(NUM_HANDS, LANES)[:, : len(lanes)] = seat.reach[lanes].T
        alone = NextBoards(np.array([board], np.uint8), np.ones(1, np.float32), [_stabiliser(self._renamings, board)])
        if self.first == self.last:
            self._last_street(0, alone, scratch)
        else:
            self._walk(0, board, alone.renamings[0], 1.0, scratch)
        found = []
        for seat, values in zip(self.seats, scratch.values, strict=True):
            by_entry = np.zeros((len(seat.entries), NUM_HANDS))
            for group, start in _groups(seat.streets[0] if seat.streets else []):
                rows = values[0][start : start + _ROW].reshape(NUM_HANDS, LANES)
                for lane, entry in enumerate(group.entries.tolist()):
                    by_entry[seat.entries.index(entry)] = rows[:, lane]
            found.append(by_entry)
        return found

    def value(self, scratch: WalkScratch) -> tuple[float, float]:
        """Chips per hand of either seat's best response, for a tree that begins on `board`."""
        size = len(self.board)
        pairs = math.comb(52 - size, 2) * math.comb(50 - size, 2)
        first, second = (float(each.sum()) / pairs for each in self.board_values(self.board, scratch))
        return first, second

    def _walk(
        self, depth: int, board: tuple[int, ...], renamings: Renamings, weight: float, scratch: WalkScratch
    ) -> None:
        """Adds `weight` times the values on a board to the lanes of its street, number `depth` of those walked."""
        live = np.flatnonzero(HOLDEM.live(board))
        buckets = self.cards.buckets(board)
        for seat, reach, values in zip(self.seats, scratch.reach, scratch.values, strict=True):
            if len(seat.streets) > depth + 1:
                values[depth + 1][:] = 0.0
                for group, start in _groups(seat.streets[depth]):
                    own = reach[depth][start : start + _ROW]
                    response.descend(
                        live, buckets, group.shares, group.num_rows, group.targets, own, reach[depth + 1]
                    )  # fmt: skip
        deal = _next_cards(board, renamings)
        if self.first + depth + 1 == self.last:
            self._last_street(depth + 1, deal, scratch)
        else:
            for cards, times, alike in zip(deal.boards.tolist(), deal.weights.tolist(), deal.renamings, strict=True):
                self._walk(depth + 1, tuple(cards), alike, times, scratch)
        scale = 1.0 / (52 - len(board) - 4)
        images = HAND_PERMUTATION[renamings]
        for seat, reach, values in zip(self.seats, scratch.reach, scratch.values, strict=True):
            below = values[depth + 1] if len(seat.streets) > depth + 1 else scratch.work
            if len(seat.streets) > depth + 1:
                response.symmetrise(images, scale, below, scratch.work)
            for group, start in _groups(seat.streets[depth] if seat.streets else []):
                response.ascend(
                    live, buckets, weight, group.shares, group.num_rows, group.steps, group.factors, group.targets,
                    below, reach[depth][start : start + _ROW], values[depth][start : start + _ROW], scratch.work,
                )  # fmt: skip

    def _last_street(self, depth: int, deal: NextBoards, scratch: WalkScratch) -> None:
        count = len(deal.boards)
        records, down = scratch.records[:count], scratch.down[:count]
        response.sort_boards(deal.boards, self.cards.tables[self.last], records, down)
        for seat, reach, values in zip(self.seats, scratch.reach, scratch.values, strict=True):
            for group, start in _groups(seat.streets[depth] if len(seat.streets) > depth else []):
                coming = reach[depth][start : start + _ROW]
                if coming.any():
                    response.last_street(
                        records, down, deal.weights, group.shares, group.num_rows, len(group.ends), group.steps,
                        group.factors, coming, values[depth][start : start + _ROW], scratch.work,
                    )  # fmt: skip


class RootStreet:
    """The street before the flop: the opponent's reach at its ends, and the responder's decisions and values there.

    `policy` gives the opponent's [H, A] at a decision. Values of an end are [C], summed over all flops and divided by
    their number given four cards; a strategy is the number of the action that each class [C] takes, by node.
    """

    def __init__(self, tree: BettingTree, policy: HandPolicy) -> None:
        self.tree = tree
        self._policy = policy

    def reach(self, responder: int) -> dict[int, Floats]:
        """The opponent's reach [H], by node where the next street begins."""
        found: dict[int, Floats] = {}
        self._descend(0, np.ones(NUM_HANDS), responder, found)
        return found

    def _descend(self, node: int, reach: Floats, responder: int, found: dict[int, Floats]) -> None:
        tree = self.tree
        if tree.kind[node] == Kind.STREET:
            found[int(tree.first_child[node])] = reach
        elif tree.kind[node] == Kind.DECISION:
            probabilities = None if tree.player[node] == responder else self._policy(node)
            for number, child in enumerate(tree.children(node)):
                own = reach if probabilities is None else reach * probabilities[:, number]
                self._descend(child, own, responder, found)

    def best(self, responder: int, ends: dict[int, Floats]) -> tuple[float, dict[int, NDArray[np.int64]]]:
        """Chips per hand of the best strategy, and the strategy."""
        chosen: dict[int, NDArray[np.int64]] = {}
        values = self._values(0, np.ones(NUM_HANDS), responder, ends, chosen, free=True)
        return float(values[PREFLOP_CLASS].sum()) / PAIRS, chosen

    def follow(self, responder: int, ends: dict[int, Floats], strategy: dict[int, NDArray[np.int64]]) -> float:
        """Chips per hand of a strategy."""
        values = self._values(0, np.ones(NUM_HANDS), responder, ends, strategy, free=False)
        return float(values[PREFLOP_CLASS].sum()) / PAIRS

    def _values(
        self,
        node: int,
        reach: Floats,
        responder: int,
        ends: dict[int, Floats],
        strategy: dict[int, NDArray[np.int64]],
        *,
        free: bool,
    ) -> Floats:
        """[C]; fills `strategy` where `free`."""
        tree = self.tree
        if tree.kind[node] == Kind.FOLD:
            sign = -1.0 if tree.folded[node, responder] else 1.0
            return sign * float(tree.committed[node].min()) * HOLDEM.compatible_mass(reach)[CLASS_HAND]
        if tree.kind[node] == Kind.STREET:
            return ends.get(int(tree.first_child[node]), np.zeros(NUM_CLASSES))
        own = tree.player[node] == responder
        probabilities = None if own else self._policy(node)
        found = np.stack(
            [
                self._values(
                    child,
                    reach if probabilities is None else reach * probabilities[:, number],
                    responder,
                    ends,
                    strategy,
                    free=free,
                )
                for number, child in enumerate(tree.children(node))
            ]
        )
        if not own:
            total: Floats = found.sum(axis=0)
            return total
        if free:
            strategy[node] = found.argmax(axis=0)
        taken: Floats = np.take_along_axis(found, strategy[node][None], axis=0)[0]
        return taken


def _groups(groups: list[LaneGroup]) -> list[tuple[LaneGroup, int]]:
    return [(group, number * _ROW) for number, group in enumerate(groups)]


def _stabiliser(renamings: Renamings, cards: Sequence[int]) -> Renamings:
    images = np.sort(CARD_PERMUTATION[renamings][:, list(cards)], axis=1)
    kept: Renamings = renamings[(images == np.sort(np.array(cards))).all(axis=1)]
    return kept


def _next_cards(board: tuple[int, ...], renamings: Renamings) -> NextBoards:
    """One more card, up to the renamings that leave the board alone."""
    boards, weights, alike = [], [], []
    for card in sorted(set(range(52)) - set(board)):
        images = CARD_PERMUTATION[renamings, card]
        if images.min() == card:
            boards.append((*board, card))
            weights.append(len(np.unique(images)))
            alike.append(renamings[images == card])
    return NextBoards(np.array(boards, np.uint8), np.array(weights, np.float32), alike)


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
