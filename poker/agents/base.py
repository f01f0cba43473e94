"""The base class of the agents that can sit at a table.

Agents see only views (`HandState.view(seat)`), where the cards of others are hidden. An agent with a `policy` gives its
strategy with every hand that it could hold. Ranges, variance reduction and best responses need that.

Symbols: P players, H hands (`rules.num_hands`), A actions.
"""

import math
from collections.abc import Callable, Sequence
from copy import copy
from typing import TYPE_CHECKING, ClassVar, NamedTuple

import numpy as np

from poker.game.beliefs import observe_action, observe_board, start_ranges
from poker.game.betting import Betting
from poker.game.cards import hand_index, updated_range
from poker.game.rules import Rules
from poker.game.state import HandState, Policy, RangedPolicy, public_state
from poker.kernels.types import Board, Floats, Ranges, Singles
from poker.run.errors import PokernetsError

if TYPE_CHECKING:
    from poker.search.opponent_decision import SolvedDecision
    from poker.solve.solution import DecisionValues


class OpponentRead(NamedTuple):
    """An agent's estimate of its opponent.

    Attributes:
        trust: from 0 to 1, how much the agent relies on its model.
        expected: [n, 3] expected frequencies of fold, check or call, and bet or raise at n states.
    """

    trust: float
    expected: Floats


class Agent:
    """A player whose actions are a function of the last seed and of the states seen since.

    A subclass has `act`, or a `policy` to sample from. Every other method has a default. The flags `has_policy`,
    `learns`, `reads`, `solves` and `watches` say which of `policy`, `end_hand`, `read`, `opponents_decision` and
    `watch` a class defines. The policy of an agent that learns does not change within a hand.

    Attributes:
        quick_policy: for a class with a fast policy, `blueprint` if it answers bets about as well as sound players do,
            else `simple`.
        repeatable: whether the policy at a state is always the one that the agent plays by.
        joint: whether play and `opponents_decision` come from one solve.
    """

    name: str
    quick_policy: ClassVar[str] = ""
    repeatable = True
    joint = False
    has_policy: ClassVar[bool] = False
    learns: ClassVar[bool] = False
    reads: ClassVar[bool] = False
    solves: ClassVar[bool] = False
    watches: ClassVar[bool] = False
    _original: "Agent | None" = None

    def __init__(self, name: str) -> None:
        """Store the name."""
        self.name = name
        self._rng = np.random.default_rng(0)

    def __init_subclass__(cls) -> None:
        """Set the flags."""
        cls.has_policy, cls.learns = cls.policy is not Agent.policy, cls.end_hand is not Agent.end_hand
        cls.reads, cls.watches = cls.read is not Agent.read, cls.watch is not Agent.watch
        cls.solves = cls.opponents_decision is not Agent.opponents_decision

    @property
    def original(self) -> "Agent":
        """The agent that this one is a copy of (`at_another_table`), or itself."""
        return self._original or self

    def at_another_table(self) -> "Agent":
        """Return a copy with its own random numbers that shares all cached results."""
        other = copy(self)
        other._original = self.original
        return other

    def check_game(self, game: Rules) -> None:
        """Check that the agent can play a game.

        Raises:
            PokernetsError: it cannot.
        """

    def reset(self, seed: int) -> None:
        """Forget earlier hands, and restart the random numbers.

        Args:
            seed: seed of the random numbers.
        """
        self._rng = np.random.default_rng(seed)

    def start_hand(self, seat: int) -> None:
        """Begin a hand."""

    def watch(self, state: HandState) -> None:
        """See a state of the hand, whoever acts.

        Args:
            state: the agent's view.
        """

    def act(self, state: HandState) -> int:
        """Choose an action; the default samples from the policy.

        Args:
            state: view of a state in which the agent is to act.

        Returns:
            FOLD, CALL or a raise-to total.
        """
        return self.draw(self.policy(state), state)

    def draw(self, policy: Policy, state: HandState) -> int:
        """Sample an action from a known policy at a state.

        Args:
            policy: the policy at `state`.
            state: the state, with the player's hole cards.
        """
        return sample_action(policy, state, self._rng)

    def policies(self, states: Sequence[HandState]) -> list[Policy]:
        """Return `policy` at each state; some agents compute many at once faster."""
        return [self.policy(state) for state in states]

    def policy(self, state: HandState) -> Policy:
        """Return the strategy of the player to act.

        Args:
            state: a state; its hole cards do not matter.

        Returns:
            Legal actions and probabilities [H, A].

        Raises:
            NotImplementedError: the agent has no policy.
        """
        raise NotImplementedError

    def ranged_policy(self, state: HandState) -> RangedPolicy:
        """Return the policy of the player to act, and the range that the agent's earlier actions leave.

        Args:
            state: a state. If it has the player's hole cards, they have a valid row, whatever their weight.
        """
        return ranged_policy_of(self, state)

    def end_hand(self, state: HandState) -> None:
        """Learn from a finished hand.

        Args:
            state: the agent's view of the end; cards are shown only at showdowns.
        """

    def read(self, states: Sequence[HandState]) -> OpponentRead:
        """Return the estimate at some decisions of the opponent, over all hands.

        Args:
            states: n states.

        Raises:
            NotImplementedError: the agent estimates nothing.
        """
        raise NotImplementedError

    def solved_values(self, state: HandState, seat: int) -> "DecisionValues | None":
        """Return the values of the opponent's hands after each action; None if the agent has not solved the state.

        Args:
            state: a state in which the opponent is to act. The values must not depend on the action taken there.
        """
        return None

    def opponents_decision(
        self, state: HandState, raises: tuple[int, ...] = (), hand: int | None = None
    ) -> "SolvedDecision":
        """Solve the decision at `state` over all hands; cards in `state` do not matter.

        Args:
            raises: raises that must be among the actions.
            hand: the hand to solve for; None for all hands.

        Raises:
            NotImplementedError: the agent does not solve.
        """
        raise NotImplementedError

    def others_decision(
        self, state: HandState, raises: tuple[int, ...] = (), hand: int | None = None
    ) -> "SolvedDecision":
        """Solve a decision in a hand of two others, whose stacks and small blind may differ from the agent's game.

        Args:
            raises: raises that must be among the actions.
            hand: the hand to solve for; None for all hands.

        Raises:
            NotImplementedError: the agent does not solve.
        """
        raise NotImplementedError


