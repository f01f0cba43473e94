"""AIVAT of logged hands from the policies that players recorded (`poker.play.notes`), for a log or a running game.

Players without notes are unknown. A player who failed once in a log, or whose notes lack a decision, counts as unknown
in all its hands (`match_aivat.py`).
"""

from collections.abc import Iterable, Sequence
from pathlib import Path

import numpy as np
from numpy.typing import ArrayLike

from poker.evaluation.aivat.heads_up import Aivat
from poker.evaluation.aivat.value_functions import CheckDown, ValueFunctionFactory
from poker.evaluation.matches.results import chip_value
from poker.formats.acpc.log import LoggedHand
from poker.game.rules import Rules
from poker.game.state import PolicyFunction
from poker.play.notes import Decision, Notes
from poker.report.estimates import Estimate, estimate
from poker.run.errors import PokernetsError
from poker.store.lines import JsonLines


class NotedAivat:
    """Estimates for the hands of one log.

    Attributes:
        unknown: reasons why the notes of a player do not count, by name.
    """

    def __init__(
        self, rules: Rules, paths: Sequence[str], hands: Iterable[LoggedHand], values: ValueFunctionFactory
    ) -> None:
        """Read the notes and match them with the players.

        Args:
            paths: files of notes.
            hands: hands of the log.

        Raises:
            PokernetsError: the game is not heads-up, or notes belong to no player.
        """
        if rules.num_players != 2:
            raise PokernetsError(f"`notes` is for two-player games, but '{rules.name}' has {rules.num_players} players")
        self._aivat = values(rules, (None, None))
        self._notes = [Notes.read(Path(path)) for path in paths]
        self._players: dict[str, Notes] = {}
        self.unknown: dict[str, str] = {}
        for hand in hands:
            for before, player, _ in hand.state.betting.turns():
                self._check(hand.names[player], (hand.number, player, before.text()))
        idle = [str(notes.path) for notes in self._notes if notes not in self._players.values()]
        if idle:
            raise PokernetsError(f"{idle[0]} does not belong to a player of the log: is it from the same match?")

    def _check(self, name: str, decision: Decision) -> None:
        matching = [notes for notes in self._notes if decision in notes.lines]
        mine = self._players.setdefault(name, matching[0]) if matching else self._players.get(name)
        if mine is None or name in self.unknown:
            return
        if decision not in mine.lines:
            self.unknown[name] = f"its notes lack hand {decision[0]} after `{decision[2]}`"
        elif mine.lines[decision] is None:
            self.unknown[name] = f"it failed in hand {decision[0]} after `{decision[2]}`"

    def estimate(self, hand: LoggedHand) -> tuple[float, float]:
        """Estimate the chips of a hand by seat.

        Raises:
            PokernetsError: a hole card is unknown.
        """
        if not all(hand.state.hole_cards):
            raise PokernetsError(f"hand {hand.number} of the log does not show all cards: AIVAT needs the dealer's log")
        by_seat = [self._players.get(name) if name not in self.unknown else None for name in hand.names]
        policies = [None if notes is None else noted(notes, hand.number, seat) for seat, notes in enumerate(by_seat)]
        return self._aivat.estimate(hand.state, policies)


def noted(notes: Notes, hand: int, player: int) -> PolicyFunction:
    """Return the recorded policy of a player in one hand, for that player's decisions.

    Args:
        player: seat of the player.
    """
    return lambda state: notes.policy((hand, player, state.betting.text()))


class RunningResult:
    """The current result of a player against an opponent who records decisions, by chips and by AIVAT.

    AIVAT needs a heads-up game, and ends after the opponent has failed at a decision.

    Attributes:
        chips: chips won, by hand.
        adjusted: luck-adjusted chips won, by hand; None if a hand has none.
    """

    def __init__(self, rules: Rules, name: str, notes: Path, estimates: Path) -> None:
        """Read earlier estimates.

        Args:
            name: name of the player.
            notes: file of the opponent's notes.
            estimates: file of the estimates.
        """
        self._name, self._notes, self._read = name, notes, 0
        self._aivat = Aivat(rules, CheckDown(rules)) if rules.num_players == 2 else None
        self._scale = chip_value(rules, "mbb") / 10
        self._file = JsonLines(estimates)
        self._file.cut_unfinished()
        self._estimate_of: dict[int, float | None] = dict(
            self._file.rows(lambda row: (int(row[0]), None if row[1] is None else float(row[1])))
        )
        self.chips: list[float] = []

        self.adjusted: list[float] | None = None if self._aivat is None else []

    def per_hundred(self, chips: ArrayLike) -> Estimate:
        """Estimate the result in big blinds per 100 hands.

        Args:
            chips: chips won, by hand.
        """
        return estimate(np.array(chips) * self._scale)

    def add(self, hands: Sequence[LoggedHand]) -> None:
        """Add the next hands, whose decisions have been recorded."""
        new = [hand for hand in hands if hand.number not in self._estimate_of]
        estimates = self._estimates(new)
        self._file.append(estimates)
        if new and self._notes.exists():
            self._read = self._notes.stat().st_size
        self._estimate_of.update(estimates)
        for hand in hands:
            self.chips.append(hand.payoffs[hand.names.index(self._name)])
            adjusted = self._estimate_of[hand.number]
            if adjusted is None:
                self.adjusted = None
            elif self.adjusted is not None:
                self.adjusted.append(adjusted)

    def _estimates(self, hands: Sequence[LoggedHand]) -> list[tuple[int, float | None]]:
        """Return the number and the estimate of each hand, None for unknown estimates."""
        if self._aivat is None:
            return [(hand.number, None) for hand in hands]
        notes = Notes(self._notes, {})
        if hands and self._notes.exists():
            notes = Notes.read(self._notes, self._read)
        return [(hand.number, self._estimate(hand, notes, self._aivat)) for hand in hands]

    def _estimate(self, hand: LoggedHand, notes: Notes, aivat: Aivat) -> float | None:
        """Return chips won; None if one of the opponent's decisions was not recorded."""
        seat = hand.names.index(self._name)
        turns = hand.state.betting.turns()
        theirs = [(hand.number, player, before.text()) for before, player, _ in turns if player != seat]
        if any(notes.lines.get(decision) is None for decision in theirs):
            return None
        policies = [None if player == seat else noted(notes, hand.number, player) for player in range(2)]
        return aivat.estimate(hand.state, policies)[seat]
