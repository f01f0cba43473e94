"""Self-generated continuations ([DLS] section 4) in games of two rounds, where every step is exact.

The set of the opponent's continuations begins with the blueprint and grows to K members. In each step we solve the
first round with the current set at its end. The searcher plays that solution and then the blueprint. The opponent's
best response to this joins the set. The first k of K continuations are the set of size k.

A response may win more against the blueprint than the blueprint itself does, and then the searcher plays too
cautiously. We use one of the remedies in the paper: `pot_fraction` subtracts a part of the pot from the value of every
response.

L is the number of leaves, K of continuations and C of clusters of hands.
"""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace

import numpy as np

from poker.depth_limit.continuations.leaf_play import BLUEPRINT, LeafPlay, Play, biased_play
from poker.game.rules import Rules
from poker.game.state import Betting
from poker.kernels.types import I32, U8, Singles
from poker.run.errors import PokernetsError
from poker.solvers.blueprint import CONTINUATIONS
from poker.solvers.vector.game import VectorGame
from poker.solvers.vector.leaves import LeafValues
from poker.solvers.vector.solver import VectorSolver
from poker.tree import BetMenu, BettingTree, DepthLimit, Gadget, Kind, build_tree

MAX_INHERITED = 100
"""Cap on the iterations, which set the discounts, that a solve inherits with the regrets of another."""

TREMBLE = 1e-7
"""Smallest probability of the searcher's actions in the first round, so that the response reaches every leaf."""


@dataclass(frozen=True)
class Solving:
    """Settings of each solve of the first round.

    Attributes:
        algorithm: name of the CFR variant.
    """

    algorithm: str = "apdcfr"
    iterations: int = 1000


@dataclass(frozen=True, eq=False)
class Root:
    """The root of solves that begin within the first round; `play` has the same root.

    Attributes:
        betting: a betting state within the first round.
        alternatives: float32 [H] chips of each opponent hand that does not enter (a resolving gadget).
    """

    betting: Betting
    alternatives: Singles


@dataclass(frozen=True)
class Step:
    """The result of one solve with a given number of continuations.

    Values are in chips per hand of the opponent.

    Attributes:
        continuations: number of continuations k.
        limited_value: value of the depth-limited game.
        limited_exploitability: exploitability to which that game was solved.
        response_value: value of the best response to the searcher's solution followed by the blueprint. It measures
            that strategy exactly.
    """

    continuations: int
    limited_value: float
    limited_exploitability: float
    response_value: float