def ranged_policy_of(agent: Agent, state: HandState) -> RangedPolicy:
    """Return the policy and the range by Bayes' rule, for an agent that plays every hand in every state.

    Actions that no hand takes leave the range unchanged.
    """
    rules, player = state.rules, state.to_act
    weights = rules.space.live(state.board).astype(np.float32)
    for before, actor, action in state.betting.turns():
        if actor == player:
            board = state.board[: rules.board_sizes[before.street]]
            probs = taken(agent.policy(public_state(before, board)), action)
            after = None if probs is None else updated_range(weights, probs)
            weights = weights if after is None else after
    actions, rows = agent.policy(state)
    return RangedPolicy(actions, np.asarray(rows, np.float32), weights / weights.max())


def taken(policy: Policy, action: int) -> Singles | None:
    """Return the probability of an action for each hand.

    Args:
        action: the action. A raise that the policy does not make counts as its nearest raise.

    Returns:
        float32 [H] probabilities; None if the policy has no action of the kind.
    """
    actions, probs = policy
    raises = [other for other in actions if other > 0]
    if action > 0 and raises:
        action = min(raises, key=lambda total: abs(math.log(total / action)))
    return np.asarray(probs[:, actions.index(action)], np.float32) if action in actions else None


def ranges_at(policy: Callable[[HandState], Policy], betting: Betting, board: Board, noise: float = 0.0) -> Ranges:
    """Compute the ranges of all players who have played by one policy.

    Args:
        noise: share of actions that are random.

    Returns:
        [P, H] ranges.
    """
    ranges = start_ranges(betting.rules)
    for before, player, action in betting.turns():
        if not betting.folded[player]:
            state = public_state(before, board[: betting.rules.board_sizes[before.street]])
            actions, rows = policy(state)
            probs = taken((actions, rows), action)
            if probs is not None:
                ranges = observe_action(ranges, player, probs, noise, len(actions))
    return observe_board(ranges, board)


class PolicyMismatchError(PokernetsError):
    """An action that the acting player's policy takes with no possible hand; the message names player and state."""


def policy_mismatch(betting: Betting, action: int) -> PolicyMismatchError:
    """Return the error for an action that the policy of the player to act cannot have chosen."""
    return PolicyMismatchError(
        f"player {betting.to_act} took `{betting.action_text(action)}` after `{betting.text()}`, which its policy "
        "never does there: measuring needs the policy that chose the actions"
    )


def require_policy(agent: Agent, what: str) -> Agent:
    """Return the agent if it has a policy for all hands.

    Args:
        what: what needs the policy, for the message.

    Raises:
        PokernetsError: the agent has no policy.
    """
    if agent.has_policy:
        return agent
    raise PokernetsError(
        f"the agent `{agent.name}` has no policy interface (`policy(state)` for all hands), which {what} needs; "
        "choose an agent that has one, such as blueprint or depth_limited, or measure this one with evaluate=match"
    )


def hand_number(state: HandState, player: int) -> int:
    """Return the index of a player's hand among the H hands of the game."""
    cards = state.hole_cards[player]
    return cards[0] if len(cards) == 1 else hand_index(*cards)


def sample_action(policy: Policy, state: HandState, rng: np.random.Generator) -> int:
    """Sample an action for the hand of the player to act.

    Args:
        policy: actions and probabilities [H, A].
        state: the state, with the player's hole cards.
    """
    actions, probs = policy
    row = probs[hand_number(state, state.to_act)].astype(np.float64)
    return actions[int(rng.choice(len(actions), p=row / row.sum()))]
