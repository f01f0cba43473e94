"""`python evaluate.py evaluate=match|exploitability|acpc|...`: how strong agents are. `--help` lists every setting."""

from functools import partial
from typing import Any

from omegaconf import DictConfig, OmegaConf

from conf.launch import ConfigurationError, call, check, choices, chosen, launch, resolve
from poker.evaluation.table import AgentSpec


def agent_specs(config: DictConfig) -> list[AgentSpec]:
    """The agents that `agents` names, each with its node as factory: they are built where they play."""
    specs = []
    for name in config.agents:
        if name not in config.agent:
            raise ConfigurationError(f"there is no agent '{name}'; agents are {', '.join(choices('agent'))}")
        settings = resolve(config.agent[name])
        check(settings)
        specs.append(AgentSpec(name, partial(call, OmegaConf.create(settings)), settings))
    return specs


def evaluate(config: DictConfig) -> None:
    """Run the evaluation that the command line names."""
    node = chosen(config, "evaluate")
    extra: dict[str, Any] = {"agents": agent_specs(config)} if config.get("agents") is not None else {}
    call(node, **extra)


if __name__ == "__main__":
    launch("evaluate", evaluate)
