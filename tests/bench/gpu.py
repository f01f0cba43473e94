"""Speed of a GPU: all measurements in one command of a few minutes.

    python -m tests.bench.gpu [--device cuda] [--tiny] [--artifacts FILE] [--out FILE] [PART ...]

Wall seconds, the least of two runs but for `tables`; what was measured is on disk after every part,
and one that fails is noted and does not end the rest. With TRITON_INTERPRET=1, `--device torch` and
`--tiny` try the paths without a GPU.

Solves say how many kernels an iteration launches, what it must move (45 bytes an action of a hand) and the share of the
device's bandwidth at which it moved that.
"""

import argparse
import json
import sys
import tempfile
import time
import traceback
from collections.abc import Callable
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from functools import cache, partial
from multiprocessing import get_context
from pathlib import Path
from typing import Any

import lightning
import numpy as np
import torch

from conf.compose import build, compose
from models.leaf.data import LeafData
from models.leaf.module import LeafModule
from models.leaf.runner import LeafRunner
from models.training.mlp import Mlp
from models.training.run import quiet
from poker.depth_limit import inputs
from poker.depth_limit.inputs import GridParts
from poker.game.beliefs import observe_board
from poker.game.betting import Betting
from poker.game.rules import CALL
from poker.play.lineup import LineUp, Rotation
from poker.play.workers import Worker
from poker.run.atomic import write_atomically
from poker.solve.batches import run
from poker.solve.torch.batches import batch_of
from poker.solve.torch.device import torch_device
from poker.solve.torch.vector import TorchVectorSolver
from poker.solve.types import Budget, Request
from poker.solvers.vector.game import NO_LIMIT, VectorGame
from poker.solvers.vector.solver import VectorSolver
from poker.store.bundle import open_bundle
from poker.tree import build_tree
from poker.tree.spots import spot_tree
from tests.bench.record import record
from tests.bench.vector import flop_holdem
from tests.models.shards import write_leaf_states
from tests.solvers.games import SPOTS, kuhn, spot_game

BUNDLE = Path(__file__).parents[2] / "models" / "trained" / "laptop.bundle"
OUT = Path("docs/results/gpu/result.json")
GOALS = {"whole_flop": 7.0, "spot": 0.1, "rivers": 0.06, "flop": 0.2, "subgames": 6.0, "tables": 60}
"""Seconds; milliseconds an iteration; seconds for all hands."""
Found = dict[str, Any]
MUST_MOVE = 45
"""Bytes that an action of a hand must move in an iteration: regrets, predictions and sums read and written, reach and
values, strategies read twice."""
_MOST_ITERATIONS = 5000
_HIDDEN = [256, 128, 128, 128]


@dataclass(frozen=True)
class Sizes:
    """Sizes of all parts; `settings` are the agent's, and every `river_hands`th hand is in the ranges on rivers."""

    repeats: int = 2
    spot: str = "t2_turn_wide"
    exploitability: float = 0.001
    rivers: int = 256
    river_hands: int = 1
    rivers_exploitability: float = 0.005
    boards: int = 16
    subgames: int = 192
    iterations: int = 50
    tables: int = 512
    processes: int = 12
    settings: tuple[str, ...] = ("scale=laptop",)
    grids: int = 64
    leaves: int = 64
    clusters: int = 64
    shard_rows: int = 500_000
    epoch_rows: int = 10_000_000
    batch_rows: tuple[int, ...] = (4096, 65_536)
    flop_game: Callable[[], VectorGame] = flop_holdem
    flop_mbb: float = 1.0


def _kuhn() -> VectorGame:
    return VectorGame(build_tree(Betting.start(kuhn())))


TINY = Sizes(**json.loads(Path(__file__).with_suffix(".json").read_text()), flop_game=_kuhn)


def spot(device: str, sizes: Sizes) -> list[Found]:
    """A reference spot; `with_set_up` counts its tensors and the way back too."""
    game = spot_game(sizes.spot) if sizes.spot in SPOTS else _kuhn()
    name = f"{sizes.spot} to {100 * sizes.exploitability:g}% of the pot"
    return [{"name": name, **_solved(game, device, sizes.exploitability, sizes)}]


