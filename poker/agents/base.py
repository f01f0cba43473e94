"""Protocols of the agents that can sit at a table.

Agents see only views: `HandState.view(seat)`, cards of the others hidden. An agent with a `policy` says what it
does with every hand it could hold; ranges, variance reduction and best responses need that.

Symbols: H hands (`rules.num_hands`), A actions.
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
    from poker.search.solved_values import DecisionValues


@runtime_checkable
class Agent(Protocol):
    """A player whose actions are a function of the seed of the last `reset` and of what it has been shown since.

    An agent that does not play every game raises PokernetsError in `check_game(game)` (`poker.game.rules`).
    """

    name: str

    def reset(self, seed: int) -> None:
        """Forget earlier hands and draw from `seed` on."""

    def start_hand(self, seat: int) -> None:
        """Begin a hand in which the agent is player `seat`."""

    def act(self, state: HandState) -> int:
        """Choose the action in a view in which the agent is to act."""


@runtime_checkable
class PolicyAgent(Agent, Protocol):
    """An agent whose strategy at a public state is known for all its hands.

    A class with a fast policy has `quick_policy`: `blueprint` if it answers bets about as sound players do, else
    `simple`. `repeatable` is False for an agent whose policy, asked again, may not be the one that it played by.
    """

    def policy(self, state: HandState) -> Policy:
        """Strategy of the player to act in `state` with every hand; the cards held do not matter."""


@runtime_checkable
class SolvingAgent(PolicyAgent, Protocol):
    """An agent whose solutions say what hands are worth."""

    def solved_values(self, state: HandState, seat: int) -> "DecisionValues | None":
        """Values of the opponent's hands after each action in `state`, as solved by the agent in `seat`; they must not
        depend on what is done there."""


@runtime_checkable
class ObservingAgent(Agent, Protocol):
    """An agent that learns from how hands end. Its policy, if it has one, stays the same within a hand, and is a
    function of the hands since `reset` that it was shown."""

    def end_hand(self, state: HandState) -> None:
        """Learn from a finished hand, as the agent sees it: cards are shown at showdowns only."""


class OpponentRead(NamedTuple):
    """An agent's view of its opponent: how far it plays by what it has learned, `trust` from 0 to 1, and how often it
    expects the opponent to fold, to check or call, and to bet or raise at some states, `expected` [n, 3]."""

    trust: float
    expected: Floats


@runtime_checkable
class ReadingAgent(ObservingAgent, Protocol):
    """An agent that learns its opponent and can say what it has learned."""

    def read(self, states: Sequence[HandState]) -> OpponentRead:
        """Trust in what was learned, and expectations at these decisions of the opponent, whatever they hold."""


def ranged_policy_of(agent: PolicyAgent, state: HandState) -> RangedPolicy:
    """The policy with the range by Bayes' rule, for an agent that plays every hand everywhere."""
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
    """[H] probability that a policy takes `action`, or the raise nearest to it where it does not make that one. None if
    it has no action of the kind."""
    actions, probs = policy
    raises = [other for other in actions if other > 0]
    if action > 0 and raises:
        action = min(raises, key=lambda total: abs(math.log(total / action)))
    return np.asarray(probs[:, actions.index(action)], np.float32) if action in actions else None


def ranges_at(policy: Callable[[HandState], Policy], betting: Betting, board: Board, noise: float = 0.0) -> Ranges:
    """[P, H] ranges of all players at `betting` on its `board`, if all of them have played by `policy` but for a share
    `noise` of the actions."""
    ranges = start_ranges(betting.rules)
    for before, player, action in betting.turns():
        if not betting.folded[player]:
            state = public_state(before, board[: betting.rules.board_sizes[before.street]])
            probs = taken(policy(state), action)
            if probs is not None:
                ranges = observe_action(ranges, player, probs, noise)
    return observe_board(ranges, board)


class PolicyMismatchError(PokernetsError):
    """An action that the policy said to have chosen it never takes with any possible hand; names player and state."""


def policy_mismatch(betting: Betting, action: int) -> PolicyMismatchError:
    """The error for an action that the policy of the player to act cannot have chosen."""
    return PolicyMismatchError(
        f"player {betting.to_act} took `{betting.action_text(action)}` after `{betting.text()}`, which its policy "
        "never does there: measuring needs the policy that chose the actions"
    )


def require_policy(agent: Agent, what: str) -> PolicyAgent:
    """Return the agent if it has a policy for all hands; else raise PokernetsError, naming it and `what` needs one."""
    if isinstance(agent, PolicyAgent):
        return agent
    raise PokernetsError(
        f"the agent `{agent.name}` has no policy interface (`policy(state)` for all hands), which {what} needs; "
        "choose an agent that has one, such as blueprint or depth_limited, or measure this one with evaluate=match"
    )


def is_repeatable(agent: Agent) -> bool:
    """Whether the policy that the agent is asked for is always the one that it plays by."""
    repeatable: bool = getattr(agent, "repeatable", True)
    return repeatable


def hand_number(state: HandState, player: int) -> int:
    """Index of the hand that `player` holds among the H hands of the game."""
    cards = state.hole_cards[player]
    return cards[0] if len(cards) == 1 else hand_index(*cards)


def sample_action(policy: Policy, state: HandState, rng: np.random.Generator) -> int:
    """An action drawn from the row of the hand held."""
    actions, probs = policy
    row = probs[hand_number(state, state.to_act)].astype(np.float64)
    return actions[int(rng.choice(len(actions), p=row / row.sum()))]


class SamplingAgent:
    """Samples the policy that its class has; nothing that depends on the hands played is carried on to the next."""

    repeatable = True
    """Whether the policy at a state is always the same, until the agent learns from a hand."""

    _original: "SamplingAgent | None" = None

    def __init__(self, name: str) -> None:
        self.name = name
        self._rng = np.random.default_rng(0)

    @property
    def original(self) -> "SamplingAgent":
        """The agent of which this is a copy for another table, or itself."""
        return self._original or self

    def at_another_table(self) -> "SamplingAgent":
        """A copy that draws for itself and shares all that the agent has worked out."""
        other = copy(self)
        other._original = self.original
        return other

    def reset(self, seed: int) -> None:
        self._rng = np.random.default_rng(seed)

    def start_hand(self, seat: int) -> None:
        """Every hand is played alike."""

    def act(self, state: HandState) -> int:
        return self.draw(self.policy(state), state)

    def draw(self, policy: Policy, state: HandState) -> int:
        """Choose the action by `policy`, which is known to be the policy at `state`."""
        return sample_action(policy, state, self._rng)

    def policies(self, states: Sequence[HandState]) -> list[Policy]:
        """`policy` at each state; many at once may be quicker."""
        return [self.policy(state) for state in states]

    def policy(self, state: HandState) -> Policy:
        """Legal actions and their probabilities [H, A] for the player to act at `state`."""
        raise NotImplementedError
