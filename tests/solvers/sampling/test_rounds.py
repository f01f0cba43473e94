"""Sampling in rounds: as good as one process at equal iterations, the same on any number of them, resumed exactly."""

import time
from collections.abc import Iterator, Sequence
from dataclasses import replace
from functools import lru_cache, partial
from typing import Any

import numpy as np
import pytest

from poker.abstraction.dealers import dealer_of
from poker.abstraction.loading import game_cards
from poker.game.state import Betting
from poker.run.errors import PokernetsError
from poker.run.parallel import LocalCluster, _LocalTeam
from poker.solvers.sampling.mccfr import ExternalSampling
from poker.solvers.sampling.rounds import Change, Part, RoundPlan, Rounds
from poker.tree import BetMenu, build_tree
from tests.games import load_rules


def leduc(**options: Any) -> ExternalSampling:
    rules = load_rules("leduc")
    cards = game_cards(rules, "none")
    tree = build_tree(Betting.start(rules), BetMenu(()))
    return ExternalSampling(tree, cards, dealer_of(rules, cards), **{"seed": 1, "batch": 1000, **options})


@lru_cache
def trained(processes: int, parts: int, iterations: int, rounds: int) -> Rounds:
    with Rounds(leduc, LocalCluster(processes), RoundPlan(parts, iterations)) as solver:
        solver.run(iterations=parts * iterations * rounds)
    return solver


def test_converges_as_one_process_does() -> None:
    rounds = trained(2, 4, 2000, 50)
    alone = leduc(discount_every=8000)
    alone.run(iterations=400_000)
    assert rounds.iterations == alone.iterations == 400_000
    assert rounds.visits == pytest.approx(alone.visits, rel=0.05)
    there, here = rounds.metrics(), alone.metrics()
    assert there["nash_conv"] < 1.2 * here["nash_conv"]
    assert there["mean_regret_bb"] == pytest.approx(here["mean_regret_bb"], rel=0.5)


def test_processes_make_no_difference() -> None:
    one, two = (trained(processes, 4, 2000, 3).state() for processes in (1, 2))
    np.testing.assert_array_equal(one[0]["table"], two[0]["table"])
    assert one[1] == two[1]


def test_parts_of_several_threads_converge_as_well() -> None:
    one = trained(2, 4, 2000, 50)
    with Rounds(leduc, LocalCluster(1), RoundPlan(2, 4000, threads=2)) as two:
        two.run(iterations=400_000)
    assert two.iterations == 400_000
    assert two.visits == pytest.approx(one.visits, rel=0.05)
    assert two.metrics()["nash_conv"] < 1.5 * one.metrics()["nash_conv"]  # five standard deviations


def test_continues_where_it_was() -> None:
    plan = RoundPlan(2, 1000)
    with Rounds(leduc, LocalCluster(1), plan) as first:
        first.run(iterations=4000)
        arrays, counters = first.state()
        arrays = {name: array.copy() for name, array in arrays.items()}
        first.run(iterations=8000)
    with Rounds(leduc, LocalCluster(1), plan) as second:
        second.restore(arrays, counters)
        second.run(iterations=8000)
    np.testing.assert_array_equal(first.state()[0]["table"], second.state()[0]["table"])


def test_discounting_ends_where_it_was_asked_to(monkeypatch: pytest.MonkeyPatch) -> None:
    played, seeds = _LocalTeam.run, []

    def noted(team: _LocalTeam[Part, Change], parts: Sequence[Part]) -> Iterator[Change]:
        seeds.extend([part.seed for part in parts])
        return played(team, parts)

    monkeypatch.setattr(_LocalTeam, "run", noted)
    with Rounds(partial(leduc, batch=10, discount_until=200), LocalCluster(1), RoundPlan(2, 50)) as solver:
        solver.run(iterations=1000)
    alone = leduc(batch=10, discount_every=100, discount_until=200)
    alone.run(iterations=1000)
    assert solver.state()[1]["periods"] == alone.periods == 2
    assert len(set(seeds)) == len(seeds) == 20


def test_the_cpu_time_of_parts_counts(monkeypatch: pytest.MonkeyPatch) -> None:
    played, seconds = _LocalTeam.run, []

    def noted(team: _LocalTeam[Part, Change], parts: Sequence[Part]) -> Iterator[Change]:
        for change in played(team, parts):
            seconds.append(change.cpu_seconds)
            yield replace(change, cpu_seconds=100.0)

    monkeypatch.setattr(_LocalTeam, "run", noted)
    with Rounds(leduc, LocalCluster(1), RoundPlan(2, 1000)) as solver:
        before = solver.cpu_clock() - time.process_time()
        solver.run(iterations=4000)
        assert solver.cpu_clock() - time.process_time() == pytest.approx(before + 4 * 100.0, abs=1.0)
    assert len(seconds) == 4
    assert min(seconds) > 0


def test_what_cannot_be_is_refused() -> None:
    with pytest.raises(PokernetsError, match=r"multiple of solver\.batch"):
        Rounds(partial(leduc, batch=3000), LocalCluster(1), RoundPlan(2, 1000))
    with pytest.raises(PokernetsError, match=r"times job\.rounds\.threads"):
        Rounds(leduc, LocalCluster(1), RoundPlan(2, 3000, threads=2))
    for plan in ((0, 1000), (2, 0), (2, 1000, 0)):
        with pytest.raises(PokernetsError, match="at least 1"):
            RoundPlan(*plan)
