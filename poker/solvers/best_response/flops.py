"""The best response to any policy in two-player hold'em that ends with the flop, one flop at a time.

The policy may be expensive to ask, such as one that solves a subgame at every public state: flops are independent of
each other once its reach there is known, so `flop_values` is the unit of work. It is the walk of `ranges.RangeWalk` on
the trees of `public.tree_of_both`, cut at the flop. One board of each class under renamings of suits stands for all; a
policy that does not treat suits quite alike is measured on those boards.

All 1,755 classes of flops give the exact value. With a sample, everything from the flop on is exact on each of its
flops, and only the decisions before the flop depend on the others: the sample is cut into `_PARTS`, and each part
values the decisions that are best on the other parts together. The result estimates without bias what concrete
strategies win: a lower bound in expectation. Choosing on all sampled flops at once is optimistic; the exact value lies
between the two in expectation. Flops are drawn with replacement, so parts are independent. (With ten parts the bound is
closer and intervals over flops truer than with two halves: against always-call in flop hold'em the mean of 400 samples
lay in 93% of their intervals, with 40 flops and with 16.)

Symbols: V lines that reach the flop, H = 1326 hands, C = 169 classes of hands, A actions.
"""

import hashlib
import math
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from poker.abstraction.buckets import is_holdem
from poker.game.cards import HOLDEM, PREFLOP_CLASS
from poker.game.rules import Rules
from poker.game.state import HandState, PolicyFunction, public_state
from poker.kernels.cards.hands import HAND_PERMUTATION, NUM_HANDS
from poker.kernels.cards.isomorphism import NUM_BOARDS, board_multiplicities, canonical_boards
from poker.kernels.types import Board, Floats, Reals
from poker.run.errors import PokernetsError
from poker.run.machine import memory
from poker.solvers.best_response.public import CardlessPolicy, columns, on_one_board, on_tree, tree_of_both
from poker.solvers.best_response.ranges import RangeWalk
from poker.tree import BetMenu, BettingTree, Kind

NUM_CLASSES = 169
CLASS_HAND: NDArray[np.int64] = np.unique(PREFLOP_CLASS, return_index=True)[1]
"""[169] the first hand of each class."""
NUM_FLOPS = NUM_BOARDS[3]
_PARTS = 10
_FLOPS = math.comb(52, 3)
_FLOPS_WITH_TWO_HANDS = math.comb(48, 3)
"""Flops when both players' cards are out."""
_MEMORY_SHARE = 0.8

FlopValues = list[Floats]
"""Values on one flop, for either seat [V, C]."""
FlopStrategy = dict[int, NDArray[np.int64]]
"""Number of the action that each class of hands [C] takes, by node."""


def ends_with_the_flop(rules: Rules) -> bool:
    """Whether this is two-player hold'em without turn and river."""
    return rules.num_players == 2 and is_holdem(rules) and rules.num_streets == 2


@dataclass(frozen=True)
class ResponseCost:
    """Cost of a run, measured on one board: CPU seconds per flop and in all, bytes of all `workers` together."""

    cpu_per_flop: float
    flops: int
    workers: int
    memory: int

    @property
    def cpu(self) -> float:
        return self.cpu_per_flop * self.flops

    @property
    def is_too_large(self) -> bool:
        """Whether the run needs more than `_MEMORY_SHARE` of this machine's memory."""
        return self.memory > _MEMORY_SHARE * memory()

    def __str__(self) -> str:
        hours, memory = self.cpu / 3600, self.memory / 2**20
        return (
            f"{self.flops:,} flops of about {self.cpu_per_flop:.1f} CPU seconds: {hours:.2f} CPU hours, "
            f"{self.workers} at a time, {memory:,.0f} MiB"
        )


