"""Reviews say what the vector engine says."""

from typing import Any
from unittest.mock import Mock

import numpy as np
import pytest

from poker.agents.searching.heads_up import DepthLimitedAgent
from poker.game.betting import Betting
from poker.game.cards import HAND_CARDS, HOLDEM, NUM_HANDS, PREFLOP_CLASS, CanonicalBoard, hand_index, parse_cards
from poker.game.rules import CALL, FOLD
from poker.game.state import HandState, public_state
from poker.kernels.types import Ranges
from poker.run.errors import PokernetsError
from poker.search.opponent_decision import Believed, SolvedDecision, every_hand, solved_decision
from poker.search.round_solver import DepthLimitedSolver, Request, SolverSettings
from poker.search.settings import SearchSettings
from poker.solvers.vector.game import VectorGame
from poker.solvers.vector.solver import VectorSolver
from poker.studio.hands.review import Reviews, review
from poker.tree import bet_menu, build_tree
from tests.devices import CHIPS, FEW, SHARE
from tests.games import HEADS_UP as RULES
from tests.games import load_rules
from tests.search.even_leaf import EvenLeaf

MENU = bet_menu(preflop=[[1.0], []], flop=[[1.0], []], turn=[[1.0], []], river=[[0.5, 1.0], ["a"]])
RIVER = parse_cards("2cKdAh7s9h")
ACES = 168
SETTINGS = SolverSettings("apdcfr", (20, 20, 10, 60), 1)


@pytest.fixture(scope="module")
def agent() -> DepthLimitedAgent:
    return hurried()


def river_spot(seed: int) -> tuple[HandState, Ranges]:
    rng = np.random.default_rng(seed)
    betting = Betting.parse(RULES, ("r300c/cc/cc/", "r300c/cr600c/cc/c", "r300c/cc/cc/r600")[seed % 3])
    ranges = rng.random((2, NUM_HANDS)).astype(np.float32) ** 3 * HOLDEM.live(RIVER)
    held = parse_cards("KhQh")
    cards = [held if player == betting.to_act else () for player in range(2)]
    ranges[betting.to_act, hand_index(*held)] = 0.0
    return HandState(betting, tuple(cards), RIVER), ranges


@pytest.mark.parametrize(("device", "iterations"), [("cpu", 60), ("torch", FEW)])
@pytest.mark.parametrize("seed", range(6))
def test_losses_on_the_river_are_those_of_the_vector_engine(seed: int, device: str, iterations: int) -> None:
    """Compare with a solve put together here, bit for bit on the CPU; the hand held is outside the range."""
    chips, share = (0.0, 0.0) if device == "cpu" else (CHIPS, SHARE)
    state, ranges = river_spot(seed)
    player, betting = state.to_act, state.betting
    chosen = betting.legal().min_raise + 37
    solve = DepthLimitedSolver(MENU, MENU, {}, SolverSettings("apdcfr", (iterations,), 1, device=device))
    whole = every_hand(ranges, player, RIVER)
    solver = solve.solved(Request(betting, RIVER, whole, 1 - player, (chosen,)), every_hand=True)
    decision = review(
        solved_decision(solver, Believed(ranges, ranges[player], ()), CanonicalBoard(RIVER)), state, chosen
    )

    tree = build_tree(betting, MENU.with_action(betting, chosen))
    engine = VectorSolver(VectorGame(tree, RIVER, whole), "apdcfr")
    engine.run(iterations)
    hand = hand_index(*state.hole_cards[player])
    values = engine.action_values(0)[hand].astype(np.float64)
    assert decision.actions == tree.actions(0)
    assert chosen in decision.actions
    np.testing.assert_allclose(decision.evs, values + betting.committed[player], rtol=0, atol=chips)
    np.testing.assert_allclose(decision.frequencies, engine.strategy(0)[hand], rtol=0, atol=share)
    assert decision.loss == pytest.approx(values.max() - values[decision.actions.index(chosen)], rel=0, abs=2 * chips)
    assert decision.best == decision.actions[int(values.argmax())]
    assert (FOLD in decision.actions) == bool(betting.to_call)
    if FOLD in decision.actions:
        assert decision.evs[decision.actions.index(FOLD)] == pytest.approx(0.0, abs=1e-3)
    live = np.bincount(PREFLOP_CLASS, HOLDEM.live(RIVER), minlength=169) > 0
    np.testing.assert_allclose(decision.grid[live].sum(axis=1), 1.0, rtol=1e-5)
    assert np.isnan(decision.grid[~live]).all()
    assert decision.believed.sum() == pytest.approx(1.0)
    of_aces = ranges[player][PREFLOP_CLASS == ACES].sum()
    assert decision.believed[ACES] == pytest.approx(of_aces / ranges[player].sum(), rel=1e-5)


