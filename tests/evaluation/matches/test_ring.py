import json
import re
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from poker.agents.simple import AlwaysCall, AlwaysRaise, RandomAgent
from poker.evaluation.matches.match_results import MatchResults
from poker.game.rules import Rules
from poker.play.lineup import AgentSpec, LineUp, Rotation, with_players
from poker.play.session import play_session
from poker.run.errors import PokernetsError
from tests.cases import cases
from tests.games import load_rules
from tests.matches import play_match
from tests.report.test_scalars import read_scalars

SPECS = [
    AgentSpec("random", partial(RandomAgent, name="random", raises=(1,)), {"tightness": 0.2, "aggressiveness": 0.5}),
    AgentSpec("caller", partial(AlwaysCall, name="caller"), {"tightness": 0.6, "aggressiveness": 0.1}),
    AgentSpec("raiser", partial(AlwaysRaise, name="raiser", raises=[1]), {}),
]


def play(out: Path, *, game: str = "holdem_limit_3p", **options: Any) -> MatchResults:
    settings: dict[str, Any] = {"contrasts": [["caller", "random+raiser"]], "agents": SPECS, "hands": 60, "session": 5}
    settings |= {"unit": "sb", "independent": "deal", **options}
    return play_match(out, load_rules(game), **settings)


def record_of(out: Path) -> dict[str, Any]:
    record: dict[str, Any] = json.loads(next(out.glob("*/*/results.json")).read_text())
    return record


def test_report_adds_up(tmp_path: Path) -> None:
    [results] = play(tmp_path).lineups
    assert results.hands == 60
    assert results.values().shape == (10, 3)
    np.testing.assert_allclose(results.values().sum(axis=1), 0, atol=1e-12)
    record = record_of(tmp_path)
    [lineup] = record["lineups"]
    means = {name: agent["mean"] for name, agent in record["agents"].items()}
    assert sum(means.values()) == pytest.approx(0, abs=1e-9)
    for name, agent in lineup["agents"].items():
        assert agent["mean"] == means[name]
        assert agent["over_sessions"]["units"] == 2
    assert record["unit"] == "sb/hand"
    contrast = record["contrasts"][0]["mean"]
    assert contrast == pytest.approx(means["caller"] - (means["random"] + means["raiser"]) / 2)


def test_the_page_has_what_the_record_has(tmp_path: Path) -> None:
    match = play(tmp_path, hands=90)
    [results] = match.lineups
    [folder] = tmp_path.glob("holdem_limit_3p/random-*")
    page = (folder / "report.html").read_text()
    assert "Agents learn from deal to deal for sessions of 5" in page
    assert all(f"<td>{results.over_sessions(spec.name)}</td>" in page for spec in SPECS)
    assert (folder / "results.png").read_bytes().startswith(b"\x89PNG")
    [row] = re.findall(r"<td>caller</td><td[^>]*>[^<]*</td><td>0</td><td>\d+</td><td>([\d.,]+)</td>", page)
    median = float(np.median(results.seconds["caller", 0]))
    assert float(row.replace(",", "")) == pytest.approx(1e3 * median, rel=1e-3)
    scalars = read_scalars(folder)
    title = results.lineup.title.replace(" ", "_")
    steps, means = zip(*scalars[f"strength/{title}/raiser/chips/sb_per_hand"], strict=True)
    assert steps[-1] == 90
    assert means[-1] == pytest.approx(float(results.by_agent("raiser").mean()), abs=1e-6)
    assert {tag.partition("/")[0] for tag in scalars} == {"strength", "uncertainty"}
    assert min(map(len, scalars.values())) > 1


def test_sessions_are_the_units_of_the_other_interval(tmp_path: Path) -> None:
    [results] = play(tmp_path).lineups
    result = results.over_sessions("caller")
    assert result.n == 2
    means = [payoffs[:, :, 1].mean() for payoffs in results.payoffs()]
    assert result.mean == pytest.approx(np.mean(means))
    assert result.sd == pytest.approx(np.std(means, ddof=1))
    [by_session] = play(tmp_path, independent="session").lineups
    assert by_session.estimates()[1] == result


@pytest.mark.slow
def test_rings_stop_and_have_luck_taken_out(tmp_path: Path) -> None:
    [plain] = play(tmp_path / "plain", hands=2400, session=1).lineups
    wanted = 1.2 * plain.estimates()[0].half_width
    [stopped] = play(tmp_path / "plain", hands=2400, session=1, half_width=wanted).lineups
    assert stopped.stopped_at == 400 == stopped.estimates()[0].n
    # of 60 hands the chips' own spread is noise: a seed with one that is usual
    [adjusted] = play(tmp_path / "aivat", aivat=True, hands=60, seed=2).lineups
    np.testing.assert_allclose(adjusted.values(aivat=True).sum(axis=1), 0, atol=1e-9)
    assert adjusted.sd_per_hand(aivat=True) < adjusted.sd_per_hand()


def test_short_lists_are_repeated_and_tables_resized(tmp_path: Path) -> None:
    match = play(tmp_path, hands=5, players=5, agents=SPECS[:2], contrasts=[], session=1)
    [results] = match.lineups
    assert results.lineup.players == ("random", "caller", "random", "caller", "random")
    assert match.game.name == "holdem_limit_5p"
    assert results.places(["random"]) == [0, 2, 4]


@pytest.mark.parametrize("players", range(2, 11))
def test_resized_games_are_the_configured_ones(players: int) -> None:
    rules = with_players(load_rules("holdem_limit_10p"), players)
    assert rules.num_players == players
    if players in {2, 3, 10}:
        assert rules == load_rules(f"holdem_limit_{players}p")


@pytest.mark.parametrize("game", ["leduc", "kuhn"])
def test_tables_whose_rules_would_change_keep_their_size(game: str) -> None:
    rules = load_rules(game)
    assert with_players(rules, 2) == rules
    with pytest.raises(PokernetsError, match=f"the table of `{game}` cannot be resized"):
        with_players(rules, 3)


def test_by_deal_and_by_seating_give_the_same_hands() -> None:
    rules: Rules = load_rules("holdem_limit_3p")
    rotation, table = Rotation(rules, 3, 4), LineUp(("random", "raiser", "random"))
    agents, *copies = [[SPECS[n].build(rules) for n in (0, 2, 0)] for _ in (0, *rotation.seatings)]
    by_seating = play_session(rotation, table, [agents], 1)
    by_deal = play_session(rotation, table, copies, 1)
    assert by_deal.lines == by_seating.lines
    assert by_deal.payoffs == by_seating.payoffs
    assert {key: len(times) for key, times in by_deal.seconds.items()} == {
        key: len(times) for key, times in by_seating.seconds.items()
    }


@cases
def test_mistakes_are_named(tmp_path: Path, options: dict[str, Any], message: str) -> None:
    with pytest.raises(PokernetsError, match=message):
        play(tmp_path, **options)
