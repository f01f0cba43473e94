"""Local best response (Lisy and Bowling 2016): a lower bound on how much a policy can be beaten for.

The adversary knows the opponent's policy, and its range by Bayes' rule. At each decision it values its actions as if it
and the opponent checked the hand down after the opponent's next answer, and takes the best:

    call:      w * pot - (1 - w) * asked              w: chance to win against the range, ties one half
    raise:     f * pot + (1 - f) * (w' * (pot + their call) - (1 - w') * (asked + raise))
               f: share of the range that folds to it, w': chance against the rest; a raise in answer counts as a call

Which actions it considers is set by street; fewer actions can win more, because the check-down looks no further.

At larger tables all others are the opponent, and their hands count as independent: it takes a raise to be called by the
first who does not fold, and everybody left to call what it calls.

Symbols: H hands, A actions.
"""

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import chain

import numpy as np
from numpy.typing import NDArray

from poker.abstraction.equities import EMPTY, check_down_chances
from poker.agents.base import (
    Agent,
    ObservingAgent,
    SamplingAgent,
    hand_number,
    is_repeatable,
    policy_mismatch,
    require_policy,
)
from poker.agents.simple import raise_menu
from poker.game.betting import Betting
from poker.game.cards import updated_range
from poker.game.rules import CALL, FOLD, Rules
from poker.game.state import HandState, Policy, public_state
from poker.kernels.types import Board, Floats
from poker.run.errors import PokernetsError
from poker.store.lru_cache import LRUCache
from poker.tree import BetMenu

_REMEMBERED = 4096
"""States whose ranges and choices are cached, 11 kB each: those without public cards come up in every hand."""
_STATES_OF_A_HAND = 16
"""States to remember of each hand, about, where many are played side by side."""


@dataclass(frozen=True)
class LbrStreet:
    """Actions considered on a street besides calling; `raises` as in bet menus, any of which is a limit game's
    raise."""

    fold: bool
    raises: Sequence[str | float]


@dataclass(frozen=True)
class LbrActions:
    """Actions to consider by street; `opening` is the size always raised as the first action of the hand, or None."""

    streets: Sequence[LbrStreet]
    opening: str | float | None = None

    @cached_property
    def _menus(self) -> list[BetMenu]:
        """Menus of each street, and last that of the first action of the hand."""
        opening = () if self.opening is None else (self.opening,)
        return [raise_menu(raises) for raises in (*(street.raises for street in self.streets), opening)]

    def choices(self, betting: Betting) -> tuple[int, ...]:
        """Actions to consider, at least one."""
        if betting.street >= len(self.streets):
            raise PokernetsError(f"the local best response has no actions for street {betting.street}: add an entry")
        if self.opening is not None and not any(betting.to_act in actors for actors in betting.actors):
            return self._menus[-1].raise_totals(betting)[:1] or (CALL,)
        street = self.streets[betting.street]
        folds = (FOLD,) if street.fold and betting.legal().fold else ()
        return (*folds, CALL, *(self._menus[betting.street].raise_totals(betting) if street.raises else ()))


