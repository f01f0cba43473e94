"""A sound rule-based player that uses equity and pot odds, in the spirit of [POKI]'s effective hand strength.

Equity is the expected share of the pot at a showdown against hands that fit the opponents' actions. A raise of x pots
leaves the best 1 / (1 + `fear` * x) of the hands, and a share of hands is played randomly. The rules are:

- raise if the equity is above a threshold, which rises with the raises on the street and falls with the number of
  opponents;
- call if the equity is above the pot odds;
- sometimes bet a weak hand as a bluff.

`EquityAgent` samples equities while it plays. `EquityPolicyAgent` computes them for all hands from the public state
alone. So its policy is known, and AIVAT can remove the luck of its cards too.

Symbols: H hands, A actions.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import combinations, permutations

import numpy as np

from poker.abstraction.equities import check_down_chances
from poker.abstraction.features import hand_features
from poker.agents.base import Agent
from poker.agents.simple import raise_menu
from poker.game.cards import HAND_CARDS
from poker.game.rules import CALL, FOLD, Rules
from poker.game.state import Betting, HandState, Policy, showdown_ranks
from poker.kernels.cards.equity import sampled_equity
from poker.kernels.cards.ranks import rank_board_hands
from poker.kernels.cards.runouts import showdown_margins
from poker.kernels.cards.strength import completions
from poker.kernels.rng import streams
from poker.kernels.types import I16, U64, Floats, Singles
from poker.run.errors import PokernetsError

_REMEMBERED = 8192
"""Number of cached equities of all hands, 11 kB each."""


@dataclass(kw_only=True, eq=False)
class EquityAgent(Agent):
    """An agent that plays by rules on sampled equities.

    Attributes:
        samples: number of deals per equity.
        raise_size: size of raises, as in bet menus.
        value: heads-up equity that justifies a raise.
        value_step: increase of `value` for each raise before on the street.
        margin: equity required beyond the pot odds.
        bluff: frequency of bets with hands of little equity.
        fear: how much a raise narrows the opponents' hands.
        noise: share of hands that opponents play randomly.
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
        """Prepare the bet menu and the random numbers."""
        self._menu = raise_menu((self.raise_size,))
        self.reset(0)

    def reset(self, seed: int) -> None:
        """Restart the random numbers.

        Args:
            seed: seed of the random numbers.
        """
        self._deals: U64 = streams(seed, 1)[0]
        self._rng = np.random.default_rng(seed)

    def act(self, state: HandState) -> int:
        """Choose an action by the rules.

        Args:
            state: view of a state in which the agent is to act.
        """
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
        """Return the equity that justifies a raise."""
        return (self.value + self.value_step * betting.num_raises) ** opponents

    def _price(self, betting: Betting) -> float:
        """Return the equity that justifies a call."""
        return betting.to_call / (betting.pot + betting.to_call) + self.margin

    def _floors(self, betting: Betting) -> list[float]:
        """Return for each opponent the share of all hands that are too weak for the opponent's actions."""
        left = [1.0] * betting.rules.num_players
        for past, player, action in betting.turns():
            if action > 0:
                pot_after_calling = past.pot + past.to_call
                raised = action - past.highest
                left[player] /= 1.0 + self.fear * raised / pot_after_calling
        others = [i for i, out in enumerate(betting.folded) if not out and i != betting.to_act]
        return [1.0 - left[i] for i in others]

    def equity(self, state: HandState, floors: list[float]) -> float:
        """Estimate the expected share of the pot of the player to act.

        Args:
            state: view of a state in which the agent is to act.
            floors: least strength, from 0 to 1, of each opponent's hand.

        Raises:
            PokernetsError: the game is neither hold'em nor a one-card game.
        """
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
    """An agent for heads-up hold'em that plays by the same rules, with equities that depend only on the public state.

    Equities are exact over all cards to come, except on flops. There they are over `samples` run-outs, which the flop
    determines.
    """

    quick_policy = "blueprint"

    def check_game(self, game: Rules) -> None:
        """Check that the agent can play a game.

        Raises:
            PokernetsError: it is not heads-up hold'em.
        """
        if game.num_players != 2 or game.deck_size != 52 or game.num_hole_cards != 2 or game.total_board_cards != 5:
            raise PokernetsError(f"the agent `{self.name}` plays heads-up hold'em, not `{game.name}`")

    act = Agent.act

    def policy(self, state: HandState) -> Policy:
        """Return the strategy of the player to act, by the rules on the equities of all hands.

        Args:
            state: a public state.

        Returns:
            Actions and probabilities float32 [H, A].
        """
        betting, [floor] = state.betting, self._floors(state.betting)
        equity, totals = self.equities(state.rules, state.board, floor), self._menu.raise_totals(betting)
        raised = np.where(equity >= self._threshold(betting, 1), 1.0, 0.0) * bool(totals)
        if betting.to_call:
            folded = np.where(equity >= self._price(betting), 0.0, 1.0 - raised)
            return _policy(((FOLD, folded), (CALL, 1 - raised - folded)), totals, raised)
        bets = np.maximum(raised, self.bluff * (equity < 0.5) * bool(totals))
        return _policy(((CALL, 1 - bets),), totals, bets)

    def equities(self, rules: Rules, board: tuple[int, ...], floor: float) -> Floats:
        """Compute the equities of all hands.

        Args:
            floor: least strength, from 0 to 1, of the opponent's hand.

        Returns:
            [1326] equities; meaningless for hands that the board blocks.
        """
        public = rules, rules.ordered_board(board)
        strong = _chances(*public, floor, self.samples)
        return self.noise * _chances(*public, 0.0, self.samples) + (1 - self.noise) * strong


