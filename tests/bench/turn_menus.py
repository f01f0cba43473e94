"""Turns from play, solved by searches of several settings: what a best opponent wins, folds to bets, CPU time.

    python -m tests.bench.turn_menus NAME="key=value ..." ... [--common "key=value ..."] [--roots 30] [--out FILE]

A root is where a turn began in hands of `depth_limited` against the blueprint, with the ranges that the agent gives
both. There `depth_limited` with the settings of each NAME plays the turn: it is asked at every decision of a richer
tree (half a pot, a pot, all-in), as at the table, and solves again with bets that its menu lacks. The rest, the
opponent's turn and both players' rivers, is solved around it: `lost`, in percent of the pot against the value of the
root, is the least that an opponent can win from the strategy of the turn, however rivers are played.
"""

import argparse
import json
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from conf.compose import call, compose
from poker.agents.depth_limited import DepthLimitedAgent, solved_board
from poker.atomic import write_atomically
from poker.betting import Betting
from poker.play.hand import play_hand
from poker.report.estimates import estimate
from poker.rules import CALL, FOLD
from poker.search.nested import Belief, NestedSearch
from poker.search.round_solver import Request, RoundSolution, without_unlikely
from poker.solvers.vector.game import VectorGame
from poker.solvers.vector.solver import VectorSolver
from poker.state import HandState
from poker.tree import BettingTree, Kind, bet_menu, build_tree
from poker.types import Board, Ranges, Singles
from poker.types import Path as Line
from tests.bench.record import record

_TURN = 2
_BETS = bet_menu(turn=[[0.5, 1.0, "a"], [1.0, "a"], ["a"]], river=[[1.0, "a"], [1.0, "a"], []])
_PRECISION, _ITERATIONS = 0.006, 400
_UNLIKELY = 1e-3
_AHEAD = 30
"""Iterations that a solve around a strategy counts as done, which starts from the solution of the root."""


class Root(NamedTuple):
    """Where a turn began, seen by the agent in the seat `searcher`."""

    line: str
    betting: Betting
    board: Board
    ranges: Ranges
    searcher: int


class Player:
    """The agent with some settings at a turn: every solve of it is timed."""

    def __init__(self, overrides: list[str]) -> None:
        config = compose("evaluate", ["evaluate=match", "agents=[depth_limited]", *overrides])
        self._settings = call(config.searching)
        self._agent: DepthLimitedAgent = call(config.agent.depth_limited)
        self.seconds: list[float] = []

    def _solve(self, request: Request) -> RoundSolution:
        begun = time.process_time()
        solution = self._agent._solve(request)
        self.seconds.append(time.process_time() - begun)
        return solution

    def strategies(self, root: Root, tree: BettingTree) -> dict[int, Singles]:
        """[H, A] at the agent's decisions of the turn that its own play reaches, by node of `tree`."""
        search = NestedSearch(
            root.betting.rules,
            root.searcher,
            self._solve,
            opponent_noise=self._settings.opponent_noise,
            remembered=self._settings.remembered_states,
            follow=self._settings.follow,
            start=Belief(root.betting, root.ranges, None, answered=False, reach=root.ranges),
        )
        strategies: dict[int, Singles] = {}
        nodes = [0]
        while nodes:
            node = nodes.pop()
            if tree.kind[node] != Kind.DECISION or tree.street[node] != _TURN:
                continue
            children = list(tree.children(node))
            if tree.player[node] == root.searcher:
                policy = search.policy(tree.betting(node, root.betting), root.board)
                probs = np.zeros((len(policy.probs), len(children)), np.float32)
                for action, column in zip(policy.actions, policy.probs.T, strict=True):
                    probs[:, tree.actions(node).index(action)] = column
                strategies[node] = probs
                children = [child for child, column in zip(children, probs.T, strict=True) if column.any()]
            nodes += children
        return strategies


