"""Our strategies for Kuhn and Leduc as policies of OpenSpiel, which has values and best responses of its own."""

from collections.abc import Callable

import numpy as np
import pyspiel
from numpy.typing import NDArray

from poker.abstraction.buckets import SmallGameBuckets
from poker.game.rules import Rules
from poker.game.state import Betting
from poker.tree import BettingTree, build_tree

Average = Callable[[int], NDArray[np.float32]]
"""[B, A] at a betting node."""


def measured(rules: Rules, average: Average) -> tuple[float, float]:
    """nash_conv and the value of player 0, chips per hand; `rules` are those of `kuhn`, `leduc` and their kin."""
    game = pyspiel.load_game(f"{rules.name.partition('_')[0]}_poker", {"players": rules.num_players})
    table: dict[str, list[tuple[int, float]]] = {}
    tree = build_tree(Betting.start(rules))
    _fill(table, game.new_initial_state(), tree, SmallGameBuckets(rules), average, tree.after_deal(0))
    policy = pyspiel.TabularPolicy(table)
    value = pyspiel.expected_returns(game.new_initial_state(), policy, -1, True)[0]
    return float(pyspiel.nash_conv(game, policy, True)), float(value)


def _fill(
    table: dict[str, list[tuple[int, float]]],
    state: pyspiel.State,
    tree: BettingTree,
    cards: SmallGameBuckets,
    average: Average,
    node: int,
) -> None:
    """Probabilities at every information state from `state` on; both games number cards and order actions as we do."""
    if state.is_terminal():
        return
    if state.is_chance_node():
        for card in state.legal_actions():
            _fill(table, state.child(card), tree, cards, average, node)
        return
    dealt = [step.action for step in state.full_history() if step.player == pyspiel.PlayerId.CHANCE]
    mover = state.current_player()
    assert mover == tree.player[node]
    bucket = cards.buckets(dealt[tree.rules.num_players :])[dealt[mover]]
    legal = state.legal_actions()
    assert len(legal) == tree.num_children[node]
    table[state.information_state_string()] = list(zip(legal, average(node)[bucket].tolist(), strict=True))
    for action, child in zip(legal, tree.children(node), strict=True):
        _fill(table, state.child(action), tree, cards, average, tree.after_deal(child))
