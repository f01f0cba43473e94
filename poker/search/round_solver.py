"""Solves the betting round that a hand is in, over all hands of both players.

Before the last two rounds the tree ends with the round: a leaf evaluator says what the rest is worth, under the
continuation that the opponent picks there. The last two rounds are solved to the end of the game.
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

_HARDLY = 0.05
"""Frequency of entering a subgame below which a hand's average strategy in it is not used."""

_UNLIKELY_OWN, _UNLIKELY_OPP = 1e-5, 1e-3
"""Shares of the searcher's range and of the opponent's whose least likely hands are left out of a solve. On the turn
they are half of the searcher's hands, those that actions solved before rule out but for rounding, and a sixth of the
opponent's."""

_ALIKE = np.float32(0.999)
"""Weights in a ratio nearer to 1 differ by no more than rounding in the solves that made them."""

_FLOP_STREET = 1
_FLOP = 3
_EVEN = 0.01
"""Share of a range that may differ between hands equal up to the names of suits, by the noise of earlier solves."""


@dataclass(frozen=True)
class NodePolicy:
    """One decision: `probs` [H, A] over `actions` for every hand of `player`, float32, rows sum to 1.

    Hands that the solve left out are uniform, which says nothing; `solved` [H] are the others (None: all).
    """

    player: int
    actions: tuple[int, ...]
    probs: Singles
    solved: NDArray[np.bool_] | None = None

    def probability(self, action: int) -> Singles:
        """[H] probability of one of `actions`."""
        return self.probs[:, self.actions.index(action)]


@dataclass(frozen=True)
class RoundSolution:
    """Strategies of both players at every decision of one round, by the actions since `root`; if it is to be followed
    safely, what it concedes to the opponent; what it says hands are worth, by player, if that is kept; and the request
    that it answers."""

    root: Betting
    policies: Mapping[Path, NodePolicy]
    concessions: Concessions | None = None
    values: Mapping[int, SolvedValues] = field(default_factory=dict)
    request: "Request | None" = None

    def at(self, betting: Betting) -> NodePolicy | None:
        """The decision at `betting`, or None where it lies outside this solution."""
        past = len(self.root.actions[self.root.street])
        if betting.street != self.root.street or betting.actions[-1][:past] != self.root.actions[-1]:
            return None
        return self.policies.get(betting.actions[-1][past:])

    def alternatives(self, betting: Betting, board: Board) -> OpponentValues | None:
        """Values of the opponent at `betting`, of this round or right after it; a solve there shall concede no more."""
        return None if self.concessions is None else self.concessions.at(betting, board)


@dataclass(frozen=True)
class SolverSettings:
    """How hard to solve, on `threads` threads: until `exploitability` within the solve is at most this part of the pot
    (0: any), one for all streets or by street, but no more than so many iterations by street (the last entry serves
    later ones) or, where time is limited, no longer than that. `device` is cpu, cuda or torch: what CUDA does on the
    CPU, slowly, for tests."""

    algorithm: str
    iterations: tuple[int, ...]
    threads: int
    exploitability: float | Sequence[float] = 0.0
    device: str = "cpu"

    def __post_init__(self) -> None:
        schedule(self.algorithm)
        given = self.iterations if isinstance(self.iterations, Sequence) else ()
        if not given or not all(type(count) is int and count > 0 for count in given):
            raise PokernetsError(
                f"search.solver.iterations are those of each street, such as [200,100], not {self.iterations}"
            )
        limits = self.exploitability if isinstance(self.exploitability, Sequence) else [self.exploitability]
        if not limits or not all(limit >= 0 for limit in limits):
            raise PokernetsError(f"search.solver.exploitability is a share of the pot, not {self.exploitability}")

    def on(self, street: int) -> int:
        """Iterations for a solve that starts on `street`."""
        return self.iterations[min(street, len(self.iterations) - 1)]

    def to(self, street: int) -> float | None:
        """Exploitability in pots at which it is done; None where the number of iterations alone says so."""
        given = self.exploitability
        return (given[min(street, len(given) - 1)] if isinstance(given, Sequence) else given) or None


