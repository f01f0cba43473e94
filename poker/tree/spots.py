"""Betting trees of postflop spots, defined by a pot, a stack and a bet menu without earlier betting.

Player 0 is out of position (OOP) and acts first.
"""

import math
from collections.abc import Mapping

from poker.game.rules import NOLIMIT, STREET_NAMES, Rules
from poker.game.state import Betting
from poker.run.errors import PokernetsError
from poker.tree.betting_tree import BettingTree
from poker.tree.build import Watch, build_tree
from poker.tree.menus import BetMenu, MenuError, bet_menu

SPOT_STREETS = {3: 1, 4: 2, 5: 3}
_SEATS = ("oop", "ip")


def spot_rules(stack: int) -> Rules:
    """Return the rules of heads-up hold'em with a given stack behind.

    The blinds of 1 only set the smallest bet.

    Args:
        stack: chips behind for each player.

    Raises:
        RulesError: the stack is not a legal stack.
    """
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
    watch: Watch | None = None,
) -> BettingTree:
    """Build the tree from the first decision of a street on.

    The pot consists of dead chips. Nobody has committed anything, so payoffs count from the root of the spot.

    Args:
        board_size: number of board cards: 3, 4 or 5.
        pot: chips in the pot.
        stack: chips behind for each player.
        menu: bet sizes, with the keys of `spot_bets`.
        watch: called with every decision; it may raise an exception to stop the build.

    Raises:
        PokernetsError: the pot, the stack, the board size or the menu is invalid, or the tree is too large.
    """
    root = spot_root(board_size, stack)
    if pot <= 0:
        raise PokernetsError(f"pot {pot}: must be positive")
    return build_tree(root, spot_bets(menu), dead=pot, watch=watch)


def spot_root(board_size: int, stack: int) -> Betting:
    """Return the betting state at the start of a spot.

    Args:
        board_size: number of board cards: 3, 4 or 5.
        stack: chips behind for each player.

    Raises:
        PokernetsError: the board size or the stack is invalid.
    """
    if board_size not in SPOT_STREETS:
        raise PokernetsError(f"a spot needs a board of 3, 4 or 5 cards, not {board_size}")
    if stack <= 0:
        raise PokernetsError(f"stack {stack}: must be positive")
    return Betting.at_street(spot_rules(stack), SPOT_STREETS[board_size], (0, 0))


def spot_bets(menu: Mapping[str, object]) -> BetMenu:
    """Create the menu that the keys of a spot file describe.

    `bet` sizes open a street and `raise` sizes follow, on every street. Keys such as `flop_bet`, `turn_raise`,
    `oop_river_bet` and `ip_raise` override them, and more specific names win. `flop_donk`, `turn_donk` and `river_donk`
    (or `donk`, a mapping of streets) are donk sizes. `add_allin`, `force_allin` and `merging` may end in `_threshold`.

    Args:
        menu: the keys and values of the spot file.

    Raises:
        MenuError: a key is unknown or a size is invalid.
        PokernetsError: a threshold is not a number of at least 0.
    """
    keys = {"bet": "", "raise": "", **{key.removesuffix("_threshold"): value for key, value in menu.items()}}
    if "merging" in keys:
        keys["merge"] = keys.pop("merging")
    names = ("add_allin", "force_allin", "merge")
    thresholds = {name: _threshold(name, str(keys.pop(name))) for name in names if name in keys}
    default_donks = keys.pop("donk", None) or {}
    if not isinstance(default_donks, Mapping):
        raise MenuError("bet menu: `donk` needs a street; write `flop_donk`, `turn_donk` or `river_donk`")
    donks: dict[str, object] = dict(default_donks)
    donks |= {street: keys.pop(f"{street}_donk") for street in STREET_NAMES if f"{street}_donk" in keys}
    names_read: set[str] = set()

    def chosen(seat: str, street: str, kind: str) -> object:
        names = (f"{seat}_{street}_{kind}", f"{street}_{kind}", f"{seat}_{kind}", kind)
        names_read.update(names[:3])
        sizes = next(keys[name] for name in names if name in keys)
        return sizes.split(",") if isinstance(sizes, str) else sizes

    menus: dict[str, object] = {
        street: {
            player: [chosen(seat, street, kind) for kind in ("bet", "raise")] for player, seat in enumerate(_SEATS)
        }
        for street in STREET_NAMES
    }
    unknown = set(keys) - names_read - {"bet", "raise"}
    if unknown:
        raise MenuError(
            f"bet menu: unknown key `{sorted(unknown)[0]}`; known keys are bet, raise, {', '.join(sorted(names_read))}"
        )
    return bet_menu(**menus, donk=donks, **thresholds)  # type: ignore[arg-type]


def _threshold(key: str, text: str) -> float:
    try:
        value = float(text)
    except ValueError:
        value = math.nan
    if not value >= 0:
        raise PokernetsError(f"bet menu, `{key}`: must be a number that is not negative, not `{text[:100]}`")
    return value
