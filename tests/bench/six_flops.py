"""Losses of ways to solve a flop, on flops with a known exact solution.

    python -m tests.bench.six_flops FILE [--flops NAME ...] [--plays NAME ...] [--own] [--solutions FOLDER]

Each row is a flop of tests/bench/six_flops.json and one way to play its betting round. The flop is played in a
game with the bets of `search=demo` on every street. A way that solves flops to the end of the hand has one bet and one
raise on later streets. Losses are percent of the pot, averaged over both seats, beside the whole solution:

- `best`: what a best response gains if later rounds are the best that the seat's first round permits, midway between
  bounds that are at most 0.1 apart;
- `plays`: the same if later rounds are solved in 100 iterations for the ranges of the agent's beliefs, which put some
  of the opponent's actions down to chance;
- `rival`: what the first round gives away to the opponent's strategy in the whole solution, which does not adapt, if
  the seat's later play is the best response to it.

With `--own` the ranges are those of the agent's blueprint after the line before the flop. Whole solutions are kept in
`--solutions`, rows are written as they are measured, and a row that FILE has is not measured again.
"""

import argparse
import json
import time
from collections.abc import Mapping, Sequence
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
from omegaconf import OmegaConf

from conf.compose import build, compose
from poker.agents.blueprint import BlueprintAgent
from poker.agents.searching.heads_up import DepthLimitedAgent
from poker.formats.ranges import parse_range
from poker.game.beliefs import observe_action, start_ranges
from poker.game.betting import Betting
from poker.game.cards import HOLDEM, parse_cards
from poker.game.state import public_state
from poker.kernels.types import Path as Line
from poker.kernels.types import Ranges, Singles
from poker.run.atomic import write_atomically
from poker.search.settings import SearchSettings
from poker.solve.types import Request
from poker.solvers.vector.boards import deck_of
from poker.solvers.vector.game import VectorGame
from poker.solvers.vector.solver import VectorSolver
from poker.tree import BettingTree, Kind, build_tree
from poker.tree.translation import on_actions
from tests.bench.record import record

FLOPS = Path(__file__).with_suffix(".json")
PLAYS: Mapping[str, tuple[str, list[str]]] = json.loads(FLOPS.with_name("six_flops_plays.json").read_text())
"""The agent and its settings, by way to play."""
_PRECISION, _MOST, _LATER = 0.0005, 300, 100
"""Precision of the whole solution in pots, its most iterations, and the iterations of later rounds."""
_DEEP = 15
"""Stack in pots from which only `rival` is measured."""
_LEAST_WEIGHT = 0.05
"""Share of the likeliest hand's weight; hands of the agent's ranges below it are left out."""

Play = Mapping[Line, Singles]
"""[H, A] by the actions since the root."""


