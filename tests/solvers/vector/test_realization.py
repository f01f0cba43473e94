import numpy as np

from poker.solvers.vector.game import VectorGame
from poker.solvers.vector.realization import realization, strategy_of
from poker.solvers.vector.solver import VectorSolver
from tests.solvers.games import small_holdem
from tests.solvers.resolving import game_tree


def test_probabilities_are_products_of_own_actions() -> None:
    game, player = VectorGame(game_tree(small_holdem())), 0
    solver = VectorSolver(game)
    solver.run(iterations=2)
    strategy = solver.normalised_average()
    weights = np.linspace(1, 2, game.rules.num_hands, dtype=np.float32)
    plan = realization(game, player, strategy_of(game, strategy), weights)
    tree = game.tree
    compared = 0
    for node in game.layout.decisions.tolist():
        if tree.player[node] != player or tree.street[node] != 2:
            continue
        for board in game.on(2)[:3]:
            cards, hands, above = game.boards.cards[board], game.hands(player, board), node
            expected = game.rows(strategy, node, board).T * weights[hands, None]
            while tree.parent[above] >= 0:
                above, action = int(tree.parent[above]), above
                if tree.player[above] == player:
                    seen = cards[: game.rules.board_sizes[int(tree.street[above])]]
                    taken = solver.strategy(above, seen)[:, action - int(tree.first_child[above])]
                    expected *= taken[hands, None]
            np.testing.assert_allclose(game.rows(plan, node, board), expected.T, rtol=1e-5, atol=1e-7)
            compared += 1
    assert compared > 5
    assert not any(game.rows(plan, node, 0).any() for node in [0] if tree.player[node] != player)
