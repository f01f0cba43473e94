"""An agent whose turn and river strategies are those of a solve of one turn spot, and what is won from it exactly."""

from collections.abc import Mapping
from functools import lru_cache

import numpy as np

from poker.agents.base import Agent
from poker.agents.local_best_response import LbrActions, LocalBestResponse
from poker.formats.ranges import parse_range
from poker.game.betting import Betting
from poker.game.cards import parse_cards
from poker.game.rules import CALL, FOLD, Rules
from poker.game.state import HandState, Policy, public_state
from poker.kernels.types import Board, Floats, Reals
from poker.solvers.best_response.public import columns
from poker.solvers.best_response.ranges import RangeWalk
from poker.solvers.vector.game import VectorGame
from poker.solvers.vector.solver import VectorSolver
from poker.tree import BetMenu, build_tree
from tests.games import load_rules


class SolvedTurn(Agent):
    """Plays the average strategy after `iterations` iterations. Before the flop it puts half of the pot in with its
    range and folds the rest; it checks the flop."""

    def __init__(self, spot: Mapping[str, str], menu: BetMenu, iterations: int) -> None:
        super().__init__("solved")
        self.pot = int(spot["pot"])
        self.ranges = np.stack([parse_range(spot[f"{seat}_range"]) for seat in ("oop", "ip")])
        holdem = vars(load_rules("holdem_nolimit_2p"))
        self.rules = Rules(**{**holdem, "blinds": (2, 1), "stacks": (self.pot // 2 + int(spot["stack"]),) * 2})
        self.board = self.rules.ordered_board(parse_cards(spot["board"]))
        self.root = Betting.parse(self.rules, f"r{self.pot // 2}c/cc/")
        self.tree = build_tree(self.root, menu)
        self.solver = VectorSolver(VectorGame(self.tree, self.board, self.ranges), "apdcfr")
        self.solver.advance(iterations)
        self._betting = lru_cache(maxsize=None)(lambda node: self.tree.betting(node, self.root))

    def policy(self, state: HandState) -> Policy:
        player = state.to_act
        if state.street < 2:
            if state.street or (state.betting.committed[1 - player] < self.pot // 2 and player == 0):
                return (CALL,), np.ones((self.rules.num_hands, 1))
            plays = self.ranges[player].astype(np.float64)
            return (FOLD, self.pot // 2 if player else CALL), np.stack([1 - plays, plays], axis=1)
        node = self.tree.find(state.betting.line[len(self.root.line) :])
        probs = self.solver.strategy(node, state.board)
        probs[probs.sum(axis=1) == 0] = 1 / probs.shape[1]
        return self.tree.actions(node), probs

    def lost_to(self, response: type[LocalBestResponse], actions: LbrActions) -> float:
        """Share of the pot that a response wins from the turn on, the mean over both seats."""
        return float(np.mean([self._won(response, actions, player) for player in range(2)])) / self.pot

    def _won(self, response: type[LocalBestResponse], actions: LbrActions, player: int) -> float:
        adversary = response(name="adversary", game=self.rules, opponent=self, actions=actions)

        def own(node: int, board: Board) -> Reals:
            return columns(adversary.policy(public_state(self._betting(node), board)), self.tree.actions(node))

        def theirs(node: int, board: Board) -> Reals:
            return columns(self.policy(public_state(self._betting(node), board)), self.tree.actions(node))

        live = self.rules.space.live(self.board)
        reach, weights = (self.ranges[seat] * live.astype(np.float64) for seat in (1 - player, player))

        def certain(node: int, board: Board) -> Reals:  # whatever is done with hands that cannot be held adds up to 1
            probs = own(node, board)
            return np.where(probs.sum(axis=1, keepdims=True) > 0, probs, 1 / probs.shape[1])

        values: Floats = RangeWalk(self.tree, theirs, player, own=certain).values(0, self.board, reach)
        return float(weights @ values / (weights @ self.rules.space.compatible_mass(reach)))
