"""Betting trees: nodes as arrays, bet sizes, the reading of real bets as a tree's.

`betting_tree.py` first, the arrays; `menus.py` says which bet sizes a tree has, `build.py` makes it, `history.py`
finds a real hand in it.
"""

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
