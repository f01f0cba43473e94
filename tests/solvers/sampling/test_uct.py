"""UCT and Smooth UCT: selection, exploration constants, precision of the means, greedy policies."""

from typing import Any

import numpy as np
import pytest
from numba import njit

from poker.abstraction.buckets import SmallGameBuckets
from poker.abstraction.dealers import SmallGameDealer
from poker.game.rules import CALL, FOLD
from poker.game.state import Betting
from poker.kernels.sampling.nodes import DECISION
from poker.kernels.sampling.uct import _log
from poker.run.errors import PokernetsError
from poker.solvers.sampling.tree import sampling_tree
from poker.solvers.sampling.uct import Uct, exploration
from poker.tree import build_tree
from tests.cases import cases
from tests.games import load_rules
from tests.solvers.sampling.test_tree import three_players

PLAIN = {"eta": 1.0, "gamma": 1.0, "decay": 0.0}
SMOOTH = {"eta": 0.9, "gamma": 0.1, "decay": 0.002}


def solver(game: str, mixing: dict[str, float], **settings: Any) -> Uct:
    rules = three_players() if game == "three" else load_rules(game)
    options = {"seed": 1, "batch": 100, "ceiling": 2.0, "potential": None, **mixing, **settings}
    return Uct(build_tree(Betting.start(rules)), SmallGameBuckets(rules), SmallGameDealer(rules), **options)


def test_counts_and_means_match_the_episodes() -> None:
    """Every episode counts once at the first decision, whose mean is that player's mean result for the hand."""
    run = solver("kuhn", SMOOTH)
    run.run(iterations=3000)
    counts, means = (run.sampling.entries(array, 0) for array in (run.counts, run.means))
    assert counts.sum() == run.iterations == 3000
    assert counts.sum(axis=1) == pytest.approx(1000, abs=4 * np.sqrt(3000 * 2 / 9))
    assert (np.abs(means) <= 2).all()
    king, jack = (counts[hand] @ means[hand] / counts[hand].sum() for hand in (2, 0))
    assert king > 0.5
    assert jack < -0.5


@pytest.mark.parametrize("game", ["kuhn", "leduc", "three"])
def test_episodes_in_turns_are_all_played(game: str) -> None:
    """Each counts at the first decision; more in play than a batch has deals changes nothing."""
    runs = [solver(game, SMOOTH, together=together, batch=7) for together in (1, 3, 7, 50)]
    for run in runs:
        run.run(iterations=700)
        assert run.sampling.entries(run.counts, 0).sum() == 700
    assert np.array_equal(runs[2].counts, runs[3].counts)
    assert np.array_equal(runs[2].means, runs[3].means)
    assert not np.array_equal(runs[0].counts, runs[2].counts)


def test_episodes_in_turns_learn_the_same() -> None:
    """Eight together in Leduc reach the same exploitability, within the differences between seeds."""
    together, alone = (
        [solver("leduc", SMOOTH, ceiling=18.0, seed=seed, together=n) for seed in range(4)] for n in (8, 1)
    )
    nash_convs = []
    for runs in (together, alone):
        for run in runs:
            run.run(iterations=300_000)
        nash_convs.append([run.metrics()["nash_conv"] for run in runs])
    assert np.mean(nash_convs[0]) == pytest.approx(np.mean(nash_convs[1]), abs=4 * np.std(nash_convs, axis=1).max() / 2)
    with pytest.raises(PokernetsError, match=r"solver\.together, .* must be at least 1"):
        solver("leduc", SMOOTH, together=0)


def test_logarithms_of_counts() -> None:
    n = np.concatenate((np.arange(1, 5000), np.geomspace(5000, 2**31 - 1, 1000).astype(np.int64)))
    short = np.log(n) - [log_of(count) for count in n]
    assert np.abs(short[:1023]).max() < 1e-6
    assert -1e-5 < short.min() < short.max() < 0.002


@njit
def log_of(n: int) -> float:
    return float(_log(n))


def test_counts_end_before_their_32_bits_do() -> None:
    run = solver("kuhn", SMOOTH)
    run.restore({**run.state()[0], "counts": run.counts + np.int32(1 << 30)}, {**run.state()[1], "iterations": 1 << 32})
    with pytest.raises(PokernetsError, match=r"counted 1,073,741,824 times.* stop at job\.iterations=4294967296"):
        run.run(iterations=1 << 33)


