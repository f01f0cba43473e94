"""Files made to cost a parser more than they weigh: each is refused by name, in a moment and with little memory."""

import base64
import re
import time
import tracemalloc
import zlib
from collections.abc import Callable
from pathlib import Path

import pytest

from poker.formats.histories import hands_of
from poker.game.rules import Rules, RulesError
from poker.play.notes import Notes
from poker.run.errors import PokernetsError
from poker.run.limits import MOST_NOTE_BYTES, LimitError, decompressed, parse_json
from tests.formats.samples import sample
from tests.games import load_rules

PHH = sample("phh_fold")
DEFINITION = load_rules("holdem_nolimit_2p").to_acpc()
_MEGABYTES = 64


def cheaply(run: Callable[[], object]) -> str:
    """The message that refuses, which must have cost little."""
    tracemalloc.start()
    start = time.process_time()
    try:
        with pytest.raises(PokernetsError) as caught:
            run()
        assert time.process_time() - start < 5
        assert tracemalloc.get_traced_memory()[1] < _MEGABYTES << 20
    finally:
        tracemalloc.stop()
    message = str(caught.value)
    assert len(message) < 400
    return message


def read(text: str) -> list[object]:
    return list(hands_of(text, "x", load_rules("holdem_nolimit_2p")))


@pytest.mark.parametrize(
    ("text", "why"),
    [
        (f"{PHH}{'a.' * 150_000}a = 1\n", "x, line 1: unsupported TOML: a line of 300,005 characters"),
        (f"{PHH}x = {'[' * 5_000}\n", "not TOML: maximum recursion depth"),
        (f"{PHH}x = {'9' * 9_000}\n", "not TOML: Exceeds the limit .* for integer string conversion"),
        (f"{PHH}x = '''{'y' * 2_000_000}'''\n", "a hand of 2,000,130 characters; at most 1,048,576 allowed"),
        (PHH + 'x = "' + "\\" * 9_000 + "\n", "not TOML"),
        ('{"ohh": ' + "[" * 200_000, "nested too deeply"),
        ('{"ohh": {"a": "' + '\\"' * 300_000, "not JSON"),
        ('{"ohh": ' * 100_000, "not JSON|too deeply|no hand"),
        ('{"ohh": "' + "x" * 2_000_000 + '"}', "a hand of 2,000,011 characters"),
        ("STATE:0:" + "r" * 300_000 + ":|:1|-1:a|b\n", "a line of 300,000|a line of 300,0"),
        ("# GAMEDEF\n" + "# nolimit\n" * 90_000 + "# END GAMEDEF\nSTATE:0:f:|:1|-1:a|b\n", "a text of 720,"),
        ("PokerStars Hand #1: " + "x" * 300_000, "a line of 300,020 characters; at most 1,000 allowed"),
        ("Bovada Hand #1 " + "x" * 300_000, "a line of 300,015 characters; at most 1,000 allowed"),
        ("x" * 3_000_000, "no hands that are read here"),
        ("[" * 3_000_000, "no hands that are read here"),
    ],
)
def test_files_of_hands(text: str, why: str) -> None:
    message = cheaply(lambda: read(text))
    assert re.search(why, message), message


@pytest.mark.parametrize(
    "text",
    [
        PHH + "a.b.c.d = 1\n_x = {a = [[1], [2]], 'b.c.d.e.f.g' = '" + "a." * 500 + "'}\n",
        PHH + "x = 1.5 # " + "a." * 100 + "\ny = '''\n" + "b." * 100 + "\n'''\n",
    ],
)
def test_usual_hands_are_within(text: str) -> None:
    assert len(read(text)) == 1


@pytest.mark.parametrize(
    ("text", "why"),
    [
        (DEFINITION.replace("numPlayers = 2", f"numPlayers = {'2' * 5000}"), "integers of at most 10 digits"),
        (DEFINITION.replace("numPlayers = 2", f"numPlayers{' ' * 50_000}!"), "unknown field in `numPlayers"),
        (DEFINITION.replace("numPlayers = 2", f"{'n' * 50_000}!"), "unknown field in `nnn"),
        (DEFINITION.replace("20000", "4000000000"), "field `stacks` must be 2 amounts from 1 to 2147483647"),
        (DEFINITION + "# \n" * 90_000, "a text of 270,"),
    ],
)
def test_definitions_of_games(text: str, why: str) -> None:
    def run() -> None:
        with pytest.raises(RulesError) as caught:
            Rules.from_acpc(text)
        raise caught.value

    assert why in cheaply(run)


def test_json_and_compressed_notes(tmp_path: Path) -> None:
    with pytest.raises(LimitError, match="nested too deeply"):
        parse_json("[" * 100_000)
    assert parse_json('{"a": "' + "[" * 100 + '"}') == {"a": "[" * 100}
    bomb = zlib.compress(bytes(MOST_NOTE_BYTES + 1))
    assert "the compressed data is truncated, or larger" in cheaply(lambda: decompressed(bomb, MOST_NOTE_BYTES))
    row = (
        f'{{"hand": 0, "player": 0, "betting": "", "actions": [0, 1], "probs": "{base64.b64encode(bomb).decode()}"}}\n'
    )
    (tmp_path / "notes").write_text(row)
    notes = Notes.read(tmp_path / "notes")
    assert "the note of (0, 0, '') has no policy" in cheaply(lambda: notes.policy((0, 0, "")))
    for text in ('{"hand": ' + "[" * 100_000, '{"hand": 1e999, "player": 0, "betting": ""}'):
        (tmp_path / "notes").write_text(f"{text}\n")
        assert "line 1: not a note of a decision" in cheaply(lambda: Notes.read(tmp_path / "notes"))
    (tmp_path / "notes").write_text(row.replace("[0, 1]", "[0, 1e999]"))
    assert "has no policy" in cheaply(lambda: Notes.read(tmp_path / "notes").policy((0, 0, "")))
