import json
import tomllib
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from pokerkit import HandHistory

from poker.agents.simple import AlwaysCall, AlwaysRaise, RandomAgent
from poker.evaluation.matches.results import Results
from poker.formats.acpc.log import AcpcError, read_log
from poker.game.rules import Rules
from poker.play.lineup import AgentSpec
from poker.report.estimates import Estimate
from poker.run.errors import PokernetsError
from tests.evaluation.matches.test_match import match
from tests.games import HEADS_UP as GAME
from tests.games import LEDUC, load_rules
from tests.matches import play_match, replayed
from tests.report.test_report import check

SPECS = [
    AgentSpec("call", partial(AlwaysCall, name="call"), {}),
    AgentSpec("random", partial(RandomAgent, name="random", raises=[0.5, 1, "a"]), {}),
]
SMALL = [SPECS[0], AgentSpec("random", partial(RandomAgent, name="random", raises=[1]), {})]


def replay(game: Rules, log: Path, out: Path, **changes: Any) -> dict[str, Estimate]:
    played = replayed(game, log, out, **changes)
    return dict(zip(played.lineup.labels, played.estimates(), strict=True))


def has_the_result_of(estimates: dict[str, Estimate], played: Results) -> None:
    for label, estimate in zip(played.lineup.labels, played.estimates(), strict=True):
        assert estimates[label].mean == pytest.approx(estimate.mean)
        assert (estimates[label].low, estimates[label].high) == pytest.approx((estimate.low, estimate.high))
        assert estimates[label].n == estimate.n


def test_a_replayed_log_has_the_result_of_the_match(tmp_path: Path) -> None:
    played = match(tmp_path, game=GAME, agents=SPECS, hands=100).lineups[0]
    estimates = replay(GAME, played.log, tmp_path / "replay", convert="phh", to=str(tmp_path / "hands.phhs"))
    has_the_result_of(estimates, played)
    report = next((tmp_path / "replay" / GAME.name).glob("*/report.html"))
    check(report.read_text())
    [saved] = json.loads(report.with_name("results.json").read_text())["lineups"]
    assert {row["agent"]: row["mean"] for row in saved["players"]} == pytest.approx(
        {n: e.mean for n, e in estimates.items()}
    )
    assert (tmp_path / "hands.phhs").read_bytes() == played.log.with_suffix(".phhs").read_bytes()


def test_hands_that_a_longer_match_left_do_not_count(tmp_path: Path) -> None:
    longer = match(tmp_path, agents=SMALL, hands=400).lineups[0]
    shorter = match(tmp_path, agents=SMALL, hands=100).lineups[0]
    assert longer.log == shorter.log
    assert (longer.hands, shorter.hands) == (400, 100)
    assert longer.estimates() != shorter.estimates()
    phh = tmp_path / "some.phhs"
    with pytest.raises(PokernetsError, match="only Texas hold'em is supported, not `leduc`"):
        replay(LEDUC, shorter.log, tmp_path, convert="phh", to=str(phh))
    has_the_result_of(replay(LEDUC, shorter.log, tmp_path), shorter)
    has_the_result_of(replay(LEDUC, shorter.log, tmp_path, hands=0), longer)
    has_the_result_of(replay(LEDUC, shorter.log, tmp_path, hands=400), longer)


def test_sessions_after_an_early_stop_do_not_count(tmp_path: Path) -> None:
    """The log holds 2,000 hands of an earlier match."""
    match(tmp_path, agents=SMALL, hands=2000)
    stopped = match(tmp_path, agents=SMALL, hands=2000, half_width=300.0).lineups[0]
    assert stopped.stopped_at is not None
    assert stopped.hands < 2000 <= len(list(read_log(LEDUC, stopped.log)))
    estimates = replay(LEDUC, stopped.log, tmp_path)
    has_the_result_of(estimates, stopped)
    assert estimates["call"].n == stopped.stopped_at


def test_sessions_are_the_units_of_agents_that_remember(tmp_path: Path) -> None:
    played = match(tmp_path, agents=SMALL, hands=240, session=10).lineups[0]
    estimates = replay(LEDUC, played.log, tmp_path)
    has_the_result_of(estimates, played)
    assert estimates["call"].n == 12
    assert replay(LEDUC, played.log, tmp_path, session=1)["call"].n == 120
    assert replay(LEDUC, played.log, tmp_path, session=2, hands=40)["call"].n == 10
    with pytest.raises(PokernetsError, match="not whole sessions of 10 deals in 2 seatings"):
        replay(LEDUC, played.log, tmp_path, hands=30)
    with pytest.raises(PokernetsError, match="the log has 240 hands, without hand 240 of the first 241"):
        replay(LEDUC, played.log, tmp_path, hands=241)


