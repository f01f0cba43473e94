"""Safe nested solving: values that a solution concedes to the opponent's hands bound what the next solve may concede.

At a public state, the solution that the hand has followed concedes to each hand of the opponent the value of its best
response from there: its counterfactual best-response value, in chips given a compatible hand of the searcher. A new
solve at that state gets these values as the alternatives of a gadget (`poker.tree.gadget`) at its root. So it concedes
no hand more, up to the accuracy of the solve:

- After an action in the solution: the values at the next state, whoever acts there.
- An off-tree action is solved from the state before it, with the action in the tree. The alternatives are the values at
  that state, which are the values of each hand's best action in the tree. So no hand gains by choosing another action.
- After the deal that ends a solve to the end of the game (turn to river): the values on the dealt board.
- After a depth limit no values are known, since the solution's leaf values are means over the cards to come. The first
  solve of the street is unsafe, against the searcher's estimate of the range, and safety starts again from its values.
- The first solve of a hand needs no bound: it solves the whole (depth-limited) game.

A gadget weighs hands by the opponent's estimated range, which the noise of beliefs keeps positive. With noise 0, hands
that are ruled out are not protected against.
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
"""float32 [H] values of the opponent's hands, in chips of the whole hand; NaN where unknown."""

SAFETY = ("unsafe", "resolve")
_HALF_BITS = 15
"""Values below 2 to the power of this fit into float16."""


@dataclass(frozen=True)
class Safety:
    """The kind of safe solving; see the module.

    Attributes:
        kind: `unsafe`, or `resolve` to use the gadget.
    """

    kind: str = "unsafe"

    def __post_init__(self) -> None:
        """Check the kind.

        Raises:
            PokernetsError: there is no such kind.
        """
        if self.kind not in SAFETY:
            raise PokernetsError(f"search.safety `{self.kind}`: choose one of {', '.join(SAFETY)}")

    @property
    def active(self) -> bool:
        """Whether solves are made safe."""
        return self.kind != "unsafe"

    def gadget(self, root: Betting, searcher: int, alternatives: OpponentValues | None) -> Gadget | None:
        """Return the gadget at the root of a solve; None without safety or alternatives.

        Args:
            root: state at the root.
            searcher: the player who searches.
            alternatives: [H] values of the opponent, or None.
        """
        return Gadget(1 - searcher, root.street) if self.active and alternatives is not None else None

    def concessions(self, solver: VectorSolver, root: Betting, searcher: int) -> "Concessions | None":
        """Return the values that the average strategy of a solver concedes; None if solves are unsafe.

        Args:
            solver: the solver.
            root: state at its root.
            searcher: the player who searches.
        """
        if not self.active:
            return None
        return Concessions(root, *round_values(solver.best_response_values(1 - searcher)))


class Starts(NamedTuple):
    """Values where the next street begins, by the card dealt.

    Attributes:
        rows: float16 [boards, H] values in units of `unit` chips.
        place: for each card its row and the permutation of suits that maps it to the row's board.
        unit: chips per unit.
    """

    rows: NDArray[np.float16]
    place: Mapping[int, tuple[int, int]]
    unit: float = 1.0

    @classmethod
    def of(cls, responses: ResponseValues, node: int) -> "Starts":
        """Read the values at a node out of a best response.

        Args:
            responses: values of the best response.
            node: the node at which the card is dealt.

        Returns:
            the values; empty if more than one card is dealt.
        """
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
        """Return the values [H] with `card` dealt; None if it cannot be dealt."""
        if card not in self.place:
            return None
        row, permutation = self.place[card]
        values: OpponentValues = self.rows[row][deck_of(rules).hand_map[permutation]].astype(np.float32) * np.float32(
            self.unit
        )
        return values


def round_values(responses: ResponseValues) -> tuple[dict[Path, OpponentValues], dict[Path, Starts]]:
    """Read the values of a round out of a best response.

    Args:
        responses: values of the best response.

    Returns:
        [H] values at the states of the root's round, including its ends, by the actions since the root; and, if the
        solve includes the next deal, the values on each next card.
    """
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
    """Values that a solution concedes to the opponent.

    Attributes:
        root: state at the root of the solve.
        values: [H] values at the states of the round, including its ends, by the actions since `root`.
        starts: values on each next card, by the actions since `root`.
    """

    root: Betting
    values: Mapping[Path, OpponentValues]
    starts: Mapping[Path, Starts] = field(repr=False)

    def at(self, betting: Betting, board: Board) -> OpponentValues | None:
        """Return alternatives for a solve at a state of the round or right after it.

        Args:
            betting: the state.
            board: cards of the board.

        Returns:
            [H] values in chips; None if they are unknown.
        """
        path = betting.actions[self.root.street][len(self.root.actions[self.root.street]) :]
        if betting.is_over or path not in self.values:
            return None
        starts = self.starts.get(path)
        if betting.street == self.root.street:
            values: OpponentValues | None = self.values[path]
        else:
            values = None if starts is None else starts.on(board[-1], betting.rules)
        return None if values is None or not np.isfinite(values).any() else values
