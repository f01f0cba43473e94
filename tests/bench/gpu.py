"""Speed of a GPU: all measurements in one command of a few minutes.

    python -m tests.bench.gpu [--device cuda] [--tiny] [--artifacts FILE] [--out FILE] [PART ...]

Wall seconds, the least of two runs but for `tables`; what was measured is on disk after every part, and one that fails
is noted and does not end the rest. `--device torch` and `--tiny` try the paths without a GPU.
"""

import argparse
import json
import sys
import tempfile
import time
import traceback
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import torch

from conf.bundles import unbundle
from conf.compose import call, compose
from models.fitting import quiet
from models.leaf_data import LeafData
from models.leaf_runner import LeafRunner
from models.mlp import Mlp
from poker.atomic import write_atomically
from poker.betting import Betting
from poker.features import leaf
from poker.play.lineup import LineUp, Rotation
from poker.play.workers import Worker
from poker.search.leaves.net import GridParts
from poker.search.torch.batches import batch_of, solve_on_device
from poker.search.torch.device import torch_device
from poker.solvers.vector.game import VectorGame
from poker.solvers.vector.solver import VectorSolver
from poker.tree import build_tree
from poker.tree.spots import spot_tree
from tests.bench.bench_models import HIDDEN, best, epoch
from tests.bench.bench_vector import flop_holdem
from tests.bench.record import record
from tests.games import load_menu
from tests.models.shards import write_leaf_states
from tests.solvers.games import SPOTS, small_holdem, spot_game

BUNDLE = Path(__file__).parents[2] / "models" / "trained" / "laptop.bundle"
OUT = Path("docs/results/gpu/result.json")
GOALS = {"spot": 0.3, "rivers": 0.3, "flop": 1.0, "inference": 50e6, "training": 10e6}
"""Seconds, or rows per second."""
Found = dict[str, Any]
_REPEATS = 2
_MOST_ITERATIONS = 5000


@dataclass(frozen=True)
class Sizes:
    """Sizes of all parts; `settings` are the agent's."""

    spot: str = "t2_turn_wide"
    percent: float = 0.1
    rivers: int = 256
    rivers_percent: float = 0.5
    tables: int = 512
    settings: tuple[str, ...] = ("scale=laptop",)
    grids: int = 64
    leaves: int = 64
    clusters: int = 64
    shard_rows: int = 500_000
    epoch_rows: int = 10_000_000
    batch_rows: tuple[int, ...] = (4096, 65_536)
    flop_game: Callable[[], VectorGame] = flop_holdem
    flop_mbb: float = 1.0


def _small_flop_game() -> VectorGame:
    rules = small_holdem()
    return VectorGame(build_tree(Betting.start(rules), load_menu("demo")))


TINY = Sizes(
    spot="r1_river_full",
    percent=20.0,
    rivers=2,
    rivers_percent=20.0,
    tables=2,
    settings=("scale=laptop", "search.solver.iterations=[2,2,2,2]", "search.clusters=4"),
    grids=2,
    leaves=2,
    clusters=4,
    shard_rows=2000,
    epoch_rows=2000,
    batch_rows=(512,),
    flop_game=_small_flop_game,
    flop_mbb=100.0,
)


def spot(device: str, sizes: Sizes) -> list[Found]:
    """A reference spot; `with_set_up` counts its tensors and the way back too."""
    game = spot_game(sizes.spot)
    return [
        {
            "name": f"{sizes.spot} to {sizes.percent}% of the pot",
            **_solved(game, device, sizes.percent / 100 * game.tree.dead),
        }
    ]


def rivers(device: str, sizes: Sizes) -> list[Found]:
    """Rivers of one betting tree on boards of their own, as one batch; `with_set_up` as for a spot."""
    config = dict(SPOTS["r1_river_full"]["config"])
    pot, stack = int(config.pop("pot")), int(config.pop("stack"))
    menu = {key: value for key, value in config.items() if key not in ("board", "oop_range", "ip_range")}
    tree, rng = spot_tree(5, pot, stack, menu), np.random.default_rng(1)
    begin = time.perf_counter()
    games = [
        VectorGame(tree, tuple(sorted(rng.choice(52, 5, replace=False).tolist())), rng.random((2, 1326), np.float32))
        for _ in range(sizes.rivers)
    ]
    posed = time.perf_counter() - begin
    found = []
    for _ in range(_REPEATS):
        solvers, begin = [VectorSolver(game) for game in games], time.perf_counter()
        batch = batch_of(solvers, torch_device(device))
        ready, reached = time.perf_counter(), list[int]()
        batch.run_until(np.full(len(games), sizes.rivers_percent / 100 * pot), np.inf, _MOST_ITERATIONS, reached.append)
        done = time.perf_counter() - ready
        for number, solver in enumerate(solvers):
            batch.export(number, solver)
        found.append((done, time.perf_counter() - begin))
    seconds, whole = min(found)
    name = f"{len(games)} river subgames to {sizes.rivers_percent}% of the pot"
    return [
        {
            "name": name,
            "value": seconds,
            "unit": "s",
            "with_set_up": whole,
            "iterations": batch.iterations,
            "games_made_in": posed,
        }
    ]


def flop(device: str, sizes: Sizes) -> list[Found]:
    """The two-street game of the golden file."""
    game = sizes.flop_game()
    found = _solved(game, device, sizes.flop_mbb * game.rules.big_blind / 1000)
    return [{"name": f"flop hold'em to {sizes.flop_mbb} mbb", **found, "hand_actions": game.hand_actions}]


