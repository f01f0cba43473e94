"""A session: a run of deals, each in every seating, and what is left of them."""

from collections.abc import Generator, Iterable, Sequence
from dataclasses import dataclass, field

from poker.agents.base import Agent
from poker.formats.acpc.log import log_line
from poker.play.hand import AbsentAgent, Guarded, Incident, Policies, hand_steps, play_hand
from poker.play.lineup import LineUp, Rotation
from poker.state import HandState


@dataclass
class SessionRecord:
    """A played session: log lines and payoffs [hands, P] by entry, failures, and seconds by (entry, street).

    Hands are in the order of the seatings, then of the deals; hand number = deal * seatings + seating. `aivat` [hands,
    P] are AIVAT estimates, empty if not asked for; `unknown` are agents whose policies do not count in them, and why.
    `commit` is the code that played, as the hand store noted it. `policies`, by hand and betting, are those of agents
    that are not repeatable, until the session is estimated.
    """

    lines: list[str] = field(default_factory=list)
    payoffs: list[list[int]] = field(default_factory=list)
    incidents: list[Incident] = field(default_factory=list)
    seconds: dict[tuple[int, int], list[float]] = field(default_factory=dict)
    aivat: list[list[float]] = field(default_factory=list)
    unknown: dict[str, str] = field(default_factory=dict)
    commit: str = ""
    policies: Policies = field(default_factory=dict, repr=False, compare=False)


class Seating:
    """The hands of one seating, as they are played."""

    def __init__(self, rotation: Rotation, lineup: LineUp, agents: Sequence[Agent], session: int, seating: int) -> None:
        """An agent that cannot be reset is absent from these hands."""
        self._size = len(rotation.seatings)
        self._seating = seating
        self._entries = rotation.seatings[seating]
        self.record = SessionRecord()
        self._guarded: list[Guarded] = []
        for entry, (label, agent) in enumerate(zip(lineup.labels, agents, strict=True)):
            present = agent
            try:
                agent.reset(rotation.agent_seed(session, seating, entry))
            except Exception as error:
                present = AbsentAgent(agent.name, "reset", error)
            noted = self.record.incidents, self.record.seconds, self.record.policies
            self._guarded.append(Guarded(present, label, entry, *noted))
        self._seats = [self._guarded[entry] for entry in self._entries]
        self._names = [lineup.labels[entry] for entry in self._entries]

    def play(self, number: int, deal: HandState) -> None:
        self._begin(number)
        self._end(number, play_hand(self._seats, deal))

    def steps(self, number: int, deal: HandState) -> Generator[tuple[Guarded, HandState], int | None, None]:
        """Play one deal in steps, as `hand_steps` does."""
        self._begin(number)
        self._end(number, (yield from hand_steps(self._seats, deal)))

    def _begin(self, number: int) -> None:
        for player in self._seats:
            player.hand = number * self._size + self._seating

    def _end(self, number: int, end: HandState) -> None:
        hand = number * self._size + self._seating
        self.record.lines.append(log_line(end, hand, self._names))
        by_entry = dict(zip(self._entries, end.payoffs(), strict=True))
        self.record.payoffs.append([by_entry[entry] for entry in range(len(by_entry))])


def play_session(rotation: Rotation, lineup: LineUp, agents: Sequence[Sequence[Agent]], session: int) -> SessionRecord:
    """Plays every deal of the session in every seating.

    `agents` by entry: one list plays the seatings in turn, from the first deal to the last; a list for each seating
    plays all seatings of a deal in a row. The record is the same.
    """
    places = range(len(rotation.seatings))
    played: list[Seating] = []
    for together in [[place] for place in places] if len(agents) == 1 else [places]:
        seated = [Seating(rotation, lineup, agents[place % len(agents)], session, place) for place in together]
        for number in range(session * rotation.session, (session + 1) * rotation.session):
            deal = rotation.deal(number)
            for seating in seated:
                seating.play(number, deal)
        played += seated
    return joined(seating.record for seating in played)


def joined(seatings: Iterable[SessionRecord]) -> SessionRecord:
    """Join the records of all seatings of a session, in their order."""
    whole = SessionRecord()
    for record in seatings:
        whole.lines += record.lines
        whole.payoffs += record.payoffs
        whole.incidents += record.incidents
        for key, seconds in record.seconds.items():
            whole.seconds.setdefault(key, []).extend(seconds)
        whole.policies |= record.policies
    return whole
