"""`evaluate=exploitability agents=...`: exact in small games, and the result says what it is."""

import json
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from poker.agents.simple import AlwaysCall, RandomAgent
from poker.errors import PokernetsError
from poker.evaluation.lbr import LbrActions, LbrStreet
from poker.evaluation.measures import EXACT, LOCAL, MENU, REAL_SAMPLE, run
from poker.evaluation.table import AgentSpec
from poker.solvers.exact import ExactSolver
from poker.tree import BetMenu, bet_menu
from tests.games import load_rules

STREET = LbrStreet(fold=True, raises=[1])


def random_agent() -> RandomAgent:
    return RandomAgent(name="random", raises=["a"])


def caller() -> AlwaysCall:
    return AlwaysCall(name="caller")


def measure(
    out: Path,
    game: str,
    agents: list[AgentSpec] | None,
    menu: BetMenu | None = None,
    hands: int = 8,
    flops: int | None = None,
) -> list[Any]:
    return run(
        game=load_rules(game),
        menu=menu or BetMenu(()),
        abstraction="none",
        solver=partial(ExactSolver, algorithm="cfr_plus"),
        iterations=20,
        points=2,
        adversary={"greedy": LbrActions([STREET] * 4), "folder": LbrActions([LbrStreet(True, [])] * 4)},
        adversaries=["greedy", "folder"],
        hands=hands,
        response_deals=2000,
        seed=1,
        processes=1,
        fresh=False,
        out=str(out),
        flops=flops,
        agents=agents,
    )


def test_uniform_play_in_leduc(tmp_path: Path) -> None:
    [found] = measure(tmp_path, "leduc", [AgentSpec("random", random_agent, {"a": 1})])
    assert found["measure"] == EXACT
    assert found["nash_conv"] == pytest.approx(4.747222222)
    assert found["exploitability_mbb"] == pytest.approx(4747.222222 / 2)
    folder = tmp_path / "leduc-random"
    assert json.loads((folder / "results.json").read_text())["agents"] == [found]
    assert EXACT in (folder / "report.html").read_text()


def test_flop_holdem_with_a_menu(tmp_path: Path) -> None:
    menu = bet_menu(preflop="a", flop="a")
    [found] = measure(tmp_path, "flop_holdem_nolimit", [AgentSpec("caller", caller, {})], menu)
    assert found["measure"] == MENU
    assert found["exploitability_mbb"] > 20_000


def test_larger_games_take_the_best_local_response(tmp_path: Path) -> None:
    [found] = measure(tmp_path, "holdem_limit_2p", [AgentSpec("caller", caller, {})], hands=12)
    assert found["measure"].startswith(f"{LOCAL} (")
    assert found["half_width_95"] > 0


def test_flops_ask_for_the_response_that_sees_its_cards(tmp_path: Path) -> None:
    [found] = measure(tmp_path, "holdem_limit_2p", [AgentSpec("caller", caller, {})], flops=4)
    assert found["measure"] == REAL_SAMPLE.format(flops=4)
    assert found["nash_conv_mbb"] == pytest.approx(2 * found["exploitability_mbb"])
    assert found["optimistic_mbb"] >= found["exploitability_mbb"] > 0
    assert "random flops" in (tmp_path / "holdem_limit_2p-caller" / "report.html").read_text()


def test_without_agents_a_solver_is_measured(tmp_path: Path) -> None:
    course = measure(tmp_path, "kuhn", None)
    assert [point.iterations for point in course] == [10, 20]


def test_three_players_are_refused(tmp_path: Path) -> None:
    with pytest.raises(PokernetsError, match="heads-up"):
        measure(tmp_path, "holdem_limit_3p", [AgentSpec("caller", caller, {})])
