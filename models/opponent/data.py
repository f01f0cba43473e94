"""Batches of observed decisions, split by time, with the inputs that a net needs.

Limit data contain decisions after the flop, no-limit data all decisions. The first `1 - test_share` of the hands, or
the latest `train_share` of those, are for training and the others for testing. No hand, and no later game of a player,
is on both sides. Inputs that describe a player's past use all earlier hands, including earlier test hands, as a player
at the table would.
"""

from collections.abc import Callable, Collection
from functools import partial
from typing import Any

import lightning
import numpy as np
import torch

from models.opponent.inference import OPPONENT_NET, load_opponent_net
from models.opponent.inference import STAMP as NET_STAMP
from models.opponent.inputs import Inputs
from models.opponent.nets import OpponentBatch, batch_of
from models.training.shuffle import BlockShuffle, OrderedLoader, Position, ShuffledLoader
from poker.game.rules import LIMIT, RAISE_CLASS
from poker.kernels.types import I64, Bools, Columns, Floats, Singles
from poker.opponents.inputs import history
from poker.opponents.inputs.no_limit import NUM_SIZES
from poker.opponents.inputs.rows import COLUMNS, STAMP, open_rows
from poker.opponents.model import NUM_CLASSES
from poker.run.errors import PokernetsError
from poker.store.artifacts import open_artifact

TEST_BATCH = 4096


Base = Callable[[Inputs], Singles]
"""A base predictor, which ignores a player's past: function from inputs to probabilities [n, C]."""


class OpponentRows:
    """All rows of an artifact in memory, and their split into training and test rows.

    Attributes:
        path: directory of the artifact.
        fingerprint: hash of the artifact.
        betting: `limit` or `nolimit`.
        source: configuration that produced the rows.
        first_street: first street whose decisions are predicted.
        train_rows: int64 [n] rows to train on.
        test_rows: int64 [n] rows to test on.
    """

    def __init__(self, path: str, test_share: float, train_share: float = 1.0) -> None:
        """Read the rows and split them.

        Args:
            path: directory of the artifact.
            test_share: share of the hands to test on, the last ones.
            train_share: share of the earlier hands to train on, the latest ones.

        Raises:
            PokernetsError: a share is not in (0, 1], or there are too few hands.
            ArtifactError: the artifact is missing or damaged.
        """
        for name, share in (("test_share", test_share), ("train_share", train_share)):
            if not 0 < share <= 1:
                raise PokernetsError(f"{name} must be above 0 and at most 1, not {share}")
        artifact = open_rows(path)
        self.path, self.fingerprint = path, artifact.fingerprint
        self.betting: str = artifact.config.get("betting", LIMIT)
        """`limit` or `nolimit`."""
        self.classes = NUM_CLASSES if self.betting == LIMIT else RAISE_CLASS + NUM_SIZES
        self.first_street = 1 if self.betting == LIMIT else 0
        """First street whose decisions are predicted."""
        self.source = {name: value for name, value in artifact.config.items() if name not in STAMP}
        self.columns: Columns = {name: np.array(artifact.arrays[name]) for name in COLUMNS}
        self.names: list[str] = artifact.arrays["names"].tolist()
        hand, street = self.columns["hand"], self.columns["street"]
        self.first_test_hand = self.first_hand(test_share)
        first = int((1 - train_share) * self.first_test_hand)
        self.in_training: Bools = (first <= hand) & (hand < self.first_test_hand)
        self.train_rows: I64 = np.flatnonzero(self.in_training & (street >= self.first_street))
        self.test_rows: I64 = np.flatnonzero((hand >= self.first_test_hand) & (street >= self.first_street))
        if not len(self.test_rows):
            raise PokernetsError(f"{path}: too few hands to test on; collect more with job=opponent_actions")
        self.trained_names = [self.names[player] for player in np.unique(self.columns["player"][self.in_training])]

    def first_hand(self, test_share: float) -> int:
        """Return the number of the first hand among the last `test_share` of the hands."""
        return int((1 - test_share) * (int(self.columns["hand"].max()) + 1))

    @property
    def contexts(self) -> I64:
        """int64 [n] context of each row, one of twelve."""
        return history.contexts(self.columns["street"], self.columns["bets"])

    def class_shares(self) -> Singles:
        """Return the frequency [C] of each action in the training part, which is the best constant prediction."""
        counts = np.bincount(self.columns["action"][self.train_rows], minlength=self.classes)
        shares: Singles = (counts / counts.sum()).astype(np.float32)
        return shares

    def population_table(self) -> Floats:
        """Return the frequencies [12, 3] of action classes by context in the training part."""
        return history.population_table(self.contexts[self.in_training], self.columns["action"][self.in_training])

    def inputs(self, needs: Collection[str], base: Base | None, table: Floats | None = None) -> Inputs:
        """Compute the inputs of all rows.

        Args:
            needs: names of the inputs besides the 19; `past` requires a base predictor.
            base: a predictor without memory.
            table: [12, 3] frequencies by context, used instead of the base in rounds that are not predicted; None for
                the frequencies of the training part.

        Returns:
            Inputs of all n rows.

        Raises:
            PokernetsError: `past` is needed but there is no base predictor.
        """
        rows = len(self.columns["action"])
        nothing = np.zeros((rows, 0), dtype=np.float32)
        inputs = Inputs(self.columns["features"], nothing, nothing)
        if needs:
            inputs = inputs._replace(hand=history.hand_rows(self.columns))
        if "past" in needs:
            if base is None:
                raise PokernetsError("inputs about a player's past need a base net: set data.base=PATH")
            table = self.population_table() if table is None else table
            predicted = table[self.contexts].astype(np.float32)
            later = np.flatnonzero(self.columns["street"] >= self.first_street)
            predicted[later] = history.by_class(base(inputs.take(later)))
            inputs = inputs._replace(past=history.player_rows(self.columns, predicted, table))
        return inputs


