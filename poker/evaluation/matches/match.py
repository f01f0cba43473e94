"""Matches between agents on common cards: duplicate deals in every seating, in parallel, resumable.

`run` is what `evaluate.py evaluate=match` calls. Hands are kept as ACPC logs under `out/<game>/hands`, by
table; the report of a match (JSON, chart, TensorBoard) goes to a directory of its own beside them.
"""

import contextlib
import ctypes
import gc
import os
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from itertools import combinations
from pathlib import Path

from rich.console import Console

from poker.errors import PokernetsError
from poker.evaluation.aivat.guesses import GuessSpec
from poker.evaluation.matches.closing import Counted, close_logs
from poker.evaluation.matches.hand_store import HandStore
from poker.evaluation.matches.report import LiveReport, write_report
from poker.evaluation.matches.results import MatchResults, TableResults
from poker.evaluation.matches.revision import revise_estimates
from poker.evaluation.matches.table import AgentSpec, Schedule, SessionRecord, Table
from poker.evaluation.matches.workers import SharedAgent, Task, play_all
from poker.rules import Rules

WIDTH = 110
"""Columns of the table where the output is not a terminal."""


def run(
    *,
    game: Rules,
    agents: Sequence[AgentSpec],
    tables: Sequence[Sequence[str]] | None,
    hands: int,
    session: int,
    seed: int,
    half_width: float | None,
    decision_seconds: float | None,
    aivat: bool = False,
    stand_in: AgentSpec | None = None,
    values: GuessSpec | None = None,
    processes: int,
    fresh: bool,
    out: str,
) -> MatchResults:
    """Plays `hands` hands at every table, or what is missing of them, and writes the report.

    `tables` lists line-ups of agent names; without it heads-up games are played by all pairs, others by all agents.
    `session` is the number of deals during which agents may remember. With `half_width` (mbb per hand) a table stops
    before `hands` when the 95% interval of its first agent is as narrow as that. With `decision_seconds` every agent
    has a process of its own, and one that takes longer, dies or answers rubbish checks or folds. With `aivat` the luck
    is taken out of every hand as far as the agents' policies allow (`poker.evaluation.aivat`); `stand_in` has a quick
    policy for guesses, where no agent at the table has one (`luck.py`), and `values` guess what hands are worth.
    `processes` 0 means one for each core. `fresh` plays anew what was kept of earlier runs with the same settings.
    """
    names = [spec.name for spec in agents]
    line_ups = _line_ups(game, names, tables)
    if hands < 1 or session < 1 or processes < 0:
        raise PokernetsError("`hands` and `session` must be at least 1, `processes` 0 (one for each core) or more")
    if any(limit is not None and limit <= 0 for limit in (half_width, decision_seconds)):
        raise PokernetsError("`half_width` and `decision_seconds` must be positive or null")
    if game.num_players > 2 and values is not None and values.mark is not None:
        raise PokernetsError(
            f"`values` are for heads-up games, '{game.name}' has {game.num_players} players; leave it out"
        )
    schedule = Schedule(game, seed, session)
    sessions = -(-hands // schedule.hands_per_session)
    settings = {spec.name: spec.settings for spec in agents}
    folder = Path(out) / game.name
    console = Console() if sys.stdout.isatty() else Console(width=WIDTH)
    with contextlib.ExitStack() as stack:
        stores = {}
        for table in line_ups:
            used = {name: settings[name] for name in sorted(set(table.players))}
            store = HandStore(
                folder / "hands",
                schedule,
                table,
                used,
                aivat=aivat,
                decision_seconds=decision_seconds,
                values=values.mark if values is not None else None,
            )
            if fresh:
                store.discard()
            stores[table] = stack.enter_context(store)
        results = MatchResults(
            game, seed, session, settings, [TableResults(table, stores[table].path, schedule) for table in line_ups]
        )
        results.processes = processes or os.cpu_count() or 1
        started = time.monotonic()
        with LiveReport(results, sessions, folder, console) as live:
            play = partial(
                play_all,
                schedule,
                agents,
                processes=results.processes,
                decision_seconds=decision_seconds,
                aivat=aivat,
                stand_in=SharedAgent(stand_in) if stand_in is not None else None,
                values=values,
            )
            _play(play, stores, results, live, sessions, half_width)
            revise_estimates({result.table: result for result in results.tables}, stores, play, console)
        results.seconds = time.monotonic() - started
    write_report(results, folder, console)
    close_logs(game, {result.log: Counted(result.hands, session) for result in results.tables}, console)
    _give_back_memory()
    return results


def _give_back_memory() -> None:
    """What reports and logs of a long match took is free by now; the C library would keep it for the process."""
    trim = getattr(ctypes.CDLL(None), "malloc_trim", None) if sys.platform == "linux" else None
    if trim is not None:
        gc.collect()
        trim(0)


def _line_ups(game: Rules, names: list[str], tables: Sequence[Sequence[str]] | None) -> list[Table]:
    if len(set(names)) != len(names):
        raise PokernetsError(f"`agents` names one twice: {', '.join(names)}; let it play itself with `tables`")
    players = game.num_players
    if tables is None:
        if players == 2 and len(names) >= 2:
            return [Table(pair) for pair in combinations(names, 2)]
        if len(names) != players:
            raise PokernetsError(
                f"`{game.name}` is played by {players}, `agents` are {len(names)}: name the line-ups, for example"
                f" tables=[[{','.join((names * players)[:players])}]]"
            )
        return [Table(tuple(names))]
    if not tables:
        raise PokernetsError("`tables` is empty: name at least one line-up, or leave it out")
    for line_up in tables:
        unknown = [name for name in line_up if name not in names]
        if unknown or len(line_up) != players:
            wrong = f"`{unknown[0]}` is not among `agents`" if unknown else f"has {len(line_up)} of {players} players"
            raise PokernetsError(f"table [{', '.join(line_up)}]: {wrong}")
    return [Table(tuple(line_up)) for line_up in tables]


def _play(
    play: Callable[..., Iterator[tuple[Task, SessionRecord]]],
    stores: dict[Table, HandStore],
    results: MatchResults,
    live: LiveReport,
    sessions: int,
    half_width: float | None,
) -> None:
    by_table = {result.table: result for result in results.tables}

    def take(table: Table, session: int, record: SessionRecord) -> None:
        by_table[table].add(session, record)
        if half_width is not None:
            by_table[table].check_stop(half_width)

    for table, store in stores.items():
        for session in sorted(store.kept):
            if session < sessions:
                take(table, session, store.kept[session])
        by_table[table].kept = by_table[table].hands
        live.update(by_table[table])
    missing = [(table, session) for session in range(sessions) for table in stores if session not in stores[table].kept]
    estimated_only = {
        (table, session): stores[table].unestimated[session]
        for table, session in missing
        if session in stores[table].unestimated
    }
    played = play(missing, played=estimated_only, wanted=lambda task: by_table[task[0]].stopped_at is None)
    for (table, session), record in played:
        if (table, session) in estimated_only:
            stores[table].revise(record)
        else:
            stores[table].add(session, record)
        take(table, session, record)
        live.update(by_table[table])
