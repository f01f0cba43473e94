"""`job=opponent_actions` as a user runs it: rows of an archive and of self-play, in order, reused, never stopped."""

import json
from functools import partial
from pathlib import Path

import numpy as np
import pytest

from conf.compose import compose
from data_gen.opponent_actions import ActionRows
from data_gen.support import sources as opponent_sources
from data_gen.support.sources import ObservedHand, SelfPlay
from poker.agents.simple import AlwaysCall, RandomAgent
from poker.formats.acpc.log import LoggedHand
from poker.formats.histories import POKERSTARS, write_hands
from poker.formats.irc.archive import Problems, read_hands
from poker.formats.irc.replay import replay_all
from poker.formats.played import as_played
from poker.game.betting import Betting
from poker.game.rules import CALL, FOLD, RAISE_CLASS, action_class
from poker.game.state import HandState
from poker.opponents.inputs import limit
from poker.opponents.inputs.limit import bets_to_call
from poker.opponents.inputs.no_limit import NUM_SIZES, spot_index, spot_of
from poker.opponents.inputs.rows import COLUMNS, NAMES, open_rows
from poker.opponents.model import sized_class
from poker.play.hand import play_hand
from poker.play.lineup import AgentSpec
from poker.store.artifacts import MismatchedArtifactError, write_artifact
from tests.commands import call_here
from tests.data_gen.commands import data_gen_fails, digests
from tests.formats.irc.test_archive import played
from tests.games import load_rules

GAMES = ("holdem_nolimit_2p", "holdem_limit_2p")


@pytest.fixture(scope="module")
def work(tmp_path_factory: pytest.TempPathFactory) -> Path:
    root = tmp_path_factory.mktemp("actions")
    files, _ = played(120, seed=4, quitting=0.03)
    files.lines["hdb"][7] = "797 not a hand"
    (root / "month.tgz").write_bytes(files.packed())
    make(root, "source=irc", f"path={root / 'month.tgz'}")
    return root


def test_rows_are_the_decisions_in_turn(work: Path) -> None:
    artifact = open_rows(work / "artifacts" / "opponent_actions")
    columns = {name: artifact.arrays[name] for name in COLUMNS}
    row = 0
    hands = list(replay_all(read_hands(work / "month.tgz", Problems()), Problems()))
    assert len(hands) == 119
    for number, hand in enumerate(hands):
        for state, move in hand.states():
            betting = state.betting
            assert move.player == betting.to_act
            np.testing.assert_array_equal(columns["features"][row], limit.encode(betting, state.board))
            assert artifact.arrays[NAMES][columns["player"][row]] == hand.names[move.player]
            columns_of_row = [int(columns[name][row]) for name in ("action", "street", "bets", "seat", "hand", "time")]
            wanted = [action_class(move.action), betting.street, bets_to_call(betting), move.player, number, hand.stamp]
            assert columns_of_row == wanted
            row += 1
    assert row == artifact.counts["rows"]
    assert (np.diff(columns["time"]) >= 0).all()


def test_unused_hands_are_counted_and_listed(work: Path) -> None:
    artifact = open_rows(work / "artifacts" / "opponent_actions")
    assert artifact.counts["hands"] == 119
    assert artifact.counts["unused"] == {"garbled line": 1, "players of a hand that hdb does not have": 1}
    listed = json.loads((artifact.path / "problems.json").read_text())
    assert "797 not a hand" in listed["examples"]["garbled line"][0]
    assert artifact.counts["classes"]["fold"] == int((artifact.arrays["action"] == 0).sum())


def make(work: Path, *overrides: str) -> None:
    """The job in this process."""
    places = (f"artifacts={work / 'artifacts'}", f"runs={work / 'runs'}")
    call_here("data_gen", "job=opponent_actions", *places, *overrides)


def test_a_second_run_reuses_and_another_archive_is_refused(work: Path, capsys: pytest.CaptureFixture[str]) -> None:
    manifest = work / "artifacts" / "opponent_actions" / "manifest.json"
    before = manifest.read_bytes()
    make(work, "source=irc", f"path={work / 'month.tgz'}")
    assert "are there already" in capsys.readouterr().err
    files, _ = played(5, seed=5)
    (work / "other.tgz").write_bytes(files.packed())
    with pytest.raises(MismatchedArtifactError, match="made with another archive"):
        make(work, "source=irc", f"path={work / 'other.tgz'}")
    assert manifest.read_bytes() == before


