"""`job=blueprint`: train a policy on the whole betting tree of a game and store its average strategy.

Progress is stored in a checkpoint beside the output (`<output>.checkpoint`). So a killed run resumes, and a finished
run can be extended with more `iterations`. With one thread the result does not depend on interruptions. The learning
curve is written during training (`poker.solvers.curve`).
"""

import signal
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np

from data_gen.support.progress import JobProgress
from poker.abstraction.buckets import Buckets
from poker.abstraction.dealers import dealer_of
from poker.abstraction.loading import game_cards
from poker.game.rules import Rules
from poker.game.state import Betting
from poker.run.errors import PokernetsError
from poker.solvers.blueprint import KIND, check_bits, save_strategy, strategy_table, tree_fingerprint
from poker.solvers.curve import CurveLog, CurvePlan
from poker.solvers.exact import ExactSolver
from poker.solvers.sampling.base import SamplingSolver
from poker.store.artifacts import Artifact, find_artifact, write_artifact
from poker.tree import BetMenu, BettingTree, Kind, build_tree

CHECKPOINT = "blueprint_checkpoint"
_UNSET = {"rounds": None, "table_bits": None}
"""Settings that only some trainers record, or did; an artifact made with one differs from one made without it."""
_TAKEN_OUT = ("policy",)
"""Settings of how the blueprint is read out of the trainer; one checkpoint serves all of them."""


BlueprintSolver = SamplingSolver | ExactSolver
BlueprintFactory = Callable[..., BlueprintSolver]
"""Function from (tree, cards, dealer), and options by name that override its own, to a solver."""


def run(
    *,
    game: Rules,
    menu: BetMenu,
    abstraction: str,
    solver: BlueprintFactory,
    iterations: int | None,
    seconds: float | None,
    bits: int,
    checkpoint_seconds: float,
    report_seconds: float,
    curve: CurvePlan | None,
    output: str,
    runs: str,
) -> None:
    """Train until the blueprint has `iterations` iterations or `seconds` of training, whichever comes first.

    Args:
        menu: the bet menu of the betting tree.
        abstraction: folder of the card buckets.
        solver: makes the trainer.
        iterations: iterations in all; None for no limit.
        seconds: seconds of training in all; None for no limit.
        bits: bits of a stored probability.
        checkpoint_seconds: seconds between two checkpoints.
        report_seconds: seconds between two lines of progress.
        curve: when to measure points of the learning curve; None for no curve.
        output: folder of the artifact.
        runs: folder of the logs.

    Raises:
        PokernetsError: a limit is invalid.
    """
    if iterations is None and seconds is None:
        raise PokernetsError("job=blueprint needs job.iterations, job.seconds or both")
    if any(length is not None and length <= 0 for length in (iterations, seconds)):
        raise PokernetsError("job.iterations and job.seconds must be positive or null")
    if report_seconds <= 0:
        raise PokernetsError("job.report_seconds must be positive")
    check_bits(bits)
    cards = game_cards(game, abstraction)
    tree = build_tree(Betting.start(game), menu)
    trainer: BlueprintSolver = solver(tree, cards, dealer_of(game, cards))
    config = {"game": game.name, **trainer.settings, "tree": tree_fingerprint(tree)}
    made_from = {"abstraction": cards.fingerprint}
    learned = {key: value for key, value in config.items() if key not in _TAKEN_OUT}
    training = _Training(trainer, Path(f"{output}.checkpoint"), learned, made_from, iterations, seconds)
    # a difference in the rules gives a clearer message than one in the tree
    wanted = {"game": game.name, "rules": asdict(game), **_UNSET, **config, "bits": bits}
    made = find_artifact(output, KIND, config=wanted, made_from=made_from)
    if made is not None and training.enough(made.counts["iterations"], made.counts["seconds"]):
        print(f"blueprint {output} is there: {made.counts['iterations']:,} iterations", file=sys.stderr)
        return
    _print_cost(tree, cards, trainer, bits, seconds)
    saved = None if tree.from_rules else tree
    del tree  # gigabytes, with three players; solvers of large games do not keep it either
    training.resume()

    def store(path: str) -> Artifact:
        strategy = strategy_table(trainer.sampling, trainer.averages, bits)
        return save_strategy(path, strategy, cards, game, saved, config, training.counts())

    points = None
    if curve is not None:
        keep = (lambda reached: store(f"{output}.snapshots/{reached}")) if curve.snapshots else None
        identity = {**config, **made_from}
        points = CurveLog(runs, identity, curve, output=output, iterations=trainer.iterations, snapshot=keep)
    training.train(report_seconds, checkpoint_seconds, runs, points)
    store(output)
    print(f"blueprint {output}: {trainer.iterations:,} iterations in {training.seconds:.0f} s", file=sys.stderr)


