"""A solved spot on disk: the average strategy at every node and board, queried by words.

    solution = load_solution("runs/demo/spots/Td9d6hQc-dea3b63c/solution")
    node = solution.node("check bet120")
    node.strategy["AhKd"]           # probabilities of node.actions
    solution.node("check check 2c bet50")   # a card word deals it

Strategies are the normalised averages as float16. The game is rebuilt from the spot, so a solution is small and always
matches its tree. H is the number of hands and A of actions.
"""

import re
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from poker.game.cards import hand_index, parse_cards
from poker.game.rules import CALL, FOLD
from poker.kernels.types import Singles
from poker.run.errors import PokernetsError
from poker.solvers.vector.game import NO_LIMIT, VectorGame
from poker.solvers.vector.solver import VectorSolver
from poker.spots.spots import Spot, spot_of
from poker.store.artifacts import open_artifact, refuses_by_name, write_artifact
from poker.tree import BettingTree, Kind

KIND = "spot_solution"


@dataclass(frozen=True)
class HandTable:
    """A table with a row for each hand.

    Attributes:
        rows: [H, A] values.
    """

    rows: Singles

    def __getitem__(self, hand: int | str) -> Singles:
        """Return the row [A] of a hand, given as an index or as text such as `AhKd`.

        Raises:
            PokernetsError: the text is not a hand of two cards.
        """
        if isinstance(hand, str):
            cards = parse_cards(hand)
            if len(cards) != 2:
                raise PokernetsError(f"`{hand}` is not a hand of two cards")
            hand = hand_index(*cards)
        return np.asarray(self.rows[hand])


@dataclass(frozen=True)
class NodeView:
    """A decision of a solved game.

    Attributes:
        player: the player to act.
        actions: names of the actions.
        strategy: probabilities [H, A] of the actions.
    """

    node: int
    player: int
    board: tuple[int, ...]
    actions: tuple[str, ...]
    strategy: HandTable


@dataclass(frozen=True)
class Solution:
    """A solved game.

    Attributes:
        game: the game that was solved.
        rows: float16 [entries] average strategy, in the order of `game`.
        metrics: numbers such as the exploitability in chips.
    """

    spot: Spot
    game: VectorGame
    rows: NDArray[np.float16]
    metrics: dict[str, float]

    def node(self, words: str = "") -> NodeView:
        """Return the decision after a sequence of words.

        Args:
            words: `check`, `call`, `fold`, `bet120`, `raise300` (totals of the street), `allin`, and cards.

        Raises:
            PokernetsError: a word is not possible, or nobody acts after the words.
        """
        node, board = find_node(self.game.tree, self.game.board, words)
        names = tuple(action_name(self.game.tree, node, child) for child in self.game.tree.children(node))
        table = HandTable(self.strategy(node, board))
        return NodeView(node, int(self.game.tree.player[node]), board, names, table)

    def strategy(self, node: int, board: tuple[int, ...]) -> Singles:
        """Return the average strategy at a node.

        Args:
            node: a decision node.

        Returns:
            float32 [H, A] probabilities; 0 for hands that the player cannot have.
        """
        return self.game.by_hand(node, board, lambda index: self.game.rows(self.rows, node, index))


def save_solution(path: str | Path, spot: Spot, solver: VectorSolver, metrics: dict[str, float]) -> None:
    """Write the average strategy as an artifact.

    Args:
        path: folder of the artifact.
        metrics: numbers to store, such as the exploitability.
    """
    rows = solver.normalised_average(np.float16)
    write_artifact(path, KIND, config={"spot": spot.text}, arrays={"strategy": rows}, counts=metrics)


@refuses_by_name(KIND)
def load_solution(path: str | Path) -> Solution:
    """Open a solution. The memory limit of the solve does not apply.

    Raises:
        ArtifactError: the solution is missing, damaged or altered.
    """
    artifact = open_artifact(path, KIND)
    spot = spot_of(artifact.config["spot"])
    stored = len(artifact.array("strategy", (None,), dtypes=(np.float16,)))
    game = spot.game(memory_limit=NO_LIMIT, most_entries=stored)
    rows = artifact.array("strategy", (game.num_entries,))
    return Solution(spot, game, rows, {key: float(value) for key, value in artifact.counts.items()})


def street_start(tree: BettingTree, node: int) -> int:
    """Return the largest total bet of a player when the node's street began, in chips."""
    while tree.parent[node] >= 0 and tree.street[tree.parent[node]] == tree.street[node]:
        node = int(tree.parent[node])
    return int(tree.committed[node].max())


def action_name(tree: BettingTree, node: int, child: int) -> str:
    """Return `check`, `call`, `fold`, `bet120`, `raise300` or `allin300`; numbers are totals of the street.

    Args:
        node: a decision node.
        child: the node after the action.
    """
    action, committed = int(tree.action[child]), tree.committed[node]
    level = committed[0] == committed[1]
    if action in (FOLD, CALL):
        return "fold" if action == FOLD else "check" if level else "call"
    total = action - street_start(tree, node)
    if action >= min(tree.rules.stacks):
        return f"allin{total}"
    return f"{'bet' if level else 'raise'}{total}"


def find_child(tree: BettingTree, node: int, word: str, words: str) -> int:
    """Return the child node that a word names.

    Args:
        node: a decision node.
        word: the action, as in `action_name`; `allin` without a number names the all-in.
        words: the whole sequence, for the error message.

    Raises:
        PokernetsError: the action is not possible.
    """
    names = {action_name(tree, node, child): child for child in tree.children(node)}
    for name, child in names.items():
        if word.lower() == name or (word.lower() == "allin" and name.startswith("allin")):
            return child
    possible = ", ".join(names) or "nothing, the hand is over"
    raise PokernetsError(f"`{word}` in `{words}`: expected one of {possible}")


def find_node(tree: BettingTree, board: tuple[int, ...], words: str) -> tuple[int, tuple[int, ...]]:
    """Return the decision after a sequence of words, and its board.

    Args:
        board: board at the root.
        words: actions and cards, separated by spaces.

    Returns:
        (node, board).

    Raises:
        PokernetsError: a word is not possible, or nobody acts after the words.
    """
    node = 0
    for word in words.split():
        if re.fullmatch(r"([2-9TJQKA][cdhs])+", word, re.IGNORECASE):
            if tree.kind[node] != Kind.STREET:
                raise PokernetsError(f"`{word}` in `{words}`: no card is dealt here")
            board = board + parse_cards(word)
            node = int(tree.first_child[node])
            continue
        if tree.kind[node] == Kind.STREET:
            raise PokernetsError(f"`{word}` in `{words}`: expected a card")
        node = find_child(tree, node, word, words)
    if tree.kind[node] != Kind.DECISION:
        what = "a card comes next" if tree.kind[node] == Kind.STREET else "the hand is over"
        raise PokernetsError(f"nobody acts after `{words}`: {what}")
    return node, board
