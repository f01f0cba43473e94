"""Reviews say what the vector engine says: of files with their own stacks too, and of hands that are not expected."""

from contextlib import closing
from dataclasses import replace
from typing import Any
from unittest.mock import Mock

import numpy as np
import pytest
from fastapi.testclient import TestClient

from poker.agents.searching.heads_up import DepthLimitedAgent
from poker.formats.histories import hands_of
from poker.game.betting import Betting
from poker.game.cards import (
    HAND_CARDS,
    HOLDEM,
    NUM_HANDS,
    PREFLOP_CLASS,
    RARE,
    CanonicalBoard,
    cards_text,
    hand_index,
    parse_cards,
)
from poker.game.rules import CALL, FOLD, Rules
from poker.game.state import HandState, Policy, public_state
from poker.kernels.types import Ranges
from poker.play.lineup import AgentSpec
from poker.run.errors import PokernetsError
from poker.search.opponent_decision import Believed, SolvedDecision, every_hand, solved_decision
from poker.solve.solver import DepthLimitedSolver
from poker.solve.types import Request, SolverSettings
from poker.solvers.vector.game import VectorGame
from poker.solvers.vector.solver import VectorSolver
from poker.studio.hands.hand_base import rows_in
from poker.studio.hands.hand_file import FileReviews, in_chips_of, why_not
from poker.studio.hands.review import Reviews, decisions_of, review
from poker.studio.server.access import Access
from poker.studio.serving.loaded_agent import LoadedAgent
from poker.studio.serving.questions import AgentQuestion, Desk
from poker.studio.serving.web import interface
from poker.tree import build_tree
from tests.agents.opaque import Opaque
from tests.cases import cases
from tests.devices import CHIPS, FEW, SHARE
from tests.formats.samples import sample
from tests.formats.sites.test_pokerstars import LIMIT, TOURNAMENT
from tests.games import HEADS_UP as RULES
from tests.games import load_rules
from tests.search.even_leaf import MENU, even_solver

RIVER = parse_cards("2cKdAh7s9h")
ACES = 168
SETTINGS = SolverSettings("apdcfr", (20, 20, 10, 60), 1)


@pytest.fixture(scope="module")
def agent() -> DepthLimitedAgent:
    return even_solver()


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
def test_losses_on_the_river_equal_the_vector_engine(seed: int, device: str, iterations: int) -> None:
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


def test_reviews_do_not_end_with_the_time_for_a_decision(agent: DepthLimitedAgent) -> None:
    """A review equals that of an agent without a time limit, including the solves that it follows."""
    board = parse_cards("7cQdKd2h")
    state = public_state(Betting.parse(RULES, "r300c/cr600c/c"), board)
    solved = even_solver(solver=SETTINGS, seconds_per_decision=1e-3).opponents_decision(state)
    wanted = agent.opponents_decision(state)
    np.testing.assert_array_equal(solved.values, wanted.values)
    np.testing.assert_array_equal(solved.ranges, wanted.ranges)


@pytest.mark.parametrize(("limit", "finished"), [(0.01, True), (1e-7, False)])
def test_reviews_solve_to_their_exploitability(limit: float, finished: bool) -> None:
    """Reviews run more iterations than play does, and say whether those were enough."""
    state = public_state(Betting.parse(RULES, "r300c/cc/cc/"), RIVER)
    solver = SolverSettings("apdcfr", (20, 20, 10, 10), 1, limit)
    solved = even_solver(solver=solver).opponents_decision(state)
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


@cases
def test_other_decisions_are_not_reviewed(game: str, message: str) -> None:
    rules = load_rules(game)
    reviews = Reviews(rules, Mock())
    with pytest.raises(PokernetsError, match=message):
        reviews.decision(HandState.deal(rules, np.random.default_rng(0)), None)


BOARD = "AcKd2h7s9h"  # in the suits that its flop is solved in

HEADS_UP = sample("pokerstars_heads_up")
ACPC = "# GAMEDEF\n{}\n# END GAMEDEF\nSTATE:0:{}:2c3d|KhQh/AcKd2h/7s/9h:{}:Ben|Ann\n"
NO_SMALL_BLIND = sample("phh_no_small_blind")


def acpc(betting: str, payoffs: str, stack: int = 20000) -> str:
    lines = RULES.to_acpc().replace("20000 20000", f"{stack} {stack}").splitlines()[1:-1]
    return ACPC.format("\n".join(f"# {line}" for line in lines), betting, payoffs)


