"""Leaf values by nets over ranges (DeepStack: Moravcik et al. 2017): asked again as the ranges of a solve change."""

from collections.abc import Sequence
from itertools import combinations
from typing import Protocol

import numpy as np

from poker.abstraction.equities import next_board_size
from poker.depth_limit.evaluator import LeafEvaluator, deeper, matched_pot
from poker.depth_limit.range_inputs import LEVELS, equities_against, filled
from poker.game.betting import Betting
from poker.game.cards import HOLDEM, ordered_board
from poker.kernels.types import Board, Ranges, Reals, Singles
from poker.run.errors import PokernetsError
from poker.solvers.vector.leaves import AskedLeaves
from poker.tree.spots import spot_rules

States = Sequence[tuple[Board, Reals, Reals]]
"""Boards, each with ranges [n, 2, H], that of the player who acts first in the next round first, and stacks in pots
[n]."""


class RangeValues(Protocol):
    """Net of `RangeNetLeaf`: values hands by both ranges, where a `ValueNet` values pairs of hands, at states of a
    level of `poker.depth_limit.range_inputs.LEVELS`."""

    @property
    def level(self) -> str: ...

    def values(self, states: States) -> list[Singles]:
        """[n, 2, H] counterfactual values in pots for each of `states`."""


class MeanOverDeals:
    """Values where a round has ended, from those after the deal by `of`: means over the next cards, over `flops` of
    them, drawn by `seed`, before the flop."""

    def __init__(self, of: RangeValues, flops: int = 64, seed: int = 0) -> None:
        self.level = next(name for name, level in LEVELS.items() if level.ended and level.by == of.level)
        self._of, self._flops, self._seed = of, flops, seed

    def values(self, states: States) -> list[Singles]:
        return [self._mean(*state) for state in states]

    def _mean(self, board: Board, ranges: Reals, stacks: Reals) -> Singles:
        new = next_board_size(spot_rules(1), board) - len(board)
        rest = [card for card in range(52) if card not in board]
        if new == 1:
            dealt = list(combinations(rest, new))
        else:
            rng = np.random.default_rng(self._seed)
            dealt = [tuple(rng.choice(rest, new, replace=False).tolist()) for _ in range(self._flops)]
        states = []
        for cards in dealt:
            after = ordered_board((*board, *cards))
            states.append((after, filled(after, ranges), stacks))
        chips, mass = np.zeros(ranges.shape), np.zeros(ranges.shape)
        for (after, _, _), values in zip(states, self._of.values(states), strict=True):
            held = np.where(HOLDEM.live(after), ranges, 0)
            met = HOLDEM.compatible_mass(held[:, ::-1].astype(np.float64)) * HOLDEM.live(after)
            chips += met * values
            mass += met
        return np.where(mass > 0, chips / np.where(mass > 0, mass, 1), 0).astype(np.float32)


class RangeNetLeaf(LeafEvaluator):
    """Leaf evaluator by a net over ranges of states where a round has ended; asked after every `every` iterations.

    Rounds that begin with at most `shallow` pots behind are not its: they are solved to the end of the hand.
    """

    num_continuations = 1
    follows_ranges = True

    def __init__(self, *, net: RangeValues, every: int, shallow: float = 0.0) -> None:
        if not LEVELS[net.level].ended or every < 1:
            raise PokernetsError(f"leaves are valued where a round has ended, not by a net of the level `{net.level}`")
        self._net, self._every, self._shallow = net, every, shallow

    def serves(self, root: Betting) -> bool:
        return deeper(root, self._shallow)

    def values(self, leaves: Sequence[Betting], board: Board, ranges: Ranges, own: int) -> AskedLeaves:
        return self.asked(leaves, board)

    def asked(self, leaves: Sequence[Betting], board: Board, dead: int = 0) -> AskedLeaves:
        """The leaves of a solve on a board, with `dead` chips in the pot besides what is committed."""
        if len(board) != LEVELS[self._net.level].cards:
            raise PokernetsError(f"a net over ranges of the level `{self._net.level}` is asked on {len(board)} cards")
        over = np.array([leaf.is_over for leaf in leaves], bool)
        pots = np.array([matched_pot(leaf) + dead for leaf in leaves], np.float32)
        behind = np.array([min(np.subtract(leaf.rules.stacks, leaf.committed)) for leaf in leaves])
        last = np.array([not leaf.is_over and leaf.to_act == 1 for leaf in leaves], bool)  # player 0 acts last

        def ask(ranges: Singles) -> Singles:
            values = np.empty_like(ranges)
            values[over] = equities_against(board, ranges[over][:, ::-1]) - 0.5
            seated = np.where(last[:, None, None], ranges[:, ::-1], ranges)[~over]
            if len(seated):
                [by_turn] = self._net.values([(board, filled(board, seated), (behind / pots)[~over])])
                values[~over] = np.where(last[~over, None, None], by_turn[:, ::-1], by_turn)
            return values * pots[:, None, None]

        return AskedLeaves(len(leaves), ask, self._every)
