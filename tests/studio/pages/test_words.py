"""Words of the pages about a hand, and their grids."""

import re
from typing import Any

import numpy as np

from poker.game.betting import Betting
from poker.game.cards import PREFLOP_CLASS_SIZE, parse_cards
from poker.game.rules import CALL, FOLD, Rules
from poker.game.state import HandState
from poker.studio.explorer.cells import class_grid
from poker.studio.games.table_game import Seen
from poker.studio.hands.review import DecisionReview
from poker.studio.pages import words
from poker.studio.panels.review import decision_html, range_cells, strategy_cells
from tests.cases import cases
from tests.games import load_rules


def seen(rules: Rules, betting: str, mine: str = "AhKh", theirs: str = "", board: str = "") -> Seen:
    cards = (parse_cards(theirs), parse_cards(mine))
    state = HandState(Betting.parse(rules, betting), cards, parse_cards(board))
    return Seen(0, 1, ("them", "you"), state, None)


@cases
def test_actions_are_named_by_the_chips_they_add_on_the_street(
    rules: Rules, betting: str, action: str, name: str
) -> None:
    state = Betting.parse(rules, betting)
    assert words.action_name(state, state.parse_action(action)) == name


def test_amounts_in_big_blinds(rules: Rules) -> None:
    betting = Betting.parse(rules, "r250c/")
    assert [words.action_name(betting, action, 100) for action in (CALL, 505)] == ["check", "bet 2.55 bb"]
    assert words.status(seen(rules, ""), 100) == "Your turn: 0.5 bb to call."
    assert words.outcome(seen(rules, "f"), 100) == "You lose 0.5 bb; them +0.5 bb."
    story = list(words.history(seen(rules, "r300c/", board="7cQdKd"), 100))
    assert [re.sub("<.*?>", "", title) for title, _ in story] == [
        "Before the flop  · blinds 0.5 bb and 1 bb",
        "Flop 7♣ Q♦ K♦ · pot 6 bb",
    ]
    assert story[0][1] == ["you: raise to 3 bb", "them: call 2 bb"]


def test_blinds_are_called_so_until_their_players_act(rules: Rules) -> None:
    names = [
        [words.blind_name(Betting.parse(rules, betting), seat) for seat in (1, 0)]
        for betting in ("", "c", "r300", "r300c/")
    ]
    assert names == [["small blind", "big blind"], ["", "big blind"], ["", "big blind"], ["", ""]]


def test_history_has_every_action_on_its_street(rules: Rules) -> None:
    story = list(words.history(seen(rules, "r300c/cr600f", board="7cQdKd")))
    assert [lines for _, lines in story] == [
        ["you: raise to 300", "them: call 200"],
        ["them: check", "you: bet 300", "them: fold"],
    ]
    title = re.sub("<.*?>", "", story[1][0])
    assert title == "Flop 7♣ Q♦ K♦ · pot 600"


def test_history_and_board_show_the_same_card_of_a_small_deck() -> None:
    leduc = load_rules("leduc")
    state = HandState(Betting.parse(leduc, "cc/"), ((), leduc.parse_cards("Qs")), leduc.parse_cards("Kh"))
    story = words.history_html(Seen(0, 1, ("them", "you"), state, None))
    assert "Flop K♥" in re.sub("<.*?>", "", story)
    assert 'aria-label="king of hearts"' in words.cards_html(leduc, state.board)


@cases
def test_status(rules: Rules, betting: str, theirs: str, text: str) -> None:
    assert words.status(seen(rules, betting, theirs=theirs, board="7cQdKd2h9s" if "/" in betting else "")) == text


GUESSES = np.array([40.0, 50.0, -70.0]), np.array([50.0, 40.0, -130.0])
"""Values of the actions of `decision` against other ranges."""


