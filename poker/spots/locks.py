"""Locks of a spot: decisions with a fixed strategy; the solver computes the rest of the game around them.

A key `lock WORDS` of a spot fixes the strategy of the player to act after these words, on every board. The key `lock`
alone is the first decision. The value lists hands for each action. A hand listed for several actions is divided by
weight, and `rest` takes all hands that remain:

    lock check: bet33 AA,KK,22-99:0.5; check rest
"""

import numpy as np

from poker.formats.ranges import parse_range
from poker.run.errors import PokernetsError
from poker.solvers.vector.solver import VectorSolver
from poker.spots.solution import action_name, find_node
from poker.spots.spots import LOCK, Spot

_REST = "rest"


def lock_decisions(spot: Spot, solver: VectorSolver) -> None:
    """Lock the decisions that the spot locks in its solver.

    Raises:
        PokernetsError: a lock is invalid; the message names it.
    """
    tree, board = solver.game.tree, solver.game.board
    keys = dict[int, str]()
    for key, value in spot.locks.items():
        try:
            node, _ = find_node(tree, board, key.removeprefix(LOCK))
            if keys.setdefault(node, key) != key:
                raise PokernetsError(f"`{keys[node]}` locks the same decision: remove one of them")
            names = [action_name(tree, node, child) for child in tree.children(node)]
            solver.lock(node, _shares(str(value), names, solver.game.rules.num_hands))
        except PokernetsError as error:
            raise PokernetsError(f"spot, `{key}`: {error}") from None


def _shares(text: str, names: list[str], hands: int) -> np.ndarray[tuple[int, int], np.dtype[np.float32]]:
    """Return the strategy [H, A] that the text of a lock describes."""
    shares, ranges = np.zeros((hands, len(names)), np.float32), dict[str, str]()
    for part in filter(None, map(str.strip, text.split(";"))):
        name, _, given = part.partition(" ")
        if name not in names:
            raise PokernetsError(f"`{name}` is not possible here: {', '.join(names)} are")
        if name in ranges:
            raise PokernetsError(f"`{name}` occurs twice: write its hands in one list")
        ranges[name] = given.strip()
        if ranges[name] != _REST:
            shares[:, names.index(name)] = parse_range(given)
    rest = [names.index(name) for name, given in ranges.items() if given == _REST]
    if len(rest) > 1:
        raise PokernetsError(f"only one action can take the `{_REST}`")
    for place in rest:
        shares[:, place] = np.maximum(1 - shares.sum(axis=1), 0)
    return shares
