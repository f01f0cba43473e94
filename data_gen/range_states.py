"""`job=range_states`: states where a round begins or has ended, with a range for each player, to train nets over ranges
on (DeepStack: Moravcik et al. 2017, supplement).

Boards, stacks and ranges are drawn at random, apart from any blueprint; labels are counterfactual values of all hands
of both players. Rivers are solved to the end. Each level before takes its values from the net of the one after it: at
the end of a round they are means over the next cards, where a round begins those of the average strategies of a solve
whose leaves the net values. Shard i depends on the seed, i, the settings and the net alone, its values beyond rounding
not on the device: killed and continued, the job writes the same bytes.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from functools import cached_property, lru_cache
from pathlib import Path
from typing import Any, ClassVar, NamedTuple

import numpy as np
from numpy.typing import NDArray

from data_gen.support.costs import cost, print_cost
from data_gen.support.shards import make_shards
from poker.depth_limit.leaves.range_net import MeanOverDeals, RangeNetLeaf, RangeValues
from poker.depth_limit.range_inputs import COLUMNS, KIND, LEVELS, encode, stamp, strengths, write_states
from poker.game.cards import HAND_CARDS, HOLDEM, NO_CARD, NUM_HANDS, NUM_SUITS, PREFLOP_CLASS, ordered_board
from poker.kernels.cards.isomorphism import canonical_board
from poker.kernels.types import Board, Columns, Floats, Singles
from poker.run.errors import PokernetsError
from poker.run.parallel import Cluster
from poker.solvers.vector.game import VectorGame
from poker.solvers.vector.solver import VectorSolver
from poker.store.artifacts import find_artifact, open_artifact
from poker.store.shards import shard_path
from poker.tree import BetMenu, DepthLimit, bet_menu, build_tree
from poker.tree.spots import spot_root

Bets = Sequence[Sequence[float | str]]
"""Sizes in pots by raise depth, the last repeats."""

_FEWEST_SOLVED = 4
"""Cards on the board from which a state can be solved to the end without a net."""
_STATES_PER_BOARD = {5: 1, 4: 8, 3: 8, 0: 64}
"""States on one board, by its cards: before the river it costs more than they do, before the flop its flops do."""
_POT = 10_000
"""Chips: only the stack in pots matters, and this many leave nothing to rounding."""
_FLOOR = 1e-6
"""Least weight of a hand, of the largest: every hand has a value, whether it is in the range or not."""
_SPLITS = 11
"""Halvings after which a range has a weight for each of 1,326 hands."""


@dataclass(frozen=True)
class RangeSettings:
    """All that the content of a shard depends on, besides its index and the net. `level` is one of
    `poker.depth_limit.range_inputs.LEVELS`. `bets` are sizes by raise depth, of every street; the net is asked after
    `every` iterations; stacks are those behind in pots, log-uniform; `kinds` are shares of ranges by the names of
    `KINDS`."""

    seed: int
    level: str
    states_per_shard: int
    bets: Bets
    iterations: int
    every: int
    least_stack: float
    most_stack: float
    kinds: Mapping[str, float]

    def __post_init__(self) -> None:
        if self.level not in LEVELS:
            raise PokernetsError(f"job=range_states: level is one of {', '.join(LEVELS)}, not `{self.level}`")
        if min(self.states_per_shard, self.iterations, self.every) < 1:
            raise PokernetsError("job=range_states needs counts of at least 1")
        if not 0 < self.least_stack <= self.most_stack:
            raise PokernetsError("job=range_states: least_stack must be positive and at most most_stack")
        if not set(self.kinds) <= set(KINDS) or min(self.kinds.values()) < 0 or not sum(self.kinds.values()) > 0:
            raise PokernetsError(f"job=range_states: kinds are shares of {', '.join(KINDS)}")
        _menu(self.bets)


def run(
    *,
    shards: int,
    settings: RangeSettings,
    nets: str | None,
    load: Callable[..., RangeValues],
    cluster: Cluster,
    device: str,
    dry: bool,
    output: str,
    runs: str,
) -> None:
    """Write the shards of `output` that are not there yet. `nets` has a net for each level, which `load` reads from its
    path and level; without, turns are solved to the end. On a CUDA `device` the solves of a shard are one batch."""
    make_shards(_Job(settings, nets, load, device, output), shards, cluster, dry, runs)


@dataclass(frozen=True)
class _Job:
    """Make shards; small enough to be sent to a worker."""

    settings: RangeSettings
    nets: str | None
    load: Callable[..., RangeValues]
    device: str
    output: str
    title: ClassVar[str] = "range states"
    unit: ClassVar[str] = "states"
    inputs: ClassVar[tuple[Path, ...]] = ()

    def __post_init__(self) -> None:
        level = LEVELS[self.settings.level]
        if self.nets is None and (level.ended or level.cards < _FEWEST_SOLVED):
            raise PokernetsError(
                f"job=range_states: states of the level `{self.settings.level}` need the net of {level.by}"
            )

    @property
    def net(self) -> tuple[str, str] | None:
        """Path and level of the net that labels stand on, if any."""
        below = LEVELS[self.settings.level].by
        return None if self.nets is None or below is None else (f"{self.nets}/{below}", below)

    @cached_property
    def made_from(self) -> dict[str, str]:
        if self.net is None:
            return {}
        path, level = self.net
        return {"range_net": open_artifact(path, "range_net", config=stamp(level)).fingerprint}

    def config(self, index: int) -> dict[str, Any]:
        return {**asdict(self.settings), "shard": index}

    def is_there(self, index: int) -> bool:
        config, path = self.config(index), shard_path(self.output, index)
        return find_artifact(path, KIND, config=config, made_from=self.made_from) is not None

    def make_shard(self, index: int) -> tuple[int, dict[str, float]]:
        """Write one shard; returns its states and the mean exploitability of its solves, in pots."""
        columns = self.rows(index)
        mean = float(columns["exploitability"].mean())
        write_states(
            shard_path(self.output, index),
            self.settings.level,
            columns,
            config=self.config(index),
            made_from=self.made_from,
            counts={"mean_exploitability": mean},
        )
        return len(columns["exploitability"]), {"exploitability_pots": mean}

    def print_cost(self, what: str, missing: int, cluster: Cluster) -> None:
        states = missing * self.settings.states_per_shard
        width = sum(np.dtype(dtype).itemsize * int(np.prod(shape)) for dtype, shape, *_ in COLUMNS.values())
        needed = cost([(self.try_states, states)], missing, cluster, largest=1 / missing)
        print_cost(f"{what}, {states:,} states", needed, missing, cluster, states * width / 1e6)

    def try_states(self, number: int, states: int) -> None:
        self.rows(number, states)

    def rows(self, index: int, states: int | None = None) -> Columns:
        """Columns of shard `index`, or of its first `states`."""
        net = None if self.net is None else _loaded(self.load, *self.net)
        return shard_rows(self.settings, index, net, states, self.device)


@lru_cache(maxsize=2)
def _loaded(load: Callable[..., RangeValues], path: str, level: str) -> RangeValues:
    return load(path=path, level=level)


def shard_rows(
    settings: RangeSettings, index: int, net: RangeValues | None, states: int | None = None, device: str = "cpu"
) -> Columns:
    """Columns of shard `index`, or of its first `states`; the net is that of the level after the states'. On another
    `device` than cpu all solves of the shard go together; values are those of the CPU to rounding."""
    rng = np.random.default_rng(np.random.SeedSequence(settings.seed, spawn_key=(index,)))
    left, parts = states or settings.states_per_shard, list[_Drawn]()
    while left > 0:
        count = min(left, _STATES_PER_BOARD[LEVELS[settings.level].cards])
        parts.append(_draw(settings, count, rng))
        left -= count
    labels = _labels(settings, net, parts, device)
    rows = [_rows(*part) for part in zip(parts, labels, strict=True)]
    return {name: np.concatenate([part[name] for part in rows]) for name in COLUMNS}


class _Drawn(NamedTuple):
    """States on one board: `stacks` [n] in pots, `ranges` float16[n, 2, H]; `seed` draws the boards to come, `group`
    numbers boards equal up to suits."""

    board: Board
    stacks: Singles
    ranges: NDArray[np.float16]
    seed: int
    group: int


def _draw(settings: RangeSettings, count: int, rng: np.random.Generator) -> _Drawn:
    level = LEVELS[settings.level]
    board = ordered_board(rng.choice(52, level.cards, replace=False).tolist())
    names, shares = list(settings.kinds), np.array(list(settings.kinds.values()))
    stacks, drawn = np.empty(count, np.float32), np.empty((count, 2, NUM_HANDS), np.float16)
    for state in range(count):
        stacks[state] = np.exp(rng.uniform(np.log(settings.least_stack), np.log(settings.most_stack)))
        for player, kind in enumerate(rng.choice(names, 2, p=shares / shares.sum())):
            drawn[state, player] = random_range(board, kind, rng)
    seed = int(rng.integers(1 << 31)) if level.ended else 0
    group = canonical_board(np.array(board, dtype=np.uint8))[0] if board else rng.integers(1 << 31)
    return _Drawn(board, stacks, drawn, seed, int(group))


_Labels = tuple[Singles, Singles]
"""Values [n, 2, H] and exploitabilities [n] of the states on a board, in pots."""


def _labels(settings: RangeSettings, net: RangeValues | None, parts: Sequence[_Drawn], device: str) -> list[_Labels]:
    if LEVELS[settings.level].ended:
        assert net is not None
        labels = list[_Labels]()
        for part in parts:
            state = part.board, part.ranges.astype(np.float32), part.stacks
            [values] = MeanOverDeals(net, seed=part.seed).values([state])
            labels.append((values, np.zeros(len(part.stacks), np.float32)))
        return labels
    leaf = None if net is None else RangeNetLeaf(net=net, every=settings.every)
    games = (
        posed(part.board, ranges.astype(np.float32), float(stack), settings.bets, leaf)
        for part in parts
        for stack, ranges in zip(part.stacks, part.ranges, strict=True)
    )
    solved = solve_all(games, settings.iterations, device)
    labels = []
    for part in parts:
        answers = [next(solved) for _ in part.stacks]
        values = np.stack([answer for answer, _ in answers])
        labels.append((values, np.array([exploitability for _, exploitability in answers], np.float32)))
    return labels


def _rows(part: _Drawn, labels: _Labels) -> Columns:
    board, stacks, drawn, _, group = part
    ranges, count = drawn.astype(np.float32), len(stacks)
    rows = {
        "board": np.array([*board, *[NO_CARD] * (5 - len(board))]),
        "stack_to_pot": stacks,
        "ranges": drawn,
        "values": labels[0],
        "exploitability": labels[1],
        "group": np.int32(group),
        **encode(board, ranges, stacks)._asdict(),
    }
    return {name: np.broadcast_to(rows[name], (count, *shape)) for name, (_, shape, *_) in COLUMNS.items()}


def posed(board: Board, ranges: Singles, stack: float, bets: Bets, leaf: RangeNetLeaf | None = None) -> VectorGame:
    """The game of a state; the stack behind is in pots. With a `leaf` it ends with the round."""
    root = spot_root(len(board), max(1, round(_POT * stack)))
    limit = None if leaf is None else DepthLimit(root.street, 1)
    tree = build_tree(root, _menu(bets), limit, dead=_POT)
    states = [tree.betting(node, root) for node in tree.leaves.tolist()]
    return VectorGame(tree, board, ranges, None if leaf is None else leaf.asked(states, board, _POT))


def solve_all(games: Iterable[VectorGame], iterations: int, device: str = "cpu") -> Iterator[tuple[Singles, float]]:
    """Values [2, H] of all hands in pots, 0 for those that have no weight, and the exploitability in pots, of games of
    `posed` after so many iterations."""
    if device == "cpu":
        for game in games:
            yield _in_pots(game, *_solve(game, iterations))
        return
    from poker.search.torch.batches import average_values  # noqa: PLC0415 (torch)

    together = list(games)
    for game, solution in zip(together, average_values(together, "apdcfr", iterations, device), strict=True):
        yield _in_pots(game, *solution)


def _solve(game: VectorGame, iterations: int) -> tuple[Singles, float]:
    """Values [2, H] and exploitability in chips."""
    solver = VectorSolver(game, "apdcfr")
    solver.advance(iterations)
    if game.asked is not None:
        solver.ask_leaves(average=True)
    values = np.stack([solver.values(player) for player in range(2)])
    return values, solver.exploitability()


def _in_pots(game: VectorGame, chips: Singles, exploitability: float) -> tuple[Singles, float]:
    values = chips / np.float32(_POT) - np.float32(0.5)
    return np.where(game.ranges > 0, values, np.float32(0)), exploitability / _POT


def _menu(bets: Bets) -> BetMenu:
    return bet_menu(flop=bets, turn=bets, river=bets)


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
