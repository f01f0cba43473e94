"""How often the four continuations of [DLS] bet, fold and raise after the first round.

`python -m tests.bench.continuation_frequencies ARTIFACTS` prints them for the blueprint of a folder of artifacts.
"""

import argparse
import json
from collections.abc import Sequence

import numpy as np

from poker.agents.blueprint import load_blueprint
from poker.depth_limit.continuations.forms import Biased
from poker.game.cards import hand_index
from poker.game.state import HandState
from poker.search.exploit.mixture import ContinuationMixture
from poker.solvers.blueprint import Blueprint, action_classes
from poker.tree import Kind
from tests.bench.record import record

HANDS = 20_000


def measured(blueprint: Blueprint, forms: Sequence[Blueprint], hands: int, seed: int) -> ContinuationMixture:
    """Measure how often each of `forms` of a hold'em blueprint folds, calls and raises after the first round, over
    `hands` hands that the blueprint plays against itself."""
    rules, tree, rng = blueprint.rules, blueprint.tree, np.random.default_rng(seed)
    sums = np.zeros((len(forms), rules.num_streets, 2, 3))
    for _ in range(hands):
        deal, node = HandState.deal(rules, rng), 0
        while tree.num_children[node]:
            if tree.kind[node] != Kind.DECISION:
                node = int(tree.first_child[node])
                continue
            player, street = int(tree.player[node]), int(tree.street[node])
            board = deal.runout[: rules.board_sizes[street]]
            bucket = blueprint.cards.buckets(board)[hand_index(*deal.hole_cards[player])]
            if street:
                facing = int(tree.committed[node, player] < tree.committed[node].max())
                classes = action_classes(np.array(tree.actions(node)))
                for form, into in zip(forms, sums[:, street, facing], strict=True):
                    np.add.at(into, classes, form.probs(node)[bucket])
            probs = blueprint.probs(node)[bucket].astype(np.float64)
            node = tree.children(node)[int(rng.choice(len(probs), p=probs / probs.sum()))]
    total = sums.sum(axis=-1, keepdims=True)
    return ContinuationMixture(np.divide(sums, total, out=np.zeros_like(sums), where=total > 0))


if __name__ == "__main__":
    parser = argparse.ArgumentParser(prog="python -m tests.bench.continuation_frequencies")
    parser.add_argument("artifacts")
    folder = parser.parse_args().artifacts
    policy = load_blueprint(f"{folder}/blueprint", f"{folder}/abstraction")
    frequencies = measured(policy, Biased().of(policy), HANDS, 1)
    print(json.dumps(record(hands=HANDS, frequencies=np.round(frequencies.frequencies, 3).tolist())))