@dataclass(frozen=True)
class ContinuationSet:
    """Continuations of the opponent and their values at the leaves.

    Attributes:
        opponent: the player who chooses a continuation.
        leaves: paths of actions from the start to each leaf.
        clusters: int32 [H] cluster of each hand, for both players.
        values: float32 [L, K, C, C] chips of player 0 when the opponent plays continuation k, by the clusters of
            players 0 and 1.
        steps: results of the solves that found the continuations.
    """

    opponent: int
    leaves: tuple[tuple[int, ...], ...]
    clusters: I32
    values: Singles
    steps: tuple[Step, ...] = ()

    @property
    def size(self) -> int:
        """Number of continuations K."""
        return int(self.values.shape[1])

    def limit(self, size: int) -> DepthLimit:
        """Return the depth limit of a game with the first `size` continuations."""
        return DepthLimit(0, size, (self.opponent,), cut_runouts=True)

    def first(self, size: int) -> LeafValues:
        """Return the leaf values of the first `size` continuations, for a tree built with `limit(size)`."""
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
    """Generate continuations of the opponent from a blueprint.

    The blueprint in `play` is restored at the end.

    Args:
        play: the blueprint and its leaves.
        menu: bet menu of the tree's first round; None in limit games.
        opponent: the player who chooses a continuation.
        count: number of continuations K, the blueprint included.
        pot_fraction: part of the leaf's pot that is subtracted from the value of every response.
        solving: settings of each solve; None for the defaults.
        root: where the solves begin; None for the start of the hand.
        progress: called after each solve.

    Returns:
        The continuations with values [L, K, C, C] and one `Step` per solve.

    Raises:
        PokernetsError: the menu is not the one of the blueprint's first round.
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
                _warm_start(solver, last)
            solver.run(iterations=solving.iterations)
            last, exploitability = solver, solver.exploitability()
            value = _respond(play, solver, opponent, actions)
            if size < count:
                added = play.values(_by_seat(opponent, BLUEPRINT, play.recorded(opponent, actions)))
                cut = np.float32(pot_fraction) * pots[:, None, None]
                values = np.concatenate([values, (added - cut if opponent == 0 else added + cut)[:, None]], axis=1)
            steps.append(Step(size, solver.game_value(opponent), exploitability, value))
            if progress is not None:
                progress(steps[-1])
    return ContinuationSet(opponent, play.leaves, play.clusters, values, tuple(steps))


def biased(play: LeafPlay, opponent: int, factor: float = 10.0) -> ContinuationSet:
    """Return the blueprint and its biased forms as continuations ([DLS] section 4).

    Args:
        play: the blueprint and its leaves.
        opponent: the player who chooses a continuation.
        factor: multiplier of the favoured class of action; 10 in the paper.
    """
    forms = tuple(biased_play(play.game.tree, kind, factor) for kind in CONTINUATIONS)
    values = np.stack([play.values(_by_seat(opponent, BLUEPRINT, form)) for form in forms], axis=1)
    return ContinuationSet(opponent, play.leaves, play.clusters, values)


def limited_game(
    continuations: ContinuationSet, size: int, rules: Rules, menu: BetMenu | None, root: Root | None = None
) -> VectorGame:
    """Return the game of the first round with continuations at its end.

    Args:
        size: number of continuations to use.
        menu: bet menu of the first round; None in limit games.
        root: where the game begins; None for the start of the hand.

    Raises:
        PokernetsError: the menu is not the one of the blueprint's first round.
    """
    betting, gadget, alternatives = Betting.start(rules), None, None
    if root is not None:
        betting, gadget, alternatives = root.betting, Gadget(continuations.opponent, 0), root.alternatives
    tree, values = build_tree(betting, menu, continuations.limit(size), gadget=gadget), continuations.first(size)
    values = replace(values, values=values.values[_leaf_order(tree, continuations.leaves)])
    return VectorGame(tree, leaf_values=values, alternatives=alternatives)


def _by_seat(opponent: int, searcher_play: Play, opponent_play: Play) -> tuple[Play, Play]:
    return (opponent_play, searcher_play) if opponent == 0 else (searcher_play, opponent_play)


def _respond(play: LeafPlay, solver: VectorSolver, player: int, actions: U8) -> float:
    """Return the chips of the best response of `player` to the solution of `solver` followed by the blueprint.

    The response is written to `actions`. The solution remains in the solver of the blueprint.
    """
    full, limited = play.game, solver.game.tree
    for node in _first_round(full.tree, 1 - player):
        rows = np.maximum(solver.strategy(limited.find(full.tree.path(node))), np.float32(TREMBLE))
        play.solver.set_average(node, 0, rows[full.hands(1 - player)])
    return play.solver.best_response(player, actions)


def _warm_start(solver: VectorSolver, before: VectorSolver) -> None:
    """Start `solver` with the regrets and iteration count of a solve with fewer continuations; averages restart.

    In small games this reduces the exploitability after a hundred iterations to a third or a fifth.
    """
    old, new = before.game, solver.game
    for node in old.layout.decisions.tolist():
        target = node if old.tree.kind[node] == Kind.GADGET else new.tree.find(old.tree.path(node))
        for name in before.arrays.keys() - {"sums"}:
            rows = old.rows(before.arrays[name], node, 0)
            new.rows(solver.arrays[name], target, 0)[: len(rows)] = rows
    solver.iterations = min(before.iterations, MAX_INHERITED)


def _first_round(tree: BettingTree, player: int) -> list[int]:
    """Return the player's decisions in the first round."""
    is_decision = (tree.kind == Kind.DECISION) & (tree.street == 0) & (tree.player == player)
    return [int(node) for node in np.flatnonzero(is_decision)]


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
    """Return the place in `leaves` of each leaf state of a tree with a depth limit."""
    place = {path: i for i, path in enumerate(leaves)}
    paths = [tree.path(int(node)) for node in tree.leaves]
    if set(paths) != set(place):
        raise PokernetsError("the continuations need the bet menu of the blueprint's first round")
    return [place[path] for path in paths]
