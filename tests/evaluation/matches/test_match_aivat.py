"""AIVAT in matches: beside the chips, kept with the hands, recomputed where it is missing."""

import json
from dataclasses import replace
from functools import partial
from itertools import permutations
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from tensorboard.backend.event_processing.event_accumulator import EventAccumulator

from poker.agents.base import Agent, hand_number
from poker.agents.simple import AlwaysCall, AlwaysRaise, RandomAgent
from poker.evaluation.matches.match_aivat import MatchAivat
from poker.evaluation.matches.match_results import MatchResults
from poker.evaluation.matches.results import Results
from poker.game.rules import CALL, FOLD, Rules
from poker.game.state import HandState, Policy
from poker.play.hand import Incident
from poker.play.lineup import AgentSpec, LineUp, Rotation
from poker.play.session import SessionRecord, play_session
from tests.agents.opaque import Opaque
from tests.games import LEDUC
from tests.matches import caller, play_match, randomly


class Slow(Agent):
    """Random play behind a policy that does not count as quick."""

    def __init__(self) -> None:
        super().__init__("slow")

    def policy(self, state: HandState) -> Policy:
        return randomly().policy(state)


def play(out: Path, hands: int, **settings: Any) -> MatchResults:
    agents = [AgentSpec("caller", caller, {}), AgentSpec("random", randomly, {})]
    return play_match(out, LEDUC, **{"agents": agents, "hands": hands, "seed": 3, **settings})


def test_estimates_agree_with_chips_and_vary_less(tmp_path: Path) -> None:
    [table] = play(tmp_path, 1000, aivat=True).lineups
    chips, reduced = table.estimates()[0], table.estimates(aivat=True)[0]
    assert reduced.sd < 0.6 * chips.sd  # equal results: no interval
    assert abs(reduced.mean - chips.mean) < chips.half_width
    assert table.sd_per_hand(aivat=True) < 0.6 * table.sd_per_hand()
    [folder] = tmp_path.glob("leduc/caller-random-*")
    [saved] = json.loads((folder / "results.json").read_text())["lineups"]
    assert saved["players"][0]["aivat"]["mean"] == pytest.approx(reduced.mean)
    events = EventAccumulator(str(folder))
    events.Reload()
    curve = events.Tensors("strength/caller_vs_random/caller/aivat/mbb_per_hand")
    assert curve[-1].step == 1000
    assert curve[-1].tensor_proto.float_val[0] == pytest.approx(reduced.mean)


def test_an_unavailable_policy_is_named_and_the_hands_stay(tmp_path: Path) -> None:
    agents = [AgentSpec("slow", Slow, {}), AgentSpec("unclear", partial(Unclear, name="unclear", raises=[1]), {})]
    [lineup] = play(tmp_path, 40, agents=agents, aivat=True).lineups
    assert list(lineup.unknown) == ["unclear"]
    assert "policy unavailable: ValueError: not for you" in lineup.unknown["unclear"]
    assert not lineup.incidents


def test_estimates_are_stored_and_missing_ones_are_added(tmp_path: Path) -> None:
    plain = play(tmp_path, 40).lineups[0]
    assert not plain.has_aivat
    first = play(tmp_path, 40, aivat=True).lineups[0]
    assert np.array_equal(first.payoffs(), plain.payoffs())
    again = play(tmp_path, 60, aivat=True).lineups[0]
    assert again.kept == 40
    assert np.array_equal(again.payoffs(aivat=True)[:20], first.payoffs(aivat=True))
    [path] = (tmp_path / "leduc" / "hands").glob("*.aivat.jsonl")
    assert [json.loads(line)[0] for line in path.read_text().splitlines()] == list(range(60))


