"""The trees of the experiment: without the bet, with the bet, and after it."""

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from poker.game.rules import Rules
from poker.game.state import Betting
from poker.run.errors import PokernetsError
from poker.tree import BetMenu, BettingTree, Kind, bet_menu, build_tree
from poker.tree.translation import translate


@dataclass(frozen=True)
class OffTreeBet:
    """An opening raise by P1, the first player to act, that the menu does not offer.

    Attributes:
        menu: bets of the blueprint.
        total: raise total of the bet.
        lines: the menu's raises on both sides of it, with the probabilities of pseudo-harmonic translation.
    """

    rules: Rules
    menu: BetMenu
    total: int
    lines: tuple[tuple[int, float], ...]

    @classmethod
    def of(cls, rules: Rules, menu: BetMenu, size: float) -> "OffTreeBet":
        """Return the bet of a size.

        Args:
            menu: bets of the blueprint.
            size: size of the bet in pots.

        Raises:
            PokernetsError: the bet does not lie between two raises of `menu`.
        """
        start = Betting.start(rules)
        [total] = bet_menu(preflop=[size]).raise_totals(start) or (0,)
        offered, highest = menu.raise_totals(start), max(start.committed)
        if total in offered:
            raise PokernetsError(f"a bet of {size} pots (to {total}) is already in the menu: {offered}")
        if not any(other < total for other in offered) or not any(other > total for other in offered):
            raise PokernetsError(f"a bet of {size} pots (to {total}) must lie between two bets of the menu: {offered}")
        lines = translate(total, offered, highest, sum(start.committed) + highest - start.committed[start.to_act])
        return cls(rules, menu, total, tuple(lines))

    @property
    def p1(self) -> int:
        """The player who bets."""
        return Betting.start(self.rules).to_act

    @property
    def p2(self) -> int:
        """The player who answers."""
        return 1 - self.p1

    @cached_property
    def blueprint_tree(self) -> BettingTree:
        """The tree without the bet."""
        return build_tree(Betting.start(self.rules), self.menu)

    @cached_property
    def extended_tree(self) -> BettingTree:
        """The blueprint's tree with the bet."""
        start = Betting.start(self.rules)
        return build_tree(start, self.menu.with_action(start, self.total))

    @property
    def after_bet(self) -> Betting:
        """The betting state after the bet."""
        return Betting.start(self.rules).apply(self.total)

    @cached_property
    def branch(self) -> BettingTree:
        """The tree after the bet; P2 acts at the root."""
        return build_tree(self.after_bet, self.menu)


def twins(tree: BettingTree, root: int, other: BettingTree) -> NDArray[np.int32]:
    """Match the nodes of two trees that are reached by the same choices.

    Choices are matched by their position among the actions, so a pot-sized raise matches a pot-sized raise of another
    pot.

    Args:
        tree: tree to search in.
        root: node of `tree` that matches the root of `other`.
        other: tree with N nodes.

    Returns:
        int32 [N] matching node of `tree` for each node of `other`.

    Raises:
        PokernetsError: the trees have different shapes.
    """
    places = np.zeros(len(other), np.int32)
    places[0] = root
    for node in range(len(other)):
        twin, children = int(places[node]), other.children(node)
        if tree.kind[twin] != other.kind[node] or len(tree.children(twin)) != len(children):
            raise PokernetsError(
                f"the menu offers different bets after `{tree.path_text(twin)}` and, with the off-tree bet,"
                f" after `{other.path_text(node)}`: choose sizes in pots and deeper stacks"
            )
        places[children.start : children.stop] = tree.children(twin)
    return places


def same_decisions(tree: BettingTree, other: BettingTree) -> NDArray[np.int32]:
    """Match the decisions of two trees that are reached by the same actions, for gadgets and depth limits.

    Args:
        tree: tree to search in.
        other: tree with N nodes.

    Returns:
        int32 [N] decision of `tree` for each node of `other`, -1 if there is none.
    """
    places = {tree.path(int(node)): int(node) for node in np.flatnonzero(tree.kind == Kind.DECISION)}
    decisions = np.full(len(other), -1, np.int32)
    for node in np.flatnonzero(other.kind == Kind.DECISION):
        decisions[node] = places.get(other.path(int(node)), -1)
    return decisions