class Yardstick:
    """A root with all bets, solved; and what is lost by a strategy of the searcher on the turn."""

    def __init__(self, root: Root) -> None:
        self._root = root
        self.tree = build_tree(root.betting, _BETS)
        self.ranges = np.stack([without_unlikely(weights, _UNLIKELY) for weights in root.ranges])
        self._game = VectorGame(self.tree, root.board, self.ranges, isomorphism=False)
        self._free = VectorSolver(self._game)
        self._free.run(_ITERATIONS, _PRECISION)
        self._value = self._worth(self._free)
        self.sound = {
            node: self._free.strategy(node)
            for node in self.tree.decision_nodes.tolist()
            if self.tree.street[node] == _TURN and self.tree.player[node] == root.searcher
        }

    def _worth(self, solver: VectorSolver) -> float:
        """Value of the root to the opponent, between what best responses of the two assure them."""
        own, opp = (solver.best_response_value(player) for player in (self._root.searcher, 1 - self._root.searcher))
        return (opp - own) / 2

    def lost(self, strategies: dict[int, Singles]) -> float:
        """Percent of the pot."""
        solver = VectorSolver(self._game)
        for name, array in self._free.arrays.items():
            solver.arrays[name][:] = array
        for node, probs in strategies.items():
            solver.lock(node, probs)
        solver.iterations = _AHEAD
        solver.run(_ITERATIONS, _PRECISION)
        return 100 * (self._worth(solver) - self._value) / self._root.betting.pot

    def folded(self, strategies: dict[int, Singles]) -> dict[str, float]:
        """Share of the big blind's range that folds after a check to half a pot and to a pot."""
        if self._root.searcher != self._root.betting.to_act:
            return {}
        bets = self.tree.actions(self._node((CALL,)))[1:3]
        held = self.ranges[self._root.searcher] * strategies[0][:, self.tree.actions(0).index(CALL)]
        nodes = {name: self._node((CALL, bet)) for name, bet in zip(("half", "pot"), bets, strict=True)}
        return {
            name: float(held @ strategies[node][:, self.tree.actions(node).index(FOLD)] / held.sum())
            for name, node in nodes.items()
            if node in strategies
        }

    def _node(self, line: Line) -> int:
        return next(node for node in range(len(self.tree.kind)) if self.tree.path(node) == line)


def roots(overrides: list[str], count: int, seed: int, street: int = _TURN) -> Iterator[Root]:
    """Where a round begins in hands against the blueprint."""
    config = compose("evaluate", ["evaluate=match", "agents=[depth_limited,blueprint]", *overrides])
    agent, other, rules = call(config.agent.depth_limited), call(config.agent.blueprint), call(config.game)
    rng, hands, met = np.random.default_rng(seed), 0, 0
    for player in (agent, other):
        player.reset(seed)
    while met < count:
        seat, hands = hands % 2, hands + 1
        end = play_hand([other, agent] if seat else [agent, other], HandState.deal(rules, rng))
        for before, *_ in end.betting.turns():
            if before.street == street and not before.actions[street] and met < count:
                board, _ = solved_board(end.runout[: rules.board_sizes[street]])
                start = Betting.at_street(rules, street, before.committed) if street >= _TURN else before
                yield Root(before.text(), start, board, agent._search[seat].belief(before, board).ranges, seat)
                met += 1


def means(rows: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """A row for each setting: means over roots, `more` than by the first setting, folds in pots raised once."""
    out = []
    names = list(dict.fromkeys(row["search"] for row in rows))
    lost = {name: [row["lost"] for row in rows if row["search"] == name] for name in names}
    for name in names:
        own = [row for row in rows if row["search"] == name]
        folds = [row["folded"] for row in own if row["raises"] == 1 and row["folded"]]
        mean = {key: float(np.mean([row[key] for row in own])) for key in ("seconds", "solves")}
        mean |= {f"folds_to_{bet}": float(np.mean([each[bet] for each in folds])) for bet in folds[0]} if folds else {}
        more = estimate(np.subtract(lost[name], lost[names[1]]).tolist()).record()
        content = {"search": name, "roots": len(own), "lost": estimate(lost[name]).record(), "more": more}
        out.append({**content, **mean, "first_seconds": float(np.median([row["first"] for row in own]))})
        print(out[-1], flush=True)
    return out


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("searches", nargs="+", metavar="NAME=SETTINGS")
    parser.add_argument("--common", default="")
    parser.add_argument("--roots", type=int, default=30)
    parser.add_argument("--skip", type=int, default=0)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--out", type=Path)
    options = parser.parse_args()
    common = options.common.split()
    players = {
        name: Player([*common, *settings.split()]) for name, _, settings in (s.partition("=") for s in options.searches)
    }
    rows: list[dict[str, Any]] = []
    for number, root in enumerate(roots(common, options.roots, options.seed)):
        if number < options.skip:
            continue
        yardstick = Yardstick(root)
        content = {"root": number, "betting": root.line, "pot": root.betting.pot, "searcher": root.searcher}
        content["raises"] = root.line.partition("/")[0].count("r")
        sound = {"lost": 0.0, "seconds": 0.0, "first": 0.0, "solves": 0, "folded": yardstick.folded(yardstick.sound)}
        rows.append({"search": "all bets", **content, **sound})
        for name, player in players.items():
            player.seconds.clear()
            strategies = player.strategies(root, yardstick.tree)
            spent = {
                "seconds": float(np.mean(player.seconds)),
                "first": player.seconds[0],
                "solves": len(player.seconds),
            }
            losses = {"lost": yardstick.lost(strategies), "folded": yardstick.folded(strategies)}
            rows.append({"search": name, **content, **spent, **losses})
        print(number, {row["search"]: round(row["lost"], 2) for row in rows if row["root"] == number}, flush=True)
        if options.out:
            write_atomically(options.out, json.dumps(record(means=means(rows), rows=rows), indent=1).encode())


if __name__ == "__main__":
    main()
