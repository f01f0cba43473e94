"""Responses learned against blueprints, and all hands of a board at once, against exact best responses."""

from functools import lru_cache

import numpy as np
import pytest

from poker.abstraction.buckets import make_abstraction
from poker.abstraction.dealers import sample_boards
from poker.abstraction.loading import game_cards
from poker.agents.blueprint import BlueprintAgent
from poker.depth_limit.continuations.rollout import Continuations
from poker.game.cards import PREFLOP_CLASS
from poker.game.state import Betting
from poker.kernels.cards.isomorphism import NUM_BOARDS
from poker.solvers.best_response.abstract import TRUST, BoardGame, learn_seat
from poker.solvers.best_response.public import best_response
from poker.solvers.blueprint import Blueprint, blueprint_from
from poker.tree import BetMenu, Kind, bet_menu, build_tree
from tests.blueprints import random_blueprint
from tests.evaluation.small_games import profile_value
from tests.games import LEDUC, load_rules

CARDS = game_cards(LEDUC, "none")
TREE = build_tree(Betting.start(LEDUC), BetMenu(()))


def learned(blueprint: Blueprint, boards: int, seed: int, trust: float = TRUST) -> Blueprint:
    first, second = (learn_seat(blueprint, seat, boards, seed, trust) for seat in range(2))
    return blueprint_from(TREE, CARDS, (first | second).__getitem__)


def player(blueprint: Blueprint) -> BlueprintAgent:
    return BlueprintAgent(name="player", blueprint=blueprint, translation_seed=0)


@pytest.mark.parametrize("seed", [1, 2])
def test_close_to_the_exact_best_response_in_leduc(seed: int) -> None:
    blueprint = random_blueprint(TREE, CARDS, seed)
    opponent = player(blueprint).policy
    response = player(learned(blueprint, 2000, seed, trust=5.0)).policy
    won = (profile_value(LEDUC, response, opponent), -profile_value(LEDUC, opponent, response))
    for seat in range(2):
        best = best_response(LEDUC, opponent, seat)
        assert 0.98 * best < won[seat] < best + 1e-9


def test_unvisited_infosets_play_the_blueprint() -> None:
    blueprint = random_blueprint(TREE, CARDS, 4)
    response = learned(blueprint, 0, seed=1)
    for node in range(len(TREE)):
        if TREE.kind[node] == Kind.DECISION:
            assert np.abs(response.probs(node) - blueprint.probs(node)).max() < 0.01


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
def test_values_equal_sums_over_all_pairs(game: str, seat: int) -> None:
    policy = blueprint(game)
    hands = np.arange(policy.rules.num_hands)
    played, pairs = BoardGame(policy, seat), Continuations(policy, [policy])
    for board in sample_boards(policy.rules, (), 2, np.random.default_rng(1)):
        values, _, possible, _ = pairs.on_boards(0, [board], hands, hands)
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
