"""Milliseconds of Poki's parts: look-ahead, re-weighting, predictor updates, and decisions at a table of ten.

Time is CPU time of the thread, so that other work on the machine does not count.
"""

import time
from collections.abc import Callable
from typing import Any

import numpy as np

from poker.agents.base import Agent
from poker.cards import NUM_HANDS, hand_index, parse_cards
from poker.kernels.opponents.weights import reweight
from poker.opponents.model import Context
from poker.opponents.modelling import tracker_for
from poker.opponents.responses import likelihood
from poker.opponents.strength import BoardStrength, board_strength
from poker.rules import Rules
from poker.state import HandState
from tests.games import load_rules
from tests.poki import formula, rates, simulation

FLOP = parse_cards("Kh9h4c")
DEALS = 40
LOOSE = (0.2, 0.5, 0.1)


def milliseconds(action: Callable[[], Any], repeats: int) -> float:
    """Median of `repeats` calls, after one to warm up."""
    action()
    times = []
    for _ in range(repeats):
        start = time.thread_time()
        action()
        times.append(time.thread_time() - start)
    return 1000 * float(np.median(times))


def parts() -> list[dict[str, Any]]:
    rng = np.random.default_rng(0)
    table = rng.random((1, NUM_HANDS), dtype=np.float32)
    board, hand = board_strength(FLOP), hand_index(*parse_cards("QhJh"))
    quantile = board.quantile(3)
    weights, probs = np.ones(NUM_HANDS, dtype=np.float32), np.array([0.3, 0.5, 0.2])
    flops = [tuple(rng.permutation(52)[:3].tolist()) for _ in range(8)]
    mixture = tracker_for("best_of", None, rates()).predictor
    assert mixture is not None
    actions: list[tuple[str, Callable[[], Any], int]] = [
        ("poki_flop_analysis", lambda: BoardStrength(tuple(sorted(flops.pop()))), 7),
        ("poki_look_ahead_flop", lambda: board.against(hand, table), 20),
        ("poki_reweight", lambda: reweight(weights, likelihood(1, 0, quantile, probs, 2), 0.1, 0.1 * 0.2), 50),
        ("poki_predictor_update_best_of", lambda: mixture.update(Context("x", 1, 1), 1), 200),
    ]
    return [{"name": name, "value": milliseconds(action, n), "unit": "ms"} for name, action, n in actions]


def decision_times(agents: list[Agent], rules: Rules, deals: int) -> dict[tuple[str, bool], list[float]]:
    """Seconds of every decision by agent name and whether there was a board."""
    found: dict[tuple[str, bool], list[float]] = {}
    for deal in range(deals):
        state = HandState.deal(rules, np.random.default_rng(deal))
        for seat, agent in enumerate(agents):
            agent.start_hand(seat)
        while not state.is_over:
            agent, view = agents[state.to_act], state.view(state.to_act)
            start = time.thread_time()
            action = agent.act(view)
            found.setdefault((agent.name, bool(state.board)), []).append(time.thread_time() - start)
            state = state.apply(action)
    return found


def decisions() -> list[dict[str, Any]]:
    rules = load_rules("holdem_limit_10p")
    rows = []
    for name in ("poki_formula", "poki_simulation"):
        agents: list[Agent] = [formula(f"other {i}", "statistics", LOOSE) for i in range(10)]
        for seat in (2, 6):
            simulates = name == "poki_simulation"
            agents[seat] = simulation(name, trials=3000) if simulates else formula(name, "statistics", LOOSE)
        decision_times(agents, rules, 2)
        for (who, board), times in sorted(decision_times(agents, rules, DEALS).items()):
            if who == name:
                row = {"name": f"{name}_{'postflop' if board else 'preflop'}_10p", "unit": "ms", "n": len(times)}
                rows.append({**row, "value": 1000 * float(np.median(times)), "max": 1000 * max(times)})
    return rows


def run() -> list[dict[str, Any]]:
    """One row a figure; the limits of play are 5 ms for the formula and 500 ms for the simulation."""
    return parts() + decisions()
