"""Odd answers sent to the C dealer of the competition and to ours, which must read them alike.

Answers depend on the hand's number and betting alone, so that matches go alike although the dealers deal other cards.
Left out are lines for which the C dealer reads memory it never wrote (a player's own cards missing) and sizes of more
than 32 bits.
"""

import random
import socket
import subprocess
import threading
from collections.abc import Sequence
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from poker.formats.acpc.log import MatchState, parse_match_state, read_log
from poker.formats.acpc.protocol import LineConnection
from poker.game.rules import Rules
from poker.run.errors import PokernetsError
from tests.evaluation.matches.acpc.table import dealt, free_ports
from tests.games import load_rules

_LINES = ("# comment", ";gui", "", "hello", "MATCHSTATE:9:1::", "VERSION:2.0.0")
_ACTIONS = (
    "F", "C", "R", "R400", "K", "k", "B300", "b300", "b", "r", "x", "c", "fold", "call", "raise", "r-1", "r+500",
    "r0", "r1", "r999999999", "r400.5", "r400c", "r1e3", "r0x200", "c500", "f100", ":c", "/c", "rr", "cc", "0", "f/",
    "r00500", "r--5", "r+-5", "é", "", " c", "c ", "r 700", "r\t800", "r+ 500", "r\x0b300", "r\r300",
)  # fmt: skip


def _head(state: str, rng: random.Random, rules: Rules) -> str:
    """The state, written in a variant form that a dealer may or may not accept as the same."""
    fields = state.split(":")
    changed: list[tuple[int, str]] = [
        (3, fields[3].replace("/", "")),
        (4, fields[4].upper()),
        (4, fields[4].lower()),
        (3, fields[3].upper()),
        (3, fields[3].replace("c", "k").replace("r", "b")),
        (1, "0" + fields[1]),
        (2, "+" + fields[2]),
        (2, " " + fields[2]),
        (3, "/" + fields[3] + "/"),
        (4, fields[4] + "/"),
        (4, fields[4] + "|"),
        (4, fields[4] + "2c"),
        (0, " " + fields[0]),
        (4, fields[4].replace("|", "|2c3d"[: 1 + 2 * rules.num_hole_cards]) if fields[4][0] != "|" else fields[4]),
    ]
    if rng.random() < 0.6:
        return state
    place, text = rng.choice(changed)
    return ":".join([*fields[:place], text, *fields[place + 1 :]])


def _answers(state: str, match_state: MatchState, rng: random.Random) -> list[str]:
    """Lines for one state; the last is a call, should none before it be an answer."""
    rules, legal = match_state.state.rules, match_state.state.legal()
    lines = [rng.choice(_LINES)] if rng.random() < 0.05 else []
    if rng.random() < 0.03:
        lines.append(state.replace(f":{match_state.number}:", f":{match_state.number + 1}:", 1) + ":f")
    if rng.random() < 0.5:
        action = rng.choice(["f", "c", "c", "c", "r"])
        if action == "r" and not rules.is_limit:
            low, high = legal.min_raise or 200, legal.max_raise or 20000
            action += str(rng.choice([low, high, rng.randint(low, high), min(high, low + 100)]))
    else:
        action = rng.choice(_ACTIONS)
    return [*lines, f"{_head(state, rng, rules)}:{action}", f"{state}:c"]


def _guest(rules: Rules, port: int, seed: int) -> None:
    connection = socket.create_connection(("localhost", port), timeout=30)
    with LineConnection(connection) as line:
        line.send("VERSION:2.0.0")
        try:
            while True:
                text = line.read()
                match_state = parse_match_state(rules, text)
                if match_state.state.to_act == match_state.player:
                    rng = random.Random(f"{seed} {match_state.number} {match_state.state.betting.text()}")
                    connection.sendall("".join(f"{part}\r\n" for part in _answers(text, match_state, rng)).encode())
        except (PokernetsError, OSError):
            return


def _sit(rules: Rules, ports: Sequence[int], seed: int, seconds: float = 0.0) -> list[threading.Timer]:
    timers = [threading.Timer(seconds, _guest, (rules, port, seed)) for port in ports]
    for timer in timers:
        timer.start()
    return timers


def same_answers(folder: Path, name: str, hands: int, seed: int) -> dict[str, Any]:
    """How many hands of a match of odd answers had other betting at the dealer in `folder` than at ours."""
    rules = load_rules(name)
    names = [f"p{i}" for i in range(rules.num_players)]
    with TemporaryDirectory() as work:
        definition, log = Path(work) / "game", Path(work) / "match.log"
        definition.write_text(rules.to_acpc())
        command = [str(folder / "dealer"), str(log.with_suffix("")), str(definition), str(hands), "1", *names, "-q"]
        with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True) as dealer:
            assert dealer.stdout is not None
            timers = _sit(rules, list(map(int, dealer.stdout.readline().split())), seed)
            dealer.communicate()
        ports = free_ports(len(names))
        timers += _sit(rules, ports, seed, seconds=2.0)
        result = dealt(rules, Path(work), names=names, ports=ports, hands=hands, start_seconds=60.0)
        for timer in timers:
            timer.join(60)
        theirs, ours = ([hand.state.betting.text() for hand in read_log(rules, path)] for path in (log, result.log))
    different = [i for i, pair in enumerate(zip(theirs, ours, strict=False)) if pair[0] != pair[1]]
    return {
        "odd_answers": name,
        "hands": hands,
        "seed": seed,
        "with_other_betting": len(different),
        "the_first": [f"{i}: {theirs[i]} at theirs, {ours[i]} at ours" for i in different[:5]],
        "ok": len(theirs) == len(ours) == hands and not different,
    }
