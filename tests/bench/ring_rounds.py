"""What one seat at a table of six wins by searching, round by round, where all others play the blueprint.

    python -m tests.bench.ring_rounds --artifacts DIR [--game NAME] [--flops 200] [--seed 1] | tee LOG
    python -m tests.bench.ring_rounds --artifacts DIR [--game NAME] --logs LOG ... --out FILE

Blueprints play each other to the flop, and from there one of the players left is the searcher. Where a round begins, it
is worth to the searcher what the searched strategy of the round wins more than the blueprint's, if all play the
blueprint after it: the mean over deals from the ranges of all, in which the searcher holds every hand and takes every
action by its chance, and both strategies meet the same deals. The hand then goes on as searched. Added up over the
rounds of a hand that is what a searcher wins more than a blueprint in its seat. All bets are the blueprint's.
"""

import argparse
import ast
import json
from collections.abc import Iterator
from itertools import chain, islice
from pathlib import Path

import numpy as np

from conf.help import values_of
from poker.agents.base import sample_action
from poker.agents.blueprint import BlueprintAgent, load_blueprint
from poker.agents.searching.ring import DepthLimitedRingAgent
from poker.depth_limit.evaluator import leaf_states
from poker.game.beliefs import observe_action, observe_board, start_ranges
from poker.game.betting import Betting
from poker.game.state import HandState, public_state
from poker.kernels.types import Board, Singles
from poker.report.estimates import estimate
from poker.run.atomic import write_atomically
from poker.search.round_solver import SolverSettings
from poker.search.settings import SearchSettings
from poker.solvers.sampling.subgame import RolledOut, SubgameSolver
from poker.tree import BettingTree, DepthLimit, Kind, bet_menu, build_tree
from poker.tree.translation import HistoryTranslator, on_actions
from tests.bench.record import record
from tests.games import load_rules

_DEALS = 500, 500, 1000, 4000
"""By street."""
_COUNTED = 10_000
"""Flops from which it is told how often hands come there."""
_MOST = 4
"""Players for whom the agent solves a round."""


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--artifacts", type=Path, required=True)
    parser.add_argument("--game", default="holdem_nolimit_6p")
    parser.add_argument("--flops", type=int, default=200)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--factor", type=float, default=10.0)
    parser.add_argument("--logs", type=Path, nargs="*", default=[])
    parser.add_argument("--out", type=Path)
    options = parser.parse_args()
    table = _Table(options.artifacts, options.game, options.seed, options.factor)
    if not options.logs:
        for number, hand in zip(range(options.flops), table.hands(), strict=False):
            print(number, hand, flush=True)
        return
    lines = chain.from_iterable(log.read_text().splitlines() for log in options.logs)
    played = [ast.literal_eval(line.split(maxsplit=1)[1]) for line in lines]
    flops = sum(1 for _ in islice(table.flops(), _COUNTED))
    rows = _rows(played, flops / table.dealt, table.rules.num_players)
    for row in rows:
        print(json.dumps(row), flush=True)
    content = {"flops": len(played), "flops_a_hand": flops / table.dealt, "factor": options.factor}
    if options.out:
        write_atomically(
            options.out,
            json.dumps(record(options.artifacts, rows=rows, game=options.game, **content), indent=1).encode(),
        )


Gains = dict[tuple[str, str], tuple[float, float]]
"""Of a hand, by street and players: gain in pots, and in mbb of the hand."""


def _rows(played: list[tuple[int, Gains]], flops: float, seats: int) -> list[dict[str, object]]:
    """Gains where rounds begin, and for each hand and seat: as often as a hand comes there and the seat is in it."""
    share = flops / seats
    kinds = sorted({kind for _, gains in played for kind in gains}, key=str)
    rows: list[dict[str, object]] = []
    for kind in kinds:
        met = [gains[kind] for _, gains in played if kind in gains]
        by_hand = [left * share * gains.get(kind, (0.0, 0.0))[1] for left, gains in played]
        rows.append(
            {
                "street": kind[0],
                "players": kind[1],
                "rounds": len(met),
                "pots": estimate([pots for pots, _ in met]).record(),
                "mbb": estimate([mbb for _, mbb in met]).record(),
                "mbb_a_hand": estimate(by_hand).record(),
            }
        )
    total = [left * share * sum(mbb for _, mbb in gains.values()) for left, gains in played]
    return [
        *rows,
        {"street": "all", "rounds": sum(len(gains) for _, gains in played), "mbb_a_hand": estimate(total).record()},
    ]


