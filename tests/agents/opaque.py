"""The least that can sit at a table."""

from poker.game.rules import CALL
from poker.game.state import HandState


class Opaque:
    """Calls, without a policy and without an `end_hand`."""

    name = "opaque"

    def reset(self, seed: int) -> None:
        """Nothing is drawn."""

    def start_hand(self, seat: int) -> None:
        """Nothing to remember."""

    def act(self, state: HandState) -> int:
        return CALL
