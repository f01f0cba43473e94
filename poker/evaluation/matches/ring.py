"""Ring games: a duplicate tournament of 2 to 10 players [POKI] section 7, reported in small bets per hand.

Every deal is played in all seatings of the table, so that everybody holds every hand once (in all orders up to three
players, in all rotations beyond). Agents keep what they learn for a session of many deals; each seating has its own
copies of them, which know only that seating. `run` is what `evaluate.py evaluate=ring` calls.

Results and the units of their intervals are explained in `ring_results.py`.
"""

import contextlib
import os
import re
import time
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from rich.console import Console

from poker.errors import PokernetsError
from poker.evaluation.matches.closing import Counted, close_logs
from poker.evaluation.matches.hand_store import HandStore
from poker.evaluation.matches.report import LiveReport
from poker.evaluation.matches.results import MatchResults, TableResults
from poker.evaluation.matches.ring_report import write_ring_report
from poker.evaluation.matches.ring_results import RingResults
from poker.evaluation.matches.table import AgentSpec, Schedule, SessionRecord, Table
from poker.evaluation.matches.workers import play_all
from poker.rules import Rules

_MOST_PLAYERS = 10


def run(
    *,
    game: Rules,
    players: int | None,
    agents: Sequence[AgentSpec],
    contrasts: Sequence[Sequence[str]],
    hands: int,
    session: int,
    seed: int,
    processes: int,
    fresh: bool,
    out: str,
) -> RingResults:
    """Play `hands` hands (whole sessions of `session` deals) and write the report to `out`.

    `players` 2 to 10 changes the size of the table, null leaves it as the game says. `agents` sit down in their order,
    again and again until the table is full. Each of `contrasts` names two groups of agents, joined by `+`: the first
    group's mean result less the second's is reported with its interval.
    """
    game = game if players is None else with_players(game, players)
    specs = {spec.name: spec for spec in agents}
    if len(specs) < len(agents) or not agents:
        raise PokernetsError("`agents` needs names, each once: a shorter list is repeated until the table is full")
    if hands < 1 or session < 1 or processes < 0:
        raise PokernetsError("`hands` and `session` must be at least 1, `processes` 0 (one for each core) or more")
    if len(agents) > game.num_players:
        raise PokernetsError(f"`{game.name}` seats {game.num_players} players, `agents` are {len(agents)}")
    table = Table(tuple(agents[i % len(agents)].name for i in range(game.num_players)))
    schedule = Schedule(game, seed, session)
    results = RingResults(schedule, table, specs, [_contrast(pair, specs) for pair in contrasts])
    sessions = -(-hands // schedule.hands_per_session)
    folder, console = Path(out), Console()
    started = time.monotonic()
    store = HandStore(folder / "hands", schedule, table, {name: specs[name].settings for name in sorted(specs)})
    if fresh:
        store.discard()
    with store:
        _play(results, store, agents, sessions, processes or os.cpu_count() or 1, console, folder)
    results.seconds = time.monotonic() - started
    write_ring_report(results, store.path, folder, console)
    close_logs(game, {store.path: Counted(results.hands, 1)}, console)
    return results


def with_players(game: Rules, players: int) -> Rules:
    """The hold'em game with another number of players: small and big blind, heads-up reversed as in ACPC.

    Refuses games that are not laid out so, whose rules would change with the size of the table.
    """
    if not 2 <= players <= _MOST_PLAYERS:
        raise PokernetsError(f"players={players}: a ring has 2 to {_MOST_PLAYERS}")
    if players == game.num_players:
        return game
    if replace(_resized(game, game.num_players), name=game.name) != game:
        raise PokernetsError(
            f"players={players}: the table of `{game.name}` cannot be resized, as it has not the blinds, first players"
            f" and stacks of a hold'em ring; leave `players` out ({game.num_players} play it)"
        )
    return _resized(game, players)


def _resized(game: Rules, players: int) -> Rules:
    small, big = sorted(game.blinds)[-2:]
    heads_up = players == 2
    return replace(
        game,
        name=f"{re.sub(r'_[0-9]+p$', '', game.name)}_{players}p",
        num_players=players,
        blinds=(big, small) if heads_up else (small, big) + (0,) * (players - 2),
        stacks=(min(game.stacks),) * players,
        first_player=(1 if heads_up else 2 % players, *(0 for _ in game.board_cards[1:])),
    )


def _play(
    results: RingResults,
    store: HandStore,
    agents: Sequence[AgentSpec],
    sessions: int,
    processes: int,
    console: Console,
    folder: Path,
) -> None:
    schedule, table = results.schedule, results.table
    progress = TableResults(table, store.path, schedule)
    settings = {spec.name: spec.settings for spec in agents}
    match = MatchResults(schedule.rules, schedule.seed, schedule.session, settings, [progress])

    def take(session: int, record: SessionRecord) -> None:
        results.add(session, record)
        progress.add(session, record)

    for session, record in store.kept.items():
        if session < sessions:
            take(session, record)
    progress.kept = progress.hands
    tasks = [(table, session) for session in range(sessions) if session not in store.kept]
    with contextlib.ExitStack() as stack:
        live = stack.enter_context(LiveReport(match, sessions, folder, console)) if tasks else None
        for (_, session), record in play_all(schedule, agents, tasks, processes, by_deal=True):
            store.add(session, record)
            take(session, record)
            if live is not None:
                live.update(progress)


def _contrast(pair: Sequence[str], specs: dict[str, AgentSpec]) -> tuple[list[str], list[str]]:
    groups = [str(group).split("+") for group in pair]
    unknown = [name for group in groups for name in group if name not in specs]
    if len(groups) != 2 or unknown:
        wrong = f"`{unknown[0]}` is not among `agents`" if unknown else "two groups are compared"
        raise PokernetsError(f"contrast {list(pair)}: {wrong}; write [[a+b,c+d]]")
    return groups[0], groups[1]
