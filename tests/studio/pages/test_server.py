"""The server as its clients meet it: hands by clicking, hidden cards, two visitors, a kill, and rubbish."""

import http.client
import json
import random
import re
from pathlib import Path
from typing import Any

import websocket

from poker.formats.acpc.log import read_log
from poker.game.betting import Betting
from poker.game.cards import cards_text, parse_cards
from poker.studio.pages.words import card_name
from tests.games import HEADS_UP as RULES
from tests.studio.pages.serving import Client, Server, serving

_FRAMES = ("42", '42["event"', "42[]", "4", "9", "451-[", "{", "41", "1", "\ud7ff" * 50)
_PATHS = ("/", "/?token=x", "/no", "/..%2f..%2fetc/passwd", "/_nicegui_ws/socket.io/?EIO=4", "/_nicegui/x")


def folder_of(server: Server, client: Client) -> Path:
    """Where the hands of this client's visitor are kept."""
    [name] = set(re.findall(r"/([0-9a-f]{16})\b", json.dumps(client.elements)))
    [folder] = server.runs.glob(f"table/holdem_nolimit_2p/*/{name}")
    return folder


def dealt(folder: Path) -> dict[str, Any]:
    """The hand in progress, as the server alone knows it."""
    hand: dict[str, Any] = json.loads((folder / "hand.json").read_text())
    return hand


def names(cards: list[int]) -> list[str]:
    return [card_name(cards_text([card])) for card in cards]


def test_the_server_sends_no_hidden_card(server: Server) -> None:
    """All messages of many hands are read: those before a showdown hold neither the agent's cards nor cards to come."""
    client = Client(server)
    showdowns = folded = 0
    for hand in range(14):
        wanted = "Fold" if hand % 3 == 2 else "Call"  # where it is to be had
        client.wait("Fold", "Check", "New hand")
        folder = folder_of(server, client)
        hole, runout = (dealt(folder)[key] for key in ("hole_cards", "runout"))
        mine = 1 - hand % 2
        before = len(client.sent) if hand else 0
        while client.wait("New hand", "Check", "Call") != "New hand":
            assert all(client.shows(name) for name in names(hole[mine]))
            seen = "".join(client.sent[before:])
            board = sum(name in seen for name in names(runout))
            assert board in (0, 3, 4, 5)
            assert not any(name in seen for name in names(hole[1 - mine]) + names(runout[board:]))
            client.click(client.wait("Check", wanted))
        betting = dealt(folder)["betting"]
        seen = "".join(client.sent[before:])
        if "f" in betting:
            folded += 1
            assert not any(name in seen for name in names(hole[1 - mine]))
        else:
            showdowns += 1
            assert all(client.shows(name) for name in names(hole[1 - mine]))
        client.click("New hand")
    assert min(showdowns, folded) > 1
    assert sum(1 for _ in read_log(RULES, folder / "hands.log")) == 14
    client.close()


def test_two_visitors_have_their_own_games(server: Server) -> None:
    one, other = Client(server), Client(server)
    again = Client(server, one.cookie)
    for client in (one, other, again):
        client.wait("Fold")
    folders = [folder_of(server, client) for client in (one, other, again)]
    assert folders[0] == folders[2] != folders[1]
    own = [names(dealt(folder)["hole_cards"][1]) for folder in folders]
    assert all(again.shows(name) for name in own[0])
    assert not all(other.shows(name) for name in own[0])
    one.click("Fold")
    assert again.wait("New hand")
    other.listen(0.5)
    assert other.find("Fold")
    for client in (one, other, again):
        client.close()


def test_a_click_on_an_old_page_finds_nothing(server: Server) -> None:
    client = Client(server)
    client.wait("Call")
    folder = folder_of(server, client)
    button = client.find("Call")
    assert button is not None
    [listener] = [event["listener_id"] for event in button["events"] if event["type"] == "click"]
    for _ in range(20):
        client.event(button["id"], listener, [])
    client.wait("Check", "Call", "New hand")
    client.listen(0.5)
    actors = Betting.parse(RULES, dealt(folder)["betting"]).actors
    assert sum(street.count(1) for street in actors) == 1  # the visitor's
    client.close()


