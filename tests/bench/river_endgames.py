"""What solving rivers of two wins from the blueprint at a table of six, exactly, over all hands of both.

    python -m tests.bench.river_endgames --artifacts DIR [--game NAME] [--spots 200] [--out FILE]

Blueprints play each other; every river that begins with two players left and chips behind is a spot, with the ranges
with which they came there. Both strategies take their bets from one tree: the sizes that the blueprint has there.
"""

import argparse
import json
from collections.abc import Iterator
from pathlib import Path

import numpy as np

from conf.help import values_of
from poker.agents.blueprint import BlueprintAgent, blueprint_policy, load_blueprint
from poker.agents.searching.ring import DepthLimitedRingAgent
from poker.game.state import HandState
from poker.kernels.types import Board, Ranges
from poker.play.hand import play_hand
from poker.report.estimates import Estimate, estimate
from poker.run.atomic import write_atomically
from poker.search.multiplayer.heads_up_rest import HeadsUpRest
from poker.search.round_solver import SolverSettings
from poker.search.settings import SearchSettings
from poker.solvers.best_response.ranges import RangePolicy, RangeWalk
from poker.solvers.vector.game import VectorGame
from poker.solvers.vector.solver import VectorSolver
from poker.tree import BetMenu, bet_menu, build_tree
from poker.tree.translation import HistoryTranslator
from tests.bench.record import record
from tests.games import load_rules

_RIVER, _PRECISION, _ITERATIONS = 3, 0.002, 2000


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--artifacts", type=Path, required=True)
    parser.add_argument("--game", default="holdem_nolimit_6p")
    parser.add_argument("--spots", type=int, default=200)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--out", type=Path)
    options = parser.parse_args()
    rows = []
    for row in _spots(options.artifacts, options.game, options.seed):
        rows.append(row)
        if len(rows) == options.spots:
            break
    estimates: dict[str, Estimate] = {}
    for name in ("gain", "gain_mbb", "from_blueprint", "from_solved"):
        estimates[name] = estimate([row[name] for row in rows])
        print(f"{name}: {estimates[name]}", flush=True)
    records = {name: value.record() for name, value in estimates.items()}
    hands = {"spots": len(rows), "hands": rows[-1]["hands"], "seed": options.seed, "game": options.game}
    if options.out:
        write_atomically(options.out, json.dumps(record(options.artifacts, rows=[records], **hands), indent=1).encode())


def _spots(artifacts: Path, game: str, seed: int) -> Iterator[dict[str, float]]:
    """Measures of one river after the other; chips in pots, and the gain in mbb as well."""
    blueprint = load_blueprint(str(artifacts / "blueprint"), str(artifacts / "abstraction"))
    menu = bet_menu(**values_of("ring", f"{game}_demo")["bets"])
    solver = SolverSettings("apdcfr", (1,), 1)
    search = SearchSettings(menu=menu, ahead=menu, solver=solver, opponent_noise=0.02, remembered_states=1)
    agent = DepthLimitedRingAgent(name="ring", blueprint=blueprint, translation_seed=0, search=search, factor=10.0)
    rules, rng = load_rules(game), np.random.default_rng(seed)
    players = [BlueprintAgent(name="blueprint", blueprint=blueprint, translation_seed=0) for _ in rules.stacks]
    for seat, player in enumerate(players):
        player.reset(seed + seat)
    hands = 0
    while True:
        hands += 1
        end = play_hand(players, HandState.deal(rules, rng))
        rest = HeadsUpRest.of(end.betting, _RIVER)
        if rest is None or rest.root.is_over:
            continue
        ranges = agent.ranges(rest.real_root, end.runout, agent.settings.opponent_noise)[list(rest.players)]
        spot = _Spot(rest, end.runout, ranges, players[0], menu)
        yield {"hands": hands, **spot.measured()}


class _Spot:
    """A river with both ranges, the blueprint's strategy on its tree and a solved one."""

    def __init__(self, rest: HeadsUpRest, board: Board, ranges: Ranges, agent: BlueprintAgent, menu: BetMenu) -> None:
        self._rest, self._board, self._ranges = rest, board, ranges.astype(np.float64)
        self._blueprint, self._translator = agent.blueprint, HistoryTranslator(agent.blueprint.tree, 0)
        self._tree = build_tree(rest.root, menu)
        self._by_blueprint = {node: self._policy(node) for node in self._tree.decision_nodes.tolist()}
        solver = VectorSolver(VectorGame(self._tree, board, ranges))
        solver.run(_ITERATIONS, _PRECISION)
        self._solved = {node: solver.strategy(node) for node in self._tree.decision_nodes.tolist()}

    def measured(self) -> dict[str, float]:
        """Mean gain of either player who plays as solved against the blueprint, and what best responses win."""
        pot, unit = self._rest.root.pot, self._rest.root.rules.big_blind / 1000
        strategies = [self._by_blueprint, self._solved]
        plain, first, second = (self._value(strategies[i], strategies[j], 0) for i, j in ((0, 0), (1, 0), (0, 1)))
        gain = (first - second) / 2
        assert abs(plain) <= pot
        responses = [sum(self._value(None, mine, player) for player in range(2)) / 2 for mine in strategies]
        shares = {"from_blueprint": responses[0] / pot, "from_solved": responses[1] / pot}
        return {"gain": gain / pot, "gain_mbb": gain / unit, **shares}

    def _value(self, own: dict[int, np.ndarray] | None, other: dict[int, np.ndarray], player: int) -> float:
        """Chips of `player` by the strategy `own`, the best response if None, against `other`."""

        def policy(rows: dict[int, np.ndarray]) -> RangePolicy:
            return lambda node, board: np.where(rows[node].sum(axis=1, keepdims=True) > 0, rows[node], uniform(node))

        def uniform(node: int) -> float:
            return 1 / int(self._tree.num_children[node])

        walk = RangeWalk(self._tree, policy(other), player, own=None if own is None else policy(own))
        mine, theirs = self._ranges[player], self._ranges[1 - player]
        values = walk.values(0, self._board, theirs)
        mass = self._tree.rules.space.compatible_mass(theirs)
        return float((mine * values).sum() / (mine * mass).sum())

    def _policy(self, node: int) -> np.ndarray:
        """[H, A] the blueprint's strategy at a node of the river."""
        betting = self._rest.real_root
        for action in self._tree.path(node):
            betting = betting.apply(self._rest.real(action))
        actions, probs = blueprint_policy(self._blueprint, self._translator, betting, self._board)
        out = np.zeros((len(probs), int(self._tree.num_children[node])), np.float32)
        offered = [self._rest.real(action) for action in self._tree.actions(node)]
        for column, action in enumerate(actions):
            nearest = min(
                range(len(offered)), key=lambda i: (np.sign(offered[i]) != np.sign(action), abs(offered[i] - action))
            )
            out[:, nearest] += probs[:, column]
        return out


if __name__ == "__main__":
    main()
