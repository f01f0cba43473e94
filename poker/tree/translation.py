"""Translation of a real hand into a tree with few bet sizes.

Every real action is mapped to an action of the tree. Sizes are compared as fractions of the real pot and of the tree's
pot, so a hand whose pot has drifted from the tree keeps its proportions. A real bet x between the tree's bets A < B,
all in pots, is mapped to A with the pseudo-harmonic probability (B - x)(1 + A) / ((B - A)(1 + x)) (Ganzfried and
Sandholm 2013). The draw comes from a hash of the seed and the public history. The same history is therefore always
mapped alike, in every process.

Trees of more than two players omit actions that occur at tables (`BetMenu.beyond`). There the more likely size is
always chosen, a limp that the tree lacks is mapped to its smallest raise, and an extra caller is treated as a player
who folds.
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
from poker.tree.menus import whole_chips


class HistoryTranslator:
    """Maps heads-up or multiplayer histories, from the start of the hand, to nodes of a tree."""

    def __init__(self, tree: BettingTree, seed: int | None) -> None:
        """Prepare the translation for one tree.

        Args:
            seed: seed of the hash that draws between two sizes; None for a random seed.
        """
        self._tree = tree
        self._seed = drawn_seed(seed)

    def node(self, betting: Betting) -> int | None:
        """Return the tree's decision node for a real betting state.

        Args:
            betting: the real state.

        Returns:
            The node, or None if the tree's hand has diverged from the real one. This happens when a raise was mapped to
            all-in, so that the tree has no decisions left, and when more players have raised than the tree allows.
        """
        out: set[int] = set()
        while True:
            node, num_fitting = self._read(betting, frozenset(out))
            if num_fitting is None:
                return node
            left_out = _least_active(betting, num_fitting, out)
            if left_out is None:
                return None
            out.add(left_out)

    def _read(self, betting: Betting, out: frozenset[int]) -> tuple[int | None, int | None]:
        """Return the node for `betting` if players `out` have folded, and None.

        If the tree has no room for an action, the second value is the number of actions before it.
        """
        tree, state, folded = self._tree, Betting.start(betting.rules), set(out)
        node: int | None = tree.after_deal(0)
        for number, (player, action) in enumerate(betting.moves()):
            if player not in out:
                node = None if node is None else self._if_same_turn(self._after_folds(node, folded), state)
                if node is None:
                    return None, None
                actions = tree.actions(node)
                if action == FOLD and FOLD not in actions:
                    folded.add(player)
                elif action == CALL and CALL not in actions:
                    raises = [total for total in actions if total > 0]
                    if not raises or tree.committed[node].max() > tree.rules.opening:
                        return None, number
                    node = tree.child(node, raises[0])
                else:
                    node = self._follow(node, state, action)
            state = state.apply(action)
        return (None if node is None else self._if_same_turn(self._after_folds(node, folded), state)), None

    def _after_folds(self, node: int, folded: set[int]) -> int:
        """Return the node after the players in `folded` have folded, or checked where they cannot fold."""
        tree = self._tree
        while tree.kind[node] == Kind.DECISION and int(tree.player[node]) in folded:
            node = tree.child(node, FOLD if FOLD in tree.actions(node) else CALL)
        return node

    def real_actions(self, node: int, betting: Betting) -> tuple[int, ...]:
        """Return the legal action that each of the tree's actions at a node represents.

        Args:
            node: a decision node of the tree.
            betting: the real state.

        Returns:
            One action per tree action; several tree actions may map to the same one.
        """
        return tuple(self._real(node, action, betting) for action in self._tree.actions(node))

    def _follow(self, node: int, state: Betting, action: int) -> int | None:
        tree = self._tree
        actions = tree.actions(node)
        if action == FOLD or (action == CALL and CALL in actions):
            return tree.child(node, action)
        for candidate in actions:
            if candidate > 0 and self._real(node, candidate, state) == action:
                return tree.child(node, candidate)
        highest, pot = _highest_and_pot(tree, node)
        real_highest = state.highest
        fraction = (action - real_highest) / (state.pot + state.to_call)
        readings = translate(whole_chips(highest + fraction * pot), actions, highest, pot)
        if len(readings) > 1 and readings[0][0] == CALL and not self._stays(node):
            readings = readings[1:]
        draw = 0.5 if state.rules.num_players > 2 else self._uniform(f"{state.text()}:{action}")
        chosen = readings[0][0] if draw < readings[0][1] or len(readings) == 1 else readings[1][0]
        return tree.child(node, chosen) if chosen in actions else None

    def _stays(self, node: int) -> bool:
        """Return whether calling at `node` is possible and leaves the round open."""
        tree = self._tree
        if CALL not in tree.actions(node):
            return False
        child = tree.child(node, CALL)
        return bool(tree.kind[child] == Kind.DECISION and tree.street[child] == tree.street[node])

    def _if_same_turn(self, node: int, state: Betting) -> int | None:
        """Return `node` if the player of `state` acts there on the same street, else None."""
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
        highest, pot = _highest_and_pot(self._tree, node)
        real_highest = state.highest
        if highest == real_highest and pot == state.pot + state.to_call:
            total = action
        else:
            total = whole_chips(real_highest + (action - highest) / pot * (state.pot + state.to_call))
        return min(max(total, legal.min_raise), legal.max_raise)

    def _uniform(self, text: str) -> float:
        digest = hashlib.blake2b(f"{self._seed}|{text}".encode(), digest_size=8).digest()
        return int.from_bytes(digest, "little") / 2.0**64


def _least_active(betting: Betting, num_fitting: int, out: set[int]) -> int | None:
    """Return the player to leave out when the call after `num_fitting` actions is one too many.

    This is the caller or another player who has called, but nobody who raises during the hand and not the player to
    act. None if there is no such player.
    """
    moves = list(betting.moves())
    needed = {betting.to_act, *out, *(player for player, action in moves if action > 0)}
    callers = [player for player, action in moves[: num_fitting + 1] if action == CALL and player not in needed]
    return callers[-1] if callers else None


def _highest_and_pot(tree: BettingTree, node: int) -> tuple[int, int]:
    """Return the largest total at `node` and the pot after its player calls."""
    committed = tree.committed[node]
    highest = max(int(committed.max()), 0 if tree.street[node] else tree.rules.opening)
    player = int(tree.player[node])
    return highest, tree.pot(node) + highest - int(committed[player])


def pseudo_harmonic(below: float, above: float, size: float) -> float:
    """Return the probability of mapping `size` to `below` (Ganzfried and Sandholm 2013).

    Args:
        below: the smaller size, in pots.
        above: the larger size, in pots; larger than `below`.
        size: the real size, in pots; between the two.
    """
    return (above - size) * (1 + below) / ((above - below) * (1 + size))


def translate(total: int, actions: Sequence[int], highest: int, pot: int) -> list[tuple[int, float]]:
    """Return the tree actions that a real raise may be mapped to, with probabilities.

    A raise smaller than all in `actions` lies between CALL (size 0) and the smallest. A raise above the largest is
    mapped to the largest.

    Args:
        total: raise-to total of the real raise, in the chips of the tree.
        actions: actions of the tree.
        highest: the largest total before the raise.
        pot: the pot after calling that total.

    Returns:
        One or two pairs (action, probability).
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
    """Move a policy to a given set of actions.

    Args:
        policy: actions and their probabilities [H, A].
        offered: the actions of the result. Each action of the policy is mapped to the nearest one of its kind.

    Returns:
        float32 [H, len(offered)] probabilities.
    """
    actions, probs = policy
    merged = np.zeros((len(probs), len(offered)), np.float32)
    for column, action in enumerate(actions):
        merged[:, min(range(len(offered)), key=lambda i: _distance(action, offered[i]))] += probs[:, column]
    return merged


def _distance(action: int, other: int) -> tuple[bool, int]:
    return np.sign(action) != np.sign(other), abs(action - other)
