"""Agents as objects, and evaluations as calls."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from conf.compose import build, compose, overrides_of
from conf.entry import run
from poker.kernels.ahead import compile_apart
from poker.run.machine import without_collections
from poker.studio.serving.loaded_agent import LoadedAgent
from pokernets.places import source_path

_LAPTOP = "laptop"


def load_agent(source: str | Path = _LAPTOP, agent: str = "depth_limited", **settings: Any) -> LoadedAgent:
    """The `agent` (an option of conf/agents) with artifacts of `source`: `laptop`, a bundle's file or a folder.

    `settings` are those of `pokernets match`, such as `search="quick"`. PokernetsError says what does not fit or is
    missing.
    """
    compile_apart()
    with without_collections():
        config = compose("evaluate", ["evaluate=match", *_overrides(source, {"agents": [agent], **settings})])
        return LoadedAgent(build(config.agent[agent]), build(config.game), config.seed)


def evaluate(name: str = "match", *, source: str | Path = _LAPTOP, **settings: Any) -> Any:
    """Run the evaluation `name` as `pokernets evaluate` does, with these `settings`, and return what it found.

    Of a match that is `poker.evaluation.matches.match_results.MatchResults`, with estimates in mbb per hand for each of
    its `lineups`. `**{"agent.equity.bluff": 0.2}` gives a setting with dots. It starts processes: a script that calls
    it needs `if __name__ == "__main__":`.
    """
    compile_apart()
    config = compose("evaluate", [f"evaluate={name}", *_overrides(source, settings)])
    return run(config, config.evaluate)


def _overrides(source: str | Path, settings: Mapping[str, Any]) -> list[str]:
    """Settings as words of a command line; the bundle of the installation goes with its scale."""
    scale = {"scale": _LAPTOP} if source == _LAPTOP else {}
    return overrides_of({**scale, "artifacts": source_path(source), **settings})
