from pathlib import Path
from typing import Any

import pytest

from poker.evaluation.judge import action_values, run
from poker.game.betting import Betting
from poker.game.cards import parse_cards
from poker.game.rules import CALL, FOLD, Rules
from poker.run.errors import PokernetsError
from tests.games import load_rules

GAME = load_rules("holdem_limit_2p")
CARDS = "AsAh|KsKh/AdKd2c/7h/3s"


def log(path: Path, *hands: str) -> Path:
    """Deals of two seatings, in which `a` sits second, then first; hands are `betting:payoffs`."""
    lines = [
        "STATE:{}:{}:{}:{}:{}".format(i, *hand.split(":")[:1], CARDS, hand.split(":")[1], ("b|a", "a|b")[i % 2])
        for i, hand in enumerate(hands)
    ]
    path.write_text("\n".join(lines) + "\n")
    return path


def judge(path: Path, out: Path, game: Rules = GAME) -> Any:
    return run(game=game, log=str(path), contrasts=[["a", "b"]], out=str(out))


def test_worth_of_actions_is_that_of_checking_down() -> None:
    river, hands = Betting.parse(GAME, "cc/cc/cc/r"), (parse_cards("AsAh"), parse_cards("KsKh"))
    board = parse_cards("AdKd2c7h3s")
    assert action_values(river, board, hands) == {FOLD: -10, CALL: -30, 50: -50}
    turn = Betting.parse(GAME, "cc/cc/")
    king = 1 / 44  # the last one wins for player 1
    assert action_values(turn, board[:4], hands) == pytest.approx({CALL: 10 - 20 * king, 30: 30 - 60 * king})


def test_first_decisions_that_differ(tmp_path: Path) -> None:
    """On the river b calls a bet with the second best hand, where a folds it."""
    path = log(tmp_path / "river.log", "cc/cc/cc/rf:10|-10", "cc/cc/cc/rc:30|-30")
    record = judge(path, tmp_path)
    assert record["agents"]["a"]["money"]["mean"] == 1.0  # folds in one seat, is called in the other
    contrast = record["agents"]["a less b"]
    assert contrast["where they first differ"]["mean"] == 2.0
    assert contrast["decisions"]["mean"] == pytest.approx(1.0)


def test_unsuitable_logs_are_not_judged(tmp_path: Path) -> None:
    with pytest.raises(PokernetsError, match="no log at"):
        judge(tmp_path / "none.log", tmp_path)
    with pytest.raises(PokernetsError, match="for limit games"):
        judge(tmp_path / "none.log", tmp_path, load_rules("holdem_nolimit_2p"))
    path = log(tmp_path / "river.log", "cc/cc/cc/rf:10|-10", "cc/cc/cc/rc:30|-30")
    with pytest.raises(PokernetsError, match="unknown `c`"):
        run(game=GAME, log=str(path), contrasts=[["a", "c"]], out=str(tmp_path))
