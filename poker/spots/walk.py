"""Walks through a solved spot: ranges, strategy and the value of each hand at a public state.

The solver computes values only on the street of its root. Where a card is dealt, the rest of the game becomes a game of
its own, with the ranges that arrive there and the solution's strategies. So every street is evaluated in the same way.
EV is as in `evaluate=spot`: chips won from the pot and from later bets minus the player's own later bets, counted from
the root of the spot.

Symbols: H hands, A actions; arrays [2, H] are of OOP and IP.
"""

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import cached_property, lru_cache

import numpy as np

from poker.game.betting import Betting
from poker.game.cards import RARE, cards_text, hand_text, parse_cards, without_rare
from poker.game.rules import CALL
from poker.kernels.types import Board, Columns, Floats, Reals, Singles
from poker.run.errors import PokernetsError
from poker.solvers.vector.boards import deck_of
from poker.solvers.vector.game import VectorGame
from poker.solvers.vector.layout import NO_RAKE
from poker.solvers.vector.response_values import ResponseValues
from poker.solvers.vector.solver import VectorSolver
from poker.spots.solution import action_name, find_child
from poker.spots.spots import Spot
from poker.tree import Kind, build_tree
from poker.tree.spots import spot_tree

_KEPT_STREETS = 16


@dataclass(frozen=True)
class NextCard:
    """A next card with both players' mean values.

    Attributes:
        ev: mean EV of OOP and IP in chips; NaN where a player has no hand with this card.
        equity: mean equity of OOP and IP as shares of the pot; NaN likewise.
    """

    card: int
    ev: tuple[float, float]
    equity: tuple[float, float]


@dataclass(frozen=True)
class View:
    """A public state of a solved spot.

    Attributes:
        words: actions and cards that lead here.
        pot: chips in the pot.
        behind: chips that a player has left.
        player: the player to act; None if a card is dealt next or the hand is over.
        actions: names of the actions.
        shares: [A] bets and raises as shares of the pot after calling; NaN for other actions.
        ranges: [2, H] probabilities with which hands reach this state.
        weights: [2, H] `ranges` times the total weight of the opponent's hands without a common card.
        ev: [2, H] EV in chips; NaN for hands that do not reach this state.
        strategy: [H, A] probabilities of the actions.
        action_ev: [H, A] EV of each action in chips; NaN for hands that do not reach this state.
        deals: the next cards, if a card is dealt next.
        checked_down: computes equities; None if the hand is over.
    """

    words: tuple[str, ...]
    board: Board
    pot: int
    behind: int
    player: int | None
    actions: tuple[str, ...]
    shares: Floats
    ranges: Floats
    weights: Floats
    ev: Singles
    strategy: Singles
    action_ev: Singles
    deals: tuple[NextCard, ...]
    checked_down: "_CheckedDown | None" = field(repr=False)

    @property
    def equity(self) -> Singles:
        """[2, H] shares of the pot if nobody bets any more; computed at first use."""
        return np.full_like(self.ev, np.nan) if self.checked_down is None else self.checked_down.equity

    @property
    def totals(self) -> dict[str, dict[str, float | None]]:
        """Totals (see `totals`) of each action of the player to act."""
        if self.player is None:
            return {}
        return dict(zip(self.actions, totals(self.weights[self.player], self.strategy, self.action_ev), strict=True))

    def mean(self, values: Singles, player: int) -> float:
        """Return the mean of values [H] over the player's hands; NaN if no hand reaches this state."""
        return weighted_mean(values, self.weights[player])

    def listed(self, player: int) -> Floats:
        """Return the player's `weights` [H], with 0 for hands too rare to be shown (`poker.game.cards.RARE`)."""
        weights: Floats = np.where(without_rare(self.ranges[player]) > 0, self.weights[player], 0.0)
        return weights

    def hands(self, player: int) -> Columns:
        """Return a table with a row for each hand with which the player reaches this state, without rare hands.

        Args:
            player: 0 for OOP, 1 for IP.

        Returns:
            columns `hand`, `weight`, `ev` in chips and `equity` as a share; for the player to act also each action's
            probability and, as `ACTION ev`, its value in chips.
        """
        here = np.flatnonzero(self.listed(player))
        columns = {
            "hand": np.array([hand_text(hand) for hand in here.tolist()]),
            "weight": self.ranges[player, here],
            "ev": self.ev[player, here],
            "equity": self.equity[player, here],
        }
        for place, action in enumerate(self.actions if player == self.player else ()):
            columns |= {action: self.strategy[here, place], f"{action} ev": self.action_ev[here, place]}
        return columns


