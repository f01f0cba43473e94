"""Matches between agents on common cards: duplicate deals in every seating, in parallel and resumable.

`evaluate=match`, `ladder`, `ring` and `lbr` call `run`. Hands are stored as ACPC logs under `out/<game>/hands`, by
line-up. The report of a match has a directory of its own beside them.
"""

import contextlib
import gc
import sys
import time
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from functools import partial
from pathlib import Path

from poker.agents.base import Agent, require_policy
from poker.agents.local_best_response import LbrActions, LocalBestResponse
from poker.agents.look_ahead import LookAheadActions, LookAheadResponse
from poker.evaluation.aivat.value_functions import ValueFunctionSpec
from poker.evaluation.matches.match_aivat import MatchAivat, needs_fallback
from poker.evaluation.matches.match_report import match_report
from poker.evaluation.matches.match_results import MatchResults, comparison
from poker.evaluation.matches.results import Independent, Results, Unit
from poker.game.rules import Rules
from poker.play.hand_store import Counted, HandStore, export
from poker.play.lineup import AgentSpec, BuiltOnce, LineUp, Rotation, Task, line_ups
from poker.play.session import SessionRecord, shares_tables
from poker.play.workers import Worker, play_all
from poker.report.estimates import estimate
from poker.report.scalars import ScalarLog
from poker.run.errors import PokernetsError
from poker.run.machine import give_back_memory
from poker.run.parallel import Cluster
from poker.run.progress import Console, progress_bars
from poker.store.artifacts import MissingArtifactError, fingerprint_of

WIDTH = 110
"""Width of tables, in characters, if the output is not a terminal."""
_SCALAR_SECONDS = 5.0
_FOLDER_NAME = 80


@dataclass(frozen=True, kw_only=True)
class MatchSettings:
    """Settings of a match, as conf/evaluate/match.yaml explains them.

    Attributes:
        hands: number of hands per line-up.
        session: deals per session.
        seed: seed of the deals.
        aivat: whether to estimate by AIVAT.
        fresh: whether to ignore stored hands.
        lineups: lists of agent names. None: in heads-up games all pairs; in others the agents in their order, repeated
            until the table is full.
        contrasts: pairs of groups of agents (`a+b`) to compare.
        unit: unit of the results.
        independent: independent unit of the intervals, a session or a deal.
        half_width: half-width, in `unit`, at which a line-up stops early. It is checked for the first agent's interval.
        until_significant: stop a line-up early if the first agent's interval excludes 0 at one of a few looks
            (`Results.look`); the intervals of all looks are wider.
        tables: number of sessions that each process plays at the same time.
    """

    hands: int
    session: int = 1
    seed: int
    aivat: bool
    fresh: bool
    lineups: Sequence[Sequence[str]] | None = None
    contrasts: Sequence[Sequence[str]] = ()
    unit: Unit = "mbb"
    independent: Independent = "session"
    half_width: float | None = None
    until_significant: bool = False
    tables: int = 1

    def __post_init__(self) -> None:
        """Check the settings.

        Raises:
            PokernetsError: a setting is out of range, or two contradict each other.
        """
        if self.hands < 1 or self.session < 1:
            raise PokernetsError("`hands` and `session` must be at least 1")
        if self.half_width is not None and self.half_width <= 0:
            raise PokernetsError("`half_width` must be positive or null")
        if self.until_significant and self.half_width is not None:
            raise PokernetsError("set either `half_width` or `until_significant`, not both")
        if self.tables < 1:
            raise PokernetsError("`tables` must be at least 1")


