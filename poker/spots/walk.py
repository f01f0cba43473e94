"""Walks through a solved spot: ranges, strategy and the value of each hand at a public state.

The solver gives values on the street of its root alone. Where a card is dealt, the rest of the game is taken out of the
solution as a game of its own, with the ranges that arrive there and the strategies that were found, so that every
street is read in one way. EV is as in `evaluate=spot`: chips won from the pot and later bets minus own later bets,
counted from the root of the spot.

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
    """Next card, with mean EV and equity of both players; NaN where one of them has no hand with it."""

    card: int
    ev: tuple[float, float]
    equity: tuple[float, float]


@dataclass(frozen=True)
class View:
    """A public state. Nobody acts where `player` is None: a card comes (`deals`), or the hand is over.

    `ranges` are the weights with which hands come here, `weights` those times the weight of the opponent's hands that
    they leave possible. `ev` [2, H] and `action_ev` [H, A] are NaN for hands that do not come here.
    """

    words: tuple[str, ...]
    board: Board
    pot: int
    behind: int
    player: int | None
    actions: tuple[str, ...]
    ranges: Floats
    weights: Floats
    ev: Singles
    strategy: Singles
    action_ev: Singles
    deals: tuple[NextCard, ...]
    checked_down: "_CheckedDown | None" = field(repr=False)

    @property
    def equity(self) -> Singles:
        """[2, H] shares of the pot when nobody bets any more, worked out when first asked for."""
        return np.full_like(self.ev, np.nan) if self.checked_down is None else self.checked_down.equity

    @property
    def totals(self) -> dict[str, dict[str, float | None]]:
        """The `totals` of each action of the player who acts."""
        if self.player is None:
            return {}
        return dict(zip(self.actions, totals(self.weights[self.player], self.strategy, self.action_ev), strict=True))

    def mean(self, values: Singles, player: int) -> float:
        """Mean of values [H] of the player's hands; NaN where none comes here."""
        return weighted_mean(values, self.weights[player])

    def listed(self, player: int) -> Floats:
        """[H] `weights` of the player's hands, 0 for those too rare to be shown (`poker.game.cards.RARE`)."""
        weights: Floats = np.where(without_rare(self.ranges[player]) > 0, self.weights[player], 0.0)
        return weights

    def hands(self, player: int) -> Columns:
        """A row for each `hand` with which the player comes here: its `weight`, `ev` in chips, `equity` as a share, and
        for the player who acts each action's probability and, as `ACTION ev`, its value. Rare hands are left out."""
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
    """Views of the solution that `solver` holds of `spot`, by words as `Solution.node` takes them, streets included."""

    def __init__(self, spot: Spot, solver: VectorSolver) -> None:
        self._root = _Street(spot, solver, spot.root, solver.game.board)
        self._dealt = lru_cache(maxsize=_KEPT_STREETS)(_Street.dealt)

    def view(self, words: Sequence[str]) -> View:
        """The view after `words`; PokernetsError names the first word that is not possible."""
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
        """The node that `word` leads to from one at which the street's cards are dealt."""
        if self.is_all_in(node):
            raise PokernetsError(f"`{word}` in `{words}`: possible are nothing, the hand is over")
        return find_child(self.tree, node, word, words)

    def is_all_in(self, node: int) -> bool:
        """Whether nobody acts any more, whatever cards come."""
        return self.tree.kind[node] == Kind.STREET and self.tree.betting(node, self.betting).is_showdown

    def view(self, words: tuple[str, ...], node: int) -> View:
        tree, space, ranges = self.tree, self.game.rules.space, arriving(self.solver, node)
        weights = np.stack([ranges[p] * space.compatible_mass(ranges[1 - p]) for p in range(2)])
        acts = tree.kind[node] == Kind.DECISION
        player = int(tree.player[node]) if acts else None
        ev = np.stack([self.values[p].at(node) for p in range(2)])
        ev[weights <= 0] = np.nan
        strategy, action_ev = np.zeros((2, tree.rules.num_hands, 0), np.float32)
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
            ranges=ranges,
            weights=weights,
            ev=ev,
            strategy=strategy,
            action_ev=action_ev,
            deals=deals,
            checked_down=checked,
        )

    def dealt(self, node: int, word: str) -> "_Street":
        """The next street on the board with the card that `word` names."""
        cards = parse_cards(word)
        if len(cards) != 1 or cards[0] in self.board:
            raise PokernetsError(f"`{word}` is not one card that can come on `{cards_text(self.board)}`")
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
    """Shares of the pot when nobody bets any more."""

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
        """Equities [H] of each player, by the board of the next street."""
        game = self._values[0].game
        closed = int(game.tree.first_child[game.tree.find((CALL,))])
        return [_next_boards(game, values.starts(closed) / np.float32(2)) for values in self._values]


def _next_boards(game: VectorGame, starts: Singles) -> Callable[[Board], Singles]:
    """Values `starts` [boards of the next street, H] for a board in the names of suits that it really has."""
    street = game.layout.first_street + 1

    def on(board: Board) -> Singles:
        index, permutation = game.find_board(street, board)
        return np.asarray(starts[index - game.on(street).start][deck_of(game.rules).hand_map[permutation]])

    return on


def totals(weights: Floats, strategy: Reals, values: Reals) -> list[dict[str, float | None]]:
    """Frequency with which hands of `weights` [H] take each action, its mean value `ev` to those that do, and `ev_all`
    to all of them alike, by which actions compare; None where nothing is known, and for the `ev` of an action that is
    hardly taken (`poker.game.cards.RARE`). `strategy` and `values` are [H, A]."""
    rows: list[dict[str, float | None]] = []
    for taken, worth in zip(strategy.T, values.T, strict=True):
        frequency = float(weights @ taken / weights.sum()) if weights.any() else math.nan
        ev = weighted_mean(worth, weights * taken) if frequency >= RARE else math.nan
        evs = {"ev": ev, "ev_all": weighted_mean(worth, weights)}
        rows.append({"frequency": frequency, **{name: None if math.isnan(ev) else ev for name, ev in evs.items()}})
    return rows


def weighted_mean(values: Reals, weights: Floats) -> float:
    """Mean over the hands that have a weight and a value; NaN where there is none."""
    both = (weights > 0) & ~np.isnan(values)
    return float(weights[both] @ values[both] / weights[both].sum()) if both.any() else math.nan


def arriving(solver: VectorSolver, node: int) -> Floats:
    """[2, H] ranges with which both players come to a node of the first street."""
    tree, ranges = solver.game.tree, solver.game.ranges.astype(np.float64)
    while (parent := int(tree.parent[node])) >= 0:
        if tree.kind[parent] == Kind.DECISION:
            ranges[tree.player[parent]] *= solver.strategy(parent)[:, node - int(tree.first_child[parent])]
        node = parent
    return ranges