def test_a_log_in_any_order_with_hands_played_again(tmp_path: Path) -> None:
    """A match that was killed leaves such a log."""
    played = match(tmp_path, agents=SMALL, hands=40).lineups[0]
    lines = played.log.read_text().splitlines()
    played.log.write_text("\n".join([*lines[30:], *lines[:30], *lines[5:9]]) + "\n")
    has_the_result_of(replay(LEDUC, played.log, tmp_path), played)
    played.log.write_text("\n".join(lines[:20]) + "\n")
    with pytest.raises(PokernetsError, match="the log has 19 hands, without hand 19 of the first 40"):
        replay(LEDUC, played.log, tmp_path)
    with pytest.raises(PokernetsError, match="not whole sessions of 1 deals"):
        replay(LEDUC, played.log, tmp_path, hands=0)
    assert replay(LEDUC, played.log, tmp_path, hands=18)["call"].n == 9


def test_hands_on_other_cards_are_no_deals(tmp_path: Path) -> None:
    played = match(tmp_path, agents=SMALL, hands=40).lineups[0]
    lines = [line for line in played.log.read_text().splitlines() if line.startswith("STATE")][::2]
    other = tmp_path / "other.log"
    other.write_text("".join(f"STATE:{i}:{line.split(':', 2)[2]}\n" for i, line in enumerate(lines)))
    assert replay(LEDUC, other, tmp_path)["call"].n == 20
    assert replay(LEDUC, other, tmp_path, hands=7)["call"].n == 7
    with pytest.raises(PokernetsError, match="not every deal was played in 2 seatings: leave `session` out"):
        replay(LEDUC, other, tmp_path, session=1)


def test_a_replayed_ring_has_the_result_of_the_ring(tmp_path: Path) -> None:
    """Deals are the units of a ring whatever its sessions; a small bet is a big blind here."""
    game = load_rules("holdem_limit_3p")
    specs = [*SMALL, AgentSpec("raise", partial(AlwaysRaise, name="raise", raises=[1]), {})]
    [results] = play_match(tmp_path, game, specs, hands=120, session=5, unit="sb", independent="deal").lineups
    estimates = replay(game, results.log, tmp_path / "replay", session=1, unit="sb")
    has_the_result_of(estimates, results)
    log = results.log
    with log.with_suffix(".phhs").open("rb") as file:
        ends = [[*history][-1] for history in HandHistory.load_all(file)]
    assert [tuple(end.payoffs) for end in ends] == [hand.payoffs for hand in read_log(game, log)]


def test_hand_histories_equal_the_log(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    match(tmp_path, game=GAME, agents=SPECS, hands=20)
    [log] = (tmp_path / GAME.name / "hands").glob("*.log")
    first = log.with_suffix(".phhs").read_text()
    assert list(tomllib.loads(first)) == [str(number) for number in range(1, 21)]
    match(tmp_path, game=GAME, agents=SPECS, hands=30)
    longer = log.with_suffix(".phhs").read_text()
    assert longer.startswith(first)
    histories = list(HandHistory.loads_all(longer))
    payoffs = [tuple([*history][-1].payoffs) for history in histories]
    hands = list(read_log(GAME, log))
    assert payoffs == [hand.payoffs for hand in hands]
    assert [tuple(history.players or ()) for history in histories] == [hand.names for hand in hands]
    assert "no .phhs" not in capsys.readouterr().out
    match(tmp_path, agents=SMALL)
    assert "no .phhs files: only Texas hold'em is supported, not `leduc`" in capsys.readouterr().out
    assert not list((tmp_path / "leduc").glob("**/*.phhs"))


def test_a_changed_log_is_refused_by_line(tmp_path: Path) -> None:
    log = match(tmp_path, game=GAME, agents=SPECS, hands=10).lineups[0].log
    lines = log.read_text().splitlines()
    number, betting = lines[3].split(":")[1:3]
    lines[3] = lines[3].replace(f":{number}:{betting}:", f":{number}:{betting}c:")
    log.write_text("\n".join(lines) + "\n")
    with pytest.raises(AcpcError, match="line 4"):
        replay(GAME, log, tmp_path)


def test_no_log_no_hands_and_a_damaged_record(tmp_path: Path) -> None:
    with pytest.raises(PokernetsError, match="no log at"):
        replay(GAME, tmp_path / "none.log", tmp_path)
    with pytest.raises(PokernetsError, match=f"{tmp_path} is a directory, not a log"):
        replay(GAME, tmp_path, tmp_path)
    log = tmp_path / "log.log"
    log.write_text("# nothing\n")
    with pytest.raises(PokernetsError, match="the file has no hands"):
        replay(GAME, log, tmp_path)
    log.write_text("STATE:0:f:AhAd|KhKd:50|-50:Ann|Ben\n")
    for text in ("{", "{}", '{"hands": 0, "session": 1}', '{"hands": "x", "session": 1}', "[]"):
        (tmp_path / "log.counted.json").write_text(text)
        with pytest.raises(PokernetsError, match=r"log.counted.json is damaged"):
            replay(GAME, log, tmp_path)
    with pytest.raises(PokernetsError, match="`session` at least 1"):
        replay(GAME, log, tmp_path, session=0)
