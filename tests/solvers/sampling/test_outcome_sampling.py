"""Outcome sampling: the same regrets as external sampling in the mean."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from poker.abstraction.buckets import SmallGameBuckets
from poker.abstraction.dealers import SmallGameDealer
from poker.game.rules import Rules
from poker.game.state import Betting
from poker.kernels.rng import streams
from poker.kernels.sampling.external_sampling import new_scratch, traverse
from poker.kernels.sampling.nodes import DECISION, Deals, Tree
from poker.kernels.sampling.outcome_sampling import outcome_sampling
from poker.run.errors import PokernetsError
from poker.solvers.sampling.mccfr import OutcomeSampling
from poker.solvers.sampling.tree import SamplingTree, sampling_tree
from poker.tree import build_tree
from tests.games import load_rules
from tests.solvers.sampling.tables import rows
from tests.solvers.sampling.test_tree import three_players

EPISODES = 20_000
EXPLORE = 0.5

Table = NDArray[np.float32]
Stream = NDArray[np.uint64]
Play = Callable[[Tree, Table, Deals, Stream], Table]


def solver(game: str = "leduc", **settings: Any) -> OutcomeSampling:
    rules = load_rules(game)
    options = {"seed": 1, "batch": 50, **settings}
    return OutcomeSampling(build_tree(Betting.start(rules)), SmallGameBuckets(rules), SmallGameDealer(rules), **options)


class Increments:
    """Increments of single deals to the regrets of a table with a given first strategy, summed over `players`."""

    def __init__(self, rules: Rules, players: range) -> None:
        cards = SmallGameBuckets(rules)
        self.tree: SamplingTree = sampling_tree(build_tree(Betting.start(rules)), cards.num_buckets)
        self.dealer = SmallGameDealer(rules)
        self.start = np.random.default_rng(0).uniform(0.2, 1, self.tree.table_size).astype(np.float32)
        self.players = players
        chosen = np.zeros(self.tree.table_size, np.float32)
        for node in np.flatnonzero(self.tree.nodes["kind"] == DECISION):
            rows(self.tree, chosen, int(node))[:, 0] = self.tree.nodes["player"][node] in players
        self._chosen = chosen > 0

    def of(self, play: Play) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """Mean and standard error of play(tree arrays, table, deals, rng), which returns the table afterwards."""
        rng = streams(7, 1)[0]
        total, squares = np.zeros(len(self.start)), np.zeros(len(self.start))
        for _ in range(EPISODES):
            deals = self.dealer.deal(rng, 1)
            change = play(self.tree.arrays, self.start, deals, rng) - self.start
            total += change
            squares += np.square(change)
        mean = total / EPISODES
        error = np.sqrt(np.maximum(squares / EPISODES - mean**2, 0) / EPISODES)
        return mean[self._chosen], error[self._chosen]

    def check(self, play: Play) -> None:
        """Assert that `play` adds the same to regrets as external sampling does, in the mean."""
        (expected, error), (values, other_error) = self.of(self.external), self.of(play)
        spread = np.hypot(error, other_error)
        seen = spread > 0
        deviation = (values - expected)[seen] / spread[seen]
        assert seen.sum() >= 12
        assert np.mean(np.abs(deviation) > 4) < 0.02  # rare infosets have errors that are themselves uncertain
        assert 0.6 < np.sqrt(np.mean(deviation**2)) < 1.4

    def external(self, arrays: Tree, start: Table, deals: Deals, rng: Stream) -> Table:
        """A traversal for each player, all from the same table."""
        after, scratch = start.copy(), new_scratch(len(self.tree.nodes))
        for player in self.players:
            table = start.copy()
            traverse(arrays, table, deals.buckets[0], deals.ranks[0], player, rng, scratch)
            after += table - start
        return after


@pytest.mark.parametrize("rules", [load_rules("kuhn"), three_players()], ids=lambda rules: rules.name)
@pytest.mark.parametrize(("alternating", "all_explore"), [(True, False), (True, True), (False, False)])
def test_regrets_are_unbiased(rules: Rules, alternating: bool, all_explore: bool) -> None:
    """External and outcome sampling estimate the same regrets; a lone alternating episode those of player 0."""
    game = Increments(rules, range(1) if alternating else range(rules.num_players))

    def play(arrays: Tree, start: Table, deals: Deals, rng: Stream) -> Table:
        table = start.copy()
        outcome_sampling(arrays, table, EXPLORE, all_explore, alternating, 0, deals, rng)
        return table

    game.check(play)


@pytest.mark.parametrize("threads", [1, 2])
def test_alternating_episodes_take_turns_in_batches_of_one(threads: int) -> None:
    alone = solver("kuhn", batch=1, threads=threads)
    alone.run(iterations=300)
    nodes = alone.sampling.nodes
    learned = {
        int(nodes["player"][node])
        for node in np.flatnonzero(nodes["kind"] == DECISION)
        if rows(alone.sampling, alone.table, int(node))[:, 0].any()
    }
    assert learned == {0, 1}


def test_exploration_must_be_a_share() -> None:
    with pytest.raises(PokernetsError, match="0 < explore <= 1, not 0"):
        solver(explore=0.0)
