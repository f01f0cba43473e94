"""Statistics of players: opportunities of single hands, and counts of a file."""

import numpy as np

import pokernets
from poker.formats.histories import hands_of
from poker.game.betting import Betting
from poker.opponents.profiles import (
    AF,
    C_BET,
    FOLD_TO_C_BET,
    KEYS,
    PFR,
    THREE_BET,
    VPIP,
    WTSD,
    Profile,
    choices,
    profiles,
)
from tests.formats.samples import sample
from tests.games import SIX

CARDS = "AhAd|7c2d|3c3d|KsKd|9h8h|JcTc"
LOG = f"""STATE:0:fr225fcff/r525f:{CARDS}/2s5d9c:-50|-100|0|375|0|-225:a|b|c|d|e|f
STATE:1:fr225fr700ffc/cc/cc/cr1400c:{CARDS}/2s5d9c/Kh/4d:-50|-100|0|1550|0|-1400:a|b|c|d|e|f
STATE:2:ffffcc/cr200c/cc/cc:{CARDS}/2s5d9c/Qh/4d:200|-200|0|0|0|0:c|d|e|f|a|b
STATE:3:fr225fr700fff:{CARDS}:-50|-100|0|-225|0|375:a|b|c|d|e|f
"""


def test_opportunities_of_a_hand() -> None:
    """The hijack raises, the button calls; the hijack bets on, the button folds."""
    opportunities = list(choices(Betting.parse(SIX, "fr225fcff/r525f")))
    done = {(measure, player) for measure, player, did in opportunities if did}
    assert done == {(VPIP, 3), (VPIP, 5), (PFR, 3), (C_BET, 3), (FOLD_TO_C_BET, 5)}
    assert {player for measure, player, _ in opportunities if measure == THREE_BET} == {0, 1, 4, 5}
    assert {player for measure, player, _ in opportunities if measure == VPIP} == set(range(6))
    assert {player for measure, player, _ in opportunities if measure == WTSD} == {3, 5}
    limped = list(choices(Betting.parse(SIX, "ffffcc/cr200f")))
    assert {(measure, player) for measure, player, did in limped if did} == {(VPIP, 0)}  # the big blind only checks


def test_nobody_can_three_bet_who_has_no_chips_to_raise() -> None:
    hands = hands_of(sample("phh_no_raise_possible"), "x")
    assert [counts(profile)[THREE_BET] for profile in profiles(hands).values()] == [(0, 0), (0, 0)]


def counts(profile: Profile) -> dict[str, tuple[int, int]]:
    return {measure: (profile.did[measure], profile.opportunities[measure]) for measure in KEYS}


def test_counts_of_players_at_a_table_of_six() -> None:
    by_name = profiles(hands_of(LOG, "log", SIX))
    assert list(by_name) == ["a", "b", "c", "d", "e", "f"]
    none = dict.fromkeys(KEYS, (0, 0))
    assert counts(by_name["d"]) == none | {VPIP: (3, 4), PFR: (3, 4), C_BET: (1, 1), WTSD: (2, 3), AF: (2, 1)}
    assert (by_name["d"].hands, by_name["d"].share(AF)) == (4, 2.0)
    button = {
        VPIP: (3, 4),
        PFR: (2, 4),
        THREE_BET: (2, 3),
        C_BET: (0, 1),
        FOLD_TO_C_BET: (1, 1),
        WTSD: (1, 2),
        AF: (1, 0),
    }
    assert counts(by_name["f"]) == none | button
    assert (by_name["f"].share(AF), by_name["c"].share(AF)) == (None, 0.0)
    assert by_name["e"].share(THREE_BET) == 0.0
    assert by_name["d"].share(THREE_BET) is None


def test_the_table_of_python_has_the_same_counts() -> None:
    table = pokernets.profiles_table(hands_of(LOG, "log", SIX))
    row = list(table["player"]).index("f")
    assert {name: table[name][row] for name in ("hands", "vpip", "vpip_did", "vpip_of", "af_did", "af_of")} == {
        "hands": 4, "vpip": 0.75, "vpip_did": 3, "vpip_of": 4, "af_did": 1, "af_of": 0,
    }  # fmt: skip
    assert np.isnan(table["c_bet"][list(table["player"]).index("a")])
    assert {len(column) for column in table.values()} == {6}
    assert pokernets.profiles_table([]) == {}
