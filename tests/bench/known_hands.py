"""What it is worth to know with which hands a player acts: `python -m tests.bench.known_hands SPOTS FILE`, in
docs/results/learned_at_the_table.

Rivers that people of `experiment=exploit_people_matches` come to when they play each other. A response to a model of
one of them, p of whose hands play by it, is solved and measured exactly against that player. All models know how often
the player acts in each way; they differ in the hands with which they think it is done. Won in pots of the start of the
river, and more than by the first model.
"""

from dataclasses import replace
from typing import Any

import numpy as np

from conf.compose import call, compose
from poker.agents.modelled import ModelledAgent
from poker.game.betting import Betting
from poker.game.rules import Rules
from poker.game.state import HandState
from poker.kernels.types import Board, Singles
from poker.opponents.habits import Habits
from poker.opponents.shown import ShownHands
from poker.play.hand import play_hand
from poker.report.estimates import estimate
from poker.solvers.vector.game import VectorGame
from poker.solvers.vector.realization import Rows, played
from poker.solvers.vector.solver import VectorSolver
from poker.tree import bet_menu, build_tree
from tests.bench.record import record, run_into_file

PLAYERS = "people_loose", "people_tight", "pluribus"
MENU = bet_menu(river=[[0.5, 1.0, "a"], [1.0, "a"], ["a"]])
WEIGHTS = 0.5, 1.0
RIVER, ITERATIONS = 3, 150


def _models(true: Habits, given: Any) -> dict[str, Habits]:
    """Models with the frequencies of `true`."""
    unlike = {
        "by strength": {"given": None, "people": False, "shown_hands": ShownHands()},
        "by strength against strong hands": {"given": None, "people": True, "shown_hands": ShownHands()},
        "by a net": {"given": given, "shown_hands": ShownHands.exact()},
        "known": {},
    }
    return {name: replace(true, **change) for name, change in unlike.items()}


def _values(models: dict[str, Habits], start: Betting, board: Board, ranges: Singles, hero: int) -> list[float]:
    """Pots that the response to each model wins from the last, for each weight."""
    tree = build_tree(start, MENU)
    game, other = VectorGame(tree, board, ranges), 1 - hero
    measure = VectorSolver(game, "cfr_plus")

    def rows(model: Habits) -> Rows:
        def taken(node: int, boards: Any, reach: Rows) -> Any:
            cards = [game.boards.cards[each] for each in boards]
            return model.probs(tree.betting(node, start), cards, tree.actions(node), reach)[0] * reach[:, :, None]

        return played(game, other, taken, game.ranges[other].astype(np.float32))

    reach = [rows(model) for model in models.values()]
    own = np.zeros(game.num_entries, bool)
    for node in np.flatnonzero(tree.player == hero).tolist():
        if game.layout.position[node] >= 0:
            game.rows(own, node, 0)[:] = True
    results = []
    for p in WEIGHTS:
        for each in reach:
            solver = VectorSolver(game, "apdcfr")
            solver.restrict(other, np.float32(p) * each)
            solver.run(iterations=ITERATIONS)
            measure.arrays["sums"][:] = np.where(own, solver.arrays["sums"], reach[-1])
            results.append(measure.game_value(hero) / sum(start.committed))
    return results


def main(spots: int, settings: list[str]) -> dict[str, Any]:
    config = compose("evaluate", ["experiment=exploit_people_matches", *settings])
    rules: Rules = call(config.game)
    given = call(config.agent.depth_limited_exploit_held.exploit.model.given)
    results: list[dict[str, Any]] = []
    for name in PLAYERS:
        player: ModelledAgent = call(config.agent[name])
        models, rng = _models(player._model, given), np.random.default_rng(1)  # type: ignore[arg-type]
        won: list[list[float]] = []
        while len(won) < spots:
            end = play_hand([player, player], HandState.deal(rules, rng))
            start = next((past for past, _, _ in end.betting.turns() if past.street == RIVER), None)
            if start is None:
                continue
            board = rules.ordered_board(end.runout)
            ranges = np.stack([player.range_of(start, board, seat) for seat in range(2)]).astype(np.float32)
            ranges *= rules.space.live(board)
            won.append(_values(models, start, board, ranges / ranges.sum(axis=1, keepdims=True), len(won) % 2))
        for at, p in enumerate(WEIGHTS):
            values = np.array(won).reshape(spots, len(WEIGHTS), -1)[:, at]
            for model, column in zip(models, values.T, strict=True):
                less = estimate((column - values[:, 0]).tolist())
                row = {"player": name, "p": p, "model": model, "won": round(float(column.mean()), 4)}
                results.append({**row, "more than by strength": {"mean": round(less.mean, 4), **less.interval(4)}})
                print(results[-1], flush=True)
    return record(played=config.agent, spots=spots, settings=settings, rows=results)


if __name__ == "__main__":
    run_into_file("known_hands", "spots", main)
