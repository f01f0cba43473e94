"""The games of visitors in the memory of the server."""

import gc
import time
from pathlib import Path

import pytest

from poker.agents.simple import AlwaysCall
from poker.play.lineup import AgentSpec
from poker.run.errors import PokernetsError
from poker.store.lines import JsonLines
from poker.studio.games import table_game
from poker.studio.hands.review import Mistake
from poker.studio.server.visitors import Visit, Visitors
from tests.games import load_rules

CALLS = AgentSpec("call", lambda: AlwaysCall(name="call"), {})


def begun(everybody: Visitors, name: str) -> Visit:
    """The visit, once it is the visitor's turn or the hand is over."""
    visit = everybody.visit(name)
    end = time.monotonic() + 120
    while not (visit.game.seen().is_mine or visit.game.seen().state.is_over):
        assert time.monotonic() < end
        time.sleep(0.01)
    return visit


def test_one_server_at_a_time_plays_the_games_of_a_folder(tmp_path: Path) -> None:
    first = Visitors(load_rules("leduc"), [CALLS], None, tmp_path)
    with pytest.raises(PokernetsError, match=f"another server plays the games in {tmp_path}"):
        Visitors(load_rules("leduc"), [CALLS], None, tmp_path)
    Visitors(load_rules("kuhn"), [CALLS], None, tmp_path)
    del first
    gc.collect()
    Visitors(load_rules("leduc"), [CALLS], None, tmp_path)


def test_reviews_are_of_one_reviewer(tmp_path: Path) -> None:
    """A reviewer does not list the findings of one with other settings."""
    rules = load_rules("holdem_nolimit_2p")
    mistake = Mistake(0, "", "AhKh", "", "f", "c", 17.0)
    mistakes = []
    for accuracy in (0.5, 0.1, 0.5):
        reviewer = AgentSpec("reviewer", lambda: AlwaysCall(name="reviewer"), {"accuracy": accuracy})
        everybody = Visitors(rules, [CALLS], reviewer, tmp_path)
        visit = begun(everybody, "ann")
        mistakes.append(visit.reviews.mistakes())
        if len(mistakes) == 1:
            [empty] = {path.parent / everybody._solver("")[1] for path in tmp_path.glob("*/*/ann/hands.log")}
            JsonLines(empty).append([vars(mistake)])
        del everybody
        gc.collect()
    assert mistakes == [[], [], [mistake]]


def test_a_game_that_stopped_goes_on_when_its_page_is_opened_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    def full(*_: object) -> None:
        raise OSError(28, "No space left on device")

    everybody = Visitors(load_rules("leduc"), [CALLS], None, tmp_path)
    with monkeypatch.context() as disk:
        disk.setattr(table_game, "append_note", full)
        visit = everybody.visit("ann")
        end = time.monotonic() + 120
        while "a game has stopped" not in caplog.text:
            assert time.monotonic() < end
            time.sleep(0.01)
    assert not visit.game.seen().is_mine
    assert visit.game.seen().thinking is None
    assert begun(everybody, "ann") is visit
    assert visit.game.seen().is_mine
