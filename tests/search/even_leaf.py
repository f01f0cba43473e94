"""A leaf evaluator that needs no artifacts, and an agent that solves with it."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from poker.agents.searching.heads_up import DepthLimitedAgent
from poker.depth_limit.evaluator import LeafEvaluator
from poker.game.betting import Betting
from poker.game.cards import HOLDEM
from poker.kernels.types import Ranges
from poker.search.settings import SearchSettings
from poker.solve.types import SolverSettings
from poker.solvers.vector.leaves import LeafValues
from poker.tree import bet_menu
from tests.games import load_rules


class EvenLeaf(LeafEvaluator):
    """Two continuations at the end of a round: nothing, and a tenth of the pot to the searcher."""

    num_continuations = 2

    def values(self, leaves: Sequence[Betting], board: tuple[int, ...], ranges: Ranges, own: int) -> LeafValues:
        clusters = np.where(HOLDEM.live(board), 0, -1).astype(np.int32)
        values = np.zeros((len(leaves), 2, 1, 1), np.float32)
        values[:, 1, 0, 0] = [0.1 * leaf.pot for leaf in leaves]
        return LeafValues(own, clusters, clusters, values)


MENU = bet_menu(preflop=[[1.0], []], flop=[[1.0], []], turn=[[1.0], []], river=[[0.5, 1.0], ["a"]])
_SOLVER = SolverSettings("apdcfr", (20, 20, 10, 60), 1)
SEARCH = SearchSettings(menu=MENU, ahead=MENU, solver=_SOLVER, opponent_noise=0.02, remembered_states=100)


def even_solver(**settings: Any) -> DepthLimitedAgent:
    """An agent of heads-up no-limit hold'em with few bets that solves in a moment; more `settings` are its own."""
    usual = {"name": "solver", "game": load_rules("holdem_nolimit_2p"), "leaves": [EvenLeaf(), EvenLeaf()]}
    return DepthLimitedAgent(**{**usual, "search": SEARCH, **settings})
