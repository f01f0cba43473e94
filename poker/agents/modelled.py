"""A player who does what a model of an opponent says: people, from their hands, at our tables."""

from collections.abc import Sequence
from functools import lru_cache

import numpy as np

from poker.agents.all_in import check_heads_up_nolimit
from poker.agents.base import SamplingAgent
from poker.agents.simple import raise_menu
from poker.game.betting import Betting
from poker.game.rules import CALL, FOLD, Rules
from poker.game.state import HandState, Policy
from poker.kernels.types import Board, Floats
from poker.opponents.model import OpponentModel

_REMEMBERED = 2048
"""Decisions of all hands, 40 kB each."""


class ModelledAgent(SamplingAgent):
    """Plays heads-up hold'em by `model`, with the range that its own actions leave; `raises` are sizes as in bet menus.

    The model stays as it is, whatever happens at the table.
    """

    quick_policy = "simple"

    def __init__(self, *, name: str, model: OpponentModel, raises: Sequence[str | float]) -> None:
        super().__init__(name)
        self._model, self._menu = model, raise_menu(raises)
        self._at = lru_cache(_REMEMBERED)(self._worked_out)

    def check_game(self, game: Rules) -> None:
        check_heads_up_nolimit(self.name, game)

    def policy(self, state: HandState) -> Policy:
        return self._at(state.betting, state.rules.ordered_board(state.board))

    def _worked_out(self, betting: Betting, board: Board) -> Policy:
        actions = (*((FOLD,) if betting.legal().fold else ()), CALL, *self._menu.raise_totals(betting))
        (probs,), _ = self._model.probs(betting, [board], actions, self.range_of(betting, board, betting.to_act)[None])
        return actions, np.asarray(probs, np.float32)

    def range_of(self, betting: Betting, board: Board, seat: int) -> Floats:
        """[H] weights of the hands with which the player in `seat` has come so far, by their own policy."""
        weights = np.ones(betting.rules.num_hands)
        for past, player, action in betting.turns():
            if player == seat:
                actions, probs = self._at(past, board[: betting.rules.board_sizes[past.street]])
                if action in actions:  # else it was chosen for them
                    weights *= probs[:, actions.index(action)]
        return weights
