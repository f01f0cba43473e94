"""Locks of a spot file fix a decision as `VectorSolver.lock` does, and say what is wrong."""

from typing import Any

import numpy as np
import pytest

import pokernets
from poker.game.cards import hand_index, parse_cards
from poker.run.errors import PokernetsError

SPOT = {
    "board": "Ks9d4c4h2s",
    "oop_range": "AA,KK,QQ,JJ,AKs",
    "ip_range": "AA,TT,99,AQs",
    "pot": 60,
    "stack": 90,
    "bet": "50%",
    "raise": "a",
}


def solved(**locks: Any) -> pokernets.SolvedSpot:
    texts = {key.replace("_", " "): text for key, text in locks.items()}
    return pokernets.solve({**SPOT, **texts}, exploitability=0.002)


def test_hands_do_what_the_lock_says() -> None:
    spot = solved(lock_check="bet30 AA:0.25,TT; check rest")
    view = spot.view("check")
    shares = {hand: view.strategy[hand_index(*parse_cards(hand))].tolist() for hand in ("AdAc", "TdTc", "9s9c")}
    assert view.actions == ("check", "bet30")
    assert shares["AdAc"] == pytest.approx([0.75, 0.25])
    assert shares["TdTc"] == pytest.approx([0, 1])
    assert shares["9s9c"] == pytest.approx([1, 0])
    free = solved()
    assert not np.allclose(free.view("check").strategy, view.strategy, atol=0.05)
    assert spot.ev[1] < free.ev[1]  # the other player knows it
    assert sum(spot.ev) == pytest.approx(60)


def test_a_lock_that_is_wrong_is_told() -> None:
    for locks, message in (
        ({"lock": "bet77 AA"}, "spot, `lock`: `bet77` is not possible here: check, bet30 are"),
        ({"lock": "bet30 AA"}, "gives a hand no action"),
        ({"lock": "bet30 rest; check rest"}, "one action takes the `rest`"),
        ({"lock": "bet30 AX; check rest"}, "`AX`"),
        ({"lock_check_fold": "check rest"}, "spot, `lock check fold`: `fold` in"),
    ):
        with pytest.raises(PokernetsError, match=message):
            solved(**locks)
