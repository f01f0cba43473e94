"""Size limits of solves from the flop to the end of the hand: rivers after each turn, later bets and iterations."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from poker.run.errors import PokernetsError
from poker.solvers.vector.game import estimated_hand_actions
from poker.tree import BetMenu, BettingTree


@dataclass(frozen=True)
class SampledFlops:
    """Limits of solves from the flop to the end of the hand, without a depth limit.

    Every turn is dealt and a few rivers after each (`poker.solvers.vector.game`), as many as `work` allows. Work is
    counted and not timed, so that play is the same on every machine.

    Attributes:
        work: most hand-actions over all boards, times iterations.
        rivers: the least and the largest number of rivers after each turn.
        iterations: the least number of iterations, whatever the work.
        unlikely: share of each range whose least likely hands are left out.
        fewer_ahead: bets on turns and rivers if even the least number of rivers is too much work with the usual ones.
    """

    work: float
    rivers: Sequence[int]
    iterations: int
    unlikely: float
    fewer_ahead: BetMenu

    def __post_init__(self) -> None:
        """Check the limits.

        Raises:
            PokernetsError: `work` is not positive, or `rivers` is not [least, most].
        """
        if not (self.work > 0 and len(self.rivers) == 2 and 1 <= self.rivers[0] <= self.rivers[1]):
            raise PokernetsError(f"search.flops needs work above 0 and rivers=[least,most], not {self.rivers}")

    def sized(
        self, tree: BettingTree, fewer: Callable[[], BettingTree], hands: Sequence[int], iterations: int
    ) -> tuple[BettingTree, int]:
        """Choose the tree and the number of rivers after each turn.

        Args:
            tree: the flop with the usual bets on later rounds.
            fewer: makes the tree with `fewer_ahead`.
            hands: number of hands in the range of each player.
            iterations: iterations of the solve, if `work` allows them.

        Returns:
            (tree, number of rivers).
        """
        least, most = self.rivers
        rivers = self._affordable(tree, hands, iterations)
        if rivers < least:
            tree = fewer()
            rivers = self._affordable(tree, hands, iterations)
        return tree, max(least, min(rivers, most))

    def _affordable(self, tree: BettingTree, hands: Sequence[int], iterations: int) -> int:
        one, two = (estimated_hand_actions(tree, hands, rivers) for rivers in (1, 2))
        return 1 + int((self.work / iterations - one) // max(two - one, 1.0))

    def iterations_of(self, hand_actions: int, iterations: int) -> int:
        """Return the number of iterations that `work` allows, at most `iterations` and at least the minimum.

        Args:
            hand_actions: hand-actions over all boards.
            iterations: most iterations.
        """
        return min(iterations, max(self.iterations, int(self.work / hand_actions)))
