"""The games of `conf/game` and the bet menus of `conf/bets`, for tests that play them."""

from hydra.utils import instantiate

from conf.help import CONF, values_of
from poker.game.rules import Rules
from poker.tree import BetMenu

__all__ = ["CONF", "HEADS_UP", "LEDUC", "SIX", "load_menu", "load_rules"]


def load_rules(name: str) -> Rules:
    """The game that `game=<name>` chooses."""
    values = {key: value for key, value in values_of("game", name).items() if key != "defaults"}
    rules = instantiate(values, _convert_="all")
    assert isinstance(rules, Rules)
    return rules


def load_menu(name: str) -> BetMenu:
    """The bet menu that `bets=<name>` chooses."""
    menu = instantiate({key: value for key, value in values_of("bets", name).items() if key != "defaults"})
    assert isinstance(menu, BetMenu)
    return menu


HEADS_UP, SIX, LEDUC = map(load_rules, ("holdem_nolimit_2p", "holdem_nolimit_6p", "leduc"))
