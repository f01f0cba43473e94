"""OpenSpiel's bots at our tables: conversion of games, states and actions both ways, and the agent.

A bot sees a state of its own game. Cards that its player cannot see are replaced by other cards that could have been
dealt. The bot is restarted for every hand. It is not informed of each action, because it can read them from the state.
"""

import importlib
from collections.abc import Callable
from itertools import chain
from typing import Any

from poker.agents.base import Agent
from poker.game.betting import Betting
from poker.game.rules import CALL, FOLD, Rules
from poker.game.state import HandState
from poker.run.commands import how_to_install
from poker.run.errors import PokernetsError

_FOLDS, _CALLS, _RAISES = range(3)
"""OpenSpiel's actions. In no-limit games a raise is the total, as in ours."""
_SEEDS = 2**31


def import_openspiel() -> Any:
    """Import the module `pyspiel`.

    Raises:
        PokernetsError: it is not installed; the message says how to install it.
    """
    try:
        return importlib.import_module("pyspiel")
    except ImportError as error:
        raise PokernetsError(f"OpenSpiel is not installed: {how_to_install('openspiel')}") from error


class UniversalPoker:
    """A game of ours as OpenSpiel's `universal_poker`.

    Attributes:
        rules: our game.
        game: OpenSpiel's game.
    """

    def __init__(self, rules: Rules) -> None:
        """Create OpenSpiel's game.

        Args:
            rules: our game.
        """
        parameters = {
            "betting": rules.betting,
            "bettingAbstraction": "fcpa" if rules.is_limit else "fullgame",
            "numPlayers": rules.num_players,
            "numRounds": rules.num_streets,
            "blind": " ".join(map(str, rules.blinds)),
            "stack": " ".join(map(str, rules.stacks)),
            "raiseSize": " ".join(map(str, rules.raise_sizes)),
            "maxRaises": " ".join(map(str, rules.max_raises)),
            "firstPlayer": " ".join(str(player + 1) for player in rules.first_player),
            "numSuits": rules.num_suits,
            "numRanks": rules.num_ranks,
            "numHoleCards": rules.num_hole_cards,
            "numBoardCards": " ".join(map(str, rules.board_cards)),
        }
        given = {key: value for key, value in parameters.items() if value != ""}
        self.rules, self.game = rules, import_openspiel().load_game("universal_poker", given)
        self._deck: list[int] = self.game.new_initial_state().legal_actions()

    def chance_actions(self, state: HandState) -> list[int]:
        """Return OpenSpiel's actions that deal the hole cards, player by player, and the known board.

        Args:
            state: our state.
        """
        return [self._deck[card] for card in chain(*state.hole_cards, state.runout)]

    def to_openspiel(self, view: HandState) -> Any:
        """Return OpenSpiel's state for a view, with invented hidden hole cards.

        Args:
            view: our view.
        """
        seen = set(chain(*view.hole_cards, view.runout))
        others = iter(card for card in range(self.rules.deck_size) if card not in seen)
        size = self.rules.num_hole_cards
        hands = tuple(hand or tuple(next(others) for _ in range(size)) for hand in view.hole_cards)
        cards = iter(self.chance_actions(HandState(view.betting, hands, view.runout)))
        state = self.game.new_initial_state()
        for past, _, action in view.betting.turns():
            _deal(state, cards)
            state.apply_action(self.action_to_openspiel(past, action))
        _deal(state, cards)
        return state

    def from_openspiel(self, state: Any) -> HandState:
        """Return our state of the same hand, with all cards dealt so far.

        Args:
            state: OpenSpiel's state.
        """
        played = [(step.player, step.action) for step in state.full_history()]
        cards = [self._deck.index(action) for player, action in played if player < 0]
        betting = Betting.start(self.rules)
        for action in (action for player, action in played if player >= 0):
            betting = betting.apply(self.action_from_openspiel(betting, action))
        size, dealt = self.rules.num_hole_cards, self.rules.num_players * self.rules.num_hole_cards
        hands = tuple(tuple(cards[at : at + size]) for at in range(0, dealt, size))
        return HandState(betting, hands, tuple(cards[dealt:]))

    def action_to_openspiel(self, betting: Betting, action: int) -> int:
        """Convert our action to OpenSpiel's.

        Args:
            action: FOLD, CALL or a raise-to total.
        """
        if action in (FOLD, CALL):
            return _FOLDS if action == FOLD else _CALLS
        return _RAISES if betting.rules.is_limit else action

    def action_from_openspiel(self, betting: Betting, action: int) -> int:
        """Convert OpenSpiel's action to ours.

        Args:
            action: OpenSpiel's action.
        """
        if action in (_FOLDS, _CALLS):
            return FOLD if action == _FOLDS else CALL
        return betting.legal().min_raise if betting.rules.is_limit else action


def _deal(state: Any, cards: Any) -> None:
    while state.is_chance_node():
        state.apply_action(next(cards))


class OpenSpielAgent(Agent):
    """A bot of OpenSpiel as an agent."""

    def __init__(self, *, name: str, game: Rules, bot: str | Callable[[Any, int, int], Any]) -> None:
        """Create the bots of all seats.

        Args:
            bot: name of a registered bot, with `{seed}` in place of its seed; or a function of OpenSpiel's game, the
                player's number and a seed, such as one that returns a `PolicyBot` of `open_spiel.python.bots.policy`.
        """
        self.name = name
        self._poker = UniversalPoker(game)
        self._bot = bot
        self.reset(0)
        self._seat = 0

    def check_game(self, game: Rules) -> None:
        """Check that the agent can play a game.

        Raises:
            PokernetsError: the agent was created for another game.
        """
        self._poker.rules.must_fit(game, f"the agent `{self.name}`", "choose another agent or game")

    def reset(self, seed: int) -> None:
        """Create the bots of all seats again.

        Args:
            seed: seed of the bots.
        """
        self._bots = [self._made(player, seed % _SEEDS) for player in range(self._poker.rules.num_players)]

    def start_hand(self, seat: int) -> None:
        """Restart the bot of a seat."""
        self._seat = seat
        self._bots[seat].restart_at(self._poker.game.new_initial_state())

    def act(self, state: HandState) -> int:
        """Return the bot's action.

        Args:
            state: view of a state in which the agent is to act.
        """
        action = self._bots[self._seat].step(self._poker.to_openspiel(state))
        return self._poker.action_from_openspiel(state.betting, int(action))

    def _made(self, player: int, seed: int) -> Any:
        game, bot = self._poker.game, self._bot
        if not isinstance(bot, str):
            return bot(game, player, seed)
        names = import_openspiel().registered_bots()
        if bot.partition("(")[0] not in names:
            raise PokernetsError(f"OpenSpiel has no bot `{bot}`; it has {', '.join(names)}")
        return import_openspiel().load_bot(bot.format(seed=seed), game, player)
