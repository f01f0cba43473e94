"""Gain of solving before the flop over the blueprint if both play it afterwards, by the table that was solved with
and by another, drawn on other boards: a search finds the errors of its own table, and takes them for profit.

    python -m tests.bench.preflop_solving --tables FILE... [--agents depth_limited naive] [--out FILE]
        [--settings scale=laptop search=demo]

The tables are leaf tables of one blueprint: `python -m data_gen job=leaf_table seed=2 outputs=DIRECTORY` makes another.
"""

import argparse
import json
import sys
from pathlib import Path
from typing import Any

import numpy as np

from conf.compose import call, compose
from poker.agents.base import PolicyAgent
from poker.agents.blueprint import BlueprintAgent
from poker.artifacts import open_artifact
from poker.atomic import write_atomically
from poker.betting import Betting
from poker.evaluation.aivat.round_values import RoundValues
from poker.search.leaves.evaluator import LeafEvaluator
from tests.bench.record import record


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--tables", nargs="+", required=True)
    parser.add_argument("--agents", nargs="+", default=["depth_limited", "naive"])
    parser.add_argument("--settings", nargs="+", default=["scale=laptop", "search=demo"])
    parser.add_argument("--out", type=Path)
    asked = parser.parse_args()

    def configured(table: str) -> Any:
        names = ",".join(["blueprint", *asked.agents])
        return compose(
            "evaluate", ["evaluate=match", f"agents=[{names}]", f"leaves.table.path={table}", *asked.settings]
        )

    leaves: dict[str, LeafEvaluator] = {table: call(configured(table).leaves.table) for table in asked.tables}
    blueprint: BlueprintAgent = call(configured(asked.tables[0]).agent.blueprint)
    rows = []
    for name in asked.agents:
        for solved_with in asked.tables:
            agent: PolicyAgent = call(configured(solved_with).agent[name])
            for valued_with, leaf in leaves.items():
                gains = [_won(agent, blueprint, seat, leaf) - _won(blueprint, blueprint, seat, leaf) for seat in (0, 1)]
                rows.append(
                    {
                        "agent": name,
                        "solved_with": _boards(solved_with),
                        "valued_with": _boards(valued_with),
                        "gain_mbb": [round(gain, 1) for gain in gains],
                        "mean_mbb": round(sum(gains) / 2, 1),
                    }
                )
                print(rows[-1], file=sys.stderr)
    about = (
        "mbb/hand by seat that solving before the flop wins from the blueprint, beyond what the blueprint wins there"
    )
    told = json.dumps(record(what=about, rows=rows), indent=1)
    if asked.out:
        write_atomically(asked.out, told.encode() + b"\n")


def _won(agent: PolicyAgent, blueprint: BlueprintAgent, seat: int, leaf: LeafEvaluator) -> float:
    """mbb/hand of `agent` in `seat`: the round is followed through, hand by hand, to leaves where both keep to the
    blueprint."""
    rules = blueprint.blueprint.rules
    policies = [blueprint.policy, blueprint.policy]
    policies[seat] = agent.policy
    any_hand = np.full(rules.num_hands, 1 / rules.num_hands)
    pairs = any_hand @ rules.space.compatible_mass(any_hand)
    [chips] = RoundValues(rules, policies, [leaf]).values([Betting.start(rules)], (), seat, any_hand[None], any_hand)
    return float(chips / pairs) * 1000 / rules.big_blind


def _boards(table: str) -> dict[str, Any]:
    config = open_artifact(table, "leaf_table", verify=False).config
    return {"boards": config["boards"], "seed": config["seed"]}


if __name__ == "__main__":
    main()