def test_hands_without_weight_change_nothing_for_others() -> None:
    state, ranges = river_spot(0)
    solve = DepthLimitedSolver(MENU, MENU, {}, SETTINGS)
    solved: list[SolvedDecision] = []
    for used in (ranges, every_hand(ranges, state.to_act, RIVER)):
        solver = solve.solved(Request(state.betting, RIVER, used, 1 - state.to_act), every_hand=True)
        solved.append(solved_decision(solver, Believed(ranges, ranges[state.to_act], ()), CanonicalBoard(RIVER)))
    inside = ranges[state.to_act] > 0
    assert (~inside & HOLDEM.live(RIVER)).any()
    np.testing.assert_allclose(solved[1].values[inside], solved[0].values[inside], atol=1.0)
    assert np.isfinite(solved[1].values[HOLDEM.live(RIVER)]).all()


def test_continuations_are_picked_for_the_best(agent: DepthLimitedAgent) -> None:
    """The opponent chooses the better continuation: zero over a tenth of the pot to the other player."""
    state = HandState.at(Betting.parse(RULES, "r300c/c"), [(), parse_cards("AhKh")], parse_cards("7cQdKd"))
    decision = review(agent.opponents_decision(public_state(state.betting, state.board)), state, CALL)
    assert decision.evs[decision.actions.index(CALL)] == pytest.approx(300.0, abs=5.0)


def test_evs_add_up_from_answers(agent: DepthLimitedAgent) -> None:
    state = HandState.at(Betting.parse(RULES, "r300c/"), [parse_cards("AhKh"), ()], parse_cards("7cQdKd"))
    decision = review(agent.opponents_decision(public_state(state.betting, state.board), (700,)), state, 700)
    for action, ev in zip(decision.actions, decision.evs, strict=True):
        answers = [answer for path, answer in decision.answers.items() if path[0] == action]
        assert sum(share for share, _ in answers) == pytest.approx(1.0, abs=1e-5)
        assert sum(share * value for share, value in answers) == pytest.approx(ev, abs=0.05)
    assert (decision.best_evs >= decision.evs - 0.05).all()
    assert decision.error >= decision.exploitability > 0


def hurried(**settings: Any) -> DepthLimitedAgent:
    search = SearchSettings(menu=MENU, ahead=MENU, solver=SETTINGS, opponent_noise=0.02, remembered_states=100)
    return DepthLimitedAgent(name="d", game=RULES, leaves=[EvenLeaf(), EvenLeaf()], search=search, **settings)


def test_reviews_do_not_end_with_the_time_for_a_decision(agent: DepthLimitedAgent) -> None:
    """A review equals that of an agent without a time limit, including the solves that it follows."""
    board = parse_cards("7cQdKd2h")
    state = public_state(Betting.parse(RULES, "r300c/cr600c/c"), board)
    solved = hurried(solver=SETTINGS, seconds_per_decision=1e-3).opponents_decision(state)
    wanted = agent.opponents_decision(state)
    np.testing.assert_array_equal(solved.values, wanted.values)
    np.testing.assert_array_equal(solved.ranges, wanted.ranges)


@pytest.mark.parametrize(("limit", "finished"), [(0.01, True), (1e-7, False)])
def test_reviews_solve_to_their_exploitability(limit: float, finished: bool) -> None:
    """Reviews run more iterations than play does, and say whether those were enough."""
    state = public_state(Betting.parse(RULES, "r300c/cc/cc/"), RIVER)
    solver = SolverSettings("apdcfr", (20, 20, 10, 10), 1, limit)
    solved = hurried(solver=solver).opponents_decision(state)
    assert solved.finished == finished
    assert (solved.exploitability <= limit * state.betting.pot) == finished


def test_suits_that_were_dealt(agent: DepthLimitedAgent) -> None:
    """Renaming the suits of a spot leaves the value of every hand unchanged."""
    suits = str.maketrans("cdhs", "shdc")
    betting = Betting.parse(RULES, "r300c/cc/c")
    boards = [parse_cards(text) for text in ("7cQdKd2h", "7cQdKd2h".translate(suits))]
    first, other = (agent.opponents_decision(public_state(betting, board), (500,)) for board in boards)
    renamed = [hand_index(*(card // 4 * 4 + 3 - card % 4 for card in hand)) for hand in HAND_CARDS.tolist()]
    assert first.actions == other.actions
    assert 500 in first.actions
    np.testing.assert_allclose(first.values, other.values[renamed], rtol=1e-4, atol=0.05)
    np.testing.assert_allclose(first.strategy, other.strategy[renamed], atol=1e-3)
    np.testing.assert_allclose(first.ranges, other.ranges[:, renamed], rtol=1e-4)
    for solved, board in zip((first, other), boards, strict=True):
        np.testing.assert_array_equal(np.isfinite(solved.values).all(axis=1), HOLDEM.live(board))
        assert not solved.ranges[:, ~HOLDEM.live(board)].any()


@pytest.mark.parametrize(
    ("game", "message"),
    [("leduc", "reviews are of hold'em, not of `leduc`"), ("holdem_nolimit_6p", "rivers that began with two players")],
)
def test_other_decisions_are_not_reviewed(game: str, message: str) -> None:
    rules = load_rules(game)
    reviews = Reviews(rules, Mock())
    with pytest.raises(PokernetsError, match=message):
        reviews.decision(HandState.deal(rules, np.random.default_rng(0)), None)
