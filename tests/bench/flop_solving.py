"""Cost of leaf values on the flop: solves with each kind, and what their best response wins beyond the value of the
game whose leaves are the reference: rollouts of every hand, without clusters, on many run-outs.

    python -m tests.bench.flop_solving --leaves net:64 one_value:64 rollout:64x2x16 ... [--flops 4] [--runouts 100]
        [--out FILE] [--settings scale=laptop search=demo]

`net:C` and `one_value:C` put hands into at most C clusters, `rollout:CxHxR` rolls H hands of each out on R run-outs;
`reference` is another draw of the reference: what noise alone costs.
"""

import argparse
import json
import sys
import time
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from conf.compose import call, compose
from poker.agents.blueprint import BlueprintAgent
from poker.atomic import write_atomically
from poker.betting import Betting
from poker.cards import HOLDEM, cards_text
from poker.search.leaves.evaluator import LeafEvaluator, SingleValue, leaf_states
from poker.search.round_solver import DepthLimitedSolver, Request, SolverSettings
from poker.solvers.vector.game import VectorGame
from poker.solvers.vector.leaves import LeafValues
from poker.solvers.vector.solver import VectorSolver
from poker.types import Ranges
from tests.bench.record import record

LINES = "r300c", "cc", "r300r900c", "r200c", "cr400c", "r500c"
"""Betting lines to the flop, taken in turn."""
EXACT = SolverSettings("apdcfr", (1000,), threads=1, precision=0.0005)


class _Once(LeafEvaluator):
    """Reference leaf values, kept because every solve of a flop asks for them again."""

    def __init__(self, leaf: LeafEvaluator) -> None:
        self.num_continuations = leaf.num_continuations
        self._leaf = leaf
        self._known: dict[tuple[Any, ...], LeafValues] = {}

    def values(self, leaves: Any, board: tuple[int, ...], ranges: Ranges, own: int) -> LeafValues:
        key = tuple(leaf.text() for leaf in leaves), board, own
        if key not in self._known:
            self._known = {key: self._leaf.fixed(leaves, board, ranges, own)}
        return self._known[key]


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--leaves", nargs="+", required=True)
    parser.add_argument("--flops", type=int, default=4)
    parser.add_argument("--runouts", type=int, default=100)
    parser.add_argument("--settings", nargs="+", default=["scale=laptop", "search=demo"])
    parser.add_argument("--out", type=Path)
    asked = parser.parse_args()

    def configured(*overrides: str) -> Any:
        return compose("evaluate", ["evaluate=match", "agents=[blueprint]", *asked.settings, *overrides])

    config = configured()
    agent: BlueprintAgent = call(config.agent.blueprint)

    def rollouts(clusters: str, hands: str, runouts: str, seed: int) -> LeafEvaluator:
        sizes = f"search.rollouts.hands_per_cluster={hands}", f"search.rollouts.runouts={runouts}"
        made: LeafEvaluator = call(configured(f"search.clusters={clusters}", *sizes, f"seed={seed}").leaves.rollout)
        return made

    def leaf(name: str) -> LeafEvaluator:
        kind, _, size = name.partition(":")
        if kind == "reference":
            return rollouts("null", "1", str(asked.runouts), seed=2)
        if kind == "rollout":
            clusters, hands, runouts = size.split("x")
            return rollouts(clusters, hands, runouts, seed=3)
        net: LeafEvaluator = call(configured(f"search.clusters={size}").leaves.net)
        return SingleValue(of=net) if kind == "one_value" else net

    leaves = {name: leaf(name) for name in asked.leaves}
    menus = call(config.search.menu), call(config.search.ahead)
    found: dict[str, list[tuple[float, float]]] = {name: [] for name in leaves}
    rng = np.random.default_rng(1)
    for number in range(asked.flops):
        root, ranges = _played(agent, LINES[number % len(LINES)])
        board = tuple(sorted(rng.choice(52, 3, replace=False).tolist()))
        ranges[:, ~HOLDEM.live(board)] = 0
        reference = _Once(rollouts("null", "1", str(asked.runouts), seed=1))
        for searcher in (0, 1):
            exact = DepthLimitedSolver(*menus, {1: reference}, EXACT)
            judge = exact.solved(Request(root, board, ranges, searcher), every_hand=True)
            for name, evaluator in leaves.items():
                start = time.process_time()
                solver = DepthLimitedSolver(*menus, {1: evaluator}, call(config.search.solver))
                solved = solver.solved(Request(root, board, ranges, searcher), every_hand=True)
                seconds = time.process_time() - start
                lost = _best_response(solved, judge, searcher, reference, root, ranges) - judge.game_value(1 - searcher)
                found[name].append((lost * 1000 / root.rules.big_blind, seconds))
                print(f"{root.text()} {cards_text(board)} {searcher} {name}: {found[name][-1][0]:.0f}", file=sys.stderr)
    rows = [
        {
            "leaves": name,
            "mean_mbb_a_flop": round(float(np.mean([lost for lost, _ in each])), 1),
            "by_flop_and_seat": [round(lost, 1) for lost, _ in each],
            "median_cpu_seconds": round(float(np.median([seconds for _, seconds in each])), 2),
        }
        for name, each in found.items()
    ]
    about = (
        "mbb a flop that the best response wins from a solve with these leaf values, in the game with the reference's"
    )
    told = json.dumps(record(what=about, rows=rows), indent=1)
    print(told)
    if asked.out:
        write_atomically(asked.out, told.encode() + b"\n")


def _played(agent: BlueprintAgent, line: str) -> tuple[Betting, NDArray[np.float32]]:
    """The state after `line` before the flop, and both ranges [2, H] as the blueprint plays it."""
    rules = agent.blueprint.rules
    end, state = Betting.parse(rules, line), Betting.start(rules)
    ranges = np.ones((2, rules.num_hands))
    classes = agent.blueprint.cards.buckets(())
    for action in end.actions[0]:
        actions, probs = agent.by_bucket(state)
        ranges[state.to_act] *= probs[classes, actions.index(action)]
        state = state.apply(action)
    return state, (ranges / ranges.sum(axis=1, keepdims=True)).astype(np.float32)


def _best_response(
    solved: VectorSolver, judge: VectorSolver, searcher: int, reference: _Once, root: Betting, ranges: Ranges
) -> float:
    """Chips a hand that the other player wins from the searcher of `solved` in the game of `judge`."""
    tree, board = judge.game.tree, judge.game.board
    values = reference.values(leaf_states(root, tree), board, ranges, searcher)
    response = VectorSolver(VectorGame(tree, board, ranges, values), algorithm="apdcfr", threads=1)
    nodes = {solved.game.tree.path(int(node)): int(node) for node in solved.game.tree.decision_nodes}
    for node in map(int, tree.decision_nodes):
        if tree.player[node] == searcher and tree.path(node) in nodes:
            probs = solved.strategy(nodes[tree.path(node)])
            probs[probs.sum(axis=1) <= 0] = 1 / probs.shape[1]
            response.lock(node, probs)
    return response.best_response_value(1 - searcher)


if __name__ == "__main__":
    main()
