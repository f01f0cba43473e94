"""`python -m tests.endurance [soak] [spread] [fuzz] [acpc] [pokerkit] [coverage] [--scale SHARE]`: long runs, as JSON.

    soak   100,000 hands between fast agents in one process: memory after a first, shorter match and after the long one,
           and what is left open and running
    spread the same for 10,000 hands over processes, with every agent in one of its own and a limit for each decision
    fuzz   1,000,000 random and mutated ACPC match states and log lines of six games: each is parsed, and then prints
           back as it was read, or is refused with a clear message, in little time
    acpc   3,000 hands of heads-up no-limit and of three-player limit between our clients at our dealer, every hand
           played again in `HandState` and in PokerKit
    pokerkit  20,000 random no-limit hands of two and six players with unequal stacks, compared with PokerKit's at every
           decision; a difference ends it
    coverage  1,000 simulated matches with skewed results: how often their intervals hold the true mean, at set numbers
           of deals and where matches stop; with `--hands FOLDER` also matches drawn from the deals of stored ones
    c_dealer  the same at the published C dealer of the competition, and its time limits;
    c_player  its example player at our dealer, and the same odd answers to both dealers:
           only with `--c-dealer FOLDER`, where its compiled `dealer` and `example_player` are

Leaves with status 1 when something is not as it should be. `--scale 0.01` does a hundredth of it.
"""

import argparse
import contextlib
import gc
import json
import os
import random
import sys
import tempfile
import threading
import time
from collections import Counter
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from poker.agents.simple import AlwaysCall, RandomAgent
from poker.errors import PokernetsError
from poker.formats.acpc.log import cards_text, log_line, match_state_text, parse_log_line, parse_match_state
from poker.parallel import LocalCluster
from poker.play.lineup import AgentSpec
from poker.rules import Rules
from poker.state import HandState
from tests.bench.record import record
from tests.evaluation import coverage
from tests.evaluation.matches.acpc import c_dealer
from tests.evaluation.matches.acpc.table import long_match
from tests.games import load_rules
from tests.matches import play_match
from tests.random_play import random_action
from tests.test_pokerkit import replay

GAMES = ("kuhn", "leduc", "holdem_limit_2p", "holdem_nolimit_2p", "holdem_limit_3p", "holdem_nolimit_6p")
MOST_GROWTH = 0.05
MOST_SECONDS = 1.0
"""CPU time of a line; they take some 50 microseconds, but another program may take the core in between."""
_ALPHABET = "STATEMCH:0123456789/|fcrkb.-AKQJT98765432hdsc \t\r\n\0é²"
_SPECS = (
    AgentSpec("random", partial(RandomAgent, name="random", raises=[0.5, 1, "a"]), {}),
    AgentSpec("call", partial(AlwaysCall, name="call"), {}),
)
_EVERY_SECONDS = 2.0
_Part = Callable[[float], list[dict[str, Any]]]


def family() -> dict[int, int]:
    """Resident kilobytes by process: this one and all that come from it."""
    sizes: dict[int, int] = {}
    found = [os.getpid()]
    while found:
        process = found.pop()
        try:
            pages = int(Path(f"/proc/{process}/statm").read_text().split()[1])
            for task in Path(f"/proc/{process}/task").iterdir():
                found += map(int, (task / "children").read_text().split())
        except OSError:
            continue
        sizes[process] = pages * os.sysconf("SC_PAGE_SIZE") // 1024
    return sizes


def open_files() -> int:
    return len(list(Path("/proc/self/fd").iterdir())) - 1


class Watch:
    """Samples the memory of the processes under this one while a `with` block runs, in kilobytes."""

    def __init__(self) -> None:
        self.others: list[dict[int, int]] = []
        self.peak = 0
        self._done = threading.Event()
        self._thread = threading.Thread(target=self._sample)

    def _sample(self) -> None:
        while not self._done.wait(_EVERY_SECONDS):
            now = family()
            self.peak = max(self.peak, now.pop(os.getpid()))
            self.others.append(now)

    def __enter__(self) -> "Watch":
        self._thread.start()
        return self

    def __exit__(self, *error: object) -> None:
        self._done.set()
        self._thread.join()

    def largest_growth(self) -> float:
        """Over processes that lived through most of the block: the last third over the second, by means."""
        found = [0.0]
        for process in {process for sample in self.others for process in sample}:
            sizes = [sample[process] for sample in self.others if process in sample]
            third = len(sizes) // 3
            if third >= 2 and 2 * len(sizes) > len(self.others):
                found.append(float(np.mean(sizes[-third:]) / np.mean(sizes[third : 2 * third])) - 1)
        return max(found)


