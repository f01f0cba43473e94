"""Methods that compute the tables of a hold'em abstraction, street by street.

Preflop is always lossless: 169 classes. Buckets ascend with strength.

- `PotentialAware` (Ganzfried & Sandholm 2014) has imperfect recall. River hands are described by their equities against
  clusters of opponents' hands (OCHS, Johanson et al. 2013). Turn hands are described by the distribution of their
  strength on the river, under the earth mover's distance. Flop hands are described by their distribution over turn
  buckets. Its earth mover's distance uses the distance between turn buckets as the ground distance. k-means finds the
  centres on a sample of the canonical points, and then every point is assigned.
- `ExpectedSquareGrid` [SUCT] divides E[HS^2] into equal intervals.
- `FlopStrengthGrid` is for hold'em without turn and river.
"""

import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, fields
from functools import partial
from math import comb
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from poker.abstraction.buckets import BOARD_SIZES
from poker.abstraction.features import hand_features
from poker.abstraction.kmeans import (
    LARGEST_DISTANCE,
    ClusteringEffort,
    FlowCenters,
    FlowPoints,
    Ground,
    VectorPoints,
    Vectors,
    find_centers,
)
from poker.game.cards import HOLDEM, NUM_HANDS, PREFLOP_CLASS
from poker.kernels.cards import clustering, strength
from poker.kernels.cards.isomorphism import board_multiplicities, canonical_boards
from poker.kernels.types import I32, Bools
from poker.run.errors import PokernetsError
from poker.run.parallel import Cluster, Given, Work

PREFLOP, FLOP, TURN, RIVER = range(4)
_STREETS = ("preflop", "flop", "turn", "river")
NUM_PREFLOP_CLASSES = 169
_TURN_RIVERS = 46
_RIVER_FULL = 1980
_FLOP_FULL = 2162
_TURN_FULL = 2070
_TRIAL_BOARDS = 64
_HANDS_PER_BOARD = 100

Progress = Callable[[str, int, int], None]
"""Callback with the name of a phase, the amount done and the total amount."""
BoardRows = NDArray[np.uint8]
LabelsOf = Callable[[BoardRows], I32]
"""Buckets of the live hands of boards [n, L], board after board; picklable."""
PointsOf = Callable[[BoardRows], NDArray[Any]]
"""Points [n, L, ...] of the live hands of boards; picklable."""
_NO_VECTORS: Vectors = np.zeros((0, 0), dtype=np.int16)


@dataclass(frozen=True, eq=False)
class StreetTable:
    """The buckets of one street.

    Attributes:
        table: uint8 or uint16 [canonical boards, 1326] bucket of every hand.
        vectors: int16 [num_buckets, Q] centres; [0, 0] if the method has none.
    """

    table: NDArray[Any]
    num_buckets: int
    vectors: Vectors


@dataclass(frozen=True)
class Building:
    """Settings of one computation.

    Attributes:
        seed: seed of the clustering.
        progress: called with the progress of each phase.
        cluster: where hands are assigned to buckets; None for the threads of this process.
    """

    seed: int
    progress: Progress
    cluster: Cluster | None = None

    def phase(self, street: int, what: str) -> Callable[[int, int], None]:
        """Return a callback that reports the progress of one phase.

        Args:
            street: the street being computed.
            what: name of the phase.
        """
        title = f"{_STREETS[street]}: {what}"
        return lambda done, total: self.progress(title, done, total)


class Method:
    """A way to compute the tables: a frozen dataclass with the number of buckets of each street as fields.

    Streets are computed in `order`, and each has access to the streets before it.
    """

    name: ClassVar[str]
    order: ClassVar[tuple[int, ...]]

    def __post_init__(self) -> None:
        """Check the numbers of buckets."""
        for street in sorted(self.order)[1:]:
            _check_range(_STREETS[street], getattr(self, _STREETS[street]), 1, 65535)

    @property
    def settings(self) -> dict[str, Any]:
        """Name and parameters, which identify the method."""
        return {"name": self.name, **vars(self)}

    @property
    def num_buckets(self) -> tuple[int, ...]:
        """[S] number of buckets on each street."""
        return NUM_PREFLOP_CLASSES, *(getattr(self, _STREETS[street]) for street in sorted(self.order)[1:])

    def build(self, street: int, built: Mapping[int, StreetTable], how: Building) -> StreetTable:
        """Compute the table of a street.

        Args:
            built: tables of the streets earlier in `order`.
            how: seed, progress and workers.
        """
        if street == PREFLOP:
            return lossless_preflop(how.progress)
        labels_of, vectors = self._labels(street, built, how)
        num_buckets = self.num_buckets[street]
        return StreetTable(_assign_all(street, num_buckets, labels_of, how), num_buckets, vectors)

    def cpu_seconds(self, street: int) -> float:
        """Estimate an upper bound on the CPU seconds of `build`, extrapolated from a few boards."""
        silent = Building(0, lambda *_: None)
        return 0.0 if street == PREFLOP else _cpu_seconds(street, self._labels(street, {}, silent)[0])

    def _labels(self, street: int, built: Mapping[int, StreetTable], how: Building) -> tuple[LabelsOf, Vectors]:
        """Return the function that assigns buckets on a later street, and their centres.

        Raises:
            NotImplementedError: the subclass does not define it.
        """
        raise NotImplementedError


