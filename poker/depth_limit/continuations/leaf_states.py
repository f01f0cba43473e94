"""Random depth-limit states: a blueprint plays with some exploration until a betting round ends.

At each decision the played strategy is (1 - e) blueprint + e * uniform over the actions that are not folds. A state is
the public betting state at the end of the round, with several hands for each player. With probability `uniform` a hand
is drawn from all hands, and otherwise from the hands with which that play reaches the state.

H is the number of hands and A of actions.
"""

from dataclasses import dataclass

import numpy as np

from poker.game.rules import FOLD, STREET_NAMES
from poker.game.state import Betting
from poker.kernels.types import I64, Board, Singles
from poker.run.errors import PokernetsError
from poker.solvers.blueprint import Blueprint
from poker.tree import Kind


@dataclass(frozen=True)
class LeafState:
    """A state at the end of a betting round, with hands for both players.

    Attributes:
        node: STREET node of the blueprint's tree.
        betting: the first decision after it.
        hands0: int64 [m0] indices of player 0's hands.
        hands1: int64 [m1] indices of player 1's hands.
    """

    node: int
    betting: Betting
    hands0: I64
    hands1: I64


class LeafSampler:
    """A sampler of states at the end of the round that is played with a given board."""

    def __init__(self, blueprint: Blueprint, board: Board, exploration: float, uniform: float) -> None:
        """Prepare sampling on one board.

        Args:
            blueprint: the strategy that is played.
            board: [B] cards of the round's board.
            exploration: probability e of a random action that is not a fold.
            uniform: probability of drawing a hand from all hands.

        Raises:
            PokernetsError: the game has no betting after the round.
        """
        self._blueprint = blueprint
        self._board = board
        self._exploration = exploration
        self._uniform = uniform
        self._street = blueprint.rules.board_sizes.index(len(board))
        tree = blueprint.tree
        ended = np.flatnonzero((tree.kind == Kind.STREET) & (tree.street == self._street)).tolist()
        if not any(tree.kind[tree.after_deal(node)] == Kind.DECISION for node in ended):
            raise PokernetsError(
                f"{blueprint.rules.name} with these bets has no betting after the {STREET_NAMES[self._street]}, so no"
                f" leaf states there: set job.settings.preflop_share={1 if board else 0}"
            )
        self._played: dict[int, Singles] = {}
        self._live = (blueprint.cards.buckets(board) >= 0).astype(np.float64)

    def draw(self, hands: int, rng: np.random.Generator) -> LeafState:
        """Draw one state.

        Args:
            hands: number of different hands per player. Hands of the two players may share cards.
        """
        reached = None
        while reached is None:
            reached = self._walk(rng)
        (node, path), tree = reached, self._blueprint.tree
        weights = np.tile(self._live / self._live.sum(), (2, 1))
        for decision, choice in path:
            weights[tree.player[decision]] *= self._play(decision)[:, choice]
        drawn = []
        for weight in weights:
            mixed = (1 - self._uniform) * weight / weight.sum() + self._uniform * self._live / self._live.sum()
            count = min(hands, int(np.count_nonzero(mixed)))
            drawn.append(np.sort(rng.choice(len(mixed), count, replace=False, p=mixed / mixed.sum())))
        return LeafState(node, tree.betting(node), drawn[0], drawn[1])

    def _walk(self, rng: np.random.Generator) -> tuple[int, list[tuple[int, int]]] | None:
        """Return a STREET node with betting after it and the (decision, action index) pairs that led there.

        None if the hand ended in another way.
        """
        tree = self._blueprint.tree
        hands = rng.choice(np.flatnonzero(self._live), 2)
        node, path = tree.after_deal(0), []
        while int(tree.kind[node]) == Kind.DECISION:
            probs = self._play(node)[hands[tree.player[node]]]
            choice = min(int(np.searchsorted(np.cumsum(probs), rng.random())), len(probs) - 1)
            path.append((node, choice))
            child = tree.children(node)[choice]
            node = tree.after_deal(child)
            if int(tree.kind[child]) == Kind.STREET and tree.street[child] == self._street:
                return (child, path) if int(tree.kind[node]) == Kind.DECISION else None
        return None

    def _play(self, node: int) -> Singles:
        """Return the [H, A] strategy that is played, exploration included."""
        if node not in self._played:
            blueprint = self._blueprint
            cards = self._board[: blueprint.rules.board_sizes[int(blueprint.tree.street[node])]]
            explored = (np.array(blueprint.tree.actions(node)) != FOLD).astype(np.float32)
            uniform = self._exploration * explored / explored.sum()
            self._played[node] = (1 - np.float32(self._exploration)) * blueprint.probs(node, cards) + uniform
        return self._played[node]
