"""AIVAT of logged hands from the policies that players noted (`poker.play.notes`); players without notes are unknown.

A player who failed somewhere, or whose notes lack a decision, counts as unknown in all hands (`match_aivat.py`).
"""

from collections.abc import Iterable, Sequence
from pathlib import Path

from poker.errors import PokernetsError
from poker.evaluation.aivat.value_functions import ValueFunctionFactory
from poker.formats.acpc.log import LoggedHand
from poker.play.notes import Decision, Notes
from poker.rules import Rules
from poker.state import HandState, Policy


class NotedAivat:
    """Estimates for the hands of one log. `unknown` says, by name, why the notes of a player do not count."""

    def __init__(
        self, rules: Rules, paths: Sequence[str], hands: Iterable[LoggedHand], values: ValueFunctionFactory
    ) -> None:
        if rules.num_players != 2:
            raise PokernetsError(f"`notes` are for heads-up games, '{rules.name}' has {rules.num_players} players")
        self._aivat = values(rules, (None, None))
        self._notes = [Notes.read(Path(path)) for path in paths]
        self._players: dict[str, Notes] = {}
        self.unknown: dict[str, str] = {}
        for hand in hands:
            for before, player, _ in hand.state.betting.turns():
                self._check(hand.names[player], (hand.number, player, before.text()))
        idle = [str(notes.path) for notes in self._notes if notes not in self._players.values()]
        if idle:
            raise PokernetsError(f"{idle[0]} is of no player of the log: are they of the same match?")

    def _check(self, name: str, decision: Decision) -> None:
        found = [notes for notes in self._notes if decision in notes.lines]
        mine = self._players.setdefault(name, found[0]) if found else self._players.get(name)
        if mine is None or name in self.unknown:
            return
        if decision not in mine.lines:
            self.unknown[name] = f"its notes lack hand {decision[0]} after `{decision[2]}`"
        elif mine.lines[decision] is None:
            self.unknown[name] = f"it failed in hand {decision[0]} after `{decision[2]}`"

    def estimate(self, hand: LoggedHand) -> tuple[float, float]:
        """Estimated chips by seat."""
        if not all(hand.state.hole_cards):
            raise PokernetsError(f"hand {hand.number} of the log does not show all cards: AIVAT needs the dealer's log")
        known = [self._players.get(name) if name not in self.unknown else None for name in hand.names]
        policies = [None if notes is None else Noted(notes, hand.number, seat) for seat, notes in enumerate(known)]
        return self._aivat.estimate(hand.state, policies)


class Noted:
    """The noted policy of a player in one hand, at that player's decisions."""

    def __init__(self, notes: Notes, hand: int, player: int) -> None:
        self._notes, self._hand, self._player = notes, hand, player

    def __call__(self, state: HandState) -> Policy:
        return self._notes.policy((self._hand, self._player, state.betting.text()))
