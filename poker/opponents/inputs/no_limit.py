"""Public situations of no-limit hold'em: spots, and size classes of raises."""

import numpy as np

from poker.game.betting import Betting

SpotKey = tuple[int, int, int, int, int]
"""Street; bet faced; raises in the round; whether the player is last in position; last raiser of the hand."""

SPOTS = (4, 5, 3, 2, 3)
"""Streets; no bet, small, middle, large, all-in; 0, 1 or more raises; not last, last; nobody, self, other."""
LEVELS = ((1,), (0, 1), (0, 1, 2), (0, 1, 2, 3, 4))
"""Axes of a spot that each level of counts distinguishes, from coarse to fine. The first level has only the bet faced;
the last has all five axes."""
NOTHING, ALL_IN = 0, 4
_ASKED_EDGES = (0.6, 1.2)
_SIZE_EDGES = (0.4, 0.8, 1.25, 2.5, 6.0)
NUM_SIZES = len(_SIZE_EDGES) + 2
"""Number of size classes, by edges in pots; the last class is all-in."""


def spot_of(betting: Betting) -> SpotKey:
    """Return the spot of the player to act."""
    player, last = betting.to_act, 0
    for actor, action in betting.moves():
        if action > 0:
            last = 1 if actor == player else 2
    is_last = all(betting.folded[player + 1 :])
    return betting.street, _price(betting), min(betting.num_raises, 2), int(is_last), last


def spot_index(spot: SpotKey) -> int:
    """Return the number of a spot, below the product of `SPOTS`."""
    return int(np.ravel_multi_index(spot, SPOTS))


def _price(betting: Betting) -> int:
    to_call = betting.to_call
    if to_call == 0:
        return NOTHING
    if betting.legal().max_raise == 0:
        return ALL_IN
    return 1 + int(np.searchsorted(_ASKED_EDGES, to_call / max(pot_of(betting) - to_call, 1)))


def size_class(betting: Betting, total: int) -> int:
    """Return the size class of a raise.

    The size is the amount above the call, as a fraction of the pot after the call.

    Args:
        betting: the betting state before the raise.
        total: chips that the player has put in after the raise.
    """
    if total >= betting.legal().max_raise:
        return NUM_SIZES - 1
    return int(np.searchsorted(_SIZE_EDGES, (total - betting.highest) / (pot_of(betting) + betting.to_call)))


def pot_of(betting: Betting) -> int:
    """Return the pot in chips, including antes and dead blinds."""
    forced = betting.rules.forced
    return betting.pot + (sum(map(sum, forced)) if forced else 0)
