"""What the pages say about a hand, and their grids."""

import re

import numpy as np
import pytest

from poker.betting import Betting
from poker.cards import PREFLOP_CLASS_SIZE, parse_cards
from poker.play.table_game import Seen
from poker.rules import CALL, FOLD, Rules
from poker.state import HandState
from poker.table import words
from poker.table.cells import class_grid
from poker.table.review_panel import range_cells, strategy_cells
from tests.games import load_rules


@pytest.fixture(scope="module")
def rules() -> Rules:
    return load_rules("holdem_nolimit_2p")


def seen(rules: Rules, betting: str, mine: str = "AhKh", theirs: str = "", board: str = "") -> Seen:
    cards = (parse_cards(theirs), parse_cards(mine))
    state = HandState(Betting.parse(rules, betting), cards, parse_cards(board))
    return Seen(0, 1, ("them", "you"), state, None)


@pytest.mark.parametrize(
    ("betting", "action", "name"),
    [
        ("", FOLD, "fold"),
        ("", CALL, "call 50"),
        ("", 300, "raise to 300"),
        ("", 20000, "raise to 20,000, all-in"),
        ("c", CALL, "check"),
        ("c", 200, "raise to 200"),
        ("r300c/", CALL, "check"),
        ("r300c/", 500, "bet 200"),
        ("r300c/", 20000, "bet 19,700, all-in"),
        ("r300c/r500", CALL, "call 200"),
        ("r300c/r500", 1100, "raise to 800"),
        ("r300c/r20000", CALL, "call 19,700, all-in"),
    ],
)
def test_actions_are_named_by_what_they_add_to_the_street(rules: Rules, betting: str, action: int, name: str) -> None:
    assert words.action_name(Betting.parse(rules, betting), action) == name


def test_history_tells_every_action_on_its_street(rules: Rules) -> None:
    told = list(words.history(seen(rules, "r300c/cr600f", board="7cQdKd")))
    assert [lines for _, lines in told] == [
        ["you: raise to 300", "them: call 200"],
        ["them: check", "you: bet 300", "them: fold"],
    ]
    title = re.sub("<.*?>", "", told[1][0])
    assert title == "Flop 7♣ Q♦ K♦ · pot 600"


def test_history_and_board_show_the_same_card_of_a_small_deck() -> None:
    leduc = load_rules("leduc")
    state = HandState(Betting.parse(leduc, "cc/"), ((), leduc.parse_cards("Qs")), leduc.parse_cards("Kh"))
    told = words.history_html(Seen(0, 1, ("them", "you"), state, None))
    assert "Flop K♥" in re.sub("<.*?>", "", told)
    assert 'aria-label="king of hearts"' in words.cards_html(leduc, state.board)


@pytest.mark.parametrize(
    ("betting", "theirs", "told"),
    [
        ("", "", "Your turn: 50 to call."),
        ("c", "", "them is thinking"),
        ("cc/c", "", "Your turn: you may check."),
        ("f", "", "You lose 50; them +50."),
        ("r300f", "", "You win 100."),
        ("r300c/cc/cc/cc", "2c3c", "You win 300 at the showdown."),
        ("r300c/cc/cc/cc", "KcKs", "You lose 300 at the showdown; them +300."),
        ("r300c/cc/cc/cc", "AcKc", "The pot is split at the showdown."),
    ],
)
def test_status(rules: Rules, betting: str, theirs: str, told: str) -> None:
    assert words.status(seen(rules, betting, theirs=theirs, board="7cQdKd2h9s" if "/" in betting else "")) == told


def test_strategies_and_ranges_as_cells() -> None:
    shares = np.zeros((169, 2))
    shares[:, 0] = 1.0
    shares[3] = [0.25, 0.75]
    shares[0] = np.nan
    found = strategy_cells(["fold", "call 50"], shares, 3)
    assert [cell.held for cell in found].count(True) == 1
    assert (found[3].label, found[3].held) == ("fold 25%, call 50 75%", True)
    assert "var(--fold) 0.0% 25.0%, var(--call) 25.0% 100.0%" in found[3].background
    assert (found[0].label, found[0].background) == ("cannot be held", "")

    believed = PREFLOP_CLASS_SIZE / PREFLOP_CLASS_SIZE.sum()
    believed[0] *= 0.5
    hot = [cell.background for cell in range_cells(believed, 5)]
    assert sum("var(--hot) 100%" in one for one in hot) == 168
    assert "var(--hot) 50%" in hot[0]
    assert 'data-held aria-label="' in class_grid(found, "a label")
