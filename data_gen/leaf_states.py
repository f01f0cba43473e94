"""`job=leaf_states`: depth-limit states of heads-up play and what they are worth, to train the leaf net on.

Boards are drawn at random; on each, `states_per_board` betting states come from play with exploration
(`poker.solvers.rollout.leaf_states`), each with `hands` hands a player. Labels are exact expectations over the betting
that can follow, averaged over `runouts` complete boards (`poker.solvers.rollout.continuation`). `pairs_per_state` pairs
of hands of a state become rows, two a pair: one with either player as `own`.

Shard i depends on the seed, i and the settings of a shard alone: killed and continued, the job writes the same bytes.
On another `device` (`search.device`'s names but auto) labels are the same to the rounding of float32.
"""

import sys
import time
from collections.abc import Callable
from dataclasses import asdict, dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from data_gen.costs import cost, tell
from data_gen.leaf_table import continuations_of
from data_gen.progress import JobProgress
from poker.abstraction.buckets import game_cards
from poker.abstraction.equities import showdown_equity
from poker.artifacts import find_artifact
from poker.errors import PokernetsError
from poker.features.leaf import encode_pairs
from poker.features.shards import KIND, columns_of, shard_path, write_shard
from poker.kernels.cards.isomorphism import NUM_BOARDS, canonical_board
from poker.parallel import Cluster, Given, Work
from poker.rules import Rules
from poker.solvers.blueprint import Blueprint
from poker.solvers.rollout.continuation import Continuations, sample_boards
from poker.solvers.rollout.forms import FormsOf
from poker.solvers.rollout.leaf_states import LeafSampler
from poker.types import Board

Columns = dict[str, NDArray[Any]]


@dataclass(frozen=True)
class ShardSettings:
    """All that the content of a shard depends on, besides the blueprint and the shard's index."""

    seed: int
    boards_per_shard: int
    states_per_board: int
    pairs_per_state: int
    hands: int
    runouts: int
    preflop_share: float
    exploration: float
    uniform_hands: float
    continuations: FormsOf

    def __post_init__(self) -> None:
        counts = (self.boards_per_shard, self.states_per_board, self.pairs_per_state, self.hands)
        if min(counts) < 1 or self.runouts < 2:
            raise PokernetsError("job=leaf_states needs counts of at least 1 and, for standard errors, 2 runouts")
        shares = (self.preflop_share, self.exploration, self.uniform_hands)
        if not all(0 <= share <= 1 for share in shares):
            raise PokernetsError(
                "job=leaf_states: preflop_share, exploration and uniform_hands are shares, between 0 and 1"
            )


def run(
    *,
    game: Rules,
    abstraction: str,
    blueprint: str,
    shards: int,
    settings: ShardSettings,
    device: str,
    cluster: Cluster,
    dry: bool,
    output: str,
    runs: str,
) -> None:
    """Write the shards of `output` that are not there yet."""
    policy = Blueprint.load(blueprint, game_cards(game, abstraction), game)
    rounds: dict[Board, float] = {(): settings.preflop_share, (0, 1, 2): 1 - settings.preflop_share}
    for board in (board for board, share in rounds.items() if share > 0):
        LeafSampler(policy, board, settings.exploration, settings.uniform_hands)  # refuses a round without states
    config, made_from = _identity(game, settings), _origin(policy, settings)

    def is_missing(index: int) -> bool:
        identity = {**config, "shard": index}
        return find_artifact(shard_path(output, index), KIND, config=identity, made_from=made_from) is None

    missing = list(filter(is_missing, range(shards)))
    if not missing:
        print(f"leaf states {output}: {shards} of {shards} shards are there", file=sys.stderr)
        return
    inputs = (Path(abstraction), Path(blueprint), *settings.continuations.inputs)
    trial = partial(_trial, game, abstraction, blueprint, device)
    what = f"leaf states {output}: {shards - len(missing)} of {shards} shards are there, {len(missing)} to make"
    _announce(what, len(missing), settings, trial, cluster, inputs)
    if dry:
        return
    make_shard = partial(_make_shard, game, abstraction, blueprint, settings, device, output)
    started, rows = time.perf_counter(), 0
    with JobProgress("leaf states", total=shards, done=shards - len(missing), logs=runs) as progress:
        work = Work(Given(make_shard), inputs=inputs, output=partial(shard_path, output))
        for done, (count, sem) in enumerate(cluster.run(work, missing), shards - len(missing) + 1):
            rows += count
            rate = rows / (time.perf_counter() - started)
            progress.update(done, step=done, rows=rows, rows_per_second=rate, label_sem=sem)


