"""How long a person waits at the table: `python -m tests.bench.play HANDS [key=value ...]`, in docs/results/demo.

Starts `evaluate=play` with the settings given, and plays hands by clicking at random, as a browser does. Seconds to the
first card count from the start of the command; thinking times are those that the page tells, of all decisions of the
agent. Run it with nothing else running, kernels compiled and packages byte-compiled.
"""

import argparse
import json
import random
import re
import tempfile
import time
from typing import Any

from conf.compose import compose
from tests.bench.record import record
from tests.studio.pages.serving import Client, Server

_TIMES = re.compile(r"(\d+) decisions, median ([\d.]+) s, 95th percentile ([\d.]+) s")


def main(hands: int, settings: list[str]) -> dict[str, Any]:
    rng = random.Random(1)
    with tempfile.TemporaryDirectory() as runs:
        started = time.perf_counter()
        server = Server(f"runs={runs}", *settings)
        try:
            serving = time.perf_counter() - started
            client = Client(server)
            client.wait("Call")
            first = time.perf_counter() - started
            for _ in range(hands):
                _play_hand(client, rng)
            client.listen(1.0)
            match = _TIMES.search(json.dumps(list(client.elements.values())))
        finally:
            server.kill()
    assert match
    config = compose("evaluate", ["evaluate=play", *settings])
    return record(
        played=config.agent,
        settings=settings,
        hands=hands,
        seconds_to_server=round(serving, 2),
        seconds_to_first_card=round(first, 2),
        decisions=int(match[1]),
        thinking_median=float(match[2]),
        thinking_95th_percentile=float(match[3]),
    )


def _play_hand(client: Client, rng: random.Random) -> None:
    """Mostly calls, so that hands come to the later streets."""
    while client.wait("Check", "Call", "New hand") != "New hand":
        choices = ["Check", "Call"] * 4 + ["Fold", "½ pot", "Pot"]
        client.click(rng.choice([name for name in choices if client.find(name)]))
    client.click("New hand")


if __name__ == "__main__":
    parser = argparse.ArgumentParser(prog="python -m tests.bench.play")
    parser.add_argument("hands", type=int)
    parser.add_argument("settings", nargs="*", metavar="key=value")
    options = parser.parse_args()
    print(json.dumps(main(options.hands, options.settings), indent=1))