class Walk:
    """Views of a solution by words, as in `Solution.node`; words may deal cards and lead to any street.

    Args:
        solver: its solver, after the solve.
    """

    def __init__(self, spot: Spot, solver: VectorSolver) -> None:
        """Set up the first street."""
        self._root = _Street(spot, solver, spot.root, solver.game.board)
        self._dealt = lru_cache(maxsize=_KEPT_STREETS)(_Street.dealt)

    def view(self, words: Sequence[str]) -> View:
        """Return the view after a sequence of words.

        Raises:
            PokernetsError: a word is not possible; the message names the first.
        """
        street, node = self._root, 0
        for word in words:
            if street.tree.kind[node] == Kind.STREET and not street.is_all_in(node):
                street, node = self._dealt(street, node, word), 0
                continue
            node = street.child(node, word, " ".join(words))
        return street.view(tuple(words), node)


class _Street:
    """One street on one board: the solution of the game that begins with it."""

    def __init__(self, spot: Spot, solver: VectorSolver, betting: Betting, board: Board) -> None:
        self.spot, self.solver, self.game, self.tree = spot, solver, solver.game, solver.game.tree
        self.betting, self.board = betting, board

    @cached_property
    def values(self) -> tuple[ResponseValues, ResponseValues]:
        return self.solver.average_values(0), self.solver.average_values(1)

    def child(self, node: int, word: str, words: str) -> int:
        """Return the node after `word`; `words` is the whole sequence, for the error message."""
        if self.is_all_in(node):
            raise PokernetsError(f"`{word}` in `{words}`: the hand is over, nothing is possible")
        return find_child(self.tree, node, word, words)

    def is_all_in(self, node: int) -> bool:
        """Return whether nobody can act any more, whatever cards come."""
        return self.tree.kind[node] == Kind.STREET and self.tree.betting(node, self.betting).is_showdown

    def view(self, words: tuple[str, ...], node: int) -> View:
        tree, space, ranges = self.tree, self.game.rules.space, arriving(self.solver, node)
        weights = np.stack([ranges[p] * space.compatible_mass(ranges[1 - p]) for p in range(2)])
        acts = tree.kind[node] == Kind.DECISION
        player = int(tree.player[node]) if acts else None
        ev = np.stack([self.values[p].at(node) for p in range(2)])
        ev[weights <= 0] = np.nan
        strategy, action_ev = np.zeros((2, tree.rules.num_hands, 0), np.float32)
        bets, committed = np.array(tree.actions(node), np.float64), tree.committed[node]
        shares = np.where(bets > 0, (bets - committed.max()) / (tree.pot(node) + np.ptp(committed)), np.nan)
        if player is not None:
            strategy = self.solver.strategy(node)
            action_ev = np.stack([self.values[player].at(child) for child in tree.children(node)], axis=1)
            action_ev[weights[player] <= 0] = np.nan
        checked = _CheckedDown(self.board, ranges) if weights.any() else None
        deals: tuple[NextCard, ...] = ()
        if checked is not None and tree.kind[node] == Kind.STREET and not self.is_all_in(node):
            deals = tuple(self._deals(node, ranges, checked))
        return View(
            words=words,
            board=self.board,
            pot=tree.pot(node),
            behind=min(tree.rules.stacks) - int(tree.committed[node].max()),
            player=player,
            actions=tuple(action_name(tree, node, child) for child in tree.children(node)) if acts else (),
            shares=shares,
            ranges=ranges,
            weights=weights,
            ev=ev,
            strategy=strategy,
            action_ev=action_ev,
            deals=deals,
            checked_down=checked,
        )

    def dealt(self, node: int, word: str) -> "_Street":
        """Return the next street on the board with the card that `word` names."""
        cards = parse_cards(word)
        if len(cards) != 1 or cards[0] in self.board:
            raise PokernetsError(f"`{word}` is not a card that can come on `{cards_text(self.board)}`")
        board = self.board + cards
        betting = self.tree.betting(node, self.betting)
        tree = build_tree(betting, self.spot.bets, dead=self.tree.dead)
        ranges = arriving(self.solver, node).astype(np.float32)
        game = VectorGame(tree, board, ranges, rake=self.game.rake, memory_limit=self.game.memory_limit)
        solver = VectorSolver(game, "cfr_plus")
        for below in game.layout.decisions.tolist():
            here = self.tree.after_deal(node)
            for action in tree.path(below):
                here = self.tree.child(here, action)
            for index in game.on(int(tree.street[below])):
                strategy = self.solver.strategy(here, game.boards.cards[index])
                solver.set_average(below, index, strategy[game.hands(int(tree.player[below]), index)])
        return _Street(self.spot, solver, betting, board)

    def _deals(self, node: int, ranges: Floats, checked: "_CheckedDown") -> Iterator[NextCard]:
        rules = self.game.rules
        evs, equities = [_next_boards(self.game, values.starts(node)) for values in self.values], checked.next_boards
        for card in (card for card in range(rules.deck_size) if card not in self.board):
            board = (*self.board, card)
            live = np.where(rules.space.live(board), ranges, 0.0)
            weights = [live[p] * rules.space.compatible_mass(live[1 - p]) for p in range(2)]
            ev, equity = (
                [weighted_mean(on(board), weights[p]) for p, on in enumerate(both)] for both in (evs, equities)
            )
            yield NextCard(card, (ev[0], ev[1]), (equity[0], equity[1]))


