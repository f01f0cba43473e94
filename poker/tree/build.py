"""Construction of a `BettingTree` from a betting state, a bet menu and optionally a depth limit.

Nodes are created in breadth-first order.
"""

from collections import deque
from collections.abc import Callable
from dataclasses import dataclass, field

import numpy as np

from poker.game.rules import CALL, FOLD, NO_ACTION
from poker.game.state import Betting
from poker.run.errors import PokernetsError
from poker.tree.betting_tree import BettingTree, Kind, children_of
from poker.tree.gadget import Gadget
from poker.tree.limit import build_limit_tree, is_covered
from poker.tree.menus import BetMenu, street_base

MAX_NODES = 30_000_000

Watch = Callable[[Betting, int], None]
"""Called with every decision in a tree and the number of its actions; an exception that it raises stops the build."""


@dataclass(frozen=True)
class DepthLimit:
    """A depth limit at the end of a round, where players choose continuations.

    One chooser, the opponent, is [DLS] section 4. Two choosers are Pluribus. Without choosers each leaf has a single
    value. Run-outs of all-in players end in SHOWDOWN.

    Attributes:
        street: the tree ends with the round of this street.
        continuations: K, the number of continuations that each chooser picks from.
        choosers: players who pick a continuation, in order.
        cut_runouts: end run-outs of all-in players in a LEAF without a choice, since nobody acts any more.

    Raises:
        PokernetsError: there are choosers but no continuations.
    """

    street: int
    continuations: int = 4
    choosers: tuple[int, ...] = ()
    cut_runouts: bool = False

    def __post_init__(self) -> None:
        """Check the number of continuations."""
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
    """Build the tree of all betting from a state on.

    Args:
        betting: the state at the root.
        menu: bet sizes; None for limit games only.
        depth_limit: where the tree ends before the hand does; None for the whole hand.
        dead: chips in the pot besides the committed ones.
        gadget: adds gadget nodes at the starts of its subgames.
        watch: called with every decision; it may raise an exception to stop the build.

    Raises:
        PokernetsError: the menu is missing or has no sizes for a street, or the tree would exceed MAX_NODES nodes.
    """
    if menu is None:
        if not betting.rules.is_limit:
            raise PokernetsError(f"the no-limit game `{betting.rules.name}` needs a bet menu")
        menu = BetMenu(())
    plain = depth_limit is None and gadget is None and not dead and not menu.extra and watch is None
    if plain and is_covered(betting.rules) and betting == Betting.start(betting.rules):
        return build_limit_tree(betting.rules, MAX_NODES)
    return _Builder(menu, depth_limit, dead, gadget, watch).build(betting)


