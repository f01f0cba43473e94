"""Solutions of decisions: the flop for each of the two players, and every turn and river to the end of the hand.

The set's solver has no half blinds. Its pot and stack are the line's, rounded down, and its bets are whole big blinds.
So a chip is one big blind here. In the solve of a flop a chip is half a big blind: leaf values assume that both players
have put in the same, so each has put in as many chips as the pot has big blinds.
"""

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Any

import numpy as np

from poker.depth_limit.evaluator import LeafEvaluator
from poker.formats.pokerbench import PublicDecision, amount_of, is_card
from poker.formats.ranges import range_text
from poker.game.betting import Betting
from poker.game.cards import HOLDEM, RARE, cards_text, parse_cards
from poker.game.rules import CALL, Rules
from poker.kernels.types import Board, Floats, Ranges
from poker.solve import batches
from poker.solve.flops import SampledFlops
from poker.solve.solver import DepthLimitedSolver
from poker.solve.types import Budget, Request, SolverSettings
from poker.solvers.vector.solver import VectorSolver
from poker.spots.report import prepare
from poker.spots.solution import action_name
from poker.spots.spots import Spot
from poker.spots.walk import arriving
from poker.tree import BetMenu, BettingTree, DepthLimit, Kind, build_tree
from poker.tree.spots import spot_bets, spot_root, spot_rules

FLOP = 1
_HALVES = 2
"""Number of chips per big blind in the solve of a flop."""
_MIN_REACH = 0.01
"""Least probability that a hand reaches a decision of a round, for its average strategy to be used."""


@dataclass(frozen=True)
class Answer:
    """An answer to a decision.

    Attributes:
        probabilities: probability of each option.
        values: value of each option in big blinds, if known.
        reach: probability that the player reaches the decision with the hand, from the flop on.
    """

    probabilities: list[float]
    values: list[float] | None = None
    reach: float = 1.0


class SolvedSpots:
    """Answers of the solver to decisions."""

    def __init__(
        self,
        rules: Rules,
        ranges: Callable[[Betting, Board], Ranges],
        menus: Sequence[Mapping[str, Any]],
        ahead: Mapping[str, Any],
        leaf: LeafEvaluator | None,
        flops: SampledFlops | None,
        budget: Budget,
    ) -> None:
        """Store the settings; spots are solved when they are needed.

        Args:
            ranges: returns the ranges [P, H] of all players at the start of a flop.
            menus: bets as keys of spot files, by number of raises before the flop: first for one, second for more.
            ahead: bets after the flop, used if `leaf` is None.
            leaf: values at the end of flops; None to solve flops to the end of the hand.
            flops: size limits of flops solved to the end; None for all rivers.
            budget: limits of each solve.
        """
        self._rules, self._ranges, self._menus, self._ahead = rules, ranges, menus, spot_bets(ahead)
        self._leaves, self._flops, self._budget = {} if leaf is None else {FLOP: leaf}, flops, budget
        self._flop = lru_cache(maxsize=2)(self._solved_flop)
        self._turn, self._river = (lru_cache(maxsize=1)(self._solved_later) for _ in range(2))

    def answers(self, decisions: Sequence[PublicDecision]) -> list[Answer]:
        """Answer decisions; it is fastest if all have the same line and flop.

        Returns:
            Answers in the order of the decisions.
        """
        order = sorted(range(len(decisions)), key=lambda number: (decisions[number].position, decisions[number].words))
        answered = {number: self._answer(decisions[number]) for number in order}
        return [answered[number] for number in range(len(decisions))]

    def _answer(self, decision: PublicDecision) -> Answer:
        start, since = _last_card(decision.words)
        seat = decision.position if self._leaves else ""  # without leaf values, one solution serves both players
        position = replace(decision, words=(), position=seat, hand=0, options=(), correct=0, verb="", pot=0.0)
        solver, scale = self._round(position, start)
        tree, hand = solver.game.tree, decision.hand
        node = _follow(tree, since, scale)
        actions, player = _amounts(tree, node, scale), int(tree.player[node])
        values, come = solver.action_values(node)[hand] / scale, _come(solver, node, player, hand)
        hardly = come < _MIN_REACH  # such averages come from early iterations
        strategy = (solver.current_strategy if hardly else solver.strategy)(node)[hand]
        worth = [float(values[_next_to(option, actions)]) for option in decision.options]
        while start:
            start, since = _last_card(start[:-1])
            solver, scale = self._round(position, start)
            come *= _come(solver, _follow(solver.game.tree, since, scale), player, hand)
        return Answer(on_options(actions, strategy, decision.options), worth, come)

    def _round(self, position: PublicDecision, words: tuple[str, ...]) -> tuple[VectorSolver, int]:
        """Return the solution of the round that begins after `words`, and the number of chips per big blind in it."""
        if not words:
            return self._flop(position), _HALVES
        return (self._turn if sum(map(is_card, words)) == 1 else self._river)(position, words), 1

    def _solved_flop(self, position: PublicDecision) -> VectorSolver:
        """Solve the flop for the player who acts; the other player chooses continuations at its end."""
        betting, rules = position.before_flop(self._rules), self._rules
        players = [player for player, out in enumerate(betting.folded) if not out]
        board, (pot, stack) = rules.ordered_board(position.flop), self._size(position)
        if not self._leaves:
            self._flop.cache_clear()  # a solution takes gigabytes
        ranges = np.stack([_floored(weights, board) for weights in self._ranges(betting, board)[players]])
        root = Betting.at_street(spot_rules(pot + _HALVES * stack), FLOP, (pot, pot))
        menu = replace(self._ahead, extra=_flop_totals(spot_bets(self._menu(position)), root, pot, stack))
        budget = self._budget
        solver = DepthLimitedSolver(menu, menu, self._leaves, SolverSettings.of(budget), flops=self._flops)
        own = int(position.position == "IP")
        return solver.solved(Request(root, board, ranges / ranges.sum(axis=1, keepdims=True), own), every_hand=True)

    def _solved_later(self, position: PublicDecision, words: tuple[str, ...]) -> VectorSolver:
        """Solve from the round after `words`, whose last word is a card, to the end of the hand.

        The ranges are those with which the earlier solutions arrive.
        """
        start, since = _last_card(words[:-1])
        solver, scale = self._round(position, start)
        tree = solver.game.tree
        node = _follow(tree, since, scale)
        board = (*solver.game.board, *parse_cards(words[-1]))
        texts = [range_text(_floored(weights, board).astype(np.float32)) for weights in arriving(solver, node)]
        behind, (pot, stack) = int(min(tree.rules.stacks) - tree.committed[node].max()) // scale, self._size(position)
        keys = {"board": cards_text(board), "oop_range": texts[0], "ip_range": texts[1], **self._menu(position)}
        solved, _ = prepare(Spot({**keys, "pot": pot + 2 * (stack - behind), "stack": behind}), self._budget)
        batches.run([solved], [self._budget])
        return solved

    def _size(self, position: PublicDecision) -> tuple[int, int]:
        """Return the pot and the stack behind at the start of the flop, in big blinds rounded down."""
        betting, blind = position.before_flop(self._rules), self._rules.big_blind
        return betting.pot // blind, (min(self._rules.stacks) - betting.highest) // blind

    def _menu(self, position: PublicDecision) -> Mapping[str, Any]:
        return self._menus[min(position.raises, len(self._menus)) - 1]