def test_the_player_whose_file_it_is_comes_first() -> None:
    for names in (["Hero", "Ann"], ["Ann", "Hero"]):
        line = acpc("r300c/cc/cc/cc", "-300|300").replace(":Ben|Ann", f":{'|'.join(names)}")
        assert rows_in("f.log", line.encode(), RULES).owner == "Hero"


def only_hand(text: str, player: str = "Ann", game: Rules = RULES) -> HandState:
    [hand] = hands_of(text, "hands", RULES)
    return in_chips_of(game, hand, player)[0]


def test_both_have_the_smaller_stack_and_a_big_blind_is_that_of_the_game() -> None:
    state = only_hand(HEADS_UP)
    assert state.rules.stacks == (10000, 10000)
    assert state.rules.blinds == RULES.blinds
    assert state.betting.text() == "r300c/cc/cr750c/r1750r10000f"
    assert cards_text(state.runout) == BOARD
    other = only_hand(HEADS_UP.replace("$0.25/$0.50", "$0.20/$0.50").replace("blind $0.25", "blind $0.20"))
    assert other.rules.blinds == (100, 40)


def test_river_evs_at_100_big_blinds_equal_the_vector_engine(agent: DepthLimitedAgent, device: str) -> None:
    """Against a solve put together here, bit for bit on the CPU, with the ranges that the agent believes in."""
    chips, share = (0.0, 0.0) if device == "cpu" else (CHIPS, SHARE)
    state = only_hand(HEADS_UP)
    view, chosen = list(decisions_of(state, 1))[-1]
    decision = FileReviews(RULES, agent).decision(view, chosen)
    assert (view.street, view.betting.pot, chosen) == (3, 2500, 10000)

    board = parse_cards(BOARD)
    ranges = agent.others_decision(public_state(view.betting, view.board), (chosen,)).ranges
    tree = build_tree(view.betting, MENU.with_action(view.betting, chosen))
    engine = VectorSolver(VectorGame(tree, board, every_hand(ranges, 1, board)), "apdcfr")
    engine.run(iterations=60)
    hand = hand_index(*parse_cards("KhQh"))
    values = engine.action_values(0)[hand].astype(np.float64)
    assert decision.actions == tree.actions(0)
    np.testing.assert_allclose(decision.evs, values + 750, rtol=0, atol=chips)
    np.testing.assert_allclose(decision.frequencies, engine.strategy(0)[hand], rtol=0, atol=share)
    assert decision.loss == pytest.approx(values.max() - values[decision.actions.index(10000)], rel=0, abs=2 * chips)


def test_rounds_before_the_turn_need_the_stacks_of_the_game(agent: DepthLimitedAgent) -> None:
    reviews, state = FileReviews(RULES, agent), only_hand(HEADS_UP)
    assert [view.street for view, _ in decisions_of(state, 1)] == [0, 1, 2, 3]
    assert [view.street for view, _ in reviews.reviewed(state, 1)] == [2, 3]
    view, chosen = next(decisions_of(state, 1))
    with pytest.raises(PokernetsError, match=r"this hand has 100 big blinds, the agent's game 200.*\[10000,10000\]"):
        reviews.decision(view, chosen)
    for stack, streets in ((18000, [0, 1, 2, 3]), (17900, [2, 3]), (22000, [0, 1, 2, 3]), (22100, [2, 3])):
        near = only_hand(acpc("r300c/cc/cc/cc", "-300|300", stack))
        assert [one.street for one, _ in reviews.reviewed(near, 1)] == streets


def test_chance_may_be_behind_the_actions_of_both_players(agent: DepthLimitedAgent) -> None:
    """The agent plays as it has solved, another player need not: nothing that Ben has done rules a hand out."""
    view, _ = list(decisions_of(only_hand(acpc("r300c/cc/cr750c/r1750f", "750|-750")), 1))[-1]
    public, live = public_state(view.betting, view.board), HOLDEM.live(view.board)
    others, agents = agent.others_decision(public), agent.opponents_decision(public)
    least = [solved.ranges[0, live].min() / solved.ranges[0, live].max() for solved in (others, agents)]
    assert least[0] > 0.02**3 > least[1]


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        (LIMIT, "limit betting"),
        (TOURNAMENT, "players: reviews of more than two need the blueprint"),
        (HEADS_UP.replace("Dealt to Ann [Kh Qh]\n", ""), "the file lacks the cards of both players"),
        (NO_SMALL_BLIND, "other blinds: only hands with a small blind and a big blind"),
    ],
)
def test_other_games_are_refused_with_their_reason(text: str, reason: str) -> None:
    [hand] = hands_of(text, "hands", RULES)
    assert reason in why_not(hand, RULES)


