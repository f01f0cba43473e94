"""One solve for both players, and flops that are solved with few rivers."""

from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from poker.agents.searching.heads_up import DepthLimitedAgent
from poker.game.beliefs import observe_action, observe_board, start_ranges
from poker.game.betting import Betting
from poker.game.cards import HOLDEM, hand_index, parse_cards
from poker.game.rules import CALL
from poker.game.state import HandState, public_state
from poker.run.errors import PokernetsError
from poker.search.joint import JointSearch
from poker.search.opponent_decision import IMPROBABLE
from poker.solve.flops import SampledFlops
from poker.solve.solver import DepthLimitedSolver
from poker.solve.types import Request, SolverSettings
from poker.solvers.vector.game import estimated_hand_actions
from poker.tree import bet_menu, build_tree
from tests.cases import cases
from tests.games import HEADS_UP as RULES
from tests.games import load_menu
from tests.search.even_leaf import EvenLeaf, even_solver
from tests.search.test_nested import RandomRounds

FEWER = bet_menu(turn=[], river=[])
MENU = bet_menu(preflop=[[1.0], []], flop=[[1.0], []], turn=[[1.0], []], river=[[1.0], []])
FLOPS = SampledFlops(work=1.0, rivers=(1, 2), iterations=4, unlikely=0.6, fewer_ahead=FEWER)
JOINT: dict[str, Any] = {
    **{"menu": MENU, "ahead": MENU, "flops": FLOPS, "joint": True, "leaves": [EvenLeaf(), None]},
    "solver": SolverSettings("apdcfr", (20, 20, 20, 60), 1),
}
BOARD = parse_cards("7cQdKd2h9s")


@pytest.fixture(scope="module")
def agent() -> DepthLimitedAgent:
    return even_solver(**JOINT)


@pytest.mark.parametrize("line", ["r300c/", "r300c/c", "r300c/cc/cc/", "r300c/cc/r600c/c", "r300"])
def test_hint_is_the_action_of_the_agent(agent: DepthLimitedAgent, line: str) -> None:
    betting = Betting.parse(RULES, line)
    state = public_state(betting, BOARD[: RULES.board_sizes[betting.street]])
    actions, probs = agent.policy(state)
    hint = agent.opponents_decision(state)
    assert hint.actions == actions
    weights = hint.weights * (hint.strategy.sum(axis=1) > 0)
    np.testing.assert_array_equal(hint.strategy[weights > 0], probs[weights > 0])


@pytest.mark.parametrize("line", ["r300c/", "r300c/cc/cc/"])
def test_the_hint_knows_how_the_agent_answers(agent: DepthLimitedAgent, line: str) -> None:
    before = Betting.parse(RULES, line)
    board = BOARD[: RULES.board_sizes[before.street]]
    hint = agent.opponents_decision(public_state(before, board))
    actions, probs = agent.policy(public_state(before.apply(CALL), board))
    for action in actions:
        expected, _ = hint.answers[CALL, action]
        taken = np.nan_to_num(probs[:, actions.index(action)])
        ranges = _range_of(agent, before.apply(CALL), board)
        mass = HOLDEM.compatible_mass(ranges * taken), HOLDEM.compatible_mass(ranges)
        solved = (expected > 0) & (mass[1] > 0)
        np.testing.assert_allclose(expected[solved], (mass[0] / mass[1])[solved], atol=0.02)


def _range_of(agent: DepthLimitedAgent, betting: Betting, board: tuple[int, ...]) -> np.ndarray:
    policy = agent.ranged_policy(public_state(betting, board))
    solved = np.isfinite(policy.probs).all(axis=1)
    return np.asarray(policy.weights * solved, np.float64)


def test_a_hand_that_nobody_expects_is_solved_for(agent: DepthLimitedAgent) -> None:
    state = public_state(Betting.parse(RULES, "r300c/cc/r600c/"), BOARD)
    solved = agent.opponents_decision(state).strategy.sum(axis=1) > 0
    unexpected = int(np.flatnonzero(HOLDEM.live(BOARD) & ~solved)[0])
    strategy = agent.opponents_decision(state, hand=unexpected).strategy
    assert strategy[unexpected].sum() == pytest.approx(1.0)


def test_a_hand_that_the_agent_should_not_have_is_solved_for(agent: DepthLimitedAgent) -> None:
    betting = Betting.parse(RULES, "r300c/cc/r600c/")
    solved = agent.opponents_decision(public_state(betting, BOARD)).strategy.sum(axis=1) > 0
    for hand in np.flatnonzero(HOLDEM.live(BOARD) & ~solved)[:3].tolist():
        cards = [tuple(map(int, HOLDEM.hand_cards[hand])) if seat == betting.to_act else () for seat in range(2)]
        row = agent.ranged_policy(HandState.at(betting, cards, BOARD)).probs[hand]
        assert row.sum() == pytest.approx(1.0)
        assert np.ptp(row) > 0.01  # hands that a solve leaves out are uniform


