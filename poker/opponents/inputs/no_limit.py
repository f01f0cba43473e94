"""Situations of no-limit hold'em told apart by public features: spots, and size classes of raises."""

import numpy as np

from poker.game.betting import Betting

SpotKey = tuple[int, int, int, int, int]
"""Street; what is asked; raises of the round; whether nobody left sits later; who raised last in the hand."""

SPOTS = (4, 5, 3, 2, 3)
"""Streets; no bet faced, a small, middle or large one, all-in; 0, 1 or more raises; seats; nobody, self, other."""
LEVELS = ((1,), (0, 1), (0, 1, 2), (0, 1, 2, 3, 4))
"""Axes of a spot by which actions are counted apart, from coarse to fine: the bet faced, with the street, with the
raises, all five."""
NOTHING, ALL_IN = 0, 4
_ASKED_EDGES = (0.6, 1.2)
_SIZE_EDGES = (0.4, 0.8, 1.25, 2.5, 6.0)
NUM_SIZES = len(_SIZE_EDGES) + 2
"""Size classes in pots; the last is all-in."""


def spot_of(betting: Betting) -> SpotKey:
    """Spot of the player to act."""
    player, last = betting.to_act, 0
    for actor, action in betting.moves():
        if action > 0:
            last = 1 if actor == player else 2
    is_last = all(betting.folded[player + 1 :])
    return betting.street, _asked(betting), min(betting.num_raises, 2), int(is_last), last


def spot_index(spot: SpotKey) -> int:
    """Number of a spot, below the product of `SPOTS`."""
    return int(np.ravel_multi_index(spot, SPOTS))


def _asked(betting: Betting) -> int:
    to_call = betting.to_call
    if to_call == 0:
        return NOTHING
    if betting.legal().max_raise == 0:
        return ALL_IN
    return 1 + int(np.searchsorted(_ASKED_EDGES, to_call / max(pot_of(betting) - to_call, 1)))


def size_class(betting: Betting, total: int) -> int:
    """Size class of a raise to `total`, in pots once the bet before is called."""
    if total >= betting.legal().max_raise:
        return NUM_SIZES - 1
    return int(np.searchsorted(_SIZE_EDGES, (total - betting.highest) / (pot_of(betting) + betting.to_call)))


def pot_of(betting: Betting) -> int:
    """Pot with antes and dead blinds."""
    forced = betting.rules.forced
    return betting.pot + (sum(map(sum, forced)) if forced else 0)
