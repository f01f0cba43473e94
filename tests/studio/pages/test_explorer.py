"""The explorer in a browser: a spot is drawn, solved, walked through, another one cancelled; without it, its grids."""

import json
import re
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any
from unittest.mock import Mock

import numpy as np
import pytest
from nicegui import Client, ui
from nicegui.page import page as ui_page
from selenium.webdriver import ActionChains

from conf.compose import compose
from poker.abstraction.buckets import CardAbstraction
from poker.game.betting import Betting
from poker.run.errors import PokernetsError, TooLargeError
from poker.solve.types import Budget
from poker.solvers.blueprint import always_call
from poker.spots.explorer import fitting_menu
from poker.spots.report import prepare
from poker.spots.solution import load_solution
from poker.spots.spots import spot_of
from poker.studio.explorer import explorer
from poker.studio.explorer.cells import Cell, action_colours, card_sheet, class_grid, mixed
from poker.studio.explorer.charts import _Charts
from poker.studio.explorer.explorer import _START, _Form, _Solves
from poker.studio.explorer.shelf import Shelf
from poker.tree import BettingTree, bet_menu, build_tree
from tests.cases import cases
from tests.games import load_rules
from tests.studio.pages.browser import Browser, open_browser
from tests.studio.pages.serving import serving


def test_grids_have_aces_at_the_top_left_and_suited_hands_above() -> None:
    names = re.findall(r"<b>(\w+)</b>", class_grid([Cell("red", "", "")] * 169, "a label"))
    assert len(names) == 169
    assert names[:3] + names[13:15] + names[-1:] == ["AA", "AKs", "AQs", "AKo", "KK", "22"]
    sheet = card_sheet([None, *[Cell("red", "1", "<")] * 51], "cards")
    assert re.findall(r"<b>(.+?)</b>", sheet)[:2] == ["A♠", "K♠"]
    assert sheet.count('aria-label="2♣: on the board"') == 1
    assert "&lt;" in sheet


def test_colours_grow_with_the_bet() -> None:
    colours = action_colours(["check", "bet50", "bet100", "allin300"])
    assert colours[0] == "var(--call)"
    assert colours[1:] == ["var(--raise-1)", "var(--raise-3)", "var(--raise-5)"]
    assert action_colours(["fold", "call", "raise90"]) == ["var(--fold)", "var(--call)", "var(--raise-5)"]
    assert "a 0.0% 25.0%, b 25.0% 100.0%" in mixed([0.25, 0.75], ["a", "b"], 1.0)


@dataclass
class _Spot:
    """A solve that takes part of 4 GiB."""

    gib: float
    ended: bool = False
    cancelled: bool = False

    def cancel(self) -> None:
        self.cancelled = self.ended = True

    @property
    def cost(self) -> SimpleNamespace:
        return SimpleNamespace(bytes=self.gib * 2**30)

    @property
    def budget(self) -> SimpleNamespace:
        return SimpleNamespace(memory_limit_gib=4.0)


def test_nobody_ends_the_solves_of_others() -> None:
    """Ended ones give way, the oldest first; those that have not ended are waited for."""
    solves: Any = _Solves()
    spots = {name: _Spot(1.0, ended=name != "b") for name in "abc"}
    for name, spot in spots.items():
        solves.keep(name, spot)
    with pytest.raises(
        PokernetsError, match=r"solves of other visitors use 1\.0 of 4\.0 GiB: wait until one has ended"
    ):
        solves.keep("d", _Spot(3.5))
    assert list(solves.of) == ["a", "b", "c"]
    solves.keep("d", _Spot(2.0))
    assert list(solves.of) == ["b", "c", "d"]
    solves.keep("b", _Spot(1.0))
    assert (list(solves.of), spots["b"].cancelled, spots["c"].cancelled) == (["c", "d", "b"], True, False)


def test_solves_have_half_of_the_memory_of_the_machine(monkeypatch: pytest.MonkeyPatch) -> None:
    assert compose("evaluate", ["evaluate=play"]).memory_limit_gib is None
    monkeypatch.setattr(explorer, "memory", lambda: 64 * 2**30)
    assert [explorer.memory_limits(given) for given in (None, 3.5)] == [(32, 64), (3.5, 3.5)]


def test_a_smaller_menu_is_named_where_a_spot_does_not_fit() -> None:
    spot = spot_of({**_START, "board": "Td9d6hQc"})
    settings = Budget(9, 0.01, memory_limit_gib=0.005)
    with pytest.raises(TooLargeError):
        prepare(spot, settings)
    assert re.match(r"With bets 60% and raises a it fits: \d MiB", fitting_menu(spot, settings, lambda: True))
    assert "No part of this menu fits" in fitting_menu(spot, replace(settings, memory_limit_gib=1e-6), lambda: True)


