"""The options of `conf`, and the games and bet menus among them, for tests that play them."""

from functools import cache
from typing import Any

from omegaconf import OmegaConf

from conf.compose import CONF, build, compose
from poker.game.rules import Rules
from poker.tree import BetMenu

__all__ = ["CONF", "HEADS_UP", "LEDUC", "SIX", "choices", "load_menu", "load_rules", "option", "resolve"]


def choices(group: str) -> list[str]:
    """The options of a configuration group."""
    return sorted(file.stem for file in (CONF / group).glob("*.yaml"))


@cache
def option(group: str, name: str) -> Any:
    """The settings that `<group>=<name>` chooses, as plain values."""
    root = {"game": "base", "exploration": "base", "leaf": "evaluate", "agents": "evaluate"}.get(group, "data_gen")
    config = compose(root, [f"{group}={name}"])
    return resolve(config.agent[name] if group == "agents" else config[group])


def resolve(node: Any) -> Any:
    """A configuration node as plain values."""
    return OmegaConf.to_container(node, resolve=True, throw_on_missing=True)


def load_rules(name: str) -> Rules:
    """The game that `game=<name>` chooses."""
    rules = build(option("game", name))
    assert isinstance(rules, Rules)
    return rules


def load_menu(name: str) -> BetMenu:
    """The bet menu that `bets=<name>` chooses."""
    menu = build(option("bets", name))
    assert isinstance(menu, BetMenu)
    return menu


HEADS_UP, SIX, LEDUC = map(load_rules, ("holdem_nolimit_2p", "holdem_nolimit_6p", "leduc"))
