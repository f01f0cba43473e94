"""Texts that a fuzzer mutates, for every reader of hands: what is read obeys the rules and can be written again, what
is not is refused in one line, and nothing else happens."""

import io
import json
import random
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from poker.formats.histories import (
    ACPC,
    BOVADA,
    FORMATS,
    OHH,
    PARTY,
    PHH,
    POKERSTARS,
    UNFORESEEN,
    WINAMAX,
    hand_texts,
    hands_of,
    read_hands,
    why_unwritable,
)
from poker.formats.played import HistoryError, PlayedHand
from poker.formats.ranges import parse_range
from poker.formats.sites.winamax import WinamaxLines
from poker.game.rules import Rules
from poker.report.report import Table
from poker.run.errors import PokernetsError
from poker.run.progress import Console, progress_bars
from poker.spots.spots import read_spot
from tests.cases import cases
from tests.formats import test_ohh, test_phh_read
from tests.formats.samples import broken, sample
from tests.games import load_rules

TEXTS = {
    kind: list(map(sample, names))
    for kind, names in (
        (
            POKERSTARS,
            (
                *("pokerstars_cash", "pokerstars_tournament", "pokerstars_limit", "pokerstars_twice"),
                *("pokerstars_away", "pokerstars_walk", "ggpoker_straddled"),
            ),
        ),
        (BOVADA, ("bovada_cash", "bovada_walk", "bovada_tournament")),
        (WINAMAX, ("winamax_cash", "winamax_bet", "winamax_tournament")),
        (PARTY, ("partypoker", "888poker")),
    )
}
TEXTS[PHH] = [
    f"[1]\n{test_phh_read.SHOWDOWN}winnings = [66, 0, 0]\nfinishing_stacks = [536, 490, 470]\n_rake = 4\n"
    "seats = [2, 3, 5]\nyear = 2018\nmonth = 3\nday = 4\ntime = 04:00:42\nseat_count = 6\n_button = 5\nhand = 7\n",
    f"[1]\n{test_phh_read.SHORT}ante_trimming_status = true\ncurrency_symbol = '$'\n",
    f"[1]\n{test_phh_read.SKIPPED_PLAYER}finishing_stacks = [21900, 16600, 29500, 9000]\n",
]
TEXTS[OHH] = [test_ohh.text_of(test_ohh.HAND), test_ohh.text_of(test_ohh.HAND, 1)]
TEXTS[ACPC] = ["".join(hand_texts(ACPC, hands_of(text, "x"))) for text in (TEXTS[PHH][1], TEXTS[PHH][2])]
NUMBERS = (
    *("", "0", "-1", "00", "007", "1.2.3", "1e9", "1_000", "99999999999", "2147483648", "9" * 400, "0.005", "1,000.5"),
    *("\u0663", "\uff12\uff10", "\u00b2", "nan", "inf", "NaN"),
)
VALUES: tuple[object, ...] = (*NUMBERS, None, True, [], {}, [1], {"id": 1}, "\ud800", "x" * 300, 1.5, -3, 10**30, 0)


def mutated(text: str, rng: random.Random) -> str:
    """The text with a number, a line or some characters changed."""
    lines = text.split("\n")
    place = rng.randrange(len(lines))
    match rng.randrange(6):
        case 0 | 1:
            number = rng.choice(list(re.finditer(r"[0-9]+(\.[0-9]+)?|$", text)))
            return text[: number.start()] + rng.choice(NUMBERS) + text[number.end() :]
        case 2:
            del lines[place]
        case 3:
            lines.insert(rng.randrange(len(lines)), lines[place])
        case 4:
            other = rng.randrange(len(lines))
            lines[place], lines[other] = lines[other], lines[place]
        case _:
            at = rng.randrange(len(text) + 1)
            garbage = "".join(
                rng.choices("0123456789 $.,:()[]*#{}\"'=-\u0663\uff11AKhd\u20ac\x00", k=rng.randint(0, 3))
            )
            return text[:at] + garbage + text[at + rng.randint(0, 3) :]
    return "\n".join(lines)


def mutated_json(text: str, rng: random.Random) -> str:
    """JSON with another value at a random place."""
    root = json.loads(text)
    places: list[tuple[Any, Any]] = []

    def collect(node: Any) -> None:
        for key in list(node) if isinstance(node, dict) else range(len(node)) if isinstance(node, list) else ():
            places.append((node, key))
            collect(node[key])

    collect(root)
    if not places:
        return text
    node, key = rng.choice(places)
    if rng.random() < 0.2:
        del node[key]
    else:
        node[key] = rng.choice(VALUES)
    return json.dumps(root)