class LocalBestResponse(SamplingAgent):
    """An agent that plays against `opponent`, which must be set up as the agent it meets at the table.

    Its choice is a function of the public state and its hand, so it has a policy itself.
    """

    def __init__(self, *, name: str, game: Rules, opponent: Agent, actions: LbrActions) -> None:
        super().__init__(name)
        self._rules = game
        self._opponent = require_policy(opponent, "local best response")
        self._actions = actions
        self._learning = isinstance(opponent, ObservingAgent)
        self.repeatable = is_repeatable(opponent)
        self._answers: dict[tuple[str, Board], Policy] = {}
        """Policies of the opponent at states that were asked for together."""
        self._forget()

    def start_hand(self, seat: int) -> None:
        """Forget ranges and choices if the opponent learns; otherwise they stay true from hand to hand."""
        if self._learning:
            self._forget()

    def _forget(self) -> None:
        self._ranges: LRUCache[tuple[str, Board], Floats] = LRUCache(_REMEMBERED)
        self._choices: LRUCache[tuple[str, Board], NDArray[np.uint8]] = LRUCache(_REMEMBERED)

    def draw(self, policy: Policy, state: HandState) -> int:
        """Take the best action of the hand held; nothing is drawn at random."""
        actions, probs = policy
        return actions[int(probs[hand_number(state, state.to_act)].argmax())]

    def policies(self, states: Sequence[HandState]) -> list[Policy]:
        """`policy` at each state; the opponent is asked about all of them at once."""
        self._ranges.hold(_STATES_OF_A_HAND * len(states))
        self._choices.hold(_STATES_OF_A_HAND * len(states))
        needed = {(ask.betting.text(), ask.board): ask for state in states for ask in self._asks(state)}
        if isinstance(self._opponent, SamplingAgent):
            self._answers = dict(zip(needed, self._opponent.policies(list(needed.values())), strict=True))
        self._prepare(states)
        policies = super().policies(states)
        self._answers = {}
        return policies

    def _prepare(self, states: Sequence[HandState]) -> None:
        """Work out together what `policy` at these states needs, once their ranges can be had."""

    def policy(self, state: HandState) -> Policy:
        """The best action of each hand with probability 1; of equal values, the first action."""
        choices = self._actions.choices(state.betting)
        probs = np.ones((self._rules.num_hands, 1), dtype=np.float32)
        if len(choices) > 1:
            probs = np.eye(len(choices), dtype=np.float32)[
                self._best(state.betting, self._rules.ordered_board(state.board), choices)
            ]
        probs[~self._rules.space.live(state.board)] = 0.0
        return choices, probs

    def _best(self, betting: Betting, board: Board, choices: Sequence[int]) -> NDArray[np.uint8]:
        """[H] position of each hand's best among `choices`; cached, since every size may cost a solve."""

        def best() -> NDArray[np.uint8]:
            return np.asarray(self._values(betting, board, choices).argmax(axis=0), np.uint8)

        return self._choices.get_or_make((betting.text(), board), best)

    def _values(self, betting: Betting, board: Board, choices: Sequence[int]) -> Floats:
        """[A, H] chips expected from here on, what is committed already counted as spent."""
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
        """[H] chips expected from a raise on, against ranges of those left."""
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
        """[H] chance of each hand to win a showdown against all of these."""
        chances = np.ones(self._rules.num_hands)
        for others in ranges:
            chances *= check_down_chances(self._rules, board, others)
        return chances

    def _asks(self, state: HandState) -> Iterator[HandState]:
        """Public states at which the opponent's policy is needed for the choice in `state`."""
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
        """Public states in which the opponent answers the raises of a choice."""
        raised = (betting.apply(action) for action in self._actions.choices(betting) if action > CALL)
        return [public_state(after, board) for state in raised for after in _answers(state, betting.to_act)]

    def _decisions(self, betting: Betting, board: Board, player: int) -> Iterator[tuple[Betting, Board, int]]:
        """Decisions of `player` on the way to `betting`, each with the board then and the action."""
        for state, actor, action in betting.turns():
            if actor == player:
                yield state, board[: self._rules.board_sizes[state.street]], action

    def range_of(self, betting: Betting, board: Board, player: int) -> Floats:
        """[H] the hands of `player`, an opponent, given its actions and the board; sums to 1 before the last deal."""
        weights = np.full(self._rules.num_hands, 1.0 / self._rules.num_hands)
        for state, public, action in self._decisions(betting, board, player):
            weights = self._after(state, public, action, weights)
        return weights * self._rules.space.live(board)

    def _after(self, state: Betting, board: Board, action: int, weights: Floats) -> Floats:
        """The opponent's range after their `action` at `state`, where it was `weights`; cached."""

        def after() -> Floats:
            updated = updated_range(weights, self._rules.space.live(board) * self._answer(state, board, action))
            if updated is None:
                raise policy_mismatch(state, action)
            return updated

        return self._ranges.get_or_make((state.apply(action).text(), board), after)

    def _answer(self, betting: Betting, board: Board, action: int) -> Floats:
        """[H] probability of the opponent's `action`."""
        policy = self._answers.get((betting.text(), board))
        actions, probs = policy or self._opponent.policy(public_state(betting, board))
        if action not in actions:
            return np.zeros(self._rules.num_hands)
        return probs[:, actions.index(action)].astype(np.float64)


def _answers(raised: Betting, player: int) -> Iterator[Betting]:
    """The state after a raise of `player`, and those in which all asked before have folded."""
    while not raised.is_over and raised.to_act != player:
        yield raised
        raised = raised.apply(FOLD)


def _pot(betting: Betting, total: int, players: Collection[int]) -> int:
    """The pot once `players` have committed `total`, as far as their stacks go, and no others any more."""
    chips = enumerate(zip(betting.committed, betting.rules.stacks, strict=True))
    return sum(min(total, stack) if i in players else committed for i, (committed, stack) in chips)


def geometric_sizes(*, smallest: float, largest: float, count: int) -> list[str | float]:
    """`count` sizes: pot fractions from `smallest` to `largest` in equal ratios, and all-in as the last."""
    if not 0 < smallest < largest or count < 3:
        raise PokernetsError(f"bet sizes need 0 < smallest < largest and a count of 3 or more, not {count}")
    ratio = (largest / smallest) ** (1 / (count - 2))
    return [*(round(smallest * ratio**k, 6) for k in range(count - 1)), "a"]
