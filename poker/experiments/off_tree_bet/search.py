"""Answers by search: first the first round with values at its end, then every flop separately ([DLS] section 6.1).

Fallback. P2 plays the searched first round followed by translation. On the flop the bet counts as one of the two
nearest raises, in proportion to the probability that P2's hand arrives after each of them. Search improves on the
fallback.

First round. P1's alternative to the bet is its best other action, hand by hand. A resolving gadget at the root of the
subgame gives P1's hands this alternative, so P2 may concede what it concedes anyway. Exploitability is what P2 concedes
beyond that. The values of a leaf belong to P1's continuations after the bet itself, against translation; or they are
means of the values after the two raises.

Flops. P2's range is the range in the solution of the first round. P1's range is the blueprint's after the two raises,
mixed with a uniform range (`SPREAD`). The gadget's alternatives are what P1's best response to the fallback wins on
that flop, so P2 can hold every hand to them. They are lowered by the gain of the bet over P1's best other action, which
P2 recovers from the hand on every flop alike, and by `MARGIN` pots.
"""

from dataclasses import dataclass, replace
from functools import reduce

import numpy as np

from poker.depth_limit.continuations.generation import ContinuationSet, Root, limited_game
from poker.depth_limit.continuations.leaf_play import LeafPlay
from poker.depth_limit.evaluator import LeafEvaluator
from poker.experiments.off_tree_bet.solutions import SolvedGame, by_suits, copy_rows, translated
from poker.experiments.off_tree_bet.spot import OffTreeBet, same_decisions, twins
from poker.game.beliefs import start_ranges
from poker.game.rules import CALL
from poker.game.state import Betting
from poker.kernels.types import Singles
from poker.run.errors import PokernetsError
from poker.solvers.vector.game import VectorGame
from poker.solvers.vector.realization import Rows, shares
from poker.solvers.vector.solver import VectorSolver
from poker.tree import BettingTree, Gadget, Kind, build_tree

MARGIN = 0.01
"""Amount by which the alternatives on the flop are lowered, in pots."""

SPREAD = 0.3
"""Share of the uniform range in P1's range on the flop."""

LEAST_COMING = 0.05
"""Least share of P2's hands assumed to see a flop, when the gain of the bet is recovered there."""


@dataclass(frozen=True)
class Depth:
    """Iterations of the three kinds of solves, and their schedule.

    Attributes:
        algorithm: name of the CFR variant.
        first_round: iterations of first rounds.
        flops: iterations of flops.
        to_the_end: iterations of the subgame solved to the end.
    """

    algorithm: str
    first_round: int
    flops: int
    to_the_end: int
    threads: int


