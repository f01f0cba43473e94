"""Our agents and programs of others at our dealer, and our client at scripted dealers, over real sockets."""

import json
import socket
import threading
from collections.abc import Callable
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from pokerkit import HandHistory

from conf.compose import compose
from poker.agents.simple import AlwaysCall
from poker.formats.acpc.log import AcpcError, parse_match_state, read_log
from poker.formats.acpc.protocol import ConnectionLost, LineConnection, NoAnswer, connect
from poker.game.rules import CALL, FOLD, Rules
from poker.game.state import HandState
from poker.play.network.client import DealerSeat
from poker.play.network.dealer import Times
from poker.run.commands import COMMANDS
from poker.run.errors import PokernetsError
from tests.cases import cases, table
from tests.evaluation.matches.acpc.table import RANDOM, check_log, deal, dealt, free_ports, sit_down
from tests.games import HEADS_UP, load_rules
from tests.given import given
from tests.report.test_report import check
from tests.test_pokerkit import replay_in_pokerkit


@pytest.mark.parametrize(("name", "hands"), [("leduc", 40), ("holdem_nolimit_2p", 40), ("holdem_limit_3p", 40)])
def test_our_players_at_our_dealer(tmp_path: Path, name: str, hands: int) -> None:
    game = load_rules(name)
    result, seats = deal(game, [RANDOM] * game.num_players, hands, tmp_path, tmp_path / "clients")
    assert not any(result.failures.values())
    assert all(seat.hands == hands and not seat.failures for seat in seats)
    check_log(game, result, hands)
    totals = sorted(map(sum, result.chips.values()))
    assert sorted(sum(seat.chips) for seat in seats) == pytest.approx(totals)
    [saved] = json.loads((result.log.with_suffix("") / "results.json").read_text())["lineups"]
    assert [row["agent"] for row in saved["players"]] == list(result.chips)
    check((result.log.with_suffix("") / "report.html").read_text())
    check_views(game, result.log, [seat.log for seat in seats])
    for hand in read_log(game, result.log) if game.total_board_cards == 5 else ():
        assert replay_in_pokerkit(hand.state)


def check_views(game: Rules, log: Path, views: list[Path]) -> None:
    """The clients' logs are the dealer's, less cards that each did not see; each knows the others by their places."""
    whole = list(read_log(game, log))
    seen = [list(read_log(game, view)) for view in views]
    me = [hands[0].names.index("random") for hands in seen]
    assert sorted(me) == list(range(game.num_players))
    hidden = 0
    for k, hands in enumerate(seen):
        for mine, hand in zip(hands, whole, strict=True):
            player = mine.names.index("random")
            assert mine.state == hand.state.view(player)
            assert (mine.number, mine.payoffs) == (hand.number, hand.payoffs)
            assert hand.names[player] == whole[0].names[me[k]]
            hidden += mine.state.hole_cards.count(())
            for other, name in enumerate(hand.names):
                place = (whole[0].names.index(name) - me[k]) % game.num_players
                assert mine.names[other] == (f"opponent#{place}" if place else "random")
    assert hidden > 10
    histories = log.with_suffix(".phhs")
    assert histories.exists() == (game.total_board_cards == 5)
    if histories.exists():
        with histories.open("rb") as file:
            assert [[*history][-1].payoffs for history in HandHistory.load_all(file)] == [
                hand.state.payoffs() for hand in whole
            ]


