"""How large a solve of a flop to the end of the hand may be: rivers after each turn, later bets and iterations."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from poker.run.errors import PokernetsError
from poker.solvers.vector.game import estimated_hand_actions
from poker.tree import BetMenu, BettingTree


@dataclass(frozen=True)
class SampledFlops:
    """Limits of solves of a flop to the end of the hand, in place of a depth limit.

    Every turn is dealt and a few rivers after each (`poker.solvers.vector.rivers`), as many as the work allows. Work
    is counted and not timed, so that play is the same on every machine.

    Attributes:
        work: most hands times actions over all boards, times iterations.
        rivers: the least number of rivers after each turn and the most.
        iterations: the least number of iterations, whatever the work.
        unlikely: share of each range whose least likely hands are left out.
        fewer_ahead: bets of turns and rivers where the least number of rivers is too much work with the usual ones.
    """

    work: float
    rivers: Sequence[int]
    iterations: int
    unlikely: float
    fewer_ahead: BetMenu

    def __post_init__(self) -> None:
        if not (self.work > 0 and len(self.rivers) == 2 and 1 <= self.rivers[0] <= self.rivers[1]):
            raise PokernetsError(f"search.flops: work={self.work:g} and rivers={self.rivers} are not [least, most]")

    def sized(
        self, tree: BettingTree, fewer: Callable[[], BettingTree], hands: Sequence[int], iterations: int
    ) -> tuple[BettingTree, int]:
        """Choose the tree and the number of rivers after each turn.

        Args:
            tree: the flop with the usual bets on later rounds.
            fewer: makes the tree with `fewer_ahead`.
            hands: number of hands in the range of each player.
            iterations: iterations of the solve, if work allows them.
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
        """The number of iterations up to `iterations` that the work allows, at least the least."""
        return min(iterations, max(self.iterations, int(self.work / hand_actions)))
