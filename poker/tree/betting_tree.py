"""The public betting tree: a frozen struct of arrays without cards, shared by every solver and agent.

The N nodes are in breadth-first order, and there are P players. Node 0 is the root, and a parent comes before its
children. The children of a node are contiguous, in the order FOLD, CALL, then ascending raises.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from enum import IntEnum
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from poker.game.betting import Betting
from poker.game.rules import CALL, FOLD, NO_ACTION, Rules
from poker.run.errors import PokernetsError
from poker.tree.gadget import Gadget


class Kind(IntEnum):
    """The kind of a tree node.

    Attributes:
        DECISION: a player acts.
        STREET: a round ended and cards come; one child.
        FOLD: all players but one have folded.
        SHOWDOWN: the last round ended.
        LEAF: the depth limit.
        CHOICE: a player picks one of K continuations. The children are LEAF nodes or the CHOICE node of the next
            chooser.
        GADGET: a player chooses between two children, the ALTERNATIVE and the subgame.
        ALTERNATIVE: a terminal node with a value for each hand.
    """

    DECISION = 0
    STREET = 1
    FOLD = 2
    SHOWDOWN = 3
    LEAF = 4
    CHOICE = 5
    GADGET = 6
    ALTERNATIVE = 7


@dataclass(frozen=True, eq=False)
class BettingTree:
    """A public betting tree as read-only arrays over its N nodes.

    Attributes:
        kind: int8 [N] the `Kind` of each node.
        player: int8 [N] the player who acts at DECISION, CHOICE and GADGET nodes, -1 elsewhere.
        street: int8 [N] the street; for STREET, CHOICE and LEAF nodes the round that ended.
        parent: int32 [N] parent of each node, -1 for the root.
        first_child: int32 [N] first child of each node, -1 for none.
        num_children: int32 [N] number of children.
        action: int32 [N] the edge into the node: FOLD, CALL, a raise-to total, or the continuation for children of a
            CHOICE node. NO_ACTION at the root and below STREET and GADGET nodes.
        committed: int32 [N, P] chips that each player has put in.
        folded: bool [N, P] whether each player has folded.
        leaf_state: int32 [N] number 0..L-1 of the public leaf state for LEAF nodes, -1 elsewhere. All continuations of
            one state share it.
        leaf_choice: int32 [N] the continuation at LEAF nodes, in base K with the first chooser's as the highest digit.
        dead: chips in the pot besides the committed ones.
        from_rules: whether this is the whole tree of a limit game, which `build_tree` can rebuild from the rules alone.
        gadget: the gadget of safe re-solving, or None.
    """

    rules: Rules
    kind: NDArray[np.int8]
    player: NDArray[np.int8]
    street: NDArray[np.int8]
    parent: NDArray[np.int32]
    first_child: NDArray[np.int32]
    num_children: NDArray[np.int32]
    action: NDArray[np.int32]
    committed: NDArray[np.int32]
    folded: NDArray[np.bool_]
    leaf_state: NDArray[np.int32]
    leaf_choice: NDArray[np.int32]
    dead: int = 0
    from_rules: bool = False
    gadget: Gadget | None = None

    def __post_init__(self) -> None:
        """Make all arrays read-only."""
        for value in vars(self).values():
            if isinstance(value, np.ndarray):
                value.setflags(write=False)

    def __len__(self) -> int:
        """Return the number of nodes N."""
        return len(self.kind)

    @cached_property
    def decision_nodes(self) -> NDArray[np.int32]:
        """int32 [D] DECISION and CHOICE nodes, ascending."""
        acts = (self.kind == Kind.DECISION) | (self.kind == Kind.CHOICE)
        return np.flatnonzero(acts).astype(np.int32)

    @cached_property
    def gadgets(self) -> NDArray[np.int32]:
        """int32 [G] GADGET nodes, ascending."""
        return np.flatnonzero(self.kind == Kind.GADGET).astype(np.int32)

    @cached_property
    def num_leaf_states(self) -> int:
        """Number of public leaf states L."""
        return int(self.leaf_state.max(initial=-1)) + 1

    @cached_property
    def leaves(self) -> NDArray[np.int32]:
        """int32 [L] node where the round of each public leaf state ended: the first CHOICE node, or the LEAF."""
        leaves = np.flatnonzero(self.kind == Kind.LEAF)
        top, chosen = leaves, np.append(self.kind == Kind.CHOICE, False)  # the last entry is the root's parent, -1
        while (below := chosen[self.parent[top]]).any():
            top = np.where(below, self.parent[top], top)
        roots = np.full(self.num_leaf_states, -1, np.int32)
        roots[self.leaf_state[leaves]] = top
        return roots

    @cached_property
    def levels(self) -> NDArray[np.int32]:
        """int32 [depth + 1] level boundaries: nodes at depth d are levels[d]..levels[d + 1] - 1."""
        depth = np.zeros(len(self), np.int32)
        for node in range(1, len(self)):
            depth[node] = depth[self.parent[node]] + 1
        return np.concatenate([np.flatnonzero(np.diff(depth, prepend=-1)), [len(self)]]).astype(np.int32)

    def children(self, node: int) -> range:
        """Return the children of a node as a range of node numbers."""
        first = int(self.first_child[node])
        return range(first, first + int(self.num_children[node]))

    def actions(self, node: int) -> tuple[int, ...]:
        """Return the actions of a node in the order of its children."""
        children = self.children(node)
        return tuple(self.action[children.start : children.stop].tolist())

    def pot(self, node: int) -> int:
        """Return the chips in the pot at a node, uncalled bets and dead chips included."""
        return self.dead + int(self.committed[node].sum())

    def child(self, node: int, action: int) -> int:
        """Return the child of a node after an action, past any STREET and GADGET nodes.

        Args:
            node: a DECISION or CHOICE node.
            action: FOLD, CALL, a raise-to total or a continuation.

        Raises:
            PokernetsError: the node does not have this action.
        """
        for child in self.children(node):
            if self.action[child] == action:
                return self.after_deal(child)
        raise PokernetsError(f"no action {action} after `{self.path_text(node)}`: the tree has {self.actions(node)}")

    def after_deal(self, node: int) -> int:
        """Follow STREET and GADGET nodes to the first node below them, on the side of the subgame."""
        while int(self.kind[node]) in (Kind.STREET, Kind.GADGET):
            node = self.children(node)[-1]
        return node

    def find(self, actions: Sequence[int]) -> int:
        """Return the node after a sequence of actions from the root.

        Args:
            actions: actions of all streets, without separators.

        Raises:
            PokernetsError: the tree does not have one of the actions.
        """
        node = self.after_deal(0)
        for action in actions:
            node = self.child(node, action)
        return node

    def betting(self, node: int, root: Betting | None = None) -> Betting:
        """Return the betting state at a node.

        Args:
            root: the betting state at the root of the tree; None for the start of the hand.
        """
        betting = Betting.start(self.rules) if root is None else root
        for action in self.path(node):
            betting = betting.apply(action)
        return betting

    def path(self, node: int) -> tuple[int, ...]:
        """Return the actions from the root to a node, in the form that `find` accepts."""
        edges = [int(self.action[n]) for n in self._ancestry(node)]
        return tuple(edge for edge in reversed(edges) if edge != NO_ACTION)

    def path_text(self, node: int) -> str:
        """Return the path to a node in ACPC form, with `/` for a new street and `[k]` for a continuation."""
        words = []
        for n in self._ancestry(node):
            parent = int(self.parent[n])
            if parent < 0 or self.kind[parent] == Kind.GADGET:
                continue
            if self.kind[parent] == Kind.STREET:
                words.append("/")
            elif self.kind[parent] == Kind.CHOICE:
                words.append(f"[{self.action[n]}]")
            else:
                action = int(self.action[n])
                words.append({FOLD: "f", CALL: "c"}.get(action, f"r{action}"))
        return "".join(reversed(words))

    def _ancestry(self, node: int) -> Iterator[int]:
        while node >= 0:
            yield node
            node = int(self.parent[node])


def children_of(parent: NDArray[np.int32]) -> tuple[NDArray[np.int32], NDArray[np.int32]]:
    """Compute the first child and the number of children of each node.

    Args:
        parent: int32 [N] parents of all nodes in breadth-first order; -1 for the root.

    Returns:
        int32 [N] first children, -1 for none, and int32 [N] numbers of children.
    """
    counts = np.bincount(parent[1:], minlength=len(parent)).astype(np.int32)
    return np.where(counts > 0, 1 + np.cumsum(counts, dtype=np.int32) - counts, -1).astype(np.int32), counts