def test_files_of_earlier_matches_are_not_overwritten(tmp_path: Path) -> None:
    """Same names, seed and ports: the dealer's files and the clients' are numbered."""
    calls = partial(AlwaysCall, name="call")
    logs: list[Path] = []
    first: dict[Path, bytes] = {}
    ports = free_ports(2)
    for hands in (2, 4):
        result, seats = deal(HEADS_UP, [calls, calls], hands, tmp_path, tmp_path / "clients", ports=ports)
        logs += [result.log, *(seat.log for seat in seats)]
        assert all(len(list(read_log(HEADS_UP, log))) == hands for log in logs[-3:])
        if not first:
            first = {path: path.read_bytes() for path in tmp_path.glob("**/*.*")}
    assert [log.name for log in logs if "client" not in log.name] == ["acpc-p0-p1-seed1.log", "acpc-p0-p1-seed1-2.log"]
    clients = sorted(log.name for log in logs if "client" in log.name)
    assert clients == sorted(f"acpc-client-call-port{port}{end}.log" for port in ports for end in ("", "-2"))
    for ending in (".log", "results.json", "report.html", ".phhs"):
        assert len([path for path in first if path.name.endswith(ending)]) == 3
        assert len(list(tmp_path.glob(f"**/*{ending}"))) == 6
    assert {path: path.read_bytes() for path in first} == first


def test_cards_come_from_a_secret_unless_a_seed_is_given(tmp_path: Path) -> None:
    """A client is told the number of the hand: whoever has the seed knows all cards. The report tells it afterwards."""
    calls = partial(AlwaysCall, name="call")
    commands = ("acpc", "acpc_client")
    settings = [compose("evaluate", [f"evaluate={name}", *["port=1"] * (name == "acpc_client")]) for name in commands]
    assert [setting.seed for setting in settings] == [None] * 2
    logs = [deal(HEADS_UP, [calls, calls], 2, tmp_path, seed=seed)[0].log for seed in (None, None, 7, 7)]
    cards = [[hand.state.hole_cards for hand in read_log(HEADS_UP, log)] for log in logs]
    assert (len(set(cards[0] + cards[1] + cards[2])), cards[2]) == (6, cards[3])
    assert [log.name for log in logs[:3]] == ["acpc-p0-p1.log", "acpc-p0-p1-2.log", "acpc-p0-p1-seed7.log"]
    assert logs[0].read_text().splitlines()[0].endswith(" secret")
    drawn = json.loads((logs[0].with_suffix("") / "results.json").read_text())["seed"]
    assert drawn > 2**64
    assert cards[0] == [HandState.deal(HEADS_UP, np.random.default_rng([drawn, n])).hole_cards for n in range(2)]


class Silent(AlwaysCall):
    """Does not answer from the tenth decision on, until `done`."""

    def __init__(self, done: threading.Event) -> None:
        super().__init__(name="silent")
        self.done = done
        self.asked = 0

    def act(self, state: HandState) -> int:
        self.asked += 1
        if self.asked >= 10:
            self.done.wait(60)
        return super().act(state)


class Shy(AlwaysCall):
    """Folds the first blind, calls else."""

    def __init__(self) -> None:
        super().__init__(name="shy")

    def act(self, state: HandState) -> int:
        return FOLD if state.to_act == 0 and state.legal().fold else CALL


class Confused(AlwaysCall):
    """Always raises to one chip."""

    def __init__(self) -> None:
        super().__init__(name="confused")

    def act(self, state: HandState) -> int:
        return 1


def test_a_late_player_is_named_and_the_match_ends(tmp_path: Path) -> None:
    times = Times(answer=5.0, in_hand=600.0, per_hand=60.0)
    calls, done = partial(AlwaysCall, name="call"), threading.Event()
    players = [partial(sit_down, HEADS_UP, build) for build in (partial(Silent, done), calls)]
    settings: dict[str, Any] = {"names": ["late", "call"], "hands": 20, "times": times}
    result = dealt(HEADS_UP, players, tmp_path, afterwards=done.set, **settings)
    assert "no answer within 5 s; it checks or folds on" in result.failures["late"][0]
    assert not result.failures["call"]
    assert len(list(read_log(HEADS_UP, result.log))) == 20
    assert len(result.chips["late"]) == 20


