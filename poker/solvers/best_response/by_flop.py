"""The best response to any policy in two-player hold'em that ends with the flop, one flop at a time.

The policy may be expensive to ask, such as one that solves a subgame at every public state: flops are independent of
each other once its reach there is known, so `flop_values` is the unit of work. It is the walk of `ranges.RangeWalk` on
the trees of `public.best_response`, cut at the flop; `flops.value_of_all` puts the flops together.

One board of each class under renamings of suits stands for all; a policy that does not treat suits quite alike is
measured on those boards.

Symbols: V lines that reach the flop, H = 1326 hands, C = 169 classes of hands, A actions.
"""

import hashlib
from dataclasses import dataclass
from functools import lru_cache

import numpy as np

from poker.abstraction.buckets import is_holdem
from poker.errors import PokernetsError
from poker.kernels.cards.hands import HAND_PERMUTATION, NUM_HANDS
from poker.kernels.cards.isomorphism import canonical_boards
from poker.rules import Rules
from poker.solvers.best_response.flops import CLASS_HAND, RootStreet
from poker.solvers.best_response.public import CardlessPolicy, columns, on_one_board, on_tree, tree_of_both
from poker.solvers.best_response.ranges import RangeWalk
from poker.state import HandState, PolicyFunction, public_state
from poker.tree import BetMenu, BettingTree, Kind
from poker.types import Board, Floats


def ends_with_the_flop(rules: Rules) -> bool:
    """Whether this is two-player hold'em without turn and river."""
    return rules.num_players == 2 and is_holdem(rules) and rules.num_streets == 2


@dataclass(frozen=True, eq=False)
class SeatWalk:
    """Inputs of the walk of flops for one responder: nodes [V] where the flop begins, the policy's reach [V, H]."""

    responder: int
    tree: BettingTree
    entries: list[int]
    reach: Floats

    def values(self, policy: PolicyFunction, board: Board) -> Floats:
        """[V, H] what the responder wins with each hand times the policy's reach, summed over compatible hands."""
        tree, live = self.tree, self.tree.rules.space.live(board)
        walk = RangeWalk(tree, on_tree(tree, policy), self.responder)
        found = [walk.values(node, board, reach * live) for node, reach in zip(self.entries, self.reach, strict=True)]
        return live * np.array(found).reshape(-1, NUM_HANDS)

    def states(self, flop: int) -> list[HandState]:
        """Public states at which the policy is asked on canonical flop number `flop`."""
        tree, board = self.tree, tuple(canonical_boards(3)[flop].tolist())
        on_flop = np.zeros(len(tree), bool)
        on_flop[self.entries] = True
        for node in range(len(tree)):  # parents come first
            on_flop[node] |= tree.parent[node] >= 0 and on_flop[tree.parent[node]]
        asked = on_flop & (tree.kind == Kind.DECISION) & (tree.player != self.responder)
        return [public_state(tree.betting(node), board) for node in np.flatnonzero(asked).tolist()]


def flop_values(walks: list[SeatWalk], policy: PolicyFunction, flop: int) -> list[Floats]:
    """Values [V, C] for either seat on canonical flop number `flop`, averaged over its images."""
    board = tuple(canonical_boards(3)[flop].tolist())
    return [walk.values(policy, board)[:, HAND_PERMUTATION[:, CLASS_HAND]].mean(axis=1) for walk in walks]


class ResponseByFlop:
    """Best responses of either seat with the bets of `menu` and of `policy`.

    `fingerprint` changes with the trees, and with what `policy` does anywhere on one flop. Raises PokernetsError for
    games with other streets.
    """

    def __init__(self, rules: Rules, policy: PolicyFunction, menu: BetMenu) -> None:
        if not ends_with_the_flop(rules):
            raise PokernetsError(f"this best response is for two-player hold'em without a turn, not '{rules.name}'")
        self.policy = policy
        anywhere, digest = on_one_board(policy), hashlib.sha256(rules.to_acpc().encode())
        self.roots = [_root(tree_of_both(rules, menu, anywhere, seat), anywhere, seat) for seat in range(2)]
        self.walks = [SeatWalk(root.responder, root.tree, root.entries, root.reach) for root in self.roots]
        for root in self.roots:
            tree = root.tree
            for node in np.flatnonzero((tree.kind == Kind.DECISION) & (tree.player != root.responder)).tolist():
                actions, probs = anywhere(tree.betting(node))
                digest.update(f"{tree.path_text(node)} {tree.actions(node)} {actions}".encode())
                digest.update(np.ascontiguousarray(probs).tobytes())
            digest.update(tree.action.tobytes())
        self.fingerprint = digest.hexdigest()


def _root(tree: BettingTree, policy: CardlessPolicy, responder: int) -> RootStreet:
    rows = lru_cache(maxsize=None)(lambda node: columns(tree, node, policy(tree.betting(node))))
    return RootStreet(tree, rows, responder)
