import json
import os
import re
from collections.abc import Callable
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from poker.abstraction.buckets import SmallGameBuckets
from poker.agents.all_in import AllInPlayer
from poker.agents.base import Agent
from poker.agents.blueprint import BlueprintAgent
from poker.agents.local_best_response import LbrActions
from poker.agents.simple import AlwaysCall
from poker.evaluation.matches.match_results import MatchResults
from poker.formats.acpc.log import read_log
from poker.game.rules import CALL
from poker.game.state import Betting, HandState
from poker.play import workers
from poker.play.lineup import AgentSpec, LineUp, Rotation
from poker.play.session import play_session
from poker.report.estimates import estimate
from poker.run.errors import PokernetsError
from poker.run.parallel import LocalCluster
from poker.tree import build_tree
from tests.blueprints import random_blueprint
from tests.games import LEDUC, load_rules
from tests.matches import SPECS, play_match
from tests.report.test_report import check
from tests.run.test_machine import held

SEVEN = [AgentSpec(str(number), partial(AlwaysCall, name="call"), {}) for number in range(7)]


def match(out: Path, **changes: Any) -> MatchResults:
    return play_match(out, **{"game": LEDUC, "agents": SPECS, **changes})


@pytest.mark.parametrize("agents", [SPECS[:2], SEVEN[:6]], ids=["a bar", "a bar of many line-ups"])
def test_the_bar_ends_with_the_result(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], agents: list[AgentSpec]
) -> None:
    results = match(tmp_path, agents=agents)
    last = [line for line in capsys.readouterr().err.splitlines() if "mbb/hand" in line][-1]
    assert last.endswith(f"{results.lineups[-1].best[0]:+} mbb/hand")


class Remembering(AlwaysCall):
    """Records what it is asked to do."""

    def __init__(self) -> None:
        super().__init__(name="memory")
        self.events: list[str] = []

    def reset(self, seed: int) -> None:
        self.events.append("reset")

    def start_hand(self, seat: int) -> None:
        self.events.append(f"seat {seat}")

    def end_hand(self, state: HandState) -> None:
        self.events.append(f"sees {sum(map(bool, state.hole_cards))}")


class Failing(AlwaysCall):
    """Raises an error, answers illegally, and plays on."""

    def __init__(self) -> None:
        super().__init__(name="failing")
        self.count = 0

    def act(self, state: HandState) -> int:
        self.count += 1
        if self.count % 3 == 1:
            raise ValueError("lost the [/thread]")
        return 10**6 if self.count % 3 == 2 else CALL


class Unresettable(AlwaysCall):
    """Can be reset for the first `times` runs of hands only."""

    def __init__(self, times: int) -> None:
        super().__init__(name="unresettable")
        self.times = times

    def reset(self, seed: int) -> None:
        self.times -= 1
        if self.times < 0:
            raise ValueError("no way back")


class Mute:
    """An agent without `act`."""

    def __init__(self) -> None:
        self.name = "mute"

    def reset(self, seed: int) -> None:
        """Do nothing."""

    def start_hand(self, seat: int) -> None:
        """Do nothing."""


def cannot_be_built() -> AlwaysCall:
    raise RuntimeError("a part is missing")


def report_of(folder: Path, names: str) -> Path:
    """The folder of the one report on these agents."""
    [report] = folder.glob(f"{names}-seed*")
    return report


def hands_of(folder: Path) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in sorted(folder.glob("**/hands/*.log"))}


def test_every_deal_is_played_in_every_seating(tmp_path: Path) -> None:
    results = match(tmp_path)
    assert [result.lineup.title for result in results.lineups] == ["call vs raise", "call vs random", "raise vs random"]
    cards = []
    for result in results.lineups:
        hands = list(read_log(LEDUC, result.log))
        assert [hand.number for hand in hands] == list(range(40))
        first, second = hands[::2], hands[1::2]
        assert all(a.names == b.names[::-1] for a, b in zip(first, second, strict=True))
        assert all(a.state.hole_cards == b.state.hole_cards for a, b in zip(first, second, strict=True))
        cards.append([hand.state.hole_cards for hand in hands])
    assert cards[0] == cards[1] == cards[2]


