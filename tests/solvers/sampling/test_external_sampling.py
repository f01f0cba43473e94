"""External and outcome sampling: linear weights, averages, threads, the same regrets in the mean, refusals."""

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
from poker.solvers.sampling import base
from poker.solvers.sampling.mccfr import ExternalSampling, OutcomeSampling
from poker.solvers.sampling.tree import SamplingTree, sampling_tree
from poker.tree import build_tree
from tests.games import load_rules
from tests.solvers.sampling.tables import rows
from tests.solvers.sampling.test_tree import three_players

ALWAYS, NEVER = None, 0


def solver(game: str = "leduc", **settings: Any) -> ExternalSampling:
    rules = load_rules(game)
    options = {"seed": 1, "batch": 50, "discount_every": 50, **settings}
    return ExternalSampling(
        build_tree(Betting.start(rules)), SmallGameBuckets(rules), SmallGameDealer(rules), **options
    )


@pytest.mark.parametrize("period", [1, 2, 4])
def test_linear_weights(period: int) -> None:
    """At the end of period k everything is multiplied by k / (k + 1)."""
    start = solver()
    start.run(iterations=50 * (period - 1))
    tables = []
    for until in (ALWAYS, NEVER):
        other = solver(discount_until=until)
        other.restore(*start.state())
        other.run(iterations=50 * period)
        tables.append(other.table)
    assert start.periods == period - 1
    assert tables[0] == pytest.approx(tables[1] * period / (period + 1), rel=1e-6)


def test_effective_iterations_are_the_sum_of_weights() -> None:
    run = solver()
    for period in range(1, 5):
        run.run(iterations=50 * period)
        assert run.effective_iterations == pytest.approx(sum(50 * j / (period + 1) for j in range(1, period + 1)))


def test_strategy_sums_count_effective_visits() -> None:
    """The first decision of the game is visited once an iteration for its average."""
    run = solver(game="kuhn")
    run.run(iterations=1000)
    assert rows(run.sampling, run.table, 0)[:, 1].sum() == pytest.approx(run.effective_iterations, rel=1e-4)


@pytest.mark.parametrize(("bits", "grows"), [(None, True), (64, True), (32, False)])
def test_sums_of_many_visits_keep_growing(bits: int | None, grows: bool) -> None:
    """Beyond 2^24 visits float32 loses what an iteration adds, so that averages drift: small games get 64 bits."""
    run = solver(game="kuhn", table_bits=bits, discount_every=None)
    run.run(iterations=1000)
    run.table[run.table > 0] += 2.0**25
    before = run.table.copy()
    run.run(iterations=1050)
    sums = rows(run.sampling, run.table, 0)[:, 1] - rows(run.sampling, before, 0)[:, 1]
    assert (sums.sum() == pytest.approx(50, rel=1e-6)) == grows
    assert run.settings.get("table_bits", 32) == (64 if grows else 32)


def test_odd_widths_are_refused() -> None:
    with pytest.raises(PokernetsError, match="table_bits must be 32 or 64"):
        solver(table_bits=16)


def test_threads_share_the_table() -> None:
    run = solver(game="kuhn", threads=2, batch=5000, discount_every=10_000)
    run.run(iterations=400_000)
    assert run.iterations == 400_000
    assert run.regret_bound() < 0.01


def test_periods_do_not_depend_on_the_time_of_a_step(monkeypatch: Any) -> None:
    tables = []
    for seconds in (0.0, 60.0):
        monkeypatch.setattr(base, "_STEP_SECONDS", seconds)
        run = solver(discount_every=300)
        run.run(iterations=2000)
        tables.append(run.table)
    assert run.periods == 6
    assert tables[0].tobytes() == tables[1].tobytes()


def test_checkpoint_of_another_game_is_refused() -> None:
    with pytest.raises(PokernetsError, match="the same game, cards, bets and bits"):
        solver("leduc").restore(*solver("kuhn").state())
    with pytest.raises(PokernetsError, match=r"\(float64\), this run's .* \(float32\)"):
        solver("leduc", table_bits=32).restore(*solver("leduc").state())
    with pytest.raises(PokernetsError, match=r"on 2 threads, and this run has 1: continue with solver\.threads=2"):
        solver("leduc").restore(*solver("leduc", threads=2).state())


def test_a_run_needs_an_end() -> None:
    with pytest.raises(PokernetsError, match="needs a limit: iterations"):
        solver().run()
    with pytest.raises(PokernetsError, match="at least 1"):
        solver(batch=0)


def test_average_of_infosets_never_played_is_the_current_strategy() -> None:
    run = solver(game="kuhn")
    rows(run.sampling, run.table, 0)[0] = ((3, 1), (0, 0))
    rows(run.sampling, run.table, 0)[1] = ((3, 1), (1, 4))
    assert run.average(0).tolist() == [[0.75, 0.25], [np.float32(0.2), np.float32(0.8)], [0.5, 0.5]]


EPISODES = 20_000
EXPLORE = 0.5

Table = NDArray[np.float32]
Stream = NDArray[np.uint64]
Play = Callable[[Tree, Table, Deals, Stream], Table]


def outcome_solver(game: str = "leduc", **settings: Any) -> OutcomeSampling:
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

    def deviations(self, play: Play) -> NDArray[np.float64]:
        """Mean difference of what `play` and external sampling add to regrets, in standard errors."""
        (expected, error), (values, other_error) = self.of(self.external), self.of(play)
        spread = np.hypot(error, other_error)
        seen = spread > 0
        return (values - expected)[seen] / spread[seen]

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

    deviation = game.deviations(play)
    assert len(deviation) >= 12
    assert np.mean(np.abs(deviation) > 4) < 0.02  # rare infosets have errors that are themselves uncertain
    assert 0.6 < np.sqrt(np.mean(deviation**2)) < 1.4


@pytest.mark.parametrize("threads", [1, 2])
def test_alternating_episodes_take_turns_in_batches_of_one(threads: int) -> None:
    alone = outcome_solver("kuhn", batch=1, threads=threads)
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
        outcome_solver(explore=0.0)
