"""Deals against cards drawn again with the same generator, and against the chances of the game."""

from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from poker.abstraction.buckets import BOARD_SIZES, CardAbstraction, SmallGameBuckets, make_abstraction
from poker.abstraction.dealers import HoldemDealer, SmallGameDealer, dealer_of
from poker.abstraction.loading import game_cards
from poker.game.cards import HOLDEM, NUM_HANDS, PREFLOP_CLASS, PREFLOP_CLASS_SIZE, CardError, hand_index
from poker.game.rules import Rules
from poker.kernels.cards.hands import HAND_PERMUTATION
from poker.kernels.cards.isomorphism import NUM_BOARDS, canonical_board
from poker.kernels.cards.ranks import rank_board_hands
from poker.kernels.rng import streams
from poker.kernels.sampling.deals import draw_cards
from poker.run.errors import PokernetsError
from tests.games import load_rules
from tests.random_play import nolimit

KUHN, LEDUC = load_rules("kuhn"), load_rules("leduc")
TWICE: dict[str, Any] = {"raise_sizes": (2,) * 3, "max_raises": (2,) * 3, "first_player": (0,) * 3}
THREE_STREETS = replace(LEDUC, num_ranks=4, num_suits=3, board_cards=(0, 2, 1), **TWICE)


def holdem(num_players: int = 2, num_streets: int = 4) -> Rules:
    rules = nolimit((20000,) * num_players)
    by_street = ("first_player", "board_cards", "max_raises")
    return replace(rules, **{name: getattr(rules, name)[:num_streets] for name in by_street})


@pytest.fixture(scope="module")
def cards() -> CardAbstraction:
    """Preflop classes, then random numbers: any mistake in a look-up shows."""
    rng = np.random.default_rng(0)
    shapes = [(NUM_BOARDS[n], NUM_HANDS) for n in BOARD_SIZES[1:]]
    tables = [rng.integers(0, 200, shape, dtype=np.uint8) for shape in shapes]
    return make_abstraction([PREFLOP_CLASS[None], *tables], [169, 200, 200, 200])


def drawn(seed: int, n: int, size: int, deck: int) -> NDArray[np.uint8]:
    """The cards of `n` deals, as the dealers draw them."""
    rng, out = streams(seed, 1)[0], np.empty((n, size), dtype=np.uint8)
    for row in out:
        draw_cards(rng, deck, 0, row)
    return out


@pytest.mark.parametrize(("num_players", "num_streets"), [(2, 4), (3, 4), (2, 2)])
def test_holdem_deals_are_the_buckets_of_their_cards(
    cards: CardAbstraction, num_players: int, num_streets: int
) -> None:
    dealer = dealer_of(holdem(num_players, num_streets), cards)
    deals = dealer.deal(streams(3, 1)[0], 150)
    size = 2 * num_players + BOARD_SIZES[num_streets - 1]
    for i, row in enumerate(drawn(3, 150, size, 52)):
        assert len(set(row.tolist())) == size
        board = row[2 * num_players :]
        hands = [hand_index(int(row[2 * p]), int(row[2 * p + 1])) for p in range(num_players)]
        assert deals.ranks[i].tolist() == rank_board_hands(board)[hands].tolist()
        for street in range(num_streets):
            expected = cards.buckets(board[: BOARD_SIZES[street]].tolist())
            assert deals.buckets[i, :, street].tolist() == expected[hands].tolist()


def test_holdem_deals_have_the_chances_of_the_game(cards: CardAbstraction) -> None:
    """Preflop classes by chi-square (168 degrees of freedom, mean + 5 sigma) and the win rate of aces (4 sigma)."""
    n = 200_000
    deals = HoldemDealer(holdem(), cards).deal(streams(1, 1)[0], n)
    for p in range(2):
        expected = n * PREFLOP_CLASS_SIZE / NUM_HANDS
        chi2 = ((np.bincount(deals.buckets[:, p, 0], minlength=169) - expected) ** 2 / expected).sum()
        assert chi2 < 168 + 5 * np.sqrt(2 * 168)
    aces = deals.buckets[:, 0, 0] == 12 * 13 + 12
    score = 0.5 + 0.5 * np.sign(deals.ranks[aces, 0] - deals.ranks[aces, 1])
    assert score.mean() == pytest.approx(0.852, abs=4 * 0.355 / np.sqrt(aces.sum()))


