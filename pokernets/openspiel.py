"""Our agents as bots of OpenSpiel.

Run `pip install open_spiel` first. The other direction, bots of OpenSpiel at our tables, is `agents=[openspiel]`.
"""

from typing import Any

import pyspiel

from poker.agents.base import Agent, hand_number, require_policy
from poker.agents.foreign.openspiel import UniversalPoker
from poker.game.rules import Rules


class AgentBot(pyspiel.Bot):  # type: ignore[misc]
    """An agent as a bot of OpenSpiel's `universal_poker`.

    Attributes:
        game: the OpenSpiel game.

    Args:
        agent: an agent, such as `load_agent(...).agent`.
        rules: our rules of the game.
        player: the seat.
        seed: seed with which the agent is reset.
    """

    def __init__(self, agent: Agent, rules: Rules, player: int, seed: int = 1) -> None:
        """Make the OpenSpiel game and reset the agent."""
        super().__init__()
        self._agent, self._player, self._poker = agent, player, UniversalPoker(rules)
        self.game = self._poker.game
        agent.reset(seed)

    def player_id(self) -> int:
        """Return the seat."""
        return self._player

    def restart(self) -> None:
        """Start a new hand."""
        self._agent.start_hand(self._player)

    def restart_at(self, state: Any) -> None:
        """Start a new hand at `state`."""
        self._agent.start_hand(self._player)

    def step(self, state: Any) -> int:
        """Return the agent's action as an OpenSpiel action; the agent sees only its player's view of `state`."""
        hand = self._poker.from_openspiel(state)
        return self._poker.action_to_openspiel(hand.betting, self._agent.act(hand.view(self._player)))

    def provides_policy(self) -> bool:
        """Return whether the agent has a policy."""
        return self._agent.has_policy

    def get_policy(self, state: Any) -> list[tuple[int, float]]:
        """Return (action, probability) pairs for the hand that the player holds."""
        hand = self._poker.from_openspiel(state)
        view = hand.view(self._player)
        policy = require_policy(self._agent, "get_policy").ranged_policy(view)
        row = policy.probs[hand_number(view, self._player)]
        named = (self._poker.action_to_openspiel(hand.betting, action) for action in policy.actions)
        return list(zip(named, map(float, row), strict=True))

    def step_with_policy(self, state: Any) -> tuple[list[tuple[int, float]], int]:
        """Return the policy and an action."""
        return self.get_policy(state), self.step(state)
