"""Figure 2 of [DLS] from start to end: solve the games, compute the answers to the off-tree bet, measure and report."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from poker.depth_limit.continuations.generation import ContinuationSet, Solving, Step, biased, self_generated
from poker.depth_limit.continuations.leaf_play import LeafPlay
from poker.depth_limit.evaluator import LeafEvaluator
from poker.experiments.off_tree_bet.search import Depth, SearchedAnswers, averaged, predicted
from poker.experiments.off_tree_bet.solutions import (
    GameEffort,
    SolvedGame,
    by_suits,
    line_rows,
    now,
    solved,
    translated,
)
from poker.experiments.off_tree_bet.spot import OffTreeBet
from poker.game.rules import Rules
from poker.kernels.types import Reals, Singles
from poker.report import Figure, Report, Section, Table
from poker.report.charts import Curve, curves
from poker.report.estimates import exact
from poker.run.errors import PokernetsError
from poker.run.machine import peak_memory
from poker.run.progress import Console
from poker.solvers.vector.game import NO_LIMIT, VectorGame
from poker.solvers.vector.realization import Rows
from poker.solvers.vector.schedules import schedule
from poker.solvers.vector.solver import VectorSolver
from poker.store.artifacts import canonical_json
from poker.tree import BetMenu, BettingTree

if TYPE_CHECKING:
    from matplotlib.figure import Figure as Chart

SELF_GENERATED, AVERAGED, BIASED, AVERAGED_BIASED = "self-generated", "averaged", "biased", "averaged biased"
TRANSLATION, TO_THE_END = "translation", "solved to the end"
FALLBACK = "translation on the flop"
"""Name of the fallback: the same first round, then translation. Searched flops are safe against it."""
IN_TREE, IN_TREE_BET_ALONE = "in the tree", "in the tree, blueprint elsewhere"


@dataclass(frozen=True)
class BetExploitability:
    """Exploitability of an answer to the bet, in mbb per hand.

    Attributes:
        exploitability: P1's best response minus the value of the game with the bet.
        gain_of_bet: the part of it that the bet adds to P1's best response without the bet. None if P2 does not play
            the blueprint elsewhere.
        hands_that_bet: share of P1's hands that win more by betting than otherwise. None like `gain_of_bet`.
    """

    exploitability: float
    gain_of_bet: float | None = None
    hands_that_bet: float | None = None


class Measure:
    """Exact best responses of P1 in the tree with the bet.

    Attributes:
        game: the tree after the bet.
        otherwise: [H] chips of each hand of P1 by its best other action against the blueprint.
        value: chips per hand of P1 in the game with the bet.
        mbb: milli big blinds per chip.
    """

    def __init__(self, spot: OffTreeBet, otherwise: Singles, value: float, threads: int) -> None:
        """Prepare the best responses.

        Args:
            otherwise: float32 [H] chips of each hand of P1 by its best other action against the blueprint.
            value: chips per hand of P1 in the game with the bet.
        """
        self.spot = spot
        self.game = VectorGame(spot.branch)
        self.otherwise = otherwise.astype(np.float64)
        self.value = value
        self.mbb = 1000 / spot.rules.big_blind
        self._solver = VectorSolver(self.game, "cfr_plus", threads=threads)
        compatible = self.game.compatible[spot.p1] * self.game.ranges[spot.p1]
        self._share = compatible / compatible.sum()

        """[H] probability of each hand of P1."""

    def bet_values(self, rows: Rows) -> Singles:
        """Compute the value of the bet for P1, followed by a best response.

        Args:
            rows: [entries] P2's strategy after the bet.

        Returns:
            float32 [H] chips of each hand of P1.
        """
        self._solver.arrays["sums"][:] = rows
        return self._solver.values(self.spot.p1, best_response=True)

    def __call__(self, rows: Rows) -> BetExploitability:
        """Measure a P2 who answers the bet with the given strategy and plays the blueprint elsewhere.

        Args:
            rows: [entries] P2's strategy after the bet.
        """
        values = self.bet_values(rows)
        best = np.maximum(values, self.otherwise)
        return BetExploitability(
            exploitability=self.exploitability(best),
            gain_of_bet=self.mbb * float(self._share @ (best - self.otherwise)),
            hands_that_bet=float(self._share @ (values > self.otherwise)),
        )

    def exploitability(self, best: Reals) -> float:
        """Return P1's profit beyond the value of the game, in mbb per hand.

        Args:
            best: [H] chips that each hand of P1 wins.
        """
        return self.mbb * (float(self._share @ best) - self.value)


def run(
    *,
    game: Rules,
    menu: BetMenu,
    bet: float,
    sizes: Sequence[int],
    pot_fraction: float,
    evaluators: Mapping[str, LeafEvaluator | None],
    algorithm: str,
    exploitability_mbb: float,
    iterations: int,
    first_round_iterations: int,
    flop_iterations: int,
    to_the_end_iterations: int,
    threads: int,
    memory_limit_gib: float,
    artifacts: str,
    out: str,
) -> dict[str, Any]:
    """Measure P2's answers to P1's opening bet.

    Args:
        menu: bets of the blueprint.
        bet: size of the bet in pots; not in `menu`.
        sizes: ascending sizes of the sets of self-generated continuations.
        pot_fraction: amount by which a continuation's values are lowered, in pots.
        evaluators: leaf evaluators by name; each gives one more answer, and None entries are skipped.
        algorithm: name of the CFR variant.
        exploitability_mbb: exploitability at which the solves of the whole games stop, in mbb per hand.
        iterations: largest number of iterations of those solves.
        to_the_end_iterations: iterations of the subgame solved to the end.
        memory_limit_gib: memory limit of the solver in GiB.
        artifacts: folder of the solved games.
        out: folder of the reports.

    Returns:
        The record of the report.

    Raises:
        PokernetsError: `sizes` do not ascend from 1 or more, or the bet does not lie between two of the menu.
    """
    if not sizes or min(sizes) < 1 or list(sizes) != sorted(set(sizes)):
        raise PokernetsError(f"`sizes` must be ascending numbers of continuations, such as [1,2,4], not {sizes}")
    spot = OffTreeBet.of(game, menu, bet)
    effort = GameEffort(algorithm, exploitability_mbb, iterations, threads, int(memory_limit_gib * 2**30))
    depth = Depth(algorithm, first_round_iterations, flop_iterations, to_the_end_iterations, threads)
    console = Console(stderr=True)
    experiment = _Experiment(spot, sizes, pot_fraction, evaluators, depth, effort, Path(artifacts), console)
    experiment.print_cost()
    answers = experiment.answers()
    record = {
        "game": game.name,
        "definition": game.to_acpc(),
        "bet": bet,
        "unit": "mbb/hand",
        **experiment.record,
        "answers": answers,
        "steps": experiment.steps,
        **{kind: float(sum(step[kind] for step in experiment.steps)) for kind in ("seconds", "cpu_seconds")},
        "peak_memory_mib": peak_memory() / 2**20,
    }
    title = f"Exploitability of answers to an off-tree bet of {bet:g} pots in {game.name}"
    drawn = sections(title, record, sizes)
    return Report(title, drawn, record).write(Path(out) / game.name)


@dataclass
class _Experiment:
    """The steps in their order; large objects live only during their step."""

    spot: OffTreeBet
    sizes: Sequence[int]
    pot_fraction: float
    evaluators: Mapping[str, LeafEvaluator | None]
    depth: Depth
    effort: GameEffort
    folder: Path
    console: Console

    def __post_init__(self) -> None:
        """Begin without results."""
        self.steps: list[dict[str, Any]] = []
        self.record: dict[str, Any] = {}
        self._answers: list[dict[str, Any]] = []

    def answers(self) -> list[dict[str, Any]]:
        """Return all answers of P2, with the number of `values` per leaf if it searches to a depth, and P1's profit."""
        spot, threads = self.spot, self.depth.threads
        blueprint = self._solved("blueprint", spot.blueprint_tree)
        extended = self._solved("extended", spot.extended_tree)
        begin = now()
        otherwise = by_suits(blueprint.game, blueprint.solver(threads).values(spot.p1, best_response=True))
        in_tree = extended.solver(threads).values(spot.p1, best_response=True)
        self._took("best responses to the two solutions", *(now() - begin).tolist())
        value = extended.counts["value"] * (1 if spot.p1 == 0 else -1)
        measure = Measure(spot, otherwise, value, threads)
        self.record |= {
            "blueprint": blueprint.counts,
            "extended": extended.counts,
            "game_value_mbb": measure.mbb * value,
            "without_the_bet_mbb": measure.exploitability(otherwise),
        }
        self._add(TRANSLATION, None, measure, partial(translated, spot, blueprint, measure.game, spot.p2))
        self._answers.append(_answer(IN_TREE, None, BetExploitability(measure.exploitability(in_tree))))
        bet_alone = partial(line_rows, spot, extended, spot.total, measure.game, spot.p2)
        self._add(IN_TREE_BET_ALONE, None, measure, bet_alone)
        search = SearchedAnswers(spot, blueprint, otherwise, self.depth)
        for name, continuations in self._continuations(search, blueprint).items():
            for size in self.sizes if name in (SELF_GENERATED, AVERAGED) else [continuations.size]:
                first = search.first_round(continuations, size)
                self._add(f"{name}, {FALLBACK}", size, measure, partial(search.fallback, first))
                self._add(name, size, measure, partial(search.flops, first))
        self._add(TO_THE_END, None, measure, search.to_the_end)
        return self._answers

    def _add(self, name: str, size: int | None, measure: Measure, rows: Callable[[], Rows]) -> None:
        begin = now()
        measured = measure(rows())
        self._took(name if size is None else f"{name}, {size}", *(now() - begin).tolist())
        self._answers.append(_answer(name, size, measured))
        self.console.print(f"  exploitable for {measured.exploitability:.3f} mbb/hand", highlight=False)

    def _took(self, name: str, seconds: float, cpu_seconds: float) -> None:
        self.steps.append({"step": name, "seconds": round(seconds, 2), "cpu_seconds": round(cpu_seconds, 2)})
        self.console.print(f"{name}: {seconds:.1f} s, {cpu_seconds:.1f} s of CPU", highlight=False)

    def _solved(self, name: str, tree: BettingTree) -> SolvedGame:
        game = VectorGame(tree, memory_limit=self.effort.memory_limit)
        menu = canonical_json([asdict(street) for street in self.spot.menu.streets])
        bet = self.spot.total if tree is self.spot.extended_tree else None
        config = {"game": self.spot.rules.to_acpc(), "menu": menu, "bet": bet}
        solution = solved(game, self.folder / name, config, self.effort, self.console)
        self._took(f"solving the {name} game", solution.counts["seconds"], solution.counts["cpu_seconds"])
        return solution

    def _continuations(self, search: SearchedAnswers, blueprint: SolvedGame) -> dict[str, ContinuationSet]:
        """Return sets of values at the end of the first round, by name.

        They are values of P1's continuations after the bet, which P2 translates on the flop; or means of the values of
        the two nearest lines of the blueprint; or values of the evaluators.
        """

        def print_step(step: Step) -> None:
            self.console.print(f"  {step.continuations} continuations", highlight=False)

        spot, solving = self.spot, Solving(self.depth.algorithm, self.depth.first_round)
        threads, most = self.depth.threads, self.sizes[-1]
        generate = partial(self_generated, pot_fraction=self.pot_fraction, solving=solving, progress=print_step)
        makers: dict[str, Callable[[], ContinuationSet]] = {
            SELF_GENERATED: lambda: generate(search.leaf_play(), spot.menu, spot.p1, most, root=search.root),
            AVERAGED: lambda: averaged(
                spot, generate(LeafPlay(blueprint.solver(threads), threads), spot.menu, spot.p1, most)
            ),
            BIASED: lambda: biased(search.leaf_play(), spot.p1),
            AVERAGED_BIASED: lambda: averaged(spot, biased(LeafPlay(blueprint.solver(threads), threads), spot.p1)),
        }
        sets = {}
        for name, make in makers.items():
            begin = now()
            sets[name] = make()
            self._took(f"values of {sets[name].size} {name} continuations", *(now() - begin).tolist())
        return {**sets, **{name: predicted(search, leaf) for name, leaf in self.evaluators.items() if leaf is not None}}

    def print_cost(self) -> None:
        """Print the cost of the run before it starts."""
        spot, threads = self.spot, self.depth.threads
        whole = [VectorGame(tree, memory_limit=NO_LIMIT) for tree in (spot.blueprint_tree, spot.extended_tree)]
        branch = VectorGame(spot.branch)
        arrays = 3 if schedule(self.effort.algorithm).predictive else 2
        flops = (2 * len(self.sizes) + 1) * self.depth.flops + self.depth.to_the_end
        seconds = flops * branch.seconds_per_iteration(threads)
        seconds += sum(self.effort.iterations * game.seconds_per_iteration(threads) for game in whole)
        self.console.print(
            f"{len(whole[0].layout.decisions)} decisions, {whole[0].hand_actions:,} hand-actions without the bet,"
            f" {whole[1].hand_actions:,} with it; up to {whole[1].bytes(arrays) / 2**30:.1f} GiB,"
            f" at most about {seconds / 60:.0f} min and what the continuations take",
            highlight=False,
        )


