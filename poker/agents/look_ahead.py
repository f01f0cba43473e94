"""A local best response that looks ahead: from one street on it plays the best response to the opponent's policy.

Before that street it chooses by a check-down, as in `poker.agents.local_best_response`, or plays as the opponent would.
From that street on it plans. Its own bets come from a menu. The opponent's policy is queried at every state that they
lead to, on every card that may come. Each hand takes the action with the largest value::

    v(state)[h] = chips that the adversary wins with hand h, times the opponent's reach, summed over compatible hands

A plan is exact with all cards and without neglect. With a sample of the cards, or if rare actions of the opponent are
valued by a check-down, the adversary still plays a strategy. So its profit is a lower bound.

An adversary that plays as the opponent does before its plans, and whose menu has the opponent's bets, wins at least
nothing over both seats. The reason is that an exact plan only adds to what a player wins from itself. The opponent is
queried about one layer of the tree at a time.

Symbols: H hands, A actions.
"""

import math
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import combinations
from typing import NamedTuple

import numpy as np

from poker.abstraction.equities import awaits_cards, next_board_size, showdown_chances
from poker.agents.base import Agent
from poker.agents.local_best_response import LbrActions, LocalBestResponse
from poker.game.betting import Betting
from poker.game.rules import CALL, FOLD, Rules
from poker.game.state import HandState, Policy, public_state
from poker.kernels.types import U8, Board, Floats
from poker.run.errors import PokernetsError
from poker.tree import BetMenu


@dataclass(frozen=True, kw_only=True)
class LookAheadActions(LbrActions):
    """Actions of an adversary that plans from one street on.

    Before that street the actions come from `streets`; without `streets`, the adversary plays the opponent's policy.

    Attributes:
        plans_from: street from which it plans.
        menu: bets on the street of the decision.
        ahead: bets on later streets.
        cards: number of boards to sample after one more card; None for all.
        neglect: share of the opponent's range at the root of a plan. Actions that at most this share reaches and takes
            are valued by a check-down.
    """

    plans_from: int
    menu: BetMenu
    ahead: BetMenu
    cards: int | None = None
    neglect: float = 0.0

    def __post_init__(self) -> None:
        """Check the settings.

        Raises:
            PokernetsError: `cards` or `neglect` is out of range, or `ahead` lacks a street.
        """
        if self.cards is not None and self.cards < 1:
            raise PokernetsError(f"`cards` of a plan must be at least 1, or null for all, not {self.cards}")
        if not 0 <= self.neglect < 1:
            raise PokernetsError(f"`neglect` of a plan must be between 0 and 1, not {self.neglect}")
        self.ahead.check_given(range(self.plans_from + 1, len(self.ahead.streets)), "`ahead` of a plan")

    def choices(self, betting: Betting) -> tuple[int, ...]:
        """Return the actions to consider, at least one.

        Raises:
            PokernetsError: a street before the plans has no entry.
        """
        return self.planned(betting, betting.street) if betting.street >= self.plans_from else super().choices(betting)

    def planned(self, betting: Betting, street: int) -> tuple[int, ...]:
        """Return the actions that a plan considers.

        Args:
            street: street on which the plan was made.
        """
        menu = self.menu if betting.street == street else self.ahead
        return (*((FOLD,) if betting.legal().fold else ()), CALL, *menu.raise_totals(betting))


class _Spot:
    """A betting state of plans, whose successors are computed once for all boards."""

    def __init__(self, betting: Betting) -> None:
        self.betting = betting
        self.choices: tuple[int, ...] | None = None
        self._after: dict[int, _Spot] = {}

    def after(self, action: int) -> "_Spot":
        spot = self._after.get(action)
        if spot is None:
            spot = self._after[action] = _Spot(self.betting.apply(action))
        return spot


class _Plan(NamedTuple):
    """Properties of one plan.

    Attributes:
        player: player who plans.
        street: street of the decision.
        mass: sum of the opponent's reach there.
    """

    player: int
    street: int
    mass: float


