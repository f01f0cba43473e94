"""Hands of the table and of files are found, reviewed and drilled in the browser; cards not seen stay hidden."""

import asyncio
from collections import Counter
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from unittest.mock import AsyncMock, Mock

import pytest
from nicegui import Client, run, ui
from nicegui.page import page

from poker.formats.histories import hands_of
from poker.formats.phh import phhs_texts
from poker.studio.games.table_game import PERSON
from poker.studio.hands.hand_base import HandBase, HandSearch, rows_in, rows_of
from poker.studio.pages.database import _Database, _no_leaks_text, _reviewed_text, _Shared, won_graph
from poker.studio.panels.replay import steps
from tests.cases import cases
from tests.formats.samples import sample
from tests.games import HEADS_UP as RULES
from tests.search.even_leaf import even_solver
from tests.studio.hands.test_hand_base import session
from tests.studio.hands.test_review import HEADS_UP
from tests.studio.pages.browser import Browser, open_browser
from tests.studio.pages.serving import serving

LEAF = "{_target_:tests.search.even_leaf.EvenLeaf}"


def test_database_has_the_hands_of_the_table_as_the_visitor_saw_them(tmp_path: Path) -> None:
    names = {"p0": PERSON, "p1": "bot"}
    hands = [replace(hand, names=tuple(map(names.__getitem__, hand.names))) for hand in session(30)]
    folder = tmp_path / "table" / RULES.name / "bot-0123456789" / "me"
    folder.mkdir(parents=True)
    (folder / "hands.phhs").write_text("".join(phhs_texts(hands)))
    shared = _Shared(RULES, tmp_path / "table", tmp_path / "hands", None)  # type: ignore[arg-type]
    for _ in range(2):
        base = shared.base_of("me")
        assert base.sources() == [("table: bot-0123456789", 30)]
    assert shared.base_of("another").sources() == []
    folded = [number for number, hand in enumerate(hands, 1) if not hand.state.betting.is_showdown]
    assert 3 < len(folded) < 30
    for number, hand in enumerate(hands, 1):
        cards = RULES.cards_text(hand.state.hole_cards[hand.names.index("bot")])
        assert (cards in base.text(number)) == (number not in folded)
    assert dict(base.players()) == {PERSON: 30, "bot": 30 - len(folded)}


@cases
def test_reviews_count_omitted_hands_and_decisions(hands: dict[str, int], decisions: dict[str, int], text: str) -> None:
    assert _reviewed_text(3, Counter(hands), Counter(decisions)) == text


@cases
def test_why_there_are_no_leaks(players: int, cost: float | None, text: str, tmp_path: Path) -> None:
    base, search = HandBase(tmp_path / "hands.sqlite"), HandSearch("p0")
    base.add("session", rows_of(session(1, players), "session"))
    base.set_costs([(0.0, 1, "p0", 0)] if cost is not None else [])
    found = len(base.results(search))
    assert _no_leaks_text(base.hands(search, 10), found, base.unreviewable(search)).startswith(text)


@pytest.mark.parametrize("nets", [[-1.5, 2.0, 100.0], [0.5] * 2345])
def test_graph_runs_from_zero_to_the_total(nets: list[float]) -> None:
    lines = won_graph({"won": nets, "all-in EV": [2 * net for net in nets]})["series"]
    for times, line in enumerate(lines, 1):
        first, *_, last = line["data"]
        assert (first, last) == ((0, 0.0), (len(nets), times * sum(nets)))
        assert len(line["data"]) <= 600


def test_the_hands_just_imported_are_chosen(tmp_path: Path) -> None:
    """The player is the owner of the file, whoever was chosen before, and the hands are those of the file."""
    base = HandBase(tmp_path / "hands.sqlite")
    names = {"p0": PERSON, "p1": "bot"}
    played = [replace(hand, names=tuple(map(names.__getitem__, hand.names))) for hand in session(30)]
    base.add("table: bot", rows_of(played, "table"))
    shared = _Shared(RULES, tmp_path, tmp_path, Mock())
    with Client(page("/")):
        database = _Database(shared, base, "me")
        assert database._search() == HandSearch(PERSON)
        file = Mock(read=AsyncMock(return_value=HEADS_UP.encode()), size=lambda: 100)
        file.name = "mine.txt"
        asyncio.run(database._uploaded(Mock(file=file)))
        assert database._search() == HandSearch("Ann", source="mine.txt")


def test_a_file_that_is_given_at_the_start_is_there_for_every_visitor(tmp_path: Path) -> None:
    files = {"mine.txt": rows_in("mine.txt", f"{HEADS_UP}\n\n{HEADS_UP.replace('Ben: folds', 'x')}".encode(), RULES)}
    assert len(files["mine.txt"].errors) == 1
    shared = _Shared(RULES, tmp_path, tmp_path / "hands", Mock(), files)
    for visitor in ("ann", "bob", "ann"):
        with Client(page("/")):
            database = _Database(shared, shared.base_of(visitor), visitor)
            assert database._search() == HandSearch("Ann", source="mine.txt")
            assert database._base.sources() == [("mine.txt", 1)]


