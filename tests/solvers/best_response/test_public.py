"""Best responses: closed-form constants, brute force, OpenSpiel, and flop hold'em flop by flop."""

import math

import numpy as np
import pytest

from poker.abstraction.buckets import make_abstraction
from poker.abstraction.equities import margins, showdown_chances, showdown_totals
from poker.agents.blueprint import BlueprintAgent
from poker.agents.simple import AlwaysCall
from poker.game.betting import Betting
from poker.game.cards import NUM_HANDS, PREFLOP_CLASS
from poker.game.rules import Rules
from poker.game.state import HandState, Policy
from poker.kernels.cards.hands import CARD_PERMUTATION, HAND_PERMUTATION
from poker.kernels.cards.isomorphism import NUM_BOARDS, board_multiplicities, canonical_boards
from poker.kernels.cards.strength import boards_strength
from poker.run.errors import PokernetsError
from poker.solvers.best_response.flops import CLASS_HAND, ResponseByFlop, flop_values, value_of_all
from poker.solvers.best_response.public import best_response, is_walkable
from poker.tree import bet_menu, build_tree
from tests.blueprints import random_blueprint
from tests.cases import cases
from tests.evaluation.small_games import RandomPolicy, best_response_value, legal_actions
from tests.games import load_rules
from tests.random_play import nolimit


class Uniform:
    """Every action of a limit game equally likely."""

    def policy(self, state: HandState) -> Policy:
        actions = legal_actions(state.betting)
        return actions, np.full((state.rules.num_hands, len(actions)), 1 / len(actions))


def nash_conv(rules: Rules, policy: RandomPolicy | Uniform) -> float:
    return sum(best_response(rules, policy.policy, player) for player in range(2))


@pytest.mark.parametrize(("game", "wanted"), [("kuhn", 0.9166666666666666), ("leduc", 4.747222222)])
def test_uniform_policy(game: str, wanted: float) -> None:
    """OpenSpiel's nash_conv of the uniform policy."""
    assert nash_conv(load_rules(game), Uniform()) == pytest.approx(wanted, abs=1e-8)


def test_leduc_equals_brute_force() -> None:
    rules = load_rules("leduc")
    policy = RandomPolicy(rules, 11)
    for player in range(2):
        expected = best_response_value(rules, policy.policy, player)
        assert best_response(rules, policy.policy, player) == pytest.approx(expected, abs=1e-9)


@cases
def test_showdowns_of_two_card_hands(game: str, board: str) -> None:
    """The sweep over ranges equals the matrix of all pairs, which comes from other code."""
    rules = load_rules(game)
    cards = rules.parse_cards(board)
    weights = np.random.default_rng(2).random(rules.num_hands) * rules.space.live(cards)
    wanted = margins(rules, cards).astype(float) @ weights
    assert np.allclose(showdown_chances(rules, cards, weights), wanted, atol=1e-3)
    own = np.stack([2 * weights, np.sqrt(weights)])
    assert showdown_totals(rules, cards, own, weights) == pytest.approx([0.0, own[1] @ wanted], rel=1e-4, abs=1e-3)


def test_showdowns_from_the_flop_are_the_mean_over_turns() -> None:
    rules = load_rules("holdem_nolimit_2p")
    flop = rules.parse_cards("AhAd7c")
    weights = np.random.default_rng(2).random(rules.num_hands) * rules.space.live(flop)
    total = np.zeros(rules.num_hands)
    for card in set(range(rules.deck_size)) - set(flop):
        live = rules.space.live((*flop, card))
        total += live * showdown_chances(rules, (*flop, card), weights * live)
    assert np.allclose(showdown_chances(rules, flop, weights), total / (52 - 3 - 4), atol=1e-3)


@pytest.mark.slow
def test_flop_holdem_against_always_call() -> None:
    """Pushing or waiting for the flop and pushing when ahead: the value of each hand from strengths on all flops."""
    rules = load_rules("flop_holdem_nolimit")
    push, big = 20_000, rules.big_blind
    boards, counts = canonical_boards(3), board_multiplicities(3)
    strength = boards_strength(boards).astype(float)  # -1 blocked, else 2 beaten + tied of 1,081 opponents
    margin = np.where(strength < 0, 0.0, 2 * strength / 2162 - 1)
    chips = np.where(margin > 0, push * margin, big * margin)
    by_hand = [(counts @ value)[HAND_PERMUTATION].mean(axis=0) / math.comb(50, 3) for value in (chips, margin)]
    wanted = np.maximum(by_hand[0], push * by_hand[1])
    caller = AlwaysCall(name="caller").policy
    response = ResponseByFlop(rules, caller, bet_menu(preflop="a", flop="a"))
    values = value_of_all(response.seats, (flop_values(response.seats, caller, flop) for flop in range(NUM_BOARDS[3])))
    assert values.tolist() == pytest.approx([wanted.mean(), np.maximum(wanted, -rules.blinds[1]).mean()], rel=1e-9)


def test_walkable_games() -> None:
    assert is_walkable(load_rules("flop_holdem_nolimit"))
    assert not is_walkable(nolimit((1000, 1000)))
    with pytest.raises(PokernetsError, match="needs a bet menu"):
        best_response(load_rules("flop_holdem_nolimit"), AlwaysCall(name="caller").policy, 0)


RULES = load_rules("flop_holdem_nolimit")


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


def test_fingerprint_depends_on_the_policy() -> None:
    menu = bet_menu(preflop="a", flop="a")
    same = [ResponseByFlop(RULES, blueprint().policy, menu).fingerprint for _ in range(2)]
    assert same[0] == same[1]
    assert ResponseByFlop(RULES, AlwaysCall(name="caller").policy, menu).fingerprint != same[0]
    assert ResponseByFlop(RULES, blueprint().policy, bet_menu(preflop="a", flop="0.5,a")).fingerprint != same[0]
