"""Grids of hand classes: what is drawn, and in which cell."""

import numpy as np

from poker.game.cards import NUM_HANDS, PREFLOP_CLASS, hand_index, parse_cards
from poker.report.charts import png
from poker.report.grids import class_shares, strategy_grids

SUITED = int(PREFLOP_CLASS[hand_index(*parse_cards("AsKs"))])


def test_shares_of_a_class_are_weighted() -> None:
    weights, strategy = np.zeros(NUM_HANDS), np.zeros((NUM_HANDS, 2), dtype=np.float32)
    for cards, weight, share in (("AsKs", 3.0, 1.0), ("AdKd", 1.0, 0.0)):
        weights[hand_index(*parse_cards(cards))] = weight
        strategy[hand_index(*parse_cards(cards))] = (share, 1 - share)
    shares = class_shares(weights, strategy)
    assert shares[SUITED].tolist() == [0.75, 0.25]
    assert np.isnan(np.delete(shares, SUITED, axis=0)).all()


def test_classes_stand_where_they_belong() -> None:
    """Only AKs is possible: first row, second column (suited above the diagonal)."""
    weights = np.where(PREFLOP_CLASS == SUITED, 0.5, 0.0)
    strategy = np.full((NUM_HANDS, 2), 0.5, dtype=np.float32)
    image = strategy_grids("", "ab", weights, strategy)
    cells = np.asarray(image)[52:-26, 26:-26]
    for grid in range(2):
        corners = cells[2::34, 2 + grid * 468 :: 34][:13, :13]
        assert [tuple(cell) for cell in np.argwhere((corners != 230).any(axis=2))] == [(0, 1)]
    assert png(image).startswith(b"\x89PNG")
