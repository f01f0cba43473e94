"""Answers as the published dealer of the competition read them when both dealers were sent the same lines."""

import pytest

from poker.formats.acpc.answer import answered_action, read_action
from poker.formats.acpc.log import parse_match_state
from poker.game.state import Betting, IllegalAction
from tests.games import HEADS_UP, load_rules

LIMIT = load_rules("holdem_limit_2p")
ASKED = "MATCHSTATE:1:31:r300r900c/c:|JdTc/6dJc9c"
ASKED_LIMIT = "MATCHSTATE:0:7:crc/:JdTc|/6dJc9c"


@pytest.mark.parametrize(
    "line",
    [
        f"{ASKED}:f",
        "MATCHSTATE:1:31:r300r900cc:|JdTc/6dJc9c:f",
        "MATCHSTATE:1:31:/r300//r900c/c/:|JdTc6dJc9c:f",
        "MATCHSTATE:1:31:b300B900k/K:|JdTc/6dJc9c:f",
        "MATCHSTATE:1:31:R300R900C/C:|jDtC/6Djc9C:f",
        "MATCHSTATE:01: +31:r 300r+0900c/c:|JdTc/6dJc9c:f",
        "MATCHSTATE:1:31:r300r900c/c:2c2d|JdTc/6dJc9c:f",
    ],
)
def test_ways_to_repeat_a_state(line: str) -> None:
    sent = parse_match_state(HEADS_UP, ASKED)
    assert answered_action(sent.state, sent.number, line) == "f"


@pytest.mark.parametrize(
    "line",
    [
        "",
        "hello",
        ASKED.replace("MATCH", "match") + ":f",
        ASKED.replace(":1:", ":0:") + ":f",
        ASKED.replace("31", "32") + ":f",
        ASKED.replace("31", "3") + ":f",
        ASKED.replace("31", "-31") + ":f",
        ASKED.replace("r900", "r9000") + ":f",
        ASKED.replace("r900", "r90") + ":f",
        ASKED.replace("r900c", "r900f") + ":f",
        ASKED.replace("c/c", "c/cc") + ":f",
        ASKED.replace("Jd", "Js") + ":f",
        ASKED.replace("9c", "9d") + ":f",
        ASKED.replace("/6dJc9c", "/6dJc") + ":f",
        ASKED.replace("|", "2c|") + ":f",
        f" {ASKED}:f",
    ],
)
def test_answers_to_other_states(line: str) -> None:
    sent = parse_match_state(HEADS_UP, ASKED)
    assert answered_action(sent.state, sent.number, line) is None


@pytest.mark.parametrize("tail", ["", ":", "2c:f", "/:f", "f", "|:f"])
def test_a_state_without_an_action_after_it(tail: str) -> None:
    sent = parse_match_state(HEADS_UP, ASKED)
    assert answered_action(sent.state, sent.number, ASKED + tail) == ""


def test_cards_are_read_from_the_left() -> None:
    """Without its `/` the board is read as the cards of the other player, and is then missing."""
    sent = parse_match_state(LIMIT, ASKED_LIMIT)
    assert answered_action(sent.state, 7, f"{ASKED_LIMIT}:r20") == "r20"
    assert answered_action(sent.state, 7, ASKED_LIMIT.replace("|/", "|") + ":r") is None
    assert answered_action(sent.state, 7, ASKED_LIMIT.replace("|/", "|2c/") + ":r") is None
    assert answered_action(sent.state, 7, ASKED_LIMIT.replace("crc", "crc20") + ":r") is None


@pytest.mark.parametrize(
    ("text", "meant"),
    [
        ("F", "f"), ("fold", "f"), ("f100", "f"), ("C", "c"), ("k", "c"), ("K", "c"), ("c500", "c"), ("cc", "c"),
        ("R900", "r900"), ("b900", "r900"), ("B 900", "r900"), ("r\x0b+900", "r900"), ("r00900", "r900"),
        ("r900.5", "r900"), ("r9e3", "r500"), ("r0x900", "r500"), ("r-900", "r500"), ("r999999", "r20000"),
        ("r" + "9" * 5000, "r20000"), ("r-" + "9" * 5000, "r500"), ("r" + "0" * 5000 + "900", "r900"),
    ],
)  # fmt: skip
def test_actions(text: str, meant: str) -> None:
    betting = Betting.parse(HEADS_UP, "r300")
    assert betting.action_text(read_action(betting, text)) == meant


@pytest.mark.parametrize("text", ["", " c", ":c", "/c", "x", "r", "raise", "r--900", "r+-900", "é"])
def test_no_actions(text: str) -> None:
    with pytest.raises(IllegalAction):
        read_action(Betting.parse(HEADS_UP, "r300"), text)


def test_what_the_rules_forbid() -> None:
    for betting, text in (("c", "f"), ("r20000", "r20000"), ("r20000", "r300")):
        with pytest.raises(IllegalAction):
            read_action(Betting.parse(HEADS_UP, betting), text)
    with pytest.raises(IllegalAction):
        read_action(Betting.parse(LIMIT, "rrr"), "r")
    assert read_action(Betting.parse(LIMIT, "rr"), "raise") == 40


def test_a_round_has_room_for_64_actions() -> None:
    """The programs of the competition read no more, so the last ones of a round are calls and folds."""
    betting = Betting.start(HEADS_UP)
    for _ in range(62):
        betting = betting.apply(read_action(betting, "r0"))
    assert betting.apply(read_action(betting, "r0")).committed == (6300, 6400)
    full = betting.apply(read_action(betting, "r0"))
    with pytest.raises(IllegalAction, match="no raise after 63 actions"):
        read_action(full, "r7000")
    assert read_action(full, "c") == 0
