"""Every feature against a reference that enumerates opponents and boards; published equities; equities of ranges."""

import itertools
from collections import defaultdict

import numpy as np
import pytest
from numpy.typing import NDArray

from poker.abstraction import features
from poker.abstraction.equities import margins, showdown_totals
from poker.game.cards import HAND_CARDS, HOLDEM, NUM_HANDS, CardError, hand_index, parse_cards
from poker.kernels.cards import strength
from poker.kernels.cards.hands import CARD_PERMUTATION, HAND_PERMUTATION
from poker.kernels.cards.ranks import rank_hands
from tests.abstraction.strengths import FULL, river_counts, turn_distribution
from tests.cases import table
from tests.games import HEADS_UP as RULES

BOARDS = table(__file__, "BOARDS")
HANDS = ["QhJh", "7d7s", "3c2c", "AsAd", "Qs5c", "6h5h"]


def brute_force(
    board: tuple[int, ...], hand: tuple[int, ...], weights: NDArray[np.floating] | None = None
) -> dict[str, float]:
    """All features of one hand, by enumeration of opponents and of boards to come, after the text of [POKI].

    With weights [H] of the opponents only `hs`, `ppot` and `npot`, counted deal by deal as in its figure 3.
    """
    deck = [c for c in range(52) if c not in board and c not in hand]
    outcomes: defaultdict[tuple[int, int], float] = defaultdict(float)
    strengths: dict[tuple[int, ...], list[int]] = {}
    for opponent in itertools.combinations(deck, 2):
        weight = 1.0 if weights is None else float(weights[hand_index(*opponent)])
        if not weight:
            continue
        now = _compare([(*hand, *board)], [(*opponent, *board)])[0]
        rest = [c for c in deck if c not in opponent]
        runouts = list(itertools.combinations(rest, 5 - len(board)))
        then = _compare([(*hand, *board, *r) for r in runouts], [(*opponent, *board, *r) for r in runouts])
        for runout, result in zip(runouts, then.tolist(), strict=True):
            outcomes[int(now), result] += weight
            strengths.setdefault(runout, []).append(result)
    total = {n: sum(v for (a, _), v in outcomes.items() if a == n) for n in (-1, 0, 1)}
    hs = [0.5 + 0.5 * sum(results) / len(results) for results in strengths.values()]
    up = outcomes[-1, 1] + outcomes[-1, 0] / 2 + outcomes[0, 1] / 2
    down = outcomes[1, -1] + outcomes[1, 0] / 2 + outcomes[0, -1] / 2
    counted = {
        "hs": (total[1] + total[0] / 2) / sum(total.values()),
        "ppot": up / (total[-1] + total[0] / 2 or 1),
        "npot": down / (total[1] + total[0] / 2 or 1),
    }
    if weights is None:
        counted |= {"ehs": float(np.mean(hs)), "ehs2": float(np.mean(np.square(hs)))}
    return counted


def _compare(own: list[tuple[int, ...]], other: list[tuple[int, ...]]) -> NDArray[np.int64]:
    lead = rank_hands(np.array(own, np.uint8)) - rank_hands(np.array(other, np.uint8))
    signs: NDArray[np.int64] = np.sign(lead).astype(np.int64)
    return signs


@pytest.mark.parametrize("name", BOARDS)
def test_features_match_enumeration(name: str) -> None:
    board = parse_cards(BOARDS[name])
    result = features.hand_features(board)
    hands = [h for h in map(parse_cards, HANDS) if not set(h) & set(board)]
    assert len(hands) >= 3
    for hand in hands[: 2 if len(board) == 3 else None]:
        index = hand_index(*hand)
        for field, value in brute_force(board, hand).items():
            assert getattr(result, field)[index] == pytest.approx(value, abs=1e-12), (field, hand)


