"""`python -m tests.endurance [fuzz] [acpc] [coverage] [c_dealer] [c_player]`: long runs, as JSON.

    fuzz   1,000,000 random and mutated ACPC match states and log lines of six games: each is parsed, and then prints
           back as it was read, or is refused with a clear message, in little time
    acpc   3,000 hands of heads-up no-limit and of three-player limit between our clients at our dealer, every hand
           played again in `HandState` and in PokerKit
    coverage  1,000 simulated matches with skewed results: how often their intervals hold the true mean, at set numbers
           of deals and where matches stop; with `--hands FOLDER` also matches drawn from the deals of stored ones
    c_dealer  3,000 hands at the published C dealer of the competition, and its time limits;
    c_player  its example player at our dealer, and the same odd answers to both dealers:
           only with `--c-dealer FOLDER`, where its compiled `dealer` and `example_player` are

Leaves with status 1 when something is not as it should be.
"""

import argparse
import contextlib
import json
import random
import sys
import time
from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from poker.formats.acpc.log import cards_text, log_line, match_state_text, parse_log_line, parse_match_state
from poker.game.rules import Rules
from poker.game.state import HandState
from poker.run.errors import PokernetsError
from tests.bench.record import record
from tests.evaluation import coverage
from tests.evaluation.matches.acpc import c_dealer
from tests.evaluation.matches.acpc.table import long_match
from tests.games import load_rules
from tests.random_play import random_action

GAMES = ("kuhn", "leduc", "holdem_limit_2p", "holdem_nolimit_2p", "holdem_limit_3p", "holdem_nolimit_6p")
MOST_SECONDS = 1.0
"""CPU time of a line; they take some 50 microseconds, but another program may take the core in between."""
HANDS, MATCHES = 3000, 1000
_ALPHABET = "STATEMCH:0123456789/|fcrkb.-AKQJT98765432hdsc \t\r\n\0é²"


def fuzz(name: str, lines: int, seed: int) -> dict[str, Any]:
    """Odd lines of one game: how many were parsed and refused, the longest time for one, and what went wrong."""
    rules, rng = load_rules(name), random.Random(seed)
    texts = _good_lines(rules, 300, rng, seed)
    counts: Counter[str] = Counter()
    problems: list[str] = []
    slowest = 0.0
    for _ in range(lines):
        text = _odd_line(texts, rng)
        is_log = text.startswith("S") if rng.random() < 0.98 else rng.random() < 0.5
        begin = time.thread_time()
        try:
            back = _read_log_line(rules, text) if is_log else _read_match_state(rules, text)
            counts["parsed"] += 1
            if back.lower() != text[: len(back)].lower():
                problems.append(f"{text!r} prints back as {back!r}")
        except PokernetsError as error:
            counts["refused"] += 1
            if not 10 < len(str(error)) < 1000:
                problems.append(f"{text!r}: unclear message {str(error)[:200]!r}")
        except Exception as error:
            problems.append(f"{text!r}: {type(error).__name__}: {error}")
        slowest = max(slowest, time.thread_time() - begin)
    return {
        "fuzz": name,
        "lines": lines,
        **counts,
        "slowest_ms": round(1000 * slowest, 2),
        "problems": [problem[:300] for problem in problems[:20]],
        "ok": not problems and slowest < MOST_SECONDS and min(counts["parsed"], counts["refused"]) > lines // 10,
    }


def _read_match_state(rules: Rules, text: str) -> str:
    view = parse_match_state(rules, text)
    return f"MATCHSTATE:{view.player}:{view.number}:{view.state.betting.text()}:{cards_text(view.state)}"


def _read_log_line(rules: Rules, text: str) -> str:
    hand = parse_log_line(rules, text)
    return f"STATE:{hand.number}:{hand.state.betting.text()}:{cards_text(hand.state)}:"


def _good_lines(rules: Rules, hands: int, rng: random.Random, seed: int) -> list[str]:
    cards = np.random.default_rng(seed)
    texts = []
    for number in range(hands):
        state = HandState.deal(rules, cards)
        while not state.is_over:
            texts.append(match_state_text(state, number, rng.randrange(rules.num_players)))
            state = state.apply(random_action(state.legal(), rng))
        line = log_line(state, number, [f"p{i}" for i in range(rules.num_players)])
        texts += [line] * 3 + [match_state_text(state, number, 0)]
    return texts


def _odd_line(texts: list[str], rng: random.Random) -> str:
    """One in three as it is or with one change, the others changed more, cut, joined, or made of noise."""
    text = rng.choice(texts)
    kind = rng.random()
    if kind < 0.02:
        return "".join(rng.choices(_ALPHABET, k=rng.randint(0, 200)))
    if kind < 0.04:
        return text[: rng.randrange(len(text) + 1)] + rng.choice(texts)[rng.randrange(40) :]
    if kind < 0.06:
        return text[: rng.randrange(len(text) + 1)]
    if kind < 0.065:
        i = rng.randrange(len(text) + 1)
        return (
            text[:i] + rng.choice(("c", "/", "r", "r300", "|", ":", "9", "Ah", "f")) * rng.randint(1, 5000) + text[i:]
        )
    letters = list(text)
    for _ in range(rng.choice((0, 1, 1, 2, 10))):
        i = rng.randrange(len(letters) + 1)
        letters[i : i + rng.randint(0, 3)] = rng.choices(_ALPHABET, k=rng.randint(0, 3))
    return "".join(letters)


def _rows(part: str, c_dealers: Path | None, stored: Sequence[Path]) -> Iterator[dict[str, Any]]:
    if part == "fuzz":
        yield from (fuzz(name, 1_000_000 // len(GAMES), seed) for seed, name in enumerate(GAMES))
    elif part == "acpc":
        yield from (long_match(name, HANDS) for name in ("holdem_nolimit_2p", "holdem_limit_3p"))
    elif part == "coverage":
        yield coverage.of_formula(MATCHES)
        if stored:
            yield coverage.of_stored(stored, MATCHES)
        yield coverage.of_tails(MATCHES)
    elif c_dealers is None or not (c_dealers / "dealer").is_file():
        raise SystemExit("c_dealer and c_player need --c-dealer FOLDER with the compiled programs of the competition")
    else:
        yield from (c_dealer.their_matches if part == "c_dealer" else c_dealer.our_matches)(c_dealers.resolve(), HANDS)


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m tests.endurance", description="long matches and odd lines")
    parser.add_argument("parts", nargs="+", choices=["fuzz", "acpc", "coverage", "c_dealer", "c_player"])
    parser.add_argument("--c-dealer", type=Path, metavar="FOLDER")
    parser.add_argument("--hands", type=Path, metavar="FOLDER", action="append", default=[])
    arguments = parser.parse_args()
    with contextlib.redirect_stdout(sys.stderr):
        rows = [row for part in arguments.parts for row in _rows(part, arguments.c_dealer, arguments.hands)]
    print(json.dumps(record(rows=rows), indent=1))
    return 0 if all(row["ok"] for row in rows) else 1


if __name__ == "__main__":
    sys.exit(main())
