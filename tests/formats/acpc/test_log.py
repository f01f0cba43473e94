"""Match states, logs and answers as the published dealer of the competition writes and reads them."""

import random
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from poker.formats.acpc.answer import answered_action, read_action
from poker.formats.acpc.log import (
    AcpcError,
    LoggedHand,
    MatchState,
    cards_text,
    log_line,
    match_state_text,
    parse_log_line,
    parse_match_state,
    read_log,
)
from poker.game.rules import CALL, FOLD
from poker.game.state import Betting, HandState, IllegalAction
from tests.cases import cases
from tests.formats.samples import broken
from tests.games import HEADS_UP, load_rules
from tests.random_play import GAMES, random_hand

LINE = "STATE:3:cr300c/cr600f:As2h|KdKh/8dTc9s:-300|300:alice|bob"


def random_hands(name: str, hands: int) -> list[list[HandState]]:
    rules = load_rules(name)
    rng, cards = random.Random(4), np.random.default_rng(4)
    return [random_hand(rules, cards, rng) for _ in range(hands)]


RANDOM_HANDS = random_hands("holdem_nolimit_2p", 10)


@pytest.mark.parametrize("name", GAMES)
def test_match_states_and_log_lines_round_trip(name: str) -> None:
    rules = load_rules(name)
    names = tuple(f"p{i}" for i in range(rules.num_players))
    for number, states in enumerate(random_hands(name, 30)):
        for state in states:
            for player in range(rules.num_players):
                text = match_state_text(state, number, player)
                parsed = parse_match_state(rules, text)
                assert (parsed.player, parsed.number) == (player, number)
                assert parsed.state == state.view(player)
                assert match_state_text(parsed.state, number, player) == text
        line = log_line(states[-1], number, names)
        hand = parse_log_line(rules, line)
        assert hand.payoffs == tuple(states[-1].payoffs())
        assert log_line(hand.state, number, hand.names) == line


@pytest.mark.parametrize("log", [False, True])
@settings(max_examples=400, deadline=None)
@given(seed=st.integers(0, 2**32))
def test_broken_lines_are_read_or_refused(log: bool, seed: int) -> None:
    """A log that is read prints back unchanged, and any other raises a short refusal only."""
    rng = random.Random(seed)
    [*states, end] = rng.choice(RANDOM_HANDS)
    good = log_line(end, 7, ("p0", "p1")) if log else match_state_text(rng.choice(states), 7, rng.randrange(2))
    text = broken(good.encode(), rng).decode(errors="replace")
    printed, refusal = "", ""
    try:
        read = parse_log_line(HEADS_UP, text) if log else parse_match_state(HEADS_UP, text)
        start = f"MATCHSTATE:{read.player}" if isinstance(read, MatchState) else "STATE"
        printed = f"{start}:{read.number}:{read.state.betting.text()}:{cards_text(read.state)}"
    except AcpcError as error:
        refusal = str(error)
    assert text.lower().startswith(printed.lower())
    assert bool(printed) != (10 < len(refusal) < 1000)


def test_examples_of_the_protocol() -> None:
    """Lines in the form of the ACPC protocol document, for this game's stacks."""
    sent = parse_match_state(HEADS_UP, "MATCHSTATE:0:0:cr300c/:TdAs|/2cTh3d")
    assert (sent.player, sent.number, sent.state.street, sent.state.to_act) == (0, 0, 1, 0)
    assert sent.state.hole_cards == (HEADS_UP.parse_cards("TdAs"), ())
    button = parse_match_state(HEADS_UP, "MATCHSTATE:1:31:r300r900c/r1800:|JdTc/6dJc9c")
    assert button.state.to_act == 1
    assert button.state.betting.committed == (1800, 900)


def test_a_log_line() -> None:
    hand = parse_log_line(HEADS_UP, LINE)
    assert isinstance(hand, LoggedHand)
    assert (hand.number, hand.payoffs, hand.names) == (3, (-300.0, 300.0), ("alice", "bob"))
    assert hand.state.betting.committed == (300, 600)


def test_read_log_skips_comments_and_names_the_broken_line(tmp_path: Path) -> None:
    path = tmp_path / "match.log"
    path.write_text(f"# a match\n\n{LINE} # 1479132064.35509\nSCORE:-300|300:alice|bob\n")
    assert [hand.number for hand in read_log(HEADS_UP, path)] == [3]
    path.write_text(f"{LINE}\n{LINE[:30]}")
    with pytest.raises(AcpcError, match=r"match.log, line 2: `STATE:3"):
        list(read_log(HEADS_UP, path))


def test_log_lines_of_the_competition_are_read() -> None:
    """The C dealer writes its odd chips with six decimal places (dealer.c: %.6f); other payoffs are refused."""
    game = load_rules("holdem_limit_3p")
    text = "STATE:5:cfc/cc/cc/cc:2c3d|AhKd|AsKh/QcJd9h/4s/5c:{}:a|b|c"
    assert parse_log_line(game, text.format("-5|2.5|2.5")).payoffs == (-5.0, 2.5, 2.5)
    assert parse_log_line(game, text.format("-5|3|2")).payoffs == (-5.0, 3.0, 2.0)
    for wrong in ("-5|2|3", "-5|2.4|2.6", "-5|2.5|2.4", "5|-2.5|-2.5", "-5|3|3", "-5|2.50001|2.49999"):
        with pytest.raises(AcpcError, match=r"the payoffs of this hand are -5\|3\|2 or -5\|2.5\|2.5"):
            parse_log_line(game, text.format(wrong))


def test_thirds_of_a_chip_are_read_as_they_are_written() -> None:
    """20 chips of who folded the blinds among three equal hands: 6.666667 each, which do not sum to 0."""
    game = load_rules("holdem_nolimit_6p")
    state = HandState.start(
        replace(game, num_players=4, blinds=(50, 100, 0, 0), stacks=(20000,) * 4),
        [game.parse_cards(hand) for hand in ("2c3d", "AhKd", "AsKh", "AcKs")],
        game.parse_cards("QcJd9h4s5c"),
    )
    for action in (CALL, CALL, FOLD, *[CALL] * 10):
        state = state.apply(action)
    line = log_line(state, 0, ("a", "b", "c", "d"), state.divided_payoffs())
    assert "-50|16.666667|16.666667|16.666667" in line
    assert parse_log_line(state.rules, line).payoffs[1] == 16.666667


def test_payoffs_that_hang_on_cards_unseen_sum_to_0() -> None:
    text = "STATE:1:cc/cc/cc/cc:|AhKd/QcJd9h/4s/5c:{}:a|b"
    assert parse_log_line(HEADS_UP, text.format("-100|100")).payoffs == (-100.0, 100.0)
    with pytest.raises(AcpcError, match="the payoffs sum to 1, not 0"):
        parse_log_line(HEADS_UP, text.format("-100|101"))
    with pytest.raises(AcpcError, match=r"the payoffs of this hand are 50\|-50"):
        parse_log_line(HEADS_UP, "STATE:1:f:2c3d|:51|-51:a|b")


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


def test_illegal_actions_in_a_log_are_refused() -> None:
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
