"""Self-generated continuations ([DLS] section 4) in games of two rounds, where every step is exact.

The set of the opponent's continuations begins with the blueprint. Then, until there are K: the first round is solved
with the present set at its end; the searcher plays that solution there and the blueprint after it; the opponent's best
response to this joins the set. The first k of K continuations are the set of size k.

A response may do better against the blueprint than the blueprint does, and then the searcher plays too carefully. The
remedy is one of the paper's: `pot_fraction` takes a part of the pot off every response.

Symbols: L leaves, K continuations, C clusters of hands.
"""

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field, replace

import numpy as np
from numpy.typing import NDArray

from poker.errors import PokernetsError
from poker.rules import Rules
from poker.solvers.continuations.leaf_play import BLUEPRINT, LeafPlay, Play, biased_continuations
from poker.solvers.rollout.leaf_values import LeafValues
from poker.solvers.vector.game import VectorGame
from poker.solvers.vector.solver import VectorSolver
from poker.state import Betting
from poker.tree import BetMenu, BettingTree, DepthLimit, Gadget, Kind, build_tree
from poker.types import Path

SEEN = 100
"""Most iterations that a solve counts as done when it starts from another's regrets: they set its discounts."""

TREMBLE = 1e-7
"""The least probability of the searcher's actions in the first round, so that a response is one at every leaf."""


@dataclass(frozen=True)
class Solving:
    """Settings of each solve of the first round: `iterations`, fewer once exploitability is at most `target` chips."""

    algorithm: str = "apdcfr"
    iterations: int = 1000
    target: float | None = None


@dataclass(frozen=True, eq=False)
class Root:
    """Root of solves of the first round that begin later than the hand: `betting` within that round, and float32[H]
    chips of each hand of the opponent that does not enter (a resolving gadget). `play` has the same root."""

    betting: Betting
    alternatives: NDArray[np.float32]


@dataclass(frozen=True)
class Step:
    """One solve with k continuations. Chips per hand of the opponent: `limited_value` of the game with the depth limit,
    as it was solved to `limited_exploitability`; `response_value` of the best response to the searcher's solution
    followed by the blueprint, which is the exact measure of that strategy."""

    continuations: int
    limited_value: float
    limited_exploitability: float
    response_value: float
    seconds: dict[str, float] = field(default_factory=dict)


@dataclass(frozen=True)
class ContinuationSet:
    """`values` float32[L, K, C, C]: chips of player 0 when `opponent` plays continuation k, by clusters [H] of the
    hands of players 0 and 1. `leaves` are paths of actions from the start."""

    opponent: int
    leaves: tuple[Path, ...]
    clusters: NDArray[np.int32]
    values: NDArray[np.float32]
    steps: tuple[Step, ...] = ()
    strategies: tuple[Play, ...] = ()

    @property
    def size(self) -> int:
        return int(self.values.shape[1])

    def limit(self, size: int) -> DepthLimit:
        """The depth limit of a game with the first `size` continuations."""
        return DepthLimit(0, size, (self.opponent,), cut_runouts=True)

    def first(self, size: int) -> LeafValues:
        """Leaf values of the first `size` continuations, for a tree made with `limit(size)`."""
        return LeafValues(0, self.clusters, self.clusters, np.ascontiguousarray(self.values[:, :size]))


Progress = Callable[[Step], None]


def self_generated(
    play: LeafPlay,
    menu: BetMenu | None,
    opponent: int,
    count: int,
    *,
    pot_fraction: float = 0.0,
    solving: Solving | None = None,
    root: Root | None = None,
    keep: bool = False,
    progress: Progress | None = None,
) -> ContinuationSet:
    """`count` continuations of `opponent` from the blueprint that `play` holds; `keep` keeps the strategies.

    `menu` is that of the tree's first round (None in limit games); `pot_fraction` of the pot at a leaf is taken
    off every response. The blueprint is left as it was found.
    """
    stage = _Round(play, menu, solving or Solving(), root)
    generator = _Generator(play, stage, opponent, pot_fraction, keep, progress)
    with _first_round_restored(play):
        return generator.run(count)


def biased(play: LeafPlay, opponent: int, factor: float = 10.0) -> ContinuationSet:
    """The blueprint and its biased forms ([DLS] section 4), whose `factor` is 10 in the paper."""
    forms = biased_continuations(play.game.tree, factor)
    values = [play.values(_seated(opponent, BLUEPRINT, form)) for form in forms]
    return _set_of(play, opponent, np.stack(values, axis=1), tuple(forms))


def limited_game(
    found: ContinuationSet, size: int, rules: Rules, menu: BetMenu | None, root: Root | None = None
) -> VectorGame:
    """The first round with the first `size` continuations at its end, from the start of the hand or from `root`."""
    betting, gadget, alternatives = Betting.start(rules), None, None
    if root is not None:
        betting, gadget, alternatives = root.betting, Gadget(found.opponent, 0), root.alternatives
    tree, values = build_tree(betting, menu, found.limit(size), gadget=gadget), found.first(size)
    values = replace(values, values=values.values[_leaf_order(tree, found.leaves)])
    return VectorGame(tree, leaf_values=values, alternatives=alternatives)


