"""Rings of players, and `evaluate=lbr`, as commands and from Python."""

import json
import re
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from conf.compose import compose
from poker.agents.base import Agent
from poker.agents.local_best_response import LbrActions, LbrStreet, geometric_sizes
from poker.agents.searching.heads_up import DepthLimitedAgent
from poker.agents.simple import AlwaysCall, AlwaysRaise, RandomAgent
from poker.evaluation.matches.match_results import MatchResults
from poker.game.rules import Rules
from poker.game.state import HandState
from poker.play.lineup import AgentSpec, BuiltOnce, LineUp, Rotation
from poker.play.session import play_session
from poker.run.errors import PokernetsError
from poker.run.parallel import LocalCluster
from poker.solve.solution import RoundSolution
from poker.solve.solver import DepthLimitedSolver
from poker.solve.types import Request, SolverSettings
from poker.tree import bet_menu
from tests.cases import cases
from tests.commands import run_here
from tests.games import load_rules, resolve
from tests.matches import caller, play_match
from tests.report.test_scalars import read_scalars
from tests.search.even_leaf import even_solver

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


def test_page_and_record_have_the_same_results(tmp_path: Path) -> None:
    match = play(tmp_path, hands=90)
    [results] = match.lineups
    [folder] = tmp_path.glob("holdem_limit_3p/random-*")
    page = (folder / "report.html").read_text()
    assert "Agents learn during sessions of 5 deals" in page
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


def test_short_lists_are_repeated(tmp_path: Path) -> None:
    [results] = play(tmp_path, hands=6, agents=SPECS[:2], contrasts=[], session=1).lineups
    assert results.lineup.players == ("random", "caller", "random")
    assert results.places(["random"]) == [0, 2]


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


STREET = LbrStreet(fold=True, raises=[1])


def play_lbr(
    out: Path,
    adversaries: list[str],
    processes: int = 1,
    game: str = "leduc",
    agent: str = "caller",
    *,
    tables: int = 1,
    hands: int = 400,
    aivat: bool = True,
    measured: AgentSpec | None = None,
) -> MatchResults:
    learning = partial(Learning, name="learning")
    builds: dict[str, Callable[[], Agent]] = {"caller": caller, "solving": solving, "learning": learning}
    return play_match(
        out,
        load_rules(game),
        [AgentSpec(agent, builds[agent], {})],
        measured=measured,
        adversary={"greedy": LbrActions([STREET] * 4)},
        adversaries=adversaries,
        hands=hands,
        tables=tables,
        aivat=aivat,
        fallback=AgentSpec("caller", caller, {}),
        cluster=LocalCluster(processes),
    )


def test_beats_always_call_in_leduc(tmp_path: Path) -> None:
    [result] = play_lbr(tmp_path, ["greedy"]).lineups
    assert result.lineup.labels == ("greedy@caller", "caller")
    reduced = result.estimates(aivat=True)[0]
    assert 1000 < reduced.mean < 1900
    assert reduced.half_width < result.estimates()[0].half_width


def test_the_agent_of_a_ladder_is_first_in_every_line_up(tmp_path: Path) -> None:
    results = play_lbr(tmp_path, ["greedy"], hands=20, agent="learning", measured=AgentSpec("caller", caller, {}))
    assert [result.lineup.players[1] for result in results.lineups] == ["learning", "greedy@caller"]
    assert {result.lineup.players[0] for result in results.lineups} == {"caller"}
    assert results.contrasts() == []


class Learning(AlwaysCall):
    def end_hand(self, state: HandState) -> None:
        """Learns nothing, and could."""


def solving() -> DepthLimitedAgent:
    menu = bet_menu(preflop=[["a"], []], flop=[[1.0], []], turn=[[1.0], []], river=[[1.0], []])
    solver = SolverSettings("apdcfr_short", (4, 4, 2, 6), 1)
    return even_solver(menu=menu, ahead=menu, solver=solver, remembered_states=2)


def test_tables_side_by_side_play_and_estimate_the_same_hands(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Solves wait for each other, and estimates need none that play has not done."""
    sizes: list[int] = []
    together = DepthLimitedSolver.together

    def counted(self: DepthLimitedSolver, requests: Sequence[Request]) -> list[RoundSolution]:
        sizes.append(len(requests))
        return together(self, requests)

    monkeypatch.setattr(DepthLimitedSolver, "together", counted)
    means, solves = {}, {}
    for tables, aivat in ((1, True), (8, True), (8, False)):
        sizes.clear()
        out = tmp_path / f"{tables}{aivat}"
        [result] = play_lbr(
            out, ["greedy"], 1, "holdem_nolimit_2p", "solving", tables=tables, aivat=aivat, hands=16
        ).lineups
        means[tables, aivat], solves[tables, aivat] = result, sizes.copy()
    for aivat in (True, False):
        np.testing.assert_array_equal(means[8, True].payoffs(aivat=aivat), means[1, True].payoffs(aivat=aivat))
    assert max(solves[1, True]) == 1
    assert max(solves[8, True]) >= 4
    assert sum(solves[8, True]) == sum(solves[8, False])


def test_agents_that_learn_have_one_table(tmp_path: Path) -> None:
    assert play_lbr(tmp_path, ["greedy"], agent="learning", hands=2).lineups
    with pytest.raises(PokernetsError, match="`learning` depends on the earlier hands of its table"):
        play_lbr(tmp_path, ["greedy"], agent="learning", tables=2)


def test_unknown_adversary(tmp_path: Path) -> None:
    with pytest.raises(PokernetsError, match="must name some of greedy, not timid"):
        play_lbr(tmp_path, ["timid"])


def test_an_agent_is_built_once() -> None:
    shared = BuiltOnce(caller)
    assert shared() is shared()


def test_fifty_six_sizes() -> None:
    sizes = geometric_sizes(smallest=0.1, largest=100, count=56)
    assert (len(sizes), sizes[0], sizes[-2], sizes[-1]) == (56, 0.1, 100, "a")
    config: Any = resolve(compose("evaluate", ["evaluate=lbr"])["adversary"])
    assert config["lbr_flop_sizes"]["streets"][1]["raises"] == pytest.approx([0.33 * 2**x for x in range(11)])
    assert config["lbr_fold_call"]["opening"] == config["lbr_flop_sizes"]["opening"] == 0.75


@pytest.mark.slow
def test_command(tmp_path: Path) -> None:
    command = ("evaluate", "evaluate=lbr", "game=leduc", f"runs={tmp_path}", "hands=20")
    refused = run_here(*command, "agents=[equity]")
    assert refused.returncode == 2
    assert refused.stderr.startswith("error: the agent `equity` has no policy interface")
    assert run_here(*command, "agents=[random]", "adversaries=[lbr_fcpa]", "cluster.processes=1").returncode == 0
    [file] = (tmp_path / "lbr" / "leduc").glob("*/results.json")
    record = json.loads(file.read_text())
    configuration = record["configuration"]
    assert configuration["adversaries"] == ["lbr_fcpa"]
    assert [configuration["settings"][key] for key in ("hands", "seed", "aivat")] == [20, 1, True]
    assert configuration["agents"]["random"]["_target_"] == "poker.agents.simple.RandomAgent"
    assert configuration["fallback"]["settings"]["name"] == "blueprint"
    assert "hands=20 'agents=[random]'" in record["command"]
    [table] = record["lineups"]
    assert table["hands"] == 20
    assert table["players"][0]["agent"] == "lbr_fcpa@random"
