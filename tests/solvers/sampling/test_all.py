"""Requirements on every sampling solver: converge as OpenSpiel measures, resume exactly."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from poker.abstraction.buckets import SmallGameBuckets
from poker.abstraction.dealers import SmallGameDealer, dealer_of
from poker.abstraction.loading import game_cards
from poker.game.state import Betting
from poker.solvers.sampling import base
from poker.solvers.sampling.base import SamplingSolver
from poker.solvers.sampling.mccfr import ExternalSampling, OutcomeSampling
from poker.solvers.sampling.uct import Uct
from poker.tree import BetMenu, build_tree
from tests.cases import cases
from tests.games import load_rules, option
from tests.solvers.openspiel import measured
from tests.solvers.sampling.test_tree import three_players

VALUES = {"kuhn": -1 / 18, "leduc": -0.0856}
"""Value of the game to player 0, chips per hand."""
Pair = tuple[float, float]
MIXING = {"uct": {"eta": 1.0, "gamma": 1.0, "decay": 0.0}, "smooth_uct": {"eta": 0.9, "gamma": 0.1}}
SOLVERS: dict[str, tuple[Callable[..., SamplingSolver], dict[str, Any]]] = {
    "uct": (Uct, MIXING["uct"]),
    "smooth_uct": (Uct, MIXING["smooth_uct"]),
    "outcome_sampling": (OutcomeSampling, {}),
    "outcome_sampling_parallel": (OutcomeSampling, {"alternating": False}),
    "external_sampling": (ExternalSampling, {"discount_every": 1000}),
}


def solver(name: str, game: str, **settings: Any) -> SamplingSolver:
    """A solver of the game, with the constants of `conf/exploration` for UCT."""
    rules = three_players() if game == "three" else load_rules(game)
    kind, options = SOLVERS[name]
    if kind is Uct:
        constants: Any = option("exploration", "leduc" if game == "three" else game)
        options = {**constants[name], **options}
    options = {"seed": 1, "batch": 500, **options, **settings}
    return kind(build_tree(Betting.start(rules)), SmallGameBuckets(rules), SmallGameDealer(rules), **options)


@cases
def test_converges(name: str, game: str, iterations: int, nash_conv: Pair, value: Pair, mse: Pair) -> None:
    """Results lie within four standard deviations of 20 seeds' by OpenSpiel's best responses, which ours agree with.

    Rows have means and standard deviations over 20 seeds in chips per hand; `mse` is to the nearest equilibrium of
    Kuhn's family. UCT levels off away from equilibrium: its error has a lower bound too.
    """
    weighted = name == "external_sampling"
    run = solver(name, game, **({"discount_every": iterations // 100} if weighted else {}))
    run.run(iterations=iterations)
    metrics = run.metrics()
    measured_nash_conv, measured_value = measured(load_rules(game), run.average)
    assert metrics["nash_conv"] == pytest.approx(measured_nash_conv, abs=1e-5)
    assert metrics["game_value"] == pytest.approx(measured_value, abs=1e-5)
    mean, deviation = nash_conv
    assert max(0, mean - 4 * deviation) < measured_nash_conv < mean + 4 * deviation
    mean, deviation = value
    assert measured_value == pytest.approx(VALUES[game], abs=abs(mean - VALUES[game]) + 4 * deviation)
    if game == "kuhn":
        assert 0 < metrics["mse"] < mse[0] + 4 * mse[1]


@pytest.mark.parametrize("name", SOLVERS)
@pytest.mark.parametrize("game", ["leduc", "three"])
def test_resumed_equals_uninterrupted(name: str, game: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Byte for byte, with large tables as well; another seed is another run."""
    monkeypatch.setattr(base, "_SPARSE_BYTES", 1)
    whole, first, second, other = (solver(name, game, batch=50, seed=seed) for seed in (1, 1, 1, 2))
    whole.run(iterations=2000)
    other.run(iterations=2000)
    first.run(iterations=700)
    arrays, counters = first.state()
    second.restore({key: array.copy() for key, array in arrays.items()}, dict(counters))
    second.run(iterations=2000)
    (wanted, wanted_counters), (state, found_counters) = whole.state(), second.state()
    assert found_counters == wanted_counters
    for key, array in wanted.items():
        assert state[key].tobytes() == array.tobytes()
    assert any(array.tobytes() != wanted[key].tobytes() for key, array in other.state()[0].items() if key != "streams")


def test_large_tables_take_memory_where_they_are_written(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(base, "_SPARSE_BYTES", 1)
    before = _resident()
    first, second = (base.zeros(1 << 26, np.float32) for _ in range(2))  # 256 MiB each
    first[:: 1 << 20] = 1.0
    base._copy_changed(first, second)
    assert np.flatnonzero(second).tolist() == list(range(0, 1 << 26, 1 << 20))
    assert _resident() - before < 32 << 20


def _resident() -> int:
    """Bytes of anonymous memory of this process."""
    with open("/proc/self/status") as status:
        return next(int(line.split()[1]) << 10 for line in status if line.startswith("RssAnon"))


def leduc(**options: Any) -> ExternalSampling:
    rules = load_rules("leduc")
    cards = game_cards(rules, "none")
    tree = build_tree(Betting.start(rules), BetMenu(()))
    return ExternalSampling(tree, cards, dealer_of(rules, cards), **{"seed": 1, "batch": 1000, **options})


def test_discounting_ends_at_its_limit() -> None:
    solver = leduc(batch=10, discount_every=100, discount_until=200)
    solver.run(iterations=1000)
    assert solver.periods == 2