def obeys_the_rules(hand: PlayedHand) -> None:
    """Assert that no chips are made or lost, and that nobody loses more than a stack or wins more than covered."""
    stacks = hand.rules.starting_stacks
    assert sum(hand.payoffs) == -hand.rake
    assert all(-stack <= net for stack, net in zip(stacks, hand.payoffs, strict=True))
    covered = [sum(min(stack, other) for other in stacks) - stack for stack in stacks]
    assert all(net <= most for net, most in zip(hand.payoffs, covered, strict=True))
    " ".join(map(str, (*hand.names, hand.details))).encode()


SPOT = sample("spot")


def solved_spot(text: str, folder: Path) -> object:
    file = folder / "a.spot"
    file.write_text(text, errors="replace")
    return read_spot(file).game(1 << 26, most_entries=100_000)


OTHERS: dict[str, tuple[str, Callable[[str, Path], object]]] = {
    "spot": (SPOT, solved_spot),
    "results": (json.dumps({"config": dict(line.split(": ", 1) for line in SPOT.splitlines())}), solved_spot),
    "definition": (load_rules("leduc").to_acpc(), lambda text, _: Rules.from_acpc(text)),
    "range": ("66+,A8s+,KQo,AhKd:0.5,JTs-J8s,22-55:0.25", lambda text, _: parse_range(text)),
}


@pytest.mark.parametrize("reader", OTHERS)
def test_other_readers_refuse_the_same_hands(reader: str, tmp_path: Path) -> None:
    rng, counts = random.Random(reader), [0, 0]
    original, read = OTHERS[reader]
    for _ in range(250):
        text = (mutated_json if reader == "results" else mutated)(original, rng)
        try:
            read(text, tmp_path)
            counts[0] += 1
        except PokernetsError:
            counts[1] += 1
    assert min(counts) > 20


@pytest.mark.parametrize("kind", TEXTS)
def test_a_mutated_text_is_read_by_the_rules_or_refused(kind: str) -> None:
    rng, refused = random.Random(kind), list[HistoryError]()
    read = 0
    for number in range(400):
        text = rng.choice(TEXTS[kind])
        change = mutated_json if kind == OHH and number % 4 else mutated
        for _ in range(rng.randint(1, 2)):
            text = change(text, rng)
        try:
            for hand in hands_of(text, "x", refused=refused.append):
                obeys_the_rules(hand)
                assert "does not foresee" not in why_unwritable(rng.choice(FORMATS), hand)
                read += 1
        except HistoryError as error:  # no file of hands any more
            refused.append(error)
    assert [str(error) for error in refused if UNFORESEEN in str(error)] == []
    assert read > 20
    assert len(refused) > 100
    assert all("\n" not in str(error) and str(error).encode() for error in refused)


@pytest.mark.parametrize("kind", TEXTS)
def test_broken_files_are_refused_by_line(kind: str, tmp_path: Path) -> None:
    """Random damage either leaves hands that the rules allow, or is an error with file, line and reason."""
    file, rng, errors = tmp_path / "broken", random.Random(7), list[HistoryError]()
    for _ in range(200):
        data = broken("\n\n".join(TEXTS[kind]).encode(), rng)
        file.write_bytes(data)
        try:
            for hand in read_hands(file):
                obeys_the_rules(hand)
        except HistoryError as error:
            errors.append(error)
            lines = data.count(b"\n") + data.count(b"\r") + 1
            if not 1 <= error.line <= lines or not str(error).startswith(f"{file}, line {error.line}: "):
                pytest.fail(str(error))
    assert len(errors) > 50


OHH_TEXT = TEXTS[OHH][0]
WINAMAX_CASH = sample("winamax_cash")


@pytest.mark.parametrize(
    ("good", "bad", "why"),
    [
        (WINAMAX_CASH, WINAMAX_CASH.replace("/0.05", "/1.2.3", 1), "`1.2.3` is not an amount"),
        (
            OHH_TEXT,
            OHH_TEXT.replace('"player_id": 1', '"player_id": ["Kd"]', 1),
            "field `player_id`: .* is not a player",
        ),
        (OHH_TEXT, OHH_TEXT.replace('"bet_type": "NL"', '"bet_type": ["NL"]'), "field `bet_limit`"),
        (OHH_TEXT, OHH_TEXT.replace('"Ann"', '"A\\ud800"'), "lone surrogate"),
        (OHH_TEXT, OHH_TEXT.replace('"table_name": "Elm"', '"table_name": "\\ud800"'), "lone surrogate"),
        (
            TEXTS[ACPC][0],
            "# GAMEDEF\n# nolimit\n# numRounds = 2147483648\n# END GAMEDEF\nSTATE:0:f:|:1|-1:a|b\n",
            "numPlayers",
        ),
    ],
    ids=["stakes", "list as a player", "list as a limit", "name", "table", "definition"],
)
def test_a_bad_hand_does_not_end_its_file(good: str, bad: str, why: str) -> None:
    assert bad != good
    refused = list[HistoryError]()
    read = [hand.number for hand in hands_of("\n\n".join([good, bad, good]), "x", refused=refused.append)]
    assert len(read) == 2
    [error] = refused
    assert re.search(why, error.reason)