def run(
    *,
    game: Rules,
    agents: Sequence[AgentSpec],
    settings: MatchSettings,
    measured: AgentSpec | None = None,
    adversary: Mapping[str, LbrActions] | None = None,
    adversaries: Sequence[str] = (),
    fallback: AgentSpec | None = None,
    values: ValueFunctionSpec | None = None,
    cluster: Cluster,
    verbose: bool = True,
    out: str,
) -> MatchResults:
    """Play the missing hands of every line-up, and write the report.

    Args:
        agents: agents of the match.
        measured: agent that plays all `agents`; None for the line-ups of `settings`.
        adversary: actions of local best responses, by name. With them, each of `adversaries` plays each agent, or
            `measured` alone.
        adversaries: names in `adversary`.
        fallback: see `MatchAivat`.
        values: see `MatchAivat`.
        verbose: whether to print the report.
        out: folder of the hands and the report.

    Raises:
        PokernetsError: the agents, settings and game do not fit together.
    """
    lineups = settings.lineups
    others = [] if measured is None else [spec for spec in agents if spec.name != measured.name]
    if measured is not None:
        agents, lineups = [measured], [[measured.name, other.name] for other in others]
    if adversary is not None:
        agents, against = _local_best_responses(game, agents, adversary, adversaries, settings.tables)
        lineups = against if lineups is None else [*lineups, *(pair[::-1] for pair in against)]
    agents = [*agents, *others]
    names = [spec.name for spec in agents]
    chosen = line_ups(game, names, lineups)
    mark = values.mark if values is not None else None
    if game.num_players > 2 and mark is not None:
        raise PokernetsError(
            f"`values` is for two-player games, but '{game.name}' has {game.num_players} players; leave it out"
        )
    rotation = Rotation(game, settings.seed, settings.session)
    nodes = {spec.name: spec.settings for spec in agents}
    contrasts = [comparison(groups, names) for groups in settings.contrasts]
    folder = Path(out) / game.name
    console = Console() if sys.stdout.isatty() else Console(width=WIDTH)
    stores: dict[LineUp, HandStore] = {}
    with contextlib.ExitStack() as locks:
        for lineup in chosen:
            used = {name: nodes[name] for name in sorted(set(lineup.players))}
            stores[lineup] = HandStore(
                folder / "hands", rotation, lineup, used,
                aivat=settings.aivat, values=mark, fresh=settings.fresh,
                locks=locks,
            )  # fmt: skip
        by_lineup = {
            lineup: Results(
                game, lineup, rotation.seatings, settings.session, unit=settings.unit,
                independent=settings.independent, log=store.path,
            )
            for lineup, store in stores.items()
        }  # fmt: skip
        results = MatchResults(
            game, settings.unit, settings.seed, settings.session, nodes, list(by_lineup.values()), contrasts,
            processes=cluster.workers,
        )  # fmt: skip
        identity = fingerprint_of(
            [
                [store.identity for store in stores.values()],
                *(settings.hands, settings.unit, settings.independent, settings.contrasts),
                *(settings.half_width, settings.until_significant, settings.aivat),
            ]
        )
        target = folder / f"{'-'.join(nodes)[:_FOLDER_NAME]}-seed{settings.seed}-{identity[:8]}"
        specs = {spec.name: spec for spec in agents}
        worker = Worker(rotation, specs, tables=settings.tables)
        sessions = -(-settings.hands // rotation.hands_per_session)
        to_play = [lineup for lineup, store in stores.items() if not store.kept.keys() >= {*range(sessions)}]
        seated = [worker.seated(lineup) for lineup in to_play]  # reports missing parts before the first hand
        if settings.aivat:
            worker.estimator = MatchAivat(_quick(fallback, game, needed=any(map(needs_fallback, seated))), values)
        started = time.monotonic()
        with contextlib.closing(_Live(results, sessions * rotation.hands_per_session, target)) as live:
            for result in results.lineups if settings.until_significant else []:
                result.look(sessions)
            play = _Play(worker, stores, by_lineup, cluster, live, settings.half_width)
            play.sessions(sessions)
            play.revise(console)
        for store in stores.values():
            store.put_in_order()
        results.seconds = time.monotonic() - started
        printed = console if verbose else Console(quiet=True)
        match_report(results, folder / "hands").write(target, printed)
        export(game, {result.log: Counted(result.hands, settings.session) for result in results.lineups}, printed)
        gc.collect()
        give_back_memory()  # memory of reports and logs
        return results


def _quick(fallback: AgentSpec | None, game: Rules, *, needed: bool) -> BuiltOnce[Agent] | None:
    """Return the agent that AIVAT queries for answers to bets.

    An agent that is `needed` is built at once. The result is None if an artifact is missing.
    """
    if fallback is None:
        return None
    quick = BuiltOnce(partial(fallback.build, game))
    try:
        if needed:
            quick()
    except MissingArtifactError as error:
        print(f"AIVAT does not use {fallback.name} to answer bets: {error.problem}", file=sys.stderr)
        return None
    return quick


def _local_best_responses(
    game: Rules, agents: Sequence[AgentSpec], adversary: Mapping[str, LbrActions], chosen: Sequence[str], tables: int
) -> tuple[list[AgentSpec], list[list[str]]]:
    """Return the agents and their adversaries, and the line-ups of each adversary with its agent.

    The adversary knows its opponent's policy, so both use the same agent object within a process. Decisions that the
    agent has solved are then not solved again for its range.
    """
    unknown = [name for name in chosen if name not in adversary]
    if unknown or not chosen or not agents:
        names = ", ".join(adversary)
        raise PokernetsError(f"`adversaries` must name some of {names}" + (f", not {unknown[0]}" if unknown else ""))
    specs: list[AgentSpec] = []
    lineups: list[list[str]] = []
    for spec in agents:
        shared = BuiltOnce(partial(spec.build, game))
        opponent = require_policy(shared(), "local best response")
        if tables > 1 and not shares_tables(opponent):
            raise PokernetsError(f"`{spec.name}` depends on the earlier hands of its table: measure it with tables=1")
        specs.append(AgentSpec(spec.name, shared, spec.settings))
        for name in chosen:
            title = f"{name}@{spec.name}"
            build = partial(_local_best_response, title, game, shared, adversary[name])
            specs.append(AgentSpec(title, build, {"actions": asdict(adversary[name]), "opponent": spec.settings}))
            lineups.append([title, *[spec.name] * (game.num_players - 1)])
    return specs, lineups


def _local_best_response(name: str, game: Rules, opponent: BuiltOnce[Agent], actions: LbrActions) -> Agent:
    if isinstance(actions, LookAheadActions):
        return LookAheadResponse(name=name, game=game, opponent=opponent(), actions=actions)
    return LocalBestResponse(name=name, game=game, opponent=opponent(), actions=actions)


@dataclass
class _Play:
    """Play of the missing sessions, and revised estimates of sessions that relied on an agent now known to fail."""

    worker: Worker
    stores: Mapping[LineUp, HandStore]
    results: Mapping[LineUp, Results]
    cluster: Cluster
    live: "_Live"
    half_width: float | None

    def sessions(self, count: int) -> None:
        """Use the first `count` sessions of every line-up, stored or played now."""
        for lineup, store in self.stores.items():
            for session in sorted(store.kept):
                if session < count:
                    self._take(lineup, session, store.kept[session])
            self.results[lineup].kept = self.results[lineup].hands
            self.live.update(self.results[lineup])
        tasks = [(lineup, n) for n in range(count) for lineup, store in self.stores.items() if n not in store.kept]
        played = {(lineup, n): row for lineup, store in self.stores.items() for n, row in store.unestimated.items()}
        worker = replace(self.worker, played=played)
        wanted = lambda task: self.results[task[0]].stopped_at is None  # noqa: E731
        for (lineup, session), record in play_all(worker, tasks, self.cluster, wanted):
            if (lineup, session) in played:
                self.stores[lineup].revise(record)
            else:
                self.stores[lineup].add(session, record)
            self._take(lineup, session, record)
            self.live.update(self.results[lineup])

    def _take(self, lineup: LineUp, session: int, record: SessionRecord) -> None:
        self.results[lineup].add(session, record)
        if self.half_width is not None or self.results[lineup].looks:
            self.results[lineup].check_stop(self.half_width)

    def revise(self, console: Console) -> None:
        """Revise estimates until all sessions of a line-up agree on who is unknown.

        After a failure an agent counts as unknown in every hand of the line-up, including hands estimated before.
        """
        while outdated := {task: record for lineup in self.stores for task, record in self._outdated(lineup).items()}:
            for lineup in dict.fromkeys(lineup for lineup, _ in outdated):
                names = " and ".join(self.results[lineup].unknown)
                notice = f"{lineup.title}: estimates are made again, {names} counts as unknown"
                console.print(notice, highlight=False, markup=False)
            worker = replace(self.worker, played=outdated)
            for (lineup, session), record in play_all(worker, list(outdated), self.cluster):
                self.stores[lineup].revise(record)
                self.results[lineup].adjust(session, record)

    def _outdated(self, lineup: LineUp) -> dict[Task, SessionRecord]:
        """Return sessions estimated before an agent became unknown, with records that name all unknown agents."""
        result = self.results[lineup]
        unknown = result.unknown
        sessions = [n for n in result.sessions() if set(result.unknown_in.get(n, {})) != set(unknown)]
        records = self.stores[lineup].records() if sessions else {}
        return {(lineup, session): replace(records[session], unknown=dict(unknown)) for session in sessions}


class _Live:
    """Live output of a match: a progress bar with rate, time left and current estimate, and TensorBoard scalars."""

    def __init__(self, results: MatchResults, hands: int, folder: Path) -> None:
        self._unit = results.unit
        self._progress = progress_bars("hands")
        self._lineups = results.lineups
        title = self._lineups[0].lineup.title if len(self._lineups) == 1 else f"{len(self._lineups)} line-ups"
        self._bar = self._progress.add_task(title, total=hands * len(self._lineups), found="")
        self._written: dict[LineUp, float] = {}
        self._scalars = ScalarLog(folder)
        self._started = time.monotonic()
        self._progress.start()

    def close(self) -> None:
        """Stop the bar with the final estimates, which equal the report's."""
        if self._lineups[-1].hands:
            self._show(self._lineups[-1])
        self._progress.stop()
        self._scalars.close()

    def update(self, result: Results) -> None:
        now = time.monotonic()
        self._progress.update(self._bar, completed=sum(each.hands for each in self._lineups))
        if now - self._written.get(result.lineup, self._started) < _SCALAR_SECONDS:
            return
        self._written[result.lineup] = now
        self._show(result)
        for name, units in result.tagged(self._unit):
            self._scalars.add_strength(name, estimate(units), step=result.hands)

    def _show(self, result: Results) -> None:
        rate = sum(each.hands - each.kept for each in self._lineups) / max(time.monotonic() - self._started, 1e-9)
        of = result.lineup.labels[0] if len(self._lineups) == 1 else result.lineup.title
        text = f"{rate:,.1f}/s  {of} {result.best[0]:+} {self._unit}/hand"
        self._progress.update(self._bar, found=text + (" (AIVAT)" if result.has_aivat else ""))
