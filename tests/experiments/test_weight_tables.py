import json
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from poker.betting import Betting
from poker.cards import parse_cards
from poker.errors import PokernetsError
from poker.experiments.weight_tables import Gains, evenly, replay_hand, run, up_to
from poker.formats.irc_replay import IrcHand, Move
from poker.opponents.model import Context
from poker.opponents.modelling import Modelling, tracker_for
from poker.opponents.tracker import Tracker
from poker.report.charts import png
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
    shown = hand("fcr" + "c/crc/crc/crc")
    gains.add(shown, replay_hand(aces, shown, measured=True))
    assert [len(street) for street in gains.by_street] == [1, 1, 1, 1]
    only_aces = Gains()
    alone = replace(shown, hole_cards=((), parse_cards("AsAd"), ()))
    only_aces.add(alone, replay_hand(tracker("generic"), alone, measured=True))
    values = [street[0] for street in only_aces.by_street]
    assert min(values) > 0.5
    assert values[-1] > gains.by_street[-1][0]


def test_tables_are_drawn_as_they_stood() -> None:
    gains = Gains()
    called = hand("fcr" + "c/cc/cc/cc")
    gains.add(called, replay_hand(tracker("generic"), called, measured=True), drawn=True)
    assert [picture.name for picture in gains.pictures][:2] == ["1-0preflop-1", "1-0preflop-2"]
    assert len(gains.pictures) == 8
    draws = [gains.pictures[i].draw for i in (1, 7)]
    assert [draw.args[0] for draw in draws if isinstance(draw, partial)] == [
        "bob after preflop betting; holds AsAd", "bob after river betting, board Kh9h4c2sTs; holds AsAd",
    ]  # fmt: skip
    preflop, river = (png(draw()) for draw in draws)
    assert preflop != river


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
    assert all(is_measured for _, is_measured in evenly(hands, None))
    assert [is_measured for _, is_measured in up_to([unseen, *hands], 2)] == [False, True, True]
    assert len(list(up_to(hands, None))) == 10


def measure(path: Path, out: Path, **settings: Any) -> dict[str, Any]:
    """The record of a run, by default on all hands."""
    options: dict[str, Any] = {"modellings": ["generic"], "net": None, "hands": None, "spread": False, "pictures": 0}
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


def test_no_more_is_read_than_is_measured(archive: Path, tmp_path: Path) -> None:
    few = measure(archive, tmp_path, hands=3)
    assert few["modelling"]["generic"]["preflop"]["hands"] == 3
    assert few["hands_read"] < 30
    whole = measure(archive, tmp_path)
    assert whole["hands_read"] == 60
    assert whole["modelling"]["generic"]["preflop"]["hands"] > 6
    spread = measure(archive, tmp_path, hands=3, spread=True)
    assert spread["hands_read"] == 60
    assert spread["modelling"]["generic"]["preflop"]["hands"] == 3
    assert spread["modelling"] != few["modelling"]


@pytest.mark.slow
def test_the_page_has_the_gains_and_the_pictures_of_this_run(archive: Path, tmp_path: Path) -> None:
    record = measure(archive, tmp_path, hands=4, pictures=1)
    measure(archive, tmp_path / "other", hands=5, pictures=2)
    page = (tmp_path / "report.html").read_text()
    drawn = list((tmp_path / "generic").glob("*.png"))
    assert page.count("<img") == 1 + len(drawn) > 1
    river = record["modelling"]["generic"]["river"]
    assert f"({river['hands']})" in page


def test_mistakes_are_named(archive: Path, tmp_path: Path) -> None:
    with pytest.raises(PokernetsError, match="path=ARCHIVE"):
        measure(tmp_path / "nowhere.tgz", tmp_path)
    with pytest.raises(PokernetsError, match="`hands` must be at least 1"):
        measure(archive, tmp_path, hands=0)
