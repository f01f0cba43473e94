"""A dealer of the ACPC protocol 2.0.0, for programs written by others.

Hands, states, scores and log have the format of the competition's dealer, and answers are parsed as leniently
(`poker/formats/acpc/answer.py`). Lines that answer another state are ignored and reported. A raise of an illegal size
becomes the nearest legal one, and any other invalid action a call. Unlike the competition's dealer, this one names a
player that is late or disconnected. That player checks or folds from then on, so that every match ends with a result.
"""

import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from poker.agents.base import Agent
from poker.formats.acpc.answer import answered_action, read_action
from poker.formats.acpc.log import chips_text, log_line, match_state_text
from poker.formats.acpc.protocol import ConnectionLost, LineConnection, NoAnswer
from poker.game.rules import CALL, Rules
from poker.game.state import HandState, IllegalAction
from poker.play.hand import Incident, passive, play_hand
from poker.run.errors import PokernetsError

_MOST_FAILURES = 1000


@dataclass
class Times:
    """Limits of a player's time in seconds.

    Attributes:
        answer: for one answer.
        in_hand: for one hand.
        per_hand: on average for every hand of the match.
    """

    answer: float
    in_hand: float
    per_hand: float


class RemotePlayer(Agent):
    """A program at the table.

    Args:
        line: its connection; the attribute is None once it is lost.
        times: limits of its time.
        hands: number of hands of the match.
    """

    def __init__(self, name: str, line: LineConnection, times: Times, hands: int) -> None:
        """Set all clocks to zero."""
        self.name = name
        self.line: LineConnection | None = line
        self.hand = 0
        self.failures: list[Incident] = []
        self.answers = 0
        self.used = 0.0
        self._used_hand = 0.0
        self._times = times
        self._match_seconds = times.per_hand * hands
        self._seat = 0

    def start_hand(self, seat: int) -> None:
        """Start a hand at a seat."""
        self._seat = seat
        self._used_hand = 0.0

    def watch(self, state: HandState) -> None:
        """Send the player its view of a state."""
        if self.line is not None:
            try:
                self.line.send(match_state_text(state, self.hand, self._seat))
            except ConnectionLost as error:
                self._lose(state, str(error))

    def act(self, state: HandState) -> int:
        """Return the player's action, or the passive action if the player is lost."""
        action = self._ask(self.line, state) if self.line is not None else None
        return passive(state) if action is None else action

    def _ask(self, line: LineConnection, state: HandState) -> int | None:
        """Return the player's action; None if the player is lost."""
        times = self._times
        limit = min(times.answer, times.in_hand - self._used_hand, self._match_seconds - self.used)
        started = time.monotonic()
        try:
            while True:
                answer = line.read(max(0.0, limit - (time.monotonic() - started)))
                text = answered_action(state, self.hand, answer)
                if text is not None:
                    break
                self._tell(state, f"a line that answers another state is ignored: `{answer[:100]}`")
            self.answers += 1
            return read_action(state.betting, text)
        except IllegalAction as error:
            self._tell(state, f"{error}; called instead")
            return CALL
        except NoAnswer:
            self._lose(state, f"no answer within {limit:.3g} s; it checks or folds on")
        except PokernetsError as error:
            self._lose(state, f"{error}; it checks or folds on")
        finally:
            used = time.monotonic() - started
            self._used_hand += used
            self.used += used
        return None

    def _tell(self, state: HandState, why: str) -> None:
        if len(self.failures) < _MOST_FAILURES:
            self.failures.append(Incident(self.name, self.hand, state.betting.text(), why, ""))

    def _lose(self, state: HandState, why: str) -> None:
        self.failures.append(Incident(self.name, self.hand, state.betting.text(), why, ""))
        self.close()

    def close(self) -> None:
        """Close the connection, if there is one."""
        if self.line is not None:
            self.line.close()
            self.line = None


def deal_match(
    game: Rules, players: Sequence[RemotePlayer], hands: int, seed: int, *, rotate: bool, log: Path
) -> Iterator[list[float]]:
    """Deal a match; write its log on the way and close all connections at the end.

    Args:
        players: the players, [P].
        seed: seed of the cards.
        rotate: whether all players move by one seat after every hand.
        log: file of the log; its last line is the score.

    Yields:
        chips [P] that each player won in a hand.
    """
    names, total = [player.name for player in players], [0.0] * len(players)
    with log.open("a", encoding="ascii") as file:
        for number in range(hands):
            shift = number % len(players) if rotate else 0
            places = [(seat + shift) % len(players) for seat in range(len(players))]
            for player in players:
                player.hand = number
            deal = HandState.deal(game, np.random.default_rng([seed, number]))
            end = play_hand([players[place] for place in places], deal)
            payoffs = end.divided_payoffs()
            file.write(log_line(end, number, [names[place] for place in places], payoffs) + "\n")
            file.flush()
            chips = [payoffs[places.index(place)] for place in range(len(players))]
            total = [sum(pair) for pair in zip(total, chips, strict=True)]
            yield chips
        file.write(f"SCORE:{'|'.join(map(chips_text, total))}:{'|'.join(names)}\n")
    for player in players:
        player.close()