def test_buckets_do_not_depend_on_the_order_of_the_board(cards: CardAbstraction) -> None:
    for table, board in zip(cards.tables, ((), (3, 50, 7), (3, 50, 7, 8), (3, 50, 7, 8, 20)), strict=True):
        every = cards.buckets(board)
        index, renaming = canonical_board(np.array(board, dtype=np.uint8))
        expected = table[index, HAND_PERMUTATION[renaming]].astype(int)
        np.testing.assert_array_equal(every, np.where(HOLDEM.live(board), expected, -1))
        assert (every == -1).sum() == NUM_HANDS - (52 - len(board)) * (51 - len(board)) // 2


def test_a_stored_abstraction_is_the_same(cards: CardAbstraction, tmp_path_factory: pytest.TempPathFactory) -> None:
    path = tmp_path_factory.mktemp("abstraction") / "a"
    short = make_abstraction(cards.tables[:2], cards.num_buckets[:2])
    stored = short.save(path, {"seed": 1})
    loaded = CardAbstraction.load(path, {"seed": 1})
    assert loaded.fingerprint == stored.fingerprint != short.fingerprint
    assert loaded.num_buckets == (169, 200)
    assert np.array_equal(loaded.buckets((1, 2, 3)), cards.buckets((1, 2, 3)))
    with pytest.raises(PokernetsError, match="seed"):
        CardAbstraction.load(path, {"seed": 2})
    with pytest.raises(CardError, match="not 4"):
        loaded.buckets((1, 2, 3, 4))
    cut = game_cards(holdem(2, 2), path)
    assert cut.fingerprint == stored.fingerprint
    with pytest.raises(PokernetsError, match="2 streets"):
        game_cards(holdem(), path)


@pytest.mark.parametrize("rules", [KUHN, LEDUC, THREE_STREETS])
def test_small_deals_are_lossless(rules: Rules) -> None:
    """Buckets of the cards drawn, and a showdown that pairs beat high cards."""
    buckets, dealer = SmallGameBuckets(rules), SmallGameDealer(rules)
    deals = dealer.deal(streams(9, 1)[0], 300)
    for i, row in enumerate(drawn(9, 300, 2 + rules.total_board_cards, rules.deck_size)):
        board = tuple(row[2:].tolist())
        for street, size in enumerate(rules.board_sizes):
            expected = buckets.buckets(board[:size])[row[:2]]
            assert deals.buckets[i, :, street].tolist() == expected.tolist()
            assert expected.max() < buckets.num_buckets[street]
        own, other = (row[:2] // rules.num_suits).tolist()
        if len(board) == 1:
            paired = board[0] // rules.num_suits
            own, other = own + 10 * (own == paired), other + 10 * (other == paired)
        if len(board) < 2:
            assert np.sign(deals.ranks[i, 0] - deals.ranks[i, 1]) == np.sign(own - other)


def test_small_games_have_as_many_buckets_as_published() -> None:
    assert SmallGameBuckets(KUHN).num_buckets == (3,)
    assert SmallGameBuckets(LEDUC).num_buckets == (3, 9)
    assert SmallGameBuckets(LEDUC).buckets((5,))[4:].tolist() == [2 + 3 * 2, -1]
    assert isinstance(dealer_of(LEDUC, game_cards(LEDUC, "nowhere")), SmallGameDealer)


def test_error_names_the_missing_abstraction() -> None:
    with pytest.raises(PokernetsError, match="job=abstraction"):
        SmallGameBuckets(holdem())
