"""`job=range_states`: public states at the start of a round with a range for each player, solved to the end of the
hand, to train nets over ranges on (DeepStack: Moravcik et al. 2017, supplement).

Boards, stacks and ranges are drawn at random, apart from any blueprint; labels are the counterfactual values of all
hands of both players under the average strategies of the solve. Shard i depends on the seed, i and the settings alone:
killed and continued, the job writes the same bytes.
"""

import sys
import time
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from data_gen.costs import cost, tell
from data_gen.progress import JobProgress
from poker.artifacts import find_artifact
from poker.cards import HAND_CARDS, HOLDEM, NUM_HANDS, NUM_SUITS, PREFLOP_CLASS
from poker.errors import PokernetsError
from poker.features.ranges import COLUMNS, KIND, NO_CARD, encode, strengths, write_states
from poker.features.shards import shard_path
from poker.kernels.cards.isomorphism import canonical_board
from poker.parallel import Cluster, Given, Work
from poker.solvers.vector.game import VectorGame
from poker.solvers.vector.solver import VectorSolver
from poker.tree import bet_menu, build_tree
from poker.tree.spots import spot_root
from poker.types import Board, Floats, Singles

_POT = 10_000
"""Chips: only the stack in pots matters, and this many leave nothing to rounding."""
_FLOOR = 1e-6
"""Least weight of a hand, of the largest: every hand has a value, whether it is in the range or not."""
_SPLITS = 11
"""Halvings after which a range has a weight for each of 1,326 hands."""


@dataclass(frozen=True)
class RangeSettings:
    """All that the content of a shard depends on, besides its index. `bets` are sizes by raise depth, of every street;
    stacks are those behind in pots, log-uniform; `kinds` are shares of ranges by the names of `KINDS`."""

    seed: int
    states_per_shard: int
    cards: int
    bets: Sequence[Sequence[float | str]]
    iterations: int
    least_stack: float
    most_stack: float
    kinds: Mapping[str, float]

    def __post_init__(self) -> None:
        if self.cards not in (4, 5) or min(self.states_per_shard, self.iterations) < 1:
            raise PokernetsError("job=range_states needs cards=5 (river) or 4 (turn), and counts of at least 1")
        if not 0 < self.least_stack <= self.most_stack:
            raise PokernetsError("job=range_states: least_stack must be positive and at most most_stack")
        if not set(self.kinds) <= set(KINDS) or min(self.kinds.values()) < 0 or not sum(self.kinds.values()) > 0:
            raise PokernetsError(f"job=range_states: kinds are shares of {', '.join(KINDS)}")
        bet_menu(turn=self.bets, river=self.bets)


def run(*, shards: int, settings: RangeSettings, cluster: Cluster, dry: bool, output: str, runs: str) -> None:
    """Write the shards of `output` that are not there yet."""
    missing = [
        index
        for index in range(shards)
        if find_artifact(shard_path(output, index), KIND, config=_config(settings, index)) is None
    ]
    kept = shards - len(missing)
    there = f"range states {output}: {kept} of {shards} shards are there"
    if not missing:
        print(there, file=sys.stderr)
        return
    states = len(missing) * settings.states_per_shard
    width = sum(np.dtype(dtype).itemsize * int(np.prod(shape)) for dtype, shape in COLUMNS.values())
    found = cost([(partial(_trial, settings), states)], len(missing), cluster, largest=1 / len(missing))
    tell(f"{there}, {len(missing)} to make, {states:,} states", found, len(missing), cluster, states * width / 1e6)
    if dry:
        return
    started, made = time.perf_counter(), 0
    with JobProgress("range states", total=shards, done=kept, logs=runs) as progress:
        work = Work(Given(partial(_make_shard, settings, output)), output=partial(shard_path, output))
        for done, exploitability in enumerate(cluster.run(work, missing), kept + 1):
            made += settings.states_per_shard
            rate = made / (time.perf_counter() - started)
            progress.update(done, step=done, states_per_second=rate, exploitability_pots=exploitability)


def _config(settings: RangeSettings, index: int) -> dict[str, Any]:
    return {**asdict(settings), "shard": index}


def _make_shard(settings: RangeSettings, output: str, index: int) -> float:
    """Write one shard; returns the mean exploitability of its solves, in pots."""
    columns = shard_rows(settings, index)
    mean = float(columns["exploitability"].mean())
    counts = {"mean_exploitability": mean}
    write_states(shard_path(output, index), columns, config=_config(settings, index), counts=counts)
    return mean


def shard_rows(settings: RangeSettings, index: int, states: int | None = None) -> dict[str, NDArray[Any]]:
    """Columns of shard `index`, or of its first `states`."""
    rng = np.random.default_rng(np.random.SeedSequence(settings.seed, spawn_key=(index,)))
    rows = [_state(settings, rng) for _ in range(states or settings.states_per_shard)]
    return {name: np.stack([row[name] for row in rows]) for name in COLUMNS}


