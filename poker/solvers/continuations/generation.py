"""Self-generated continuations ([DLS] section 4) in games of two rounds, where every step is exact.

The set of the opponent's continuations begins with the blueprint. Then, until there are K: the first round is solved
with the present set at its end; the searcher plays that solution there and the blueprint after it; the opponent's best
response to this joins the set. The first k of K continuations are the set of size k.

A response may do better against the blueprint than the blueprint does, and then the searcher plays too carefully. The
remedies of the paper are `Remedies`: `weaken` lowers the opponent's values at every infoset of a leaf to what the
blueprint has there against the blueprint; with `both` the searcher chooses among continuations as well; `pot_fraction`
takes a part of the pot off every response.

Symbols: L leaves, K continuations (S of the searcher, where both choose), C clusters of hands.
"""

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field, replace

import numpy as np
from numpy.typing import NDArray

from poker.errors import PokernetsError
from poker.rules import Rules
from poker.solvers.continuations.leaf_play import BLUEPRINT, LeafPlay, Path, Play, biased_continuations
from poker.solvers.continuations.remedies import infoset_gains, lowered, reached
from poker.solvers.rollout.leaf_values import LeafValues
from poker.solvers.vector.game import VectorGame
from poker.solvers.vector.solver import VectorSolver
from poker.state import Betting
from poker.tree import BetMenu, BettingTree, DepthLimit, Gadget, Kind, build_tree

SEEN = 100
"""The most iterations that a solve counts as done when it goes on from another: they set its discounts."""

TREMBLE = 1e-7
"""The least probability of the searcher's actions in the first round, so that a response is one at every leaf."""


@dataclass(frozen=True)
class Remedies:
    """`pot_fraction` is of the pot at the leaf. `weaken` and `both` exclude each other."""

    weaken: bool = False
    both: bool = False
    pot_fraction: float = 0.0

    def __post_init__(self) -> None:
        if self.weaken and self.both:
            raise PokernetsError("continuations: choose `weaken` or `both`, one balances the players as the other does")


@dataclass(frozen=True)
class Solving:
    """How the first round is solved, each time: by `iterations`, or until exploitability is below `target` chips."""

    algorithm: str = "apdcfr"
    iterations: int = 1000
    target: float | None = None


@dataclass(frozen=True, eq=False)
class Root:
    """Where solves of the first round begin, if not with the hand: `betting` within that round, and what each hand of
    the opponent has if it does not come there, float32[H] chips (a resolving gadget). `play` has the same root."""

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
    """`values` float32[L, S, K, C, C]: chips of player 0 when the searcher plays the row's continuation and `opponent`
    the column's, by clusters [H] of the hands of players 0 and 1. `leaves` are paths of actions from the start."""

    opponent: int
    leaves: tuple[Path, ...]
    clusters: NDArray[np.int32]
    values: NDArray[np.float32]
    steps: tuple[Step, ...] = ()
    strategies: tuple[Play, ...] = ()

    @property
    def size(self) -> int:
        return int(self.values.shape[2])

    @property
    def both(self) -> bool:
        return bool(self.values.shape[1] > 1)

    def limit(self, size: int) -> DepthLimit:
        """The depth limit of a game with the first `size` continuations."""
        choosers = (1 - self.opponent, self.opponent) if self.both else (self.opponent,)
        return DepthLimit(0, size, choosers, cut_runouts=True)

    def first(self, size: int) -> LeafValues:
        """Of the first `size` continuations, for a tree made with `limit(size)`."""
        used = self.values[:, : size if self.both else 1, :size]
        shape = (len(self.leaves), -1, *used.shape[3:])
        return LeafValues(0, self.clusters, self.clusters, np.ascontiguousarray(used).reshape(shape))


Progress = Callable[[Step], None]


def self_generated(
    play: LeafPlay,
    menu: BetMenu | None,
    opponent: int,
    count: int,
    *,
    remedies: Remedies | None = None,
    solving: Solving | None = None,
    root: Root | None = None,
    keep: bool = False,
    progress: Progress | None = None,
) -> ContinuationSet:
    """`count` continuations of `opponent` from the blueprint that `play` holds; `keep` keeps the strategies.

    `menu` is that of the tree's first round (None in limit games). The blueprint is left as it was found.
    """
    remedies = remedies or Remedies()
    stage = _Round(play, menu, solving or Solving(), root)
    generator = _Generator(play, stage, opponent, remedies, keep, progress)
    with _first_round_restored(play):
        return generator.run(count)


def biased(play: LeafPlay, opponent: int, factor: float = 10.0) -> ContinuationSet:
    """The blueprint and its biased forms ([DLS] section 4), whose `factor` is 10 in the paper."""
    forms = biased_continuations(play.game.tree, factor)
    values = [play.values(_seated(opponent, BLUEPRINT, form)) for form in forms]
    return _set_of(play, opponent, np.stack(values, axis=1)[:, None], tuple(forms))


