"""Solves the spots of decisions: the flop to its end for each of the two players, every turn to the end of the hand.

The set's solver knows no half blinds: its pot and stack are those of the line rounded down, bets are rounded to whole
big blinds. So one chip is a big blind here. A flop is solved in halves of one, of which both players have put in as
many as the pot has big blinds, since leaf values are of players who have put in the same.
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
from poker.search.round_solver import DepthLimitedSolver, Request, SolverSettings
from poker.solvers.vector.solver import VectorSolver
from poker.spots.report import Settings, prepare
from poker.spots.solution import action_name
from poker.spots.spots import Spot
from poker.spots.walk import arriving
from poker.tree import BetMenu, BettingTree, DepthLimit, Kind, build_tree
from poker.tree.spots import spot_bets, spot_root, spot_rules

FLOP = 1
_HALVES = 2
"""Chips of a big blind in the solve of a flop."""
_HARDLY = 0.01
"""How often a hand comes to a decision of a round at least, where it plays by the average strategy."""


@dataclass(frozen=True)
class Answer:
    """An answer to a decision: `probabilities` of its options, what these are worth in big blinds, if known, and how
    often one plays the hand so that the decision is reached, from the flop on."""

    probabilities: list[float]
    values: list[float] | None = None
    reach: float = 1.0


class SolvedSpots:
    """Answers of the solver. `ranges` are those of all players [P, H] at the start of a flop; `leaf` values the ends of
    flops, None solves them to the end with the bets `ahead`. `menus` are keys of spot files, by raises before the flop:
    the first for one, the second for more."""

    def __init__(
        self,
        rules: Rules,
        ranges: Callable[[Betting, Board], Ranges],
        menus: Sequence[Mapping[str, Any]],
        ahead: Mapping[str, Any],
        leaf: LeafEvaluator | None,
        settings: Settings,
    ) -> None:
        self._rules, self._ranges, self._menus, self._ahead = rules, ranges, menus, spot_bets(ahead)
        self._leaves, self._settings = {} if leaf is None else {FLOP: leaf}, settings
        self._flop = lru_cache(maxsize=2)(self._solved_flop)
        self._turn, self._river = (lru_cache(maxsize=1)(self._solved_later) for _ in range(2))

    def answers(self, decisions: Sequence[PublicDecision]) -> list[Answer]:
        """Answers in the order of `decisions`; quickest where all have one line and flop."""
        order = sorted(range(len(decisions)), key=lambda number: (decisions[number].position, decisions[number].words))
        answered = {number: self._answer(decisions[number]) for number in order}
        return [answered[number] for number in range(len(decisions))]

    def _answer(self, decision: PublicDecision) -> Answer:
        start, since = _last_card(decision.words)
        seat = decision.position if self._leaves else ""  # else one solution is that of both
        position = replace(decision, words=(), position=seat, hand=0, options=(), correct=0, verb="", pot=0.0)
        solver, scale = self._round(position, start)
        tree, hand = solver.game.tree, decision.hand
        node = _follow(tree, since, scale)
        actions, player = _amounts(tree, node, scale), int(tree.player[node])
        values, come = solver.action_values(node)[hand] / scale, _come(solver, node, player, hand)
        hardly = come < _HARDLY  # the average is of early iterations then
        strategy = (solver.current_strategy if hardly else solver.strategy)(node)[hand]
        worth = [float(values[_next_to(option, actions)]) for option in decision.options]
        while start:
            start, since = _last_card(start[:-1])
            solver, scale = self._round(position, start)
            come *= _come(solver, _follow(solver.game.tree, since, scale), player, hand)
        return Answer(on_options(actions, strategy, decision.options), worth, come)

    def _round(self, position: PublicDecision, words: tuple[str, ...]) -> tuple[VectorSolver, int]:
        """The round that begins after `words`, solved, and the chips of a big blind in it."""
        if not words:
            return self._flop(position), _HALVES
        return (self._turn if sum(map(is_card, words)) == 1 else self._river)(position, words), 1

    def _solved_flop(self, position: PublicDecision) -> VectorSolver:
        """The flop, solved for the player who acts: the other one chooses continuations at its end."""
        betting, rules = position.before_flop(self._rules), self._rules
        players = [player for player, out in enumerate(betting.folded) if not out]
        board, (pot, stack) = rules.ordered_board(position.flop), self._size(position)
        if not self._leaves:
            self._flop.cache_clear()  # one takes gigabytes
        ranges = np.stack([_floored(weights, board) for weights in self._ranges(betting, board)[players]])
        root = Betting.at_street(spot_rules(pot + _HALVES * stack), FLOP, (pot, pot))
        menu = replace(self._ahead, extra=_flop_totals(spot_bets(self._menu(position)), root, pot, stack))
        settings = self._settings
        solver = DepthLimitedSolver(
            menu,
            menu,
            self._leaves,
            SolverSettings(settings.algorithm, (settings.iterations,), settings.threads, settings.exploitability),
        )
        own = int(position.position == "IP")
        return solver.solved(Request(root, board, ranges / ranges.sum(axis=1, keepdims=True), own), every_hand=True)

    def _solved_later(self, position: PublicDecision, words: tuple[str, ...]) -> VectorSolver:
        """The round after `words`, a card last, to the end of the hand, with the ranges that solutions before leave."""
        start, since = _last_card(words[:-1])
        solver, scale = self._round(position, start)
        tree = solver.game.tree
        node = _follow(tree, since, scale)
        board = (*solver.game.board, *parse_cards(words[-1]))
        texts = [range_text(_floored(weights, board).astype(np.float32)) for weights in arriving(solver, node)]
        behind, (pot, stack) = int(min(tree.rules.stacks) - tree.committed[node].max()) // scale, self._size(position)
        keys = {"board": cards_text(board), "oop_range": texts[0], "ip_range": texts[1], **self._menu(position)}
        solved, _ = prepare(Spot({**keys, "pot": pot + 2 * (stack - behind), "stack": behind}), self._settings)
        solved.run(self._settings.iterations, self._settings.exploitability)
        return solved

    def _size(self, position: PublicDecision) -> tuple[int, int]:
        """Whole big blinds in the pot and behind at the start of the flop, rounded down."""
        betting, blind = position.before_flop(self._rules), self._rules.big_blind
        return betting.pot // blind, (min(self._rules.stacks) - betting.highest) // blind

    def _menu(self, position: PublicDecision) -> Mapping[str, Any]:
        return self._menus[min(position.raises, len(self._menus)) - 1]


def _come(solver: VectorSolver, node: int, player: int, hand: int) -> float:
    """How often a player with the hand plays to `node` of a round."""
    return float(arriving(solver, node)[player, hand] / solver.game.ranges[player, hand])


def _flop_totals(menu: BetMenu, root: Betting, pot: int, stack: int) -> dict[str, tuple[int, ...]]:
    """Raises of the flop's decisions as `BetMenu.extra`: those of the spot in big blinds, as totals of `root`."""
    tree, totals = build_tree(spot_root(3, stack), menu, DepthLimit(FLOP, 1), dead=pot), {}
    for node in np.flatnonzero(tree.kind == Kind.DECISION).tolist():
        betting = root
        for action in tree.path(node):
            betting = betting.apply(pot + _HALVES * action if action > 0 else action)
        totals[betting.text()] = tuple(pot + _HALVES * action for action in tree.actions(node) if action > 0)
    return totals


