"""Speed of the blueprint: external sampling at demo scale, one core and two, and the values behind labels.

Cards are random buckets, so no artifact is needed; the betting tree is the demo's, 150 buckets a street after the flop.
"""

import time
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from poker.abstraction.dealers import sample_boards
from poker.cards import HOLDEM, PREFLOP_CLASS
from poker.kernels.rng import next_u64
from poker.kernels.sampling.nodes import Deals
from poker.solvers.blueprint import blueprint_from
from poker.solvers.rollout.continuation import Continuations
from poker.solvers.rollout.forms import Biased
from poker.solvers.rollout.leaf_states import LeafSampler
from poker.solvers.sampling.mccfr import ExternalSampling
from poker.state import Betting
from poker.tree import build_tree
from tests.games import load_menu, load_rules

BUCKETS = 150
SECONDS = 3.0


class _RandomCards:
    """Hands whose bucket moves from street to street around a hidden strength."""

    num_buckets = (169, BUCKETS, BUCKETS, BUCKETS)
    fingerprint = "random"

    def __init__(self) -> None:
        rng = np.random.default_rng(0)
        strength = rng.random((20_000, 2))
        streets = [
            np.clip((strength + rng.normal(0, spread, strength.shape)) * size, 0, size - 1)
            for size, spread in zip(self.num_buckets, (0.2, 0.15, 0.1, 0.03), strict=True)
        ]
        self._deals = Deals(np.stack(streets, axis=2).astype(np.int32), (strength * 1e6).astype(np.int32))

    def buckets(self, board: Sequence[int]) -> NDArray[np.int32]:
        if not board:
            return PREFLOP_CLASS.astype(np.int32)
        return np.where(HOLDEM.live(board), (np.arange(1326) + sum(board)) % BUCKETS, -1).astype(np.int32)

    def deal(self, rng: NDArray[np.uint64], n: int) -> Deals:
        start = int(next_u64(rng)) % (len(self._deals.ranks) - n)
        return Deals(self._deals.buckets[start : start + n], self._deals.ranks[start : start + n])


def run() -> list[dict[str, Any]]:
    """Rows of `make bench`."""
    cards = _RandomCards()
    tree = build_tree(Betting.start(load_rules("holdem_nolimit_2p")), load_menu("demo"))
    rows = []
    for threads in (1, 2):
        solver = ExternalSampling(tree, cards, cards, seed=1, threads=threads, discount_every=1_000_000)
        solver.run(seconds=1.0)
        visits, iterations, started = solver.visits, solver.iterations, time.perf_counter()
        solver.run(seconds=SECONDS)
        took = time.perf_counter() - started
        scale = {"decision_nodes": len(tree.decision_nodes), "buckets": BUCKETS, "threads": threads}
        rows.append(_row("external_sampling", (solver.visits - visits) / took, "node visits/s", **scale))
        rows.append(_row("external_sampling_deals", (solver.iterations - iterations) / took, "deals/s", **scale))
    blueprint = blueprint_from(tree, cards, solver.average)
    continuations, rng = Continuations(blueprint, Biased().of(blueprint)), np.random.default_rng(0)
    for board, hands in (((), 24), ((), 64), ((3, 20, 41), 24), ((3, 20, 41), 64)):
        state = LeafSampler(blueprint, board, 0.2, 0.3).draw(hands, rng)
        boards = sample_boards(blueprint.rules, board, 100, rng)
        continuations.values(state.node, boards[:2], state.hands0, state.hands1)
        started = time.perf_counter()
        continuations.values(state.node, boards, state.hands0, state.hands1)
        ends = continuations.subtree(state.node).num_ends
        rate = (time.perf_counter() - started) / len(boards) * 1e3
        rows.append(_row("continuation_values", rate, "ms/run-out", hands=hands, ends=ends, street=len(board) // 3))
    return rows


def _row(name: str, value: float, unit: str, **more: int) -> dict[str, Any]:
    return {"name": name, "value": value, "unit": unit, **more}
