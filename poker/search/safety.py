"""Safe nested solving: what a solution concedes to each hand of the opponent is the alternative in the next solve.

The solution that the hand has followed so far concedes to a hand of the opponent, at a public state, the value of its
best response from there (its counterfactual best-response value, chips given a compatible hand of the searcher). A new
solve at that state gets these values as the alternatives of a gadget (`poker.tree.gadget`) at its root, and so concedes
no hand more, up to the accuracy of the solve:

- After an action that was in the solution: the values at the state it leads to, whoever acts there.
- An off-tree action is solved from the state before it, with the action in the tree. The alternatives are the values at
  that state, which are those of each hand's best action in the tree: nobody is better off for having chosen another.
- After the deal that ends a solve to the end of the game (turn to river): the values on the dealt board.
- After a depth limit nothing is known: the solution's leaf values are means over the cards to come. The first solve of
  the street is unsafe, against the believed range, and safety starts again from what it concedes.
- The first solve of a hand has nothing to be safe against: it is that of the whole (depth-limited) game.

Weights in a gadget are the believed range of the opponent, which the noise of beliefs keeps positive: with noise 0,
hands that are ruled out are not guarded.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from poker.game.betting import Betting
from poker.game.rules import Rules
from poker.kernels.types import Board, Path, Singles
from poker.kernels.vector.arrays import PASS
from poker.run.errors import PokernetsError
from poker.solvers.vector.boards import deck_of
from poker.solvers.vector.response_values import ResponseValues
from poker.solvers.vector.solver import VectorSolver
from poker.tree import Gadget, Kind

OpponentValues = Singles
"""float32[H] of the opponent's hands, chips of the whole hand, NaN where nothing is known."""

SAFETY = ("unsafe", "resolve")
_HALF_BITS = 15
"""Values below 2 to this power fit into float16."""


@dataclass(frozen=True)
class Safety:
    """How solves are made safe; see the module."""

    kind: str = "unsafe"

    def __post_init__(self) -> None:
        if self.kind not in SAFETY:
            raise PokernetsError(f"search.safety `{self.kind}`: choose one of {', '.join(SAFETY)}")

    @property
    def active(self) -> bool:
        return self.kind != "unsafe"

    def gadget(self, root: Betting, searcher: int, alternatives: OpponentValues | None) -> Gadget | None:
        """The gadget at the root of a solve."""
        return Gadget(1 - searcher, root.street) if self.active and alternatives is not None else None

    def concessions(self, solver: VectorSolver, root: Betting, searcher: int) -> "Concessions | None":
        """Values that the average strategy of `solver` concedes; None if solves are unsafe."""
        if not self.active:
            return None
        return Concessions(root, *round_values(solver.best_response_values(1 - searcher)))


class Starts(NamedTuple):
    """Values where the next street begins, by the card dealt: rows float16 [boards, H] in units of `unit` chips, and
    for each card its row and the suit permutation that maps it to the row's board."""

    rows: NDArray[np.float16]
    place: Mapping[int, tuple[int, int]]
    unit: float = 1.0

    @classmethod
    def of(cls, responses: ResponseValues, node: int) -> "Starts":
        game, street = responses.game, responses.game.layout.first_street + 1
        if game.rules.board_cards[street] != 1:
            return cls(np.zeros((0, 0), np.float16), {})
        place = {}
        for card in range(game.rules.deck_size):
            if card not in game.board:
                index, permutation = game.find_board(street, (*game.board, card))
                place[card] = index - game.on(street).start, permutation
        values = responses.starts(node)
        unit = 2.0 ** (int(np.frexp(np.nanmax(np.abs(values), initial=0.0))[1]) - _HALF_BITS)
        return cls((values / np.float32(unit)).astype(np.float16), place, unit)

    def on(self, card: int, rules: Rules) -> OpponentValues | None:
        """Values with `card` dealt; None where it cannot be."""
        if card not in self.place:
            return None
        row, permutation = self.place[card]
        values: OpponentValues = self.rows[row][deck_of(rules).hand_map[permutation]].astype(np.float32) * np.float32(
            self.unit
        )
        return values


def round_values(responses: ResponseValues) -> tuple[dict[Path, OpponentValues], dict[Path, Starts]]:
    """Values at the states of the root's round, its ends included, by the actions since the root; and, where the solve
    looked through the deal, those on each next card."""
    tree, layout = responses.game.tree, responses.game.layout
    values, starts = {}, {}
    for node in np.flatnonzero((tree.street == layout.first_street) & (layout.position >= 0)).tolist():
        kind, path = tree.kind[node], tree.path(node)
        under_choice = node > 0 and tree.kind[tree.parent[node]] == Kind.CHOICE
        if kind in (Kind.FOLD, Kind.SHOWDOWN, Kind.GADGET, Kind.ALTERNATIVE) or under_choice:
            continue
        values[path] = responses.at(node)
        if kind == Kind.STREET and layout.nodes.role[layout.position[node]] == PASS:
            starts[path] = Starts.of(responses, node)
    return values, starts


@dataclass(frozen=True)
class Concessions:
    """`values` at the states of one round by the actions since `root`, its ends included."""

    root: Betting
    values: Mapping[Path, OpponentValues]
    starts: Mapping[Path, Starts] = field(repr=False)

    def at(self, betting: Betting, board: Board) -> OpponentValues | None:
        """Alternatives for a solve at `betting`, of the round or right after it; None where nothing is known."""
        path = betting.actions[self.root.street][len(self.root.actions[self.root.street]) :]
        if betting.is_over or path not in self.values:
            return None
        starts = self.starts.get(path)
        if betting.street == self.root.street:
            values: OpponentValues | None = self.values[path]
        else:
            values = None if starts is None else starts.on(board[-1], betting.rules)
        return None if values is None or not np.isfinite(values).any() else values
