"""Open Hand Histories: invented hands by the specification, other writers' readings of it, and what is refused."""

import json
from copy import deepcopy
from typing import Any

import pytest

from poker.formats.histories import OHH, format_of, hand_texts
from poker.formats.ohh_read import hands, parse_hand
from poker.formats.played import LineError
from poker.formats.sites.times import utc_time
from tests.formats.pokerkit_hands import assert_same_hand
from tests.formats.samples import read_all, sample


def action(player: int, kind: str, amount: float = 0.0, **more: object) -> dict[str, Any]:
    return {"action_number": 1, "player_id": player, "action": kind, "amount": amount, "is_allin": False, **more}


HAND: dict[str, Any] = json.loads(sample("ohh"))


def text_of(hand: dict[str, Any], indent: int | None = None) -> str:
    return json.dumps({"ohh": hand}, indent=indent)


def test_a_hand_of_the_specification_is_read_and_played() -> None:
    text = f"\n{text_of(HAND)}\n\n{text_of(HAND, 2)}\n"
    assert format_of(text, "x") == OHH
    for hand in read_all(text):
        assert hand.names == ("Ed", "Ann", "Ben", "Cy", "Dot")
        assert (hand.number, hand.scale, hand.rules.min_bet, hand.rake) == (8599, 100, 2, 8)
        assert list(hand.payoffs) == [-1, 73, 0, -80, 0]
        assert hand.state.betting.text() == "fr6ffr16c/cr36r80c//"
        assert hand.details["table"] == "Elm"
        assert str(hand.details["time"]) == "14:32:50"


def test_hands_are_written_and_read_back() -> None:
    [hand] = read_all(text_of(HAND))
    [written] = hand_texts(OHH, [hand])
    assert written.endswith("}\n\n")
    [back] = read_all(written)
    assert_same_hand(back, hand)
    assert back.details == hand.details
    fields = json.loads(written)["ohh"]
    assert [len(each["actions"]) for each in fields["rounds"]] == [13, 4, 0, 0, 2]
    assert fields["rounds"][1]["actions"][2] == {
        **{"action_number": 16, "player_id": 1, "action": "Raise", "amount": 0.64, "is_allin": True}
    }
    assert fields["pots"] == [
        {"number": 0, "amount": 1.61, "rake": 0.08, "player_wins": [{"player_id": 1, "win_amount": 1.53}]}
    ]


def test_times_are_written_and_read_in_utc() -> None:
    hands = read_all(sample("two_time_zones"))
    begun = ["2024-01-02T03:30:00Z", "2024-01-02T04:00:00Z"]
    assert [json.loads(text)["ohh"]["start_date_utc"] for text in hand_texts(OHH, hands)] == begun
    [hand] = read_all(text_of({**HAND, "start_date_utc": "2024-01-02T04:00:00-05:00"}))
    assert str(utc_time(hand.details)) == "2024-01-02 09:00:00"


def test_bets_that_nobody_called_are_in_the_pot_or_not() -> None:
    """The specification's example and some writers differ here; payoffs are the same."""
    hand = deepcopy(HAND)
    hand["rounds"] = [HAND["rounds"][0], {**HAND["rounds"][1], "actions": [action(0, "Bet", 0.20), action(3, "Fold")]}]
    for amount, won in ((0.33, 0.32), (0.53, 0.52)):
        hand["pots"] = [
            {"number": 0, "amount": amount, "rake": 0.01, "player_wins": [{"player_id": 0, "win_amount": won}]}
        ]
        [again] = read_all(text_of(hand))
        assert again.payoffs == (-1, 16, 0, -16, 0)


def test_totals_of_the_street_are_read_where_only_they_come_out() -> None:
    hand = deepcopy(HAND)
    amounts = iter([0.06, 0.16, 0.16, 0.20, 0.64, 0.64])
    for each in hand["rounds"][:2]:
        for one in each["actions"]:
            if one["action"] in ("Call", "Bet", "Raise"):
                one["amount"] = next(amounts)
    [again] = read_all(text_of(hand))
    assert again.payoffs == read_all(text_of(HAND))[0].payoffs


def test_player_without_a_show_or_muck_reveals_the_listed_cards() -> None:
    hand = deepcopy(HAND)
    hand["players"][0]["cards"] = ["Ad", "Ac"]
    del hand["rounds"][4]
    [again] = read_all(text_of(hand))
    assert (again.payoffs, again.mucked) == ((-1, 73, 0, -80, 0), frozenset())


def test_a_hand_cut_short_does_not_swallow_the_next() -> None:
    text = text_of(HAND, 2)
    parts = list(hands(f"{text[:700]}\n\n{text}\n\n{text}"))
    assert len(parts) == 3
    with pytest.raises(LineError, match="not JSON"):
        parse_hand(parts[0][1], 0, parts[0][0])
    assert parse_hand(parts[1][1], 1, parts[1][0]).number == 8599
