"""AIVAT in matches: beside the chips, kept with the hands, recomputed where it is missing."""

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from tensorboard.backend.event_processing.event_accumulator import EventAccumulator

from poker.agents.base import Agent
from poker.agents.simple import AlwaysCall, RandomAgent
from poker.evaluation.matches.luck import add_estimates
from poker.evaluation.matches.match import run
from poker.evaluation.matches.results import MatchResults
from poker.evaluation.matches.table import AgentSpec, Incident, Schedule, Table, play_session
from poker.rules import CALL
from poker.state import HandState
from tests.games import load_rules

LEDUC = load_rules("leduc")


def caller() -> AlwaysCall:
    return AlwaysCall(name="caller")


def randomly() -> RandomAgent:
    return RandomAgent(name="random", raises=[1])


class Slow:
    """Random play behind a policy that does not count as quick."""

    def __init__(self) -> None:
        self.name = "slow"
        self._inner = randomly()
        self.policy = self._inner.policy
        self.reset, self.start_hand, self.act = self._inner.reset, self._inner.start_hand, self._inner.act


class Opaque:
    """Calls, without a policy."""

    name = "opaque"

    def reset(self, seed: int) -> None:
        """Nothing is drawn."""

    def start_hand(self, seat: int) -> None:
        """Nothing to remember."""

    def act(self, state: HandState) -> int:
        return CALL


def play(out: Path, hands: int, **settings: Any) -> MatchResults:
    agents = [AgentSpec("caller", caller, {}), AgentSpec("random", randomly, {})]
    return run(
        game=LEDUC,
        agents=agents,
        tables=None,
        hands=hands,
        session=1,
        seed=3,
        half_width=None,
        decision_seconds=None,
        processes=1,
        fresh=False,
        out=str(out),
        **settings,
    )


def test_estimates_agree_with_chips_and_vary_less(tmp_path: Path) -> None:
    [table] = play(tmp_path, 1000, aivat=True).tables
    chips, reduced = table.estimates()[0], table.estimates(aivat=True)[0]
    assert reduced.half_width < 0.6 * chips.half_width
    assert abs(reduced.mean - chips.mean) < chips.half_width + reduced.half_width
    assert table.spread["aivat"].sd < 0.6 * table.spread["chips"].sd
    folder = tmp_path / "leduc" / "caller-random"
    [saved] = json.loads((folder / "results.json").read_text())["tables"]
    assert saved["players"][0]["aivat"]["mean"] == pytest.approx(reduced.mean)
    events = EventAccumulator(str(folder))
    events.Reload()
    curve = events.Tensors("caller_vs_random/caller/aivat/mbb_per_hand")
    assert curve[-1].step == 1000
    assert curve[-1].tensor_proto.float_val[0] == pytest.approx(reduced.mean)


def test_estimates_are_kept_and_made_up_for(tmp_path: Path) -> None:
    plain = play(tmp_path, 40).tables[0]
    assert not plain.aivat_units
    first = play(tmp_path, 40, aivat=True).tables[0]
    assert first.units == plain.units
    again = play(tmp_path, 60, aivat=True).tables[0]
    assert again.kept == 40
    assert {key: again.aivat_units[key] for key in first.aivat_units} == first.aivat_units
    [path] = (tmp_path / "leduc" / "hands").glob("*.aivat.jsonl")
    assert [json.loads(line)[0] for line in path.read_text().splitlines()] == list(range(60))


def test_a_hand_in_which_an_agent_failed_counts_its_chips() -> None:
    schedule = Schedule(LEDUC, 1, 4)
    record = play_session(schedule, Table(("caller", "random")), [caller(), randomly()], 0)
    record.incidents.append(Incident("random", 0, "", "error", ""))
    add_estimates(schedule, [[caller(), randomly()]], record)
    assert record.aivat[0] == [float(chips) for chips in record.payoffs[0]]
    assert any(row != chips for row, chips in zip(record.aivat, record.payoffs, strict=True))


def test_a_stand_in_is_asked_where_no_agent_is_quick() -> None:
    asked = 0

    def stand_in() -> RandomAgent:
        nonlocal asked
        asked += 1
        return randomly()

    schedule = Schedule(LEDUC, 1, 300)
    plain, helped = (play_session(schedule, Table(("slow", "other")), [Slow(), Slow()], 0) for _ in range(2))
    add_estimates(schedule, [[Slow(), Slow()]], plain)
    add_estimates(schedule, [[Slow(), Slow()]], helped, stand_in)
    assert asked == len(helped.lines)
    assert 1.1 * np.std([row[0] for row in helped.aivat]) < np.std([row[0] for row in plain.aivat])
    quick = play_session(schedule, Table(("slow", "caller")), [Slow(), caller()], 0)
    add_estimates(schedule, [[Slow(), caller()]], quick, stand_in)
    unknown = play_session(Schedule(LEDUC, 1, 2), Table(("opaque", "other")), [Opaque(), Opaque()], 0)
    add_estimates(Schedule(LEDUC, 1, 2), [[Opaque(), Opaque()]], unknown, stand_in)
    assert asked == len(helped.lines)


def test_three_players() -> None:
    rules = load_rules("holdem_limit_3p")

    schedule = Schedule(rules, 1, 1)
    agents: list[Agent] = [caller(), randomly(), Opaque()]
    record = play_session(schedule, Table(("caller", "random", "opaque")), agents, 0)
    add_estimates(schedule, [agents], record)
    assert np.allclose(np.sum(record.aivat, axis=1), 0.0)
    assert len(record.aivat) == 6
