"""Locks of a spot: decisions whose strategy is given, around which the rest is solved.

A key `lock WORDS` of a spot gives what the player to act after these words does, on every board; `lock` alone is the
first decision. Its value gives hands to actions, which share the hands that they both name by weight; `rest` takes what
the others leave:

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
    """Lock the decisions that the spot locks; PokernetsError names the lock that is wrong."""
    tree, board = solver.game.tree, solver.game.board
    for key, value in spot.locks.items():
        try:
            node, _ = find_node(tree, board, key.removeprefix(LOCK))
            names = [action_name(tree, node, child) for child in tree.children(node)]
            solver.lock(node, _shares(str(value), names, solver.game.rules.num_hands))
        except PokernetsError as error:
            raise PokernetsError(f"spot, `{key}`: {error}") from None


def _shares(text: str, names: list[str], hands: int) -> np.ndarray[tuple[int, int], np.dtype[np.float32]]:
    """[H, A] as `text` gives them."""
    shares, rest = np.zeros((hands, len(names)), np.float32), list[int]()
    for part in filter(None, map(str.strip, text.split(";"))):
        name, _, given = part.partition(" ")
        if name not in names:
            raise PokernetsError(f"`{name}` is not possible here: {', '.join(names)} are")
        if given.strip() == _REST:
            rest.append(names.index(name))
        else:
            shares[:, names.index(name)] = parse_range(given)
    if len(rest) > 1:
        raise PokernetsError(f"one action takes the `{_REST}`")
    for place in rest:
        shares[:, place] = np.maximum(1 - shares.sum(axis=1), 0)
    return shares
