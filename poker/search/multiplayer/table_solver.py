"""Solves the current betting round at tables of more than two, for all players still in the hand.

Turns and rivers that begin with two players left are solved by the heads-up engine, to the end of the hand. Other
rounds are sampled (`poker.solvers.sampling.subgame`) without buckets. At the end of the round each remaining player
picks among the blueprint and its forms that fold, call or raise more often (Brown, Sandholm 2019, *Superhuman AI for
multiplayer poker*).
"""

import hashlib
from collections.abc import Callable
from dataclasses import replace

import numpy as np

from poker.depth_limit.evaluator import leaf_states
from poker.game.state import HandState, Policy, public_state
from poker.kernels.types import Singles
from poker.search.multiplayer.heads_up_rest import SOLVED_TO_THE_END, HeadsUpRest
from poker.search.settings import SearchSettings
from poker.solve.clock import Clock
from poker.solve.ranges import likely_ranges
from poker.solve.solution import RoundSolution
from poker.solve.solver import DepthLimitedSolver
from poker.solve.types import NodePolicy, Request
from poker.solvers.sampling.subgame import RolledOut, SubgameSolver
from poker.tree import BettingTree, DepthLimit, Kind, build_tree
from poker.tree.translation import on_actions

_DEALS = 24
"""Deals of a sampled solve per iteration of a heads-up solve."""


class TableSolver:
    """Solves rounds at tables of more than two players.

    Args:
        blueprint: function from a state to the policy from which sampled solves start.
        rolled_out: the blueprint that is rolled out after the round.
        clock: time limits.
    """

    def __init__(
        self, search: SearchSettings, blueprint: Callable[[HandState], Policy], rolled_out: RolledOut, clock: Clock
    ) -> None:
        """Set up the heads-up solver.

        Raises:
            PokernetsError: `search.ahead` lacks bets for a later round.
        """
        self._menu, self._settings, self._clock = search.menu, search.solver, clock
        self._blueprint, self._rolled_out = blueprint, rolled_out
        self.heads_up = DepthLimitedSolver(search.menu, search.ahead, {}, search.solver, clock=clock)
        self.to_the_end = rolled_out.rules.num_streets - SOLVED_TO_THE_END
        """First street on which two players are solved to the end of the hand."""
        search.ahead.check_given(range(self.to_the_end + 1, rolled_out.rules.num_streets), "search.ahead")

    def __call__(self, request: Request) -> RoundSolution:
        """Solve the round of a request."""
        rest = HeadsUpRest.of(request.root, self.to_the_end)
        return self._among_all(request) if rest is None else self._between_two(request, rest)

    def _between_two(self, request: Request, rest: HeadsUpRest) -> RoundSolution:
        players = list(rest.players)
        alone = Request(
            rest.betting(request.root),
            request.board,
            request.ranges[players],
            players.index(request.searcher),
            tuple(map(rest.alone, request.at_root)),
        )
        solved = self.heads_up(alone).policies
        policies = {
            tuple(map(rest.real, path)): replace(
                one, player=players[one.player], actions=tuple(map(rest.real, one.actions))
            )
            for path, one in solved.items()
        }
        return RoundSolution(request.root, policies)

    def _among_all(self, request: Request) -> RoundSolution:
        root, street = request.root, request.root.street
        menu = self._menu
        for total in request.at_root:
            menu = menu.with_action(root, total)
        ends = street == root.rules.num_streets - 1
        tree = build_tree(root, menu, None if ends else DepthLimit(street, 1))
        nodes = np.flatnonzero((tree.kind == Kind.DECISION) & (tree.street == street)).tolist()
        solver = SubgameSolver(
            tree,
            request.board,
            likely_ranges(request.ranges, request.searcher) * ~np.array(root.folded)[:, None],
            _seed(request),
            start={node: self._start(tree, node, request) for node in nodes},
            leaves=leaf_states(root, tree) if tree.num_leaf_states else (),
            rolled_out=None if ends else self._rolled_out,
        )
        seconds = self._clock.for_solve()
        solver.run(None if seconds is not None else _DEALS * self._settings.on(street), seconds)
        policies = {node: (int(tree.player[node]), tree.actions(node), solver.strategy(node)) for node in nodes}
        return RoundSolution(root, {tree.path(node): NodePolicy(*policy) for node, policy in policies.items()})

    def _start(self, tree: BettingTree, node: int, request: Request) -> Singles:
        """Return the blueprint's strategy [H, A] at a node."""
        betting = tree.betting(node, request.root)
        return on_actions(self._blueprint(public_state(betting, request.board)), tree.actions(node))


def _seed(request: Request) -> int:
    digest = hashlib.blake2b(
        f"{request.root.text()}|{request.board}|{request.at_root}".encode(), digest_size=8
    ).digest()
    return int.from_bytes(digest, "little")
