"""Flop by flop: the same numbers as in one walk, whatever the names of suits."""

import numpy as np
import pytest

from poker.abstraction.buckets import make_abstraction
from poker.agents.blueprint import BlueprintAgent
from poker.agents.simple import AlwaysCall
from poker.game.betting import Betting
from poker.game.cards import NUM_HANDS, PREFLOP_CLASS
from poker.kernels.cards.hands import CARD_PERMUTATION, HAND_PERMUTATION
from poker.kernels.cards.isomorphism import NUM_BOARDS, canonical_boards
from poker.kernels.cards.strength import boards_strength
from poker.run.errors import PokernetsError
from poker.solvers.best_response.flops import CLASS_HAND, ResponseByFlop, flop_values, value_of_all
from poker.tree import bet_menu, build_tree
from tests.blueprints import random_blueprint
from tests.games import load_rules
from tests.solvers.best_response.classes import response_by_hand

RULES = load_rules("flop_holdem_nolimit")


@pytest.mark.slow
def test_all_flops_are_the_whole_walk() -> None:
    menu = bet_menu(preflop="a", flop="a")
    caller = AlwaysCall(name="caller").policy
    response = ResponseByFlop(RULES, caller, menu)
    values = [flop_values(response.seats, caller, flop) for flop in range(NUM_BOARDS[3])]
    wanted = [response_by_hand(RULES, caller, player, menu).mean() for player in range(2)]
    assert value_of_all(response.seats, values).tolist() == pytest.approx(wanted, rel=1e-9)


def blueprint() -> BlueprintAgent:
    """Plays by 169 classes and ten classes of strength on the flop, at random."""
    strength = np.maximum(boards_strength(canonical_boards(3)), 0) * 10 // 2163
    cards = make_abstraction([PREFLOP_CLASS[None], strength.astype(np.uint8)], [169, 10])
    tree = build_tree(Betting.start(RULES), bet_menu(preflop=[[1.0], ["a"]], flop=[[1.0], ["a"]]))
    return BlueprintAgent(name="blueprint", blueprint=random_blueprint(tree, cards), translation_seed=3)


def test_values_of_a_flop_do_not_depend_on_the_names_of_suits() -> None:
    agent = blueprint()
    response = ResponseByFlop(RULES, agent.policy, bet_menu(preflop="a", flop="a"))
    assert suit_difference(response, 877, 5) < 1e-6
    reached = np.zeros(NUM_HANDS, dtype=bool)
    reached[HAND_PERMUTATION[:, CLASS_HAND]] = True
    assert reached.all()


def suit_difference(response: ResponseByFlop, flop: int, renaming: int) -> float:
    """The largest difference in chips, over lines and hands, between the values of a flop and of its image under a
    renaming of suits, given that the policy holds a hand that is compatible."""
    board = tuple(canonical_boards(3)[flop].tolist())
    image = tuple(CARD_PERMUTATION[renaming, list(board)].tolist())
    largest = 0.0
    for seat in response.seats:
        mass = np.array([seat.tree.rules.space.compatible_mass(reach) for reach in seat.reach])
        renamed = seat.on_flop(response.policy, image)[:, HAND_PERMUTATION[renaming]]
        apart = np.abs(renamed - seat.on_flop(response.policy, board)) / np.maximum(mass, 1e-9)
        largest = max(largest, float(apart.max()))
    return largest


def test_the_fingerprint_is_of_what_is_played() -> None:
    menu = bet_menu(preflop="a", flop="a")
    same = [ResponseByFlop(RULES, blueprint().policy, menu).fingerprint for _ in range(2)]
    assert same[0] == same[1]
    assert ResponseByFlop(RULES, AlwaysCall(name="caller").policy, menu).fingerprint != same[0]
    assert ResponseByFlop(RULES, blueprint().policy, bet_menu(preflop="a", flop="0.5,a")).fingerprint != same[0]


def test_games_with_a_turn_are_refused() -> None:
    with pytest.raises(PokernetsError, match="without a turn, not 'holdem_nolimit_2p'"):
        ResponseByFlop(load_rules("holdem_nolimit_2p"), AlwaysCall(name="caller").policy, bet_menu(preflop="a"))
