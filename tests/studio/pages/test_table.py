"""The page of a game, without a browser: what it shows when the game moves on beside it."""

import asyncio
import random
import re
import time
from collections.abc import Coroutine, Iterator, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any
from unittest.mock import AsyncMock, Mock

import numpy as np
import pytest
from nicegui import Client, background_tasks, run, ui
from nicegui.page import page

from conf.compose import build, compose
from poker.agents.base import OpponentRead
from poker.agents.simple import AlwaysCall
from poker.game.betting import Betting
from poker.game.cards import parse_cards
from poker.game.rules import CALL
from poker.game.state import HandState
from poker.play.lineup import AgentSpec
from poker.store.artifacts import fingerprint_of_settings
from poker.studio.games.table_files import TableFiles
from poker.studio.games.table_game import Seen, TableGame
from poker.studio.pages.table import Controls, TablePage, button_totals, felt, make, result_html
from poker.studio.server.visitors import Visit, Visitors
from tests.games import HEADS_UP, load_rules
from tests.random_play import random_action

CALLS = AgentSpec("call", lambda: AlwaysCall(name="call"), {})


@pytest.fixture(autouse=True)
def client(monkeypatch: pytest.MonkeyPatch) -> Iterator[Client]:
    monkeypatch.setattr(ui, "run_javascript", Mock())
    with Client(page("/")) as one:
        yield one
    one.delete()


@pytest.fixture
def everybody(tmp_path: Path) -> Visitors:
    return Visitors(load_rules("leduc"), [CALLS], None, tmp_path)


def shown(table: TablePage, text: str) -> None:
    """Waits until the page's status begins so."""
    end = time.monotonic() + 120
    while not table.status.text.startswith(text):
        assert time.monotonic() < end, table.status.text
        time.sleep(0.01)
        table.look()


def acted(visit: Visit) -> None:
    """The person's call, without the agents' answer."""
    visit.game.let_agents_act()  # waits for the thread that has, or it would answer this too
    seen = visit.game.seen()
    visit.game.act(seen.number, seen.step, CALL)


def full(*_: object) -> None:
    raise OSError(28, "No space left on device")


def test_failed_write_appears_on_the_page(everybody: Visitors, monkeypatch: pytest.MonkeyPatch) -> None:
    visit = everybody.visit("ann")
    table, notes = TablePage(visit), Mock()
    shown(table, "Your turn")
    with monkeypatch.context() as disk:
        disk.setattr(TableFiles, "save", full)
        disk.setattr(ui, "notify", notes)
        Controls(visit, visit.game.seen(), table.look, AsyncMock()).press("c")
        notes.assert_called_once_with("[Errno 28] No space left on device", type="warning")
    acted(visit)
    with monkeypatch.context() as disk:
        disk.setattr(TableFiles, "save", full)
        visit.go_on()
        shown(table, "The game has stopped: OSError: [Errno 28] No space left on device")
    visit.go_on()
    shown(table, "Your turn")


def test_an_amount_that_cannot_be_bet_disables_the_button(client: Client, tmp_path: Path) -> None:
    visit = Visitors(load_rules("holdem_nolimit_2p"), [CALLS], None, tmp_path).visit("ann")
    controls = Controls(visit, visit.game.seen(), Mock(), AsyncMock())
    [slider] = [one for one in client.elements.values() if isinstance(one, ui.slider)]
    [button] = [one for one in client.elements.values() if isinstance(one, ui.button) and one.text == "Raise to 200"]
    for amount in (20001, None, 199):
        slider.value = amount
        assert (button.enabled, button.text) == (False, "200 to 20,000")
        controls.press("r")
    assert visit.game.seen().is_mine
    slider.value = 300
    assert (button.enabled, button.text) == (True, "Raise to 300")
    controls.press("r")
    assert visit.game.seen().step == 1