def test_results_are_the_payoffs_of_the_log(tmp_path: Path) -> None:
    results = match(tmp_path, hands=200)
    written = json.loads((report_of(tmp_path / "leduc", "call-raise-random") / "results.json").read_text())
    for result, table in zip(results.lineups, written["lineups"], strict=True):
        label = result.lineup.labels[0]
        hands = list(read_log(LEDUC, result.log))
        chips = [hand.payoffs[hand.names.index(label)] for hand in hands]
        deals = np.array(chips).reshape(-1, 2).mean(axis=1) * 1000
        assert table["players"][0]["mean"] == pytest.approx(deals.mean())
        half_width = 1.984 * deals.std(ddof=1) / 10 or None  # not known of 100 equal results
        assert table["players"][0]["half_width_95"] == (half_width and pytest.approx(half_width, rel=0.02))
        assert table["players"][0]["units"] == 100
        assert table["players"][1]["mean"] == pytest.approx(-deals.mean())
    assert written["seed"] == 1
    assert written["game"] == "leduc"
    assert written["machine"]["cores"] >= 1
    assert sum(agent["mean"] for agent in written["agents"].values()) == pytest.approx(0)


def test_same_seed_same_bytes_and_other_seed_other_hands(tmp_path: Path) -> None:
    match(tmp_path / "a")
    match(tmp_path / "b")
    assert hands_of(tmp_path / "a") == hands_of(tmp_path / "b")
    match(tmp_path / "c", seed=2)
    assert len(set(hands_of(tmp_path / "c").values()) & set(hands_of(tmp_path / "a").values())) == 0


@pytest.mark.parametrize("session", [1, 5])
@pytest.mark.slow
def test_processes_do_not_change_the_hands(tmp_path: Path, session: int, monkeypatch: pytest.MonkeyPatch) -> None:
    one = match(tmp_path / "one", session=session)
    monkeypatch.setattr(workers, "_is_long", lambda *pace: True)
    two = match(tmp_path / "two", session=session, cluster=LocalCluster(2))
    assert hands_of(tmp_path / "one") == hands_of(tmp_path / "two")
    assert one.by_agent() == two.by_agent()


def test_more_hands_continue_and_fewer_are_a_prefix(tmp_path: Path) -> None:
    match(tmp_path / "whole", hands=60)
    match(tmp_path / "grown", hands=20)
    grown = match(tmp_path / "grown", hands=60)
    assert [result.kept for result in grown.lineups] == [20, 20, 20]
    assert hands_of(tmp_path / "grown") == hands_of(tmp_path / "whole")
    part = match(tmp_path / "whole", hands=20)
    assert part.by_agent() == match(tmp_path / "part", hands=20).by_agent()
    again = match(tmp_path / "whole", hands=60, fresh=True)
    assert [result.kept for result in again.lineups] == [0, 0, 0]


def test_hands_after_a_kill_are_dropped_and_played_again(tmp_path: Path) -> None:
    match(tmp_path, hands=60, session=3)
    whole = hands_of(tmp_path)
    for path in tmp_path.glob("leduc/hands/*.log"):
        text = path.read_text().splitlines(keepends=True)
        path.write_text("".join(text[:20]) + text[25][:30])
    resumed = match(tmp_path, hands=60, session=3)
    assert [result.kept for result in resumed.lineups] == [18, 18, 18]
    assert hands_of(tmp_path) == whole


def test_lines_that_a_kill_cut_short_do_not_spoil_later_ones(tmp_path: Path) -> None:
    specs = [AgentSpec("failing", Failing, {}), SPECS[1]]
    for folder in ("killed", "whole"):
        match(tmp_path / folder, agents=specs, hands=40, aivat=True)
    hands = tmp_path / "killed" / "leduc" / "hands"
    for name, begun in (("aivat", "[40, [0.0"), ("commits", '[20, 20, "abc'), ("failures", '{"agent": "fail')):
        [path] = hands.glob(f"*.{name}.jsonl")
        path.write_text(path.read_text() + begun)
    for _ in range(2):
        resumed = match(tmp_path / "killed", agents=specs, hands=60, aivat=True)
    whole = match(tmp_path / "whole", agents=specs, hands=60, aivat=True)
    assert hands_of(tmp_path / "killed") == hands_of(tmp_path / "whole")
    [table], [expected] = resumed.lineups, whole.lineups
    assert table.kept == 60
    assert np.array_equal(table.values(aivat=True), expected.values(aivat=True))
    assert len(table.incidents) == len(expected.incidents)
    [path] = hands.glob("*.aivat.jsonl")
    path.write_text("nonsense\n" + path.read_text())
    with pytest.raises(PokernetsError, match=r"aivat\.jsonl has a line that is not JSON"):
        match(tmp_path / "killed", agents=specs, hands=60, aivat=True)


def test_foreign_lines_in_a_log_are_refused(tmp_path: Path) -> None:
    match(tmp_path)
    path = next(tmp_path.glob("leduc/hands/*.log"))
    path.write_text("SOMETHING\n")
    with pytest.raises(PokernetsError, match="has a line that is not a hand"):
        match(tmp_path)


