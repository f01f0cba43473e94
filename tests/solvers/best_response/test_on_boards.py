"""All hands of a board at once: equal to pairs of hands one by one; what is learned gains on other boards."""

from functools import lru_cache

import numpy as np
import pytest

from poker.abstraction.buckets import make_abstraction
from poker.abstraction.dealers import sample_boards
from poker.abstraction.loading import game_cards
from poker.depth_limit.continuations.rollout import Continuations
from poker.game.cards import PREFLOP_CLASS
from poker.game.state import Betting
from poker.kernels.cards.isomorphism import NUM_BOARDS
from poker.solvers.best_response.abstract import BoardGame, learn_seat
from poker.solvers.blueprint import Blueprint
from poker.tree import BetMenu, bet_menu, build_tree
from tests.blueprints import random_blueprint
from tests.games import load_rules

MENU = bet_menu(preflop=[[1], ["a"]], flop=[["a"], []])


@lru_cache
def blueprint(game: str) -> Blueprint:
    """Random strategies; two buckets on the flop of hold'em."""
    rng, rules = np.random.default_rng(0), load_rules(game)
    if rules.num_hole_cards == 1:
        cards, menu = game_cards(rules, "none"), BetMenu(())
    else:
        flops = rng.integers(0, 2, (NUM_BOARDS[3], len(PREFLOP_CLASS))).astype(np.uint8)
        cards, menu = make_abstraction((PREFLOP_CLASS[None], flops), (169, 2)), MENU
    return random_blueprint(build_tree(Betting.start(rules), menu), cards)


@pytest.mark.parametrize("game", ["kuhn", "leduc", "flop_holdem_nolimit"])
@pytest.mark.parametrize("seat", [0, 1])
def test_values_are_those_of_all_pairs(game: str, seat: int) -> None:
    policy = blueprint(game)
    hands = np.arange(policy.rules.num_hands)
    played, pairs = BoardGame(policy, seat), Continuations(policy, [policy])
    for board in sample_boards(policy.rules, (), 2, np.random.default_rng(1)):
        values, _, possible = pairs.on_board(0, board, hands, hands)
        expected = values[0, 0].sum(dtype=np.float64) / possible.sum() * (1 - 2 * seat)
        assert played.play(played.table(policy.probs), board) == pytest.approx(
            expected, rel=1e-4, abs=1e-6 * policy.rules.stacks[0]
        )


@pytest.mark.parametrize("seat", [0, 1])
def test_a_learned_response_gains_on_other_boards(seat: int) -> None:
    policy = blueprint("flop_holdem_nolimit")
    strategies, game = learn_seat(policy, seat, 30, seed=1), BoardGame(policy, seat)
    boards = sample_boards(policy.rules, (), 40, np.random.default_rng(2))
    own, response = (game.table(strategy) for strategy in (policy.probs, strategies.__getitem__))
    gains = [game.play(response, board) - game.play(own, board) for board in boards]
    assert np.mean(gains) > 4 * np.std(gains) / np.sqrt(len(gains))
    assert np.mean(gains) > policy.rules.big_blind