def test_unforeseen_failure_of_a_reader_is_a_refused_hand(monkeypatch: pytest.MonkeyPatch) -> None:
    def fails(*_: object) -> PlayedHand:
        raise KeyError("x")

    monkeypatch.setattr(WinamaxLines, "parse", fails)
    refused = list[HistoryError]()
    assert list(hands_of(WINAMAX_CASH, "x", refused=refused.append)) == []
    assert refused[0].reason == f"{UNFORESEEN} (KeyError: 'x')"


@pytest.mark.parametrize("kind", [POKERSTARS, BOVADA, WINAMAX, PARTY, PHH, ACPC])
def test_digits_of_other_scripts_and_leading_zeros_are_no_amounts(kind: str) -> None:
    """Each amount of each text: `raises $２ to $５` was read as ASCII would be."""
    changed = 0
    for text in TEXTS[kind]:
        [hand, *_] = hands_of(text, "x")
        for place in re.finditer(r"(?<=[$\u20ac (r])[1-9][0-9]*(?=[., \u20ac')\n])", text):
            for amount in (chr(ord(place[0][0]) + 0xFEE0) + place[0][1:], f"0{place[0]}"):
                try:
                    [other, *_] = hands_of(text[: place.start()] + amount + text[place.end() :], "x")
                except HistoryError:
                    changed += 1
                    continue
                assert (other.payoffs, other.state.betting) == (hand.payoffs, hand.state.betting), place
    assert changed > 5


@cases
def test_control_characters_of_strangers_are_not_printed(text: str, shown: str) -> None:
    """In errors, and in all that goes through a console: messages, tables, bars and markup."""
    assert str(HistoryError("x\x1b", 1, text)) == f"x?, line 1: {shown}"
    assert str(PokernetsError(text)) == shown
    out = io.StringIO()
    console = Console(file=out, width=200, force_terminal=True, color_system=None)
    console.print(text, soft_wrap=True, highlight=False, markup=False)
    Table(("name",), [(text,)], text).print(console)
    with progress_bars(text, Console(file=out, width=200)) as bars:
        bars.add_task(text, total=1, found=text)
    printed = out.getvalue()
    assert printed.count(shown[:3]) >= 3
    assert all(each.isprintable() or each in "\n\t\xa0\ue000" for each in printed)


@pytest.mark.parametrize(
    "text",
    [
        sample("bovada_big_blind_alone"),
        sample("bovada_cash").replace("Set dealer [2]", "Set dealer [600]"),
        TEXTS[PHH][0].replace("seat_count = 6", "seat_count = 0.005"),
        TEXTS[PHH][0].replace("month = 3", "month = 0"),
        TEXTS[PHH][0] + "_time_zone = 'x\\nPokerStars Hand #1: '\n",
    ],
    ids=["no pot", "dealer", "table size", "month", "zone"],
)
def test_facts_beside_the_play_do_not_prevent_writing(text: str) -> None:
    [hand] = hands_of(text, "x")
    assert [why_unwritable(kind, hand) for kind in (PHH, POKERSTARS, OHH)] == ["", "", ""]


@pytest.mark.parametrize(
    ("table", "kinds"), [("Elm", [PHH, POKERSTARS, OHH]), ("x' 9-max Seat #3 is the button", [PHH, OHH])]
)
def test_a_hand_is_written_where_it_is_read_back_as_it_is(table: str, kinds: list[str]) -> None:
    """A table's name that holds the end of its line moved the button."""
    [hand] = hands_of(TEXTS[PHH][0].replace("_button = 5\n", f'_button = 5\ntable = "{table}"\n'), "x")
    assert [kind for kind in (PHH, POKERSTARS, OHH) if not why_unwritable(kind, hand)] == kinds


def test_a_player_without_chips_is_not_dealt_in() -> None:
    text = sample("partypoker").replace("€1,033.43", "€0")
    with pytest.raises(HistoryError, match="a player without chips is dealt in"):
        list(hands_of(text, "x"))
