"""Local best response (Lisy and Bowling 2016): a lower bound on the exploitability of a policy.

The adversary knows the opponent's policy, and the opponent's range by Bayes' rule. At each decision it assumes that
both players check the hand down after the opponent's next answer. It takes the action with the largest value::

    call:      w * pot - (1 - w) * to_call
    raise:     f * pot + (1 - f) * (w' * (pot + their call) - (1 - w') * (to_call + raise))

Here w is the probability to win against the range, where ties count one half. f is the share of the range that folds to
the raise, and w' is the probability to win against the rest. A raise in answer counts as a call.

The actions considered are set by street. Fewer actions can win more, because the adversary looks no further than the
check-down.

At larger tables all other players are opponents, and their hands count as independent. The adversary assumes that the
first who does not fold calls its raise, and that everybody left calls when it calls.

Symbols: H hands, A actions.
"""

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import chain

import numpy as np

from poker.abstraction.equities import EMPTY, check_down_chances
from poker.agents.base import Agent, hand_number, policy_mismatch, require_policy
from poker.agents.simple import raise_menu
from poker.game.betting import Betting
from poker.game.cards import updated_range
from poker.game.rules import CALL, FOLD, Rules
from poker.game.state import HandState, Policy, public_state
from poker.kernels.types import U8, Board, Floats
from poker.run.errors import PokernetsError
from poker.store.lru_cache import LRUCache
from poker.tree import BetMenu

_REMEMBERED = 4096
"""Number of states with cached ranges and choices, 11 kB each. States without public cards recur in every hand."""
_STATES_OF_A_HAND = 16
"""Approximate number of cached states per hand, when many hands are played side by side."""


@dataclass(frozen=True)
class LbrStreet:
    """Actions considered on a street besides calling.

    Attributes:
        fold: whether folding is considered.
        raises: sizes of raises as in bet menus. In a limit game any size is the one legal raise.
    """

    fold: bool
    raises: Sequence[str | float]


@dataclass(frozen=True)
class LbrActions:
    """Actions considered by street.

    Attributes:
        streets: actions of each street.
        opening: size that is always raised as the adversary's first action of the hand, or None.
    """

    streets: Sequence[LbrStreet]
    opening: str | float | None = None

    @cached_property
    def _menus(self) -> list[BetMenu]:
        """Menus of each street, and then the menu of the first action of the hand."""
        opening = () if self.opening is None else (self.opening,)
        return [raise_menu(raises) for raises in (*(street.raises for street in self.streets), opening)]

    def choices(self, betting: Betting) -> tuple[int, ...]:
        """Return the actions to consider, at least one.

        Raises:
            PokernetsError: the street has no entry.
        """
        if betting.street >= len(self.streets):
            raise PokernetsError(f"the local best response has no actions for street {betting.street}: add an entry")
        if self.opening is not None and not any(betting.to_act in actors for actors in betting.actors):
            return self._menus[-1].raise_totals(betting)[:1] or (CALL,)
        street = self.streets[betting.street]
        folds = (FOLD,) if street.fold and betting.legal().fold else ()
        return (*folds, CALL, *(self._menus[betting.street].raise_totals(betting) if street.raises else ()))


