"""Sources of hands for `job=opponent_actions`: the IRC archive, hand histories, or matches among our own players."""

import datetime
import itertools
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any, Protocol, TypeVar

import numpy as np

from poker.formats import histories
from poker.formats.irc.archive import Problems, RawHand, read_hands
from poker.formats.irc.replay import replay_all
from poker.formats.played import HistoryError, PlayedHand
from poker.game.betting import Betting
from poker.game.rules import LIMIT, Rules
from poker.game.state import HandState
from poker.play.hand import play_hand
from poker.play.lineup import AgentSpec
from poker.run.errors import PokernetsError
from poker.store.artifacts import artifacts_in, file_sha256, fingerprint_of

T = TypeVar("T")

_BATCH = 250
"""Hands per task, which take a tenth of a second."""


@dataclass(frozen=True)
class ObservedHand:
    """A finished hand.

    Attributes:
        time: time stamp.
        names: names of the players.
        decisions: (betting before, board on the table, action) of each decision taken in turn.
    """

    time: int
    names: tuple[str, ...]
    decisions: list[tuple[Betting, tuple[int, ...], int]]


Observe = Callable[[list[Any]], tuple[list[ObservedHand], Problems]]


class HandSource(Protocol):
    """A source of hands.

    Attributes:
        config: settings, for the manifest.
        made_from: fingerprints of the inputs.
        expected_hands: number of hands; None if unknown.
        observe: picklable function from a batch to its observed hands and the problems of the others.
    """

    config: dict[str, Any]
    made_from: dict[str, str]
    expected_hands: int | None
    observe: Observe

    def batches(self, unread: Problems) -> Iterator[list[Any]]:
        """Yield hands in batches of some hundreds; hands that cannot be read are added to `unread`."""


class IrcArchive:
    """Limit hold'em hands of people from the IRC archive.

    Args:
        path: an archive or an unpacked directory.
    """

    expected_hands = None

    def __init__(self, path: str | None) -> None:
        """Identify the archive by a hash.

        Raises:
            PokernetsError: there is nothing at `path`.
        """
        self._path = _existing(path, "source=irc needs path=ARCHIVE, a .tgz or a directory of the IRC archive")
        self.config: dict[str, Any] = {"source": "irc", "betting": LIMIT}
        self.made_from = {"archive": _identity(self._path)}
        self.observe: Observe = _replayed

    def batches(self, unread: Problems) -> Iterator[list[RawHand]]:
        """Yield the hands by month, and within a month by time stamp."""
        return _batches(read_hands(self._path, unread))


def _replayed(batch: list[RawHand]) -> tuple[list[ObservedHand], Problems]:
    problems, observed = Problems(), []
    for hand in replay_all(batch, problems):
        decisions = [
            (state.betting, state.board, move.action)
            for state, move in hand.states()
            if move.player == state.betting.to_act
        ]
        observed.append(ObservedHand(hand.stamp, hand.names, decisions))
    return observed, problems


class HandHistories:
    """Hold'em hands of one kind of betting from a file or a directory, in any readable format.

    Bovada's hands name nobody, so their players count as new in every hand.

    Args:
        path: a file of hand histories or a directory.
        betting: limit or no-limit.
    """

    expected_hands = None

    def __init__(self, path: str | None, betting: str) -> None:
        """Identify the files by a hash.

        Raises:
            PokernetsError: there is nothing at `path`.
        """
        self._path = _existing(path, "source=hands needs path=FILES, a file of hand histories or a directory")
        self.config: dict[str, Any] = {"source": "hands", "betting": betting}
        self.made_from = {"hands": _identity(self._path)}
        self.observe: Observe = partial(_observed, betting)

    def batches(self, unread: Problems) -> Iterator[list[PlayedHand]]:
        """Yield the hands of all files, in the order of their paths."""
        files = [self._path] if self._path.is_file() else sorted(f for f in self._path.rglob("*") if f.is_file())
        refused = partial(_unreadable, unread)
        return _batches(hand for file in files for hand in histories.read_hands(file, refused=refused))


def _unreadable(problems: Problems, error: HistoryError) -> None:
    problems.add("hands that cannot be read", str(error))


