"""The depth-limited agent of [DLS], for heads-up games with two hole cards.

Every decision is the strategy of a subgame that is solved for it (`poker.search`), over all hands of both players. The
agent's own cards only select the row to sample from.
"""

from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from typing import Any

from poker.agents.searching.base import Searched, SearchingAgent
from poker.depth_limit.evaluator import GiveUpContinuation, LeafEvaluator
from poker.game.cards import CanonicalBoard
from poker.game.rules import Rules
from poker.game.state import HandState, Policy
from poker.run.errors import PokernetsError
from poker.search.joint import JointSearch
from poker.search.nested import NestedSearch, RoundSolver, together
from poker.search.opponent_decision import Believed, SolvedDecision, decision
from poker.search.settings import SearchSettings
from poker.solve.clock import Clock
from poker.solve.solution import DecisionValues
from poker.solve.solver import DepthLimitedSolver
from poker.store.lru_cache import LRUCache

_REMEMBERED_GAMES = 4
"""Number of games of other players, by stacks, with cached searches."""
_STATES_OF_A_ROUND = 8
"""Approximate number of states per hand. A smaller cache would solve hands played side by side again and again."""


class DepthLimitedAgent(SearchingAgent):
    """An agent that plays the strategies of nested search ([DLS])."""

    def __init__(
        self,
        *,
        name: str,
        game: Rules,
        leaves: Sequence[LeafEvaluator | None],
        search: SearchSettings,
        gives_up: bool = False,
        **changes: Any,
    ) -> None:
        """Prepare the searches of both seats.

        Args:
            leaves: evaluators of the ends of the first rounds, in order. Later rounds, and rounds from a None on, are
                solved to the end of the hand.
            gives_up: whether the opponent in solves against a model can also give up beyond the depth limit
                (`poker.depth_limit.evaluator.GiveUpContinuation`).
            **changes: settings that replace fields of `search`.

        Raises:
            PokernetsError: the agent cannot play the game, or the settings contradict each other.
        """
        heads_up_game(name, game)
        settings = replace(search, **changes)
        valued = dict(enumerate(leaf for leaf in leaves if leaf is not None))
        settings.ahead.check_given(range(len(valued) + 1, game.num_streets), "search.ahead")
        super().__init__(name, Clock(settings.seconds_per_decision, settings.seconds_per_hand))
        self._game, self._leaves, self._search_name = game, list(valued.values()), settings.name
        giving_up = (GiveUpContinuation(of=leaf) for leaf in valued.values())
        against_model = dict(enumerate(giving_up)) if gives_up else None
        self.joint = settings.joint and settings.exploit.model is None
        """Whether play and `opponents_decision` come from one solve."""
        if self.joint and not (settings.follow and settings.safety == "unsafe"):
            raise PokernetsError(
                f"the agent `{name}`: `search.joint` follows one solve for both players, so it needs"
                " search.follow=true and search.safety=unsafe; set them, or search.joint=false"
            )
        if self.joint and self._clock.limited:
            raise PokernetsError(
                f"the agent `{name}`: `search.joint` does not support a limit in seconds, because the result"
                " would depend on the clock; limit it with search.flops.work and search.solver.iterations"
            )
        solving = partial(
            DepthLimitedSolver,
            settings.menu,
            settings.ahead,
            valued,
            settings.solver,
            settings.safety,
            against_model=against_model,
            flops=settings.flops,
            joint=self.joint,
        )
        self._solve = solving(clock=self._clock)
        self.without_time_limit = solving() if self._clock.limited else self._solve

        """Solver for decisions of others, which must not depend on a time limit."""
        noise, remembered = settings.opponent_noise, settings.remembered_states

        def searches(rules: Rules, solve: RoundSolver, **options: Any) -> list[NestedSearch]:
            """Return the searches of both seats."""
            searching = partial(
                JointSearch if self.joint else NestedSearch,
                rules,
                solve=solve,
                opponent_noise=noise,
                remembered=remembered,
                follow=settings.follow,
                both_sides=len(valued) if settings.both_sides or self.joint else 0,
                **options,
            )
            return 2 * [searching(searcher=0)] if self.joint else [searching(searcher=seat) for seat in range(2)]

        self._search = searches(game, self._solve, exploit=settings.exploit)
        self._search_without_time_limit = (
            searches(game, self.without_time_limit, exploit=settings.exploit) if self._clock.limited else self._search
        )
        self._searches_of_others = partial(searches, solve=self.without_time_limit, own_noise=noise)
        self._others: LRUCache[Rules, list[NestedSearch]] = LRUCache(_REMEMBERED_GAMES)
        self.repeatable = not self._clock.limited
        self._solve.keeps_values = self._clock.limited
        self._keeping = False

    def check_game(self, game: Rules) -> None:
        """Check that the agent can play a game.

        Raises:
            PokernetsError: the agent or its leaf evaluators are for another game.
        """
        self._game.must_fit(game, f"the agent `{self.name}`", "choose another agent or game")
        for leaf in self._leaves:
            leaf.check_game(game)

    def searched(self, state: HandState) -> Searched:
        """Return the search of the player to act, on the canonical flop.

        The canonical flop represents all flops equal up to suits. So suits are treated alike, and more states recur.

        Args:
            state: a public state.
        """
        return Searched(self._search[state.to_act], CanonicalBoard.of(state.board))

    def policies(self, states: Sequence[HandState]) -> list[Policy]:
        """Return `policy` at each state; they are solved together unless time is limited."""
        if self._clock.limited:
            return super().policies(states)
        places = [self.searched(state) for state in states]
        for search in self._search:
            search.remember(_STATES_OF_A_ROUND * len(states))
        searches = [
            where.search.searched_policy(state.betting, where.board.cards)
            for state, where in zip(states, places, strict=True)
        ]
        policies = together(searches, self._solve.together)
        return [where.policy(policy) for policy, where in zip(policies, places, strict=True)]

    def solved_values(self, state: HandState, seat: int) -> DecisionValues:
        """Return the values of the opponent's hands after each action.

        The first call discards solutions without values. If time is limited, every solve keeps its values.

        Args:
            state: a state in which the opponent is to act.
        """
        if not self._keeping:
            self._keeping = self._solve.keeps_values = True
            for search in self._search:
                search.keep_solutions(forget=not self._clock.limited)
        board = CanonicalBoard.of(state.board)
        solution = self._search[seat].solution(state.betting, board.cards)
        return DecisionValues(solution.values[1 - seat], solution.path_to(state.betting), board)

    def opponents_decision(
        self, state: HandState, raises: tuple[int, ...] = (), hand: int | None = None
    ) -> SolvedDecision:
        """Solve a decision of the opponent over all hands; the result does not affect play.

        A `joint` search has already solved it for both players. Then the solution is the one that the agent plays by.
        It is solved for the opponent alone if `hand` is outside the opponent's range.

        Args:
            state: a state in which the opponent is to act.
            raises: raises that must be among the actions.
            hand: index of the hand to solve for; None for all hands.
        """
        return self._decision(self._own(1 - state.to_act), self._own(state.to_act), state, raises, hand)

    def others_decision(
        self, state: HandState, raises: tuple[int, ...] = (), hand: int | None = None
    ) -> SolvedDecision:
        """Solve a decision in a hand of two other players, with the stacks of that hand.

        Both ranges come from such solves, with the same share of random actions for both players. Leaves use the values
        of the agent's game.

        Args:
            state: a public state.
            raises: raises that must be among the actions.
            hand: index of the hand to solve for; None for all hands.
        """
        rules, player = state.rules, state.to_act
        others = self._others.get_or_make(rules, partial(self._searches_of_others, rules))
        own = self._own(player) if rules == self._game else others[player]
        return self._decision(others[1 - player], own, state, raises, hand)

    def _own(self, seat: int) -> NestedSearch:
        """Return the agent's search in a seat, without a time limit."""
        search = self._search_without_time_limit[seat]
        search.exploit = self._search[seat].exploit
        return search

    def _decision(
        self, search: NestedSearch, own: NestedSearch, state: HandState, raises: tuple[int, ...], hand: int | None
    ) -> SolvedDecision:
        board, betting = CanonicalBoard.of(state.board), state.betting
        believed, joint = Believed.at(search, own, betting, board.cards), None
        if self.joint:
            solution = search.solution(betting, board.cards, raises)
            policy, request = solution.at(betting), solution.request
            assert policy is not None
            assert request is not None
            if hand is None or policy.solved is None or policy.solved[board.hand(hand)]:
                joint = self.without_time_limit.solver_of(request), solution.path_to(betting)
        solved = decision(self.without_time_limit, believed, betting, board, raises, joint)
        return replace(solved, search=self._search_name)


def heads_up_game(name: str, game: Rules) -> Rules:
    """Check that an agent can play a game.

    A configuration calls it before anything that takes long to load.

    Args:
        name: name of the agent.

    Returns:
        The game.

    Raises:
        PokernetsError: it is not heads-up hold'em.
    """
    if game.num_players != 2 or game.num_hole_cards != 2 or game.deck_size != 52:
        other = "choose another agent or game"
        if game.num_players > 2 and game.deck_size == 52 and not game.is_limit:
            other = "agents=[depth_limited_ring] plays at tables of three to six"
        raise PokernetsError(f"{name} plays heads-up hold'em, not '{game.name}'; {other}")
    return game
