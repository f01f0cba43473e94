"""A person plays in a real browser, reads a review, and comes back."""

import subprocess
import sys
from collections.abc import Iterator

import pytest
from selenium.webdriver.common.by import By

from tests.studio.pages.browser import Browser, open_browser
from tests.studio.pages.serving import ROOT, serving

LEAF = "{_target_:tests.search.even_leaf.EvenLeaf}"
HANDS = 8


@pytest.fixture
def browser(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Browser]:
    runs = tmp_path_factory.mktemp("runs")
    with serving("agents=[always_call]", f"reviewer.leaves=[{LEAF},{LEAF}]", f"runs={runs}") as server:
        yield from open_browser(server.url)


def held(browser: Browser) -> list[str]:
    return browser.labels(".seat.me .card")


def press(browser: Browser, key: str) -> None:
    browser.driver.find_element(By.TAG_NAME, "body").send_keys(key)


def play_hand(browser: Browser, *first: str) -> None:
    """Clicks `first`, then checks and calls to the end."""
    browser.act(*first)
    while browser.act("New hand", "Check", "Call") != "New hand":
        pass


def test_hands_reload_review(browser: Browser) -> None:
    browser.open()
    for hand in range(HANDS - 1):
        play_hand(browser, *(["Check", "Call"] if hand % 4 == 0 else ["All-in", "Check", "Call"]))
    browser.until(lambda: browser.texts(".history h2") == [f"Hand {HANDS}"])

    browser.button("Check", "Call")
    cards = held(browser)
    press(browser, "c")
    browser.until(lambda: len(browser.all(".board .card:not(.place)")) == 3)
    browser.button("Check")
    before = browser.texts(".history")
    browser.driver.refresh()
    browser.until(lambda: browser.texts(".history") == before)
    assert held(browser) == cards
    browser.button("½ pot")
    press(browser, "2")
    assert browser.act("Check").startswith("Check")
    while browser.button("New hand", "Check").text != "New hand":
        press(browser, "c")
    assert any("bet 100" in text for text in browser.texts(".history"))

    browser.click("Review hand")
    browser.until(lambda: browser.all(".review .actions"))
    assert len(browser.all(".review .cell")) == 2 * 169
    assert browser.texts(".review .actions .chosen")[0].startswith(("call 50", "check"))
    assert any("lost" in text.lower() for text in browser.texts(".review"))  # or perhaps nothing lost
    browser.tab("Result")
    browser.until(lambda: any(f"Hands {HANDS}" in text.replace("\n", " ") for text in browser.texts(".result")))
    [result] = browser.texts(".result")
    assert "luck removed" in result
    press(browser, "n")
    browser.until(lambda: browser.texts(".history h2") == [f"Hand {HANDS + 1}"])

    for width in (390, 1280):
        browser.size(width, 900)
        assert browser.all(".header")[0].size["height"] <= 52
    browser.check_page()


def test_the_first_line_of_make_test_names_the_skipped_tests() -> None:
    installed = (f"--old-file=.venv/.{name}" for name in ("installed", "extras"))
    make = "make", "-n", "--no-print-directory"
    recipe = subprocess.run([*make, *installed, "test"], cwd=ROOT, capture_output=True, text=True, check=True)
    assert recipe.stdout.splitlines()[0].split()[1:] == ["-m", "tests.needs"]
    command = [sys.executable, "-m", "tests.needs"]
    done = subprocess.run(command, cwd=ROOT, env={"PATH": ""}, capture_output=True, text=True, check=True)
    assert "tests in a browser (sudo apt-get install chromium chromium-driver); tests on a GPU" in done.stdout
