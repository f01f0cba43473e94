import numpy as np
import pytest

from poker.abstraction.features import hand_features
from poker.game.cards import NO_CARD, hand_index, parse_cards
from poker.opponents.inputs.held import NAMES, held_inputs, held_rows
from poker.opponents.inputs.rows import MAX_BOARD
from poker.run.errors import PokernetsError


def test_rows_have_the_inputs_of_their_own_board_whatever_its_suits() -> None:
    texts = [("", "7c2d"), ("Kh9h4c", "AhTh"), ("9h4cKh", "AsKs"), ("Ks9s4d2c", "QsJs"), ("Kh9h4c2d3s", "2c2h")]
    boards, held = ([parse_cards(each) for each in column] for column in zip(*texts, strict=True))
    columns = {
        "board": np.array([[*board, *[NO_CARD] * (MAX_BOARD - len(board))] for board in boards], np.uint8),
        "held": np.array(held, np.uint8),
    }
    inputs = held_rows(columns)
    for row, board, cards in zip(inputs, boards, held, strict=True):
        exact, hand = hand_features(board), hand_index(*cards)
        for name in ("hs", "ehs", "ehs2", "ppot", "npot"):
            assert row[NAMES.index(name)] == pytest.approx(getattr(exact, name)[hand], abs=1e-6)
    pair, suited, high, low = inputs[:, 6:].T
    assert pair.tolist() == [0, 0, 0, 0, 1]
    assert suited.tolist() == [0, 1, 1, 1, 0]
    assert (high[0] * 12, low[0] * 12) == pytest.approx((5, 0))
    aces = hand_index(*parse_cards("AcAd"))
    assert held_inputs(())[aces, NAMES.index("share_weaker")] == pytest.approx(1 - 3 / 1326)
    with pytest.raises(PokernetsError, match="reads the cards held"):
        held_rows(columns | {"held": np.full((5, 2), NO_CARD)})
