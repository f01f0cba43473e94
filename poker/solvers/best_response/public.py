"""Best responses to policies that are functions of the public state, and the trees that they are found on.

In games with few public cards any policy is answered exactly, over ranges. A responder in a no-limit game has the bets
of a menu besides those of the policy: both stand in one tree, where the policy reads bets that it does not know as it
does at the table. What is won with other bets is not counted, so there it is a lower bound.

Symbols: H hands, A actions.
"""

from collections.abc import Callable
from dataclasses import dataclass, field
from functools import lru_cache

import numpy as np

from poker.game.betting import Betting
from poker.game.rules import Rules
from poker.game.state import Policy, PolicyFunction, public_state
from poker.kernels.types import Reals
from poker.run.errors import PokernetsError
from poker.solvers.best_response.ranges import RangePolicy, RangeWalk
from poker.tree import BetMenu, BettingTree, build_tree

CardlessPolicy = Callable[[Betting], Policy]
"""Legal actions and their probabilities [H, A] whatever the board; actions alone count where a tree is built."""


def is_walkable(rules: Rules) -> bool:
    """Whether `best_response` can walk the game: two players, no public cards at the start and few enough later. These
    are one-card games, and hold'em that ends with the flop."""
    few = rules.num_hands <= 100 or rules.total_board_cards <= 3
    return rules.num_players == 2 and not rules.board_cards[0] and few


def best_response(rules: Rules, policy: PolicyFunction, player: int, menu: BetMenu | None = None) -> float:
    """Chips per hand of the best response of `player` to `policy` in the other seat. No-limit games need a `menu` for
    the responder."""
    if rules.num_players != 2:
        raise PokernetsError(f"best responses are heads-up; '{rules.name}' has {rules.num_players} players")

    tree = tree_of_both(rules, menu, on_one_board(policy), player)
    return RangeWalk(tree, on_tree(tree, policy), player).value()


def on_one_board(policy: PolicyFunction) -> CardlessPolicy:
    """`policy` as a function of the betting alone, played on the first cards of the deck."""
    return lambda betting: policy(public_state(betting, tuple(range(betting.rules.board_sizes[betting.street]))))


def on_tree(tree: BettingTree, policy: PolicyFunction) -> RangePolicy:
    """`policy` by the nodes of `tree`."""
    betting = lru_cache(maxsize=None)(tree.betting)
    return lambda node, board: columns(tree, node, policy(public_state(betting(node), board)))


@dataclass(frozen=True)
class _BothMenus(BetMenu):
    """A menu that also offers what a policy plays, and at decisions of `policy_seat` nothing else."""

    policy: CardlessPolicy = field(kw_only=True)
    policy_seat: int = field(kw_only=True)

    def raise_totals(self, betting: Betting, dead: int = 0, base: int | None = None) -> tuple[int, ...]:
        offered = super().raise_totals(betting, dead, base) if betting.to_act != self.policy_seat else ()
        return tuple(sorted({*offered, *(action for action in self.policy(betting)[0] if action > 0)}))


def tree_of_both(rules: Rules, menu: BetMenu | None, policy: CardlessPolicy, responder: int) -> BettingTree:
    """The whole tree with the bets of `menu` for `responder` and those of `policy`; a limit game has no others."""
    if rules.is_limit or menu is None:
        return _own_tree(rules)
    return build_tree(Betting.start(rules), _BothMenus(**vars(menu), policy=policy, policy_seat=1 - responder))


@lru_cache(maxsize=1)
def _own_tree(rules: Rules) -> BettingTree:
    """The tree of a game that needs no menu, which the responses of both seats share."""
    return build_tree(Betting.start(rules))


def columns(tree: BettingTree, node: int, policy: Policy) -> Reals:
    """[H, A] of a policy by the actions of a node that has all of its own."""
    actions, probs = policy
    offered = tree.actions(node)
    out = np.zeros((len(probs), len(offered)), probs.dtype)
    for column, action in enumerate(actions):
        out[:, offered.index(action)] += probs[:, column]
    return out