def test_agents_have_titles_on_the_page_and_names_in_the_files(tmp_path: Path) -> None:
    spec = AgentSpec("depth_limited", lambda: AlwaysCall(name="depth_limited"), {})
    visit = Visitors(load_rules("leduc"), [spec], None, tmp_path).visit("ann")
    table = TablePage(visit, {"depth_limited": "Sound player"})
    shown(table, "Your turn")
    for html in (table.felt, table.history):
        assert "Sound player" in html.content
    assert visit.game.seen().names[1 - visit.game.seat] == "depth_limited"


def test_results_name_the_agent_by_its_fingerprint(tmp_path: Path) -> None:
    marks = set()
    for settings in ({"search": 1}, {"search": 2}):
        spec = AgentSpec("caller", lambda: AlwaysCall(name="caller"), settings)
        visit = Visitors(load_rules("leduc"), [spec], None, tmp_path).visit("ann")
        mark = fingerprint_of_settings(settings)[:10]
        assert f"<th scope=row>Against</th><td>caller {mark}</td>" in result_html(visit, None)
        assert visit.game.files.log.read_text().startswith(f"# leduc: a person at the table of caller {mark}\n")
        marks.add(mark)
    assert len(marks) == 2


def test_odds_are_beside_the_pot_where_the_switch_is_on(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    visit = Visitors(load_rules("holdem_nolimit_2p"), [CALLS], None, tmp_path).visit("ann")
    table, started = TablePage(visit), list[Coroutine[object, object, None]]()
    monkeypatch.setattr(background_tasks, "create", started.append)
    monkeypatch.setattr(run, "io_bound", AsyncMock(side_effect=lambda work, *given: work(*given)))
    shown(table, "Your turn")
    assert "SPR" not in table.felt.content
    table.odds.value = True
    assert '<div class="odds">…</div>' in table.felt.content
    asyncio.run(started.pop())
    assert "call 50 to win 150: needs 25%" in table.felt.content
    assert re.search(r"equity \d\d% against a random hand.*SPR 99.5", table.felt.content)
    assert not started
    table.odds.value = False
    assert "SPR" not in table.felt.content


def pressed(visit: Visit, betting: str, key: str) -> int:
    """The action behind a key after `betting`."""
    state = visit.game.seen().state
    seen = replace(visit.game.seen(), state=replace(state, betting=Betting.parse(state.rules, betting)))
    seen = replace(seen, seat=seen.state.to_act)
    done = Mock()
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(visit.game, "act", done)
        Controls(visit, seen, Mock(), AsyncMock()).press(key)
    return int(done.call_args[0][2])


def test_sizes_before_the_flop_are_big_blinds_and_multiples(tmp_path: Path) -> None:
    visit = Visitors(load_rules("holdem_nolimit_2p"), [CALLS], None, tmp_path).visit("ann")
    assert [pressed(visit, "", key) for key in "12345a"] == [200, 250, 300, 400, 500, 20000]
    assert [pressed(visit, "c", key) for key in "12"] == [200, 250]
    assert [pressed(visit, "r300", key) for key in "12345a"] == [750, 900, 1050, 1200, 1500, 20000]
    assert [pressed(visit, "r300c/", key) for key in "24a"] == [600, 900, 20000]


def test_sizes_after_the_flop_are_the_fractions_of_the_pot_in_menus(tmp_path: Path) -> None:
    visit = Visitors(load_rules("holdem_nolimit_2p"), [CALLS], None, tmp_path).visit("ann")
    assert [pressed(visit, "r200c/", key) for key in "12345a"] == [332, 400, 500, 600, 1000, 20000]


def test_clipped_sizes_have_no_button(client: Client, tmp_path: Path) -> None:
    visit = Visitors(load_rules("holdem_nolimit_2p"), [CALLS], None, tmp_path).visit("ann")
    state = visit.game.seen().state
    for betting, names in (("r5000r10000", ["All-in"]), ("cc/", ["½ pot", "¾ pot", "Pot", "2 pots", "All-in"])):
        at = replace(state, betting=Betting.parse(state.rules, betting))
        before = set(client.elements)
        Controls(visit, replace(visit.game.seen(), state=at, seat=at.to_act), Mock(), AsyncMock())
        buttons = [one for key, one in client.elements.items() if key not in before and isinstance(one, ui.button)]
        assert [one.text for one in buttons if "outline" in one.props] == names


def test_the_unit_is_chosen_on_the_page(client: Client, tmp_path: Path) -> None:
    visit = Visitors(load_rules("holdem_nolimit_2p"), [CALLS], None, tmp_path).visit("ann")
    table = TablePage(visit)
    shown(table, "Your turn: 50 to call.")
    table.unit.choose("bb")
    shown(table, "Your turn: 0.5 bb to call.")
    texts = [one.text for one in client.elements.values() if isinstance(one, ui.button)]
    assert {"Call 0.5 bb", "Raise to 2 bb"} <= set(texts)
    [slider] = [one for one in client.elements.values() if isinstance(one, ui.slider)]
    slider.value = 3.5
    [button] = [one for one in client.elements.values() if isinstance(one, ui.button) and "Raise to" in one.text]
    assert button.text == "Raise to 3.5 bb"
    assert "small blind 0.5 bb" in table.felt.content
    table.unit.choose(["chips", 7])
    shown(table, "Your turn: 50 to call.")


def test_hint_disappears_after_its_decision(client: Client, tmp_path: Path) -> None:
    visit = Visitors(load_rules("holdem_nolimit_2p"), [CALLS], None, tmp_path).visit("ann")
    table = TablePage(visit)
    shown(table, "Your turn")
    invitation = table.review.title.content
    asyncio.run(hinted(client, table, visit))
    table.show_anew()
    assert "Hand 1" in table.review.title.content
    assert "reviews need an agent that solves" in table.review.answer.content
    acted(visit)
    visit.go_on()
    shown(table, "Your turn: you may check.")
    assert (table.review.title.content, table.review.answer.content) == (invitation, "")


async def hinted(client: Client, table: TablePage, visit: Visit) -> None:
    with client:
        seen = visit.game.seen()
        await table.review.open(seen.number, seen.state, seen.seat)


def test_a_review_of_a_table_that_was_left_changes_nothing(
    client: Client, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    visit = Visitors(load_rules("holdem_nolimit_2p"), [CALLS], None, tmp_path).visit("ann")
    table = TablePage(visit)
    shown(table, "Your turn")
    monkeypatch.setattr(run, "io_bound", AsyncMock(side_effect=lambda *_: table.review.answer.delete()))
    asyncio.run(hinted(client, table, visit))
    assert "Solving" in table.review.answer.content


def test_failed_folder_appears_on_the_page(client: Client, tmp_path: Path) -> None:
    async def opened() -> None:
        with client:
            await fill("ann")

    fill = make(Mock(), load_rules("leduc"), [CALLS], None, str(tmp_path))
    [folder] = tmp_path.glob("leduc/*")
    (folder / "ann").touch()
    asyncio.run(opened())
    [alert] = [one for one in client.elements.values() if one.props.get("role") == "alert"]
    assert isinstance(alert, ui.label)
    assert "File exists" in alert.text


class Reader(AlwaysCall):
    """Says that it expects two thirds calls, after a hand."""

    trust = 0.0

    def end_hand(self, state: HandState) -> None:
        self.trust = 0.4

    def read(self, states: Sequence[HandState]) -> OpponentRead:
        return OpponentRead(self.trust, np.tile([0.0, 2 / 3, 1 / 3], (len(states), 1)))


def test_agents_read_of_the_visitor_appears_after_each_hand(
    everybody: Visitors, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert TablePage(everybody.visit("ann")).read is None
    reader = AgentSpec("reader", lambda: Reader(name="reader"), {})
    visit, started = Visitors(load_rules("leduc"), [reader], None, tmp_path).visit("ann"), list[Any]()
    monkeypatch.setattr(background_tasks, "create", started.append)
    monkeypatch.setattr(run, "io_bound", AsyncMock(side_effect=lambda work, *given: work(*given)))
    table = TablePage(visit)
    while not visit.game.seen().state.is_over:
        acted(visit)
        visit.game.let_agents_act()
    table.look()
    table.look()
    asyncio.run(started.pop())
    assert not started
    assert table.read is not None
    text = re.sub("<.*?>", " ", table.read.place.content)
    assert "The agent trusts it to 40%." in text
    assert re.search(r"Flop, no bet\s+1\s+0%\s+0%\s+100%\s+67%\s+0%\s+33%", text)


def test_visitor_chooses_the_opponent_heads_up(client: Client, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    async def opened() -> None:
        with client:
            await fill("ann")
            [toggle] = [one for one in client.elements.values() if isinstance(one, ui.toggle)]
            assert toggle.options == {"a": "A", "b": "learns"}
            assert built() == 1
            choose: Any = toggle._change_handlers[-1]
            await choose(Mock(value="b"))

    def built() -> int:
        return len(list(tmp_path.glob("leduc/*")))

    table = Mock()
    monkeypatch.setattr("poker.studio.pages.table.TablePage", table)
    specs = [AgentSpec(name, partial(AlwaysCall, name=name), {}) for name in "ab"]
    fill = make(Mock(), load_rules("leduc"), specs, None, str(tmp_path), titles={"b": "learns"})
    asyncio.run(opened())
    assert [list(call.args[0].agents) for call in table.call_args_list] == [["a"], ["b"]]
    assert built() == 2


def test_action_during_an_update_appears_at_the_next_update(
    everybody: Visitors, monkeypatch: pytest.MonkeyPatch
) -> None:
    visit = everybody.visit("ann")
    table = TablePage(visit)
    shown(table, "Your turn")
    acted(visit)

    def seen(game: TableGame) -> Seen:
        monkeypatch.undo()
        before = game.seen()
        game.let_agents_act()
        return before

    monkeypatch.setattr(TableGame, "seen", seen)
    table.look()
    assert table.status.text == "Call is thinking"
    table.look()
    assert table.status.text.startswith("Your turn")


def test_higher_card_comes_first() -> None:
    state = HandState(Betting.start(load_rules("holdem_nolimit_2p")), ((), parse_cards("2sAh")), ())
    html = felt(Seen(0, 1, ("a", "me"), state, None), None)
    assert re.findall(r'"(\w+) of', html) == ["ace", "2"]


def test_larger_tables_name_positions() -> None:
    rules = load_rules("holdem_nolimit_6p")
    state = HandState(Betting.parse(rules, "fr225"), ((),) * 6, ())
    html = felt(Seen(0, 5, ("a", "b", "c", "d", "e", "me"), state, None), None)
    assert [re.sub("<.*?>", "", who) for who in re.findall("<div class=.who.>.*?<br>", html)] == [
        "a SB", "b BB", "c UTG", "d HJ", "e CO", "me D",
    ]  # fmt: skip


@pytest.mark.parametrize("search", ["demo", "laptop", "workstation", "strong"])
def test_each_bet_of_an_agents_menu_has_a_button_with_the_same_chips(search: str) -> None:
    menu = build(
        compose("evaluate", ["evaluate=match", f"search={search}", "agents=[depth_limited]"])["search"]["menu"]
    )
    rng, streets = random.Random(search), set()
    for _ in range(100):
        betting = Betting.start(HEADS_UP)
        while not betting.is_over:
            assert {*menu.raise_totals(betting)} <= {*button_totals(betting).values()}, betting.text()
            streets.add(betting.street)
            betting = betting.apply(random_action(betting.legal(), rng))
    assert streets == {0, 1, 2, 3}