def test_the_same_bytes_with_any_number_of_processes(work: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """In batches of ten; the last ones are small."""
    monkeypatch.setattr(opponent_sources, "_BATCH", 10)
    one, two = (work / f"{processes} processes" for processes in (1, 2))
    for processes, place in enumerate((one, two), 1):
        make(place, "source=irc", f"path={work / 'month.tgz'}", f"cluster.processes={processes}")
    assert digests(one / "artifacts") == digests(two / "artifacts") == digests(work / "artifacts")


def test_batches_that_overlap_in_time_are_put_in_order() -> None:
    betting = Betting.start(load_rules("holdem_limit_3p"))
    deeds: list[tuple[Betting, tuple[int, ...], int]] = [(betting, (), CALL), (betting.apply(CALL), (), FOLD)]
    first = ActionRows.of(
        [ObservedHand(10, ("ann", "bob", "cat"), deeds), ObservedHand(30, ("ann", "bob", "cat"), deeds)]
    )
    second = ActionRows.of(
        [
            ObservedHand(20, ("dan", "bob", "cat"), deeds),
            ObservedHand(25, ("dan", "bob", "cat"), []),
            ObservedHand(30, ("eve", "bob", "dan"), deeds),
        ]
    )
    rows = ActionRows.joined([first, second])
    assert len(rows.times) == 5
    assert rows.columns["time"].tolist() == [10, 10, 20, 20, 30, 30, 30, 30]
    assert rows.columns["hand"].tolist() == [0, 0, 1, 1, 3, 3, 4, 4]
    assert rows.columns["action"].tolist() == [1, 0] * 4
    assert [rows.names[player] for player in rows.columns["player"]] == [
        *("cat", "ann", "cat", "dan", "cat", "ann", "dan", "eve")
    ]


def test_no_limit_hands_of_any_format_become_rows(tmp_path: Path) -> None:
    """Hands of our own players, written as text of PokerStars and of ACPC, beside a limit hand."""
    rng = np.random.default_rng(1)
    seats = [RandomAgent(name=name, raises=[0.5, "a"]) for name in ("ann", "bob")]
    for seed, player in enumerate(seats):
        player.reset(seed)
    ends = {game: [play_hand(seats, HandState.deal(load_rules(game), rng)) for _ in range(12)] for game in GAMES}
    for game, played_hands in ends.items():
        logged = [LoggedHand(n, end, tuple(end.payoffs()), ("ann", "bob")) for n, end in enumerate(played_hands, 1)]
        (tmp_path / "hands").mkdir(exist_ok=True)
        write_hands(tmp_path / "hands" / f"{game}.txt", POKERSTARS, [as_played(hand) for hand in logged])
    make(tmp_path, "source=hands", f"path={tmp_path / 'hands'}")
    artifact = open_rows(tmp_path / "artifacts" / "opponent_actions")
    assert artifact.counts["hands"] == 12
    assert artifact.counts["unused"] == {"hands that are not nolimit": 12}
    wanted = [
        (sized_class(betting, action), spot_index(spot_of(betting)), bets_to_call(betting))
        for end in ends["holdem_nolimit_2p"]
        for betting, _, action in end.betting.turns()
    ]
    columns = [artifact.arrays[name].tolist() for name in ("action", "spot", "bets")]
    assert list(zip(*columns, strict=True)) == wanted
    assert max(columns[0]) == RAISE_CLASS + NUM_SIZES - 1


def test_after_a_session_everybody_is_somebody_new(tmp_path: Path) -> None:
    make(tmp_path, "source=self_play_nolimit", "source.hands=90", "source.session=30")
    artifact = open_rows(tmp_path / "artifacts" / "opponent_actions")
    hand, player = artifact.arrays["hand"], artifact.arrays["player"]
    sessions = [set(artifact.arrays[NAMES][player[hand // 30 == number]]) for number in range(3)]
    assert not sessions[0] & sessions[1] | sessions[1] & sessions[2]
    assert {name.partition(" ")[0] for name in sessions[1]} <= set(chosen_agents())


def chosen_agents() -> list[str]:
    return list(compose("data_gen", ["job=opponent_actions", "source=self_play_nolimit"]).source.agents)


def test_an_archive_that_is_not_there_is_one_line(work: Path) -> None:
    assert "needs path=ARCHIVE" in data_gen_fails("job=opponent_actions", "source=irc", f"path={work / 'nowhere.tgz'}")


def test_self_play_gives_the_same_rows_for_the_same_seed(tmp_path: Path) -> None:
    for name, seed in (("a", 1), ("b", 1), ("c", 2)):
        make(tmp_path / name, "source.hands=8", f"seed={seed}")
    a, b, c = (open_rows(tmp_path / name / "artifacts" / "opponent_actions") for name in "abc")
    assert a.fingerprint == b.fingerprint != c.fingerprint
    assert a.counts["hands"] == 8
    assert len(a.arrays[NAMES]) > 10


def test_rows_of_agents_with_other_settings_are_refused(tmp_path: Path) -> None:
    make(tmp_path, "source.hands=2")
    with pytest.raises(MismatchedArtifactError, match=r"made with config agents\.rock\.value=0\.66, not with 0\.9"):
        make(tmp_path, "source.hands=2", "source.agents.rock.value=0.9")


def test_artifacts_that_agents_play_with_belong_to_the_rows(tmp_path: Path) -> None:
    sources = []
    for config in ({}, {"other": 1}):
        artifact = write_artifact(tmp_path / "made", "blueprint", config=config, arrays={})
        agents = [AgentSpec(name, partial(AlwaysCall, name=name), {"with": str(artifact.path)}) for name in "ab"]
        sources.append(SelfPlay(load_rules("holdem_limit_2p"), agents, 1, 1))
    assert sources[0].config == sources[1].config
    assert sources[0].made_from != sources[1].made_from