def tables(device: str, sizes: Sizes, artifacts: Path = BUNDLE) -> list[Found]:
    """One hand at every table, the depth-limited agent against itself, agents and first solves included."""
    settings = ["evaluate=match", "agents=[depth_limited]", f"artifacts={artifacts}", f"search.device={device}"]
    config = compose("evaluate", [*settings, *sizes.settings])
    unbundle(config, writes=False)
    specs = {spec.name: spec for spec in call(config.agent)}
    lineup = LineUp(("depth_limited", "depth_limited"))
    worker = Worker(Rotation(call(config.game), config.seed, 1), specs, tables=sizes.tables)
    begin = time.perf_counter()
    played = [record for _, record in worker.play_all([(lineup, deal) for deal in range(sizes.tables // 2)])]
    seconds, hands = time.perf_counter() - begin, sum(len(record.lines) for record in played)
    failed = sum(len(record.incidents) for record in played)
    name = f"hands of {sizes.tables} tables"
    return [{"name": name, "value": hands / seconds, "unit": "hands/s", "hands": hands, "incidents": failed}]


def inference(device: str, sizes: Sizes) -> list[Found]:
    """Leaf values of many boards, with rows made on the device and values brought back, and of rows already there."""
    runner, rng = LeafRunner(Mlp(leaf.SIZE, HIDDEN, 4), device=device), np.random.default_rng(1)
    hands, number = (sizes.clusters, len(leaf.HAND_NAMES)), sizes.clusters
    shapes = hands, hands, (number, number, 2), (4,)
    parts = [GridParts(*(rng.random(shape, np.float32) for shape in shapes)) for _ in range(sizes.grids)]
    grids = [(each, rng.random((sizes.leaves, 6), np.float32)) for each in parts]
    rows = sizes.grids * sizes.leaves * number**2
    found = [
        {"name": "leaf rows, from grids", "value": rows / _least(partial(runner.grid_values, grids)), "unit": "rows/s"}
    ]
    there = torch.rand((min(rows, 1 << 18), leaf.SIZE), device=torch_device(device))
    net = Mlp(leaf.SIZE, HIDDEN, 4).to(there.device)

    def forward() -> None:
        with torch.inference_mode():
            net(there)[0].cpu()

    return [*found, {"name": "leaf rows, on the device", "value": len(there) / _least(forward), "unit": "rows/s"}]


def training(device: str, sizes: Sizes) -> list[Found]:
    """An epoch with all rows in the device's memory."""
    found: list[Found] = []
    with tempfile.TemporaryDirectory() as root:
        write_leaf_states(Path(root), rows=sizes.shard_rows, shards=2)
        for rows in sizes.batch_rows:
            for precision in ("32-true", "bf16-mixed"):
                data = LeafData(root, batch_rows=rows, epoch_rows=sizes.epoch_rows, on_device=True)
                seconds = _least(partial(epoch, data, torch_device(device).type, precision))
                rate = data.epoch_batches * rows / seconds
                found.append({"name": f"training, batches of {rows}, {precision}", "value": rate, "unit": "rows/s"})
    return found


PARTS: dict[str, Callable[[str, Sizes], list[Found]]] = {
    part.__name__: part for part in (spot, rivers, flop, inference, training, tables)
}


def _solved(game: VectorGame, device: str, target: float) -> Found:
    found = []
    for _ in range(_REPEATS):
        solver, begin = VectorSolver(game), time.perf_counter()
        done = solve_on_device(solver, device, _MOST_ITERATIONS, target, lambda _: None)
        found.append((done.seconds, time.perf_counter() - begin, done))
    seconds, whole, done = min(found, key=lambda row: row[:2])
    reached = done.exploitability <= target
    return {"value": seconds, "unit": "s", "with_set_up": whole, "iterations": done.iterations, "reached": reached}


_least = partial(best, repeats=_REPEATS, clock=time.perf_counter)


def main() -> int:
    parser = argparse.ArgumentParser()
    parser.add_argument("parts", nargs="*", choices=[[], *PARTS], metavar="PART", help=", ".join(PARTS))
    parser.add_argument("--device", default="cuda")
    parser.add_argument("--tiny", action="store_true")
    parser.add_argument("--artifacts", type=Path, default=BUNDLE)
    parser.add_argument("--out", type=Path)
    asked = parser.parse_args()
    device = torch_device(asked.device)
    if asked.out is None and (asked.tiny or device.type != "cuda"):
        parser.error("docs/results/gpu/result.json is for whole runs on a GPU: say --out=FILE")
    out: Path = asked.out or OUT
    quiet()
    named = torch.cuda.get_device_name(device) if device.type == "cuda" else "torch on the CPU"
    found = record(
        what="seconds and rates of one device, the least of two runs; tables: one run",
        device=named,
        tiny=asked.tiny,
        goals=GOALS,
        rows=[],
        failed={},
        seconds={},
    )
    for name in asked.parts or PARTS:
        part, begin = PARTS[name], time.perf_counter()
        if name == "tables":
            part = partial(tables, artifacts=asked.artifacts)
        try:
            found["rows"] += part(asked.device, TINY if asked.tiny else Sizes())
        except Exception:
            found["failed"][name] = traceback.format_exc(limit=-3)
            print(found["failed"][name], file=sys.stderr)
        found["seconds"][name] = round(time.perf_counter() - begin, 1)
        print(json.dumps({"part": name, "seconds": found["seconds"][name], "last": found["rows"][-1:]}), flush=True)
        write_atomically(out, json.dumps(found, indent=1).encode() + b"\n")
    return 1 if found["failed"] else 0


if __name__ == "__main__":
    sys.exit(main())
