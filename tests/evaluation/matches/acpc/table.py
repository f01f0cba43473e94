"""Matches of our clients at our dealer over real sockets, every player a thread."""

import socket
import threading
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import pytest
from pokerkit import HandHistory

from poker.agents.base import Agent
from poker.agents.simple import RandomAgent
from poker.evaluation.matches import acpc
from poker.evaluation.matches.match_results import MatchResults
from poker.evaluation.matches.results import chip_value
from poker.formats.acpc.log import chips_text, read_log
from poker.game.rules import Rules
from poker.play.lineup import AgentSpec
from poker.play.network.client import DealerSeat
from poker.play.network.dealer import Times
from poker.run.errors import PokernetsError
from tests.random_play import pokerkit_pays
from tests.report.test_report import check

RANDOM = partial(RandomAgent, name="random", raises=[0.5, 1, "a"])
TIMES = Times(answer=60.0, in_hand=600.0, per_hand=60.0)


@dataclass(frozen=True)
class Dealt:
    """A match at our dealer: chips of each hand [n] and failures by name."""

    log: Path
    chips: dict[str, list[float]]
    failures: dict[str, list[str]]

    @classmethod
    def of(cls, results: MatchResults) -> "Dealt":
        [played] = results.lineups
        names, scale = played.lineup.players, chip_value(results.game, results.unit)
        return cls(
            played.log,
            {name: (units / scale).tolist() for name, units in zip(names, played.values().T, strict=True)},
            {name: [item.error for item in played.incidents if item.agent == name] for name in names},
        )


def free_ports(count: int) -> list[int]:
    sockets = [socket.create_server(("localhost", 0)) for _ in range(count)]
    ports = [server.getsockname()[1] for server in sockets]
    for server in sockets:
        server.close()
    return ports


def sit_down(
    game: Rules, build: Callable[[], Agent], port: int, folder: Path | None = None, seconds: float = 30.0
) -> DealerSeat:
    """Play our client at the dealer, check its files and return its seat; files stay in `folder`, if that is given. It
    waits for a dealer for `seconds` seconds."""
    spec = AgentSpec("agent", build, {})
    with TemporaryDirectory() as temporary:
        out = folder or Path(temporary)
        seat = acpc.sit_down(
            game=game, agents=[spec], host="localhost", port=port, seed=port, connect_seconds=seconds, out=str(out)
        )
        check((seat.log.with_suffix("") / "report.html").read_text())
        check_client_log(game, seat)
    return seat


def check_client_log(game: Rules, seat: DealerSeat) -> None:
    """Check the hands whose result the client knows: its log, and its hand histories, which PokerKit pays alike."""
    hands = list(read_log(game, seat.log))
    me = seat.log.read_text().split()[1]
    assert [hand.payoffs[hand.names.index(me)] for hand in hands] == pytest.approx(seat.chips)
    if game.total_board_cards < 5:
        return
    with seat.log.with_suffix(".phhs").open("rb") as file:
        histories = list(HandHistory.load_all(file))
        payoffs = [[*history][-1].payoffs for history in histories]
    assert all(pokerkit_pays(theirs, hand.state) for theirs, hand in zip(payoffs, hands, strict=True))
    unseen = [sum("????" in action for action in history.actions) for history in histories]
    assert unseen == [hand.state.hole_cards.count(()) for hand in hands]


def deal(
    game: Rules,
    builders: Sequence[Callable[[], Agent]],
    hands: int,
    out: Path,
    clients: Path | None = None,
    **changes: Any,
) -> tuple[Dealt, list[DealerSeat]]:
    """A match of our clients at our dealer, whose files stay in `clients`."""
    seats: list[DealerSeat] = []
    players = [lambda port, b=build: seats.append(sit_down(game, b, port, clients)) for build in builders]
    names = [f"p{i}" for i in range(len(builders))]
    return dealt(game, players, out, **{"names": names, "hands": hands, **changes}), seats


def dealt(
    game: Rules,
    players: Sequence[Callable[[int], object]],
    out: Path,
    *,
    ports: list[int] | None = None,
    afterwards: Callable[[], None] = lambda: None,
    **settings: Any,
) -> Dealt:
    """A match at our dealer: every player is a thread that is given a port, and may end with a refusal."""

    def play(player: Callable[[int], object], port: int) -> None:
        with suppress(PokernetsError):
            player(port)

    ports = ports or free_ports(len(players))
    threads = [threading.Thread(target=play, args=pair, daemon=True) for pair in zip(players, ports, strict=False)]
    for thread in threads:
        thread.start()
    usual = {"seed": 1, "rotate": True, "start_seconds": 30.0, "times": TIMES}
    result = Dealt.of(acpc.deal(game=game, out=str(out), ports=ports, **{**usual, **settings}))
    afterwards()
    for thread in threads:
        thread.join(60)
    return result


def check_log(game: Rules, result: Dealt, hands: int) -> None:
    """Every hand replays, in seats that rotate, and the score is the sum of the payoffs."""
    logged = list(read_log(game, result.log))
    assert [hand.number for hand in logged] == list(range(hands))
    names = [f"p{i}" for i in range(game.num_players)]
    totals = dict.fromkeys(names, 0.0)
    for hand in logged:
        shift = hand.number % game.num_players
        assert list(hand.names) == names[shift:] + names[:shift]
        for name, chips in zip(hand.names, hand.payoffs, strict=True):
            totals[name] += chips
    score = result.log.read_text().splitlines()[-1]
    assert score == f"SCORE:{'|'.join(chips_text(totals[name]) for name in names)}:{'|'.join(names)}"
