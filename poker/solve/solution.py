"""Solutions of rounds: the policies of both players, and the values of their hands after each action and next card.

Values of the opponent's hands are against the searcher's range, which the searcher knows exactly, under the average
strategies of both players. Averaged over any range of the opponent they are exact, except that the opponent may depart
from the solution later.

Symbols: H hands.
"""

from bisect import bisect
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from poker.game.betting import Betting
from poker.game.cards import CanonicalBoard
from poker.game.rules import Rules
from poker.kernels.types import Board, Floats, Path, Reals, Singles
from poker.kernels.vector.arrays import PASS
from poker.solve.types import NodePolicy, Request
from poker.solvers.vector.boards import deck_of
from poker.solvers.vector.response_values import ResponseValues
from poker.tree import Kind

_HALF_BITS = 15
"""Values below 2 to the power of this fit into float16."""


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

    def on(self, card: int, rules: Rules) -> Singles | None:
        """Return the values [H] with `card` dealt; None if it cannot be dealt."""
        if card not in self.place:
            return None
        row, permutation = self.place[card]
        values: Singles = self.rows[row][deck_of(rules).hand_map[permutation]].astype(np.float32) * np.float32(
            self.unit
        )
        return values


@dataclass(frozen=True)
class RoundValues:
    """Values of one player's hands in a solution of a round.

    Attributes:
        values: [H] chips of the whole hand at the states of the round, including its ends, by the actions since the
            root; NaN for hands that the solve left out.
        starts: the values on each next card, if the solve includes the next deal.
    """

    rules: Rules
    player: int
    values: Mapping[Path, Singles] = field(repr=False)
    starts: Mapping[Path, Starts] = field(repr=False)

    @classmethod
    def of(cls, responses: ResponseValues) -> "RoundValues":
        """Read the values of a round out of a sweep."""
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
        return cls(tree.rules, responses.player, values, starts)

    def dealt(self, path: Path, card: int) -> Singles | None:
        """Return the values [H] with a card dealt after a path that ended the round; None if they are unknown."""
        starts = self.starts.get(path)
        return None if starts is None else starts.on(card, self.rules)


@dataclass(frozen=True)
class RoundSolution:
    """Strategies of both players at every decision of one round.

    Attributes:
        root: state at the root of the solve.
        policies: policies by the actions since `root`.
        concessions: values that the solution concedes to the opponent, if later solves must be safe.
        values: values of the hands by player, if they are stored.
        request: the request that the solution answers.
    """

    root: Betting
    policies: Mapping[Path, NodePolicy]
    concessions: RoundValues | None = None
    values: Mapping[int, RoundValues] = field(default_factory=dict)
    request: Request | None = None

    def at(self, betting: Betting) -> NodePolicy | None:
        """Return the policy at `betting`; None if it lies outside this solution."""
        if betting.street != self.root.street or betting.actions[-1][: self._past] != self.root.actions[-1]:
            return None
        return self.policies.get(self.path_to(betting))

    def path_to(self, betting: Betting) -> Path:
        """Return the actions of the round from the root to `betting`."""
        return betting.actions[-1][self._past :]

    @property
    def _past(self) -> int:
        """Number of actions of the round before the root."""
        return len(self.root.actions[self.root.street])

    def alternatives(self, betting: Betting, board: Board) -> Singles | None:
        """Return the opponent's values at `betting`, which is in this round or right after it.

        A solve there must not concede more than these.

        Returns:
            float32 [H] chips; None if they are unknown.
        """
        if self.concessions is None or betting.is_over:
            return None
        street = self.root.street
        path = betting.actions[street][self._past :]
        values = self.concessions.values.get(path)
        if betting.street != street:
            values = self.concessions.dealt(path, board[-1])
        return None if values is None or not np.isfinite(values).any() else values


@dataclass(frozen=True)
class DecisionValues:
    """Values of the actions at one decision.

    Attributes:
        solved: values of the solution.
        path: actions from the root of the solve to the decision.
        board: the board in canonical and in real suits.
    """

    solved: RoundValues
    path: Path
    board: CanonicalBoard

    @property
    def player(self) -> int:
        """The player whose hands are valued."""
        return self.solved.player

    def after(self, action: int) -> Floats | None:
        """Return the values after an action.

        Args:
            action: the action. A raise between two raises of the solution is interpolated, and one beyond them takes
                the values of the nearest.

        Returns:
            float64 [H] chips; None if they are unknown.
        """
        exact = self._value(action)
        if exact is not None or action <= 0:
            return exact
        raises = sorted(path[-1] for path in self.solved.values if path and path[:-1] == self.path and path[-1] > 0)
        at = bisect(raises, action)
        nearest = raises[max(0, at - 1) : at + 1]
        values = [self._own_suits(self.solved.values[*self.path, total]) for total in nearest]
        if len(values) < 2:
            return values[0] if values else None
        (lower, upper), (below, above) = nearest, values
        share = (action - lower) / (upper - lower)
        return (1 - share) * below + share * above

    def dealt(self, action: int, card: int) -> Floats | None:
        """Return the values with a card dealt after an action that ended the round.

        Returns:
            float64 [H] chips; None if the solve stopped before the deal.
        """
        values = self.solved.dealt((*self.path, action), self.board.card(card))
        return None if values is None else self._own_suits(values)

    def _value(self, action: int) -> Floats | None:
        values = self.solved.values.get((*self.path, action))
        return None if values is None else self._own_suits(values)

    def _own_suits(self, values: Reals) -> Floats:
        """Return the values [H] in the suits that were dealt; hands that were left out get the mean of the others."""
        valued = np.isfinite(values)
        mean = values[valued].mean(dtype=np.float64) if valued.any() else 0.0
        return self.board.dealt(np.where(valued, values, mean).astype(np.float64))