@pytest.mark.parametrize("name", BOARDS)
def test_equity_matrix(name: str) -> None:
    """Pairs sum to one; averaged over opponents the matrix is E[HS]; entries match enumeration."""
    board = parse_cards(BOARDS[name])
    equity, live = features.all_in_equity(board), HOLDEM.live(board)
    valid = HOLDEM.disjoint & live & live[:, None]
    assert np.allclose((equity + equity.T)[valid], 1, atol=1e-6)
    assert (equity[~valid] == 0).all()
    opponents = valid.sum(axis=1)
    means = equity.sum(axis=1, dtype=np.float64)[live] / opponents[live]
    assert np.allclose(means, features.hand_features(board).ehs[live], atol=1e-6)
    one, two = (h for h in map(parse_cards, HANDS[:2]))
    deck = [c for c in range(52) if c not in (*board, *one, *two)]
    runouts = list(itertools.combinations(deck, 5 - len(board)))
    results = _compare([(*one, *board, *r) for r in runouts], [(*two, *board, *r) for r in runouts])
    if not set(one + two) & set(board):
        assert equity[hand_index(*one), hand_index(*two)] == pytest.approx(0.5 + results.mean() / 2, abs=1e-6)


def test_ahead_now_is_hand_strength() -> None:
    board = parse_cards(BOARDS["flop"])
    ahead, live = features.ahead_now(board), HOLDEM.live(board)
    assert set(np.unique(ahead).tolist()) == {0.0, 0.5, 1.0}
    assert np.allclose(ahead.sum(axis=1)[live] / 1081, features.hand_features(board).hs[live], atol=1e-6)


def test_turn_kernel_accumulates_the_same_distribution() -> None:
    board = parse_cards(BOARDS["turn"])
    counts = strength.boards_distribution(np.array([board], dtype=np.uint8), 40)[0]
    expected = turn_distribution(board, 40)[HOLDEM.live(board)].cumsum(axis=1)
    assert np.allclose(counts / 46, expected)


def test_batches_equal_single_boards() -> None:
    boards = np.array([parse_cards("AhKh7c"), parse_cards("9c9d2s")], dtype=np.uint8)
    moments = strength.boards_moments(boards)
    for row, board in zip(moments, boards, strict=True):
        result = features.hand_features(board.tolist())
        assert np.allclose(row[0] / (1980 * 1081), result.ehs, atol=1e-12)
        assert np.allclose(row[1] / (1980**2 * 1081), result.ehs2, atol=1e-12)


def test_river_strength_is_hand_strength() -> None:
    board = parse_cards(BOARDS["river"])
    assert np.array_equal(river_counts(board) / FULL, features.hand_features(board).hs)


def test_features_follow_suit_permutations() -> None:
    board = np.array(parse_cards(BOARDS["turn"]))
    base = features.hand_features(board.tolist())
    for permutation in (5, 17):
        image = features.hand_features(CARD_PERMUTATION[permutation, board].tolist())
        for field in ("hs", "ehs", "ehs2", "ppot", "npot"):
            assert np.array_equal(getattr(image, field)[HAND_PERMUTATION[permutation]], getattr(base, field))


def test_preflop_equities_are_the_published_ones() -> None:
    result, equity = features.hand_features(()), features.all_in_equity(())
    aces, kings = hand_index(*parse_cards("AhAd")), hand_index(*parse_cards("KcKs"))
    assert result.ehs[aces] == pytest.approx(0.852, abs=5e-4)
    assert result.ehs[kings] == pytest.approx(0.824, abs=5e-4)
    assert equity[aces, kings] == pytest.approx(0.8126, abs=1e-4)
    assert np.allclose(equity.sum(axis=1, dtype=np.float64) / 1225, result.ehs, atol=1e-6)
    assert (result.ehs2 >= result.ehs**2).all()
    assert np.mean(result.ehs) == pytest.approx(0.5, abs=1e-12)


