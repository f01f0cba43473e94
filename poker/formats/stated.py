"""Hands as the files of sites state them, event by event, played by the rules of the table.

The hand is played by the rules of `poker.game.betting` with the file's stacks and posts. Every amount is checked:
calls, raises, bets returned, the total pot, the rake, and the chips that each player collected. Posts are played as
follows:

- The first blinds after the button are the blinds of the hand. Further big blinds of players who come back are live
  bets.
- A further small blind, and the small part of `posts small & big blinds`, is dead: it goes into the main pot and is no
  bet. If the amounts do not fit then, a further small blind is a bet.
- Antes that everybody posts make side pots as bets do. An ante for the whole table is dead.
- If the big blind is all-in for less than the blind, the first call or raise shows how much there was to call.

A raise that nobody can call counts as a call, and the rest is returned. A player who is away may fold although all-in.
A player at the showdown who shows no cards has mucked.

A hand may be run several times; each board has its share of every pot. Results are the results of the pots. A cash-out
is a bet with the site, so a player who cashed out counts as having won the pot's value.
"""

from collections import Counter
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from itertools import chain
from typing import Any, NamedTuple

from poker.formats.played import (
    LineError,
    PlayedHand,
    Replayer,
    TableRules,
    mucked_hands,
    payoffs_by_rules,
    payoffs_collected,
    table_rules,
)
from poker.game.state import HandState
from poker.run.errors import PokernetsError

POSTS = ("small blind", "big blind", "both blinds", "dead", "ante", "straddle")
MOVES = ("fold", "check", "bet", "call", "raise", "raise to", "put")
"""Kinds of actions. `put` is a bet, a call or a raise by the chips put in; `raise to` is a raise by its total alone."""
_MOST_RAKE = 0.1
"""Largest share of the pots that may be missing if the file has no rake."""
_STREETS = {"FLOP": 3, "TURN": 4, "RIVER": 5}
_EARLIER = {4: 3, 5: 4}


class Event(NamedTuple):
    """An event on a line.

    Attributes:
        player: name of the player; empty for none.
        chips: amounts in chips.
        cards: cards shown or dealt.
        all_in: whether the player is all-in.
        run: number of the board, from 0.
    """

    line: int
    kind: str
    player: str
    chips: tuple[int, ...] = ()
    cards: tuple[int, ...] = ()
    all_in: bool = False
    run: int = 0


@dataclass
class StatedHand:
    """One hand as a file states it.

    Attributes:
        line: line on which the hand begins.
        number: number of the hand.
        has_number: whether the file has the number.
        limit: kind of limit.
        stakes: small and big blind, or small and big bet, in chips.
        scale: chips per unit of the currency.
        button: seat of the button; 0 if unknown.
        details: data that the rules do not need.
        seats: names by seat.
        stacks: chips by name.
        cards: hole cards by name.
        events: posts, actions and deals in their order.
        collected: chips collected by name.
        cashed_out: winnings in the summary of players who cashed out; 0 if the summary has none.
        total: the total pot; None if the file has none.
        rake: rake in chips; None if the file has none.
        wins_include_uncalled: whether winnings include an uncalled bet, if the file has no total pot.
        boards: boards of the summary; further runs may have only the cards that differ.
        at: number of the line being read.
    """

    line: int
    number: int = 0
    has_number: bool = True
    limit: str = "no limit"
    stakes: tuple[int, int] = (0, 0)
    scale: int = 1
    button: int = 0
    details: dict[str, object] = field(default_factory=dict)
    seats: dict[int, str] = field(default_factory=dict)
    stacks: dict[str, int] = field(default_factory=dict)
    cards: dict[str, tuple[int, ...]] = field(default_factory=dict)
    events: list[Event] = field(default_factory=list)
    collected: Counter[str] = field(default_factory=Counter)
    cashed_out: dict[str, int] = field(default_factory=dict)

    total: Event | None = None
    rake: int | None = 0
    wins_include_uncalled: bool = False

    boards: list[tuple[int, ...]] = field(default_factory=list)

    at: int = 0

    @property
    def is_limit(self) -> bool:
        """Whether the betting is limit."""
        return self.limit in ("limit", "fixed limit")

    def add(
        self, kind: str, player: str = "", chips: tuple[int, ...] = (), *, all_in: bool = False, **more: Any
    ) -> None:
        """Add an event of the line being read.

        Args:
            kind: kind of the event.
            player: name of the player; empty for none.
            chips: amounts in chips.
            all_in: whether the player is all-in.
            **more: `cards` and `run`.
        """
        self.events.append(Event(self.at, kind, player, chips, all_in=all_in, **more))

    def note_cards(self, name: str, cards: tuple[int, ...]) -> None:
        """Record a player's hole cards.

        Args:
            name: name of the player.

        Raises:
            PokernetsError: they are not two cards, or differ from the cards recorded before.
        """
        if len(cards) != 2:
            raise PokernetsError(f"{name} has {len(cards)} hole cards")
        if sorted(self.cards.setdefault(name, cards)) != sorted(cards):
            raise PokernetsError(f"{name} has different cards than before")


