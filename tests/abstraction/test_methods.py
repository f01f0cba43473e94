"""The ways to make buckets, on a few boards each: points against exact features, order, determinism, symmetry."""

from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import pytest
from numpy.typing import NDArray

from poker.abstraction import methods
from poker.abstraction.buckets import BOARD_SIZES, make_abstraction
from poker.abstraction.features import hand_features
from poker.abstraction.kmeans import VectorPoints
from poker.abstraction.methods import (
    FLOP,
    PREFLOP,
    RIVER,
    TURN,
    Building,
    ExpectedSquareGrid,
    FlopStrengthGrid,
    PotentialAware,
    StreetTable,
)
from poker.game.cards import HOLDEM, NUM_HANDS, PREFLOP_CLASS, parse_cards
from poker.kernels.cards import clustering, strength
from poker.kernels.cards.isomorphism import NUM_BOARDS, canonical_boards
from poker.kernels.cards.ranks import rank_board_hands
from poker.run.errors import PokernetsError
from tests.abstraction.strengths import FULL, river_counts

FEW = 24
Boards = dict[int, NDArray[np.uint8]]
"""[24, n] boards by their number of cards n."""
TINY = PotentialAware(
    flop=8, turn=10, river=12, bins=20, opponent_clusters=4, sample=1500, flop_sample=600, restarts=1, iterations=8
)


