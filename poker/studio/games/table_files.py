"""Files of one person's game in a folder: hands as a log and as PHH, agents' policies, and the hand in progress.

The hand in progress is written at every action, so that a killed server can continue it. It includes all cards, so only
the server may read it.
"""

import contextlib
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from types import MappingProxyType

import numpy as np

from poker.formats.acpc.log import LoggedHand, log_line, read_log
from poker.formats.phh import hand_text, phhs_texts, why_not_written
from poker.game.betting import Betting
from poker.game.rules import Rules
from poker.game.state import HandState
from poker.run.atomic import write_atomically
from poker.run.errors import PokernetsError
from poker.store.entropy import stored_seed
from poker.store.lines import JsonLines, append_lines

_CARDS, _AGENTS = range(2)
"""First number of the seed sequences of cards and of agents."""


@dataclass(frozen=True)
class HandProgress:
    """A hand in progress or just over.

    Attributes:
        number: number of the hand.
        state: its state with all cards, as the dealer knows it.
    """

    number: int
    state: HandState

    @property
    def step(self) -> int:
        """Number of actions so far."""
        return sum(map(len, self.state.betting.actions))


class TableFiles:
    """The files of a game.

    Only their owner can read the secret and the hand in progress.

    Args:
        entropy: seed of the cards; None draws a secret one when the folder is made.
        agents: fingerprints of the opponents by name.
    """

    def __init__(
        self, folder: Path, rules: Rules, entropy: int | None = None, agents: Mapping[str, str] = MappingProxyType({})
    ) -> None:
        """Make the folder and its files if they are missing.

        Raises:
            PokernetsError: a file is damaged.
        """
        self.folder = folder
        self.log = folder / "hands.log"
        self.notes = folder / "hands.policies.jsonl"
        self.histories = folder / "hands.phhs"
        self._current = folder / "hand.json"
        self._rules = rules
        folder.mkdir(parents=True, exist_ok=True)
        for path in (self.log, self.notes):
            JsonLines(path).cut_unfinished()
        if not self.log.exists():
            against = ", ".join(f"{name} {mark}" for name, mark in agents.items())
            header = f"# {rules.name}: a person at the table{f' of {against}' if against else ''}\n"
            self.log.write_text(header, encoding="utf-8")
        self._entropy = stored_seed(folder / "secret.json", entropy)

    def deal(self, number: int) -> HandState:
        """Return the first state of a hand."""
        return HandState.deal(self._rules, np.random.default_rng([_CARDS, self._entropy, number]))

    def rng(self, number: int, step: int) -> np.random.Generator:
        """Return the generator for action `step` of hand `number`; it is the same after a restart of the server."""
        return np.random.default_rng([_AGENTS, self._entropy, number, step])

    def save(self, hand: HandProgress) -> None:
        """Write the hand in progress."""
        cards = {"hole_cards": hand.state.hole_cards, "runout": hand.state.runout}
        row = {"hand": hand.number, "betting": hand.state.betting.text(), **cards}
        write_atomically(self._current, json.dumps(row).encode(), mode=0o600)

    def load(self) -> HandProgress | None:
        """Return the hand in progress; None before the first.

        Raises:
            PokernetsError: the file is damaged.
        """
        if not self._current.exists():
            return None
        try:
            row = json.loads(self._current.read_bytes())
            betting = Betting.parse(self._rules, row["betting"])
            state = HandState.at(betting, row["hole_cards"], row["runout"])
            if not all(state.hole_cards) or len(state.runout) < self._rules.total_board_cards:
                raise ValueError("cards are missing")
            return HandProgress(int(row["hand"]), state)
        except (ValueError, KeyError, TypeError, OverflowError, RecursionError, PokernetsError) as error:
            raise PokernetsError(
                f"{self._current} is damaged ({error}); delete it to deal the next hand of {self.log}"
            ) from error

    def hands(self) -> list[LoggedHand]:
        """Return all finished hands."""
        return list(read_log(self._rules, self.log))

    def add(self, hand: HandProgress, names: Sequence[str]) -> LoggedHand:
        """Append a finished hand to the log and the histories, and return it.

        Args:
            names: the players' names by seat.
        """
        end, payoffs = hand.state, hand.state.payoffs()
        logged = LoggedHand(hand.number, end, tuple(map(float, payoffs)), tuple(names))
        append_lines(self.log, [log_line(end, hand.number, names, payoffs)])
        if not why_not_written(self._rules):
            with contextlib.suppress(OSError):  # they are rewritten when the game is next opened
                append_lines(self.histories, [f"\n[{hand.number + 1}]", hand_text(logged).rstrip("\n")])
        return logged

    def write_histories(self, hands: Sequence[LoggedHand]) -> None:
        """Rewrite all histories, as the server may have been killed between writing the log and the histories."""
        if not why_not_written(self._rules):
            write_atomically(self.histories, "".join(phhs_texts(hands)).encode())