class SeatResponse:
    """The best response of `responder` on `tree` to `policy`, which before the flop is played the same on any board.

    `entries` are the V nodes where the flop begins, `reach` [V, H] the opponent's there; lines that the opponent never
    plays are left out.
    """

    def __init__(self, tree: BettingTree, policy: CardlessPolicy, responder: int) -> None:
        self.tree, self.responder = tree, responder
        self._shares: dict[int, Reals] = {}
        reaches: dict[int, Floats] = {}
        self._descend(0, np.ones(NUM_HANDS), policy, reaches)
        self.entries = sorted(node for node, reach in reaches.items() if reach.any())
        self.reach = np.array([reaches[node] for node in self.entries]).reshape(-1, NUM_HANDS)

    def _descend(self, node: int, reach: Floats, policy: CardlessPolicy, reaches: dict[int, Floats]) -> None:
        if self.tree.kind[node] == Kind.STREET:
            reaches[int(self.tree.first_child[node])] = reach
        elif self.tree.kind[node] == Kind.DECISION:
            if self.tree.player[node] != self.responder:
                self._shares[node] = columns(self.tree, node, policy(self.tree.betting(node)))
            for child, own in self._below(node, reach):
                self._descend(child, own, policy, reaches)

    def _below(self, node: int, reach: Floats) -> list[tuple[int, Floats]]:
        """Children of a decision, and the opponent's reach [H] there."""
        children = self.tree.children(node)
        if self.tree.player[node] == self.responder:
            return [(child, reach) for child in children]
        return [(child, reach * shares) for child, shares in zip(children, self._shares[node].T, strict=True)]

    def best(self, values: Floats) -> tuple[float, FlopStrategy]:
        """Chips per hand of the best strategy before the flop, and it; `values` [V, C] are means over flops."""
        strategy: FlopStrategy = {}
        return self._chips(values, lambda node, gains: strategy.setdefault(node, gains.argmax(axis=0))), strategy

    def follow(self, values: Floats, strategy: FlopStrategy) -> float:
        """Chips per hand of a strategy before the flop; `values` [V, C] are means over flops."""
        return self._chips(values, lambda node, gains: strategy[node])

    def _chips(self, values: Floats, choose: Callable[[int, Floats], NDArray[np.int64]]) -> float:
        ends = dict(zip(self.entries, values * (_FLOPS / _FLOPS_WITH_TWO_HANDS), strict=True))
        by_class = self._values(0, np.ones(NUM_HANDS), ends, choose)
        return float(by_class[PREFLOP_CLASS].sum()) / (NUM_HANDS * math.comb(50, 2))

    def _values(
        self, node: int, reach: Floats, ends: dict[int, Floats], choose: Callable[[int, Floats], NDArray[np.int64]]
    ) -> Floats:
        """[C]"""
        tree = self.tree
        if tree.kind[node] == Kind.FOLD:
            sign = -1.0 if tree.folded[node, self.responder] else 1.0
            return sign * float(tree.committed[node].min()) * HOLDEM.compatible_mass(reach)[CLASS_HAND]
        if tree.kind[node] == Kind.STREET:
            return ends.get(int(tree.first_child[node]), np.zeros(NUM_CLASSES))
        gains = np.stack([self._values(child, own, ends, choose) for child, own in self._below(node, reach)])
        if tree.player[node] != self.responder:
            return np.asarray(gains.sum(axis=0))
        return np.asarray(np.take_along_axis(gains, choose(node, gains)[None], axis=0)[0])

    def on_flop(self, policy: PolicyFunction, board: Board) -> Floats:
        """[V, H] what the responder wins with each hand times the policy's reach, summed over compatible hands."""
        tree, live = self.tree, self.tree.rules.space.live(board)
        walk = RangeWalk(tree, on_tree(tree, policy), self.responder)
        values = [walk.values(node, board, reach * live) for node, reach in zip(self.entries, self.reach, strict=True)]
        return live * np.array(values).reshape(-1, NUM_HANDS)

    def states(self, flop: int) -> list[HandState]:
        """Public states at which the policy is asked on canonical flop number `flop`."""
        tree, board = self.tree, tuple(canonical_boards(3)[flop].tolist())
        on_flop = np.zeros(len(tree), bool)
        on_flop[self.entries] = True
        for node in range(len(tree)):  # parents come first
            on_flop[node] |= tree.parent[node] >= 0 and on_flop[tree.parent[node]]
        opponents = on_flop & (tree.kind == Kind.DECISION) & (tree.player != self.responder)
        return [public_state(tree.betting(node), board) for node in np.flatnonzero(opponents).tolist()]


def flop_values(seats: Sequence[SeatResponse], policy: PolicyFunction, flop: int) -> FlopValues:
    """Values on canonical flop number `flop`, averaged over its images."""
    board = tuple(canonical_boards(3)[flop].tolist())
    return [seat.on_flop(policy, board)[:, HAND_PERMUTATION[:, CLASS_HAND]].mean(axis=1) for seat in seats]


class ResponseByFlop:
    """Best responses of either seat with the bets of `menu` and of `policy`.

    `fingerprint` changes with the trees, and with what `policy` does anywhere on one flop. Raises PokernetsError for
    games with other streets.
    """

    def __init__(self, rules: Rules, policy: PolicyFunction, menu: BetMenu) -> None:
        if not ends_with_the_flop(rules):
            raise PokernetsError(
                f"the best response over `flops` is for two-player hold'em without a turn, not '{rules.name}'"
            )
        self.policy = policy
        anywhere, digest = on_one_board(policy), hashlib.sha256(rules.to_acpc().encode())
        self.seats = [SeatResponse(tree_of_both(rules, menu, anywhere, seat), anywhere, seat) for seat in range(2)]
        for seat in self.seats:
            tree = seat.tree
            for node in np.flatnonzero((tree.kind == Kind.DECISION) & (tree.player != seat.responder)).tolist():
                actions, probs = anywhere(tree.betting(node))
                digest.update(f"{tree.path_text(node)} {tree.actions(node)} {actions}".encode())
                digest.update(np.ascontiguousarray(probs).tobytes())
            digest.update(tree.action.tobytes())
        self.fingerprint = digest.hexdigest()


def draw_flops(count: int, seed: int) -> NDArray[np.int64]:
    """Numbers [count] of canonical flops, drawn with replacement as concrete flops are dealt."""
    weights = board_multiplicities(3) / _FLOPS
    return np.asarray(np.random.default_rng(seed).choice(NUM_FLOPS, count, p=weights))


def value_of_all(seats: Sequence[SeatResponse], values: Iterable[FlopValues]) -> Floats:
    """[2] chips per hand by seat, from the values on all flops in the order of their numbers."""
    by_flop = list(zip(board_multiplicities(3) / _FLOPS, values, strict=True))
    means = [sum(weight * both[seat] for weight, both in by_flop) for seat in range(2)]
    return np.array([seat.best(np.asarray(mean))[0] for seat, mean in zip(seats, means, strict=True)])


def values_of_sample(seats: Sequence[SeatResponse], values: list[FlopValues]) -> tuple[Floats, float]:
    """Chips [2, n] won by each seat on each drawn flop, deciding as is best for the other parts; and the optimistic
    chips per hand, both seats together."""
    part = np.arange(len(values)) % _PARTS
    won, optimistic = np.zeros((2, len(values))), 0.0
    for number, seat in enumerate(seats):
        stacked = np.stack([both[number] for both in values])
        optimistic += seat.best(stacked.mean(axis=0))[0]
        for out in np.unique(part).tolist():
            strategy = seat.best(stacked[part != out].mean(axis=0))[1]
            for flop in np.flatnonzero(part == out).tolist():
                won[number, flop] = seat.follow(stacked[flop], strategy)
    return won, optimistic
