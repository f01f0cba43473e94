"""`job=continuations`: strategies that the opponent may change to after the first round, generated from a blueprint.

In games of two rounds everything is exact: the game is solved first, best responses and values are those of the whole
game (`poker.solvers.continuations.generation`). In others they belong to the abstract game of a blueprint and are
sampled (`data_gen.continuation_forms`).
"""

import sys
import time
from dataclasses import asdict, dataclass
from functools import partial

from data_gen.continuation_forms import Plan, Sampled
from data_gen.continuation_forms import run as run_sampled
from data_gen.progress import JobProgress
from poker.artifacts import find_artifact
from poker.parallel import Cluster
from poker.rules import Rules
from poker.solvers.blueprint import tree_fingerprint
from poker.solvers.continuations.generation import KIND, ContinuationSet, Solving, Step, save_sets, self_generated
from poker.solvers.continuations.leaf_play import LeafPlay
from poker.solvers.vector.game import VectorGame
from poker.solvers.vector.solver import VectorSolver
from poker.state import Betting
from poker.tree import BetMenu, build_tree


@dataclass(frozen=True)
class Exact:
    """Settings for games of two rounds: `iterations` of CFR+ for the blueprint, and whether strategies are kept too."""

    iterations: int
    threads: int
    memory_limit_gib: float
    keep_strategies: bool


def run(
    *,
    game: Rules,
    menu: BetMenu,
    size: int,
    pot_fraction: float,
    solving: Solving,
    exact: Exact | None,
    sampled: Sampled,
    cluster: Cluster,
    dry: bool,
    output: str,
    runs: str,
) -> None:
    """Make `size` continuations for either seat, the blueprint among them; `pot_fraction` of the pot is taken off the
    values of each. Without `exact` all games are sampled."""
    if exact is None or game.num_streets != 2:
        run_sampled(Plan(game, menu, pot_fraction, solving, sampled, output), size, runs, cluster, dry)
        return
    tree = build_tree(Betting.start(game), menu)
    config = {
        "game": game.name,
        "tree": tree_fingerprint(tree),
        "size": size,
        "pot_fraction": pot_fraction,
        "solving": asdict(solving),
        "iterations": exact.iterations,
        "strategies": exact.keep_strategies,
    }
    if find_artifact(output, KIND, config=config) is not None:
        print(f"continuations {output} are there", file=sys.stderr)
        return
    full = VectorGame(tree, memory_limit=int(exact.memory_limit_gib * 2**30))
    print(
        f"continuations of {game.name}: {len(full.layout.decisions):,} decisions, "
        f"{full.hand_actions / 1e6:,.1f} million hand-actions; memory {full.bytes() * 9 / 8 / 2**20:,.0f} MiB; about "
        f"{full.seconds_per_iteration():.2f} s of CPU an iteration of the blueprint, {2 * size} best responses",
        file=sys.stderr,
    )
    if dry:
        return
    started = time.perf_counter()
    solver = VectorSolver(full, "cfr_plus", threads=exact.threads)
    with JobProgress("blueprint", total=exact.iterations) as progress:
        while solver.iterations < exact.iterations:
            solver.advance(min(max(1, exact.iterations // 20), exact.iterations - solver.iterations))
            progress.update(solver.iterations, step=solver.iterations)
    counts = {
        "blueprint_exploitability": solver.exploitability(),
        "blueprint_value": solver.game_value(0),
        "blueprint_seconds": round(time.perf_counter() - started, 1),
    }
    with JobProgress("continuations", total=2 * size, logs=runs) as progress:

        def show(seat: int, step: Step) -> None:
            done = seat * size + step.continuations
            progress.update(done, step=done, response_value=step.response_value, limited_value=step.limited_value)

        generate = partial(
            self_generated,
            LeafPlay(solver, exact.threads),
            menu,
            pot_fraction=pot_fraction,
            solving=solving,
            keep=exact.keep_strategies,
        )
        sets = [generate(seat, size, progress=partial(show, seat)) for seat in range(2)]
    save_sets(output, sets, config, counts)
    print(f"continuations {output}: {_summary(sets, counts['blueprint_value'])}", file=sys.stderr)


def _summary(sets: list[ContinuationSet], value: float) -> str:
    """The searcher's loss to a best response, beyond the value of the game, with one continuation and with all."""
    parts = []
    for found in sets:
        worth = value if found.opponent == 0 else -value
        first, last = (found.steps[k].response_value - worth for k in (0, -1))
        parts.append(f"against player {found.opponent} {first:.4g} chips with one value, {last:.4g} with {found.size}")
    return "; ".join(parts)
