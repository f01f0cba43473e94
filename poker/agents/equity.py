"""A sound rule player on equity and pot odds, in the spirit of [POKI]'s effective hand strength.

Equity is the expected share of the pot at a showdown against hands that fit what each opponent did: a raise of x pots
leaves the best 1 / (1 + `fear` * x) of the hands, and some share of hands played oddly. The rules: raise when the
equity is above a threshold, call when it pays for the pot odds, and now and then bet a hand that would otherwise give
up. The threshold rises with the raises of the street and falls with the number of opponents.

`EquityAgent` samples equities as it plays; `EquityPolicyAgent` works them out for all hands from the public state
alone, so that its policy is known and AIVAT takes out the luck of its cards too.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import combinations, permutations

import numpy as np
from numpy.typing import NDArray

from poker.abstraction.equities import check_down_chances
from poker.abstraction.features import hand_features
from poker.agents.base import sample_action
from poker.agents.simple import raise_menu
from poker.game.cards import HAND_CARDS
from poker.game.rules import CALL, FOLD, Rules
from poker.game.state import Betting, HandState, Policy, showdown_ranks
from poker.kernels.cards.equity import sampled_equity
from poker.kernels.cards.ranks import rank_board_hands
from poker.kernels.cards.runouts import showdown_margins
from poker.kernels.cards.strength import completions
from poker.kernels.rng import streams
from poker.kernels.types import Floats
from poker.run.errors import PokernetsError

_REMEMBERED = 8192
"""Equities of all hands, 11 kB each."""


@dataclass(kw_only=True, eq=False)
class EquityAgent:
    """Plays by rules on equities, each estimated from `samples` deals; `raise_size` is as in bet menus.

    `value` is the heads-up equity worth a raise, plus `value_step` for each raise of the street before; `margin` is the
    equity asked beyond the pot odds, `bluff` the frequency of bets with hands of little equity, `fear` how much a raise
    says, `noise` the share of hands that opponents play oddly.
    """

    name: str
    samples: int
    raise_size: str | float
    value: float
    value_step: float
    margin: float
    bluff: float
    fear: float
    noise: float

    def __post_init__(self) -> None:
        self._menu = raise_menu((self.raise_size,))
        self.reset(0)

    def reset(self, seed: int) -> None:
        self._deals: NDArray[np.uint64] = streams(seed, 1)[0]
        self._rng = np.random.default_rng(seed)

    def start_hand(self, seat: int) -> None:
        """Nothing is carried from hand to hand."""

    def act(self, state: HandState) -> int:
        betting = state.betting
        floors = self._floors(betting)
        equity = self.equity(state, floors)
        totals = self._menu.raise_totals(betting)
        if totals and equity >= self._threshold(betting, len(floors)):
            return totals[0]
        if betting.to_call == 0:
            bluffs = totals and equity < 0.5 / len(floors) and self._rng.random() < self.bluff
            return totals[0] if bluffs else CALL
        return CALL if equity >= self._price(betting) else FOLD

    def _threshold(self, betting: Betting, opponents: int) -> float:
        """Equity worth a raise."""
        return (self.value + self.value_step * betting.num_raises) ** opponents

    def _price(self, betting: Betting) -> float:
        """Equity worth a call."""
        return betting.to_call / (betting.pot + betting.to_call) + self.margin

    def _floors(self, betting: Betting) -> list[float]:
        """[opponents] for each, the share of all hands that are too weak for the actions taken."""
        left = [1.0] * betting.rules.num_players
        for past, player, action in betting.turns():
            if action > 0:
                pot_after_calling = past.pot + past.to_call
                raised = action - past.highest
                left[player] /= 1.0 + self.fear * raised / pot_after_calling
        others = [i for i, out in enumerate(betting.folded) if not out and i != betting.to_act]
        return [1.0 - left[i] for i in others]

    def equity(self, state: HandState, floors: list[float]) -> float:
        """Expected share of the pot of the hand to act; opponents hold strengths (0..1) of at least `floors`."""
        rules = state.rules
        if rules.num_hole_cards == 1:
            return _one_card_equity(rules, state.hole_cards[state.to_act][0], state.board, len(floors))
        if rules.deck_size != 52 or rules.total_board_cards < 3:
            raise PokernetsError(f"the agent `{self.name}` plays hold'em and one-card games, not `{rules.name}`")
        return sampled_equity(
            np.array(state.hole_cards[state.to_act], dtype=np.uint8),
            np.array(state.board, dtype=np.uint8),
            rules.total_board_cards,
            _strength(state.board),
            np.array(floors, dtype=np.float32),
            self.noise,
            self.samples,
            self._deals,
        )


@dataclass(kw_only=True, eq=False)
class EquityPolicyAgent(EquityAgent):
    """Plays heads-up hold'em by the same rules with equities of all hands that are functions of the public state: exact
    over all cards to come, except on flops, where they are over `samples` run-outs fixed by the flop."""

    quick_policy = "blueprint"

    def check_game(self, game: Rules) -> None:
        """Raise PokernetsError for games other than heads-up hold'em."""
        if game.num_players != 2 or game.deck_size != 52 or game.num_hole_cards != 2 or game.total_board_cards != 5:
            raise PokernetsError(f"the agent `{self.name}` plays heads-up hold'em, not `{game.name}`")

    def act(self, state: HandState) -> int:
        return sample_action(self.policy(state), state, self._rng)

    def policy(self, state: HandState) -> Policy:
        """Actions and their probabilities [H, A], by the rules on the equities of all hands."""
        betting, [floor] = state.betting, self._floors(state.betting)
        equity, totals = self.equities(state.rules, state.board, floor), self._menu.raise_totals(betting)
        raised = np.where(equity >= self._threshold(betting, 1), 1.0, 0.0) * bool(totals)
        if betting.to_call:
            folded = np.where(equity >= self._price(betting), 0.0, 1.0 - raised)
            return _policy(((FOLD, folded), (CALL, 1 - raised - folded)), totals, raised)
        bets = np.maximum(raised, self.bluff * (equity < 0.5) * bool(totals))
        return _policy(((CALL, 1 - bets),), totals, bets)

    def equities(self, rules: Rules, board: tuple[int, ...], floor: float) -> Floats:
        """[1326] equities of all hands; entries of hands that the board blocks mean nothing."""
        public = rules, rules.ordered_board(board)
        strong = _chances(*public, floor, self.samples)
        return self.noise * _chances(*public, 0.0, self.samples) + (1 - self.noise) * strong


