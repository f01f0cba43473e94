"""Trust in a model of the opponent: how much better it explains their actions than solutions do.

We assume that a share t of the opponent's actions follows the model and the rest follows the solutions. The likelihood
of an action is

    (1 - e) (t m + (1 - t) y) + e / 3

where m and y are the probabilities of the action under the model and the solution: with the hand shown, or otherwise
averaged over the opponent's range. Both are known before the action, so a model that only repeats chance events earns
nothing. Frequencies of a range say little about which of its hands take an action, and this decides the value of a
call. So the model must also explain two kinds of actions by themselves: actions with hands that were shown, and folds,
after which the hand no longer matters.

For an unknown player the prior falls with the share and has a mean of a third. In a population where a share `unsound`
of the players is not sound, the prior is a mixture of this one and one that rises with the share. Trust is the distance
of the posterior mean above a third, scaled to 1 where all actions follow the model, and 0 unless the posterior mean is
above a half. Sound players, whom solutions predict except for exact bluffs, look like a quarter of a model, in some
sessions two fifths, and earn it no trust. Players of a simple rule look like a half or more.

Symbols: H hands, N shares.
"""

from collections.abc import Iterable
from dataclasses import dataclass, field

import numpy as np

from poker.kernels.types import Floats
from poker.run.errors import PokernetsError
from poker.solve.modelled import Explained

_SHARES = np.linspace(0.0, 1.0, 17)
"""[N] the values of t."""
_CHANCE = 0.02
"""e: the share of the actions that neither explains."""
_SOUND = np.arange(len(_SHARES), 0, -1) / np.arange(len(_SHARES) + 1).sum()
"""[N] prior of the shares of a sound or unknown player."""
_UNSOUND = _SOUND[::-1]
_START = float(_SOUND @ _SHARES)
_MOST = 0.5
"""Share of the actions above which a model is trusted."""


@dataclass(frozen=True, eq=False)
class Trust:
    """Evidence for a model: log-likelihoods of the actions so far by share, up to a constant.

    Attributes:
        unsound: share of the players in this population who are not sound.
        every: [N] from all actions.
        of_shown: [N] from folds and from actions with hands that were shown.
    """

    unsound: float = 0.0
    every: Floats = field(default_factory=lambda: np.zeros(len(_SHARES)))
    of_shown: Floats = field(default_factory=lambda: np.zeros(len(_SHARES)))

    def __post_init__(self) -> None:
        """Check the share.

        Raises:
            PokernetsError: `unsound` is not from 0 to less than 1.
        """
        if not 0 <= self.unsound < 1:
            raise PokernetsError(f"`unsound` must be at least 0 and below 1, not {self.unsound}")

    def after(self, actions: Iterable[Explained], hand: int | None) -> "Trust":
        """Return the trust after a hand.

        Args:
            actions: the opponent's actions in the hand.
            hand: the hand that the opponent showed; None for none.
        """
        every, of_shown = self.every.copy(), self.of_shown.copy()
        for action in actions:
            model, solution = action.chances(hand)
            mixed = _SHARES * model + (1 - _SHARES) * solution
            likely = np.log((1 - _CHANCE) * mixed + _CHANCE / 3)
            every += likely
            if hand is not None or action.fold:
                of_shown += likely
        return Trust(self.unsound, every, of_shown)

    @property
    def share(self) -> float:
        """Expected share of the actions that follow the model: the lesser estimate of `every` and `of_shown`."""
        return min(self._expected(self.every), self._expected(self.of_shown))

    @property
    def earned(self) -> float:
        """The trust, from 0 to 1.

        It is 0 below a share of a half, where trust changed play without winning anything (docs/exploiting.md).
        """
        share = self.share
        return (share - _START) / (1 - _START) if share > _MOST else 0.0

    def _expected(self, seen: Floats) -> float:
        """Return the expected share from log-likelihoods [N] up to a constant."""
        odds = ((1 - self.unsound) * _SOUND + self.unsound * _UNSOUND) * np.exp(seen - seen.max())
        return float((odds * _SHARES).sum() / odds.sum())
