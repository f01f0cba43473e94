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


def test_hands_that_never_come_play_by_their_regrets() -> None:
    game = VectorGame(game_tree(small_holdem()))
    solver = VectorSolver(game, "apdcfr")
    solver.run(iterations=300)
    average, rare = solver.normalised_average(rare_by_regrets=True), 0
    for node in game.layout.decisions.tolist():
        player, street = int(game.tree.player[node]), int(game.tree.street[node])
        for board in game.on(street)[:3]:
            weight = game.rows(solver.arrays["sums"], node, board).sum(axis=0)
            never = weight == 0
            cards, hands = game.boards.cards[board], game.hands(player, board)
            stored = game.rows(average, node, board).T
            reached = weight > weight.max() / 1000
            np.testing.assert_array_equal(stored[reached], solver.strategy(node, cards)[hands][reached])
            np.testing.assert_array_equal(stored[never], solver.current_strategy(node, cards)[hands][never])
            rare += int((never & (stored.max(axis=1) == 1)).sum())
    assert rare > 10
