"""Long matches and a million odd lines: memory stays flat, nothing is left open, nothing crashes or hangs."""

import gc
import multiprocessing
import os
import random
import time
from functools import partial
from pathlib import Path

import numpy as np
import pytest

from poker.agents.simple import AlwaysCall, RandomAgent
from poker.errors import PokernetsError
from poker.evaluation.match import run
from poker.evaluation.table import AgentSpec, Schedule, Table, play_session
from poker.formats.acpc_log import log_line, match_state_text, parse_log_line, parse_match_state
from poker.rules import Rules
from poker.state import HandState
from tests.games import load_rules
from tests.random_play import random_action

CALL = partial(AlwaysCall, name="call")
RANDOM = partial(RandomAgent, name="random", raises=[0.5, 1, "a"])
HANDS = 500
ALPHABET = "STATEMCH:0123456789/|fcrkb.-AKQJT98765432hdsc \r\n\0é²"


def resident_kilobytes() -> int:
    return int(Path("/proc/self/statm").read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE") // 1024


def open_files() -> list[str]:
    return sorted(str(path.readlink()) for path in Path("/proc/self/fd").iterdir() if path.is_symlink())


def soak_one_process(hands: int) -> float:
    """Growth of memory after the first tenth, as a share."""
    schedule, table = Schedule(load_rules("holdem_nolimit_2p"), 1, 1), Table(("random", "call"))
    agents = [RANDOM(), CALL()]
    after_warm_up = 0
    for session in range(hands // 2):
        play_session(schedule, table, agents, session)
        if session == hands // 20:
            after_warm_up = resident_kilobytes()
    return resident_kilobytes() / after_warm_up - 1


def fuzz(rules: Rules, lines: int, seed: int) -> tuple[int, int]:
    """Mutated log lines and match states; returns how many were parsed, and how many refused."""
    rng, cards = random.Random(seed), np.random.default_rng(seed)
    texts = []
    for number in range(100):
        state = HandState.deal(rules, cards)
        while not state.is_over:
            texts.append((False, match_state_text(state, number, rng.randrange(rules.num_players))))
            state = state.apply(random_action(state.legal(), rng))
        texts.append((True, log_line(state, number, [f"p{i}" for i in range(rules.num_players)])))
    parsed = 0
    for _ in range(lines):
        is_log, text = rng.choice(texts)
        letters = list(text)
        for _ in range(rng.choice((0, 1, 1, 2, 10))):
            i = rng.randrange(len(letters) + 1)
            letters[i : i + rng.randint(0, 3)] = rng.choices(ALPHABET, k=rng.randint(0, 3))
        started = time.process_time()
        message = "not refused"
        try:
            (parse_log_line if is_log else parse_match_state)(rules, "".join(letters))
            parsed += 1
        except PokernetsError as error:
            message = str(error)
        assert 10 < len(message) < 1000
        assert time.process_time() - started < 1.0
    return parsed, lines - parsed


@pytest.mark.slow
def test_memory_is_flat_in_one_process() -> None:
    assert soak_one_process(6000) < 0.05


@pytest.mark.slow
def test_a_match_over_processes_leaves_nothing_behind(tmp_path: Path) -> None:
    specs = [AgentSpec("random", RANDOM, {}), AgentSpec("call", CALL, {})]
    files: list[list[str]] = []
    growth = []
    for round_ in range(3):
        run(
            game=load_rules("leduc"),
            agents=specs,
            tables=None,
            hands=HANDS,
            session=1,
            seed=round_,
            half_width=None,
            decision_seconds=5.0 if round_ == 2 else None,
            processes=2,
            fresh=False,
            out=str(tmp_path),
        )
        gc.collect()
        growth.append(resident_kilobytes())
        files.append(open_files())
    assert not multiprocessing.active_children()
    assert len(files[2]) <= len(files[0]), (files[0], files[2])
    assert growth[2] < 1.05 * growth[0]


@pytest.mark.slow
@pytest.mark.parametrize("name", ["leduc", "holdem_limit_3p", "holdem_nolimit_6p"])
def test_odd_lines_are_parsed_or_refused(name: str) -> None:
    parsed, refused = fuzz(load_rules(name), 10_000, seed=1)
    assert parsed > 1500
    assert refused > 1500