def test_opened_hand_is_reviewed_or_has_a_reason_against_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    base, agent = HandBase(tmp_path / "hands.sqlite"), even_solver()
    base.add("mine", rows_in("mine", HEADS_UP.encode(), RULES).hands)
    base.add("six", rows_of(session(1, 6), "six"))
    monkeypatch.setattr(ui, "run_javascript", Mock())
    monkeypatch.setattr(run, "io_bound", AsyncMock(side_effect=lambda work, *given: work(*given)))
    with Client(page("/")):
        database = _Database(_Shared(RULES, tmp_path, tmp_path, Mock()), base, "me")
        monkeypatch.setattr(database._reviews, "_solver", agent)
        asyncio.run(database._open(1))
        assert "River" in database._replay.history.content
        assert [button.text for _, button in database._review.buttons.values()][3] == "River: raise to 9,250, all-in"
        assert "Sound play with your range" in database._review.answer.content
        database._player.set_value("p0")
        asyncio.run(database._open(2))
        assert "6 players: reviews of more than two need the blueprint" in database._review.title.content
        assert database._review.answer.content == ""


def test_list_pages_in_the_requested_order_and_restarts_with_a_search(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    base = HandBase(tmp_path / "hands.sqlite")
    base.add("session", rows_of(session(60), "session"))
    monkeypatch.setattr(run, "io_bound", AsyncMock(side_effect=lambda work, *given, **named: work(*given, **named)))
    with Client(page("/")):
        database = _Database(_Shared(RULES, tmp_path, tmp_path, Mock()), base, "me")
        asyncio.run(database.show())
        pots = list[float]()
        for number, rows in ((1, 25), (2, 25), (3, 10)):
            asyncio.run(database._turn(Mock(args={"sortBy": "pot", "descending": True, "page": number})))
            pots += [float(row["pot"].replace(",", "")) for row in database._hands.rows]
            assert len(database._hands.rows) == rows
        assert pots == sorted(pots, reverse=True)
        assert database._hands.pagination["rowsNumber"] == 60
        database._position.value = "BTN"
        asyncio.run(database.show())
        shown = database._hands.pagination
        assert (shown["page"], shown["sortBy"], shown["rowsNumber"]) == (1, "pot", 30)
        asyncio.run(database._turn(Mock(args={"sortBy": "1; DROP TABLE hands", "descending": True, "page": 2})))
        assert database._hands.pagination == shown


def test_a_replay_goes_step_by_step_to_the_end() -> None:
    """The board is dealt street by street after an all-in, and hands are hidden until the showdown."""
    [hand] = hands_of(sample("pokerstars_twice"), "twice.txt")
    shown = steps(hand, hand.names.index("Ann"))
    assert [len(state.board) for state in shown] == [0, 0, 0, 3, 3, 3, 4, 5]
    assert [sum(map(bool, state.hole_cards)) for state in shown] == [1, 1, 1, 1, 1, 1, 3, 3]
    assert [before.to_act for before in shown[:6]] == [actor for actor, _ in hand.state.betting.moves()]
    assert shown[-1] == hand.state


@pytest.fixture
def browser(tmp_path: Path) -> Iterator[Browser]:
    with serving(
        "agents=[always_call]", "search=quick", f"reviewer.leaves=[{LEAF},{LEAF}]", f"runs={tmp_path}"
    ) as server:
        yield from open_browser(server.url)


@pytest.mark.slow
def test_hands_are_searched_reviewed_and_drilled(browser: Browser, tmp_path: Path) -> None:
    browser.open("database")
    browser.shows(".result", "There are no hands yet")
    browser.open()
    for _ in range(2):
        while browser.act("New hand", "Check", "Call") != "New hand":
            pass
    browser.open("database")
    browser.shows(".result", "Big blinds won over 2 hands")
    (tmp_path / "mine.txt").write_text(HEADS_UP)
    browser.until(lambda: browser.all("input[type=file]"))[0].send_keys(str(tmp_path / "mine.txt"))
    browser.shows("[role=status]", "mine.txt: 1 hands, 1 of them new")
    browser.shows(".result", "Big blinds won over 1 hands")  # of the file's owner
    browser.tab("Players")
    assert browser.shows(".profiles", "Ann").text.count("100%\n1/1") >= 2
    browser.tab("Results")
    browser.fill("Line before a decision", "*/*/*/")
    browser.shows(".result", "Big blinds won over 1 hands")  # as the big blind, who acts first on the river
    browser.fill("Line before a decision", "z")
    browser.shows("[role=alert]", "a line has at most")
    browser.fill("Line before a decision", "*")
    browser.tab("Leaks")
    browser.press("button", "Review these hands")
    browser.shows("[role=status]", "1 hands reviewed")
    browser.tab("Hands")
    assert browser.labels(".listing .card")[0].endswith(("spades", "hearts", "diamonds", "clubs"))
    browser.press(".listing tbody tr", "BTN")
    browser.press("[aria-label=Last]")
    browser.until(lambda: len(browser.all(".replay .board .card:not(.place)")) == 5)
    browser.press("[aria-label=Back]")
    browser.shows(".history [aria-current]", "Ben: fold")
    browser.until(lambda: browser.all(".review .actions"))
    assert browser.texts(".review .actions .chosen")[0].startswith("bet 450 (you)")
    browser.click("Flop: check")
    browser.shows(".review [role=alert]", "this hand has 100 big blinds, the agent's game 200")
    browser.tab("Drill")
    browser.press("button", "Another decision")
    browser.shows(".felt .seat")
    browser.press(".review .line button:not([aria-label])", "C")
    browser.shows("[role=status]", "1 answered")
    browser.shows(".actions .chosen")
    browser.press("button", "Same decision, another hand")
    browser.check_page()