def test_an_agent_that_failed_counts_as_unknown() -> None:
    rotation = Rotation(LEDUC, 1, 4)
    record = play_session(rotation, LineUp(("caller", "random")), [[caller(), randomly()]], 0)
    without = replace(record, unknown={"random": "for a test"})
    record.incidents.append(Incident("random", 0, "", "an error\nof two lines", ""))
    MatchAivat()(rotation, [[caller(), randomly()]], record)
    assert record.unknown == {"random": "it failed: an error"}
    MatchAivat()(rotation, [[caller(), randomly()]], without)
    assert record.aivat == without.aivat
    whole = replace(record, unknown={}, incidents=[])
    MatchAivat()(rotation, [[caller(), randomly()]], whole)
    assert record.aivat != whole.aivat


class Unclear(RandomAgent):
    """Plays by a policy that it does not disclose."""

    def policy(self, state: HandState) -> Policy:
        if not any(state.hole_cards):
            raise ValueError("not for you")
        return super().policy(state)


def test_an_agent_whose_policy_is_unavailable_counts_as_unknown() -> None:
    rotation = Rotation(LEDUC, 1, 4)
    agents: list[Agent] = [Slow(), Unclear(name="unclear", raises=[1])]
    record = play_session(rotation, LineUp(("slow", "unclear")), [agents], 0)
    without = replace(record, unknown={"unclear": "for a test"})
    for each in (record, without):
        MatchAivat()(rotation, [agents], each)
    assert record.unknown == {"unclear": "policy unavailable: ValueError: not for you"}
    assert record.aivat == without.aivat


class Alternates(AlwaysCall):
    """Calls in one hand and raises in the next."""

    def __init__(self) -> None:
        super().__init__(name="alternates")
        self.seen: list[tuple[int, str]] = []
        self._raiser = AlwaysRaise(name="raiser", raises=[1])

    def reset(self, seed: int) -> None:
        super().reset(seed)
        self.seen = []

    def end_hand(self, state: HandState) -> None:
        self.seen.append((self._seat, str(state)))

    def start_hand(self, seat: int) -> None:
        self._seat = seat

    def policy(self, state: HandState) -> Policy:
        return self._raiser.policy(state) if len(self.seen) % 2 else super().policy(state)


def test_learning_agent_is_queried_with_its_state_in_each_hand() -> None:
    """Any other policy would not have chosen its actions."""
    rotation, agents = Rotation(LEDUC, 1, 5), [Alternates(), caller()]
    record = play_session(rotation, LineUp(("alternates", "caller")), [agents], 0)
    assert isinstance(agents[0], Alternates)
    seen = list(agents[0].seen)
    MatchAivat()(rotation, [agents], record)
    assert agents[0].seen == seen
    assert record.unknown == {}
    assert len(record.aivat) == 10
    without = replace(record, unknown={"alternates": "for a test"})
    MatchAivat()(rotation, [agents], without)
    assert np.std([row[0] for row in record.aivat]) < np.std([row[0] for row in without.aivat])


def test_learning_agent_is_not_queried_at_a_table_where_it_plays(tmp_path: Path) -> None:
    agents = [AgentSpec("alternates", Alternates, {}), AgentSpec("random", randomly, {})]
    lineups = [
        play(tmp_path / str(tables), 60, agents=agents, session=6, tables=tables, aivat=True).lineups[0]
        for tables in (1, 3)
    ]
    assert lineups[0].log.read_bytes() == lineups[1].log.read_bytes()
    np.testing.assert_array_equal(lineups[0].payoffs(aivat=True), lineups[1].payoffs(aivat=True))
    assert not lineups[1].unknown


class Fickle(AlwaysCall):
    """Alternates between raising and calling each time it is asked."""

    repeatable = False
    quick_policy = ""

    def __init__(self) -> None:
        super().__init__(name="fickle")
        self.asked = self.started = 0
        self._raiser = AlwaysRaise(name="raiser", raises=[1])

    def start_hand(self, seat: int) -> None:
        self.started += 1

    def policy(self, state: HandState) -> Policy:
        self.asked += 1
        return self._raiser.policy(state) if self.asked % 2 else super().policy(state)


