import random
import tomllib
import warnings

import numpy as np
import pytest
from pokerkit import HandHistory

from poker.errors import PokernetsError
from poker.formats.acpc_log import LoggedHand
from poker.formats.phh import hand_text, phh_text
from poker.rules import Rules
from poker.state import HandState
from tests.games import load_rules
from tests.random_play import nolimit, random_action


def logged(rules: Rules, count: int) -> list[LoggedHand]:
    rng, cards = random.Random(1), np.random.default_rng(1)
    hands = []
    for number in range(count):
        state = HandState.deal(rules, cards)
        while not state.is_over:
            state = state.apply(random_action(state.legal(), rng))
        names = tuple(f"p{i}" for i in range(rules.num_players))
        hands.append(LoggedHand(number, state, tuple(map(float, state.payoffs())), names))
    return hands


@pytest.mark.parametrize(
    "rules",
    [load_rules("holdem_nolimit_2p"), load_rules("holdem_limit_3p"), nolimit((300, 500, 20000, 1000))],
    ids=["2p", "limit 3p", "unequal stacks"],
)
def test_pokerkit_reads_the_hands_and_pays_alike(rules: Rules) -> None:
    for hand in logged(rules, 40):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", UserWarning)
            *_, end = HandHistory.loads(hand_text(hand))
        assert not end.status
        assert tuple(end.payoffs) == hand.payoffs


def test_a_file_of_many_hands_is_toml() -> None:
    tables = tomllib.loads(phh_text(logged(load_rules("holdem_nolimit_2p"), 3)))
    assert list(tables) == ["1", "2", "3"]
    assert tables["2"]["hand"] == 1
    assert tables["1"]["starting_stacks"] == [20000, 20000]
    assert tables["1"]["actions"][0].startswith("d dh p1 ")


def test_other_games_are_refused() -> None:
    with pytest.raises(PokernetsError, match="holds Texas hold'em, not `leduc`"):
        hand_text(logged(load_rules("leduc"), 1)[0])