def test_match_continues_after_a_stray_connection(tmp_path: Path) -> None:
    game = load_rules("kuhn")

    def stray_first(port: int) -> None:
        with connect("localhost", port, 30.0) as stray:
            stray.send("hello [/b]")
            with pytest.raises(ConnectionLost):
                stray.read(30.0)
        sit_down(game, partial(AlwaysCall, name="call"), port)

    result = dealt(game, [stray_first] * 2, tmp_path, names=["p0", "p1"], hands=6)
    assert (result.failures, len(result.chips["p0"])) == ({"p0": [], "p1": []}, 6)
    rejected = json.loads((result.log.with_suffix("") / "results.json").read_text())["settings"]["rejected"]
    assert sorted(what.split(":")[0] for what in rejected) == ["p0", "p1"]
    assert all("sends `hello [/b]`" in what for what in rejected)


def test_an_agent_with_illegal_answers_checks_or_folds(tmp_path: Path) -> None:
    result, seats = deal(HEADS_UP, [Confused, partial(AlwaysCall, name="call")], 6, tmp_path)
    confused = next(seat for seat in seats if seat.failures)
    assert "illegal action `raise to 1`" in confused.failures[0].error
    assert not any(result.failures.values())


def answer_states(game: Rules, answer: Callable[[str], list[str]], port: int) -> None:
    """A program that answers every state in which it is to act with `answer(state text)`, lines of its own making."""
    with connect("localhost", port, 30.0) as line:
        line.send("VERSION:2.0.0")
        while True:
            text = line.read(30.0)
            match_state = parse_match_state(game, text)
            if match_state.state.to_act == match_state.player:
                for reply in answer(text):
                    line.send(reply)


def foreign(tmp_path: Path, answer: Callable[[str], list[str]], name: str = "holdem_nolimit_2p") -> Any:
    """Two hands of such a program against always-call."""
    game = load_rules(name)
    players: list[Callable[[int], object]] = [
        partial(answer_states, game, answer),
        partial(sit_down, game, partial(AlwaysCall, name="c")),
    ]
    result = dealt(game, players, tmp_path, names=["foreign", "call"], hands=2, rotate=False)
    return result, [hand.state.betting.text() for hand in read_log(game, result.log)]


@cases
def test_answers_are_read_as_the_dealer_of_the_competition_reads_them(tmp_path: Path, written: str, meant: str) -> None:
    result, betting = foreign(tmp_path, lambda state: [f"{state}:{written}"])
    assert not result.failures["foreign"]
    assert all(text.startswith(f"c{meant}") for text in betting), betting


def test_separators_and_letters_may_differ_and_sizes_of_limit_raises_count_nothing(tmp_path: Path) -> None:
    def answer(state: str) -> list[str]:
        *fields, cards = state.split(":")
        return [":".join([fields[0], fields[1], fields[2], fields[3].replace("/", ""), cards.upper(), "r8"])]

    result, betting = foreign(tmp_path, answer, "holdem_limit_2p")
    assert not result.failures["foreign"]
    assert all(text.startswith("crrrc/") or text.startswith("crc/") for text in betting), betting


def test_unknown_lines_are_reported_and_unknown_actions_are_calls(tmp_path: Path) -> None:
    result, betting = foreign(
        tmp_path,
        lambda state: ["# thinking", ";gui", "hello [/b]", f"{state.replace('MATCHSTATE:0', 'MATCHSTATE:1')}:c", state],
    )
    assert betting == ["cc/cc/cc/cc"] * 2
    errors = result.failures["foreign"][:3]
    assert "answers another state is ignored: `hello [/b]`" in errors[0]
    assert "answers another state is ignored: `MATCHSTATE:1" in errors[1]
    assert "`` is not an action: expected f, c or r" in errors[2]
    assert "called instead" in errors[2]