def test_hands_without_the_player_or_their_cards_are_refused() -> None:
    six = load_rules("holdem_nolimit_6p")
    for player, game, why in (
        ("Ben", RULES, "the cards of `Ben` are unknown"),
        ("Cy", RULES, "`Cy` is not in the hand; its players are Ben, Ann"),
        ("Ann", six, "2 players: the agent plays `holdem_nolimit_6p`"),
    ):
        with pytest.raises(PokernetsError, match=why):
            only_hand(HEADS_UP, player, game)


@cases
def test_at_larger_tables_absent_players_fold_first_with_the_stacks_of_the_hand(name: str, betting: str) -> None:
    six = load_rules("holdem_nolimit_6p")
    [hand] = hands_of(sample(name), name)
    player, cards = next(pair for pair in zip(hand.names, hand.state.hole_cards, strict=True) if pair[1])
    state, seat = in_chips_of(six, hand, player)
    assert state.betting.text() == betting
    assert state.hole_cards[seat] == cards
    absent = 6 - hand.rules.num_players
    assert (*state.rules.stacks[:2], *state.rules.stacks[2 + absent :]) == tuple(
        round(chips * 100 / hand.rules.big_blind) for chips in hand.rules.stacks
    )


def test_hands_of_more_players_are_solved_by_the_agent_of_their_game(agent: DepthLimitedAgent) -> None:
    six, ring = load_rules("holdem_nolimit_6p"), Mock()
    reviews = FileReviews(RULES, agent, (six, ring))
    alone = FileReviews(RULES, agent)
    assert (reviews.most_players, alone.most_players) == (6, 2)
    assert [reviews.game_of(players) for players in (2, 3, 6)] == [RULES, six, six]
    state = HandState(Betting.parse(six, "fffr300fc/cc/"), ((),) * 6, parse_cards("AcKd2h7s"))
    assert reviews.solver_of(state) is ring
    assert not reviews.refusal(state)
    assert "began with two" in reviews.refusal(replace(state, betting=Betting.parse(six, "fffr300fc/c")))
    assert reviews.solver_of(only_hand(HEADS_UP)) is agent


def test_review_ends_at_a_fold_where_checking_is_free() -> None:
    text = HEADS_UP.replace("Ann: checks\n*** TURN", "Ann: folds\n*** TURN")
    text = text[: text.index("*** TURN")] + "Ben collected $3 from pot\n*** SUMMARY ***\nTotal pot $3 | Rake $0\n"
    state = only_hand(text)
    assert state.betting.text() == "r300c/c"
    assert len(list(decisions_of(state, 1))) == 1


BETTING, JACKS_BOARD = "r300r900c/r1800c/r5400c/r10800", "JhJdTcQs2c"
NEVER = "7h3d"
"""A hand that has called two large bets without a draw, and now loses to every hand that bets."""


@pytest.fixture(scope="module")
def loaded() -> LoadedAgent:
    return LoadedAgent(even_solver(), RULES)


def test_a_hand_that_is_not_expected_is_solved_for_and_not_played_at_random(loaded: LoadedAgent) -> None:
    """It never calls, and what it does is within a fiftieth of the pot of the best that a solve of its own finds."""
    state = loaded.state(BETTING, JACKS_BOARD, NEVER)
    assert isinstance(loaded.agent, DepthLimitedAgent)
    solved = loaded.agent.opponents_decision(public_state(state.betting, state.board))
    values = dict(zip(solved.actions, solved.values[hand_index(*parse_cards(NEVER))].tolist(), strict=True))
    actions = {loaded.act(state) for _ in range(30)}
    assert CALL not in actions
    assert min(values[action] for action in actions) > max(values.values()) - 0.02 * state.betting.pot
    assert values[CALL] < max(values.values()) - 0.2 * state.betting.pot


