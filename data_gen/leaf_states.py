"""`job=leaf_states`: sample depth-limit states of heads-up play with their values, as training data for the leaf net.

Boards are drawn at random. On each, `states_per_board` betting states come from play with exploration
(`poker.depth_limit.continuations.leaf_states`), each with `hands` hands per player. Labels are exact expectations over
the betting that can follow, averaged over `runouts` complete boards (`poker.depth_limit.continuations.rollout`).
`pairs_per_state` pairs of hands of a state become rows, two per pair: one with either player as `own`.

Shard i depends only on the seed, on i and on the settings of a shard, so a job that is killed and resumed writes the
same bytes.
"""

import sys
import time
from dataclasses import asdict, dataclass
from functools import lru_cache
from typing import Any

import numpy as np

from data_gen.support.progress import JobProgress
from data_gen.support.valuation import StoredBlueprint, Valuation
from poker.abstraction.dealers import sample_boards
from poker.abstraction.equities import showdown_equity
from poker.depth_limit.continuations.forms import FormsOf
from poker.depth_limit.continuations.leaf_states import LeafSampler
from poker.depth_limit.continuations.rollout import Continuations
from poker.depth_limit.inputs import encode_pairs
from poker.depth_limit.leaves.off_tree import OffTreeStates
from poker.depth_limit.shards import KIND, columns_of, write_shard
from poker.game.rules import Rules
from poker.kernels.cards.isomorphism import NUM_BOARDS, canonical_board
from poker.kernels.types import Board, Columns
from poker.run.errors import PokernetsError
from poker.run.parallel import Cluster, Given, Work, print_cost
from poker.store.artifacts import find_artifact
from poker.store.shards import shard_path
from poker.tree import BettingTree


@dataclass(frozen=True)
class ShardSettings:
    """Everything that the content of a shard depends on, besides the blueprint and the shard's number.

    Attributes:
        seed: seed of all shards.
        states_per_board: betting states on a board.
        pairs_per_state: pairs of hands of a state that become rows.
        hands: hands per player at a state.
        runouts: complete boards behind a label.
        preflop_share: share of states at the end of the first round; the others are at the end of the flop.
        exploration: share of uniformly random actions in the play that leads to a state.
        uniform_hands: share of hands drawn uniformly and not from the players' ranges.
        off_tree: share of states with pots that the blueprint's tree lacks; they take the values of its nearest states.
        continuations: the opponent's continuations.
    """

    seed: int
    boards_per_shard: int
    states_per_board: int
    pairs_per_state: int
    hands: int
    runouts: int
    preflop_share: float
    exploration: float
    uniform_hands: float
    off_tree: float
    continuations: FormsOf

    def __post_init__(self) -> None:
        """Check the settings.

        Raises:
            PokernetsError: a count is too small, or a share is not between 0 and 1.
        """
        counts = (self.boards_per_shard, self.states_per_board, self.pairs_per_state, self.hands)
        if min(counts) < 1 or self.runouts < 2:
            raise PokernetsError("job=leaf_states needs counts of at least 1, and 2 runouts for standard errors")
        shares = (self.preflop_share, self.exploration, self.uniform_hands, self.off_tree)
        if not all(0 <= share <= 1 for share in shares):
            raise PokernetsError(
                "job=leaf_states: preflop_share, exploration, uniform_hands and off_tree must be between 0 and 1"
            )


def run(
    *,
    game: Rules,
    abstraction: str,
    blueprint: str,
    shards: int,
    settings: ShardSettings,
    cluster: Cluster,
    output: str,
    runs: str,
) -> None:
    """Write the shards that are missing.

    Args:
        abstraction: folder of the card buckets.
        blueprint: folder of the blueprint.
        output: folder of the shards.
        runs: folder of the logs.
    """
    valuation = Valuation(StoredBlueprint(game, abstraction, blueprint), settings.continuations)
    job, policy = _Job(valuation, settings, output), valuation.stored.load()
    rounds: dict[Board, float] = {(): settings.preflop_share, (0, 1, 2): 1 - settings.preflop_share}
    for board in (board for board, share in rounds.items() if share > 0):
        # raises an error for a round without states
        LeafSampler(policy, board, settings.exploration, settings.uniform_hands)
    missing = [index for index in range(shards) if not job.is_there(index)]
    done, rows = shards - len(missing), 0
    status = f"leaf states {output}: {done} of {shards} shards are there"
    if not missing:
        print(status, file=sys.stderr)
        return
    job.print_cost(f"{status}, {len(missing)} to make", len(missing), cluster)
    started = time.perf_counter()
    with JobProgress("leaf states", total=shards, done=done, logs=runs) as progress:
        for count, sem in cluster.run(Work(Given(job.make_shard)), missing):
            done, rows = done + 1, rows + count
            rate = rows / (time.perf_counter() - started)
            progress.update(done, step=done, rows_per_second=rate, label_sem=sem)


