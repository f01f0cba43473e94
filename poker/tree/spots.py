"""Betting trees of postflop spots, defined by a pot, a stack and a bet menu without earlier betting.

Player 0 is out of position (OOP) and acts first.
"""

from collections.abc import Mapping
from typing import Any

from poker.game.rules import NOLIMIT, STREET_NAMES, Rules
from poker.game.state import Betting
from poker.run.errors import PokernetsError
from poker.tree.betting_tree import BettingTree
from poker.tree.build import Watch, build_tree
from poker.tree.menus import BetMenu, MenuError, bet_menu, sizes_of

SPOT_STREETS = {3: 1, 4: 2, 5: 3}
_SEATS, _STREETS = ("oop", "ip"), STREET_NAMES[1:]


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
    board_size: int, pot: int, stack: int, menu: Mapping[str, object], watch: Watch | None = None
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
        PokernetsError: the stack, the board size or the menu is invalid, or the tree is too large.
    """
    return build_tree(spot_root(board_size, stack), spot_bets(menu), dead=pot, watch=watch)


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
    return Betting.at_street(spot_rules(stack), SPOT_STREETS[board_size], (0, 0))


def spot_bets(menu: Mapping[str, object]) -> BetMenu:
    """Create the menu that the keys of a spot file describe.

    `bet` sizes open a street and `raise` sizes follow, on every street. Keys such as `flop_bet`, `turn_raise`,
    `oop_river_bet` and `ip_raise` override them, and more specific names win. `turn_donk` and `river_donk` are sizes of
    bets into the last raiser. `add_allin`, `force_allin` and `merging` may end in `_threshold`.

    Args:
        menu: the keys and values of the spot file.

    Raises:
        MenuError: a key is unknown, or a size or a threshold is invalid.
    """
    keys: dict[str, Any] = {"bet": "", "raise": ""}
    keys |= {key: str(value) if isinstance(value, int | float) else value for key, value in menu.items()}
    thresholds: dict[str, Any] = {}
    for name, setting in (("add_allin", "add_allin"), ("force_allin", "force_allin"), ("merging", "merge")):
        given = [key for key in (name, f"{name}_threshold") if key in keys]
        if len(given) > 1:
            raise MenuError(f"bet menu: `{given[0]}` and `{given[1]}` are the same setting; remove one")
        thresholds.update((setting, keys.pop(key)) for key in given)
    if "flop_donk" in keys:
        raise MenuError("bet menu: `flop_donk` never applies, because nobody raised before the flop of a spot")
    donks = {street: keys.pop(f"{street}_donk") for street in _STREETS if f"{street}_donk" in keys}
    names_read: set[str] = set()

    def chosen(seat: str, street: str, kind: str) -> object:
        names = (f"{seat}_{street}_{kind}", f"{street}_{kind}", f"{seat}_{kind}", kind)
        names_read.update(names[:3])
        name = next(name for name in names if name in keys)
        return sizes_of(keys[name], name)

    menus: dict[str, object] = {
        street: {
            player: [chosen(seat, street, kind) for kind in ("bet", "raise")] for player, seat in enumerate(_SEATS)
        }
        for street in _STREETS
    }
    unknown = set(keys) - names_read - {"bet", "raise"}
    if unknown:
        names = ", ".join(sorted({*names_read, "turn_donk", "river_donk"}))
        raise MenuError(f"bet menu: unknown key `{sorted(unknown)[0]}`; known keys are bet, raise, {names}")
    return bet_menu(**menus, donk=donks, **thresholds)  # type: ignore[arg-type]
