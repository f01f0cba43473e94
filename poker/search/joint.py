"""One search for both players of a hand, so that each player's policy and the hints come from the same solve.

The search follows the public history and updates both ranges, as `poker.search.nested` does for one player. Here the
solve of a round gives the decisions of both players. The same share of either player's actions is random, so that there
is one pair of ranges. A round that ends at a depth limit is solved once for each player as the searcher, because a
solution there is for the player who plays the blueprint beyond it ([DLS] section 4). Both solves start at the same
state. A solve from a player's own first decision would start with the opponent's range at that decision, to which the
opponent could no longer adjust.
"""

from dataclasses import replace

from poker.game.betting import Betting
from poker.kernels.types import Board, Ranges
from poker.search.nested import Belief, NestedSearch, Search
from poker.solve.solution import RoundSolution


class JointSearch(NestedSearch):
    """Policies of the player to act at public states.

    Settings are as in `NestedSearch`, where `both_sides` is the number of rounds that end at a depth limit, and
    `opponent_noise` applies to both players.
    """

    def _with_hand(self, ranges: Ranges, player: int, hand: int) -> Ranges:
        """Give the hand the largest weight: joint solves leave out a larger share of a player's own range."""
        out = ranges.copy()
        out[player, hand] = out[player].max()
        return out

    def _searcher_at(self, state: Betting) -> int:
        return state.to_act

    def _solution(self, betting: Betting, board: Board, raises: tuple[int, ...] = ()) -> Search[RoundSolution]:
        belief = yield from self._answer(betting, board)
        policy, solution = belief.known(), belief.solution
        assert policy is not None
        assert solution is not None
        if set(raises) <= set(policy.actions):
            return solution
        return (yield from self._solve(belief, board, raises))

    def _step(self, belief: Belief, action: int, board: Board) -> Search[Belief]:
        state = belief.betting
        belief = yield from self._answer(state, self._visible(state, board))
        solution, theirs, policy = belief.solution, belief.theirs, belief.known()
        assert policy is not None
        off_menu = action not in policy.actions
        if off_menu:
            solution = yield from self._solve(belief, board, (action,))
            policy = solution.policies[()]
        num_actions = len(policy.actions)
        after = self._after(belief, action, policy.probability(action), self._noise[1], num_actions, board)
        if after.betting.street != state.street or after.betting.is_over:
            solution = theirs = None
        elif state.street < self._both_sides:
            solution, theirs = (yield from self._theirs(belief, action, board)), solution
            if not off_menu:  # the same solution serves every action of the menu
                self._store(replace(belief, theirs=solution), board)
        return replace(after, solution=solution, answered=solution is not None, theirs=theirs)