@dataclass
class _Node:
    """A public state of a plan.

    Attributes:
        spot: the betting state.
        reach: [H] reach of the opponent.
        neglected: whether the plan ends here.
        below: successors.
        value: [H] value v.
    """

    plan: _Plan
    spot: _Spot
    board: Board
    reach: Floats
    neglected: bool = False
    below: list["_Node"] = field(default_factory=list)
    value: Floats = field(default_factory=lambda: np.zeros(0))

    @property
    def ends_street(self) -> bool:
        """Whether cards come next, and bets after them."""
        betting = self.spot.betting
        return not (self.neglected or betting.is_over) and awaits_cards(betting, self.board)

    @property
    def is_decision(self) -> bool:
        return not (self.neglected or self.spot.betting.is_over or self.ends_street)


class LookAheadResponse(LocalBestResponse):
    """A local best response for two players that plans from street `actions.plans_from` on."""

    def __init__(self, *, name: str, game: Rules, opponent: Agent, actions: LookAheadActions) -> None:
        """Store the opponent.

        Args:
            name: name of the agent.
            opponent: the opponent, set up like the agent at the table.
            actions: actions to consider.

        Raises:
            PokernetsError: the game is not heads-up, or the opponent has no policy.
        """
        super().__init__(name=name, game=game, opponent=opponent, actions=actions)
        if game.num_players != 2:
            raise PokernetsError(f"`{name}` plays heads-up games; '{game.name}' has {game.num_players} players")
        self._plans = actions

    def policy(self, state: HandState) -> Policy:
        """Return the best action of each hand with probability 1, or the opponent's policy before the plans.

        Args:
            state: a public state.

        Returns:
            Actions and probabilities float32 [H, A].
        """
        if not self._copies(state.betting):
            return super().policy(state)
        board = self._rules.ordered_board(state.board)
        answer = self._answers.get((state.betting.text(), board))
        return answer or self._opponent.policy(public_state(state.betting, board))

    def draw(self, policy: Policy, state: HandState) -> int:
        """Return the best action of the hand, or sample from the opponent's policy before the plans.

        Args:
            policy: the policy at `state`.
            state: the state, with the player's hole cards.
        """
        draw = Agent.draw if self._copies(state.betting) else LocalBestResponse.draw
        return draw(self, policy, state)

    def _copies(self, betting: Betting) -> bool:
        return not self._plans.streets and betting.street < self._plans.plans_from

    def _asks(self, state: HandState) -> Iterator[HandState]:
        if not self._copies(state.betting):
            return super()._asks(state)
        return iter([public_state(state.betting, state.board)])

    def _is_unplanned(self, betting: Betting, board: Board) -> bool:
        if betting.street < self._plans.plans_from or len(self._plans.choices(betting)) == 1:
            return False
        return self._choices.get((betting.text(), board)) is None

    def _raised_asks(self, betting: Betting, board: Board) -> Iterable[HandState]:
        return [] if betting.street >= self._plans.plans_from else super()._raised_asks(betting, board)

    def _best(self, betting: Betting, board: Board, choices: Sequence[int]) -> U8:
        if self._is_unplanned(betting, board):
            self._prepare([public_state(betting, board)])
        return super()._best(betting, board, choices)

    def _prepare(self, states: Sequence[HandState]) -> None:
        """Plan together for the states whose best actions are not cached."""
        places = {(s.betting.text(), self._rules.ordered_board(s.board)): s.betting for s in states}
        roots = []
        for (_, board), betting in places.items():
            if self._is_unplanned(betting, board):
                roots.append(self._root(betting, board, betting.to_act))
        self._value(roots)

    def _root(self, betting: Betting, board: Board, player: int) -> _Node:
        reach = self.range_of(betting, board, 1 - player)
        return _Node(_Plan(player, betting.street, float(reach.sum())), _Spot(betting), board, reach)

    def _value(self, roots: Sequence[_Node]) -> None:
        """Value the states and all states below them, and cache the best actions on the planned street."""
        layers = [list(roots)]
        while layers[-1]:
            layers.append(self._layer_below(layers[-1]))
        self._deal([node for layer in layers for node in layer if node.ends_street])
        for layer in reversed(layers):
            for node in layer:
                if node.is_decision:
                    node.value = self._decided(node)
                elif not node.ends_street:
                    node.value = self._ended(node)

    def _layer_below(self, layer: Sequence[_Node]) -> list[_Node]:
        inner = [node for node in layer if node.is_decision]
        asked_at = [node for node in inner if node.spot.betting.to_act != node.plan.player]
        policies = iter(self._policies([public_state(node.spot.betting, node.board) for node in asked_at]))
        for node in inner:
            spot, plan = node.spot, node.plan
            if spot.betting.to_act == plan.player:
                if spot.choices is None:
                    spot.choices = self._plans.planned(spot.betting, plan.street)
                node.below = [_Node(plan, spot.after(action), node.board, node.reach) for action in spot.choices]
                continue
            actions, probs = next(policies)
            for action, share in zip(actions, probs.T, strict=True):
                reach = node.reach * share
                if reach.any():
                    neglected = bool(reach.sum() <= self._plans.neglect * plan.mass)
                    node.below.append(_Node(plan, spot.after(action), node.board, reach, neglected))
        return [child for node in inner for child in node.below]

    def _policies(self, states: Sequence[HandState]) -> list[Policy]:
        return self._opponent.policies(states) if states else []

    def _decided(self, node: _Node) -> Floats:
        values = [child.value for child in node.below]
        betting, plan = node.spot.betting, node.plan
        if betting.to_act != plan.player:
            return np.asarray(sum(values, np.zeros(len(node.reach))))
        after = np.stack(values)
        if betting.street == plan.street:
            self._choices.put((betting.text(), node.board), after.argmax(axis=0).astype(np.uint8))
        return np.asarray(after.max(axis=0))

    def _ended(self, node: _Node) -> Floats:
        """Return the value of a hand that is over, or is checked down after the adversary calls the bet or folds."""
        betting, player, rules = node.spot.betting, node.plan.player, self._rules
        if betting.is_over and not betting.is_showdown:
            sign = -1.0 if betting.folded[player] else 1.0
            return sign * min(betting.committed) * rules.space.compatible_mass(node.reach)
        total = min(*rules.stacks, max(betting.committed))
        called = total * showdown_chances(rules, node.board, node.reach)
        if betting.to_act != player or not betting.to_call:
            return called
        return np.maximum(called, -betting.committed[player] * rules.space.compatible_mass(node.reach))

    def _deal(self, ends: Sequence[_Node]) -> None:
        """Value states between streets by the mean over boards to come, which are handled one after the other."""
        rules, hole = self._rules, self._rules.num_hole_cards
        boards = {node.board: self._boards(node.board) for node in ends}
        scales: dict[Board, Floats] = {}
        for board, after in boards.items():
            new, deck = len(after[0]) - len(board), rules.deck_size - len(board)
            live_boards = sum(rules.space.live(each).astype(np.float64) for each in after)
            scales[board] = math.comb(deck - hole, new) / math.comb(deck - 2 * hole, new) / np.maximum(live_boards, 1.0)
        for node in ends:
            node.value = np.zeros(rules.num_hands)
        for number in range(max(map(len, boards.values()), default=0)):
            dealt = [(node, boards[node.board][number]) for node in ends if number < len(boards[node.board])]
            below = [_Node(n.plan, n.spot, board, n.reach * rules.space.live(board)) for n, board in dealt]
            self._value(below)
            for (node, board), child in zip(dealt, below, strict=True):
                node.value += child.value * (scales[node.board] * rules.space.live(board))

    def _boards(self, board: Board) -> Sequence[Board]:
        """Return the boards after the next deal, or a sample with a card from each block of ranks, suits balanced."""
        rules, most = self._rules, self._plans.cards
        deck = [card for card in range(rules.deck_size) if card not in board]
        new = next_board_size(rules, board) - len(board)
        if most is None or new != 1 or most >= len(deck):
            return [(*board, *cards) for cards in combinations(deck, new)]
        rng, drawn = np.random.default_rng(board), np.zeros(rules.num_suits)
        sample: list[Board] = []
        for block in np.array_split(deck, most):
            suits = block % rules.num_suits
            card = int(block[(drawn[suits] + rng.random(len(block)) / 2).argmin()])
            drawn[card % rules.num_suits] += 1
            sample.append((*board, card))
        return sample
