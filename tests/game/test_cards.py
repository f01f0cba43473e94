import itertools

import numpy as np
import pytest

from poker.game import cards
from poker.kernels.cards.hands import CARD_PERMUTATION, HAND_PERMUTATION


def test_text_round_trip() -> None:
    assert cards.parse_cards("AhKd 2c") == (50, 45, 0)
    assert cards.cards_text(range(52))[:8] == "2c2d2h2s"
    assert cards.parse_cards(cards.cards_text(range(52))) == tuple(range(52))


@pytest.mark.parametrize("text", ["Ax", "1c", "A", "AhK", "Ahh", "AhAh"])
def test_bad_text_is_named(text: str) -> None:
    with pytest.raises(cards.CardError, match=r"card"):
        cards.parse_cards(text)


def test_hand_indices_are_dense_and_ordered() -> None:
    indices = [cards.hand_index(int(b), int(a)) for a, b in cards.HAND_CARDS]
    assert indices == list(range(1326))
    assert cards.hand_text(1325) == "AsAh"
    with pytest.raises(cards.CardError):
        cards.hand_index(3, 3)


def test_masks_and_live_hands() -> None:
    assert cards.card_mask((0, 51)) == 1 | 1 << 51
    live = cards.HOLDEM.live((0, 1, 2))
    assert live.sum() == 49 * 48 // 2
    assert not live[cards.hand_index(2, 30)]


@pytest.mark.parametrize(("size", "hole"), [(3, 1), (6, 1), (8, 2)])
def test_card_space_by_enumeration(size: int, hole: int) -> None:
    space = cards.card_space(size, hole)
    hands = sorted(itertools.combinations(range(size), hole), key=lambda hand: hand[::-1])
    assert [tuple(hand) for hand in space.hand_cards.tolist()] == hands
    board, weights = (1, size - 1), np.random.default_rng(1).random(len(hands))
    for h, hand in enumerate(hands):
        apart = [not set(hand) & set(other) for other in hands]
        assert space.masks[h] == cards.card_mask(hand)
        assert space.live(board)[h] == (not set(hand) & set(board))
        assert space.disjoint[h].tolist() == apart
        assert space.possible(board)[h].tolist() == [
            two and not {*hand, *other} & set(board) for two, other in zip(apart, hands, strict=True)
        ]
        assert space.compatible_mass(weights)[h] == pytest.approx(weights[apart].sum())


def test_bayes_rule() -> None:
    updated = cards.updated_range(np.array([0.5, 0.25, 0.25], dtype=np.float32), np.array([0.2, 0.0, 0.4]))
    assert updated is not None
    np.testing.assert_allclose(updated, [0.5, 0.0, 0.5])
    assert cards.updated_range(np.array([1.0, 0.0]), np.array([0.0, 1.0])) is None


def test_preflop_classes() -> None:
    assert sorted(set(cards.PREFLOP_CLASS.tolist())) == list(range(169))
    assert sorted(set(cards.PREFLOP_CLASS_SIZE.tolist())) == [4, 6, 12]
    texts = [cards.class_text(c) for c in range(169)]
    assert len(set(texts)) == 169
    for text, hand in [("AKs", "AhKh"), ("AKo", "AhKd"), ("22", "2c2d"), ("72o", "7c2d"), ("T9s", "9sTs")]:
        a, b = cards.parse_cards(hand)
        assert cards.class_text(int(cards.PREFLOP_CLASS[cards.hand_index(a, b)])) == text


def test_preflop_classes_are_the_suit_isomorphism() -> None:
    first = HAND_PERMUTATION.min(axis=0)
    assert len(set(zip(first.tolist(), cards.PREFLOP_CLASS.tolist(), strict=True))) == len(set(first.tolist())) == 169


@pytest.mark.parametrize("size", [0, 3, 4, 5])
def test_flops_equal_up_to_suits_and_order_are_one_board(size: int) -> None:
    rng = np.random.default_rng(size)
    deal, weights = rng.permutation(52)[:size].tolist(), rng.random(1326)
    for suits in CARD_PERMUTATION:
        dealt = (*rng.permutation(suits[deal[:3]]).tolist(), *suits[deal[3:]].tolist())
        board = cards.CanonicalBoard.of(dealt)
        assert board.cards[:3] == cards.CanonicalBoard.of(tuple(deal[:3])).cards
        assert board.cards == (*sorted(map(board.card, dealt[:3])), *map(board.card, dealt[3:]))
        hand = cards.hand_index(*map(int, rng.permutation(52)[:2]))
        assert cards.hand_index(*map(board.card, cards.HAND_CARDS[hand].tolist())) == board.hand(hand)
        assert board.renamed(weights)[board.hand(hand)] == weights[hand]
        np.testing.assert_array_equal(board.dealt(board.renamed(weights)), weights)
