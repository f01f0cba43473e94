"""`evaluate=exploitability`: of a solver on a small game, or of agents by the strongest measure that is feasible.

Agents need a policy. In games small enough to walk through (`is_walkable`) their best response is exact, over all hands
of both players; the responder of a no-limit game bets what the menu offers, which makes it a lower bound there. In
larger games several opponents play against them: local best responses, and against blueprints also a best response that
was learned in the abstract game (`poker.evaluation.learned_response`). What the best of them wins is a lower bound; its
interval is widened so that all of them hold at once. The result says which measure it was, and what the others won.

With `flops` it is the best response that sees its cards, in games of any length, to policies that play by buckets
(`poker.evaluation.real_response`): exact in limit games with `flops=all`.
"""

import json
from collections.abc import Mapping, Sequence
from functools import partial
from pathlib import Path
from statistics import NormalDist
from typing import Any

from rich.console import Console
from rich.progress import Progress

from poker.agents.blueprint import BlueprintAgent
from poker.artifacts import write_atomically
from poker.errors import PokernetsError
from poker.evaluation import exploitability as of_solver
from poker.evaluation.best_response import best_response, is_walkable
from poker.evaluation.html import Page
from poker.evaluation.lbr import LbrActions
from poker.evaluation.lbr_match import run as run_lbr
from poker.evaluation.learned_response import response_agent, stored_response
from poker.evaluation.match import run as run_match
from poker.evaluation.policies import require_policy
from poker.evaluation.provenance import provenance
from poker.evaluation.real_response import measure as measure_real
from poker.evaluation.real_response import real_response
from poker.evaluation.results import TableResults
from poker.evaluation.table import AgentSpec
from poker.rules import Rules
from poker.tree import BetMenu

EXACT = "exact best response"
MENU = "exact best response with the bets of a menu: a lower bound"
LOCAL = "local best response: a lower bound"
LEARNED = "best response learned in the abstract game: a lower bound"
REAL = "exact best response that sees its cards"
REAL_MENU = "exact best response that sees its cards, with the bets of the policy's tree: a lower bound"
REAL_SAMPLE = "best response that sees its cards, over {flops} random flops: a lower bound in expectation"
RESPONSE = "response"
"""Name of a learned best response at a table."""


def run(
    *,
    game: Rules,
    menu: BetMenu,
    abstraction: str,
    solver: of_solver.SolverFactory,
    iterations: int,
    points: int,
    adversary: Mapping[str, LbrActions],
    adversaries: Sequence[str],
    hands: int,
    response_deals: int,
    seed: int,
    processes: int,
    fresh: bool,
    out: str,
    flops: int | str | None = None,
    response_hours: float = 24.0,
    stand_in: AgentSpec | None = None,
    agents: Sequence[AgentSpec] | None = None,
) -> list[of_solver.Measurement] | list[dict[str, Any]]:
    """Measures each of `agents`; without them solves the game with `solver` and measures that on the way.

    `adversary`, `adversaries`, `hands`, `seed`, `processes` and `fresh` are for local best responses, as in
    `evaluate=lbr`; `response_deals` (0 for none) is how long a response to a blueprint learns for either seat;
    `abstraction`, `solver`, `iterations` and `points` are for solvers; `flops` (a number, or `all`) asks for the best
    response that sees its cards, which is refused where it would take more than `response_hours` of CPU time.
    """
    if agents is None:
        return of_solver.run(
            game=game,
            menu=menu,
            abstraction=abstraction,
            solver=solver,
            iterations=iterations,
            points=points,
            out=out,
        )
    if game.num_players != 2:
        raise PokernetsError(f"exploitability of agents is measured heads-up; '{game.name}' has {game.num_players}")
    if flops is not None:
        found = [_real(game, menu, spec, flops, seed, processes, response_hours, Path(out)) for spec in agents]
    elif is_walkable(game):
        found = [_exact(game, menu, spec) for spec in agents]
    else:
        settings: dict[str, Any] = {
            "game": game,
            "hands": hands,
            "seed": seed,
            "half_width": None,
            "aivat": True,
            "stand_in": stand_in,
            "processes": processes,
            "fresh": fresh,
            "out": out,
        }
        learned = _learned(agents, game, abstraction, response_deals, settings)
        results = run_lbr(agents=agents, adversary=adversary, adversaries=adversaries, **settings)
        tables = [*results.tables, *learned]
        found = [_strongest(tables, spec, game) for spec in agents]
    _write(game, agents, found, Path(out) / f"{game.name}-{'-'.join(spec.name for spec in agents)}"[:150])
    return found


def _exact(game: Rules, menu: BetMenu, spec: AgentSpec) -> dict[str, Any]:
    policy = require_policy(spec.build(), "a best response").policy
    best = [best_response(game, policy, player, menu).value for player in range(2)]
    nash_conv = sum(best)
    return {
        "agent": spec.name,
        "measure": EXACT if game.is_limit else MENU,
        "exploitability_mbb": nash_conv / 2 * 1000 / max(game.big_blind, 1),
        "half_width_95": None,
        "exploitability": nash_conv / 2,
        "nash_conv": nash_conv,
        "best_response": best,
    }


