"""The games of visitors in the memory of the server."""

import gc
import time
from pathlib import Path

import numpy as np
import pytest

from poker.agents.base import hand_number
from poker.agents.searching.heads_up import DepthLimitedAgent
from poker.agents.simple import AlwaysCall
from poker.game.rules import CALL
from poker.game.state import public_state
from poker.play.lineup import AgentSpec
from poker.run.errors import PokernetsError
from poker.studio.games import table_game
from poker.studio.server.visitors import Visit, Visitors
from tests.games import HEADS_UP, load_rules
from tests.search.even_leaf import even_solver
from tests.search.test_joint import JOINT

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
    with pytest.raises(PokernetsError, match=f"another server is using {tmp_path}"):
        Visitors(load_rules("leduc"), [CALLS], None, tmp_path)
    Visitors(load_rules("kuhn"), [CALLS], None, tmp_path)
    del first
    gc.collect()
    Visitors(load_rules("leduc"), [CALLS], None, tmp_path)


def test_stopped_game_continues_when_its_page_is_reopened(
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


def test_a_hint_comes_from_the_process_that_plays(tmp_path: Path) -> None:
    """It is the agent's own solution, which a review of what was done is not asked for."""
    built = list[DepthLimitedAgent]()

    def build() -> DepthLimitedAgent:
        built.append(even_solver(**JOINT))
        return built[-1]

    visit = begun(Visitors(HEADS_UP, [AgentSpec("joint", build, {})], None, tmp_path), "ann")
    state = visit.game.seen().state
    hint = visit.reviews.decision(state, None)
    [agent] = built
    actions, probs = agent.policy(public_state(state.betting, state.board))
    assert hint.actions == actions
    np.testing.assert_array_equal(hint.frequencies, probs[hand_number(state, state.to_act)])
    np.testing.assert_allclose(visit.reviews.decision(state, CALL).evs, hint.evs)
    assert len(built) == 2
