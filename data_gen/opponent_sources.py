"""Where `job=opponent_actions` takes hands from: the IRC archive, or matches among our own players."""

import itertools
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import numpy as np

from data_gen.opponent_actions import ObservedHand
from poker.agents.base import Agent
from poker.artifacts import file_sha256, fingerprint_of
from poker.betting import Betting
from poker.errors import PokernetsError
from poker.formats.irc import Problems, read_hands
from poker.formats.irc_replay import replay_all
from poker.play.hand import play_hand
from poker.rules import Rules
from poker.state import HandState


class IrcArchive:
    """Limit hold'em hands of people; `path` is an archive or an unpacked directory."""

    expected_hands = None

    def __init__(self, path: str | None) -> None:
        if path is None or not Path(path).exists():
            raise PokernetsError(f"source=irc needs path=ARCHIVE, a .tgz or a directory of the IRC archive, not {path}")
        self._path = Path(path)
        self.config: dict[str, Any] = {"source": "irc"}
        self.made_from = {"archive": _identity(self._path)}

    def hands(self, problems: Problems) -> Iterator[ObservedHand]:
        """Months, and hands within a month, by time stamp."""
        for hand in replay_all(read_hands(self._path, problems), problems):
            decisions = [
                (state.betting, state.board, move.action)
                for state, move in hand.states()
                if move.player == state.betting.to_act
            ]
            yield ObservedHand(hand.stamp, hand.names, decisions)


class SelfPlay:
    """`hands` hands among `agents` (name -> player), `game` with as many seats as it has, drawn anew for each hand.

    An agent sits at most once at a table, so there must be at least as many agents as seats.
    """

    def __init__(self, game: Rules, agents: Mapping[str, Agent], hands: int, seed: int) -> None:
        if len(agents) < game.num_players or not game.is_limit:
            raise PokernetsError(
                f"source=self_play needs a limit game and at least as many agents as seats: {game.name} has "
                f"{game.num_players} seats, agents are {', '.join(agents)}"
            )
        self._game, self._agents, self._seed = game, dict(agents), seed
        self.expected_hands = hands
        self.config: dict[str, Any] = {"source": "self_play", "hands": hands, "seed": seed, "agents": list(agents)}
        self.made_from = {"game": fingerprint_of(game.to_acpc())}

    def hands(self, problems: Problems) -> Iterator[ObservedHand]:
        """Hand i is dealt and seated by the i-th child of the seed."""
        names = list(self._agents)
        sequence = np.random.SeedSequence(self._seed)
        for agent, child in zip(self._agents.values(), sequence.spawn(len(names)), strict=True):
            agent.reset(int(child.generate_state(1)[0]))
        for number, child in enumerate(sequence.spawn(self.expected_hands)):
            rng = np.random.default_rng(child)
            seated = tuple(names[index] for index in rng.permutation(len(names))[: self._game.num_players])
            end = play_hand([self._agents[name] for name in seated], HandState.deal(self._game, rng))
            yield ObservedHand(number, seated, list(_decisions(end)))


def _decisions(end: HandState) -> Iterator[tuple[Betting, tuple[int, ...], int]]:
    """Betting and board before each action of a finished hand, and the action."""
    betting = Betting.start(end.rules)
    for action in itertools.chain.from_iterable(end.betting.actions):
        yield betting, end.runout[: end.rules.board_sizes[betting.street]], action
        betting = betting.apply(action)


def _identity(path: Path) -> str:
    """Hash of a file, or of the names and sizes of the files in a directory."""
    if path.is_file():
        return file_sha256(path)
    files = sorted(file for file in path.rglob("*") if file.is_file())
    return fingerprint_of([[str(file.relative_to(path)), file.stat().st_size] for file in files])
