"""Hands of files are reviewed with their own stacks, and what cannot be is refused with the setting that differs."""

import numpy as np
import pytest

from poker.agents.searching.heads_up import DepthLimitedAgent
from poker.formats.histories import hands_of
from poker.game.cards import HOLDEM, cards_text, hand_index, parse_cards
from poker.game.rules import Rules
from poker.game.state import HandState, public_state
from poker.run.errors import PokernetsError
from poker.search.opponent_decision import every_hand
from poker.solvers.vector.game import VectorGame
from poker.solvers.vector.solver import VectorSolver
from poker.studio.hands.hand_base import rows_in
from poker.studio.hands.hand_file import FileReviews, in_chips_of, why_not
from poker.studio.hands.review import decisions_of
from poker.tree import build_tree
from tests.devices import CHIPS, SHARE
from tests.formats.samples import sample
from tests.formats.sites.test_pokerstars import LIMIT, TOURNAMENT
from tests.games import HEADS_UP as RULES
from tests.games import load_rules
from tests.search.even_leaf import MENU, even_solver

BOARD = "AcKd2h7s9h"  # in the suits that its flop is solved in

HEADS_UP = sample("pokerstars_heads_up")
ACPC = "# GAMEDEF\n{}\n# END GAMEDEF\nSTATE:0:{}:2c3d|KhQh/AcKd2h/7s/9h:{}:Ben|Ann\n"
NO_SMALL_BLIND = sample("phh_no_small_blind")


def acpc(betting: str, payoffs: str, stack: int = 20000) -> str:
    lines = RULES.to_acpc().replace("20000 20000", f"{stack} {stack}").splitlines()[1:-1]
    return ACPC.format("\n".join(f"# {line}" for line in lines), betting, payoffs)


def test_the_player_whose_file_it_is_comes_first() -> None:
    """They come first even where others have shown cards in as many hands."""
    showdown = "Ben: shows [2c 3d] (high card Ace)\n*** SUMMARY ***"
    for name, other, cards in (("Ann", "Ben", "2c 3d"), ("Ben", "Ann", "Kh Qh")):
        text = HEADS_UP.replace("Dealt to Ann [Kh Qh]", f"Dealt to {name} [{'Kh Qh' if name == 'Ann' else '2c 3d'}]")
        text = text.replace("*** SUMMARY ***", showdown.replace("Ben", other).replace("2c 3d", cards), 1)
        file = rows_in("f.txt", text.encode(), RULES)
        assert (file.errors, file.owner) == ([], name)
    for names in (["Hero", "Ann"], ["Ann", "Hero"]):
        line = acpc("r300c/cc/cc/cc", "-300|300").replace(":Ben|Ann", f":{'|'.join(names)}")
        assert rows_in("f.log", line.encode(), RULES).owner == "Hero"


def only_hand(text: str, player: str = "Ann", game: Rules = RULES) -> HandState:
    [hand] = hands_of(text, "hands", RULES)
    return in_chips_of(game, hand, player)


@pytest.fixture(scope="module")
def agent() -> DepthLimitedAgent:
    return even_solver()


def test_both_have_the_smaller_stack_and_a_big_blind_is_that_of_the_game() -> None:
    state = only_hand(HEADS_UP)
    assert state.rules.stacks == (10000, 10000)
    assert state.rules.blinds == RULES.blinds
    assert state.betting.text() == "r300c/cc/cr750c/r1750r10000f"
    assert cards_text(state.runout) == BOARD
    other = only_hand(HEADS_UP.replace("$0.25/$0.50", "$0.20/$0.50").replace("blind $0.25", "blind $0.20"))
    assert other.rules.blinds == (100, 40)


def test_river_evs_of_a_hand_of_100_big_blinds_are_those_of_the_vector_engine(
    agent: DepthLimitedAgent, device: str
) -> None:
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
        (TOURNAMENT, "players: reviews are of heads-up hands"),
        (HEADS_UP.replace("Dealt to Ann [Kh Qh]\n", ""), "the file does not have the cards of either player"),
        (NO_SMALL_BLIND, "blinds that are not a small one of the button and a big one"),
    ],
)
def test_other_games_are_refused_with_their_reason(text: str, reason: str) -> None:
    [hand] = hands_of(text, "hands", RULES)
    assert reason in why_not(hand, RULES)


def test_hands_without_the_player_or_their_cards_are_refused() -> None:
    six = load_rules("holdem_nolimit_6p")
    for player, game, why in (
        ("Ben", RULES, "the cards of `Ben` are not known"),
        ("Cy", RULES, "`Cy` is not in the hand; Ben, Ann are"),
        ("Ann", six, "the agent plays `holdem_nolimit_6p`"),
    ):
        with pytest.raises(PokernetsError, match=why):
            only_hand(HEADS_UP, player, game)


def test_a_fold_where_checking_is_free_ends_what_is_reviewed() -> None:
    text = HEADS_UP.replace("Ann: checks\n*** TURN", "Ann: folds\n*** TURN")
    text = text[: text.index("*** TURN")] + "Ben collected $3 from pot\n*** SUMMARY ***\nTotal pot $3 | Rake $0\n"
    state = only_hand(text)
    assert state.betting.text() == "r300c/c"
    assert len(list(decisions_of(state, 1))) == 1
