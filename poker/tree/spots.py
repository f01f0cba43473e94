"""Post-flop spots: a pot, a stack and a bet menu, without the betting that led there. Player 0 is OOP, acts first."""

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
    watch: Watch | None = None,
) -> BettingTree:
    """The tree from the first decision of a street on; `menu` is as in `spot_bets`, `watch` sees the tree grow.

    The pot lies there as dead chips: nobody has committed anything, so payoffs count from the root of the spot.
    """
    root = spot_root(board_size, stack)
    if pot <= 0:
        raise PokernetsError(f"pot {pot}: must be positive")
    return build_tree(root, spot_bets(menu), dead=pot, watch=watch)


def spot_root(board_size: int, stack: int) -> Betting:
    """The betting with which a spot begins."""
    if board_size not in SPOT_STREETS:
        raise PokernetsError(f"a spot needs a board of 3, 4 or 5 cards, not {board_size}")
    if stack <= 0:
        raise PokernetsError(f"stack {stack}: must be positive")
    return Betting.at_street(spot_rules(stack), SPOT_STREETS[board_size], (0, 0))


def spot_bets(menu: Mapping[str, object]) -> BetMenu:
    """The menu that the keys of a spot file give: `bet` sizes open a street, `raise` sizes follow, on every street.

    `flop_bet`, `turn_raise`, `oop_river_bet`, `ip_raise`, ... override, the more particular name first; `flop_donk`,
    `turn_donk`, `river_donk` (or `donk`, a mapping of streets) are donk sizes. `add_allin`, `force_allin` and `merging`
    may end in `_threshold`.
    """
    keys = {"bet": "", "raise": "", **{key.removesuffix("_threshold"): value for key, value in menu.items()}}
    if "merging" in keys:
        keys["merge"] = keys.pop("merging")
    names = ("add_allin", "force_allin", "merge")
    thresholds = {name: _threshold(name, str(keys.pop(name))) for name in names if name in keys}
    given = keys.pop("donk", None) or {}
    if not isinstance(given, Mapping):
        raise MenuError("bet menu: `donk` alone says no street; write `flop_donk`, `turn_donk` or `river_donk`")
    donks: dict[str, object] = dict(given)
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
            f"bet menu: unknown key `{sorted(unknown)[0]}`; names_read are bet, raise, {', '.join(sorted(names_read))}"
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
