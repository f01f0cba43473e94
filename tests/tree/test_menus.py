"""Bet menus as they are written in configuration, and what each size means."""

from contextlib import nullcontext
from typing import Any

import pytest

from conf.compose import build, compose
from poker.game.state import Betting
from poker.tree.build import build_tree
from poker.tree.menus import MenuError, bet_menu
from tests.cases import cases
from tests.games import HEADS_UP as RULES
from tests.games import choices, load_menu, load_rules
from tests.random_play import nolimit
from tests.search.even_leaf import EvenLeaf, even_solver


def after(text: str) -> Betting:
    return Betting.parse(RULES, text)


@cases
def test_sizes(size: object, text: str, total: int) -> None:
    menu = bet_menu(preflop=[size], flop=[size], turn=[size], river=[size])
    assert menu.raise_totals(after(text)) == (total,)


@pytest.mark.parametrize(("size", "total"), [(1.0, 280), ("3x", 300), ("120c", 200)])
def test_sizes_count_the_whole_big_blind_that_is_all_in_for_less(size: object, total: int) -> None:
    """Player 1 posts 30 of 100, player 0 has 50 in."""
    betting = Betting.start(nolimit((5000, 30, 5000, 5000)))
    assert bet_menu(preflop=[size]).raise_totals(betting) == (total,)


def test_depths_repeat_and_players_differ() -> None:
    menu = bet_menu(preflop={0: [[1.0], []], 1: [[0.5, 1.0], ["a"]]})
    assert menu.raise_totals(after("")) == (200, 300)  # player 1 is on the button
    assert menu.raise_totals(after("r200")) == ()
    assert menu.raise_totals(after("c")) == (300,)
    assert bet_menu(preflop=[[1.0], ["a"]]).raise_totals(after("r300r900r2700")) == (20000,)


@pytest.mark.parametrize(
    ("bad", "what"), [(3, "a list"), ([-1], "must be positive"), ([" " * 3000 + "!"], "write 0.5 or 50%")]
)
def test_errors_about_menus_name_the_mistake(bad: Any, what: str) -> None:
    with pytest.raises(MenuError, match=what):
        bet_menu(flop=bad)


@pytest.mark.parametrize("option", choices("search"))
def test_searches_have_bets_for_every_street_that_they_look_ahead_to(option: str) -> None:
    game = ["game=flop_holdem_nolimit"] if option == "flop_holdem" else []
    config = compose("evaluate", ["evaluate=match", f"search={option}", "agents=[depth_limited]", *game])
    streets = build(config.search).ahead.streets[
        len(config.agent.depth_limited.leaves) + 1 : len(config.game.board_cards)
    ]
    assert all(street.by_player for street in streets)


@pytest.mark.parametrize(("turn", "given"), [({}, False), ({"turn": []}, True), ({"turn": None}, True)])
def test_a_street_looked_ahead_to_without_a_menu_is_refused(turn: dict[str, Any], given: bool) -> None:
    refusal = pytest.raises(MenuError, match=r"^search\.ahead has no bets for the turn: set search\.ahead\.turn \(\[\]")
    with nullcontext() if given else refusal:
        even_solver(leaves=[EvenLeaf()], ahead=bet_menu(river=[0.5], **turn))


@pytest.mark.parametrize(("name", "fewest", "most"), [("demo", 5_000, 20_000), ("laptop", 10_000, 100_000)])
def test_configured_menus_give_blueprint_trees_of_their_size(name: str, fewest: int, most: int) -> None:
    tree = build_tree(Betting.start(RULES), load_menu(name))
    assert fewest <= len(tree.decision_nodes) <= most


def test_caps_of_players_beyond_the_first_street() -> None:
    """Nobody but the small blind limps; a raise is called by two, another by one; the rest raise or fold."""
    six = load_rules("holdem_nolimit_6p")
    menu = bet_menu(preflop=[["2.25x"]], flop=[[1.0]], beyond=[2, 3, 2], multiway={"flop": [[0.5]]})
    calls = {
        text: menu.offers_call(Betting.parse(six, text))
        for text in ("", "fff", "ffff", "ffffc", "r225", "r225c", "r225cc", "r225r700", "r225r700c", "r225cff")
    }
    refused = {"", "fff", "r225cc", "r225r700c"}
    assert {text for text, offered in calls.items() if not offered} == refused
    assert menu.raise_totals(Betting.parse(six, "r225cfffc/")) == (225 + 363,)
    assert menu.raise_totals(Betting.parse(six, "r225cffff/")) == (225 + 600,)
    tree = build_tree(Betting.start(six), bet_menu(preflop=[["2.25x"], ["3x"], []], beyond=[2, 3, 2]))
    assert (~tree.folded).sum(axis=1)[tree.street > 0].max() == 3
    with pytest.raises(MenuError, match="`beyond`: keys must be numbers of players from 2"):
        bet_menu(beyond=[1])
