"""`python evaluate.py evaluate=match|exploitability|acpc|...`: how strong agents are. `--help` lists every setting."""

from functools import partial
from typing import Any

from omegaconf import DictConfig, OmegaConf

from conf.launch import ConfigurationError, call, check, choices, chosen, launch, resolve
from poker.evaluation.matches.table import AgentSpec


def agent_spec(config: DictConfig, name: str) -> AgentSpec:
    """The agent of that name, its node as factory: agents are built where they play."""
    if name not in config.agent:
        raise ConfigurationError(f"there is no agent '{name}'; agents are {', '.join(choices('agent'))}")
    settings = resolve(config.agent[name])
    check(settings)
    return AgentSpec(name, partial(call, OmegaConf.create(settings)), settings)


def evaluate(config: DictConfig) -> None:
    """Run the evaluation that the command line names."""
    node = chosen(config, "evaluate")
    extra: dict[str, Any] = {}
    if config.get("agents") is not None:
        extra["agents"] = [agent_spec(config, name) for name in config.agents]
    if config.get("stand_in") is not None:
        extra["stand_in"] = agent_spec(config, config.stand_in)
    call(node, **extra)


if __name__ == "__main__":
    launch("evaluate", evaluate)
