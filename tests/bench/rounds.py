"""CPU seconds of rounds that an agent solves on one thread, in two checkouts by turns.

    python -m tests.bench.rounds BEFORE --out FILE

BEFORE is another checkout. Rows have medians of five turns each: an iteration of a round with leaves and its solve, and
the median and the slowest of twelve decisions on turns.
"""

import argparse
import json
import os
import statistics
import subprocess
import sys
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from conf.compose import build, compose
from poker.game.betting import Betting
from poker.game.cards import NUM_HANDS, parse_cards
from poker.game.state import public_state
from poker.run.atomic import write_atomically
from poker.search.round_solver import Request
from tests.bench.record import record

HERE = Path(__file__).parents[2]
BUNDLE = HERE / "models" / "trained" / "laptop.bundle"
TURNS = 5
ROUNDS = {"preflop": ([], ""), "three-bet": ([250], ""), "flop": ([250, 0], "Td6d2h")}
LINES = {(250, 0): (0, 0), (250, 0, 0): (500, 0), (250, 750, 0): (1250, 0)}
BOARDS = "Td6d2h9s", "Ks7h2dJc", "8h7h3c3d", "AcQd5s2c"
SEARCHES = {
    "laptop, before": ["search=laptop", "search.solver.exploitability=0.002"],
    "laptop": ["search=laptop"],
    "strong": ["search=strong", "search.flops=null", "leaf=net"],
}


def agent_and_game(*settings: str) -> tuple[Any, Any]:
    start = ["evaluate=match", "agents=[depth_limited]", "scale=laptop", f"artifacts={BUNDLE}"]
    config = compose("evaluate", [*start, *settings])
    return build(config.agent.depth_limited), build(config.game)


def after(game: Any, actions: Sequence[int]) -> Betting:
    state = Betting.start(game)
    for action in actions:
        state = state.apply(action)
    return state


def solved_rounds(search: str) -> dict[str, float]:
    (agent, game), found = agent_and_game(f"search={search}", "search.flops=null", "leaf=net"), {}
    ranges = np.full((2, NUM_HANDS), 1 / NUM_HANDS, np.float32)
    for name, (actions, board) in ROUNDS.items():
        root, seconds = after(game, actions), []
        request = Request(root, parse_cards(board), ranges, root.to_act)
        for _ in range(5):
            solver = agent.without_time_limit._prepared([request], 1)[0]
            solver.advance(1)
            begin = time.thread_time()
            solver.advance(60)
            seconds.append((time.thread_time() - begin) / 60)
        begin = time.process_time()
        agent.without_time_limit(request)
        found[f"{name}, search={search}: solve, s"] = time.process_time() - begin
        found[f"{name}, search={search}: iteration, ms"] = 1e3 * min(seconds)
        found[f"{name}, search={search}: hand and action, ns"] = 1e9 * min(seconds) / solver.game.hand_actions
    return found


def decided_turns(search: str) -> dict[str, float]:
    (agent, game), seconds = agent_and_game(*SEARCHES[search]), []
    for line, later in LINES.items():
        for board in BOARDS:
            agent.reset(1)
            agent.policy(public_state(after(game, line), parse_cards(board[:6])))
            begin = time.process_time()
            agent.policy(public_state(after(game, line + later), parse_cards(board)))
            seconds.append(time.process_time() - begin)
    return {
        f"turn, search={search}, median, s": statistics.median(seconds),
        f"turn, search={search}, slowest, s": max(seconds),
    }


def main() -> None:
    if len(sys.argv) == 1:
        parts = [solved_rounds(search) for search in ("demo", "laptop", "strong")] + [*map(decided_turns, SEARCHES)]
        print(json.dumps({name: value for part in parts for name, value in part.items()}))
        return
    parser = argparse.ArgumentParser()
    parser.add_argument("before")
    parser.add_argument("--out", type=Path)
    given = parser.parse_args()
    found: dict[str, list[dict[str, float]]] = {"before": [], "after": []}
    for _ in range(TURNS):
        for name, path in (("before", given.before), ("after", str(HERE))):
            environment = os.environ | {"PYTHONPATH": f"{path}{os.pathsep}{HERE}"}
            done = subprocess.run(
                [sys.executable, __file__], env=environment, check=True, capture_output=True, cwd=path
            )
            found[name].append(json.loads(done.stdout))
    rows: list[dict[str, Any]] = [
        {"name": name} | {when: statistics.median(turn[name] for turn in turns) for when, turns in found.items()}
        for name in found["after"][0]
    ]
    for row in rows:
        row["share"] = row["after"] / row["before"]
    write_atomically(
        given.out, json.dumps(record({"artifacts": "models/trained/laptop.bundle"}, rows=rows), indent=1).encode()
    )


if __name__ == "__main__":
    main()