def _set_of(
    play: LeafPlay,
    opponent: int,
    values: NDArray[np.float32],
    strategies: tuple[Play, ...] = (),
    steps: tuple[Step, ...] = (),
) -> ContinuationSet:
    return ContinuationSet(opponent, play.leaves, play.clusters, values, steps, strategies)


def _seated(opponent: int, searcher_play: Play, opponent_play: Play) -> tuple[Play, Play]:
    return (opponent_play, searcher_play) if opponent == 0 else (searcher_play, opponent_play)


class _Round:
    """The first round, solved with a depth limit, whose solution a player then plays above the blueprint.

    A solve goes on from the regrets of the one before, which had fewer continuations: in small games a hundred
    iterations then leave a third to a fifth of the exploitability that they leave from scratch.
    """

    def __init__(self, play: LeafPlay, menu: BetMenu | None, solving: Solving, root: Root | None) -> None:
        self._play, self._menu, self._solving, self._root = play, menu, solving, root
        self._last: VectorSolver | None = None

    def solve(self, found: ContinuationSet, size: int) -> VectorSolver:
        game = limited_game(found, size, self._play.game.rules, self._menu, self._root)
        solver = VectorSolver(game, self._solving.algorithm)
        if self._last is not None:
            _go_on(solver, self._last)
        solver.run(iterations=self._solving.iterations, target=self._solving.target)
        self._last = solver
        return solver

    def respond(self, solver: VectorSolver, player: int, actions: NDArray[np.uint8]) -> float:
        """Chips of the best response of `player` to the solution of `solver` followed by the blueprint; its actions are
        written to `actions`. The solution stays in the solver of the blueprint."""
        full, limited = self._play.game, solver.game.tree
        for node in _first_round(full.tree, 1 - player):
            rows = np.maximum(solver.strategy(limited.find(full.tree.path(node))), np.float32(TREMBLE))
            self._play.solver.set_average(node, 0, rows[full.hands(1 - player)])
        return self._play.solver.best_response(player, actions)


class _Generator:
    def __init__(
        self,
        play: LeafPlay,
        stage: "_Round",
        opponent: int,
        pot_fraction: float,
        keep: bool,
        progress: Progress | None,
    ) -> None:
        self._play, self._opponent, self._pot_fraction = play, opponent, pot_fraction
        self._round = stage
        self._keep = keep
        self._progress = progress
        self._actions = np.zeros(play.game.num_entries, np.uint8)

    def run(self, count: int) -> ContinuationSet:
        play, opponent = self._play, self._opponent
        kept: list[Play] = [BLUEPRINT]
        found = _set_of(play, opponent, play.values((BLUEPRINT, BLUEPRINT))[:, None])
        steps: list[Step] = []
        for size in range(1, count + 1):
            times = [time.perf_counter()]
            solver = self._round.solve(found, size)
            exploitability = solver.exploitability()
            times.append(time.perf_counter())
            value = self._round.respond(solver, opponent, self._actions)
            times.append(time.perf_counter())
            if size < count:
                response = play.recorded(opponent, self._actions)
                new = self._lowered(play.values(_seated(opponent, BLUEPRINT, response)))
                found = _set_of(play, opponent, np.concatenate([found.values, new[:, None]], axis=1))
                if self._keep:
                    kept.append(response)
            times.append(time.perf_counter())
            seconds = dict(zip(("solve", "response", "values"), np.diff(times).round(3).tolist(), strict=True))
            steps.append(Step(size, solver.game_value(opponent), exploitability, value, seconds))
            if self._progress is not None:
                self._progress(steps[-1])
        return _set_of(play, opponent, found.values, tuple(kept) if self._keep else (), tuple(steps))

    def _lowered(self, values: NDArray[np.float32]) -> NDArray[np.float32]:
        """The values [L, C, C] of a response, less its part of the pot where the hand goes on."""
        tree = self._play.game.tree
        playing = [tree.kind[tree.after_deal(int(node))] == Kind.DECISION for node in self._play.nodes]
        pots = [tree.pot(int(node)) for node in self._play.nodes]
        taken = np.float32(self._pot_fraction) * np.multiply(playing, pots).astype(np.float32)[:, None, None]
        lowered: NDArray[np.float32] = values - taken if self._opponent == 0 else values + taken
        return lowered


def _go_on(solver: VectorSolver, before: VectorSolver) -> None:
    """Gives `solver` the regrets of a solve with fewer continuations, and as many iterations; averages start anew."""
    old, new = before.game, solver.game
    for node in old.layout.decisions.tolist():
        there = node if old.tree.kind[node] == Kind.GADGET else new.tree.find(old.tree.path(node))
        for name in before.arrays.keys() - {"sums"}:
            known = old.rows(before.arrays[name], node, 0)
            new.rows(solver.arrays[name], there, 0)[: len(known)] = known
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


def _leaf_order(tree: BettingTree, leaves: tuple[Path, ...]) -> list[int]:
    """The place in `leaves` of each leaf state of a tree with a depth limit."""
    place = {path: i for i, path in enumerate(leaves)}
    paths = [tree.path(int(node)) for node in tree.leaves]
    if set(paths) != set(place):
        raise PokernetsError("continuations: the bet menu is not the one of the blueprint's first round")
    return [place[path] for path in paths]