class Flop:
    """A flop with its ranges and its whole solution."""

    def __init__(self, name: str, spec: Mapping[str, Any], config: Any, own: bool, solutions: Path | None) -> None:
        search: SearchSettings = build(config.search)
        self.name, self.board = name, parse_cards(spec["board"])
        self.solution_file = None if solutions is None else solutions / f"{name}{'_own' if own else ''}.npz"
        states = [Betting.start(build(config.game))]
        for action in spec["line"]:
            states.append(states[-1].apply(action))
        self.root = states[-1]
        self.ranges: Ranges = np.stack([parse_range(text) for text in spec["ranges"]]).astype(np.float32)
        if own:
            self.ranges = _own_ranges(build(config.agent["blueprint"]), states, spec["line"])
        self.ranges[:, ~HOLDEM.live(self.board)] = 0
        self.tree: BettingTree = build_tree(self.root, search.menu)
        self.game = VectorGame(self.tree, self.board, self.ranges)
        self.noise = search.opponent_noise
        self.nodes = round_decisions(self.tree)
        self.pots_behind = (self.root.rules.stacks[0] - max(self.root.committed)) / self.root.pot

    @cached_property
    def exact(self) -> VectorSolver:
        solver, file = VectorSolver(self.game), self.solution_file
        if file is not None and file.exists():
            with np.load(file) as kept:
                for name, array in solver.arrays.items():
                    array[:] = kept[name]
        else:
            solver.run(_MOST, _PRECISION)
            if file is not None:
                np.savez(file, **solver.arrays)  # type: ignore[arg-type]  # of numpy's stub
        return solver

    @cached_property
    def best_responses(self) -> list[float]:
        """Chips of each player's best response to the whole solution."""
        return [self.exact.best_response_value(player) for player in range(2)]

    def loss(self, play: Play, believed: bool) -> float:
        """`plays` if later rounds are solved for the believed ranges, else `best`, in percent of the pot."""
        lost = 0.0
        for seat in range(2):
            solver = VectorSolver(self.game)
            for node in self.nodes:
                rows = self._even(play[self.tree.path(node)])
                if self.tree.player[node] == seat:
                    solver.lock(node, rows)
                elif believed:
                    solver.lock(node, (1 - self.noise) * rows + self.noise / rows.shape[1])
            if believed:
                solver.advance(_LATER)
                free = VectorSolver(self.game)
                free.arrays["sums"][:] = solver.arrays["sums"]
                lost += free.best_response_value(1 - seat)
            else:
                for array in ("regrets", "source"):
                    solver.arrays[array][:] = self.exact.arrays[array]
                solver.run(_LATER, _PRECISION)
                guaranteed, reached = (solver.best_response_value(player) for player in (seat, 1 - seat))
                lost += (reached - guaranteed) / 2
        return 50 * lost / self.root.pot

    def given_away(self, play: Play) -> float:
        """`rival`, in percent of the pot."""
        lost = 0.0
        for seat in range(2):
            solver = VectorSolver(self.game)
            solver.arrays["sums"][:] = self.exact.arrays["sums"]
            for node in self.nodes:
                if self.tree.player[node] == seat:
                    solver.lock(node, self._even(play[self.tree.path(node)]))
            lost += self.best_responses[seat] - solver.best_response_value(seat)
        return 50 * lost / self.root.pot

    def _even(self, rows: Singles) -> Singles:
        """Rows alike for hands that are equal up to the names of suits, which leaves tell apart by rounding."""
        images = rows[deck_of(self.game.rules).hand_map[list(self.game.boards.groups[0])]]
        return np.asarray(images.mean(axis=0) + 1e-7, np.float32)

    def play(self, name: str, settings: Sequence[str]) -> tuple[Play, dict[str, Any], Any]:
        """The way `name` plays the round, facts about its solve, and the configuration of its agent."""
        if name == "whole solution":
            return {self.tree.path(node): self.exact.strategy(node) for node in self.nodes}, {}, {}
        agent_name, own = PLAYS[name]
        config = configuration([*own, *settings], agent_name)
        agent, played = build(config.agent[agent_name]), OmegaConf.to_container(config.agent, resolve=True)
        if isinstance(agent, BlueprintAgent):
            states = {self.tree.path(n): public_state(self.tree.betting(n, self.root), self.board) for n in self.nodes}
            actions = {self.tree.path(n): self.tree.actions(n) for n in self.nodes}
            return {line: on_actions(agent.policy(state), actions[line]) for line, state in states.items()}, {}, played
        assert isinstance(agent, DepthLimitedAgent)
        few = np.where(np.arange(self.ranges.shape[1]) % 25, 0, np.ones_like(self.ranges))
        agent.without_time_limit.solved(Request(self.root, parse_cards("4c3d2h"), few, 0))  # loads kernels
        play: dict[Line, Singles] = {}
        begun = time.process_time()
        for seat in range(1 if config.search.joint else 2):
            solver = agent.without_time_limit.solved(Request(self.root, self.board, self.ranges, seat))
            tree = solver.game.tree
            for node in round_decisions(tree):
                if config.search.joint or tree.player[node] == seat:
                    play[tree.path(node)] = solver.strategy(node)
        facts = {
            "seconds": time.process_time() - begun,
            "rivers": solver.game.rivers,
            "iterations": solver.iterations,
            "hand_actions_millions": solver.game.hand_actions / 1e6,
            "mib": solver.game.bytes(3) / 2**20,
        }
        return play, facts, played

    def row(self, name: str, settings: Sequence[str]) -> tuple[dict[str, Any], Any]:
        """All that is measured of one way to play, and the configuration of its agent."""
        play, facts, played = self.play(name, settings)
        deep = self.pots_behind > _DEEP
        row = {
            "flop": self.name,
            "play": name,
            "best": None if deep else self.loss(play, believed=False),
            "plays": None if deep else self.loss(play, believed=True),
            "rival": self.given_away(play),
            **facts,
        }
        return row, played

    def facts(self, spec: Mapping[str, Any]) -> dict[str, Any]:
        """Size of the flop and precision of its whole solution."""
        return {
            "flop": self.name,
            "board": spec["board"],
            "kind": spec["kind"],
            "pots_behind": self.pots_behind,
            "hands": " and ".join(map(str, (self.ranges > 0).sum(axis=1).tolist())),
            "hand_actions_millions": self.game.hand_actions / 1e6,
            "mib": self.game.bytes(3) / 2**20,
            "precision_percent": 50 * sum(self.best_responses) / self.root.pot,
        }


