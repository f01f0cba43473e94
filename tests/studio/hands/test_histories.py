"""Files of hands in every format, replayed and converted by `evaluate=replay`."""

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from poker.evaluation.matches.match_results import MatchResults
from poker.evaluation.replay import run
from poker.evaluation.tally import FREE_FOLD, NOT_REOPENED, OUT_OF_TURN
from poker.report.estimates import estimate
from poker.run.errors import PokernetsError
from tests.evaluation.matches.test_match import match
from tests.evaluation.test_replay import SPECS, has_the_result_of
from tests.formats.pokerkit_hands import dumped
from tests.formats.samples import sample
from tests.formats.sites.test_pokerstars import CASH, LIMIT, TOURNAMENT, WHOLE
from tests.formats.test_phh_read import RAISED
from tests.games import HEADS_UP as GAME


def replay(log: Path, out: Path, **changes: Any) -> Any:
    return run(game=GAME, log=str(log), out=str(out), **changes)


def test_winnings_of_each_player(tmp_path: Path) -> None:
    payoffs = np.array(dumped(tmp_path / "pokerkit.phhs", 40, seed=1))
    record = replay(tmp_path / "pokerkit.phhs", tmp_path)
    assert (record["hands"], record["games"]) == (40, {"no-limit hold'em 5/10": 40})
    for player in record["players"]:
        chips = payoffs[:, int(player["player"][1:]) - 1]
        assert player["won"] == f"{chips.sum():,}"
        wanted = estimate(chips * 100.0)
        assert (player["mean"], player["hands"]) == (pytest.approx(wanted.mean), 40)
        assert player["interval_95"] == pytest.approx([wanted.low, wanted.high])
    [saved] = [json.loads(path.read_text()) for path in tmp_path.glob("pokerkit-*/results.json")]
    assert saved["players"] == record["players"]
    assert replay(tmp_path / "pokerkit.phhs", tmp_path, hands=7)["hands"] == 7


