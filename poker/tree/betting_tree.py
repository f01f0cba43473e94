"""The public betting tree: a frozen struct of arrays without cards, shared by every solver and agent.

N nodes in breadth-first order, P players: node 0 is the root, a parent comes before its children, the children of a
node are contiguous and in the order FOLD, CALL, raises ascending.
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
    """DECISION: a player acts. STREET: a round ended, cards come; one child. FOLD: all but one folded. SHOWDOWN: the
    last round ended. LEAF: the depth limit. CHOICE: a player picks one of K continuations, whose children are LEAFs (or
    the CHOICE of the next chooser). GADGET: a player compares its two children, the ALTERNATIVE, a terminal with a
    value for each hand, and the subgame."""

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
    """All arrays are read-only.

    `player` acts at DECISION, CHOICE and GADGET nodes and is -1 elsewhere. `street` of a STREET, CHOICE or LEAF node is
    the round that ended. `action` is the edge into the node: FOLD, CALL, a raise-to total, the continuation for
    children of a CHOICE node, NO_ACTION at the root and below STREET and GADGET nodes. `dead` chips lie in the pot
    besides what was committed. `leaf_state[n]` counts the public leaf states 0..L-1 for LEAF nodes (-1 elsewhere): all
    continuations of one state share it; `leaf_choice[n]` is the continuation, base K with the first chooser's as the
    highest digit. `from_rules`: the whole tree of a limit game, which build_tree makes of the rules alone.
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
        for value in vars(self).values():
            if isinstance(value, np.ndarray):
                value.setflags(write=False)

    def __len__(self) -> int:
        return len(self.kind)

    @cached_property
    def decision_nodes(self) -> NDArray[np.int32]:
        """Nodes where somebody acts in the game: DECISION and CHOICE, ascending."""
        acts = (self.kind == Kind.DECISION) | (self.kind == Kind.CHOICE)
        return np.flatnonzero(acts).astype(np.int32)

    @cached_property
    def gadgets(self) -> NDArray[np.int32]:
        """int32[G]: the GADGET nodes, ascending."""
        return np.flatnonzero(self.kind == Kind.GADGET).astype(np.int32)

    @cached_property
    def num_leaf_states(self) -> int:
        return int(self.leaf_state.max(initial=-1)) + 1

    @cached_property
    def leaves(self) -> NDArray[np.int32]:
        """int32[L]: for each public leaf state the node where its round ended (the first CHOICE node, or the LEAF)."""
        leaves = np.flatnonzero(self.kind == Kind.LEAF)
        top, chosen = leaves, np.append(self.kind == Kind.CHOICE, False)  # the last for the root's parent, -1
        while (below := chosen[self.parent[top]]).any():
            top = np.where(below, self.parent[top], top)
        roots = np.full(self.num_leaf_states, -1, np.int32)
        roots[self.leaf_state[leaves]] = top
        return roots

    @cached_property
    def levels(self) -> NDArray[np.int32]:
        """int32[depth + 1]: nodes at depth d are levels[d]..levels[d + 1] - 1."""
        depth = np.zeros(len(self), np.int32)
        for node in range(1, len(self)):
            depth[node] = depth[self.parent[node]] + 1
        return np.concatenate([np.flatnonzero(np.diff(depth, prepend=-1)), [len(self)]]).astype(np.int32)

    def children(self, node: int) -> range:
        first = int(self.first_child[node])
        return range(first, first + int(self.num_children[node]))

    def actions(self, node: int) -> tuple[int, ...]:
        return tuple(int(self.action[child]) for child in self.children(node))

    def pot(self, node: int) -> int:
        """Chips in the pot, uncalled bets and dead chips included."""
        return self.dead + int(self.committed[node].sum())

    def child(self, node: int, action: int) -> int:
        """The child of a DECISION or CHOICE node by `action`; STREET and GADGET nodes below it are passed through."""
        for child in self.children(node):
            if self.action[child] == action:
                return self.after_deal(child)
        raise PokernetsError(f"no action {action} after `{self.path_text(node)}`: the tree has {self.actions(node)}")

    def after_deal(self, node: int) -> int:
        """The node reached from `node` once the cards of STREET nodes are dealt and the subgames of GADGETs entered."""
        while self.kind[node] in (Kind.STREET, Kind.GADGET):
            node = self.children(node)[-1]
        return node

    def find(self, actions: Sequence[int]) -> int:
        """The node after these actions from the root, streets not marked."""
        node = self.after_deal(0)
        for action in actions:
            node = self.child(node, action)
        return node

    def betting(self, node: int, root: Betting | None = None) -> Betting:
        """The betting at `node` of a tree that begins at `root` (default: with the hand)."""
        betting = Betting.start(self.rules) if root is None else root
        for action in self.path(node):
            betting = betting.apply(action)
        return betting

    def path(self, node: int) -> tuple[int, ...]:
        """Actions from the root to `node`, as `find` takes them."""
        edges = [int(self.action[n]) for n in self._ancestry(node)]
        return tuple(edge for edge in reversed(edges) if edge != NO_ACTION)

    def path_text(self, node: int) -> str:
        """The path in ACPC form (`f`, `c`, `r<total>`, `/` for a new street), `[k]` for continuations."""
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
    """(first child, -1 for none, and number of children) of each node by the parents of all in breadth-first order."""
    counts = np.bincount(parent[1:], minlength=len(parent)).astype(np.int32)
    return np.where(counts > 0, 1 + np.cumsum(counts, dtype=np.int32) - counts, -1).astype(np.int32), counts
