"""The theorems of safe subgame solving: the strategy put together from blueprint and re-solved subgames is not more
exploitable than the blueprint was.

Exploitability in Leduc is measured in float64 by plain Python; solves are float32.

Gadgets of safe re-solving, and the counterfactual values they are made of, against plain Python.
"""

from functools import lru_cache

import numpy as np
import pytest

from poker.formats.ranges import parse_range
from poker.game.cards import parse_cards
from poker.game.rules import Rules
from poker.game.state import Betting
from poker.run.errors import PokernetsError
from poker.solvers.vector.game import VectorGame
from poker.solvers.vector.solver import VectorSolver
from poker.tree import Gadget, Kind, build_tree
from poker.tree.spots import spot_bets, spot_root, spot_tree
from tests.solvers.games import leduc, small_holdem
from tests.solvers.reference import Reference
from tests.solvers.resolving import combined, exported, game_tree, margins, resolved

LEAST_POT = 2.0
EQUILIBRIUM, EARLY = 3000, 20


@lru_cache
def blueprint(iterations: int) -> VectorSolver:
    solver = VectorSolver(VectorGame(game_tree(leduc())), "cfr_plus")
    solver.run(iterations=iterations)
    return solver


def loss(solver: VectorSolver, searcher: int) -> float:
    """Chips that a best response wins from the searcher."""
    reference = Reference(solver.game.tree, (), solver.game.ranges.astype(np.float64))
    return reference.root_value(1 - searcher, exported(solver), best=True)


@pytest.mark.parametrize("searcher", [0, 1])
def test_safe_resolving_of_any_blueprint_never_adds_to_exploitability(searcher: int) -> None:
    before, tree = blueprint(EARLY), game_tree(leduc(), Gadget(1 - searcher, 1))
    after = combined(before, resolved(before, tree, searcher, 1000), searcher)
    assert loss(after, searcher) < loss(before, searcher) - 0.01


@pytest.mark.slow
@pytest.mark.parametrize("searcher", [0, 1])
def test_safe_resolving_of_an_equilibrium_never_adds_to_exploitability(searcher: int) -> None:
    before, tree = blueprint(EQUILIBRIUM), game_tree(leduc(), Gadget(1 - searcher, 1))
    after = combined(before, resolved(before, tree, searcher, 24_000), searcher)
    assert loss(after, searcher) <= loss(before, searcher) + 1e-6 * LEAST_POT


def test_slack_of_safe_resolving_falls_with_the_iterations() -> None:
    before, tree = blueprint(EQUILIBRIUM), game_tree(leduc(), Gadget(1, 1))
    added = [loss(combined(before, resolved(before, tree, 0, n), 0), 0) - loss(before, 0) for n in (50, 200, 800)]
    assert added[0] > 2 * added[1] > 4 * added[2]
    assert added[2] < 2e-4


def test_unsafe_resolving_of_an_equilibrium_adds_to_exploitability() -> None:
    before = blueprint(EQUILIBRIUM)
    after = combined(before, resolved(before, game_tree(leduc()), 1, 2000), 1)
    assert loss(after, 1) > loss(before, 1) + 0.05


@pytest.mark.parametrize("iterations", [EQUILIBRIUM, EARLY])
@pytest.mark.parametrize("searcher", [0, 1])
def test_no_hand_gains_by_entering(iterations: int, searcher: int) -> None:
    before, tree = blueprint(iterations), game_tree(leduc(), Gadget(1 - searcher, 1))
    after = combined(before, resolved(before, tree, searcher, 3000), searcher)
    margin = margins(before, after, tree, searcher)
    assert margin.shape == (5, 3)
    assert (margin > -2e-3).all()


def test_where_an_alternative_cannot_be_met_its_hand_alone_is_conceded_more() -> None:
    """One line and board on its own: the gadget at the root."""
    before = blueprint(EQUILIBRIUM)
    values, street = before.best_response_values(1), int(before.game.tree.parent[before.game.tree.find((0, 0))])
    row = 1
    board = before.game.boards.cards[before.game.on(1)[row]]
    alternatives = values.starts(street)[row].copy()
    live = np.flatnonzero(np.isfinite(alternatives))
    alternatives[live[0]] -= 3
    ranges = np.stack([values.arriving(street), np.ones(6)]).astype(np.float32)
    tree = build_tree(Betting.start(leduc()).apply(0).apply(0), gadget=Gadget(1, 1))
    solver = VectorSolver(VectorGame(tree, board, ranges, alternatives=alternatives), "apdcfr")
    solver.run(iterations=3000)
    entered = next(node for node in tree.decision_nodes.tolist() if tree.kind[node] == Kind.DECISION)
    conceded = (solver.best_response_values(1).at(entered) - alternatives)[live]
    assert conceded[0] > 1
    assert np.maximum(conceded[1:], 0).mean() < 0.1


@pytest.mark.parametrize(("turn", "river"), [(40, 300), pytest.param(300, 3000, marks=pytest.mark.slow)])
def test_rivers_of_a_turn_solution_are_solved_again(turn: int, river: int) -> None:
    """All lines and rivers at once, in float32: what is gained is measured to about 1e-6 of the pot. Clubs and diamonds
    are alike on the turn, so that rivers are merged."""
    pot, board = 100, parse_cards("KsTh7s4h")
    ranges = np.stack([parse_range("AA,KK,QQ,AK,AQ,KQ,T9s,87s"), parse_range("JJ,TT,AK,AJ,KQ,QJ,98s,76s")])
    menu = {"bet": "0.75", "raise": "a"}
    before = VectorSolver(VectorGame(spot_tree(4, pot, 200, menu), board, ranges))
    before.run(iterations=turn)
    assert any(len(group) > 1 for group in before.game.boards.groups)
    tree = build_tree(spot_root(4, 200), spot_bets(menu), dead=pot, gadget=Gadget(1, 3))
    after = combined(before, resolved(before, tree, 0, river), 0)
    assert before.best_response_value(1) - after.best_response_value(1) > -1e-6 * pot
    assert margins(before, after, tree, 0).min() > -0.005 * pot


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
    with pytest.raises(PokernetsError, match="must not be infinite"):
        VectorGame(tree, alternatives=np.full((len(tree.gadgets), 3, 6), np.inf, np.float32))
    with pytest.raises(PokernetsError, match="are for trees with gadgets"):
        VectorGame(game_tree(leduc()), alternatives=np.zeros(6, np.float32))
    solver = VectorSolver(VectorGame(tree, alternatives=np.zeros((len(tree.gadgets), 3, 6), np.float32)))
    with pytest.raises(PokernetsError, match="lock all decisions above"):
        solver.run(iterations=1)
