"""A server as `evaluate=play` starts it, in a process of its own, and a client that speaks its protocol."""

import contextlib
import http.client
import json
import os
import re
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from subprocess import PIPE, STDOUT
from typing import Any
from urllib.parse import urlencode, urlsplit

import websocket

ROOT = Path(__file__).parents[3]
_SECONDS = 120.0
_UNITS = (1, 60, 3600, 86400)
"""Seconds of the parts of a time, the last part first."""


class Server:
    """`python evaluate.py evaluate=play`, or another `play`, with `overrides`; what it prints is kept in `lines`."""

    def __init__(
        self,
        *overrides: str,
        port: int = 0,
        play: Sequence[str] = (sys.executable, "evaluate.py", "evaluate=play"),
        cwd: Path = ROOT,
        environment: Mapping[str, str] = os.environ,
    ) -> None:
        self.runs = next((Path(one[5:]) for one in overrides if one.startswith("runs=")), cwd / "runs")
        """Where games and results are kept."""
        environment = {key: value for key, value in environment.items() if not key.startswith(("PYTEST_", "NICEGUI_"))}
        command = [*play, f"port={port}", "show=false", *overrides]
        # started in the background we ignore interrupts, and a child would inherit that
        ignored = signal.signal(signal.SIGINT, signal.default_int_handler)
        try:
            self._process = subprocess.Popen(command, cwd=cwd, env=environment, text=True, stdout=PIPE, stderr=STDOUT)
        finally:
            signal.signal(signal.SIGINT, ignored)
        self.lines: list[str] = []
        self._ready = threading.Event()
        self._reader = threading.Thread(target=self._read, daemon=True)
        self._reader.start()
        assert self._ready.wait(_SECONDS), self.lines
        url = re.search(r"http://\S+", "".join(self.lines))
        assert url, self.lines
        self.url = url[0]
        self.port = int(urlsplit(self.url).port or 0)

    def _read(self) -> None:
        assert self._process.stdout is not None
        for line in self._process.stdout:
            self.lines.append(line)
            if "serving at" in line:
                self._ready.set()
        self._ready.set()

    def cpu_seconds(self) -> float:
        """CPU time of the server and of all processes that it has started."""
        listed = subprocess.run(["ps", "-A", "-o", "pid=,ppid=,time="], check=True, capture_output=True, text=True)
        rows = [line.split() for line in listed.stdout.splitlines()]
        family = {str(self._process.pid)}
        while children := {pid for pid, parent, _ in rows if parent in family} - family:
            family |= children
        times = (time.replace("-", ":").split(":") for pid, _, time in rows if pid in family)
        return sum(float(part) * unit for parts in times for part, unit in zip(reversed(parts), _UNITS, strict=False))

    @property
    def alive(self) -> bool:
        return self._process.poll() is None

    def kill(self) -> None:
        self._process.kill()
        self._process.wait()

    def end(self) -> int:
        """Interrupt the server and return its exit status."""
        self._process.send_signal(signal.SIGINT)
        return self.wait()

    def wait(self) -> int:
        """Wait for the server to end, with all that it printed in `lines`, and return its exit status."""
        try:
            return self._process.wait(_SECONDS)
        finally:
            self.kill()
            self._reader.join(_SECONDS)


@contextlib.contextmanager
def serving(*overrides: str) -> Iterator[Server]:
    server = Server(*overrides)
    try:
        yield server
    finally:
        server.kill()


class Client:
    """A browser without eyes: asks for the page, keeps all that the server sends, and knows the elements by id."""

    def __init__(self, server: Server, cookie: str = "", path: str = "/") -> None:
        self.sent: list[str] = []
        connection = http.client.HTTPConnection("127.0.0.1", server.port, timeout=_SECONDS)
        connection.request("GET", path, headers={"Cookie": cookie} if cookie else {})
        answer = connection.getresponse()
        page = answer.read().decode()
        connection.close()
        self.status = answer.status
        self.cookie = cookie or str(answer.getheader("set-cookie")).split(";")[0]
        self.sent.append(page)
        elements = re.search(r"parseElements\(String\.raw`(.*?)`", page, re.DOTALL)
        query = re.search(r"client_id\W+([0-9a-f-]{36})", page)
        assert elements
        assert query
        self.id = query[1]
        self.elements: dict[str, Any] = json.loads(_unescaped(elements[1]))
        ids = {"client_id": self.id, "tab_id": self.id, "document_id": self.id, "next_message_id": 0}
        more = {"EIO": 4, "transport": "websocket", "implicit_handshake": "true"}
        address = f"ws://127.0.0.1:{server.port}/_nicegui_ws/socket.io/?{urlencode({**ids, **more})}"
        self.socket = websocket.create_connection(address, cookie=self.cookie, timeout=_SECONDS)
        self.socket.send("40")

    def close(self) -> None:
        self.socket.close()

    def listen(self, seconds: float) -> None:
        """Take what the server sends for `seconds`."""
        end = time.monotonic() + seconds
        while (left := end - time.monotonic()) > 0:
            self.socket.settimeout(left)
            try:
                self._take(str(self.socket.recv()))
            except websocket.WebSocketTimeoutException:
                return

    def _take(self, frame: str) -> None:
        self.sent.append(frame)
        if frame == "2":
            self.socket.send("3")
        if frame.startswith("42"):
            kind, *rest = json.loads(frame[2:])
            if kind == "update":
                for key, element in rest[0].items():
                    if element is None:
                        self.elements.pop(key, None)
                    elif isinstance(element, dict):
                        self.elements[key] = element

    def find(self, text: str) -> dict[str, Any] | None:
        """The first button whose label begins with the text, with its `id`."""
        for key, element in self.elements.items():
            label = str((element.get("props") or {}).get("label", ""))
            if element.get("tag") == "q-btn" and label.startswith(text):
                return {**element, "id": int(key)}
        return None

    def shows(self, text: str) -> bool:
        return any(text in json.dumps(element, ensure_ascii=False) for element in self.elements.values())

    def wait(self, *texts: str) -> str:
        """Wait for a button with one of these texts, and return the first text that has one."""
        self.until(lambda: any(map(self.find, texts)), f"a button {texts}")
        return next(text for text in texts if self.find(text))

    def until(self, holds: Callable[[], bool], what: str = "it") -> None:
        """Take what the server sends until `holds` is true."""
        end = time.monotonic() + _SECONDS
        while not holds():
            props = [element.get("props") for element in self.elements.values()]
            assert time.monotonic() < end, f"waited for {what}: {props}"
            self.listen(0.05)

    def click(self, text: str) -> None:
        button = self.find(text)
        assert button is not None
        [listener] = [event["listener_id"] for event in button["events"] if event["type"] == "click"]
        self.event(button["id"], listener, [])
        end = time.monotonic() + _SECONDS
        while str(button["id"]) in self.elements and time.monotonic() < end:
            self.listen(0.05)

    def event(self, element: object, listener: object, args: list[object]) -> None:
        """Send an element's event with `args` to its listener."""
        args = [json.dumps(one) for one in args]
        self.emit("event", {"id": element, "client_id": self.id, "listener_id": listener, "args": args})

    def emit(self, name: str, value: object) -> None:
        self.socket.send(f"42{json.dumps([name, value])}")


def _unescaped(text: str) -> str:
    for escaped, plain in (("&lt;", "<"), ("&gt;", ">"), ("&#96;", "`"), ("&#36;", "$"), ("&amp;", "&")):
        text = text.replace(escaped, plain)
    return text
