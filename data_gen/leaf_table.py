"""`job=leaf_table`: values of preflop leaf states for the search, with one task and one stored part per state."""

import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from data_gen.support.progress import JobProgress
from data_gen.support.valuation import StoredBlueprint, Valuation, table_seconds
from poker.depth_limit.continuations.forms import FormsOf
from poker.depth_limit.inputs import TARGET
from poker.depth_limit.leaves.leaf_table import KIND, blueprint_values, class_values, preflop_leaves, table_bytes
from poker.game.rules import Rules
from poker.run.atomic import remove
from poker.run.errors import PokernetsError
from poker.run.parallel import Cluster, Given, Work, print_cost
from poker.solvers.subtree import subtree
from poker.store.artifacts import find_artifact, open_artifact, write_artifact

PART = "leaf_table_part"


@dataclass(frozen=True)
class TableSettings:
    """Settings of the table. All leaves see the same boards.

    Attributes:
        seed: seed of the boards.
        boards: boards on which the blueprint is evaluated.
        form_boards: other boards on which the other continuations are compared with the blueprint.
        continuations: the opponent's continuations.
    """

    seed: int
    boards: int
    form_boards: int
    continuations: FormsOf

    def __post_init__(self) -> None:
        """Check the settings.

        Raises:
            PokernetsError: a number of boards is less than 2.
        """
        if min(self.boards, self.form_boards) < 2:
            raise PokernetsError("job=leaf_table needs boards and form_boards of at least 2: one board is too noisy")


def run(
    *, game: Rules, abstraction: str, blueprint: str, settings: TableSettings, cluster: Cluster, output: str, runs: str
) -> None:
    """Make the table; parts of an interrupted run are used.

    Args:
        abstraction: folder of the card buckets.
        blueprint: folder of the blueprint.
        output: folder of the artifact.
        runs: folder of the logs.
    """
    valuation = Valuation(StoredBlueprint(game, abstraction, blueprint), settings.continuations)
    job, policy, made_from = _Job(valuation, settings, output), valuation.stored.load(), valuation.made_from
    if find_artifact(output, KIND, config=job.config, made_from=made_from) is not None:
        print(f"leaf table {output} is there", file=sys.stderr)
        return
    leaves = preflop_leaves(policy.tree)
    sizes = [subtree(policy, int(node)).num_ends for node in leaves]
    parts = [job.part(leaf) for leaf in range(len(leaves))]
    there = [find_artifact(part, PART, config=job.config, made_from=made_from) is not None for part in parts]
    missing = sorted((leaf for leaf, is_there in enumerate(there) if not is_there), key=lambda leaf: -sizes[leaf])
    work = float(sum(sizes))
    done = work - sum(sizes[leaf] for leaf in missing)
    if missing:
        names = settings.continuations.names
        seconds = table_seconds(work - done, settings.boards, settings.form_boards * (len(names) - 1))
        what = f"leaf table {output}: {len(missing)} of {len(leaves)} leaves to value"
        print_cost(what, seconds, len(missing), cluster, table_bytes(len(leaves), len(names)) / 1e6)
    with JobProgress("leaf table", total=work, done=done, logs=runs) as progress:
        for step, (leaf, sem) in enumerate(cluster.run(Work(Given(job.make_part)), missing), sum(there) + 1):
            done += sizes[leaf]
            progress.update(done, step=step, sem_in_pots=sem)
    made = [open_artifact(part, PART, config=job.config, made_from=made_from) for part in parts]
    arrays = {name: np.stack([part.arrays[name] for part in made]) for name in ("values", "sem")}
    states = [policy.tree.path_text(int(node)) for node in leaves]
    counts = {"states": states, "mean_sem": float(arrays["sem"].mean(dtype=np.float64))}
    arrays = {"nodes": leaves, **arrays}
    write_artifact(output, KIND, config=job.config, arrays=arrays, made_from=made_from, counts=counts)
    remove(job.part(0).parent)


@dataclass(frozen=True)
class _Job:
    """Everything that a part of the table depends on, and how one is made."""

    valuation: Valuation
    settings: TableSettings
    output: str

    @property
    def config(self) -> dict[str, Any]:
        own = {"seed": self.settings.seed, "boards": self.settings.boards, "form_boards": self.settings.form_boards}
        return {"game": self.valuation.stored.game.name, **own, "target": TARGET, **self.valuation.forms.config}

    def part(self, leaf: int) -> Path:
        return Path(f"{self.output}.parts") / f"leaf-{leaf:05d}"

    def make_part(self, leaf: int) -> tuple[int, float]:
        """Write the values of one leaf; returns its number and the mean standard error."""
        continuations, settings = self.valuation.continuations(), self.settings
        for_blueprint, for_forms = map(np.random.default_rng, np.random.SeedSequence(settings.seed).spawn(2))
        node = int(preflop_leaves(continuations.blueprint.tree)[leaf])
        base = blueprint_values(continuations, node, settings.boards, for_blueprint)
        values = class_values(continuations, node, settings.form_boards, for_forms, base)
        values.mean[:, 1:] += np.float32(self.valuation.forms.pot_fraction)
        arrays, made_from = {"values": values.mean, "sem": values.sem}, self.valuation.made_from
        write_artifact(self.part(leaf), PART, config=self.config, arrays=arrays, made_from=made_from)
        return leaf, float(values.sem.mean(dtype=np.float64))
