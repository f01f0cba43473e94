"""The state of one hand: betting, hole cards, board, side pots and payoffs.

`HandState` is immutable. The dealer's state contains all cards, including future board cards; `view(player)` contains
what one player sees. Each pot is split separately (rule 21 of the Tournament Directors Association). Its odd chips go
one each to the winners with the lowest player numbers. Player 0 posts the first blind, so with more than two players it
is the first seat left of the button. PokerKit 0.7.7 differs: it merges pots with the same winners and gives all odd
chips to the first winner.
"""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from itertools import chain
from typing import NamedTuple

import numpy as np

from poker.game.betting import NOBODY, Betting, IllegalAction, Legal
from poker.game.rules import UNLIMITED, Rules
from poker.kernels.cards.ranks import rank_hands
from poker.kernels.types import Reals, Singles
from poker.run.errors import PokernetsError

__all__ = ["NOBODY", "Betting", "IllegalAction", "Legal"]
"""Names of the betting that are imported from here, besides the names defined here."""

Cards = tuple[int, ...]


class DealError(PokernetsError):
    """Cards that cannot be dealt: wrong number, not in the deck, dealt twice, or hidden where they are needed."""


class Pot(NamedTuple):
    """The main pot or a side pot.

    Attributes:
        amount: chips in the pot.
        players: players who may win it.
    """

    amount: int
    players: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class HandState:
    """A hand at one moment.

    Attributes:
        betting: the public betting state.
        hole_cards: [P] cards of each player; empty where hidden.
        runout: the known board cards, which may include cards of later streets.
    """

    betting: Betting
    hole_cards: tuple[Cards, ...]
    runout: Cards

    @classmethod
    def start(cls, rules: Rules, hole_cards: Iterable[Iterable[int]], runout: Iterable[int]) -> "HandState":
        """Return a hand before the first action.

        Args:
            hole_cards: [P] cards of each player; empty for hidden hands.
            runout: the known board cards, at most the whole board.

        Raises:
            DealError: the cards do not fit the game or appear twice.
        """
        hands = tuple(tuple(int(card) for card in hand) for hand in hole_cards)
        board = tuple(int(card) for card in runout)
        if len(hands) != rules.num_players or any(len(hand) not in (0, rules.num_hole_cards) for hand in hands):
            expected = f"{rules.num_players} hands of {rules.num_hole_cards} card(s)"
            raise DealError(f"the game `{rules.name}` needs {expected}, not {hands}")
        state = cls(Betting.start(rules), hands, ())
        return state.with_board(board)

    @classmethod
    def at(cls, betting: Betting, hole_cards: Iterable[Iterable[int]], runout: Iterable[int]) -> "HandState":
        """Return the hand with a given betting state.

        Args:
            betting: the betting so far.
            hole_cards: [P] cards of each player; empty for hidden hands.
            runout: the known board cards, at most the whole board.

        Raises:
            DealError: the cards do not fit the game or appear twice.
        """
        return replace(cls.start(betting.rules, hole_cards, runout), betting=betting)

    @classmethod
    def deal(cls, rules: Rules, rng: np.random.Generator) -> "HandState":
        """Deal all cards of a new hand at random.

        The draws do not depend on the betting that follows.
        """
        hole = rules.num_hole_cards
        count = rules.num_players * hole + rules.total_board_cards
        deck = rng.permutation(rules.deck_size)[:count].tolist()
        hands = tuple(tuple(deck[i * hole : (i + 1) * hole]) for i in range(rules.num_players))
        return cls(Betting.start(rules), hands, tuple(deck[rules.num_players * hole :]))

    def with_board(self, cards: Sequence[int]) -> "HandState":
        """Return the hand with more board cards known.

        Args:
            cards: the cards to append to the run-out.

        Raises:
            DealError: a card is not in the deck or appears twice, or the board is too long.
        """
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
        """Return the state after the player to act takes `action`.

        Raises:
            IllegalAction: the action is not legal here.
        """
        return HandState(self.betting.apply(action), self.hole_cards, self.runout)

    def legal(self) -> Legal:
        """Return the legal actions of the player to act."""
        return self.betting.legal()

    @property
    def rules(self) -> Rules:
        """The rules of the game."""
        return self.betting.rules

    @property
    def street(self) -> int:
        """The current street, 0 before the flop."""
        return self.betting.street

    @property
    def to_act(self) -> int:
        """The player to act, or NOBODY."""
        return self.betting.to_act

    @property
    def is_over(self) -> bool:
        """Whether the hand is over."""
        return self.betting.to_act < 0

    @property
    def board(self) -> Cards:
        """The board cards on the table on the current street."""
        return self.runout[: self.rules.board_sizes[self.betting.street]]

    def view(self, player: int) -> "HandState":
        """Return the state as `player` sees it.

        It contains the player's cards, the board so far and, at a showdown, all hands that did not fold.
        """
        showdown = self.betting.is_showdown
        folded = self.betting.folded
        hands = tuple(
            hand if i == player or (showdown and not folded[i]) else () for i, hand in enumerate(self.hole_cards)
        )
        return replace(self, hole_cards=hands, runout=self.board)

    def pots(self) -> list[Pot]:
        """Return the pots, main pot first.

        Consecutive pots with the same possible winners are merged. An uncalled bet is in no pot, because it returns to
        its player. An all-in player can win what the player covers, and others can win any pot.
        """
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
        """[P] chips that each player paid into the pots, without an uncalled bet."""
        called, forced = self.betting.called, self.rules.forced
        return [sum(chips) for chips in zip(called, *forced, strict=True)] if forced else list(called)

    def awards(self) -> list[tuple[int, tuple[int, ...]]]:
        """Return the chips and the winners of every pot of a finished hand, main pot first.

        Raises:
            DealError: the hand is not over, cards are missing, or no player left covers one of the pots.
        """
        if not self.is_over:
            raise DealError(f"payoffs are known when the hand is over, not after `{self.betting.text()}`")
        if any(not pot.players for pot in self.pots()):
            raise DealError("no remaining player is eligible for one of the side pots")
        ranks = self._ranks() if self.betting.is_showdown else [0] * self.rules.num_players
        return [(pot.amount, _winners(pot, ranks)) for pot in self.pots()]

    def payoffs(self) -> list[int]:
        """Return the net chips of each player over the whole hand.

        Returns:
            [P] chips; they sum to 0.

        Raises:
            DealError: the hand is not over, cards are missing, or no player left covers one of the pots.
        """
        return split_pots(self.paid, self.awards())

    def divided_payoffs(self) -> list[float]:
        """Return the net chips of each player with odd chips divided, as the dealer of the ACPC scores hands.

        Returns:
            [P] chips, which may be fractions; they sum to 0.

        Raises:
            DealError: the hand is not over, cards are missing, or no player left covers one of the pots.
        """
        net = [-float(chips) for chips in self.paid]
        for chips, winners in self.awards():
            for i in winners:
                net[i] += chips / len(winners)
        return net

    def _ranks(self) -> list[int]:
        """Return the [P] showdown ranks, -1 for folded hands."""
        live = [i for i, out in enumerate(self.betting.folded) if not out]
        if any(not self.hole_cards[i] for i in live) or len(self.runout) < self.rules.total_board_cards:
            raise DealError("the showdown needs the cards of every player who did not fold, and the whole board")
        ranks = [-1] * self.rules.num_players
        live_ranks = showdown_ranks(self.rules, [self.hole_cards[i] for i in live], self.board)
        for i, rank in zip(live, live_ranks, strict=True):
            ranks[i] = rank
        return ranks


