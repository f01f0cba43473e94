"""The games of `conf/game` and the bet menus of `conf/bets`, for tests that play them."""

from pathlib import Path

from hydra.utils import instantiate
from omegaconf import OmegaConf

from poker.rules import Rules
from poker.tree import BetMenu

CONF = Path(__file__).parents[1] / "conf"


def load_rules(name: str) -> Rules:
    """The game `conf/game/<name>.yaml`."""
    rules = instantiate(OmegaConf.load(CONF / "game" / f"{name}.yaml"), _convert_="all")
    assert isinstance(rules, Rules)
    return rules


def load_menu(name: str) -> BetMenu:
    """The bet menu `conf/bets/<name>.yaml`."""
    menu = instantiate(OmegaConf.load(CONF / "bets" / f"{name}.yaml"))
    assert isinstance(menu, BetMenu)
    return menu
