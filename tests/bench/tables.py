"""Gain from tables side by side: hands per CPU second of one agent against another, and what the CPU was busy with.

    python -m tests.bench.tables [--hands 200] [--tables 1 16] [--repeats 2] [--agents depth_limited blueprint]
        [--settings scale=demo] [--out FILE]

The same hands with each number of tables, in turn, by agents that remember nothing of the time before.
"""

import argparse
import json
import time
from collections import defaultdict
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any
from unittest.mock import patch

from conf.compose import call, compose
from poker.atomic import write_atomically
from poker.play.lineup import LineUp, Rotation
from poker.play.workers import Worker
from poker.search import engines, round_solver
from poker.search.leaves import net as net_leaf
from tests.bench.record import record

WARM_UP = 10
"""Deals that are played before anything is timed, of another seed."""


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--hands", type=int, default=200)
    parser.add_argument("--tables", type=int, nargs="+", default=[1, 16])
    parser.add_argument("--repeats", type=int, default=2)
    parser.add_argument("--agents", nargs=2, default=["depth_limited", "blueprint"])
    parser.add_argument("--settings", nargs="+", default=["scale=demo"])
    parser.add_argument("--out", type=Path, default=Path("docs/results/costs/tables.json"))
    asked = parser.parse_args()
    overrides = ["evaluate=match", f"agents=[{','.join(asked.agents)}]", *asked.settings]
    config = compose("evaluate", overrides)
    specs = {spec.name: spec for spec in call(config.agent)}
    rules, lineup, rows = call(config.game), LineUp(tuple(asked.agents)), []

    def play(seed: int, deals: int, tables: int) -> list[str]:
        worker = Worker(Rotation(rules, seed, 1), specs, tables=tables)
        played = dict(worker.play_all([(lineup, deal) for deal in range(deals)]))
        return [line for deal in range(deals) for line in played[lineup, deal].lines]

    play(config.seed + 1, WARM_UP, 1)
    hands: list[list[str]] = []
    for _ in range(asked.repeats):
        for tables in asked.tables:
            with timed() as parts:
                began = time.process_time()
                hands.append(play(config.seed, asked.hands // 2, tables))
                seconds = time.process_time() - began
            shares = {name: part / seconds for name, part in parts.items()}
            row = {"tables": tables, "hands": len(hands[-1]), "cpu_seconds": seconds, "shares": shares}
            rows.append({**row, "hands_per_cpu_second": len(hands[-1]) / seconds})
            print(json.dumps(rows[-1]))
    found = record(
        what="hands per CPU second, building the agents included; shares of that time",
        same_hands=all(lines == hands[0] for lines in hands),
        rows=rows,
        settings={"overrides": overrides, "seed": config.seed},
    )
    write_atomically(asked.out, json.dumps(found, indent=1).encode() + b"\n")


@contextmanager
def timed() -> Iterator[dict[str, float]]:
    """CPU seconds by what they were spent on; parts do not overlap but for `leaf values`, which has the two before."""
    spent: dict[str, float] = defaultdict(float)

    def clocked(name: str, function: Callable[..., Any]) -> Callable[..., Any]:
        def run(*args: Any, **more: Any) -> Any:
            began = time.process_time()
            try:
                return function(*args, **more)
            finally:
                spent[name] += time.process_time() - began

        return run

    with ExitStack() as stack:
        for owner, attribute, name in (
            (net_leaf._Grouping, "groups", "board features"),
            (net_leaf.NetLeaf, "_predict", "net"),
            (net_leaf.NetLeaf, "values", "leaf values"),
            (round_solver, "build_tree", "trees"),
            (round_solver, "VectorGame", "boards and all-ins"),
            (engines.KernelEngine, "run", "iterations"),
            (round_solver, "_round_policies", "reading strategies"),
        ):
            stack.enter_context(patch.object(owner, attribute, clocked(name, getattr(owner, attribute))))
        yield spent


if __name__ == "__main__":
    main()
