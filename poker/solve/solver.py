"""Solves the current betting round over all hands of both players.

Before the last two rounds the tree ends with the round, and a leaf evaluator gives values for the rest of the game, for
each continuation that the opponent may pick there. The last two rounds are solved to the end of the game.
"""

from collections.abc import Mapping, Sequence
from dataclasses import replace

import numpy as np

from poker.depth_limit.evaluator import LeafEvaluator, LeafQuery, leaf_states
from poker.game.cards import HOLDEM
from poker.kernels.types import Path, Ranges
from poker.solve.batches import at_once, run
from poker.solve.clock import Clock
from poker.solve.flops import SampledFlops
from poker.solve.ranges import UNLIKELY_OPP, evened, likely_ranges, without_unlikely
from poker.solve.safety import UNSAFE, gadget, is_safe
from poker.solve.solution import RoundSolution, RoundValues
from poker.solve.types import NodePolicy, Request, SolverSettings
from poker.solvers.vector.game import VectorGame
from poker.solvers.vector.leaves import LeafValues
from poker.solvers.vector.solver import VectorSolver
from poker.tree import BetMenu, BettingTree, DepthLimit, Kind, build_tree

_MIN_ENTRY = 0.05
"""A hand's average strategy in a subgame is not used if the hand enters the subgame less often than this."""

_FLOP_STREET = 1


class DepthLimitedSolver:
    """Solves rounds to the depth limit or to the end of the game.

    Args:
        menu: bets of the round that is being played.
        ahead: bets of later rounds within the solve; these rounds are solved again with `menu` when they are reached.
        leaves: leaf evaluators of the depth limit by street; other streets are solved to the end.
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
        safety: str = UNSAFE,
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
        self._size = at_once(settings.device, settings.threads)
        self._safe = is_safe(safety)
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
        size = self._size or max(1, len(requests))
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
        return build_tree(
            root, menu, limit, gadget=gadget(root, searcher, request.alternatives) if self._safe else None
        )

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
        seconds, budgets = self._clock.for_solve(), []
        for solver, request in zip(solvers, requests, strict=True):
            budget = self._settings.budget(request.root.street, seconds, patience)
            if budget.iterations is not None and self._flops is not None and solver.game.rivers is not None:
                most = self._flops.iterations_of(solver.game.hand_actions, budget.iterations)
                budget = replace(budget, iterations=most)
            budgets.append(budget)
        run(solvers, budgets)

    def _solution(self, solver: VectorSolver, request: Request) -> RoundSolution:
        root, searcher = request.root, request.searcher
        concessions = RoundValues.of(solver.best_response_values(1 - searcher)) if self._safe else None
        players = () if not self.keeps_values else (0, 1) if self._joint else (1 - searcher,)
        values = {player: RoundValues.of(solver.average_values(player)) for player in players}
        return RoundSolution(root, _round_policies(solver, root.street, self._joint), concessions, values, request)

    def _likely(self, ranges: Ranges, searcher: int, flops: SampledFlops | None) -> Ranges:
        """Return ranges without unlikely hands; safe solves include all hands of the opponent, as none may gain."""
        if self._joint or flops is not None:
            share = UNLIKELY_OPP if flops is None else flops.unlikely
            likely = np.stack([without_unlikely(weights, share) for weights in ranges])
        else:
            likely = likely_ranges(ranges, searcher, 0.0 if self._safe else UNLIKELY_OPP)
        possible = (likely[0] * HOLDEM.compatible_mass(likely[1].astype(np.float64))).any()
        return likely if possible else ranges


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
