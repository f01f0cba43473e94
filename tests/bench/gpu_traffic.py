"""Launches and traffic of an iteration on a GPU, counted in Triton's interpreter.

    TRITON_INTERPRET=1 python -m tests.bench.gpu_traffic [--out FILE] [GAME ...]

A launch moves every byte that it reads or writes once, however often its programs do, but does not read rows of reach
and values that it has written itself. That is compared with the `MUST_MOVE` bytes of `tests.bench.gpu`
an action of a hand.
"""

import argparse
import json
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from triton.runtime import interpreter

from poker.run.atomic import write_atomically
from poker.search.torch.vector import TorchVectorSolver
from poker.solvers.vector.game import VectorGame
from tests.bench.bench_vector import flop_holdem
from tests.bench.gpu import MUST_MOVE
from tests.bench.record import record
from tests.solvers.games import spot_game

OUT = Path("docs/results/gpu/traffic.json")
GAMES: dict[str, tuple[Callable[[], VectorGame], int]] = {
    "r1": (lambda: spot_game("r1_river_full"), 256),
    "t2": (lambda: spot_game("t2_turn_wide"), 1),
    "flop": (flop_holdem, 1),
}
"""Games, and how many of one board each make a batch: its traffic is that of one so many times."""
_GRAIN = 2
"""Bytes of the smallest element."""


class Traffic:
    """Bytes that launches move. `scratch` are tensors whose bytes, once written in a launch, need not be read."""

    def __init__(self, tensors: list[torch.Tensor], scratch: list[torch.Tensor]) -> None:
        self._spans = sorted((tensor.data_ptr(), tensor.nbytes) for tensor in tensors)
        self._starts = np.array([start for start, _ in self._spans], np.uint64)
        self._scratch = {tensor.data_ptr() for tensor in scratch}
        self._touched: dict[tuple[bool, int], NDArray[np.bool_]] = {}
        self.bytes = self.launches = 0

    def note(self, addresses: NDArray[np.uint64], size: int, written: bool) -> None:
        at = np.searchsorted(self._starts, addresses, side="right") - 1
        for number in np.unique(at).tolist():
            start, length = self._spans[number]
            key = written, number
            if key not in self._touched:
                self._touched[key] = np.zeros(length // _GRAIN + 1, np.bool_)
            place = ((addresses[at == number] - np.uint64(start)) // np.uint64(_GRAIN)).astype(np.int64)
            for grain in range(max(1, size // _GRAIN)):
                self._touched[key][place + grain] = True

    def end(self) -> None:
        """Count what was touched since the last launch."""
        self.launches += 1
        for (written, number), touched in self._touched.items():
            moved = touched
            if not written and self._spans[number][0] in self._scratch and (True, number) in self._touched:
                moved = touched & ~self._touched[True, number]
            self.bytes += _GRAIN * int(moved.sum())
        self._touched.clear()


@contextmanager
def counted(batch: TorchVectorSolver) -> Iterator[Traffic]:
    """Count the launches of a batch in the block."""
    tensors = {tensor.data_ptr(): tensor for tensor in _tensors(vars(batch))}
    traffic = Traffic(list(tensors.values()), [batch._reach, batch._values, batch._by_card])
    builder, executor = interpreter.InterpreterBuilder, interpreter.GridExecutor
    load, store, call = builder.create_masked_load, builder.create_masked_store, executor.__call__

    def noted_load(self: Any, ptrs: Any, mask: Any, *rest: Any) -> Any:
        traffic.note(ptrs.data[mask.data.astype(bool)], ptrs.get_element_ty().primitive_bitwidth // 8, False)
        return load(self, ptrs, mask, *rest)

    def noted_store(self: Any, ptrs: Any, value: Any, mask: Any, *rest: Any) -> Any:
        traffic.note(ptrs.data[mask.data.astype(bool)], ptrs.get_element_ty().primitive_bitwidth // 8, True)
        return store(self, ptrs, value, mask, *rest)

    def launched(self: Any, *arguments: Any, **options: Any) -> Any:
        answer = call(self, *arguments, **options)
        traffic.end()
        return answer

    builder.create_masked_load, builder.create_masked_store, executor.__call__ = noted_load, noted_store, launched
    try:
        yield traffic
    finally:
        builder.create_masked_load, builder.create_masked_store, executor.__call__ = load, store, call


def _tensors(value: Any) -> Iterator[torch.Tensor]:
    """Tensors anywhere in containers."""
    if isinstance(value, torch.Tensor):
        yield value
    elif isinstance(value, dict):
        for part in value.values():
            yield from _tensors(part)
    elif isinstance(value, list | tuple):
        for part in value:
            yield from _tensors(part)


def measured(name: str, game: VectorGame, copies: int) -> dict[str, Any]:
    """An iteration of `copies` such games as one batch."""
    batch = TorchVectorSolver([game], device="cpu")
    with counted(batch) as traffic:
        batch.run(1)
    moved, must = copies * traffic.bytes / 1e9, copies * MUST_MOVE * game.hand_actions / 1e9
    row = {"name": name, "games": copies, "hand_actions": copies * game.hand_actions, "launches": traffic.launches}
    return {**row, "moved_gb": moved, "must_move_gb": must, "moved_of_must": moved / must}


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("games", nargs="*", choices=[[], *GAMES], metavar="GAME", help=", ".join(GAMES))
    parser.add_argument("--out", type=Path, default=OUT)
    options = parser.parse_args()
    content = record(played={}, what="launches and bytes of an iteration, counted in Triton's interpreter", rows=[])
    for name in options.games or GAMES:
        make, copies = GAMES[name]
        content["rows"].append(measured(name, make(), copies))
        print(content["rows"][-1], flush=True)
        write_atomically(options.out, json.dumps(content, indent=1).encode() + b"\n")


if __name__ == "__main__":
    main()