def test_agents_are_reset_seated_and_see_the_end_of_hands(tmp_path: Path) -> None:
    agents = [Remembering(), Remembering()]
    rotation = Rotation(LEDUC, seed=1, session=2)
    play_session(rotation, LineUp(("memory", "memory")), [agents], 0)
    assert agents[0].events == ["reset", "seat 0", "sees 2", "seat 0", "sees 2", "reset", *(["seat 1", "sees 2"] * 2)]
    assert agents[1].events[1] == "seat 1"


def test_failing_agent_is_named_and_the_match_continues(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    specs = [AgentSpec("failing", Failing, {}), SPECS[1]]
    results = match(tmp_path, agents=specs, hands=10)
    assert results.lineups[0].hands == 10
    errors = {incident.error for incident in results.lineups[0].incidents}
    assert any(error.startswith("ValueError: lost the [/thread] (") for error in errors)
    assert any(error.startswith("IllegalAction: illegal action `raise to 1000000`") for error in errors)
    written = json.loads((report_of(tmp_path / "leduc", "failing-raise") / "results.json").read_text())
    assert written["lineups"][0]["incidents"][0]["agent"] == "failing"
    count = len(results.lineups[0].incidents)
    assert f"failing failed {count} times" in capsys.readouterr().out
    again = match(tmp_path, agents=specs, hands=10)
    assert again.lineups[0].kept == 10
    assert len(again.lineups[0].incidents) == count


def test_an_agent_that_cannot_be_reset_is_named_once_a_hand(tmp_path: Path) -> None:
    message, absent = r"not reset: .*ValueError: no way back \(.*test_match.py, line \d+\)", 70
    specs = [AgentSpec("broken", partial(Unresettable, 30), {}), SPECS[1]]
    [table] = match(tmp_path, agents=specs, hands=100, aivat=True).lineups
    assert table.hands == 100
    assert [incident.hand for incident in table.incidents] == list(range(100 - absent, 100))
    assert all(incident.agent == "broken" for incident in table.incidents)
    assert all(re.search(message, incident.error) for incident in table.incidents)
    assert "no way back" in table.incidents[0].trace
    folded = [hand for hand in read_log(LEDUC, table.log) if hand.state.betting.folded[hand.names.index("broken")]]
    assert len(folded) == absent  # to the first raise


@pytest.mark.parametrize(
    ("build", "message"),
    [
        (
            cannot_be_built,
            r"`broken` cannot be built: .*RuntimeError: a part is missing \(.*test_match.py, line \d+\)$",
        ),
        (Mute, "`broken`: its class .*Mute must inherit poker.agents.base.Agent"),
    ],
)
def test_an_agent_that_cannot_play_is_refused_before_the_first_hand(
    tmp_path: Path, build: Callable[[], Agent], message: str
) -> None:
    with pytest.raises(PokernetsError, match=message):
        match(tmp_path, agents=[AgentSpec("broken", build, {}), SPECS[1]])


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"agents": SPECS[:1]}, r"`leduc` needs 2, but `agents` has 1: .* lineups=\[\[call,call\]\]"),
        ({"agents": [SPECS[0], SPECS[0]]}, "names an agent twice: call, call"),
        ({"lineups": [["call", "fold"]]}, r"line-up \[call, fold\]: `fold` is not among `agents`"),
        ({"lineups": [["call"]]}, "has 1 of 2 players"),
        ({"lineups": []}, "`lineups` is empty"),
        ({"half_width": 0.0}, "must be positive or null"),
        (
            {"agents": [SPECS[0], AgentSpec("josé", SPECS[1].factory, {})]},
            "player name `josé`: a name in a log is ASCII",
        ),
        ({"hands": 0}, "`hands` and `session` must be at least 1"),
        ({"tables": 0}, "`tables` must be at least 1"),
        ({"agents": SEVEN, "game": load_rules("holdem_nolimit_6p")}, "needs 6, but `agents` has 7"),
    ],
)
def test_impossible_matches_are_refused(tmp_path: Path, changes: dict[str, Any], message: str) -> None:
    with pytest.raises(PokernetsError, match=message):
        match(tmp_path, **changes)


def test_an_agent_that_does_not_play_the_game_is_refused_before_the_first_hand(tmp_path: Path) -> None:
    """The agent is refused by itself, and as the target of a local best response."""
    agents = [AgentSpec("all_in", partial(AllInPlayer, name="all_in", share=0.5), {}), SPECS[0]]
    lbr: dict[str, Any]
    for lbr in ({}, {"adversary": {"lbr": LbrActions([])}, "adversaries": ["lbr"]}):
        with pytest.raises(PokernetsError, match="`all_in` plays heads-up no-limit hold'em, not `leduc`"):
            match(tmp_path, agents=agents, **lbr)
    assert not [line for log in tmp_path.rglob("*.log") for line in log.read_text().splitlines() if line[0] != "#"]


