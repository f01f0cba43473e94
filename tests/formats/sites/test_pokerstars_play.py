"""Hands in PokerStars' text beyond plain play: raises that nobody can call, folds of absent players, cash-outs,
boards run several times, hidden cards, pot limits, the headers of other sites; and which formats can hold them."""

from pathlib import Path

import pytest

from poker.formats.histories import (
    ACPC,
    BOVADA,
    OHH,
    PHH,
    POKERSTARS,
    format_of,
    hand_texts,
    hands_of,
    text_of,
    why_unwritable,
    write_hands,
)
from poker.formats.played import HistoryError
from poker.formats.sites.pokerstars import hand_text
from poker.run.errors import PokernetsError
from tests.cases import cases
from tests.formats.pokerkit_hands import assert_same_hand
from tests.formats.samples import read, read_all, refused, sample, won

WALK = sample("pokerstars_walk")
CALLED = sample("pokerstars_called")


def test_a_raise_that_nobody_left_can_call_is_a_call() -> None:
    hand = read(CALLED)
    assert (won(hand), hand.rake) == ({"Ann": -4000, "Bob": -2000, "Cy": 5800}, 200)
    assert hand.state.betting.text() == "r4000cc///"
    assert_same_hand(read(hand_text(hand)), hand)
    part = CALLED.replace("raises $20 to $60 and is all-in", "raises $10 to $50").replace("bet ($20)", "bet ($10)")
    assert won(read(part)) == won(hand)
    assert "12: the uncalled bet is 1000 chips" in refused(part.replace("bet ($10)", "bet ($20)"))
    assert "11: Cy bets more than the stack" in refused(CALLED.replace("raises $20 to $60", "raises $21 to $61"))


def test_a_raise_is_a_call_though_a_player_who_is_covered_has_yet_to_fold() -> None:
    hand = read(sample("pokerstars_called_before_a_fold"))
    assert won(hand) == {"Ann": -6000, "Bob": -100, "Cy": 5900}
    assert hand.state.betting.text() == "r100cr6000cf///"


AWAY = sample("pokerstars_away")
ALONE = sample("pokerstars_alone")


@pytest.mark.parametrize(
    ("text", "payoffs"),
    [
        (AWAY, {"Ann": 80, "Bob": -60, "Cy": -20}),
        (ALONE, {"Ann": 35, "Bob": -15, "Cy": -20}),
        (ALONE.replace("Bob: folds\nCy: folds\n", "Cy: folds\nBob: folds\n"), {"Ann": 35, "Bob": -15, "Cy": -20}),
    ],
)
def test_absent_player_folds_though_all_in(text: str, payoffs: dict[str, int]) -> None:
    hand = read(text)
    assert won(hand) == payoffs
    assert_same_hand(read(hand_text(hand)), hand)
    assert "support folds out of turn" in why_unwritable(ACPC, hand)


CASH_OUT = sample("pokerstars_cash_out")
BOB_TOO = sample("pokerstars_cash_out_of_two")


@pytest.mark.parametrize(
    "text",
    [
        CASH_OUT,
        CASH_OUT[: CASH_OUT.index("Seat 1: Ann (button)")],
        CASH_OUT.replace("Ann cashed out the hand for $57.42 | Cash Out Fee $0.58\n", ""),
        BOB_TOO,
        BOB_TOO.replace(
            "Queens and Deuces\nSeat 3", "Queens and Deuces (pot not awarded as player cashed out)\nSeat 3"
        ),
    ],
)
def test_player_who_cashed_out_gets_the_value_of_the_pot(text: str) -> None:
    """The result is read from the summary where it says so, and follows from the rules elsewhere."""
    hand = read(text)
    assert (won(hand), hand.rake) == ({"Ann": 3800, "Bob": 0, "Cy": -4000}, 200)
    assert_same_hand(read(hand_text(hand)), hand)


TIE = sample("pokerstars_tie")


@pytest.mark.parametrize("bob", ["collected $19 from pot", "cashed out the hand for $18.81 | Cash Out Fee $0.19"])
def test_players_who_tie_and_cash_out_share_the_rake(bob: str) -> None:
    assert won(read(TIE.replace("collected $19 from pot", bob))) == {"Ann": -100, "Bob": -100}


def test_chips_that_nobody_collected_are_refused_without_a_cash_out() -> None:
    text = CASH_OUT.replace("Ann cashed out the hand for $57.42 | Cash Out Fee $0.58\n", "")
    assert "4000 chips collected and a rake of 200" in refused(
        text.replace(" (pot not awarded as player cashed out)", "")
    )


TWICE = sample("pokerstars_twice")
INTERLEAVED, CASHED_OUT_TWICE = sample("pokerstars_twice_interleaved"), sample("pokerstars_twice_cash_out")


@pytest.mark.parametrize("text", [TWICE, INTERLEAVED, CASHED_OUT_TWICE])
def test_a_hand_that_was_run_twice(text: str) -> None:
    hand = read(text)
    assert won(hand) == {"Ann": -2000, "Bob": 900, "Cy": 900}
    assert [hand.rules.cards_text(board) for board in hand.boards] == ["2s8s3dAhTh"]
    again = read(hand_text(hand))
    assert_same_hand(again, hand)
    assert again.boards == hand.boards
    assert hand_text(hand).count("collected $29 from main pot") == 2
    assert "a second board" in why_unwritable(ACPC, read(text.replace("Rake $2", "Rake $0").replace("$29", "$30")))
    assert "do not support a second board" in why_unwritable(PHH, hand)


