"""The training record of an opponent net, from its manifest: hands, players and base net.

The record shows whether a net may be measured on rows. The rows must be hands that it has not learned from, and players
are divided into those in its training hands and others.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from models.opponent.data import OpponentRows
from models.opponent.inference import BETTING, OPPONENT_NET, PLAYERS, POPULATION, SHARES, STAMP
from poker.store.artifacts import MismatchedArtifactError, open_artifact, refuses_by_name

TRAINED = "trained"
"""Manifest key: `first` and `last` time of the training hands, and the `source` of the rows."""


def training_counts(rows: OpponentRows) -> dict[str, Any]:
    """Return the manifest entries that describe a training on `rows`."""
    times = rows.columns["time"][rows.in_training]
    trained = {"first": int(times.min()), "last": int(times.max()), "source": rows.source}
    players = {POPULATION: rows.population_table().tolist(), PLAYERS: rows.trained_names}
    return {**players, TRAINED: trained, BETTING: rows.betting}


@dataclass(frozen=True)
class NetRecord:
    """The training record of one net.

    Attributes:
        name: name of the net in this comparison.
        fingerprint: hash of the net.
        rows: fingerprint of the rows that it was trained on.
        test_share: share of the hands that it was not trained on.
        first: time of its first training hand.
        last: time of its last training hand.
        source: configuration that produced the rows.
        base: fingerprint of its base net, or None.
        table: [12, 3] action frequencies of the population by context.
        players: names of the players in its training hands.
        weights: [W] share of the players for whom each weight of the net against their counts fits best.
    """

    name: str
    fingerprint: str
    rows: str
    test_share: float
    first: int
    last: int
    source: Mapping[str, Any]
    base: str | None
    table: NDArray[np.float64]
    players: tuple[str, ...]
    weights: NDArray[np.float64]

    @classmethod
    @refuses_by_name(OPPONENT_NET)
    def read(cls, path: str | Path, name: str) -> "NetRecord":
        """Read the record of a net.

        Args:
            path: directory of the net.
            name: name of the net in this comparison.

        Raises:
            MismatchedArtifactError: the manifest has no training record.
            ArtifactError: the artifact is missing or damaged.
        """
        net = open_artifact(path, OPPONENT_NET, config=STAMP)
        if TRAINED not in net.counts or PLAYERS not in net.counts:
            raise MismatchedArtifactError(
                f"the net `{name}` at {path} has no record of its training hands: delete it and train it again"
            )
        trained, made_from = net.counts[TRAINED], net.made_from
        return cls(
            name,
            net.fingerprint,
            made_from["opponent_actions"],
            float(net.config["data"]["test_share"]),
            trained["first"],
            trained["last"],
            trained["source"],
            made_from.get("base"),
            np.array(net.counts[POPULATION], dtype=np.float64),
            tuple(net.counts[PLAYERS]),
            np.array(net.counts.get(SHARES, ()), dtype=np.float64),
        )

    def has_met(self, names: Sequence[str]) -> NDArray[np.bool_]:
        """Return whether the net was trained on hands of each player.

        Args:
            names: names of the players.

        Returns:
            bool [players].
        """
        players = set(self.players)
        return np.array([name in players for name in names], dtype=bool)

    def check_unseen(self, rows: OpponentRows) -> None:
        """Check that the net has not learned from the test hands of `rows`.

        Raises:
            MismatchedArtifactError: it may have learned from them.
        """
        if rows.fingerprint == self.rows:
            if rows.first_test_hand < rows.first_hand(self.test_share):
                raise MismatchedArtifactError(
                    f"the net `{self.name}` was trained on the first {1 - self.test_share:.0%} of {rows.path};"
                    f" measure it on later hands: test_share={self.test_share:g} or less"
                )
            return
        dealt = [source.get("seed") for source in (self.source, rows.source) if source.get("source") == "self_play"]
        if len(set(dealt)) > 1:
            return  # different seeds deal different cards
        times = rows.columns["time"]
        tested = rows.test_rows[(self.first <= times[rows.test_rows]) & (times[rows.test_rows] <= self.last)]
        shared = int(self.has_met(rows.names)[rows.columns["player"][tested]].sum())
        if shared:
            _, first_rows = np.unique(rows.columns["hand"], return_index=True)
            later = np.floor(1000 * np.mean(times[first_rows] > self.last)) / 1000
            raise MismatchedArtifactError(
                f"the net `{self.name}` may have learned from {rows.path}, which has {shared:,} decisions of players it"
                f" knows in the time of its own hands, {self.first} to {self.last}: measure it on other rows"
                + (f", or on later hands, test_share={later:g} or less" if later else "")
            )


def check_together(nets: Sequence[NetRecord]) -> None:
    """Check that all nets learned from the same hands, so that they share one population.

    Raises:
        MismatchedArtifactError: two nets learned from different hands.
    """
    for net in nets[1:]:
        if (net.rows, net.test_share, net.first) != (nets[0].rows, nets[0].test_share, nets[0].first):
            raise MismatchedArtifactError(
                f"the nets `{nets[0].name}` and `{net.name}` were trained on different hands: measure them separately,"
                f" ~nets.{net.name}"
            )


def check_base(base: NetRecord, nets: Sequence[NetRecord]) -> None:
    """Check that the player inputs of `nets` are based on `base`.

    Raises:
        MismatchedArtifactError: a net has another base.
    """
    for net in nets:
        if net.base != base.fingerprint:
            raise MismatchedArtifactError(
                f"the net `{net.name}` was trained with another base net: set base=PATH to the base of its training"
            )
