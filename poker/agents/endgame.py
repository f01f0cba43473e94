"""Plays a blueprint at tables of any size, and solves the last two rounds once two players are left.

From the turn on nothing is abstracted but the bets: hands are solved to the end, for the ranges with which the two came
there by the blueprint, and bets of any size are answered as they are (`poker.search.nested`).
"""

import math
from dataclasses import replace

import numpy as np

from poker.agents.base import SamplingAgent
from poker.agents.blueprint import BlueprintAgent
from poker.errors import PokernetsError
from poker.rules import Rules
from poker.search.beliefs import Ranges, observe_action, observe_board, start_ranges
from poker.search.clock import Clock
from poker.search.heads_up_rest import SOLVED_TO_THE_END, HeadsUpRest
from poker.search.lru_cache import LRUCache
from poker.search.nested import Belief, NestedSearch
from poker.search.opponent_decision import SolvedDecision, decision
from poker.search.round_solver import DepthLimitedSolver
from poker.search.settings import SearchSettings
from poker.solvers.blueprint import Blueprint
from poker.state import HandState, Policy, public_state
from poker.types import Board, Singles

_REMEMBERED = 64
"""Roots whose searches are kept."""


class EndgameAgent(SamplingAgent):
    """Plays `blueprint` until turn or river begins with two players left; solves the rest by `search`."""

    def __init__(self, *, name: str, blueprint: Blueprint, translation_seed: int, search: SearchSettings) -> None:
        super().__init__(name)
        self._blueprint = BlueprintAgent(name=name, blueprint=blueprint, translation_seed=translation_seed)
        self._settings = search
        self._clock = Clock(search.seconds_per_decision, search.seconds_per_hand)
        self._solve = DepthLimitedSolver(search.menu, search.ahead, {}, search.solver, clock=self._clock)
        self._unhurried = DepthLimitedSolver(search.menu, search.ahead, {}, search.solver)
        self._searches: LRUCache[tuple[DepthLimitedSolver, str, Board, int], NestedSearch] = LRUCache(_REMEMBERED)
        self._first_street = blueprint.rules.num_streets - SOLVED_TO_THE_END
        self.repeatable = self._solve.repeatable

    def check_game(self, game: Rules) -> None:
        self._blueprint.check_game(game)

    def start_hand(self, seat: int) -> None:
        self._clock.start_hand()

    def policy(self, state: HandState) -> Policy:
        rest = HeadsUpRest.of(state.betting, self._first_street)
        if rest is None:
            return self._blueprint.policy(state)
        board, betting = state.rules.ordered_board(state.board), rest.betting(state.betting)
        with self._clock.decision():
            found = self._search(rest, betting.to_act, board, self._solve).policy(betting, board)
        return tuple(map(rest.real, found.actions)), found.probs

    def opponents_decision(self, state: HandState, raises: tuple[int, ...] = ()) -> SolvedDecision:
        """Solve the decision of whoever is to act, in a round that began with two players left."""
        rest = HeadsUpRest.of(state.betting, self._first_street)
        if rest is None:
            raise PokernetsError(f"{self.name} solves turns and rivers that began with two players left")
        board, betting = state.rules.ordered_board(state.board), rest.betting(state.betting)
        search = self._search(rest, 1 - betting.to_act, board, self._unhurried)
        found = decision(search, self._unhurried, betting, board, tuple(map(rest.alone, raises)))
        answers = {
            tuple(map(rest.real, path)): (share, value + rest.offset) for path, (share, value) in found.answers.items()
        }
        return replace(
            found,
            actions=tuple(map(rest.real, found.actions)),
            values=found.values + rest.offset,
            best=found.best + rest.offset,
            answers=answers,
        )

    def others_decision(self, state: HandState, raises: tuple[int, ...] = ()) -> SolvedDecision:
        """Solve a decision between two others, which is no other than those of one's own opponents."""
        self.check_game(state.rules)
        return self.opponents_decision(state, raises)

    def _search(self, rest: HeadsUpRest, searcher: int, board: Board, solve: DepthLimitedSolver) -> NestedSearch:
        shown = board[: rest.real_root.rules.board_sizes[rest.root.street]]
        key = solve, rest.real_root.text(), shown, searcher
        found = self._searches.get(key)
        if found is None:
            settings = self._settings
            found = NestedSearch(
                rest.root.rules,
                searcher,
                solve,
                opponent_noise=settings.opponent_noise,
                remembered=settings.remembered_states,
                follow=settings.follow,
                start=Belief(rest.root, self.ranges(rest, shown), None, answered=False),
            )
            self._searches.put(key, found)
        return found

    def ranges(self, rest: HeadsUpRest, board: Board) -> Ranges:
        """The ranges of the two at the root of the rest, on its `board`, if all before was played by the blueprint."""
        ranges, root = start_ranges(rest.root.rules), rest.real_root
        for before, player, action in root.turns():
            if player in rest.players:
                shown = board[: root.rules.board_sizes[before.street]]
                probs = _taken(self._blueprint.policy(public_state(before, shown)), action)
                if probs is not None:
                    place = rest.players.index(player)
                    ranges = observe_action(ranges, place, probs, self._settings.opponent_noise)
        return observe_board(ranges, board)


def _taken(policy: Policy, action: int) -> Singles | None:
    """[H] probability of `action`, of the raise nearest to it if it is one that the policy does not make; None where
    that says nothing."""
    actions, probs = policy
    raises = [other for other in actions if other > 0]
    if action > 0 and raises:
        action = min(raises, key=lambda total: abs(math.log(total / action)))
    return np.asarray(probs[:, actions.index(action)], np.float32) if action in actions else None
