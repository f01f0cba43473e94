"""AIVAT of a dealer's log from what the clients noted of their policies."""

import json
from functools import partial
from pathlib import Path

import numpy as np
import pytest

from conf.compose import build, compose
from poker.agents.simple import RandomAgent
from poker.evaluation.aivat.heads_up import Aivat
from poker.evaluation.aivat.value_functions import CheckDown, FoldEquityValues
from poker.evaluation.matches.results import Results
from poker.formats.acpc.log import read_log
from poker.game.state import PolicyFunction
from poker.play.notes import Notes
from poker.run.errors import PokernetsError
from tests.evaluation.matches.acpc.table import RANDOM, deal
from tests.games import LEDUC, resolve
from tests.matches import replayed

HANDS = 60


@pytest.fixture(scope="module")
def played(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, list[Path]]:
    """The dealer's log, and the notes of the client that is first in it and of the other."""
    out = tmp_path_factory.mktemp("match")
    result, seats = deal(LEDUC, [RANDOM, RANDOM], HANDS, out, out / "clients")
    first = next(iter(read_log(LEDUC, result.log)))
    notes = sorted((seat.notes for seat in seats), key=lambda path: json.loads(path.open().readline())["player"])
    assert len(first.names) == len(notes) == 2
    return result.log, notes


def replay(log: Path, notes: list[Path], out: Path) -> Results:
    return replayed(LEDUC, log, out, notes=[str(path) for path in notes])


@pytest.mark.parametrize("sides", [(0,), (1,), (0, 1)])
def test_estimates_are_those_with_the_policies_themselves(
    played: tuple[Path, list[Path]], tmp_path: Path, sides: tuple[int, ...]
) -> None:
    log, notes = played
    lineup = replay(log, [notes[side] for side in sides], tmp_path)
    random = RANDOM()
    assert isinstance(random, RandomAgent)
    expected = []
    names = next(iter(read_log(LEDUC, log))).names
    mine = [names[_first_player(notes[side], log)] for side in sides]
    for hand in read_log(LEDUC, log):
        policies: list[PolicyFunction | None] = [random.policy if name in mine else None for name in hand.names]
        chips = Aivat(LEDUC, CheckDown(LEDUC)).estimate(hand.state, policies)
        expected.append([chips[hand.names.index(name)] for name in lineup.lineup.labels])
    estimates = lineup.payoffs(aivat=True).reshape(-1, 2)
    np.testing.assert_allclose(estimates, np.array(expected) * 1000 / LEDUC.big_blind, rtol=1e-5, atol=1e-3)
    assert lineup.sd_per_hand(aivat=True) < lineup.sd_per_hand()
    assert not lineup.unknown


def _first_player(notes: Path, log: Path) -> int:
    """The seat of the player of `notes` in the first hand of the log."""
    number = next(iter(read_log(LEDUC, log))).number
    rows = [json.loads(line) for line in notes.open()]
    return int(next(row["player"] for row in rows if row["hand"] == number))


