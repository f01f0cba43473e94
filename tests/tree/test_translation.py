"""Pseudo-harmonic translation against the published vectors (tests/golden/oracles.json)."""

import json
from pathlib import Path

import pytest

from poker.rules import CALL, FOLD
from poker.tree.translation import pseudo_harmonic, translate

VECTORS = json.loads((Path(__file__).parents[1] / "golden" / "oracles.json").read_text())["pseudo_harmonic"]["vectors"]


@pytest.mark.parametrize("vector", VECTORS)
def test_published_vectors(vector: dict[str, float]) -> None:
    assert pseudo_harmonic(vector["A"], vector["B"], vector["x"]) == pytest.approx(vector["P_A"], abs=1e-12)


def test_bets_between_below_and_above_the_tree() -> None:
    actions = (FOLD, CALL, 150, 200)
    # highest total 100, pot 100: the tree bets 0.5 and 1 pot
    between = translate(175, actions, 100, 100)
    assert [action for action, _ in between] == [150, 200]
    assert [share for _, share in between] == pytest.approx([3 / 7, 4 / 7])
    action, share = translate(137, actions, 100, 100)[0]
    assert action == CALL
    assert share == pytest.approx(0.18978, abs=1e-5)
    assert translate(900, actions, 100, 100) == [(200, 1.0)]
    assert translate(150, actions, 100, 100) == [(150, 1.0)]
    assert translate(150, (FOLD, CALL), 100, 100) == [(CALL, 1.0)]
