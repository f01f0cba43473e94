"""Observed decisions as batches: rows after the flop, split by time, with whatever inputs a net asks for.

The first `1 - test_share` of the hands train, the others test: no hand and no later game of a player is on both sides.
Inputs that describe a player's past use all earlier hands, those of the test part too, as a player at the table would.
"""

from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

import lightning
import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from models.shuffle import BlockShuffle
from poker.errors import PokernetsError
from poker.features import opponent, opponent_history
from poker.features.action_rows import COLUMNS, open_rows

UNKNOWN = 0
"""Number of a player that is not in the training part; others are numbered from 1."""
TEST_BATCH = 4096


class OpponentBatch(NamedTuple):
    """n rows: inputs [n, 19], [n, 50], [n, 52] (no columns where a net does not read them), player [n], class [n]."""

    features: Tensor
    hand: Tensor
    past: Tensor
    player: Tensor
    action: Tensor


Base = Callable[[NDArray[np.float32], NDArray[np.float32]], NDArray[np.float32]]
"""A base predictor: inputs [n, 19] and hand inputs [n, 50] to probabilities [n, 3]."""


class OpponentRows:
    """All rows of an artifact in memory, and which of them train and test."""

    def __init__(self, path: str, test_share: float) -> None:
        if not 0 < test_share < 1:
            raise PokernetsError(f"data.test_share must lie between 0 and 1, it is {test_share}")
        artifact = open_rows(path)
        self.path, self.fingerprint = path, artifact.fingerprint
        self.columns: dict[str, NDArray[Any]] = {name: np.array(artifact.arrays[name]) for name in COLUMNS}
        self.names: list[str] = artifact.arrays["names"].tolist()
        hand, street = self.columns["hand"], self.columns["street"]
        self.first_test_hand = int((1 - test_share) * (int(hand.max()) + 1))
        self.in_training: NDArray[np.bool_] = hand < self.first_test_hand
        self.train_rows: NDArray[np.int64] = np.flatnonzero(self.in_training & (street > 0))
        self.test_rows: NDArray[np.int64] = np.flatnonzero(~self.in_training & (street > 0))
        if not len(self.train_rows) or not len(self.test_rows):
            raise PokernetsError(f"{path}: too few hands to train and to test on; make more with job=opponent_actions")
        known = np.unique(self.columns["player"][self.in_training])
        numbers = np.full(len(self.names), UNKNOWN, dtype=np.int64)
        numbers[known] = np.arange(1, len(known) + 1)
        self.player_numbers = numbers
        self.known_names = [self.names[player] for player in known]

    @property
    def contexts(self) -> NDArray[np.int64]:
        """[n] the twelve contexts."""
        return opponent_history.contexts(self.columns["street"], self.columns["bets"])

    def population_table(self) -> NDArray[np.float64]:
        """[12, 3] class frequencies in the training part."""
        return opponent_history.population_table(
            self.contexts[self.in_training], self.columns["action"][self.in_training]
        )

    def past_inputs(self, hand_inputs: NDArray[np.float32], base: Base) -> NDArray[np.float32]:
        """[n, 52]; before the flop what is expected of anybody is the population's table."""
        table = self.population_table()
        predicted = table[self.contexts].astype(np.float32)
        later = np.flatnonzero(self.columns["street"] > 0)
        predicted[later] = base(self.columns["features"][later], hand_inputs[later])
        return opponent_history.player_rows(self.columns, predicted, table)


class OpponentLoader:
    """Batches of `rows`, shuffled where there is a `shuffle`; epoch as for leaf states."""

    def __init__(
        self, tensors: OpponentBatch, rows: NDArray[np.int64], shuffle: BlockShuffle | None, epoch: Callable[[], int]
    ) -> None:
        self._tensors, self._rows, self._shuffle, self._epoch = tensors, rows, shuffle, epoch

    def __len__(self) -> int:
        if self._shuffle is not None:
            return self._shuffle.batches_per_pass
        return int(np.ceil(len(self._rows) / TEST_BATCH))

    def __iter__(self) -> Iterator[OpponentBatch]:
        if self._shuffle is None:
            for rows in np.split(self._rows, range(TEST_BATCH, len(self._rows), TEST_BATCH)):
                yield self._take(rows)
            return
        size, count = self._shuffle.batch_rows, len(self)
        for pool, first, last in self._shuffle.pools(self._epoch() * count, count):
            for number in range(first, last):
                yield self._take(pool[number * size : (number + 1) * size])

    def _take(self, rows: NDArray[np.int64]) -> OpponentBatch:
        index = torch.from_numpy(rows)
        return OpponentBatch(*(column[index] for column in self._tensors))


class OpponentData(lightning.LightningDataModule):
    """Tensors of all rows; `needs` names the inputs beside the 19 that the net reads: `hand`, `past`."""

    def __init__(self, path: str, test_share: float = 0.2, batch_rows: int = 512, seed: int = 0) -> None:
        super().__init__()
        self.config: dict[str, Any] = {"test_share": test_share, "batch_rows": batch_rows, "seed": seed}
        self.rows = OpponentRows(path, test_share)
        columns = self.rows.columns
        nothing = torch.zeros(len(columns["action"]), 0)
        self._tensors = OpponentBatch(
            features=torch.from_numpy(columns["features"]),
            hand=nothing,
            past=nothing,
            player=torch.from_numpy(self.rows.player_numbers[columns["player"]]),
            action=torch.from_numpy(columns["action"].astype(np.int64)),
        )
        train = self.rows.train_rows
        self._shuffle = BlockShuffle(train, min(batch_rows, len(train)), seed, block_rows=1)

    def prepare(self, needs: tuple[str, ...], base: Base | None) -> None:
        """Compute what the net needs; `past` takes a base predictor."""
        if "hand" not in needs and "past" not in needs:
            return
        hand = opponent_history.hand_rows(self.rows.columns)
        self._tensors = self._tensors._replace(hand=torch.from_numpy(hand))
        if "past" in needs:
            if base is None:
                raise ValueError("inputs about a player's past need a base predictor")
            self._tensors = self._tensors._replace(past=torch.from_numpy(self.rows.past_inputs(hand, base)))

    def train_dataloader(self) -> OpponentLoader:
        return OpponentLoader(self._tensors, self.rows.train_rows, self._shuffle, self._current_epoch)

    def val_dataloader(self) -> OpponentLoader:
        return OpponentLoader(self._tensors, self.rows.test_rows, None, self._current_epoch)

    def _current_epoch(self) -> int:
        return 0 if self.trainer is None else self.trainer.current_epoch


INPUT_SIZES = {"features": opponent.SIZE, "hand": opponent_history.HAND_SIZE, "past": opponent_history.PLAYER_SIZE}
