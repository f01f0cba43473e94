"""A value function for AIVAT that plays on: policies to the end of the betting round, predicted values beyond it.

Both players' policies are followed through the round, hand by hand. What its end is worth comes from a leaf evaluator,
always its first continuation; on the last street the hand is over. Streets without an evaluator enumerate the next
cards, which only games with few of them can afford. Values before a card are not the mean of those after it, so this
judges actions only.

Symbols: H hands, A actions, C clusters.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import partial

import numpy as np
from numpy.typing import NDArray

from poker.abstraction.equities import awaits_cards, mean_over_cards, showdown_chances
from poker.agents.blueprint import BlueprintAgent
from poker.betting import Betting
from poker.cards import HAND_CARDS
from poker.errors import PokernetsError
from poker.evaluation.aivat.heads_up import Aivat
from poker.evaluation.aivat.value_functions import CheckDown, Responses, Solutions
from poker.rules import Rules
from poker.search.beliefs import start_ranges
from poker.search.leaves.evaluator import LeafEvaluator
from poker.search.lru_cache import LRUCache
from poker.solvers.blueprint import Blueprint
from poker.state import Policy, PolicyFunction, public_state
from poker.types import Board, Floats

_REMEMBERED_POLICIES = 1024
_REMEMBERED_LEAVES = 256
_MOST_LEAVES = 1000


@dataclass(frozen=True)
class Predicted:
    """Values of a leaf: chips to player 0 [C, C], player 0's cluster first; clusters [H], -1 for impossible hands."""

    chips: NDArray[np.float32]
    clusters: NDArray[np.int32]


@dataclass(frozen=True)
class Known:
    """Policies and leaf values asked for before, shared by the hands of a match."""

    policies: LRUCache[tuple[PolicyFunction, str, Board], Policy] = field(
        default_factory=lambda: LRUCache(_REMEMBERED_POLICIES)
    )
    leaves: LRUCache[tuple[str, Board], Predicted] = field(default_factory=lambda: LRUCache(_REMEMBERED_LEAVES))