def played(hand: StatedHand) -> PlayedHand:
    """Play the hand by the rules of the table.

    Raises:
        LineError: an amount, an action or a card does not fit.
    """
    try:
        return _played(hand, late_is_dead=True)
    except LineError as error:
        if sum(event.kind == "small blind" for event in hand.events) > 1:
            with suppress(LineError):
                return _played(hand, late_is_dead=False)
        raise error


def _played(hand: StatedHand, late_is_dead: bool) -> PlayedHand:
    last = hand.total.line if hand.total else hand.line
    try:
        return _Table(hand, late_is_dead).played()
    except LineError as error:
        raise LineError(error.line or last, str(error)) from error
    except PokernetsError as error:
        raise LineError(last, str(error)) from error


class _Run(NamedTuple):
    """A further board, which shares its first `shared` cards with the first board."""

    shared: int
    cards: list[int]


class _Table:
    """A player of stated hands: players in the order of the rules, the posts, the play and the pots."""

    def __init__(self, hand: StatedHand, late_is_dead: bool) -> None:
        self._hand = hand
        self._late_is_dead = late_is_dead
        self._runs: dict[int, _Run] = {}
        self._above: dict[str, int] = {}

        """Chips of a raise that nobody could call, by player."""
        dealt = {event.player for event in hand.events if event.kind in (*POSTS, *MOVES)}
        seats = sorted(hand.seats, key=lambda seat: (seat <= hand.button, seat))
        self._seats = [seat for seat in seats if hand.seats[seat] in dealt]
        self._names = [hand.seats[seat] for seat in self._seats]
        self._places = {name: place for place, name in enumerate(self._names)}
        if len(self._names) < 2:
            raise LineError(hand.line, "fewer than two players post or act")
        self._by_kind: dict[str, list[Event]] = {}
        for event in hand.events:
            if event.player and event.player not in self._places:
                raise LineError(event.line, f"{event.player} neither posts nor acts in this hand")
            self._by_kind.setdefault(event.kind, []).append(event)

    def played(self) -> PlayedHand:
        hand = self._hand
        state = self._play(self._rules())
        showed, hidden = ({self._places[event.player] for event in self._events(kind)} for kind in ("show", "hide"))
        mucked = mucked_hands(state, showed, hidden)
        boards = self._further_boards(state)
        payoffs, rake = self._payoffs(state, mucked, boards)
        return PlayedHand(
            number=hand.number,
            state=state,
            payoffs=tuple(payoffs),
            names=tuple(self._names),
            mucked=mucked,
            rake=rake,
            scale=hand.scale,
            details={**hand.details, "seats": self._seats, "_button": hand.button},
            line=hand.line,
            boards=boards,
            has_number=hand.has_number,
        )

    def _events(self, *kinds: str) -> list[Event]:
        events = [event for kind in kinds for event in self._by_kind.get(kind, ())]
        return sorted(events) if len(kinds) > 1 else events

    def _rules(self) -> TableRules:
        hand, players = self._hand, len(self._names)
        big_blind = self._table_blind()
        blinds, antes, dead = [0] * players, [0] * players, [0] * players
        big = self._big_blind()
        for event in self._events(*POSTS):
            player, chips = self._places[event.player], event.chips[0]
            is_late = self._late_is_dead and players > 2 and player > big
            if event.kind == "ante":
                antes[player] += chips
            elif event.kind == "dead" or (event.kind == "small blind" and is_late):
                dead[player] += chips
            elif event.kind == "both blinds":
                blinds[player] = min(chips, big_blind)
                dead[player] += chips - blinds[player]
            elif event.kind == "small blind":
                blinds[player] = chips
            else:
                blinds[player] = max(chips, big_blind) if event.all_in else chips
            if event.kind == "big blind" and not event.all_in and chips != big_blind:
                raise LineError(event.line, f"the big blind is {chips} chips, but the header says {big_blind}")
        blinds[big] = blinds[big] or big_blind
        whole_antes = [chips for player, chips in enumerate(antes) if not self._all_in_on_ante(player)]
        if antes.count(0) or len(set(whole_antes)) > 1:
            antes, dead = [0] * players, [sum(chips) for chips in zip(antes, dead, strict=True)]
        straddles = [event for event in self._events("straddle") if blinds[self._places[event.player]] > big_blind]
        last = self._places[straddles[-1].player] if straddles else big
        rules = table_rules(
            blinds=blinds,
            starting_stacks=[hand.stacks[name] for name in self._names],
            min_bet=big_blind,
            first_to_act=(last + 1) % players,
            bets=hand.stakes if hand.is_limit else None,
            pot_limit=hand.limit == "pot limit",
            antes=antes,
            dead=dead,
            opening=self._opening(blinds, big_blind),
        )
        self._check_posts(rules)
        return rules

    def _table_blind(self) -> int:
        """Return the big blind of the table.

        It is the header's, unless both blinds were posted in the header's proportion: the level may change while a hand
        is dealt.
        """
        small, big = self._hand.stakes
        if self._hand.is_limit:
            return small
        posts = (self._events("small blind"), self._events("big blind"))
        posted = [next((event.chips[0] for event in events if not event.all_in), 0) for events in posts]
        return posted[1] if posted[1] and posted[0] * big == posted[1] * small else big

    def _big_blind(self) -> int:
        """Return the player with the big blind.

        It is the first player after the button who posts one, or the player behind the small blind who had no chips
        left after the ante.
        """
        posted = [self._places[event.player] for event in self._events("big blind", "both blinds")]
        small = [self._places[event.player] for event in self._events("small blind")]
        behind = (min(small) + 1) % len(self._names) if small else -1
        if self._all_in_on_ante(behind) and behind not in posted:
            return behind
        if not posted:
            is_bomb = {event.player for event in self._events("ante")} == set(self._names)
            bomb = ": bomb pots, to which all post an ante instead, are not supported"
            raise LineError(self._hand.line, "nobody posts the big blind" + bomb * is_bomb)
        return min(posted)

    def _all_in_on_ante(self, player: int) -> bool:
        antes = self._events("ante", "dead")
        return any(event.all_in and self._places[event.player] == player for event in antes)

    def _check_posts(self, rules: TableRules) -> None:
        """Check that the stacks cover the posts in the text."""
        forced, posts = rules.forced_chips, self._events(*POSTS)
        for name in dict.fromkeys(event.player for event in posts):
            place, events = self._places[name], [event for event in posts if event.player == name]
            straddles = [event for event in events if event.kind == "straddle"]  # each gives the total
            beside = [event for event in events if event.kind in ("ante", "dead")]
            chips = sum(event.chips[0] for event in ([*beside, straddles[-1]] if straddles else events))
            taken = forced.antes[place] + forced.dead[place] + min(rules.blinds[place], rules.stacks[place])
            if chips != taken:
                raise LineError(events[-1].line, f"{name} posts {chips} chips, but has {rules.starting_stacks[place]}")

    def _opening(self, blinds: list[int], big_blind: int) -> int:
        """Return the total to call before the flop, from the first call or raise, if all blinds are short; else 0."""
        put_in = dict(zip(self._names, blinds, strict=True))
        if any(not event.all_in for event in self._events("big blind", "both blinds", "straddle")):
            return 0
        highest = max(event.chips[0] for event in self._events(*POSTS) if event.kind not in ("ante", "dead"))
        opening = 0
        for event in self._hand.events:
            if event.kind == "raise":
                return max(0, event.chips[1] - event.chips[0])
            if event.kind == "call":
                total = put_in[event.player] + event.chips[0]
                if not event.all_in:
                    return total
                opening = big_blind if total > highest else opening
            if event.kind == "put" and put_in[event.player] + event.chips[0] > highest:
                return opening
            if event.kind == "raise to":
                return opening
            if event.kind == "check":
                return 0
            if event.kind in _STREETS:
                break
        return opening

    def _play(self, rules: TableRules) -> HandState:
        replayer = self._replayer = Replayer(rules, self._names)
        for event in self._hand.events:
            try:
                if event.kind in _STREETS:
                    self._deal(event)
                elif event.kind in MOVES:
                    self._move(event)
                elif event.kind == "uncalled":
                    self._check_uncalled(event)
            except PokernetsError as error:
                raise LineError(event.line, str(error)) from error
        return replayer.finish([self._hand.cards.get(name, ()) for name in self._names])

    def _deal(self, event: Event) -> None:
        board = self._replayer.board
        if event.run:
            if not self._replayer.betting.is_over:
                raise LineError(event.line, "a second board before the betting is over is not supported")
            shared = _EARLIER.get(len(event.cards), 0)
            board = self._runs.setdefault(event.run, _Run(shared, board[:shared])).cards
        size = len(board)
        if len(event.cards) != _STREETS[event.kind] or set(event.cards[:size]) != set(board):
            raise LineError(event.line, f"the cards of the {event.kind.lower()} do not continue the board")
        if event.run:
            board += event.cards[size:]
        else:
            self._replayer.deal(event.cards[size:])

    def _further_boards(self, state: HandState) -> tuple[tuple[int, ...], ...]:
        """Return the boards after the first, after checking all boards against the summary."""
        boards = [state.board, *(tuple(run.cards) for _, run in sorted(self._runs.items()))]
        if max(self._runs, default=0) >= len(boards) or len(set(map(len, boards))) > 1:
            raise PokernetsError("boards of a hand that was run several times are missing")
        dealt = [
            *chain(state.board, *state.hole_cards),
            *chain(*(run.cards[run.shared :] for run in self._runs.values())),
        ]
        if len(set(dealt)) < len(dealt):
            raise PokernetsError("a card is dealt twice over the boards of the hand")
        summary = self._hand.boards
        pairs = enumerate(zip(boards, summary, strict=False))
        differs = (set(board[-len(cards) :] if run else board) != set(cards) for run, (board, cards) in pairs)
        if len(summary) > len(boards) or any(differs):
            raise PokernetsError("the board of the summary differs from the board dealt")
        return tuple(boards[1:])

    def _move(self, event: Event) -> None:
        replayer, player = self._replayer, self._places[event.player]
        betting, earlier, chips = replayer.betting, replayer.earlier(player), event.chips
        match event.kind:
            case "fold":
                replayer.fold(player)
            case "check":
                replayer.check(player)
            case "call":
                replayer.call(player, chips[0])
            case "bet" if betting.highest > max(map(replayer.earlier, range(len(self._names)))):
                raise LineError(event.line, f"{event.player} bets, but there is already a bet to call or raise")
            case "bet" | "raise to":
                self._raise(event, chips[0])
            case "put":
                total = betting.committed[player] + chips[0] - earlier
                if chips[1:] and total != chips[1]:
                    raise LineError(event.line, f"{chips[0]} more chips make {total}, not {chips[1]}")
                if total + earlier > betting.highest:
                    self._raise(event, total)
                else:
                    replayer.call(player, chips[0])
            case _:
                by, to = chips
                if by != to + earlier - betting.highest:
                    raise LineError(event.line, f"a raise by {by} to {to} after a bet of {betting.highest - earlier}")
                self._raise(event, to)
        after = replayer.betting
        left = after.rules.stacks[player] - after.committed[player] - self._above.get(event.player, 0)
        if event.all_in and left:
            raise LineError(event.line, f"{event.player} is not all-in: {left} chips are left")

    def _raise(self, event: Event, total: int) -> None:
        """Bet or raise to `total` of the street, or only call if no other player has chips to call more."""
        replayer, player = self._replayer, self._places[event.player]
        betting, stacks = replayer.betting, replayer.betting.rules.stacks
        above = total + replayer.earlier(player) - betting.highest
        others = [i for i, out in enumerate(betting.folded) if not out and i != player]
        if player != betting.to_act or above <= 0 or any(stacks[i] > betting.highest for i in others):
            replayer.raise_to(player, total)
        elif betting.highest + above > stacks[player]:
            raise LineError(event.line, f"{event.player} bets more than the stack of {stacks[player]} chips")
        else:
            replayer.call(player)
            self._above[event.player] = above

    def _check_uncalled(self, event: Event) -> None:
        betting = self._replayer.betting
        back = betting.pot - sum(betting.called) + self._above.get(event.player, 0)
        if betting.committed[self._places[event.player]] != max(betting.committed) or event.chips[0] != back:
            raise LineError(event.line, f"the uncalled bet is {back} chips")

    def _payoffs(
        self, state: HandState, mucked: frozenset[int], boards: Sequence[tuple[int, ...]]
    ) -> tuple[list[int], int]:
        """Return the payoffs [P] from the chips collected, and the rake; both are checked against the rules."""
        hand, pot = self._hand, sum(state.paid)
        collected = [hand.collected[name] for name in self._names]
        if hand.collected.total() != sum(collected):
            raise LineError(0, "chips are collected by a player who did not play")
        above = [0] * len(collected)

        """Uncalled bets that no line returns; some sites include them in the winnings."""
        if not self._events("uncalled"):
            bets = zip(self._names, state.betting.committed, state.betting.called, strict=True)
            above = [self._above.get(name, 0) + chips - called for name, chips, called in bets]
        total = hand.total.chips[0] if hand.total else max(pot, sum(collected))
        if hand.wins_include_uncalled or total == pot + sum(above):
            total, collected = pot, [got - chips for got, chips in zip(collected, above, strict=True)]
        if total != pot:
            raise LineError(hand.total.line if hand.total else 0, f"a total pot of {total} chips, but {pot} were bet")
        rake = pot - sum(collected) if hand.rake is None else hand.rake
        if hand.rake is None and not 0 <= rake <= pot * _MOST_RAKE:
            raise LineError(0, f"{sum(collected)} of {pot} chips are won: the rest is not a plausible rake")
        self._award(state, mucked, boards, collected, pot - rake - sum(collected))
        return payoffs_collected(state, mucked, collected, rake, self._names, boards), rake

    def _award(
        self,
        state: HandState,
        mucked: frozenset[int],
        boards: Sequence[tuple[int, ...]],
        collected: list[int],
        missing: int,
    ) -> None:
        """Add chips that were not awarded because of cash-outs to the chips collected, [P].

        The summary's amounts are used if they add up, else the rules'.

        Args:
            state: state at the end.
            mucked: players who mucked.
            boards: further boards.
            collected: [P] chips; changed in place.
            missing: number of chips that were not awarded.
        """
        places = [self._places[name] for name in self._hand.cashed_out if name in self._places]
        if missing <= 0 or not places:
            return
        more = {place: self._hand.cashed_out[self._names[place]] - collected[place] for place in places}
        if min(more.values()) < 0 or sum(more.values()) != missing:
            gains = zip(payoffs_by_rules(state, mucked, boards), state.paid, strict=True)
            won = [net + paid for net, paid in gains]
            more = {place: max(0, won[place] - collected[place]) for place in places}
            rake, richest = sum(more.values()) - missing, [i for i in places if more[i] == max(more.values())]
            for number, place in enumerate(richest):
                more[place] -= (rake + number) // len(richest)
        for place, chips in more.items():
            collected[place] += chips
