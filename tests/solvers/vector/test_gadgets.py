"""Gadgets of safe re-solving, and the counterfactual values they are made of, against plain Python."""

import numpy as np
import pytest

from poker.errors import PokernetsError
from poker.rules import Rules
from poker.solvers.vector.game import VectorGame
from poker.solvers.vector.solver import VectorSolver
from poker.state import Betting
from poker.tree import BettingTree, Gadget, Kind, bet_menu, build_tree
from tests.solvers.games import leduc, small_holdem
from tests.solvers.reference import Profile, Reference

MENU = bet_menu(preflop=[[1.0], ["a"]], flop=[["a"], []], turn=[["a"], []])


def game_tree(rules: Rules, gadget: Gadget | None = None) -> BettingTree:
    return build_tree(Betting.start(rules), None if rules.is_limit else MENU, gadget=gadget)


def exported(solver: VectorSolver) -> Profile:
    """The average strategy of a whole game at every decision and concrete board."""
    game, reference = solver.game, Reference(solver.game.tree, solver.game.board, solver.game.ranges)
    profile: Profile = {}

    def walk(node: int, board: tuple[int, ...]) -> None:
        if game.tree.kind[node] == Kind.STREET:
            for deal, _ in reference.deals(node, board):
                walk(int(game.tree.first_child[node]), deal)
        elif game.tree.num_children[node]:
            profile[node, board] = solver.strategy(node, board).astype(np.float64)
            for child in game.tree.children(node):
                walk(child, board)

    walk(0, game.board)
    return profile


def resolved(blueprint: VectorSolver, kind: str, searcher: int, iterations: int) -> VectorSolver:
    """All second rounds of a game solved anew for `searcher`, with a gadget on every board and line."""
    full = blueprint.game.tree
    tree = game_tree(full.rules, Gadget(kind, 1 - searcher, 1))
    alternatives = blueprint.best_response_values(1 - searcher).alternatives(tree)
    solver = VectorSolver(VectorGame(tree, (), blueprint.game.ranges, alternatives=alternatives), "cfr_plus")
    for node in tree.decision_nodes[tree.street[tree.decision_nodes] == 0].tolist():
        own = tree.player[node] == searcher
        shape = (tree.rules.num_hands, int(tree.num_children[node]))
        solver.lock(node, blueprint.strategy(full.find(tree.path(node))) if own else np.ones(shape, np.float32))
    solver.run(iterations=iterations)
    return solver


def combined(blueprint: VectorSolver, solver: VectorSolver, searcher: int) -> Profile:
    """The blueprint with the searcher's strategy of the second round on replaced by that of `solver`."""
    tree, profile = blueprint.game.tree, exported(blueprint)
    for node, board in profile:
        if tree.player[node] == searcher and tree.street[node] > 0:
            profile[node, board] = solver.strategy(solver.game.tree.find(tree.path(node)), board).astype(np.float64)
    return profile


@pytest.mark.parametrize("rules", [leduc(), small_holdem()], ids=["leduc", "two cards"])
@pytest.mark.parametrize("player", [0, 1])
def test_best_response_values_equal_plain_python(rules: Rules, player: int) -> None:
    tree = game_tree(rules)
    ranges = np.ones((2, rules.num_hands), np.float32)
    solver = VectorSolver(VectorGame(tree, (), ranges), "cfr_plus")
    solver.run(iterations=3)
    found, profile = solver.best_response_values(player), exported(solver)
    reference = Reference(tree, (), ranges.astype(np.float64))
    compared = 0
    for node in np.flatnonzero((tree.street == 0) & (solver.game.layout.position >= 0)).tolist():
        arriving = found.arriving(node)
        mass = rules.space.compatible_mass(arriving)
        expected = reference.values(node, player, (), arriving, profile, best=True)
        np.testing.assert_allclose(np.nan_to_num(found.at(node)) * mass, expected, rtol=1e-4, atol=1e-5)
        if tree.kind[node] == Kind.STREET and solver.game.layout.nodes.role[solver.game.layout.position[node]] == 1:
            boards = [solver.game.boards.cards[index] for index in solver.game.on(1)]
            for board, values in zip(boards, found.starts(node), strict=True):
                reach = arriving * reference.live(board)
                mass = rules.space.compatible_mass(reach)
                below = reference.values(int(tree.first_child[node]), player, board, reach, profile, best=True)
                np.testing.assert_allclose(np.nan_to_num(values) * mass, below, rtol=1e-4, atol=1e-5)
                assert np.isnan(values[reference.live(board) == 0]).all()
                compared += 1
    assert compared >= 6


@pytest.mark.parametrize("kind", ["resolve", "maxmargin"])
@pytest.mark.parametrize("searcher", [0, 1])
def test_safe_resolving_never_makes_the_searcher_more_exploitable(kind: str, searcher: int) -> None:
    blueprint = VectorSolver(VectorGame(game_tree(leduc())), "cfr_plus")
    blueprint.run(iterations=5)
    solver = resolved(blueprint, kind, searcher, 2000)
    reference = Reference(blueprint.game.tree, (), blueprint.game.ranges.astype(np.float64))
    before = reference.root_value(1 - searcher, exported(blueprint), best=True)
    after = reference.root_value(1 - searcher, combined(blueprint, solver, searcher), best=True)
    assert after <= before + 1e-6
    assert solver.exploitability() < 1e-3


def test_gadgets_need_alternatives_and_a_fixed_start() -> None:
    tree = game_tree(leduc(), Gadget("resolve", 1, 1))
    with pytest.raises(PokernetsError, match="alternative values are needed"):
        VectorGame(tree)
    with pytest.raises(PokernetsError, match="have the shape"):
        VectorGame(tree, alternatives=np.zeros(6, np.float32))
    with pytest.raises(PokernetsError, match="are for trees with gadgets"):
        VectorGame(game_tree(leduc()), alternatives=np.zeros(6, np.float32))
    solver = VectorSolver(VectorGame(tree, alternatives=np.zeros((len(tree.gadgets), 3, 6), np.float32)))
    with pytest.raises(PokernetsError, match="lock the decisions above"):
        solver.run(iterations=1)
    with pytest.raises(PokernetsError, match="choose one of"):
        Gadget("unsafe", 1, 1)
