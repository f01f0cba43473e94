"""Exact best response to a policy, over all hands of both players at once, in games small enough to walk through.

    v(state)[h] = what the responder wins with hand h, times the opponent's reach, summed over his compatible hands

At the responder's decisions v is the larger of the actions' values for each hand, at the opponent's their sum after his
range was multiplied with his probabilities, at public cards the mean. In no-limit games the responder bets what a menu
offers, so the value is exact against that menu and a lower bound otherwise.

With `isomorphism`, hold'em is walked on one flop of each of the 1,755 classes, counted with its multiplicity. That is
exact for a policy that treats suits alike, which is checked on some boards; other policies are refused.

Symbols: H hands, A actions.
"""

import itertools
import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from poker.betting import Betting
from poker.errors import PokernetsError
from poker.evaluation.equities import (
    Board,
    Floats,
    awaits_cards,
    compatible_mass,
    live_hands,
    next_board_size,
    showdown_chances,
)
from poker.evaluation.policies import PolicyFunction, public_state
from poker.kernels.hands import CARD_PERMUTATION, HAND_PERMUTATION
from poker.kernels.isomorphism import board_multiplicities, canonical_boards
from poker.rules import CALL, FOLD, Rules
from poker.tree import BetMenu

_CHECKED_BOARDS = 4
_TOLERANCE = 1e-5

Progress = Callable[[int, int], None]
"""(boards done, boards in all) of the first deal of public cards in each line of play."""


@dataclass(frozen=True)
class BestResponse:
    """Chips per hand that the player wins on average, and with each hand [H] against the hands it leaves."""

    value: float
    by_hand: NDArray[np.float64]


def best_response(
    rules: Rules,
    policy: PolicyFunction,
    player: int,
    menu: BetMenu | None = None,
    *,
    isomorphism: bool = True,
    progress: Progress | None = None,
) -> BestResponse:
    """The best response of `player` to `policy` in the other seat. No-limit games need a `menu` for the responder."""
    if rules.num_players != 2:
        raise PokernetsError(f"best responses are heads-up; '{rules.name}' has {rules.num_players} players")
    if menu is None and not rules.is_limit:
        raise PokernetsError(f"the no-limit game `{rules.name}` needs a bet menu for the best response")
    return _Walk(rules, policy, player, menu or BetMenu(()), isomorphism and rules.deck_size == 52, progress).result()


def profile_values(
    rules: Rules, policies: Sequence[PolicyFunction], *, isomorphism: bool = True, progress: Progress | None = None
) -> BestResponse:
    """What player 0 wins when both play their policies, exactly."""
    walk = _Walk(rules, policies[1], 0, BetMenu(()), isomorphism and rules.deck_size == 52, progress, policies[0])
    return walk.result()


def is_walkable(rules: Rules) -> bool:
    """Two players, and few enough public cards: one-card games, and hold'em that ends with the flop."""
    return rules.num_players == 2 and (rules.num_hands <= 100 or rules.total_board_cards <= 3)


@dataclass
class _Walk:
    rules: Rules
    policy: PolicyFunction
    player: int
    menu: BetMenu
    isomorphism: bool
    progress: Progress | None
    own: PolicyFunction | None = None
    checked: int = 0
    reach: Floats = field(init=False)
    """[H] the player's own probability of coming here, where `own` decides."""

    def __post_init__(self) -> None:
        self.reach = np.ones(self.rules.num_hands)

    def result(self) -> BestResponse:
        others = np.full(self.rules.num_hands, 1.0)
        mass = compatible_mass(self.rules, others)
        chips = self.values(Betting.start(self.rules), (), others)
        return BestResponse(float(chips.sum() / mass.sum()), chips / mass)

    def values(self, betting: Betting, board: Board, others: Floats) -> Floats:
        """[H]"""
        if betting.is_over and not betting.is_showdown:
            sign = -1.0 if betting.folded[self.player] else 1.0
            return sign * min(betting.committed) * compatible_mass(self.rules, others)
        if awaits_cards(betting, board):
            return self._deal(betting, board, others)
        if betting.is_over:
            return min(betting.committed) * showdown_chances(self.rules, board, others)
        if betting.to_act == self.player:
            return self._best(betting, board, others) if self.own is None else self._mean(betting, board, others)
        total = np.zeros(self.rules.num_hands)
        actions, probs = self.policy(public_state(betting, board))
        self._check_symmetry(betting, board, probs)
        for column, action in enumerate(actions):
            weights = others * probs[:, column]
            if weights.any():
                total += self.values(betting.apply(action), board, weights)
        return total

    def _best(self, betting: Betting, board: Board, others: Floats) -> Floats:
        actions = ((FOLD,) if betting.legal().fold else ()) + (CALL, *self.menu.raise_totals(betting))
        best = self.values(betting.apply(actions[0]), board, others)
        for action in actions[1:]:
            np.maximum(best, self.values(betting.apply(action), board, others), out=best)
        return best

    def _mean(self, betting: Betting, board: Board, others: Floats) -> Floats:
        assert self.own is not None
        actions, probs = self.own(public_state(betting, board))
        total = np.zeros(self.rules.num_hands)
        reach = self.reach
        for column, action in enumerate(actions):
            self.reach = reach * probs[:, column]
            if (self.reach * live_hands(self.rules, board)).any():
                total += probs[:, column] * self.values(betting.apply(action), board, others)
        self.reach = reach
        return total

    def _deal(self, betting: Betting, board: Board, others: Floats) -> Floats:
        rules = self.rules
        new = next_board_size(rules, board) - len(board)
        boards = self._classes(new) if self.isomorphism and not board else self._all(board, new)
        total = np.zeros(rules.num_hands)
        for done, (after, multiplicity) in enumerate(boards):
            live = live_hands(rules, after)
            values = live * self.values(betting, after, others * live)
            if multiplicity:
                values = values[HAND_PERMUTATION].mean(axis=0) * multiplicity
            total += values
            if self.progress is not None and not board:
                self.progress(done + 1, len(boards))
        return total / math.comb(rules.deck_size - len(board) - 2 * rules.num_hole_cards, new)

    def _all(self, board: Board, new: int) -> list[tuple[Board, int]]:
        deck = [card for card in range(self.rules.deck_size) if card not in board]
        return [((*board, *cards), 0) for cards in itertools.combinations(deck, new)]

    @staticmethod
    def _classes(new: int) -> list[tuple[Board, int]]:
        """One board of each class under renaming of suits, and how many it stands for."""
        boards = canonical_boards(new).tolist()
        return [(tuple(cards), count) for cards, count in zip(boards, board_multiplicities(new).tolist(), strict=True)]

    def _check_symmetry(self, betting: Betting, board: Board, probs: NDArray[np.float32]) -> None:
        """Renaming the suits of board and hand must not change the policy; looked at on the first few boards."""
        if not self.isomorphism or (board and self.checked >= _CHECKED_BOARDS):
            return
        self.checked += bool(board)
        for renaming in (5, 9, 16, 23):
            image = tuple(CARD_PERMUTATION[renaming, list(board)].tolist())
            renamed = self.policy(public_state(betting, image))[1][HAND_PERMUTATION[renaming]]
            live = live_hands(self.rules, board)
            if np.abs(renamed - probs)[live].max() > _TOLERANCE:
                raise PokernetsError(
                    f"the policy after `{betting.text()}` on the board `{self.rules.cards_text(board)}` changes when "
                    "suits are renamed, so classes of boards cannot be walked: set isomorphism=false"
                )
