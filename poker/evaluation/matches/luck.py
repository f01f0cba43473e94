"""AIVAT beside the chips of a match: estimates for every hand of a session, right after it was played.

The agents that played are asked for their policies while they still remember what they solved. Agents without a policy,
and those that learn from hands (whose policy has moved on), count as unknown. In a hand in which an agent failed, what
was done is not what its policy says, so the chips stand.

Heads-up, hands are guessed to be checked down once a bet has been answered (`FoldEquity`): as the agent would, if its
policy is quick to ask, or else as another would in its place: a blueprint at the table or, where all policies at the
table are slow, the one named to stand in. What agents without a policy would do is not guessed: for them a bet that is
not called counts nothing.
"""

from collections.abc import Callable, Sequence

from poker.agents.base import Agent, ObservingAgent, PolicyAgent
from poker.agents.blueprint import BlueprintAgent
from poker.agents.simple import AlwaysCall, AlwaysRaise, RandomAgent
from poker.evaluation.aivat.heads_up import Aivat
from poker.evaluation.aivat.multiplayer import CheckDownHands, MultiAivat
from poker.evaluation.aivat.values import FoldEquity
from poker.evaluation.matches.table import Schedule, SessionRecord
from poker.evaluation.policies import PolicyFunction
from poker.formats.acpc_log import parse_log_line
from poker.rules import Rules

_QUICK = (BlueprintAgent, AlwaysCall, AlwaysRaise, RandomAgent)


StandIn = Callable[[], Agent]
"""Gives an agent with a quick policy; called only where one is needed."""


def add_estimates(
    schedule: Schedule, casts: Sequence[Sequence[Agent]], record: SessionRecord, stand_in: StandIn | None = None
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
        by_seat = _estimator(rules, agents, stand_in).estimate(hand.state, [_policy(agent) for agent in agents])
        record.aivat.append([float(by_seat[entries.index(entry)]) for entry in range(len(entries))])


def _estimator(rules: Rules, agents: Sequence[Agent], stand_in: StandIn | None) -> Aivat | MultiAivat:
    if rules.num_players > 2:
        return MultiAivat(rules, CheckDownHands())
    guess: PolicyFunction | None = next((agent.policy for agent in agents if isinstance(agent, BlueprintAgent)), None)
    slow = any(_policy(agent) is not None for agent in agents) and not any(
        isinstance(agent, _QUICK) for agent in agents
    )
    if guess is None and stand_in is not None and slow:
        guess = _policy(stand_in())
    return Aivat(rules, FoldEquity(rules, [_response(agent, guess) for agent in agents]))


def _policy(agent: Agent) -> PolicyFunction | None:
    if isinstance(agent, PolicyAgent) and not isinstance(agent, ObservingAgent):
        return agent.policy
    return None


def _response(agent: Agent, guess: PolicyFunction | None) -> PolicyFunction | None:
    """How the agent answers bets, or a guess of it; of an agent without a policy a guess does more harm than good."""
    if isinstance(agent, _QUICK):
        return agent.policy
    return guess if _policy(agent) is not None else None
