import random
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from pokerkit import HandHistory

from poker.formats import histories
from poker.formats.acpc.log import LoggedHand
from poker.formats.phh import hand_text, why_not_written, write_phhs
from poker.formats.played import as_played
from poker.game.rules import CALL, Rules
from poker.game.state import Betting, HandState
from poker.run.errors import PokernetsError
from tests.games import HEADS_UP, load_rules
from tests.random_play import nolimit, pokerkit_pays, posted_is_called, random_hand

LIMIT = load_rules("holdem_limit_3p")


def logged(rules: Rules, count: int) -> list[LoggedHand]:
    rng, cards = random.Random(1), np.random.default_rng(1)
    hands = []
    for number in range(count):
        state = random_hand(rules, cards, rng)[-1]
        names = tuple(f"p{i}" for i in range(rules.num_players))
        hands.append(LoggedHand(number, state, tuple(map(float, state.payoffs())), names))
    return hands


@pytest.mark.parametrize(
    "rules",
    [
        HEADS_UP,
        LIMIT,
        load_rules("holdem_limit_2p"),
        load_rules("holdem_limit_10p"),
        load_rules("holdem_nolimit_6p"),
        nolimit((300, 500, 20000, 1000)),
        posted_is_called(nolimit((30, 70, 400))),
        replace(nolimit((3000, 5000, 2000)), blinds=(0, 100, 0)),
        replace(nolimit((3000, 5000, 2000)), blinds=(100, 100, 0)),
    ],
    ids=["2p", "limit 3p", "limit 2p", "limit 10p", "6p", "unequal stacks", "short", "one blind", "equal blinds"],
)
def test_pokerkit_reads_the_hands_and_pays_alike(rules: Rules, tmp_path: Path) -> None:
    hands = logged(rules, 40)
    path = tmp_path / "hands.phhs"
    write_phhs(path, hands)
    with path.open("rb") as file:
        histories = list(HandHistory.load_all(file))
        ends = [[*history][-1] for history in histories]
    assert [history.hand for history in histories] == list(range(40))
    assert not any(end.status for end in ends)
    assert all(pokerkit_pays(end.payoffs, hand.state) for end, hand in zip(ends, hands, strict=True))


def test_cards_unseen_are_question_marks() -> None:
    """Write each hand as each player saw it; PokerKit pays the players as when all cards are known."""
    hidden = 0
    for hand in logged(LIMIT, 40):
        for player in range(3):
            text = hand_text(replace(hand, state=hand.state.view(player)))
            hidden += text.count("????")
            *_, end = HandHistory.loads(text)
            assert not end.status
            assert tuple(end.payoffs) == hand.payoffs
    assert hidden > 100


@pytest.mark.parametrize(
    ("rules", "why"),
    [
        (load_rules("leduc"), "only Texas hold'em is supported, not `leduc`"),
        (load_rules("flop_holdem_nolimit"), "only Texas hold'em is supported"),
        (replace(HEADS_UP, blinds=(50, 100)), "a small and a big blind"),
        (replace(HEADS_UP, first_player=(0, 0, 0, 0)), "a small and a big blind, and the next player"),
        (replace(LIMIT, blinds=(10, 10, 10)), "a small and a big blind"),
        (replace(LIMIT, raise_sizes=(10, 20, 20, 20)), "one bet up to the flop, then another"),
        (replace(LIMIT, max_raises=(5, 4, 4, 4)), "at most 4 raises"),
    ],
)
def test_hands_of_other_games_are_refused_and_the_file_stays(rules: Rules, why: str, tmp_path: Path) -> None:
    path = tmp_path / "hands.phhs"
    path.write_text("old")
    with pytest.raises(PokernetsError, match=why):
        write_phhs(path, logged(rules, 1))
    assert why in why_not_written(rules)
    assert [file.read_text() for file in tmp_path.iterdir()] == ["old"]


def test_a_whole_blind_called_over_a_short_one_is_refused() -> None:
    """Player 1 is all-in with 70 of the 100 that the others call."""
    state = HandState.deal(nolimit((400, 70, 400)), np.random.default_rng(1))
    while not state.is_over:
        state = state.apply(CALL)
    hand = LoggedHand(0, state, tuple(map(float, state.payoffs())), ("a", "b", "c"))
    with pytest.raises(PokernetsError, match="the whole blind was called"):
        hand_text(hand)
    for convert in (histories.PHH, histories.ACPC):
        assert "the whole blind was called" in histories.why_unwritable(convert, as_played(hand))


@pytest.mark.parametrize(("text", "only_there"), [("r400r500ccr700ff", True), ("r400r500ccc/ccc/ccc/ccc", False)])
def test_a_raise_that_only_the_dealer_of_the_acpc_allows_is_refused(text: str, only_there: bool) -> None:
    """An all-in of 500 reopens the betting there to player 2, who has raised to 400; an ACPC log holds that."""
    rules = Rules.from_acpc(nolimit((5000, 5000, 5000, 500)).to_acpc(), "uneven")
    deal = HandState.deal(rules, np.random.default_rng(1))
    state = replace(deal, betting=Betting.parse(rules, text))
    hand = as_played(LoggedHand(0, state, tuple(map(float, state.payoffs())), ("a", "b", "c", "d")))
    for kind in histories.FORMATS:
        why = histories.why_unwritable(kind, hand)
        assert ("only the ACPC dealer allows" in why) == (only_there and kind != histories.ACPC)
    [back] = histories.hands_of("".join(histories.hand_texts(histories.ACPC, [hand])), "x")
    assert back.state.betting.actions == state.betting.actions
