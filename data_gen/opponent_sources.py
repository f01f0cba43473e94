"""Sources of hands for `job=opponent_actions`: the IRC archive, or matches among our own players."""

import itertools
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, TypeVar

import numpy as np

from data_gen.opponent_actions import Observe, ObservedHand
from poker.artifacts import artifacts_in, file_sha256, fingerprint_of
from poker.errors import PokernetsError
from poker.formats.irc import Problems, RawHand, read_hands
from poker.formats.irc_replay import replay_all
from poker.play.hand import play_hand
from poker.play.lineup import AgentSpec
from poker.rules import Rules
from poker.state import HandState

T = TypeVar("T")

_BATCH = 250
"""Hands of a task: a tenth of a second."""


class IrcArchive:
    """Limit hold'em hands of people; `path` is an archive or an unpacked directory."""

    expected_hands = None

    def __init__(self, path: str | None) -> None:
        if path is None or not Path(path).exists():
            raise PokernetsError(f"source=irc needs path=ARCHIVE, a .tgz or a directory of the IRC archive, not {path}")
        self._path = Path(path)
        self.config: dict[str, Any] = {"source": "irc"}
        self.made_from = {"archive": _identity(self._path)}
        self.observe: Observe = _replayed

    def batches(self, unread: Problems) -> Iterator[list[RawHand]]:
        """Months, and hands within a month, by time stamp."""
        return _batches(read_hands(self._path, unread))


def _replayed(batch: list[RawHand]) -> tuple[list[ObservedHand], Problems]:
    problems, found = Problems(), []
    for hand in replay_all(batch, problems):
        decisions = [
            (state.betting, state.board, move.action)
            for state, move in hand.states()
            if move.player == state.betting.to_act
        ]
        found.append(ObservedHand(hand.stamp, hand.names, decisions))
    return found, problems


class SelfPlay:
    """`hands` hands among `agents`, `game` with as many seats as it has, drawn anew for each hand.

    An agent sits at most once at a table, so there must be at least as many agents as seats.
    """

    def __init__(self, game: Rules, agents: Sequence[AgentSpec], hands: int, seed: int) -> None:
        names = [spec.name for spec in agents]
        if len(agents) < game.num_players or not game.is_limit:
            raise PokernetsError(
                f"source=self_play needs a limit game and at least as many agents as seats: {game.name} has "
                f"{game.num_players} seats, agents are {', '.join(names)}"
            )
        self._game, self._agents, self._seed = game, {spec.name: spec.build(game) for spec in agents}, seed
        self.expected_hands, self.observe = hands, _as_played
        settings = {f"agents.{spec.name}": dict(spec.settings) for spec in agents}
        self.config: dict[str, Any] = {"source": "self_play", "hands": hands, "seed": seed, "agents": names, **settings}
        self.made_from = {"game": fingerprint_of(game.to_acpc()), **artifacts_in(settings)}

    def batches(self, unread: Problems) -> Iterator[list[ObservedHand]]:
        return _batches(self._played())

    def _played(self) -> Iterator[ObservedHand]:
        """Hand i is dealt and seated by the i-th child of the seed."""
        names = list(self._agents)
        sequence = np.random.SeedSequence(self._seed)
        for agent, child in zip(self._agents.values(), sequence.spawn(len(names)), strict=True):
            agent.reset(int(child.generate_state(1)[0]))
        for number, child in enumerate(sequence.spawn(self.expected_hands)):
            rng = np.random.default_rng(child)
            seated = tuple(names[index] for index in rng.permutation(len(names))[: self._game.num_players])
            end = play_hand([self._agents[name] for name in seated], HandState.deal(self._game, rng))
            decisions = [
                (before, end.runout[: self._game.board_sizes[before.street]], action)
                for before, _, action in end.betting.turns()
            ]
            yield ObservedHand(number, seated, decisions)


def _as_played(hands: list[ObservedHand]) -> tuple[list[ObservedHand], Problems]:
    return hands, Problems()


def _batches(hands: Iterator[T]) -> Iterator[list[T]]:
    while batch := list(itertools.islice(hands, _BATCH)):
        yield batch


def _identity(path: Path) -> str:
    """Hash of a file, or of the names and sizes of the files in a directory."""
    if path.is_file():
        return file_sha256(path)
    files = sorted(file for file in path.rglob("*") if file.is_file())
    return fingerprint_of([[str(file.relative_to(path)), file.stat().st_size] for file in files])
