"""AIVAT beside the chips of a match: estimates for every hand of a session, right after it was played.

The agents that played are asked for their policies while they still remember what they solved; those that learn from
hands are shown the session again, from its start, and asked before the end of each hand. An agent that is not
repeatable, such as one whose solves are limited in time, would answer otherwise: the policies that it played by are
noted in play, and where they were not (hands that an earlier run left without estimates) its policy is unavailable.

Agents without a policy count as unknown, in all hands of the line-up, and so do those whose policy is unavailable or
that failed: an agent that failed checked or folded, perhaps more often with some hands than with others, so hands
without a failure are a selection too. Estimates are unbiased whatever an unknown agent does. (One that fails in a share
f of deals passes for sound in n deals with probability (1-f)^n; estimates are then off by f d, with d their mean error
in the deals that fail: less than d / n in expectation.)

Heads-up, a value function (`aivat/value_functions.py`) says what hands are worth, by default `FoldEquity`. How bets are
answered it asks the agent, if its policy is quick, or else a blueprint in the line-up or, where all policies are slow,
the fallback policy. It is told nothing of agents without a policy: a bet that they have yet to call counts nothing.
"""

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass

from poker.agents.base import Agent, ObservingAgent, PolicyAgent, SolvingAgent, is_repeatable
from poker.agents.remote import PolicyUnavailable, RemoteAgent
from poker.evaluation.aivat.multiplayer import CheckDownHands, MultiAivat
from poker.evaluation.aivat.value_functions import FoldEquityValues, ValueFunctionFactory
from poker.formats.acpc.log import LoggedHand, parse_log_line
from poker.game.state import HandState, Policy, PolicyFunction
from poker.play.hand import AbsentAgent, Policies
from poker.play.lineup import Rotation
from poker.play.session import SessionRecord
from poker.run.errors import PokernetsError
from poker.search.solved_values import DecisionValues, Solved


@dataclass(frozen=True)
class MatchAivat:
    """The estimator of a match (`poker.play.workers.Estimator`). `fallback` gives an agent with a quick policy where
    one is needed, `values` the value function heads-up."""

    fallback: Callable[[], Agent] | None = None
    values: Callable[[], ValueFunctionFactory] | None = None

    def __call__(self, rotation: Rotation, agents: Sequence[Sequence[Agent]], record: SessionRecord) -> None:
        """Fills `record.aivat`. `agents` are by entry for each seating, or one list that played them all.

        Agents in `record.unknown` count as unknown; those that failed, or whose policy is unavailable, are added to it.
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
                if not names:  # it was the fallback's
                    raise
                record.unknown[names[0]] = f"policy unavailable: {_first_line(str(error))}"

    def _estimate(
        self, rotation: Rotation, hand: LoggedHand, agents: Mapping[str, Agent], record: SessionRecord
    ) -> list[float]:
        """[P] estimated chips by entry."""
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

    def _responses(
        self, agents: Sequence[Agent | None], policies: Sequence[PolicyFunction | None]
    ) -> list[PolicyFunction | None]:
        """Policies by seat that answer bets about as the agents do; None for unknown ones, where any would do harm."""
        quick = [_quick_policy(agent) for agent in agents]
        answer = next((policy for policy, kind in zip(policies, quick, strict=True) if kind == "blueprint"), None)
        if answer is None and self.fallback is not None and needs_fallback(agents):
            answer = _policy(self.fallback())
        return [policy if kind or policy is None else answer for policy, kind in zip(policies, quick, strict=True)]


def needs_fallback(agents: Sequence[Agent | None]) -> bool:
    """Whether some of the agents have a policy, and none a quick one."""
    return any(map(_policy, agents)) and not any(map(_quick_policy, agents))


def _seated(rotation: Rotation, agents: Sequence[Sequence[Agent]], hand: LoggedHand) -> dict[str, Agent]:
    """The agents of a hand by label, in the order of the seats."""
    seating = hand.number % len(rotation.seatings)
    mine = agents[seating % len(agents)]
    return {name: mine[entry] for name, entry in zip(hand.names, rotation.seatings[seating], strict=True)}


def _shown_again(
    rotation: Rotation, hands: Sequence[LoggedHand], seated: Sequence[Mapping[str, Agent]], unknown: Collection[str]
) -> Iterator[tuple[LoggedHand, Mapping[str, Agent]]]:
    """Every hand with its agents, those known that learn in the state in which they played it. Agents that are not
    repeatable are shown nothing: their policies were noted."""
    last = -1
    for hand, by_name in zip(hands, seated, strict=True):
        session, place = divmod(hand.number, rotation.hands_per_session)
        seating = place % len(rotation.seatings)
        seats = enumerate(by_name.items())
        asked_for = [(seat, agent) for seat, (name, agent) in seats if name not in unknown and _policy(agent)]
        repeatable = [(seat, agent) for seat, agent in asked_for if is_repeatable(agent)]
        learning = [(seat, agent) for seat, agent in repeatable if isinstance(agent, ObservingAgent)]
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
    """An error of the agent, other than those `passed` on, makes its policy unavailable."""
    try:
        yield
    except passed:
        raise
    except Exception as error:
        raise PolicyUnavailable(agent, f"{type(error).__name__}: {error}") from error


def _policy(agent: Agent | None) -> PolicyFunction | None:
    """The agent's policy, if it has one; an error in it makes it unavailable."""
    return _Asked(agent) if isinstance(agent, PolicyAgent) else None


def _policy_in(hand: LoggedHand, agent: Agent | None, noted: Policies) -> PolicyFunction | None:
    """The policy that the agent played the hand by: as noted in play if it is not repeatable, None if it is unknown."""
    if not isinstance(agent, PolicyAgent) or is_repeatable(agent):
        return _policy(agent)

    def policy(state: HandState) -> Policy:
        answer = noted.get((hand.number, state.betting.text()))
        if answer is None:
            raise PolicyUnavailable(agent, "it may play otherwise when asked again, and was not noted in play")
        return answer

    return policy


def _solved(agent: Agent | None, seat: int) -> Solved | None:
    """The agent's solutions, if they are at hand: agents in other processes keep theirs there, and an agent that learns
    and cannot be shown the session again knows how the hand ended."""
    if not isinstance(agent, SolvingAgent) or (isinstance(agent, ObservingAgent) and not is_repeatable(agent)):
        return None

    def solved(state: HandState) -> DecisionValues | None:
        with _available(agent, PokernetsError, PolicyUnavailable):
            return agent.solved_values(state, seat)

    return solved


@dataclass(frozen=True)
class _Asked:
    """The policy of an agent. Two of one agent are equal, as value functions cache by policy."""

    agent: PolicyAgent

    def __call__(self, state: HandState) -> Policy:
        with _available(self.agent, PokernetsError, PolicyUnavailable):
            return self.agent.policy(state)


def _first_line(text: str) -> str:
    return text.partition("\n")[0]


def _quick_policy(agent: Agent | None) -> str:
    """`quick_policy` of the agent's class, also for agents in other processes; empty without one."""
    kind: str = getattr(agent.kind if isinstance(agent, RemoteAgent) else type(agent), "quick_policy", "")
    return kind
