import random

import numpy as np
import pytest

from poker.abstraction.features import all_in_equity
from poker.game.betting import Betting
from poker.game.cards import HOLDEM, NUM_HANDS, hand_index, parse_cards
from poker.game.rules import CALL, FOLD, action_class
from poker.kernels.opponents import playout as kernel
from poker.kernels.rng import streams
from poker.kernels.types import Board, Singles
from poker.opponents.limit.playout import LineValues, PlayoutBudget, line_values, playout_board
from tests.games import load_rules
from tests.poki import same_habits
from tests.random_play import random_action

TWO = load_rules("holdem_limit_2p")
FLOP, RIVER = parse_cards("Kh9h4c"), parse_cards("Kh9h4c2d9s")
QUEENS, NINES = (hand_index(*parse_cards(text)) for text in ("QsQd", "9c9d"))
STYLE = kernel.Style(0.5, 0.5, 0.0)
CHECKS_DOWN = kernel.Style(-10.0, -10.0, 0.0)
"""Style so loose and passive that players neither fold nor bet."""
ALL_TRIALS = PlayoutBudget(batch=20_000, trials=20_000, seconds=600, margin=np.inf)
CALLS = (0.0, 1.0, 0.0)


def values_of(
    hand: int,
    betting: Betting,
    board: Board,
    habits: tuple[float, float, float] = CALLS,
    style: kernel.Style = STYLE,
    weights: Singles | None = None,
    budget: PlayoutBudget = ALL_TRIALS,
) -> LineValues:
    """Values of a hand against opponents of one table `weights` [1326], by default any hand, who all have the same
    habits."""
    players = betting.rules.num_players
    tables = np.tile(np.ones(NUM_HANDS, np.float32) if weights is None else weights, (players, 1))
    return line_values(hand, betting, board, tables, same_habits(players, *habits), style, budget, streams(1, 1)[0])


@pytest.mark.parametrize("name", ["holdem_limit_2p", "holdem_limit_3p", "holdem_limit_10p"])
def test_play_outs_follow_the_betting_rules(name: str) -> None:
    rules = load_rules(name)
    rng = random.Random(5)
    for _ in range(60):
        betting = Betting.start(rules)
        public = np.array([0, betting.to_act, 0, rules.big_blind, rules.num_players])
        committed, folded = np.array(betting.committed), np.zeros(rules.num_players, dtype=bool)
        waiting = np.ones(rules.num_players, dtype=bool)
        hand = kernel.LimitHand(public, committed, folded, waiting)
        limits = kernel.Limits(*map(np.array, (rules.raise_sizes, rules.max_raises, rules.first_player)))
        while not betting.is_over:
            action = random_action(betting.legal(), rng)
            if action == FOLD and rng.random() < 0.5:
                action = CALL
            kernel.apply_class(action_class(action), hand, limits)
            betting = betting.apply(action)
            assert public[kernel.TO_ACT] == betting.to_act
            assert (tuple(committed), tuple(folded)) == (betting.committed, betting.folded)
            if not betting.is_over:
                assert public[kernel.STREET] == betting.street
                assert public[kernel.NUM_RAISES] == betting.num_raises


@pytest.mark.parametrize(("board", "streets"), [("Kh9h4c", 1), ("Kh9h4c2d", 2), ("Kh9h4c2d9s", 3)])
def test_checked_down_hands_are_worth_their_equity(board: str, streets: int) -> None:
    """Nobody folds or raises: calling is worth the equity against the weight table in the final pot."""
    betting, cards = Betting.parse(TWO, "cc/" * streets + "r"), parse_cards(board)
    weights = np.random.default_rng(3).random(NUM_HANDS, dtype=np.float32) * HOLDEM.live(cards)
    values = values_of(QUEENS, betting, cards, style=CHECKS_DOWN, weights=weights)
    compatible = HOLDEM.live([*cards, *parse_cards("QsQd")])
    equity = float(all_in_equity(cards)[QUEENS, compatible] @ weights[compatible] / weights[compatible].sum())
    pot, to_call = betting.pot + betting.to_call, betting.to_call
    assert values.trials == ALL_TRIALS.trials
    assert abs(values.call - (equity * pot - to_call)) < 4 * values.call_error
    size = TWO.raise_sizes[streets]
    assert abs(values.bet - (equity * (pot + 2 * size) - to_call - size)) < 4 * values.bet_error


