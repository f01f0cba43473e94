from typing import Any

import numpy as np
import pytest

from poker.game.betting import Betting
from poker.game.cards import HOLDEM, NUM_HANDS, hand_index, parse_cards
from poker.game.rules import CALL, RAISE_CLASS
from poker.game.state import HandState
from poker.opponents.action_statistics import BestOf, Constant, ContextCounts
from poker.opponents.limit.modelling import ByStreet, Modelling, tracker_for
from poker.opponents.limit.tracker import Tracker
from poker.opponents.model import Context, Predictor
from poker.opponents.responses import likelihood
from poker.run.errors import PokernetsError
from tests.games import load_rules
from tests.poki import rates

HANDS = ["AsAd", "7c2d", "KcKd", "QhJh", "9c8c", "6s5s", "4d3d", "Tc2h", "Jd5h", "3s2s"]
BOARD = "Kh9h4c2cTs"
BETTING = "rfffffffcc/ccrcc/ccrcc/ccr"


def deal(betting: str) -> HandState:
    rules = load_rules("holdem_limit_10p")
    state = HandState.start(rules, [parse_cards(hand) for hand in HANDS], parse_cards(BOARD))
    for street in betting.split("/"):
        for letter in street:
            state = state.apply(state.betting.parse_action(letter))
    return state


def tracker() -> Tracker:
    counts = ContextCounts()
    return Tracker(counts, rates(), counts)


def test_weight_tables_distinguish_raisers_from_callers() -> None:
    state = deal("rfffffffcc/ccr")
    follower = tracker()
    follower.start(0)
    follower.follow(state.view(0))
    raiser, blind = follower.tables([2, 1])
    sets, air = hand_index(*parse_cards("KcKd")), hand_index(*parse_cards("7s2s"))
    assert raiser[sets] == 1
    assert raiser[air] < 0.5
    middling = blind[hand_index(*parse_cards("Jc9c"))]
    assert middling > blind[air]  # checking speaks against a pair, calling before the flop for it
    assert middling > 1.2 * blind[hand_index(*parse_cards("AcAh"))]
    assert (raiser[~HOLDEM.live(parse_cards("Kh9h4c"))] == 0).all()


def test_following_step_by_step_equals_following_at_once() -> None:
    end = deal(BETTING)
    often, once = tracker(), tracker()
    often.start(1)
    once.start(1)
    state = deal("")
    for street, actions in enumerate(end.betting.actions):
        for action in actions:
            assert state.street == street
            often.follow(state.view(1))
            state = state.apply(action)
    often.finish(end.view(1))
    once.finish(end.view(1))
    assert isinstance(once.predictor, ContextCounts)
    assert isinstance(often.predictor, ContextCounts)
    np.testing.assert_equal(often.predictor.counts, once.predictor.counts)
    assert sum(each.sum() for each in once.predictor.counts.values()) == len(BETTING.replace("/", ""))


def test_chance_explains_an_action_as_often_as_it_happens() -> None:
    """A raise that happens with .2; a share of .2 of the actions is chance. A weight is .8 of the probability given the
    hand, and .2 * .2. Of a raise that a shown hand makes with .2 too, .2 is chance, like .2 of the 40 actions before.
    """
    counts = Constant(np.tile([0.3, 0.5, 0.2], (12, 1)))
    follower = Tracker(counts, rates(), counts)
    betting = deal("").betting
    follower.begin(10)
    follower.observe(betting, (), betting.legal().min_raise, reweight=True)
    table = follower.tables([betting.to_act])[0]
    quantile = follower.quantile(betting, ())
    informed = likelihood(0, 1, quantile, np.array([0.3, 0.5, 0.2]), RAISE_CLASS)
    np.testing.assert_allclose(table, (0.8 * informed + 0.2 * 0.2) / (0.8 * informed.max() + 0.2 * 0.2), rtol=1e-5)
    follower.calibration.shown("ann", informed=0.2, uninformed=0.2)
    assert follower.calibration.noise("ann") == pytest.approx((0.2 * 40 + 0.2) / 41)


def test_revealed_hands_calibrate_their_players() -> None:
    """Seat 2 raised with kings; seat 0 (aces) watches its own play without learning."""
    follower = tracker()
    prior = follower.calibration.noise("anybody")
    follower.start(0)
    names = follower.seat_names(10)
    end = deal(BETTING)
    while not end.is_over:
        end = end.apply(CALL)
    follower.finish(end.view(0))
    assert follower.calibration.noise(names[2]) < prior
    assert follower.calibration.noise(names[0]) == prior
    assert follower.calibration.noise(names[5]) == prior
    follower.forget()
    assert follower.calibration.noise(names[2]) == prior


def test_without_a_model_all_hands_stay_equal() -> None:
    follower = Tracker(None, rates(), Constant())
    follower.start(0)
    follower.follow(deal("rfffffffcc/ccr").view(0))
    np.testing.assert_array_equal(follower.tables([1, 2]), np.ones((2, NUM_HANDS)))


def test_best_of_spreads_the_net_as_modelling_net_does(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(BestOf, "chosen", lambda self, player: "net")
    tables = []
    modellings: tuple[Modelling, ...] = "net", "best_of"
    for modelling in modellings:
        follower = tracker_for(modelling, Constant(np.tile([0.6, 0.3, 0.1], (12, 1))), rates())
        follower.start(0)
        follower.follow(deal(BETTING).view(0))
        tables.append(follower.tables([1, 2]))
    np.testing.assert_array_equal(tables[0], tables[1])


def test_modelling_names() -> None:
    def made(modelling: Any, net: Predictor | None = None) -> tuple[Predictor | None, Predictor]:
        made_tracker = tracker_for(modelling, net, rates())
        return made_tracker.predictor, made_tracker.habits

    assert made("none")[0] is None
    assert all(isinstance(each, Constant) for each in made("generic"))
    statistics, habits = made("statistics")
    assert statistics is habits
    assert isinstance(made("best_of")[0], BestOf)
    net, habits = made("net", Constant(np.tile([0.1, 0.1, 0.8], (12, 1))))
    assert isinstance(net, ByStreet)
    assert net.probs(Context("x", 1, 0))[RAISE_CLASS] == pytest.approx(0.8)
    assert net.probs(Context("x", 0, 0))[RAISE_CLASS] < 0.5
    for predictor, counts in ((net, habits), made("best_of")):
        assert isinstance(counts, ContextCounts)
        assert predictor is not None
        predictor.update(Context("x", 1, 0), RAISE_CLASS)
        assert counts.counts["x", (3,)].tolist() == [0, 0, 1]  # once
    with pytest.raises(PokernetsError, match="needs the agent's `net`"):
        made("net")
    with pytest.raises(PokernetsError, match="choose none, generic"):
        made("psychic")


def test_strength_is_income_before_the_flop_and_ehs_after() -> None:
    quantile = tracker().quantile(Betting.start(load_rules("holdem_limit_10p")), ())
    assert quantile.argmax() in {hand_index(*parse_cards("AsAh")), hand_index(*parse_cards("AcAd"))}
    board = parse_cards("Kh9h4c")
    after = tracker().quantile(deal("rfffffffcc/").betting, board)
    assert (after[~HOLDEM.live(board)] == -1).all()
    assert after.argmax() == hand_index(*parse_cards("KcKd"))
