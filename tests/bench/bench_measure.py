"""Cost of measuring: AIVAT per hand, decisions of a local best response, exact best responses."""

import time
from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np

from poker.agents.local_best_response import LbrActions, LbrStreet, LocalBestResponse
from poker.agents.simple import AlwaysCall, RandomAgent
from poker.evaluation.aivat.heads_up import Aivat
from poker.evaluation.aivat.value_functions import FoldEquity
from poker.rules import CALL
from poker.solvers.best_response.public import best_response
from poker.state import HandState
from tests.games import load_rules

HANDS = 20


def run() -> list[dict[str, Any]]:
    """Process time, so that other programs do not count; medians over boards that were not seen before."""
    rules = load_rules("holdem_nolimit_2p")
    player = RandomAgent(name="random", raises=[0.5, 1])
    aivat = Aivat(rules, FoldEquity(rules, [player.policy, player.policy]))
    lbr = LocalBestResponse(
        name="lbr", game=rules, opponent=player, actions=LbrActions([LbrStreet(True, [0.5, 1, "a"])] * 4)
    )
    rng = np.random.default_rng(1)
    hands = [_checked_down(HandState.deal(rules, rng), 8) for _ in range(HANDS + 1)]
    rows = [_row("aivat, a hand with all streets", _median(lambda i: aivat.estimate(hands[i], [player.policy] * 2)))]
    for street, actions in (("preflop", 0), ("flop", 2), ("turn", 4), ("river", 6)):
        states = [_checked_down(HandState.deal(rules, rng), actions) for _ in range(HANDS + 1)]
        rows.append(_row(f"local best response, a decision on the {street}", _median(partial(_answer, lbr, states))))
    leduc = load_rules("leduc")
    caller = AlwaysCall(name="caller")
    rows.append(_row("best response in leduc", _median(lambda i: best_response(leduc, caller.policy, 0))))
    return rows


def _answer(lbr: LocalBestResponse, states: list[HandState], index: int) -> object:
    return lbr.policy(states[index])


def _checked_down(state: HandState, actions: int) -> HandState:
    for _ in range(actions):
        state = state.apply(CALL)
    return state


def _median(step: Callable[[int], object]) -> float:
    """Milliseconds of steps 1..HANDS; step 0 warms up."""
    step(0)
    times = []
    for i in range(1, HANDS + 1):
        begin = time.process_time()
        step(i)
        times.append(time.process_time() - begin)
    return float(np.median(times)) * 1e3


def _row(name: str, value: float) -> dict[str, Any]:
    return {"name": name, "value": round(value, 3), "unit": "ms"}
