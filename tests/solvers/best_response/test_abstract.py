"""Responses learned against blueprints: near the exact best response in Leduc, in matches never above it."""

import numpy as np
import pytest

from poker.abstraction.loading import game_cards
from poker.agents.blueprint import BlueprintAgent
from poker.game.state import Betting
from poker.solvers.best_response.abstract import TRUST, learn_seat
from poker.solvers.best_response.public import best_response
from poker.solvers.blueprint import Blueprint, blueprint_from
from poker.tree import BetMenu, Kind, build_tree
from tests.blueprints import random_blueprint
from tests.evaluation.profiles import profile_values
from tests.games import LEDUC

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
    won = (
        profile_values(LEDUC, [response, opponent]).value,
        -profile_values(LEDUC, [opponent, response]).value,
    )
    for seat in range(2):
        best = best_response(LEDUC, opponent, seat)
        assert 0.98 * best < won[seat] < best + 1e-9


def test_what_was_not_seen_is_played_as_the_blueprint_does() -> None:
    blueprint = random_blueprint(TREE, CARDS, 4)
    response = learned(blueprint, 0, seed=1)
    for node in range(len(TREE)):
        if TREE.kind[node] == Kind.DECISION:
            assert np.abs(response.probs(node) - blueprint.probs(node)).max() < 0.01