def test_saved_values_are_opened_by_name(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    show, notify, file = Mock(), Mock(), tmp_path / "ann/ranges.json"
    monkeypatch.setattr(ui, "notify", notify)
    with Client(ui_page("/")):
        shelf = Shelf(file, "range", lambda: "AA,KK", show)
        shelf._name.set_value("tight")
        shelf._save()
        again = Shelf(file, "range", lambda: "7" * 2**20, show)
        again._choice.set_value("tight")
        show.assert_called_once_with("AA,KK")
        again._save()
        assert "characters; at most" in notify.call_args[0][0]
        again._delete()
        assert Shelf(file, "range", str, show)._choice.options == []


@cases
def test_a_damaged_file_of_saved_spots_is_set_aside(
    damaged: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    notify, file, earlier = Mock(), tmp_path / "spots.json", tmp_path / "spots.damaged-1.json"
    monkeypatch.setattr(ui, "notify", notify)
    file.write_text(damaged)
    earlier.write_text("of another day")
    with Client(ui_page("/")):
        shelf = Shelf(file, "spot", lambda: {"board": "KsQsJs"}, Mock())
        assert "spots.json is damaged" in notify.call_args[0][0]
        assert notify.call_args[0][0].endswith("; it was renamed to spots.damaged-2.json")
        for _ in range(2):
            shelf._save()
    assert (tmp_path / "spots.damaged-2.json").read_text() == damaged
    assert (earlier.read_text(), json.loads(file.read_text())) == ("of another day", {"unnamed": {"board": "KsQsJs"}})


def test_a_file_of_saved_spots_that_cannot_be_read_stays(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    notify = Mock()
    monkeypatch.setattr(ui, "notify", notify)
    with Client(ui_page("/")):
        shelf = Shelf(tmp_path, "spot", dict, Mock())
        shelf._save()
        shelf._delete()
    assert ["directory" in call[0][0] for call in notify.call_args_list] == [True] * 3
    assert tmp_path.is_dir()


def test_a_key_given_twice_in_the_form_is_refused(tmp_path: Path) -> None:
    with Client(ui_page("/")):
        form = _Form(Budget(9, 0.01, memory_limit_gib=1.0), 1.0, Mock(), tmp_path)
        form.show(_START)
        for more, why in (
            ("bet: 100%", "`bet` is given above"),
            ("rake: 0\nrake: 0.1", "line 2: `rake` is given twice"),
        ):
            form._more.set_value(more)
            with pytest.raises(PokernetsError, match=f"more settings.*{why}"):
                assert form.spot


@pytest.fixture(scope="module")
def runs(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("runs")


@pytest.fixture(scope="module")
def browser(runs: Path) -> Iterator[Browser]:
    with serving("agents=[always_call]", f"runs={runs}", f"artifacts={runs}/none") as server:
        yield from open_browser(server.url)


@pytest.fixture
def page(browser: Browser) -> Browser:
    browser.size(1280, 900)
    browser.open("explorer")
    browser.shows(".quiet", "MiB")
    return browser


def _river(page: Browser, exploitability: str) -> None:
    fields = {"Board": "Ks9d4c4h2s", "Pot": "60", "Stack behind": "100", "Bets": "50%,a", "Raises": "a"}
    for name, text in {**fields, "Exploitability, pots": exploitability, "OOP's range": "QQ+,AKs,T9s"}.items():
        page.fill(name, text)


def _tree() -> BettingTree:
    bets = bet_menu(preflop=[[1.0, "a"], ["a"]], flop=[["a"]], turn=[["a"]], river=[["a"]])
    return build_tree(Betting.start(load_rules("holdem_nolimit_2p")), bets)


def _write_blueprint(path: Path) -> None:
    """Write a blueprint of heads-up hold'em with two bet sizes that always calls."""
    always_call(_tree(), CardAbstraction((), (169, 1, 1, 1), "none")).save(path, {}, {})


def _hover(page: Browser, selector: str) -> None:
    ActionChains(page.driver).move_to_element(page.shows(selector)).perform()


def test_charts_leave_out_hands_that_hardly_come(monkeypatch: pytest.MonkeyPatch) -> None:
    """Aces that raise once in 100,000 times are in no chart after it, though they would be drawn as all others."""
    tree = _tree()
    root = tree.after_deal(0)

    def probs(node: int) -> np.ndarray[tuple[int, int], np.dtype[np.float64]]:
        shares = np.full((169, int(tree.num_children[node])), 1.0 / int(tree.num_children[node]))
        if node == root:
            shares[168] = 1e-5
            shares[168, 1] = 1 - 1e-5 * (shares.shape[1] - 1)  # calls
        return shares

    raised = next(action for action in tree.actions(root) if action > 0)
    again = next(action for action in tree.actions(tree.child(root, raised)) if action > 0)
    monkeypatch.setattr(ui, "run_javascript", Mock())
    with Client(ui_page("/")):
        charts = _Charts(Mock(tree=tree, probs=probs))
        assert "AA: fold" in charts._grid.content
        charts._go((raised, again))
        assert "AA: not in the range" in charts._grid.content
        assert charts._grid.content.count("not in the range") == 2  # the label is there twice


def test_spots_are_drawn_solved_and_walked_through(page: Browser, runs: Path) -> None:
    _river(page, "0.005")
    page.shows(".quiet", "26 of 1326 hands")
    page.press(".paint [data-c='126']")  # JJ
    page.shows(".quiet", "32 of 1326 hands")
    start, end = (page.shows(f".paint [data-c='{number}']") for number in (0, 2))  # 22, 42o
    ActionChains(page.driver).click_and_hold(start).move_to_element(end).release().perform()
    page.shows(".quiet", "62 of 1326 hands")
    page.shows(".paint [data-c='0']").send_keys(" ")
    page.shows(".quiet", "56 of 1326 hands")
    page.press("button", "Solve")
    assert float(re.findall(r"[\d.]+", page.shows(".status", "Solved").text)[0]) <= 0.5
    page.shows(".choice", "bet 30 (50% pot)")
    page.fill("Pot", "61")
    page.shows(".wrong", "The spot has changed")
    page.fill("Pot", "60")
    page.until(lambda: not page.all(".stale"))
    _hover(page, ".hands-grid [data-c='166']")  # AQs: not in the range
    page.shows(".by-suit", "This hand does not get here")
    _hover(page, ".hands-grid [data-c='168']")
    assert page.shows(".by-suit", "A♠ A♥").text.count("%") >= 6 * 4
    page.press(".choice", "check")
    page.shows(".seat-name", "IP")
    page.press("[aria-label='Saved ranges'] button", "Save")
    page.press(".choice", "all-in")
    page.shows(".choice", "fold")
    page.shows(".quiet", "EV: chips won from the starting pot of 60 and all bets, less the player's bets")
    driver = page.driver
    for go, seat in ((driver.back, "IP"), (driver.back, "OOP"), (driver.forward, "IP"), (driver.refresh, "IP")):
        go()
        page.shows(".seat-name", seat)
    page.press(".choice", "all-in")
    page.shows(".choice", "fold")
    page.press(".q-btn-toggle button", "Equity")
    assert page.until(lambda: page.shows(".hands-grid [data-c='168'] span").text).isdigit()
    page.press(".crumbs button", "Start")
    page.press("button", "Solution directory")
    page.shows(".q-notification", "Written to")
    solution = load_solution(next((runs / "spots").glob("Ks9d4c4h2s-*")) / "solution")
    assert np.isfinite(solution.node("check").strategy.rows).all()
    page.driver.refresh()
    page.shows(".status", "Solved")
    page.shows(".choice", "check")
    assert page.nameless() == []
    page.tab("Preflop charts")
    command = f"python -m data_gen job=blueprint artifacts={runs}/none"
    page.shows(".q-tab-panel", f"There is no blueprint yet. Make it with: {command}")
    _write_blueprint(runs / "none/blueprint")
    page.driver.refresh()
    page.tab("Preflop charts")
    assert "call 50 100%" in page.labels(".hands-grid [data-c='168']")[0]
    page.press(".choice", "raise to 300")
    page.shows(".seat-name", "BB")
    page.press(".choice", "call")
    page.shows(".q-tab-panel", "The first round is over")
    for go, seat in ((driver.back, "BB"), (driver.back, "BTN"), (driver.forward, "BB")):
        go()
        page.shows(".seat-name", seat)
    page.press(".crumbs button", "Start")
    page.shows(".seat-name", "BTN")
    assert page.errors() == []
    assert page.foreign_requests() == []


def test_solves_are_cancelled_and_errors_appear_on_a_phone(page: Browser) -> None:
    page.size(390, 844)
    _river(page, "0.00001")
    page.fill("OOP's range", "random")
    page.tab("IP")
    page.fill("IP's range", "random")
    page.fill("Board", "Ks9d4c4h")
    page.press("button", "Solve")
    page.shows(".status", "iterations")
    page.press("button", "Cancel")
    page.shows(".status", "Cancelled: exploitability")
    page.shows(".choice", "check")
    assert page.overflow() == 0
    page.fill("IP's range", "AA,KK")
    page.shows(".quiet", "12 of 1326 hands")
    page.fill("IP's range", "AA,KK,XX")
    assert "position 7" in page.shows(".wrong", "XX").text
    page.shows(".q-field--error")
    page.press(".paint [data-c='167']")  # AKs
    page.shows(".quiet", "16 of 1326 hands")
    assert page.errors() == []