def _real(
    game: Rules, menu: BetMenu, spec: AgentSpec, flops: int | str, seed: int, threads: int, hours: float, out: Path
) -> dict[str, Any]:
    response = real_response(spec.build(), game, menu)
    folder = out / game.name
    found = measure_real(
        response, flops=flops, seed=seed, threads=threads, hours=hours, folder=folder, name=spec.name
    )  # fmt: skip
    mbb = 1000 / game.big_blind
    exact = REAL if game.is_limit else REAL_MENU
    return {
        "agent": spec.name,
        "measure": (exact if found.exact else REAL_SAMPLE.format(flops=found.flops)) + _suits(response.unequal_suits),
        "exploitability_mbb": found.nash_conv.mean / 2 * mbb,
        "half_width_95": None if found.exact else found.nash_conv.half_width / 2 * mbb,
        "optimistic_mbb": found.optimistic / 2 * mbb,
        "nash_conv_mbb": found.nash_conv.mean * mbb,
        "exploitability": found.nash_conv.mean / 2,
        "nash_conv": found.nash_conv.mean,
        "best_response": [each.mean for each in found.by_seat],
        "flops": found.flops,
        "seed": seed,
        "unequal_suits": response.unequal_suits,
        "cpu_seconds_per_flop": found.cpu_per_flop,
    }


def _suits(unequal: float) -> str:
    """What to add to a measure that counts boards by class, for buckets that are not quite the same within a class."""
    return f"; {unequal:.2%} of the buckets on symmetric boards tell suits apart" if unequal else ""


def _learned(
    agents: Sequence[AgentSpec], game: Rules, abstraction: str, deals: int, settings: dict[str, Any]
) -> list[TableResults]:
    """Matches of learned responses against those of `agents` that are blueprints."""
    tables: list[TableResults] = []
    for spec in agents:
        agent = spec.build() if deals else None
        if not isinstance(agent, BlueprintAgent):
            continue
        folder = Path(settings["out"]) / game.name
        with Progress(console=Console(stderr=True)) as progress:
            bar = progress.add_task(f"learning a response to {spec.name}, deals", total=2 * deals)
            path = stored_response(
                folder,
                agent.blueprint,
                abstraction,
                deals=deals,
                seed=settings["seed"],
                progress=lambda count, bar=bar, shown=progress: shown.update(bar, advance=count),  # type: ignore[misc]
            )
        name = f"{RESPONSE}@{spec.name}"
        known = {"name": name, "path": str(path), "abstraction": abstraction}
        response = AgentSpec(name, partial(response_agent, game=game, **known), known)
        played = run_match(
            agents=[response, spec], tables=[[name, spec.name]], session=1, decision_seconds=None, **settings
        )
        tables += played.tables
    return tables


def _strongest(tables: Sequence[TableResults], spec: AgentSpec, game: Rules) -> dict[str, Any]:
    """The opponent that wins most from the agent; half-widths of 95% intervals that hold for all of them at once."""
    mine = {
        table.table.labels[0].split("@")[0]: table.estimates(aivat=True)[0]
        for table in tables
        if table.table.labels[1] == spec.name
    }
    name, found = max(mine.items(), key=lambda pair: pair[1].mean)
    normal = NormalDist()
    wider = normal.inv_cdf(1 - 0.025 / len(mine)) / normal.inv_cdf(0.975)
    return {
        "agent": spec.name,
        "measure": f"{LEARNED} (AIVAT)" if name == RESPONSE else f"{LOCAL} ({name}, AIVAT)",
        "exploitability_mbb": found.mean,
        "half_width_95": found.half_width * wider,
        "exploitability": found.mean * game.big_blind / 1000,
        "won_mbb": {opponent: [each.mean, each.half_width] for opponent, each in mine.items()},
    }


def _write(game: Rules, agents: Sequence[AgentSpec], found: list[dict[str, Any]], folder: Path) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    record = {
        "game": game.name,
        "definition": game.to_acpc(),
        "agents": found,
        "settings": {spec.name: spec.settings for spec in agents},
        **provenance(),
    }
    write_atomically(folder / "results.json", json.dumps(record, indent=1).encode() + b"\n")
    page = Page(f"Exploitability on {game.name}")
    page.heading("Agents", "mbb per hand that the best opponent found wins on average over both seats")
    page.table(
        ("agent", "mbb per hand", "95% half-width", "measure"),
        [(row["agent"], row["exploitability_mbb"], row["half_width_95"], row["measure"]) for row in found],
    )
    won = [(row["agent"], opponent, *figures) for row in found for opponent, figures in row.get("won_mbb", {}).items()]
    if won:
        page.heading("All opponents", "mbb per hand they win, AIVAT, each with its own 95% interval")
        page.table(("agent", "opponent", "mbb per hand", "half-width"), won)
    page.record(record)
    page.write(folder / "report.html")
    console = Console()
    for row in found:
        width = f" ± {row['half_width_95']:,.1f}" if row["half_width_95"] is not None else ""
        both = f"; both seats together {row['nash_conv_mbb']:,.3f}" if "nash_conv_mbb" in row else ""
        console.print(
            f"{row['agent']}: {row['exploitability_mbb']:,.3f}{width} mbb/hand ({row['measure']}{both})", soft_wrap=True
        )
    for name in ("results.json", "report.html"):
        console.print(f"{name.split('.')[0]}: {folder / name}", soft_wrap=True, highlight=False)
