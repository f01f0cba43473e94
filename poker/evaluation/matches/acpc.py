"""`evaluate=acpc`, our dealer, and `evaluate=acpc_client`, one of our agents at a dealer: matches and their reports."""

import contextlib
import itertools
from collections.abc import Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
from rich.markup import escape

from poker.evaluation.matches.match_report import match_report
from poker.evaluation.matches.match_results import MatchResults
from poker.evaluation.matches.results import Results
from poker.formats.acpc.log import check_names
from poker.formats.acpc.protocol import LOOPBACK, connect, listen
from poker.game.rules import Rules
from poker.play.hand import Incident
from poker.play.hand_store import write_histories
from poker.play.lineup import AgentSpec, LineUp
from poker.play.network.client import DealerSeat, warm_up
from poker.play.network.dealer import RemotePlayer, Times, deal_match
from poker.play.network.handshake import seat_players
from poker.run.commands import COMMANDS
from poker.run.errors import PokernetsError
from poker.run.progress import Console
from poker.store.entropy import drawn_seed

_SHOWN_FAILURES = 10


def deal(
    *,
    game: Rules,
    names: Sequence[str],
    ports: Sequence[int],
    hands: int,
    seed: int | None,
    rotate: bool,
    start_seconds: float | None,
    times: Times,
    out: str,
    host: str = LOOPBACK,
) -> MatchResults:
    """Wait for the players, deal the hands, and write their log and a report.

    Args:
        names: [P] names of the players.
        ports: [P] ports to wait on; 0 for any free one, which is printed.
        seed: seed of the cards, so that two matches can have the same cards; None for a secret seed, which the report
            reveals after the match.
        rotate: whether the seats move by one after every hand.
        start_seconds: time limit for players to connect; None for no limit.
        times: time limits of answers.
        out: folder of the log and the report.
        host: address of this machine; empty for all addresses.

    Raises:
        PokernetsError: the names or ports do not fit the game, or a player does not connect.
    """
    if len(names) != game.num_players or len(ports) != game.num_players or len(set(names)) != len(names):
        raise PokernetsError(f"`{game.name}` needs {game.num_players} different `names` and as many `ports`")
    check_names(names)
    console = Console(stderr=True)
    with contextlib.ExitStack() as stack:
        servers = [stack.enter_context(listen(port, host)) for port in ports]
        print(*(server.getsockname()[1] for server in servers), flush=True)
        rejected: list[str] = []

        def tell(what: str) -> None:
            rejected.append(what)
            console.print(what, soft_wrap=True, highlight=False, markup=False)

        lines = seat_players(names, servers, start_seconds, tell)
    players = [RemotePlayer(name, line, times, hands) for name, line in zip(names, lines, strict=True)]
    log = _new_log(Path(out) / game.name, f"acpc-{'-'.join(names)}{'' if seed is None else f'-seed{seed}'}")
    with log.open("w", encoding="utf-8") as file:
        stated = "secret" if seed is None else seed
        file.write(f"# name/game/hands/seed {'-'.join(names)} {game.name} {hands} {stated}\n")
        for option, seconds in (("response", times.answer), ("hand", times.in_hand), ("per_hand", times.per_hand)):
            file.write(f"#--t_{option} {round(1000 * seconds)}\n")
    seed = drawn_seed(seed)
    chips = list(deal_match(game, players, hands, seed, rotate=rotate, log=log))
    print(log.read_text().splitlines()[-1], flush=True)
    settings = {
        "hands": hands,
        "rotate": rotate,
        "times": vars(times),
        "ports": list(ports),
        "seconds_used": {player.name: round(player.used, 3) for player in players},
        "rejected": rejected,
        "answers": {player.name: player.answers for player in players},
    }
    failures = [incident for player in players for incident in player.failures]
    title = f"{', '.join(names)} at the dealer: {game.name}"
    return report_hands(game, tuple(names), chips, failures, seed, log, title, settings, console)