def _trial(settings: RangeSettings, number: int, states: int) -> None:
    shard_rows(settings, number, states)


def _state(settings: RangeSettings, rng: np.random.Generator) -> dict[str, NDArray[Any]]:
    """One state with its labels."""
    board = tuple(sorted(rng.choice(52, settings.cards, replace=False).tolist()))
    stack = float(np.exp(rng.uniform(np.log(settings.least_stack), np.log(settings.most_stack))))
    names, shares = list(settings.kinds), np.array(list(settings.kinds.values()))
    kinds = rng.choice(names, 2, p=shares / shares.sum())
    ranges = np.stack([random_range(board, kind, rng) for kind in kinds]).astype(np.float16)
    values, exploitability = solved(board, ranges.astype(np.float32), stack, settings.bets, settings.iterations)
    state = {
        "board": np.array([*board, *[NO_CARD] * (5 - len(board))]),
        "stack_to_pot": np.float32(stack),
        "ranges": ranges,
        "values": values,
        "exploitability": np.float32(exploitability),
        "group": np.int32(canonical_board(np.array(board, dtype=np.uint8))[0]),
    }
    return {name: np.asarray(value) for name, value in {**state, **encode(board, ranges, stack)._asdict()}.items()}


def solved(
    board: Board, ranges: Singles, stack: float, bets: Sequence[Sequence[float | str]], iterations: int
) -> tuple[Singles, float]:
    """Values [2, H] of all hands in pots, 0 for those that have no weight, and the exploitability of the solve in pots;
    the stack behind is in pots."""
    root, menu = spot_root(len(board), max(1, round(_POT * stack))), bet_menu(turn=bets, river=bets)
    game = VectorGame(build_tree(root, menu, dead=_POT), board, ranges)
    solver = VectorSolver(game, "apdcfr")
    solver.advance(iterations)
    values = np.stack([solver.values(player) for player in range(2)]) / np.float32(_POT) - np.float32(0.5)
    return np.where(game.ranges > 0, values, np.float32(0)), solver.exploitability() / _POT


def random_range(board: Board, kind: str, rng: np.random.Generator) -> Floats:
    """[H] a range of the kind, its largest weight 1; 0 for hands that hold a card of the board."""
    live = np.flatnonzero(HOLDEM.live(board))
    order = live[np.lexsort((rng.random(len(live)), strengths(board)[live]))]  # from the weakest, ties at random
    weights = np.zeros(NUM_HANDS)
    weights[order] = KINDS[kind](order, rng)
    weights[live] = np.maximum(weights[live] / weights.max(), _FLOOR)
    return weights


def _recursive(order: NDArray[np.int64], rng: np.random.Generator) -> Floats:
    """DeepStack's: the mass of a set is split at random between its weaker and its stronger half, and so on."""
    mass = np.ones(1)
    for _ in range(_SPLITS):
        share = rng.random(len(mass))
        mass = np.stack([mass * share, mass * (1 - share)], axis=1).ravel()
    return mass[np.arange(len(order)) * len(mass) // len(order)]


def _uniform(order: NDArray[np.int64], rng: np.random.Generator) -> Floats:
    return np.ones(len(order))


def _polarised(order: NDArray[np.int64], rng: np.random.Generator) -> Floats:
    """The strongest hands and the weakest ones, in random shares, and little between."""
    place = np.arange(len(order)) / len(order)
    weights = np.where(place > 1 - rng.uniform(0.02, 0.4), 1.0, rng.uniform(0, 0.1))
    return np.where(place < rng.uniform(0, 0.6), rng.random(), weights)


def _narrow(order: NDArray[np.int64], rng: np.random.Generator) -> Floats:
    """A band of preflop classes by a rough score of theirs, as calls and raises leave it, tilted by what the board
    makes of them."""
    low, high = HAND_CARDS[order].T // NUM_SUITS
    suited = HAND_CARDS[order, 0] % NUM_SUITS == HAND_CARDS[order, 1] % NUM_SUITS
    score = high + 0.6 * low + 5.0 * (low == high) + 1.5 * suited + rng.normal(0, 1.5, 169)[PREFLOP_CLASS[order]]
    place = np.argsort(np.argsort(score)) / len(order)
    least, most = rng.uniform(0, 0.9), 1 if rng.random() < 0.5 else rng.uniform(0.9, 1)
    inside = np.exp(-0.5 * ((np.clip(place, least, most) - place) / 0.05) ** 2)
    return np.asarray(inside * np.exp(rng.normal(0, 2) * np.arange(len(order)) / len(order)))


KINDS = {"recursive": _recursive, "uniform": _uniform, "polarised": _polarised, "narrow": _narrow}
