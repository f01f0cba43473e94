"""Answers by search: the first round solved to its end with values there, then every flop by itself ([DLS] 6.1).

First round. P1's alternative to the bet is its best other action, hand by hand: a resolving gadget at the root of the
subgame lets P2 concede to the bet what it concedes anyway, and exploitability is what is conceded beyond. Values of a
leaf are the average of those after the two raises next to the bet, at the same actions.

Flops. P2's hands arrive as that solution plays them. P1's are taken to arrive as in the blueprint after the two raises,
on the average, and in part (`spread`) with any hand. The gadget's alternatives are what P1's best response to the
blueprint is worth on that flop after the two raises, averaged, less `margin` pots: the average is not exact, and where
it is too high for a hand P2 would make nothing of what that hand gives away.
"""

from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from poker.errors import PokernetsError
from poker.evaluation.off_tree_bet.lines import line_rows
from poker.evaluation.off_tree_bet.rows import Rows, by_suits, copy_rows, shares
from poker.evaluation.off_tree_bet.solutions import Solved
from poker.evaluation.off_tree_bet.spot import OffTreeBet, same_decisions, twins
from poker.rules import CALL
from poker.solvers.continuations.generation import ContinuationSet
from poker.solvers.vector.game import VectorGame
from poker.solvers.vector.solver import VectorSolver
from poker.state import Betting
from poker.tree import Gadget, Kind, build_tree
from poker.tree.gadget import GADGETS

UNSAFE = "unsafe"


@dataclass(frozen=True)
class FlopSafety:
    """`kind` is unsafe (no gadget) or a gadget's; `margin` in pots; `spread`: how much of P1's range is any hand."""

    kind: str
    margin: float
    spread: float

    def __post_init__(self) -> None:
        if self.kind not in (UNSAFE, *GADGETS):
            raise PokernetsError(f"`safety` is one of {', '.join((UNSAFE, *GADGETS))}, not `{self.kind}`")
        if not 0 < self.spread <= 1:
            raise PokernetsError(f"`spread` is the share of P1's range that is any hand, above 0, not {self.spread}")


@dataclass(frozen=True)
class Depth:
    """Iterations of the three kinds of solves, their schedule, and what is done on the flop."""

    algorithm: str
    first_round: int
    flops: int
    to_the_end: int
    safety: FlopSafety
    threads: int


