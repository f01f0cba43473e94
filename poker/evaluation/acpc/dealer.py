"""`evaluate=acpc`: a dealer of the ACPC protocol 2.0.0, at which foreign programs can sit down.

The hands, states, scores and log are those of the competition's dealer, and answers are read as leniently
(`poker/formats/acpc_answer.py`); lines that answer no state asked are ignored and told. A raise of a wrong size becomes
the nearest one, any other invalid action a call. Unlike there, a late or lost player is named and from then on checks
or folds, so that every match ends with a result, and who greets wrongly leaves the seat open (`welcome.py`).
"""

import time
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
from rich.console import Console
from rich.markup import escape

from poker.errors import PokernetsError
from poker.evaluation.acpc.report import mbb_per_hand, new_log, write_hands_report
from poker.evaluation.acpc.welcome import welcome
from poker.evaluation.matches.closing import write_histories
from poker.formats.acpc_answer import answered_action, read_action
from poker.formats.acpc_log import chips_text, log_line, match_state_text
from poker.formats.acpc_protocol import ConnectionLost, LineConnection, NoAnswer, listen
from poker.report.estimates import Estimate, estimate
from poker.rules import CALL, FOLD, Rules
from poker.state import HandState, IllegalAction

_MOST_FAILURES = 1000


@dataclass
class Times:
    """Seconds a player may use: for one answer, in one hand, and on average for every hand of the match."""

    answer: float
    in_hand: float
    per_hand: float


@dataclass
class _Guest:
    """A seat at the table and the program in it; `line` is None once it is lost."""

    name: str
    line: LineConnection | None
    chips: list[float] = field(default_factory=list)
    failures: list[str] = field(default_factory=list)
    answers: int = 0
    used_hand: float = 0.0
    used_match: float = 0.0

    def tell(self, why: str) -> None:
        if len(self.failures) < _MOST_FAILURES:
            self.failures.append(why)

    def lose(self, why: str) -> None:
        self.failures.append(why)
        if self.line is not None:
            self.line.close()
            self.line = None


@dataclass(frozen=True)
class DealerResult:
    """Chips per hand and failures by name, in seat order."""

    chips: dict[str, Estimate]
    failures: dict[str, list[str]]
    log: Path


def run(
    *,
    game: Rules,
    names: Sequence[str],
    ports: Sequence[int],
    hands: int,
    seed: int,
    rotate: bool,
    start_seconds: float | None,
    times: Times,
    out: str,
) -> DealerResult:
    """Waits for a player on each of `ports` (0: any free one, printed), deals `hands` hands and writes their log.

    With `rotate` the seats move by one after every hand, else everybody stays the player of his position. Where a match
    of the same names and seed has been, the files of this one are numbered.
    """
    if len(names) != game.num_players or len(ports) != game.num_players or len(set(names)) != len(names):
        raise PokernetsError(f"`{game.name}` needs {game.num_players} different `names` and as many `ports`")
    console = Console(stderr=True)
    servers = [listen(port) for port in ports]
    print(*(server.getsockname()[1] for server in servers), flush=True)
    sent_away: list[str] = []

    def tell(what: str) -> None:
        sent_away.append(what)
        console.print(what, soft_wrap=True, highlight=False, markup=False)

    try:
        lines = welcome(names, servers, start_seconds, tell)
    finally:
        for server in servers:
            server.close()
    guests = [_Guest(name, line) for name, line in zip(names, lines, strict=True)]
    path = new_log(Path(out) / game.name, f"acpc-{'-'.join(names)}-seed{seed}")
    table = _Dealer(game, guests, times, hands)
    with path.open("w", encoding="ascii") as log:
        log.write(f"# name/game/hands/seed {'-'.join(names)} {game.name} {hands} {seed}\n")
        for option, seconds in (("response", times.answer), ("hand", times.in_hand), ("per_hand", times.per_hand)):
            log.write(f"#--t_{option} {round(1000 * seconds)}\n")
        for number in range(hands):
            shift = number % game.num_players if rotate else 0
            state = HandState.deal(game, np.random.default_rng([seed, number]))
            log.write(table.play(state, number, shift) + "\n")
            log.flush()
        totals = "|".join(chips_text(sum(guest.chips)) for guest in guests)
        score = f"SCORE:{totals}:{'|'.join(names)}"
        log.write(f"{score}\n")
    print(score, flush=True)
    for guest in guests:
        if guest.line is not None:
            guest.line.close()
        for why in guest.failures[:10]:
            console.print(f"[red]{guest.name}[/red]: {escape(why)}", soft_wrap=True)
    result = DealerResult(
        {guest.name: estimate(guest.chips) for guest in guests}, {guest.name: guest.failures for guest in guests}, path
    )
    for name, found in result.chips.items():
        console.print(f"{name}: {found:+} chips/hand, {len(result.failures[name])} failures")
    console.print(f"log: {path}", soft_wrap=True)
    settings = {"hands": hands, "seed": seed, "rotate": rotate, "times": vars(times), "ports": list(ports)}
    settings["seconds_used"] = {guest.name: round(guest.used_match, 3) for guest in guests}
    settings["sent_away"] = sent_away
    settings["answers"] = {guest.name: guest.answers for guest in guests}
    write_hands_report(
        path.with_suffix(""),
        f"{', '.join(names)} at the dealer: {game.name}",
        game,
        {guest.name: [mbb_per_hand(game) * chips for chips in guest.chips] for guest in guests},
        settings,
        unit="hand",
        log=path,
        failures=result.failures,
        console=console,
    )
    write_histories(game, [path], console)
    return result