def _come(solver: VectorSolver, node: int, player: int, hand: int) -> float:
    """Return the probability that a player with the hand plays to `node` of a round."""
    return float(arriving(solver, node)[player, hand] / solver.game.ranges[player, hand])


def _flop_totals(menu: BetMenu, root: Betting, pot: int, stack: int) -> dict[str, tuple[int, ...]]:
    """Return the spot's raises on the flop in big blinds as totals of `root`, in the form of `BetMenu.extra`."""
    tree, totals = build_tree(spot_root(3, stack), menu, DepthLimit(FLOP, 1), dead=pot), {}
    for node in np.flatnonzero(tree.kind == Kind.DECISION).tolist():
        betting = root
        for action in tree.path(node):
            betting = betting.apply(pot + _HALVES * action if action > 0 else action)
        totals[betting.text()] = tuple(pot + _HALVES * action for action in tree.actions(node) if action > 0)
    return totals


def _last_card(words: tuple[str, ...]) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Split the words after the last card."""
    begins = max((at + 1 for at, word in enumerate(words) if is_card(word)), default=0)
    return words[:begins], words[begins:]


def _follow(tree: BettingTree, words: Sequence[str], scale: int) -> int:
    """Return the node after `words` of one round, where each bet is replaced by the nearest bet in the tree."""
    node = 0
    for word in words:
        node = tree.children(node)[_next_to(amount_of(word), _amounts(tree, node, scale))]
    return node


def _amounts(tree: BettingTree, node: int, scale: int) -> list[float]:
    """Return the actions at a node in the units of a decision."""
    amounts = [amount_of(action_name(tree, node, child)) for child in tree.children(node)]
    return [amount / scale if amount > 0 else amount for amount in amounts]


def _floored(weights: Floats, board: Board) -> Floats:
    """Return a range without zeros: each live hand has at least `RARE` / 1000 of the largest weight."""
    live = HOLDEM.live(board)
    weights = weights * live
    largest = weights.max()
    return np.maximum(weights / largest, 1e-3 * RARE) * live if largest > 0 else live.astype(np.float64)


def _next_to(amount: float, actions: Sequence[float]) -> int:
    """Return the index of the nearest action of the same kind; raises are compared by ratio."""

    def distance(action: float) -> tuple[bool, float]:
        if amount <= 0 or action <= 0:
            return (amount > 0) != (action > 0), abs(amount - action)
        ratio = 0.0 if amount == action else abs(math.log(min(amount, 1e9) / min(action, 1e9)))
        return False, ratio

    return min(range(len(actions)), key=lambda place: distance(actions[place]))


def on_options(actions: Sequence[float], strategy: Iterable[float], options: Sequence[float]) -> list[float]:
    """Map probabilities of actions to a decision's options.

    A raise goes to the nearest raise, or to the call if the options have no raise. Folds and calls that are not among
    the options are dropped.

    Args:
        actions: A actions.
        strategy: [A] probabilities.
        options: O options.

    Returns:
        [O] probabilities, with sum 1.
    """
    shares = np.zeros(len(options))
    for action, share in zip(actions, strategy, strict=True):
        meant = CALL if action > 0 and max(options) <= 0 else action
        if meant > 0 or meant in options:
            shares[_next_to(meant, options)] += share
    total = shares.sum()
    return (shares / total if total > 0 else np.full(len(options), 1 / len(options))).tolist()
