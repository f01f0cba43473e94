"""`evaluate=decisions`: PokerBench decisions by agents and by the solver, and the cost of errors.

Agents decide at the state that the decision describes, at a table of six. The solver starts from the ranges of the
agent `ranges` at the flop (`solved.py`), and its rows name that agent. Nothing is learned from the set.

An answer is the most probable of the decision's options. Its loss is the difference from the best option by the
solver's values. The set has one action per spot, even if several are worth the same. So an answer also agrees with the
set's action if it takes that action with a probability of at least `OFTEN`, or if the action is worth at most `ALIKE`
pots less than the best.

Decisions with the same line and flop form a game, which is the independent unit of intervals. Before the flop the unit
is the decision. The seed determines the order of the games. Answers are stored, so the same command with more `games`
continues.
"""

import time
from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import partial
from itertools import chain
from pathlib import Path
from typing import Any

import numpy as np

from poker.agents.base import Agent, ranges_at, require_policy
from poker.agents.charts import ChartAgent
from poker.depth_limit.evaluator import LeafEvaluator
from poker.evaluation.matches.match import WIDTH
from poker.experiments.decisions.solved import Answer, SolvedSpots, on_options
from poker.formats.pokerbench import PublicDecision, read_decisions
from poker.game.rules import STREET_NAMES, Rules
from poker.game.state import public_state
from poker.play.lineup import AgentSpec
from poker.report import Report, Table
from poker.report.estimates import Estimate, estimate
from poker.run.errors import PokernetsError
from poker.run.lock import alone
from poker.run.progress import Console, progress_bars
from poker.solve.flops import SampledFlops
from poker.solve.types import Budget
from poker.store.artifacts import fingerprint_of
from poker.store.lines import JsonLines
from poker.store.provenance import portable, provenance

OFTEN = 0.2
"""Least probability of the set's action in an answer that agrees with it."""
ALIKE = 0.01
"""Largest difference between actions that count as worth the same, in pots."""
_PUBLISHED = {"GPT-4": 0.5355, "Llama-3-8B tuned on 563,000 decisions": 0.7826}
"""Action accuracy over the whole set (arXiv 2501.08328)."""
_BOUNDS = (0.01, 0.1)
_REACHED = ("reached in less than 1%", "reached in 1% to 10%", "reached in 10% and more")
"""Classes of the probability that the solver reaches a decision with the hand."""
_COLUMNS = {
    "accuracy": "right",
    "probability": "given to the right action",
    "lost": "loses, bb",
    "set_lost": "the set's, bb",
    "goes_with": "goes with the set's",
}