def sit_down(
    *, game: Rules, agents: list[AgentSpec], host: str, port: int, seed: int | None, connect_seconds: float, out: str
) -> DealerSeat:
    """Play at a dealer until it closes the connection, and write a log and a report.

    Before it connects, another copy of the agent plays a hand, so that nothing is compiled during the match.

    Args:
        agents: specification of one agent.
        host: address of the dealer.
        port: port of the dealer.
        seed: seed of the agent's actions; None for a secret one.
        connect_seconds: time limit to connect.
        out: folder of the log and the report.

    Raises:
        PokernetsError: there is not exactly one agent, no hand was dealt, or (after the report) the last hand was not
            finished.
    """
    if len(agents) != 1:
        raise PokernetsError(f"a dealer seats one agent, but `agents` has {len(agents)}: agents=[NAME]")
    seed = drawn_seed(seed)
    console = Console(stderr=True)
    say = partial(console.print, soft_wrap=True, highlight=False, markup=False)
    say(f"{agents[0].name} loads and compiles for {game.name}")
    warm_up(game, agents[0].build(game))
    agent = agents[0].build(game)
    failures = itertools.count()

    def tell(what: str) -> None:
        if next(failures) < _SHOWN_FAILURES:
            console.print(f"[red]{escape(agent.name)}[/red]: {escape(what)}", soft_wrap=True)

    say(f"{agent.name} connects to {host}:{port}")
    with connect(host, port, connect_seconds) as line:
        say(f"{agent.name} is connected to {host}:{port} and waits for the first hand")
        log = _new_log(Path(out) / game.name, f"acpc-client-{agent.name}-port{port}")
        log.write_text(
            f"# {agent.name} at {host}:{port}: {game.name}, without the cards that it did not see\n", "utf-8"
        )
        seat = DealerSeat(game, agent, seed, log, tell)
        seat.notes.unlink(missing_ok=True)
        seat.play(line)
    if not seat.hands:
        log.unlink()
        seat.notes.unlink(missing_ok=True)
        raise PokernetsError(
            f"no hand was dealt at {host}:{port}: {seat.ended}; other players may not have connected in time"
        )
    broken = "" if seat.finished else f"hand {seat.number} at {host}:{port} was not finished: {seat.ended}"
    if broken:
        seat.failures.append(Incident(agent.name, seat.number, "", broken, ""))
    else:
        say(f"{agent.name}: the dealer ended the match after {seat.hands} hands")
    settings = {"host": host, "port": port, "agent": agents[0].settings}
    title = f"{agent.name} at a dealer: {game.name}"
    chips = [[won] for won in seat.chips]
    report_hands(game, (agent.name,), chips, seat.failures, seed, log, title, settings, console)
    if seat.notes.exists():
        say(f"AIVAT of the dealer's log: {COMMANDS['evaluate']} evaluate=replay log=DEALERS_LOG notes=[{seat.notes}]")
    if broken:
        raise PokernetsError(broken)
    return seat


def report_hands(
    game: Rules,
    names: tuple[str, ...],
    chips: Sequence[Sequence[float]],
    failures: Sequence[Incident],
    seed: int,
    log: Path,
    title: str,
    settings: Mapping[str, Any],
    console: Console,
    aivat: Sequence[float] | None = None,
) -> MatchResults:
    """Report hands that each have their own cards, so a hand is one unit of the intervals.

    Args:
        names: [P] names of the players.
        chips: [n, P] chips won.
        failures: failures of agents.
        seed: seed of the match.
        log: log of the match.
        settings: settings for the record.
        console: console for the report.
        aivat: [n] luck-adjusted chips of a single player; None without.
    """
    played = Results(game, LineUp(names), [range(len(names))], 1, log=log)
    won = np.asarray(chips, dtype=np.float64).reshape(-1, 1, 1, len(names))
    played.fill(won, None if aivat is None else np.asarray(aivat, dtype=np.float64).reshape(won.shape))
    played.incidents = list(failures)
    results = MatchResults(game, "mbb", seed, 1, {}, [played])
    match_report(results, log, title=title, record={"settings": dict(settings)}).write(log.with_suffix(""), console)
    write_histories(game, [log], console)
    return results


def _new_log(folder: Path, stem: str) -> Path:
    """Create the empty file `stem`.log in `folder`; if it exists, `stem`-2.log, -3, ..."""
    folder.mkdir(parents=True, exist_ok=True)
    number, path = 1, folder / f"{stem}.log"
    while True:
        with contextlib.suppress(FileExistsError):
            path.touch(exist_ok=False)
            return path
        number += 1
        path = folder / f"{stem}-{number}.log"