def test_legs_of_a_duplicate_match_are_one_result_over_deals(tmp_path: Path) -> None:
    """Two players change seats and get each other's cards: hands of one number are a deal."""
    legs, notes = [], []
    for names in (["a", "b"], ["b", "a"]):
        out = tmp_path / names[0]
        players = [partial(RandomAgent, name=name, raises=[1]) for name in names]
        dealt, seats = deal(LEDUC, players, 30, out, out / "clients", names=names)
        legs.append(dealt.log)
        notes += [str(seat.notes) for seat in seats if seat.agent.name == "a"]
    lineup = replayed(LEDUC, legs, tmp_path, notes=notes)
    assert (lineup.lineup.players, lineup.hands, lineup.estimates()[0].n) == (("a", "b"), 60, 30)
    logs = [list(read_log(LEDUC, leg)) for leg in legs]
    for first, second in zip(*logs, strict=True):
        assert (first.state.hole_cards, first.names) == (second.state.hole_cards, second.names[::-1])
    won = [[hand.payoffs[hand.names.index("a")] for hand in hands] for hands in logs]
    np.testing.assert_allclose(lineup.values()[:, 0], np.mean(won, axis=0) * 1000)
    assert lineup.has_aivat
    assert not lineup.unknown
    alone = replayed(LEDUC, legs[0], tmp_path, notes=notes[:1])
    np.testing.assert_allclose(lineup.payoffs(aivat=True)[:, 0].ravel(), alone.payoffs(aivat=True).ravel())
    short = tmp_path / "short.log"
    short.write_text("\n".join(legs[1].read_text().splitlines()[:-3]) + "\n")
    other = tmp_path / "other.log"
    other.write_text(legs[0].read_text())
    dealt, _ = deal(LEDUC, players, 30, tmp_path / "c", names=["b", "a"], seed=2)
    for logs_given, notes_given, why in (
        ([legs[0], short], [], "the logs do not have the same hands in the same order: hand 28, none"),
        ([legs[0], other], [], "hand 0: the logs must have the same players in different seats"),
        ([legs[0], dealt.log], [], "the logs do not have the same cards"),
        ([legs[0], legs[0]], [], "a duplicate match of `leduc` has 2 different logs, not 2"),
        (legs, notes[:1], "1 `notes` for 2 logs: give one per log"),
    ):
        with pytest.raises(PokernetsError, match=why):
            replayed(LEDUC, logs_given, tmp_path, notes=notes_given)


def test_player_with_failures_or_missing_notes_is_unknown(played: tuple[Path, list[Path]], tmp_path: Path) -> None:
    log, [first, second] = played
    lines = first.read_text().splitlines()
    row = json.loads(lines[3])
    failed = json.dumps({key: row[key] for key in ("hand", "player", "betting")}) + "\n"
    for line, why in ((failed, "it failed in"), ("", "its notes lack")):
        broken = tmp_path / "broken.jsonl"
        broken.write_text("\n".join([*lines[:3], line + lines[4], *lines[5:]]) + "\n")
        lineup = replay(log, [broken, second], tmp_path / "out")
        [reason] = lineup.unknown.values()
        assert reason.startswith(f"{why} hand {row['hand']} after `{row['betting']}`")
        alone = replay(log, [second], tmp_path / "alone")
        np.testing.assert_array_equal(lineup.payoffs(aivat=True), alone.payoffs(aivat=True))


def test_notes_of_another_match_and_other_files_are_refused(played: tuple[Path, list[Path]], tmp_path: Path) -> None:
    log, [first, _] = played
    other = tmp_path / "other.jsonl"
    rows = [json.loads(line) for line in first.read_text().splitlines()]
    other.write_text("".join(json.dumps({**row, "hand": row["hand"] + 10_000}) + "\n" for row in rows))
    with pytest.raises(PokernetsError, match="does not belong to a player of the log"):
        replay(log, [other], tmp_path)
    with pytest.raises(PokernetsError, match="no notes at"):
        replay(log, [tmp_path / "none.jsonl"], tmp_path)
    other.write_text("[]\n")
    with pytest.raises(PokernetsError, match="line 1: not a note of a decision"):
        replay(log, [other], tmp_path)


def test_last_line_that_a_kill_cut_short_is_ignored(played: tuple[Path, list[Path]], tmp_path: Path) -> None:
    whole = played[1][0].read_bytes()
    (tmp_path / "cut.jsonl").write_bytes(whole[:-10])
    lines = Notes.read(played[1][0]).lines
    assert list(Notes.read(tmp_path / "cut.jsonl").lines.items()) == list(lines.items())[:-1]


def test_replay_takes_value_functions_from_the_command_line() -> None:
    settings = resolve(compose("evaluate", ["evaluate=replay", "log=x", "values=fold_equity", "notes=[a,b]"]).evaluate)
    assert isinstance(build(settings["values"])(), FoldEquityValues)
    assert settings["notes"] == ["a", "b"]
