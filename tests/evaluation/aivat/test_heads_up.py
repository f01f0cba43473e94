"""AIVAT against full enumeration of Kuhn and Leduc: the mean is the true value, whatever the value function."""

import itertools
import math
from collections.abc import Callable, Sequence
from functools import cache

import numpy as np
import pytest
from numpy.typing import NDArray

from poker.abstraction.equities import margins, next_board_size
from poker.agents.base import PolicyMismatchError
from poker.agents.simple import RandomAgent
from poker.evaluation.aivat.heads_up import Aivat, ValueFunction
from poker.evaluation.aivat.value_functions import CheckDown, FoldEquity
from poker.game.betting import Betting
from poker.game.rules import CALL, Rules
from poker.game.state import HandState, Policy, public_state
from tests.evaluation.small_games import RandomPolicy, all_hands, expected_chips
from tests.games import load_rules

Board = tuple[int, ...]
Floats = NDArray[np.float64]


class PairValues:
    """Values from `table(betting, board)` -> [H, H], chips to player 0. Enumerates the next cards."""

    exact_runouts = False

    def __init__(self, rules: Rules, table: Callable[[Betting, Board], Floats]) -> None:
        self._rules = rules
        self._table = table

    def values(self, states: Sequence[Betting], board: Board, player: int, own: Floats, opponent: Floats) -> Floats:
        rows = [self._against(state, board, player, opponent) for state in states]
        total: Floats = np.einsum("ah,ah->a", own, rows)
        return total

    def values_before(self, state: Betting, board: Board, player: int, own: Floats, opponent: Floats) -> float:
        deck = [card for card in range(self._rules.deck_size) if card not in board]
        count = next_board_size(self._rules, board) - len(board)
        total = 0.0
        for cards in itertools.combinations(deck, count):
            after = (*board, *cards)
            live = self._rules.space.live(after)
            total += float(own @ (live * self._against(state, after, player, opponent * live)))
        return total / math.comb(len(deck) - 2 * self._rules.num_hole_cards, count)

    def _against(self, state: Betting, board: Board, player: int, opponent: Floats) -> Floats:
        """[H] sums over the opponent's compatible hands."""
        chips = np.where(self._rules.space.possible(board), self._table(state, board), 0.0)
        return chips @ opponent if player == 0 else -chips.T @ opponent


def wrong_values(rules: Rules) -> PairValues:
    """Numbers that have nothing to do with the game."""

    @cache
    def table(betting: Betting, board: Board) -> np.ndarray:
        rng = np.random.default_rng(list(f"{betting.text()}|{betting.street}|{board}".encode()))
        return rng.normal(0.0, 5.0, (rules.num_hands, rules.num_hands))

    return PairValues(rules, table)


def true_values(rules: Rules, policies: list[RandomPolicy]) -> PairValues:
    """Exact values of pairs of hands under both policies from here on, cards to come enumerated."""

    @cache
    def table(betting: Betting, board: Board) -> np.ndarray:
        size = rules.board_sizes[betting.street]
        if betting.is_over and not betting.is_showdown:
            sign = 1 if betting.folded[1] else -1
            return np.full((rules.num_hands, rules.num_hands), sign * min(betting.committed), dtype=float)
        if len(board) < size:
            return next_street(betting, board)
        if betting.is_over:
            return min(betting.committed) * margins(rules, board)
        player = betting.to_act
        actions, probs = policies[player].policy(public_state(betting, board))
        total = np.zeros((rules.num_hands, rules.num_hands))
        for column, action in enumerate(actions):
            weight = probs[:, column][:, None] if player == 0 else probs[:, column]
            total += weight * table(betting.apply(action), board)
        return total

    def next_street(betting: Betting, board: Board) -> np.ndarray:
        total = np.zeros((rules.num_hands, rules.num_hands))
        for card in set(range(rules.deck_size)) - set(board):
            free = (np.arange(rules.num_hands) != card).astype(float)
            total += free[:, None] * free * table(betting, (*board, card))
        return total / (rules.deck_size - len(board) - 2)

    return PairValues(rules, table)


