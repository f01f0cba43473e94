"""Reads hand histories in PokerStars' text: cash games and tournaments, limit and no-limit Texas hold'em.

The hand is played by the rules of `poker.betting` with the stacks and posts that the text gives, and every amount of
it is checked: calls, raises, bets returned, the total pot, the rake, and what each player collected. How the posts are
played:

- The blinds of the hand are the first after the button. Further big blinds of players who come back are live bets;
  a further small blind, and the small part of `posts small & big blinds`, is dead: it is in the main pot and no bet.
  Only where the hand does not come out so, a further small blind is a bet.
- Antes that everybody posts make side pots as bets do; an ante for the whole table is dead.
- Where the big blind is all-in for less than the blind, the first call or raise says how much there was to call.

Who has seen the showdown and shows no cards has mucked. Results are those of the pots: a cash-out, which is a bet with
the site, is overlooked.
"""

import re
from collections.abc import Iterator, Sequence
from contextlib import suppress

from poker.errors import PokernetsError
from poker.formats.played import (
    LineError,
    PlayedHand,
    Replayer,
    TableRules,
    paid_chips,
    payoffs_collected,
    table_rules,
)
from poker.formats.pokerstars_lines import HEADER_WITHIN, MOVES, POSTS, Event, HandLines
from poker.state import HandState

_MOST_RAKE = 0.1
"""Share of the pots that may be missing where the rake is not told."""
_STREETS = {"FLOP": 3, "TURN": 4, "RIVER": 5}


def hands(text: str, header_within: re.Pattern[str] = HEADER_WITHIN) -> Iterator[tuple[int, list[str]]]:
    """The lines of each hand with the number of its first; separators before a header are left out.

    A header within a line ends a hand that was cut off there.
    """
    start, lines = 0, list[str]()
    for number, line in enumerate(text.split("\n"), 1):
        header = header_within.search(line)
        before = line[: header.start()] if header and " said, " not in line else line
        if header and before != line:
            if lines:
                yield start, [*lines, *[before] * bool(before.strip("\ufeff "))]
            start, lines = number, [line[header.start() :]]
        elif lines:
            lines.append(line)
        elif line.strip() and not line.strip().startswith("*"):
            start, lines = number, [line]
    if lines:
        while not lines[-1].strip():
            lines.pop()
        yield start, lines


def parse_hand(lines: Sequence[str], line: int = 1) -> PlayedHand:
    """The hand whose header is the first of `lines`, which is line `line` of the file; a LineError says what is wrong
    in which line."""
    found = HandLines(line)
    found.read(lines)
    return played(found)


def played(found: HandLines) -> PlayedHand:
    """The hand that lines of any site tell, by the rules of the table."""
    try:
        return _hand(found, dead=True)
    except LineError as error:
        if sum(event.kind == "small blind" for event in found.events) > 1:
            with suppress(LineError):
                return _hand(found, dead=False)
        raise error


def _hand(found: HandLines, dead: bool) -> PlayedHand:
    last = found.total.line if found.total else found.line
    try:
        return _Reader(found, dead).hand()
    except LineError as error:
        raise LineError(error.line or last, str(error)) from error
    except PokernetsError as error:
        raise LineError(last, str(error)) from error