def test_agent_with_changing_answers_counts_by_the_action_played(tmp_path: Path) -> None:
    agents = [AgentSpec("fickle", Fickle, {}), AgentSpec("random", randomly, {})]
    for tables in (1, 3):
        lineup = play(tmp_path / str(tables), 60, agents=agents, session=6, tables=tables, aivat=True).lineups[0]
        assert not lineup.unknown
        assert lineup.sd_per_hand(aivat=True) < 0.8 * lineup.sd_per_hand()
    play(tmp_path / "stored", 30, agents=agents)
    stored = play(tmp_path / "stored", 60, agents=agents, aivat=True).lineups[0]
    reason = "policy unavailable: its policy may change and was not recorded during play"
    assert stored.unknown == {"fickle": reason}


class Moody(Opaque):
    """Alternates between raising and calling, and tells the policy of its last action."""

    repeatable = False

    def __init__(self) -> None:
        super().__init__("moody")
        self._fickle = Fickle()

    def act(self, state: HandState) -> int:
        self._last = self._fickle.policy(state)
        return self._last[0][0]

    def policy(self, state: HandState) -> Policy:
        return self._last


def test_agent_that_draws_its_own_numbers_is_queried_right_after_its_action(tmp_path: Path) -> None:
    agents = [AgentSpec("moody", Moody, {}), AgentSpec("random", randomly, {})]
    lineup = play(tmp_path, 40, agents=agents, session=5, aivat=True).lineups[0]
    assert not lineup.unknown
    assert not lineup.incidents
    assert lineup.sd_per_hand(aivat=True) < 0.8 * lineup.sd_per_hand()


def test_estimates_beside_an_agent_that_learns_start_no_hand_of_one_that_plays_against_time() -> None:
    rotation, fickle = Rotation(LEDUC, 1, 5), Fickle()
    agents: list[Agent] = [Alternates(), fickle]
    record = play_session(rotation, LineUp(("alternates", "fickle")), [agents], 0)
    questions = fickle.asked
    MatchAivat()(rotation, [agents], record)
    assert record.unknown == {}
    assert (fickle.started, fickle.asked) == (10, questions)


class Fails(RandomAgent):
    """Fails in the second round, and in the first with a king facing a raise; unless `often`, in four hands only."""

    def __init__(self, often: bool = True) -> None:
        super().__init__(name="fails", raises=[1])
        self.often = often
        self.hands = 0

    def start_hand(self, seat: int) -> None:
        self.hands += 1

    def act(self, state: HandState) -> int:
        king = state.hole_cards[state.to_act][0] // 2 == 2
        if (self.often or 100 <= self.hands < 104) and (state.street == 1 or (king and state.betting.to_call > 0)):
            raise ValueError("lost the thread")
        return super().act(state)


def truth(rules: Rules) -> float:
    """Chips a hand that `Fails` wins from always raising, both seats averaged: every deal and every draw enumerated."""
    random, raiser = randomly(), AlwaysRaise(name="raiser", raises=[1])

    def value(state: HandState, seat: int) -> float:
        if state.is_over:
            return state.payoffs()[seat]
        agent = random if state.to_act == seat else raiser
        king = state.hole_cards[seat][0] // 2 == 2
        if agent is random and (state.street == 1 or (king and state.betting.to_call > 0)):
            return value(state.apply(FOLD if state.legal().fold else CALL), seat)
        actions, probs = agent.policy(state)
        row = probs[hand_number(state, state.to_act)]
        return sum(float(p) * value(state.apply(action), seat) for action, p in zip(actions, row, strict=True) if p)

    deals = permutations(range(rules.deck_size), 3)
    states = [HandState.start(rules, [(first,), (second,)], (board,)) for first, second, board in deals]
    return float(np.mean([value(state, seat) for state in states for seat in range(2)]))


