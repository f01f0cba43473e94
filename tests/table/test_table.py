"""The page of a game, without a browser: what it shows when the game moves on beside it."""

import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from nicegui import Client
from nicegui.page import page

from poker.agents.simple import AlwaysCall
from poker.play.lineup import AgentSpec
from poker.play.table_game import Seen, TableGame
from poker.rules import CALL
from poker.table.table import _Table
from poker.table.visitors import Visit, Visitors
from tests.games import load_rules


@pytest.fixture(autouse=True)
def client() -> Iterator[None]:
    with Client(page("/")) as one:
        yield
    one.delete()


@pytest.fixture
def everybody(tmp_path: Path) -> Visitors:
    return Visitors(load_rules("leduc"), [AgentSpec("call", lambda: AlwaysCall(name="call"), {})], None, tmp_path)


def shown(table: _Table, text: str) -> str:
    """What the page says, once it begins with `text`."""
    end = time.monotonic() + 30
    while not table._status.text.startswith(text):
        assert time.monotonic() < end, table._status.text
        time.sleep(0.01)
        table._look()
    return str(table._status.text)


def acted(visit: Visit) -> None:
    """The person's call, without the agents' answer."""
    seen = visit.game.seen()
    visit.game.act(seen.number, seen.step, CALL)


def test_an_action_while_the_page_looks_is_shown_at_the_next_look(
    everybody: Visitors, monkeypatch: pytest.MonkeyPatch
) -> None:
    visit = everybody.visit("ann")
    table = _Table(visit)
    shown(table, "Your turn")
    acted(visit)

    def seen(game: TableGame) -> Seen:
        monkeypatch.undo()
        before = game.seen()
        game.let_agents_act()
        return before

    monkeypatch.setattr(TableGame, "seen", seen)
    table._look()
    assert table._status.text == "call is thinking"
    table._look()
    assert table._status.text.startswith("Your turn")
