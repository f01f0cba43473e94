"""Betting trees: nodes as arrays, bet sizes, and the translation of real bets into a tree's bets.

Read `betting_tree.py` first, which defines the arrays. `menus.py` defines which bet sizes a tree has, `build.py` builds
the tree, and `translation.py` finds a real hand in it.
"""

from poker.tree.betting_tree import BettingTree, Kind
from poker.tree.build import DepthLimit, build_tree
from poker.tree.gadget import Gadget
from poker.tree.menus import BetMenu, Size, StreetMenu, bet_menu

__all__ = ["BetMenu", "BettingTree", "DepthLimit", "Gadget", "Kind", "Size", "StreetMenu", "bet_menu", "build_tree"]