def play_failing(out: Path, hands: int, often: bool) -> Results:
    agents = [
        AgentSpec("fails", partial(Fails, often), {}),
        AgentSpec("raiser", partial(AlwaysRaise, name="raiser", raises=[1]), {}),
    ]
    return play(out, hands, agents=agents, aivat=True).lineups[0]


@pytest.mark.slow
def test_estimates_stay_unbiased_when_an_agent_fails_with_some_hands(tmp_path: Path) -> None:
    """Chips in place of the estimates of failed hands would be off by 200 mbb, taking the policy for true by 1,400."""
    expected = 1000 * truth(LEDUC)
    table = play_failing(tmp_path, 6000, often=True)
    assert len(table.incidents) > 3000
    assert set(table.unknown) == {"fails"}
    chips, reduced = table.estimates()[0], table.estimates(aivat=True)[0]
    assert abs(chips.mean - expected) < 1.5 * chips.half_width
    assert abs(reduced.mean - expected) < 1.5 * reduced.half_width
    assert reduced.half_width < 60
    assert expected == pytest.approx(-8000 / 3, abs=0.01)


def test_one_failure_revises_the_estimates_of_all_hands(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    table = play_failing(tmp_path / "rare", 200, often=False)
    assert 1 <= len(table.incidents) <= 8
    [log] = (tmp_path / "rare" / "leduc" / "hands").glob("*.aivat.jsonl")
    rows = [json.loads(line) for line in log.read_text().splitlines()]
    assert [row[0] for row in rows] == list(range(200))
    assert all(set(row[2]) == {"fails"} for row in rows)
    rotation = Rotation(LEDUC, 3, 1)
    agents: list[Agent] = [Fails(False), AlwaysRaise(name="raiser", raises=[1])]
    record = SessionRecord(lines=[line for line in table.log.read_text().splitlines() if line.startswith("STATE")])
    record.unknown = {"fails": "for a test"}
    MatchAivat()(rotation, [agents], record)
    assert [row[1] for row in rows] == record.aivat
    expected = np.array(record.aivat).reshape(100, 2, 2).mean(axis=1) * 1000
    assert np.allclose(table.values(aivat=True), expected)
    assert table.sd_per_hand(aivat=True) == pytest.approx(1000 * np.std([row[0] for row in record.aivat], ddof=1))
    assert "fails counts as unknown in AIVAT at fails vs raiser" in " ".join(capsys.readouterr().out.split())
    written = json.loads(next(tmp_path.glob("rare/leduc/fails-raiser-*/results.json")).read_text())
    assert written["lineups"][0]["unknown_to_aivat"]["fails"].startswith("it failed: ValueError: lost the thread (")
    again = play_failing(tmp_path / "rare", 200, often=False)
    assert again.kept == 200
    assert again.estimates(aivat=True) == table.estimates(aivat=True)


def test_fallback_answers_where_no_agent_is_quick() -> None:
    built = 0

    def fallback() -> RandomAgent:
        nonlocal built
        built += 1
        return randomly()

    rotation = Rotation(LEDUC, 1, 300)
    plain, helped = (play_session(rotation, LineUp(("slow", "other")), [[Slow(), Slow()]], 0) for _ in range(2))
    MatchAivat()(rotation, [[Slow(), Slow()]], plain)
    MatchAivat(fallback)(rotation, [[Slow(), Slow()]], helped)
    assert built == len(helped.lines)
    assert 1.1 * np.std([row[0] for row in helped.aivat]) < np.std([row[0] for row in plain.aivat])
    quick = play_session(rotation, LineUp(("slow", "caller")), [[Slow(), caller()]], 0)
    MatchAivat(fallback)(rotation, [[Slow(), caller()]], quick)
    unknown = play_session(Rotation(LEDUC, 1, 2), LineUp(("opaque", "other")), [[Opaque(), Opaque()]], 0)
    MatchAivat(fallback)(Rotation(LEDUC, 1, 2), [[Opaque(), Opaque()]], unknown)
    assert built == len(helped.lines)
