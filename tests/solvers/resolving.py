"""Re-solving the rounds after the root's street of a solved game, with or without a gadget, and what comes of it."""

import numpy as np

from poker.game.rules import Rules
from poker.game.state import Betting
from poker.solvers.vector.game import VectorGame
from poker.solvers.vector.solver import VectorSolver
from poker.tree import BettingTree, Gadget, Kind, bet_menu, build_tree
from tests.solvers.reference import Profile, Reference

MENU = bet_menu(preflop=[[1.0], ["a"]], flop=[["a"], []], turn=[["a"], []])


def game_tree(rules: Rules, gadget: Gadget | None = None) -> BettingTree:
    return build_tree(Betting.start(rules), None if rules.is_limit else MENU, gadget=gadget)


def exported(solver: VectorSolver) -> Profile:
    """The average strategy at every decision and concrete board."""
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


def conceded(solver: VectorSolver, searcher: int, tree: BettingTree) -> np.ndarray:
    """float32[G, boards, H] what the searcher's strategy concedes where the gadgets of `tree` stand, after the same
    actions: at the root, or where the next street begins."""
    values, solved = solver.best_response_values(1 - searcher), solver.game.tree
    nodes = [solved.find(tree.path(gadget)) for gadget in tree.gadgets.tolist()]
    return np.stack([values.starts(int(solved.parent[node])) if node else values.at(0)[None] for node in nodes])


def resolved(
    blueprint: VectorSolver, tree: BettingTree, searcher: int, iterations: int, algorithm: str = "apdcfr"
) -> VectorSolver:
    """All lines and boards of `tree` below the root's street solved anew for `searcher`: with the gadgets of the tree,
    or, if it has none, unsafely, against the range with which the opponent comes there."""
    game, full, alternatives = blueprint.game, blueprint.game.tree, None
    if tree.gadget is not None:
        alternatives = conceded(blueprint, searcher, tree)
    solver = VectorSolver(VectorGame(tree, game.board, game.ranges, alternatives=alternatives), algorithm)
    for node in tree.decision_nodes[tree.street[tree.decision_nodes] == tree.street[0]].tolist():
        followed = tree.player[node] == searcher or tree.gadget is None
        shape = (tree.rules.num_hands, int(tree.num_children[node]))
        strategy = blueprint.strategy(full.find(tree.path(node))) + np.float32(1e-12)
        solver.lock(node, strategy if followed else np.ones(shape, np.float32))
    solver.run(iterations=iterations)
    return solver


def combined(blueprint: VectorSolver, solver: VectorSolver, searcher: int) -> VectorSolver:
    """The blueprint with the searcher's strategy below the root's street replaced by that of `solver`."""
    game = blueprint.game
    whole = VectorSolver(game, blueprint.schedule)
    for node in game.layout.decisions.tolist():
        replaced = game.tree.player[node] == searcher and game.tree.street[node] > game.tree.street[0]
        source, at = (solver, solver.game.tree.find(game.tree.path(node))) if replaced else (blueprint, node)
        for index in game.on(int(game.tree.street[node])):
            rows = source.strategy(at, game.boards.cards[index])
            whole.set_average(node, index, rows[game.hands(int(game.tree.player[node]), index)])
    return whole


def margins(blueprint: VectorSolver, after: VectorSolver, tree: BettingTree, searcher: int) -> np.ndarray:
    """[G, boards] at every gadget: the least that a hand of the searcher's opponent has lost, chips per hand."""
    before, now = (conceded(solver, searcher, tree) for solver in (blueprint, after))
    return np.asarray(np.nanmin(before - now, axis=2))
