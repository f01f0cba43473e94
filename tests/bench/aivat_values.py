"""Variance that each value function of AIVAT leaves, and its cost: the same hands estimated with all of them.

    python -m tests.bench.aivat_values [--hands 300] [--opponents NAME...] [--kinds NAME...] [--out FILE]
        [--settings scale=laptop search=demo]

The blueprint plays itself, always_call, and equity, which has no policy, or the opponents named. Hands are estimated in
blocks, each block with every value function, and the file is written anew after each, so an interrupted run compares
fairly.
"""

import argparse
import json
import time
from collections import defaultdict
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from conf.compose import call, compose
from poker.evaluation.aivat.value_functions import ValueFunctionFactory
from poker.evaluation.matches.match_aivat import MatchAivat
from poker.play.lineup import LineUp, Rotation
from poker.play.session import SessionRecord, play_session
from poker.run.atomic import write_atomically
from tests.bench.record import record

KINDS = ("fold_equity", "check_down", "search")
BLOCK = 25
"""Deals, each played in both seatings."""


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--hands", type=int, default=300)
    parser.add_argument("--opponents", nargs="+", default=["blueprint", "always_call", "equity"])
    parser.add_argument("--out", type=Path, default=Path("docs/results/intervals/aivat_values.json"))
    parser.add_argument("--kinds", nargs="+", default=KINDS)
    parser.add_argument("--settings", nargs="+", default=["scale=laptop", "search=demo"])
    options = parser.parse_args()
    overrides = [
        "evaluate=match",
        f"agents=[{','.join({'blueprint', *options.opponents})}]",
        *options.settings,
    ]
    config = compose("evaluate", overrides)
    functions: dict[str, ValueFunctionFactory] = {
        kind: call(compose("evaluate", [*overrides, f"+values@asked={kind}"]).asked) for kind in options.kinds
    }
    blueprint = call(config.agent.blueprint)
    lineups = {
        name: [blueprint, blueprint if name == "blueprint" else call(config.agent[name])] for name in options.opponents
    }
    rotation = Rotation(blueprint.blueprint.rules, config.seed, 1)
    rows: dict[tuple[str, str], list[tuple[float, float]]] = defaultdict(list)
    cpu: dict[tuple[str, str], float] = defaultdict(float)
    for start in range(0, options.hands // 2, BLOCK):
        for opponent, agents in lineups.items():
            names = LineUp(("blueprint", opponent))
            deals = range(start, min(start + BLOCK, options.hands // 2))
            played = [play_session(rotation, names, [agents], deal) for deal in deals]
            for kind, values in functions.items():
                began = time.process_time()
                for session in played:
                    MatchAivat(values=partial(_same, values))(rotation, [agents], session)
                    rows[opponent, kind] += _results(rotation, session)
                cpu[opponent, kind] += time.process_time() - began
        content = record(
            played=config.agent,
            unit="mbb/hand",
            what="result of the blueprint; standard deviations of single hands; AIVAT alone is timed, CPU",
            rows=[_row(key, row, cpu[key]) for key, row in rows.items()],
            settings={"overrides": overrides, "seed": config.seed},
        )
        write_atomically(options.out, json.dumps(content, indent=1).encode() + b"\n")


def _same(values: ValueFunctionFactory) -> ValueFunctionFactory:
    return values


def _results(rotation: Rotation, record: SessionRecord) -> list[tuple[float, float]]:
    """Chips and estimate of the first entry, mbb, by hand."""
    mbb = 1000 / rotation.rules.big_blind
    return [(chips[0] * mbb, aivat[0] * mbb) for chips, aivat in zip(record.payoffs, record.aivat, strict=True)]


def _row(key: tuple[str, str], estimates: list[tuple[float, float]], seconds: float) -> dict[str, Any]:
    chips, aivat = np.array(estimates).T
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
