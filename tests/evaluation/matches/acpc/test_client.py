"""Our client at scripted dealers: odd lines, and dealers that vanish."""

import json
import socket
import threading
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from poker.agents.simple import AlwaysCall
from poker.formats.acpc.log import AcpcError
from poker.formats.acpc.protocol import LineConnection, NoAnswer
from poker.game.rules import Rules
from poker.game.state import HandState
from poker.play.network.client import DealerSeat
from poker.run.commands import COMMANDS
from poker.run.errors import PokernetsError
from tests.evaluation.matches.acpc.table import free_ports, sit_down
from tests.games import HEADS_UP, load_rules


class Dealer:
    """A scripted dealer for one player."""

    def __init__(self) -> None:
        self.server = socket.create_server(("localhost", 0))
        self.port = self.server.getsockname()[1]
        self.connection: socket.socket | None = None

    def accept(self) -> LineConnection:
        self.connection, _ = self.server.accept()
        return LineConnection(self.connection)

    def send(self, data: bytes) -> None:
        assert self.connection is not None
        self.connection.sendall(data)


STATES = [
    "MATCHSTATE:1:7::|JdTc",
    "MATCHSTATE:1:7:c:|JdTc",
    "MATCHSTATE:1:7:cc/:|JdTc/6dJc9c",
    "MATCHSTATE:1:7:cc/c:|JdTc/6dJc9c",
]


CALLS = partial(AlwaysCall, name="call")


def played(
    script: Callable[[Dealer, LineConnection], None], game: Rules = HEADS_UP, folder: Path | None = None
) -> tuple[DealerSeat | None, str]:
    """Play our client, always calling, at a scripted dealer: its seat, or the error that it ends with."""
    dealer = Dealer()
    outcome: list[Any] = []

    def client() -> None:
        try:
            outcome.append(sit_down(game, CALLS, dealer.port, folder))
        except PokernetsError as error:
            outcome.append(str(error))

    thread = threading.Thread(target=client, daemon=True)
    thread.start()
    with dealer.accept() as line:
        assert line.read(10) == "VERSION:2.0.0"
        script(dealer, line)
    thread.join(10)
    dealer.server.close()
    return (None, outcome[0]) if isinstance(outcome[0], str) else (outcome[0], "")


def finish_hand(dealer: Dealer) -> None:
    """Send the last state of the hand twice: it counts once."""
    dealer.send(b"MATCHSTATE:1:7:f:|JdTc\r\n" * 2)


def test_partial_reads_many_lines_at_once_comments_and_line_ends() -> None:
    def script(dealer: Dealer, line: LineConnection) -> None:
        for byte in (STATES[0] + "\r\n").encode():
            dealer.send(bytes([byte]))
        assert line.read(10) == f"{STATES[0]}:c"
        dealer.send(f"# a comment\r\n;gui\n\r\n{STATES[1]}\n{STATES[2]}\r\n{STATES[3]}\r\n".encode())
        assert line.read(10) == f"{STATES[3]}:c"
        finish_hand(dealer)

    seat, _ = played(script)
    assert seat is not None
    assert (seat.hands, seat.failures, seat.chips) == (1, [], [-50])


def test_a_repeated_state_is_answered_alike_and_rubbish_is_ignored_or_called() -> None:
    def script(dealer: Dealer, line: LineConnection) -> None:
        dealer.send(f"{STATES[0]}\r\n".encode())
        assert line.read(10) == f"{STATES[0]}:c"
        dealer.send(f"MATCHSTATE:1:7:z[/b]:|JdTc\r\nMATCHSTATE:\xe9\r\nhello\r\n{STATES[0]}\r\n".encode())
        assert line.read(10) == "MATCHSTATE:1:7:z[/b]:|JdTc:c"
        assert line.read(10) == f"{STATES[0]}:c"
        finish_hand(dealer)

    seat, _ = played(script)
    assert seat is not None
    assert (seat.hands, len(seat.failures)) == (1, 3)


def test_a_dealer_that_vanishes_in_a_hand_is_an_error() -> None:
    def script(dealer: Dealer, line: LineConnection) -> None:
        dealer.send(f"{STATES[0]}\r\n".encode())
        line.read(10)

    seat, error = played(script)
    assert seat is None
    assert "hand 7 at localhost" in error
    assert "was not finished: the other side closed the connection" in error


def test_a_dealer_that_ends_before_the_first_hand_is_an_error_and_leaves_no_log(tmp_path: Path) -> None:
    """The C dealer does when another player does not come within its --start_timeout."""
    seat, error = played(lambda dealer, line: None, folder=tmp_path)
    assert seat is None
    assert "no hand was dealt at localhost" in error
    assert not list(tmp_path.glob("**/*.*"))


