"""CPU seconds for a decision of the depth-limited agents, with the artifacts of the demo (`make demo` makes them)."""

import time
from typing import Any

import numpy as np

from conf.compose import call, compose
from poker.agents.base import PolicyAgent
from poker.game.rules import CALL
from poker.game.state import HandState
from poker.store.artifacts import MissingArtifactError

AGENTS = ("depth_limited", "depth_limited_rollout", "naive")
LINES = {
    "preflop": [],
    "flop": [300, CALL],
    "turn": [300, CALL, CALL, CALL],
    "river": [300, CALL, CALL, CALL, CALL, CALL],
}
DEALS = 15


def run() -> list[dict[str, Any]]:
    """Median over deals of the first decision of each street by player 0, on boards not seen before; first solve of a
    process, compilation included, apart."""
    config = compose("evaluate", ["evaluate=match", f"agents=[{','.join(AGENTS)}]"])
    rows: list[dict[str, Any]] = []
    for name in AGENTS:
        try:
            agent = call(config.agent[name])
        except MissingArtifactError as error:
            return [*rows, {"name": name, "skipped": str(error)}]
        rows += _measure(name, agent, call(config.game))
    return rows


def _measure(name: str, agent: PolicyAgent, rules: Any) -> list[dict[str, Any]]:
    rng = np.random.default_rng(1)
    rows = []
    for street, line in LINES.items():
        seconds = []
        for _ in range(1 if street == "preflop" else DEALS + 1):
            state = HandState.deal(rules, rng)
            for action in line:
                state = state.apply(action)
            begin = time.process_time()
            agent.policy(state.view(state.to_act))
            seconds.append(time.process_time() - begin)
        if street == "preflop":
            rows.append({"name": f"{name}: first decision in the process", "value": seconds[0], "unit": "s"})
        else:
            median = float(np.median(seconds[1:]))
            rows.append({"name": f"{name}: {street} decision, median", "value": median, "unit": "s", "n": DEALS})
    return rows