def decision(rules: Rules, chosen: int | None, mixed: float = 0.0, weight: float = 1.0, **more: Any) -> DecisionReview:
    """Flop decision: a check wins 40 chips, a bet of 200 wins 30 to 36, one of 400 (frequency `mixed`) loses 100."""
    state = seen(rules, "r300c/c", board="7cQdKd").state
    actions, evs = (CALL, 500, 700), np.array([40.0, 30.0, -100.0])
    answers: dict[tuple[int, ...], tuple[float, float]]
    answers = {(500, FOLD): (0.25, 600.0), (500, CALL): (0.75, -160.0), (500, 900): (0.0, np.nan)}
    shares = np.tile([0.98 - mixed, 0.02, mixed], (169, 1))
    best, believed = evs + np.array([0, 6, 0]), PREFLOP_CLASS_SIZE / 1326
    fields: dict[str, Any] = {"exploitability": 1.0, "finished": True, "method": "search=demo", **more}
    hand, board = state.hole_cards[1], state.board
    return DecisionReview(
        state.betting, board, hand, chosen, actions, shares[0], shares, weight, evs, best, believed,
        answers=answers, **fields,
    )  # fmt: skip


@cases
def test_loss_is_printed_with_its_precision(rules: Rules, chosen: int, more: dict[str, Any], loss: str) -> None:
    more |= {"guesses": GUESSES} if "guesses" in more else {}
    text = re.sub("<.*?>", "", decision_html(decision(rules, chosen, **more), "note"))
    assert loss in text
    precise = more.get("exploitability", 1.0)
    assert f"Solved with search=demo. Exploitability: {precise:.1f} chips, {precise / 600:.1%} of the pot" in text
    assert ("did not reach its limit" in text) == (more.get("finished") is False)


def test_the_error_of_a_loss_is_the_largest_over_the_ranges_that_are_plausible(rules: Rules) -> None:
    """The bet loses 10 chips; against other ranges 4 or 30 chips, or it wins 10."""
    for guesses, error in (
        (((40, 36, 0), (50, 20, 0)), 20.0),
        (((50, 20, 0), (40, 36, 0)), 20.0),
        (((20, 30, 0),), 20.0),
    ):
        review = decision(rules, 500, guesses=tuple(np.array(guess, float) for guess in guesses))
        assert (review.loss, review.range_error, review.is_guess) == (10.0, error, True)


def test_reviews_print_the_likelihood_of_actions_and_of_the_own_hand(rules: Rules) -> None:
    likely = "The agent's actions in sound play: call 200 50%, check "
    text = re.sub("<.*?>", "", decision_html(decision(rules, 700, likelihoods=(0.5, 0.02)), "note"))
    assert f"{likely}2.0%." in text
    assert "improbable" not in text
    assert "rarely gets here" not in text
    text = re.sub("<.*?>", "", decision_html(decision(rules, 700, 0.0, 5e-5, likelihoods=(0.5, 1e-4)), "note"))
    assert f"{likely}less than 0.1%." in text
    assert "The agent took an improbable action" in text
    assert "rarely gets here with this hand" in text


def test_evs_and_their_parts_are_in_one_unit(rules: Rules) -> None:
    html = decision_html(decision(rules, 700), "note", 100)
    rows = [re.sub("<.*?>", "|", row).strip("|") for row in re.findall("<tr>(.*?)</tr>", html)]
    lines = [re.sub("[|]+", " ", row) for row in rows]
    assert "bet 2 bb 2% +0.30 to +0.36" in lines
    first = lines.index("bet 2 bb +0.30")
    assert lines[first : first + 3] == ["bet 2 bb +0.30", "agent: fold 25% +6.00", "agent: call 2 bb 75% -1.60"]
    assert "Lost 1.40 bb" in html


def test_strategies_and_ranges_as_cells() -> None:
    shares = np.zeros((169, 2))
    shares[:, 0] = 1.0
    shares[3] = [0.25, 0.75]
    shares[0] = np.nan
    cells = strategy_cells(["fold", "call 50"], shares, 3)
    assert [cell.held for cell in cells].count(True) == 1
    assert (cells[3].label, cells[3].held) == ("fold 25%, call 50 75%", True)
    assert "var(--fold) 0.0% 25.0%, var(--call) 25.0% 100.0%" in cells[3].background
    assert (cells[0].label, cells[0].background) == ("not expected", "")

    believed = PREFLOP_CLASS_SIZE / PREFLOP_CLASS_SIZE.sum()
    believed[0] *= 0.5
    hot = [cell.background for cell in range_cells(believed, 5)]
    assert sum("var(--hot) 100%" in one for one in hot) == 168
    assert "var(--hot) 50%" in hot[0]
    assert 'data-held aria-label="' in class_grid(cells, "a label")
