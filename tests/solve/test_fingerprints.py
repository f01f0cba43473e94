"""Solves of 14 spots give the strategies and values that are stored in `tests/golden/solves.json`.

On the processor that made the file every bit is equal, which its digests say. Elsewhere float32 sums may round
otherwise, so that only figures are compared: products of the results with fixed random weights. After a change that is
meant, `python -m tests.solve.test_fingerprints` writes the file again.
"""

import hashlib
import json
from collections.abc import Callable, Iterator
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import llvmlite.binding
import numpy as np
import pytest

from conf.compose import build, compose
from poker.agents.searching.heads_up import DepthLimitedAgent
from poker.game.betting import Betting
from poker.game.cards import parse_cards
from poker.game.state import HandState, public_state
from poker.opponents.habits import Habits
from poker.search.opponent_decision import SolvedDecision
from poker.solve.modelled import Exploit
from poker.spots.solved import SolvedSpot, solve
from tests.games import HEADS_UP as RULES
from tests.killed import ROOT
from tests.search.even_leaf import even_solver
from tests.search.test_joint import JOINT

GOLDEN = Path(__file__).parents[1] / "golden" / "solves.json"
FIGURES = 6
PROCESSOR = str(llvmlite.binding.get_host_cpu_name())
BOARD = parse_cards("7cQdKd2h9s")
RIVER = {"board": "KsTh7s4d2s", "oop_range": "66+,A8s+,KQo,AhKd:0.5", "ip_range": "random", "pot": 100, "stack": 300}
SIZES = {"bet": "50%,100%,a", "raise": "2.5x,a"}
TURN = {**RIVER, "board": "Td9d6hQc", "ip_range": "22+,A2s+,KTs+,AJo+"}
FLOP = {"board": "Td9d6h", "oop_range": "AA,KK,77,AKs", "ip_range": "QQ,JJ,T9s", "pot": 60, "stack": 90}
SPOT = "oop_range: AA,KK,77\nip_range: QQ,JJ,AKs\npot: 60\nstack: 20\nbet: a\n"


def spot(keys: dict[str, Any], *words: str) -> Iterator[Any]:
    solved: SolvedSpot = solve({**keys, **({} if "flop_bet" in keys else SIZES)}, iterations=60, threads=1)
    yield from (solved.ev, solved.exploitability)
    for word in ("", *words):
        view = solved.view(word)
        yield from (view.strategy, view.action_ev, view.ev)


def state(line: str) -> HandState:
    betting = Betting.parse(RULES, line)
    return public_state(betting, BOARD[: RULES.board_sizes[betting.street]])


def policies(agent: DepthLimitedAgent, *lines: str) -> Iterator[Any]:
    for line in lines:
        yield from agent.policy(state(line))


def hint(agent: DepthLimitedAgent, line: str) -> Iterator[Any]:
    decision: SolvedDecision = agent.opponents_decision(state(line))
    yield from (decision.strategy, decision.values, decision.best, decision.ranges, decision.exploitability)


def modelled() -> Iterator[Any]:
    agent = even_solver(exploit=Exploit(0.9, Habits(1.0), by_confidence=False))
    yield from policies(agent, "r300c/cc/cc/c", "r300c/r600c/c")


def valued() -> Iterator[Any]:
    agent = even_solver()
    for line in ("r300c/c", "r300c/cc/c"):
        before = state(line)
        values = agent.solved_values(before, 1 - before.to_act)
        yield from (values.after(0), values.dealt(0, BOARD[4]) if len(before.board) == 4 else values.after(700))


def flops() -> Iterator[Any]:
    settings = ["algorithm=apdcfr", "iterations=40", "exploitability=0.02", "threads=1", "flops=6"]
    with TemporaryDirectory() as folder:
        (Path(folder) / "my.spot").write_text(SPOT)
        overrides = ["evaluate=flops", f"spot={folder}/my.spot", f"runs={folder}", *settings]
        for row in build(compose("evaluate", overrides).evaluate)["rows"]:
            yield from (row["ev"], row["equity"], row["exploitability_percent_pot"])
            yield [value for node in row["nodes"].values() for value in node["frequencies"].values()]


@cache
def released() -> DepthLimitedAgent:
    bundle = f"artifacts={ROOT / 'models' / 'trained' / 'laptop.bundle'}"
    few = ["search.solver.iterations=[10,10,10,20]", "search.solver.exploitability=0"]
    config = compose("evaluate", ["evaluate=play", "agents=[depth_limited]", "scale=laptop", bundle, *few])
    agent = build(config.agent.depth_limited)
    assert isinstance(agent, DepthLimitedAgent)
    return agent


SOLVES: dict[str, Callable[[], Iterator[Any]]] = {
    "river": lambda: spot(RIVER, "check", "bet100 raise250"),
    "river with a lock": lambda: spot({**RIVER, "lock check": "bet50 AA,KK,22-99:0.5; check rest"}, "check"),
    "turn with rake, and a river of it": lambda: spot({**TURN, "rake": 0.05, "rake_cap": 6}, "check check 2c bet50"),
    "flop": lambda: spot({**FLOP, "flop_bet": "a", "bet": "100%", "flop_raise": "a"}, "check"),
    "rounds before the turn, with leaves": lambda: policies(even_solver(), "", "r300", "r300c/c"),
    "turn and river, with off-tree raises": lambda: policies(even_solver(), "r300c/cc/r444", "r300c/cc/r444c/r1111"),
    "safe turn and river": lambda: policies(even_solver(safety="resolve"), "r300c/cc/r444c/", "r300c/cc/cc/r888"),
    "both sides": lambda: policies(even_solver(both_sides=True), "r300c/r500", "r300c/cc/c"),
    "against a model": modelled,
    "for both players, with few rivers": lambda: policies(even_solver(**JOINT), "r300c/", "r300c/r444", "r300c/cc/c"),
    "hint": lambda: hint(even_solver(), "r300c/cc/c"),
    "hint of a joint solve": lambda: hint(even_solver(**JOINT, follow=True), "r300c/cc/c"),
    "values of the opponent's hands": valued,
    "flop report": flops,
}
SLOW: dict[str, Callable[[], Iterator[Any]]] = {
    "released net and table": lambda: policies(released(), "r300", "r300c/c")
}


def record(results: Iterator[Any]) -> dict[str, Any]:
    """The digest and the figures of a solve."""
    digest, figures, rng = hashlib.sha256(), np.zeros(FIGURES), np.random.default_rng(0)
    for result in results:
        array = np.ascontiguousarray(np.nan_to_num(np.asarray(result)))
        digest.update(array.tobytes())
        weights = rng.random((FIGURES, array.size))
        figures += weights @ array.ravel().astype(np.float64) / max(array.size, 1)
    return {"sha256": digest.hexdigest(), "figures": figures.tolist()}


@pytest.mark.parametrize("name", [*SOLVES, *(pytest.param(name, marks=pytest.mark.slow) for name in SLOW)])
def test_a_solve_gives_the_stored_strategies_and_values(name: str) -> None:
    stored = json.loads(GOLDEN.read_text())
    solved, expected = record({**SOLVES, **SLOW}[name]()), stored["solves"][name]
    np.testing.assert_allclose(solved["figures"], expected["figures"], rtol=2e-3, atol=2e-3)
    if stored["processor"] == PROCESSOR:
        assert solved["sha256"] == expected["sha256"]


if __name__ == "__main__":
    solves = {name: record(run()) for name, run in (SOLVES | SLOW).items()}
    stored = {"processor": PROCESSOR, "solves": solves}
    GOLDEN.write_text(json.dumps(stored, indent=1) + "\n")