class SearchedAnswers:
    """P2's answers by search.

    Attributes:
        depth: iterations of the solves.
        branch: the game after the bet.
        root: root of the subgame, with P1's alternatives.
    """

    def __init__(self, spot: OffTreeBet, blueprint: SolvedGame, otherwise: Singles, depth: Depth) -> None:
        """Translate the blueprint to the game after the bet.

        Args:
            blueprint: the game solved without the bet.
            otherwise: float32 [H] chips of each hand of P1 by its best other action.
            depth: iterations of the solves.
        """
        self.spot = spot
        self.depth = depth
        self.branch = VectorGame(spot.branch)
        self.root = Root(spot.after_bet, otherwise)
        self._betting = _first_raises(spot, blueprint)
        self._translated: Rows = np.add(*(translated(spot, blueprint, self.branch, player) for player in range(2)))
        """Both players' translated strategies."""

    def leaf_play(self) -> LeafPlay:
        """Return the play of both players after the bet, which they translate."""
        return LeafPlay(self._solver(self._translated), self.depth.threads)

    def first_round(self, continuations: ContinuationSet, size: int) -> Rows:
        """Solve the first round.

        Args:
            continuations: values at its end.
            size: number of values per leaf to use.

        Returns:
            [entries] P2's strategy up to the flop; 0 on the flop.
        """
        game = limited_game(continuations, size, self.spot.rules, self.spot.menu, self.root)
        solver = VectorSolver(game, self.depth.algorithm)
        solver.advance(self.depth.first_round)
        return self._p2_rows(solver)

    def fallback(self, first: Rows) -> Rows:
        """Combine the first round with translation on the flop.

        Args:
            first: [entries] P2's strategy up to the flop.

        Returns:
            [entries] P2's strategy.
        """
        rows = self._translated.copy()
        for node in self.branch.layout.decisions.tolist():
            if self.spot.branch.street[node] == 0 and self.spot.branch.player[node] == self.spot.p2:
                self.branch.rows(rows, node, 0)[:] = self.branch.rows(first, node, 0)
        return rows

    def flops(self, first: Rows) -> Rows:
        """Solve every flop separately.

        Args:
            first: [entries] P2's strategy up to the flop.

        Returns:
            [entries] P2's strategy.
        """
        spot, depth = self.spot, self.depth
        ranges = np.ones((2, spot.rules.num_hands), np.float32)
        ranges[spot.p1] = (1 - SPREAD) * self._betting + SPREAD
        tree = build_tree(spot.after_bet, spot.menu, gadget=Gadget(spot.p1, 1))
        game = VectorGame(tree, ranges=ranges, alternatives=self._alternatives(first, tree))
        solver = VectorSolver(game, depth.algorithm, threads=depth.threads)
        self._lock_first_round(solver, first)
        solver.advance(depth.flops)
        return self._p2_rows(solver)

    def to_the_end(self) -> Rows:
        """Solve the subgame to the end of the game, safely at its root.

        Returns:
            [entries] P2's strategy.
        """
        spot, depth = self.spot, self.depth
        tree = build_tree(spot.after_bet, spot.menu, gadget=Gadget(spot.p1, 0))
        game = VectorGame(tree, alternatives=self.root.alternatives)
        solver = VectorSolver(game, depth.algorithm, threads=depth.threads)
        solver.advance(depth.to_the_end)
        return self._p2_rows(solver)

    def _lock_first_round(self, solver: VectorSolver, first: Rows) -> None:
        """Lock the first round: P2 plays `first`; P1 plays the two lines, mixed with calling with any hand."""
        game, spot = solver.game, self.spot
        plain = same_decisions(spot.branch, game.tree)
        for node in game.layout.decisions.tolist():
            if game.tree.street[node] or plain[node] < 0:
                continue
            rows, same = game.rows(solver.arrays["sums"], node, 0), int(plain[node])
            if game.tree.player[node] == spot.p2:
                rows[:] = self.branch.rows(first, same, 0)
            else:
                rows[:] = (1 - SPREAD) * shares(self.branch.rows(self._translated, same, 0))
                rows[game.tree.actions(node).index(CALL)] += SPREAD
            solver.lock(node)

    def _alternatives(self, first: Rows, tree: BettingTree) -> Singles:
        """Return the alternatives float32 [G, flops, H] for the G gadgets of `tree`."""
        space, p1 = self.spot.rules.space, self.spot.p1
        values = self._solver(self.fallback(first)).best_response_values(p1)
        ends = [self.spot.branch.find(tree.path(int(gadget))) for gadget in tree.gadgets]
        ends = [int(self.spot.branch.parent[start]) for start in ends]
        gain = np.maximum(np.nan_to_num(values.at(0)) - self.root.alternatives, 0)
        coming = sum(space.compatible_mass(values.arriving(end)) for end in ends) / self.branch.compatible[p1]
        margin = MARGIN * np.array([tree.pot(int(gadget)) for gadget in tree.gadgets], np.float32)
        starts = np.stack([values.starts(end) for end in ends])
        lowered = starts - (gain / np.maximum(coming, LEAST_COMING)).astype(np.float32) - margin[:, None, None]
        return np.asarray(lowered, np.float32)

    def _solver(self, rows: Rows) -> VectorSolver:
        solver = VectorSolver(self.branch, "cfr_plus", threads=self.depth.threads)
        solver.arrays["sums"][:] = rows
        return solver

    def _p2_rows(self, solver: VectorSolver) -> Rows:
        """Return P2's average strategy in the layout of the branch."""
        out, twin = np.zeros(self.branch.num_entries, np.float32), same_decisions(solver.game.tree, self.spot.branch)
        copy_rows(solver.game, solver.arrays["sums"], twin, self.branch, self.spot.p2, out)
        return out


def _first_raises(spot: OffTreeBet, blueprint: SolvedGame) -> Singles:
    """Return the relative probability [H] that P1 makes either of the two raises with each hand; the mean is 1."""
    game, tree = blueprint.game, blueprint.game.tree
    rows, actions = shares(game.rows(blueprint.rows, 0, 0).astype(np.float32)), tree.actions(0)
    raising = np.zeros(spot.rules.num_hands, np.float32)
    raising[game.hands(spot.p1)] = sum(rows[actions.index(total)] for total, _ in spot.lines)
    return by_suits(game, raising / max(float(raising.mean()), 1e-9))


def averaged(spot: OffTreeBet, generated: ContinuationSet) -> ContinuationSet:
    """Average the values after the two nearest raises, where the same choices follow them ([DLS] section 6.1).

    Args:
        generated: values of the game without the bet.
    """
    tree, branch = spot.blueprint_tree, spot.branch
    ends = np.flatnonzero((branch.kind == Kind.STREET) & (branch.street == 0))
    place = {path: leaf for leaf, path in enumerate(generated.leaves)}
    values = [
        generated.values[[place[tree.path(int(node))] for node in twins(tree, tree.find([total]), branch)[ends]]]
        for total, _ in spot.lines
    ]
    paths = tuple(branch.path(int(node)) for node in ends)
    return replace(generated, leaves=paths, values=np.mean(values, axis=0))


def predicted(search: SearchedAnswers, leaf: LeafEvaluator) -> ContinuationSet:
    """Evaluate the ends of the first round after the bet with a leaf evaluator of the game without the bet.

    Args:
        search: the answers by search.

    Raises:
        PokernetsError: the evaluator does not use the same clusters for both players.
    """
    spot, paths = search.spot, search.leaf_play().leaves
    ends = [reduce(Betting.apply, path, spot.after_bet) for path in paths]
    values = leaf.values(ends, (), start_ranges(spot.rules), spot.p2)
    if not np.array_equal(values.own_cluster, values.opp_cluster):
        raise PokernetsError("leaf values of the first round need the same groups of hands for both players")
    return ContinuationSet(spot.p1, paths, values.cluster(0), np.ascontiguousarray(values.matrices(0)))
