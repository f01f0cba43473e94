"""One of our agents as a client of a dealer of the Annual Computer Poker Competition (ACPC).

Every state that the dealer sends is complete, so repeated or skipped states do no harm; a repeated state gets the same
answer. The agent is reset before the first hand only. If it fails, it checks or folds. A state that breaks our rules is
answered with a call, and a hand that cannot be logged is left out. All of these are reported.

Hands are logged as the agent saw them. If the agent has a policy, the policy at each of its decisions is stored beside
the log (`notes.py`). A dealer names nobody, so the others are called opponent#1, #2, ... in the order of their seats
after our agent, which does not change when seats rotate.
"""

import contextlib
import re
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path

import numpy as np

from poker.agents.base import Agent
from poker.formats.acpc.log import AcpcError, MatchState, log_line, parse_match_state
from poker.formats.acpc.protocol import VERSION, ConnectionLost, LineConnection
from poker.game.rules import CALL, Rules
from poker.game.state import HandState, Policy, public_state
from poker.play.hand import Incident, passive
from poker.play.notes import append_note
from poker.run.errors import PokernetsError, described
from poker.run.machine import give_back_memory
from poker.store.lines import append_lines


def warm_up(game: Rules, agent: Agent) -> None:
    """Query the agent at every decision of a hand without bets, to compile and load everything before the match."""
    state = HandState.deal(game, np.random.default_rng(0))
    with contextlib.suppress(Exception):
        agent.reset(0)
        agent.start_hand(state.to_act)
        while not state.is_over:
            agent.act(state.view(state.to_act))
            state = state.apply(CALL)


@dataclass
class DealerSeat:
    """Our seat at the dealer's table, with the record of the match.

    Attributes:
        agent: our agent.
        seed: seed with which the agent is reset.
        log: file of the hands.
        tell: called with the text of each failure.
        hands: hands begun.
        number: number of the present hand.
        finished: whether the present hand is over.
        chips: chips won in each finished hand.
        failures: failures of the agent.
        ended: why the connection has ended.
    """

    game: Rules
    agent: Agent
    seed: int
    log: Path
    tell: Callable[[str], None]
    hands: int = 0
    number: int = -1
    finished: bool = True
    chips: list[float] = field(default_factory=list)
    failures: list[Incident] = field(default_factory=list)
    ended: str = ""
    _last: tuple[str, str] = ("", "")
    """The last state that was answered, and the answer."""

    @property
    def notes(self) -> Path:
        """File of the agent's policies."""
        return self.log.with_suffix(".policies.jsonl")

    def play(self, line: LineConnection) -> None:
        """Answer the dealer until it closes the connection."""
        line.send(VERSION)
        try:
            while True:
                try:
                    answer = self.answer(line.read())
                except AcpcError as error:
                    self._fail("", f"the dealer sent {error}; skipped")
                    continue
                if answer is not None:
                    line.send(answer)
        except ConnectionLost as error:
            self.ended = str(error)

    def answer(self, text: str) -> str | None:
        """Return the line to send back; None if the agent is not to act.

        A state that cannot be parsed is answered with a call. A dealer that is not waiting for us ignores the call, and
        one that is would otherwise wait for ever.
        """
        if text == self._last[0]:
            return self._last[1]
        try:
            sent = parse_match_state(self.game, text)
        except AcpcError as error:
            self._fail("", f"cannot parse a line of the dealer: {error}")
            return f"{text}:c" if text.startswith("MATCHSTATE:") and text.isascii() else None
        if sent.number != self.number:
            self._begin(sent)
        state = sent.state
        if state.is_over:
            if self.finished:
                return None
            self.finished = True
            self._count(sent)
            if self.agent.learns:
                self._try(state.betting.text(), partial(self.agent.end_hand, state))
            give_back_memory()
            return None
        if state.to_act != sent.player:
            return None
        answer = f"{text}:{state.betting.action_text(self._act(sent))}"
        self._last = (text, answer)
        return answer

    def _begin(self, sent: MatchState) -> None:
        self.number = sent.number
        if not self.hands:
            seed = int(np.random.SeedSequence(self.seed).generate_state(1, np.uint64)[0])
            self._try("", partial(self.agent.reset, seed))
        self.hands += 1
        self.finished = False
        self._try("", partial(self.agent.start_hand, sent.player))

    def _try(self, betting: str, step: Callable[[], None]) -> None:
        try:
            step()
        except Exception as error:
            self._fail(betting, described(error))

    def _count(self, sent: MatchState) -> None:
        try:
            payoffs = sent.state.divided_payoffs()
        except PokernetsError as error:
            self._fail(sent.state.betting.text(), str(error))
            return
        self.chips.append(payoffs[sent.player])
        players = len(payoffs)
        names = [f"opponent#{(seat - sent.player) % players}" for seat in range(players)]
        names[sent.player] = re.sub(r"[:|]|[^!-~]", "_", self.agent.name)
        line = log_line(sent.state, sent.number, names, payoffs)
        self._try(sent.state.betting.text(), partial(append_lines, self.log, [line]))

    def _act(self, sent: MatchState) -> int:
        state, betting = sent.state, sent.state.betting.text()
        policy: Policy | None = None
        try:
            action = int(self.agent.act(state))
            state.betting.apply(action)
        except Exception as error:
            self._fail(betting, described(error))
            action = passive(state)
        else:
            if self.agent.has_policy:
                with contextlib.suppress(Exception):  # play continues without the policy
                    policy = self.agent.policy(public_state(state.betting, state.board))
        if self.agent.has_policy:
            self._try(betting, partial(append_note, self.notes, sent.number, sent.player, betting, policy))
        return action

    def _fail(self, betting: str, what: str) -> None:
        self.failures.append(Incident(self.agent.name, self.number, betting, what, ""))
        self.tell(what)
