"""Conversion of a multi-player hand to a heads-up game once two players are left.

The other players' chips are in the pot, but the heads-up engine has only the chips of its two players. So each of them
counts as having committed half of the pot when the round began. Payoffs differ from the real ones by a constant for
each player, which does not change any strategy.
"""

from dataclasses import dataclass, replace

from poker.game.betting import Betting

SOLVED_TO_THE_END = 2
"""Number of last rounds, turn and river, that are solved to the end of the hand."""


@dataclass(frozen=True)
class HeadsUpRest:
    """The rest of a hand from a round that began with two players left.

    Attributes:
        players: the two players, in the order of their turns.
        real_root: betting at the table when the round began.
        root: the same state between the two alone.
        offset: chips that the total of a raise in the two-player game exceeds the total at the table.
    """

    players: tuple[int, int]
    real_root: Betting
    root: Betting
    offset: int

    @classmethod
    def of(cls, betting: Betting, first_street: int) -> "HeadsUpRest | None":
        """Return the rest of a hand since the first round that began with two players left.

        Args:
            betting: betting at the table.
            first_street: earliest street of such a round.

        Returns:
            the rest; None if there is no such round.
        """
        live = [player for player, out in enumerate(betting.folded) if not out]
        if len(live) != 2 or betting.street < first_street:
            return None
        for state in (*(before for before, _, _ in betting.turns()), betting):
            begins = state.street >= first_street and not state.actions[state.street]
            if begins and state.folded.count(False) == 2:
                return cls._since(state, live)
        return None

    @classmethod
    def _since(cls, state: Betting, live: list[int]) -> "HeadsUpRest":
        rules, half = state.rules, sum(state.committed) // 2
        offset = half - state.committed[live[0]]
        alone = replace(
            rules,
            name=f"{rules.name}, two left",
            num_players=2,
            blinds=(rules.big_blind, min(blind for blind in rules.blinds if blind)),
            stacks=tuple(rules.stacks[player] + offset for player in live),
            first_player=(0,) * rules.num_streets,
        )
        return cls((live[0], live[1]), state, Betting.at_street(alone, state.street, (half, half)), offset)

    def betting(self, real: Betting) -> Betting:
        """Return the betting of the two-player game at `real`, a state of the rest at the table."""
        state = self.root
        for action in real.line[len(self.real_root.line) :]:
            state = state.apply(self.alone(action))
        return state

    def real(self, action: int) -> int:
        """Return the action at the table for an action of the two-player game."""
        return action - self.offset if action > 0 else action

    def alone(self, action: int) -> int:
        """Return the action of the two-player game for an action at the table."""
        return action + self.offset if action > 0 else action