def limited_game(
    found: ContinuationSet, size: int, rules: Rules, menu: BetMenu | None, root: Root | None = None
) -> VectorGame:
    """The first round with the first `size` continuations at its end, from the start of the hand or from `root`."""
    betting, gadget, alternatives = Betting.start(rules), None, None
    if root is not None:
        betting, gadget, alternatives = root.betting, Gadget("resolve", found.opponent, 0), root.alternatives
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
    iterations then leave a third to a fifth of the exploitability that they leave from nothing.
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
        remedies: Remedies,
        keep: bool,
        progress: Progress | None,
    ) -> None:
        self._play, self._opponent, self._remedies = play, opponent, remedies
        self._round = stage
        self._keep = keep
        self._progress = progress
        self._actions = np.zeros(play.game.num_entries, np.uint8)
        self._beliefs = _beliefs(play, 1 - opponent) if remedies.weaken else None

    def run(self, count: int) -> ContinuationSet:
        play, opponent, both = self._play, self._opponent, self._remedies.both
        mine: list[Play] = [BLUEPRINT]
        theirs: list[Play] = [BLUEPRINT]
        found = _set_of(play, opponent, play.values((BLUEPRINT, BLUEPRINT))[:, None, None])
        steps: list[Step] = []
        for size in range(1, count + 1):
            times = [time.perf_counter()]
            solver = self._round.solve(found, size)
            exploitability = solver.exploitability()
            times.append(time.perf_counter())
            value = self._round.respond(solver, opponent, self._actions)
            times.append(time.perf_counter())
            if size < count:
                theirs.append(play.recorded(opponent, self._actions))
                if both:
                    self._round.respond(solver, 1 - opponent, self._actions)
                    mine.append(play.recorded(1 - opponent, self._actions))
                found = _set_of(play, opponent, self._grown(found.values, mine, theirs))
                if not (self._keep or both):
                    theirs[-1] = BLUEPRINT  # its values are known, and that is all that is needed
            times.append(time.perf_counter())
            seconds = dict(zip(("solve", "response", "values"), np.diff(times).round(3).tolist(), strict=True))
            steps.append(Step(size, solver.game_value(opponent), exploitability, value, seconds))
            if self._progress is not None:
                self._progress(steps[-1])
        return _set_of(play, opponent, found.values, tuple(theirs) if self._keep else (), tuple(steps))

    def _grown(self, values: NDArray[np.float32], mine: list[Play], theirs: list[Play]) -> NDArray[np.float32]:
        """`values` and those that the last continuation of each player adds."""
        rows = len(mine)
        grown = np.empty((len(values), rows, len(theirs), *values.shape[3:]), np.float32)
        grown[:, : values.shape[1], : values.shape[2]] = values
        for i, each in enumerate(mine):
            for j, other in enumerate(theirs):
                if i >= values.shape[1] or j >= values.shape[2]:
                    new = self._play.values(_seated(self._opponent, each, other))
                    grown[:, i, j] = self._lowered(new, values[:, 0, 0]) if j else new
        return grown

    def _lowered(self, new: NDArray[np.float32], blueprint: NDArray[np.float32]) -> NDArray[np.float32]:
        """The values [L, C, C] of a response of the opponent, after the remedies; of its `blueprint` for `weaken`."""
        opponent, tree = self._opponent, self._play.game.tree
        taken = np.zeros((*new.shape[:1], new.shape[1 + opponent]), np.float32)
        if self._remedies.pot_fraction:
            playing = [tree.kind[tree.after_deal(int(node))] == Kind.DECISION for node in self._play.nodes]
            pots = [tree.pot(int(node)) for node in self._play.nodes]
            taken += np.float32(self._remedies.pot_fraction) * np.multiply(playing, pots).astype(np.float32)[:, None]
        if self._beliefs is not None:
            gains = infoset_gains(new - blueprint, opponent, self._beliefs, self._play.pairs)
            taken = np.maximum(taken, gains)
        return lowered(new, opponent, taken)


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
    """What is written to the blueprint's first round within is undone after."""
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


def _beliefs(play: LeafPlay, player: int) -> NDArray[np.float64]:
    """[L, C] how likely each hand of a cluster comes to a leaf in the blueprint, all alike where none does."""
    tree, clusters = play.game.tree, play.clusters
    beliefs = np.empty((len(play.nodes), len(play.pairs)))
    for row, leaf in zip(beliefs, play.nodes.tolist(), strict=True):
        reach, node = np.ones(len(clusters)), leaf
        while tree.parent[node] >= 0:
            parent = int(tree.parent[node])
            if tree.player[parent] == player:
                reach *= play.solver.strategy(parent)[:, node - int(tree.first_child[parent])]
            node = parent
        row[:] = reached(reach, clusters)
    return beliefs
