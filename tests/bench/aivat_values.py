"""What each value function of AIVAT leaves of the variance, and what it costs: the same hands estimated with all.

    python -m tests.bench.aivat_values [--hands 300] [--out docs/results/aivat_values.json]

The blueprint of scale=laptop plays itself, always_call, and equity, which has no policy. Hands are estimated in blocks,
each block with every value function, and the file is written anew after each, so an interrupted run compares fairly.
"""

import argparse
import json
import shlex
import sys
import time
from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np

from conf.launch import call, compose
from poker.agents.base import Agent, PolicyAgent
from poker.artifacts import write_atomically
from poker.evaluation.aivat.guesses import Guess
from poker.evaluation.matches.table import Schedule, Table, play_session
from poker.evaluation.provenance import provenance
from poker.formats.acpc_log import parse_log_line
from poker.state import HandState

KINDS = ("fold_equity", "check_down", "blueprint", "net")
OPPONENTS = ("blueprint", "always_call", "equity")
BLOCK = 25
"""Deals, each played in both seatings."""


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--hands", type=int, default=300)
    parser.add_argument("--out", type=Path, default=Path("docs/results/aivat_values.json"))
    asked = parser.parse_args()
    overrides = ["evaluate=match", "scale=laptop", "search=demo"]
    config = compose("evaluate", overrides)
    guesses: dict[str, Guess] = {
        kind: call(compose("evaluate", [*overrides, f"+values@guess={kind}"]).guess) for kind in KINDS
    }
    blueprint = call(config.agent.blueprint)
    tables = {name: [blueprint, blueprint if name == "blueprint" else call(config.agent[name])] for name in OPPONENTS}
    schedule = Schedule(blueprint.blueprint.rules, config.seed, 1)
    rows: dict[tuple[str, str], list[tuple[float, float]]] = defaultdict(list)
    cpu: dict[tuple[str, str], float] = defaultdict(float)
    for start in range(0, asked.hands // 2, BLOCK):
        for opponent, cast in tables.items():
            hands = list(_hands(schedule, cast, range(start, min(start + BLOCK, asked.hands // 2))))
            for kind, guess in guesses.items():
                began = time.process_time()
                rows[opponent, kind] += [_estimate(schedule, guess, *hand) for hand in hands]
                cpu[opponent, kind] += time.process_time() - began
        record = {
            "unit": "mbb/hand",
            "what": "result of the blueprint; standard deviations of single hands; AIVAT alone is timed, CPU",
            "rows": [_row(key, found, cpu[key]) for key, found in rows.items()],
            "settings": {"overrides": overrides, "seed": config.seed},
            "command": shlex.join(["python", "-m", "tests.bench.aivat_values", *sys.argv[1:]]),
            **provenance(),
        }
        write_atomically(asked.out, json.dumps(record, indent=1).encode() + b"\n")


def _hands(schedule: Schedule, cast: list[Agent], deals: range) -> Iterator[tuple[HandState, list[Agent], int]]:
    """Finished hands, who played in each seat, and the seat of the first of `cast`."""
    for deal in deals:
        for line in play_session(schedule, Table(("blueprint", "other")), cast, deal).lines:
            hand = parse_log_line(schedule.rules, line)
            entries = schedule.seatings[hand.number % 2]
            yield hand.state, [cast[entry] for entry in entries], entries.index(0)


def _estimate(schedule: Schedule, guess: Guess, hand: HandState, agents: list[Agent], seat: int) -> tuple[float, float]:
    """Chips and estimate, mbb."""
    policies = [agent.policy if isinstance(agent, PolicyAgent) else None for agent in agents]
    found = guess(schedule.rules, policies).terms(hand, policies)
    mbb = (1 if seat == 0 else -1) * 1000 / schedule.rules.big_blind
    return found.chips * mbb, found.estimate * mbb


def _row(key: tuple[str, str], found: list[tuple[float, float]], seconds: float) -> dict[str, Any]:
    chips, aivat = np.array(found).T
    return {
        "opponent": key[0],
        "values": key[1],
        "hands": len(chips),
        "mean_chips": float(chips.mean()),
        "mean_aivat": float(aivat.mean()),
        "sd_chips": float(chips.std(ddof=1)),
        "sd_aivat": float(aivat.std(ddof=1)),
        "chips_over_aivat": float(chips.std(ddof=1) / aivat.std(ddof=1)),
        "cpu_seconds_per_hand": seconds / len(chips),
    }


if __name__ == "__main__":
    main()
