"""A solved spot on disk, the average strategy at every node and board, and the words of its actions.

Strategies are float16 of the normalised average; the game is rebuilt from the spot, so a solution is small and cannot
disagree with its tree. `poker.spots.solved.load_solution` reads it.
"""

import re
from pathlib import Path

import numpy as np

from poker.game.cards import parse_cards
from poker.game.rules import CALL, FOLD
from poker.run.errors import PokernetsError
from poker.solvers.vector.solver import VectorSolver
from poker.spots.spots import Spot
from poker.store.artifacts import write_artifact
from poker.tree import BettingTree, Kind

KIND = "spot_solution"


def save_solution(path: str | Path, spot: Spot, solver: VectorSolver, metrics: dict[str, float]) -> None:
    """Writes the average strategy as an artifact."""
    rows = solver.normalised_average(np.float16)
    write_artifact(path, KIND, config={"spot": spot.text}, arrays={"strategy": rows}, counts=metrics)


def street_start(tree: BettingTree, node: int) -> int:
    """The highest total when the node's street began."""
    while tree.parent[node] >= 0 and tree.street[tree.parent[node]] == tree.street[node]:
        node = int(tree.parent[node])
    return int(tree.committed[node].max())


def action_name(tree: BettingTree, node: int, child: int) -> str:
    """`check`, `call`, `fold`, `bet120`, `raise300` or `allin300`: totals of the street."""
    action, committed = int(tree.action[child]), tree.committed[node]
    level = committed[0] == committed[1]
    if action in (FOLD, CALL):
        return "fold" if action == FOLD else "check" if level else "call"
    total = action - street_start(tree, node)
    if action >= min(tree.rules.stacks):
        return f"allin{total}"
    return f"{'bet' if level else 'raise'}{total}"


def find_child(tree: BettingTree, node: int, word: str, words: str) -> int:
    """The child that a `word` of `words` names; `allin` will do for the all-in."""
    names = {action_name(tree, node, child): child for child in tree.children(node)}
    for name, child in names.items():
        if word.lower() == name or (word.lower() == "allin" and name.startswith("allin")):
            return child
    possible = ", ".join(names) or "nothing, the hand is over"
    raise PokernetsError(f"`{word}` in `{words}`: possible are {possible}")


def find_node(tree: BettingTree, board: tuple[int, ...], words: str) -> tuple[int, tuple[int, ...]]:
    """The decision that words lead to, and its board."""
    node = 0
    for word in words.split():
        if re.fullmatch(r"([2-9TJQKA][cdhs])+", word, re.IGNORECASE):
            if tree.kind[node] != Kind.STREET:
                raise PokernetsError(f"`{word}` in `{words}`: no card is dealt here")
            board = board + parse_cards(word)
            node = int(tree.first_child[node])
            continue
        if tree.kind[node] == Kind.STREET:
            raise PokernetsError(f"`{word}` in `{words}`: possible is a card")
        node = find_child(tree, node, word, words)
    if tree.kind[node] != Kind.DECISION:
        what = "a card comes next" if tree.kind[node] == Kind.STREET else "the hand is over"
        raise PokernetsError(f"nobody acts after `{words}`: {what}")
    return node, board