@pytest.fixture
def few_boards(monkeypatch: pytest.MonkeyPatch) -> Boards:
    """Reduce every street to 24 boards, spread over the real ones, and return them."""
    boards = {n: canonical_boards(n)[:: NUM_BOARDS[n] // FEW][:FEW] for n in (3, 4, 5)}
    monkeypatch.setattr(methods, "canonical_boards", lambda n: boards[n])
    monkeypatch.setattr(methods, "board_multiplicities", lambda n: np.ones(FEW, dtype=np.int64))
    return boards


def quiet(what: str, done: int, total: int) -> None:
    assert what
    assert 0 <= done <= total


def strength_of(boards: NDArray[np.uint8]) -> NDArray[np.float64]:
    """[24, 1326] E[HS] on `boards`, NaN where blocked."""
    rows = []
    for board in boards.tolist():
        rows.append(np.where(HOLDEM.live(board), hand_features(board).ehs, np.nan))
    return np.array(rows)


@pytest.mark.slow
@pytest.mark.parametrize("street", [TURN, RIVER])
def test_buckets_by_vectors(few_boards: Boards, street: int) -> None:
    """All buckets occur, ascend with strength, and tell most of it; a second run gives the same table."""
    made = TINY.build(street, {}, Building(3, quiet))
    assert made.num_buckets == (TINY.turn if street == TURN else TINY.river)
    ehs = strength_of(few_boards[BOARD_SIZES[street]])
    live = ~np.isnan(ehs)
    means = [ehs[live & (made.table == b)].mean() for b in range(made.num_buckets)]
    assert np.corrcoef(means, np.arange(made.num_buckets))[0, 1] > 0.95
    within = np.mean((ehs - np.array(means)[made.table])[live] ** 2)
    assert within < 0.05 * np.var(ehs[live])
    assert np.array_equal(TINY.build(street, {}, Building(3, quiet)).table, made.table)
    assert not np.array_equal(TINY.build(street, {}, Building(4, quiet)).table, made.table)


@pytest.mark.slow
def test_flop_buckets_are_potential_aware(few_boards: Boards) -> None:
    """On top of turn buckets by E[HS]: flop buckets ascend with strength and part hands of equal E[HS] by potential."""
    rng = np.random.default_rng(0)
    vectors = np.sort(rng.integers(0, 500, (10, 20)), axis=0).astype(np.int16)
    turn = StreetTable(rng.integers(0, 10, (NUM_BOARDS[4], NUM_HANDS), dtype=np.uint8), 10, vectors)
    made = TINY.build(FLOP, {TURN: turn}, Building(0, quiet))
    assert set(np.unique(made.table)) == set(range(8))
    boards = few_boards[3]
    lists = clustering.turn_bucket_lists(boards, turn.table.astype(np.uint16))
    means = lists.mean(axis=2)
    live = np.array([HOLDEM.live(b) for b in boards.tolist()])
    by_bucket = [means[(made.table == b)[live].reshape(means.shape)].mean() for b in range(8)]
    assert np.corrcoef(by_bucket, np.arange(8))[0, 1] > 0.9


def test_turn_lists_are_the_turn_buckets() -> None:
    rng = np.random.default_rng(2)
    table = rng.integers(0, 500, (NUM_BOARDS[4], NUM_HANDS), dtype=np.uint16)
    cards = make_abstraction(
        [PREFLOP_CLASS[None], np.zeros((NUM_BOARDS[3], NUM_HANDS), np.uint8), table], [169, 1, 500]
    )
    board = parse_cards("7h2d9h")
    lists = clustering.turn_bucket_lists(np.array([board], dtype=np.uint8), table)[0]
    turns = np.array([cards.buckets((*board, c)) for c in range(52) if c not in board])
    live = np.flatnonzero(HOLDEM.live(board))
    for row, hand in zip(lists[::50], live[::50], strict=True):
        assert row.tolist() == sorted(b for b in turns[:, hand].tolist() if b >= 0)


@pytest.mark.parametrize("text", ["QcQd5s5hJc", "2h7hJhKhAc", "9c8d7h2s2c"])
def test_equities_against_clusters(text: str) -> None:
    """Each cluster's equity against a loop over its hands; one cluster is plain hand strength."""
    board = parse_cards(text)
    row, live = np.array([board], dtype=np.uint8), HOLDEM.live(board)
    clusters = methods.opponent_clusters(4)
    equities = strength.boards_equity_against(row, clusters, 4, 8000)[0]
    ranks = rank_board_hands(row[0])
    for position in range(0, 1081, 90):
        hand = np.flatnonzero(live)[position]
        for c in range(4):
            others = ranks[live & HOLDEM.disjoint[hand] & (clusters == c)]
            expected = np.mean(0.5 + 0.5 * np.sign(ranks[hand] - others))
            assert equities[position, c] == pytest.approx(8000 * expected, abs=0.51)
    one = strength.boards_equity_against(row, np.zeros(NUM_HANDS, np.int8), 1, 32767)[0, :, 0]
    assert np.allclose(one / 32767, river_counts(board)[live] / FULL, atol=1e-4)


def test_opponent_clusters_are_equal_and_ordered() -> None:
    clusters, ehs = methods.opponent_clusters(6), hand_features(()).ehs
    assert np.bincount(clusters).tolist() == [221] * 6
    assert all(ehs[clusters == c].max() <= ehs[clusters == c + 1].min() for c in range(5))


@pytest.mark.slow
@pytest.mark.parametrize("street", [FLOP, TURN, RIVER])
def test_grid_of_expected_squares(few_boards: Boards, street: int) -> None:
    grid = ExpectedSquareGrid(flop=1000, turn=500, river=200)
    made = grid.build(street, {}, Building(0, quiet))
    for row, board in zip(made.table, few_boards[BOARD_SIZES[street]].tolist(), strict=True):
        live, squares = HOLDEM.live(board), hand_features(board).ehs2
        expected = np.minimum(np.floor(squares * made.num_buckets + 1e-9), made.num_buckets - 1)
        assert np.array_equal(row[live], expected[live])


def test_grid_of_strength_on_the_flop(few_boards: Boards) -> None:
    made = FlopStrengthGrid(flop=50).build(FLOP, {}, Building(0, quiet))
    for row, board in zip(made.table, few_boards[3].tolist(), strict=True):
        live = HOLDEM.live(board)
        expected = np.minimum(np.floor(hand_features(board).hs * 50 + 1e-9), 49)
        assert np.array_equal(row[live], expected[live])


def test_preflop_is_lossless() -> None:
    for method in (TINY, ExpectedSquareGrid(flop=2, turn=2, river=2), FlopStrengthGrid(flop=2)):
        made = method.build(PREFLOP, {}, Building(0, quiet))
        assert made.num_buckets == 169
        assert np.array_equal(made.table[0], PREFLOP_CLASS)


@pytest.mark.parametrize(("change", "name"), [({"flop": 0}, "flop"), ({"sample": 5}, "sample"), ({"bins": 1}, "bins")])
def test_impossible_settings_are_named(change: dict[str, int], name: str) -> None:
    settings = {key: value for key, value in TINY.settings.items() if key != "name"}
    with pytest.raises(PokernetsError, match=rf"abstraction\.{name} must be"):
        PotentialAware(**{**settings, **change})


def test_predicted_cost_grows_with_the_buckets(few_boards: Boards, monkeypatch: pytest.MonkeyPatch) -> None:
    """Replace the clock with a count of distances: 40 times the buckets compute 40 times as many."""
    distances = 0
    assign = VectorPoints.assign

    def counted(points: VectorPoints, centers: NDArray[np.int16]) -> tuple[NDArray[np.int32], NDArray[np.float32]]:
        nonlocal distances
        distances += len(points.vectors) * len(centers)
        return assign(points, centers)

    monkeypatch.setattr(VectorPoints, "assign", counted)
    monkeypatch.setattr(methods, "time", SimpleNamespace(process_time=lambda: distances))
    larger = replace(TINY, turn=40 * TINY.turn, river=40 * TINY.river)
    for street in (TURN, RIVER):
        assert TINY.cpu_seconds(street) > 0
        assert larger.cpu_seconds(street) == pytest.approx(40 * TINY.cpu_seconds(street))


def test_predicted_cost_matches_the_measured_one(few_boards: Boards) -> None:
    assert TINY.cpu_seconds(PREFLOP) == 0.0
    assert ExpectedSquareGrid(flop=6, turn=5, river=4).cpu_seconds(RIVER) > 0.0


def test_labels_reach_their_hands() -> None:
    labels = np.arange(1, 64 * 1176 + 1, dtype=np.int32)
    start, rows = methods._assign(FLOP, np.uint32, lambda boards: labels, 64)
    assert start == 64
    for row, board, expected in zip(rows, canonical_boards(3)[64:], labels.reshape(64, -1), strict=False):
        assert np.array_equal(row[HOLDEM.live(board)], expected)
        assert not row[~HOLDEM.live(board)].any()
