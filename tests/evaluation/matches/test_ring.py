import json
import re
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from poker.agents.simple import AlwaysCall, AlwaysRaise, RandomAgent
from poker.errors import PokernetsError
from poker.evaluation.matches.ring import run, with_players
from poker.evaluation.matches.ring_results import RingResults, flows, opponent_class
from poker.evaluation.matches.table import AgentSpec, Schedule, Table, play_session, play_session_by_deal
from poker.rules import Rules
from tests.games import load_rules
from tests.report.scalars import read_scalars


def build_random() -> RandomAgent:
    return RandomAgent(name="random", raises=(1,))


def build_caller() -> AlwaysCall:
    return AlwaysCall(name="caller")


def build_raiser() -> AlwaysRaise:
    return AlwaysRaise(name="raiser", raises=1)


SPECS = [
    AgentSpec("random", build_random, {"tightness": 0.2, "aggressiveness": 0.5}),
    AgentSpec("caller", build_caller, {"tightness": 0.6, "aggressiveness": 0.1}),
    AgentSpec("raiser", build_raiser, {}),
]


def play(out: Path, *, game: str = "holdem_limit_3p", **options: Any) -> RingResults:
    settings: dict[str, Any] = {"contrasts": [["caller", "random+raiser"]], "agents": SPECS, "players": None}
    settings |= {"hands": 60, "session": 5, "seed": 1, "processes": 1, "fresh": False, **options}
    return run(game=load_rules(game), out=str(out), **settings)


def test_flows_are_who_paid_whom() -> None:
    """One winner takes all losses; two winners share a loss 3 to 1; nobody pays himself."""
    found = flows(np.array([[30.0, -10.0, -20.0], [15.0, 5.0, -20.0], [0.0, 0.0, 0.0]]))
    np.testing.assert_allclose(found[0], [[0, 10, 20], [-10, 0, 0], [-20, 0, 0]])
    np.testing.assert_allclose(found[1], [[0, 0, 15], [0, 0, 5], [-15, -5, 0]])
    np.testing.assert_allclose(found[2], 0)


def test_report_adds_up(tmp_path: Path) -> None:
    results = play(tmp_path)
    assert results.hands == 60
    assert len(results.deals()) == 10
    np.testing.assert_allclose(results.deals().sum(axis=2), 0, atol=1e-12)
    record = json.loads(next(tmp_path.glob("ring-holdem_limit_3p-*.json")).read_text())
    means = {name: agent["mean"] for name, agent in record["agents"].items()}
    assert sum(means.values()) == pytest.approx(0, abs=1e-4)
    for name, agent in record["agents"].items():
        assert np.mean([seat["mean"] for seat in agent["by_seat"]]) == pytest.approx(means[name], abs=1e-4)
        assert sum(row["mean"] for row in agent["won_from_class"].values()) == pytest.approx(means[name], abs=1e-4)
    assert record["agents"]["raiser"]["class"] == "raiser"
    contrast = record["contrasts"][0]["mean"]
    assert contrast == pytest.approx(means["caller"] - (means["random"] + means["raiser"]) / 2, abs=1e-4)


def test_the_page_has_what_the_record_has(tmp_path: Path) -> None:
    results = play(tmp_path)
    [file] = tmp_path.glob("ring-holdem_limit_3p-*.json")
    page = file.with_suffix(".html").read_text()
    assert "agents learn from deal to deal for sessions of 5" in page
    assert "agents learn" in json.loads(file.read_text())["unit"]
    for found in [*results.by_seat("raiser"), *results.by_class()["caller"].values()]:
        assert f"<td>{found!s}</td>" in page
    assert page.count("<svg") == 3  # first decisions of each agent
    assert file.with_suffix(".png").read_bytes().startswith(b"\x89PNG")
    [row] = re.findall(r"<td>caller</td><td>0</td><td>\d+</td><td>([\d.,]+)</td>", page)
    median = float(np.median(results.decisions["caller", 0]))
    assert float(row.replace(",", "")) == pytest.approx(1e3 * median, rel=1e-3)
    scalars = read_scalars(file.with_suffix(""))
    [(deals, mean)] = scalars["raiser/sb_per_hand"]
    assert deals == 10
    assert mean == pytest.approx(float(results.result(["raiser"]).mean()), abs=1e-6)
    assert len([tag for tag in scalars if re.fullmatch(r"random/seat_\d", tag)]) == 3
    assert "contrasts/caller_less_random+raiser" in scalars


