"""An agent that plays like a model of an opponent, such as a model of people learned from their hands."""

from collections.abc import Sequence
from functools import lru_cache

import numpy as np

from poker.agents.all_in import check_heads_up_nolimit
from poker.agents.base import Agent
from poker.agents.simple import raise_menu
from poker.game.betting import Betting
from poker.game.rules import CALL, FOLD, Rules
from poker.game.state import HandState, Policy
from poker.kernels.types import Board, Floats
from poker.opponents.model import OpponentModel

_REMEMBERED = 2048
"""Number of cached decisions of all hands, 40 kB each."""


class ModelledAgent(Agent):
    """An agent that plays heads-up no-limit hold'em by a model, with the range that its own actions leave.

    The model never changes during play.
    """

    quick_policy = "simple"

    def __init__(self, *, name: str, model: OpponentModel, raises: Sequence[str | float]) -> None:
        """Store the model.

        Args:
            raises: sizes of raises, as in bet menus.
        """
        super().__init__(name)
        self._model, self._menu = model, raise_menu(raises)
        self._at = lru_cache(_REMEMBERED)(self._worked_out)

    def check_game(self, game: Rules) -> None:
        """Check that the agent can play a game.

        Raises:
            PokernetsError: it is not heads-up no-limit hold'em.
        """
        check_heads_up_nolimit(self.name, game)

    def policy(self, state: HandState) -> Policy:
        """Return the strategy of the player to act.

        Args:
            state: a public state.

        Returns:
            Actions and probabilities float32 [H, A].
        """
        return self._at(state.betting, state.rules.ordered_board(state.board))

    def _worked_out(self, betting: Betting, board: Board) -> Policy:
        actions = (*((FOLD,) if betting.legal().fold else ()), CALL, *self._menu.raise_totals(betting))
        (probs,), _ = self._model.probs(betting, [board], actions, self.range_of(betting, board, betting.to_act)[None])
        return actions, np.asarray(probs, np.float32)

    def range_of(self, betting: Betting, board: Board, seat: int) -> Floats:
        """Compute the range of a player who has played by this agent's policy.

        Args:
            seat: seat of the player.

        Returns:
            [H] weights.
        """
        weights = np.ones(betting.rules.num_hands)
        for past, player, action in betting.turns():
            if player == seat:
                actions, probs = self._at(past, board[: betting.rules.board_sizes[past.street]])
                if action in actions:  # otherwise the action was forced
                    weights *= probs[:, actions.index(action)]
        return weights