def rivers(device: str, sizes: Sizes) -> list[Found]:
    """Rivers of one betting tree on boards of their own, as one batch; `with_set_up` as for a spot."""
    config = dict(SPOTS["r1_river_full"]["config"])
    pot, stack = int(config.pop("pot")), int(config.pop("stack"))
    menu = {key: value for key, value in config.items() if key not in ("board", "oop_range", "ip_range")}
    tree, rng = spot_tree(5, pot, stack, menu), np.random.default_rng(1)
    begin = time.perf_counter()
    games = []
    for _ in range(sizes.rivers):
        board, ranges = tuple(sorted(rng.choice(52, 5, replace=False).tolist())), rng.random((2, 1326), np.float32)
        ranges[:, np.arange(1326) % sizes.river_hands > 0] = 0
        games.append(VectorGame(tree, board, ranges))
    posed = time.perf_counter() - begin
    results = []
    for _ in range(sizes.repeats):
        solvers, begin = [VectorSolver(game) for game in games], time.perf_counter()
        batch = batch_of(solvers, torch_device(device))
        ready, reached = time.perf_counter(), list[int]()
        batch.run_until(np.full(len(games), sizes.rivers_exploitability), np.inf, _MOST_ITERATIONS, reached.append)
        done = time.perf_counter() - ready
        for number, solver in enumerate(solvers):
            batch.export(number, solver)
        results.append((done, time.perf_counter() - begin))
    seconds, whole = min(results)
    name = f"{len(games)} river subgames to {100 * sizes.rivers_exploitability:g}% of the pot"
    row = {"name": name, "value": seconds, "unit": "s", "with_set_up": whole, "iterations": batch.iterations}
    return [{**row, "games_made_in": posed, **_iteration(batch, sizes.iterations)}]


def _match(device: str, sizes: Sizes, artifacts: Path) -> Any:
    """Configuration of a match of the depth-limited agent."""
    settings = ["evaluate=match", "agents=[depth_limited]", f"artifacts={artifacts}", f"search.solver.device={device}"]
    return compose("evaluate", [*settings, *sizes.settings])


