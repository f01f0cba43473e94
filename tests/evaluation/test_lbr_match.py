"""`evaluate=lbr` as a command and from Python."""

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from conf.launch import compose, resolve
from poker.agents.local_best_response import LbrActions, LbrStreet, geometric_sizes
from poker.agents.simple import AlwaysCall
from poker.errors import PokernetsError
from poker.evaluation.match import run
from poker.evaluation.match_results import MatchResults
from poker.parallel import LocalCluster
from poker.play import workers
from poker.play.lineup import AgentSpec, Shared
from tests.games import load_rules

ROOT = Path(__file__).parents[2]
STREET = LbrStreet(fold=True, raises=[1])


def caller() -> AlwaysCall:
    return AlwaysCall(name="caller")


def play(out: Path, adversaries: list[str], processes: int = 1, game: str = "leduc") -> MatchResults:
    return run(
        game=load_rules(game),
        agents=[AgentSpec("caller", caller, {})],
        adversary={"greedy": LbrActions([STREET, STREET])},
        adversaries=adversaries,
        hands=400,
        session=1,
        seed=1,
        half_width=None,
        aivat=True,
        fallback=None,
        cluster=LocalCluster(processes),
        fresh=False,
        out=str(out),
    )


def test_beats_always_call_in_leduc(tmp_path: Path) -> None:
    [result] = play(tmp_path, ["greedy"]).lineups
    assert result.lineup.labels == ("greedy@caller", "caller")
    found = result.estimates(aivat=True)[0]
    assert 1000 < found.mean < 1900
    assert found.half_width < result.estimates()[0].half_width


@pytest.mark.slow
def test_processes_do_not_change_the_hands(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(workers, "_is_long", lambda *pace: True)
    one, two = play(tmp_path / "one", ["greedy"]), play(tmp_path / "two", ["greedy"], 2)
    for flag in (False, True):
        first, second = (found.lineups[0].payoffs(aivat=flag) for found in (one, two))
        assert np.array_equal(first, second)


def test_unknown_adversary(tmp_path: Path) -> None:
    with pytest.raises(PokernetsError, match="must name some of greedy, not timid"):
        play(tmp_path, ["timid"])


def test_three_players_are_refused(tmp_path: Path) -> None:
    with pytest.raises(PokernetsError, match="heads-up; 'holdem_limit_3p' has 3 players"):
        play(tmp_path, ["greedy"], game="holdem_limit_3p")


def test_an_agent_is_built_once() -> None:
    shared = Shared(caller)
    assert shared() is shared()


def test_fifty_six_sizes() -> None:
    sizes = geometric_sizes(smallest=0.1, largest=100, count=56)
    assert (len(sizes), sizes[0], sizes[-2], sizes[-1]) == (56, 0.1, 100, "a")
    config: Any = resolve(compose("evaluate", ["evaluate=lbr"])["adversary"])
    assert config["lbr_flop_sizes"]["streets"][1]["raises"] == pytest.approx([0.33 * 2**x for x in range(11)])
    assert config["lbr_fold_call"]["opening"] == config["lbr_flop_sizes"]["opening"] == 0.75


@pytest.mark.slow
def test_command(tmp_path: Path) -> None:
    command = [sys.executable, "evaluate.py", "evaluate=lbr", "game=leduc", f"runs={tmp_path}", "hands=20"]
    refused = subprocess.run([*command, "agents=[equity]"], cwd=ROOT, capture_output=True, text=True, check=False)
    assert refused.returncode == 2
    assert refused.stderr.startswith("error: the agent `equity` has no policy interface")
    subprocess.run(
        [*command, "agents=[random]", "adversaries=[lbr_fcpa]", "cluster.processes=1"],
        cwd=ROOT,
        check=True,
        capture_output=True,
    )
    [found] = (tmp_path / "lbr" / "leduc").glob("*/results.json")
    record = json.loads(found.read_text())
    asked = record["configuration"]
    assert [asked[key] for key in ("hands", "seed", "adversaries", "aivat")] == [20, 1, ["lbr_fcpa"], True]
    assert asked["agents"]["random"]["_target_"] == "poker.agents.simple.RandomAgent"
    assert asked["fallback"]["settings"]["name"] == "blueprint"
    assert "hands=20 'agents=[random]'" in record["command"]
    [table] = record["lineups"]
    assert table["hands"] == 20
    assert table["players"][0]["agent"] == "lbr_fcpa@random"
