"""One person's game against agents, without the page that shows it.

The person has a seat at a table whose other seats are agents; the button moves by one after every hand. The page gets
views of the person's seat, never the dealer's state. An action names the hand and the number of actions before it, so
that a click on an old page changes nothing. Agents act when `let_agents_act` is called, which takes as long as they
need; all other methods are fast. Calls may come from any thread.

An agent whose policy can be queried is shared by all games, and its actions are sampled here, so that the notes contain
the policy that it plays. Any other agent is built for each game. All agents are in a pool of processes
(`poker.studio.games.pool`).
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
"""Number of latest decisions for which an agent reports its expectations."""


class StalePageError(PokernetsError):
    """A request that belongs to a past state of the game, or comes out of turn."""


@dataclass(frozen=True)
class PooledAgent:
    """An agent of a pool in one game.

    Attributes:
        game: name of the game.
        copy: the game's own copy, as in `Call`; None if the agent is shared with other games.
        offers: its abilities.
    """

    pool: Pool
    game: str
    name: str
    copy: tuple[str, int] | None
    offers: Offers

    @property
    def is_shared(self) -> bool:
        """Whether other games use the same agent."""
        return self.copy is None

    def ask(self, method: str, argument: HandState | int | list[HandState]) -> Any:
        """Call a method of an `Agent` and wait for the answer."""
        return self.pool.ask(self.game, Call(self.name, method, (argument,), self.copy))


class Opponents:
    """The agents of a server.

    Args:
        specs: the agents, which are repeated until the table is full.
        processes: processes, as in `Pool`.
    """

    def __init__(self, rules: Rules, specs: Sequence[AgentSpec], processes: int | None = 0) -> None:
        """Set up the pool.

        Raises:
            PokernetsError: the number or the names of the agents do not fit the table.
        """
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
        """Return the agents of one game, in the order of the labels after the person's.

        Args:
            game: unique name of the game.
            seed: seed of agents that are built for the game.

        Raises:
            PokernetsError: an agent cannot be built, for example because an artifact is missing.
        """
        offers = self.pool.start().result()
        return [
            PooledAgent(self.pool, game, name, None if offers[name].by_policy else (game, seed + number), offers[name])
            for number, name in enumerate(self._names)
        ]


@dataclass(frozen=True)
class Seen:
    """The person's view of the game.

    Attributes:
        number: number of the hand.
        seat: the person's seat.
        names: names by seat.
        state: state with the person's cards and, at a showdown, the cards of players who did not fold.
        thinking: seconds for which the agent to act has computed or waited; None if no agent is to act.
    """

    number: int
    seat: int
    names: tuple[str, ...]
    state: HandState
    thinking: float | None

    @property
    def step(self) -> int:
        """Number of actions so far."""
        return sum(map(len, self.state.betting.actions))

    @property
    def is_mine(self) -> bool:
        """Whether the person is to act."""
        return self.state.to_act == self.seat


@dataclass
class TableGame:
    """A game that is stored in files, starting with the hand in progress there or with the next hand.

    Attributes:
        opponents: the agents.
        ended: called by `let_agents_act` with every hand that is over and stored.
        version: number that grows with every change.
        thought: seconds of the agents' decisions.
        incidents: the agents' failures.
    """

    rules: Rules
    opponents: Opponents
    files: TableFiles
    ended: Callable[[LoggedHand], None] = lambda hand: None
    version: int = 0
    thought: list[float] = field(default_factory=list)
    incidents: list[Incident] = field(default_factory=list)

    def __post_init__(self) -> None:
        """Open the files and seat the agents."""
        self._lock = threading.RLock()
        self._working = threading.Lock()
        self._since: float | None = None
        self._untold: list[tuple[str, Callable[[], Any]]] = []
        """Calls, with the agents' labels, that must still report hands that began or ended to the agents."""
        self._over: list[LoggedHand] = []
        logged = self.files.hands()
        self.files.write_histories(logged)
        last = logged[-1].number if logged else -1
        stored = self.files.load()
        self._hand = stored or HandProgress(last + 1, self.files.deal(last + 1))
        self._logged = self._first = last
        """Numbers of the last hand in the files, now and when the agents were seated; they know no hand before that."""
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
        """The person's seat: the button in the first hand, after which the button moves on."""
        return (self.rules.num_players - 1 - self._hand.number) % self.rules.num_players

    @property
    def _names(self) -> tuple[str, ...]:
        players = self.rules.num_players
        return tuple(self.opponents.labels[(seat - self.seat) % players] for seat in range(players))

    def seen(self) -> Seen:
        """Return the person's view."""
        with self._lock:
            since = self._since
            thinking = None if since is None else time.monotonic() - since
            return Seen(self._hand.number, self.seat, self._names, self._hand.state.view(self.seat), thinking)

    def act(self, number: int, step: int, action: int) -> None:
        """Take the person's action.

        Args:
            number: number of the hand.
            step: number of actions before it.

        Raises:
            StalePageError: the game is in another state, or it is not the person's turn.
            IllegalAction: the action is illegal.
        """
        with self._lock:
            if (number, step) != (self._hand.number, self._hand.step) or self._hand.state.to_act != self.seat:
                raise StalePageError("this page is out of date, or it is not your turn")
            if type(action) is not int:
                raise IllegalAction(f"an action is a whole number, not {str(action)[:40]!r}")
            self._apply(action)

    def deal(self, number: int) -> None:
        """Deal the next hand.

        Args:
            number: number of the hand before it.

        Raises:
            StalePageError: that is not the present hand, or it is not over.
        """
        with self._lock:
            if number != self._hand.number or not self._hand.state.is_over:
                raise StalePageError("the next hand is dealt when the current one is over")
            self._end_hand()
            self._save(HandProgress(number + 1, self.files.deal(number + 1)))
            self._start_hand()

    def let_agents_act(self) -> None:
        """Let agents act until it is the person's turn or the hand is over, and then report finished hands."""
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
        """Whether the agent reports what it has learned of the person."""
        return self.rules.num_players == 2 and self._agents[0].offers.reads

    def read(self) -> tuple[list[tuple[HandState, int]], OpponentRead]:
        """Return what the agent has learned of the person; waits while agents act.

        Returns:
            the person's latest decisions, with their actions, in the hands that the agent has seen, and the agent's
            expectations at these decisions.
        """
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
        """Take one action of an agent, and return whether it was an agent's turn."""
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
        """Return the agents by their seats in this hand."""
        players = self.rules.num_players
        return {(self.seat + place) % players: agent for place, agent in enumerate(self._agents, 1)}

    def _apply(self, action: int) -> None:
        self._save(HandProgress(self._hand.number, self._hand.state.apply(action)))
        self._end_hand()

    def _save(self, hand: HandProgress) -> None:
        """Write the hand before the game moves on, so that the game never contains an action that is not stored."""
        self.files.save(hand)
        self._hand = hand
        self.version += 1

    def _end_hand(self) -> None:
        """Log a hand that is over and show it to the agents that learn, unless that is done."""
        if not self._hand.state.is_over or self._logged >= self._hand.number:
            return
        self._over.append(self.files.add(self._hand, self._names))
        self._logged = self._hand.number
        for seat, agent in self._seated().items():
            if agent.offers.observes:
                end = partial(agent.ask, "end_hand", self._hand.state.view(seat))
                self._untold.append((self._names[seat], end))

    def _action(self, hand: HandProgress, player: int) -> int:
        """Return the agent's action, a check or fold if it fails, and store its policy."""
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
