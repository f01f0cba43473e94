"""The rules of a table that no game of the ACPC has: antes, dead blinds, a short big blind, stacks of 0."""

import pytest

from poker.evaluation.tally import BEYOND_THE_POT, irregularities
from poker.formats.phh_read import parse_hand
from poker.formats.played import LineError, PlayedHand, Replayer, payoffs_by_rules, table_rules
from poker.game.rules import CALL, FOLD
from poker.game.state import Betting, HandState, IllegalAction, Pot
from poker.run.errors import PokernetsError
from tests.cases import cases
from tests.formats.samples import sample


def end_of(rules_of: dict[str, object], actions: list[int], hands: str, board: str = "") -> HandState:
    rules = table_rules(**rules_of)  # type: ignore[arg-type]
    state = HandState.start(rules, [rules.parse_cards(hand) for hand in hands.split()], rules.parse_cards(board))
    for action in actions:
        state = state.apply(action)
    assert state.is_over
    return state


THREE: dict[str, object] = {"blinds": (5, 10, 0), "starting_stacks": (100, 100, 3), "min_bet": 10, "first_to_act": 2}


def test_antes_make_side_pots_and_dead_chips_do_not() -> None:
    """Player 2 is all-in on an ante of 3 of 5."""
    played = [CALL, CALL, *[CALL] * 6], "KhQd 7h6d AhAd", "2c3c8d9sJs"
    antes = end_of({**THREE, "antes": (5, 5, 5)}, *played)
    assert antes.pots() == [Pot(9, (0, 1, 2)), Pot(24, (0, 1))]
    assert antes.payoffs() == [9, -15, 6]
    dead = end_of({**THREE, "dead": (5, 5, 5)}, *played)
    assert dead.pots() == [Pot(13, (0, 1, 2)), Pot(20, (0, 1))]
    assert dead.payoffs() == [5, -15, 10]
    assert sum(dead.divided_payoffs()) == 0


def test_the_whole_blind_is_called_where_it_was_all_in_for_less() -> None:
    game: dict[str, object] = {"blinds": (5, 10, 0), "starting_stacks": (100, 4, 100), "min_bet": 10, "first_to_act": 2}
    short = Betting.start(table_rules(**game))  # type: ignore[arg-type]
    assert (short.to_call, short.legal().min_raise) == (5, 15)
    whole = Betting.start(table_rules(**game, opening=10))  # type: ignore[arg-type]
    assert (whole.to_act, whole.to_call, whole.legal().min_raise) == (2, 10, 20)
    called = whole.apply(CALL)
    assert (called.committed, called.to_call) == ((5, 4, 10), 5)
    assert called.apply(CALL).legal().min_raise == 20
    assert called.apply(FOLD).is_over


def test_mucked_hands_give_the_pots_up() -> None:
    game: dict[str, object] = {"blinds": (10, 5), "starting_stacks": (50, 50), "min_bet": 10, "first_to_act": 1}
    end = end_of(game, [CALL, CALL, *[CALL] * 6], "AhAd 7h6d", "2c3c8d9sJs")
    assert payoffs_by_rules(end) == [10, -10]
    assert payoffs_by_rules(end, frozenset({0})) == [-10, 10]
    with pytest.raises(PokernetsError, match="no player who shows cards"):
        payoffs_by_rules(end, frozenset({0, 1}))


def test_inconsistent_hands_are_refused() -> None:
    rules = table_rules(blinds=(10, 5), starting_stacks=(50, 50), min_bet=10, first_to_act=1)
    replayer = Replayer(rules, ("Ann", "Ben"))
    with pytest.raises(LineError, match="Ann acts, but it is the turn of Ben"):
        replayer.check(0)
    with pytest.raises(LineError, match="Ben cannot check: 5 chips to call"):
        replayer.check(1)
    with pytest.raises(LineError, match="Ben calls 6 chips, but a call costs 5"):
        replayer.call(1, 6)
    with pytest.raises(LineError, match="more board cards than 0 after ``"):
        replayer.deal((1, 2, 3))
    replayer.call(1, 5)
    replayer.fold(0)
    with pytest.raises(LineError, match="acts after the hand is over"):
        replayer.check(1)
    assert replayer.finish([(), ()]).payoffs() == [-10, 10]
    with pytest.raises(LineError, match="players, not 1"):
        table_rules(blinds=(10,), starting_stacks=(50,), min_bet=10, first_to_act=0)
    with pytest.raises(IllegalAction, match="raise to 15"):
        Replayer(rules, ("Ann", "Ben")).raise_to(1, 15)


def test_all_in_player_may_leave_and_a_lone_player_sees_no_more_streets() -> None:
    game: dict[str, object] = {"blinds": (15, 30, 0), "starting_stacks": (900, 20, 900), "min_bet": 30}
    three = Betting.start(table_rules(**game, first_to_act=2)).apply(60).apply(CALL)  # type: ignore[arg-type]
    left = three.apply_by(1, FOLD)
    assert (left.text(), left.street, left.to_act, left.folded) == ("r60c/f", 1, 0, (False, True, False))
    game = {"blinds": (30, 15), "starting_stacks": (20, 900), "min_bet": 30, "first_to_act": 1}
    two = Betting.start(table_rules(**game)).apply(CALL)  # type: ignore[arg-type]
    assert (two.street, two.is_showdown) == (3, True)
    alone = two.apply_by(0, FOLD)
    assert (alone.text(), alone.street, alone.is_over, alone.is_showdown) == ("cf", 0, True, False)
    with pytest.raises(IllegalAction, match="player 1 cannot fold after"):
        alone.apply_by(1, FOLD)


SIDE_POT = sample("phh_side_pot")


@cases
def test_player_all_in_for_a_tenth_wins_no_side_pot(stack: int, actions: str, why: str) -> None:
    with pytest.raises(LineError, match=why):
        parse_hand(SIDE_POT.format(stack, actions), 0)


@pytest.mark.parametrize(("total", "kinds"), [(35, set()), (36, {BEYOND_THE_POT})])
def test_a_pot_limit_raise_is_at_most_the_pot_after_the_call(total: int, kinds: set[str]) -> None:
    game: dict[str, object] = {"blinds": (10, 5), "starting_stacks": (500, 500), "min_bet": 10, "first_to_act": 1}
    state = end_of({**game, "pot_limit": True}, [30, FOLD], "AhAd 7h6d")
    assert irregularities(PlayedHand(1, state, (30, -30), ("a", "b"))) == set()
    game |= {"dead": (5, 0)}
    state = end_of({**game, "pot_limit": True}, [total, FOLD], "AhAd 7h6d")
    assert irregularities(PlayedHand(1, state, (10, -10), ("a", "b"))) == kinds
