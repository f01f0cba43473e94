"""`job=leaf_table`: the values of preflop leaf states for the search, one task and one part on disk for each state."""

import shutil
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache, partial
from pathlib import Path
from typing import Any

import numpy as np

from data_gen.costs import cost, tell
from data_gen.progress import JobProgress
from poker.abstraction.buckets import game_cards
from poker.artifacts import find_artifact, open_artifact, write_artifact
from poker.errors import PokernetsError
from poker.features.leaf import TARGET
from poker.parallel import Cluster, Given, Work
from poker.rules import Rules
from poker.solvers.blueprint import Blueprint
from poker.solvers.rollout.continuation import Continuations, subtree
from poker.solvers.rollout.forms import FormsOf
from poker.solvers.rollout.leaf_table import (
    KIND,
    NOTHING,
    blueprint_values,
    class_values,
    preflop_leaves,
    table_bytes,
)

PART = "leaf_table_part"
_TRIAL_LEAVES = 16


@dataclass(frozen=True)
class TableSettings:
    """Settings of the table: the number of boards on which the blueprint is played out, and of others on which the
    other forms are compared with it. All leaves see the same boards."""

    seed: int
    boards: int
    form_boards: int
    continuations: FormsOf

    def __post_init__(self) -> None:
        if min(self.boards, self.form_boards) < 2:
            raise PokernetsError("job=leaf_table needs boards and form_boards of at least 2: values of one are noise")


def run(
    *,
    game: Rules,
    abstraction: str,
    blueprint: str,
    settings: TableSettings,
    cluster: Cluster,
    dry: bool,
    output: str,
    runs: str,
) -> None:
    """Make the table at `output`. Parts of an interrupted run are kept and used."""
    policy = Blueprint.load(blueprint, game_cards(game, abstraction), game)
    config, made_from = _identity(game, settings), _origin(policy, settings)
    if find_artifact(output, KIND, config=config, made_from=made_from) is not None:
        print(f"leaf table {output} is there", file=sys.stderr)
        return
    leaves = preflop_leaves(policy.tree)
    sizes = [subtree(policy, int(node)).num_ends for node in leaves]
    parts = [_part_path(output, leaf) for leaf in range(len(leaves))]
    kept = [find_artifact(part, PART, config=config, made_from=made_from) is not None for part in parts]
    missing = sorted((leaf for leaf, there in enumerate(kept) if not there), key=lambda leaf: -sizes[leaf])
    work = float(sum(sizes))
    done = work - sum(sizes[leaf] for leaf in missing)
    make_part = partial(_make_part, game, abstraction, blueprint, settings, output)
    inputs = (Path(abstraction), Path(blueprint), *settings.continuations.inputs)
    if missing:
        few = missing[:: -(-len(missing) // _TRIAL_LEAVES)]
        share = (work - done) / sum(sizes[leaf] for leaf in few)
        trial = partial(_trial, game, abstraction, blueprint, settings, few)
        trials = [
            (partial(trial, True), settings.form_boards * share),
            (partial(trial, False), settings.boards * share),
        ]
        found = cost(trials, len(missing), cluster, inputs, sizes[missing[0]] / (work - done))
        megabytes = table_bytes(len(leaves), len(settings.continuations.names)) / 1e6
        what = f"leaf table {output}: {len(missing)} of {len(leaves)} leaves to value"
        tell(what, found, len(missing), cluster, megabytes)
    if dry:
        return
    parted = Work(Given(make_part), inputs=inputs, output=partial(_part_path, output))
    with JobProgress("leaf table", total=work, done=done, logs=runs) as progress:
        for step, (leaf, sem) in enumerate(cluster.run(parted, missing), sum(kept) + 1):
            done += sizes[leaf]
            progress.update(done, step=step, sem_in_pots=sem)
    made = [open_artifact(part, PART, config=config, made_from=made_from) for part in parts]
    arrays = {name: np.stack([part.arrays[name] for part in made]) for name in ("values", "sem")}
    states = [policy.tree.path_text(int(node)) for node in leaves]
    write_artifact(
        output,
        KIND,
        config=config,
        arrays={"nodes": leaves, **arrays},
        made_from=made_from,
        counts={"states": states, "mean_sem": float(arrays["sem"].mean(dtype=np.float64))},
    )
    shutil.rmtree(_part_path(output, 0).parent)


def _identity(game: Rules, settings: TableSettings) -> dict[str, Any]:
    boards = {"boards": settings.boards, "form_boards": settings.form_boards}
    return {"game": game.name, "seed": settings.seed, **boards, "target": TARGET, **settings.continuations.config}


def _origin(policy: Blueprint, settings: TableSettings) -> dict[str, str]:
    return {"blueprint": policy.fingerprint, **settings.continuations.made_from}


def _part_path(output: str, leaf: int) -> Path:
    return Path(f"{output}.parts") / f"leaf-{leaf:05d}"


@lru_cache(maxsize=1)
def continuations_of(
    game: Rules, abstraction: str, blueprint: str, forms: FormsOf, device: str = "cpu"
) -> Continuations:
    """The continuations of this process, with the subtrees that it has met."""
    return on_device(Blueprint.load(blueprint, game_cards(game, abstraction), game), forms, device)


def on_device(policy: Blueprint, forms: FormsOf, device: str) -> Continuations:
    """Continuations computed by the kernels for cpu, else by torch."""
    if device == "cpu":
        return Continuations(policy, forms.of(policy))
    from poker.search.torch.continuations import TorchContinuations  # noqa: PLC0415 (torch takes seconds to import)

    return TorchContinuations(policy, forms.of(policy), device)


def _trial(
    game: Rules,
    abstraction: str,
    blueprint: str,
    settings: TableSettings,
    leaves: Sequence[int],
    forms: bool,
    number: int,
    boards: int,
) -> None:
    """Values of some leaves on `boards` boards: those of the blueprint, or of the other `forms`."""
    continuations = continuations_of(game, abstraction, blueprint, settings.continuations)
    nodes, rng = preflop_leaves(continuations.blueprint.tree), np.random.default_rng(number)
    for leaf in leaves:
        if forms:
            class_values(continuations, int(nodes[leaf]), boards, rng, NOTHING)
        else:
            blueprint_values(continuations, int(nodes[leaf]), boards, rng)


def _make_part(
    game: Rules, abstraction: str, blueprint: str, settings: TableSettings, output: str, leaf: int
) -> tuple[int, float]:
    """Write the values of one leaf; returns it and their mean standard error."""
    continuations = continuations_of(game, abstraction, blueprint, settings.continuations)
    policy = continuations.blueprint
    for_blueprint, for_forms = (np.random.default_rng(seed) for seed in np.random.SeedSequence(settings.seed).spawn(2))
    node = int(preflop_leaves(policy.tree)[leaf])
    base = blueprint_values(continuations, node, settings.boards, for_blueprint)
    found = class_values(continuations, node, settings.form_boards, for_forms, base)
    values, sem = found.mean, found.sem
    values[:, 1:] += np.float32(settings.continuations.pot_fraction)
    config, made_from = _identity(game, settings), _origin(policy, settings)
    arrays = {"values": values, "sem": sem}
    write_artifact(_part_path(output, leaf), PART, config=config, arrays=arrays, made_from=made_from)
    return leaf, float(sem.mean(dtype=np.float64))
