"""Self-generated continuations ([DLS] section 4) in games of two rounds, where every step is exact.

The set of the opponent's continuations begins with the blueprint. Then, until there are K: the first round is solved
with the present set at its end; the searcher plays that solution there and the blueprint after it; the opponent's best
response to this joins the set. The first k of K continuations are the set of size k.

A response may do better against the blueprint than the blueprint does, and then the searcher plays too carefully. The
remedy is one of the paper's: `pot_fraction` takes a part of the pot off every response.

Symbols: L leaves, K continuations, C clusters of hands.
"""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from poker.depth_limit.continuations.leaf_play import BLUEPRINT, LeafPlay, Play, biased_play
from poker.game.rules import Rules
from poker.game.state import Betting
from poker.kernels.types import Singles
from poker.run.errors import PokernetsError
from poker.solvers.blueprint import CONTINUATIONS
from poker.solvers.vector.game import VectorGame
from poker.solvers.vector.leaves import LeafValues
from poker.solvers.vector.solver import VectorSolver
from poker.tree import BetMenu, BettingTree, DepthLimit, Gadget, Kind, build_tree

SEEN = 100
"""Most iterations that a solve counts as done when it starts from another's regrets: they set its discounts."""

TREMBLE = 1e-7
"""The least probability of the searcher's actions in the first round, so that a response is one at every leaf."""


@dataclass(frozen=True)
class Solving:
    """Settings of each solve of the first round."""

    algorithm: str = "apdcfr"
    iterations: int = 1000


@dataclass(frozen=True, eq=False)
class Root:
    """Root of solves of the first round that begin later than the hand: `betting` within that round, and float32[H]
    chips of each hand of the opponent that does not enter (a resolving gadget). `play` has the same root."""

    betting: Betting
    alternatives: Singles


@dataclass(frozen=True)
class Step:
    """One solve with k continuations. Chips per hand of the opponent: `limited_value` of the game with the depth limit,
    as it was solved to `limited_exploitability`; `response_value` of the best response to the searcher's solution
    followed by the blueprint, which is the exact measure of that strategy."""

    continuations: int
    limited_value: float
    limited_exploitability: float
    response_value: float


@dataclass(frozen=True)
class ContinuationSet:
    """`values` float32[L, K, C, C]: chips of player 0 when `opponent` plays continuation k, by clusters [H] of the
    hands of players 0 and 1. `leaves` are paths of actions from the start."""

    opponent: int
    leaves: tuple[tuple[int, ...], ...]
    clusters: NDArray[np.int32]
    values: Singles
    steps: tuple[Step, ...] = ()

    @property
    def size(self) -> int:
        return int(self.values.shape[1])

    def limit(self, size: int) -> DepthLimit:
        """The depth limit of a game with the first `size` continuations."""
        return DepthLimit(0, size, (self.opponent,), cut_runouts=True)

    def first(self, size: int) -> LeafValues:
        """Leaf values of the first `size` continuations, for a tree made with `limit(size)`."""
        return LeafValues(0, self.clusters, self.clusters, np.ascontiguousarray(self.values[:, :size]))


StepProgress = Callable[[Step], None]


def self_generated(
    play: LeafPlay,
    menu: BetMenu | None,
    opponent: int,
    count: int,
    *,
    pot_fraction: float = 0.0,
    solving: Solving | None = None,
    root: Root | None = None,
    progress: StepProgress | None = None,
) -> ContinuationSet:
    """`count` continuations of `opponent` from the blueprint that `play` holds.

    `menu` is that of the tree's first round (None in limit games); `pot_fraction` of the pot at a leaf is taken
    off every response. The blueprint is left as it was found.
    """
    solving, last = solving or Solving(), None
    actions = np.zeros(play.game.num_entries, np.uint8)
    steps: list[Step] = []
    tree, values = play.game.tree, play.values((BLUEPRINT, BLUEPRINT))[:, None]
    playing = [tree.kind[tree.after_deal(int(node))] == Kind.DECISION for node in play.nodes]
    pots = np.multiply(playing, [tree.pot(int(node)) for node in play.nodes]).astype(np.float32)
    with _first_round_restored(play):
        for size in range(1, count + 1):
            continuations = ContinuationSet(opponent, play.leaves, play.clusters, values)
            solver = VectorSolver(limited_game(continuations, size, play.game.rules, menu, root), solving.algorithm)
            if last is not None:
                _go_on(solver, last)
            solver.run(iterations=solving.iterations)
            last, exploitability = solver, solver.exploitability()
            value = _respond(play, solver, opponent, actions)
            if size < count:
                new = play.values(_seated(opponent, BLUEPRINT, play.recorded(opponent, actions)))
                taken = np.float32(pot_fraction) * pots[:, None, None]
                values = np.concatenate([values, (new - taken if opponent == 0 else new + taken)[:, None]], axis=1)
            steps.append(Step(size, solver.game_value(opponent), exploitability, value))
            if progress is not None:
                progress(steps[-1])
    return ContinuationSet(opponent, play.leaves, play.clusters, values, tuple(steps))


