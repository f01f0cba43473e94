"""`job=range_states`: killed and continued, labels that are known in closed form, what the rows are, refusals."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from data_gen.range_states import KINDS, RangeSettings, posed, random_range, shard_rows, solve_all
from poker.abstraction.features import all_in_equity
from poker.depth_limit.leaves.range_net import MeanOverDeals
from poker.depth_limit.range_inputs import LEVELS, encode, equities_against, joint_weights, open_states
from poker.game.cards import HOLDEM, NUM_HANDS, hand_index, parse_cards
from poker.run.errors import PokernetsError
from poker.store.artifacts import MissingArtifactError
from tests.data_gen.commands import data_gen, data_gen_fails, data_gen_killed, digests
from tests.depth_limit.leaves.range_values import Equities
from tests.devices import CUDA, INTERPRETER

SMALL = ("job=range_states", "job.settings.states_per_shard=2", "job.settings.iterations=20", "cluster.processes=2")
BOARD = parse_cards("AsKd8c7h2s")


def settings(**changes: Any) -> RangeSettings:
    values: dict[str, Any] = {
        "seed": 3, "level": "river", "states_per_shard": 6, "bets": [[0.5, 1.0, "a"], [1.0, "a"], ["a"]],
        "iterations": 300, "every": 5, "least_stack": 0.05, "most_stack": 60.0, "kinds": dict.fromkeys(KINDS, 0.25),
        **changes,
    }  # fmt: skip
    return RangeSettings(**values)


@pytest.mark.slow
def test_killed_and_continued_is_byte_identical(tmp_path: Path) -> None:
    whole, broken, common = tmp_path / "whole", tmp_path / "broken", ("job.shards=6", f"job.runs={tmp_path / 'runs'}")
    assert "6 to make, 12 states; about" in data_gen(*SMALL, *common, f"job.output={whole}", "--dry")
    assert not whole.exists()
    data_gen(*SMALL, *common, f"job.output={whole}")
    data_gen_killed("data_gen.support.progress:JobProgress.update", *SMALL, *common, f"job.output={broken}")
    assert 0 < len(list(broken.glob("shard-*"))) < 6
    data_gen(*SMALL, *common, f"job.output={broken}")
    assert digests(broken) == digests(whole)
    assert "6 of 6 shards are there" in data_gen(*SMALL, *common, f"job.output={broken}")
    refused = data_gen_fails(*SMALL, *common, "seed=2", f"job.output={broken}")
    assert "made with config seed=1, but 2" in refused
    assert len(open_states(whole, "river")) == 6
    with pytest.raises(MissingArtifactError, match="python -m data_gen job=range_states"):
        open_states(tmp_path / "nowhere", "river")


def range_of(*hands: str) -> np.ndarray:
    weights = np.zeros(NUM_HANDS, np.float32)
    weights[[hand_index(*parse_cards(hand)) for hand in hands]] = 1
    return weights


def test_nuts_or_air_against_a_bluff_catcher() -> None:
    """A bet of the pot, all-in: the nuts win the pot and half of the calls, air nothing, the catcher pays for both."""
    ranges = np.stack([range_of("AhAc", "4d3d"), range_of("KcQc")])
    [(values, exploitability)] = solve_all([posed(BOARD, ranges, 1.0, [["a"]])], 2000)
    assert exploitability < 1e-3
    nuts, air, catcher = (hand_index(*parse_cards(hand)) for hand in ("AhAc", "4d3d", "KcQc"))
    np.testing.assert_allclose([values[0, nuts], values[0, air], values[1, catcher]], [1.0, -0.5, -0.25], atol=5e-3)


def test_a_hand_that_is_all_in_is_worth_its_equity_less_one_half() -> None:
    rng = np.random.default_rng(2)
    ranges = np.stack([random_range(BOARD, kind, rng) for kind in ("recursive", "narrow")]).astype(np.float32)
    [(values, _)] = solve_all([posed(BOARD, ranges, 1e-4, [["a"]])], 300)
    possible = HOLDEM.possible(BOARD)
    for player in range(2):
        opponent = ranges[1 - player].astype(np.float64)
        live = HOLDEM.live(BOARD)
        equity = (all_in_equity(BOARD) * possible @ opponent)[live] / (possible @ opponent)[live]
        np.testing.assert_allclose(values[player, live], equity - 0.5, atol=3e-3)


def test_rows_of_a_shard() -> None:
    rows = shard_rows(settings(), 0, None)
    again, other = shard_rows(settings(), 0, None), shard_rows(settings(), 1, None)
    assert all(np.array_equal(again[name], rows[name]) for name in rows)
    assert not np.array_equal(other["board"], rows["board"])
    assert rows["exploitability"].max() < 0.05
    for index in range(6):
        board, ranges = tuple(rows["board"][index].tolist()), rows["ranges"][index]
        live = HOLDEM.live(board)
        assert (ranges[:, live] > 0).all()
        assert (ranges[:, ~live] == 0).all()
        assert (rows["values"][index][:, ~live] == 0).all()
        assert ranges.max(axis=1).tolist() == [1, 1]
        assert abs((joint_weights(board, ranges[None]) * rows["values"][index]).sum()) < 1e-4
        encoded = encode(board, ranges[None], rows["stack_to_pot"][index : index + 1])
        for name, value in encoded._asdict().items():
            np.testing.assert_allclose(
                rows[name][index], value if name in ("classes", "shape") else value[0], atol=1e-6
            )


@pytest.mark.parametrize("device", ["torch", CUDA] if INTERPRETER else [CUDA])
def test_a_device_makes_the_same_states(device: str) -> None:
    """Stacks, so trees, of their own in one batch; unlike ties, few iterations are the same to rounding."""
    pytest.importorskip("triton", reason="the gpu extra, which `make test` installs")
    few = settings(iterations=2, bets=[[1.0], ["a"]])
    rows, expected = (shard_rows(few, 0, None, 2, device=name) for name in (device, "cpu"))
    for name, column in expected.items():
        np.testing.assert_allclose(rows[name], column, atol=2e-4, err_msg=name)
    turns = settings(level="turn", iterations=3, every=2, bets=[[1.0], []], kinds={"narrow": 1.0})
    rows, expected = (shard_rows(turns, 0, Equities("end_of_turn"), 2, device=name) for name in (device, "cpu"))
    np.testing.assert_allclose(rows["values"], expected["values"], atol=2e-4)


def test_turns_without_a_net_are_solved_through_the_river() -> None:
    turns = settings(level="turn", bets=[[1.0]], iterations=30, most_stack=1.0)
    rows = shard_rows(turns, 0, None, states=1)
    assert rows["board"][0, 4] == 255
    board, ranges = tuple(rows["board"][0, :4].tolist()), rows["ranges"][:1]
    assert abs((joint_weights(board, ranges) * rows["values"]).sum()) < 1e-4
    assert rows["exploitability"][0] < 0.1


@pytest.mark.parametrize("level", ["end_of_turn", "end_of_flop"])
def test_values_at_the_end_of_a_round_are_means_over_the_cards_to_come(level: str) -> None:
    """Equities on the next boards have the equity now as their mean."""
    rows = shard_rows(settings(level=level), 0, Equities(LEVELS[level].by or ""), states=2)
    board = tuple(card for card in rows["board"][0].tolist() if card != 255)
    live, ranges = HOLDEM.live(board), rows["ranges"].astype(np.float32)
    assert (rows["board"][0] == rows["board"][1]).all()
    wanted = equities_against(board, ranges[:, ::-1]) - 0.5
    np.testing.assert_allclose(rows["values"][:, :, live], wanted[:, :, live], atol=1e-3)


def test_before_the_flop_a_sample_of_flops_stands_for_all() -> None:
    rng = np.random.default_rng(4)
    ranges = np.stack([random_range((), "recursive", rng) for _ in range(2)])[None]
    [values] = MeanOverDeals(Equities("flop"), flops=8).values([((), ranges, np.ones(1))])
    assert np.abs(values - (equities_against((), ranges[:, ::-1]) - 0.5)).mean() < 0.15


def test_a_round_without_bets_is_worth_what_the_net_says() -> None:
    """With a bet that nobody can pay, the turn is checked down to the net's values."""
    turns = settings(level="turn", bets=[[100.0]], least_stack=0.01, most_stack=0.02)
    rows = shard_rows(turns, 0, Equities("end_of_turn"), states=1)
    board, ranges = tuple(rows["board"][0, :4].tolist()), rows["ranges"].astype(np.float32)
    wanted = equities_against(board, ranges[:, ::-1]) - 0.5
    live = HOLDEM.live(board)
    np.testing.assert_allclose(rows["values"][0][:, live], wanted[0][:, live], atol=0.02)


def test_kinds_of_ranges() -> None:
    live = HOLDEM.live(BOARD)
    for kind in KINDS:
        drawn = [random_range(BOARD, kind, np.random.default_rng(seed)) for seed in range(40)]
        assert all(each.max() == 1 and each[live].min() > 0 and not each[~live].any() for each in drawn)
        spread = np.mean([each.sum() for each in drawn]) / live.sum()
        assert spread == 1 if kind == "uniform" else 0 < spread < 0.6, kind


def test_settings_that_cannot_work_are_refused() -> None:
    for changes, message in (
        ({"level": "showdown"}, "end_of_turn, turn"),
        ({"iterations": 0}, "at least 1"),
        ({"least_stack": 0.0}, "least_stack"),
        ({"kinds": {"other": 1.0}}, "recursive, uniform"),
        ({"bets": [[-1]]}, "bet size"),
    ):
        with pytest.raises(PokernetsError, match=message):
            settings(**changes)
