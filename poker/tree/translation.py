"""Translation of a real hand into a tree of few bets: every real action is read as one of the tree's.

Sizes are compared as pot fractions of the real and of the tree's pot, so a hand that has drifted from the tree keeps
its proportions. A real bet x between the tree's bets A < B, all in pots, is read as A with the pseudo-harmonic
probability (B - x)(1 + A) / ((B - A)(1 + x)) (Ganzfried and Sandholm 2013). The reading is drawn from a hash of the
seed and the public history: the same history is read alike every time, in every process.

Trees of more than two players leave things out that tables have (`BetMenu.beyond`), so there the likelier reading is
taken, a limp that the tree lacks is read as its smallest raise, and a caller too many as a player who folds.
"""

import hashlib
from collections.abc import Sequence

import numpy as np

from poker.game.betting import Betting
from poker.game.rules import CALL, FOLD
from poker.game.state import Policy
from poker.kernels.types import Singles
from poker.store.entropy import drawn_seed
from poker.tree.betting_tree import BettingTree, Kind


class HistoryTranslator:
    """Reads heads-up or multi-player histories of `tree.rules` from the start of the hand."""

    def __init__(self, tree: BettingTree, seed: int | None) -> None:
        self._tree = tree
        self._seed = drawn_seed(seed)

    def node(self, betting: Betting) -> int | None:
        """The tree's decision node for `betting`, or None where the tree's hand has run apart from the real one.

        The latter happens when a raise was read as all-in, so that the tree has no decisions left, and when more
        players have raised than it has room for.
        """
        out: set[int] = set()
        while True:
            node, done = self._read(betting, frozenset(out))
            if done is None:
                return node
            left_out = _least_active(betting, done, out)
            if left_out is None:
                return None
            out.add(left_out)

    def _read(self, betting: Betting, out: frozenset[int]) -> tuple[int | None, int | None]:
        """The node for `betting` where players `out` have folded, and the number of actions before one that the tree
        has no room for, or None."""
        tree, state, gone = self._tree, Betting.start(betting.rules), set(out)
        node: int | None = tree.after_deal(0)
        for number, (player, action) in enumerate(betting.moves()):
            if player not in out:
                node = None if node is None else self._in_step(self._without(node, gone), state)
                if node is None:
                    return None, None
                actions = tree.actions(node)
                if action == FOLD and FOLD not in actions:
                    gone.add(player)
                elif action == CALL and CALL not in actions:
                    raises = [total for total in actions if total > 0]
                    if not raises or tree.committed[node].max() > tree.rules.opening:
                        return None, number
                    node = tree.child(node, raises[0])
                else:
                    node = self._follow(node, state, action)
            state = state.apply(action)
        return (None if node is None else self._in_step(self._without(node, gone), state)), None

    def _without(self, node: int, gone: set[int]) -> int:
        """The node after players who are `gone` have folded, or checked where they cannot."""
        tree = self._tree
        while tree.kind[node] == Kind.DECISION and int(tree.player[node]) in gone:
            node = tree.child(node, FOLD if FOLD in tree.actions(node) else CALL)
        return node

    def real_actions(self, node: int, betting: Betting) -> tuple[int, ...]:
        """For each of the tree's actions at `node` the legal action it stands for at `betting`; may hold repeats."""
        return tuple(self._real(node, action, betting) for action in self._tree.actions(node))

    def _follow(self, node: int, state: Betting, action: int) -> int | None:
        tree = self._tree
        actions = tree.actions(node)
        if action == FOLD or (action == CALL and CALL in actions):
            return tree.child(node, action)
        for candidate in actions:
            if candidate > 0 and self._real(node, candidate, state) == action:
                return tree.child(node, candidate)
        highest, pot = _faced(tree, node)
        real_highest = state.highest
        fraction = (action - real_highest) / (state.pot + state.to_call)
        readings = translate(round(highest + fraction * pot), actions, highest, pot)
        if len(readings) > 1 and readings[0][0] == CALL and not self._stays(node):
            readings = readings[1:]
        draw = 0.5 if state.rules.num_players > 2 else self._uniform(f"{state.text()}:{action}")
        chosen = readings[0][0] if draw < readings[0][1] or len(readings) == 1 else readings[1][0]
        return tree.child(node, chosen) if chosen in actions else None

    def _stays(self, node: int) -> bool:
        """Whether calling at `node` is possible and leaves the round open."""
        tree = self._tree
        if CALL not in tree.actions(node):
            return False
        child = tree.child(node, CALL)
        return bool(tree.kind[child] == Kind.DECISION and tree.street[child] == tree.street[node])

    def _in_step(self, node: int, state: Betting) -> int | None:
        """`node` if the player of `state` acts there on its street."""
        tree = self._tree
        same = tree.kind[node] == Kind.DECISION and tree.street[node] == state.street
        return node if same and tree.player[node] == state.to_act else None

    def _real(self, node: int, action: int, state: Betting) -> int:
        legal = state.legal()
        if action == FOLD:
            return FOLD if legal.fold else CALL
        if action == CALL or not legal.max_raise:
            return CALL
        stack = state.rules.stacks[state.to_act]
        if action >= stack:
            return legal.max_raise
        highest, pot = _faced(self._tree, node)
        real_highest = state.highest
        if highest == real_highest and pot == state.pot + state.to_call:
            total = action
        else:
            total = round(real_highest + (action - highest) / pot * (state.pot + state.to_call))
        return min(max(total, legal.min_raise), legal.max_raise)

    def _uniform(self, text: str) -> float:
        digest = hashlib.blake2b(f"{self._seed}|{text}".encode(), digest_size=8).digest()
        return int.from_bytes(digest, "little") / 2.0**64


