"""Writer of hand histories in PokerStars' text; `poker.formats.sites.pokerstars_read` reads them back.

`Dealt to` lines have all known hole cards. A check by the only player who is not all-in is left out. The rake is taken
from the main pot before the side pots. Amounts of a table for money have the currency symbol and cents. A hand that was
run several times has its boards and showdowns one after the other.
"""

import re
from collections.abc import Iterable, Iterator
from dataclasses import replace
from datetime import datetime
from itertools import takewhile

from poker.formats.phh import showing
from poker.formats.played import PlayedHand, check_raises, only_check_left, settled
from poker.formats.sites.lines import SYMBOL
from poker.formats.sites.pokerstars_read import RUNS
from poker.formats.sites.times import ZONE_FIELDS, local_time
from poker.game.betting import Betting
from poker.game.rules import FOLD
from poker.game.state import showdown_ranks
from poker.kernels.cards.ranks import category
from poker.run.errors import PokernetsError

_CATEGORIES = (
    *("high card", "a pair", "two pair", "three of a kind", "a straight", "a flush", "a full house"),
    *("four of a kind", "a straight flush"),
)
_POSTED = {"ante": "the ante", "dead": "a dead blind", "both blinds": "small & big blinds"}
_STREETS = ("", "FLOP", "TURN", "RIVER")
_TIMES = ("", "", "twice", "three times", "four times")
_TABLE_SIZES = (2, 6, 9, 10)
_SYMBOL = re.compile(SYMBOL)
_CURRENCY = re.compile("[A-Z]{3}")
_ZONE = re.compile("[A-Z]{2,5}")


def hand_text(hand: PlayedHand) -> str:
    """Return the text of one hand, ended by three blank lines as in PokerStars' files.

    Raises:
        PokernetsError: the format cannot represent the hand.
    """
    check_raises(hand.state.betting)
    return "\n".join(HandWriter(hand).lines()) + "\n\n\n\n"


