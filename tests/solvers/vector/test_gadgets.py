"""Gadgets of safe re-solving, and the counterfactual values they are made of, against plain Python."""

import numpy as np
import pytest

from poker.game.rules import Rules
from poker.run.errors import PokernetsError
from poker.solvers.vector.game import VectorGame
from poker.solvers.vector.solver import VectorSolver
from poker.tree import Gadget, Kind
from tests.solvers.games import leduc, small_holdem
from tests.solvers.reference import Reference
from tests.solvers.resolving import exported, game_tree


@pytest.mark.parametrize("rules", [leduc(), small_holdem()], ids=["leduc", "two cards"])
@pytest.mark.parametrize("player", [0, 1])
def test_best_response_values_equal_plain_python(rules: Rules, player: int) -> None:
    tree = game_tree(rules)
    ranges = np.ones((2, rules.num_hands), np.float32)
    solver = VectorSolver(VectorGame(tree, (), ranges), "cfr_plus")
    solver.run(iterations=3)
    responses, profile = solver.best_response_values(player), exported(solver)
    reference = Reference(tree, (), ranges.astype(np.float64))
    compared = 0
    for node in np.flatnonzero((tree.street == 0) & (solver.game.layout.position >= 0)).tolist():
        arriving = responses.arriving(node)
        mass = rules.space.compatible_mass(arriving)
        expected = reference.values(node, player, (), arriving, profile, best=True)
        np.testing.assert_allclose(np.nan_to_num(responses.at(node)) * mass, expected, rtol=1e-4, atol=1e-5)
        if tree.kind[node] == Kind.STREET and solver.game.layout.nodes.role[solver.game.layout.position[node]] == 1:
            boards = [solver.game.boards.cards[index] for index in solver.game.on(1)]
            for board, values in zip(boards, responses.starts(node), strict=True):
                reach = arriving * reference.live(board)
                mass = rules.space.compatible_mass(reach)
                below = reference.values(int(tree.first_child[node]), player, board, reach, profile, best=True)
                np.testing.assert_allclose(np.nan_to_num(values) * mass, below, rtol=1e-4, atol=1e-5)
                assert np.isnan(values[reference.live(board) == 0]).all()
                compared += 1
    assert compared >= 6


def test_gadgets_need_alternatives_and_a_fixed_start() -> None:
    tree = game_tree(leduc(), Gadget(1, 1))
    with pytest.raises(PokernetsError, match="alternative values are needed"):
        VectorGame(tree)
    with pytest.raises(PokernetsError, match="have the shape"):
        VectorGame(tree, alternatives=np.zeros(6, np.float32))
    with pytest.raises(PokernetsError, match="infinite chips"):
        VectorGame(tree, alternatives=np.full((len(tree.gadgets), 3, 6), np.inf, np.float32))
    with pytest.raises(PokernetsError, match="are for trees with gadgets"):
        VectorGame(game_tree(leduc()), alternatives=np.zeros(6, np.float32))
    solver = VectorSolver(VectorGame(tree, alternatives=np.zeros((len(tree.gadgets), 3, 6), np.float32)))
    with pytest.raises(PokernetsError, match="lock the decisions above"):
        solver.run(iterations=1)
