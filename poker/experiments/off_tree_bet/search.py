"""Answers by search: the first round solved to its end with values there, then every flop by itself ([DLS] 6.1).

Fallback. P2 plays the searched first round followed by translation: on the flop the bet is taken for the one or the
other raise next to it, in proportion to how likely P2's hand got there after either. Search improves on it.

First round. P1's alternative to the bet is its best other action, hand by hand: a resolving gadget at the root of the
subgame lets P2 concede to the bet what it concedes anyway, and exploitability is what is conceded beyond. Values of a
leaf are those of P1's continuations after the bet itself, against translation, or means of those after the two raises.

Flops. P2's hands arrive as the solution of the first round plays them, P1's as in the blueprint after the two raises
and in part (`SPREAD`) with any hand. The gadget's alternatives are what P1's best response to the fallback wins on that
flop from the range that arrives, so P2 can hold every hand to them. They are lowered by what the bet as a whole gains
over P1's best other action, which P2 wants back from the hand on every flop alike, and by `MARGIN` pots.
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
"""Pots by which the alternatives on the flop are lowered."""

SPREAD = 0.3
"""Part of P1's range on the flop that is spread evenly over all hands."""

LEAST_COMING = 0.05
"""Least part of P2's hands assumed to see a flop, when what the bet gains is asked back there."""


@dataclass(frozen=True)
class Depth:
    """Iterations of the three kinds of solves, and their schedule."""

    algorithm: str
    first_round: int
    flops: int
    to_the_end: int
    threads: int


class SearchedAnswers:
    """P2's answers by search. `otherwise` float[H]: chips of P1's hands by the best of its other actions."""

    def __init__(self, spot: OffTreeBet, blueprint: SolvedGame, otherwise: Singles, depth: Depth) -> None:
        self.spot = spot
        self.depth = depth
        self.branch = VectorGame(spot.branch)
        self.root = Root(spot.after_bet, otherwise)
        self._betting = _first_raises(spot, blueprint)
        self._translated: Rows = np.add(*(translated(spot, blueprint, self.branch, player) for player in range(2)))
        """Both players' translated strategies."""

    def leaf_play(self) -> LeafPlay:
        """Play of both players after the bet, which they translate."""
        return LeafPlay(self._solver(self._translated), self.depth.threads)

    def first_round(self, continuations: ContinuationSet, size: int) -> Rows:
        """P2's strategy up to the flop with the first `size` values of each leaf; nothing is said of the flop."""
        game = limited_game(continuations, size, self.spot.rules, self.spot.menu, self.root)
        solver = VectorSolver(game, self.depth.algorithm)
        solver.advance(self.depth.first_round)
        return self._p2_rows(solver)

    def fallback(self, first: Rows) -> Rows:
        """`first` up to the flop and translation on it."""
        rows = self._translated.copy()
        for node in self.branch.layout.decisions.tolist():
            if self.spot.branch.street[node] == 0 and self.spot.branch.player[node] == self.spot.p2:
                self.branch.rows(rows, node, 0)[:] = self.branch.rows(first, node, 0)
        return rows

    def flops(self, first: Rows) -> Rows:
        """P2's whole strategy: `first` up to the flop, and every flop solved by itself."""
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
        """P2's strategy from the subgame solved to the end of the game, safe at its root."""
        spot, depth = self.spot, self.depth
        tree = build_tree(spot.after_bet, spot.menu, gadget=Gadget(spot.p1, 0))
        solver = VectorSolver(
            VectorGame(tree, alternatives=self.root.alternatives), depth.algorithm, threads=depth.threads
        )
        solver.advance(depth.to_the_end)
        return self._p2_rows(solver)

    def _lock_first_round(self, solver: VectorSolver, first: Rows) -> None:
        """Lock P2's first round as in `first`; P1's as in the two lines, and in part calling with any hand."""
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
        """float32[G, flops, H] for the gadgets of `tree`."""
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
        """P2's average strategy in the layout of the branch."""
        out, twin = np.zeros(self.branch.num_entries, np.float32), same_decisions(solver.game.tree, self.spot.branch)
        copy_rows(solver.game, solver.arrays["sums"], twin, self.branch, self.spot.p2, out)
        return out


def _first_raises(spot: OffTreeBet, blueprint: SolvedGame) -> Singles:
    """[H] how likely P1 makes either of the two raises with each hand, 1 for the mean hand."""
    game, tree = blueprint.game, blueprint.game.tree
    rows, actions = shares(game.rows(blueprint.rows, 0, 0).astype(np.float32)), tree.actions(0)
    raising = np.zeros(spot.rules.num_hands, np.float32)
    raising[game.hands(spot.p1)] = sum(rows[actions.index(total)] for total, _ in spot.lines)
    return by_suits(game, raising / max(float(raising.mean()), 1e-9))


def averaged(spot: OffTreeBet, generated: ContinuationSet) -> ContinuationSet:
    """Values after the bet as means of those that `generated`, made without it, has where the same choices follow the
    two raises next to it ([DLS] section 6.1)."""
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
    """Values that `leaf`, of the game without the bet, gives the ends of the first round after the bet."""
    spot, paths = search.spot, search.leaf_play().leaves
    ends = [reduce(Betting.apply, path, spot.after_bet) for path in paths]
    values = leaf.values(ends, (), start_ranges(spot.rules), spot.p2)
    if not np.array_equal(values.own_cluster, values.opp_cluster):
        raise PokernetsError("leaf values of the first round group both players' hands alike")
    return ContinuationSet(spot.p1, paths, values.cluster(0), np.ascontiguousarray(values.matrices(0)))