class _Dealer:
    """Deals single hands to the guests. Guest (player + shift) % P is `player` in a hand."""

    def __init__(self, game: Rules, guests: list[_Guest], times: Times, hands: int) -> None:
        self._game = game
        self._guests = guests
        self._times = times
        self._match_seconds = times.per_hand * hands

    def play(self, state: HandState, number: int, shift: int) -> str:
        """The log line of the hand."""
        players = [self._guests[(player + shift) % self._game.num_players] for player in range(self._game.num_players)]
        for guest in players:
            guest.used_hand = 0.0
        while not state.is_over:
            self._tell(players, state, number)
            guest = players[state.to_act]
            action = self._ask(guest, state, number) if guest.line is not None else None
            if action is None:
                action = FOLD if state.legal().fold else CALL
            state = state.apply(action)
        self._tell(players, state, number)
        payoffs = state.divided_payoffs()
        for guest, chips in zip(players, payoffs, strict=True):
            guest.chips.append(chips)
        return log_line(state, number, [guest.name for guest in players], payoffs)

    def _tell(self, players: list[_Guest], state: HandState, number: int) -> None:
        for player, guest in enumerate(players):
            if guest.line is not None:
                try:
                    guest.line.send(match_state_text(state, number, player))
                except ConnectionLost as error:
                    guest.lose(f"hand {number}: {error}")

    def _ask(self, guest: _Guest, state: HandState, number: int) -> int | None:
        """The action of the player to act; None when he is lost."""
        left = self._times
        limit = min(left.answer, left.in_hand - guest.used_hand, self._match_seconds - guest.used_match)
        started = time.monotonic()
        try:
            while True:
                assert guest.line is not None
                answer = guest.line.read(max(0.0, limit - (time.monotonic() - started)))
                text = answered_action(state, number, answer)
                if text is not None:
                    guest.answers += 1
                    return self._action(guest, state, number, text)
                guest.tell(f"hand {number}: a line that answers another state is ignored: `{answer[:100]}`")
        except NoAnswer:
            guest.lose(
                f"hand {number} after `{state.betting.text()}`: no answer within {limit:.3g} s; it checks or folds on"
            )
        except PokernetsError as error:
            guest.lose(f"hand {number} after `{state.betting.text()}`: {error}; it checks or folds on")
        finally:
            used = time.monotonic() - started
            guest.used_hand += used
            guest.used_match += used
        return None

    def _action(self, guest: _Guest, state: HandState, number: int, text: str) -> int:
        try:
            return read_action(state.betting, text)
        except IllegalAction as error:
            guest.tell(f"hand {number}: {error}; called instead")
            return CALL
