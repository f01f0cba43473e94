"""An agent for tables of three to six: a blueprint before the flop, and searches of each round after it.

Each round is solved from its beginning for all players still in. Their ranges come from the blueprint before the flop
and from the solutions after it. Bets of any size are answered as they are. From the turn on, hands of two players are
solved to the end of the hand. Other rounds are solved to the end of the round
(`poker.search.multiplayer.table_solver`).
"""

from dataclasses import replace

from poker.agents.base import ranges_at
from poker.agents.blueprint import BlueprintAgent
from poker.agents.searching.base import Searched, SearchingAgent
from poker.game.betting import Betting
from poker.game.cards import CanonicalBoard
from poker.game.rules import Rules
from poker.game.state import HandState, Policy
from poker.kernels.types import Board, Ranges
from poker.run.errors import PokernetsError
from poker.search.multiplayer.heads_up_rest import HeadsUpRest
from poker.search.multiplayer.table_solver import TableSolver
from poker.search.nested import Belief, NestedSearch
from poker.search.opponent_decision import Believed, SolvedDecision, decision
from poker.search.settings import SearchSettings
from poker.solve.clock import Clock
from poker.solvers.blueprint import Blueprint
from poker.solvers.sampling.subgame import RolledOut
from poker.store.entropy import drawn_seed
from poker.store.lru_cache import LRUCache
from poker.tree.translation import HistoryTranslator

_MOST_PLAYERS = 4
"""Largest number of players for whom a round is solved; the blueprint plays rounds with more."""
_REMEMBERED = 16
"""Number of flops with cached searches."""


class DepthLimitedRingAgent(SearchingAgent):
    """An agent that plays a blueprint until a round after the first begins with few players left, and then searches.

    Attributes:
        settings: settings of the search.
    """

    def __init__(
        self, *, name: str, blueprint: Blueprint, translation_seed: int | None, search: SearchSettings, factor: float
    ) -> None:
        """Prepare the solvers.

        Args:
            translation_seed: see `BlueprintAgent`.
            factor: factor of the continuations at the ends of rounds.
        """
        super().__init__(name, Clock(search.seconds_per_decision, search.seconds_per_hand))
        translation_seed = drawn_seed(translation_seed)
        self._blueprint = BlueprintAgent(name=name, blueprint=blueprint, translation_seed=translation_seed)
        self.settings = search
        rolled_out = RolledOut(blueprint, HistoryTranslator(blueprint.tree, translation_seed), factor)
        self._solve, self._without_time_limit = (
            TableSolver(search, self._blueprint.policy, rolled_out, clock) for clock in (self._clock, Clock())
        )
        self._searches: LRUCache[tuple[TableSolver, str, Board, int], NestedSearch] = LRUCache(_REMEMBERED)
        self.repeatable = not self._clock.limited

    def check_game(self, game: Rules) -> None:
        """Check that the agent can play a game.

        Raises:
            PokernetsError: the game is heads-up, or the blueprint was trained for another game.
        """
        if game.num_players == 2:
            raise PokernetsError(f"{self.name} plays at tables of three to six; use depth_limited heads-up")
        self._blueprint.check_game(game)

    def searched(self, state: HandState) -> Searched | None:
        """Return the search of the player to act; None if the blueprint plays the state.

        Args:
            state: a public state.
        """
        root, board = self.root(state.betting), CanonicalBoard(state.rules.ordered_board(state.board))
        return None if root is None else Searched(self._search(root, state.to_act, board.cards, self._solve), board)

    def unsearched_policy(self, state: HandState) -> Policy:
        """Return the blueprint's policy.

        Args:
            state: a public state.
        """
        return self._blueprint.policy(state)

    def opponents_decision(
        self, state: HandState, raises: tuple[int, ...] = (), hand: int | None = None
    ) -> SolvedDecision:
        """Solve the decision of the player to act, in a round that began with two players left.

        Args:
            state: a public state.
            raises: raises that must be among the actions.
            hand: not used, since all hands are solved.

        Raises:
            PokernetsError: the state is not on a turn or river that began with two players left.
        """
        rest, root = HeadsUpRest.of(state.betting, self._solve.to_the_end), self.root(state.betting)
        if rest is None or root is None:
            raise PokernetsError(f"{self.name} reviews only turns and rivers that began with two players")
        board, players = CanonicalBoard(state.rules.ordered_board(state.board)), list(rest.players)
        betting = rest.betting(state.betting)
        own, theirs = (
            self._search(root, players[seat], board.cards, self._without_time_limit)
            for seat in (betting.to_act, 1 - betting.to_act)
        )
        believed = Believed.at(theirs, own, state.betting, board.cards, players)
        solved = decision(self._without_time_limit.heads_up, believed, betting, board, tuple(map(rest.alone, raises)))
        answers = {
            tuple(map(rest.real, path)): (share, value + rest.offset) for path, (share, value) in solved.answers.items()
        }
        return replace(
            solved,
            actions=tuple(map(rest.real, solved.actions)),
            values=solved.values + rest.offset,
            best=solved.best + rest.offset,
            guesses=tuple(values + rest.offset for values in solved.guesses),
            answers=answers,
            search=self.settings.name,
        )

    def others_decision(
        self, state: HandState, raises: tuple[int, ...] = (), hand: int | None = None
    ) -> SolvedDecision:
        """Solve a decision between two others, like a decision of the agent's own opponents, with their stacks.

        Args:
            state: a public state.
            raises: raises that must be among the actions.
            hand: not used, since all hands are solved.

        Raises:
            PokernetsError: the agent cannot play the game, or does not solve the state.
        """
        game = self._blueprint.blueprint.rules
        self.check_game(replace(state.rules, blinds=game.blinds, stacks=game.stacks))
        return self.opponents_decision(state, raises)

    def root(self, betting: Betting) -> Betting | None:
        """Return the state where searches of a hand begin: the first round that the blueprint does not play.

        Returns:
            The state; None if the blueprint plays the hand so far.
        """
        for state in (*(before for before, _, _ in betting.turns()), betting):
            begins = state.street > 0 and not state.actions[state.street] and not state.is_over
            if begins and state.folded.count(False) <= _MOST_PLAYERS:
                return state
        return None

    def _search(self, root: Betting, searcher: int, board: Board, solve: TableSolver) -> NestedSearch:
        board = board[: root.rules.board_sizes[root.street]]
        key = solve, root.text(), board, searcher
        search = self._searches.get(key)
        if search is None:
            settings = self.settings
            search = NestedSearch(
                root.rules,
                searcher,
                solve,
                opponent_noise=settings.opponent_noise,
                remembered=settings.remembered_states,
                follow=settings.follow,
                start=Belief(
                    root,
                    self.ranges(root, board, settings.opponent_noise),
                    None,
                    answered=False,
                    reach=self.ranges(root, board, 0.0),
                ),
            )
            self._searches.put(key, search)
        return search

    def ranges(self, root: Betting, board: Board, noise: float) -> Ranges:
        """Compute the ranges of all players, who have played by the blueprint.

        Args:
            root: the betting state.
            board: [0..5] cards on the board.
            noise: share of actions that are random.

        Returns:
            [P, H] ranges.
        """
        return ranges_at(self._blueprint.policy, root, board, noise)
