"""AIVAT in a match: estimates for every hand of a session, computed right after it was played.

The agents are queried for their policies while they still have their solutions. Agents that learn from hands receive
the session again from its start, and are queried before the end of each hand. An agent that is not repeatable, such as
one with time limits, would answer differently. Its policies are recorded during play. If they were not (for stored
hands without estimates), its policy is unavailable.

Agents without a policy count as unknown in all hands of the line-up. So do agents that failed, or whose policy is
unavailable. An agent that failed checked or folded, perhaps more often with some hands than with others. So hands
without a failure are a biased sample too. Estimates are unbiased whatever an unknown agent does.

An agent that fails in a share f of deals has no failure in n deals with probability (1-f)^n. Then estimates have a bias
of f d, where d is the mean error in the deals that fail. In expectation the bias is less than d / n.

Heads-up, a value function (`aivat/value_functions.py`) values hands, by default `FoldEquity`. It needs answers to bets.
They come from the agent if its policy is fast; else from a blueprint in the line-up; or, if all policies are slow, from
the fallback policy. For agents without a policy there are no answers: a bet that they have not called does not count.
"""

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING

from poker.agents.base import Agent
from poker.evaluation.aivat.multiplayer import CheckDownHands, MultiAivat
from poker.evaluation.aivat.value_functions import FoldEquityValues, Responses, Solved, ValueFunctionFactory
from poker.formats.acpc.log import LoggedHand, parse_log_line
from poker.game.state import HandState, Policy, PolicyFunction
from poker.play.hand import AbsentAgent, Policies
from poker.play.lineup import Rotation
from poker.play.session import SessionRecord
from poker.run.errors import PokernetsError

if TYPE_CHECKING:
    from poker.solve.solution import DecisionValues


class PolicyUnavailable(Exception):  # noqa: N818 (what happened, not an error of this program)
    """The policy of an agent is unavailable."""

    def __init__(self, agent: object, why: str) -> None:
        """Create the error.

        Args:
            why: the reason.
        """
        super().__init__(why)
        self.agent = agent


@dataclass(frozen=True)
class MatchAivat:
    """The estimator of a match (`poker.play.workers.Estimator`).

    Attributes:
        fallback: builds an agent with a fast policy, if one is needed.
        values: builds the value function of heads-up games.
    """

    fallback: Callable[[], Agent] | None = None
    values: Callable[[], ValueFunctionFactory] | None = None

    def __call__(self, rotation: Rotation, agents: Sequence[Sequence[Agent]], record: SessionRecord) -> None:
        """Fill in the estimates of a session.

        Args:
            rotation: deals and seatings.
            agents: agents by entry for each seating, or one list that played all seatings.
            record: record of the session. Its `aivat` is filled in. Agents that failed or whose policy is unavailable
                are added to its `unknown`.

        Raises:
            PolicyUnavailable: the fallback's policy is unavailable.
        """
        hands = [parse_log_line(rotation.rules, line) for line in record.lines]
        seated = [_seated(rotation, agents, hand) for hand in hands]
        for incident in record.incidents:
            mine = [by_name[incident.agent] for by_name in seated]
            if any(_policy(agent) is not None or isinstance(agent, AbsentAgent) for agent in mine):
                record.unknown.setdefault(incident.agent, f"it failed: {_first_line(incident.error)}")
        while True:
            try:
                record.aivat = [
                    self._estimate(rotation, hand, by_name, record)
                    for hand, by_name in _shown_again(rotation, hands, seated, record.unknown)
                ]
                return
            except PolicyUnavailable as error:
                names = [name for by_name in seated for name, agent in by_name.items() if agent is error.agent]
                if not names:  # the fallback's policy is unavailable
                    raise
                record.unknown[names[0]] = f"policy unavailable: {_first_line(str(error))}"

    def _estimate(
        self, rotation: Rotation, hand: LoggedHand, agents: Mapping[str, Agent], record: SessionRecord
    ) -> list[float]:
        """Return estimated chips by entry."""
        playing = [None if name in record.unknown else agent for name, agent in agents.items()]
        policies = [_policy_in(hand, agent, record.policies) for agent in playing]
        if len(playing) > 2:
            by_seat: Sequence[float] = list(MultiAivat(rotation.rules, CheckDownHands()).estimate(hand.state, policies))
        else:
            values = FoldEquityValues() if self.values is None else self.values()
            solved = [_solved(agent, seat) for seat, agent in enumerate(playing)]
            aivat = values(rotation.rules, self._responses(playing, policies), solved)
            by_seat = aivat.estimate(hand.state, policies)
        entries = rotation.seatings[hand.number % len(rotation.seatings)]
        return [float(by_seat[entries.index(entry)]) for entry in range(len(entries))]

    def _responses(self, agents: Sequence[Agent | None], policies: Responses) -> list[PolicyFunction | None]:
        """Return policies by seat that answer bets approximately as the agents do; None for unknown agents.

        For unknown agents any policy would increase the variance.
        """
        quick = [_quick_policy(agent) for agent in agents]
        answer = next((policy for policy, kind in zip(policies, quick, strict=True) if kind == "blueprint"), None)
        if answer is None and self.fallback is not None and needs_fallback(agents):
            answer = _policy(self.fallback())
        return [policy if kind or policy is None else answer for policy, kind in zip(policies, quick, strict=True)]