class _CheckedDown:
    """Shares of the pot if nobody bets any more."""

    def __init__(self, board: Board, ranges: Floats) -> None:
        self._board, self._ranges = board, ranges

    @cached_property
    def _values(self) -> list[ResponseValues]:
        tree = spot_tree(len(self._board), 2, 1, {})
        game = VectorGame(tree, self._board, self._ranges.astype(np.float32), rake=NO_RAKE)
        solver = VectorSolver(game, "cfr_plus")
        return [solver.average_values(player) for player in range(2)]

    @cached_property
    def equity(self) -> Singles:
        return np.stack([values.at(0) for values in self._values]) / np.float32(2)

    @property
    def next_boards(self) -> list[Callable[[Board], Singles]]:
        """Functions that return the equities [H] of each player on a board of the next street."""
        game = self._values[0].game
        closed = int(game.tree.first_child[game.tree.find((CALL,))])
        return [_next_boards(game, values.starts(closed) / np.float32(2)) for values in self._values]


def _next_boards(game: VectorGame, starts: Singles) -> Callable[[Board], Singles]:
    """Return a function that looks up a board in `starts` [boards of the next street, H] and restores its suits."""
    street = game.layout.first_street + 1

    def on(board: Board) -> Singles:
        index, permutation = game.find_board(street, board)
        return np.asarray(starts[index - game.on(street).start][deck_of(game.rules).hand_map[permutation]])

    return on


def totals(weights: Floats, strategy: Reals, values: Reals) -> list[dict[str, float | None]]:
    """Summarise each action over all hands.

    Args:
        weights: [H] weights of the player's hands.
        strategy: [H, A] probabilities of the actions.
        values: [H, A] values of the actions in chips; NaN where unknown.

    Returns:
        for each action `frequency`, the mean value `ev` over the hands that take it, and `ev_all`, the mean over all
        hands, which compares actions. Unknown values are None, and so is the `ev` of actions that are hardly taken
        (`poker.game.cards.RARE`).
    """
    rows: list[dict[str, float | None]] = []
    for taken, worth in zip(strategy.T, values.T, strict=True):
        frequency = float(weights @ taken / weights.sum()) if weights.any() else math.nan
        ev = weighted_mean(worth, weights * taken) if frequency >= RARE else math.nan
        evs = {"ev": ev, "ev_all": weighted_mean(worth, weights)}
        rows.append({"frequency": frequency, **{name: None if math.isnan(ev) else ev for name, ev in evs.items()}})
    return rows


def weighted_mean(values: Reals, weights: Floats) -> float:
    """Return the mean over hands with a weight and a value; NaN if there is none.

    Args:
        values: [H] values; NaN where unknown.
        weights: [H] weights.
    """
    both = (weights > 0) & ~np.isnan(values)
    return float(weights[both] @ values[both] / weights[both].sum()) if both.any() else math.nan


def arriving(solver: VectorSolver, node: int) -> Floats:
    """Return the ranges with which both players arrive at a node of the first street.

    Args:
        node: a node of its first street.

    Returns:
        float64 [2, H] probabilities.
    """
    tree, ranges = solver.game.tree, solver.game.ranges.astype(np.float64)
    while (parent := int(tree.parent[node])) >= 0:
        if tree.kind[parent] == Kind.DECISION:
            ranges[tree.player[parent]] *= solver.strategy(parent)[:, node - int(tree.first_child[parent])]
        node = parent
    return ranges