class LocalBestResponse(Agent):
    """An agent that plays a local best response to an opponent.

    Its choice is a function of the public state and its hand, so it has a policy itself.
    """

    def __init__(self, *, name: str, game: Rules, opponent: Agent, actions: LbrActions) -> None:
        """Store the opponent.

        Args:
            name: name of the agent.
            opponent: the opponent, set up like the agent at the table.
            actions: actions to consider.

        Raises:
            PokernetsError: the opponent has no policy.
        """
        super().__init__(name)
        self._rules = game
        self._opponent = require_policy(opponent, "local best response")
        self._actions = actions
        self._learning = opponent.learns
        self.repeatable = opponent.repeatable
        self._answers: dict[tuple[str, Board], Policy] = {}

        """Policies of the opponent at states that were queried together."""
        self._forget()

    def start_hand(self, seat: int) -> None:
        """Clear the caches if the opponent learns; otherwise they remain valid from hand to hand.

        Args:
            seat: seat of the agent.
        """
        if self._learning:
            self._forget()

    def _forget(self) -> None:
        self._ranges: LRUCache[tuple[str, Board], Floats] = LRUCache(_REMEMBERED)
        self._choices: LRUCache[tuple[str, Board], U8] = LRUCache(_REMEMBERED)

    def draw(self, policy: Policy, state: HandState) -> int:
        """Return the best action of the hand; nothing is drawn at random.

        Args:
            policy: the policy at `state`.
            state: the state, with the player's hole cards.
        """
        actions, probs = policy
        return actions[int(probs[hand_number(state, state.to_act)].argmax())]

    def policies(self, states: Sequence[HandState]) -> list[Policy]:
        """Return `policy` at each state; the opponent is queried about all of them at once."""
        self._ranges.hold(_STATES_OF_A_HAND * len(states))
        self._choices.hold(_STATES_OF_A_HAND * len(states))
        needed = {(ask.betting.text(), ask.board): ask for state in states for ask in self._asks(state)}
        self._answers = dict(zip(needed, self._opponent.policies(list(needed.values())), strict=True))
        self._prepare(states)
        policies = super().policies(states)
        self._answers = {}
        return policies

    def _prepare(self, states: Sequence[HandState]) -> None:
        """Compute together what `policy` at these states needs, after the opponent's policies are available."""

    def policy(self, state: HandState) -> Policy:
        """Return the best action of each hand with probability 1; of equal values, the first action.

        Args:
            state: a public state.

        Returns:
            Actions and probabilities float32 [H, A].
        """
        choices = self._actions.choices(state.betting)
        probs = np.ones((self._rules.num_hands, 1), dtype=np.float32)
        if len(choices) > 1:
            best = self._best(state.betting, self._rules.ordered_board(state.board), choices)
            probs = np.eye(len(choices), dtype=np.float32)[best]
        probs[~self._rules.space.live(state.board)] = 0.0
        return choices, probs

    def _best(self, betting: Betting, board: Board, choices: Sequence[int]) -> U8:
        """Return the index [H] of each hand's best action; cached, since every size may cost a solve."""

        def best() -> U8:
            return np.asarray(self._values(betting, board, choices).argmax(axis=0), np.uint8)

        return self._choices.get_or_make((betting.text(), board), best)

    def _values(self, betting: Betting, board: Board, choices: Sequence[int]) -> Floats:
        """Return expected chips [A, H] from here on, where chips already committed are spent."""
        player = betting.to_act
        own, left = betting.committed[player], [i for i, out in enumerate(betting.folded) if not out]
        others = {i: self.range_of(betting, board, i) for i in left if i != player}
        out = np.zeros((len(choices), self._rules.num_hands))
        for row, action in zip(out, choices, strict=True):
            if action == CALL:
                total = min(max(betting.committed), betting.rules.stacks[player])
                row[:] = self._chances(board, others.values()) * _pot(betting, total, left) - (total - own)
            elif action != FOLD:
                row[:] = self._raised(betting, board, action, others)
        return out

    def _raised(self, betting: Betting, board: Board, action: int, others: Mapping[int, Floats]) -> Floats:
        """Return expected chips [H] after a raise, against the ranges of the players left."""
        player, stacks = betting.to_act, betting.rules.stacks
        own, answers = betting.committed[player], list(_answers(betting.apply(action), player))
        all_in = {i: hands for i, hands in others.items() if i not in [state.to_act for state in answers]}
        value, share = np.zeros(self._rules.num_hands), np.ones(self._rules.num_hands)
        for state in answers:
            caller, hands = state.to_act, others[state.to_act]
            matched, folding = min(action, stacks[caller]), hands * self._answer(state, board, FOLD)
            chances = self._chances(board, (hands - folding, *all_in.values()))
            called = chances * _pot(betting, matched, [player, caller, *all_in]) - (matched - own)
            mass = np.maximum(self._rules.space.compatible_mass(hands), EMPTY)
            folds = self._rules.space.compatible_mass(folding) / mass
            value += share * (1 - folds) * called
            share *= folds
        matched = max((min(action, stacks[i]) for i in all_in), default=own)
        won = self._chances(board, all_in.values()) * _pot(betting, matched, [player, *all_in]) - (matched - own)
        return value + share * won

    def _chances(self, board: Board, ranges: Iterable[Floats]) -> Floats:
        """Return the probability [H] of each hand to win a showdown against all of these ranges."""
        chances = np.ones(self._rules.num_hands)
        for others in ranges:
            chances *= check_down_chances(self._rules, board, others)
        return chances

    def _asks(self, state: HandState) -> Iterator[HandState]:
        """Iterate over the public states at which the choice in `state` needs the opponent's policy."""
        betting, board = state.betting, self._rules.ordered_board(state.board)
        choices = self._actions.choices(betting)
        if len(choices) == 1 or self._choices.get((betting.text(), board)) is not None:
            return
        others = [i for i, out in enumerate(betting.folded) if not out and i != betting.to_act]
        for before, public, action in chain.from_iterable(self._decisions(betting, board, i) for i in others):
            if self._ranges.get((before.apply(action).text(), public)) is None:
                yield public_state(before, public)
        yield from self._raised_asks(betting, board)

    def _raised_asks(self, betting: Betting, board: Board) -> Iterable[HandState]:
        """Return the public states in which the opponent answers the raises of a choice."""
        raised = (betting.apply(action) for action in self._actions.choices(betting) if action > CALL)
        return [public_state(after, board) for state in raised for after in _answers(state, betting.to_act)]

    def _decisions(self, betting: Betting, board: Board, player: int) -> Iterator[tuple[Betting, Board, int]]:
        """Iterate over the decisions of `player` on the way to `betting`, each with its board and action."""
        for state, actor, action in betting.turns():
            if actor == player:
                yield state, board[: self._rules.board_sizes[state.street]], action

    def range_of(self, betting: Betting, board: Board, player: int) -> Floats:
        """Compute the range of an opponent, given the actions and the board.

        Args:
            player: seat of the opponent.

        Returns:
            [H] weights. Their sum is 1 before hands that the last deal makes impossible are removed.
        """
        weights = np.full(self._rules.num_hands, 1.0 / self._rules.num_hands)
        for state, public, action in self._decisions(betting, board, player):
            weights = self._after(state, public, action, weights)
        return weights * self._rules.space.live(board)

    def _after(self, state: Betting, board: Board, action: int, weights: Floats) -> Floats:
        """Return the opponent's range after an action at `state`, given the range before it; cached."""

        def after() -> Floats:
            updated = updated_range(weights, self._rules.space.live(board) * self._answer(state, board, action))
            if updated is None:
                raise policy_mismatch(state, action)
            return updated

        return self._ranges.get_or_make((state.apply(action).text(), board), after)

    def _answer(self, betting: Betting, board: Board, action: int) -> Floats:
        """Return the probability [H] of the opponent's action."""
        policy = self._answers.get((betting.text(), board))
        actions, probs = policy or self._opponent.policy(public_state(betting, board))
        if action not in actions:
            return np.zeros(self._rules.num_hands)
        return probs[:, actions.index(action)].astype(np.float64)


def _answers(raised: Betting, player: int) -> Iterator[Betting]:
    """Iterate over the states after a raise in which one player after the other answers and folds."""
    while not raised.is_over and raised.to_act != player:
        yield raised
        raised = raised.apply(FOLD)


def _pot(betting: Betting, total: int, players: Collection[int]) -> int:
    """Return the pot after `players` have committed `total`, as far as their stacks allow, and others nothing more."""
    chips = enumerate(zip(betting.committed, betting.rules.stacks, strict=True))
    return sum(min(total, stack) if i in players else committed for i, (committed, stack) in chips)


def geometric_sizes(*, smallest: float, largest: float, count: int) -> list[str | float]:
    """Return bet sizes: pot fractions in a geometric series, and then all-in.

    Args:
        smallest: smallest pot fraction.
        largest: largest pot fraction.
        count: number of sizes, including all-in.

    Raises:
        PokernetsError: the arguments are out of range.
    """
    if not 0 < smallest < largest or count < 3:
        raise PokernetsError(f"bet sizes need 0 < smallest < largest and a count of 3 or more, not {count}")
    ratio = (largest / smallest) ** (1 / (count - 2))
    return [*(round(smallest * ratio**k, 6) for k in range(count - 1)), "a"]