def subgames(device: str, sizes: Sizes, artifacts: Path = BUNDLE) -> list[Found]:
    """Flop rounds after a raise and a call with every hand, the menu and the leaf net of the agent, as one batch."""
    config = _match(device, sizes, artifacts)
    game, rng = build(config.game), np.random.default_rng(1)
    agent = next(spec for spec in build(config.agent) if spec.name == "depth_limited").build(game)
    boards = [tuple(sorted(rng.choice(52, 3, replace=False).tolist())) for _ in range(sizes.boards)]
    requests = []
    for number in range(sizes.subgames):
        board = boards[number % len(boards)]
        root = Betting.start(game).apply((2 + number // len(boards) % 3) * game.big_blind).apply(CALL)
        ranges = observe_board(0.05 + rng.random((2, game.num_hands), np.float32), board)
        requests.append(Request(root, board, ranges, 0))
    results = []
    for _ in range(sizes.repeats):
        begin = time.perf_counter()
        solvers = agent._solve._prepared(requests, 1, every_hand=True)
        posed = time.perf_counter() - begin
        batch = batch_of(solvers, torch_device(device))
        results.append({"posed_in": posed, **_iteration(batch, sizes.iterations)})
    best_row = min(results, key=lambda row: row["milliseconds"])
    name = f"{len(requests)} flop rounds with a net at the leaves, an iteration"
    return [{"name": name, "value": best_row["milliseconds"], "unit": "ms", **best_row}]


def whole_flop(device: str, sizes: Sizes) -> list[Found]:
    """A flop with wide ranges to the end of the hand, with every river and with five after each turn."""
    rows = []
    for rivers in (5, None):
        options = {"cards": 3, "rivers": rivers, "memory_limit": NO_LIMIT}
        game = spot_game(sizes.spot, **options) if sizes.spot in SPOTS else _kuhn()
        name = f"wide flop, {rivers or 'all'} rivers after each turn"
        name += f", to {100 * sizes.rivers_exploitability:g}% of the pot"
        rows.append({"name": name, **_solved(game, device, sizes.rivers_exploitability, sizes)})
    return rows


def flop(device: str, sizes: Sizes) -> list[Found]:
    """The two-street game of the golden file."""
    game = sizes.flop_game()
    result = _solved(game, device, sizes.flop_mbb * game.rules.big_blind / 1000, sizes)
    return [{"name": f"flop hold'em to {sizes.flop_mbb} mbb", **result, "hand_actions": game.hand_actions}]


def _play(device: str, sizes: Sizes, artifacts: Path, deals: range) -> tuple[int, int]:
    """Play deals at once, each in both seats; return the numbers of hands and of incidents."""
    config = _match(device, sizes, artifacts)
    specs = {spec.name: spec for spec in build(config.agent)}
    lineup = LineUp(("depth_limited", "depth_limited"))
    worker = Worker(Rotation(build(config.game), config.seed, 1), specs, tables=2 * len(deals))
    played = [record for _, record in worker.play_all([(lineup, deal) for deal in deals])]
    return sum(len(record.lines) for record in played), sum(len(record.incidents) for record in played)


def tables(device: str, sizes: Sizes, artifacts: Path = BUNDLE) -> list[Found]:
    """One hand at every table, the depth-limited agent against itself, in processes that share the device; agents and
    first solves included."""
    deals = [range(begin, sizes.tables // 2, sizes.processes) for begin in range(sizes.processes)]
    begin = time.perf_counter()
    with ProcessPoolExecutor(sizes.processes, get_context("spawn")) as pool:
        played = list(pool.map(partial(_play, device, sizes, artifacts), deals))
    seconds, (hands, failed) = time.perf_counter() - begin, np.sum(played, axis=0).tolist()
    name = f"hands of {sizes.tables} tables"
    return [{"name": name, "value": hands / seconds, "unit": "hands/s", "seconds": seconds, "incidents": failed}]


def inference(device: str, sizes: Sizes) -> list[Found]:
    """Leaf values of many boards, with rows made on the device and values brought back, and of rows already there."""
    runner, rng = LeafRunner(Mlp(inputs.SIZE, _HIDDEN, 4), device=device), np.random.default_rng(1)
    hands, number = (sizes.clusters, len(inputs.HAND_NAMES)), sizes.clusters
    shapes = hands, hands, (number, number, 2), (4,)
    parts = [GridParts(*(rng.random(shape, np.float32) for shape in shapes)) for _ in range(sizes.grids)]
    grids = [(each, rng.random((sizes.leaves, 6), np.float32)) for each in parts]
    rows = sizes.grids * sizes.leaves * number**2
    from_grids = rows / _least(partial(runner.grid_values, grids), sizes.repeats)
    there = torch.rand((min(rows, 1 << 18), inputs.SIZE), device=torch_device(device))
    net = Mlp(inputs.SIZE, _HIDDEN, 4).to(there.device)

    def forward() -> None:
        with torch.inference_mode():
            net(there)[0].cpu()

    on_device = len(there) / _least(forward, sizes.repeats)
    values = {"leaf rows, from grids": from_grids, "leaf rows, on the device": on_device}
    return [{"name": name, "value": value, "unit": "rows/s"} for name, value in values.items()]


def _epoch(data: LeafData, accelerator: str, precision: Any) -> None:
    """Train a new net for one epoch."""
    optimizer = partial(torch.optim.Adam, lr=1e-3, fused=True)
    silent = ("logger", "enable_checkpointing", "enable_progress_bar", "enable_model_summary")
    settings: dict[str, Any] = {**dict.fromkeys(silent, False), "limit_val_batches": 0}
    trainer = lightning.Trainer(accelerator=accelerator, devices=1, max_epochs=1, precision=precision, **settings)
    trainer.fit(LeafModule(Mlp(inputs.SIZE, _HIDDEN, 4), torch.nn.HuberLoss(), optimizer), datamodule=data)


def training(device: str, sizes: Sizes) -> list[Found]:
    """An epoch with all rows in the device's memory."""
    results: list[Found] = []
    with tempfile.TemporaryDirectory() as root:
        write_leaf_states(Path(root), rows=sizes.shard_rows, shards=2)
        for rows in sizes.batch_rows:
            for precision in ("32-true", "bf16-mixed"):
                data = LeafData(root, batch_rows=rows, epoch_rows=sizes.epoch_rows, on_device=True)
                seconds = _least(partial(_epoch, data, torch_device(device).type, precision), sizes.repeats)
                rate = data.epoch_batches * rows / seconds
                results.append({"name": f"training, batches of {rows}, {precision}", "value": rate, "unit": "rows/s"})
    return results


PARTS: dict[str, Callable[[str, Sizes], list[Found]]] = {
    part.__name__: part for part in (whole_flop, tables, spot, rivers, flop, subgames, inference, training)
}


def _solved(game: VectorGame, device: str, exploitability: float, sizes: Sizes) -> Found:
    results = []
    for _ in range(sizes.repeats):
        solver, begin = VectorSolver(game), time.perf_counter()
        (done,) = run([solver], [Budget(_MOST_ITERATIONS, exploitability, device=device)])
        results.append((done.seconds, time.perf_counter() - begin, done))
    seconds, whole, done = min(results, key=lambda row: row[:2])
    reached = done.exploitability <= exploitability * game.pot
    row = {"value": seconds, "unit": "s", "with_set_up": whole, "iterations": done.iterations, "reached": reached}
    return {**row, **_iteration(batch_of([VectorSolver(game)], torch_device(device)), sizes.iterations)}


def _iteration(batch: TorchVectorSolver, iterations: int) -> Found:
    """Time, launches and traffic of an iteration."""
    before = batch.launches
    batch.sweep(0, batch.schedule.parameters(1, 1)[0])
    launches, actions = 2 * (batch.launches - before), sum(game.hand_actions for game in batch.games)
    batch.run(iterations)
    _wait(batch.device)
    begin = time.perf_counter()
    batch.run(iterations)
    _wait(batch.device)
    milliseconds = 1000 * (time.perf_counter() - begin) / iterations
    result = {"milliseconds": milliseconds, "launches": launches, "must_move_gb": MUST_MOVE * actions / 1e9}
    if batch.device.type == "cuda":
        result["share_of_bandwidth"] = result["must_move_gb"] / (milliseconds / 1000) / _bandwidth()
    return result


def _wait(device: torch.device) -> None:
    if device.type == "cuda":
        torch.cuda.synchronize(device)


@cache
def _bandwidth() -> float:
    """GB/s of a copy on the device, read and written."""
    source = torch.empty(1 << 28, device="cuda")
    target = torch.empty_like(source)
    target.copy_(source)
    torch.cuda.synchronize()
    begin = time.perf_counter()
    for _ in range(10):
        target.copy_(source)
    torch.cuda.synchronize()
    return 10 * 2 * 4 * len(source) / (time.perf_counter() - begin) / 1e9


def _least(action: Callable[[], Any], repeats: int) -> float:
    """Least wall seconds of `repeats` calls, after one to warm up."""
    action()
    seconds = []
    for _ in range(repeats):
        begin = time.perf_counter()
        action()
        seconds.append(time.perf_counter() - begin)
    return min(seconds)


def main() -> int:
    parser = argparse.ArgumentParser()
    parser.add_argument("parts", nargs="*", choices=[[], *PARTS], metavar="PART", help=", ".join(PARTS))
    parser.add_argument("--device", default="cuda")
    parser.add_argument("--tiny", action="store_true")
    parser.add_argument("--artifacts", type=Path, default=BUNDLE)
    parser.add_argument("--out", type=Path)
    options = parser.parse_args()
    device = torch_device(options.device)
    if options.out is None and (options.tiny or device.type != "cuda"):
        parser.error("docs/results/gpu/result.json is for whole runs on a GPU: say --out=FILE")
    out: Path = options.out or OUT
    quiet()
    named = torch.cuda.get_device_name(device) if device.type == "cuda" else "torch on the CPU"
    content = record(
        played=open_bundle(options.artifacts).path,
        what="seconds and rates of one device, the least of two runs; tables: one run",
        device=named,
        tiny=options.tiny,
        goals=GOALS,
        rows=[],
        failed={},
        seconds={},
    )
    for name in options.parts or PARTS:
        part, begin = PARTS[name], time.perf_counter()
        if name in ("subgames", "tables"):
            part = partial(part, artifacts=options.artifacts)  # type: ignore[call-arg]
        try:
            content["rows"] += part(options.device, TINY if options.tiny else Sizes())
        except Exception:
            content["failed"][name] = traceback.format_exc(limit=-3)
            print(content["failed"][name], file=sys.stderr)
        content["seconds"][name] = round(time.perf_counter() - begin, 1)
        print(json.dumps({"part": name, "seconds": content["seconds"][name], "last": content["rows"][-1:]}), flush=True)
        write_atomically(out, json.dumps(content, indent=1).encode() + b"\n")
    return 1 if content["failed"] else 0


if __name__ == "__main__":
    sys.exit(main())
