"""Statistics of players as people quote them (VPIP, PFR and so on), each with its counts.

Each share is relative to opportunities:

- VPIP and PFR: all hands dealt, even if nobody raised the big blind.
- three-bet: decisions after one raise by another player, if a raise is legal.
- c-bet: flops on which the last raiser before the flop could bet first.
- WTSD: hands in which the player saw the flop.

The aggression factor is bets and raises divided by calls, after the flop.
"""

import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from poker.formats.histories import hands_of, text_of
from poker.formats.played import HistoryError, PlayedHand
from poker.game.betting import NOBODY, Betting
from poker.game.rules import CALL, FOLD, Rules
from poker.kernels.types import Columns

MEASURES = "VPIP", "PFR", "three-bet", "c-bet", "fold to c-bet", "WTSD", "AF"
VPIP, PFR, THREE_BET, C_BET, FOLD_TO_C_BET, WTSD, AF = MEASURES
KEYS = {measure: re.sub("[ -]", "_", measure.lower()) for measure in MEASURES}
"""Names of the measures in tables and JSON."""


@dataclass
class Profile:
    """Statistics of one player.

    Attributes:
        did: number of opportunities taken, by measure. For AF, bets and raises after the flop.
        opportunities: number of opportunities, by measure. For AF, calls after the flop.
    """

    hands: int = 0
    did: Counter[str] = field(default_factory=Counter)
    opportunities: Counter[str] = field(default_factory=Counter)

    def count(self, measure: str, did: bool) -> None:
        """Count one opportunity of a measure.

        Args:
            did: whether the player took it.
        """
        self.opportunities[measure] += 1
        self.did[measure] += did

    def share(self, measure: str) -> float | None:
        """Return the share of opportunities taken, or for AF raises over calls; None without an opportunity."""
        of = self.opportunities[measure]
        return self.did[measure] / of if of else None


def profiles(hands: Iterable[PlayedHand]) -> dict[str, Profile]:
    """Compute the profile of each player.

    Returns:
        Profiles by name, players with most hands first.
    """
    by_name: defaultdict[str, Profile] = defaultdict(Profile)
    for hand in hands:
        betting = hand.state.betting
        for name in hand.names:
            by_name[name].hands += 1
        for measure, player, did in choices(betting):
            by_name[hand.names[player]].count(measure, did)
        for state, player, action in betting.turns():
            if state.street > 0 and action > 0:
                by_name[hand.names[player]].did[AF] += 1
            elif state.street > 0 and action == CALL and state.to_call:
                by_name[hand.names[player]].opportunities[AF] += 1
    return dict(sorted(by_name.items(), key=lambda entry: -entry[1].hands))


def profiles_in(name: str, data: bytes, game: Rules) -> tuple[dict[str, Profile], int]:
    """Compute the profiles of all players in a file.

    Args:
        name: name of the file.
        data: content of the file.
        game: game of an ACPC log that does not define its own.

    Returns:
        Profiles by name, and the number of unreadable hands.

    Raises:
        HistoryError: no hand can be read.
    """
    errors: list[HistoryError] = []
    by_name = profiles(hands_of(text_of(data), name, game, errors.append))
    if not by_name and errors:
        raise errors[0]
    return by_name, len(errors)


def profile_columns(profiles: Mapping[str, Profile]) -> Columns:
    """Return the profiles as columns of a table, one row per player.

    Args:
        profiles: profiles by name.

    Returns:
        Arrays [players]: `player`, `hands`, and for each measure `KEY` (its share, NaN without an opportunity),
        `KEY_did` and `KEY_of`.
    """
    rows = []
    for name, profile in profiles.items():
        row: dict[str, Any] = {"player": name, "hands": profile.hands}
        for measure, key in KEYS.items():
            counts = profile.did[measure], profile.opportunities[measure]
            row |= {key: profile.share(measure), f"{key}_did": counts[0], f"{key}_of": counts[1]}
        rows.append(row)
    return {
        name: np.array([row[name] for row in rows], float if name in KEYS.values() else None)
        for name in (rows[0] if rows else ())
    }


def choices(betting: Betting) -> Iterator[tuple[str, int, bool]]:
    """Iterate over the opportunities of a hand.

    Args:
        betting: betting of the finished hand.

    Yields:
        Triples (measure, player, whether taken). VPIP and PFR come once per player, WTSD once per player who saw the
        flop.
    """
    paid, raised, raiser, c_bet = set[int](), set[int](), NOBODY, False
    out = set[int]()
    for state, player, action in betting.turns():
        can_raise = state.legal().max_raise > 0
        if state.street == 0:
            if state.num_raises == 1 and player != raiser and can_raise:
                yield THREE_BET, player, action > 0
            if action > 0 or (action == CALL and state.to_call):
                paid.add(player)
            if action > 0:
                raised.add(player)
                raiser = player
            if action == FOLD:
                out.add(player)
        elif state.street == 1 and raiser != NOBODY:
            if state.num_raises == 0 and player == raiser and can_raise:
                c_bet = action > 0
                yield C_BET, player, c_bet
            elif state.num_raises == 1 and c_bet:
                yield FOLD_TO_C_BET, player, action == FOLD
    for player in range(betting.rules.num_players):
        yield VPIP, player, player in paid
        yield PFR, player, player in raised
        if betting.street > 0 and player not in out:
            yield WTSD, player, betting.is_showdown and not betting.folded[player]