def test_money_games_and_omitted_hands(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    log = tmp_path / "stars.txt"
    log.write_text("\n\n".join([CASH, TOURNAMENT.replace("calls 40", "calls 41"), LIMIT]))
    with pytest.raises(PokernetsError, match=r"stars.txt, line 57: the uncalled bet is 21 chips"):
        replay(log, tmp_path)
    record = replay(log, tmp_path, skip=True)
    assert record["games"] == {"no-limit hold'em $0.50/$1": 1, "limit hold'em $0.50/$1": 1}
    assert record["rake"] == "$1.15"
    assert {player["player"]: player["won"] for player in record["players"]}["Eve"] == "-$7"
    assert [left["line"] for left in record["left_out"]] == [57]
    assert "hands left out: 1" in capsys.readouterr().out
    with pytest.raises(PokernetsError, match="hand 1 cannot be written as acpc: ACPC logs do not support antes"):
        replay(log, tmp_path, convert="acpc")
    assert not list(tmp_path.glob("stars/*.log"))
    with pytest.raises(
        PokernetsError, match=r"has no hands that can be read and written; .*line 1: hand 1 cannot be written"
    ):
        replay(log, tmp_path, convert="acpc", skip=True)
    with pytest.raises(PokernetsError, match="is a directory; expected a file name"):
        replay(log, tmp_path, convert="phh", to=str(tmp_path))
    for changes in ({"session": 1}, {"hands": -1}):
        with pytest.raises(PokernetsError, match="leave `session` out"):
            replay(log, tmp_path, **changes)


def test_hands_with_other_amounts_in_the_file_are_counted(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    log = tmp_path / "told.phhs"
    log.write_text(f"[1]\n{RAISED}winnings = [0, 0, 43]\n[2]\n{RAISED}winnings = [0, 0, 30]\n")
    record = replay(log, tmp_path)
    assert (record["rake"], record["amounts_differ"]) == ("2", 1)
    assert "amounts in the file differ from the rules: 1" in " ".join(capsys.readouterr().out.split())


SHORT_ALL_IN = sample("phh_short_all_in")


def test_hands_that_only_the_reader_accepts_are_counted(tmp_path: Path) -> None:
    """A raise that a short all-in did not reopen, a fold out of turn and one where checking is free."""
    raised = "'p3 cc', 'p4 cbr 3', 'p1 f', 'p2 cc', 'p3 cbr 9', 'p2 f', 'p3 sm AhAd', 'p4 sm AsKd'"
    cards = "'d db 2c3c4d', 'd db 5h', 'd db 9s'"
    folds = "'p2 f', 'p3 cc', 'p4 f', 'p1 cc', 'd db 2c3c4d', 'p1 f'"
    legal = "'p3 f', 'p4 f', 'p1 f'"
    phhs = [SHORT_ALL_IN.format(actions) for actions in (f"{raised}, {cards}", folds, legal)]
    (tmp_path / "some.phhs").write_text("".join(f"[{i}]\n{text}" for i, text in enumerate(phhs, 1)))
    record = replay(tmp_path / "some.phhs", tmp_path)
    assert record["irregularities"] == dict.fromkeys((NOT_REOPENED, OUT_OF_TURN, FREE_FOLD), 1)
    assert won(record) == {"p1": "-4", "p2": "-4", "p3": "6", "p4": "2"}
    assert "some.phhs: 3 hands, 2 with irregular actions" in report(tmp_path, "some")
    (tmp_path / "legal.phhs").write_text(phhs[-1])
    assert replay(tmp_path / "legal.phhs", tmp_path)["irregularities"] == {}
    assert "legal.phhs: 1 hands, all legal" in report(tmp_path, "legal")


def report(folder: Path, name: str) -> str:
    [page] = folder.glob(f"{name}-*/*.html")
    return page.read_text()


PHH = sample("phh_small")


def won(record: dict[str, Any]) -> dict[str, str]:
    return {player["player"]: player["won"] for player in record["players"]}


def test_amounts_of_any_scale_add_up(tmp_path: Path) -> None:
    log = tmp_path / "small.phhs"
    cents = PHH.replace("0.005", "0.01").replace("[0.01, 0.01]", "[0.01, 0.02]").replace("= 0.01", "= 0.02")
    log.write_text(f"[1]\n{PHH}[2]\n{cents}")
    record = replay(log, tmp_path)
    assert won(record) == {"p1": "0.015", "p2": "-0.015"}
    assert record["games"] == {"no-limit hold'em 0.005/0.01": 1, "no-limit hold'em 0.01/0.02": 1}
    log.write_text(f"{PHH}currency = 'EUR'\n")
    record = replay(log, tmp_path)
    assert won(record) == {"p1": "0.005 EUR", "p2": "-0.005 EUR"}
    assert record["games"] == {"no-limit hold'em 0.005/0.01 EUR": 1}


def test_currency_and_not_decimals_marks_money(tmp_path: Path) -> None:
    log, other = tmp_path / "stars.txt", tmp_path / "other.phhs"
    log.write_text(f"{WHOLE}\n\n{WHOLE.replace('#6', '#7').replace('200 in', '200.50 in')}")
    record = replay(log, tmp_path, convert="phh", to=str(other))
    assert won(record) == {"Ann": "$4", "Ben": "-$4"}
    again = replay(other, tmp_path / "again")
    assert (won(again), again["games"]) == (won(record), {"no-limit hold'em $1/$2": 2})


def test_logs_of_matches_are_replayed_and_converted(tmp_path: Path) -> None:
    """The log of a match does not tell its game; what is converted from it does, and has the same result."""
    played = match(tmp_path, game=GAME, agents=SPECS, hands=20).lineups[0]
    results = replay(played.log, tmp_path / "replay")
    assert isinstance(results, MatchResults)
    labels = results.lineups[0].lineup.labels
    has_the_result_of(dict(zip(labels, results.lineups[0].estimates(), strict=True)), played)
    converted = replay(played.log, tmp_path / "replay", convert="pokerstars", to=str(tmp_path / "match.txt"))
    assert converted["hands"] == 20
    means = {player["player"]: player["mean"] for player in replay(tmp_path / "match.txt", tmp_path)["players"]}
    assert means == pytest.approx({label: e.mean for label, e in zip(labels, played.estimates(), strict=True)})
    with pytest.raises(PokernetsError, match="would be overwritten"):
        replay(tmp_path / "match.txt", tmp_path, convert="pokerstars", to=str(tmp_path / "match.txt"))
    with pytest.raises(PokernetsError, match="no log at"):
        replay(tmp_path / "none.log", tmp_path)
