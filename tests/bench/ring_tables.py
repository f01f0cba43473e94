"""What weight tables know at a ring of ten: `python -m tests.bench.ring_tables HANDS FILE` (docs/results/ring_players).

The ten `ring_*` players play limit hold'em; an onlooker keeps the tables of all with each way of modelling. Log-loss
of their actions after the flop, and what the tables of those still in say of the hands held, in nats above all hands
alike.
"""

from collections import Counter
from typing import Any

import numpy as np

from conf.compose import call, compose
from poker.game.betting import Betting
from poker.game.cards import HOLDEM, hand_index
from poker.game.rules import STREET_NAMES
from poker.game.state import HandState
from poker.opponents.action_statistics import BestOf, of_players
from poker.opponents.limit.modelling import SHRINKAGE
from poker.opponents.limit.tracker import Tracker
from poker.opponents.model import action_class, context_of
from poker.play.hand import play_hand
from poker.report.estimates import estimate
from tests.bench.record import record, run_into_file

AGENTS = {
    "generic": "poki_generic",
    "statistics": "poki_formula",
    "19-4-3 net": "poki_small_net",
    "net": "poki_net",
    "best_of": "poki_best_of",
}
"""Whose weight tables are measured, by what they model opponents with; and those of statistics that are spread as the
frequencies of a net are."""


def followed(tracker: Tracker, end: HandState, names: list[str]) -> tuple[list[float], dict[int, float]]:
    """Log-losses of the actions after the flop, and the gain over all hands alike at the end of each round."""
    losses: list[float] = []
    gains: dict[int, float] = {}
    tracker.begin(len(names), names)

    def note(betting: Betting, street: int) -> None:
        live, results = HOLDEM.live(end.runout[: end.rules.board_sizes[street]]), []
        players = [player for player, out in enumerate(betting.folded) if not out]
        for player, weights in zip(players, tracker.tables(players), strict=True):
            share = weights[hand_index(*end.hole_cards[player])] / weights[live].sum(dtype=np.float64)
            results.append(float(np.log(max(share, 1e-12)) + np.log(live.sum())))
        gains[street] = float(np.mean(results))

    street = 0
    for past, _, action in end.betting.turns():
        if past.street > street:
            note(past, street)
        street, board = past.street, end.runout[: end.rules.board_sizes[past.street]]
        if street:
            assert tracker.predictor is not None
            probs = tracker.predictor.probs(context_of(past, board, names[past.to_act]))
            losses.append(-float(np.log(probs[action_class(action)])))
        tracker.observe(past, board, action, reweight=not end.betting.folded[past.to_act])
    if end.betting.is_showdown:
        note(end.betting, street)
        tracker.conclude([() if out else cards for out, cards in zip(end.betting.folded, end.hole_cards, strict=True)])
    return losses, gains


def main(hands: int, settings: list[str]) -> dict[str, Any]:
    seats = list(compose("evaluate", ["evaluate=ring"]).agent)
    players = [name for name in seats if name != "_target_" and name.startswith("ring_")]
    config = compose("evaluate", ["evaluate=ring", f"agents=[{','.join((*players, *AGENTS.values()))}]", *settings])
    rules, agents = call(config.game), {name: call(config.agent[name]) for name in players}
    trackers: dict[str, Tracker] = {name: call(config.agent[agent]).tracker for name, agent in AGENTS.items()}
    statistics, rates = of_players(SHRINKAGE), call(config.agent.poki_formula).rates
    trackers["statistics over own tables"] = Tracker(statistics, rates, statistics, by_line=lambda player: True)
    chosen: Counter[str] = Counter()
    for seed, agent in enumerate(agents.values()):
        agent.reset(seed)
    results: dict[str, list[tuple[list[float], dict[int, float]]]] = {name: [] for name in trackers}
    for number in range(hands):
        rng = np.random.default_rng([1, number])
        names = [players[i] for i in rng.permutation(len(players))]
        end = play_hand([agents[name] for name in names], HandState.deal(rules, rng))
        for name, tracker in trackers.items():
            results[name].append(followed(tracker, end, names))
            if isinstance(tracker.predictor, BestOf):
                chosen.update(tracker.predictor.chosen(player) for player in players)
    rows: dict[str, Any] = {}
    for name, each in results.items():
        row = rows[name] = {"log_loss": _told([loss for losses, _ in each for loss in losses])}
        for street, round_name in enumerate(STREET_NAMES):
            pairs = [(gains, base) for (_, gains), (_, base) in zip(each, results["statistics"], strict=True)]
            gained = [(gains[street], base[street]) for gains, base in pairs if street in gains]
            row[round_name] = _told([gain for gain, _ in gained])
            if name != "statistics":
                row[f"{round_name}, less statistics"] = _told([gain - base for gain, base in gained])
    rows["best_of"]["chosen"] = {name: count / chosen.total() for name, count in chosen.most_common()}
    return record(played=config.agent, hands=hands, settings=settings, modelling=rows)


def _told(values: list[float]) -> dict[str, Any]:
    mean = estimate(values)
    return {"mean": round(mean.mean, 4), **mean.interval(4), "n": mean.n}


if __name__ == "__main__":
    run_into_file("ring_tables", "hands", main)