class RoundValues:
    """Values by following quick `policies` (by seat) to the end of the round, and `leaves` (by street) there."""

    exact_runouts = False

    def __init__(
        self,
        rules: Rules,
        policies: Sequence[PolicyFunction],
        leaves: Sequence[LeafEvaluator],
        known: Known | None = None,
    ) -> None:
        self._rules = rules
        self._policies = tuple(policies)
        self._leaves = tuple(leaves)
        self._known = known or Known()

    def values(self, states: Sequence[Betting], board: Board, player: int, own: Floats, opponent: Floats) -> Floats:
        rows = [self._play_on(state, board, player, opponent) for state in states]
        total: Floats = np.einsum("ah,ah->a", own, rows)
        return total

    def values_before(self, state: Betting, board: Board, player: int, own: Floats, opponent: Floats) -> float:
        return float(own @ self._play_on(state, board, player, opponent))

    def _play_on(self, state: Betting, board: Board, player: int, opponent: Floats) -> Floats:
        """[H] chips to `player` by hand, summed over the opponent's range."""
        out = np.zeros(self._rules.num_hands)
        ends: list[tuple[Betting, Floats, Floats]] = []
        self._follow(state, board, player, np.ones(self._rules.num_hands), opponent, out, ends)
        found = self._predict([leaf for leaf, _, _ in ends], board)
        for leaf, own, others in ends:
            out += own * _against_range(found[leaf.text()], player, others)
        return out

    def _follow(
        self,
        state: Betting,
        board: Board,
        player: int,
        own: Floats,
        others: Floats,
        out: Floats,
        ends: list[tuple[Betting, Floats, Floats]],
    ) -> None:
        """Adds values of hands that end to `out`, and leaves to `ends`; `own` [H] and `others` [H] are reaches."""
        if not (own.any() and others.any()):
            return
        if state.is_over and not state.is_showdown:
            sign = -1.0 if state.folded[player] else 1.0
            out += own * sign * min(state.committed) * self._rules.space.compatible_mass(others)
        elif state.is_over:
            out += own * min(state.committed) * showdown_chances(self._rules, board, others)
        elif awaits_cards(state, board):
            if self._rules.board_sizes.index(len(board)) < len(self._leaves):
                ends.append((state, own, others))
            else:
                out += own * mean_over_cards(
                    self._rules, board, lambda after, live: self._play_on(state, after, player, others * live)
                )
        else:
            policy = self._policies[state.to_act]
            key = policy, state.text(), board
            actions, probs = self._known.policies.get_or_make(key, partial(policy, public_state(state, board)))
            for action, column in zip(actions, probs.T, strict=True):
                mine, theirs = (own * column, others) if state.to_act == player else (own, others * column)
                self._follow(state.apply(action), board, player, mine, theirs, out, ends)

    def _predict(self, leaves: Sequence[Betting], board: Board) -> dict[str, Predicted]:
        """Values of all `leaves`, by their texts."""
        if len(leaves) > _MOST_LEAVES:
            raise PokernetsError(
                f"a round of this game can end in {len(leaves):,} ways with the bets of these agents, too many to value"
                " each; choose values=fold_equity"
            )
        known = [(leaf, self._known.leaves.get((leaf.text(), board))) for leaf in leaves]
        predicted = {leaf.text(): found for leaf, found in known if found is not None}
        missing = [leaf for leaf, found in known if found is None]
        if missing:
            leaves_of_round = self._leaves[self._rules.board_sizes.index(len(board))]
            found = leaves_of_round.values(missing, board, start_ranges(self._rules), 0)
            for leaf, chips in zip(missing, found.values[:, 0], strict=True):
                predicted[leaf.text()] = Predicted(chips, found.own_cluster)
                self._known.leaves.put((leaf.text(), board), predicted[leaf.text()])
        return predicted


class RoundPlayValues:
    """Values by `RoundValues`, with `blueprint` for players whose responses are not known and `leaves` by street. Cards
    are judged by check-downs with `growth`."""

    def __init__(
        self, *, blueprint: Blueprint, translation_seed: int, leaves: Sequence[LeafEvaluator], growth: Sequence[float]
    ) -> None:
        self._rules = blueprint.rules
        self._policy = BlueprintAgent(name="values", blueprint=blueprint, translation_seed=translation_seed).policy
        self._leaves = leaves
        self._growth = growth
        self._known = Known()

    def __call__(self, rules: Rules, responses: Responses, solved: Solutions = (None, None)) -> Aivat:
        remedy = "choose values=fold_equity, or artifacts of this game"
        self._rules.must_fit(rules, "the blueprint that values hands", remedy, exactly=True)
        policies = [response or self._policy for response in responses]
        return Aivat(rules, RoundValues(rules, policies, self._leaves, self._known), CheckDown(rules, self._growth))


def _against_range(leaf: Predicted, player: int, opponent: Floats) -> Floats:
    """[H] sums over the opponent's compatible hands, in hold'em: all of them less those that hold either card."""
    chips = leaf.chips.astype(np.float64) if player == 0 else -leaf.chips.T.astype(np.float64)
    clusters, live = np.maximum(leaf.clusters, 0), leaf.clusters >= 0
    weights = np.where(live, opponent, 0.0)
    by_card = np.zeros((52, len(chips)))
    for side in range(2):
        np.add.at(by_card, (HAND_CARDS[:, side], clusters), weights)
    whole = chips @ (by_card.sum(axis=0) / 2)
    blocked = chips @ by_card.T
    out = whole[clusters] - blocked[clusters, HAND_CARDS[:, 0]] - blocked[clusters, HAND_CARDS[:, 1]]
    out += chips[clusters, clusters] * weights
    return np.where(live, out, 0.0)