def moments(
    rules: Rules, policies: list[RandomPolicy], have_policy: tuple[bool, bool], values: ValueFunction | Aivat
) -> tuple[float, float, float]:
    """(true value, mean, standard deviation) of the estimate over all hands."""
    aivat = values if isinstance(values, Aivat) else Aivat(rules, values)
    functions = [policy.policy if flag else None for policy, flag in zip(policies, have_policy, strict=True)]
    estimates: dict[tuple[object, ...], float] = {}
    hands = list(all_hands(rules, policies))
    pairs = []
    for state, probability in hands:
        seen = tuple(hand for hand, flag in zip(state.hole_cards, have_policy, strict=True) if not flag)
        key = (state.betting.text(), state.board, seen)
        if key not in estimates:
            estimates[key] = aivat.estimate(state, functions)[0]
        pairs.append((estimates[key], probability))
    mean = math.fsum(value * probability for value, probability in pairs)
    second = math.fsum(value**2 * probability for value, probability in pairs)
    return expected_chips(hands), mean, math.sqrt(max(second - mean**2, 0.0))


@pytest.mark.parametrize("game", ["kuhn", "leduc"])
@pytest.mark.parametrize("have_policy", [(True, True), (True, False), (False, True), (False, False)])
def test_unbiased_for_a_wrong_value_function(game: str, have_policy: tuple[bool, bool]) -> None:
    rules = load_rules(game)
    policies = [RandomPolicy(rules, 1), RandomPolicy(rules, 2)]
    value, mean, _ = moments(rules, policies, have_policy, wrong_values(rules))
    assert mean == pytest.approx(value, abs=1e-9)


@pytest.mark.parametrize(
    ("have_policy", "share"), [((True, True), 0.6), ((True, False), 0.75), ((False, True), 0.75), ((False, False), 0.9)]
)
def test_check_down_is_unbiased_and_helps(have_policy: tuple[bool, bool], share: float) -> None:
    rules = load_rules("leduc")
    policies = [RandomPolicy(rules, 3), RandomPolicy(rules, 4)]
    hands = list(all_hands(rules, policies))
    value, mean, deviation = moments(rules, policies, have_policy, CheckDown(rules))
    chips = math.sqrt(math.fsum(p * state.payoffs()[0] ** 2 for state, p in hands) - value**2)
    assert mean == pytest.approx(value, abs=1e-9)
    assert deviation < share * chips, deviation / chips


def test_fold_equity_is_unbiased_and_helps_more() -> None:
    rules = load_rules("leduc")
    policies = [RandomPolicy(rules, 3), RandomPolicy(rules, 4)]
    responses = [policy.policy for policy in policies]
    value, mean, deviation = moments(rules, policies, (True, True), FoldEquity(rules, responses))
    assert mean == pytest.approx(value, abs=1e-9)
    assert deviation < 0.8 * moments(rules, policies, (True, True), CheckDown(rules))[2]


def test_true_values_leave_no_variance_between_two_policies() -> None:
    rules = load_rules("leduc")
    policies = [RandomPolicy(rules, 5), RandomPolicy(rules, 6)]
    value, mean, deviation = moments(rules, policies, (True, True), true_values(rules, policies))
    assert mean == pytest.approx(value, abs=1e-9)
    assert deviation == pytest.approx(0.0, abs=1e-6)


def test_an_action_the_policy_never_takes_is_refused() -> None:
    rules = load_rules("kuhn")
    policy = RandomPolicy(rules, 7)

    def never_calls(state: HandState) -> Policy:
        actions, probs = policy.policy(state)
        shares = np.where(np.array(actions) == CALL, 0.0, probs + 0.1)
        return actions, shares / shares.sum(axis=1, keepdims=True)

    hand = HandState.start(rules, [(0,), (1,)], ()).apply(CALL).apply(CALL)
    with pytest.raises(PolicyMismatchError, match="player 0 took `c`"):
        Aivat(rules, CheckDown(rules)).estimate(hand, [never_calls, None])


def test_check_down_margins_of_holdem_average_over_the_next_card() -> None:
    rules = load_rules("holdem_nolimit_2p")
    board = rules.parse_cards("Ah7d7c2s")
    now = margins(rules, board)
    total = np.zeros_like(now)
    for card in set(range(52)) - set(board):
        total += margins(rules, (*board, card))
    assert np.abs(total / 44 - now).max() < 1e-5
    assert (now[~rules.space.disjoint] == 0).all()


def test_runouts_may_be_followed_or_not() -> None:
    rules = load_rules("holdem_nolimit_2p")
    random = RandomAgent(name="random", raises=["a"])
    hand = HandState.deal(rules, np.random.default_rng(4)).apply(CALL).apply(20_000).apply(CALL)

    class Following(CheckDown):
        exact_runouts = False

    policies = [random.policy, None]
    short = Aivat(rules, CheckDown(rules)).terms(hand, policies)
    long = Aivat(rules, Following(rules)).terms(hand, policies)
    assert short.board == 0.0
    assert long.board != 0.0
    assert sum(long) == pytest.approx(sum(short), abs=0.1)
