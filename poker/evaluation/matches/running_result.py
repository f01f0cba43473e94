"""The result so far of a game in play, by chips and by AIVAT: as `evaluate=replay` gives it for its log and notes."""

from collections.abc import Callable, Sequence
from pathlib import Path

import numpy as np

from poker.evaluation.aivat.value_functions import CheckDownValues, ValueFunctionFactory
from poker.evaluation.matches.noted import Noted
from poker.evaluation.matches.results import chip_value
from poker.formats.acpc.log import LoggedHand
from poker.lines import JsonLines
from poker.play.notes import Notes
from poker.report.estimates import Estimate, estimate
from poker.rules import Rules
from poker.state import PolicyFunction


class RunningResult:
    """Result so far of the player `name` against one who notes every decision in the file `notes`.

    AIVAT is heads-up, and there is none once the opponent has failed at a decision or did not note it. Estimates are
    kept in the file `kept`, so that a long game resumes at once.
    """

    def __init__(
        self,
        rules: Rules,
        name: str,
        notes: Path,
        kept: Path,
        values: Callable[[], ValueFunctionFactory] = CheckDownValues,
    ) -> None:
        self._name = name
        self._notes = notes
        self._read = 0
        self._aivat = values()(rules, (None, None)) if rules.num_players == 2 else None
        self._scale = chip_value(rules, "mbb")
        self._file = JsonLines(kept)
        self._file.cut_unfinished()
        self._kept: dict[int, float | None] = dict(self._file.rows())
        self.chips: list[float] = []
        """Chips won, by hand."""
        self.adjusted: list[float] | None = None if self._aivat is None else []
        """Chips won, luck-adjusted by AIVAT; None where that is not known."""

    def mbb(self, chips: Sequence[float]) -> Estimate:
        """Estimate per hand, in thousandths of a big blind."""
        return estimate(np.array(chips) * self._scale)

    def add(self, hands: Sequence[LoggedHand]) -> None:
        """Take the next hands, whose decisions are noted by now."""
        new = [hand for hand in hands if hand.number not in self._kept]
        found = self._estimates(new)
        self._file.append(found)
        if new and self._notes.exists():
            self._read = self._notes.stat().st_size
        self._kept.update(found)
        for hand in hands:
            self.chips.append(hand.payoffs[hand.names.index(self._name)])
            adjusted = self._kept[hand.number]
            if adjusted is None:
                self.adjusted = None
            elif self.adjusted is not None:
                self.adjusted.append(adjusted)

    def _estimates(self, hands: Sequence[LoggedHand]) -> list[tuple[int, float | None]]:
        """Number and estimate of each hand, None where it is not known."""
        if self._aivat is None:
            return [(hand.number, None) for hand in hands]
        notes = Notes(self._notes, {})
        if hands and self._notes.exists():
            notes = Notes.read(self._notes, self._read)
        found: list[tuple[int, float | None]] = []
        for hand in hands:
            seat = hand.names.index(self._name)
            policies = self._policies(hand, notes, seat)
            found.append((hand.number, None if policies is None else self._aivat.estimate(hand.state, policies)[seat]))
        return found

    def _policies(self, hand: LoggedHand, notes: Notes, seat: int) -> list[PolicyFunction | None] | None:
        """Policies by seat; None where one of the opponent's decisions is not noted."""
        turns = hand.state.betting.turns()
        theirs = [(hand.number, player, before.text()) for before, player, _ in turns if player != seat]
        if any(notes.lines.get(decision) is None for decision in theirs):
            return None
        return [None if player == seat else Noted(notes, hand.number, player) for player in range(len(hand.names))]