Policy = tuple[tuple[int, ...], Reals]
"""Legal actions, and the probability of each for each hand: float32 or float64 [H, A]."""

PolicyFunction = Callable[[HandState], Policy]
"""A function that returns the policy of the player to act with every hand, whatever cards the player has."""


@dataclass(frozen=True)
class RangedPolicy:
    """The policy of the player to act, together with that player's range.

    Attributes:
        actions: legal actions.
        probs: [H, A] probability of each action with each hand. NaN for hands that are not in the player's range and
            were not solved.
        weights: [H] probability of the player's actions so far with each hand, relative to the most likely hand.
    """

    actions: tuple[int, ...]
    probs: Singles
    weights: Singles


def public_state(betting: Betting, board: Cards) -> HandState:
    """Return the state without hole cards and with an ordered board.

    Args:
        betting: the betting so far.
        board: board cards; the order within a deal does not matter.
    """
    rules = betting.rules
    return HandState(betting, ((),) * rules.num_players, rules.ordered_board(board))


def split_pots(paid: Sequence[int], awards: Iterable[tuple[int, tuple[int, ...]]]) -> list[int]:
    """Distribute pots among their winners.

    Odd chips go one each to the first winners of each pot.

    Args:
        paid: [P] chips that each player paid into the pots.
        awards: chips and winners of each pot.

    Returns:
        [P] net chips of each player.
    """
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
    """Rank hands at a showdown.

    With fewer than five cards only pairs and high cards count.

    Args:
        hands: cards of each hand.

    Returns:
        One rank per hand; higher wins.
    """
    if rules.num_hole_cards + len(board) < 5:
        return [_few_cards_rank([card // rules.num_suits for card in (*hand, *board)]) for hand in hands]
    cards = np.array([(*hand, *board) for hand in hands], dtype=np.uint8)
    if rules.deck_size < 52:
        rank, suit = np.divmod(cards, rules.num_suits)
        cards = (rank + 13 - rules.num_ranks) * 4 + suit
    ranks: list[int] = rank_hands(cards).tolist()
    return ranks


def _few_cards_rank(ranks: list[int]) -> int:
    """Rank up to four cards: more equal cards win, then higher cards. Straights and flushes do not count."""
    groups = sorted(((ranks.count(rank), rank) for rank in set(ranks)), reverse=True)
    groups += [(0, 0)] * (4 - len(groups))
    score = 0
    for count, _ in groups:
        score = score * 5 + count
    for _, rank in groups:
        score = score * 13 + rank
    return score