class Request(NamedTuple):
    """A solve from `root`, where the raises `at_root` are possible besides the menu's; safely if there are
    `alternatives` of the opponent and the settings say so; against the `modelled` part of the opponent's range and a
    free rest. One `for_other` is for the range of the searcher, in a search of the opponent."""

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
        """Key of the request: the rest follows from it in the searches of one agent."""
        return self.searcher, self.root.text(), self.board, self.at_root, self.for_other

    def equals(self, other: "Request") -> bool:
        """Whether the `other` request is for the same solve."""
        return self.state == other.state and np.array_equal(self.ranges, other.ranges)


class DepthLimitedSolver:
    """Solves rounds with bets from `menu`; `leaves` by street value the depth limit, other streets go to the end.

    Rounds after the one that is played take their bets from `ahead`: they are solved again with `menu` when they come.
    `against_model` are the leaves of solves with a modelled part; None takes `leaves`. A flop without leaves is solved
    within the limits of `flops`. `joint` solutions serve both players: unlikely hands of either are left out alike, and
    the last solver is kept for `solver_of`.
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
        """Whether solutions hold values of the opponent's hands, for one more sweep each."""

    def __call__(self, request: Request) -> RoundSolution:
        return self.together([request])[0]

    def together(self, requests: Sequence[Request]) -> list[RoundSolution]:
        """Solutions in the order of `requests`; as many as the engine likes are solved at a time."""
        solutions: list[RoundSolution] = []
        self._last = None  # its memory serves this solve
        size = self._engine.at_once or max(1, len(requests))
        for start in range(0, len(requests), size):
            chosen = requests[start : start + size]
            solvers = self._posed(chosen, max(1, self._settings.threads // len(chosen)))
            self._run(solvers, chosen)
            solutions += map(self._solution, solvers, chosen)
            if self._joint:
                self._last = chosen[-1], solvers[-1]
        return solutions

    def solver_of(self, request: Request) -> VectorSolver:
        """The solver behind the solution of `request`: the last one, or the same solve once more."""
        if self._last is None or not self._last[0].equals(request):
            self(request)
        assert self._last is not None
        return self._last[1]

    def solved(self, request: Request, *, every_hand: bool = False, patience: int = 1) -> VectorSolver:
        """The solver after its iterations; with `every_hand` no unlikely hands are left out. Where there is an
        exploitability to reach, the solve may take `patience` times the iterations of others to it."""
        solvers = self._posed([request], self._settings.threads, every_hand)
        self._run(solvers, [request], patience if self.exploitability(request.root.street) else 1)
        return solvers[0]

    def exploitability(self, street: int) -> float | None:
        """Exploitability in pots at which a solve that starts on `street` is done; None where iterations say so."""
        return self._settings.to(street)

    def _posed(self, requests: Sequence[Request], threads: int, every_hand: bool = False) -> list[VectorSolver]:
        """Solvers that have done no iteration yet."""
        sized = [self._sized(request, every_hand) for request in requests]
        values = self._leaf_values(requests, [tree for tree, _ in sized])
        return [
            self._solver(request, tree, values.get(number), threads, every_hand, rivers)
            for number, (request, (tree, rivers)) in enumerate(zip(requests, sized, strict=True))
        ]

    def _sized(self, request: Request, every_hand: bool) -> tuple[BettingTree, int | None]:
        """The tree of a request, and the number of rivers after each turn if it is not all of them."""
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
        """Leaf values of the requests whose trees have leaves, by number."""
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
        """Evaluator of the depth limit; None where there is none."""
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
        if values is None:  # the boards to come are merged where suits are alike
            ranges, alternatives = evened(board, ranges, alternatives)
        flops = None if rivers is None else self._flops
        likely = ranges if every_hand else self._likely(ranges, searcher, flops)
        safely = None if tree.gadget is None else alternatives
        game = VectorGame(tree, board, likely, values, alternatives=safely, rivers=rivers)
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
        return RoundSolution(root, _round_policies(solver, root.street), concessions, values, request)

    def _likely(self, ranges: Ranges, searcher: int, flops: SampledFlops | None) -> Ranges:
        """Ranges without unlikely hands; safe solves keep all hands of the opponent: none of them shall gain."""
        if self._joint or flops is not None:
            share = _UNLIKELY_OPP if flops is None else flops.unlikely
            likely = np.stack([without_unlikely(weights, share) for weights in ranges])
        else:
            likely = likely_ranges(ranges, searcher, 0.0 if self._safety.active else _UNLIKELY_OPP)
        possible = (likely[0] * HOLDEM.compatible_mass(likely[1].astype(np.float64))).any()
        return likely if possible else ranges


def likely_ranges(ranges: Ranges, searcher: int, of_others: float = _UNLIKELY_OPP) -> Ranges:
    """[P, H] without the unlikely hands of the searcher and a share of those `of_others`."""
    shares = [of_others] * len(ranges)
    shares[searcher] = _UNLIKELY_OWN
    return np.stack([without_unlikely(weights, share) for weights, share in zip(ranges, shares, strict=True)])


def without_unlikely(weights: Singles, share: float) -> Singles:
    """[H] with 0 for the least likely hands that together have at most `share` of the weight; equally likely ones stay
    or go together."""
    ascending = np.sort(weights)
    below = np.cumsum(ascending, dtype=np.float64)
    least = min(int(np.searchsorted(below, share * below[-1], side="right")), len(weights) - 1)
    return np.where(weights < _ALIKE * ascending[least], np.float32(0.0), weights)


def with_hand(ranges: Ranges, player: int, hand: int) -> Ranges:
    """Ranges in which the searcher `player` has `hand` with the least weight that is not left out of a solve."""
    out = ranges.copy()
    out[player, hand] = max(out[player, hand], 2 * _UNLIKELY_OWN * out[player].sum())
    return out


def evened(board: Board, ranges: Ranges, alternatives: OpponentValues | None) -> tuple[Ranges, OpponentValues | None]:
    """Ranges and alternatives averaged over hands equal up to the names of suits; unchanged where the ranges differ by
    more than the noise of the solves that made them."""
    alike = _alike(board)
    if alike is None:
        return ranges, alternatives
    even = np.stack([_class_means(alike, weights) for weights in ranges])
    if (np.abs(even - ranges).sum(axis=1) > 2 * _EVEN * ranges.sum(axis=1)).any():
        return ranges, alternatives
    return even, None if alternatives is None else _class_means(alike, alternatives)


@lru_cache(maxsize=256)
def _alike(board: Board) -> NDArray[np.int64] | None:
    """[H] classes of hands under the suit permutations that leave flop, turn and river alone; None where only the
    identity does."""
    images = CARD_PERMUTATION[:, list(board)]
    images[:, :_FLOP].sort(axis=1)
    group = (images == board).all(axis=1)
    return HAND_PERMUTATION[group].min(axis=0).astype(np.int64) if group.sum() > 1 else None


def _class_means(classes: NDArray[np.int64], values: Singles) -> Singles:
    counts = np.maximum(np.bincount(classes), 1)
    return (np.bincount(classes, values) / counts)[classes].astype(np.float32)


def _round_policies(solver: VectorSolver, street: int) -> dict[Path, NodePolicy]:
    """Policies at the decisions of a round. Hands of a gadget's owner that hardly enter the subgame play by their
    regrets: their average strategy is weighted by how often they enter."""
    tree = solver.game.tree
    owner = None if tree.gadget is None else tree.gadget.player
    stays_out = None if owner is None else solver.strategy(0)[:, 1] < _HARDLY
    policies: dict[Path, NodePolicy] = {}
    for node in tree.decision_nodes.tolist():
        if tree.street[node] == street and tree.kind[node] == Kind.DECISION:
            player, probs = int(tree.player[node]), solver.strategy(node)
            if player == owner:
                probs[stays_out] = solver.current_strategy(node)[stays_out]
            solved = probs.sum(axis=1) > 0.0
            probs[~solved] = 1.0 / probs.shape[1]
            policies[tree.path(node)] = NodePolicy(player, tree.actions(node), probs, solved)
    return policies
