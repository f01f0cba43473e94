"""How files in PokerStars' text begin, and the same lines under the headers of other sites."""

import pytest

from poker.formats.histories import BOVADA, POKERSTARS, format_of, hands_of, text_of
from poker.formats.played import HistoryError
from tests.cases import cases
from tests.formats.samples import read, read_all, refused, sample, won

WALK = sample("pokerstars_walk")
RUN_IT_ONCE = sample("run_it_once")


def errors_of(text: str) -> list[HistoryError]:
    """Errors of the hands left out of a text with one readable hand."""
    errors: list[HistoryError] = []
    assert len(list(hands_of(text, "x", refused=errors.append))) == 1
    return errors


BAD_LINE = b"x\xe2\xe2\x82\xac\xad y joins the table at seat #5\r\n"


@pytest.mark.parametrize(
    "data",
    [
        WALK.encode("utf-8-sig"),
        WALK.encode("utf-8-sig").replace(b"*** HOLE", BAD_LINE + b"*** HOLE"),
        WALK.encode().replace(b"*** HOLE", BAD_LINE + b"*** HOLE"),
        "\ufeff".encode() + WALK.encode("cp1252"),
        "\ufeff\ufeff".encode() + WALK.encode("latin-1"),
        WALK.encode("utf-8-sig").decode("cp1252").encode(),
        WALK.encode("utf-16"),
        WALK.encode("utf-16-le"),
        WALK.encode("utf-16-be"),
        WALK.encode("utf-16") + b"\n",
        ("Hand #112181:\n\n" + WALK).encode(),
        ("Transcript for your last 2 hands requested by Ben\n*********** # 1 **************\n" + WALK).encode("utf-16"),
        ("# notes\n[hands]\nowner = Ben\nBen said, \"PokerStars Hand #1: \"\n" + WALK).encode(),
        ("> " + WALK).encode(),
    ],
)  # fmt: skip
def test_a_file_begins_with_marks_bad_bytes_and_other_lines(data: bytes) -> None:
    text = text_of(data)
    assert format_of(text, "x") == POKERSTARS
    [hand] = hands_of(text, "x")
    assert [round(net) for net in hand.payoffs] == [25, -25]
    assert "Zo" in hand.names[1]


def test_names_keep_their_letters_whatever_bytes_the_file_has_elsewhere() -> None:
    joined = WALK.encode("utf-8-sig") + WALK.encode("cp1252") + b"\n\n" + WALK.encode("utf-8-sig")
    assert [hand.names for hand in read_all(joined)] == [("Ben", "Zoë")] * 3
    assert [hand.line for hand in read_all(joined)] == [1, 15, 31]


def test_lines_before_the_first_header_that_are_of_a_hand_are_told() -> None:
    tail = WALK[WALK.index("*** HOLE") :]
    assert refused(tail + WALK).startswith("1: no header of a hand")
    errors: list[HistoryError] = []
    assert len(list(hands_of(tail + WALK, "x", refused=errors.append))) == len(errors) == 1


GG = (
    WALK.replace("PokerStars Hand #7: ", "Poker Hand #RC17:")
    .replace("($0.25/$0.50 USD)", "($0.25/$0.5)")
    .replace("*** HOLE CARDS ***", "*** HOLE CARDS ***\nDealt to Zoë \nDealt to Ben [Ah Kd]")
    .replace("Ben collected", "*** SHOWDOWN ***\nBen collected")
    .replace("collected $0.50", "collected $0.41")
    .replace("Rake $0", "Rake $0.05 | Jackpot $0.02 | Bingo $0 | Fortune $0.01 | Tax $0.01")
)


@cases
def test_lines_of_pokerstars_under_the_header_of_another_site(header: str, venue: str, number: int) -> None:
    text = WALK.replace("PokerStars Hand #7:", header)
    hand = read(text)
    assert (hand.details["venue"], hand.number, won(hand)) == (venue, number, {"Ben": 25, "Zoë": -25})
    assert len(read_all(text + "\n\n" + text)) == 2
    if venue not in (
        "BetOnline",
        "SupremaPoker",
        "Hive Poker",
    ):  # within a line the sites that are known are looked for
        assert len(read_all(text.rstrip() + text)) == 2
        cut = text[: text.index("*** SUMMARY")] + "Ben folds " + text
        assert len(errors_of(cut)) == 1


@pytest.mark.parametrize(
    ("line", "kind"),
    [
        ("Ignition Hand #36: HOLDEM Tournament #18 TBL#14, Normal - Level 7 (100/200) - 2016-12-05 14:30:00", BOVADA),
        ("Poker Hand #TM5: Tournament #2, $25 Bounty Hold'em No Limit - Level12(1,200/2,400)", POKERSTARS),
        ("PokerMaster Hand #1: Omaha Pot Limit ($15/$30 USD) - 2019/05/26 12:53:33 UTC", POKERSTARS),
    ],
)
def test_headers_of_kin_are_told_apart(line: str, kind: str) -> None:
    assert format_of(line, "x") == kind


@cases
def test_lines_of_other_kinds_are_no_headers(line: str) -> None:
    with pytest.raises(HistoryError):
        format_of(line, "x")


def test_fees_of_ggpoker_are_added_to_the_rake() -> None:
    hand = read(GG)
    assert (hand.rake, won(hand)) == (9, {"Ben": 16, "Zoë": -25})
    assert hand.state.hole_cards[0]


def test_run_it_once() -> None:
    hand = read(RUN_IT_ONCE)
    assert (won(hand), hand.rake, hand.mucked) == ({"Bob": 31, "Cy": -45, "Ann": 0}, 14, frozenset({1}))
    assert (hand.details["table"], hand.details["_time_zone"]) == ("302", "UTC")
    splash = RUN_IT_ONCE.replace("Dealt to Ann", "STP added: €0.50\nDealt to Ann")
    assert "9: `STP added: €0.50`: money that the house adds" in refused(splash)


def test_a_walk_whose_uncalled_bet_stays_in_the_pot() -> None:
    text = WALK.replace("Uncalled bet ($0.25) returned to Ben\n", "").replace("0.50 from", "0.75 from")
    assert won(read(text.replace("pot $0.50", "pot $0.75"))) == {"Ben": 25, "Zoë": -25}


STRADDLED = sample("ggpoker_straddled")


def test_straddles_of_ggpoker_are_totals_and_missed_blinds_dead() -> None:
    assert won(read(STRADDLED)) == {"Cy": -400, "Dan": 450, "Ann": 0, "Bob": -50}


FREEZEOUT = sample("ggpoker_freezeout")


@cases
def test_the_name_of_a_tournament_is_no_game_no_stakes_and_no_date(name: str) -> None:
    [hand] = hands_of(FREEZEOUT.replace("NAME", name), "x")
    assert (hand.rules.name, hand.rules.min_bet, hand.scale) == ("no-limit hold'em", 2000, 1)
    assert dict(zip(hand.names, hand.payoffs, strict=True)) == {"aa": 0, "ba": -1000, "Hero": 1000}
    assert (hand.details["event"], hand.details["year"]) == (f"Tournament #9, {name}", 2026)
    assert hand.details["_level"] == "18"
