"""AIVAT beside the chips of a match: estimates for every hand of a session, right after it was played.

The agents that played are asked for their policies while they still remember what they solved. Agents without a policy,
and those that learn from hands (whose policy has moved on), count as unknown.

An agent that failed did not play its policy: it checked or folded, perhaps more often with some hands than with others,
so that the hands without a failure are a selection too. It counts as unknown in all hands of the table (`revision.py`),
and estimates are unbiased whatever an unknown agent does, failures included. (A table is judged by its own failures: an
agent that fails in a share f of n deals passes for sound with chance (1-f)^n; that its estimates are then off by f d,
where d is their mean error in the deals that fail, makes less than d / n in all.) Likewise an agent whose policy cannot
be had.

Heads-up, what hands are worth is guessed by the chosen `Guess`; unless another is named, that they are checked down
once a bet has been answered (`FoldEquity`). The answer is the agent's, if its policy is quick to ask, or else that of
another in its place: a blueprint at the table or, where all policies at the table are slow, the one named to stand in.
What agents without a policy would do is not said to the guess: for `FoldEquity` a bet that they do not call counts
nothing.
"""

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass

from poker.agents.base import Agent, ObservingAgent, Policy, PolicyAgent
from poker.agents.blueprint import BlueprintAgent
from poker.agents.remote import PolicyLost, RemoteAgent
from poker.agents.simple import AlwaysCall, AlwaysRaise, RandomAgent
from poker.errors import PokernetsError
from poker.evaluation.aivat.guesses import FoldEquityGuess, Guess
from poker.evaluation.aivat.heads_up import Aivat
from poker.evaluation.aivat.multiplayer import CheckDownHands, MultiAivat
from poker.evaluation.matches.table import AbsentAgent, Schedule, SessionRecord
from poker.evaluation.policies import PolicyFunction
from poker.formats.acpc_log import LoggedHand, parse_log_line
from poker.rules import Rules
from poker.state import HandState

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
    """Fills `record.aivat`. `casts` are the agents by entry for each seating, or one cast that played them all.

    Agents in `record.unknown` count as unknown; those that failed, or whose policy cannot be had, are added to it.
    """
    hands = [parse_log_line(schedule.rules, line) for line in record.lines]
    seated = [_seated(schedule, casts, hand) for hand in hands]
    for incident in record.incidents:
        if any(_is_known(agents[incident.agent]) for agents in seated):
            record.unknown.setdefault(incident.agent, f"it failed: {_first_line(incident.error)}")
    while True:
        try:
            record.aivat = [
                _estimate(schedule, hand, agents, record.unknown, stand_in, values)
                for hand, agents in zip(hands, seated, strict=True)
            ]
            return
        except PolicyLost as lost:
            names = [name for agents in seated for name, agent in agents.items() if agent is lost.agent]
            if not names:  # it was the stand-in's
                raise
            record.unknown[names[0]] = f"its policy cannot be had: {_first_line(str(lost))}"


def _seated(schedule: Schedule, casts: Sequence[Sequence[Agent]], hand: LoggedHand) -> dict[str, Agent]:
    """By label, in the order of the seats."""
    seating = hand.number % len(schedule.seatings)
    cast = casts[seating % len(casts)]
    return {name: cast[entry] for name, entry in zip(hand.names, schedule.seatings[seating], strict=True)}


def _estimate(
    schedule: Schedule,
    hand: LoggedHand,
    agents: Mapping[str, Agent],
    unknown: Collection[str],
    stand_in: StandIn | None,
    values: Values | None,
) -> list[float]:
    """[P] by entry."""
    known = [_UNKNOWN if name in unknown else agent for name, agent in agents.items()]
    estimator = _estimator(schedule.rules, known, stand_in, values)
    by_seat = estimator.estimate(hand.state, [_policy(agent) for agent in known])
    entries = schedule.seatings[hand.number % len(schedule.seatings)]
    return [float(by_seat[entries.index(entry)]) for entry in range(len(entries))]


class _Unknown:
    """In place of an agent that counts as unknown: it has no policy, and is never asked for anything."""

    name = "unknown"

    def reset(self, seed: int) -> None:
        raise NotImplementedError

    def start_hand(self, seat: int) -> None:
        raise NotImplementedError

    def act(self, state: HandState) -> int:
        raise NotImplementedError


_UNKNOWN = _Unknown()


def _policy(agent: Agent) -> PolicyFunction | None:
    """The policy, if it is known; an error of it is not one of the match."""
    if not isinstance(agent, PolicyAgent) or isinstance(agent, ObservingAgent):
        return None
    return _Asked(agent)


@dataclass(frozen=True)
class _Asked:
    """The policy of an agent, equal to that of the same agent: guesses remember what they asked."""

    agent: PolicyAgent

    def __call__(self, state: HandState) -> Policy:
        try:
            return self.agent.policy(state)
        except (PokernetsError, PolicyLost):
            raise
        except Exception as error:
            raise PolicyLost(self.agent, f"{type(error).__name__}: {error}") from error


def _is_known(agent: Agent) -> bool:
    """Whether it would count as known where nothing fails."""
    return _policy(agent) is not None or isinstance(agent, AbsentAgent)


def _first_line(text: str) -> str:
    return text.partition("\n")[0]


def _estimator(
    rules: Rules, agents: Sequence[Agent], stand_in: StandIn | None, values: Values | None
) -> Aivat | MultiAivat:
    if rules.num_players > 2:
        return MultiAivat(rules, CheckDownHands())
    answer = next((_policy(agent) for agent in agents if _is_one_of(agent, BlueprintAgent)), None)
    slow = any(_policy(agent) is not None for agent in agents) and not any(
        _is_one_of(agent, *_QUICK) for agent in agents
    )
    if answer is None and stand_in is not None and slow:
        answer = _policy(stand_in())
    guess = FoldEquityGuess() if values is None else values()
    return guess(rules, [_response(agent, answer) for agent in agents])


def _response(agent: Agent, answer: PolicyFunction | None) -> PolicyFunction | None:
    """How the agent answers bets, or about so; of an agent without a policy a guess does more harm than good."""
    if _is_one_of(agent, *_QUICK):
        return _policy(agent)
    return answer if _policy(agent) is not None else None


def _is_one_of(agent: Agent, *kinds: type) -> bool:
    """Also of agents in processes of their own."""
    return issubclass(agent.kind if isinstance(agent, RemoteAgent) else type(agent), kinds)
