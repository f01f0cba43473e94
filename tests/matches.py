"""A match with the agents and the settings that most tests take."""

from collections.abc import Sequence
from dataclasses import fields
from functools import partial
from pathlib import Path
from typing import Any

from poker.agents.simple import AlwaysCall, AlwaysRaise, RandomAgent
from poker.evaluation import replay
from poker.evaluation.matches.match import MatchSettings, run
from poker.evaluation.matches.match_results import MatchResults
from poker.evaluation.matches.results import Results
from poker.game.rules import Rules
from poker.play.lineup import AgentSpec
from poker.run.parallel import LocalCluster


def caller() -> AlwaysCall:
    return AlwaysCall(name="caller")


def randomly() -> RandomAgent:
    return RandomAgent(name="random", raises=[1])


SPECS = [
    AgentSpec("call", partial(AlwaysCall, name="call"), {}),
    AgentSpec("raise", partial(AlwaysRaise, name="raise", raises=[1]), {}),
    AgentSpec("random", randomly, {}),
]


def play_match(out: str | Path, game: Rules, agents: Sequence[AgentSpec], **changes: Any) -> MatchResults:
    """Forty hands without AIVAT in one process; `changes` are of `MatchSettings` or other arguments of `run`."""
    settings: dict[str, Any] = {"hands": 40, "seed": 1, "aivat": False, "fresh": False}
    settings |= {field.name: changes.pop(field.name) for field in fields(MatchSettings) if field.name in changes}
    parts = {"cluster": LocalCluster(1), **changes}
    return run(game=game, agents=agents, settings=MatchSettings(**settings), out=str(out), **parts)


def replayed(game: Rules, log: Path | Sequence[Path], out: Path, **changes: Any) -> Results:
    """The results of a match whose log, or the logs of its legs, are played again; `changes` are arguments of `run`."""
    logs = str(log) if isinstance(log, Path) else list(map(str, log))
    results = replay.run(game=game, log=logs, out=str(out), **changes)
    assert isinstance(results, MatchResults)
    [lineup] = results.lineups
    return lineup
