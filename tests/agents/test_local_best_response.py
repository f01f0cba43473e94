"""Local best response: known values, and never more than the exact best response."""

import math

import numpy as np
import pytest

from poker.agents.base import Agent
from poker.agents.local_best_response import LbrActions, LbrStreet, LocalBestResponse
from poker.agents.simple import AlwaysCall, RandomAgent
from poker.game.betting import Betting
from poker.game.rules import CALL, FOLD, Rules
from poker.game.state import HandState, Policy, public_state
from poker.play.hand import play_hand
from poker.solvers.best_response.public import best_response
from poker.tree import bet_menu
from tests.evaluation.profiles import profile_values
from tests.evaluation.small_games import RandomPolicy, best_response_value
from tests.games import load_rules
from tests.solvers.best_response.classes import response_by_hand

EVERYTHING = LbrStreet(fold=True, raises=("0.5", "1", "a"))


class AlwaysFold(RandomAgent):
    """Folds to every bet."""

    def __init__(self) -> None:
        super().__init__(name="always_fold", raises=())

    def _weights(self, state: HandState) -> dict[int, float]:
        return {FOLD: 1.0} if state.legal().fold else {CALL: 1.0}


class Folding(AlwaysFold):
    """Folds hands to a bet as often as `folds` says, and calls with the rest."""

    def __init__(self, folds: list[float]) -> None:
        super().__init__()
        self._probs = np.array([[share, 1 - share] for share in folds], np.float32)

    def policy(self, state: HandState) -> Policy:
        return (FOLD, CALL), self._probs


@pytest.mark.parametrize(("folds", "bets"), [([1, 1, 0], False), ([1, 1, 1], True)])
def test_a_bet_is_worth_what_it_is_against_the_hands_that_call(folds: list[float], bets: bool) -> None:
    """Kuhn's queen has half of the pot of two chips by a check. By a bet it has the pot half of the time, and where the
    king calls it loses the chip."""
    rules = load_rules("kuhn")
    lbr = LocalBestResponse(name="lbr", game=rules, opponent=Folding(folds), actions=LbrActions([EVERYTHING]))
    actions, probs = lbr.policy(public_state(Betting.start(rules), ()))
    assert (actions[int(probs[1].argmax())] > CALL) is bets


@pytest.mark.parametrize("seed", range(3))
def test_never_more_than_the_best_response_in_leduc(seed: int) -> None:
    rules = load_rules("leduc")
    policy = RandomPolicy(rules, seed)
    lbr = LocalBestResponse(name="lbr", game=rules, opponent=policy, actions=LbrActions([EVERYTHING, EVERYTHING]))
    won = (
        profile_values(rules, [lbr.policy, policy.policy]).value,
        -profile_values(rules, [policy.policy, lbr.policy]).value,
    )
    for seat in range(2):
        best = best_response(rules, policy.policy, seat)
        assert best == pytest.approx(best_response_value(rules, policy, seat))
        assert 0 < won[seat] < best + 1e-9
    hands = 300
    assert play(rules, [lbr, policy], hands, seed) == pytest.approx(np.mean(won), abs=4 * 4.5 / math.sqrt(2 * hands))


@pytest.mark.slow
def test_never_more_than_the_best_response_in_flop_holdem() -> None:
    rules = load_rules("flop_holdem_nolimit")
    opponent = RandomAgent(name="random", raises=["a"])
    street = LbrStreet(fold=True, raises=["a"])
    lbr = LocalBestResponse(name="lbr", game=rules, opponent=opponent, actions=LbrActions([street, street]))
    best = response_by_hand(rules, opponent.policy, 0, bet_menu(preflop="a", flop="a"))
    profile = profile_values(rules, [lbr.policy, opponent.policy])
    assert 0.5 * best.mean() < profile.value < best.mean()
    assert (profile.by_hand <= best + 1e-6).all()


def play(rules: Rules, agents: list[Agent], hands: int, seed: int) -> float:
    """Mean chips of agents[0], cards played in every seat."""
    rng = np.random.default_rng(seed)
    chips = 0
    for _ in range(hands):
        start = HandState.deal(rules, rng)
        for seat in range(rules.num_players):
            line_up = [*agents[1 : 1 + seat], agents[0], *agents[1 + seat :]]
            chips += play_hand(line_up, start).payoffs()[seat]
    return chips / (rules.num_players * hands)


@pytest.mark.parametrize(
    ("game", "won"), [("holdem_limit_2p", 750), ("holdem_nolimit_2p", 750), ("holdem_nolimit_6p", 1250)]
)
def test_always_fold_loses_the_blinds(game: str, won: float) -> None:
    rules = load_rules(game)
    folder = AlwaysFold()
    lbr = LocalBestResponse(name="lbr", game=rules, opponent=folder, actions=LbrActions([EVERYTHING] * 4))
    assert play(rules, [lbr, *[folder] * (rules.num_players - 1)], 3, 1) * 1000 / rules.big_blind == won


def test_three_players_of_leduc() -> None:
    rules, caller = load_rules("leduc_3p"), AlwaysCall(name="caller")
    lbr = LocalBestResponse(name="lbr", game=rules, opponent=caller, actions=LbrActions([EVERYTHING] * 2))
    actions, best = lbr.policy(HandState.deal(rules, np.random.default_rng(1)))
    raises = best[:, [action > 0 for action in actions]].sum(axis=1)
    assert raises.tolist() == [0, 0, 1, 1, 1, 1, 1, 1]  # who calls is taken to be alone, the chips of the third dead
    assert play(rules, [lbr, caller, caller], 300, 1) > 1


def test_opening_raise_comes_first_and_then_calls_only() -> None:
    rules = load_rules("holdem_nolimit_2p")
    plain = LbrStreet(fold=False, raises=())
    actions = LbrActions([plain, LbrStreet(fold=True, raises=[0.33 * 2**x for x in range(11)]), plain, plain], "0.75")
    state = HandState.deal(rules, np.random.default_rng(1))
    assert actions.choices(state.betting) == (250,)
    assert actions.choices(state.betting.apply(250).apply(1000)) == (CALL,)
    flop = state.betting.apply(250).apply(CALL)
    assert actions.choices(flop) == (CALL, 415, 580, 910, 1570, 2890, 5530, 10810, 20000)
    assert actions.choices(flop.apply(1000))[:2] == (FOLD, CALL)


def test_a_decision_is_made_once() -> None:
    rules = load_rules("leduc")
    questions = 0

    class Counting(RandomPolicy):
        def policy(self, state: HandState) -> Policy:
            nonlocal questions
            questions += 1
            return super().policy(state)

    lbr = LocalBestResponse(
        name="lbr", game=rules, opponent=Counting(rules, 1), actions=LbrActions([EVERYTHING, EVERYTHING])
    )
    states = [HandState.deal(rules, np.random.default_rng(seed)) for seed in range(5)]
    first = [lbr.policy(state)[1] for state in states]
    assert questions == 1
    flop = states[0].apply(CALL).apply(CALL)
    before = lbr.policy(flop)[1]
    questions = 0
    assert np.array_equal(lbr.policy(flop)[1], before)
    assert all(np.array_equal(lbr.policy(state)[1], probs) for state, probs in zip(states, first, strict=True))
    assert questions == 0