def test_no_dealer_and_no_player(capsys: pytest.CaptureFixture[str]) -> None:
    port = free_ports(1)[0]
    with pytest.raises(PokernetsError, match=f"no dealer at localhost:{port}"):
        connect("localhost", port, 0.5)
    assert capsys.readouterr().err == f"waiting 0.5 s for a dealer at localhost:{port}\n"
    with pytest.raises(PokernetsError, match=r"p0, p1 did not connect within 0.1 s"):
        deal(HEADS_UP, [], 1, Path(), names=["p0", "p1"], ports=[0, 0], start_seconds=0.1)
    with pytest.raises(PokernetsError, match="needs 2 different `names`"):
        deal(HEADS_UP, [], 1, Path(), names=["p0", "p0"], ports=[0, 0])
    with pytest.raises(PokernetsError, match="player name `Zoë`: a name in a log is ASCII"):
        deal(HEADS_UP, [], 1, Path(), names=["p0", "Zoë"], ports=[0, 0], start_seconds=0.1)


def test_odd_chips_are_divided_in_log_and_score(tmp_path: Path) -> None:
    """Player 0 folds 5 chips, which two others split whenever their hands are equal."""
    game = replace(load_rules("holdem_limit_3p"), num_ranks=3, num_hole_cards=1, board_cards=(0, 0, 0, 0))
    result, seats = deal(game, [Shy, Shy, Shy], 60, tmp_path)
    check_log(game, result, 60)
    payoffs = [chips for hand in read_log(game, result.log) for chips in hand.payoffs]
    assert -5 in payoffs
    assert 2.5 in payoffs
    assert sorted(sum(seat.chips) for seat in seats) == sorted(
        float(chips) for chips in result.log.read_text().splitlines()[-1].split(":")[1].split("|")
    )


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


STATES = table(__file__, "STATES")


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

    seat = given(played(script)[0])
    assert (seat.hands, seat.failures, seat.chips) == (1, [], [-50])


def test_a_repeated_state_is_answered_alike_and_rubbish_is_ignored_or_called() -> None:
    def script(dealer: Dealer, line: LineConnection) -> None:
        dealer.send(f"{STATES[0]}\r\n".encode())
        assert line.read(10) == f"{STATES[0]}:c"
        dealer.send(f"MATCHSTATE:1:7:z[/b]:|JdTc\r\nMATCHSTATE:\xe9\r\nhello\r\n{STATES[0]}\r\n".encode())
        assert line.read(10) == "MATCHSTATE:1:7:z[/b]:|JdTc:c"
        assert line.read(10) == f"{STATES[0]}:c"
        finish_hand(dealer)

    seat = given(played(script)[0])
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

    seat = given(played(script, load_rules("holdem_limit_3p"))[0])
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


def test_line_that_is_too_long_is_reported_and_the_match_continues() -> None:
    """Below 4,096 bytes, in one piece, and in many; a comment of any length says nothing."""

    def script(dealer: Dealer, line: LineConnection) -> None:
        dealer.send(b"MATCHSTATE:1:7:" + b"c" * 5_000 + b"\r\n# " + b"-" * 9_000 + b"\r\n" + b"x" * 200_000)
        dealer.send(b"x" * 10 + b"\r\n" + f"{STATES[0]}\r\n".encode())
        assert line.read(10) == f"{STATES[0]}:c"
        finish_hand(dealer)

    seat = given(played(script)[0])
    assert (seat.hands, len(seat.chips)) == (1, 1)
    assert ["of more than 4096 bytes" in item.error for item in seat.failures] == [True, True]


def test_client_prints_its_progress_and_the_command_for_its_notes(capsys: pytest.CaptureFixture[str]) -> None:
    [port] = free_ports(1)
    with pytest.raises(PokernetsError, match=str(port)):
        sit_down(HEADS_UP, CALLS, port, seconds=0.1)
    said = capsys.readouterr().err.splitlines()
    assert said[0] == "agent loads and compiles for holdem_nolimit_2p"
    assert said[1] == f"call connects to localhost:{port}"

    def script(dealer: Dealer, line: LineConnection) -> None:
        dealer.send(f"{STATES[0]}\r\n".encode())
        line.read(10)
        finish_hand(dealer)

    seat = given(played(script)[0])
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
