"""Whether a hint is what the agent would do: `python -m tests.bench.hints DECISIONS [key=value ...]`.

The agent `depth_limited` plays both seats of hands with random cards. At every decision its strategy is compared with
the strategy that a person in that seat gets as a hint: total variation, averaged over the range of the player. Seconds
are CPU seconds of all threads.
"""

import argparse
import json
import resource
import time
from typing import Any

import numpy as np

from conf.compose import build, compose
from poker.agents.base import hand_number
from poker.game.state import HandState, public_state
from poker.kernels.types import Floats
from tests.bench.record import record

_SOLVED = 0.05
"""Seconds above which a decision was solved and not looked up."""


def main(decisions: int, settings: list[str]) -> dict[str, Any]:
    config = compose("evaluate", ["evaluate=play", "agents=[depth_limited]", *settings])
    agent, game, rng = build(config.agent.depth_limited), build(config.game), np.random.default_rng(1)
    agent.reset(1)
    variations, seconds = list[float](), {name: [list[float]() for _ in range(4)] for name in ("move", "hint")}
    while len(variations) < decisions:
        state = HandState.deal(game, rng)
        while not state.is_over and len(variations) < decisions:
            public = public_state(state.betting, state.board)
            started = time.process_time()
            actions, strategy = agent.policy(public)
            moved = time.process_time()
            hint = agent.opponents_decision(public)
            seconds["move"][state.street].append(moved - started)
            seconds["hint"][state.street].append(time.process_time() - moved)
            variations.append(_variation((actions, strategy), (hint.actions, hint.strategy), hint.weights))
            probabilities = strategy[hand_number(state, state.to_act)].astype(float)
            state = state.apply(actions[int(rng.choice(len(actions), p=probabilities / probabilities.sum()))])
    solves = {
        name: [[took for took in street if took > _SOLVED] for street in lists] for name, lists in seconds.items()
    }
    return record(
        played=config.agent,
        settings=settings,
        decisions=decisions,
        variation_mean=round(float(np.mean(variations)), 4),
        variation_max=round(max(variations), 4),
        **{f"{name}_seconds_by_street": [_summary(street) for street in lists] for name, lists in solves.items()},
        peak_mib=resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024,
    )


def _variation(move: tuple[tuple[int, ...], Floats], hint: tuple[tuple[int, ...], Floats], weights: Floats) -> float:
    """Total variation of two strategies over the hands that both hold, weighted by the range."""
    solved = weights * (hint[1].sum(axis=1) > 0) * (move[1].sum(axis=1) > 0)
    columns = {action: np.zeros(len(weights)) for action in {*move[0], *hint[0]}}
    for sign, (actions, strategy) in ((1, move), (-1, hint)):
        for action, column in zip(actions, strategy.T, strict=True):
            columns[action] += sign * column
    distances = 0.5 * sum(abs(column) for column in columns.values())
    return float((solved * distances).sum() / solved.sum())


def _summary(seconds: list[float]) -> dict[str, float]:
    """Number, median and maximum of the solves of a street."""
    if not seconds:
        return {"solves": 0}
    return {"solves": len(seconds), "median": round(float(np.median(seconds)), 2), "max": round(max(seconds), 2)}


if __name__ == "__main__":
    parser = argparse.ArgumentParser(prog="python -m tests.bench.hints")
    parser.add_argument("decisions", type=int)
    parser.add_argument("settings", nargs="*", metavar="key=value")
    options = parser.parse_args()
    print(json.dumps(main(options.decisions, options.settings), indent=1))
