"""Fixed random policies for small games, and every hand that can happen under them with its probability."""

import itertools
import math
from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from poker.agents.base import Agent, PolicyMismatchError
from poker.game.betting import Betting
from poker.game.rules import CALL, FOLD, Rules
from poker.game.state import HandState, Policy, PolicyFunction
from poker.solvers.best_response.public import on_tree
from poker.solvers.best_response.ranges import evaluate_policy
from poker.tree import build_tree
from tests.solvers.reference import Reference


class RandomPolicy(Agent):
    """A random strategy of every information set, the same whenever asked. `pure` shares of hands play one action."""

    def __init__(self, rules: Rules, seed: int, pure: float = 0.3) -> None:
        super().__init__(f"random{seed}")
        self._rules = rules
        self._seed = seed
        self._pure = pure
        self.reset(seed)
        self._policies: dict[tuple[str, tuple[int, ...]], Policy] = {}

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


def profile_value(rules: Rules, first: PolicyFunction, second: PolicyFunction) -> float:
    """Chips that player 0 wins per hand if the players follow these policies."""
    tree = build_tree(Betting.start(rules))
    policies = [on_tree(tree, policy) for policy in (first, second)]

    def rows(node: int, board: tuple[int, ...]) -> NDArray[np.floating]:
        try:
            return policies[int(tree.player[node])](node, board)
        except PolicyMismatchError:  # the other player never comes there
            number = int(tree.num_children[node])
            return np.full((rules.num_hands, number), 1 / number)

    return evaluate_policy(tree, rows).value


def best_response_value(rules: Rules, policy: PolicyFunction, player: int) -> float:
    """Most chips that `player` can win against `policy`, by plain Python."""
    tree = build_tree(Betting.start(rules))
    rows = on_tree(tree, policy)
    boards = [(), *((card,) for card in range(rules.deck_size))]
    profile = {
        (node, board): rows(node, board).astype(np.float64)
        for node in tree.decision_nodes.tolist()
        for board in boards
        if len(board) == rules.board_sizes[tree.street[node]]
    }
    return Reference(tree, (), np.ones((2, rules.num_hands))).root_value(player, profile, best=True)