@dataclass
class _Builder:
    """State of one build; rows are in breadth-first order, and `growing` queues nodes that lack their children."""

    menu: BetMenu
    limit: DepthLimit | None
    dead: int
    gadget: Gadget | None
    watch: Watch | None
    rows: list[tuple[int, ...]] = field(default_factory=list)
    """(kind, player, street, parent, action, leaf state, leaf choice) of each node."""
    committed: list[tuple[int, ...]] = field(default_factory=list)
    folded: list[tuple[bool, ...]] = field(default_factory=list)
    growing: deque[tuple[int, Betting, int, tuple[int, ...]]] = field(default_factory=deque)
    """(node, betting, street, more); `more` is the street's first highest total or arguments of `_choice`."""
    num_leaf_states: int = 0

    def build(self, root: Betting) -> BettingTree:
        self._start(root, self._street_of(root), -1, street_base(root))
        while self.growing:
            self._grow(*self.growing.popleft())
        kind, player, street, parent, action, leaf_state, leaf_choice = np.array(self.rows, np.int32).T.copy()
        first_child, num_children = children_of(parent)
        return BettingTree(
            rules=root.rules,
            kind=kind.astype(np.int8),
            player=player.astype(np.int8),
            street=street.astype(np.int8),
            parent=parent,
            first_child=first_child,
            num_children=num_children,
            action=action,
            committed=np.array(self.committed, np.int32),
            folded=np.array(self.folded, np.bool_),
            leaf_state=leaf_state,
            leaf_choice=leaf_choice,
            dead=self.dead,
            gadget=self.gadget,
        )

    @staticmethod
    def _street_of(betting: Betting) -> int:
        """Return the street whose round is on or has just ended; run-outs start on the street of the last action."""
        if not betting.is_showdown:
            return betting.street
        return max((street for street, actions in enumerate(betting.actions) if actions), default=0)

    def _start(self, betting: Betting, street: int, parent: int, base: int) -> None:
        """Append the first node of a round, which is a GADGET if a subgame begins there and a player acts."""
        if self.gadget is not None and self.gadget.street == street and not betting.is_over:
            self._row(Kind.GADGET, self.gadget.player, street, parent, NO_ACTION, betting, (base,))
        else:
            self._append(betting, street, parent, NO_ACTION, base)

    def _append(self, betting: Betting, street: int, parent: int, action: int, base: int) -> None:
        """Append a node for `betting`; it is a STREET node or the depth limit if the round of `street` is over."""
        allin, limit = betting.is_showdown, self.limit
        if betting.is_over and not allin:
            self._row(Kind.FOLD, -1, street, parent, action, betting)
        elif allin and street == betting.rules.num_streets - 1:
            self._row(Kind.SHOWDOWN, -1, street, parent, action, betting)
        elif not allin and betting.street == street:
            self._row(Kind.DECISION, betting.to_act, street, parent, action, betting, (base,))
        elif limit is not None and street >= limit.street and (limit.cut_runouts or not allin):
            self.num_leaf_states += 1
            chooser = len(limit.choosers) if betting.is_over else 0
            self._choice(betting, street, parent, action, chooser, self.num_leaf_states - 1, 0)
        else:
            self._row(Kind.STREET, -1, street, parent, action, betting, (base,))

    def _choice(
        self, betting: Betting, street: int, parent: int, action: int, chooser: int, state: int, choice: int
    ) -> None:
        """Append the CHOICE node of a chooser, or a LEAF after the last chooser.

        `choice` encodes the continuations that earlier choosers picked.
        """
        assert self.limit is not None
        if chooser < len(self.limit.choosers):
            more = chooser, state, choice
            self._row(Kind.CHOICE, self.limit.choosers[chooser], street, parent, action, betting, more)
        else:
            self._row(Kind.LEAF, -1, street, parent, action, betting, (), state, choice)

    def _row(
        self,
        kind: Kind,
        player: int,
        street: int,
        parent: int,
        action: int,
        betting: Betting,
        more: tuple[int, ...] = (),
        state: int = -1,
        choice: int = -1,
    ) -> None:
        """Append a node; it is queued for growth if `more` is not empty."""
        if len(self.rows) >= MAX_NODES:
            raise PokernetsError(f"the betting tree exceeds {MAX_NODES} nodes: offer fewer bet sizes")
        if more:
            self.growing.append((len(self.rows), betting, street, more))
        self.rows.append((kind, player, street, parent, action, state, choice))
        self.committed.append(betting.committed)
        self.folded.append(betting.folded)

    def _grow(self, node: int, betting: Betting, street: int, more: tuple[int, ...]) -> None:
        kind, first = self.rows[node][0], len(self.rows)
        if kind == Kind.STREET:
            self._start(betting, street + 1, node, max(betting.committed))
        elif kind == Kind.GADGET:
            self._row(Kind.ALTERNATIVE, -1, street, node, NO_ACTION, betting)
            self._append(betting, street, node, NO_ACTION, *more)
        elif kind == Kind.CHOICE:
            assert self.limit is not None
            chooser, state, choice = more
            for k in range(self.limit.continuations):
                self._choice(betting, street, node, k, chooser + 1, state, choice * self.limit.continuations + k)
        else:
            [base] = more
            if betting.legal().fold:
                self._append(betting.apply(FOLD), street, node, FOLD, base)
            if self.menu.offers_call(betting):
                self._append(betting.apply(CALL), street, node, CALL, base)
            for total in self.menu.raise_totals(betting, self.dead, base):
                self._append(betting.apply(total), street, node, total, base)
            if self.watch is not None:
                self.watch(betting, len(self.rows) - first)
