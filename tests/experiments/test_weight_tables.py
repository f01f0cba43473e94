import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from poker.experiments.weight_tables import Gains, evenly, replay_hand, run
from poker.formats.irc.replay import IrcHand, Move
from poker.game.betting import Betting
from poker.game.cards import parse_cards
from poker.opponents.limit.modelling import Modelling, tracker_for
from poker.opponents.limit.tracker import Tracker
from poker.opponents.model import Context
from poker.run.errors import PokernetsError
from tests.formats.irc_files import Files, irc_rules, play_hand, write_hand
from tests.games import load_rules
from tests.poki import rates, rates_path

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
    return IrcHand(stamp, ("ann", "bob", "eve"), RULES, cards, parse_cards("Kh9h4c2sTs"), tuple(moves))


def tracker(modelling: Modelling) -> Tracker:
    return tracker_for(modelling, None, rates())


def test_tables_gain_on_hands_that_fit_the_play() -> None:
    """Aces raise on every street and a bad hand calls along: the table of the aces knows more than both on average."""
    aces, gains = tracker("generic"), Gains()
    hand_shown = hand("fcr" + "c/crc/crc/crc")
    gains.add(hand_shown, replay_hand(aces, hand_shown, measured=True))
    assert [len(street) for street in gains.by_street] == [1, 1, 1, 1]
    only_aces = Gains()
    alone = replace(hand_shown, hole_cards=((), parse_cards("AsAd"), ()))
    only_aces.add(alone, replay_hand(tracker("generic"), alone, measured=True))
    values = [street[0] for street in only_aces.by_street]
    assert min(values) > 0.5
    assert values[-1] > gains.by_street[-1][0]


def test_without_a_model_nothing_is_gained() -> None:
    gains = Gains()
    called = hand("fcr" + "c/cc/cc/cc")
    gains.add(called, replay_hand(tracker("none"), called, measured=True))
    np.testing.assert_allclose(gains.by_street, 0, atol=1e-12)


def test_hands_that_are_not_measured_still_teach() -> None:
    learner = tracker("statistics")
    before = learner.calibration.noise("bob")
    replay_hand(learner, hand("fcr" + "c/cc/cc/cc"), measured=False)
    assert learner.calibration.noise("bob") == before
    assert learner.predictor is not None
    unseen = tracker("statistics").predictor
    assert unseen is not None
    context = Context("bob", 0, 0)
    assert learner.predictor.probs(context)[2] > unseen.probs(context)[2]


def test_which_hands_are_measured() -> None:
    hands = [hand("fcr" + "c/cc/cc/cc", stamp) for stamp in range(10)]
    unseen = replace(hands[0], hole_cards=((), (), ()))
    assert [is_measured for _, is_measured in evenly(hands, 5)] == [True, False] * 5
    assert [is_measured for _, is_measured in evenly([unseen, *hands], None)] == [False, *[True] * 10]


def measure(path: Path, out: Path, **settings: Any) -> dict[str, Any]:
    """The record of a run, by default on all hands."""
    options: dict[str, Any] = {"modellings": ["generic"], "net": None, "hands": None}
    run(path=str(path), preflop=rates_path(), out=str(out), **{**options, **settings})
    record: dict[str, Any] = json.loads((out / "results.json").read_text())
    return record


@pytest.fixture(scope="module")
def archive(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """60 hands of four players."""
    generator, files = np.random.default_rng(3), Files()
    for number in range(60):
        played = play_hand(irc_rules(4, False, 1000), generator, 0.0)
        write_hand(files, played, 800_000_000 + 60 * number, ["ann", "bob", "eve", "jim"])
    path: Path = tmp_path_factory.mktemp("irc") / "holdem.199504.tgz"
    path.write_bytes(files.packed())
    return path


def test_hands_are_spread_over_an_archive_that_is_read_to_its_end(archive: Path, tmp_path: Path) -> None:
    few, whole = measure(archive, tmp_path / "few", hands=3), measure(archive, tmp_path / "whole")
    assert few["hands_read"] == whole["hands_read"] == 60
    assert few["modelling"]["generic"]["preflop"]["hands"] == 3
    river = whole["modelling"]["generic"]["river"]
    assert river["hands"] > 6
    assert f"({river['hands']})" in (tmp_path / "whole" / "report.html").read_text()


def test_mistakes_are_named(archive: Path, tmp_path: Path) -> None:
    with pytest.raises(PokernetsError, match="path=ARCHIVE"):
        measure(tmp_path / "nowhere.tgz", tmp_path)
    with pytest.raises(PokernetsError, match="`hands` must be at least 1"):
        measure(archive, tmp_path, hands=0)
