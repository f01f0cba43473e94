"""One hand being played by n players: betting, hole cards, board, side pots and payoffs.

`HandState` is immutable. The dealer's state knows all cards, the run-out of the board included; `view(player)` is what
one player sees. Each pot is split by itself (rule 21 of the Tournament Directors Association), and its odd chips go one
each to the winners with the lowest player numbers (player 0 has the first blind of the definition: multiway the first
seat left of the button). PokerKit 0.7.7 puts pots with the same winners together first, and gives the first winner all
odd chips.
"""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from itertools import chain
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from poker.game.betting import NOBODY, Betting, IllegalAction, Legal
from poker.game.rules import UNLIMITED, Rules
from poker.kernels.cards.ranks import rank_hands
from poker.kernels.types import Singles
from poker.run.errors import PokernetsError

__all__ = [
    "NOBODY",
    "Betting",
    "DealError",
    "HandState",
    "IllegalAction",
    "Legal",
    "Policy",
    "PolicyFunction",
    "Pot",
    "RangedPolicy",
    "public_state",
    "showdown_ranks",
    "split_pots",
]

Cards = tuple[int, ...]


class DealError(PokernetsError):
    """Cards that cannot be dealt: wrong number, not in the deck, dealt twice or hidden where they are needed."""


class Pot(NamedTuple):
    """The main pot or a side pot: its chips and the players who may win it."""

    amount: int
    players: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class HandState:
    """A hand at one moment. `hole_cards[player]` is empty when hidden; `runout` holds the known board cards."""

    betting: Betting
    hole_cards: tuple[Cards, ...]
    runout: Cards

    @classmethod
    def start(cls, rules: Rules, hole_cards: Iterable[Iterable[int]], runout: Iterable[int]) -> "HandState":
        """A hand before the first action; hands may be empty (hidden), the run-out shorter than the board."""
        hands = tuple(tuple(int(card) for card in hand) for hand in hole_cards)
        board = tuple(int(card) for card in runout)
        if len(hands) != rules.num_players or any(len(hand) not in (0, rules.num_hole_cards) for hand in hands):
            wanted = f"{rules.num_players} hands of {rules.num_hole_cards} card(s)"
            raise DealError(f"the game `{rules.name}` needs {wanted}, not {hands}")
        state = cls(Betting.start(rules), hands, ())
        return state.with_board(board)

    @classmethod
    def at(cls, betting: Betting, hole_cards: Iterable[Iterable[int]], runout: Iterable[int]) -> "HandState":
        """The hand at `betting`, with cards as `start` takes them."""
        return replace(cls.start(betting.rules, hole_cards, runout), betting=betting)

    @classmethod
    def deal(cls, rules: Rules, rng: np.random.Generator) -> "HandState":
        """A hand with all cards drawn from `rng`; the same draws whatever the betting will be."""
        hole = rules.num_hole_cards
        count = rules.num_players * hole + rules.total_board_cards
        deck = rng.permutation(rules.deck_size)[:count].tolist()
        hands = tuple(tuple(deck[i * hole : (i + 1) * hole]) for i in range(rules.num_players))
        return cls(Betting.start(rules), hands, tuple(deck[rules.num_players * hole :]))

    def with_board(self, cards: Sequence[int]) -> "HandState":
        """The hand with more board cards known."""
        runout = (*self.runout, *cards)
        dealt = [*chain.from_iterable(self.hole_cards), *runout]
        if any(not 0 <= card < self.rules.deck_size for card in dealt) or len(set(dealt)) != len(dealt):
            raise DealError(f"cards {dealt} are not different cards of the deck of `{self.rules.name}`")
        if len(runout) > self.rules.total_board_cards:
            raise DealError(
                f"the board of `{self.rules.name}` has {self.rules.total_board_cards} cards, not {len(runout)}"
            )
        return HandState(self.betting, self.hole_cards, runout)

    def apply(self, action: int) -> "HandState":
        return HandState(self.betting.apply(action), self.hole_cards, self.runout)

    def legal(self) -> Legal:
        return self.betting.legal()

    @property
    def rules(self) -> Rules:
        return self.betting.rules

    @property
    def street(self) -> int:
        return self.betting.street

    @property
    def to_act(self) -> int:
        return self.betting.to_act

    @property
    def is_over(self) -> bool:
        return self.betting.to_act < 0

    @property
    def board(self) -> Cards:
        """The board cards that are on the table in the current street."""
        return self.runout[: self.rules.board_sizes[self.betting.street]]

    def view(self, player: int) -> "HandState":
        """The state that `player` sees: own cards, the board so far, and at a showdown all hands that did not fold."""
        showdown = self.betting.is_showdown
        folded = self.betting.folded
        hands = tuple(
            hand if i == player or (showdown and not folded[i]) else () for i, hand in enumerate(self.hole_cards)
        )
        return replace(self, hole_cards=hands, runout=self.board)

    def pots(self) -> list[Pot]:
        """The pots, main pot first; neighbours with the same possible winners are one. A bet that nobody called is in
        none of them: it goes back to its player. Who is all-in can win what they cover, others any pot."""
        committed, stacks = self.betting.committed, self.rules.stacks
        matched: Sequence[int] = self.betting.called
        forced = self.rules.forced
        dead = 0
        if forced:
            matched = [chips + ante for chips, ante in zip(matched, forced.antes, strict=True)]
            dead = sum(forced.dead)
        covered = [
            most if chips == stack else UNLIMITED for most, chips, stack in zip(matched, committed, stacks, strict=True)
        ]
        pots: list[Pot] = []
        previous = 0
        for level in sorted(set(matched)):
            amount = dead + sum(min(chips, level) - min(chips, previous) for chips in matched)
            dead = 0
            players = tuple(i for i, out in enumerate(self.betting.folded) if not out and covered[i] >= level)
            if pots and pots[-1].players == players:
                amount += pots.pop().amount
            if amount:
                pots.append(Pot(amount, players))
            previous = level
        return pots

    @property
    def paid(self) -> list[int]:
        """[P] chips that each player lost to the pots: a bet that nobody called is not in them."""
        called, forced = self.betting.called, self.rules.forced
        return [sum(chips) for chips in zip(called, *forced, strict=True)] if forced else list(called)

    def awards(self) -> list[tuple[int, tuple[int, ...]]]:
        """Chips and winners of every pot of the finished hand, main pot first. A DealError where cards are missing, or
        who is left, all-in, does not cover a pot."""
        if not self.is_over:
            raise DealError(f"payoffs are known when the hand is over, not after `{self.betting.text()}`")
        if any(not pot.players for pot in self.pots()):
            raise DealError("nobody left in the hand can win one of the side pots: who is left does not cover it")
        ranks = self._ranks() if self.betting.is_showdown else [0] * self.rules.num_players
        return [(pot.amount, _winners(pot, ranks)) for pot in self.pots()]

    def payoffs(self) -> list[int]:
        """[P] net chips over the whole hand; the sum is 0."""
        return split_pots(self.paid, self.awards())

    def divided_payoffs(self) -> list[float]:
        """[P] net chips with odd chips divided among the winners, as the dealer of the ACPC scores hands."""
        net = [-float(chips) for chips in self.paid]
        for chips, winners in self.awards():
            for i in winners:
                net[i] += chips / len(winners)
        return net

    def _ranks(self) -> list[int]:
        """[P] showdown ranks, -1 for folded hands."""
        live = [i for i, out in enumerate(self.betting.folded) if not out]
        if any(not self.hole_cards[i] for i in live) or len(self.runout) < self.rules.total_board_cards:
            raise DealError("the showdown needs the cards of every player who did not fold, and the whole board")
        ranks = [-1] * self.rules.num_players
        live_ranks = showdown_ranks(self.rules, [self.hole_cards[i] for i in live], self.board)
        for i, rank in zip(live, live_ranks, strict=True):
            ranks[i] = rank
        return ranks


