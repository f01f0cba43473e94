"""Local best response and the adversary that looks ahead: known values, and never more than the exact best response."""

import math
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from poker.abstraction.equities import check_down_chances
from poker.agents.base import Agent
from poker.agents.local_best_response import LbrActions, LbrStreet, LocalBestResponse
from poker.agents.look_ahead import LookAheadActions, LookAheadResponse
from poker.agents.simple import AlwaysCall, RandomAgent
from poker.game.betting import Betting
from poker.game.rules import CALL, FOLD, Rules
from poker.game.state import HandState, Policy, public_state
from poker.play.hand import play_hand
from poker.run.errors import PokernetsError
from poker.solvers.best_response.public import best_response
from poker.tree import BetMenu, bet_menu
from tests.agents.solved_turn import SolvedTurn
from tests.cases import cases
from tests.evaluation.small_games import RandomPolicy, best_response_value, profile_value
from tests.games import load_rules
from tests.solvers.games import SPOTS

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
def test_value_of_a_bet_is_its_value_against_the_hands_that_call(folds: list[float], bets: bool) -> None:
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
    won = seats(rules, lbr, policy)
    for seat in range(2):
        best = best_response(rules, policy.policy, seat)
        assert best == pytest.approx(best_response_value(rules, policy.policy, seat))
        assert 0 < won[seat] < best + 1e-9
    hands = 300
    assert play(rules, [lbr, policy], hands, seed) == pytest.approx(np.mean(won), abs=4 * 4.5 / math.sqrt(2 * hands))


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


@cases
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


MENU = bet_menu(turn=[0.75], river=[0.75])
PLANS = LookAheadActions([], plans_from=2, menu=MENU, ahead=MENU)
NARROW = {"stack": "150", "oop_range": "AA,KTs,87s,T8s,A5s", "ip_range": "KQs,99,86s,A4s"}
SPOT = SPOTS["t2_turn_wide"]["config"] | NARROW


@pytest.mark.parametrize(("plans_from", "checks_down"), [(0, 0), (1, 1), (1, 0)])
def test_in_leduc_it_is_the_best_response_from_its_street_on(plans_from: int, checks_down: int) -> None:
    rules, everything = load_rules("leduc"), LbrStreet(fold=True, raises=("a",))
    policy = RandomPolicy(rules, 1)
    actions = LookAheadActions([everything] * checks_down, plans_from=plans_from, menu=BetMenu(()), ahead=BetMenu(()))
    planner = LookAheadResponse(name="ahead", game=rules, opponent=policy, actions=actions)
    lbr = LocalBestResponse(name="lbr", game=rules, opponent=policy, actions=LbrActions([everything] * 2))
    best = [best_response(rules, policy.policy, seat) for seat in range(2)]
    won = seats(rules, planner, policy)
    if plans_from == 0:
        assert won == pytest.approx(best, abs=1e-9)
    elif checks_down:
        assert (np.diff([seats(rules, lbr, policy), won, best], axis=0) > 0).all()
    else:  # what a player wins from itself, and more
        assert 0.5 < sum(won) < sum(best)
    assert play(rules, [planner, policy], 300, 1) == pytest.approx(np.mean(won), abs=4 * 4.5 / np.sqrt(600))


def seats(rules: Rules, one: LocalBestResponse, other: RandomPolicy) -> list[float]:
    """Chips per hand that `one` wins in each seat."""
    return [profile_value(rules, one.policy, other.policy), -profile_value(rules, other.policy, one.policy)]


@pytest.mark.parametrize("iterations", [1, 100])
def test_profit_on_a_turn_equals_the_solvers_value(iterations: int) -> None:
    agent = SolvedTurn(SPOT, MENU, iterations)
    exact = agent.solver.exploitability() / agent.pot
    assert agent.lost_to(LookAheadResponse, PLANS) == pytest.approx(exact, abs=1e-5)
    actions = replace(PLANS, cards=6, neglect=0.02)
    sampled = agent.lost_to(LookAheadResponse, actions)
    assert exact - 0.03 < sampled < exact - 1e-6


def test_plans_take_one_card_of_each_block_of_ranks_and_suits_by_turns() -> None:
    rules = load_rules("holdem_nolimit_2p")
    planner = LookAheadResponse(
        name="ahead", game=rules, opponent=AlwaysCall(name="call"), actions=replace(PLANS, cards=12)
    )
    drawn = [board[-1] for board in planner._boards((0, 21, 34, 51))]
    assert np.unique(np.array(drawn) % 4, return_counts=True)[1].tolist() == [3, 3, 3, 3]
    assert drawn == sorted(drawn)
    assert len({card // 4 for card in drawn}) >= 9
    state = public_state(Betting.parse(rules, "cc/cc/"), (0, 21, 34, 51))
    actions, probs = planner.policy(state)
    assert actions == (CALL, 250)
    chances, bets = check_down_chances(rules, state.board, np.ones(rules.num_hands)), probs[:, 1] > 0
    assert chances[bets].mean() > chances[probs[:, 0] > 0].mean() + 0.2


@cases
def test_invalid_plans_are_refused(game: str, changes: dict[str, Any], message: str) -> None:
    rules, opponent = load_rules(game), RandomAgent(name="random", raises=())
    with pytest.raises(PokernetsError, match=message):
        LookAheadResponse(name="ahead", game=rules, opponent=opponent, actions=replace(PLANS, **changes))