def _answer(name: str, values: int | None, measured: BetExploitability) -> dict[str, Any]:
    return {"answer": name, "values": values, **asdict(measured)}


def sections(title: str, record: Mapping[str, Any], values: Sequence[int]) -> list[Section]:
    """Return the table of answers, the figure, and the table of times.

    Args:
        title: title of the report.
        record: record of the run.
        values: numbers of values per leaf.
    """
    columns = ("answer", "values", "exploitability", "of it by the bet", "hands that bet")
    rows = [
        (one["answer"], one["values"], one["exploitability"], one["gain_of_bet"], one["hands_that_bet"])
        for one in record["answers"]
    ]
    note = (
        f"mbb per hand, exact: P1's best response less the game's value of {record['game_value_mbb']:.3f};"
        f" {record['without_the_bet_mbb']:.3f} where P1 does not have the bet"
    )
    steps = [(step["step"], step["seconds"], step["cpu_seconds"]) for step in record["steps"]]
    cost = f"{record['seconds']:.0f} s in all, {record['peak_memory_mib'] / 1024:.1f} GiB at most"
    return [
        Table(columns, rows, title, note),
        Figure("results", partial(_figure, title, record["answers"], list(values))),
        Table(("step", "seconds", "CPU seconds"), steps, "Cost", cost),
    ]


def _figure(title: str, answers: Sequence[Mapping[str, Any]], values: list[int]) -> "Chart":
    """Draw exploitability over the number of values, with a line for each answer without such a number.

    Answers that translate on the flop are only in the table.
    """
    lines: list[Curve] = []
    for name in dict.fromkeys(one["answer"] for one in answers if FALLBACK not in one["answer"]):
        same = [one for one in answers if one["answer"] == name]
        at, results = [one["values"] for one in same], [exact(one["exploitability"]) for one in same]
        if len(same) == 1:
            name = name if at[0] is None else f"{name}, {at[0]} values"
            at, results = values, results * len(values)
        lines.append(Curve(name, {"values at each leaf": np.array(at, np.float64)}, results))
    figure = curves(title, "mbb per hand", lines, logarithmic=True)
    figure.axes[0].set_xscale("log", base=2)
    figure.axes[0].set_xticks(values, [str(value) for value in values])
    return figure
