"""Estimates made again, for tables at which an agent turned out not to play its policy.

Estimates are made right after each session, when nobody knows whether an agent will fail later. Once it has, it counts
as unknown in every hand of the table (`luck.py` says why), so those in which it counted as known are estimated anew.
"""

from collections.abc import Iterator, Mapping
from typing import Protocol

from rich.console import Console

from poker.evaluation.matches.hand_store import HandStore
from poker.evaluation.matches.results import TableResults
from poker.evaluation.matches.table import SessionRecord, Table
from poker.evaluation.matches.workers import Task


class Estimating(Protocol):
    """`play_all` with its settings."""

    def __call__(
        self, *, tasks: list[Task], played: Mapping[Task, SessionRecord]
    ) -> Iterator[tuple[Task, SessionRecord]]: ...


def revise_estimates(
    results: Mapping[Table, TableResults], stores: Mapping[Table, HandStore], estimate: Estimating, console: Console
) -> None:
    """Until all sessions of a table that count agree on who is unknown."""
    while played := {task: record for table in results for task, record in _outdated(results[table], stores[table])}:
        for table in dict.fromkeys(table for table, _ in played):
            names = " and ".join(results[table].unknown)
            console.print(f"{table.title}: estimates are made again, {names} counts as unknown", highlight=False)
        for (table, session), record in estimate(tasks=list(played), played=played):
            stores[table].revise(record)
            results[table].unknown_in[session] = record.unknown
    for table, result in results.items():
        if result.unknown:
            result.revise(stores[table].records())


def _outdated(result: TableResults, store: HandStore) -> Iterator[tuple[Task, SessionRecord]]:
    """Sessions in which an agent counted as known that is not; their records tell who is unknown now."""
    unknown = result.unknown
    sessions = [session for session in result.sessions() if set(result.unknown_in.get(session, {})) != set(unknown)]
    records = store.records() if sessions else {}
    for session in sessions:
        records[session].unknown = dict(unknown)
        yield (result.table, session), records[session]