Policy = tuple[tuple[int, ...], NDArray[np.floating]]
"""Legal actions, and the probability of each for each hand [H, A], float32 or float64."""

PolicyFunction = Callable[[HandState], Policy]
"""A function that gives the policy of the player to act with every hand; the cards held do not matter."""


@dataclass(frozen=True)
class RangedPolicy:
    """A policy with the range of the player who has it: `probs` [H, A] over `actions`, NaN for hands that the player is
    not expected to have and that nothing was solved for; `weights` [H], how likely the player has acted as they did so
    far with each hand, relative to the likeliest."""

    actions: tuple[int, ...]
    probs: Singles
    weights: Singles


def public_state(betting: Betting, board: Cards) -> HandState:
    """The state without anybody's cards; the same for any order of the cards of a deal."""
    rules = betting.rules
    return HandState(betting, ((),) * rules.num_players, rules.ordered_board(board))


def split_pots(paid: Sequence[int], awards: Iterable[tuple[int, tuple[int, ...]]]) -> list[int]:
    """[P] net chips of players who `paid` [P] into pots of these chips and winners; odd chips go one each to the first
    winners of each pot."""
    net = [-chips for chips in paid]
    for chips, winners in awards:
        share, odd = divmod(chips, len(winners))
        for place, i in enumerate(winners):
            net[i] += share + (place < odd)
    return net


def _winners(pot: Pot, ranks: list[int]) -> tuple[int, ...]:
    best = max(ranks[i] for i in pot.players)
    return tuple(i for i in pot.players if ranks[i] == best)


def showdown_ranks(rules: Rules, hands: Sequence[Cards], board: Cards) -> list[int]:
    """Strength of each hand with the board, higher wins: poker ranks from five cards on, below that pairs and ranks."""
    if rules.num_hole_cards + len(board) < 5:
        return [_few_cards_rank([card // rules.num_suits for card in (*hand, *board)]) for hand in hands]
    cards = np.array([(*hand, *board) for hand in hands], dtype=np.uint8)
    if rules.deck_size < 52:
        rank, suit = np.divmod(cards, rules.num_suits)
        cards = (rank + 13 - rules.num_ranks) * 4 + suit
    ranks: list[int] = rank_hands(cards).tolist()
    return ranks


def _few_cards_rank(ranks: list[int]) -> int:
    """Rank of up to four cards: the most equal cards win, then the highest; straights and flushes do not count."""
    groups = sorted(((ranks.count(rank), rank) for rank in set(ranks)), reverse=True)
    groups += [(0, 0)] * (4 - len(groups))
    score = 0
    for count, _ in groups:
        score = score * 5 + count
    for _, rank in groups:
        score = score * 13 + rank
    return score
