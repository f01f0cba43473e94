"""Blueprints of donksolver, a tabular solver of no-limit hold'em, as agents at our tables of three to six."""

import importlib
from typing import Any

import numpy as np
from numpy.typing import NDArray

from poker.agents.base import SamplingAgent, hand_number
from poker.agents.blueprint import pot_odds_policy
from poker.game.betting import Betting
from poker.game.cards import HOLDEM
from poker.game.rules import CALL, FOLD, NOLIMIT, Rules
from poker.game.state import HandState, Policy
from poker.kernels.types import Board, Floats
from poker.run.commands import how_to_install
from poker.run.errors import PokernetsError

_FOLD, _CHECK, _CALL, _RAISE, _ALL_IN = range(5)
_SERVED = 2
"""Rows of a bundle with a lower status have an action."""
_BOARD_SIZES = 0, 3, 4, 5


def load_bundle(path: str) -> Any:
    """The `donksolver.Bundle` with its manifest at `path`, or a PokernetsError that says how to get one."""
    try:
        donksolver = importlib.import_module("donksolver")
    except ImportError as error:
        raise PokernetsError(f"agents of donksolver need it: {how_to_install('rivals')}") from error
    try:
        return donksolver.Bundle(path)
    except (OSError, ValueError, RuntimeError) as error:
        raise PokernetsError(f"no bundle of donksolver at {path}: {error}; `donksolver bundle` makes one") from error


class DonksolverAgent(SamplingAgent):
    """Plays a `donksolver.Bundle`; where that has no node, say with three players on the flop, by `pot_odds_policy`."""

    def __init__(self, *, name: str, bundle: Any) -> None:
        super().__init__(name)
        self._bundle = bundle

    def check_game(self, game: Rules) -> None:
        seats = self._bundle.players
        if game.betting != NOLIMIT or game.board_sizes != _BOARD_SIZES or game.num_players != seats or seats == 2:
            raise PokernetsError(
                f"the bundle of `{self.name}` is for no-limit hold'em of {seats} players, at tables of three or more; "
                f"the game is `{game.name}`"
            )

    def act(self, state: HandState) -> int:
        """Draw an action from the row of the hand held, for which alone the bundle is asked."""
        betting, hand = state.betting, hand_number(state, state.to_act)
        answer = self._answers(betting, state.board, np.array([hand]), self._rng.random(1))
        if answer["status"][0] >= _SERVED:
            return self.draw(pot_odds_policy(betting, state.board), state)
        return _action(betting, int(answer["kind"][0]), int(answer["chips"][0]))

    def policy(self, state: HandState) -> Policy:
        betting, board = state.betting, state.board
        otherwise, fallback = pot_odds_policy(betting, board)
        hands = np.flatnonzero(HOLDEM.live(board))
        met = self._answers(betting, board, hands, np.zeros(len(hands)))
        served = met["status"] < _SERVED
        if not served.any():
            return otherwise, fallback
        hands = hands[served]
        columns = {action: column.copy() for action, column in zip(otherwise, fallback.T, strict=True)}
        for column in columns.values():
            column[hands] = 0.0
        places = np.stack([met["cls"], met["node"], met["bucket"]], axis=1)[served]
        alike, firsts, rows = np.unique(places, axis=0, return_index=True, return_inverse=True)
        strategies = [np.array(self._bundle.strategy(*place)[0]) for place in alike]
        taken = [(row, column) for row, probs in enumerate(strategies) for column in np.flatnonzero(probs).tolist()]
        draws = np.array([_draw(strategies[row], column) for row, column in taken])
        answer = self._answers(betting, board, hands[[firsts[row] for row, _ in taken]], draws)
        for (row, column), kind, chips in zip(taken, answer["kind"], answer["chips"], strict=True):
            action, probs = _action(betting, kind, int(chips)), strategies[row]
            mine = hands[rows.ravel() == row]
            columns.setdefault(action, np.zeros(len(fallback), np.float32))[mine] += probs[column] / probs.sum()
        actions = tuple(sorted(columns))
        return actions, np.stack([columns[action] for action in actions], axis=1)

    def _answers(
        self, betting: Betting, board: Board, hands: NDArray[np.int64], draws: Floats
    ) -> dict[str, NDArray[np.int64]]:
        """Rows of the bundle for the hands, whose actions are drawn by numbers from 0 to 1."""
        rules, rows = betting.rules, len(hands)
        turns = list(betting.turns())
        states = [*(before for before, _, _ in turns), betting]
        history = [
            (player, int(action == FOLD), then.committed[player] - before.committed[player])
            for (before, player, action), then in zip(turns, states[1:], strict=True)
        ]
        answer: dict[str, NDArray[np.int64]] = self._bundle.act(
            np.tile(rules.stacks, (rows, 1)),
            np.tile(rules.blinds[:2], (rows, 1)),
            HOLDEM.hand_cards[hands],
            [board] * rows,
            [history] * rows,
            draws,
        )
        return answer


def _draw(probs: Floats, column: int) -> float:
    """A number from 0 to 1 by which `column` is drawn."""
    return float((probs[:column].sum() + probs[column] / 2) / probs.sum())


def _action(betting: Betting, kind: int, chips: int) -> int:
    """The action of a kind, which adds `chips`; an all-in that is no raise is a call."""
    legal = betting.legal()
    if kind == _FOLD:
        return FOLD if legal.fold else CALL
    if kind not in (_RAISE, _ALL_IN) or not legal.max_raise:
        return CALL
    if kind == _ALL_IN:
        return legal.max_raise
    return min(max(betting.committed[betting.to_act] + chips, legal.min_raise), legal.max_raise)