class HandWriter:
    """The lines of one hand, and its posts and shares in the order that other formats use too."""

    def __init__(self, hand: PlayedHand) -> None:
        """Prepare names, seats and boards.

        Raises:
            PokernetsError: the format cannot represent the hand.
        """
        self._hand = hand
        self._rules = hand.rules
        self._state = hand.state
        symbol = hand.details.get("currency_symbol", "")
        self._symbol = symbol if isinstance(symbol, str) and _SYMBOL.fullmatch(symbol) else ""
        self._names = [" ".join(name.split()) for name in hand.names]
        if not all(self._names) or len(set(self._names)) < len(self._names):
            raise PokernetsError("PokerStars' text needs a name for every player")
        self._players = range(self._rules.num_players)
        live = [i for i, out in enumerate(self._state.betting.folded) if not out and i not in hand.mucked]
        if self._state.betting.is_showdown and not all(self._state.hole_cards[i] for i in live):
            raise PokernetsError("in PokerStars' text the winner of a showdown shows cards")
        self._seats, self._button = _seats(hand)
        self._boards = [self._state.board, *hand.boards]
        """Boards in the order of the runs; most hands have one."""
        self._runs = [f"{name} " for name in RUNS[: len(self._boards)]] if hand.boards else [""]

    def lines(self) -> Iterator[str]:
        """Iterate over the lines of the hand."""
        yield self._header()
        yield self._table()
        for seat, place in sorted(zip(self._seats, self._players, strict=True)):
            yield f"Seat {seat}: {self._names[place]} ({self._money(self._rules.starting_stacks[place])} in chips)"
        for place, what, chips, all_in in self._posts():
            yield (
                f"{self._names[place]}: posts {_POSTED.get(what, what)} {self._money(chips)}"
                + " and is all-in" * all_in
            )
        yield "*** HOLE CARDS ***"
        for place in self._players:
            if self._state.hole_cards[place]:
                yield f"Dealt to {self._names[place]} [{self._cards(self._state.hole_cards[place])}]"
        yield from self._play()
        shares = self._shares()
        for run, pots in enumerate(shares):
            if self._state.betting.is_showdown:
                yield from self._showdown(run)
            yield from self._collected(pots)
        yield from self._summary(shares)

    def _money(self, chips: int) -> str:
        """Return chips as `$1.50`, `$2` or `300`."""
        if self._hand.scale not in (1, 100):
            raise PokernetsError("PokerStars' text does not support amounts smaller than a cent")
        whole, cents = divmod(chips, self._hand.scale)
        return f"{self._symbol}{whole}" + (f".{cents:02d}" if cents else "")

    def _cards(self, cards: Iterable[int]) -> str:
        return " ".join(map(self._rules.card_text, cards))

    def _header(self) -> str:
        details, rules = self._hand.details, self._rules
        stakes = min(self._small_blind(), rules.min_bet), rules.min_bet
        if rules.is_limit:
            stakes = rules.raise_sizes[0], rules.raise_sizes[-1]
        if self._hand.scale > 1:
            blinds = "/".join(f"{self._symbol}{chips // 100}.{chips % 100:02d}" for chips in stakes)
        else:
            blinds = "/".join(map(self._money, stakes))
        currency = details.get("currency")
        blinds += f" {currency}" if isinstance(currency, str) and _CURRENCY.fullmatch(currency) else ""
        game = "Hold'em " + ("Limit" if rules.is_limit else "Pot Limit" if rules.pot_limit else "No Limit")
        event, level = details.get("event"), details.get("_level", "I")
        if isinstance(event, str) and event.startswith("Tournament #") and "Hold'em" not in event and "\n" not in event:
            game = f"{event} {game} - Level {level} ({blinds})"
        else:
            game = f" {game} ({blinds})"
        begun, zones = local_time(details), map(str, (*map(details.get, ZONE_FIELDS), "ET"))
        zone = next(filter(_ZONE.fullmatch, zones))
        when = f" - {begun:%Y/%m/%d %H:%M:%S} {zone}" if isinstance(begun, datetime) else ""
        return f"PokerStars Hand #{self._hand.number}: {game}{when}"

    def _small_blind(self) -> int:
        return min(filter(None, self._rules.blinds), default=self._rules.min_bet)

    def _table(self) -> str:
        name = " ".join(str(self._hand.details.get("table", "1")).split())
        return f"Table '{name}' {self._table_size(max(self._seats))}-max Seat #{self._button} is the button"

    def _table_size(self, least: int) -> int:
        """Return the number of seats: the file's if it is at least `least`, else the next usual table size."""
        size = self._hand.details.get("seat_count")
        if isinstance(size, int) and least <= size < 100:
            return size
        return next((size for size in _TABLE_SIZES if size >= max(self._seats)), max(self._seats))

    def _posts(self) -> Iterator[tuple[int, str, int, bool]]:
        """Iterate over the posts: player, kind of `poker.formats.stated.POSTS`, chips, and whether it is all-in."""
        rules = self._rules
        antes, dead = rules.forced_chips
        left = list(rules.starting_stacks)
        both = [
            bool(chips and any(antes) and blind == rules.min_bet)
            for chips, blind in zip(dead, rules.blinds, strict=True)
        ]
        unequal = not any(antes) and min(dead) > 0 and len(set(dead)) > 1
        for what, amounts in (("ante", antes), ("dead" if any(antes) or unequal else "ante", dead)):
            for place in self._players:
                if amounts[place] and not (amounts is dead and both[place]):
                    left[place] -= amounts[place]
                    yield place, what, amounts[place], left[place] == 0
        for place, (what, chips) in enumerate(self._blinds()):
            posted = chips + (dead[place] if both[place] else 0)
            if posted:
                left[place] -= posted
                yield place, "both blinds" if both[place] else what, posted, left[place] == 0

    def _blinds(self) -> list[tuple[str, int]]:
        """Return the posts before the flop, [P] pairs (kind, chips); a small blind must precede the big blind."""
        rules = self._rules
        players, blinds = len(rules.blinds), rules.blinds
        big = (rules.first_player[0] - 1) % players
        if blinds[big] > rules.min_bet:
            big = blinds.index(rules.min_bet) if rules.min_bet in blinds else big
            straddles = [place for place in self._players if blinds[place] > rules.min_bet]
            fits = big < straddles[0] and straddles[-1] == (rules.first_player[0] - 1) % players
        else:
            fits = max(blinds) == rules.min_bet
        if not fits or blinds[big] != rules.min_bet:
            raise PokernetsError("PokerStars' text does not support a first player who is not next to the big blind")
        posts = []
        for place, nominal in enumerate(blinds):
            what = "big blind" if nominal == rules.min_bet else "straddle" if nominal > rules.min_bet else "small blind"
            if place < big and nominal == rules.min_bet:
                what = "small blind"
            if what == "small blind" and nominal and players > 2 and place > big:
                raise PokernetsError("PokerStars' text does not support a small blind posted after the big blind")
            posts.append((what, min(nominal, rules.stacks[place])))
        return posts

    def _play(self) -> Iterator[str]:
        """Iterate over the streets with their actions; an uncalled bet is returned when the betting ends."""
        betting, board = Betting.start(self._rules), self._state.board
        shared = sum(1 for _ in takewhile(lambda cards: len(set(cards)) == 1, zip(*self._boards, strict=True)))
        for street, sizes in enumerate(self._rules.board_sizes):
            if street:
                if len(board) < sizes:
                    return
                yield self._dealt(street, 0) if sizes > shared else self._dealt(street)
            start, moves = betting.committed, list(self._state.betting.moves(street))
            for player, action in moves:
                after = betting.apply_by(player, action)
                if action == FOLD or not only_check_left(betting):
                    yield self._action(betting, after, player, action, start)
                betting = after
            back = betting.pot - sum(betting.called)
            if betting.is_over and (street == 0 or moves) and back:
                name = self._names[betting.committed.index(max(betting.committed))]
                yield f"Uncalled bet ({self._money(back)}) returned to {name}"
        for run in range(1, len(self._boards)):
            yield from (
                self._dealt(street, run) for street, size in enumerate(self._rules.board_sizes) if size > shared
            )

    def _dealt(self, street: int, run: int | None = None) -> str:
        """Return the line of a street in one run, or in all runs together."""
        board, name = self._boards[run or 0], "" if run is None else self._runs[run]
        dealt, size = self._rules.board_sizes[street - 1 : street + 1]
        old = f" [{self._cards(board[:dealt])}]" if dealt else ""
        return f"*** {name}{_STREETS[street]} ***{old} [{self._cards(board[dealt:size])}]"

    def _action(self, before: Betting, after: Betting, player: int, action: int, start: tuple[int, ...]) -> str:
        name = self._names[player]
        verb, added = before.verb(action), after.committed[player] - before.committed[player]
        text = f"{verb}s"
        if verb in ("call", "bet"):
            text += f" {self._money(added)}"
        elif verb == "raise":
            earlier = start[player] if before.street else 0
            text += f" {self._money(action - before.highest)} to {self._money(action - earlier)}"
        return f"{name}: {text}" + " and is all-in" * (
            bool(added) and after.committed[player] == self._rules.stacks[player]
        )

    def _showdown(self, run: int) -> Iterator[str]:
        yield f"*** {self._runs[run]}SHOW DOWN ***"
        for place in showing(self._state.betting):
            if place in self._hand.mucked:
                yield f"{self._names[place]}: mucks hand"
            else:
                cards = self._state.hole_cards[place]
                yield f"{self._names[place]}: shows [{self._cards(cards)}] ({self._made(cards, run)})"

    def _made(self, cards: tuple[int, ...], run: int) -> str:
        return _CATEGORIES[category(showdown_ranks(self._rules, [cards], self._boards[run])[0])]

    def _shares(self) -> list[list[dict[int, int]]]:
        """Return the chips by player of each pot of each run; the main pot is first, with the rake and odd chips."""
        left, runs = self._hand.collected, len(self._boards)
        shares: list[list[dict[int, int]]] = []
        for run, board in enumerate(self._boards):
            end = settled(replace(self._state, runout=board), self._hand.mucked)
            awards = end.awards()
            shares.append([{} for _ in awards])
            for number, (pot, winners) in reversed(list(enumerate(awards))):
                whole = pot - (0 if number else self._hand.rake)
                for i in winners:
                    chips = min(left[i], (whole // runs + (run < whole % runs)) // len(winners))
                    shares[run][number][i] = chips
                    left[i] -= chips
        for i in filter(left.__getitem__, self._players):
            pots = next((pots for pots in shares if any(i in got for got in pots)), shares[0])
            pots[0][i] = pots[0].get(i, 0) + left[i]
        return shares

    def _collected(self, pots: list[dict[int, int]]) -> Iterator[str]:
        for number, got in reversed(list(enumerate(pots))):
            where = "pot" if len(pots) == 1 else f"side pot-{number}" if number else "main pot"
            where = "side pot" if number and len(pots) == 2 else where
            for place, chips in sorted(got.items()):
                if chips:
                    yield f"{self._names[place]} collected {self._money(chips)} from {where}"

    def _summary(self, shares: list[list[dict[int, int]]]) -> Iterator[str]:
        hand, betting = self._hand, self._state.betting
        parts = [f"Total pot {self._money(sum(hand.paid))}"]
        count = len(shares[0])
        for number in range(count if count > 1 else 0):
            name = "Main pot" if not number else f"Side pot-{number}" if count > 2 else "Side pot"
            parts.append(f"{name} {self._money(sum(sum(pots[number].values()) for pots in shares))}.")
        yield "*** SUMMARY ***"
        yield " ".join(parts) + f" | Rake {self._money(hand.rake)}"
        if hand.boards:
            yield f"Hand was run {_TIMES[len(self._boards)]}"
        for name, board in zip(self._runs, self._boards, strict=True):
            if board:
                yield f"{name}Board [{self._cards(board)}]"
        for seat, place in sorted(zip(self._seats, self._players, strict=True)):
            role = " (button)" if seat == self._button else ""
            won = [sum(got.get(place, 0) for got in pots) for pots in shares]
            yield f"Seat {seat}: {self._names[place]}{role} {self._end(betting, place, won)}"

    def _end(self, betting: Betting, place: int, won: list[int]) -> str:
        """Describe the end of the hand for a player who `won` these chips in each run."""
        cards = self._state.hole_cards[place]
        if betting.folded[place]:
            streets = [street for street, actors in enumerate(betting.actors) if place in actors]
            return "folded before Flop" if streets[-1] == 0 else f"folded on the {_STREETS[streets[-1]].title()}"
        if not betting.is_showdown:
            return f"collected ({self._money(won[0])})"
        if place in self._hand.mucked:
            return f"mucked [{self._cards(cards)}]" if cards else "mucked"
        results = [
            (f"won ({self._money(chips)})" if chips else "lost") + f" with {self._made(cards, run)}"
            for run, chips in enumerate(won)
        ]
        return f"showed [{self._cards(cards)}] and {', and '.join(results)}"


def _seats(hand: PlayedHand) -> tuple[list[int], int]:
    """Return the seats [P] and the button's seat.

    The file's seats are used if they give the players in this order, else 1, 2, ...
    """
    players = hand.rules.num_players
    given = hand.details.get("seats")
    if isinstance(given, list) and all(type(seat) is int and 0 < seat < 100 for seat in given):
        button = hand.details.get("_button", given[-1] if given else None)
        fits = len(given) == len(set(given)) == players
        if fits and isinstance(button, int) and 0 <= button < 100 and _in_order(given, button):
            return given, button
    return [i + 1 for i in range(players)], players


def _in_order(seats: list[int], button: int) -> bool:
    return seats == sorted(seats, key=lambda seat: (seat - button - 1) % 100)
