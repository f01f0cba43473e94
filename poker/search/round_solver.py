"""Solves the current betting round over all hands of both players.

Before the last two rounds the tree ends with the round, and a leaf evaluator gives values for the rest of the game, for
each continuation that the opponent may pick there. The last two rounds are solved to the end of the game.
"""

from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from poker.depth_limit.evaluator import LeafEvaluator, LeafQuery, leaf_states
from poker.game.betting import Betting
from poker.game.cards import HOLDEM
from poker.kernels.cards.hands import CARD_PERMUTATION, HAND_PERMUTATION
from poker.kernels.types import Board, Path, Ranges, Singles
from poker.run.errors import PokernetsError
from poker.search.clock import Clock, Effort
from poker.search.engines import engine
from poker.search.exploit.exploiting import Modelled
from poker.search.flops import SampledFlops
from poker.search.safety import Concessions, OpponentValues, Safety, round_values
from poker.search.solved_values import SolvedValues
from poker.solvers.vector.game import VectorGame
from poker.solvers.vector.leaves import LeafValues
from poker.solvers.vector.schedules import schedule
from poker.solvers.vector.solver import VectorSolver
from poker.tree import BetMenu, BettingTree, DepthLimit, Kind, build_tree

_MIN_ENTRY = 0.05
"""A hand's average strategy in a subgame is not used if the hand enters the subgame less often than this."""

_UNLIKELY_OWN, _UNLIKELY_OPP = 1e-5, 1e-3
"""Shares of the searcher's and the opponent's ranges whose least likely hands are left out of a solve.

On the turn these are half of the searcher's hands, which earlier solutions rule out except for rounding, and a sixth of
the opponent's."""

_ALIKE = np.float32(0.999)
"""Weights whose ratio is nearer to 1 are equal up to rounding in the solves that made them."""

_FLOP_STREET = 1
_FLOP = 3
_EVEN = 0.01
"""Share of a range by which hands that are equal up to suits may differ, because of noise in earlier solves."""


@dataclass(frozen=True)
class NodePolicy:
    """The policy at one decision.

    Attributes:
        player: the player to act.
        actions: the A actions.
        probs: float32 [H, A] probabilities; rows sum to 1. Hands that the solve left out have uniform rows without
            meaning.
        solved: bool [H] hands that the solve included; None for all.
    """

    player: int
    actions: tuple[int, ...]
    probs: Singles
    solved: NDArray[np.bool_] | None = None

    def probability(self, action: int) -> Singles:
        """Return the probability [H] of one of `actions`."""
        return self.probs[:, self.actions.index(action)]


@dataclass(frozen=True)
class RoundSolution:
    """Strategies of both players at every decision of one round.

    Attributes:
        root: state at the root of the solve.
        policies: policies by the actions since `root`.
        concessions: values that the solution concedes to the opponent, if later solves must be safe.
        values: values of the hands by player, if they are stored.
        request: the request that the solution answers.
    """

    root: Betting
    policies: Mapping[Path, NodePolicy]
    concessions: Concessions | None = None
    values: Mapping[int, SolvedValues] = field(default_factory=dict)
    request: "Request | None" = None

    def at(self, betting: Betting) -> NodePolicy | None:
        """Return the policy at `betting`; None if it lies outside this solution."""
        if betting.street != self.root.street or betting.actions[-1][: self._past] != self.root.actions[-1]:
            return None
        return self.policies.get(self.path_to(betting))

    def path_to(self, betting: Betting) -> Path:
        """Return the actions of the round from the root to `betting`."""
        return betting.actions[-1][self._past :]

    @property
    def _past(self) -> int:
        """Number of actions of the round before the root."""
        return len(self.root.actions[self.root.street])

    def alternatives(self, betting: Betting, board: Board) -> OpponentValues | None:
        """Return the opponent's values at `betting`, which is in this round or right after it.

        A solve there must not concede more than these.

        Returns:
            float32 [H] chips; None if they are unknown.
        """
        return None if self.concessions is None else self.concessions.at(betting, board)