def _policy(others: Sequence[tuple[int, Floats]], totals: Sequence[int], raised: Floats) -> Policy:
    """Return the policy with the given probabilities [H] of each action."""
    actions, probs = zip(*others, *((total, raised) for total in totals[:1]), strict=True)
    return tuple(actions), np.stack(probs, axis=1).astype(np.float32)


@lru_cache(maxsize=_REMEMBERED)
def _chances(rules: Rules, board: tuple[int, ...], floor: float, runouts: int) -> Floats:
    """Return the equity [1326] against a random hand with a strength of at least `floor`."""
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
def _some_runouts(board: tuple[int, ...], number: int) -> tuple[I16, I16]:
    """Return hands from weak to strong on some completions of a flop, and their ranks.

    The flop is the seed of the draw.

    Returns:
        int16 [n, 1081] hands and int16 [n, 1081] ranks.
    """
    every = completions(np.array(board, dtype=np.uint8))
    rng = np.random.default_rng(board)
    boards = every[rng.choice(len(every), min(number, len(every)), replace=False)]
    ranks = np.stack([rank_board_hands(cards) for cards in boards])
    order = np.argsort(ranks, axis=1, kind="stable")[:, (ranks[0] < 0).sum() :]
    return order.astype(np.int16), np.take_along_axis(ranks, order, axis=1).astype(np.int16)


@lru_cache(maxsize=64)
def _strength(board: tuple[int, ...]) -> Singles:
    """Return the share of live hands [1326] that each hand beats now, -1 for hands that the board blocks."""
    if not board:
        scores = hand_features(()).ehs
    else:
        scores = rank_board_hands(np.array(board, dtype=np.uint8)).astype(np.float64)
    live = np.sort(scores[scores >= 0])
    share = np.searchsorted(live, scores) / len(live)
    return np.where(scores >= 0, share, -1.0).astype(np.float32)


def _one_card_equity(rules: Rules, own: int, board: tuple[int, ...], opponents: int) -> float:
    """Compute the exact share of the pot against random hands over all cards to come, for decks of a few cards."""
    rest = [card for card in range(rules.deck_size) if card != own and card not in board]
    to_come = rules.total_board_cards - len(board)
    shares = []
    for hands in permutations(rest, opponents):
        for cards in combinations([card for card in rest if card not in hands], to_come):
            ranks = showdown_ranks(rules, [(own,), *((card,) for card in hands)], (*board, *cards))
            shares.append((ranks[0] == max(ranks)) / ranks.count(max(ranks)))
    return sum(shares) / len(shares)
