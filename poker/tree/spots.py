"""Post-flop spots: a pot, a stack and a bet menu, without the betting that led there. Player 0 is OOP, acts first."""

import math
from collections.abc import Mapping

from poker.errors import PokernetsError
from poker.rules import NOLIMIT, Rules
from poker.state import Betting
from poker.tree.betting_tree import BettingTree
from poker.tree.build import Watch, build_tree
from poker.tree.gadget import Gadget
from poker.tree.menus import BetMenu, spot_menu

SPOT_STREETS = {3: 1, 4: 2, 5: 3}


def spot_rules(stack: int) -> Rules:
    """Heads-up hold'em with `stack` behind each; the blinds of 1 only set the smallest bet."""
    return Rules(
        name="spot",
        num_players=2,
        betting=NOLIMIT,
        blinds=(1, 1),
        stacks=(stack, stack),
        raise_sizes=(),
        max_raises=(),
        first_player=(0, 0, 0, 0),
        num_suits=4,
        num_ranks=13,
        num_hole_cards=2,
        board_cards=(0, 3, 1, 1),
    )


def spot_tree(
    board_size: int,
    pot: int,
    stack: int,
    menu: Mapping[str, object],
    gadget: Gadget | None = None,
    watch: Watch | None = None,
) -> BettingTree:
    """The tree from the first decision of a street on; `menu` holds the arguments of `spot_menu`, `watch` sees the tree
    grow.

    The pot lies there as dead chips: nobody has committed anything, so payoffs count from the root of the spot.
    """
    root = spot_root(board_size, stack)
    if pot <= 0:
        raise PokernetsError(f"pot {pot}: must be positive")
    return build_tree(root, spot_bets(menu), dead=pot, gadget=gadget, watch=watch)


def spot_root(board_size: int, stack: int) -> Betting:
    """The betting with which a spot begins."""
    if board_size not in SPOT_STREETS:
        raise PokernetsError(f"a spot needs a board of 3, 4 or 5 cards, not {board_size}")
    if stack <= 0:
        raise PokernetsError(f"stack {stack}: must be positive")
    return Betting.at_street(spot_rules(stack), SPOT_STREETS[board_size], (0, 0))


def spot_bets(menu: Mapping[str, object]) -> BetMenu:
    """The menu that the keys of a spot file give."""
    keys = {"raise_" if key == "raise" else key.removesuffix("_threshold"): value for key, value in menu.items()}
    keys = {"merge" if key == "merging" else key: value for key, value in keys.items()}
    for key in ("add_allin", "force_allin", "merge"):
        if key in keys:
            keys[key] = _threshold(key, str(keys[key]))
    return spot_menu(**keys)  # type: ignore[arg-type]


def _threshold(key: str, text: str) -> float:
    try:
        value = float(text)
    except ValueError:
        value = math.nan
    if not value >= 0:
        raise PokernetsError(f"bet menu, `{key}`: must be a number that is not negative, not `{text[:100]}`")
    return value