def shard_rows(continuations: Continuations, settings: ShardSettings, index: int) -> Columns:
    """Columns of shard `index`, rows shuffled. Flop states are grouped by suit-isomorphic board (1,755 of them), each
    preflop state is a group of its own."""
    rng = np.random.default_rng(np.random.SeedSequence(settings.seed, spawn_key=(index,)))
    parts: list[Columns] = []
    for serial in range(settings.boards_per_shard):
        preflop = rng.random() < settings.preflop_share
        board: Board = () if preflop else tuple(sorted(rng.choice(52, 3, replace=False).tolist()))
        sampler = LeafSampler(continuations.blueprint, board, settings.exploration, settings.uniform_hands)
        for state in range(settings.states_per_board):
            unique = (index * settings.boards_per_shard + serial) * settings.states_per_board + state
            group = canonical_board(np.array(board, dtype=np.uint8))[0] if board else NUM_BOARDS[3] + unique
            parts += _state_rows(continuations, settings, sampler, board, group, rng)
    order = rng.permutation(sum(len(part["group"]) for part in parts))
    return {name: np.concatenate([part[name] for part in parts])[order] for name in parts[0]}


def _state_rows(
    continuations: Continuations,
    settings: ShardSettings,
    sampler: LeafSampler,
    board: Board,
    group: int,
    rng: np.random.Generator,
) -> list[Columns]:
    """Rows of one betting state: pairs of its hands with player 0 as own, and the same with player 1."""
    rules = continuations.blueprint.rules
    state = sampler.draw(settings.hands, rng)
    hands0, hands1 = state.hands0, state.hands1
    boards = sample_boards(rules, board, settings.runouts, rng)
    equity = showdown_equity(rules, board)
    control = equity[np.ix_(hands0, hands1)]
    found = continuations.values(state.node, boards, hands0, hands1, control)
    labels, sem = found.in_pots(state.betting.pot)
    sound = np.argwhere(found.count >= max(2, settings.runouts // 4))
    first, second = sound[rng.permutation(len(sound))[: settings.pairs_per_state]].T
    held = hands0[first], hands1[second]
    return [
        {
            "features": encode_pairs(board, state.betting, own, held[own], held[1 - own]),
            "labels": labels[own][:, first, second].T,
            "label_sem": sem[own][:, first, second].T,
            "seat": np.full(len(first), own),
            "street": np.full(len(first), state.betting.street - 1),
            "group": np.full(len(first), group),
        }
        for own in (0, 1)
    ]


def _identity(game: Rules, settings: ShardSettings) -> dict[str, Any]:
    own = {key: value for key, value in asdict(settings).items() if key != "continuations"}
    return {"game": game.name, **own, **settings.continuations.config}


def _origin(policy: Blueprint, settings: ShardSettings) -> dict[str, str]:
    return {"blueprint": policy.fingerprint, **settings.continuations.made_from}


def _announce(
    what: str,
    missing: int,
    settings: ShardSettings,
    trial: Callable[[ShardSettings, int, int], None],
    cluster: Cluster,
    inputs: tuple[Path, ...],
) -> None:
    rows = 2 * settings.boards_per_shard * settings.states_per_board * settings.pairs_per_state
    columns = columns_of(len(settings.continuations.names))
    width = sum(np.dtype(dtype).itemsize * int(np.prod(shape)) for dtype, shape in columns.values())
    boards = missing * settings.boards_per_shard
    rounds = {0.0: 1 - settings.preflop_share, 1.0: settings.preflop_share}  # their boards take unlike times
    trials = [
        (partial(trial, replace(settings, preflop_share=preflop)), share * boards)
        for preflop, share in rounds.items()
        if share > 0
    ]
    found = cost(trials, missing, cluster, inputs, 1 / missing)
    tell(f"{what}, up to {missing * rows:,} rows", found, missing, cluster, missing * rows * width / 1e6)


def _trial(
    game: Rules, abstraction: str, blueprint: str, device: str, settings: ShardSettings, number: int, boards: int
) -> None:
    """Make the rows of `boards` boards."""
    continuations = continuations_of(game, abstraction, blueprint, settings.continuations, device)
    shard_rows(continuations, replace(settings, boards_per_shard=boards), number)


def _make_shard(
    game: Rules, abstraction: str, blueprint: str, settings: ShardSettings, device: str, output: str, index: int
) -> tuple[int, float]:
    """Write one shard; returns its rows and the mean standard error of its labels, in pots."""
    continuations = continuations_of(game, abstraction, blueprint, settings.continuations, device)
    columns = shard_rows(continuations, settings, index)
    columns["labels"][:, 1:] += np.float32(settings.continuations.pot_fraction)
    made_from = _origin(continuations.blueprint, settings)
    config = {**_identity(game, settings), "shard": index}
    names = settings.continuations.names
    sem = float(columns["label_sem"].mean(dtype=np.float64))
    counts = {"mean_label_sem": sem}
    path = shard_path(output, index)
    write_shard(path, columns, config=config, made_from=made_from, counts=counts, continuations=names)
    return len(columns["group"]), sem