def _least_active(betting: Betting, done: int, out: set[int]) -> int | None:
    """The player to leave out when the call after `done` actions is one too many: the caller, or another who has
    called, but nobody who raises in the whole hand nor the player to act now; None if there is no such player."""
    moves = list(betting.moves())
    needed = {betting.to_act, *out, *(player for player, action in moves if action > 0)}
    callers = [player for player, action in moves[: done + 1] if action == CALL and player not in needed]
    return callers[-1] if callers else None


def _faced(tree: BettingTree, node: int) -> tuple[int, int]:
    """The largest total at `node`, and the pot after its player calls it."""
    committed = tree.committed[node]
    highest = max(int(committed.max()), 0 if tree.street[node] else tree.rules.opening)
    player = int(tree.player[node])
    return highest, tree.pot(node) + highest - int(committed[player])


def pseudo_harmonic(below: float, above: float, size: float) -> float:
    """Probability of reading `size` as `below`; sizes in pots, below <= size <= above, below < above."""
    return (above - size) * (1 + below) / ((above - below) * (1 + size))


def translate(total: int, actions: Sequence[int], highest: int, pot: int) -> list[tuple[int, float]]:
    """Tree actions, with probabilities, that a real raise to `total` stands for.

    `highest` is the largest total before the raise and `pot` the pot after calling it. A raise smaller than all in
    `actions` lies between CALL (size 0) and the smallest; one above the largest is read as the largest.
    """
    raises = sorted(action for action in actions if action > 0)
    if total in raises or not raises:
        return [(total if total in raises else CALL, 1.0)]
    if total > raises[-1]:
        return [(raises[-1], 1.0)]
    above = next(action for action in raises if action > total)
    smaller = [action for action in raises if action < total]
    below = smaller[-1] if smaller else CALL
    below_size = (below - highest) / pot if smaller else 0.0
    probability = pseudo_harmonic(below_size, (above - highest) / pot, (total - highest) / pot)
    return [(below, probability), (above, 1.0 - probability)]


def on_actions(policy: Policy, offered: tuple[int, ...]) -> Singles:
    """[H, A] a policy among actions `offered`, each read as the nearest of its kind."""
    actions, probs = policy
    merged = np.zeros((len(probs), len(offered)), np.float32)
    for column, action in enumerate(actions):
        merged[:, min(range(len(offered)), key=lambda i: _distance(action, offered[i]))] += probs[:, column]
    return merged


def _distance(action: int, other: int) -> tuple[bool, int]:
    return np.sign(action) != np.sign(other), abs(action - other)
