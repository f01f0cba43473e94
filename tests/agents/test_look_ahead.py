"""The adversary that looks ahead: the exact best response where it sees all, and less than that where it does not."""

from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from poker.abstraction.equities import check_down_chances
from poker.agents.local_best_response import LbrActions, LbrStreet, LocalBestResponse
from poker.agents.look_ahead import LookAheadActions, LookAheadResponse
from poker.agents.simple import AlwaysCall, RandomAgent
from poker.game.betting import Betting
from poker.game.rules import CALL, Rules
from poker.game.state import public_state
from poker.run.errors import PokernetsError
from poker.solvers.best_response.public import best_response
from poker.tree import BetMenu, bet_menu
from tests.agents.solved_turn import SolvedTurn
from tests.agents.test_local_best_response import play
from tests.evaluation.profiles import profile_values
from tests.evaluation.small_games import RandomPolicy
from tests.games import load_rules
from tests.solvers.games import SPOTS

MENU = bet_menu(turn=[0.75], river=[0.75])
PLANS = LookAheadActions([], plans_from=2, menu=MENU, ahead=MENU)
SPOT = {
    **SPOTS["t2_turn_wide"]["config"],
    "stack": "150",
    "oop_range": "AA,KTs,87s,T8s,A5s",
    "ip_range": "KQs,99,86s,A4s",
}


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
    first, second = [one.policy, other.policy], [other.policy, one.policy]
    return [profile_values(rules, first).value, -profile_values(rules, second).value]


@pytest.mark.parametrize("iterations", [1, 100])
def test_on_a_turn_it_wins_what_the_solver_says(iterations: int) -> None:
    agent = SolvedTurn(SPOT, MENU, iterations)
    exact = agent.solver.exploitability() / agent.pot
    assert agent.lost_to(LookAheadResponse, PLANS) == pytest.approx(exact, abs=1e-5)
    actions = replace(PLANS, cards=6, neglect=0.02)
    sampled = agent.lost_to(LookAheadResponse, actions)
    assert exact - 0.03 < sampled < exact - 1e-6
    boards = [(*agent.board, card) for card in range(52) if card not in agent.board]
    for plans, won in ((PLANS, exact), (actions, sampled)):
        planner = LookAheadResponse(name="ahead", game=agent.rules, opponent=agent, actions=plans)
        chips, gains = planner.winnings(agent.root, agent.board, boards)
        assert chips / agent.pot == pytest.approx(won, abs=1e-3)
        if plans is PLANS:
            assert sum(gains.values()) == pytest.approx(chips, abs=1e-3 * agent.pot)
            assert min(gains.values()) > -1e-6
            assert {street for street, _ in gains} == {2, 3}


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


def test_what_a_plan_cannot_be() -> None:
    def planner(game: str, **changes: Any) -> LookAheadResponse:
        opponent = RandomAgent(name="random", raises=())
        return LookAheadResponse(
            name="ahead", game=load_rules(game), opponent=opponent, actions=replace(PLANS, **changes)
        )

    for game, changes, message in (
        ("leduc_3p", {}, "`ahead` plays heads-up games; 'leduc_3p' has 3 players"),
        ("leduc", {"cards": 0}, "must be at least 1, or null for all, not 0"),
        ("leduc", {"neglect": 1}, "a share from 0 to 1, not 1"),
    ):
        with pytest.raises(PokernetsError, match=message):
            planner(game, **changes)
