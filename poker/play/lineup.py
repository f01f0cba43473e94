"""Line-ups of agents, and the deals and seatings that they play.

A *line-up* has an agent for each entry. A *deal* is one set of cards. It is played in every *seating*: both orders
heads-up, all orders of three players, all rotations of more. A *session* is a run of deals during which agents may
remember; it is played in each seating from the start, with all agents reset. Cards depend only on the seed and the
number of the deal, so all line-ups play the same cards.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import combinations, permutations
from typing import Any, Generic, TypeVar

import numpy as np

from poker.agents.base import Agent
from poker.formats.acpc.log import check_names
from poker.game.rules import Rules
from poker.game.state import HandState
from poker.run.errors import PokernetsError
from poker.store.artifacts import artifacts_in

T = TypeVar("T")

_CARDS, _AGENTS = range(2)
"""First number of the seed sequences of cards and of agents."""
_ALL_ORDERS = 3


@dataclass(frozen=True)
class AgentSpec:
    """An agent that the processes of a match build by themselves.

    Attributes:
        factory: picklable function that builds it.
        settings: its settings, for the record.
        sources: artifacts that the settings name, with their fingerprints when the command started.
    """

    name: str
    factory: Callable[[], Agent]
    settings: Mapping[str, Any]
    sources: Mapping[str, str] = field(init=False, compare=False)

    def __post_init__(self) -> None:
        """Record the artifacts that the settings name."""
        object.__setattr__(self, "sources", artifacts_in(self.settings))

    @property
    def title(self) -> str:
        """The name, followed by the name of the search if the agent solves."""
        return titled(self.name, self.settings)

    def build(self, game: Rules) -> Agent:
        """Build the agent.

        Raises:
            PokernetsError: it is not an `Agent`, it does not play `game`, or an artifact of its `sources` was replaced
                (all processes must build the same agent).
        """
        agent: object = self.factory()
        if not isinstance(agent, Agent):
            kind = f"{type(agent).__module__}.{type(agent).__qualname__}"
            raise PokernetsError(f"the agent `{self.name}`: its class {kind} must inherit poker.agents.base.Agent")
        present = artifacts_in(self.settings)
        if changed := next((path for path, source in self.sources.items() if present.get(path) != source), ""):
            raise PokernetsError(f"{changed}, which {self.name} uses, was replaced: run the command again")
        agent.check_game(game)
        return agent


def titled(name: str, settings: Mapping[str, Any]) -> str:
    """Return an agent's name, followed by the name of its search if its settings have one."""
    search = settings.get("search")
    return f"{name} (search={search['name']})" if isinstance(search, Mapping) and search.get("name") else name


@dataclass
class BuiltOnce(Generic[T]):
    """A factory that builds once in each process.

    Attributes:
        build: the function that builds.
    """

    build: Callable[[], T]
    _built: T | None = field(default=None, init=False)

    def __call__(self) -> T:
        """Return the object, building it at the first call."""
        if self._built is None:
            self._built = self.build()
        return self._built

    def __getstate__(self) -> dict[str, Any]:
        """Leave the object out of pickles."""
        return {**self.__dict__, "_built": None}


@dataclass(frozen=True)
class LineUp:
    """A line-up.

    Attributes:
        players: an agent's name for each entry; a name that appears twice stands for two agents.
    """

    players: tuple[str, ...]

    @property
    def labels(self) -> tuple[str, ...]:
        """Names of the entries, where repeated names are numbered from the second on."""
        return tuple(name if not copy else f"{name}#{copy + 1}" for name, copy in self.copies)

    @property
    def copies(self) -> tuple[tuple[str, int], ...]:
        """The agent's name for each entry, and how many earlier entries have the same name."""
        return tuple((name, self.players[:entry].count(name)) for entry, name in enumerate(self.players))

    @property
    def title(self) -> str:
        """The labels, joined by "vs"."""
        return " vs ".join(self.labels)


Task = tuple[LineUp, int]
"""A line-up and a session."""


@dataclass(frozen=True)
class Rotation:
    """The deals and seatings that every line-up plays.

    Attributes:
        seed: seed of the cards and agents.
        session: deals in a session.
    """

    rules: Rules
    seed: int
    session: int

    @property
    def seatings(self) -> tuple[tuple[int, ...], ...]:
        """For each seating the entry in every seat, [P] for P players."""
        entries = range(self.rules.num_players)
        if len(entries) <= _ALL_ORDERS:
            return tuple(permutations(entries))
        return tuple(tuple((entry + shift) % len(entries) for entry in entries) for shift in entries)

    @property
    def by_deal(self) -> bool:
        """Whether all seatings of a deal are played in a row, each by its own copies of the agents.

        Agents then analyse the boards of a deal only once. Otherwise the same agents play a session in one seating
        after the other.
        """
        return self.session > 1 and self.rules.num_players > _ALL_ORDERS

    @property
    def hands_per_session(self) -> int:
        """Hands in a session, over all seatings."""
        return self.session * len(self.seatings)

    def deals(self, session: int) -> range:
        """Return the numbers of a session's deals."""
        return range(session * self.session, (session + 1) * self.session)

    def deal(self, number: int) -> HandState:
        """Return the first state of a deal."""
        return HandState.deal(self.rules, np.random.default_rng([_CARDS, self.seed, number]))

    def agent_seed(self, session: int, seating: int, entry: int) -> int:
        """Return the seed with which an entry's agent is reset before a session in a seating."""
        sequence = np.random.SeedSequence([_AGENTS, self.seed, session, seating, entry])
        return int(sequence.generate_state(1, np.uint64)[0])


def line_ups(game: Rules, names: Sequence[str], wanted: Sequence[Sequence[str]] | None) -> list[LineUp]:
    """Return the line-ups of a match, after checking them.

    Args:
        names: names of the agents.
        wanted: the line-ups. None gives all pairs heads-up, and otherwise one line-up of the agents in their order,
            repeated until the table is full.

    Raises:
        PokernetsError: a name is invalid or repeated, or a line-up does not fit the game.
    """
    if len(set(names)) != len(names):
        raise PokernetsError(f"`agents` names an agent twice: {', '.join(names)}; use `lineups` to let it play itself")
    check_names(names)
    players = game.num_players
    if wanted is None:
        if players == 2 and len(names) >= 2:
            return [LineUp(pair) for pair in combinations(names, 2)]
        repeated = (*names,) * players
        if len(names) > players or len(names) < 1 + (players == 2):
            raise PokernetsError(
                f"`{game.name}` needs {players}, but `agents` has {len(names)}: set the line-ups, for example"
                f" lineups=[[{','.join(repeated[:players])}]]"
            )
        return [LineUp(repeated[:players])]
    if not wanted:
        raise PokernetsError("`lineups` is empty: name at least one line-up, or leave it out")
    for line_up in wanted:
        unknown = [name for name in line_up if name not in names]
        if unknown or len(line_up) != players:
            wrong = f"`{unknown[0]}` is not among `agents`" if unknown else f"has {len(line_up)} of {players} players"
            raise PokernetsError(f"line-up [{', '.join(line_up)}]: {wrong}")
    return [LineUp(tuple(line_up)) for line_up in wanted]
