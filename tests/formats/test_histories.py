"""Hands of PokerKit read, replayed and converted into each format and back; broken files refused by line."""

import random
import re
import time
from collections import Counter
from dataclasses import replace
from pathlib import Path

import pytest

from poker.formats import histories, phh, phh_read
from poker.formats.histories import ACPC, FORMATS, OHH, PHH, POKERSTARS, SUFFIXES, format_of, read_hands, write_hands
from poker.formats.played import HistoryError, PlayedHand, settled
from poker.formats.sites.times import day_and_time, utc_time
from poker.run.errors import PokernetsError
from tests.cases import cases
from tests.formats.pokerkit_hands import Antes, assert_same_hand, dumped, pokerkit_payoffs, simulated
from tests.formats.samples import sample
from tests.games import load_rules
from tests.random_play import pokerkit_pays


def read_back(path: Path, kind: str, hands: list[PlayedHand]) -> list[PlayedHand]:
    file = path / f"hands{SUFFIXES[kind]}"
    assert write_hands(file, kind, hands) == len(hands)
    return list(read_hands(file))


def test_hands_of_pokerkit_convert_round_trip(tmp_path: Path) -> None:
    """PokerKit's hands of six players: equal payoffs, and the same hands after every conversion."""
    payoffs = dumped(tmp_path / "pokerkit.phhs", hands := 60, seed=1)
    read = list(read_hands(tmp_path / "pokerkit.phhs"))
    ends = [settled(hand.state, hand.mucked) for hand in read]
    assert all(pokerkit_pays(*pair) for pair in zip(payoffs, ends, strict=True))
    assert sum(len(hand.state.pots()) > 1 for hand in read) > hands / 20
    for kind in FORMATS:
        back = read_back(tmp_path, kind, read)
        for hand, wanted in zip(back, read, strict=True):
            assert_same_hand(hand, wanted, mucks=kind != ACPC)
        for other in FORMATS:
            for hand, wanted in zip(read_back(tmp_path, other, back), read, strict=True):
                assert_same_hand(hand, wanted, mucks=ACPC not in (kind, other))
    paid = pokerkit_payoffs("".join(phh.phhs_texts(read)))
    assert all(pokerkit_pays(*pair) for pair in zip(paid, ends, strict=True))


POSTS = [
    *((5, 10, -10, 0), (5, 10, 0, -10), (5, 10, -10, -10), (10, 0, -10, 0)),  # of who is new at the table
    *((5, 10, 20, 0), (5, 10, 20, 40), (5, 10, 20, -10)),  # straddles
    *((10, 10, 0, 0), (0, 10, 0, 0), (10, 0, 0, 0)),
]
ANTES: list[Antes] = [0, 1, 3, {1: 7}]


@pytest.mark.parametrize("posts", [False, True])
def test_hands_survive_every_format_that_can_represent_them(posts: bool, tmp_path: Path) -> None:
    """Antes of everybody or of the big blind alone, in the main pot or trimmed, at tables for 2 to 10, with limits; or
    posts, straddles and missing blinds."""
    rng, counts = random.Random(3), Counter[str]()
    random.seed(3)
    for number in range(150):
        if posts:
            history, state = simulated(rng, 4, rng.choice([0, 2]), True, blinds=POSTS[number % len(POSTS)])
        else:
            antes = rng.choice(ANTES)
            trimmed = rng.random() < 0.5 and not isinstance(antes, dict)
            history, state = simulated(rng, rng.randint(2, 10), antes, trimmed, limit=rng.random() < 0.3)
        hand = replace(phh_read.parse_hand(history.dumps(), number), has_number=True)
        assert pokerkit_pays(state.payoffs, settled(hand.state, hand.mucked))
        for kind in (PHH, POKERSTARS, OHH):
            assert_same_hand(read_back(tmp_path, kind, [hand])[0], hand)
        why = histories.why_unwritable(ACPC, hand)
        counts["antes"] += hand.rules.forced is not None
        counts["in logs"] += not why
        if not why:
            [back] = read_back(tmp_path, ACPC, [hand])
            assert back.state.betting.actions == hand.state.betting.actions
            assert (back.payoffs, back.rules.blinds) == (hand.payoffs, hand.rules.blinds)
        if not posts:
            if not why:
                assert_same_hand(back, hand, mucks=False)
            [paid] = pokerkit_payoffs(f"[1]\n{phh.hand_text(hand)}")
            assert pokerkit_pays(paid, settled(hand.state, hand.mucked))
            assert ("antes or dead blinds" in why) == (hand.rules.forced is not None)
    assert counts["antes"] > 50
    assert counts["in logs"] > 10
    history, _ = simulated(rng, 4, blinds=(5, 10, 0, -5))
    why = histories.why_unwritable(POKERSTARS, phh_read.parse_hand(history.dumps(), 0))
    assert "does not support a small blind posted after the big blind" in why


def test_formats_are_recognised_by_content(tmp_path: Path) -> None:
    dumped(tmp_path / "hands.phhs", 5, seed=4)
    read = list(read_hands(tmp_path / "hands.phhs"))
    for kind in FORMATS:
        text = "\ufeff\r\n" * (kind == POKERSTARS) + "".join(histories.hand_texts(kind, read)).replace("\n", "\r\n")
        assert format_of(text.replace("\r", ""), "x") == kind
        file = tmp_path / "file.dat"
        file.write_bytes(text.encode())
        for hand, wanted in zip(read_hands(file), read, strict=True):
            assert_same_hand(hand, wanted, mucks=kind != ACPC)
    file.write_bytes("".join(histories.hand_texts(POKERSTARS, read)).encode("utf-16"))
    assert [hand.payoffs for hand in read_hands(file)] == [hand.payoffs for hand in read]


