"""Protocols of the agents that can sit at a table.

Agents see only views (`HandState.view(seat)`), where the cards of others are hidden. An agent with a `policy` gives its
strategy with every hand that it could hold. Ranges, variance reduction and best responses need that.

Symbols: P players, H hands (`rules.num_hands`), A actions.
"""

import math
from collections.abc import Callable, Sequence
from copy import copy
from typing import TYPE_CHECKING, NamedTuple, Protocol, runtime_checkable

import numpy as np

from poker.game.beliefs import observe_action, observe_board, start_ranges
from poker.game.betting import Betting
from poker.game.cards import hand_index, updated_range
from poker.game.state import HandState, Policy, RangedPolicy, public_state
from poker.kernels.types import Board, Floats, Ranges, Singles
from poker.run.errors import PokernetsError

if TYPE_CHECKING:
    from poker.solve.solution import DecisionValues


@runtime_checkable
class Agent(Protocol):
    """A player whose actions are a function of the last seed and of the states seen since.

    An agent that does not play every game has a method `check_game(game)` that raises PokernetsError
    (`poker.game.rules`).

    Attributes:
        name: name of the agent.
    """

    name: str

    def reset(self, seed: int) -> None:
        """Forget earlier hands, and restart the random numbers.

        Args:
            seed: seed of the random numbers.
        """

    def start_hand(self, seat: int) -> None:
        """Begin a hand.

        Args:
            seat: seat of the agent.
        """

    def act(self, state: HandState) -> int:
        """Choose an action.

        Args:
            state: view of a state in which the agent is to act.

        Returns:
            FOLD, CALL or a raise-to total.
        """


@runtime_checkable
class PolicyAgent(Agent, Protocol):
    """An agent with a known strategy for all its hands.

    A class with a fast policy has an attribute `quick_policy`: `blueprint` if it answers bets about as well as sound
    players do, else `simple`. An agent whose policy may differ from the one that it played by has `repeatable` False.
    """

    def policy(self, state: HandState) -> Policy:
        """Return the strategy of the player to act.

        Args:
            state: a state; its hole cards do not matter.

        Returns:
            Legal actions and probabilities [H, A].
        """


@runtime_checkable
class SolvingAgent(PolicyAgent, Protocol):
    """An agent whose solutions give the values of hands."""

    def solved_values(self, state: HandState, seat: int) -> "DecisionValues | None":
        """Return the values of the opponent's hands after each action.

        Args:
            state: a state in which the opponent is to act. The values must not depend on the action taken there.
            seat: seat of the agent.

        Returns:
            The values; None if the agent has not solved the state.
        """


@runtime_checkable
class ObservingAgent(Agent, Protocol):
    """An agent that learns from finished hands.

    Its policy, if it has one, does not change within a hand. It is a function of the hands seen since `reset`.
    """

    def end_hand(self, state: HandState) -> None:
        """Learn from a finished hand.

        Args:
            state: the agent's view of the end; cards are shown only at showdowns.
        """


class OpponentRead(NamedTuple):
    """An agent's estimate of its opponent.

    Attributes:
        trust: from 0 to 1, how much the agent relies on its model.
        expected: [n, 3] expected frequencies of fold, check or call, and bet or raise at n states.
    """

    trust: float
    expected: Floats


@runtime_checkable
class ReadingAgent(ObservingAgent, Protocol):
    """An agent that learns its opponent and can report its estimate."""

    def read(self, states: Sequence[HandState]) -> OpponentRead:
        """Return the estimate at some decisions of the opponent, over all hands.

        Args:
            states: n states.
        """


def ranged_policy_of(agent: PolicyAgent, state: HandState) -> RangedPolicy:
    """Return the policy and the range by Bayes' rule, for an agent that plays every hand in every state.

    Actions that no hand takes leave the range unchanged.

    Args:
        agent: the agent.
        state: a state.
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
        policy: the policy.
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
        policy: the policy.
        betting: the betting state.
        board: cards on the board.
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
    """Return the error for an action that the policy of the player to act cannot have chosen.

    Args:
        betting: the betting state.
        action: the action.
    """
    return PolicyMismatchError(
        f"player {betting.to_act} took `{betting.action_text(action)}` after `{betting.text()}`, which its policy "
        "never does there: measuring needs the policy that chose the actions"
    )


def require_policy(agent: Agent, what: str) -> PolicyAgent:
    """Return the agent if it has a policy for all hands.

    Args:
        agent: the agent.
        what: what needs the policy, for the message.

    Raises:
        PokernetsError: the agent has no policy.
    """
    if isinstance(agent, PolicyAgent):
        return agent
    raise PokernetsError(
        f"the agent `{agent.name}` has no policy interface (`policy(state)` for all hands), which {what} needs; "
        "choose an agent that has one, such as blueprint or depth_limited, or measure this one with evaluate=match"
    )


def is_repeatable(agent: Agent) -> bool:
    """Return whether the agent's policy at a state is always the one that it plays by.

    Args:
        agent: the agent.
    """
    repeatable: bool = getattr(agent, "repeatable", True)
    return repeatable


def hand_number(state: HandState, player: int) -> int:
    """Return the index of a player's hand among the H hands of the game.

    Args:
        state: the state.
        player: the player.
    """
    cards = state.hole_cards[player]
    return cards[0] if len(cards) == 1 else hand_index(*cards)


def sample_action(policy: Policy, state: HandState, rng: np.random.Generator) -> int:
    """Sample an action for the hand of the player to act.

    Args:
        policy: actions and probabilities [H, A].
        state: the state, with the player's hole cards.
        rng: source of randomness.
    """
    actions, probs = policy
    row = probs[hand_number(state, state.to_act)].astype(np.float64)
    return actions[int(rng.choice(len(actions), p=row / row.sum()))]


class SamplingAgent:
    """Base class of agents that sample from their policy and carry nothing over to the next hand.

    Attributes:
        name: name of the agent.
        repeatable: whether the policy at a state never changes, except by learning from a hand.
    """

    repeatable = True

    _original: "SamplingAgent | None" = None

    def __init__(self, name: str) -> None:
        """Store the name.

        Args:
            name: name of the agent.
        """
        self.name = name
        self._rng = np.random.default_rng(0)

    @property
    def original(self) -> "SamplingAgent":
        """The agent that this one is a copy of (`at_another_table`), or itself."""
        return self._original or self

    def at_another_table(self) -> "SamplingAgent":
        """Return a copy with its own random numbers that shares all cached results."""
        other = copy(self)
        other._original = self.original
        return other

    def reset(self, seed: int) -> None:
        """Restart the random numbers.

        Args:
            seed: seed of the random numbers.
        """
        self._rng = np.random.default_rng(seed)

    def start_hand(self, seat: int) -> None:
        """Do nothing, since all hands are played alike.

        Args:
            seat: seat of the agent.
        """

    def act(self, state: HandState) -> int:
        """Sample an action from the policy.

        Args:
            state: view of a state in which the agent is to act.
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
        """Return `policy` at each state; some agents compute many at once faster.

        Args:
            states: the states.
        """
        return [self.policy(state) for state in states]

    def policy(self, state: HandState) -> Policy:
        """Return the strategy of the player to act.

        Args:
            state: a state; its hole cards do not matter.

        Returns:
            Legal actions and probabilities [H, A].

        Raises:
            NotImplementedError: the subclass has no policy.
        """
        raise NotImplementedError
