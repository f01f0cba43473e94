"""Two public spots at which a net stands at the leaves: what exact best responses win from each way to play them.

    python -m tests.bench.public_spots FILE [--rows flop:depth_limited "flop:depth_limited|leaves.clusters=32" ...]
        [key=value ...]

A row is a spot, an agent and settings of that row alone; the settings after it hold for all, those of the bundle if
there are none. Rows are written as they are measured. Each seat plays the first round of the spot as its own search
does, or its blueprint, and later rounds as an exact solve from the ranges of its beliefs. The opponent's range
there follows, with the agent's noise, the solution that the agent uses for it: one with the opponent as the searcher
before a depth limit (`search.both_sides`), its own otherwise. A best response may deviate on every round.
Lines and stacks are the published ones times two, so that the agents' game has these stacks.
"""

import argparse
import json
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
from omegaconf import OmegaConf

from conf.bundles import unbundle
from conf.compose import call, compose
from poker.agents.blueprint import BlueprintAgent
from poker.agents.searching.heads_up import DepthLimitedAgent
from poker.formats.ranges import parse_range
from poker.game.betting import Betting
from poker.game.cards import parse_cards
from poker.game.state import HandState, public_state
from poker.kernels.types import Path as Line
from poker.kernels.types import Ranges, Singles
from poker.run.atomic import write_atomically
from poker.search.round_solver import NodePolicy, Request
from poker.search.settings import SearchSettings
from poker.solvers.vector.boards import deck_of
from poker.solvers.vector.game import VectorGame
from poker.solvers.vector.solver import VectorSolver
from poker.tree import BettingTree, Kind, build_tree
from poker.tree.translation import on_actions
from tests.bench.record import record

OOP = "JJ-66,AQs-A9s,A5s-A4s,KTs+,QTs+,J9s+,T9s,98s,87s,AQo,KQo"
IP = "77+,ATs+,A5s-A2s,KTs+,QJs,JTs,T9s,87s,AQo+,KQo"
_RAISES = 400, 2000, 4400, 0
SPOTS: Mapping[str, tuple[str, tuple[int, ...], float]] = {
    "flop": ("Jd9d7d", _RAISES, 22.0),
    "turn": ("JhTh9h7d", (*_RAISES, 7400, 0), 74.0),
}
"""Board, actions up to the spot, and the published pot in big blinds."""
_TO_THE_END = "flop:depth_limited|agent.depth_limited.leaves=[${leaves.table}]|+search.ahead.turn=[[1.0],[1.0],[]]"
"""The flop is solved to the end of the hand, with one bet and one raise on the turn and the river."""
ROWS = (
    "flop:exact",
    "flop:depth_limited",
    "flop:naive",
    "flop:depth_limited_rollout",
    "flop:blueprint",
    _TO_THE_END,
    "turn:exact",
    "turn:depth_limited",
    "turn:blueprint",
)
_PRECISION, _MOST, _LATER = 0.0002, 1000, 100
"""Of the pot for the exact solve, its most iterations, and those of later rounds."""

Played = Mapping[Line, Singles]
"""[H, A] by the actions since the root."""


@dataclass(frozen=True)
class Row:
    """Losses of both seats to a best response and their mean, mbb/hand at the published pot, and the mean in percent
    of the pot: with the later rounds as the seat solves them, and `at_best` with the best there are. `seconds`: CPU
    time of one seat's solve, of which `first` builds what is then remembered."""

    spot: str
    play: str
    scale: str
    oop: float
    ip: float
    mbb: float
    percent_of_pot: float
    at_best: float
    seconds: float
    first: float


