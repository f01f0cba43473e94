"""A hand as it was played at a table: every format of hand histories is read into it and written from it.

Players are in the order of the rules: the first seat left of the button first. So heads-up player 0 is the big blind,
and player 1 is the button. Chips are integers; at tables for money they are cents, and `scale` of them are one unit of
the currency. Stacks, blinds and antes belong to the one hand.

Symbols: P players.
"""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path

from poker.formats.acpc.log import LoggedHand
from poker.game.betting import Betting, IllegalAction
from poker.game.rules import (
    CALL,
    FOLD,
    LIMIT,
    NOLIMIT,
    UNCAPPED,
    UNLIMITED,
    AcpcRules,
    ForcedChips,
    Rules,
    position_names,
)
from poker.game.state import DealError, HandState
from poker.run.errors import PokernetsError, printable

MOST_CHIPS = UNLIMITED
MOST_HANDS = 10**18
"""Upper bound of hand numbers, as in PokerStars' text."""
TEXAS_BOARD = (0, 3, 1, 1)
MOST_SEATS = 10


class HistoryError(PokernetsError):
    """A hand that cannot be read, or not be written in a format; the message has the file, the line and the reason.

    Attributes:
        path: the file.
        line: the line, from 1.
    """

    def __init__(self, path: Path | str, line: int, reason: str) -> None:
        """Create the error.

        Args:
            path: the file.
            line: the line, from 1.
        """
        super().__init__(path, line, reason)  # pickle recreates the error from these
        self.path = path
        self.line = line
        self.reason = reason

    def __str__(self) -> str:
        """Return file, line and reason as printable text."""
        return printable(f"{self.path}, line {self.line}: {self.reason}")


class LineError(PokernetsError):
    """An error on a line of a text; callers that know the file turn it into a `HistoryError`."""

    def __init__(self, line: int, reason: str) -> None:
        """Create the error.

        Args:
            line: the line, from 1; 0 if unknown.
        """
        super().__init__(reason)
        self.line = line


@dataclass(frozen=True)
class TableRules(Rules):
    """Texas hold'em with the stacks and posts of one hand; `stacks` exclude `forced` chips.

    Hands with `pot_limit` are replayed by no-limit betting, so their raises are not checked against the pot.

    Attributes:
        min_bet: the big blind of the table, even if nobody posted it in full.
        opening: total to call before the flop even if the big blind was all-in for less; 0 for none.
        any_raise_reopens: whether any raise reopens the betting, as with the ACPC's dealer.
        forced: antes and dead chips, if any.
        pot_limit: whether the betting was pot-limit.
    """

    _MIN_STACK = 0

    min_bet: int = 0
    opening: int = 0
    any_raise_reopens: bool = False
    forced: ForcedChips | None = None
    pot_limit: bool = False

    @cached_property
    def big_blind(self) -> int:
        """The big blind in chips."""
        return self.min_bet

    @property
    def positions(self) -> tuple[str, ...]:
        """Names [P] of the positions; without a small blind nobody has its name."""
        blinds, first = self.blinds, self.first_player[0]
        is_dead = self.num_players > 2 and blinds[0] >= self.min_bet and (blinds[1] != self.min_bet or first == 1)
        return position_names(self.num_players + 1)[1:] if is_dead else super().positions

    @property
    def forced_chips(self) -> ForcedChips:
        """Antes and dead chips of all players."""
        nothing = (0,) * self.num_players
        return self.forced or ForcedChips(nothing, nothing)

    @property
    def starting_stacks(self) -> tuple[int, ...]:
        """Stacks [P] in chips before antes and dead chips."""
        return tuple(map(sum, zip(self.stacks, *self.forced_chips, strict=True)))