def round_decisions(tree: BettingTree) -> list[int]:
    """Decisions of the first round of a tree."""
    nodes = tree.decision_nodes.tolist()
    return [n for n in nodes if tree.street[n] == tree.street[0] and tree.kind[n] == Kind.DECISION]


def _own_ranges(agent: BlueprintAgent, states: Sequence[Betting], line: Sequence[int]) -> Ranges:
    ranges = start_ranges(states[0].rules)
    for state, action in zip(states, line, strict=False):
        actions, probs = agent.policy(public_state(state, ()))
        nearest = int(np.argmin([abs(other - action) for other in actions]))
        ranges = observe_action(ranges, state.to_act, probs[:, nearest], 0.0, len(actions))
    ranges = ranges / ranges.max(axis=1, keepdims=True)
    return np.where(ranges < _LEAST_WEIGHT, 0, ranges).astype(np.float32)


def configuration(settings: Sequence[str], agent: str) -> Any:
    """Configuration of a match with one agent."""
    return compose("evaluate", ["evaluate=match", *settings, f"agents=[{agent}]"])


def main() -> None:
    specs = json.loads(FLOPS.read_text())
    parser = argparse.ArgumentParser()
    parser.add_argument("file", type=Path)
    parser.add_argument("--flops", nargs="+", default=list(specs))
    parser.add_argument("--plays", nargs="+", default=list(PLAYS))
    parser.add_argument("--own", action="store_true")
    parser.add_argument("--solutions", type=Path)
    parser.add_argument("settings", nargs="*", metavar="key=value")
    options = parser.parse_args()
    settings = options.settings or ["scale=laptop", "artifacts=models/trained/laptop.bundle"]
    kept = json.loads(options.file.read_text()) if options.file.exists() else {"rows": [], "flops": []}
    rows, flops, played = kept["rows"], kept["flops"], [kept.get("artifacts", {})]
    for name in options.flops:
        plays = [play for play in options.plays if not any((r["flop"], r["play"]) == (name, play) for r in rows)]
        if not plays:
            continue
        flop = Flop(
            name, specs[name], configuration(["search=demo", *settings], "blueprint"), options.own, options.solutions
        )
        flops = [*(fact for fact in flops if fact["flop"] != name), flop.facts(specs[name])]
        for play in plays:
            row, agent = flop.row(play, settings)
            print(row, flush=True)
            rows.append(row)
            played.append(agent)
            content = record(played, rows=rows, flops=flops, settings=settings)
            write_atomically(options.file, json.dumps(content, indent=1).encode())


if __name__ == "__main__":
    main()