def test_blueprints_are_played_in_the_game_that_they_were_made_for(tmp_path: Path) -> None:
    """Stacks and blinds may differ, as in reviews."""
    kuhn, cards = load_rules("kuhn"), SmallGameBuckets(load_rules("kuhn"))
    blueprint = random_blueprint(build_tree(Betting.start(kuhn)), cards)
    build = partial(BlueprintAgent, name="kuhn", blueprint=blueprint, translation_seed=0)
    agents = [AgentSpec("kuhn", build, {}), SPECS[0]]
    with pytest.raises(PokernetsError, match=r"`kuhn` plays was made for `kuhn`, where num_suits is 1"):
        match(tmp_path, agents=agents)
    deeper = replace(kuhn, name="deeper", stacks=(5, 5))
    assert match(tmp_path, game=deeper, agents=agents).lineups[0].hands == 40


def test_games_that_differ_in_stacks_alone_have_reports_of_their_own(tmp_path: Path) -> None:
    for stacks in (LEDUC.stacks, (7, 7)):
        match(tmp_path, game=replace(LEDUC, stacks=stacks), agents=SPECS[:2])
    assert len(list(tmp_path.glob("leduc/*/results.json"))) == 2


@pytest.mark.slow
def test_match_stops_when_the_interval_is_narrow(tmp_path: Path) -> None:
    agents = [SPECS[0], SPECS[2]]
    whole = match(tmp_path / "whole", agents=agents, hands=2000, half_width=0.001).lineups[0]
    assert whole.stopped_at is None
    wanted = whole.estimates()[0].half_width * 2
    early = match(tmp_path / "early", agents=agents, hands=2000, half_width=wanted).lineups[0]
    assert early.stopped_at is not None
    assert 400 <= early.stopped_at < 700
    assert early.estimates()[0].n == early.stopped_at
    assert early.estimates()[0].half_width <= wanted
    before = estimate(whole.values()[: early.stopped_at * 10 // 11 - 1, 0])
    assert before.half_width > wanted or early.stopped_at == 400
    same = match(tmp_path / "many", agents=agents, hands=2000, half_width=wanted, cluster=LocalCluster(2)).lineups[0]
    assert same.estimates() == early.estimates()
    again = match(tmp_path / "many", agents=agents, hands=2000, half_width=wanted).lineups[0]
    assert again.estimates() == early.estimates()


def test_hands_of_other_commits_are_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    for commit, hands in (("one", 20), ("two", 40)):
        for module in ("play.hand_store", "evaluation.matches.match_report", "store.provenance"):
            monkeypatch.setattr(f"poker.{module}.commit", lambda: commit)  # noqa: B023
        match(tmp_path, agents=SPECS[:2], hands=hands)
        out = " ".join(capsys.readouterr().out.split())
        assert ("includes hands of other commits: 20 by one; `fresh=true` plays all again" in out) == (commit == "two")
    written = json.loads(max(tmp_path.glob("leduc/call-raise-*/results.json"), key=os.path.getmtime).read_text())
    assert written["lineups"][0]["hands_by_commit"] == {"one": 20, "two": 20}
    [commits] = tmp_path.glob("leduc/hands/*.commits.jsonl")
    assert [json.loads(line) for line in commits.read_text().splitlines()] == [[0, 9, "one"], [10, 19, "two"]]
    commits.unlink()  # hands from before commits were noted
    match(tmp_path, agents=SPECS[:2], hands=40)
    assert "includes hands of other commits: 40 by unknown" in " ".join(capsys.readouterr().out.split())


def test_hands_that_another_process_plays_are_refused(tmp_path: Path) -> None:
    match(tmp_path, agents=SPECS[:2], hands=10)
    hands = tmp_path / "leduc" / "hands"
    [log] = hands.glob("call-raise-*.log")
    before = log.read_bytes()
    with held(hands, log.stem):
        with pytest.raises(PokernetsError, match=r"another process plays call vs raise .*: wait until it ends"):
            match(tmp_path, agents=SPECS[:2], hands=20, fresh=True)
        assert match(tmp_path, agents=SPECS[1:], hands=10).lineups[0].hands == 10
    assert log.read_bytes() == before
    assert match(tmp_path, agents=SPECS[:2], hands=20).lineups[0].kept == 10


def test_a_match_of_few_deals_has_tables_alone(tmp_path: Path) -> None:
    """No picture and no chart in TensorBoard: means have not begun to settle."""
    match(tmp_path, agents=SPECS[::2], hands=20)
    folder = report_of(tmp_path / "leduc", "call-random")
    assert "img" not in check((folder / "report.html").read_text()).count
    assert {file.name for file in folder.iterdir()} == {"results.json", "report.html"}