def test_a_raise_that_everybody_folds_to_wins_the_pot() -> None:
    """All but the very best hands fold when asked: raising wins what is there."""
    betting = Betting.parse(load_rules("holdem_limit_10p"), "ffffffcccc/")
    assert values_of(QUEENS, betting, FLOP, (1, 0, 0)).bet == pytest.approx(betting.pot, rel=0.03)


def test_ranges_and_card_removal_are_respected() -> None:
    """The only hand the opponent may hold is the nuts: a call on the river loses what it costs."""
    betting, weights = Betting.parse(TWO, "cc/cc/cc/r"), np.zeros(NUM_HANDS, np.float32)
    weights[[NINES, hand_index(*parse_cards("QsJs"))]] = 1
    values = values_of(QUEENS, betting, RIVER, weights=weights)
    assert (values.call, values.call_error) == (-betting.to_call, 0)


def test_one_plays_on_as_the_formula_player() -> None:
    """A set that is called by anything bets turn and river, too: 40 chips more than the pot that is there."""
    bets, checks = (
        values_of(NINES, Betting.parse(TWO, "cc/r"), FLOP, style=style).call for style in (STYLE, CHECKS_DOWN)
    )
    assert 34 < bets - checks <= 40


def test_bluffs_work_less_often_the_more_there_is_to_win() -> None:
    """The worst hand on the river, against anything, by somebody who folds half the time: only folds win."""
    board, hand, size = parse_cards("KhQh9c4dJs"), hand_index(*parse_cards("3c2c")), TWO.raise_sizes[3]
    success = []
    for text in ("cc/cc/cc/", "rrrc/rrrrc/rrrrc/"):
        betting = Betting.parse(TWO, text)
        success.append((values_of(hand, betting, board, (0.5, 0.5, 0), CHECKS_DOWN).bet + size) / (betting.pot + size))
    assert success[0] > success[1] + 0.1
    assert success[1] > 0.3


def test_sampling_stops_when_an_action_leads() -> None:
    budget = PlayoutBudget(batch=100, trials=50_000, seconds=600, margin=2)
    values = values_of(NINES, Betting.parse(TWO, "cc/cc/cc/r"), RIVER, budget=budget)
    assert values.trials == 100
    assert values.leader(True, True)[0] == "raise"


def test_leader_compares_the_two_best_legal_actions() -> None:
    values = LineValues(call=3.0, bet=5.0, call_error=1.0, bet_error=2.0, difference_error=0.5, trials=100)
    assert values.leader(True, True) == ("raise", 4.0)
    assert values.leader(True, False) == ("call", 3.0)
    assert values.leader(False, False) == ("call", np.inf)
    losing = LineValues(call=-3.0, bet=-5.0, call_error=1.0, bet_error=2.0, difference_error=0.5, trials=100)
    assert losing.leader(True, True) == ("fold", 3.0)


def test_strengths_are_shares_of_weaker_hands() -> None:
    prepared = playout_board(FLOP)
    _, now, turn, *_ = prepared.against(1)
    assert now.mean() == pytest.approx(0.5, abs=1e-6)
    aces = np.searchsorted(prepared.live, hand_index(*parse_cards("KcKd")))
    assert now[aces] > 0.99
    dealt = [card for card in range(52) if card not in FLOP]
    assert (turn[dealt].max(axis=1) > 0.99).all()
    assert (turn[list(FLOP)] == 0).all()
    left = HOLDEM.live([*FLOP, dealt[0]])[prepared.live]
    assert turn[dealt[0], left].mean() == pytest.approx(0.5, abs=1e-6)
    assert not turn[dealt[0], ~left].any()