@dataclass(frozen=True)
class PotentialAware(Method):
    """Potential-aware abstraction with imperfect recall (Ganzfried & Sandholm 2014).

    Attributes:
        flop: number of flop buckets.
        turn: number of turn buckets.
        river: number of river buckets.
        bins: number of equal intervals of river strength that describe a turn hand.
        opponent_clusters: number of equal groups of opponents' hands by preflop E[HS], for the river. With 1 group
            river buckets use plain equity.
        sample: points that k-means sees on the turn and the river.
        flop_sample: points that k-means sees on the flop.
        restarts: number of k-means runs.
        iterations: largest number of iterations per run.

    Raises:
        PokernetsError: a number is out of range.
    """

    name = "potential_aware"
    order = (PREFLOP, RIVER, TURN, FLOP)
    flop: int
    turn: int
    river: int
    bins: int
    opponent_clusters: int
    sample: int
    flop_sample: int
    restarts: int
    iterations: int

    def __post_init__(self) -> None:
        """Check all numbers."""
        super().__post_init__()
        _check_range("bins", self.bins, 2, 500)
        _check_range("opponent_clusters", self.opponent_clusters, 1, strength.MAX_CLUSTERS)
        for name, low in (("sample", self.turn), ("sample", self.river), ("flop_sample", self.flop)):
            _check_range(name, getattr(self, name), low, 10**9)
        _check_range("restarts", self.restarts, 1, 1000)
        _check_range("iterations", self.iterations, 1, 10_000)

    def _effort(self, street: int) -> ClusteringEffort:
        return ClusteringEffort(self.flop_sample if street == FLOP else self.sample, self.restarts, self.iterations)

    def _points(self, street: int, boards: BoardRows) -> Vectors:
        """Return [n, L, Q] points of turn or river boards.

        On the turn a point is the probability of river strength above each bin, so that larger is stronger. On the
        river it is the equity against each cluster.
        """
        if street == TURN:
            scale = np.int16(LARGEST_DISTANCE // (self.bins * _TURN_RIVERS))
            return (np.int16(_TURN_RIVERS) - strength.boards_distribution(boards, self.bins).astype(np.int16)) * scale
        clusters = opponent_clusters(self.opponent_clusters)
        full = LARGEST_DISTANCE // self.opponent_clusters
        return strength.boards_equity_against(boards, clusters, self.opponent_clusters, full)

    def _labels(self, street: int, built: Mapping[int, StreetTable], how: Building) -> tuple[LabelsOf, Vectors]:
        num_buckets, effort, show = self.num_buckets[street], self._effort(street), how.phase(street, "k-means")
        if street == FLOP:
            ground, turn = Ground(built[TURN].vectors), built[TURN].table.astype(np.uint16)
            lists = _sample(FLOP, effort.sample, partial(_turn_lists, turn), how.seed)
            flows = find_centers(FlowPoints(lists, ground), num_buckets, effort, how.seed, show)
            order = np.argsort(flows.vectors.sum(axis=1, dtype=np.int64), kind="stable")
            centers = FlowCenters(flows.masses[order], ground.bucket_vectors)
            return partial(_nearest_flows, turn, ground, centers), centers.vectors
        points_of = partial(self._points, street)
        points = VectorPoints(_sample(street, effort.sample, points_of, how.seed))
        vectors = _by_strength(find_centers(points, num_buckets, effort, how.seed, show))
        return partial(_nearest_vectors, points_of, vectors), vectors

    def cpu_seconds(self, street: int) -> float:
        """Estimate an upper bound on the CPU seconds of `build`, extrapolated from a few boards.

        k-means may stop before its last iteration. Turn buckets are approximated by hand strength here.
        """
        if street == PREFLOP:
            return 0.0
        points_of: PointsOf = partial(self._points, street)
        labels_of: LabelsOf
        if street == FLOP:
            ground = Ground(_by_strength(_sample(TURN, self.turn, partial(self._points, TURN), 0)))
            strengths = strength.boards_strength(canonical_boards(BOARD_SIZES[TURN])).astype(np.int64)
            turn = (np.maximum(strengths, 0) * self.turn // (_TURN_FULL + 1)).astype(np.uint16)
            points_of = partial(_turn_lists, turn)
            few = FlowPoints(_sample(FLOP, self.flop, points_of, 0), ground)
            labels_of = partial(_nearest_flows, turn, ground, few.at(np.arange(self.flop)))
        else:
            labels_of = partial(_nearest_vectors, points_of, _sample(street, self.num_buckets[street], points_of, 0))
        return _cpu_seconds(street, labels_of, points_of, self._effort(street))


def _turn_lists(turn: NDArray[np.uint16], boards: BoardRows) -> NDArray[np.uint16]:
    return clustering.turn_bucket_lists(boards, turn)


def _nearest_vectors(points_of: PointsOf, centers: Vectors, boards: BoardRows) -> I32:
    """Return the centre nearest to the point of each live hand."""
    return VectorPoints(_rows(points_of(boards))).assign(centers)[0]


def _nearest_flows(turn: NDArray[np.uint16], ground: Ground, centers: FlowCenters, boards: BoardRows) -> I32:
    """Return the centre nearest to the distribution of each live hand over the turn's buckets."""
    return FlowPoints(_rows(_turn_lists(turn, boards)), ground).assign(centers)[0]


@dataclass(frozen=True)
class ExpectedSquareGrid(Method):
    """Equal intervals of E[HS^2]: bucket = floor(E[HS^2] * buckets of the street), capped at the last bucket.

    Attributes:
        flop: number of flop buckets.
        turn: number of turn buckets.
        river: number of river buckets.
    """

    name = "ehs2_grid"
    order = (PREFLOP, FLOP, TURN, RIVER)
    flop: int
    turn: int
    river: int

    def _labels(self, street: int, *_: object) -> tuple[LabelsOf, Vectors]:
        return partial(_square_cells, self.num_buckets[street], (1081, _TURN_RIVERS, 1)[street - 1]), _NO_VECTORS


@dataclass(frozen=True)
class FlopStrengthGrid(Method):
    """Equal intervals of HS for hold'em that ends with the flop: bucket = floor(HS * buckets), capped at the last.

    HS is the hand's share of showdowns on the flop.

    Attributes:
        flop: number of flop buckets.
    """

    name = "flop_strength_grid"
    order = (PREFLOP, FLOP)
    flop: int

    def _labels(self, street: int, *_: object) -> tuple[LabelsOf, Vectors]:
        return partial(_strength_cells, self.flop), _NO_VECTORS


def method_of(settings: Mapping[str, Any]) -> Method:
    """Return the method with the given settings.

    Args:
        settings: name and parameters, as in `Method.settings`.

    Raises:
        PokernetsError: no method has these settings, or a number is out of range.
    """
    name, numbers = settings.get("name"), {key: value for key, value in settings.items() if key != "name"}
    for method in (PotentialAware, ExpectedSquareGrid, FlopStrengthGrid):
        named = method.name == name and numbers.keys() == {field.name for field in fields(method)}
        if named and all(type(number) is int for number in numbers.values()):
            return method(**numbers)
    raise PokernetsError(f"no abstraction method has the settings {str(dict(settings))[:200]}")


def _square_cells(num_buckets: int, completions: int, boards: BoardRows) -> I32:
    squares = strength.boards_moments(boards)[:, 1] * num_buckets // (completions * _RIVER_FULL**2)
    return np.minimum(squares[_live(boards)], num_buckets - 1).astype(np.int32)


def _strength_cells(num_buckets: int, boards: BoardRows) -> I32:
    strengths = strength.boards_strength(boards)
    live = strengths[strengths >= 0].reshape(len(boards), -1).astype(np.int32)
    return np.minimum(live * num_buckets // _FLOP_FULL, num_buckets - 1)


def lossless_preflop(progress: Progress) -> StreetTable:
    """Return the 169 classes of `poker.game.cards.PREFLOP_CLASS` and fill the cache of exact preflop equities.

    Args:
        progress: called before and after the computation.
    """
    progress("preflop: exact equities", 0, 1)
    hand_features(())
    progress("preflop: exact equities", 1, 1)
    return StreetTable(PREFLOP_CLASS[None], NUM_PREFLOP_CLASSES, _NO_VECTORS)


def opponent_clusters(num_clusters: int) -> NDArray[np.int8]:
    """Divide all hands by preflop E[HS] into groups of equal size.

    Args:
        num_clusters: number of groups.

    Returns:
        int8 [1326] group of each hand; 0 is the weakest.
    """
    place = np.argsort(np.argsort(hand_features(()).ehs, kind="stable"), kind="stable")
    return (place * num_clusters // NUM_HANDS).astype(np.int8)


def _check_range(name: str, value: int, low: int, high: int) -> None:
    if not low <= value <= high:
        raise PokernetsError(f"abstraction.{name} must be between {low} and {high}, not {value}")


def _rows(points: NDArray[Any]) -> NDArray[Any]:
    """Return [n, L, ...] as [n * L, ...]."""
    return points.reshape(-1, points.shape[-1])


def _sample(street: int, size: int, points_of: PointsOf, seed: int) -> NDArray[Any]:
    """Return `size` points of random boards, up to 100 hands from each; boards have their dealing probability."""
    boards = canonical_boards(BOARD_SIZES[street])
    weights = board_multiplicities(BOARD_SIZES[street])
    rng = np.random.default_rng([seed, street])
    num_boards = -(-size // _HANDS_PER_BOARD)
    chosen = boards[rng.choice(len(boards), size=num_boards, p=weights / weights.sum())]
    parts = []
    for start in range(0, num_boards, _chunk(street)):
        points = points_of(chosen[start : start + _chunk(street)])
        hands = np.array([rng.permutation(points.shape[1])[:_HANDS_PER_BOARD] for _ in points])
        parts.append(_rows(points[np.arange(len(points))[:, None], hands]))
    return np.concatenate(parts)[:size]


def _chunk(street: int) -> int:
    """Return the number of boards processed at once, which need some ten megabytes of points."""
    return (1, 64, 128, 1024)[street]


def _assign_all(street: int, num_buckets: int, labels_of: LabelsOf, how: Building) -> NDArray[Any]:
    """Return the table [canonical boards, 1326] from the labels of the live hands of chunks of boards."""
    table = np.zeros((len(canonical_boards(BOARD_SIZES[street])), NUM_HANDS), dtype=_index_type(num_buckets))
    show, done = how.phase(street, "assignment"), 0
    assign = partial(_assign, street, _index_type(num_buckets), labels_of)
    starts = range(0, len(table), _chunk(street))
    for start, rows in map(assign, starts) if how.cluster is None else how.cluster.run(Work(Given(assign)), starts):
        table[start : start + len(rows)] = rows
        done += len(rows)
        show(done, len(table))
    return table


def _assign(street: int, dtype: type[np.generic], labels_of: LabelsOf, start: int) -> tuple[int, NDArray[Any]]:
    """Return `start` and the rows of one chunk of the table from there."""
    boards = canonical_boards(BOARD_SIZES[street])[start : start + _chunk(street)]
    rows = np.zeros((len(boards), NUM_HANDS), dtype=dtype)
    rows[_live(boards)] = labels_of(boards).ravel()
    return start, rows


def _live(boards: BoardRows) -> Bools:
    """Return [n, 1326] whether a hand shares no card with the board."""
    masks = np.bitwise_or.reduce(np.uint64(1) << boards.astype(np.uint64), axis=1)
    return np.asarray(HOLDEM.masks & masks[:, None] == 0)


def _cpu_seconds(
    street: int,
    labels_of: LabelsOf,
    points_of: PointsOf | None = None,
    effort: ClusteringEffort = ClusteringEffort(0, 0, 0),  # noqa: B008 - frozen
) -> float:
    """Return the CPU seconds of k-means and of assigning all hands, extrapolated from a few boards."""
    boards = canonical_boards(BOARD_SIZES[street])
    sample = boards[:: max(1, len(boards) // _TRIAL_BOARDS)][:_TRIAL_BOARDS]

    def seconds_per_board(work: Callable[[BoardRows], object]) -> float:
        work(sample[:1])  # loads kernels
        started = time.process_time()
        work(sample)
        return (time.process_time() - started) / len(sample)

    labels, points = seconds_per_board(labels_of), 0.0 if points_of is None else seconds_per_board(points_of)
    hands = comb(52 - BOARD_SIZES[street], 2)
    passes = effort.restarts * (effort.iterations + 1) * effort.sample / hands  # one for the seeding
    return effort.sample / _HANDS_PER_BOARD * points + passes * max(0.0, labels - points) + len(boards) * labels


def table_bytes(num_buckets: Sequence[int]) -> int:
    """Return the bytes of the tables of all streets.

    Args:
        num_buckets: [S] number of buckets on each street.
    """
    sizes = (len(canonical_boards(BOARD_SIZES[street])) * NUM_HANDS for street in range(len(num_buckets)))
    return sum(size * np.dtype(_index_type(count)).itemsize for size, count in zip(sizes, num_buckets, strict=True))


def _by_strength(vectors: Vectors) -> Vectors:
    """Return vectors in ascending order of strength."""
    return vectors[np.argsort(vectors.sum(axis=1, dtype=np.int64), kind="stable")]


def _index_type(num_buckets: int) -> type[np.generic]:
    return np.uint8 if num_buckets <= 256 else np.uint16