def soak(
    hands: int, *, processes: int, decision_seconds: float | None, game: str = "holdem_nolimit_2p"
) -> dict[str, Any]:
    """A match of a tenth of the hands to warm up, then one of all; what the second leaves behind."""
    with tempfile.TemporaryDirectory() as folder:
        settings: dict[str, Any] = {
            "game": load_rules(game),
            "agents": list(_SPECS),
            "decision_seconds": decision_seconds,
            "cluster": LocalCluster(processes),
            "out": folder,
        }
        play_match(hands=max(20, hands // 10), seed=1, **settings)
        gc.collect()
        before, files, threads = family()[os.getpid()], open_files(), threading.active_count()
        started, cpu = time.monotonic(), time.process_time()
        with Watch() as watch:
            [played] = play_match(hands=hands, seed=2, **settings).lineups
        found: dict[str, Any] = {
            "soak": f"{hands:,} hands of {game}, processes={processes}, decision_seconds={decision_seconds}",
            "hands": played.hands,
            "seconds": round(time.monotonic() - started, 1),
            "cpu_seconds_here": round(time.process_time() - cpu, 1),
            "failures": len(played.incidents),
        }
    del played
    gc.collect()
    after = family()
    found |= {
        "megabytes_after_warm_up": round(before / 1024, 1),
        "megabytes_at_the_end": round(after[os.getpid()] / 1024, 1),
        "megabytes_at_most": round(watch.peak / 1024, 1),
        "growth": round(after[os.getpid()] / before - 1, 4),
        "growth_of_other_processes": round(watch.largest_growth(), 4),
        "processes_seen": len({process for sample in watch.others for process in sample}),
        "processes_left": sorted(_names(set(after) - {os.getpid()})),
        "files_before": files,
        "files_after": open_files(),
        "threads_before": threads,
        "threads_after": threading.active_count(),
    }
    # the resource tracker of `multiprocessing` is one process and one pipe for the whole life of a program
    tracker = [name for name in found["processes_left"] if "resource_tracker" in name]
    found["ok"] = (
        found["hands"] == hands
        and not found["failures"]
        and max(found["growth"], found["growth_of_other_processes"]) < MOST_GROWTH
        and len(found["processes_left"]) == len(tracker)
        and found["files_after"] <= files
        and found["threads_after"] <= threads
    )
    return found


def _names(processes: set[int]) -> list[str]:
    names = []
    for process in processes:
        try:
            program, _, rest = Path(f"/proc/{process}/cmdline").read_text().replace("\0", " ").strip().partition(" ")
            names.append(f"{Path(program).name} {rest}".strip())
        except OSError:
            continue
    return names


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
    told = parse_match_state(rules, text)
    return f"MATCHSTATE:{told.player}:{told.number}:{told.state.betting.text()}:{cards_text(told.state)}"


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


def _soak(scale: float) -> list[dict[str, Any]]:
    return [soak(round(100_000 * scale), processes=1, decision_seconds=None)]


def _spread(scale: float) -> list[dict[str, Any]]:
    return [soak(round(10_000 * scale), processes=2, decision_seconds=60.0)]


def _fuzz(scale: float) -> list[dict[str, Any]]:
    return [fuzz(name, round(1_000_000 * scale / len(GAMES)), seed) for seed, name in enumerate(GAMES)]


def _acpc(scale: float) -> list[dict[str, Any]]:
    return [long_match(name, round(3000 * scale)) for name in ("holdem_nolimit_2p", "holdem_limit_3p")]


def _pokerkit(scale: float) -> list[dict[str, Any]]:
    rows = []
    for players, hands in ((2, round(14_000 * scale)), (6, round(6_000 * scale))):
        replay(players, hands, seed=100 + players)
        rows.append({"run": "pokerkit", "players": players, "hands": hands, "ok": True})
    return rows


def _coverage(scale: float, hands: Sequence[Path] = ()) -> list[dict[str, Any]]:
    matches = round(1000 * scale)
    stored = [coverage.of_stored(hands, matches)] if hands else []
    return [coverage.of_formula(matches), *stored, coverage.of_tails(matches)]


def main() -> int:
    parts: dict[str, _Part] = {"soak": _soak, "spread": _spread, "fuzz": _fuzz, "acpc": _acpc}
    parts |= {"pokerkit": _pokerkit, "coverage": _coverage}
    parser = argparse.ArgumentParser(prog="python -m tests.endurance", description="long matches and odd lines")
    parser.add_argument("parts", nargs="*", choices=[*parts, "c_dealer", "c_player"], default=list(parts))
    parser.add_argument("--scale", type=float, default=1.0)
    parser.add_argument("--c-dealer", type=Path, metavar="FOLDER")
    parser.add_argument("--hands", type=Path, metavar="FOLDER", action="append", default=[])
    chosen = parser.parse_args()
    if chosen.hands:
        parts["coverage"] = partial(_coverage, hands=chosen.hands)
    if not set(chosen.parts) <= set(parts):
        if chosen.c_dealer is None or not (chosen.c_dealer / "dealer").is_file():
            parser.error("c_dealer and c_player need --c-dealer FOLDER with the compiled programs of the competition")
        parts["c_dealer"] = lambda scale: c_dealer.their_matches(chosen.c_dealer.resolve(), round(3000 * scale))
        parts["c_player"] = lambda scale: c_dealer.our_matches(chosen.c_dealer.resolve(), round(3000 * scale))
    with contextlib.redirect_stdout(sys.stderr):
        rows = [row for name in chosen.parts for row in parts[name](chosen.scale)]
    print(json.dumps(record(rows=rows), indent=1))
    return 0 if all(row["ok"] for row in rows) else 1


if __name__ == "__main__":
    sys.exit(main())