def biased(play: LeafPlay, opponent: int, factor: float = 10.0) -> ContinuationSet:
    """The blueprint and its biased forms ([DLS] section 4), whose `factor` is 10 in the paper."""
    forms = tuple(biased_play(play.game.tree, kind, factor) for kind in CONTINUATIONS)
    values = np.stack([play.values(_seated(opponent, BLUEPRINT, form)) for form in forms], axis=1)
    return ContinuationSet(opponent, play.leaves, play.clusters, values)


def limited_game(
    continuations: ContinuationSet, size: int, rules: Rules, menu: BetMenu | None, root: Root | None = None
) -> VectorGame:
    """The first round with the first `size` continuations at its end, from the start of the hand or from `root`."""
    betting, gadget, alternatives = Betting.start(rules), None, None
    if root is not None:
        betting, gadget, alternatives = root.betting, Gadget(continuations.opponent, 0), root.alternatives
    tree, values = build_tree(betting, menu, continuations.limit(size), gadget=gadget), continuations.first(size)
    values = replace(values, values=values.values[_leaf_order(tree, continuations.leaves)])
    return VectorGame(tree, leaf_values=values, alternatives=alternatives)


def _seated(opponent: int, searcher_play: Play, opponent_play: Play) -> tuple[Play, Play]:
    return (opponent_play, searcher_play) if opponent == 0 else (searcher_play, opponent_play)


def _respond(play: LeafPlay, solver: VectorSolver, player: int, actions: NDArray[np.uint8]) -> float:
    """Chips of the best response of `player` to the solution of `solver` followed by the blueprint; its actions are
    written to `actions`. The solution stays in the solver of the blueprint."""
    full, limited = play.game, solver.game.tree
    for node in _first_round(full.tree, 1 - player):
        rows = np.maximum(solver.strategy(limited.find(full.tree.path(node))), np.float32(TREMBLE))
        play.solver.set_average(node, 0, rows[full.hands(1 - player)])
    return play.solver.best_response(player, actions)


def _go_on(solver: VectorSolver, before: VectorSolver) -> None:
    """Give `solver` the regrets of a solve with fewer continuations, and as many iterations; averages start anew.

    In small games a hundred iterations then leave a third to a fifth of the exploitability that they leave otherwise.
    """
    old, new = before.game, solver.game
    for node in old.layout.decisions.tolist():
        there = node if old.tree.kind[node] == Kind.GADGET else new.tree.find(old.tree.path(node))
        for name in before.arrays.keys() - {"sums"}:
            rows = old.rows(before.arrays[name], node, 0)
            new.rows(solver.arrays[name], there, 0)[: len(rows)] = rows
    solver.iterations = min(before.iterations, SEEN)


def _first_round(tree: BettingTree, player: int) -> list[int]:
    """Decisions of the player in the first round."""
    wanted = (tree.kind == Kind.DECISION) & (tree.street == 0) & (tree.player == player)
    return [int(node) for node in np.flatnonzero(wanted)]


@contextmanager
def _first_round_restored(play: LeafPlay) -> Iterator[None]:
    """Restore the blueprint's first round when the block ends."""
    nodes = [node for player in range(2) for node in _first_round(play.game.tree, player)]
    sums = play.solver.arrays["sums"]
    before = [play.game.rows(sums, node, 0).copy() for node in nodes]
    try:
        yield
    finally:
        for node, rows in zip(nodes, before, strict=True):
            play.game.rows(sums, node, 0)[:] = rows


def _leaf_order(tree: BettingTree, leaves: tuple[tuple[int, ...], ...]) -> list[int]:
    """The place in `leaves` of each leaf state of a tree with a depth limit."""
    place = {path: i for i, path in enumerate(leaves)}
    paths = [tree.path(int(node)) for node in tree.leaves]
    if set(paths) != set(place):
        raise PokernetsError("continuations: the bet menu is not the one of the blueprint's first round")
    return [place[path] for path in paths]
