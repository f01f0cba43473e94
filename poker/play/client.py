"""One of our agents at a dealer of the Annual Computer Poker Competition.

Every state of the dealer stands for itself, so nothing is lost by repeated or skipped states; an answer is remembered,
and a state that is asked again is answered alike. An agent that fails checks or folds, a state that breaks our rules is
answered with a call, and both are told.

The hands are logged as the agent saw them, hole cards that it did not see left out. A dealer names nobody, so the
others are opponent#1, #2, ... in the order in which they sit after our agent, which seats that rotate do not change.
"""

import re
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import TextIO

import numpy as np

from poker.agents.base import Agent, ObservingAgent
from poker.errors import PokernetsError
from poker.formats.acpc_log import AcpcError, MatchState, log_line, parse_match_state
from poker.formats.acpc_protocol import VERSION, ConnectionLost, LineConnection
from poker.play.hand import Incident, described, passive
from poker.rules import Rules


@dataclass
class Seat:
    """What happened at the dealer's table: hands begun, chips won in each hand that ended, failures of the agent.

    `ended` says why the connection closed.
    """

    log: Path
    hands: int = 0
    number: int = -1
    finished: bool = True
    chips: list[float] = field(default_factory=list)
    failures: list[Incident] = field(default_factory=list)
    ended: str = ""


def play_at(line: LineConnection, game: Rules, agent: Agent, seed: int, log: Path, tell: Callable[[str], None]) -> Seat:
    """Plays until the dealer closes the connection; `tell` is called with every failure."""
    line.send(VERSION)
    seat = Seat(log)
    with log.open("a", encoding="ascii", errors="replace") as file:
        player = _Player(game, agent, seed, seat, file, tell)
        try:
            while True:
                answer = player.answer(line.read())
                if answer is not None:
                    line.send(answer)
        except ConnectionLost as error:
            seat.ended = str(error)
    return seat


@dataclass
class _Player:
    """Answers the lines of a dealer; `last` is the state answered last, and the answer."""

    game: Rules
    agent: Agent
    seed: int
    seat: Seat
    log: TextIO
    tell: Callable[[str], None]
    last: tuple[str, str] = ("", "")

    def answer(self, text: str) -> str | None:
        """The line to send back, if the agent is to act.

        A state that is not understood is answered with a call: a dealer that asks nothing of us overlooks it, and one
        that does would else wait for ever.
        """
        if text == self.last[0]:
            return self.last[1]
        try:
            told = parse_match_state(self.game, text)
        except AcpcError as error:
            self._fail("", f"a line of the dealer is not understood: {error}")
            return f"{text}:c" if text.startswith("MATCHSTATE:") and text.isascii() else None
        if told.number != self.seat.number:
            self._begin(told)
        state = told.state
        if state.is_over:
            if self.seat.finished:
                return None
            self.seat.finished = True
            self._count(told)
            if isinstance(self.agent, ObservingAgent):
                self.agent.end_hand(state)
            return None
        if state.to_act != told.player:
            return None
        answer = f"{text}:{state.betting.action_text(self._act(told))}"
        self.last = (text, answer)
        return answer

    def _begin(self, told: MatchState) -> None:
        self.seat.number = told.number
        self.seat.hands += 1
        self.seat.finished = False
        self.agent.reset(int(np.random.SeedSequence([self.seed, told.number]).generate_state(1, np.uint64)[0]))
        self.agent.start_hand(told.player)

    def _count(self, told: MatchState) -> None:
        try:
            payoffs = told.state.divided_payoffs()
        except PokernetsError as error:
            self._fail(told.state.betting.text(), str(error))
            return
        self.seat.chips.append(payoffs[told.player])
        players = len(payoffs)
        names = [f"opponent#{(seat - told.player) % players}" for seat in range(players)]
        names[told.player] = re.sub(r"[:|\s]", "_", self.agent.name)
        self.log.write(log_line(told.state, told.number, names, payoffs) + "\n")
        self.log.flush()

    def _act(self, told: MatchState) -> int:
        try:
            action = int(self.agent.act(told.state))
            told.state.betting.apply(action)
            return action
        except Exception as error:
            self._fail(told.state.betting.text(), described(error))
            return passive(told.state)

    def _fail(self, betting: str, what: str) -> None:
        self.seat.failures.append(Incident(self.agent.name, self.seat.number, betting, what, ""))
        self.tell(what)