def test_a_client_counts_as_the_dealer_does() -> None:
    """5 chips of a player who folded are divided between two hands of the same strength."""

    def script(dealer: Dealer, line: LineConnection) -> None:
        dealer.send(b"MATCHSTATE:1:0:cfc/cc/cc/cc:|AhKd|AsKh/QcJd9h/4s/5c\r\n")

    seat, _ = played(script, load_rules("holdem_limit_3p"))
    assert seat is not None
    assert (seat.chips, seat.failures) == ([2.5], [])


def test_hands_before_a_broken_one_are_reported(tmp_path: Path) -> None:
    """The C dealer closes the connections in the middle of a hand when any player is late."""

    def script(dealer: Dealer, line: LineConnection) -> None:
        dealer.send(b"MATCHSTATE:1:6:f:|AdTc\r\nMATCHSTATE:0:7:r300:JdTc|\r\n")
        assert line.read(10) == "MATCHSTATE:0:7:r300:JdTc|:c"

    _, error = played(script, folder=tmp_path)
    assert "hand 7 at localhost" in error
    [saved] = json.loads(next(tmp_path.glob("**/*.json")).read_text())["lineups"]
    assert [(row["units"], row["mean"]) for row in saved["players"]] == [(1, -500)]
    assert [item["error"] for item in saved["incidents"]] == [error]


@pytest.mark.parametrize("fails", [False, True])
def test_a_copy_of_the_agent_plays_a_hand_before_the_client_connects(tmp_path: Path, fails: bool) -> None:
    streets: list[int] = []

    class Asked(AlwaysCall):
        def act(self, state: HandState) -> int:
            streets.append(state.betting.street)
            if fails:
                raise ValueError("never")
            return super().act(state)

    [port] = free_ports(1)
    with pytest.raises(PokernetsError, match=str(port)):
        sit_down(HEADS_UP, partial(Asked, name="asked"), port, tmp_path, 0.1)
    assert streets == ([0] if fails else [0, 0, 1, 1, 2, 2, 3, 3])


def test_a_line_that_is_too_long_is_told_and_the_match_goes_on() -> None:
    """Below 4,096 bytes, in one piece, and in many; a comment of any length says nothing."""

    def script(dealer: Dealer, line: LineConnection) -> None:
        dealer.send(b"MATCHSTATE:1:7:" + b"c" * 5_000 + b"\r\n# " + b"-" * 9_000 + b"\r\n" + b"x" * 200_000)
        dealer.send(b"x" * 10 + b"\r\n" + f"{STATES[0]}\r\n".encode())
        assert line.read(10) == f"{STATES[0]}:c"
        finish_hand(dealer)

    seat, _ = played(script)
    assert seat is not None
    assert (seat.hands, len(seat.chips)) == (1, 1)
    assert ["of more than 4096 bytes" in item.error for item in seat.failures] == [True, True]


def test_a_client_says_what_it_does_and_where_its_notes_are(capsys: pytest.CaptureFixture[str]) -> None:
    [port] = free_ports(1)
    with pytest.raises(PokernetsError, match=str(port)):
        sit_down(HEADS_UP, CALLS, port, seconds=0.1)
    said = capsys.readouterr().err.splitlines()
    assert said[0] == "agent gets ready to play holdem_nolimit_2p: it loads and compiles"
    assert said[1] == f"call connects to localhost:{port}"

    def script(dealer: Dealer, line: LineConnection) -> None:
        dealer.send(f"{STATES[0]}\r\n".encode())
        line.read(10)
        finish_hand(dealer)

    seat, _ = played(script)
    assert seat is not None
    said = capsys.readouterr().err.splitlines()
    assert any(line.endswith("and waits for the first hand") for line in said)
    command = f"{COMMANDS['evaluate']} evaluate=replay log=DEALERS_LOG notes=[{seat.notes}]"
    assert said[-1] == f"AIVAT of the dealer's log: {command}"


@pytest.mark.parametrize("end", [b"", b"\n"])
def test_lines_time_out_and_are_bounded(end: bytes) -> None:
    dealer = Dealer()
    other = socket.create_connection(("localhost", dealer.port))
    with dealer.accept() as line:
        with pytest.raises(NoAnswer):
            line.read(0.05)
        other.sendall(b"x" * 10_000 + end)
        with pytest.raises(AcpcError, match="a line of more than 4096 bytes"):
            line.read(60)
        other.sendall(b"\n" * (not end) + b"next\n")
        assert line.read(60) == "next"
    other.close()
    dealer.server.close()
