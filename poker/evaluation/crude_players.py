"""`evaluate=crude_players`: agents against players with one crude plan, and what the best reply would win from these.

An agent that solves or trains with a few bet sizes is asked here for bets that its menus do not have: all-in before the
flop, the least raise every time, bets of many pots. Against the players who go all-in their cards alone say what can be
won (`poker.agents.all_in`), so the result has a number to be held against.
"""

from collections.abc import Sequence
from pathlib import Path
from typing import Annotated, Any

from rich.console import Console

from poker.agents.all_in import AllInPlayer
from poker.artifacts import fingerprint_of
from poker.errors import PokernetsError
from poker.evaluation.match import WIDTH
from poker.evaluation.match import run as run_match
from poker.evaluation.match_results import MatchResults
from poker.evaluation.results import chip_value
from poker.play.lineup import AgentSpec
from poker.report import Report, Table
from poker.rules import Rules


def run(
    *,
    game: Rules,
    agents: Sequence[AgentSpec],
    crude: Sequence[str],
    lineups: Sequence[Sequence[str]] | None = None,
    out: str,
    **match: Annotated[Any, run_match],
) -> MatchResults:
    """Every agent that is not among `crude` plays each of these; the rest is as in `poker.evaluation.match.run`."""
    built = {spec.name: spec.build(game) for spec in agents if spec.name in crude}
    measured = [spec.name for spec in agents if spec.name not in crude]
    if set(built) != set(crude) or not measured:
        raise PokernetsError("`crude` names those of `agents` that the others play against")
    lineups = lineups or [[name, other] for name in measured for other in crude]
    found = run_match(game=game, agents=agents, lineups=lineups, out=out, **match)
    best = {
        name: sum(player.best_reply(game)) / 2 * chip_value(game, found.unit)
        for name, player in built.items()
        if isinstance(player, AllInPlayer)
    }
    played = [[result.lineup.players, result.hands] for result in found.lineups]
    folder = f"crude_players-seed{found.seed}-{fingerprint_of([played, found.settings])[:8]}"
    _report(found, best).write(Path(out) / game.name / folder, Console(width=WIDTH))
    return found


def _report(found: MatchResults, best: dict[str, float]) -> Report:
    rows, record = [], []
    for result in found.lineups:
        name, other = result.lineup.players
        won = result.estimates(aivat=result.has_aivat)[0]
        most = best.get(other)
        rows.append([name, other, won, most, None if most is None else most - won.mean, result.hands])
        measure = {"won": won.mean, "half_width_95": won.half_width, "low": won.low, "high": won.high}
        record.append(
            {"agent": name, "against": other, **measure, "aivat": result.has_aivat, "best_reply": most}
            | {"hands": result.hands, "settings": found.settings[name]}
        )
    columns = ("agent", "against", "won", "best reply", "less", "hands")
    note = f"{found.unit}/hand; best reply: exact, from the cards, where all chips go in before the flop"
    table = Table(columns, rows, f"{found.game.name}, seed {found.seed}: against players with one crude plan", note)
    return Report(table.heading, [table], {"unit": found.unit, "seed": found.seed, "results": record}, {})
