"""`evaluate=scripted_players`: agents against players with one scripted plan, and what a best reply wins from them.

An agent that solves or trains with a few bet sizes meets bets here that its menus do not have: all-in before the flop,
the least raise every time, bets of many pots. What can be won from the players who go all-in follows from their cards
alone (`poker.agents.all_in`), so results against them are compared with an exact number. One strategy cannot win all of
it from several of them: calls that win against a player who goes all-in with any hand lose to one who does so only with
strong hands. `least_shortfall` is the price of not learning which one it is.
"""

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Annotated, Any

import numpy as np
from numpy.typing import NDArray
from rich.console import Console

from poker.agents.all_in import AllInPlayer
from poker.evaluation.matches.match import WIDTH, MatchSettings
from poker.evaluation.matches.match import run as run_match
from poker.evaluation.matches.match_results import MatchResults
from poker.evaluation.matches.results import chip_value
from poker.game.rules import Rules
from poker.play.lineup import AgentSpec
from poker.report import Report, Table
from poker.run.errors import PokernetsError
from poker.store.artifacts import fingerprint_of

_STEPS = 2000
_RATE = 16.0
"""Learning rate of Hedge, for shortfalls as a share of the largest possible."""


def run(
    *,
    game: Rules,
    agents: Sequence[AgentSpec],
    scripted: Sequence[str],
    settings: MatchSettings,
    out: str,
    **match: Annotated[Any, run_match],
) -> MatchResults:
    """Play each agent that is not among `scripted` against each that is; the rest is as in a match."""
    built = {spec.name: spec.build(game) for spec in agents if spec.name in scripted}
    measured = [spec.name for spec in agents if spec.name not in scripted]
    if set(built) != set(scripted) or not measured:
        raise PokernetsError("`scripted` names those of `agents` that the others play against")
    lineups = settings.lineups or [[name, other] for name in measured for other in scripted]
    results = run_match(game=game, agents=agents, settings=replace(settings, lineups=lineups), out=out, **match)
    all_in = {name: player for name, player in built.items() if isinstance(player, AllInPlayer)}
    half = chip_value(game, results.unit) / 2  # of the hands a seat has
    best = {name: sum(player.best_reply(game)) * half for name, player in all_in.items()}
    short = least_shortfall(np.array([player.call_gains(game) for player in all_in.values()])) * half if all_in else 0.0
    played = [[result.lineup.players, result.hands] for result in results.lineups]
    folder = f"scripted_players-seed{results.seed}-{fingerprint_of([played, results.settings])[:8]}"
    _report(results, best, short).write(Path(out) / game.name / folder, Console(width=WIDTH))
    return results


def least_shortfall(gains: NDArray[np.float64]) -> float:
    """A lower bound on what one strategy against all of N players leaves to the best reply against one of them.

    `gains` [N, H] are chips that calling the all-in of each wins over folding, by hand. For any weights of the players
    no calls win more than those that are best on the weighted average, so the weighted average of what best replies win
    beyond that is a bound (duality); weights follow the shortfalls (Hedge), and the best bound met is returned, in
    chips per hand in the big blind.
    """
    best = np.maximum(gains, 0.0).mean(axis=1)
    scale, logits, bound = best.max() or 1.0, np.zeros(len(gains)), 0.0
    for step in range(1, _STEPS + 1):
        weights = np.exp(logits - logits.max())
        weights /= weights.sum()
        called = weights @ gains > 0
        shortfalls = best - (gains * called).mean(axis=1)
        bound = max(bound, float(weights @ shortfalls))
        logits += _RATE * shortfalls / (scale * np.sqrt(step))
    return bound


def _report(results: MatchResults, best: dict[str, float], short: float) -> Report:
    rows, record = [], []
    for result in results.lineups:
        name, other = result.lineup.players
        won = result.best[0]
        most = best.get(other)
        rows.append([name, other, won, most, None if most is None else most - won.mean, result.hands])
        measure = {"won": won.mean, "half_width_95": won.half_width, "low": won.low, "high": won.high}
        record.append(
            {"agent": name, "against": other, **measure, "aivat": result.has_aivat, "best_reply": most}
            | {"hands": result.hands, "settings": results.settings[name]}
        )
    columns = ("agent", "against", "won", "best reply", "less", "hands")
    note = f"{results.unit}/hand; best reply: exact, from the cards, where all chips go in before the flop"
    if short > 0:
        note += f"; who does not learn leaves {short:,.0f} or more to one of these best replies"
    table = Table(
        columns, rows, f"{results.game.name}, seed {results.seed}: against players with one scripted plan", note
    )
    summary = {"unit": results.unit, "seed": results.seed, "least_shortfall_of_one_strategy": short, "results": record}
    return Report(table.heading, [table], summary, {})
