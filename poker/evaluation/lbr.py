"""Local best response (Lisy and Bowling 2016): a lower bound on how much a policy can be beaten for.

The adversary knows the opponent's policy and his range by Bayes' rule. At each decision it values its actions as if it
and the opponent checked the hand down after the opponent's next answer, and takes the best:

    call:      w * pot - (1 - w) * asked              w: chance to win against the range, ties one half
    raise:     f * pot + (1 - f) * (w' * (pot + his call) - (1 - w') * (asked + raise))
               f: share of the range that folds to it, w': chance against the rest; a raise in answer counts as a call

Which actions it considers is set by street; fewer actions can win more, because the check-down looks no further.

Symbols: H hands, A actions.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from poker.agents.base import Agent, hand_number
from poker.betting import Betting
from poker.errors import PokernetsError
from poker.evaluation.equities import Board, Floats, compatible_mass, live_hands, margins
from poker.evaluation.policies import policy_mismatch, public_state, require_policy
from poker.rules import CALL, FOLD, Rules
from poker.state import HandState
from poker.tree import BetMenu, Size, StreetMenu


@dataclass(frozen=True)
class LbrStreet:
    """What the adversary considers on a street besides calling; `raises` as in bet menus, any of them is the raise of a
    limit game."""

    fold: bool
    raises: Sequence[str | float]


@dataclass(frozen=True)
class LbrActions:
    """`opening`: the size that it always raises as its first action of the hand, or None. `streets`: by street."""

    streets: Sequence[LbrStreet]
    opening: str | float | None = None

    @cached_property
    def _menus(self) -> tuple[BetMenu, BetMenu]:
        """Menus of the first action and of all others."""
        first = () if self.opening is None else (self.opening,)
        opening = BetMenu((_menu(first),) * len(self.streets))
        return opening, BetMenu(tuple(_menu(street.raises) for street in self.streets))

    def choices(self, betting: Betting) -> tuple[int, ...]:
        """Actions to consider, at least one."""
        if betting.street >= len(self.streets):
            raise PokernetsError(f"the local best response has no actions for street {betting.street}: add an entry")
        opening, menu = self._menus
        if self.opening is not None and not _has_acted(betting):
            return opening.raise_totals(betting)[:1] or (CALL,)
        street = self.streets[betting.street]
        folds = (FOLD,) if street.fold and betting.legal().fold else ()
        return (*folds, CALL, *(menu.raise_totals(betting) if street.raises else ()))


def _menu(raises: Sequence[str | float]) -> StreetMenu:
    return StreetMenu(((tuple(Size.parse(text) for text in raises),),))


def _has_acted(betting: Betting) -> bool:
    return any(betting.to_act in actors for actors in betting.actors)


class LocalBestResponse:
    """An agent that plays against `opponent`, which must be set up as the agent it meets at the table.

    What it knows of the range grows with the hand, so `start_hand` must be called before each.
    """

    def __init__(self, *, name: str, game: Rules, opponent: Agent, actions: LbrActions) -> None:
        if game.num_players != 2:
            raise PokernetsError(f"the local best response is heads-up; '{game.name}' has {game.num_players} players")
        self.name = name
        self._rules = game
        self._opponent = require_policy(opponent, "local best response")
        self._actions = actions
        self._past: tuple[Betting, Floats] | None = None

    def reset(self, seed: int) -> None:
        """Nothing is drawn at random."""
        self._past = None

    def start_hand(self, seat: int) -> None:
        self._past = None

    def act(self, state: HandState) -> int:
        betting, board = state.betting, state.board
        mine = hand_number(state, state.to_act)
        others = self._range(betting, board)
        choices = self._actions.choices(betting)
        if len(choices) == 1:
            return choices[0]
        values = [self._value(betting, board, mine, others, action) for action in choices]
        return choices[values.index(max(values))]

    def _range(self, betting: Betting, board: Board) -> Floats:
        """[H] the opponent's hands given his actions, cards of the board removed; the adversary's hand is not."""
        played = [action for street in betting.actions for action in street]
        start = Betting.start(self._rules), np.full(self._rules.num_hands, 1.0 / self._rules.num_hands)
        past, weights = self._past or start
        for action in played[sum(map(len, past.actions)) :]:
            if past.to_act != betting.to_act:
                shown = board[: self._rules.board_sizes[past.street]]
                weights = weights * live_hands(self._rules, shown) * self._answer(past, shown, action)
                if not weights.sum() > 0.0:
                    raise policy_mismatch(past, action)
                weights = weights / weights.sum()
            past = past.apply(action)
        self._past = past, weights
        return weights * live_hands(self._rules, board)

    def _answer(self, betting: Betting, board: Board, action: int) -> Floats:
        """[H] probability of the opponent's `action`."""
        actions, probs = self._opponent.policy(public_state(betting, board))
        if action not in actions:
            return np.zeros(self._rules.num_hands)
        return probs[:, actions.index(action)].astype(np.float64)

    def _value(self, betting: Betting, board: Board, mine: int, others: Floats, action: int) -> float:
        """Chips expected from here on, what is committed already counted as spent."""
        if action == FOLD:
            return 0.0
        player = betting.to_act
        own, his = betting.committed[player], betting.committed[1 - player]
        if action == CALL:
            total = min(his, betting.rules.stacks[player])
            return self._equity(board, mine, others) * 2 * total - (total - own)
        matched = min(action, betting.rules.stacks[1 - player])
        folding = others * self._answer(betting.apply(action), board, FOLD)
        staying = others - folding
        mass = compatible_mass(self._rules, others)[mine]
        share = compatible_mass(self._rules, folding)[mine] / mass if mass > 0 else 0.0
        called = self._equity(board, mine, staying) * 2 * matched - (matched - own)
        return float(share * (own + his) + (1 - share) * called)

    def _equity(self, board: Board, mine: int, others: Floats) -> float:
        """Chance to win a check-down, ties one half; one half against an empty range."""
        mass = float(compatible_mass(self._rules, others)[mine])
        if mass <= 1e-12:
            return 0.5
        row = margins(self._rules, board)[mine]
        return 0.5 + 0.5 * float(row @ others.astype(row.dtype)) / mass