class _Reader:
    """The hand of its lines: players in the order of the rules, the posts, the play and the pots."""

    def __init__(self, found: HandLines, dead: bool) -> None:
        self._found = found
        self._late_is_dead = dead
        dealt = {event.player for event in found.events if event.kind in (*POSTS, *MOVES)}
        seats = sorted(found.seats, key=lambda seat: ((seat - found.button - 1) % 100, seat))
        self._seats = [seat for seat in seats if found.seats[seat] in dealt]
        self._names = [found.seats[seat] for seat in self._seats]
        self._places = {name: place for place, name in enumerate(self._names)}
        if len(self._names) < 2:
            raise LineError(found.line, "fewer than two players post or act")
        for event in found.events:
            if event.player and event.player not in self._places:
                raise LineError(event.line, f"{event.player} neither posts nor acts in this hand")

    def hand(self) -> PlayedHand:
        found = self._found
        state = self._play(self._rules())
        showed = {self._places[event.player] for event in found.events if event.kind == "show"}
        live = [i for i, out in enumerate(state.betting.folded) if not out]
        mucked = frozenset(i for i in live if i not in showed) if state.betting.is_showdown else frozenset[int]()
        payoffs, rake = self._payoffs(state, mucked)
        details = {**found.details, "seats": self._seats, "_button": found.button}
        return PlayedHand(
            found.number, state, tuple(payoffs), tuple(self._names), mucked, rake, found.scale, details, found.line
        )

    def _events(self, *kinds: str) -> list[Event]:
        return [event for event in self._found.events if event.kind in kinds]

    def _rules(self) -> TableRules:
        found, players = self._found, len(self._names)
        big_blind = found.stakes[0] if found.is_limit else found.stakes[1]
        blinds, antes, dead = [0] * players, [0] * players, [0] * players
        big = self._big_blind()
        for event in self._events(*POSTS):
            player, chips = self._places[event.player], event.chips[0]
            whole = big_blind if event.all_in else chips
            if event.kind == "ante":
                antes[player] += chips
            elif event.kind == "dead" or (event.kind == "small blind" and self._is_dead(player, big)):
                dead[player] += chips
            elif event.kind == "both blinds":
                blinds[player] = min(chips, big_blind)
                dead[player] += chips - blinds[player]
            elif event.kind == "small blind":
                blinds[player] = chips
            else:
                blinds[player] = max(whole, chips)
            if event.kind == "big blind" and not event.all_in and chips != big_blind:
                raise LineError(event.line, f"a big blind of {chips} chips where the header says {big_blind}")
        blinds[big] = blinds[big] or big_blind
        whole_antes = [chips for player, chips in enumerate(antes) if not self._all_in_on_ante(player)]
        if antes.count(0) or len(set(whole_antes)) > 1:
            antes, dead = [0] * players, [sum(chips) for chips in zip(antes, dead, strict=True)]
        straddles = [event for event in self._events("straddle") if blinds[self._places[event.player]] > big_blind]
        last = self._places[straddles[-1].player] if straddles else big
        rules = table_rules(
            blinds=blinds,
            starting_stacks=[found.stacks[name] for name in self._names],
            min_bet=big_blind,
            first_to_act=(last + 1) % players,
            bets=found.stakes if found.is_limit else None,
            antes=antes,
            dead=dead,
            opening=self._opening(blinds, big_blind),
        )
        self._check_posts(rules)
        return rules

    def _big_blind(self) -> int:
        """Who has the big blind: the first after the button that posts one, or who sits behind the small blind and had
        no chips left for it after the ante."""
        posted = [self._places[event.player] for event in self._events("big blind", "both blinds")]
        small = [self._places[event.player] for event in self._events("small blind")]
        behind = (min(small) + 1) % len(self._names) if small else -1
        if self._all_in_on_ante(behind) and behind not in posted:
            return behind
        if not posted:
            raise LineError(self._found.line, "nobody posts the big blind")
        return min(posted)

    def _is_dead(self, player: int, big: int) -> bool:
        """The small blind of the hand sits before the big blind."""
        return self._late_is_dead and len(self._names) > 2 and player > big

    def _all_in_on_ante(self, player: int) -> bool:
        antes = self._events("ante", "dead")
        return any(event.all_in for event in antes if self._places[event.player] == player)

    def _check_posts(self, rules: TableRules) -> None:
        """Stacks must have held what the text says was posted."""
        for name, place in self._places.items():
            posts = [event for event in self._events(*POSTS) if event.player == name]
            chips = sum(event.chips[0] for event in posts)
            forced = rules.forced_chips
            held = forced.antes[place] + forced.dead[place] + min(rules.blinds[place], rules.stacks[place])
            if posts and chips != held:
                raise LineError(posts[-1].line, f"{name} posts {chips} chips, but has {rules.starting_stacks[place]}")

    def _opening(self, blinds: list[int], big_blind: int) -> int:
        """What there was to call before the flop: who called or raised first says it, if all blinds are short."""
        put_in = dict(zip(self._names, blinds, strict=True))
        if any(not event.all_in for event in self._events("big blind", "both blinds", "straddle")):
            return 0
        highest = max(event.chips[0] for event in self._events(*POSTS) if event.kind not in ("ante", "dead"))
        opening = 0
        for event in self._found.events:
            if event.kind == "raise":
                return max(0, event.chips[1] - event.chips[0])
            if event.kind == "call":
                total = put_in[event.player] + event.chips[0]
                if not event.all_in:
                    return total
                opening = big_blind if total > highest else opening
            if event.kind == "check":
                return 0
            if event.kind in _STREETS:
                break
        return opening

    def _play(self, rules: TableRules) -> HandState:
        replayer = Replayer(rules, self._names)
        for event in self._found.events:
            try:
                if event.kind in _STREETS:
                    self._deal(replayer, event)
                elif event.kind in MOVES:
                    self._move(replayer, event)
                elif event.kind == "uncalled":
                    self._check_uncalled(replayer, event)
            except PokernetsError as error:
                raise LineError(event.line, str(error)) from error
        board = self._found.board
        if board is not None and board != tuple(replayer.board):
            raise PokernetsError("the board of the summary is not the one dealt")
        return replayer.finish([self._found.cards.get(name, ()) for name in self._names])

    def _deal(self, replayer: Replayer, event: Event) -> None:
        known = len(replayer.board)
        if len(event.cards) != _STREETS[event.kind] or list(event.cards[:known]) != replayer.board:
            raise LineError(event.line, f"the cards of the {event.kind.lower()} do not continue the board")
        replayer.deal(event.cards[known:])

    def _move(self, replayer: Replayer, event: Event) -> None:
        player, betting = self._places[event.player], replayer.betting
        earlier = replayer.earlier(player)
        match event.kind:
            case "fold":
                replayer.fold(player)
            case "check":
                replayer.check(player)
            case "call":
                replayer.call(player, event.chips[0])
            case "bet":
                if betting.highest > max(map(replayer.earlier, range(len(self._names)))):
                    raise LineError(event.line, f"{event.player} bets where there is a bet to call or to raise")
                replayer.raise_to(player, event.chips[0])
            case "put":
                added, *told = event.chips
                total = betting.committed[player] + added - earlier
                if told and total != told[0]:
                    raise LineError(event.line, f"{added} more chips make {total}, not {told[0]}")
                if total + earlier > betting.highest:
                    replayer.raise_to(player, total)
                else:
                    replayer.call(player, added)
            case _:
                by, to = event.chips
                if by != to + earlier - betting.highest:
                    raise LineError(event.line, f"a raise by {by} to {to} of a bet of {betting.highest - earlier}")
                replayer.raise_to(player, to)
        after = replayer.betting
        if event.all_in and after.committed[player] != after.rules.stacks[player]:
            left = after.rules.stacks[player] - after.committed[player]
            raise LineError(event.line, f"{event.player} is not all-in: {left} chips are left")

    def _check_uncalled(self, replayer: Replayer, event: Event) -> None:
        committed = replayer.betting.committed
        high, called = sorted(committed, reverse=True)[:2]
        if committed[self._places[event.player]] != high or event.chips[0] != high - called:
            raise LineError(event.line, f"the bet that nobody called is one of {high - called} chips")

    def _payoffs(self, state: HandState, mucked: frozenset[int]) -> tuple[list[int], int]:
        """[P] net chips by what the text says was collected, and the rake; both checked against the rules."""
        found = self._found
        paid = paid_chips(state)
        collected = [found.collected.get(name, 0) for name in self._names]
        if sum(found.collected.values()) != sum(collected):
            raise LineError(0, "chips are collected by who did not play")
        total = found.total.chips[0] if found.total else max(sum(paid), sum(collected))
        left = self._not_returned(state)
        if sum(left) and total == sum(paid) + sum(left):
            total -= sum(left)
            collected = [got - chips for got, chips in zip(collected, left, strict=True)]
        if total != sum(paid):
            line = found.total.line if found.total else 0
            raise LineError(line, f"a total pot of {total} chips, but {sum(paid)} were bet")
        rake = found.rake
        if rake is None:
            rake = sum(paid) - sum(collected)
            if not 0 <= rake <= sum(paid) * _MOST_RAKE:
                raise LineError(0, f"{sum(collected)} chips of a pot of {sum(paid)} are won: the rest is no rake")
        return payoffs_collected(state, mucked, collected, rake, self._names), rake

    def _not_returned(self, state: HandState) -> list[int]:
        """[P] chips of a bet that nobody called where no line returns it: some sites count it among those won."""
        committed = state.betting.committed
        called = sorted(committed)[-2]
        if self._events("uncalled"):
            return [0] * len(committed)
        return [max(0, chips - called) for chips in committed]