def table_rules(
    *,
    blinds: Sequence[int],
    starting_stacks: Sequence[int],
    min_bet: int,
    first_to_act: int,
    bets: tuple[int, int] | None = None,
    antes: Sequence[int] = (),
    dead: Sequence[int] = (),
    opening: int = 0,
    any_raise_reopens: bool = False,
    pot_limit: bool = False,
) -> TableRules:
    """Create the rules of one hand.

    Antes are taken from a stack first, then dead chips, each as far as the stack allows.

    Args:
        blinds: [P] blinds and straddles in chips.
        starting_stacks: [P] stacks in chips.
        min_bet: the big blind of the table.
        first_to_act: first player to act before the flop.
        bets: small and big bet of a limit game; None for no-limit and pot-limit.
        antes: [P] antes in chips; empty for none.
        dead: [P] dead chips; empty for none.
        opening: see `TableRules`.
        any_raise_reopens: see `TableRules`.
        pot_limit: see `TableRules`.

    Raises:
        LineError: the number of players or a stack is out of range.
    """
    players = len(starting_stacks)
    if not 2 <= players <= MOST_SEATS:
        raise LineError(0, f"hands have 2 to {MOST_SEATS} players, not {players}")
    if min(starting_stacks) < 1:
        raise LineError(0, "a player without chips is dealt in")
    nothing = (0,) * players
    paid = tuple(map(min, antes or nothing, starting_stacks))
    left = [stack - ante for stack, ante in zip(starting_stacks, paid, strict=True)]
    lost = tuple(map(min, dead or nothing, left))
    forced = ForcedChips(paid, lost) if any(paid) or any(lost) else None
    return TableRules(
        name=f"{'limit' if bets else 'pot-limit' if pot_limit else 'no-limit'} hold'em",
        num_players=players,
        betting=LIMIT if bets else NOLIMIT,
        blinds=tuple(blinds),
        stacks=tuple(stack - chips for stack, chips in zip(left, lost, strict=True)),
        raise_sizes=(bets[0], bets[0], bets[1], bets[1]) if bets else (),
        max_raises=(UNCAPPED,) * 4,
        first_player=(first_to_act, 0, 0, 0),
        num_suits=4,
        num_ranks=13,
        num_hole_cards=2,
        board_cards=TEXAS_BOARD,
        min_bet=min_bet,
        opening=opening,
        any_raise_reopens=any_raise_reopens,
        forced=forced,
        pot_limit=pot_limit,
    )


def why_not_a_table(game: Rules) -> str:
    """Check that `table_rules` can express a game.

    Returns:
        The reason why not; empty if it can.
    """
    if game.deck_size != 52 or game.num_hole_cards != 2 or game.board_cards != TEXAS_BOARD:
        return f"only Texas hold'em is supported, not `{game.name}`"
    if any(game.first_player[1:]):
        return f"`{game.name}`: only games in which the first player left of the button begins after the flop"
    sizes = game.raise_sizes
    if game.is_limit and (sizes[0] != sizes[1] or sizes[2] != sizes[3]):
        return f"`{game.name}`: only limit games with one bet up to the flop, then another"
    return ""


@dataclass(frozen=True)
class PlayedHand(LoggedHand):
    """A hand played at a table; `payoffs` are net chips after the rake, so their sum is -`rake`.

    Attributes:
        mucked: players at the showdown who did not show their hand, which concedes the pots.
        rake: rake in chips.
        scale: chips per unit of the currency.
        details: data that the rules do not need, by the names of PHH's optional fields, such as `seats`, `table` or
            `venue`.
        line: line of the file on which the hand begins.
        amounts_differ: whether the file has other amounts for the same winners, which fit no rake.
        boards: boards after the first of a hand that was run several times; each has its share of every pot.
        skipped_action: whether the file leaves out a check or fold.
        has_number: whether the file has the number, which is the hand's place in the file otherwise.
    """

    mucked: frozenset[int] = frozenset()
    rake: int = 0
    scale: int = 1
    details: Mapping[str, object] = field(default_factory=dict)
    line: int = 1
    amounts_differ: bool = False
    boards: tuple[tuple[int, ...], ...] = ()
    skipped_action: bool = False
    has_number: bool = True

    @property
    def rules(self) -> TableRules:
        """The rules of the hand."""
        rules = self.state.rules
        assert isinstance(rules, TableRules)
        return rules

    @property
    def paid(self) -> list[int]:
        """Chips [P] that each player put into the pots, without an uncalled bet."""
        return self.state.paid

    @property
    def collected(self) -> list[int]:
        """Chips [P] that each player got from the pots, after the rake."""
        return [round(net) + chips for net, chips in zip(self.payoffs, self.paid, strict=True)]


def number_in(text: str) -> int:
    """Return a number for an identifier such as `23-128-1653325811`, from its last digits.

    Args:
        text: the identifier.
    """
    return int(re.sub("[^0-9]", "", text)[-len(str(MOST_HANDS - 1)) :] or 0)


def as_played(hand: LoggedHand, line: int = 1) -> PlayedHand:
    """Convert a logged hand to a hand played at a table; players who show no cards at the showdown have mucked.

    Args:
        line: line of the file on which it begins.

    Raises:
        PokernetsError: `table_rules` cannot express the game.
        DealError: the payoffs depend on missing cards.
    """
    game = hand.state.rules
    why_not = why_not_a_table(game)
    if why_not:
        raise PokernetsError(why_not)
    rules = table_rules(
        blinds=game.blinds,
        starting_stacks=game.stacks,
        min_bet=game.raise_sizes[0] if game.is_limit else game.big_blind,
        first_to_act=game.first_player[0],
        bets=(game.raise_sizes[0], game.raise_sizes[-1]) if game.is_limit else None,
        opening=game.opening if max(map(min, game.blinds, game.stacks)) < game.opening else 0,
        any_raise_reopens=game.any_raise_reopens,
    )
    end = replace(hand.state, betting=replace(hand.state.betting, rules=rules))
    mucked = mucked_hands(end, {i for i, cards in enumerate(end.hole_cards) if cards}, set())
    payoffs = payoffs_by_rules(end, mucked)
    if mucked and [round(chips) for chips in hand.payoffs] != payoffs:
        raise DealError("the payoffs depend on showdown cards that the log does not have")
    return PlayedHand(hand.number, end, tuple(payoffs), hand.names, mucked, line=line)


