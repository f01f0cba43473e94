"""`evaluate=acpc_client`: one of our agents sits down at a dealer of the Annual Computer Poker Competition.

Every state of the dealer stands for itself, so nothing is lost by repeated or skipped states; an answer is remembered,
and a state that is asked again is answered alike. An agent that fails checks or folds, a state that breaks our rules is
answered with a call, and both are reported.

The hands are logged as the agent saw them, hole cards that it did not see left out. A dealer names nobody, so the
others are opponent#1, #2, ... in the order in which they sit after our agent, which seats that rotate do not change.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TextIO

import numpy as np
from rich.console import Console
from rich.markup import escape

from poker.agents.base import Agent, ObservingAgent
from poker.errors import PokernetsError
from poker.evaluation.acpc.report import mbb_per_hand, new_log, write_hands_report
from poker.evaluation.matches.closing import write_histories
from poker.evaluation.matches.table import AgentSpec
from poker.formats.acpc_log import AcpcError, MatchState, log_line, parse_match_state
from poker.formats.acpc_protocol import VERSION, ConnectionLost, connect
from poker.rules import CALL, FOLD, Rules

_TOLD_FAILURES = 10


@dataclass
class Seat:
    """What happened at the dealer's table: hands begun, chips won in each hand that ended, failures of the agent."""

    log: Path
    hands: int = 0
    finished: bool = True
    chips: list[float] = field(default_factory=list)
    failures: list[str] = field(default_factory=list)


def run(
    *,
    game: Rules,
    agents: Sequence[AgentSpec],
    host: str,
    port: int,
    seed: int,
    connect_seconds: float,
    out: str,
) -> Seat:
    """Plays until the dealer closes the connection, and writes a log and a report; those of earlier matches are kept.

    Raises PokernetsError when no hand was dealt, and, after the report of the hands before it, when the last hand was
    not finished.
    """
    if len(agents) != 1:
        raise PokernetsError(f"one agent sits down at a dealer, `agents` are {len(agents)}: agents=[NAME]")
    console = Console(stderr=True)
    agent = agents[0].build()
    with connect(host, port, connect_seconds) as line:
        console.print(f"{agent.name} plays {game.name} at {host}:{port}")
        line.send(VERSION)
        seat = Seat(new_log(Path(out) / game.name, f"acpc-client-{agent.name}-port{port}"))
        with seat.log.open("w", encoding="ascii", errors="replace") as log:
            log.write(f"# {agent.name} at {host}:{port}: {game.name}, without the cards that it did not see\n")
            player = _Player(game, agent, seed, console, seat, log)
            try:
                while True:
                    answer = player.answer(line.read())
                    if answer is not None:
                        line.send(answer)
            except ConnectionLost as error:
                lost = str(error)
    if not seat.hands:
        seat.log.unlink()
        raise PokernetsError(f"no hand was dealt at {host}:{port}: {lost}; the others may not have come in time")
    broken = "" if seat.finished else f"hand {player.hand} at {host}:{port} was not finished: {lost}"
    if broken:
        seat.failures.append(broken)
    else:
        console.print(f"{agent.name}: the dealer ended the match after {seat.hands} hands")
    found = write_hands_report(
        seat.log.with_suffix(""),
        f"{agent.name} at a dealer: {game.name}",
        game,
        {agent.name: [mbb_per_hand(game) * chips for chips in seat.chips]},
        {"host": host, "port": port, "seed": seed, "agent": agents[0].settings},
        unit="hand",
        log=seat.log,
        failures={agent.name: seat.failures},
        console=console,
    )
    write_histories(game, [seat.log], console)
    console.print(f"log: {seat.log}", soft_wrap=True, highlight=False)
    console.print(f"{agent.name}: {found[agent.name]:+} mbb/hand")
    if broken:
        raise PokernetsError(broken)
    return seat


class _Player:
    """Answers the lines of a dealer."""

    def __init__(self, game: Rules, agent: Agent, seed: int, console: Console, seat: Seat, log: TextIO) -> None:
        self.seat = seat
        self.hand = -1
        self._log = log
        self._game = game
        self._agent = agent
        self._seed = seed
        self._console = console
        self._last = ("", "")

    def answer(self, text: str) -> str | None:
        """The line to send back, if the agent is to act.

        A state that is not understood is answered with a call: a dealer that asks nothing of us overlooks it, and one
        that does would else wait for ever.
        """
        if text == self._last[0]:
            return self._last[1]
        try:
            told = parse_match_state(self._game, text)
        except AcpcError as error:
            self._fail(f"a line of the dealer is not understood: {error}")
            return f"{text}:c" if text.startswith("MATCHSTATE:") and text.isascii() else None
        if told.number != self.hand:
            self._begin(told)
        state = told.state
        if state.is_over:
            if self.seat.finished:
                return None
            self.seat.finished = True
            self._count(told)
            if isinstance(self._agent, ObservingAgent):
                self._agent.end_hand(state)
            return None
        if state.to_act != told.player:
            return None
        answer = f"{text}:{state.betting.action_text(self._act(told))}"
        self._last = (text, answer)
        return answer

    def _begin(self, told: MatchState) -> None:
        self.hand = told.number
        self.seat.hands += 1
        self.seat.finished = False
        self._agent.reset(int(np.random.SeedSequence([self._seed, told.number]).generate_state(1, np.uint64)[0]))
        self._agent.start_hand(told.player)

    def _count(self, told: MatchState) -> None:
        try:
            payoffs = told.state.divided_payoffs()
        except PokernetsError as error:
            self._fail(f"hand {told.number}: {error}")
            return
        self.seat.chips.append(payoffs[told.player])
        players = len(payoffs)
        names = [f"opponent#{(seat - told.player) % players}" for seat in range(players)]
        names[told.player] = re.sub(r"[:|\s]", "_", self._agent.name)
        self._log.write(log_line(told.state, told.number, names, payoffs) + "\n")
        self._log.flush()

    def _act(self, told: MatchState) -> int:
        try:
            action = int(self._agent.act(told.state))
            told.state.betting.apply(action)
            return action
        except Exception as error:
            self._fail(f"hand {told.number} after `{told.state.betting.text()}`: {type(error).__name__}: {error}")
            return FOLD if told.state.legal().fold else CALL

    def _fail(self, what: str) -> None:
        self.seat.failures.append(what)
        if len(self.seat.failures) <= _TOLD_FAILURES:
            self._console.print(f"[red]{self._agent.name}[/red]: {escape(what)}", soft_wrap=True)
