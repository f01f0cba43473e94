"""AIVAT beside the chips of a match: estimates for every hand of a session, right after it was played.

The agents that played are asked for their policies while they still remember what they solved. Agents without a policy,
and those that learn from hands (whose policy has moved on), count as unknown. In a hand in which an agent failed, what
was done is not what its policy says, so the chips stand.
"""

from collections.abc import Sequence
from functools import lru_cache

from poker.agents.base import Agent, ObservingAgent, PolicyAgent
from poker.evaluation.aivat import Aivat
from poker.evaluation.aivat_multi import CheckDownHands, MultiAivat
from poker.evaluation.policies import PolicyFunction
from poker.evaluation.table import Schedule, SessionRecord
from poker.evaluation.values import CheckDown
from poker.formats.acpc_log import parse_log_line
from poker.rules import Rules


def add_estimates(schedule: Schedule, casts: Sequence[Sequence[Agent]], record: SessionRecord) -> None:
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
        agents = casts[seating % len(casts)]
        by_seat = _estimator(rules).estimate(hand.state, [_policy(agents[entry]) for entry in entries])
        record.aivat.append([float(by_seat[entries.index(entry)]) for entry in range(len(entries))])


@lru_cache(maxsize=4)
def _estimator(rules: Rules) -> Aivat | MultiAivat:
    return Aivat(rules, CheckDown(rules)) if rules.num_players == 2 else MultiAivat(rules, CheckDownHands())


def _policy(agent: Agent) -> PolicyFunction | None:
    if isinstance(agent, PolicyAgent) and not isinstance(agent, ObservingAgent):
        return agent.policy
    return None
