"""Builds a `BettingTree` breadth first from a betting state, a bet menu and, if wanted, a depth limit."""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from poker.errors import PokernetsError
from poker.rules import CALL, FOLD, NO_ACTION
from poker.state import Betting
from poker.tree.betting_tree import BettingTree, Kind
from poker.tree.gadget import Gadget
from poker.tree.limit import build_limit_tree, is_covered
from poker.tree.menus import BetMenu, street_base

MAX_NODES = 30_000_000

Watch = Callable[[Betting, int], None]
"""Called with every decision in a tree and the number of its actions; what it raises ends the build."""


@dataclass(frozen=True)
class DepthLimit:
    """The tree ends with the round of `street`: there each of `choosers` in turn picks one of `continuations`.

    One chooser, the opponent, is [DLS]; both is Pluribus; none gives one LEAF with a single value. Run-outs of players
    who are all-in end in SHOWDOWN, or with `cut_runouts` in a LEAF without a choice, since nobody acts any more.
    """

    street: int
    continuations: int = 4
    choosers: tuple[int, ...] = ()
    cut_runouts: bool = False

    def __post_init__(self) -> None:
        if self.choosers and self.continuations < 1:
            raise PokernetsError(f"depth limit: continuations must be at least 1, not {self.continuations}")


def build_tree(
    betting: Betting,
    menu: BetMenu | None = None,
    depth_limit: DepthLimit | None = None,
    dead: int = 0,
    gadget: Gadget | None = None,
    watch: Watch | None = None,
) -> BettingTree:
    """The tree of all betting from `betting` on. Limit games need no menu; `dead` chips lie in the pot besides; with
    `gadget` its nodes stand at the starts of its subgames. `watch` sees the tree grow.

    Raises PokernetsError when the menu has no sizes for a street, or beyond MAX_NODES nodes.
    """
    if menu is None:
        if not betting.rules.is_limit:
            raise PokernetsError(f"the no-limit game `{betting.rules.name}` needs a bet menu")
        menu = BetMenu(())
    plain = depth_limit is None and gadget is None and not dead and not menu.extra and watch is None
    if plain and is_covered(betting.rules) and betting == Betting.start(betting.rules):
        return build_limit_tree(betting.rules, MAX_NODES)
    return _Builder(menu, depth_limit, dead, gadget, watch).build(betting)


