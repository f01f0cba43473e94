"""Matches of our clients at our dealer over real sockets, every player a thread."""

import socket
import threading
from collections.abc import Callable
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from poker.agents.base import Agent
from poker.agents.equity import EquityAgent
from poker.agents.simple import RandomAgent
from poker.evaluation.acpc import client as acpc_client
from poker.evaluation.acpc import dealer as acpc_dealer
from poker.evaluation.matches.table import AgentSpec
from poker.formats.acpc_log import chips_text, read_log
from poker.rules import Rules
from tests.evaluation.pages.test_html import check
from tests.games import load_rules
from tests.test_pokerkit import replay_in_pokerkit

RANDOM = partial(RandomAgent, name="random", raises=[0.5, 1, "a"])
EQUITY = partial(
    EquityAgent,
    name="equity",
    samples=100,
    raise_size=0.75,
    value=0.58,
    value_step=0.04,
    margin=0.0,
    bluff=0.1,
    fear=0.7,
    stray=0.25,
)
TIMES = acpc_dealer.Times(answer=60.0, in_hand=600.0, per_hand=60.0)


def free_ports(count: int) -> list[int]:
    sockets = [socket.create_server(("localhost", 0)) for _ in range(count)]
    ports = [server.getsockname()[1] for server in sockets]
    for server in sockets:
        server.close()
    return ports


def sit_down(game: Rules, build: Callable[[], Agent], port: int) -> acpc_client.Seat:
    spec = AgentSpec("agent", build, {})
    with TemporaryDirectory() as out:
        seat = acpc_client.run(
            game=game, agents=[spec], host="localhost", port=port, seed=port, connect_seconds=30.0, out=out
        )
        check((next((Path(out) / game.name).glob("*.html"))).read_text())
    return seat


def deal(
    game: Rules, builders: list[Callable[[], Agent]], hands: int, out: Path, **changes: Any
) -> tuple[acpc_dealer.DealerResult, list[acpc_client.Seat]]:
    """A match at our dealer; every player is a thread."""
    ports = free_ports(len(builders))
    seats: list[acpc_client.Seat] = []
    threads = [
        threading.Thread(target=lambda b=build, p=port: seats.append(sit_down(game, b, p)), daemon=True)
        for build, port in zip(builders, ports, strict=True)
    ]
    for thread in threads:
        thread.start()
    settings = {
        "game": game,
        "names": [f"p{i}" for i in range(len(builders))],
        "ports": ports,
        "hands": hands,
        "seed": 1,
        "rotate": True,
        "start_seconds": 30.0,
        "times": TIMES,
        "out": str(out),
    }
    result = acpc_dealer.run(**{**settings, **changes})
    for thread in threads:
        thread.join(30)
    return result, seats


def check_log(game: Rules, result: acpc_dealer.DealerResult, hands: int) -> None:
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


def long_match(name: str, hands: int) -> dict[str, Any]:
    """Hold'em between the equity player and random ones; every hand is played again here and in PokerKit."""
    game = load_rules(name)
    with TemporaryDirectory() as out:
        builders: list[Callable[[], Agent]] = [EQUITY, RANDOM, RANDOM]
        result, seats = deal(game, builders[: game.num_players], hands, Path(out))
        check_log(game, result, hands)
        for hand in read_log(game, result.log):
            replay_in_pokerkit(hand.state)
    told = [text for texts in result.failures.values() for text in texts]
    told += [text for seat in seats for text in seat.failures]
    return {
        "acpc": name,
        "hands": hands,
        "hands_of_each_client": [seat.hands for seat in seats],
        "failures": told,
        "ok": not told and all(seat.hands == hands for seat in seats),
    }