@dataclass(frozen=True)
class SolverSettings:
    """Settings of the solver.

    Attributes:
        algorithm: update schedule of CFR.
        iterations: most iterations of a solve by its first street; the last entry also serves later streets. Solves
            with a time limit ignore it.
        threads: threads of a solve.
        exploitability: a solve stops at this exploitability in pots, one number or one by street; 0 for no such limit.
        device: cpu, cuda, or torch (the CUDA code on the CPU, slow and meant for tests).
    """

    algorithm: str
    iterations: tuple[int, ...]
    threads: int
    exploitability: float | Sequence[float] = 0.0
    device: str = "cpu"

    def __post_init__(self) -> None:
        """Check the settings.

        Raises:
            PokernetsError: the algorithm, iterations or exploitability are invalid.
        """
        schedule(self.algorithm)
        given = self.iterations if isinstance(self.iterations, Sequence) else ()
        if not given or not all(type(count) is int and count > 0 for count in given):
            raise PokernetsError(
                f"search.solver.iterations must list numbers by street, such as [200,100], not {self.iterations}"
            )
        limits = self.exploitability if isinstance(self.exploitability, Sequence) else [self.exploitability]
        if not limits or not all(limit >= 0 for limit in limits):
            raise PokernetsError(f"search.solver.exploitability must be a pot fraction, not {self.exploitability}")

    def on(self, street: int) -> int:
        """Return the iterations of a solve that starts on `street`."""
        return self.iterations[min(street, len(self.iterations) - 1)]

    def to(self, street: int) -> float | None:
        """Return the exploitability in pots at which a solve on `street` stops; None if only iterations count."""
        given = self.exploitability
        return (given[min(street, len(given) - 1)] if isinstance(given, Sequence) else given) or None


class Request(NamedTuple):
    """A request to solve a round.

    Attributes:
        root: state at the root.
        board: cards of the board.
        ranges: [2, H] ranges of both players.
        searcher: the player who searches.
        at_root: raises that the root must offer in addition to the menu.
        alternatives: [H] values that the solve must not exceed for the opponent's hands, if the settings require
            safety.
        modelled: the part of the opponent's range that plays by a model; the rest is free.
        for_other: whether the solve serves the searcher's range in a search of the opponent.
    """

    root: Betting
    board: Board
    ranges: Ranges
    searcher: int
    at_root: tuple[int, ...] = ()
    alternatives: OpponentValues | None = None
    modelled: Modelled | None = None
    for_other: bool = False

    @property
    def state(self) -> Hashable:
        """Key of the request, which determines the rest of it within the searches of one agent."""
        return self.searcher, self.root.text(), self.board, self.at_root, self.for_other

    def equals(self, other: "Request") -> bool:
        """Return whether another request is for the same solve."""
        return self.state == other.state and np.array_equal(self.ranges, other.ranges)