class OpponentData(lightning.LightningDataModule):
    """The data module of opponent nets: batches of all rows with the inputs that the net needs.

    Args:
        path: rows written by `job=opponent_actions`.
        test_share: share of the hands to test on, the last ones.
        train_share: share of the earlier hands to train on, the latest ones.
        batch_rows: rows per batch.
        seed: seed of the order of the rows.
        base: exported net without memory, for nets that describe players by their deviation from it.
        architectures: dotted names of classes outside `models` that `base` may have.

    Raises:
        PokernetsError: a setting is out of range, or there are too few hands.
        ArtifactError: an artifact is missing or damaged.
    """

    def __init__(
        self,
        path: str,
        test_share: float = 0.2,
        train_share: float = 1.0,
        batch_rows: int = 1024,
        seed: int = 0,
        base: str | None = None,
        architectures: Collection[str] = (),
    ) -> None:
        """Read the rows and split them.

        Raises:
            PokernetsError: a setting is out of range, or there are too few hands.
        """
        super().__init__()
        shares = {"test_share": test_share, "train_share": train_share}
        self.config: dict[str, Any] = {**shares, "batch_rows": batch_rows, "seed": seed}
        self.rows = OpponentRows(path, test_share, train_share)
        self.made_from = {"opponent_actions": self.rows.fingerprint}
        if base is not None:
            self.made_from["base"] = open_artifact(base, OPPONENT_NET, config=NET_STAMP).fingerprint
        self.base, self._architectures = base, architectures
        train = self.rows.train_rows
        if not len(train):
            raise PokernetsError(f"{path}: too few hands to train on; collect more, or reduce data.test_share")
        if batch_rows < 1:
            raise PokernetsError(f"data.batch_rows must be positive, not {batch_rows}")
        self.shuffle = BlockShuffle(train, min(batch_rows, len(train)), seed, block_rows=1)
        self._needs: tuple[str, ...] | None = None

    def setup(self, stage: str) -> None:
        """Compute the inputs that the net of the trainer needs."""
        assert self.trainer is not None
        net: Any = self.trainer.lightning_module.net
        self.prepare(net.needs)

    def prepare(self, needs: Collection[str]) -> None:
        """Compute the inputs that a net needs, once.

        Args:
            needs: names of the inputs besides the 19.
        """
        if tuple(needs) == self._needs:
            return
        self._needs = tuple(needs)
        base = None if self.base is None else load_opponent_net(self.base, self._architectures).probs
        self.tensors = batch_of(self.rows.inputs(needs, base), self.rows.columns["action"].astype(np.int64))

    def train_dataloader(self) -> ShuffledLoader[OpponentBatch]:
        """Return the shuffled training batches of the current epoch."""
        return ShuffledLoader(self, self.shuffle, self.shuffle.batches_per_pass, partial(map, self._take))

    def val_dataloader(self) -> OrderedLoader[OpponentBatch]:
        """Return the test batches."""
        return OrderedLoader(self.rows.test_rows, TEST_BATCH, self._take, Position.of(self))

    def ordered(self, rows: I64) -> OrderedLoader[OpponentBatch]:
        """Return batches of the given rows in order, in this process.

        Args:
            rows: int64 [n] rows.
        """
        return OrderedLoader(rows, TEST_BATCH, self._take, Position())

    def _take(self, rows: I64) -> OpponentBatch:
        index = torch.from_numpy(rows)
        return OpponentBatch(*(column[index] for column in self.tensors))
