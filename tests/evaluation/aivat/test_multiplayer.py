"""AIVAT for three players: exact means over every hand of a small game, check-downs of hold'em."""

import math
from dataclasses import dataclass

import numpy as np
import pytest

from poker.evaluation.aivat.multiplayer import CheckDownHands, MultiAivat
from poker.game.betting import Betting
from poker.game.rules import Rules
from poker.game.state import HandState
from tests.evaluation.small_games import RandomPolicy, all_hands
from tests.games import load_rules
from tests.random_play import nolimit

THREE = Rules(
    name="three",
    num_players=3,
    betting="limit",
    blinds=(1, 2, 0),
    stacks=(9, 3, 9),
    raise_sizes=(2, 3),
    max_raises=(1, 1),
    first_player=(2, 0),
    num_suits=1,
    num_ranks=5,
    num_hole_cards=1,
    board_cards=(0, 1),
)
"""Three players, one of them short, five cards."""


@dataclass
class Wrong(CheckDownHands):
    """Numbers that have nothing to do with the game, but for their means."""

    rules: Rules

    def values(self, betting: Betting, board: tuple[int, ...], hands: tuple[tuple[int, ...], ...]) -> np.ndarray:
        key = f"{betting.text()}|{betting.street}|{board}|{hands}"
        return np.random.default_rng(list(key.encode())).normal(0.0, 3.0, self.rules.num_players)

    def before_board(self, betting: Betting, board: tuple[int, ...], hands: tuple[tuple[int, ...], ...]) -> np.ndarray:
        free = set(range(self.rules.deck_size)) - {hand[0] for hand in hands}
        mean: np.ndarray = np.mean([self.values(betting, (card,), hands) for card in free], axis=0)
        return mean

    def before_deal(self, betting: Betting) -> np.ndarray:
        deals = {tuple(state.hole_cards) for state, _ in HANDS}
        mean: np.ndarray = np.mean([self.values(betting, (), hands) for hands in deals], axis=0)
        return mean


POLICIES = [RandomPolicy(THREE, seed, pure=0.7) for seed in range(3)]
HANDS = list(all_hands(THREE, POLICIES))


@pytest.mark.parametrize("have_policy", [(True, True, True), (True, False, False)])
@pytest.mark.parametrize("values", [Wrong(THREE), CheckDownHands()])
def test_unbiased(have_policy: tuple[bool, ...], values: CheckDownHands) -> None:
    aivat = MultiAivat(THREE, values)
    functions = [policy.policy if flag else None for policy, flag in zip(POLICIES, have_policy, strict=True)]
    estimates = [aivat.estimate(state, functions) for state, _ in HANDS]
    chances = [chance for _, chance in HANDS]
    for player in range(3):
        mean = math.fsum(chance * row[player] for chance, row in zip(chances, estimates, strict=True))
        value = math.fsum(chance * state.payoffs()[player] for state, chance in HANDS)
        assert mean == pytest.approx(value, abs=1e-9)


def test_check_down_reduces_variance() -> None:
    aivat = MultiAivat(THREE, CheckDownHands())
    policies = [policy.policy for policy in POLICIES]
    chances = np.array([chance for _, chance in HANDS])

    def variance(rows: list[np.ndarray] | list[list[int]]) -> np.ndarray:
        table = np.array(rows, dtype=float)
        variances: np.ndarray = chances @ table**2 - (chances @ table) ** 2
        return variances

    reduced = variance([aivat.estimate(state, policies) for state, _ in HANDS])
    assert (reduced < 0.75 * variance([state.payoffs() for state, _ in HANDS])).all()


def test_check_down_of_holdem_counts_side_pots() -> None:
    rules = nolimit((1000, 400, 1000))
    hands = [rules.parse_cards(text) for text in ("AhAd", "KhKd", "7c2s")]
    board = rules.parse_cards("AcAs9h3d5s")
    state = HandState.start(rules, hands, board)
    for action in (1000, 0, 0):
        state = state.apply(action)
    chips = CheckDownHands().values(state.betting, board, state.hole_cards)
    assert chips.tolist() == state.payoffs() == [1400, -400, -1000]


def test_preflop_check_down_is_the_mean_over_flops() -> None:
    rules = load_rules("holdem_limit_3p")
    hands = tuple(rules.parse_cards(text) for text in ("AhAd", "KhKd", "7c2s"))
    betting = Betting.start(rules)
    values = CheckDownHands().values(betting, (), hands)
    free = [card for card in range(52) if card not in {c for hand in hands for c in hand}]
    rng = np.random.default_rng(5)
    flops = [tuple(rng.choice(free, 3, replace=False).tolist()) for _ in range(300)]
    sampled = np.array([CheckDownHands().values(betting, flop, hands) for flop in flops])
    error = sampled.std(axis=0) / math.sqrt(len(flops))
    assert values.sum() == pytest.approx(0.0, abs=1e-9)
    assert (np.abs(sampled.mean(axis=0) - values) < 4 * error).all()
