"""External sampling: linear weights, averages, threads, refusals."""

from typing import Any

import numpy as np
import pytest

from poker.abstraction.buckets import SmallGameBuckets
from poker.abstraction.dealers import SmallGameDealer
from poker.game.state import Betting
from poker.run.errors import PokernetsError
from poker.solvers.sampling import base
from poker.solvers.sampling.mccfr import ExternalSampling
from poker.tree import build_tree
from tests.games import load_rules
from tests.solvers.sampling.tables import rows

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


def test_periods_begin_where_they_should_however_long_threads_go_on_alone(monkeypatch: Any) -> None:
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
    with pytest.raises(PokernetsError, match=r"on 2 threads, and this one has 1: continue with solver\.threads=2"):
        solver("leduc").restore(*solver("leduc", threads=2).state())


def test_a_run_needs_an_end() -> None:
    with pytest.raises(PokernetsError, match="runs for iterations, for seconds"):
        solver().run()
    with pytest.raises(PokernetsError, match="at least 1"):
        solver(batch=0)


def test_average_of_infosets_never_played_is_the_current_strategy() -> None:
    run = solver(game="kuhn")
    rows(run.sampling, run.table, 0)[0] = ((3, 1), (0, 0))
    rows(run.sampling, run.table, 0)[1] = ((3, 1), (1, 4))
    assert run.average(0).tolist() == [[0.75, 0.25], [np.float32(0.2), np.float32(0.8)], [0.5, 0.5]]