class Spot:
    def __init__(self, name: str, search: SearchSettings, threads: int) -> None:
        text, line, self.pot = SPOTS[name]
        self.name, self.board, self.threads = name, parse_cards(text), threads
        rules = call(compose("evaluate", ["evaluate=match"]).game)
        self.root = Betting.start(rules)
        for action in line:
            self.root = self.root.apply(action)
        self.ranges: Ranges = np.stack([parse_range(OOP), parse_range(IP)]).astype(np.float32)
        self.tree: BettingTree = build_tree(self.root, search.menu)
        self.game = VectorGame(self.tree, self.board, self.ranges)
        self.noise = search.opponent_noise
        round_ = (n for n in self.tree.decision_nodes.tolist() if self.tree.street[n] == self.root.street)
        self.nodes = [node for node in round_ if self.tree.kind[node] == Kind.DECISION]

    @cached_property
    def exact(self) -> VectorSolver:
        solver = VectorSolver(self.game, threads=self.threads)
        solver.run(_MOST, _PRECISION)
        return solver

    @cached_property
    def worth(self) -> tuple[float, float]:
        """Chips of both in equilibrium, halfway between what is guaranteed and what best responses reach."""
        best = [self.exact.best_response_value(player) for player in range(2)]
        middle = (best[0] - best[1]) / 2
        return middle, -middle

    def losses(self, plays: Sequence[Played], believed: bool) -> list[float]:
        """Chips that each seat loses by `plays` of its own, in big blinds at the published pot. `believed`: later
        rounds are solved from the ranges of that play; otherwise they are the best that there are."""
        chips = []
        for seat, play in enumerate(plays):
            solver = VectorSolver(self.game, threads=self.threads)
            for node in self.nodes:
                rows = self._even(play[self.tree.path(node)])
                if self.tree.player[node] == seat:
                    solver.lock(node, rows)
                elif believed:
                    solver.lock(node, (1 - self.noise) * rows + self.noise / rows.shape[1])
            solver.advance(_LATER)
            free = VectorSolver(self.game, threads=self.threads)
            free.arrays["sums"][:] = solver.arrays["sums"]
            chips.append(free.best_response_value(1 - seat) - self.worth[1 - seat])
        return [1000 * self.pot * lost / self.root.pot for lost in chips]

    def _even(self, rows: Singles) -> Singles:
        """Rows alike for hands that are equal up to the names of suits, which leaves tell apart by rounding."""
        groups = self.game.boards.groups[0]
        return np.asarray(rows[deck_of(self.game.rules).hand_map[list(groups)]].mean(axis=0) + 1e-7, np.float32)

    def played(self, name: str, config: Any) -> tuple[list[Played], list[float]]:
        """Each seat's play of the round, and CPU seconds of both."""
        if name == "exact":
            play: Played = {self.tree.path(node): self.exact.strategy(node) for node in self.nodes}
            return [play] * 2, [0.0, 0.0]
        agent = call(config.agent[name])
        if isinstance(agent, BlueprintAgent):
            return [self._by_blueprint(agent)] * 2, [0.0, 0.0]
        assert isinstance(agent, DepthLimitedAgent)
        policies: list[Mapping[Line, NodePolicy]] = []
        seconds: list[float] = []
        for seat in range(2):
            begun = time.process_time()
            policies.append(agent.unhurried(Request(self.root, self.board, self.ranges, seat)).policies)
            seconds.append(time.process_time() - begun)
        both_sides = config.search.both_sides and self.root.street < len(config.agent[name].leaves)
        plays: list[Played] = [
            {line: policies[decision.player if both_sides else seat][line].probs for line, decision in own.items()}
            for seat, own in enumerate(policies)
        ]
        return plays, seconds

    def _by_blueprint(self, agent: BlueprintAgent) -> Played:
        play = {}
        for node in self.nodes:
            betting = self.tree.betting(node, self.root)
            state: HandState = public_state(betting, self.board)
            play[self.tree.path(node)] = on_actions(agent.policy(state), self.tree.actions(node))
        return play

    def row(self, play: str, name: str, config: Any) -> Row:
        plays, seconds = self.played(name, config)
        oop, ip = self.losses(plays, believed=True)
        mean, at_best = (oop + ip) / 2, sum(self.losses(plays, believed=False)) / 2
        scale = "" if name == "exact" else str(config.scale.name)
        row = Row(self.name, play, scale, oop, ip, mean, mean / self.pot / 10, at_best, seconds[1], seconds[0])
        print(row, flush=True)
        return row


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("file", type=Path)
    parser.add_argument("--rows", nargs="+", default=ROWS)
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("settings", nargs="*", metavar="key=value")
    options = parser.parse_args()
    settings = options.settings or ["scale=laptop", "artifacts=models/trained/laptop.bundle"]
    spots: dict[str, Spot] = {}
    rows: list[Row] = []
    played: list[Any] = []
    for text in options.rows:
        where, _, play = text.partition(":")
        name, *own = play.split("|")
        agents = [] if name == "exact" else [f"agents=[{name}]"]
        config = compose("evaluate", ["evaluate=match", "search=demo", *settings, *agents, *own])
        unbundle(config, writes=False)
        if where not in spots:
            spots[where] = Spot(where, call(config.search), options.threads)
        rows.append(spots[where].row(play, name, config))
        played += [OmegaConf.to_container(config.agent, resolve=True)] if agents else []
        content = record(played, rows=[vars(row) for row in rows], ranges={"oop": OOP, "ip": IP}, settings=settings)
        write_atomically(options.file, json.dumps(content, indent=1).encode())


if __name__ == "__main__":
    main()