def run(
    *,
    game: Rules,
    file: str | Sequence[str],
    agents: Sequence[AgentSpec],
    ranges: AgentSpec,
    leaf: LeafEvaluator | None,
    flops: SampledFlops | None,
    menus: Sequence[Mapping[str, Any]],
    ahead: Mapping[str, Any],
    budget: Budget,
    games: int | None,
    seed: int,
    out: str,
) -> dict[str, Any]:
    """Decide the spots in the files, and write the report.

    Args:
        file: PokerBench file or files.
        agents: agents to measure.
        ranges: agent whose ranges the solver starts from.
        leaf: values at the end of flops; None to solve flops to the end of the hand.
        flops: size limits of flops solved to the end; None for all rivers.
        menus: bets of the solver, see `SolvedSpots`.
        ahead: bets after the flop when flops are solved to the end, see `SolvedSpots`.
        budget: limits of each solve.
        games: largest number of games after the flop; None for all.
        seed: seed of the order of games.
        out: folder of the reports.

    Returns:
        The record of the report.

    Raises:
        PokernetsError: `games` is below 1, or an agent has no policy.
    """
    if games is not None and games < 1:
        raise PokernetsError(f"`games` must be at least 1, or null for all, not {games}")
    decisions = [decision for path in ([file] if isinstance(file, str) else file) for decision in read_decisions(path)]
    by_game = _games(decisions, games, seed)
    believed = require_policy(ranges.build(game), "evaluate=decisions")
    policies = {spec.name: require_policy(spec.build(game), "evaluate=decisions") for spec in agents}
    solved = SolvedSpots(game, partial(ranges_at, believed.policy), menus, ahead, leaf, flops, budget)
    flop = "" if leaf is not None else ", whole flops" if flops is None else ", sampled rivers"
    solver = f"solver, {ranges.name} ranges{flop}"
    answering: dict[str, Callable[[Sequence[PublicDecision]], list[Answer]]] = {solver: solved.answers}
    answering |= {name: partial(_decided, policy, game) for name, policy in policies.items()}
    named = provenance()
    played = [repr(flops), named.get("configuration", {}).get("leaf"), sorted(named.get("artifacts", {}).values())]
    made_by = [ranges.settings, _charts(believed), list(map(dict, menus)), dict(ahead), vars(budget), *played]
    made = {
        spec.name: fingerprint_of([portable(spec.settings), _charts(policies[spec.name])])[:8] for spec in agents
    } | {solver: ""}
    folder = Path(out) / fingerprint_of(portable([list(map(repr, decisions)), made_by, seed]))[:8]
    folder.mkdir(parents=True, exist_ok=True)
    answers: dict[str, dict[PublicDecision, Answer]] = defaultdict(dict)
    seconds: dict[str, float] = defaultdict(float)
    with alone(folder, f"another command decides the spots in {folder}"):
        journal = JsonLines(folder / "games.jsonl")
        journal.cut_unfinished()
        rows = {(row["by"], row["made"], row["game"]): row for row in journal.rows()}
        with progress_bars("spots", Console(stderr=True)) as bars:
            bar = bars.add_task("spots", total=len(by_game), found="")
            for name, spots in by_game.items():
                for by in answering if spots[0].flop else policies:
                    row = rows.get((by, made[by], name))
                    if row is None:
                        begun, decided = time.process_time(), list(map(vars, answering[by](spots)))
                        took = time.process_time() - begun
                        row = {"by": by, "made": made[by], "game": name, "seconds": took, "answers": decided}
                        journal.append([row])
                    seconds[by] += row["seconds"]
                    answers[by] |= zip(spots, (Answer(**one) for one in row["answers"]), strict=True)
                bars.update(bar, advance=1, found=f"{sum(map(len, answers.values()))} answers")
    units = [[one] for spots in by_game.values() for one in spots if not one.flop]
    units += [spots for spots in by_game.values() if spots[0].flop]
    kinds = {one: _kinds(one, answers[solver].get(one)) for unit in units for one in unit}
    measured = [
        {"by": by, "of": kind, **row}
        for kind in dict.fromkeys(chain.from_iterable(kinds.values()))
        for by in answers
        if (row := _measured([[one for one in unit if kind in kinds[one]] for unit in units], answers, by, solver))
    ]
    record = {"games": sum(bool(unit[0].flop) for unit in units), "seed": seed, **vars(budget)}
    return _write(measured, {**record, "seconds": dict(seconds)}, folder)


def _charts(agent: Agent) -> str:
    """Return the text of the charts that an agent plays, because its settings only have their name."""
    return agent.charts if isinstance(agent, ChartAgent) else ""


def _games(decisions: Sequence[PublicDecision], most: int | None, seed: int) -> dict[str, list[PublicDecision]]:
    """Group decisions by line and flop: those before the flop first, then at most `most` games in the seed's order."""
    by_game: dict[str, list[PublicDecision]] = defaultdict(list)
    for decision in decisions:
        by_game[f"{decision.line} {decision.flop}"].append(decision)
    before = {name: spots for name, spots in by_game.items() if not spots[0].flop}
    after = sorted(by_game.keys() - before.keys())
    order = np.random.default_rng(seed).permutation(len(after))[:most]
    return {**before, **{after[place]: by_game[after[place]] for place in order}}


def _decided(agent: Agent, game: Rules, decisions: Sequence[PublicDecision]) -> list[Answer]:
    """Return the agent's policy at each decision, as probabilities of its options."""
    made = []
    for decision in decisions:
        betting = decision.betting(game)
        actions, probs = agent.policy(public_state(betting, decision.board))
        start = max(betting.round_start()) if betting.street else 0
        amounts = [(action - start) / game.big_blind if action > 0 else action for action in actions]
        made.append(Answer(on_options(amounts, probs[decision.hand], decision.options)))
    return made