def _last_card(words: tuple[str, ...]) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """The `words` up to the last card, and those after it."""
    begins = max((at + 1 for at, word in enumerate(words) if is_card(word)), default=0)
    return words[:begins], words[begins:]


def _follow(tree: BettingTree, words: Sequence[str], scale: int) -> int:
    """The node after `words` of one round, of the bets that the tree has the next; a big blind has `scale` chips."""
    node = 0
    for word in words:
        node = tree.children(node)[_next_to(amount_of(word), _amounts(tree, node, scale))]
    return node


def _amounts(tree: BettingTree, node: int, scale: int) -> list[float]:
    """The actions at a node as a decision has them."""
    amounts = [amount_of(action_name(tree, node, child)) for child in tree.children(node)]
    return [amount / scale if amount > 0 else amount for amount in amounts]


def _floored(weights: Floats, board: Board) -> Floats:
    """A range that rules no hand out: each has a thousandth of `RARE` of the likeliest one's weight."""
    live = HOLDEM.live(board)
    weights = weights * live
    largest = weights.max()
    return np.maximum(weights / largest, 1e-3 * RARE) * live if largest > 0 else live.astype(np.float64)


def _next_to(amount: float, actions: Sequence[float]) -> int:
    """The place of the action next to `amount`: of its kind, and of raises that which is nearest as a ratio."""

    def distance(action: float) -> tuple[bool, float]:
        if amount <= 0 or action <= 0:
            return (amount > 0) != (action > 0), abs(amount - action)
        ratio = 0.0 if amount == action else abs(math.log(min(amount, 1e9) / min(action, 1e9)))
        return False, ratio

    return min(range(len(actions)), key=lambda place: distance(actions[place]))


def on_options(actions: Sequence[float], strategy: Iterable[float], options: Sequence[float]) -> list[float]:
    """Probabilities [A] of `actions` as those of `options`: a raise as the next one, or as a call where there is none;
    folds and calls that are no options have no share."""
    shares = np.zeros(len(options))
    for action, share in zip(actions, strategy, strict=True):
        meant = CALL if action > 0 and max(options) <= 0 else action
        if meant > 0 or meant in options:
            shares[_next_to(meant, options)] += share
    total = shares.sum()
    probabilities: list[float] = (shares / total if total > 0 else np.full(len(options), 1 / len(options))).tolist()
    return probabilities