def test_untried_actions_come_first_then_the_better_one() -> None:
    run = solver("kuhn", PLAIN, ceiling=0.0, batch=1)
    run.run(iterations=40)
    for hand in range(3):
        counts = run.sampling.entries(run.counts, 0)[hand]
        assert counts.sum() < 2 or (counts > 0).all()
    tree = build_tree(Betting.start(load_rules("kuhn")))
    node = tree.find((2,))  # a bet is faced: without exploration a king soon never folds, nor a jack calls
    run.run(iterations=3000)
    counts = run.sampling.entries(run.counts, int(run.sampling.index[node]))
    fold, call = (tree.actions(node).index(action) for action in (FOLD, CALL))
    assert counts[2, fold] < 0.02 * counts[2, call]
    assert counts[0, call] < 0.02 * counts[0, fold]


@cases
def test_smooth_uct_explores_with_the_share_of_the_paper(mixing: dict[str, float], share: float) -> None:
    """[SUCT] algorithm 2: UCT acts with probability max(gamma, eta / (1 + d sqrt(N))), here for N = 10^8; else the
    counts do, which have met the better action hardly ever."""
    run = solver("kuhn", mixing, ceiling=0.0, batch=1000)
    run.run(iterations=1000)
    counts, means = (run.sampling.entries(array, 0) for array in (run.counts, run.means))
    counts[:], means[:] = (1000, 10**8), (2.0, -2.0)
    run.run(iterations=4000)
    explored = (counts[:, 0] - 1000).sum() / 3000
    assert explored == pytest.approx(share, abs=4 * np.sqrt(share * (1 - share) / 3000))


def test_exploration_of_a_round_is_set_by_the_possible_bets() -> None:
    """[SUCT] equation 3. Leduc: 2 chips in the pot, at most 26 in all; 18 where the first round was checked."""
    run = solver("leduc", SMOOTH, ceiling=10.0, potential=0.5)
    tree, index = build_tree(Betting.start(load_rules("leduc"))), run.sampling.index
    assert run.exploration[0] == 10
    free = solver("leduc", SMOOTH, ceiling=1000.0, potential=0.5).exploration
    for first_round in ((), (CALL,), (3,), (3, 5)):
        assert free[index[tree.find(first_round)]] == 2 + 0.5 * 24
    for second_round in ((), (5,), (5, 9)):  # the same c although after the second raise only a call is left
        assert free[index[tree.find((CALL, CALL, *second_round))]] == 2 + 0.5 * 16
    assert free[index[tree.find((3, CALL))]] == 6 + 0.5 * 16
    assert (solver("leduc", SMOOTH, ceiling=7.0).exploration == 7).all()


def test_exploration_of_limit_holdem_is_within_the_bounds_of_the_paper() -> None:
    """[SUCT] 4.3: with k = 0.5 and C = 24 big blinds c lies in [10, 24] big blinds; here one is 10 chips."""
    rules = load_rules("holdem_limit_2p")
    tree = build_tree(Betting.start(rules))
    sampling = sampling_tree(tree, (1, 1, 1, 1))
    bounds = exploration(tree, sampling, 240.0, 0.5)[sampling.nodes["kind"] == DECISION]
    assert (bounds.min(), bounds.max()) == (100.0, 240.0)


def test_means_of_32_bits_are_close_to_64() -> None:
    """They are not equal: rounding breaks ties between actions, and then the episodes differ."""
    wide, narrow = (solver("leduc", PLAIN, ceiling=18.0, mean_bits=bits) for bits in (64, 32))
    for run in (wide, narrow):
        run.run(iterations=500)
    assert narrow.means.dtype == np.float32
    assert narrow.bytes_needed < wide.bytes_needed
    assert narrow.counts.sum() == pytest.approx(wide.counts.sum(), rel=0.05)
    assert narrow.sampling.entries(narrow.means, 0) == pytest.approx(wide.sampling.entries(wide.means, 0), abs=1.0)
    with pytest.raises(PokernetsError, match="32 or 64 bits, not 16"):
        solver("leduc", PLAIN, mean_bits=16)


def test_three_players() -> None:
    run = solver("three", SMOOTH, ceiling=5.0)
    run.run(iterations=20_000)
    assert run.metrics()["nash_conv"] > 0
    assert run.sampling.entries(run.counts, 0).sum() == 20_000
    best = run.sampling.entries(run.means, 0).max(axis=1)
    assert best[3] > best[0]  # the highest card does better than the lowest


def test_greedy_policy_takes_the_best_mean() -> None:
    run = solver("kuhn", SMOOTH, policy="greedy")
    run.run(iterations=5000)
    means = run.sampling.entries(run.means, 0)
    assert run.average(0).tolist() == (means == means.max(axis=1, keepdims=True)).astype(float).tolist()
    with pytest.raises(PokernetsError, match="unknown UCT policy 'best': choose from average, greedy"):
        solver("kuhn", SMOOTH, policy="best")
