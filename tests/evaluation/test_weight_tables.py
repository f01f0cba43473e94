from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from poker.betting import Betting
from poker.cards import parse_cards
from poker.errors import PokernetsError
from poker.evaluation.weight_tables import Gains, measured_hands, replay_hand, run
from poker.formats.irc_replay import IrcHand, Move
from poker.opponents.modelling import Modelling, habits_for, predictor_for
from poker.opponents.predictor import Context
from poker.opponents.tracker import Tracker
from tests.games import load_rules
from tests.poki import rates

RULES = load_rules("holdem_limit_3p")
HANDS = ("7c2d", "AsAd", "")


def hand(text: str, stamp: int = 1) -> IrcHand:
    """Three players; letters as in ACPC betting."""
    betting, moves = Betting.start(RULES), []
    for letter in text.replace("/", ""):
        action = betting.parse_action(letter)
        moves.append(Move(betting.to_act, action, False))
        betting = betting.apply(action)
    cards = tuple(parse_cards(cards) for cards in HANDS)
    return IrcHand(stamp, ("ann", "bob", "eve"), RULES, cards, parse_cards("Kh9h4c2sTs"), tuple(moves), (0, 0, 0))


def tracker(modelling: Modelling) -> Tracker:
    predictor = predictor_for(modelling, None)
    return Tracker(predictor, rates(), habits_for(modelling, predictor))


def test_tables_gain_on_hands_that_fit_the_play() -> None:
    """Aces raise on every street and a bad hand calls along: his tables know more than both tables on average."""
    aces, gains = tracker("generic"), Gains()
    shown = hand("fcr" + "c/crc/crc/crc")
    replay_hand(aces, shown, gains)
    assert [len(street) for street in gains.by_street] == [1, 1, 1, 1]
    only_aces = Gains()
    replay_hand(tracker("generic"), replace(shown, hole_cards=((), parse_cards("AsAd"), ())), only_aces)
    values = [street[0] for street in only_aces.by_street]
    assert min(values) > 0.5
    assert values[-1] > gains.by_street[-1][0]


def test_tables_are_drawn(tmp_path: Path) -> None:
    replay_hand(tracker("generic"), hand("fcr" + "c/cc/cc/cc"), Gains(), tmp_path)
    assert sorted(file.name for file in tmp_path.iterdir())[:2] == ["1-0preflop-1.png", "1-0preflop-2.png"]
    assert len(list(tmp_path.iterdir())) == 8


def test_without_a_model_nothing_is_gained() -> None:
    gains = Gains()
    replay_hand(tracker("none"), hand("fcr" + "c/cc/cc/cc"), gains)
    np.testing.assert_allclose(gains.by_street, 0, atol=1e-12)


def test_hands_that_are_not_measured_still_teach() -> None:
    learner = tracker("statistics")
    before = learner.calibration.noise("bob")
    replay_hand(learner, hand("fcr" + "c/cc/cc/cc"), None)
    assert learner.calibration.noise("bob") == before
    assert learner.predictor is not None
    stranger = tracker("statistics").predictor
    assert stranger is not None
    context = Context("bob", 0, 0)
    assert learner.predictor.probs(context)[2] > stranger.probs(context)[2]


def test_measured_hands_are_spread() -> None:
    archive = [hand("fcr" + "c/cc/cc/cc", stamp) for stamp in range(10)]
    assert measured_hands(archive, 5) == {0, 2, 4, 6, 8}
    assert measured_hands(archive, None) == set(range(10))


def test_a_missing_archive_is_named(tmp_path: Path) -> None:
    with pytest.raises(PokernetsError, match="path=ARCHIVE"):
        run(path="nowhere.tgz", preflop="", modellings=["generic"], net=None, hands=1, pictures=0, out=str(tmp_path))