class _Table:
    """Hands of one searcher and blueprints."""

    def __init__(self, artifacts: Path, game: str, seed: int, factor: float) -> None:
        self._blueprint = load_blueprint(str(artifacts / "blueprint"), str(artifacts / "abstraction"))
        self._menu, settings = bet_menu(**values_of("ring", f"{game}_demo")["bets"]), values_of("search", "demo")
        solver = settings["solver"]
        search = SearchSettings(
            menu=self._menu,
            ahead=self._menu,
            solver=SolverSettings(solver["algorithm"], tuple(solver["iterations"]), 1, solver["precision"]),
            opponent_noise=settings["opponent_noise"],
            remembered_states=settings["remembered_states"],
        )
        self._player = BlueprintAgent(name="blueprint", blueprint=self._blueprint, translation_seed=0)
        self._searcher = DepthLimitedRingAgent(
            name="searcher", blueprint=self._blueprint, translation_seed=0, search=search, factor=factor
        )
        translator = HistoryTranslator(self._blueprint.tree, 0)
        self._rolled_out = RolledOut(self._blueprint, translator, 1.0, ("blueprint",))
        self.rules, self.dealt = load_rules(game), 0
        self._seed, self._rng = seed, np.random.default_rng(seed)

    def hands(self) -> Iterator[tuple[int, Gains]]:
        """Players on the flop and gains of one hand after the other that comes there."""
        for state, left in self.flops():
            yield len(left), self._after_the_flop(state, int(self._rng.choice(left)))

    def flops(self) -> Iterator[tuple[HandState, list[int]]]:
        """Hands on the flop, as blueprints come there, and the players left; `dealt` counts those that end before."""
        while True:
            self.dealt += 1
            state = HandState.deal(self.rules, self._rng)
            while not state.is_over and state.street == 0:
                state = state.apply(sample_action(self._player.policy(state), state, self._rng))
            left = [player for player, out in enumerate(state.betting.folded) if not out]
            if not state.is_over and len(left) <= _MOST:
                yield state, left

    def _after_the_flop(self, state: HandState, own: int) -> Gains:
        gains: Gains = {}
        while not state.is_over and not state.betting.folded[own]:
            if not state.betting.actions[state.street]:
                live = state.betting.folded.count(False)
                pot, chips = state.betting.pot, self._gain(state.betting, self.rules.ordered_board(state.board), own)
                street = ("flop", "turn", "river")[state.street - 1]
                gains[street, "2" if live == 2 else "3+"] = chips / pot, 1000 * chips / self.rules.big_blind
            agent = self._searcher if state.to_act == own else self._player
            state = state.apply(sample_action(agent.policy(state), state, self._rng))
        return gains

    def _gain(self, root: Betting, board: Board, own: int) -> float:
        """Chips that the searcher wins more than the blueprint in its place."""
        ends = root.street == self.rules.num_streets - 1
        tree = build_tree(root, self._menu, None if ends else DepthLimit(root.street, 1))
        solver = SubgameSolver(
            tree,
            board,
            self._ranges(root, board, own),
            self._seed,
            leaves=leaf_states(root, tree) if tree.num_leaf_states else (),
            rolled_out=None if ends else self._rolled_out,
        )
        nodes = np.flatnonzero((tree.kind == Kind.DECISION) & (tree.street == root.street)).tolist()
        plain = {node: self._strategy(tree, node, root, board, self._player) for node in nodes}
        mine = [node for node in nodes if tree.player[node] == own]
        searched = {node: self._strategy(tree, node, root, board, self._searcher) for node in mine}
        deals = solver.values(own, [plain, {**plain, **searched}], _DEALS[root.street])
        return float((deals[:, 2] - deals[:, 1]).sum() / deals[:, 0].sum())

    @staticmethod
    def _strategy(
        tree: BettingTree, node: int, root: Betting, board: Board, agent: BlueprintAgent | DepthLimitedRingAgent
    ) -> Singles:
        return on_actions(agent.policy(public_state(tree.betting(node, root), board)), tree.actions(node))

    def _ranges(self, root: Betting, board: Board, own: int) -> Singles:
        """[P, H] with which all come to `root`, 0 for players who are out."""
        ranges = start_ranges(self.rules)
        for before, player, action in root.turns():
            if not root.folded[player]:
                agent = self._searcher if player == own else self._player
                actions, probs = agent.policy(public_state(before, board[: self.rules.board_sizes[before.street]]))
                ranges = observe_action(ranges, player, np.asarray(probs[:, actions.index(action)], np.float32), 0.0)
        return np.where(np.array(root.folded)[:, None], np.float32(0.0), observe_board(ranges, board))


if __name__ == "__main__":
    main()