def _observed(betting: str, batch: list[PlayedHand]) -> tuple[list[ObservedHand], Problems]:
    problems, observed = Problems(), []
    for hand in batch:
        if hand.rules.betting != betting:
            problems.add(f"hands that are not {betting}", f"hand {hand.number}")
            continue
        anonymous = hand.details.get("venue") == "Bovada"
        names = tuple(f"{hand.number} {name}" if anonymous else name for name in hand.names)
        observed.append(ObservedHand(_time(hand), names, _decisions(hand.state)))
    return observed, problems


def _time(hand: PlayedHand) -> int:
    """Return the seconds of the hand's date; 0 without a date, so that hands keep the order of the files."""
    date = [hand.details.get(name) for name in ("year", "month", "day")]
    clock = hand.details.get("time")
    if not all(isinstance(part, int) for part in date):
        return 0
    day = datetime.date(*date)  # type: ignore[arg-type]
    moment = datetime.datetime.combine(day, clock if isinstance(clock, datetime.time) else datetime.time())
    return int(moment.replace(tzinfo=datetime.UTC).timestamp())


def _decisions(end: HandState) -> list[tuple[Betting, tuple[int, ...], int]]:
    """Return the decisions of a finished hand that were taken in turn."""
    return [
        (before, end.runout[: end.rules.board_sizes[before.street]], action)
        for before, player, action in end.betting.turns()
        if player == before.to_act
    ]


class SelfPlay:
    """Hands among our own agents, who are drawn and seated again for each hand.

    An agent sits at most once at a table, so there must be at least as many agents as seats. After every `session`
    hands all agents get new names, so that there are many unseen players to learn from.

    Args:
        seed: seed of the cards and seats.
        session: hands after which names change; None for never.
    """

    def __init__(
        self, game: Rules, agents: Sequence[AgentSpec], hands: int, seed: int, session: int | None = None
    ) -> None:
        """Build the agents.

        Raises:
            PokernetsError: there are fewer agents than seats.
        """
        names = [spec.name for spec in agents]
        if len(agents) < game.num_players:
            raise PokernetsError(
                f"source=self_play needs at least as many agents as seats: {game.name} has {game.num_players} seats, "
                f"agents are {', '.join(names)}"
            )
        self._session = session or hands
        self._game, self._agents, self._seed = game, {spec.name: spec.build(game) for spec in agents}, seed
        self.expected_hands, self.observe = hands, _as_played
        settings = {f"agents.{spec.name}": dict(spec.settings) for spec in agents}
        self.config: dict[str, Any] = {"source": "self_play", "betting": game.betting, "hands": hands, "seed": seed}
        self.config |= {"agents": names, **settings, **({"session": session} if session else {})}
        self.made_from = {"game": fingerprint_of(game.to_acpc()), **artifacts_in(settings)}

    def batches(self, unread: Problems) -> Iterator[list[ObservedHand]]:
        """Yield the hands as they are played."""
        return _batches(self._played())

    def _played(self) -> Iterator[ObservedHand]:
        """Play the hands; hand i is dealt and seated by the i-th child of the seed."""
        names = list(self._agents)
        sequence = np.random.SeedSequence(self._seed)
        for agent, child in zip(self._agents.values(), sequence.spawn(len(names)), strict=True):
            agent.reset(int(child.generate_state(1)[0]))
        for number, child in enumerate(sequence.spawn(self.expected_hands)):
            rng = np.random.default_rng(child)
            seated = tuple(names[index] for index in rng.permutation(len(names))[: self._game.num_players])
            end = play_hand([self._agents[name] for name in seated], HandState.deal(self._game, rng))
            nights = number // self._session
            now = tuple(f"{name} {nights}" if nights else name for name in seated)
            yield ObservedHand(number, now, _decisions(end))


def _as_played(hands: list[ObservedHand]) -> tuple[list[ObservedHand], Problems]:
    return hands, Problems()


def _batches(hands: Iterator[T]) -> Iterator[list[T]]:
    while batch := list(itertools.islice(hands, _BATCH)):
        yield batch


def _existing(path: str | None, need: str) -> Path:
    if path is None or not Path(path).exists():
        raise PokernetsError(f"{need}, not {path}")
    return Path(path)


def _identity(path: Path) -> str:
    """Return the hash of a file, or of the names and sizes of the files in a directory."""
    if path.is_file():
        return file_sha256(path)
    files = sorted(file for file in path.rglob("*") if file.is_file())
    return fingerprint_of([[str(file.relative_to(path)), file.stat().st_size] for file in files])
