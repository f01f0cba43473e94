"""`python evaluate.py evaluate=match|exploitability|acpc|...`: how strong agents are. `--help` lists every setting."""

from functools import partial
from typing import Any

from omegaconf import DictConfig, OmegaConf

from conf.launch import ConfigurationError, call, check, choices, chosen, launch, resolve
from poker.evaluation.aivat.guesses import GuessSpec
from poker.evaluation.matches.table import AgentSpec
from poker.provenance import configured


def agent_spec(config: DictConfig, name: str) -> AgentSpec:
    """The agent of that name, its node as factory: agents are built where they play."""
    if name not in config.agent:
        raise ConfigurationError(f"there is no agent '{name}'; agents are {', '.join(choices('agent'))}")
    settings = resolve(config.agent[name])
    check(settings)
    return AgentSpec(name, partial(call, OmegaConf.create(settings)), settings)


def guess_spec(config: DictConfig) -> GuessSpec:
    """The value function of AIVAT, built where hands are estimated."""
    settings = resolve(config["values"])
    check(settings)
    return GuessSpec(partial(call, OmegaConf.create(settings)), settings)


def evaluate(config: DictConfig) -> None:
    """Run the evaluation that the command line names; its records tell every setting, those of agents included."""
    node = chosen(config, "evaluate")
    settings: dict[str, Any] = resolve(node)
    extra: dict[str, Any] = {}
    if config.get("agents") is not None:
        extra["agents"] = [agent_spec(config, name) for name in config.agents]
        settings["agents"] = {spec.name: spec.settings for spec in extra["agents"]}
    if config.get("stand_in") is not None:
        extra["stand_in"] = agent_spec(config, config.stand_in)
        settings["stand_in"] = {config.stand_in: extra["stand_in"].settings}
    if config.get("values") is not None:
        extra["values"] = guess_spec(config)
        settings["values"] = extra["values"].settings
    with configured(settings, {name: config[name] for name in ("runs", "artifacts")}):
        call(node, **extra)


if __name__ == "__main__":
    launch("evaluate", evaluate)