def test_a_hand_that_was_run_three_times_before_the_flop() -> None:
    """Each board has 4 of the 12 chips; Ann wins the first, Bob the others."""
    hand = read(sample("ggpoker_run_three_times"))
    assert won(hand) == {"Ann": -2, "Bob": 2}
    assert len(hand.boards) == 2
    assert_same_hand(read(hand_text(hand)), hand)


HIDDEN = sample("pokerstars_hidden")


@pytest.mark.parametrize("hidden", ["XX", "??", "**"])
def test_hidden_card_is_unknown(hidden: str) -> None:
    hand = read(HIDDEN.replace("XX", hidden))
    assert won(hand) == {"Ben": 25, "Zoë": -25}
    assert hand.state.hole_cards == ((), ())


def test_player_with_one_revealed_card_wins_against_mucked_hands() -> None:
    text = sample("run_it_once").replace("[Ad Qd]", "[XX Qd]")
    assert won(read(text)) == {"Bob": 31, "Cy": -45, "Ann": 0}
    hand = read(text.replace("€0.76", "€0.90").replace("Rake €0.14", "Rake €0"))
    assert why_unwritable(ACPC, hand) == "ACPC logs do not support a winner who shows no cards at showdown"


SPLIT = sample("pokerstars_split")


def test_the_odd_chip_of_another_winner_is_no_log_of_the_acpc() -> None:
    assert why_unwritable(ACPC, read(SPLIT)) == ""
    other = SPLIT.replace("Ann collected 2", "Ann collected 3").replace("Cy collected 3", "Cy collected 2")
    assert won(read(other)) == {"Ann": 1, "Bob": -1, "Cy": 0}
    assert "odd chips go to the first winners" in why_unwritable(ACPC, read(other))
    for kind in (PHH, OHH, POKERSTARS):
        assert why_unwritable(kind, read(other)) == ""


def test_pot_limit_holdem() -> None:
    hand = read(WALK.replace("No Limit", "Pot Limit"))
    assert (hand.rules.name, won(hand)) == ("pot-limit hold'em", {"Ben": 25, "Zoë": -25})
    assert "Hold'em Pot Limit ($0.25/$0.50 USD)" in hand_text(hand)
    assert read(hand_text(hand)).rules.pot_limit
    assert "do not support pot-limit" in why_unwritable(PHH, hand)
    assert "do not support pot-limit" in why_unwritable(ACPC, hand)


def test_a_fold_for_nothing_or_out_of_turn_is_no_log_of_the_acpc(tmp_path: Path) -> None:
    text = sample("pokerstars_two_checks")
    hand = read(
        text.replace("Bob: checks\n", "Bob: checks\nCy: checks\n").replace("Bob: folds", "Bob: folds\nCy: folds")
    )
    assert why_unwritable(ACPC, hand) == ""
    for line in ("Bob: folds\nCy: checks\n", "Cy: folds\nBob: checks\n"):
        changed = text.replace("Bob: checks\n", line)
        hand = read(changed.replace("Bob: folds\nUncalled", f"{'Cy' if line[0] == 'B' else 'Bob'}: folds\nUncalled"))
        with pytest.raises(PokernetsError, match="do not support folds out of turn"):
            list(hand_texts(ACPC, [hand]))
    assert write_hands(tmp_path / "x.txt", POKERSTARS, [hand]) == 1
    assert read((tmp_path / "x.txt").read_text()).payoffs == hand.payoffs


def test_a_section_without_a_name_is_overlooked() -> None:
    assert read(WALK.replace("*** SUMMARY", "*** *** ***\n*** SUMMARY")).payoffs == read(WALK).payoffs


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


ENCODINGS = ("utf-16", "utf-8", "utf-16-be", "cp1252", "utf-16-le", "utf-8-sig")


@pytest.mark.parametrize("newline", ["\n", "\r\n"])
@pytest.mark.parametrize("first", ENCODINGS)
@pytest.mark.parametrize("second", ENCODINGS)
def test_hands_of_all_encodings_in_a_file_are_read(first: str, second: str, newline: str) -> None:
    mark = "\ufeff" * (first != second and first.startswith("utf-16") and second.startswith("utf-16"))
    text = (mark + WALK + "\n").replace("\n", newline)
    file = b"".join(map(text.encode, (first, second, first)))
    assert [hand.names for hand in read_all(file)] == [("Ben", "Zoë")] * 3


def test_lines_of_a_hand_before_the_first_header_are_reported() -> None:
    tail = WALK[WALK.index("*** HOLE") :]
    assert refused(tail + WALK).startswith("1: not the header of a")
    errors: list[HistoryError] = []
    assert len(list(hands_of(tail + WALK, "x", refused=errors.append))) == len(errors) == 1


GG = sample("ggpoker_fees")


@cases
def test_lines_of_pokerstars_under_the_header_of_another_site(header: str, venue: str, number: int) -> None:
    text = WALK.replace("PokerStars Hand #7:", header)
    hand = read(text)
    assert (hand.details["venue"], hand.number, won(hand)) == (venue, number, {"Ben": 25, "Zoë": -25})
    assert len(read_all(text + "\n\n" + text)) == 2
    # within a line only well-known sites are looked for
    if venue not in ("BetOnline", "SupremaPoker", "Hive Poker"):
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
def test_similar_headers_are_distinguished(line: str, kind: str) -> None:
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
