"""Many visitors: `python -m tests.table.crowd [--visitors N] [--players N] [--hands N] [key=value ...]`, as JSON.

One visitor plays some hands alone; then all open the page at one moment and stay, and so many of them play, while a
file with one dotted key of 300 kB is uploaded. Every action of the crowd is to take at most twice what the slowest did
alone, or a second, or a place in the queue is shown; no socket may be lost. Leaves with status 1 where that is not so.
"""

import argparse
import contextlib
import json
import os
import random
import re
import sys
import tempfile
import threading
import time
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import websocket

from tests.bench.record import record
from tests.table.serving import Client, Server
from tests.table.test_attacks import ask, form, upload

_PLACE = re.compile(r"\d+(st|nd|rd|th) in line")
_QUICK = 1.0
"""Seconds of an action that nobody calls slow."""
_LAPTOP = ("scale=laptop", "artifacts=models/trained/laptop.bundle")


@dataclass
class Visitor:
    """One of the crowd: what opening the page took, seconds of each action until its answer, and whether a place in the
    queue was shown meanwhile."""

    number: int
    opened: float = 0.0
    actions: list[tuple[float, bool]] = field(default_factory=list)
    lost: str = ""
    played: threading.Event = field(default_factory=threading.Event)

    def come(self, server: Server, hands: int, left: threading.Event) -> None:
        """Plays, and stays until all have."""
        try:
            started = time.perf_counter()
            client = Client(server)
            client.wait("Fold", "Check", "Call", "New hand")
            self.opened = time.perf_counter() - started
            self.play(client, hands)
            self.played.set()
            while not left.is_set():
                client.listen(0.5)
            client.close()
        except (OSError, AssertionError, websocket.WebSocketException) as error:
            self.lost = f"{type(error).__name__}: {str(error)[:200]}"
        finally:
            self.played.set()

    def play(self, client: Client, hands: int) -> None:
        """Mostly calls, so that hands come to the later streets."""
        rng, played = random.Random(self.number), 0
        while played < hands:
            choices = [name for name in ("Check", "Call", "Check", "Call", "½ pot", "New hand") if client.find(name)]
            choice = rng.choice(choices)
            played += choice == "New hand"
            before, started = len(client.sent), time.perf_counter()
            client.click(choice)
            client.wait("Check", "Call", "New hand")
            self.actions.append((time.perf_counter() - started, bool(_PLACE.search("".join(client.sent[before:])))))


class Watch:
    """Samples the resident kilobytes of the processes under this one, by process, while a `with` block runs."""

    def __init__(self) -> None:
        self.samples: list[dict[int, int]] = []
        self._done = threading.Event()
        self._thread = threading.Thread(target=self._sample)

    def _sample(self) -> None:
        while not self._done.wait(2.0):
            sizes, waiting = {}, [os.getpid()]
            while waiting:
                process = waiting.pop()
                with contextlib.suppress(OSError):  # it has ended
                    pages = int(Path(f"/proc/{process}/statm").read_text().split()[1])
                    sizes[process] = pages * os.sysconf("SC_PAGE_SIZE") // 1024
                    for task in Path(f"/proc/{process}/task").iterdir():
                        waiting += map(int, (task / "children").read_text().split())
            del sizes[os.getpid()]
            self.samples.append(sizes)

    def __enter__(self) -> "Watch":
        self._thread.start()
        return self

    def __exit__(self, *error: object) -> None:
        self._done.set()
        self._thread.join()


def crowd(visitors: int, players: int, hands: int, settings: Sequence[str]) -> dict[str, Any]:
    """Measure one visitor alone and then all of them at once."""
    with tempfile.TemporaryDirectory() as runs:
        server = Server(f"runs={runs}", *settings)
        try:
            with Watch() as watch:
                alone = Visitor(0)
                _all(server, [alone], 1, hands)
                everybody = [Visitor(number) for number in range(1, visitors + 1)]
                slowest = max(seconds for seconds, _ in alone.actions)
                status = _all(server, everybody, players, hands, upload_too=True)
            alive = server.alive
        finally:
            server.kill()
    actions = [action for one in everybody for action in one.actions]
    late = [in_line for seconds, in_line in actions if seconds > max(2 * slowest, _QUICK)]
    lost = [one.lost for one in (alone, *everybody) if one.lost]
    return {
        "settings": list(settings),
        "visitors": visitors,
        "players": players,
        "hands_each": hands,
        "seconds_to_page": {"alone": round(alone.opened, 2), "crowd": _spread([one.opened for one in everybody])},
        "seconds_of_action": {"alone": _spread([seconds for seconds, _ in alone.actions])}
        | {"crowd": _spread([seconds for seconds, _ in actions])},
        "actions": len(actions),
        "actions_with_a_place_shown": sum(in_line for _, in_line in actions),
        "actions_above_twice_the_slowest_alone": len(late),
        "of_these_without_a_place": late.count(False),
        "sockets_lost": lost,
        "upload_status": status,
        "server_megabytes_at_most": round(max(sum(sample.values()) for sample in watch.samples) / 1024),
        "processes_at_most": max(len(sample) for sample in watch.samples),
        "ok": alive and not lost and all(late) and status == 200,
    }


def _all(server: Server, visitors: Sequence[Visitor], players: int, hands: int, *, upload_too: bool = False) -> int:
    """All come at once; the first `players` of them play. Returns the status of the upload."""
    left = threading.Event()
    threads = [
        threading.Thread(target=one.come, args=(server, hands * (place < players), left))
        for place, one in enumerate(visitors)
    ]
    for thread in threads:
        thread.start()
    status = 200
    if upload_too:
        page, url = upload(server, "")
        headers, body = form(f"variant = 'NT'\na{'.a' * 150_000} = 1\n".encode())
        status, _, _ = ask(server, "POST", url, {"Cookie": page.cookie, **headers}, body)
        page.close()
    for one in visitors[:players]:
        one.played.wait()
    left.set()
    for thread in threads:
        thread.join()
    return status


def _spread(seconds: Sequence[float]) -> dict[str, float]:
    names, shares = ("median", "95th_percentile", "max"), (0.5, 0.95, 1.0)
    return {name: round(float(np.quantile(seconds, share)), 2) for name, share in zip(names, shares, strict=True)}


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m tests.table.crowd")
    parser.add_argument("--visitors", type=int, default=100)
    parser.add_argument("--players", type=int, default=10)
    parser.add_argument("--hands", type=int, default=5)
    parser.add_argument("settings", nargs="*", metavar="key=value", default=list(_LAPTOP))
    options = parser.parse_args()
    row = crowd(options.visitors, options.players, options.hands, options.settings)
    print(json.dumps(record(**row), indent=1))
    return 0 if row["ok"] else 1


if __name__ == "__main__":
    sys.exit(main())
