"""Fixed random policies for small games, and every hand that can happen under them with its probability."""

import itertools
import math
from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from poker.game.betting import Betting
from poker.game.rules import CALL, FOLD, Rules
from poker.game.state import HandState, Policy


class RandomPolicy:
    """A random strategy of every information set, the same whenever asked. `pure` shares of hands play one action."""

    def __init__(self, rules: Rules, seed: int, pure: float = 0.3) -> None:
        self.name = f"random{seed}"
        self._rules = rules
        self._seed = seed
        self._pure = pure
        self._rng = np.random.default_rng(seed)
        self._policies: dict[tuple[str, tuple[int, ...]], Policy] = {}

    def reset(self, seed: int) -> None:
        self._rng = np.random.default_rng(seed)

    def start_hand(self, seat: int) -> None:
        """Nothing to remember."""

    def act(self, state: HandState) -> int:
        actions, probs = self.policy(state)
        cards = state.hole_cards[state.to_act]
        return actions[int(self._rng.choice(len(actions), p=probs[cards[0]]))]

    def policy(self, state: HandState) -> Policy:
        key = (state.betting.text(), state.board)
        if key not in self._policies:
            text = f"{self._seed}|{key}"
            rng = np.random.default_rng(list(text.encode()))
            actions = legal_actions(state.betting)
            probs = rng.dirichlet(np.ones(len(actions)), self._rules.num_hands)
            chosen = rng.random(self._rules.num_hands) < self._pure
            probs[chosen] = np.eye(len(actions))[rng.integers(len(actions), size=int(chosen.sum()))]
            self._policies[key] = actions, probs
        return self._policies[key]


def legal_actions(betting: Betting) -> tuple[int, ...]:
    """All actions of a limit game."""
    legal = betting.legal()
    raises = (legal.min_raise,) if legal.max_raise else ()
    return ((FOLD,) if legal.fold else ()) + (CALL,) + raises


def all_hands(rules: Rules, policies: list[RandomPolicy]) -> Iterator[tuple[HandState, float]]:
    """Every finished hand of a game of one-card hands, with its probability."""
    players = rules.num_players
    deals = list(itertools.permutations(range(rules.deck_size), players + rules.total_board_cards))
    for deal in deals:
        start = HandState.start(rules, [deal[i : i + 1] for i in range(players)], deal[players:])
        yield from _play(start, policies, 1.0 / len(deals))


def _play(state: HandState, policies: list[RandomPolicy], probability: float) -> Iterator[tuple[HandState, float]]:
    if state.is_over:
        yield state, probability
        return
    actions, probs = policies[state.to_act].policy(state)
    row = probs[state.hole_cards[state.to_act][0]]
    for action, chance in zip(actions, row.tolist(), strict=True):
        if chance > 0:
            yield from _play(state.apply(action), policies, probability * chance)


def expected_chips(hands: list[tuple[HandState, float]]) -> float:
    """Player 0's exact expectation."""
    assert math.isclose(math.fsum(probability for _, probability in hands), 1.0)
    return math.fsum(probability * state.payoffs()[0] for state, probability in hands)


def best_response_value(rules: Rules, policy: RandomPolicy, player: int) -> float:
    """Most chips that `player` can win against `policy`, by recursion over information sets."""

    def value(betting: Betting, board: tuple[int, ...], own: int, others: NDArray[np.float64]) -> float:
        """Sum over the other's hands, weighted by `others` [H], of the chips to `player`."""
        if betting.is_over and not betting.is_showdown:
            return float(others.sum()) * min(betting.committed) * (-1 if betting.folded[player] else 1)
        if len(board) < rules.board_sizes[betting.street]:
            total = 0.0
            for card in set(range(rules.deck_size)) - {own, *board}:
                rest = others * (np.arange(rules.num_hands) != card)
                total += value(betting, (*board, card), own, rest)
            return total / (rules.deck_size - len(board) - 2)
        if betting.is_over:
            return math.fsum(
                weight * showdown(betting, board, own, hand) for hand, weight in enumerate(others) if weight > 0
            )
        if betting.to_act == player:
            return max(value(betting.apply(action), board, own, others) for action in legal_actions(betting))
        actions, probs = policy.policy(HandState(betting, ((), ()), board))
        return math.fsum(
            value(betting.apply(action), board, own, others * probs[:, column]) for column, action in enumerate(actions)
        )

    def showdown(betting: Betting, board: tuple[int, ...], own: int, other: int) -> int:
        hands = ((own,), (other,)) if player == 0 else ((other,), (own,))
        return HandState(betting, hands, board).payoffs()[player]

    pairs = rules.num_hands * (rules.num_hands - 1)
    return math.fsum(
        value(Betting.start(rules), (), own, (np.arange(rules.num_hands) != own) / pairs)
        for own in range(rules.num_hands)
    )
