"""Attacks on the server by a page of another site, or by a visitor who knows the ids of another's page."""

import http.client
import json
from pathlib import Path
from typing import Any
from urllib.parse import urlencode

from tests.studio.pages.serving import Client, Server, serving


def ask(
    server: Server, method: str, path: str, headers: dict[str, str], body: bytes | None = None
) -> tuple[int, dict[str, str], str]:
    """Status, headers and content of the answer."""
    connection = http.client.HTTPConnection("127.0.0.1", server.port, timeout=60)
    try:
        connection.request(method, path, body, headers)
        answer = connection.getresponse()
        return answer.status, {name.lower(): value for name, value in answer.getheaders()}, answer.read().decode()
    finally:
        connection.close()


class Polling:
    """A client that polls for what the server has to say about the page of `victim`, with a `cookie`."""

    def __init__(self, server: Server, victim: Client, cookie: str, implicit: str, **headers: str) -> None:
        self._server, self._headers = server, {"Cookie": cookie, **headers}
        ids = {"client_id": victim.id, "tab_id": victim.id, "document_id": victim.id, "next_message_id": 0}
        self._path = f"/_nicegui_ws/socket.io/?{urlencode({'EIO': 4, 'transport': 'polling'})}"
        more = urlencode({**ids, "implicit_handshake": implicit}) if implicit else ""
        self.status, _, opened = ask(server, "GET", f"{self._path}&{more}", self._headers)
        self.sid = json.loads(opened[1:])["sid"] if self.status == 200 else ""

    def send(self, *frames: str, **headers: str) -> int:
        path = f"{self._path}&sid={self.sid}"
        return ask(self._server, "POST", path, {**self._headers, **headers}, "\x1e".join(frames).encode())[0]

    def emit(self, name: str, value: Any) -> int:
        return self.send(f"42{json.dumps([name, value])}")


def fold(victim: Client) -> dict[str, Any]:
    """The event of a click on the victim's button."""
    button = victim.find("Fold")
    assert button
    [listener] = [event["listener_id"] for event in button["events"] if event["type"] == "click"]
    return {"id": button["id"], "client_id": victim.id, "listener_id": listener, "args": []}


def test_events_of_another_visitor_are_not_heard(server: Server) -> None:
    """Knowing the ids of a page is not enough, by polling or by a socket; the visitor's own events are heard."""
    victim, other = Client(server), Client(server)
    victim.wait("Fold")
    other.wait("Fold")
    event = fold(victim)
    shake = dict.fromkeys(("client_id", "tab_id", "document_id"), victim.id)
    foreign = Polling(server, victim, other.cookie, "")
    assert foreign.send("40") == 200
    assert foreign.emit("handshake", shake) == 200
    assert foreign.emit("event", event) == 200
    other.emit("event", event)
    assert Polling(server, victim, other.cookie, "true").status == 403
    assert Polling(server, victim, "", "true").status == 403
    victim.listen(1.0)
    assert victim.find("Fold")

    own = Polling(server, victim, victim.cookie, "")
    assert own.send("40") == 200
    assert own.send("1", Cookie=other.cookie) == 403  # who knows its id neither speaks nor ends it
    assert own.emit("event", event) == 200
    assert victim.wait("New hand")
    victim.close()
    other.close()


def upload(server: Server, cookie: str) -> tuple[Client, str]:
    """The page of files, and the address to which it sends one."""
    page = Client(server, cookie, "/database")
    page.until(lambda: any(one.get("tag") == "nicegui-upload" for one in page.elements.values()))
    [url] = [str(one["props"]["url"]) for one in page.elements.values() if one.get("tag") == "nicegui-upload"]
    return page, url


def form(data: bytes) -> tuple[dict[str, str], bytes]:
    """Headers and body that send a file."""
    head = b'--b\r\nContent-Disposition: form-data; name="file"; filename="bad.phh"\r\n\r\n'
    return {"Content-Type": "multipart/form-data; boundary=b"}, head + data + b"\r\n--b--\r\n"


def test_uploads_are_the_visitor_s_own_and_bounded(server: Server) -> None:
    victim, other = Client(server), Client(server)
    page, url = upload(server, victim.cookie)
    headers, body = form(f"variant = 'NT'\na{'.a' * 150_000} = 1\n".encode())
    assert ask(server, "POST", url, {"Cookie": other.cookie, **headers}, body)[0] == 403
    own = {"Cookie": victim.cookie, **headers}
    assert ask(server, "POST", url, {**own, "Content-Length": str(10**12)})[0] == 413
    assert ask(server, "POST", url, {**own, "Transfer-Encoding": "chunked"})[0] == 411
    assert ask(server, "POST", url, own, body)[0] == 200
    again = Client(server, victim.cookie)  # whether or not the file is still being read
    again.wait("Fold", "New hand")
    for client in (victim, other, page, again):
        client.close()


def test_no_file_of_a_server_has_its_token(tmp_path: Path) -> None:
    with serving("agents=[random]", "token=abc123xyz", f"runs={tmp_path}") as server:
        assert server.url.endswith("token=abc123xyz")
        written = [file for file in tmp_path.rglob("*") if file.is_file()]
    assert not [file for file in written if b"abc123xyz" in file.read_bytes()]


def test_agents_that_cannot_be_built_end_the_server(tmp_path: Path) -> None:
    server = Server(f"artifacts={tmp_path}/none", f"runs={tmp_path}")
    assert server.wait() == 2
    assert server.lines[-1].startswith(f"error: no blueprint at {tmp_path}/none/blueprint")
