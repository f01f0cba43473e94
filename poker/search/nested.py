"""Nested depth-limited solving: a policy for any public state of a heads-up hand.

The searcher follows the public history from the first action and updates both ranges ([DLS] sections 3 and 5):

- At its own decision it solves the rest of the round from the current state (before the turn, the depth limit supplies
  values for the rest of the game), and its own range follows the solution. With `follow` it keeps to the last solution
  if that includes the decision. Otherwise the decision would be solved for the ranges that the solution leaves, which
  gives a best response to one range of the opponent; it no longer keeps the opponent indifferent
  (docs/results/flop_holdem).
- If the last solution includes an action of the opponent, their range follows that solution's strategy. Before a depth
  limit that strategy belongs to a player who may pick continuations. With `both_sides` the range follows a solve with
  the opponent as the searcher instead.
- Otherwise (the first action of a round, or a bet of another size) the round is solved from the state before that
  action, with the actual size in the tree. So the bet is answered exactly and not rounded.

The values that earlier solutions concede to the opponent are passed on to each new solve (`poker.solve.safety`).

The policy at a state depends only on the public history, the board (canonical) and the settings. So solves with a fixed
number of iterations, or to a fixed exploitability, give the same answer in every process with the same engine. Solves
with time limits do not. Answers are cached for states that occur again.

A search does not solve by itself. It yields a `Request` for each solve that it needs and is sent the solution, so that
the solves of many states can be done together.
"""

from collections.abc import Callable, Generator, Sequence
from dataclasses import dataclass, field, replace
from typing import TypeVar

import numpy as np
from numpy.typing import NDArray

from poker.game.beliefs import likelihood, observe_action, observe_board, relative, start_ranges
from poker.game.betting import Betting
from poker.game.cards import RARE
from poker.game.rules import Rules
from poker.kernels.types import Board, Ranges, Singles
from poker.solve.modelled import Explained, Exploit, Modelled
from poker.solve.ranges import with_hand
from poker.solve.solution import RoundSolution
from poker.solve.types import NodePolicy, Request
from poker.store.lru_cache import LRUCache
from poker.tree.translation import on_actions

RoundSolver = Callable[[Request], RoundSolution]

T = TypeVar("T")
Search = Generator[Request, RoundSolution, T]
"""Generator that yields requests for solves, one after the other, and returns a T."""


def together(searches: Sequence[Search[T]], solve: Callable[[Sequence[Request]], Sequence[RoundSolution]]) -> list[T]:
    """Run searches of one agent, solving their pending requests together and each only once.

    Args:
        solve: function from requests to their solutions.

    Returns:
        the results in the order of `searches`.
    """
    results: dict[int, T] = {}
    solutions: dict[int, RoundSolution] = {}
    while True:
        requests: dict[int, Request] = {}
        for number, search in enumerate(searches):
            if number not in results:
                try:
                    requests[number] = search.send(solutions[number]) if number in solutions else next(search)
                except StopIteration as ended:
                    results[number] = ended.value
        if not requests:
            return [results[number] for number in range(len(searches))]
        distinct = {request.state: request for request in requests.values()}
        solved = dict(zip(distinct, solve(list(distinct.values())), strict=True))
        solutions = {number: solved[request.state] for number, request in requests.items()}


def alone(search: Search[T], solve: RoundSolver) -> T:
    """Run a search with one solve at a time and return its result.

    Args:
        solve: function from a request to its solution.
    """
    return together([search], lambda requests: [solve(request) for request in requests])[0]


@dataclass(frozen=True)
class Belief:
    """Both ranges at a state of the hand.

    Attributes:
        ranges: [2, H] ranges of both players.
        solution: solution of the round; None if the round is unsolved.
        answered: whether the solution was made after the actions that led here, so that it includes the decision at
            `betting`.
        alternatives: [H] values that earlier solutions concede to the opponent's hands; None if unknown or not needed.
        modelled: the part of the opponent's range that plays by a model; None without a model.
        reach: [2, H] ranges if no action is random.
        likelihoods: (player, likelihood of the action over the player's range at the time) for all actions since the
            start.
        theirs: solution of the round with the opponent as the searcher.
    """

    betting: Betting
    ranges: Ranges
    solution: RoundSolution | None
    answered: bool
    alternatives: Singles | None = None
    modelled: Modelled | None = None
    reach: Ranges = field(kw_only=True)
    likelihoods: tuple[tuple[int, float], ...] = ()
    theirs: RoundSolution | None = None

    @classmethod
    def start(cls, rules: Rules) -> "Belief":
        """Return the belief before the first action."""
        ranges = start_ranges(rules)
        return cls(Betting.start(rules), ranges, None, answered=False, reach=ranges)

    def known(self) -> NodePolicy | None:
        """Return the policy of the solution at `betting`; None if it has none."""
        return self.solution.at(self.betting) if self.solution is not None else None

    def expected(self, player: int) -> NDArray[np.bool_]:
        """Return the hands that a player is expected to have and that the solution includes.

        Args:
            player: the player to act.

        Returns:
            bool [H].
        """
        policy = self.known()
        solved = True if policy is None or policy.solved is None else policy.solved
        return (relative(self.reach[player]) >= RARE) & solved


