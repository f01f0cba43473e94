"""The least that can sit at a table."""

from poker.agents.base import Agent
from poker.game.rules import CALL
from poker.game.state import HandState


class Opaque(Agent):
    """Calls, without a policy and without an `end_hand`."""

    def __init__(self, name: str = "opaque") -> None:
        super().__init__(name)

    def act(self, state: HandState) -> int:
        return CALL