def _policy(others: Sequence[tuple[int, Floats]], totals: Sequence[int], raised: Floats) -> Policy:
    """Policy from the probabilities [H] of each action."""
    actions, probs = zip(*others, *((total, raised) for total in totals[:1]), strict=True)
    return tuple(actions), np.stack(probs, axis=1).astype(np.float32)


@lru_cache(maxsize=_REMEMBERED)
def _chances(rules: Rules, board: tuple[int, ...], floor: float, runouts: int) -> Floats:
    """[1326] equity against a random hand whose strength is at least `floor`."""
    others = (_strength(board) >= floor).astype(np.float64)
    if len(board) != 3:
        return check_down_chances(rules, board, others)
    order, ranks = _some_runouts(board, runouts)
    won, met = np.empty(len(others)), np.zeros(len(others))
    showdown_margins(order, ranks, HAND_CARDS, others, won)
    for left in order:
        live = np.zeros(len(others))
        live[left] = 1.0
        met += live * rules.space.compatible_mass(live * others)
    return np.where(met > 0, 0.5 + 0.5 * won / np.maximum(met, 1.0), 0.5)


@lru_cache(maxsize=8)
def _some_runouts(board: tuple[int, ...], number: int) -> tuple[NDArray[np.int16], NDArray[np.int16]]:
    """Hands [n, 1081] from weak to strong on `number` completions of a flop, drawn from the flop's own seed, and their
    ranks."""
    every = completions(np.array(board, dtype=np.uint8))
    rng = np.random.default_rng(board)
    boards = every[rng.choice(len(every), min(number, len(every)), replace=False)]
    ranks = np.stack([rank_board_hands(cards) for cards in boards])
    order = np.argsort(ranks, axis=1, kind="stable")[:, (ranks[0] < 0).sum() :]
    return order.astype(np.int16), np.take_along_axis(ranks, order, axis=1).astype(np.int16)


@lru_cache(maxsize=64)
def _strength(board: tuple[int, ...]) -> NDArray[np.float32]:
    """[1326] share of live hands that each hand is stronger than now, -1 for hands the board blocks."""
    if not board:
        scores = hand_features(()).ehs
    else:
        scores = rank_board_hands(np.array(board, dtype=np.uint8)).astype(np.float64)
    live = np.sort(scores[scores >= 0])
    share = np.searchsorted(live, scores) / len(live)
    return np.where(scores >= 0, share, -1.0).astype(np.float32)


def _one_card_equity(rules: Rules, own: int, board: tuple[int, ...], opponents: int) -> float:
    """Exact share of the pot against random hands, cards to come enumerated; for decks of a few cards."""
    rest = [card for card in range(rules.deck_size) if card != own and card not in board]
    to_come = rules.total_board_cards - len(board)
    shares = []
    for hands in permutations(rest, opponents):
        for cards in combinations([card for card in rest if card not in hands], to_come):
            ranks = showdown_ranks(rules, [(own,), *((card,) for card in hands)], (*board, *cards))
            shares.append((ranks[0] == max(ranks)) / ranks.count(max(ranks)))
    return sum(shares) / len(shares)