class NestedSearch:
    """Policies of one player, the searcher, at public states.

    `exploit` may be changed between hands; solutions from an earlier setting are found again when that setting returns.

    Args:
        searcher: the player.
        solve: solves one round.
        opponent_noise: share of the opponent's actions that is random (`poker.game.beliefs.observe_action`).
        remembered: number of cached states of each street. Streets have caches of their own because preflop states
            occur in every hand.
        follow: whether to keep to a solution while it includes the decisions.
        own_noise: like `opponent_noise` for the searcher, who need not have played as solved.
        both_sides: number of first streets on which the opponent's range follows solves with them as the searcher.
        exploit: the part of the opponent's range that plays by a model.
        start: belief at the start of a hand; None for the rules' own.
    """

    def __init__(
        self,
        rules: Rules,
        searcher: int,
        solve: RoundSolver,
        *,
        opponent_noise: float,
        remembered: int,
        follow: bool = False,
        own_noise: float = 0.0,
        both_sides: int = 0,
        exploit: Exploit = Exploit(),  # noqa: B008 - frozen
        start: Belief | None = None,
    ) -> None:
        """Start with empty caches."""
        self._rules = rules
        self._start = start or Belief.start(rules)
        self._searcher = searcher
        self._solve_round = solve
        self._noise = own_noise, opponent_noise
        self._follow = follow
        self._both_sides = both_sides
        self.exploit = exploit
        self._beliefs = [LRUCache[_Place, Belief](remembered) for _ in range(rules.num_streets)]
        self._before: LRUCache[_Place, RoundSolution] | None = None
        self._rows: LRUCache[tuple[_Place, int], Singles] = LRUCache(remembered)
        self._remembered = remembered

    def policy(self, betting: Betting, board: Board) -> NodePolicy:
        """Return the searcher's policy at a state.

        Args:
            betting: state where the searcher acts.
            board: cards of the board, canonical.

        Returns:
            the actions, and probabilities [H, A] for every hand.
        """
        return alone(self.searched_policy(betting, board), self._solve_round)

    def searched_policy(self, betting: Betting, board: Board) -> Search[NodePolicy]:
        """Return `policy` as a search that yields its requests."""
        policy = (yield from self._answer(betting, board)).known()
        assert policy is not None
        return policy

    def row(self, betting: Betting, board: Board, hand: int) -> Singles | None:
        """Return the policy for a hand that the searcher is not expected to have.

        Args:
            betting: state where the searcher acts.

        Returns:
            float32 [A] from a solve in which the searcher may have the hand; None if `policy` includes the hand.
        """
        return alone(self._row(betting, board, hand), self._solve_round)

    def _row(self, betting: Betting, board: Board, hand: int) -> Search[Singles | None]:
        belief = yield from self._answer(betting, board)
        policy = belief.known()
        assert policy is not None
        player = self._searcher_at(betting)
        if belief.expected(player)[hand]:
            return None
        key = self._place(betting, board), hand
        row = self._rows.get(key)
        if row is None:
            ranges = self._with_hand(belief.ranges, player, hand)
            raises = tuple(action for action in policy.actions if action > 0)
            solution = yield from self._solve(replace(belief, ranges=ranges), board, raises)
            root = solution.policies[()]
            row = on_actions((root.actions, root.probs[hand][None]), policy.actions)[0]
            self._rows.put(key, row)
        return row

    def decision(self, betting: Betting, board: Board) -> Belief:
        """Return the belief at a decision of the searcher, with a solution that includes the decision.

        Args:
            betting: state where the searcher acts.
            board: cards of the board, canonical.
        """
        return alone(self._answer(betting, board), self._solve_round)

    def belief(self, betting: Betting, board: Board) -> Belief:
        """Compute both ranges at a state from the public history.

        Args:
            board: cards of the board, canonical.

        Returns:
            the belief, with ranges [2, H].
        """
        return alone(self._observe(betting, board), self._solve_round)

    def solution(self, betting: Betting, board: Board, raises: tuple[int, ...] = ()) -> RoundSolution:
        """Return a solution that includes the decision of either player at `betting`.

        The solution does not depend on the action taken there. Call `keep_solutions` first.

        Args:
            betting: state of the decision.
            raises: raises that the decision must include.
        """
        return alone(self._solution(betting, board, raises), self._solve_round)

    def explained(self, end: Betting, board: Board) -> tuple[Explained, ...]:
        """Return the opponent's actions in a finished hand with their probabilities under the model and the solutions.

        Actions that no solution includes are left out. The result is empty if an action was out of turn.

        Args:
            end: betting at the end of the hand.
        """
        turns = list(end.turns())
        if not all(actor == past.to_act and past.legal().allows(action) for past, actor, action in turns):
            return ()
        last, player, action = turns[-1]
        belief = self.belief(last, self._visible(last, board))
        theirs, modelled = belief.theirs, belief.modelled
        policy = (theirs and theirs.at(last)) or belief.known()
        if player != self._searcher and modelled is not None and policy is not None and action in policy.actions:
            _, modelled = self._observe_modelled(belief, action, board, policy)
        return modelled.explained if modelled is not None else ()

    def remember(self, states: int) -> None:
        """Cache at least `states` states of each street."""
        for beliefs in self._beliefs:
            beliefs.hold(states)

    def _solution(self, betting: Betting, board: Board, raises: tuple[int, ...] = ()) -> Search[RoundSolution]:
        reached = self._answer if betting.to_act == self._searcher_at(betting) else self._observe
        belief = yield from reached(betting, board)
        if belief.solution is not None and belief.known():
            return belief.solution
        return (yield from self._solve_at_opponent(belief, board))

    def keep_solutions(self, *, forget: bool) -> None:
        """Cache solutions of the opponent's decisions too from now on.

        Args:
            forget: whether to discard everything solved before.
        """
        self._before = LRUCache(self._remembered)
        if forget:
            self._beliefs = [LRUCache[_Place, Belief](self._remembered) for _ in self._beliefs]

    def _solve_at_opponent(self, belief: Belief, board: Board) -> Search[RoundSolution]:
        """Return a solution from the opponent's decision at `belief`, with the bets of the menu."""
        assert self._before is not None
        key = self._place(belief.betting, board)
        solution = self._before.get(key)
        if solution is None:
            solution = yield from self._solve(belief, board, ())
            self._before.put(key, solution)
        return solution

    def _solve_with(self, belief: Belief, action: int, board: Board) -> Search[RoundSolution]:
        """Return a solution from the opponent's decision at `belief`, with `action` among the bets."""
        if self._before is not None and belief.known() is None:
            solution = yield from self._solve_at_opponent(belief, board)
            if action in solution.policies[()].actions:  # the same tree
                return solution
        return (yield from self._solve(belief, board, (action,) if action > 0 else ()))

    def _observe(self, betting: Betting, board: Board) -> Search[Belief]:
        states = [*(before for before, _, _ in betting.turns(self._start.betting)), betting]
        last = next(i for i in reversed(range(len(states))) if i == 0 or self._recall(states[i], board) is not None)
        start = replace(self._start, modelled=self.exploit.start(self._rules))
        belief = self._recall(states[last], board) or start
        for action in betting.line[len(self._start.betting.line) + last :]:
            belief = yield from self._step(belief, action, board)
            self._store(belief, board)
        return belief

    def _answer(self, betting: Betting, board: Board) -> Search[Belief]:
        """Return the belief at a decision of the searcher, with a solution that includes the decision."""
        belief = yield from self._observe(betting, board)
        if not belief.answered:
            solution = yield from self._solve(belief, board, ())
            belief = replace(belief, solution=solution, answered=True)
            self._store(belief, board)
        return belief

    def _step(self, belief: Belief, action: int, board: Board) -> Search[Belief]:
        state = belief.betting
        player = state.to_act
        if player == self._searcher:
            belief = yield from self._answer(state, self._visible(state, board))
        policy = belief.known()
        inserted = policy is None or action not in policy.actions
        if inserted:
            solution = yield from self._solve_with(belief, action, board)
            belief = replace(belief, solution=solution)
            policy = belief.known()
        assert policy is not None
        assert belief.solution is not None
        theirs = yield from self._theirs(belief, action, board)
        probs, modelled, num_actions = policy.probability(action), belief.modelled, len(policy.actions)
        if player != self._searcher:
            by_them = policy if theirs is None else theirs.at(state)
            assert by_them is not None
            probs, modelled = self._observe_modelled(belief, action, board, by_them)
            num_actions = len(by_them.actions)
        after = self._after(belief, action, probs, self._noise[player != self._searcher], num_actions, board)
        dealt = after.betting.street != state.street
        return replace(
            after,
            solution=None if dealt else belief.solution,
            answered=not dealt and (inserted or self._follow),
            alternatives=belief.solution.alternatives(after.betting, self._visible(after.betting, board)),
            modelled=modelled,
            theirs=None if dealt else theirs,
        )

    def _after(
        self, belief: Belief, action: int, probs: Singles, noise: float, num_actions: int, board: Board
    ) -> Belief:
        """Return the ranges after one of `num_actions`, which each hand takes with `probs` [H], without solutions."""
        state, player = belief.betting, belief.betting.to_act
        ranges = observe_action(belief.ranges, player, probs, noise, num_actions)
        reach = observe_action(belief.reach, player, probs, 0.0, num_actions)
        likelihoods = *belief.likelihoods, (player, likelihood(belief.ranges[player], probs))
        following = state.apply(action)
        if following.street != state.street:
            cards = self._visible(following, board)
            ranges, reach = observe_board(ranges, cards), observe_board(reach, cards)
        return Belief(following, ranges, None, answered=False, reach=reach, likelihoods=likelihoods)

    def _theirs(self, belief: Belief, action: int, board: Board) -> Search[RoundSolution | None]:
        """Return a solution that includes `action` with the other player as searcher; None if one serves both."""
        state, theirs = belief.betting, belief.theirs
        if state.street >= self._both_sides:
            return None
        policy = None if theirs is None else theirs.at(state)
        if policy is None or action not in policy.actions:
            at_root = (action,) if action > 0 else ()
            cards, opponent = self._visible(state, board), 1 - self._searcher_at(state)
            theirs = yield Request(state, cards, belief.ranges, opponent, at_root, for_other=True)
        return theirs

    def _observe_modelled(
        self, belief: Belief, action: int, board: Board, policy: NodePolicy
    ) -> tuple[Singles, Modelled | None]:
        """Return the probability [H] of `action` by the opponent's hand, and the modelled part after it."""
        probs, state = policy.probability(action), belief.betting
        if belief.modelled is None:
            return probs, None
        weights, cards = belief.ranges[state.to_act], self._visible(state, board)
        return belief.modelled.after(state, cards, policy.actions, action, probs, self._noise[1], weights)

    def _solve(self, belief: Belief, board: Board, at_root: tuple[int, ...]) -> Search[RoundSolution]:
        state, modelled = belief.betting, belief.modelled
        counting = modelled if modelled is not None and modelled.counts else None
        cards, alternatives = self._visible(state, board), belief.alternatives
        return (yield Request(state, cards, belief.ranges, self._searcher_at(state), at_root, alternatives, counting))

    def _with_hand(self, ranges: Ranges, player: int, hand: int) -> Ranges:
        """Return ranges in which no solve leaves out a player's hand."""
        return with_hand(ranges, player, hand)

    def _searcher_at(self, state: Betting) -> int:
        """Return the searcher of a solve from `state`."""
        return self._searcher

    def _visible(self, state: Betting, board: Board) -> Board:
        return board[: self._rules.board_sizes[state.street]]

    def _recall(self, state: Betting, board: Board) -> Belief | None:
        return self._beliefs[state.street].get(self._place(state, board))

    def _store(self, belief: Belief, board: Board) -> None:
        self._beliefs[belief.betting.street].put(self._place(belief.betting, board), belief)

    def _place(self, state: Betting, board: Board) -> "_Place":
        return self.exploit, state.text(), self._visible(state, board)


_Place = tuple[Exploit, str, Board]
"""Key of the caches: model, betting history, board."""
