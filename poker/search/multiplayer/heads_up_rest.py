"""Hand-over from a table of more players to the heads-up engine: the rest of a hand in which two are left.

What the others have put in lies in the pot, and the engine knows no chips but those of its two players: each is taken
to have committed half of the pot when the round began. Payoffs differ from the real ones by a constant for each player,
and no strategy depends on that.
"""

from dataclasses import dataclass, replace

from poker.game.betting import Betting

SOLVED_TO_THE_END = 2
"""Last rounds of a hand, turn and river, which are solved to its end."""


@dataclass(frozen=True)
class HeadsUpRest:
    """The rest of a hand since `real_root`, where a round began with two `players` left, in the order of their turns.

    `root` is the same state between the two alone; a raise to a total there is `offset` chips more than at the table.
    """

    players: tuple[int, int]
    real_root: Betting
    root: Betting
    offset: int

    @classmethod
    def of(cls, betting: Betting, first_street: int) -> "HeadsUpRest | None":
        """The rest since the first round, from `first_street` on, that began with the two who are left at `betting`;
        None where there is no such round."""
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
        """The betting of the two alone at `real`, a state of the rest."""
        state = self.root
        for action in real.line[len(self.real_root.line) :]:
            state = state.apply(self.alone(action))
        return state

    def real(self, action: int) -> int:
        """The action at the table that `action` of the two alone stands for."""
        return action - self.offset if action > 0 else action

    def alone(self, action: int) -> int:
        """The action of the two alone that stands for `action` at the table."""
        return action + self.offset if action > 0 else action
