"""What the pages say about a hand, and their grids."""

import re

import numpy as np
import pytest

from poker.betting import Betting
from poker.cards import PREFLOP_CLASS_SIZE, class_text, parse_cards
from poker.play.table_game import Seen
from poker.rules import CALL, FOLD, Rules
from poker.state import HandState
from poker.table import grids, words
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


def cells(html: str) -> list[str]:
    return re.findall(r"<td[^>]*>(?:<b>)?(.*?)(?:</b>)?</td>", html)


def test_grid_has_aces_at_the_top_left_and_suited_hands_above_the_diagonal() -> None:
    shares = np.zeros((169, 2))
    shares[:, 0] = 1.0
    aces = next(number for number in range(169) if class_text(number) == "AA")
    shares[aces] = [0.25, 0.75]
    shares[0] = np.nan
    html = grids.strategy_grid("Strategy", ["fold", "call"], ["red", "green"], shares, aces)
    found = cells(html)
    assert len(found) == 169
    assert (found[0], found[1], found[13], found[168]) == ("AA", "AKs", "AKo", "22")
    assert '"AA: fold 25%, call 75%" data-held' in html
    assert "linear-gradient(90deg, red 0% 25%, green 25% 100%)" in html
    assert 'class="none" title="22: cannot be held"' in html


def test_likeliest_hands_of_a_range_are_the_darkest() -> None:
    shares = PREFLOP_CLASS_SIZE / PREFLOP_CLASS_SIZE.sum()
    shares[0] *= 0.5
    found = re.findall(r"rgb\(180 83 9 / (\d+)%\)", grids.range_grid("Range", shares, 5))
    assert found.count("100") == 168
    assert found[-1] == "50"


def test_raises_have_colours_by_size() -> None:
    shades = grids.colours([FOLD, CALL, 900, 300, 20000])
    assert len(set(shades)) == 5
    assert shades[2:] == [grids.colours([300, 900, 20000])[i] for i in (1, 0, 2)]
    assert len(grids.colours(list(range(1, 12)))) == 11
