"""The result of a game that is being played, by chips and by AIVAT, hand by hand: that of `evaluate=replay` for its log
and notes."""

from collections.abc import Callable, Sequence
from pathlib import Path

import numpy as np

from poker.evaluation.aivat.value_functions import CheckDownValues, ValueFunctionFactory
from poker.evaluation.noted import Noted, decisions
from poker.evaluation.results import chip_value
from poker.formats.acpc_log import LoggedHand
from poker.play.notes import Notes
from poker.report.estimates import Estimate, estimate
from poker.rules import Rules
from poker.state import PolicyFunction


class RunningResult:
    """Of the player `name` against one who notes every decision in the file `notes`.

    AIVAT is heads-up, and there is none once the opponent has failed at a decision or did not note it.
    """

    def __init__(
        self, rules: Rules, name: str, notes: Path, values: Callable[[], ValueFunctionFactory] = CheckDownValues
    ) -> None:
        self._name = name
        self._notes = notes
        self._read = 0
        self._aivat = values()(rules, (None, None)) if rules.num_players == 2 else None
        self._scale = chip_value(rules, "mbb")
        self.chips: list[float] = []
        """By hand."""
        self.adjusted: list[float] | None = None if self._aivat is None else []
        """The same, luck-adjusted by AIVAT; None where that is not known."""

    def mbb(self, chips: Sequence[float]) -> Estimate:
        """Per hand, in thousandths of a big blind."""
        return estimate(np.array(chips) * self._scale)

    def add(self, hands: Sequence[LoggedHand]) -> None:
        """The next hands, whose decisions are noted by now."""
        notes = Notes(self._notes, {})
        if self._notes.exists():
            notes = Notes.read(self._notes, self._read)
            self._read = self._notes.stat().st_size
        for hand in hands:
            seat = hand.names.index(self._name)
            self.chips.append(hand.payoffs[seat])
            if self._aivat is None or self.adjusted is None:
                continue
            policies = self._policies(hand, notes, seat)
            if policies is None:
                self.adjusted = None
            else:
                self.adjusted.append(self._aivat.estimate(hand.state, policies)[seat])

    def _policies(self, hand: LoggedHand, notes: Notes, seat: int) -> list[PolicyFunction | None] | None:
        """By seat; None where one of the opponent's decisions is not noted."""
        theirs = [(hand.number, player, betting) for player, betting in decisions(hand) if player != seat]
        if any(notes.lines.get(decision) is None for decision in theirs):
            return None
        return [None if player == seat else Noted(notes, hand.number, player) for player in range(len(hand.names))]