def shard_rows(continuations: Continuations, settings: ShardSettings, index: int) -> Columns:
    """Compute the rows of a shard, in random order.

    Flop states are grouped by suit-isomorphic board (1,755 boards); each preflop state is a group of its own.

    Args:
        continuations: the blueprint and the continuations.
        index: number of the shard.

    Returns:
        columns by name, each [rows, ...] as in `columns_of`.
    """
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


_ROW_BYTES = 730
"""Bytes of memory per row while a shard is gathered: three copies of its columns."""
_ROWS_A_SECOND = 9200
"""Rows per CPU second: 5,400 at the laptop scale on a busy Xeon, times the gain of 1.7 at the demo scale since then
(docs/results/costs)."""


@lru_cache(maxsize=4)
def _off_tree(tree: BettingTree, street: int) -> OffTreeStates:
    return OffTreeStates(tree, street)


def _state_rows(
    continuations: Continuations,
    settings: ShardSettings,
    sampler: LeafSampler,
    board: Board,
    group: int,
    rng: np.random.Generator,
) -> list[Columns]:
    """Return rows of one betting state: pairs of its hands with player 0 as own, and the same with player 1."""
    rules = continuations.blueprint.rules
    state = sampler.draw(settings.hands, rng)
    hands0, hands1 = state.hands0, state.hands1
    boards = sample_boards(rules, board, settings.runouts, rng)
    control = showdown_equity(rules, board)[np.ix_(hands0, hands1)]
    values = continuations.values(state.node, boards, hands0, hands1, control)
    labels, sem = values.in_pots(state.betting.pot)
    betting = state.betting
    if settings.off_tree and rng.random() < settings.off_tree:
        tree = continuations.blueprint.tree
        betting = _off_tree(tree, betting.street - 1).near(state.node, rng) or betting
    sound = np.argwhere(values.count >= max(2, settings.runouts // 4))
    first, second = sound[rng.permutation(len(sound))[: settings.pairs_per_state]].T
    held = hands0[first], hands1[second]
    return [
        {
            "features": encode_pairs(board, betting, own, held[own], held[1 - own]),
            "labels": labels[own][:, first, second].T,
            "label_sem": sem[own][:, first, second].T,
            "seat": np.full(len(first), own),
            "street": np.full(len(first), betting.street - 1),
            "group": np.full(len(first), group),
        }
        for own in (0, 1)
    ]


@dataclass(frozen=True)
class _Job:
    """Everything that a shard depends on, and how one is made; small enough to be sent to a worker."""

    valuation: Valuation
    settings: ShardSettings
    output: str

    def config(self, index: int) -> dict[str, Any]:
        own = {key: value for key, value in asdict(self.settings).items() if key != "continuations"}
        return {"game": self.valuation.stored.game.name, **own, **self.valuation.forms.config, "shard": index}

    def is_there(self, index: int) -> bool:
        config, made_from = self.config(index), self.valuation.made_from
        return find_artifact(shard_path(self.output, index), KIND, config=config, made_from=made_from) is not None

    def make_shard(self, index: int) -> tuple[int, float]:
        """Write one shard; returns its number of rows and the mean standard error of its labels in pots."""
        continuations, forms = self.valuation.continuations(), self.valuation.forms
        columns = shard_rows(continuations, self.settings, index)
        columns["labels"][:, 1:] += np.float32(forms.pot_fraction)
        sem = float(columns["label_sem"].mean(dtype=np.float64))
        write_shard(
            shard_path(self.output, index),
            columns,
            config=self.config(index),
            made_from=self.valuation.made_from,
            counts={"mean_label_sem": sem},
            continuations=forms.names,
        )
        return len(columns["group"]), sem

    def print_cost(self, what: str, missing: int, cluster: Cluster) -> None:
        """Print the cost of the missing shards."""
        settings = self.settings
        rows = 2 * settings.boards_per_shard * settings.states_per_board * settings.pairs_per_state * missing
        columns = columns_of(len(settings.continuations.names))
        width = sum(np.dtype(dtype).itemsize * int(np.prod(shape)) for dtype, shape, *_ in columns.values())
        size, shard = rows * width / 1e6, rows / missing * _ROW_BYTES / 1e6
        what = f"{what}, up to {rows:,} rows"
        print_cost(what, rows / _ROWS_A_SECOND, missing, cluster, size, task_megabytes=shard)