def test_preflop_wins_match_sampled_boards() -> None:
    """4 sigma on 40,000 boards for one pair of hands."""
    one, two = parse_cards("AhKd"), parse_cards("2c2s")
    deck = np.array([c for c in range(52) if c not in one + two])
    rng = np.random.default_rng(0)
    boards = deck[np.argsort(rng.random((40_000, 48)), axis=1)[:, :5]]
    rows = [np.concatenate([np.tile(hand, (len(boards), 1)), boards], axis=1).astype(np.uint8) for hand in (one, two)]
    sampled = 0.5 + 0.5 * np.sign(rank_hands(rows[0]) - rank_hands(rows[1])).mean()
    assert features.all_in_equity(())[hand_index(*one), hand_index(*two)] == pytest.approx(sampled, abs=4 * 0.5 / 200)


@pytest.mark.parametrize("board", [(1,), (1, 1, 2), (1, 2, 60)])
def test_impossible_boards_are_refused(board: tuple[int, ...]) -> None:
    with pytest.raises(CardError, match="different cards"):
        features.hand_features(board)


def test_results_are_read_only() -> None:
    result = features.hand_features(parse_cards(BOARDS["river"]))
    with pytest.raises(ValueError, match="read-only"):
        result.hs[0] = 1
    assert result.hs.shape == (NUM_HANDS,)
    assert HAND_CARDS.shape == (NUM_HANDS, 2)


@pytest.mark.slow
def test_stored_preflop_counts_equal_the_kernels() -> None:
    counts = features._preflop_counts()
    assert np.array_equal(counts.wins, features.preflop_wins())
    assert np.array_equal(counts.moments, features.preflop_moments())


RANGE_BOARDS = ["", "AhKd2c", "7s7d7h", "AhKd2c2s", "AhKd2c2s9h"]


@pytest.mark.parametrize("text", RANGE_BOARDS)
def test_few_hands_against_many(text: str) -> None:
    board = parse_cards(text)
    rng = np.random.default_rng(1)
    many = rng.random(1326) * HOLDEM.live(board)
    few = np.zeros((3, 1326))
    for row, hands in enumerate((["AsAd"], ["AsAd", "3c4d", "2d2h"], ["AhQh"])):  # the last one holds the ace of hearts
        for hand in hands:
            few[row, hand_index(*parse_cards(hand))] = rng.random()
    matrix = margins(RULES, board).astype(np.float64)
    expected = few @ matrix @ many
    assert np.count_nonzero(expected) > 1
    np.testing.assert_allclose(showdown_totals(RULES, board, few, many), expected, atol=1e-4)
    for held in few:
        [back] = showdown_totals(RULES, board, many[None], held)
        assert back == pytest.approx(-(held @ matrix @ many), abs=1e-4)
    [duel] = showdown_totals(RULES, board, few[:1], few[1])
    assert duel == pytest.approx(few[0] @ matrix @ few[1], abs=1e-6)


def test_few_hands_share_cards() -> None:
    """Hands that share a card never meet."""
    board = parse_cards("KhKd2c")
    aces, other = np.zeros((2, 1326))
    aces[hand_index(*parse_cards("AsAd"))] = other[hand_index(*parse_cards("AsQd"))] = 1.0
    assert showdown_totals(RULES, board, aces[None], other) == [0.0]


@pytest.mark.parametrize("text", RANGE_BOARDS)
def test_all_hands_alike_against_many(text: str) -> None:
    board = parse_cards(text)
    rng = np.random.default_rng(2)
    live = HOLDEM.live(board).astype(np.float64)
    many, alike = rng.random((3, 1326)) * live, 0.3 * live
    expected = many @ margins(RULES, board).astype(np.float64) @ alike
    assert np.ptp(expected) > 0.1
    np.testing.assert_allclose(showdown_totals(RULES, board, many, alike), expected, rtol=1e-4, atol=1e-3)
    [back] = showdown_totals(RULES, board, alike[None], many[0])
    assert back == pytest.approx(-expected[0], rel=1e-4, abs=1e-3)
