"""One person's game against agents, without the page that shows it.

The person has a seat at a table whose other seats are agents; the button moves by one after every hand. The page gets
views of the person's seat, never the dealer's state. An action names the hand and how many actions came before it, so
that one from an old page changes nothing. Agents act when `let_agents_act` is called, which takes as long as they
think; everything else is quick. Calls may come from any thread.

An agent whose policy is known is shared by all games, and its actions are sampled here, so that the notes say what it
plays; any other agent is built for each game. All are in a pool of processes (`poker.studio.games.pool`).
"""

import threading
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Any

from poker.agents.base import OpponentRead, sample_action
from poker.formats.acpc.log import LoggedHand, check_names
from poker.game.betting import NOBODY
from poker.game.rules import Rules
from poker.game.state import HandState, IllegalAction, Policy, public_state
from poker.play.hand import Incident, checked, passive
from poker.play.lineup import AgentSpec, LineUp
from poker.play.notes import append_note
from poker.run.errors import PokernetsError, described
from poker.studio.games.pool import Call, Offers, Pool
from poker.studio.games.table_files import HandProgress, TableFiles

PERSON = "you"
_MOST_READ = 200
"""Latest decisions at which an agent is asked what it expects."""


class StalePageError(PokernetsError):
    """A request that belongs to a past state of the game, or comes out of turn."""


@dataclass(frozen=True)
class PooledAgent:
    """An agent of a pool in the game `game`: shared with other games, or the game's own `copy`."""

    pool: Pool
    game: str
    name: str
    copy: tuple[str, int] | None
    offers: Offers

    @property
    def is_shared(self) -> bool:
        return self.copy is None

    def ask(self, method: str, argument: HandState | int | list[HandState]) -> Any:
        """Wait for the answer to one call of a method of an `Agent`."""
        return self.pool.ask(self.game, Call(self.name, method, (argument,), self.copy))


class Opponents:
    """The agents of a server: `specs`, repeated until the table is full, in `processes` as for a `Pool`."""

    def __init__(self, rules: Rules, specs: Sequence[AgentSpec], processes: int | None = 0) -> None:
        names = [spec.name for spec in specs]
        if not specs or len(specs) >= rules.num_players or PERSON in names or len(set(names)) != len(names):
            raise PokernetsError(
                f"`{rules.name}` has {rules.num_players} seats, one of them yours: `agents` must be 1 to"
                f" {rules.num_players - 1} different ones, none of them named `{PERSON}`"
            )
        check_names(names)
        self._names = [names[i % len(names)] for i in range(rules.num_players - 1)]
        self.labels = LineUp((PERSON, *self._names)).labels
        self.pool = Pool({spec.name: partial(spec.build, rules) for spec in specs}, processes)

    def seated(self, game: str, seed: int) -> list[PooledAgent]:
        """The agents of one game, whose name must be unique, in the order of the labels after the person's. Raises the
        errors of building them, such as those of their artifacts."""
        offers = self.pool.start().result()
        return [
            PooledAgent(self.pool, game, name, None if offers[name].by_policy else (game, seed + number), offers[name])
            for number, name in enumerate(self._names)
        ]


@dataclass(frozen=True)
class Seen:
    """The person's view: `state` has no cards but theirs and, at a showdown, those of players who did not fold.

    `thinking` is for how many seconds the agent whose turn it is has thought or waited.
    """

    number: int
    seat: int
    names: tuple[str, ...]
    state: HandState
    thinking: float | None

    @property
    def step(self) -> int:
        """Actions so far."""
        return sum(map(len, self.state.betting.actions))

    @property
    def is_mine(self) -> bool:
        return self.state.to_act == self.seat


