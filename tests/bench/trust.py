"""How an agent comes to trust its model: `python -m tests.bench.trust HANDS`, in docs/results/learned_at_the_table.

`depth_limited_exploit` plays one session against each of six opponents; what share of their actions it takes to be the
model's, and the trust that follows, after so many hands.
"""

import argparse
import json
from typing import Any

import numpy as np

from conf.compose import call, compose
from poker.play.hand import play_hand
from poker.rules import Rules
from poker.state import HandState
from tests.bench.record import record

LEARNER = "depth_limited_exploit"
OPPONENTS = "always_call", "always_raise", "equity_policy", "loose_passive_policy", "tight_weak_policy", "blueprint"
AFTER = 5, 10, 25, 50, 100, 150, 250


def main(hands: int, settings: list[str]) -> dict[str, Any]:
    config = compose("evaluate", ["experiment=exploit_matches", *settings])
    rules: Rules = call(config.game)
    found: dict[str, list[dict[str, float]]] = {}
    for name in OPPONENTS:
        learner, opponent = call(config.agent[LEARNER]), call(config.agent[name])
        learner.reset(1)
        opponent.reset(2)
        rng, rows = np.random.default_rng(1), []
        for number in range(1, hands + 1):
            players = [learner, opponent] if number % 2 else [opponent, learner]
            play_hand(players, HandState.deal(rules, rng))
            if number in AFTER or number == hands:
                trust = learner.trust
                rows.append({"hands": number, "share": round(trust.share, 3), "trust": round(trust.earned, 3)})
        found[name] = rows
    return record(settings=settings, agent=LEARNER, opponents=found)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(prog="python -m tests.bench.trust")
    parser.add_argument("hands", type=int)
    parser.add_argument("settings", nargs="*", metavar="key=value")
    given = parser.parse_args()
    print(json.dumps(main(given.hands, given.settings), indent=1))
