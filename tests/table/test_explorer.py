"""The explorer in a browser: a spot is drawn, solved, walked through, another one cancelled; without it, its grids."""

import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest
from selenium.webdriver import ActionChains
from selenium.webdriver.chrome.webdriver import WebDriver
from selenium.webdriver.common.by import By
from selenium.webdriver.common.keys import Keys

from poker.solvers.vector.solution import load_solution
from poker.table.cells import Cell, action_colours, card_sheet, class_grid, mixed
from tests.table.browser import browser, click, found, problems, shows

ROOT = Path(__file__).parents[2]


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


@pytest.fixture(scope="module")
def served(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[str, Path]]:
    """Address of the explorer, and the folder of `runs`."""
    runs = tmp_path_factory.mktemp("runs")
    settings = (
        "evaluate=play",
        "port=0",
        "show=false",
        "agents=[always_call]",
        f"runs={runs}",
        f"artifacts={runs}/none",
    )
    command = [sys.executable, "evaluate.py", *settings]
    process = subprocess.Popen(command, cwd=ROOT, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
    assert process.stderr is not None
    try:
        lines = iter(process.stderr.readline, "")
        address = next(match[1] for line in lines if (match := re.search(r"serving at (\S+)", line)))
        yield f"{address}explorer", runs
    finally:
        process.kill()
        process.wait()


@pytest.fixture
def page(served: tuple[str, Path]) -> Iterator[WebDriver]:
    with browser(1280) as page:
        page.get(served[0])
        shows(page, ".quiet", "MiB")
        yield page


def _type(page: WebDriver, name: str, text: str) -> None:
    field = found(page, f'[aria-label="{name}"]')
    field.send_keys(Keys.CONTROL, "a")
    field.send_keys(text)


def _river(page: WebDriver, target: str) -> None:
    for name, text in (
        ("Board", "Ks9d4c4h2s"),
        ("Pot", "60"),
        ("Stack behind", "100"),
        ("Bets", "50%,a"),
        ("Raises", "a"),
    ):
        _type(page, name, text)
    _type(page, "Exploitability, % of pot", target)
    _type(page, "OOP's range", "QQ+,AKs,T9s")


def test_spots_are_drawn_solved_and_walked_through(page: WebDriver, served: tuple[str, Path]) -> None:
    _river(page, "0.5")
    shows(page, ".quiet", "26 of 1326 hands")
    click(page, ".paint [data-c='126']")  # JJ
    shows(page, ".quiet", "32 of 1326 hands")
    start, end = (found(page, f".paint [data-c='{number}']") for number in (0, 2))  # 22, 42o
    ActionChains(page).click_and_hold(start).move_to_element(end).release().perform()
    shows(page, ".quiet", "62 of 1326 hands")
    found(page, ".paint [data-c='0']").send_keys(" ")
    shows(page, ".quiet", "56 of 1326 hands")
    click(page, "button", "Solve")
    assert float(re.findall(r"[\d.]+", shows(page, ".status", "Solved"))[0]) <= 0.5
    shows(page, ".choice", "check")
    ActionChains(page).move_to_element(found(page, ".hands-grid [data-c='166']")).perform()  # AQs: not in the range
    shows(page, ".by-suit", "It does not come here")
    ActionChains(page).move_to_element(found(page, ".hands-grid [data-c='168']")).perform()
    assert shows(page, ".by-suit", "A♠ A♥").count("%") >= 6 * 4
    click(page, ".choice", "check")
    shows(page, ".seat-name", "IP")
    click(page, ".choice", "all-in")
    shows(page, ".choice", "fold")
    click(page, ".q-btn-toggle button", "Equity")
    assert found(page, ".hands-grid [data-c='168'] span").text
    click(page, ".crumbs button", "Start")
    click(page, "button", "Solution directory")
    shows(page, ".q-notification", "Written to")
    solution = load_solution(served[1] / "spots/Ks9d4c4h2s/solution")
    assert np.isfinite(solution.node("check").strategy.rows).all()
    page.refresh()
    shows(page, ".status", "Solved")
    shows(page, ".choice", "check")
    click(page, ".q-tab", "Preflop charts")
    shows(page, ".q-tab-panel", "python -m data_gen job=blueprint")
    assert problems(page) == []


def test_solves_are_cancelled_and_errors_told(page: WebDriver) -> None:
    _river(page, "0.001")
    _type(page, "OOP's range", "random")
    click(page, ".q-tab", "IP")
    _type(page, "IP's range", "random")
    _type(page, "Board", "Ks9d4c4h")
    click(page, "button", "Solve")
    shows(page, ".status", "iterations")
    click(page, "button", "Cancel")
    shows(page, ".status", "Cancelled: exploitability")
    shows(page, ".choice", "check")
    _type(page, "IP's range", "AA,XX")
    assert "position 4" in shows(page, ".wrong", "XX")
    assert page.find_elements(By.CSS_SELECTOR, ".q-field--error")
    assert problems(page) == []