def _kinds(one: PublicDecision, answer: Answer | None) -> tuple[str, ...]:
    """Return the kinds of a decision, given the solver's `answer` if there is one."""
    if not one.flop:
        return "before the flop", f"{one.verb}, before", f"raised {min(one.raises, 4)} times, before"
    pot = "single-raised pots" if one.raises == 1 else "3-bet pots"
    kinds = "after the flop", STREET_NAMES[len(one.board) - 2], pot, f"{one.verb}, after"
    return kinds if answer is None else (*kinds, _REACHED[sum(answer.reach >= bound for bound in _BOUNDS)])


def _measured(
    units: Iterable[Sequence[PublicDecision]],
    answers: Mapping[str, Mapping[PublicDecision, Answer]],
    by: str,
    judge: str,
) -> dict[str, Any]:
    """Measure the answers of one agent or of the solver over decisions in units.

    Args:
        units: decisions by independent unit.
        answers: answers by who gave them.
        by: whose answers are measured.
        judge: whose values are used.

    Returns:
        Accuracy, probability of the right action and big blinds lost; empty if `by` answered no decision.
    """
    own, solver = answers[by], answers.get(judge, {})
    units = [spots for unit in units if (spots := [one for one in unit if one in own])]
    if not units:
        return {}
    chosen = {one: int(np.argmax(own[one].probabilities)) for unit in units for one in unit}
    worth = {one: np.array(solver[one].values) for one in chosen if one in solver}
    lost = {one: values.max() - values for one, values in worth.items() if np.isfinite(values).all()}
    valued = [spots for unit in units if (spots := [one for one in unit if one in lost])]
    wrong = [one for one in lost if chosen[one] != one.correct]
    alike = [abs(lost[one][chosen[one]] - lost[one][one.correct]) <= ALIKE * one.pot for one in wrong]

    def goes_with(one: PublicDecision) -> bool:
        return own[one].probabilities[one.correct] >= OFTEN or bool(lost[one][one.correct] <= ALIKE * one.pot)

    return {
        "decisions": len(chosen),
        "accuracy": _mean(units, lambda one: float(chosen[one] == one.correct)),
        "probability": _mean(units, lambda one: own[one].probabilities[one.correct]),
        "lost": _mean(valued, lambda one: float(lost[one][chosen[one]])) if valued else None,
        "set_lost": _mean(valued, lambda one: float(lost[one][one.correct])) if valued else None,
        "goes_with": _mean(valued, goes_with) if valued else None,
        "alike": float(np.mean(alike)) if alike else None,
    }


def _mean(units: Sequence[Sequence[PublicDecision]], value: Callable[[PublicDecision], float]) -> Estimate:
    """Estimate the mean of a value over decisions in independent units of different size, as a ratio."""
    sums, counts = np.array([[sum(map(value, unit)), len(unit)] for unit in units]).T
    mean = sums.sum() / counts.sum()
    return estimate(mean + (sums - mean * counts) / counts.mean())


def _write(measured: Sequence[Mapping[str, Any]], record: Mapping[str, Any], folder: Path) -> dict[str, Any]:
    """Write the table and the record."""
    cells = [[row[name] for name in ("by", "of", "decisions", *_COLUMNS, "alike")] for row in measured]
    note = (
        f"Published: {', '.join(f'{name} {share:.2%}' for name, share in _PUBLISHED.items())}. What is lost to the best"
        f" option is by the solver's values; the last column: errors that cost at most {ALIKE} pots"
    )
    table = Table(("", "of", "decisions", *_COLUMNS.values(), "errors for nothing"), cells, "Decisions", note)
    rows = [{key: one.record() if isinstance(one, Estimate) else one for key, one in row.items()} for row in measured]
    record = {**record, "published": _PUBLISHED, "rows": rows}
    return Report("PokerBench", [table], record).write(folder, Console(width=WIDTH))
