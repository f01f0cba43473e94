"""Betting states, betting trees, whole hands and matches between fast agents, on one core."""

import random
import time
from typing import Any

import numpy as np

from poker.agents.simple import AlwaysCall, RandomAgent
from poker.play.lineup import LineUp, Rotation
from poker.play.session import play_session
from poker.rules import Rules
from poker.state import Betting, HandState
from poker.tree import bet_menu, build_tree
from tests.games import load_rules
from tests.random_play import random_action


def run() -> list[dict[str, Any]]:
    rows = []
    for name in ("holdem_nolimit_2p", "holdem_nolimit_6p"):
        rules = load_rules(name)
        seconds, actions = _random_betting(rules, 3000)
        rows.append(
            {"name": f"betting: legal and apply, {name}", "value": seconds / actions * 1e6, "unit": "us/action"}
        )
        seconds = _random_hands(rules, 1000)
        rows.append({"name": f"deal, play and pay a random hand, {name}", "value": 1000 / seconds, "unit": "hands/s"})
    rows.append({"name": "build a no-limit tree, heads-up", "value": _building() * 1e6, "unit": "us/node"})
    schedule, table = Rotation(load_rules("holdem_nolimit_2p"), 1, 1), LineUp(("random", "call"))
    agents = [RandomAgent(name="random", raises=[0.5, 1, "a"]), AlwaysCall(name="call")]
    play_session(schedule, table, [agents], 0)
    started = time.perf_counter()
    for session in range(500):
        play_session(schedule, table, [agents], session)
    rate = 1000 / (time.perf_counter() - started)
    return [*rows, {"name": "match random vs always_call, logged", "value": rate, "unit": "hands/s"}]


def _random_betting(rules: Rules, hands: int) -> tuple[float, int]:
    rng = random.Random(1)
    played, spent = 0, 0.0
    for _ in range(hands):
        betting = Betting.start(rules)
        while not betting.is_over:
            action = random_action(betting.legal(), rng)
            started = time.perf_counter()
            betting.legal()
            betting = betting.apply(action)
            spent += time.perf_counter() - started
            played += 1
    return spent, played


def _building() -> float:
    """CPU seconds a node."""
    street = [[0.5, 1.0, "a"], [1.0, "a"]]
    menu = bet_menu(preflop=street, flop=street, turn=street, river=street)
    started = time.process_time()
    tree = build_tree(Betting.start(load_rules("holdem_nolimit_2p")), menu)
    return (time.process_time() - started) / len(tree)


def _random_hands(rules: Rules, hands: int) -> float:
    rng, cards = random.Random(1), np.random.default_rng(1)
    started = 0.0
    for hand in range(-20, hands):
        if hand == 0:  # the first hands load the kernels
            started = time.perf_counter()
        state = HandState.deal(rules, cards)
        while not state.is_over:
            state = state.apply(random_action(state.legal(), rng))
        state.payoffs()
    return time.perf_counter() - started