class DepthLimitedSolver:
    """Solves rounds to the depth limit or to the end of the game.

    Args:
        menu: bets of the round that is being played.
        ahead: bets of later rounds within the solve; these rounds are solved again with `menu` when they are reached.
        leaves: leaf evaluators of the depth limit by street; other streets are solved to the end.
        settings: settings of the solver.
        safety: how solves are made safe.
        clock: time limits; None for none.
        against_model: leaf evaluators of solves with a modelled part; None for `leaves`.
        flops: size limits of a flop without leaves.
        joint: whether solutions serve both players. Then unlikely hands of both are left out by the same rule, and the
            last solver is kept for `solver_of`.
    """

    def __init__(
        self,
        menu: BetMenu,
        ahead: BetMenu,
        leaves: Mapping[int, LeafEvaluator],
        settings: SolverSettings,
        safety: Safety = Safety(),  # noqa: B008 - frozen
        clock: Clock | None = None,
        against_model: Mapping[int, LeafEvaluator] | None = None,
        flops: SampledFlops | None = None,
        joint: bool = False,
    ) -> None:
        """Open the engine.

        Raises:
            PokernetsError: a setting is invalid, or the device does not exist.
        """
        self._menu = menu
        self._ahead = ahead
        self._flops = flops
        self._leaves = dict(leaves)
        self._against_model = self._leaves if against_model is None else dict(against_model)
        self._settings = settings
        self._engine = engine(settings.device, settings.threads)
        self._safety = safety
        self._clock = clock or Clock()
        self._joint = joint
        self._last: tuple[Request, VectorSolver] | None = None
        self.keeps_values = False
        """Whether solutions include values of the opponent's hands, which cost one more sweep each."""

    def __call__(self, request: Request) -> RoundSolution:
        """Solve one request."""
        return self.together([request])[0]

    def together(self, requests: Sequence[Request]) -> list[RoundSolution]:
        """Solve requests, as many at a time as suits the engine.

        Returns:
            solutions in the order of `requests`.
        """
        solutions: list[RoundSolution] = []
        self._last = None  # frees its memory for this solve
        size = self._engine.at_once or max(1, len(requests))
        for start in range(0, len(requests), size):
            chosen = requests[start : start + size]
            solvers = self._prepared(chosen, max(1, self._settings.threads // len(chosen)))
            self._run(solvers, chosen)
            solutions += map(self._solution, solvers, chosen)
            if self._joint:
                self._last = chosen[-1], solvers[-1]
        return solutions

    def solver_of(self, request: Request) -> VectorSolver:
        """Return the solver behind a request's solution: the last solver, or the same solve repeated."""
        if self._last is None or not self._last[0].equals(request):
            self(request)
        assert self._last is not None
        return self._last[1]

    def solved(self, request: Request, *, every_hand: bool = False, patience: int = 1) -> VectorSolver:
        """Solve a request and return the solver.

        Args:
            request: the request.
            every_hand: whether to include unlikely hands.
            patience: factor on the iterations, if there is an exploitability to reach.
        """
        solvers = self._prepared([request], self._settings.threads, every_hand)
        self._run(solvers, [request], patience if self.exploitability(request.root.street) else 1)
        return solvers[0]

    def exploitability(self, street: int) -> float | None:
        """Return the exploitability in pots at which a solve on `street` stops; None if only iterations count."""
        return self._settings.to(street)

    def _prepared(self, requests: Sequence[Request], threads: int, every_hand: bool = False) -> list[VectorSolver]:
        """Return solvers of the requests before their first iteration."""
        sized = [self._sized(request, every_hand) for request in requests]
        values = self._leaf_values(requests, [tree for tree, _ in sized])
        return [
            self._solver(request, tree, values.get(number), threads, every_hand, rivers)
            for number, (request, (tree, rivers)) in enumerate(zip(requests, sized, strict=True))
        ]

    def _sized(self, request: Request, every_hand: bool) -> tuple[BettingTree, int | None]:
        """Return the tree of a request and the number of rivers after each turn; None for all rivers."""
        tree, street, flops = self._tree(request, self._ahead), request.root.street, self._flops
        if flops is None or street != _FLOP_STREET or tree.num_leaf_states:
            return tree, None
        ranges = request.ranges if every_hand else self._likely(request.ranges, request.searcher, flops)
        hands = (ranges > 0).sum(axis=1).tolist()
        return flops.sized(tree, lambda: self._tree(request, flops.fewer_ahead), hands, self._settings.on(street))

    def _tree(self, request: Request, ahead: BetMenu) -> BettingTree:
        root, searcher = request.root, request.searcher
        menu = self._menu.until(root.street, ahead)
        for total in request.at_root:
            menu = menu.with_action(root, total)
        limit, evaluator = None, self._leaf(request)
        if evaluator is not None:
            choosers = (1 - searcher,) if evaluator.num_continuations > 1 else ()
            limit = DepthLimit(root.street, evaluator.num_continuations, choosers, cut_runouts=True)
        return build_tree(root, menu, limit, gadget=self._safety.gadget(root, searcher, request.alternatives))

    def _leaf_values(self, requests: Sequence[Request], trees: Sequence[BettingTree]) -> dict[int, LeafValues]:
        """Return leaf values of the requests whose trees have leaves, by number."""
        values: dict[int, LeafValues] = {}
        queries: dict[LeafEvaluator, dict[int, LeafQuery]] = {}
        for number, (request, tree) in enumerate(zip(requests, trees, strict=True)):
            evaluator = self._leaf(request)
            if evaluator is not None and tree.num_leaf_states:
                query = leaf_states(request.root, tree), request.board, request.ranges, request.searcher
                queries.setdefault(evaluator, {})[number] = query
        for evaluator, numbered in queries.items():
            values |= zip(numbered, evaluator.together(list(numbered.values())), strict=True)
        return values

    def _leaf(self, request: Request) -> LeafEvaluator | None:
        """Return the evaluator of the depth limit; None if there is no limit."""
        return (self._leaves if request.modelled is None else self._against_model).get(request.root.street)

    def _solver(
        self,
        request: Request,
        tree: BettingTree,
        values: LeafValues | None,
        threads: int,
        every_hand: bool,
        rivers: int | None,
    ) -> VectorSolver:
        root, board, ranges, searcher, _, alternatives, modelled, _ = request
        if values is None or not board:  # boards or hands that are equal up to suits are merged
            ranges, alternatives = evened(board, ranges, alternatives)
        flops = None if rivers is None else self._flops
        likely = ranges if every_hand else self._likely(ranges, searcher, flops)
        safely = None if tree.gadget is None else alternatives
        alike = values is None or modelled is None  # a model may play hands of a cluster differently
        game = VectorGame(tree, board, likely, values, alternatives=safely, isomorphism=alike, rivers=rivers)
        solver = VectorSolver(game, algorithm=self._settings.algorithm, threads=threads)
        if modelled is not None:
            solver.restrict(1 - searcher, modelled.reach(game, root, 1 - searcher))
        return solver

    def _run(self, solvers: list[VectorSolver], requests: Sequence[Request], patience: int = 1) -> None:
        seconds, settings = self._clock.for_solve(), self._settings
        efforts = []
        for solver, request in zip(solvers, requests, strict=True):
            street, iterations = request.root.street, None
            if seconds is None:
                iterations = patience * settings.on(street)
                if self._flops is not None and solver.game.rivers is not None:
                    iterations = self._flops.iterations_of(solver.game.hand_actions, iterations)
            efforts.append(Effort(iterations, settings.to(street), seconds))
        self._engine.run(solvers, efforts)

    def _solution(self, solver: VectorSolver, request: Request) -> RoundSolution:
        root, searcher = request.root, request.searcher
        concessions = self._safety.concessions(solver, root, searcher)
        players = (0, 1) if self._joint else (1 - searcher,)
        values = {
            player: SolvedValues(root.rules, player, *round_values(solver.average_values(player)))
            for player in (players if self.keeps_values else ())
        }
        return RoundSolution(root, _round_policies(solver, root.street, self._joint), concessions, values, request)

    def _likely(self, ranges: Ranges, searcher: int, flops: SampledFlops | None) -> Ranges:
        """Return ranges without unlikely hands; safe solves include all hands of the opponent, as none may gain."""
        if self._joint or flops is not None:
            share = _UNLIKELY_OPP if flops is None else flops.unlikely
            likely = np.stack([without_unlikely(weights, share) for weights in ranges])
        else:
            likely = likely_ranges(ranges, searcher, 0.0 if self._safety.active else _UNLIKELY_OPP)
        possible = (likely[0] * HOLDEM.compatible_mass(likely[1].astype(np.float64))).any()
        return likely if possible else ranges


def likely_ranges(ranges: Ranges, searcher: int, of_others: float = _UNLIKELY_OPP) -> Ranges:
    """Leave unlikely hands out of ranges.

    Args:
        ranges: [P, H] ranges of P players.
        searcher: the player who searches.
        of_others: share of the other players' weight that may be left out.

    Returns:
        [P, H] ranges with 0 for hands that are left out.
    """
    shares = [of_others] * len(ranges)
    shares[searcher] = _UNLIKELY_OWN
    return np.stack([without_unlikely(weights, share) for weights, share in zip(ranges, shares, strict=True)])


def without_unlikely(weights: Singles, share: float) -> Singles:
    """Leave out the least likely hands that together have at most a share of the weight.

    Args:
        weights: [H] weights; equal ones stay or go together.
        share: share of the total weight.

    Returns:
        [H] weights with 0 for hands that are left out.
    """
    ascending = np.sort(weights)
    below = np.cumsum(ascending, dtype=np.float64)
    least = min(int(np.searchsorted(below, share * below[-1], side="right")), len(weights) - 1)
    return np.where(weights < _ALIKE * ascending[least], np.float32(0.0), weights)


def with_hand(ranges: Ranges, player: int, hand: int) -> Ranges:
    """Give a player's hand the least weight that is not left out of a solve.

    Args:
        ranges: [2, H] ranges.
        player: the searcher.
        hand: the hand.

    Returns:
        [2, H] ranges.
    """
    out = ranges.copy()
    out[player, hand] = max(out[player, hand], 2 * _UNLIKELY_OWN * out[player].sum())
    return out


def evened(board: Board, ranges: Ranges, alternatives: OpponentValues | None) -> tuple[Ranges, OpponentValues | None]:
    """Average ranges and alternatives over hands that are equal up to suits.

    Args:
        board: cards of the board.
        ranges: [2, H] ranges.
        alternatives: [H] values of the opponent, or None.

    Returns:
        ranges and alternatives; unchanged if the ranges differ by more than the noise of the solves that made them.
    """
    alike = _alike(board)
    if alike is None:
        return ranges, alternatives
    even = np.stack([_class_means(alike, weights) for weights in ranges])
    if (np.abs(even - ranges).sum(axis=1) > 2 * _EVEN * ranges.sum(axis=1)).any():
        return ranges, alternatives
    return even, None if alternatives is None else _class_means(alike, alternatives)


@lru_cache(maxsize=256)
def _alike(board: Board) -> NDArray[np.int64] | None:
    """Return classes [H] of hands that are equal up to the permutations of suits that fix flop, turn and river.

    None if only the identity does.
    """
    images = CARD_PERMUTATION[:, list(board)]
    images[:, :_FLOP].sort(axis=1)
    group = (images == board).all(axis=1)
    return HAND_PERMUTATION[group].min(axis=0).astype(np.int64) if group.sum() > 1 else None


def _class_means(classes: NDArray[np.int64], values: Singles) -> Singles:
    counts = np.maximum(np.bincount(classes), 1)
    return (np.bincount(classes, values) / counts)[classes].astype(np.float32)


def _round_policies(solver: VectorSolver, street: int, joint: bool) -> dict[Path, NodePolicy]:
    """Return policies at the decisions of a round.

    An average strategy is weighted by how often a hand comes to the node. So hands of a gadget's owner that rarely
    enter the subgame play by their regrets. In a `joint` solve all hands do that rarely come to a node after the root,
    for a person who played another way and asks for a hint.
    """
    tree = solver.game.tree
    owner = None if tree.gadget is None else tree.gadget.player
    stays_out = None if owner is None else solver.strategy(0)[:, 1] < _MIN_ENTRY
    policies: dict[Path, NodePolicy] = {}
    for node in tree.decision_nodes.tolist():
        if tree.street[node] == street and tree.kind[node] == Kind.DECISION:
            path = tree.path(node)
            player, probs = int(tree.player[node]), solver.strategy(node, rare_by_regrets=joint and len(path) > 0)
            if player == owner:
                probs[stays_out] = solver.current_strategy(node)[stays_out]
            solved = probs.sum(axis=1) > 0.0
            probs[~solved] = 1.0 / probs.shape[1]
            policies[path] = NodePolicy(player, tree.actions(node), probs, solved)
    return policies