@dataclass
class _Training:
    """A trainer with its checkpoint; `seconds` and `cpu_seconds` count only training, over all runs."""

    trainer: BlueprintSolver
    checkpoint: Path
    config: dict[str, Any]
    made_from: dict[str, str]
    iterations: int | None
    budget: float | None
    seconds: float = 0.0
    cpu_seconds: float = 0.0

    def enough(self, iterations: int, seconds: float) -> bool:
        """Return whether this much training reaches the requested length."""
        has_all_iterations = self.iterations is not None and iterations >= self.iterations
        return has_all_iterations or (self.budget is not None and seconds >= self.budget)

    def resume(self) -> None:
        """Continue from the checkpoint, if there is one; only the length of the run may differ."""
        config = {**_UNSET, **self.config}
        checkpoint = find_artifact(self.checkpoint, CHECKPOINT, config=config, made_from=self.made_from)
        if checkpoint is not None:
            self.trainer.restore(checkpoint.arrays, checkpoint.counts)
            self.seconds = checkpoint.counts["seconds"]
            self.cpu_seconds = checkpoint.counts["cpu_seconds"]
            print(f"continuing {self.checkpoint} at {self.trainer.iterations:,} iterations", file=sys.stderr)

    def save(self) -> None:
        arrays, counters = self.trainer.state()
        counts = {**counters, "seconds": self.seconds, "cpu_seconds": self.cpu_seconds}
        origin: dict[str, Any] = {"config": self.config, "made_from": self.made_from}
        write_artifact(self.checkpoint, CHECKPOINT, **origin, arrays=arrays, counts=counts)

    def counts(self) -> dict[str, Any]:
        reached = {"iterations": self.trainer.iterations, "visits": self.trainer.visits}
        return {**reached, "seconds": self.seconds, "cpu_seconds": self.cpu_seconds, **self.trainer.metrics()}

    def train(self, report_seconds: float, checkpoint_seconds: float, logs: str, points: CurveLog | None) -> None:
        """Train to the end in stretches of `report_seconds`, and write a checkpoint before returning.

        A stretch ends early where a point of the curve is due; the end of the run is a point as well. Ctrl-C ends the
        run after its stretch.
        """
        trainer = self.trainer
        by_iterations = self.iterations is not None
        total = float(self.iterations or self.budget or 0)
        done = trainer.iterations if by_iterations else self.seconds
        saved = time.perf_counter()
        with _noted_interrupts() as noted, JobProgress("blueprint", total=total, done=done, logs=logs) as progress:
            while not self.enough(trainer.iterations, self.seconds):
                before, visits, started = trainer.iterations, trainer.visits, time.perf_counter()
                cpu = time.process_time()
                left = report_seconds if self.budget is None else min(report_seconds, self.budget - self.seconds)
                ends = [end for end in (self.iterations, None if points is None else points.due) if end is not None]
                trainer.run(iterations=min(ends, default=None), seconds=left)
                took = time.perf_counter() - started
                self.seconds += took
                self.cpu_seconds += time.process_time() - cpu
                metrics = trainer.metrics()
                ended = self.enough(trainer.iterations, self.seconds)
                if points is not None and (trainer.iterations >= points.due or ended):
                    points.add(trainer.iterations, cpu_seconds=self.cpu_seconds, **metrics)
                progress.update(
                    trainer.iterations if by_iterations else self.seconds,
                    step=trainer.iterations,
                    iterations_per_second=(trainer.iterations - before) / took,
                    nodes_per_second=(trainer.visits - visits) / took,
                    **metrics,
                )
                if noted or time.perf_counter() - saved >= checkpoint_seconds:
                    self.save()
                    saved = time.perf_counter()
                if noted:
                    raise KeyboardInterrupt
        self.save()


@contextmanager
def _noted_interrupts() -> Iterator[list[int]]:
    """Append the first Ctrl-C inside the block to the list; a second one interrupts.

    A process that ignores Ctrl-C continues to ignore it.
    """
    noted: list[int] = []

    def note(number: int, _: object) -> None:
        noted.append(number)
        signal.signal(signal.SIGINT, before)

    before = signal.getsignal(signal.SIGINT)
    if before is not signal.SIG_IGN:
        signal.signal(signal.SIGINT, note)
    try:
        yield noted
    finally:
        signal.signal(signal.SIGINT, before)


def _print_cost(tree: BettingTree, cards: Buckets, trainer: BlueprintSolver, bits: int, seconds: float | None) -> None:
    """Print the memory, disk space and time limit of the run; without a limit the bar estimates the time."""
    acts = tree.kind == Kind.DECISION
    infosets = np.array(cards.num_buckets, dtype=np.int64)[tree.street[acts]]
    stored = int((infosets * tree.num_children[acts]).sum()) * bits / 8
    betting = sum(part.nbytes for part in vars(tree).values() if isinstance(part, np.ndarray))
    print(
        f"blueprint of {tree.rules.name}: {int(acts.sum()):,} decision nodes of {len(tree):,}; memory: "
        f"{trainer.bytes_needed / 1e6:,.0f} MB for the solver and {betting / 1e6:,.0f} MB for the betting tree; disk: "
        f"up to {trainer.bytes_needed / 1e6:,.0f} MB for the checkpoint, {stored / 1e6:,.0f} MB for the result"
        + ("" if seconds is None else f"; time: up to {seconds:,.0f} s of training"),
        file=sys.stderr,
    )