def test_solves_that_the_clock_ends_are_not_repeatable() -> None:
    assert even_solver().repeatable
    assert not even_solver(seconds_per_hand=1.0).repeatable


def test_a_strategy_has_weights_and_no_rows_for_hands_that_are_not_expected(loaded: LoadedAgent) -> None:
    table = loaded.strategy(loaded.state(BETTING, JACKS_BOARD))
    fold, weights = table["fold"], table["weight"]
    assert weights.max() == 1.0
    assert np.isnan(fold[table["hand"] == NEVER]).all()
    assert np.isnan(fold).sum() > 100
    assert np.isnan(fold[weights < RARE]).all()
    assert not np.isnan(fold[weights > 0.01]).any()
    held = loaded.strategy(loaded.state(BETTING, JACKS_BOARD, NEVER))
    assert held["call"][held["hand"] == NEVER] < 0.01
    same = held["hand"] != NEVER
    np.testing.assert_array_equal(held["fold"][same], fold[same])
    np.testing.assert_array_equal(held["weight"], weights)


@pytest.fixture(scope="module")
def desk() -> Desk:
    return Desk(RULES, [AgentSpec("solver", even_solver, {})], None, 1, 0)


@pytest.mark.parametrize("over_http", [False, True], ids=["asked", "HTTP"])
def test_answers_name_unexpected_hands(loaded: LoadedAgent, desk: Desk, over_http: bool) -> None:
    def ask(**question: str) -> dict[str, Any]:
        if not over_http:  # as tools of language models do
            return desk.answer(AgentQuestion(**question))
        with closing(TestClient(Access(interface(desk), None), base_url="http://localhost")) as client:
            answer: dict[str, Any] = client.post("/ask", json=question).json()
            return answer

    table = loaded.strategy(loaded.state(BETTING, JACKS_BOARD, NEVER))
    row = list(table["hand"]).index(NEVER)
    one = ask(betting=BETTING, board=JACKS_BOARD, hand=NEVER)
    assert "7h3d is outside the agent's range" in one["note"]
    assert one["hands"]["weight"] == pytest.approx([table["weight"][row]], rel=1e-5)
    assert one["hands"]["fold"] == pytest.approx([table["fold"][row]], rel=1e-5)
    every = ask(betting=BETTING, board=JACKS_BOARD)
    assert every["hands"]["fold"][row] is None
    assert f"{every['hands']['fold'].count(None)} of 1,081 hands are null" in every["note"]
    assert "note" not in ask(betting=BETTING, board=JACKS_BOARD, hand="AhAc")


@pytest.mark.parametrize(
    ("betting", "board"), [("r300r900", ""), ("r300r900c/r1800", JACKS_BOARD[:6]), (BETTING, JACKS_BOARD)]
)
def test_reviews_and_hints_have_the_same_weights(loaded: LoadedAgent, betting: str, board: str) -> None:
    state = loaded.state(betting, board, NEVER)
    assert isinstance(loaded.agent, DepthLimitedAgent)
    weights = loaded.agent.ranged_policy(state).weights
    hand, public = hand_index(*parse_cards(NEVER)), public_state(state.betting, state.board)
    assert review(loaded.agent.opponents_decision(public), state, CALL).weight == weights[hand]
    assert review(loaded.agent.others_decision(public), state, CALL).weight == weights[hand]
    np.testing.assert_array_equal(loaded.agent.others_decision(public).weights, weights)


class RaisesPairs(Opaque):
    """Raises to 300 or 900 with every pair and a quarter of its other hands, else calls."""

    def policy(self, state: HandState) -> Policy:
        raises = np.where(PAIRS, 1.0, 0.25)
        return (CALL, 300 if state.betting.highest == 100 else 900), np.stack([1 - raises, raises], axis=1)


PAIRS = HAND_CARDS[:, 0] // 4 == HAND_CARDS[:, 1] // 4


def test_weights_of_an_agent_without_search_follow_from_its_policy() -> None:
    board = parse_cards(JACKS_BOARD[:6])
    ranged = RaisesPairs().ranged_policy(public_state(Betting.parse(RULES, "r300r900c/"), board))
    live = HOLDEM.live(board)
    np.testing.assert_allclose(ranged.weights, np.where(live, np.where(PAIRS, 1.0, 0.25), 0.0), rtol=1e-6)
    assert np.isfinite(ranged.probs).all()
