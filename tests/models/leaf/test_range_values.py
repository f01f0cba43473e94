"""`train.py model=range_values`: zero-sum by construction, a tiny training, the same inputs in training and later."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch

from data_gen.range_states import RangeSettings, shard_rows
from models.leaf.range_net import RANGE_NET, RangeMixer, RangeNet, hand_values
from models.leaf.range_values import RangeBatch, RangeData, RangeModule
from models.training.export import Architecture, export_net
from poker.depth_limit.range_inputs import CLASSES, encode, filled, joint_weights, open_states, stamp, write_states
from poker.game.cards import HOLDEM, hand_index
from poker.kernels.cards.hands import CARD_PERMUTATION, HAND_PERMUTATION
from poker.run.errors import PokernetsError
from poker.store.artifacts import open_artifact
from poker.store.shards import shard_path
from tests.commands import run_here

SETTINGS = RangeSettings(
    seed=5,
    level="river",
    states_per_shard=60,
    bets=[[1.0], ["a"]],
    iterations=40,
    every=1,
    least_stack=0.1,
    most_stack=10.0,
    kinds={"recursive": 0.5, "polarised": 0.5},
)


@pytest.fixture(scope="module")
def work(tmp_path_factory: pytest.TempPathFactory) -> Path:
    root = tmp_path_factory.mktemp("ranges")
    for index in range(2):
        rows = shard_rows(SETTINGS, index, None)
        write_states(shard_path(root / "range_states" / "river", index), "river", rows, config={"shard": index})
    return root


def net() -> RangeMixer:
    made = RangeMixer(width=16, blocks=1, seed=4)
    with torch.no_grad():  # far from its start, which is near the equity
        made.last.weight.mul_(30)
    return made


def answer(made: RangeMixer, state: tuple[tuple[int, ...], np.ndarray, float]) -> np.ndarray:
    board, ranges, stack = state
    encoded = encode(board, ranges[None], np.array([stack]))
    rows, public, classes, shape, deviation = (torch.from_numpy(part) for part in encoded)
    with torch.no_grad():
        values: np.ndarray = hand_values(made(rows, public), rows, classes[None], shape[None], deviation)[0].numpy()
    return values


@pytest.mark.parametrize("board", [(0, 14, 23, 37, 49), (0, 14, 23, 37), (0, 14, 23), ()])
def test_values_are_zero_sum_and_blind_to_the_names_of_suits(board: tuple[int, ...]) -> None:
    ranges = np.where(HOLDEM.live(board), np.random.default_rng(1).random((2, 1326)) ** 6, 0)
    values = answer(net(), (board, ranges, 4.0))
    weights = joint_weights(board, ranges[None])[0]
    assert np.abs(weights[0] @ values[0]) > 0.01
    assert abs((weights * values).sum()) < 1e-5
    renamed, hands = tuple(CARD_PERMUTATION[9, list(board)].tolist()), HAND_PERMUTATION[9]
    moved = np.empty_like(ranges)
    moved[:, hands] = ranges
    np.testing.assert_allclose(answer(net(), (renamed, moved, 4.0))[:, hands], values, atol=1e-4)


def test_a_net_answers_within_the_domain_of_its_manifest(tmp_path: Path) -> None:
    """Stacks of 10^30 pots and ranges of which no two hands fit together are errors, not values."""
    architecture = Architecture(RangeMixer, width=4, blocks=1)
    stated: dict[str, dict[str, Any]] = {
        "stated": {"stack_to_pot": [0.1, 10.0]},
        "older": {},
        "forged": {"stack_to_pot": 1},
    }
    for name, counts in stated.items():
        options: dict[str, Any] = {"stamp": stamp("river"), "config": {}, "made_from": {}, "counts": counts}
        export_net(tmp_path / name, RANGE_NET, architecture, architecture(), **options)
    net, older = (RangeNet(tmp_path / name, "river") for name in ("stated", "older"))
    with pytest.raises(PokernetsError, match="forged"):
        RangeNet(tmp_path / "forged", "river")
    board = (0, 14, 23, 37, 49)
    live = np.where(HOLDEM.live(board), np.ones((1, 2, 1326), np.float32), 0)
    for stack in (0.0, 0.01, 10.0):
        assert np.isfinite(net.values([(board, live, np.array([stack], np.float32))])[0]).all()
    for each, stack in ((net, 10.1), (net, 1e30), (net, np.nan), (net, -1.0), (older, 101.0)):
        with pytest.raises(PokernetsError, match=r"knows stacks of up to 10+ pots, it is asked about") as error:
            each.values([(board, live, np.array([stack], np.float32))])
        assert "\n" not in str(error.value)
    one = np.zeros((1, 2, 1326), np.float32)
    for player, hand in ((0, (1, 2)), (1, (1, 3))):
        one[0, player, hand_index(*hand)] = 1
    for ranges in (np.zeros_like(live), one, np.where(np.arange(2)[:, None] == 0, live, 0)):
        with pytest.raises(PokernetsError, match="no two hands of the ranges fit together on `2c5h7s"):
            net.values([(board, ranges, np.array([1.0], np.float32))])
        assert np.isfinite(net.values([(board, filled(board, ranges), np.array([1.0], np.float32))])[0]).all()


def test_measures_are_those_of_numpy(work: Path) -> None:
    data, module = (
        RangeData(str(work / "range_states" / "river"), "river", validation_share=0.4),
        RangeModule(net(), 1.0, 0.75, 0.001, 0.0),
    )
    batch: RangeBatch = next(iter(data.val_dataloader()))
    logged: dict[str, float] = {}
    module.log_dict = lambda named, **_: logged.update({name: float(value) for name, value in named.items()})  # type: ignore[method-assign]
    with torch.no_grad():
        predicted = module(batch)
        module.test_step(batch, 0)
    values, live = batch.values.numpy(), batch.classes.numpy() < CLASSES
    errors = np.abs(predicted.numpy() - values)
    huber = np.where(errors < 1, errors**2 / 2, errors - 0.5)
    uniform = [huber[i][:, live[i]].mean() for i in range(len(live))]
    assert logged["test/huber"] == pytest.approx(np.mean(uniform), rel=1e-4)
    boards = np.concatenate([shard.arrays["board"] for shard in open_states(work / "range_states" / "river", "river")])
    in_range = [
        (joint_weights(tuple(boards[row].tolist()), batch.ranges[i : i + 1].numpy())[0] * huber[i]).sum() / 2
        for i, row in enumerate(data.validation_rows)
    ]
    assert logged["test/huber_in_range"] == pytest.approx(np.mean(in_range), rel=1e-4)
    assert logged["test/huber_of_classes"] < logged["test/huber_of_equity"] < logged["test/huber_of_zero"]


@pytest.mark.slow
def test_it_learns_and_is_asked_as_it_was_trained(work: Path) -> None:
    small = ("model.net.width=16", "model.net.blocks=1", "model.data.batch_rows=16", "model.data.validation_share=0.2")
    command = ("model=range_values", f"artifacts={work}", f"runs={work}/runs", "trainer.max_epochs=25", *small)
    done = run_here("train", *command, "trainer.accelerator=cpu")
    assert done.returncode == 0, done.stderr
    losses = open_artifact(work / "range_net" / "river", RANGE_NET).counts["validation"]
    assert losses["huber"] < losses["huber_of_equity"]
    assert list((work / "runs").glob("*/tensorboard/events*"))
    [first, _] = open_states(work / "range_states" / "river", "river")
    boards, stacks = first.arrays["board"][:3].tolist(), first.arrays["stack_to_pot"]
    states = [(tuple(board), first.arrays["ranges"][i : i + 1], stacks[i : i + 1]) for i, board in enumerate(boards)]
    trained_net = RangeNet(work / "range_net" / "river", "river")
    answers = np.concatenate(trained_net.values(states))
    module = RangeModule(RangeMixer(width=16, blocks=1), 1.0, 0.75, 0.001, 0.0)
    module.net.load_state_dict(trained_net._net.state_dict())
    batch = RangeBatch._make(torch.tensor(first.arrays[name][:3]) for name in RangeBatch._fields)
    with torch.no_grad():
        trained = module(RangeBatch._make(part.float() if part.is_floating_point() else part for part in batch))
    np.testing.assert_allclose(answers, trained.numpy(), atol=5e-3)  # training reads inputs in float16
    assert "is made already" in run_here("train", *command, "trainer.accelerator=cpu").stderr
