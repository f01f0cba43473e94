"""How an agent comes to trust its model: `python -m tests.bench.trust HANDS`, in docs/results/learned_at_the_table.

`depth_limited_exploit` plays one session against each of six opponents; what share of their actions it takes to be the
model's, and the trust that follows, after so many hands. With `--population` it is `depth_limited_exploit_net` against
each player of the population that its net was trained on (`source=self_play_nolimit`), and what share of them is not
sound is learned from these sessions, by expectation maximisation: `unsound` of the agent.
"""

import argparse
import json
import sys
from typing import Any

import numpy as np

from conf.compose import call, compose
from poker.game.rules import Rules
from poker.game.state import HandState
from poker.play.hand import play_hand
from tests.bench.record import record

LEARNER = "depth_limited_exploit"
OPPONENTS = "always_call", "always_raise", "equity_policy", "loose_passive_policy", "tight_weak_policy", "blueprint"
AFTER = 5, 10, 25, 50, 100, 150, 250


def main(hands: int, population: bool, settings: list[str]) -> dict[str, Any]:
    config = compose("evaluate", ["experiment=exploit_net_matches", *settings])
    rules: Rules = call(config.game)
    name = f"{LEARNER}_net" if population else LEARNER
    if population:
        source = compose("data_gen", ["job=opponent_actions", "source=self_play_nolimit", *settings]).source
        opponents = {spec.name: spec.build(rules) for spec in call(source.agents)}
    else:
        opponents = {opponent: call(config.agent[opponent]) for opponent in OPPONENTS}
    results, odds = {}, []
    for opponent, player in opponents.items():
        learner = call(config.agent[name])
        learner.reset(1)
        player.reset(2)
        rng, rows = np.random.default_rng(1), []
        for number in range(1, hands + 1):
            players = [learner, player] if number % 2 else [player, learner]
            play_hand(players, HandState.deal(rules, rng))
            if number in AFTER or number == hands:
                trust = learner.trust
                rows.append({"hands": number, "share": round(trust.share, 3), "trust": round(trust.earned, 3)})
        results[opponent] = rows
        odds.append(learner.trust.odds())
        print(opponent, rows[-1], odds[-1], flush=True, file=sys.stderr)
    learned = {"unsound": round(_unsound(np.array(odds)), 3)} if population else {}
    return record(played=config.agent, settings=settings, agent=name, opponents=results, **learned)


def _unsound(odds: np.ndarray) -> float:
    """The share of players who are not sound, from how likely each is as one who is and as one who is not [n, 2]."""
    share = 0.5
    for _ in range(100):
        parts = odds * (1 - share, share)
        share = float((parts[:, 1] / parts.sum(axis=1)).mean())
    return share


if __name__ == "__main__":
    parser = argparse.ArgumentParser(prog="python -m tests.bench.trust")
    parser.add_argument("hands", type=int)
    parser.add_argument("settings", nargs="*", metavar="key=value")
    parser.add_argument("--population", action="store_true")
    given = parser.parse_args()
    print(json.dumps(main(given.hands, given.population, given.settings), indent=1))