def test_sessions_are_the_units_of_the_other_interval(tmp_path: Path) -> None:
    results = play(tmp_path)
    found = results.over_sessions(results.result(["caller"]))
    assert found.n == 2
    means = [results.nets[session][:, :, 1].mean() for session in (0, 1)]
    assert found.mean == pytest.approx(np.mean(means))
    assert found.sd == pytest.approx(np.std(means, ddof=1))
    assert "learn" not in play(tmp_path / "short", session=1).caveat


def test_runs_continue_and_keep_what_was_played(tmp_path: Path) -> None:
    short = play(tmp_path, hands=30).deals()
    longer = play(tmp_path, hands=60)
    np.testing.assert_array_equal(longer.deals()[:5], short)
    np.testing.assert_array_equal(play(tmp_path / "other", hands=60).deals(), longer.deals())
    assert longer.decisions
    assert play(tmp_path, hands=60).decisions == {}
    assert play(tmp_path, hands=60, fresh=True).decisions


def test_short_lists_are_repeated_and_tables_resized(tmp_path: Path) -> None:
    results = play(tmp_path, hands=5, players=5, agents=SPECS[:2], contrasts=[], session=1)
    assert results.table.players == ("random", "caller", "random", "caller", "random")
    assert results.schedule.rules.name == "holdem_limit_5p"
    assert results.places("random") == [0, 2, 4]


@pytest.mark.parametrize("players", range(2, 11))
def test_resized_games_are_the_configured_ones(players: int) -> None:
    found = with_players(load_rules("holdem_limit_10p"), players)
    assert found.num_players == players
    if players in {2, 3, 10}:
        assert found == load_rules(f"holdem_limit_{players}p")


@pytest.mark.parametrize("game", ["leduc", "kuhn"])
def test_tables_whose_rules_would_change_keep_their_size(game: str) -> None:
    rules = load_rules(game)
    assert with_players(rules, 2) == rules
    with pytest.raises(PokernetsError, match=f"the table of `{game}` cannot be resized"):
        with_players(rules, 3)


@pytest.mark.parametrize("game", ["holdem_limit_2p", "holdem_limit_3p", "holdem_nolimit_2p"])
def test_tables_of_any_size_are_resized(game: str) -> None:
    assert with_players(load_rules(game), 6).num_players == 6


def test_by_deal_and_by_seating_give_the_same_hands() -> None:
    rules: Rules = load_rules("holdem_limit_3p")
    schedule, table = Schedule(rules, 3, 4), Table(("random", "raiser", "random"))
    cast = [build_random(), build_raiser(), build_random()]
    casts = [[build_random(), build_raiser(), build_random()] for _ in schedule.seatings]
    by_seating = play_session(schedule, table, cast, 1)
    by_deal = play_session_by_deal(schedule, table, casts, 1)
    assert by_deal.lines == by_seating.lines
    assert by_deal.payoffs == by_seating.payoffs
    assert {key: len(times) for key, times in by_deal.seconds.items()} == {
        key: len(times) for key, times in by_seating.seconds.items()
    }


def test_classes_follow_the_settings() -> None:
    assert [opponent_class(spec) for spec in SPECS] == ["loose aggressive", "tight passive", "raiser"]


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"contrasts": [["caller", "ghost"]]}, "`ghost` is not among"),
        ({"contrasts": [["caller"]]}, "two groups"),
        ({"players": 11}, "2 to 10"),
        ({"players": 2}, "seats 2 players"),
        ({"agents": [SPECS[0], SPECS[0]]}, "each once"),
        ({"hands": 0}, "at least 1"),
    ],
)
def test_mistakes_are_named(tmp_path: Path, options: dict[str, Any], message: str) -> None:
    with pytest.raises(PokernetsError, match=message):
        play(tmp_path, **options)