def mucked_hands(state: HandState, showed: set[int], hidden: set[int]) -> frozenset[int]:
    """Return the players at the showdown who did not show their hands.

    One shown card is enough if nobody shows two and no other player shows one.

    Args:
        state: state at the end.
        showed: players who showed both cards.
        hidden: players who showed one card.
    """
    if not state.betting.is_showdown:
        return frozenset()
    live = {i for i, out in enumerate(state.betting.folded) if not out}
    return frozenset(live - (showed & live or (hidden & live if len(hidden & live) == 1 else set())))


def settled(state: HandState, mucked: frozenset[int]) -> HandState:
    """Return the finished hand with mucked hands folded.

    Args:
        state: state at the end.
        mucked: players who mucked.
    """
    betting = state.betting
    folded = tuple(out or i in mucked for i, out in enumerate(betting.folded))
    return replace(state, betting=replace(betting, folded=folded))


def payoffs_by_rules(
    state: HandState, mucked: frozenset[int] = frozenset(), boards: Sequence[tuple[int, ...]] = ()
) -> list[int]:
    """Compute the payoffs without a rake.

    With several boards, the payoffs are the mean over all of them. Odd chips go to the first players with the largest
    remainders.

    Args:
        state: state at the end.
        mucked: players who mucked.
        boards: further boards.

    Returns:
        [P] net chips.

    Raises:
        DealError: a pot has no player left to win it, or a hand is unknown.
    """
    end = settled(state, mucked)
    if mucked and any(not pot.players for pot in end.pots()):
        raise DealError("no player who shows cards can win the pot or a side pot")
    if not boards:
        return end.payoffs()
    runs = [end.payoffs(), *(replace(end, runout=board).payoffs() for board in boards)]
    whole, parts = zip(*(divmod(sum(nets), len(runs)) for nets in zip(*runs, strict=True)), strict=True)
    owed = sorted(range(len(parts)), key=lambda i: -parts[i])[: sum(parts) // len(runs)]
    return [chips + (i in owed) for i, chips in enumerate(whole)]


def payoffs_collected(
    state: HandState,
    mucked: frozenset[int],
    collected: Sequence[int],
    rake: int,
    names: Sequence[str],
    boards: Sequence[tuple[int, ...]] = (),
) -> list[int]:
    """Check the chips that players collected, and compute their payoffs.

    The chips must be what the players won by the rules before the rake. Any winner may have the odd chips of a split
    pot.

    Args:
        state: state at the end.
        mucked: players who mucked.
        collected: [P] chips that each player got from the pots.
        rake: rake in chips.
        names: [P] names for errors.
        boards: further boards.

    Returns:
        [P] net chips.

    Raises:
        LineError: the chips do not fit.
    """
    paid = state.paid
    if sum(collected) + rake != sum(paid):
        raise LineError(0, f"{sum(collected)} chips collected and a rake of {rake} from a pot of {sum(paid)}")
    gains = [net + chips for net, chips in zip(payoffs_by_rules(state, mucked, boards), paid, strict=True)]
    winners = sum(gain > 0 for gain in gains)
    shares = (len(boards) + 1) * winners - 1
    odd = len(settled(state, mucked).pots()) * shares if shares else 0
    for name, gain, got in zip(names, gains, collected, strict=True):
        if not max(0, gain - rake - odd) <= got <= gain + odd or (got > 0 and not gain):
            raise LineError(0, f"{name} collected {got} chips, but won {gain} before the rake")
    return [got - chips for got, chips in zip(collected, paid, strict=True)]


def replay(rules: Rules, betting: Betting) -> Betting | None:
    """Play the same actions by other rules.

    Args:
        betting: the finished betting.

    Returns:
        The betting; None if an action is not legal or the hand ends differently.
    """
    other = Betting.start(rules)
    try:
        for player, action in betting.moves():
            other = other.apply_by(player, action)
    except IllegalAction:
        return None
    return other if other.is_over and other.actions == betting.actions else None


def check_raises(betting: Betting) -> None:
    """Check that a finished hand has no raise that only the ACPC's dealer allows.

    Args:
        betting: the finished betting.

    Raises:
        PokernetsError: it has such a raise.
    """
    rules = betting.rules
    if not isinstance(rules, TableRules | AcpcRules) or not rules.any_raise_reopens:
        return
    if replay(replace(rules, any_raise_reopens=False), betting) is None:
        raise PokernetsError("only the ACPC dealer allows a raise of this hand, so other formats cannot represent it")


def only_check_left(betting: Betting) -> bool:
    """Return whether the player to act can only check because all others are all-in; sites leave out such checks."""
    return betting.waiting.bit_count() == 1 and betting.to_call == 0 and not betting.legal().max_raise


class Replayer:
    """A replayer of a hand from a file by the rules of the table; it refuses actions that do not fit.

    A check that ends the betting because all others are all-in may be missing.

    Attributes:
        betting: the current betting state.
        board: the cards dealt so far.
    """

    def __init__(self, rules: Rules, names: Sequence[str]) -> None:
        """Begin a hand.

        Args:
            rules: rules of the hand.
            names: [P] names for errors.
        """
        self.betting = Betting.start(rules)
        self.board: list[int] = []
        self._names = names
        self._street = 0
        self._earlier: tuple[int, ...] = (0,) * rules.num_players

    def deal(self, cards: Sequence[int]) -> None:
        """Deal the next cards of the board.

        Raises:
            LineError: the board has too many cards for the street.
        """
        if len(self.board) == self._wanted:
            self._apply_forced_check()
        if len(self.board) + len(cards) > self._wanted:
            raise LineError(0, f"more board cards than {self._wanted} after `{self.betting.text()}`")
        self.board += cards

    @property
    def _wanted(self) -> int:
        """Number of cards on the board on the current street."""
        return self.betting.rules.board_sizes[self.betting.street]

    def fold(self, player: int) -> None:
        """Fold; also out of turn, instead of a free check, or all-in while away, as in hand histories."""
        if self.betting.committed[player] < self.betting.rules.stacks[player]:
            self._check_board()
        self._apply(player, FOLD)

    def check(self, player: int) -> None:
        """Check.

        Raises:
            LineError: there is a bet to call, or it is another player's turn.
        """
        self._check_turn(player)
        if self.betting.to_call:
            raise LineError(0, f"{self._names[player]} cannot check: {self.betting.to_call} chips to call")
        self._apply(player, CALL)

    def call(self, player: int, chips: int | None = None) -> None:
        """Call.

        Args:
            chips: the cost of the call in the file; None if unknown.

        Raises:
            LineError: the cost is wrong, or it is another player's turn.
        """
        self._check_turn(player)
        if chips is not None and chips != self.betting.to_call:
            costs = f"{self.betting.to_call} chips" if self.betting.to_call else "nothing"
            raise LineError(0, f"{self._names[player]} calls {chips} chips, but a call costs {costs}")
        self._apply(player, CALL)

    def raise_to(self, player: int, total: int) -> None:
        """Bet or raise.

        Args:
            total: chips that the player has put in on this street after the raise.

        Raises:
            LineError: it is another player's turn.
        """
        self._check_turn(player)
        self._apply(player, total + self.earlier(player))

    def earlier(self, player: int) -> int:
        """Return the chips that a player put in on earlier streets."""
        if self.betting.street != self._street:
            self._street, self._earlier = self.betting.street, self.betting.committed
        return self._earlier[player]

    def _apply(self, player: int, action: int) -> None:
        self.earlier(player)
        self.betting = self.betting.apply_by(player, action)

    def _apply_forced_check(self) -> None:
        if only_check_left(self.betting):
            self._apply(self.betting.to_act, CALL)

    def _check_turn(self, player: int) -> None:
        self._check_board()
        betting = self.betting
        if betting.is_over:
            raise LineError(0, f"{self._names[player]} acts after the hand is over: `{betting.text()}`")
        if player != betting.to_act:
            raise LineError(0, f"{self._names[player]} acts, but it is the turn of {self._names[betting.to_act]}")

    def _check_board(self) -> None:
        if len(self.board) != self._wanted and not self.betting.is_over:
            street = self.betting.street + 1
            raise LineError(0, f"the board has {len(self.board)} cards, but street {street} has {self._wanted}")

    def finish(self, hole_cards: Sequence[Sequence[int]]) -> HandState:
        """Return the state after the last action.

        Args:
            hole_cards: [P] hole cards; empty if unknown.

        Raises:
            IllegalAction: the hand is not over.
            DealError: the board is incomplete.
        """
        self._apply_forced_check()
        betting = self.betting
        if not betting.is_over:
            raise IllegalAction(f"the hand ends, but it is the turn of {self._names[betting.to_act]}")
        if len(self.board) != self._wanted:
            raise DealError(f"the board has {len(self.board)} cards at the end of the hand, not {self._wanted}")
        return HandState.at(betting, hole_cards, self.board)
