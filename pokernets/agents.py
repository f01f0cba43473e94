"""Agents as objects, and evaluations as function calls."""

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
    """Load an agent.

    Args:
        source: `laptop` for the bundle of the installation, the file of another bundle, or a folder of artifacts.
        agent: an option of conf/agents.
        settings: settings of `pokernets match`, such as `search="quick"`.

    Raises:
        PokernetsError: a setting is invalid, or an artifact is missing.
    """
    compile_apart()
    with without_collections():
        config = compose("evaluate", ["evaluate=match", *_overrides(source, {"agents": [agent], **settings})])
        return LoadedAgent(build(config.agent[agent]), build(config.game), config.seed)


def evaluate(name: str = "match", *, source: str | Path = _LAPTOP, **settings: Any) -> Any:
    """Run an evaluation as `pokernets evaluate` does and return its result.

    A match returns `poker.evaluation.matches.match_results.MatchResults`, with estimates in mbb per hand for each of
    its `lineups`. Evaluations start processes, so a script that calls this needs `if __name__ == "__main__":`.

    Args:
        name: an option of conf/evaluate.
        source: as in `load_agent`.
        settings: settings of the command; write settings with dots as `**{"agent.equity.bluff": 0.2}`.

    Raises:
        PokernetsError: a setting is invalid, or an artifact is missing.
    """
    compile_apart()
    config = compose("evaluate", [f"evaluate={name}", *_overrides(source, settings)])
    return run(config, config.evaluate)


def _overrides(source: str | Path, settings: Mapping[str, Any]) -> list[str]:
    """Return settings as words of a command line; the bundle of the installation goes with its scale."""
    scale = {"scale": _LAPTOP} if source == _LAPTOP else {}
    return overrides_of({**scale, "artifacts": source_path(source), **settings})