def test_an_unknown_raise_is_valued(agent: DepthLimitedAgent) -> None:
    state = public_state(Betting.parse(RULES, "r300c/cc/"), BOARD[:4])
    hint = agent.opponents_decision(state, (777,))
    values = hint.values[hand_index(*parse_cards("KhQh")), hint.actions.index(777)]
    assert np.isfinite(values)


@cases
def test_the_work_decides_on_rivers_and_bets(rivers: float, expected: int, has_later_bets: bool) -> None:
    """Between 3 and 5 rivers; where fewer are affordable the tree has no later bets."""
    root, hands = Betting.parse(RULES, "r300c/"), (100, 200)
    trees = [build_tree(root, MENU.until(1, ahead)) for ahead in (MENU, FEWER)]
    one, two = (estimated_hand_actions(trees[0], hands, number) for number in (1, 2))
    work = 10 * (one + (rivers - 1) * (two - one)) * 1.001
    flops = replace(FLOPS, work=work, rivers=(3, 5))
    tree, number = flops.sized(trees[0], lambda: trees[1], hands, 10)
    assert (tree is trees[0]) == has_later_bets
    assert number == expected or not has_later_bets
    assert flops.iterations_of(int(work), 10) == FLOPS.iterations
    assert flops.iterations_of(int(work / 8), 10) == 8


def test_rivers_go_from_the_least_to_the_most() -> None:
    with pytest.raises(PokernetsError):
        replace(FLOPS, rivers=(5, 3))


@cases
def test_settings_that_a_joint_search_cannot_honour_are_refused(settings: dict[str, Any], named: str) -> None:
    with pytest.raises(PokernetsError, match=named):
        even_solver(**JOINT, **settings)


def joint_search(noise: float = 0.0) -> tuple[JointSearch, RandomRounds]:
    rounds = RandomRounds(load_menu("demo"), by_seat=True)
    return JointSearch(RULES, 0, rounds, opponent_noise=noise, remembered=99, follow=True, both_sides=1), rounds


@cases
def test_each_player_follows_a_solve_that_starts_before_the_opponents_action(
    line: str, solves: tuple[tuple[int, str], ...]
) -> None:
    search, rounds = joint_search()
    betting = Betting.parse(RULES, line)
    solution = search.solution(betting, ())
    assert solution.request is not None
    assert solution.request.searcher == betting.to_act
    assert tuple((request.searcher, request.root.text()) for request in rounds.requests) == solves


def test_one_solve_of_the_other_player_serves_every_action_of_the_menu() -> None:
    search, rounds = joint_search()
    for line in ("r200", "r300", "c", "r200r600", "r200"):
        search.policy(Betting.parse(RULES, line), ())
    assert len(rounds.requests) == 2


def test_ranges_of_both_players_contain_the_same_share_of_random_actions() -> None:
    search, _ = joint_search(noise=0.03)
    line, ranges = Betting.parse(RULES, "r200c/"), start_ranges(RULES)
    for state, player, action in line.turns():
        policy = search.policy(state, ())
        ranges = observe_action(ranges, player, policy.probability(action), 0.03, len(policy.actions))
    np.testing.assert_array_equal(search.belief(line, BOARD[:3]).ranges, observe_board(ranges, BOARD[:3]))


def test_only_decisions_after_the_root_play_rare_hands_by_regrets() -> None:
    """At the root every hand comes to the decision, so its average has weight there."""
    flops = replace(FLOPS, unlikely=0.0)
    solve = DepthLimitedSolver(MENU, MENU, {}, SolverSettings("apdcfr", (4,), 1), flops=flops, joint=True)
    ranges = observe_board(start_ranges(RULES), BOARD[:3])
    ranges[:, ::2] *= np.float32(1e-12)
    request = Request(Betting.parse(RULES, "r300c/"), BOARD[:3], ranges, 0)
    root, average = solve(request).policies[()], solve.solver_of(request).strategy(0)
    rare = np.flatnonzero(average.any(axis=1) & (ranges[root.player] < 1e-10))
    assert len(rare) > 100
    np.testing.assert_array_equal(root.probs[rare], average[rare])


def test_other_ranges_are_tried_after_an_improbable_action(agent: DepthLimitedAgent) -> None:
    """The strategy stays that of the one solve."""
    betting = Betting.parse(RULES, "cc/cc/r200r600r19800")
    state = public_state(betting, BOARD[:4])
    hint = agent.opponents_decision(state)
    assert min(hint.likelihoods) < IMPROBABLE
    assert [values.shape for values in hint.guesses] == 3 * [hint.values.shape]
    solved = hint.strategy.any(axis=1)
    np.testing.assert_array_equal(hint.strategy[solved], agent.policy(state)[1][solved])