def needs_fallback(agents: Sequence[Agent | None]) -> bool:
    """Return whether some of the agents have a policy, but none a fast one.

    Args:
        agents: agents; None for unknown ones.
    """
    return any(map(_policy, agents)) and not any(map(_quick_policy, agents))


def _seated(rotation: Rotation, agents: Sequence[Sequence[Agent]], hand: LoggedHand) -> dict[str, Agent]:
    """Return the agents of a hand by label, in the order of the seats."""
    seating = hand.number % len(rotation.seatings)
    mine = agents[seating % len(agents)]
    return {name: mine[entry] for name, entry in zip(hand.names, rotation.seatings[seating], strict=True)}


def _shown_again(
    rotation: Rotation, hands: Sequence[LoggedHand], seated: Sequence[Mapping[str, Agent]], unknown: Collection[str]
) -> Iterator[tuple[LoggedHand, Mapping[str, Agent]]]:
    """Iterate over the hands with their agents, where known agents that learn are in the state of that hand.

    Agents that are not repeatable receive nothing, because their policies were recorded.
    """
    last = -1
    for hand, by_name in zip(hands, seated, strict=True):
        session, place = divmod(hand.number, rotation.hands_per_session)
        seating = place % len(rotation.seatings)
        seats = enumerate(by_name.items())
        queried = [(seat, agent) for seat, (name, agent) in seats if name not in unknown and _policy(agent)]
        repeatable = [(seat, agent) for seat, agent in queried if agent.repeatable]
        learning = [(seat, agent) for seat, agent in repeatable if agent.learns]
        for seat, agent in learning if seating != last else ():
            entry = rotation.seatings[seating][seat]
            with _available(agent):
                agent.reset(rotation.agent_seed(session, seating, entry))
        for seat, player in repeatable if learning else ():
            with _available(player):
                player.start_hand(seat)
        yield hand, by_name
        for seat, agent in learning:
            with _available(agent):
                agent.end_hand(hand.state.view(seat))
        last = seating


@contextmanager
def _available(agent: object, *passed: type[Exception]) -> Iterator[None]:
    """Turn an error of the agent, except for those in `passed`, into `PolicyUnavailable`."""
    try:
        yield
    except passed:
        raise
    except Exception as error:
        raise PolicyUnavailable(agent, f"{type(error).__name__}: {error}") from error


def _policy(agent: Agent | None) -> PolicyFunction | None:
    """Return the agent's policy, if it has one; an error in it makes it unavailable."""
    return _Asked(agent) if agent is not None and agent.has_policy else None


def _policy_in(hand: LoggedHand, agent: Agent | None, noted: Policies) -> PolicyFunction | None:
    """Return the policy that the agent played the hand by, as recorded if it is not repeatable; None if unknown."""
    if agent is None or not agent.has_policy or agent.repeatable:
        return _policy(agent)

    def policy(state: HandState) -> Policy:
        answer = noted.get((hand.number, state.betting.text()))
        if answer is None:
            raise PolicyUnavailable(agent, "its policy may change and was not recorded during play")
        return answer

    return policy


def _solved(agent: Agent | None, seat: int) -> Solved | None:
    """Return the agent's solutions, if they are available.

    Agents in other processes have their solutions there. An agent that learns and cannot receive the session again
    already knows how the hand ended.
    """
    has_values = agent is not None and type(agent).solved_values is not Agent.solved_values
    if agent is None or not has_values or (agent.learns and not agent.repeatable):
        return None

    def solved(state: HandState) -> "DecisionValues | None":
        with _available(agent, PokernetsError, PolicyUnavailable):
            return agent.solved_values(state, seat)

    return solved


@dataclass(frozen=True)
class _Asked:
    """The policy of an agent; policies of the same agent are equal, because value functions cache by policy."""

    agent: Agent

    def __call__(self, state: HandState) -> Policy:
        with _available(self.agent, PokernetsError, PolicyUnavailable):
            return self.agent.policy(state)


def _first_line(text: str) -> str:
    return text.partition("\n")[0]


def _quick_policy(agent: Agent | None) -> str:
    """Return `quick_policy` of the agent's class; empty without one."""
    return "" if agent is None else agent.quick_policy
