"""Our agents as bots of OpenSpiel. `pip install open_spiel` first; bots of OpenSpiel at our tables are
`agents=[openspiel]`."""

from typing import Any

import pyspiel

from poker.agents.base import Agent, PolicyAgent, hand_number, require_policy
from poker.agents.foreign.openspiel import UniversalPoker
from poker.agents.searching.base import ranged_policy
from poker.game.rules import Rules


class AgentBot(pyspiel.Bot):  # type: ignore[misc]
    """An agent, such as `load_agent(...).agent`, as a player of `game`, the `universal_poker` of our `rules`."""

    def __init__(self, agent: Agent, rules: Rules, player: int, seed: int = 1) -> None:
        super().__init__()
        self._agent, self._player, self._poker = agent, player, UniversalPoker(rules)
        self.game = self._poker.game
        agent.reset(seed)

    def player_id(self) -> int:
        return self._player

    def restart(self) -> None:
        self._agent.start_hand(self._player)

    def restart_at(self, state: Any) -> None:
        self._agent.start_hand(self._player)

    def step(self, state: Any) -> int:
        """The action in OpenSpiel's numbers; the agent is shown what its player sees."""
        hand = self._poker.from_openspiel(state)
        return self._poker.action_to_openspiel(hand.betting, self._agent.act(hand.view(self._player)))

    def provides_policy(self) -> bool:
        return isinstance(self._agent, PolicyAgent)

    def get_policy(self, state: Any) -> list[tuple[int, float]]:
        """Probabilities of actions with the hand held."""
        hand = self._poker.from_openspiel(state)
        view = hand.view(self._player)
        policy = ranged_policy(require_policy(self._agent, "get_policy"), view)
        row = policy.probs[hand_number(view, self._player)]
        named = (self._poker.action_to_openspiel(hand.betting, action) for action in policy.actions)
        return list(zip(named, map(float, row), strict=True))

    def step_with_policy(self, state: Any) -> tuple[list[tuple[int, float]], int]:
        return self.get_policy(state), self.step(state)
