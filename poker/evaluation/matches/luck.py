"""AIVAT beside the chips of a match: estimates for every hand of a session, right after it was played.

The agents that played are asked for their policies while they still remember what they solved. Agents without a policy,
and those that learn from hands (whose policy has moved on), count as unknown. In a hand in which an agent failed, what
was done is not what its policy says, so the chips stand.

Heads-up, what hands are worth is guessed by the chosen `Guess`; unless another is named, that they are checked down
once a bet has been answered (`FoldEquity`). The answer is the agent's, if its policy is quick to ask, or else that of
another in its place: a blueprint at the table or, where all policies at the table are slow, the one named to stand in.
What agents without a policy would do is not said to the guess: for `FoldEquity` a bet that they do not call counts
nothing.
"""

from collections.abc import Callable, Sequence

from poker.agents.base import Agent, ObservingAgent, PolicyAgent
from poker.agents.blueprint import BlueprintAgent
from poker.agents.simple import AlwaysCall, AlwaysRaise, RandomAgent
from poker.evaluation.aivat.guesses import FoldEquityGuess, Guess
from poker.evaluation.aivat.heads_up import Aivat
from poker.evaluation.aivat.multiplayer import CheckDownHands, MultiAivat
from poker.evaluation.matches.table import Schedule, SessionRecord
from poker.evaluation.policies import PolicyFunction
from poker.formats.acpc_log import parse_log_line
from poker.rules import Rules

_QUICK = (BlueprintAgent, AlwaysCall, AlwaysRaise, RandomAgent)


StandIn = Callable[[], Agent]
"""Gives an agent with a quick policy; called only where one is needed."""

Values = Callable[[], Guess]
"""Gives the guess of what hands are worth; called only where hands are estimated heads-up."""


def add_estimates(
    schedule: Schedule,
    casts: Sequence[Sequence[Agent]],
    record: SessionRecord,
    stand_in: StandIn | None = None,
    values: Values | None = None,
) -> None:
    """Fills `record.aivat`. `casts` are the agents by entry for each seating, or one cast that played them all."""
    rules, seatings = schedule.rules, schedule.seatings
    failed = {incident.hand for incident in record.incidents}
    for line, chips in zip(record.lines, record.payoffs, strict=True):
        hand = parse_log_line(rules, line)
        if hand.number in failed:
            record.aivat.append([float(amount) for amount in chips])
            continue
        seating = hand.number % len(seatings)
        entries = seatings[seating]
        agents = [casts[seating % len(casts)][entry] for entry in entries]
        by_seat = _estimator(rules, agents, stand_in, values).estimate(hand.state, [_policy(agent) for agent in agents])
        record.aivat.append([float(by_seat[entries.index(entry)]) for entry in range(len(entries))])


def _estimator(
    rules: Rules, agents: Sequence[Agent], stand_in: StandIn | None, values: Values | None
) -> Aivat | MultiAivat:
    if rules.num_players > 2:
        return MultiAivat(rules, CheckDownHands())
    answer: PolicyFunction | None = next((agent.policy for agent in agents if isinstance(agent, BlueprintAgent)), None)
    slow = any(_policy(agent) is not None for agent in agents) and not any(
        isinstance(agent, _QUICK) for agent in agents
    )
    if answer is None and stand_in is not None and slow:
        answer = _policy(stand_in())
    guess = FoldEquityGuess() if values is None else values()
    return guess(rules, [_response(agent, answer) for agent in agents])


def _policy(agent: Agent) -> PolicyFunction | None:
    if isinstance(agent, PolicyAgent) and not isinstance(agent, ObservingAgent):
        return agent.policy
    return None


def _response(agent: Agent, answer: PolicyFunction | None) -> PolicyFunction | None:
    """How the agent answers bets, or about so; of an agent without a policy a guess does more harm than good."""
    if isinstance(agent, _QUICK):
        return agent.policy
    return answer if _policy(agent) is not None else None
