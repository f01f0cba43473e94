"""Strategies as measurement needs them: functions of the public state that say what every hand does."""

from collections.abc import Callable

from poker.agents.base import Agent, Policy, PolicyAgent
from poker.betting import Betting
from poker.errors import PokernetsError
from poker.state import HandState

PolicyFunction = Callable[[HandState], Policy]
"""Legal actions of the player to act and their probabilities [H, A]; cards held do not matter."""


class PolicyMismatchError(PokernetsError):
    """An action that the policy, said to have chosen it, gives no hand that fits; names player and state."""


def policy_mismatch(betting: Betting, action: int) -> PolicyMismatchError:
    """The error for an action that the policy of the player to act cannot have chosen."""
    return PolicyMismatchError(
        f"player {betting.to_act} took `{betting.action_text(action)}` after `{betting.text()}`, which its policy "
        "never does there: measuring needs the policy that chose the actions"
    )


def require_policy(agent: Agent, what: str) -> PolicyAgent:
    """The agent, if it says what it does with every hand; else an error that names it and `what` needs that."""
    if isinstance(agent, PolicyAgent):
        return agent
    raise PokernetsError(
        f"the agent `{agent.name}` has no policy interface (`policy(state)` for all hands), which {what} needs; "
        "choose an agent that has one, such as blueprint or depth_limited, or measure this one with evaluate=match"
    )


def public_state(betting: Betting, board: tuple[int, ...]) -> HandState:
    """The state without anybody's cards; the same for any order of the cards of a deal."""
    rules = betting.rules
    return HandState(betting, ((),) * rules.num_players, rules.ordered_board(board))
