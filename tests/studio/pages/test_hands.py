"""Hands of a file in a real browser: read, listed, reviewed and refused."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.formats.sites.test_pokerstars import CASH
from tests.studio.hands.test_hand_file import HEADS_UP
from tests.studio.pages.browser import Browser, open_browser
from tests.studio.pages.serving import Server, serving

LEAF = "{_target_:tests.search.even_leaf.EvenLeaf}"


@pytest.fixture
def browser(tmp_path: Path) -> Iterator[Browser]:
    file = tmp_path / "first.txt"
    file.write_text("\n\n".join([HEADS_UP, CASH, *[HEADS_UP.replace("#7", f"#{i}") for i in range(20, 34)]]))
    settings = ["agents=[always_call]", f"reviewer.leaves=[{LEAF},{LEAF}]", f"runs={tmp_path}"]
    with serving(*settings, f"log={file}") as server:
        yield from open_browser(server.url)


def test_a_file_is_listed_reviewed_and_replaced(browser: Browser, tmp_path: Path) -> None:
    browser.open("hands")
    browser.shows("[role=status]", "1 left out: 4 players: reviews are of heads-up hands")
    browser.shows("[role=status] p", "its leaks and drills are of hands that can be reviewed")
    assert browser.shows("[role=status] a", "Database").get_property("pathname") == "/database"
    assert len(browser.until(lambda: browser.all(".mistakes button"))) == 12
    browser.press(".mistakes button", "Hand 1: KhQh, 100 bb deep, +16.5 bb, 2 of 4 decisions")
    browser.until(lambda: browser.all(".review .actions"))
    assert browser.texts(".review .actions .chosen")[0].startswith("bet 450 (you)")
    browser.click("Flop: check")
    browser.shows(".review [role=alert]", "this hand has 100 big blinds, the agent's game 200")
    browser.check_page()
    other = tmp_path / "other.txt"
    other.write_text("no hands\n")
    browser.all("input[type=file]")[0].send_keys(str(other))
    browser.shows("[role=alert]", "other.txt, line 1: no hands that are read here")
    assert not browser.all(".mistakes button")
    other.write_text(HEADS_UP.replace("Kh Qh", "Ts 9s"))
    browser.all("input[type=file]")[0].send_keys(str(other))
    browser.shows(".mistakes button", "Hand 1: Ts9s")
    browser.tab("Mistakes")
    browser.click("Review all my hands")
    browser.shows("[role=status]", "All hands are reviewed, but for 2 decisions: The stacks differ (2).")
    [mistake] = browser.texts(".review .mistakes button")  # what the river lost hangs on an improbable bet of Ben
    assert "bb: hand 1, Ts9s, turn: " in mistake
    browser.press(".review .mistakes button", "turn: ")
    browser.shows(".review [aria-pressed=true]", "Turn")
    assert len(browser.all(".review [aria-pressed=true]")) == 1
    browser.click("River: raise")
    browser.shows(".review", "chips against the range that was solved for")  # how many hangs on a guessed range
    assert "Perhaps nothing lost, " in browser.texts(".review")[0]
    assert browser.texts(".history h2") == ["Hand 1"]
    assert browser.errors() == []
    assert browser.foreign_requests() == []


def test_a_file_that_cannot_be_read_stops_the_start(tmp_path: Path) -> None:
    server = Server("agents=[always_call]", f"log={tmp_path}/nowhere.txt", f"runs={tmp_path}")
    assert server.wait() == 2
    assert "nowhere.txt cannot be read: No such file" in "".join(server.lines)
