import numpy as np
import pytest

from poker import cards
from poker.kernels.cards.isomorphism import SuitIndexer


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
    live = cards.live_hands((0, 1, 2))
    assert live.sum() == 49 * 48 // 2
    assert not live[cards.hand_index(2, 30)]


def test_preflop_classes() -> None:
    assert sorted(set(cards.PREFLOP_CLASS.tolist())) == list(range(169))
    assert sorted(set(cards.PREFLOP_CLASS_SIZE.tolist())) == [4, 6, 12]
    texts = [cards.class_text(c) for c in range(169)]
    assert len(set(texts)) == 169
    for text, hand in [("AKs", "AhKh"), ("AKo", "AhKd"), ("22", "2c2d"), ("72o", "7c2d"), ("T9s", "9sTs")]:
        a, b = cards.parse_cards(hand)
        assert cards.class_text(int(cards.PREFLOP_CLASS[cards.hand_index(a, b)])) == text


def test_preflop_classes_are_the_suit_isomorphism() -> None:
    index = SuitIndexer((2,)).index(np.ascontiguousarray(cards.HAND_CARDS))
    assert len(set(zip(index.tolist(), cards.PREFLOP_CLASS.tolist(), strict=True))) == 169
