"""Best responses to policies that are functions of the public state, and the trees that they use.

In games with few public cards the response over ranges is exact for any policy. In a no-limit game the responder uses
the bets of a menu and those that the policy itself plays. One tree contains both. The policy translates unknown bets as
it does at the table. Other bets are not tried, so in no-limit games the result is a lower bound.

H is the number of hands and A of actions.
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
"""Legal actions and their probabilities [H, A], independent of the board; building a tree uses only the actions."""


def is_walkable(rules: Rules) -> bool:
    """Return whether `best_response` can handle the game.

    The game needs two players, no public cards at the start and few later ones. One-card games and hold'em that ends
    with the flop qualify.
    """
    few = rules.num_hands <= 100 or rules.total_board_cards <= 3
    return rules.num_players == 2 and not rules.board_cards[0] and few


def best_response(rules: Rules, policy: PolicyFunction, player: int, menu: BetMenu | None = None) -> float:
    """Compute the value of a best response.

    Args:
        policy: the policy of the other seat.
        player: the player who responds.
        menu: bets of the responder; needed in no-limit games.

    Returns:
        Chips per hand.

    Raises:
        PokernetsError: the game does not have two players, or a policy returns invalid probabilities.
    """
    if rules.num_players != 2:
        raise PokernetsError(f"best responses are for two players; '{rules.name}' has {rules.num_players}")

    tree = tree_of_both(rules, menu, on_one_board(policy), player)
    return RangeWalk(tree, on_tree(tree, policy), player).value()


def on_one_board(policy: PolicyFunction) -> CardlessPolicy:
    """Return `policy` as a function of the betting alone, played on the first cards of the deck."""
    return lambda betting: policy(public_state(betting, tuple(range(betting.rules.board_sizes[betting.street]))))


def on_tree(tree: BettingTree, policy: PolicyFunction) -> RangePolicy:
    """Return `policy` as a function of the nodes of `tree` and the board."""
    betting = lru_cache(maxsize=None)(tree.betting)
    return lambda node, board: columns(policy(public_state(betting(node), board)), tree.actions(node))


@dataclass(frozen=True)
class _BothMenus(BetMenu):
    """A menu that also offers the bets of a policy, and nothing else at decisions of `policy_seat`."""

    policy: CardlessPolicy = field(kw_only=True)
    policy_seat: int = field(kw_only=True)

    def raise_totals(self, betting: Betting, dead: int = 0, base: int | None = None) -> tuple[int, ...]:
        offered = super().raise_totals(betting, dead, base) if betting.to_act != self.policy_seat else ()
        return tuple(sorted({*offered, *(action for action in self.policy(betting)[0] if action > 0)}))


def tree_of_both(rules: Rules, menu: BetMenu | None, policy: CardlessPolicy, responder: int) -> BettingTree:
    """Build the whole tree with the bets of a responder and of a policy.

    Args:
        rules: the game; a limit game has no other bets.
        menu: bets of the responder.
        policy: the policy of the other seat.
        responder: the player who responds.
    """
    if rules.is_limit or menu is None:
        return _own_tree(rules)
    return build_tree(Betting.start(rules), _BothMenus(**vars(menu), policy=policy, policy_seat=1 - responder))


@lru_cache(maxsize=1)
def _own_tree(rules: Rules) -> BettingTree:
    """Return the tree of a game that needs no menu, which the responses of both seats share."""
    return build_tree(Betting.start(rules))


def columns(policy: Policy, offered: tuple[int, ...]) -> Reals:
    """Arrange a policy by offered actions; the policy may name an action more than once.

    Args:
        policy: actions and their probabilities [H, A'].
        offered: all actions of the policy, without repeats.

    Returns:
        [H, A] probabilities of the offered actions.
    """
    actions, probs = policy
    out = np.zeros((len(probs), len(offered)), probs.dtype)
    for column, action in enumerate(actions):
        out[:, offered.index(action)] += probs[:, column]
    return out
