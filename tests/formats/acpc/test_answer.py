"""Answers as the published dealer of the competition read them when both dealers were sent the same lines."""

import pytest

from poker.formats.acpc.answer import answered_action, read_action
from poker.formats.acpc.log import parse_match_state
from poker.game.state import Betting, IllegalAction
from tests.cases import cases
from tests.games import HEADS_UP, load_rules

LIMIT = load_rules("holdem_limit_2p")
ASKED = "MATCHSTATE:1:31:r300r900c/c:|JdTc/6dJc9c"
ASKED_LIMIT = "MATCHSTATE:0:7:crc/:JdTc|/6dJc9c"


@cases
def test_answers_count_where_they_repeat_the_state(line: str, action: str | None) -> None:
    sent = parse_match_state(HEADS_UP, ASKED)
    assert answered_action(sent.state, sent.number, line) == action


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
