"""Refusals of every parser, with their messages: `tests/golden/refusals.json`.

By sample or parser, rows of a part of the good text, what replaces it (added to the text where the part is empty), and
a pattern of the message. Messages of hands begin with their line.
"""

import json
from collections.abc import Callable
from typing import Any

import pytest

from poker.formats.acpc.log import AcpcError, parse_log_line, parse_match_state
from poker.formats.played import HistoryError
from poker.formats.ranges import RangeError, parse_range
from poker.game.betting import Betting, IllegalAction
from poker.game.rules import Rules, RulesError
from poker.run.errors import PokernetsError
from poker.solvers.vector.game import VectorGame
from poker.spots.spots import keys_of, spot_of
from poker.tree.menus import MenuError, bet_menu
from tests.formats.acpc.test_log import LINE
from tests.formats.samples import read_all, sample
from tests.formats.test_ohh import HAND, text_of
from tests.formats.test_phh_read import RAISED, SPLIT
from tests.game.test_rules import LEDUC
from tests.games import CONF, HEADS_UP, load_rules
from tests.spots.test_report import SPOT

REFUSALS: dict[str, list[list[str]]] = json.loads((CONF.parent / "tests" / "golden" / "refusals.json").read_text())


def built_spot(text: str) -> VectorGame:
    return spot_of(keys_of(text, "spot")).game()


PARSERS: dict[str, tuple[str, Callable[[str], Any], type[PokernetsError]]] = {
    "acpc_log": (LINE, lambda text: parse_log_line(HEADS_UP, text), AcpcError),
    "betting": ("", lambda text: Betting.parse(HEADS_UP, text), IllegalAction),
    "definition": (LEDUC, lambda text: Rules.from_acpc(text, "leduc"), RulesError),
    "limit_betting": ("", lambda text: Betting.parse(load_rules("holdem_limit_2p"), text), IllegalAction),
    "match_state": ("MATCHSTATE:0:0::TdAs|", lambda text: parse_match_state(HEADS_UP, text), AcpcError),
    "phh_raised": (RAISED, read_all, HistoryError),
    "ohh": (text_of(HAND, 2), read_all, HistoryError),
    "phh_split": (SPLIT, read_all, HistoryError),
    "menu": ("", lambda text: bet_menu(flop=text), MenuError),
    "range": ("", parse_range, RangeError),
    "spot": ("".join(f"{key}: {value}\n" for key, value in SPOT.items()), built_spot, PokernetsError),
}


@pytest.mark.parametrize(
    ("name", "old", "new", "why"), [(name, *change) for name, changes in REFUSALS.items() for change in changes]
)
def test_refusals_name_the_error(name: str, old: str, new: str, why: str) -> None:
    text, read, error = PARSERS[name] if name in PARSERS else (sample(name), read_all, HistoryError)
    assert old in text
    with pytest.raises(error, match=why) as caught:
        read(text.replace(old, new, 1) if old else text + new)
    if isinstance(caught.value, HistoryError):
        assert caught.value.line > 0
