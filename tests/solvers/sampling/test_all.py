"""Requirements on every sampling solver: converge as OpenSpiel measures, resume exactly."""

from collections.abc import Callable
from dataclasses import dataclass
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
from tests.games import load_rules, option
from tests.solvers.openspiel import measured
from tests.solvers.sampling.test_tree import three_players

VALUES = {"kuhn": -1 / 18, "leduc": -0.0856}
"""Value of the game to player 0, chips per hand."""
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


@dataclass(frozen=True)
class Converged:
    """Mean and standard deviation over 20 seeds, chips per hand; `mse` to the nearest equilibrium of Kuhn's family."""

    solver: str
    game: str
    iterations: int
    nash_conv: tuple[float, float]
    value: tuple[float, float]
    mse: tuple[float, float] = (0.0, 0.0)


MEASURED = [
    Converged("uct", "kuhn", 2_000_000, (0.0364, 0.0075), (-0.05494, 0.00043), (3.48e-4, 1.4e-4)),
    Converged("uct", "leduc", 2_000_000, (0.772, 0.08), (-0.11466, 0.006)),
    Converged("smooth_uct", "kuhn", 2_000_000, (0.0031, 0.00088), (-0.05552, 0.00016), (8.32e-6, 4.4e-6)),
    Converged("smooth_uct", "leduc", 5_000_000, (0.138, 0.01), (-0.08723, 0.0018)),
    Converged("outcome_sampling", "kuhn", 1_000_000, (0.00513, 0.0018), (-0.05553, 0.00013), (1.54e-5, 9e-6)),
    Converged("outcome_sampling", "leduc", 5_000_000, (0.0793, 0.012), (-0.08893, 0.0013)),
    Converged("outcome_sampling_parallel", "kuhn", 1_000_000, (0.00467, 0.002), (-0.05557, 7.7e-5), (1.51e-5, 9.9e-6)),
    Converged("outcome_sampling_parallel", "leduc", 5_000_000, (0.0873, 0.015), (-0.08924, 0.002)),
    Converged("external_sampling", "kuhn", 200_000, (0.00462, 0.0021), (-0.05555, 2e-5), (1.09e-5, 6.7e-6)),
    Converged("external_sampling", "leduc", 1_000_000, (0.0219, 0.0021), (-0.08653, 0.00022)),
]


@pytest.mark.parametrize("case", MEASURED, ids=lambda case: f"{case.solver}-{case.game}")
def test_converges(case: Converged) -> None:
    """Results lie within four standard deviations of 20 seeds' by OpenSpiel's best responses, which ours agree with.

    UCT levels off away from equilibrium: its error has a lower bound too.
    """
    weighted = case.solver == "external_sampling"
    run = solver(case.solver, case.game, **({"discount_every": case.iterations // 100} if weighted else {}))
    run.run(iterations=case.iterations)
    metrics = run.metrics()
    nash_conv, value = measured(load_rules(case.game), run.average)
    assert metrics["nash_conv"] == pytest.approx(nash_conv, abs=1e-5)
    assert metrics["game_value"] == pytest.approx(value, abs=1e-5)
    mean, deviation = case.nash_conv
    assert max(0, mean - 4 * deviation) < nash_conv < mean + 4 * deviation
    mean, deviation = case.value
    assert value == pytest.approx(VALUES[case.game], abs=abs(mean - VALUES[case.game]) + 4 * deviation)
    if case.game == "kuhn":
        assert 0 < metrics["mse"] < case.mse[0] + 4 * case.mse[1]


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


def test_discounting_ends_where_it_was_asked_to() -> None:
    solver = leduc(batch=10, discount_every=100, discount_until=200)
    solver.run(iterations=1000)
    assert solver.periods == 2