@pytest.mark.parametrize("line", ["[1] # first", '"variant" = "NT"', "'variant'='NT'", "[1]", "variant = 'NT'"])
def test_every_first_line_of_phh_is_recognised(line: str) -> None:
    assert format_of(f"{line}\nantes = []", "x") == PHH


@pytest.mark.parametrize(
    ("data", "text"),
    [
        ("€1 Zoë\r\n".encode("cp1252"), "€1 Zoë\n"),
        ("€1 Zoë".encode("utf-8-sig"), "€1 Zoë"),
        ("€1".encode("utf-16"), "€1"),
        (b"\x81\xe9", "\x81é"),
    ],
)
def test_texts_of_any_encoding(data: bytes, text: str) -> None:
    assert histories.text_of(data) == text


@cases
def test_files_without_hands_are_refused(text: str, why: str, tmp_path: Path) -> None:
    file = tmp_path / "x.txt"
    file.write_text(text)
    with pytest.raises(HistoryError, match=f"{re.escape(str(file))}, {why}"):
        list(read_hands(file))
    with pytest.raises(PokernetsError, match="cannot be read"):
        list(read_hands(tmp_path / "none.txt"))


def test_unreadable_hands_may_be_skipped(tmp_path: Path) -> None:
    dumped(tmp_path / "hands.phhs", 10, seed=5)
    text = (tmp_path / "hands.phhs").read_text()
    lines = text.split("\n")
    place = [number for number, line in enumerate(lines) if line.startswith("actions")][3]
    lines[place] = lines[place].replace("p1 ", "p9 ")
    (tmp_path / "hands.phhs").write_text("\n".join(lines))
    refused: list[HistoryError] = []
    assert len(list(read_hands(tmp_path / "hands.phhs", refused=refused.append))) == 9
    assert [(error.line, "not one of the players p1 to p6" in str(error)) for error in refused] == [(place + 1, True)]


def test_fields_without_a_meaning_for_the_rules_survive(tmp_path: Path) -> None:
    text = sample("phh_other_fields")
    hand = phh_read.parse_hand(text, 5)
    assert (hand.scale, list(hand.payoffs)) == (1000, [-500, 500])
    again = phh_read.parse_hand(phh.hand_text(hand), 5)
    assert_same_hand(again, hand)
    assert again.details == hand.details
    assert hand.details["hand"] == 'the "first"'
    assert "than a cent" in histories.why_unwritable(POKERSTARS, hand)


def test_ante_of_the_big_blind_is_won_as_in_the_final_stacks() -> None:
    """Trimmed by the letter, the ante that only one player posts would go back; final stacks tell that it did not."""
    text = sample("phh_ante_of_the_big_blind")
    assert list(phh_read.parse_hand(text, 0).payoffs) == [-5, -10, 15]
    stated = phh_read.parse_hand(text + "finishing_stacks = [495, 480, 525]", 0)
    assert list(stated.payoffs) == [-5, -20, 25]
    assert_same_hand(phh_read.parse_hand(phh.hand_text(stated), 0), stated)
    stated = phh_read.parse_hand(text + "winnings = [0, 0, 35]", 0)
    assert list(stated.payoffs) == [-5, -20, 25]


def test_a_game_that_differs_is_named(tmp_path: Path) -> None:
    dumped(tmp_path / "hands.phhs", 1, seed=8)
    log = tmp_path / "log.log"
    write_hands(log, ACPC, read_hands(tmp_path / "hands.phhs"))
    log.write_text("".join(line for line in log.read_text().splitlines(True) if not line.startswith("#")))
    with pytest.raises(HistoryError, match=r"a log of another game than `holdem_nolimit_2p` needs game=NAME"):
        list(read_hands(log, load_rules("holdem_nolimit_2p")))


@cases
def test_a_hand_of_another_site_is_refused_beside_others(header: str) -> None:
    hand, other = sample("pokerstars_called"), f"{header}\nSeat 1: P1 ($100)\nP1 posts small blind ($0.50)\nP1 folds\n"
    texts = {f"{hand}\n{other}\n{hand}": hand.count("\n") + 2}
    if header[0] not in "{vS" or header.startswith("Stage"):
        texts[f"{other}\n{hand}\n{hand}"] = 1
    for text, line in texts.items():
        refused = list[HistoryError]()
        assert len(list(histories.hands_of(text, "x", refused=refused.append))) == 2
        assert [error.line for error in refused] == [line]
        assert f"`{header[:60]}` begins a hand that is not read in this file" in refused[0].reason


@cases
def test_times_of_all_notations_are_converted_to_utc(text: str, begun: str) -> None:
    assert str(utc_time(day_and_time(text))) == begun


@cases
def test_a_log_of_a_game_of_no_table_is_refused(changes: dict[str, tuple[int, ...]], why: str) -> None:
    game = load_rules("holdem_limit_2p")
    text = "STATE:0:f:AhAd|KhKd:5|-5:Ann|Ben"
    assert len(list(histories.hands_of(text, "log", game))) == 1
    with pytest.raises(HistoryError, match=why):
        list(histories.hands_of(text, "log", replace(game, **changes)))  # type: ignore[arg-type]


def test_a_long_line_of_blanks_is_no_table_at_once() -> None:
    start = time.process_time()
    assert len(list(phh_read.tables("[1]\na = 1\n[" + " " * 3000 + "x\n"))) == 1
    assert time.process_time() - start < 1
