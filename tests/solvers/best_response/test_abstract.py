"""Responses learned against blueprints: near the exact best response in Leduc, in matches never above it."""

from pathlib import Path

import numpy as np
import pytest

from poker.abstraction.buckets import game_cards
from poker.agents.blueprint import BlueprintAgent
from poker.solvers.best_response.abstract import learn_response, stored_response
from poker.solvers.best_response.public import best_response
from poker.solvers.blueprint import Blueprint
from poker.state import Betting
from poker.tree import BetMenu, Kind, build_tree
from tests.blueprints import random_blueprint
from tests.evaluation.profiles import profile_values
from tests.games import load_rules

LEDUC = load_rules("leduc")
CARDS = game_cards(LEDUC, "none")
TREE = build_tree(Betting.start(LEDUC), BetMenu(()))


def player(blueprint: Blueprint) -> BlueprintAgent:
    return BlueprintAgent(name="player", blueprint=blueprint, translation_seed=0)


@pytest.mark.parametrize("seed", [1, 2])
def test_close_to_the_exact_best_response_in_leduc(seed: int) -> None:
    blueprint = random_blueprint(TREE, CARDS, seed)
    opponent = player(blueprint).policy
    response = player(learn_response(blueprint, boards=2000, seed=seed, trust=5.0)).policy
    won = (
        profile_values(LEDUC, [response, opponent]).value,
        -profile_values(LEDUC, [opponent, response]).value,
    )
    for seat in range(2):
        best = best_response(LEDUC, opponent, seat)
        assert 0.98 * best < won[seat] < best + 1e-9


def test_what_was_not_seen_is_played_as_the_blueprint_does() -> None:
    blueprint = random_blueprint(TREE, CARDS, 4)
    response = learn_response(blueprint, boards=0, seed=1)
    for node in range(len(TREE)):
        if TREE.kind[node] == Kind.DECISION:
            assert np.abs(response.probs(node) - blueprint.probs(node)).max() < 0.01


def test_a_response_is_kept_and_loads_as_an_agent(tmp_path: Path) -> None:
    random_blueprint(TREE, CARDS, 3).save(tmp_path / "blueprint", {}, {})
    blueprint = Blueprint.load(tmp_path / "blueprint", CARDS)
    played: list[int] = []
    path = stored_response(tmp_path, blueprint, "none", boards=20, seed=1, progress=played.append)
    assert sum(played) == 40
    assert stored_response(tmp_path, blueprint, "none", boards=20, seed=1, progress=played.append) == path
    assert sum(played) == 40
    assert stored_response(tmp_path, blueprint, "none", boards=20, seed=2) != path
    assert Blueprint.load(path, CARDS).rules == LEDUC
