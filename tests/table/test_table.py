"""The page of a game, without a browser: what it shows when the game moves on beside it."""

import asyncio
import time
from collections.abc import Iterator
from pathlib import Path
from unittest.mock import AsyncMock, Mock

import pytest
from nicegui import Client, ui
from nicegui.page import page

from poker.agents.simple import AlwaysCall
from poker.play.lineup import AgentSpec
from poker.play.table_files import TableFiles
from poker.play.table_game import Seen, TableGame
from poker.rules import CALL
from poker.table.table import _Controls, _Table, make
from poker.table.visitors import Visit, Visitors
from tests.games import load_rules

CALLS = AgentSpec("call", lambda: AlwaysCall(name="call"), {})


@pytest.fixture(autouse=True)
def client() -> Iterator[Client]:
    with Client(page("/")) as one:
        yield one
    one.delete()


@pytest.fixture
def everybody(tmp_path: Path) -> Visitors:
    return Visitors(load_rules("leduc"), [CALLS], None, tmp_path)


def shown(table: _Table, text: str) -> None:
    """Waits until the page's status begins so."""
    end = time.monotonic() + 120
    while not table._status.text.startswith(text):
        assert time.monotonic() < end, table._status.text
        time.sleep(0.01)
        table._look()


def acted(visit: Visit) -> None:
    """The person's call, without the agents' answer."""
    visit.game.let_agents_act()  # waits for the thread that has, or it would answer this too
    seen = visit.game.seen()
    visit.game.act(seen.number, seen.step, CALL)


def full(*_: object) -> None:
    raise OSError(28, "No space left on device")


def test_a_write_that_fails_is_told_on_the_page(everybody: Visitors, monkeypatch: pytest.MonkeyPatch) -> None:
    visit = everybody.visit("ann")
    table, notes = _Table(visit), Mock()
    shown(table, "Your turn")
    with monkeypatch.context() as disk:
        disk.setattr(TableFiles, "save", full)
        disk.setattr(ui, "notify", notes)
        _Controls(visit, visit.game.seen(), table._after, AsyncMock())._keys["c"]()
        notes.assert_called_once_with("[Errno 28] No space left on device", type="warning")
    acted(visit)
    with monkeypatch.context() as disk:
        disk.setattr(TableFiles, "save", full)
        visit.go_on()
        shown(table, "The game has stopped: OSError: [Errno 28] No space left on device. Reload")
    visit.go_on()
    shown(table, "Your turn")


def test_an_amount_that_cannot_be_bet_disables_the_button(client: Client, tmp_path: Path) -> None:
    visit = Visitors(load_rules("holdem_nolimit_2p"), [CALLS], None, tmp_path).visit("ann")
    controls = _Controls(visit, visit.game.seen(), Mock(), AsyncMock())
    [slider] = [one for one in client.elements.values() if isinstance(one, ui.slider)]
    [button] = [one for one in client.elements.values() if isinstance(one, ui.button) and one.text == "Raise to 200"]
    for amount in (20001, None, 199):
        slider.value = amount
        assert (button.enabled, button.text) == (False, "200 to 20,000")
        controls._keys["r"]()
    assert visit.game.seen().is_mine
    slider.value = 300
    assert (button.enabled, button.text) == (True, "Raise to 300")
    controls._keys["r"]()
    assert visit.game.seen().step == 1


def test_a_folder_that_cannot_be_made_is_told_on_the_page(client: Client, tmp_path: Path) -> None:
    async def opened() -> None:
        with client:
            await fill("ann")

    fill = make(load_rules("leduc"), [CALLS], None, str(tmp_path))
    [folder] = tmp_path.glob("leduc/*")
    (folder / "ann").touch()
    asyncio.run(opened())
    [alert] = [one for one in client.elements.values() if one.props.get("role") == "alert"]
    assert isinstance(alert, ui.label)
    assert "File exists" in alert.text


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