class Search:
    """`otherwise` float[H]: chips of P1's hands by the best of its other actions."""

    def __init__(self, spot: OffTreeBet, blueprint: Solved, otherwise: NDArray[np.float32], depth: Depth) -> None:
        self.spot = spot
        self.depth = depth
        self.branch = VectorGame(spot.branch)
        self._otherwise = otherwise
        self._betting = _first_raises(spot, blueprint)
        self._lines = {total: line_rows(spot, blueprint, total, self.branch, (0, 1)) for total, _ in spot.lines}
        """Both players' strategies after each of the two raises."""
        self._alternatives = self._flop_values()

    def averaged(self, found: ContinuationSet) -> ContinuationSet:
        """Values at the leaves of the branch, from those after the two raises."""
        tree, place = self.spot.blueprint_tree, {path: i for i, path in enumerate(found.leaves)}
        values = []
        for total, _ in self.spot.lines:
            twin = twins(tree, tree.find([total]), self.spot.branch)
            values.append(found.values[[place[tree.path(int(twin[end]))] for end in self._ends()]])
        paths = tuple(self.spot.branch.path(end) for end in self._ends())
        return replace(found, leaves=paths, values=np.mean(values, axis=0, dtype=np.float32))

    def first_round(self, found: ContinuationSet, size: int) -> Rows:
        """P2's strategy up to the flop with the first `size` values of each leaf; nothing is said of the flop."""
        gadget = Gadget("resolve", self.spot.p1, 0)
        tree = build_tree(self.spot.after_bet, self.spot.menu, found.limit(size), gadget=gadget)
        order = [found.leaves.index(tree.path(int(leaf))) for leaf in tree.leaves]
        values = found.first(size)
        values = replace(values, values=values.values[order])
        solver = VectorSolver(VectorGame(tree, leaf_values=values, alternatives=self._otherwise), self.depth.algorithm)
        solver.advance(self.depth.first_round)
        return self._p2_rows(solver)

    def flops(self, first: Rows) -> Rows:
        """P2's whole strategy: `first` up to the flop, and every flop solved by itself."""
        spot, depth, safety = self.spot, self.depth, self.depth.safety
        ranges = np.ones((2, spot.rules.num_hands), np.float32)
        ranges[spot.p1] = (1 - safety.spread) * self._betting + safety.spread
        if safety.kind == UNSAFE:
            game = VectorGame(build_tree(spot.after_bet, spot.menu), ranges=ranges)
        else:
            tree = build_tree(spot.after_bet, spot.menu, gadget=Gadget(safety.kind, spot.p1, 1))
            margin = safety.margin * np.array([tree.pot(int(node)) for node in tree.gadgets], np.float32)
            game = VectorGame(tree, ranges=ranges, alternatives=self._alternatives - margin[:, None, None])
        solver = VectorSolver(game, depth.algorithm, threads=depth.threads)
        self._lock_first_round(solver, first)
        solver.advance(depth.flops)
        return self._p2_rows(solver)

    def to_the_end(self, first: Rows | None = None) -> Rows:
        """P2's strategy from the subgame solved to the end of the game, safe at its root; around `first` up to the
        flop, if given: the best that can follow it."""
        spot, depth = self.spot, self.depth
        tree = build_tree(spot.after_bet, spot.menu, gadget=Gadget("resolve", spot.p1, 0))
        solver = VectorSolver(VectorGame(tree, alternatives=self._otherwise), depth.algorithm, threads=depth.threads)
        if first is not None:
            self._lock_first_round(solver, first, (spot.p2,))
        solver.advance(depth.to_the_end)
        return self._p2_rows(solver)

    def _lock_first_round(self, solver: VectorSolver, first: Rows, players: tuple[int, ...] = (0, 1)) -> None:
        """P2 as in `first`; P1 as in the two lines, on the average, and in part calling with any hand."""
        game, spot, spread = solver.game, self.spot, self.depth.safety.spread
        plain = same_decisions(spot.branch, game.tree)
        for node in game.layout.decisions.tolist():
            if game.tree.street[node] or plain[node] < 0 or game.tree.player[node] not in players:
                continue
            rows, same = game.rows(solver.arrays["sums"], node, 0), int(plain[node])
            if game.tree.player[node] == spot.p2:
                rows[:] = self.branch.rows(first, same, 0)
            else:
                usual = [shares(self.branch.rows(line, same, 0)) for line in self._lines.values()]
                rows[:] = (1 - spread) * np.mean(usual, axis=0)
                rows[game.tree.actions(node).index(CALL)] += spread
            solver.lock(node)

    def _flop_values(self) -> NDArray[np.float32]:
        """float32[G, flops, H] what P1's best response to the blueprint is worth, averaged over the two lines."""
        spot, values = self.spot, []
        ends = [end for end in self._ends() if spot.branch.kind[spot.branch.after_deal(end)] == Kind.DECISION]
        for total, line in self._lines.items():
            game = VectorGame(build_tree(Betting.start(spot.rules).apply(total), spot.menu))
            solver = VectorSolver(game, "cfr_plus", threads=self.depth.threads)
            solver.arrays["sums"][:] = line
            found = solver.best_response_values(spot.p1)
            values.append(np.stack([found.starts(end) for end in ends]))
        means: NDArray[np.float32] = np.mean(values, axis=0, dtype=np.float32)
        return means

    def _ends(self) -> list[int]:
        """Where the first round of the branch ends."""
        branch = self.spot.branch
        return [int(node) for node in np.flatnonzero((branch.kind == Kind.STREET) & (branch.street == 0))]

    def _p2_rows(self, solver: VectorSolver) -> Rows:
        """P2's average strategy in the layout of the branch."""
        out, twin = np.zeros(self.branch.num_entries, np.float32), same_decisions(solver.game.tree, self.spot.branch)
        copy_rows(solver.game, solver.arrays["sums"], twin, self.branch, self.spot.p2, out)
        return out


def _first_raises(spot: OffTreeBet, blueprint: Solved) -> NDArray[np.float32]:
    """[H] how likely P1 makes either of the two raises with each hand, 1 for the mean hand."""
    game, tree = blueprint.game, blueprint.game.tree
    rows, actions = shares(game.rows(blueprint.rows, 0, 0).astype(np.float32)), tree.actions(0)
    raising = np.zeros(spot.rules.num_hands, np.float32)
    raising[game.hands(spot.p1)] = sum(rows[actions.index(total)] for total, _ in spot.lines)
    return by_suits(game, raising / max(float(raising.mean()), 1e-9))
