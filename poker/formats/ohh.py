"""Writer of Open Hand Histories (hh-specs.handhistory.org); `poker.formats.ohh_read` reads them back.

The amount of an action is the number of chips that it adds to the pot. The pots exclude an uncalled bet. The rake is
taken from the main pot.
"""

import json
from collections.abc import Iterator
from datetime import datetime
from itertools import count

from poker.formats.ohh_read import KINDS, STREETS
from poker.formats.phh import showing
from poker.formats.played import PlayedHand, check_raises, only_check_left
from poker.formats.sites.pokerstars import HandWriter
from poker.formats.sites.times import utc_time
from poker.game.betting import Betting
from poker.game.rules import FOLD
from poker.run.errors import PokernetsError

_NAMES = {kind: name for name, kind in KINDS.items()}
_CURRENCIES = {"$": "USD", "€": "EUR", "£": "GBP"}


def hand_text(hand: PlayedHand) -> str:
    """Return one hand as a line of JSON, and the blank line that separates hands.

    Raises:
        PokernetsError: the format cannot represent the hand.
    """
    check_raises(hand.state.betting)
    return json.dumps({"ohh": _Fields(hand).fields()}, ensure_ascii=False) + "\n\n"


class _Fields(HandWriter):
    """The fields of one hand; players are numbered by position."""

    def __init__(self, hand: PlayedHand) -> None:
        super().__init__(hand)
        self._numbers = count(1)

    def fields(self) -> dict[str, object]:
        hand, rules, details = self._hand, self._rules, self._hand.details
        if hand.boards:
            raise PokernetsError("OHH files have one board, but the board of this hand was run several times")
        begun = utc_time(details)
        venue, currency = str(details.get("venue", "pokernets")), details.get("currency")
        return {
            "spec_version": "1.4.7",
            "site_name": venue,
            "network_name": venue,
            "internal_version": "1.0",
            "tournament": "event" in details,
            "game_number": str(details.get("hand", hand.number)),
            "start_date_utc": f"{begun.isoformat(timespec='seconds')}Z" if isinstance(begun, datetime) else None,
            "table_name": str(details.get("table", "1")),
            "game_type": "Holdem",
            "bet_limit": {"bet_type": "FL" if rules.is_limit else "PL" if rules.pot_limit else "NL", "bet_cap": 0},
            "table_size": self._table_size(2),
            "currency": currency if isinstance(currency, str) else _CURRENCIES.get(self._symbol, ""),
            "dealer_seat": self._button,
            "small_blind_amount": self._amount(self._small_blind()),
            "big_blind_amount": self._amount(rules.min_bet),
            "ante_amount": self._amount(max(rules.forced_chips.antes)),
            "players": [
                {"id": i, "seat": self._seats[i], "name": self._names[i], "starting_stack": self._amount(chips)}
                for i, chips in enumerate(rules.starting_stacks)
            ],
            "rounds": self._rounds(),
            "pots": self._pots(),
        }

    def _amount(self, chips: int) -> float:
        """Return units of the currency, without decimals for whole units."""
        return chips // self._hand.scale if chips % self._hand.scale == 0 else chips / self._hand.scale

    def _rounds(self) -> list[dict[str, object]]:
        board, dealt = self._state.board, 0
        rounds: list[dict[str, object]] = []
        for street, actions in enumerate(self._streets()):
            size = self._rules.board_sizes[street]
            if len(board) < size:
                break
            cards = [self._rules.card_text(card) for card in board[dealt:size]]
            rounds.append({"id": street, "street": STREETS[street], "cards": cards, "actions": actions})
            dealt = size
        if self._state.betting.is_showdown:
            actions = [
                self._entry(i, "Mucks Cards" if i in self._hand.mucked else "Shows Cards", cards=True)
                for i in showing(self._state.betting)
            ]
            rounds.append({"id": len(rounds), "street": STREETS[-1], "cards": [], "actions": actions})
        return rounds

    def _streets(self) -> Iterator[list[dict[str, object]]]:
        """Iterate over the actions of each street, with posts and deals first."""
        betting = Betting.start(self._rules)
        actions = [*self._posted(), *(self._entry(i, "Dealt Cards", cards=True) for i in self._players)]
        for street in range(len(self._state.betting.actions)):
            for player, action in self._state.betting.moves(street):
                after = betting.apply_by(player, action)
                added = after.committed[player] - betting.committed[player]
                if action == FOLD or not only_check_left(betting):
                    all_in = bool(added) and after.committed[player] == self._rules.stacks[player]
                    actions.append(self._entry(player, betting.verb(action).title(), added, all_in))
                betting = after
            yield actions
            actions = []

    def _posted(self) -> Iterator[dict[str, object]]:
        for place, what, chips, all_in in self._posts():
            if what == "both blinds":
                dead = self._rules.forced_chips.dead[place]
                yield self._entry(place, "Post Dead", dead)
                what, chips = "big blind", chips - dead
            yield self._entry(place, _NAMES[what], chips, all_in)

    def _entry(
        self, place: int, kind: str, chips: int = 0, all_in: bool = False, cards: bool = False
    ) -> dict[str, object]:
        action: dict[str, object] = {"action_number": next(self._numbers), "player_id": place, "action": kind}
        action |= {"amount": self._amount(chips), "is_allin": all_in}
        hand = self._state.hole_cards[place]
        return action | ({"cards": [self._rules.card_text(card) for card in hand]} if cards and hand else {})

    def _pots(self) -> list[dict[str, object]]:
        """Return the winnings of each pot; the main pot has the rake and the odd chips."""
        [shares] = self._shares()
        rakes = [0 if number else self._hand.rake for number in range(len(shares))]
        return [
            {
                "number": number,
                "amount": self._amount(sum(got.values()) + rake),
                "rake": self._amount(rake),
                "player_wins": [
                    {"player_id": i, "win_amount": self._amount(chips)} for i, chips in sorted(got.items()) if chips
                ],
            }
            for number, (got, rake) in enumerate(zip(shares, rakes, strict=True))
        ]
