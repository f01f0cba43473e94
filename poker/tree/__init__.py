"""The public betting tree, the bet menus it is built from, and the mapping of real bets onto it."""

from poker.tree.betting_tree import BettingTree, Kind
from poker.tree.build import DepthLimit, build_tree
from poker.tree.gadget import Gadget
from poker.tree.menus import BetMenu, Size, StreetMenu, bet_menu

__all__ = [
    "BetMenu",
    "BettingTree",
    "DepthLimit",
    "Gadget",
    "Kind",
    "Size",
    "StreetMenu",
    "bet_menu",
    "build_tree",
]
