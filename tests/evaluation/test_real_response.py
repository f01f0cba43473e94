"""Over flops: published figures, what a sample says, what is stored, what is refused."""

import math
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from rich.console import Console

from poker.agents.simple import AlwaysCall, AlwaysRaise, RandomAgent
from poker.errors import PokernetsError
from poker.evaluation.real_response import RealValue, draw_flops, measure, real_response
from poker.kernels.hands import HAND_PERMUTATION
from poker.kernels.isomorphism import board_multiplicities, canonical_boards
from poker.kernels.strength import boards_strength
from poker.rules import Rules
from poker.solvers.real_response import RealResponse
from poker.tree import BetMenu, bet_menu
from tests.games import load_rules
from tests.solvers.games import ORACLES

NONE = BetMenu(())
QUIET = Console(quiet=True)
CALLER = AlwaysCall(name="caller")


def flop_limit() -> Rules:
    """Limit hold'em that ends with the flop, where all 1,755 flops take seconds."""
    rules = load_rules("holdem_limit_2p")
    return replace(rules, max_raises=(1, 1), raise_sizes=(10, 10), first_player=(1, 0), board_cards=(0, 3))


class Blind(AlwaysCall):
    """Not a class that is known to play alike with every hand."""

    def __init__(self) -> None:
        super().__init__(name="blind")


def run(response: RealResponse, folder: Path, flops: int | str, seed: int = 1, hours: float = 1.0) -> RealValue:
    return measure(response, flops=flops, seed=seed, threads=1, hours=hours, folder=folder, console=QUIET)


def test_sample_of_flops(tmp_path: Path) -> None:
    response = real_response(CALLER, flop_limit(), NONE)
    found = run(response, tmp_path, 60)
    assert not found.exact
    assert found.flops == found.nash_conv.n == 60
    assert found.cpu_per_flop is not None
    assert found.cpu_per_flop > 0
    assert found.optimistic >= found.nash_conv.mean > 0
    assert found.nash_conv.mean == pytest.approx(sum(seat.mean for seat in found.by_seat))
    [store] = tmp_path.iterdir()
    drawn = draw_flops(60, 1)
    assert drawn is not None
    assert {path.name for path in store.iterdir()} == {f"flop-{flop:04d}.bin" for flop in drawn.tolist()}

    again = run(response, tmp_path, 60)
    assert again.cpu_per_flop is None
    assert again.nash_conv == found.nash_conv

    damaged = min(store.iterdir())
    damaged.write_bytes(damaged.read_bytes()[:-8])
    with pytest.raises(PokernetsError, match=f"{damaged.name} is damaged: delete it"):
        run(response, tmp_path, 60)


def test_flops_are_drawn_as_they_are_dealt() -> None:
    drawn, weights = draw_flops(20_000, 3), board_multiplicities(3)
    assert drawn is not None
    for multiplicity in (4, 12, 24):
        wanted = weights[weights == multiplicity].sum() / weights.sum()
        assert (weights[drawn] == multiplicity).mean() == pytest.approx(wanted, abs=4 * math.sqrt(wanted / 20_000))


@pytest.mark.slow
def test_all_flops_and_what_samples_say_of_them(tmp_path: Path) -> None:
    """Exact, from strengths on all flops by other code; samples are below it on average, as they say."""
    rules = flop_limit()
    boards, counts = canonical_boards(3), board_multiplicities(3)
    strength = boards_strength(boards).astype(float)  # -1 blocked, else 2 beaten + tied of 1,081 opponents
    margin = np.where(strength < 0, 0.0, strength / 1081 - 1)
    by_stake = [
        (counts @ (np.where(margin > 0, stake + 10, stake) * margin))[HAND_PERMUTATION].mean(axis=0)
        for stake in (10, 20)
    ]
    waiting, raising = (chips / math.comb(50, 3) for chips in by_stake)
    best = np.maximum(waiting, raising)
    wanted = best.mean(), np.maximum(best, -5.0).mean()

    response = real_response(CALLER, rules, NONE)
    exact = run(response, tmp_path, "all")
    assert exact.exact
    assert [seat.mean for seat in exact.by_seat] == pytest.approx(wanted, rel=1e-5)
    assert exact.nash_conv.mean == exact.optimistic == pytest.approx(sum(wanted), rel=1e-5)

    samples = [run(response, tmp_path, 40, seed=seed) for seed in range(100)]
    lower = np.array([sample.nash_conv.mean for sample in samples])
    upper = np.array([sample.optimistic for sample in samples])
    error = lower.std() / math.sqrt(len(samples))
    assert lower.mean() < exact.nash_conv.mean + 3 * error
    assert lower.mean() > 0.95 * exact.nash_conv.mean
    assert upper.mean() > exact.nash_conv.mean - 3 * error
    covered = np.mean([abs(each.nash_conv.mean - lower.mean()) < each.nash_conv.half_width for each in samples])
    assert covered > 0.84  # measured: 0.92; four standard errors less


@pytest.mark.slow
@pytest.mark.parametrize(
    ("agent", "published"),
    [
        (CALLER, "always_call_exploitability_mbb"),
        (AlwaysRaise(name="raiser", raises="a"), "always_raise_exploitability_mbb"),
    ],
)
def test_published_figures_lie_in_the_interval(tmp_path: Path, agent: AlwaysCall | AlwaysRaise, published: str) -> None:
    """Johanson et al. 2011 on limit hold'em; four half-widths, since one interval in twenty misses."""
    found = run(real_response(agent, load_rules("holdem_limit_2p"), NONE), tmp_path, 24)
    wanted = 2 * ORACLES["limit_holdem"][published] / 100
    assert abs(found.nash_conv.mean - wanted) < 2 * found.nash_conv.half_width
    assert found.nash_conv.half_width < 0.3 * wanted


def test_a_menu_makes_lines_of_many_shapes(tmp_path: Path) -> None:
    """No-limit: who pushes before the flop or on it against one who calls wins more with deeper stacks."""
    rules = load_rules("flop_holdem_nolimit")
    shallow = replace(rules, stacks=(1000, 1000))
    won = [
        run(real_response(CALLER, game, bet_menu(preflop="a", flop="0.5,a")), tmp_path, 12).nash_conv.mean
        for game in (shallow, rules)
    ]
    assert 0 < won[0] < won[1]


def test_what_is_refused(tmp_path: Path) -> None:
    rules = flop_limit()
    response = real_response(CALLER, rules, NONE)
    with pytest.raises(PokernetsError, match=r"'policy' over flops=8 needs 8 flops .* CPU hours.*response_hours"):
        run(response, tmp_path, 8, hours=1e-9)
    for flops in (3, "some"):
        with pytest.raises(PokernetsError, match="at least 4"):
            run(response, tmp_path, flops)
    with pytest.raises(PokernetsError, match="'blind' is none"):
        real_response(Blind(), rules, NONE)
    with pytest.raises(PokernetsError, match=r"'random' bets .* where the menu"):
        real_response(RandomAgent(name="random", raises=["0.7"]), load_rules("flop_holdem_nolimit"), bet_menu(flop="a"))
