"""Results that a PHH file tells: taken where they fit the play, refused where another player wins."""

import pytest

from poker.formats import phh
from poker.formats.histories import hands_of
from poker.formats.phh_read import parse_hand
from poker.formats.played import LineError
from poker.formats.sites import pokerstars
from tests.cases import cases
from tests.formats.pokerkit_hands import assert_same_hand, pokerkit_payoffs
from tests.formats.samples import sample

SHOWDOWN = sample("phh_showdown")
SPLIT = SHOWDOWN.replace("4d7h", "AcAs")
RAISED = (
    SHOWDOWN[: SHOWDOWN.index("actions")]
    + """actions = ['d dh p1 ????', 'd dh p2 ????', 'd dh p3 ????',
  'p3 cbr 30', 'p1 f', 'p2 f']
"""
)
SHORT = RAISED.replace("[500, 500, 500]", "[28, 500, 20]").replace(
    "'p3 cbr 30', 'p1 f', 'p2 f'",
    "'p3 cbr 20', 'p1 cbr 28', 'p2 f', 'd db 2c3c4c', 'd db 9s', 'd db Ts', 'p1 sm 8d7h', 'p3 sm AhAd'",
)
TEXTS = {"SHOWDOWN": SHOWDOWN, "SPLIT": SPLIT, "RAISED": RAISED, "SHORT": SHORT}


@cases
def test_consistent_winnings_are_used_and_the_rest_of_the_pot_is_the_rake(
    name: str, results: str, payoffs: tuple[int, ...], rake: int
) -> None:
    hand = parse_hand(TEXTS[name] + results, 0)
    assert (hand.payoffs, hand.rake, hand.amounts_differ) == (payoffs, rake, False)
    assert_same_hand(parse_hand(phh.hand_text(hand), 0), hand)


@pytest.mark.parametrize("number", [10**18 - 1, 10**18])
def test_hands_of_any_number_can_be_written_as_pokerstars_text_and_read(number: int) -> None:
    hand = parse_hand(f"{SHOWDOWN}hand = {number}", 7)
    assert hand.number == (number if number < 10**18 else 7)
    [back] = hands_of(pokerstars.hand_text(hand), "x")
    assert_same_hand(back, hand)
    assert parse_hand(phh.hand_text(hand), 8).details == hand.details


@pytest.mark.parametrize(
    "text",
    [SHOWDOWN + "winnings = [140, 0, 0]", SPLIT + "winnings = [33, 0, 0]", RAISED + "winnings = [0, 0, 30]"],
    ids=["twice the pot", "one of two winners", "a post that is missing"],
)
def test_amounts_without_a_consistent_rake_are_ignored_where_the_winners_agree(text: str) -> None:
    hand = parse_hand(text, 0)
    assert hand.amounts_differ
    assert hand.rake == 0
    assert hand.payoffs == parse_hand(text[: text.index("winnings")], 0).payoffs
    assert parse_hand(phh.hand_text(hand), 0).amounts_differ


THIRDS = sample("phh_thirds")


@cases
def test_rounded_thirds_of_a_pot_are_no_rake(results: str, payoffs: tuple[int, ...]) -> None:
    hand = parse_hand(THIRDS + results, 0)
    assert (hand.payoffs, hand.rake) == (payoffs, 0)
    assert_same_hand(parse_hand(phh.hand_text(hand), 0), hand)


@cases
def test_no_amount_is_cut(amount: str, scale: int, won: int) -> None:
    actions = f"cbr {amount}', 'p1 f', 'p2 cc', 'd db 2c3c4d', 'p2 f'"
    hand = parse_hand(RAISED.replace("500", "5000").replace("cbr 30', 'p1 f', 'p2 f'", actions), 0)
    assert (hand.scale, list(hand.payoffs)) == (scale, [-5 * scale, -won, won + 5 * scale])


SKIPPED_PLAYER = sample("phh_passed_over")


def test_skipped_player_folds_or_checks_if_the_results_confirm_it() -> None:
    """Player 4 before the flop, and all of the turn, as PokerKit repairs such hands."""
    hand = parse_hand(SKIPPED_PLAYER + "finishing_stacks = [21900, 16600, 29500, 9000]", 0)
    assert (list(hand.payoffs), hand.skipped_action) == ([1900, -1400, -500, 0], True)
    assert hand.state.betting.text() == "r500fcc/ccc/ccc/cr1400fc"
    [paid] = pokerkit_payoffs("[1]\n" + SKIPPED_PLAYER)
    assert paid == hand.payoffs
    assert_same_hand(parse_hand(phh.hand_text(hand), 0), hand)
    for results in ("", "finishing_stacks = [21899, 16600, 29500, 9000]", "finishing_stacks = [inf, inf, inf, inf]"):
        with pytest.raises(LineError, match="p1 acts, but it is the turn of p4"):
            parse_hand(SKIPPED_PLAYER + results, 0)
