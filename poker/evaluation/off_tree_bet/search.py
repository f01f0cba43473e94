"""Answers by search: the first round solved to its end with values there, then every flop with a gadget ([DLS] 6.1).

P1's alternative to the bet is its best other action, hand by hand: a resolving gadget at the root of the subgame makes
P2 concede no more to the bet than that, which is what exploitability measures. Values of a leaf are the average of
those after the two raises next to the bet, leaf by leaf of the same actions. On every flop P1's alternative is what a
best response to the blueprint is worth there, again averaged over the two lines, given P2's hands as they arrive.
"""

from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from poker.evaluation.off_tree_bet.lines import line_rows, mean_regrets
from poker.evaluation.off_tree_bet.rows import Rows, copy_rows
from poker.evaluation.off_tree_bet.solutions import Solved
from poker.evaluation.off_tree_bet.spot import OffTreeBet, same_decisions, twins
from poker.rules import CALL
from poker.solvers.continuations.generation import ContinuationSet
from poker.solvers.vector.game import VectorGame
from poker.solvers.vector.solver import VectorSolver
from poker.state import Betting
from poker.tree import BettingTree, Gadget, Kind, build_tree


@dataclass(frozen=True)
class Depth:
    """Iterations of the three kinds of solves, their schedule, and the gadget on the flop."""

    algorithm: str
    first_round: int
    flops: int
    to_the_end: int
    safety: str
    threads: int


class Search:
    """`otherwise` float[H]: chips of P1's hands by the best of its other actions."""

    def __init__(self, spot: OffTreeBet, blueprint: Solved, otherwise: NDArray[np.float32], depth: Depth) -> None:
        self.spot = spot
        self.depth = depth
        self.branch = VectorGame(spot.branch)
        self._blueprint_tree = spot.blueprint_tree
        self._otherwise = otherwise
        self._regrets = mean_regrets(spot, blueprint, self.branch)
        self._iterations = int(blueprint.counts["iterations"])
        self._lines = [(total, line_rows(spot, blueprint, total, self.branch)) for total, _ in spot.lines]

    def averaged(self, found: ContinuationSet) -> ContinuationSet:
        """Values at the leaves of the branch, from those after the two raises."""
        tree, place = self._blueprint_tree, {path: i for i, path in enumerate(found.leaves)}
        ends = np.flatnonzero((self.spot.branch.kind == Kind.STREET) & (self.spot.branch.street == 0))
        values = []
        for total, _ in self.spot.lines:
            twin = twins(tree, tree.find([total]), self.spot.branch)
            values.append(found.values[[place[tree.path(int(twin[end]))] for end in ends]])
        paths = tuple(self.spot.branch.path(int(end)) for end in ends)
        return replace(found, leaves=paths, values=np.mean(values, axis=0, dtype=np.float32))

    def first_round(self, found: ContinuationSet, size: int) -> Rows:
        """P2's strategy up to the flop with the first `size` values of each leaf; nothing is said of the flop."""
        tree = build_tree(
            self.spot.after_bet, self.spot.menu, found.limit(size), gadget=Gadget("resolve", self.spot.p1, 0)
        )
        order = [found.leaves.index(tree.path(int(leaf))) for leaf in tree.leaves]
        values = found.first(size)
        values = replace(values, values=values.values[order])
        game = VectorGame(tree, leaf_values=values, alternatives=self._otherwise)
        solver = VectorSolver(game, self.depth.algorithm)
        solver.advance(self.depth.first_round)
        return self._p2_rows(solver)

    def flops(self, first: Rows) -> Rows:
        """P2's whole strategy: `first` up to the flop, and every flop solved safely."""
        spot, depth = self.spot, self.depth
        tree = build_tree(spot.after_bet, spot.menu, gadget=Gadget(depth.safety, spot.p1, 1))
        game = VectorGame(tree, alternatives=self._alternatives(first))
        solver = VectorSolver(game, depth.algorithm, threads=depth.threads)
        plain = same_decisions(spot.branch, tree)
        for node in game.layout.decisions.tolist():
            if tree.street[node] == 0:
                rows = game.rows(solver.arrays["sums"], node, 0)
                if tree.player[node] == spot.p2:
                    rows[:] = self.branch.rows(first, int(plain[node]), 0)
                else:
                    rows[tree.actions(node).index(CALL)] = 1
                solver.lock(node)
        self._start(solver)
        solver.advance(depth.flops)
        return self._p2_rows(solver)

    def to_the_end(self) -> Rows:
        """P2's strategy from the subgame solved to the end of the game, safe at its root."""
        spot, depth = self.spot, self.depth
        tree = build_tree(spot.after_bet, spot.menu, gadget=Gadget("resolve", spot.p1, 0))
        solver = VectorSolver(VectorGame(tree, alternatives=self._otherwise), depth.algorithm, threads=depth.threads)
        self._start(solver)
        solver.advance(depth.to_the_end)
        return self._p2_rows(solver)

    def _alternatives(self, first: Rows) -> NDArray[np.float32]:
        """float32[G, flops, H] what P1's best response to the blueprint's flop play is worth, averaged over the lines."""
        spot, values = self.spot, []
        ends = [
            int(node)
            for node in np.flatnonzero((spot.branch.kind == Kind.STREET) & (spot.branch.street == 0))
            if spot.branch.kind[spot.branch.after_deal(node)] == Kind.DECISION
        ]
        for total, rows in self._lines:
            game = VectorGame(build_tree(Betting.start(spot.rules).apply(total), spot.menu))
            solver = VectorSolver(game, "cfr_plus", threads=self.depth.threads)
            sums = solver.arrays["sums"]
            sums[:] = rows
            for node in game.layout.decisions.tolist():
                if game.tree.street[node] == 0 and game.tree.player[node] == spot.p2:
                    game.rows(sums, node, 0)[:] = self.branch.rows(first, node, 0)
            found = solver.best_response_values(spot.p1)
            values.append(np.stack([found.starts(end) for end in ends]))
        return np.mean(values, axis=0, dtype=np.float32)

    def _start(self, solver: VectorSolver) -> None:
        """Regrets from the two lines, so that fewer iterations do."""
        twin = same_decisions(self.spot.branch, solver.game.tree)
        for name, array in solver.arrays.items():
            if name != "sums":
                for player in range(2):
                    copy_rows(self.branch, self._regrets, twin, solver.game, player, array)
        solver.iterations = self._iterations

    def _p2_rows(self, solver: VectorSolver) -> Rows:
        """P2's average strategy in the layout of the branch."""
        out, twin = np.zeros(self.branch.num_entries, np.float32), same_decisions(solver.game.tree, self.spot.branch)
        copy_rows(solver.game, solver.arrays["sums"], twin, self.branch, self.spot.p2, out)
        return out
