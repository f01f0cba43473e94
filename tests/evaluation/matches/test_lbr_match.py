"""`evaluate=lbr` as a command and from Python."""

import json
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
from poker.agents.simple import AlwaysCall
from poker.evaluation.matches.match_results import MatchResults
from poker.game.state import HandState
from poker.play.lineup import AgentSpec, BuiltOnce
from poker.run.errors import PokernetsError
from poker.run.parallel import LocalCluster
from poker.search.round_solver import DepthLimitedSolver, Request, RoundSolution, SolverSettings
from poker.tree import bet_menu
from tests.commands import run_here
from tests.games import load_rules, resolve
from tests.matches import play_match
from tests.search.even_leaf import even_solver

STREET = LbrStreet(fold=True, raises=[1])


def caller() -> AlwaysCall:
    return AlwaysCall(name="caller")


def play(
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
    [result] = play(tmp_path, ["greedy"]).lineups
    assert result.lineup.labels == ("greedy@caller", "caller")
    reduced = result.estimates(aivat=True)[0]
    assert 1000 < reduced.mean < 1900
    assert reduced.half_width < result.estimates()[0].half_width


def test_the_agent_of_a_ladder_is_first_in_every_line_up(tmp_path: Path) -> None:
    results = play(tmp_path, ["greedy"], hands=20, agent="learning", measured=AgentSpec("caller", caller, {}))
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
        [result] = play(
            out, ["greedy"], 1, "holdem_nolimit_2p", "solving", tables=tables, aivat=aivat, hands=16
        ).lineups
        means[tables, aivat], solves[tables, aivat] = result, sizes.copy()
    for aivat in (True, False):
        np.testing.assert_array_equal(means[8, True].payoffs(aivat=aivat), means[1, True].payoffs(aivat=aivat))
    assert max(solves[1, True]) == 1
    assert max(solves[8, True]) >= 4
    assert sum(solves[8, True]) == sum(solves[8, False])


def test_agents_that_learn_have_one_table(tmp_path: Path) -> None:
    assert play(tmp_path, ["greedy"], agent="learning", hands=2).lineups
    with pytest.raises(PokernetsError, match="`learning` depends on what it has seen at its table"):
        play(tmp_path, ["greedy"], agent="learning", tables=2)


def test_unknown_adversary(tmp_path: Path) -> None:
    with pytest.raises(PokernetsError, match="must name some of greedy, not timid"):
        play(tmp_path, ["timid"])


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
