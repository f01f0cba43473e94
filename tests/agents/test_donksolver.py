"""Blueprints of donksolver at our tables: what a bundle is asked, and what its answers become."""

from typing import Any

import numpy as np
import pytest

from poker.agents.blueprint import pot_odds_policy
from poker.agents.foreign.donksolver import DonksolverAgent, load_bundle
from poker.game.betting import Betting
from poker.game.cards import HOLDEM, NUM_HANDS, hand_index, parse_cards
from poker.game.rules import CALL, FOLD
from poker.game.state import HandState
from poker.run.errors import PokernetsError
from tests.games import load_rules

SIX = load_rules("holdem_nolimit_6p")
BOARD = parse_cards("AhKd7c7s2d")
KINDS = {"fold": 0, "check": 1, "call": 2, "raise": 3, "allin": 4}


class Bundle:
    """Answers as `donksolver.Bundle` does: pairs play the first row, other hands the second."""

    players = 6

    def __init__(self, *rows: dict[tuple[str, int], float], unknown: bool = False) -> None:
        self._rows = [list(row) for row in rows]
        self._probs = [list(row.values()) for row in rows]
        self._unknown = unknown
        self.asked: list[Any] = []

    def act(self, stacks: Any, blinds: Any, hole: Any, board: Any, histories: Any, draws: Any) -> dict[str, Any]:
        self.asked.append((stacks[0].tolist(), blinds[0].tolist(), list(board[0]), histories[0]))
        bucket = (hole[:, 0] // 4 != hole[:, 1] // 4).astype(int)
        cuts = [np.cumsum(self._probs[row]) for row in bucket]
        drawn = [int(np.searchsorted(cut, draw, "right")) for cut, draw in zip(cuts, draws, strict=True)]
        taken = [self._rows[row][column] for row, column in zip(bucket, drawn, strict=True)]
        answer = {
            "kind": [KINDS[kind] for kind, _ in taken],
            "chips": [chips for _, chips in taken],
            "status": [2 if self._unknown else 1] * len(hole),
            "cls": [0] * len(hole),
            "node": [17] * len(hole),
            "bucket": bucket,
        }
        return {name: np.array(column) for name, column in answer.items()}

    def strategy(self, cls: int, node: int, bucket: int) -> tuple[list[float], list[int], list[float]]:
        assert (cls, node) == (0, 17)
        kinds = [KINDS[kind] for kind, _ in self._rows[bucket]]
        return self._probs[bucket], kinds, [0.5] * len(kinds)


def state(text: str) -> HandState:
    betting = Betting.parse(SIX, text)
    return HandState(betting, ((),) * 6, BOARD[: SIX.board_sizes[betting.street]])


def policy_of(bundle: Bundle, text: str, cards: str) -> dict[int, float]:
    actions, probs = DonksolverAgent(name="rival", bundle=bundle).policy(state(text))
    assert np.allclose(probs.sum(axis=1), 1.0)
    row = probs[hand_index(*parse_cards(cards))]
    return {action: round(float(prob), 6) for action, prob in zip(actions, row, strict=True) if prob}


def test_the_bundle_is_told_the_hand_so_far() -> None:
    bundle = Bundle({("check", 0): 1.0}, {("check", 0): 1.0})
    policy_of(bundle, "r225ffffc/cr525c/", "QsQc")
    past = [(2, 0, 225), (3, 1, 0), (4, 1, 0), (5, 1, 0), (0, 1, 0), (1, 0, 125), (1, 0, 0), (2, 0, 300), (1, 0, 300)]
    assert bundle.asked[0] == ([10_000] * 6, [50, 100], list(BOARD[:4]), past)


def test_chips_that_it_adds_become_totals() -> None:
    bundle = Bundle({("call", 125): 0.25, ("raise", 575): 0.75}, {("fold", 0): 0.5, ("allin", 9900): 0.5})
    assert policy_of(bundle, "r225ffff", "QsQc") == {CALL: 0.25, 675: 0.75}
    assert policy_of(bundle, "r225ffff", "QsJc") == {FOLD: 0.5, 10_000: 0.5}


def test_actions_are_drawn_by_the_policy() -> None:
    rows = {("call", 125): 0.25, ("raise", 575): 0.75}, {("fold", 0): 1.0}
    agent = DonksolverAgent(name="rival", bundle=Bundle(*rows))
    agent.reset(1)
    held = HandState(Betting.parse(SIX, "r225ffff"), ((), tuple(parse_cards("QsQc")), (), (), (), ()), ())
    drawn = [agent.act(held) for _ in range(400)]
    assert set(drawn) == {CALL, 675}
    assert 240 < drawn.count(675) < 360


def test_raises_are_legal_and_an_all_in_that_is_no_raise_is_a_call() -> None:
    bundle = Bundle({("raise", 130): 1.0}, {("allin", 9900): 1.0})
    assert policy_of(bundle, "r225ffff", "QsQc") == {350: 1.0}  # 255 in all is no raise
    assert policy_of(bundle, "r10000ffff", "QsJc") == {CALL: 1.0}
    assert policy_of(bundle, "r10000ffff", "QsQc") == {CALL: 1.0}


def test_where_the_bundle_has_no_node_hands_call_by_pot_odds() -> None:
    unmet = state("r225cffcc/cr500")
    actions, probs = DonksolverAgent(
        name="rival", bundle=Bundle({("check", 0): 1.0}, {("check", 0): 1.0}, unknown=True)
    ).policy(unmet)
    assert actions == (FOLD, CALL)
    assert np.array_equal(probs, pot_odds_policy(unmet.betting, unmet.board)[1])
    assert probs.shape == (NUM_HANDS, 2)
    assert 0 < probs[HOLDEM.live(unmet.board), 1].mean() < 1


@pytest.mark.parametrize("game", ["holdem_nolimit_3p", "holdem_limit_10p", "kuhn"])
def test_other_games_are_refused(game: str) -> None:
    with pytest.raises(PokernetsError, match="no-limit hold'em of 6 players"):
        DonksolverAgent(name="rival", bundle=Bundle()).check_game(load_rules(game))


def test_what_is_missing_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(__import__("sys").modules, "donksolver", None)
    with pytest.raises(PokernetsError, match="rivals"):
        load_bundle("nowhere.json")