@dataclass
class TableGame:
    """The game that `files` keep; starts with the hand in progress there, else with the next one.

    `let_agents_act` calls `ended` with every hand that is over and in the files. `version` grows with every change.
    `thought` holds seconds of the agents' decisions, `incidents` the agents' failures.
    """

    rules: Rules
    opponents: Opponents
    files: TableFiles
    ended: Callable[[LoggedHand], None] = lambda hand: None
    version: int = 0
    thought: list[float] = field(default_factory=list)
    incidents: list[Incident] = field(default_factory=list)

    def __post_init__(self) -> None:
        self._lock = threading.RLock()
        self._working = threading.Lock()
        self._since: float | None = None
        self._untold: list[tuple[str, Callable[[], Any]]] = []
        """Calls, with the agents' labels, still to be made to tell agents of hands that began or ended."""
        self._over: list[LoggedHand] = []
        logged = self.files.hands()
        self.files.write_histories(logged)
        last = logged[-1].number if logged else -1
        stored = self.files.load()
        self._hand = stored or HandProgress(last + 1, self.files.deal(last + 1))
        self._logged = self._first = last
        """Number of the last hand in the files, and of that there when the agents came, who know none before it."""
        seed = int(self.files.rng(self._hand.number, self._hand.step).integers(2**62))
        self._agents = self.opponents.seated(str(self.files.folder), seed)
        self._start_hand()
        if stored is None:
            self.files.save(self._hand)
        elif stored.state.is_over and stored.number > last:
            self.files.add(stored, self._names)
            self._logged = stored.number

    @property
    def seat(self) -> int:
        """The person's seat: the button in the first hand, then the button moves on."""
        return (self.rules.num_players - 1 - self._hand.number) % self.rules.num_players

    @property
    def _names(self) -> tuple[str, ...]:
        players = self.rules.num_players
        return tuple(self.opponents.labels[(seat - self.seat) % players] for seat in range(players))

    def seen(self) -> Seen:
        with self._lock:
            since = self._since
            thinking = None if since is None else time.monotonic() - since
            return Seen(self._hand.number, self.seat, self._names, self._hand.state.view(self.seat), thinking)

    def act(self, number: int, step: int, action: int) -> None:
        """Take the person's action in hand `number` after `step` actions."""
        with self._lock:
            if (number, step) != (self._hand.number, self._hand.step) or self._hand.state.to_act != self.seat:
                raise StalePageError("the game has moved on since that was shown, or it is not your turn")
            if type(action) is not int:
                raise IllegalAction(f"an action is a whole number, not {str(action)[:40]!r}")
            self._apply(action)

    def deal(self, number: int) -> None:
        """Deal the hand after `number`, if that is over."""
        with self._lock:
            if number != self._hand.number or not self._hand.state.is_over:
                raise StalePageError("the next hand is dealt when the one that is played is over")
            self._end_hand()
            self._save(HandProgress(number + 1, self.files.deal(number + 1)))
            self._start_hand()

    def let_agents_act(self) -> None:
        """Let agents act until it is the person's turn or the hand is over; then report finished hands."""
        with self._working:
            self._tell()
            while self._one_action():
                pass
            with self._lock:
                self._end_hand()
            self._tell()
            while self._over:
                self.ended(self._over[0])
                self._over.pop(0)
                self.version += 1

    @property
    def reads(self) -> bool:
        """Whether the agent says what it has learned of the person."""
        return self.rules.num_players == 2 and self._agents[0].offers.reads

    def read(self) -> tuple[list[tuple[HandState, int]], OpponentRead]:
        """The person's latest decisions, with their actions, in the hands that the agent has seen, and what it has
        learned and expects there. Waits while agents act."""
        with self._working:
            taken = [
                (public_state(before, hand.state.runout[: self.rules.board_sizes[before.street]]), action)
                for hand in self.files.hands()
                if hand.number > self._first
                for before, player, action in hand.state.betting.turns()
                if hand.names[player] == PERSON
            ][-_MOST_READ:]
            read: OpponentRead = self._agents[0].ask("read", [state for state, _ in taken])
            return taken, read

    def _one_action(self) -> bool:
        """Take one action of an agent; whether it was an agent's turn."""
        with self._lock:
            hand, player = self._hand, self._hand.state.to_act
            if player in (self.seat, NOBODY):
                return False
            started = self._since = time.monotonic()
            self.version += 1
        try:
            action = self._action(hand, player)
            with self._lock:
                self.thought.append(time.monotonic() - started)
                self._since = None
                self._apply(action)
        finally:
            self._since = None
        return True

    def _start_hand(self) -> None:
        for seat, agent in self._seated().items():
            self._untold.append((self._names[seat], partial(agent.ask, "start_hand", seat)))

    def _tell(self) -> None:
        while self._untold:
            self._tried(*self._untold[0])
            self._untold.pop(0)

    def _seated(self) -> dict[int, PooledAgent]:
        """The agents by their seats in this hand."""
        players = self.rules.num_players
        return {(self.seat + place) % players: agent for place, agent in enumerate(self._agents, 1)}

    def _apply(self, action: int) -> None:
        self._save(HandProgress(self._hand.number, self._hand.state.apply(action)))
        self._end_hand()

    def _save(self, hand: HandProgress) -> None:
        """Write the hand before the game moves on: what cannot be written has not happened."""
        self.files.save(hand)
        self._hand = hand
        self.version += 1

    def _end_hand(self) -> None:
        """Logs a hand that is over and shows it to the agents that learn, unless that is done."""
        if not self._hand.state.is_over or self._logged >= self._hand.number:
            return
        self._over.append(self.files.add(self._hand, self._names))
        self._logged = self._hand.number
        for seat, agent in self._seated().items():
            if agent.offers.observes:
                end = partial(agent.ask, "end_hand", self._hand.state.view(seat))
                self._untold.append((self._names[seat], end))

    def _action(self, hand: HandProgress, player: int) -> int:
        """The agent's action, a check or fold if it fails; its policy is noted."""
        view, agent = hand.state.view(player), self._seated()[player]
        policy: Policy | None = None

        def answer() -> int:
            nonlocal policy
            if not agent.is_shared:
                return checked(view, agent.ask("act", view))
            answered: Policy = agent.ask("policy", public_state(view.betting, view.board))
            action = checked(view, sample_action(answered, view, self.files.rng(hand.number, hand.step)))
            policy = answered
            return action

        action = self._tried(self._names[player], answer)
        if agent.is_shared:
            append_note(self.files.notes, hand.number, player, view.betting.text(), policy)
        return passive(view) if action is None else action

    def _tried(self, label: str, step: Callable[[], Any]) -> Any:
        try:
            return step()
        except Exception as error:
            betting = self._hand.state.betting.text()
            self.incidents.append(Incident(label, self._hand.number, betting, described(error), ""))
            return None
