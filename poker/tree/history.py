"""Translation of a real hand into a tree of few bets: every real action is read as one of the tree's.

Sizes are compared as pot fractions of the real and of the tree's pot, so a hand that has drifted from the tree keeps
its proportions. Between two sizes the reading is drawn with the pseudo-harmonic probabilities, from a hash of the seed
and the public history: the same history is read alike every time, in every process.
"""

import hashlib

from poker.betting import Betting
from poker.rules import CALL, FOLD
from poker.tree.betting_tree import BettingTree, Kind
from poker.tree.translation import translate


class HistoryTranslator:
    """Reads heads-up or multi-player histories of `tree.rules` from the start of the hand."""

    def __init__(self, tree: BettingTree, seed: int) -> None:
        self._tree = tree
        self._seed = seed

    def node(self, betting: Betting) -> int | None:
        """The tree's decision node for `betting`, or None where the tree's hand has run apart from the real one.

        The latter happens when a raise was read as all-in, so that the tree has no decisions left, and when a player
        folds to a bet that was read as a check.
        """
        state = Betting.start(betting.rules)
        node: int | None = self._tree.after_deal(0)
        for action in betting.line:
            if node is None:
                return None
            child = self._follow(node, state, action)
            state = state.apply(action)
            node = None if child is None else self._in_step(child, state)
        return node

    def real_actions(self, node: int, betting: Betting) -> tuple[int, ...]:
        """For each of the tree's actions at `node` the legal action it stands for at `betting`; may hold repeats."""
        return tuple(self._real(node, action, betting) for action in self._tree.actions(node))

    def _follow(self, node: int, state: Betting, action: int) -> int | None:
        tree = self._tree
        actions = tree.actions(node)
        if action == FOLD and FOLD not in actions:
            return None
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
        draw = self._uniform(f"{state.text()}:{action}")
        chosen = readings[0][0] if draw < readings[0][1] or len(readings) == 1 else readings[1][0]
        return tree.child(node, chosen)

    def _stays(self, node: int) -> bool:
        """Whether calling at `node` leaves the round open."""
        tree = self._tree
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


def _faced(tree: BettingTree, node: int) -> tuple[int, int]:
    """The largest total at `node`, and the pot after its player calls it."""
    committed = tree.committed[node]
    highest = max(int(committed.max()), 0 if tree.street[node] else tree.rules.opening)
    player = int(tree.player[node])
    return highest, tree.pot(node) + highest - int(committed[player])