def test_killed_and_started_again(tmp_path: Path) -> None:
    """Hand, score and cards are there for the same browser."""
    with serving("agents=[always_call]", f"runs={tmp_path}") as server:
        client = Client(server)
        client.wait("Fold")
        client.click("Fold")
        client.click(client.wait("New hand"))
        client.click(client.wait("Check"))
        client.wait("Check")
        folder = folder_of(server, client)
        before = dealt(folder)
        server.kill()
    with serving("agents=[always_call]", f"runs={tmp_path}", f"port={server.port}") as server:
        again = Client(server, client.cookie)
        again.wait("Check")
        assert dealt(folder) == before
        assert before["betting"] == "cc/"
        assert all(again.shows(name) for name in names(before["hole_cards"][0] + before["runout"][:3]))
        assert again.shows("Hand 2")
        assert again.shows("-50 bb")
        assert server.end() == 130


def rubbish(rng: random.Random, depth: int = 0) -> Any:
    kinds = [None, True, -1, 0, 10**30, 1.5, float("nan"), "", "all-in", "\x00é", "<script>", "__proto__"]
    if depth < 3 and rng.random() < 0.4:
        return [rubbish(rng, depth + 1) for _ in range(rng.randrange(4))]
    if depth < 3 and rng.random() < 0.3:
        return {str(rng.choice(kinds)): rubbish(rng, depth + 1) for _ in range(rng.randrange(4))}
    return rng.choice(kinds)


def throw_at(server: Server, count: int, seed: int) -> dict[str, int]:
    """`count` requests, socket frames and events with odd content, by clients that come and go."""
    rng, done = random.Random(seed), {"requests": 0, "frames": 0, "events": 0}
    client = Client(server)
    for _ in range(count):
        kind = rng.choices(list(done), (1, 2, 6))[0]
        done[kind] += 1
        try:
            if kind == "requests":
                request(server, rng, client.cookie)
            elif kind == "frames":
                name = rng.choice(["event", "ack", "handshake", "log", "javascript_response", "?"])
                client.socket.send(rng.choice([*_FRAMES, f"42{json.dumps([name, rubbish(rng)])}"]))
            else:
                listeners = [(key, event) for key, one in client.elements.items() for event in one.get("events") or ()]
                key, event = rng.choice(listeners)
                values = [rubbish(rng) if rng.random() < 0.5 else rng.randrange(-100, 30_000) for _ in range(2)]
                client.event(int(key) if rng.random() < 0.9 else rubbish(rng), event["listener_id"], values)
            if rng.random() < 0.2:
                client.listen(0.005)
        except (OSError, websocket.WebSocketException):  # it closes the connection on some
            client = Client(server, client.cookie)
            client.listen(0.5)
    client.close()
    return done


def request(server: Server, rng: random.Random, cookie: str) -> None:
    cookies = (cookie, "pokernets_visitor=../../x", "=;;", f"{cookie}\xff")
    headers = {"Cookie": rng.choice(cookies), "X": "y" * rng.randrange(99)}
    connection = http.client.HTTPConnection("127.0.0.1", server.port, timeout=60)
    method = rng.choice(["GET", "POST", "PUT", "OPTIONS"])
    connection.request(method, rng.choice(_PATHS), json.dumps(rubbish(rng)), headers)
    assert connection.getresponse().status < 500
    connection.close()


def test_rubbish_leaves_games_as_they_were(server: Server) -> None:
    client = Client(server)
    client.wait("Fold")
    folder = folder_of(server, client)
    before = dealt(folder)
    games = len(list(server.runs.glob("table/*/*/*/hands.log")))
    client.close()
    done = throw_at(server, 300, seed=2)
    assert min(done.values()) > 15
    assert server.alive
    assert dealt(folder) == before
    client = Client(server, client.cookie)
    client.wait("Fold")
    client.click("Fold")
    client.wait("New hand")
    logs = list(server.runs.glob("table/*/*/*/hands.log"))
    assert len(logs) == games + 1  # that of the client which threw
    for log in logs:
        numbers = [hand.number for hand in read_log(RULES, log)]
        assert numbers == list(range(len(numbers)))


def test_names_of_cards() -> None:
    assert [card_name(cards_text([card])) for card in parse_cards("AhTc2d")] == [
        "ace of hearts",
        "10 of clubs",
        "2 of diamonds",
    ]