class _Builder:
    """Rows are appended in breadth-first order; `states[n]` is the betting at node n while it still has to grow."""

    def __init__(
        self,
        menu: BetMenu,
        depth_limit: DepthLimit | None,
        dead: int,
        gadget: Gadget | None,
        watch: Watch | None,
    ) -> None:
        self.menu = menu
        self.limit = depth_limit
        self.dead = dead
        self.gadget = gadget
        self.watch = watch
        self.rows: list[tuple[int, int, int, int, int]] = []
        self.committed: list[tuple[int, ...]] = []
        self.folded: list[tuple[bool, ...]] = []
        self.states: list[tuple[Betting, int, int] | None] = []
        self.first_child: list[int] = []
        self.num_children: list[int] = []
        self.leaf_state: list[int] = []
        self.leaf_choice: list[int] = []
        self.num_leaf_states = 0

    def build(self, root: Betting) -> BettingTree:
        street = self._street_of(root)
        self._start(root, street, -1, street_base(root))
        node = 0
        while node < len(self.rows):
            self._grow(node)
            node += 1
        kind, player, streets, parent, action = np.array(self.rows, np.int32).T
        return BettingTree(
            rules=root.rules,
            kind=kind.astype(np.int8),
            player=player.astype(np.int8),
            street=streets.astype(np.int8),
            parent=np.ascontiguousarray(parent),
            first_child=np.array(self.first_child, np.int32),
            num_children=np.array(self.num_children, np.int32),
            action=np.ascontiguousarray(action),
            committed=np.array(self.committed, np.int32),
            folded=np.array(self.folded, np.bool_),
            leaf_state=np.array(self.leaf_state, np.int32),
            leaf_choice=np.array(self.leaf_choice, np.int32),
            dead=self.dead,
            gadget=self.gadget,
        )

    @staticmethod
    def _street_of(betting: Betting) -> int:
        """The street whose round is on, or has just ended; run-outs start where somebody last acted."""
        if not betting.is_showdown:
            return betting.street
        return max((street for street, actions in enumerate(betting.actions) if actions), default=0)

    def _start(self, betting: Betting, street: int, parent: int, base: int) -> None:
        """The node where the round of `street` begins: a GADGET, if subgames begin there and somebody acts."""
        if self.gadget is not None and self.gadget.street == street and not betting.is_over:
            self._row(Kind.GADGET, self.gadget.player, street, parent, NO_ACTION, betting, base)
        else:
            self._append(betting, street, parent, NO_ACTION, base)

    def _append(self, betting: Betting, street: int, parent: int, action: int, base: int) -> None:
        """A node for `betting` seen from the round of `street`: STREET or the depth limit if that round is over."""
        final = betting.rules.num_streets - 1
        allin = betting.is_showdown
        player = -1
        if betting.is_over and not allin:
            kind = Kind.FOLD
        elif allin and street == final:
            kind = Kind.SHOWDOWN
        elif allin or betting.street > street:
            kind = Kind.STREET
            if self.limit is not None and street >= self.limit.street and (self.limit.cut_runouts or not allin):
                self._append_limit(betting, street, parent, action)
                return
        else:
            kind, player = Kind.DECISION, betting.to_act
        self._row(kind, player, street, parent, action, betting, base)

    def _append_limit(self, betting: Betting, street: int, parent: int, action: int) -> None:
        assert self.limit is not None
        state = self.num_leaf_states
        self.num_leaf_states += 1
        first = len(self.limit.choosers) if betting.is_over else 0
        self._limit_row(betting, street, parent, action, state, first, 0)

    def _limit_row(
        self, betting: Betting, street: int, parent: int, action: int, state: int, chooser: int, choice: int
    ) -> None:
        assert self.limit is not None
        if chooser < len(self.limit.choosers):
            player = self.limit.choosers[chooser]
            self._row(Kind.CHOICE, player, street, parent, action, betting, chooser)
        else:
            self._row(Kind.LEAF, -1, street, parent, action, betting, -1)
        self.leaf_state[-1] = state
        self.leaf_choice[-1] = choice

    def _row(self, kind: Kind, player: int, street: int, parent: int, action: int, betting: Betting, base: int) -> None:
        if len(self.rows) >= MAX_NODES:
            raise PokernetsError(f"the betting tree exceeds {MAX_NODES} nodes: offer fewer bet sizes")
        self.rows.append((kind, player, street, parent, action))
        self.committed.append(betting.committed)
        self.folded.append(betting.folded)
        grows = kind in (Kind.DECISION, Kind.STREET, Kind.CHOICE, Kind.GADGET)
        self.states.append((betting, street, base) if grows else None)
        self.first_child.append(-1)
        self.num_children.append(0)
        self.leaf_state.append(-1)
        self.leaf_choice.append(-1)

    def _grow(self, node: int) -> None:
        state = self.states[node]
        if state is None:
            return
        self.states[node] = None
        betting, street, base = state
        kind = self.rows[node][0]
        first = len(self.rows)
        if kind == Kind.STREET:
            self._start(betting, street + 1, node, max(betting.committed))
        elif kind == Kind.GADGET:
            self._row(Kind.ALTERNATIVE, -1, street, node, NO_ACTION, betting, -1)
            self._append(betting, street, node, NO_ACTION, base)
        elif kind == Kind.CHOICE:
            assert self.limit is not None
            for k in range(self.limit.continuations):
                choice = self.leaf_choice[node] * self.limit.continuations + k
                self._limit_row(betting, street, node, k, self.leaf_state[node], base + 1, choice)
            self.leaf_state[node] = self.leaf_choice[node] = -1
        else:
            if betting.legal().fold:
                self._append(betting.apply(FOLD), street, node, FOLD, base)
            self._append(betting.apply(CALL), street, node, CALL, base)
            for total in self.menu.raise_totals(betting, self.dead, base):
                self._append(betting.apply(total), street, node, total, base)
            if self.watch is not None:
                self.watch(betting, len(self.rows) - first)
        self.first_child[node] = first
        self.num_children[node] = len(self.rows) - first
