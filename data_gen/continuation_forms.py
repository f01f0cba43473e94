"""Self-generated continuations of a blueprint that plays by buckets: strategies by sampling, one part on disk a step.

Step k solves the first round for either seat with the continuations so far, learns both seats' responses and values
them at every preflop leaf (`poker.search.leaves.self_generated`).
"""

import shutil
import sys
from collections.abc import Mapping
from dataclasses import asdict, dataclass, replace
from functools import lru_cache, partial
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from data_gen.costs import Cost, cost, tell
from data_gen.progress import JobProgress
from poker.abstraction.buckets import game_cards
from poker.artifacts import Artifact, find_artifact, open_artifact, write_artifact
from poker.errors import PokernetsError
from poker.parallel import Cluster, Given, Work
from poker.report.estimates import estimate
from poker.rules import Rules
from poker.search.leaves.self_generated import Response, respond
from poker.solvers.best_response.abstract import BoardGame
from poker.solvers.blueprint import Blueprint, blueprint_from
from poker.solvers.continuations.generation import Solving
from poker.solvers.rollout.continuation import Continuations, sample_boards
from poker.solvers.rollout.forms import KIND, save_forms
from poker.solvers.rollout.leaf_table import (
    NOTHING,
    LeafTable,
    TableEstimate,
    blueprint_values,
    class_values,
    preflop_leaves,
    table_bytes,
)
from poker.tree import BetMenu

FORM, VALUES = "continuation_form", "continuation_values"


@dataclass(frozen=True)
class Sampled:
    """Settings for a bucketed blueprint: `boards` behind the values of the blueprint, `form_boards` on which responses
    are compared with it, `response_boards` from which either seat learns one, `match_boards` on which it is measured.
    """

    abstraction: str
    blueprint: str
    boards: int
    form_boards: int
    response_boards: int
    match_boards: int
    seed: int

    def __post_init__(self) -> None:
        if min(self.boards, self.form_boards, self.match_boards) < 2 or self.response_boards < 1:
            raise PokernetsError(
                "job.sampled needs boards, form_boards and match_boards of at least 2 and response_boards of at least 1"
            )


@dataclass(frozen=True)
class Plan:
    """All that a part depends on."""

    game: Rules
    menu: BetMenu
    pot_fraction: float
    solving: Solving
    sampled: Sampled
    output: str

    @property
    def config(self) -> dict[str, Any]:
        settings = {key: value for key, value in asdict(self.sampled).items() if isinstance(value, int)}
        return {"game": self.game.name, "pot_fraction": self.pot_fraction, "solving": asdict(self.solving), **settings}

    def part(self, name: str) -> Path:
        return Path(f"{self.output}.parts") / name


def run(plan: Plan, size: int, runs: str, cluster: Cluster, dry: bool) -> None:
    """Make `size` continuations at `plan.output`, the blueprint among them. Parts of an interrupted run are used."""
    policy = _policy(plan)
    made_from = {"blueprint": policy.fingerprint}
    if find_artifact(plan.output, KIND, config={**plan.config, "size": size}, made_from=made_from) is not None:
        print(f"continuations {plan.output} are there", file=sys.stderr)
        return
    leaves = len(preflop_leaves(policy.tree))
    inputs = Path(plan.sampled.abstraction), Path(plan.sampled.blueprint)
    _announce(plan, policy, size, cluster)
    if dry:
        return
    with JobProgress("continuations", total=size, logs=runs) as progress:
        for k in range(size):
            metrics: dict[str, float] = {}
            values = [plan.part(f"values-{i}") for i in range(k)]
            if k and find_artifact(plan.part(f"form-{k}"), FORM, config=plan.config, made_from=made_from) is None:
                responses = Work(Given(partial(_response, plan, k)), inputs=(*inputs, *values))
                _save_form(plan, policy, k, dict(cluster.run(responses, [0, 1])))
            if find_artifact(plan.part(f"values-{k}"), VALUES, config=plan.config, made_from=made_from) is None:
                made = (plan.part(f"form-{k}"), *values[:1]) if k else ()
                work = Work(Given(partial(_leaf_values, plan, k)), inputs=(*inputs, *made))
                valued = dict(cluster.run(work, range(leaves)))
                by_leaf = [valued[leaf] for leaf in range(leaves)]
                arrays = {name: np.stack([each[i] for each in by_leaf]) for i, name in enumerate(("values", "sem"))}
                write_artifact(plan.part(f"values-{k}"), VALUES, config=plan.config, arrays=arrays, made_from=made_from)
            if k:
                counts = _part(plan, policy, f"form-{k}", FORM).counts
                metrics = {f"gain_{seat}_mbb": counts["seats"][seat]["gain_mbb"] for seat in range(2)}
                for seat, found in enumerate(counts["seats"]):
                    if told := shortfall(k, seat, found):
                        print(told, file=sys.stderr)
            progress.update(k + 1, step=k + 1, **metrics)
    steps = [_part(plan, policy, f"form-{k}", FORM).counts for k in range(1, size)]
    save_forms(plan.output, [policy, *(_form(plan, policy, k) for k in range(1, size))], plan.config, {"steps": steps})
    shutil.rmtree(plan.part(""))


def _policy(plan: Plan) -> Blueprint:
    return _loaded(plan.game, plan.sampled.abstraction, plan.sampled.blueprint)


@lru_cache(maxsize=1)
def _loaded(game: Rules, abstraction: str, blueprint: str) -> Blueprint:
    """The blueprint, loaded once in each process."""
    return Blueprint.load(blueprint, game_cards(game, abstraction), game)


def _form(plan: Plan, policy: Blueprint, k: int) -> Blueprint:
    """Continuation k; 0 is the blueprint."""
    if k == 0:
        return policy
    return replace(policy, strategy=np.asarray(_part(plan, policy, f"form-{k}", FORM).arrays["strategy"]))


def _part(plan: Plan, policy: Blueprint, name: str, kind: str) -> Artifact:
    return open_artifact(plan.part(name), kind, config=plan.config, made_from={"blueprint": policy.fingerprint})


def _response(plan: Plan, k: int, seat: int) -> tuple[int, dict[str, Any]]:
    """The response of a seat to the searcher with k continuations, and what it wins from that searcher."""
    policy, sampled = _policy(plan), plan.sampled
    parts = [_part(plan, policy, f"values-{i}", VALUES).arrays for i in range(k)]
    values, sem = (np.concatenate([part[name] for part in parts], axis=2) for name in ("values", "sem"))
    table = LeafTable(preflop_leaves(policy.tree), values, sem)
    seed = sampled.seed * 1000 + k
    found = respond(policy, table, plan.menu, seat, solving=plan.solving, boards=sampled.response_boards, seed=seed)
    response, kept = _winnings(found, policy, seat, sampled.match_boards, seed)
    won, of_blueprint, gain = estimate(response), estimate(kept), estimate(response - kept)
    counts = {
        "won_mbb": won.mean,
        "won_half_width_95": won.interval()["half_width_95"],
        "blueprint_mbb": of_blueprint.mean,
        "blueprint_half_width_95": of_blueprint.interval()["half_width_95"],
        "gain_mbb": gain.mean,
        "gain_half_width_95": gain.interval()["half_width_95"],
        "limited_value_mbb": found.limited_value * 1000 / max(plan.game.big_blind, 1),
    }
    return seat, {"strategy": dict(found.strategy), "counts": counts}


def shortfall(k: int, seat: int, found: Mapping[str, Any]) -> str | None:
    """Warning if response k of a seat wins less than the blueprint does, beyond chance; else None."""
    gain, width = found["gain_mbb"], found["gain_half_width_95"]
    if width is None or gain + width >= 0:
        return None
    return (
        f"continuation {k} of player {seat} wins {-gain:,.0f} +- {width:,.0f} mbb/hand less than the blueprint: it has"
        " learned from too few boards; raise job.sampled.response_boards"
    )


def _winnings(found: Response, policy: Blueprint, seat: int, boards: int, seed: int) -> NDArray[np.float64]:
    """[2, R] mbb that the response and the blueprint itself win from the searcher on boards of their own."""
    game = BoardGame(found.searcher, seat)
    tables = [game.table(strategy) for strategy in (found.strategy.__getitem__, policy.probs)]
    rng = np.random.default_rng(np.random.SeedSequence(seed, spawn_key=(seat, 1)))
    drawn = sample_boards(policy.rules, (), boards, rng)
    chips = np.array([[game.play(table, board) for board in drawn] for table in tables])
    return chips * 1000 / max(policy.rules.big_blind, 1)


def _save_form(plan: Plan, policy: Blueprint, k: int, found: dict[int, dict[str, Any]]) -> None:
    strategy: dict[int, NDArray[np.float32]] = {**found[0]["strategy"], **found[1]["strategy"]}
    form = blueprint_from(policy.tree, policy.cards, strategy.__getitem__, bits=policy.strategy.itemsize * 8)
    counts = {"seats": [found[seat]["counts"] for seat in range(2)]}
    made_from = {"blueprint": policy.fingerprint}
    arrays = {"strategy": form.strategy}
    write_artifact(plan.part(f"form-{k}"), FORM, config=plan.config, arrays=arrays, counts=counts, made_from=made_from)


def _leaf_values(plan: Plan, k: int, leaf: int) -> tuple[int, tuple[NDArray[np.float32], NDArray[np.float32]]]:
    """Values, standard errors [2, 1, 169, 169] of continuation k at a leaf; every k sees the same boards."""
    policy, sampled = _policy(plan), plan.sampled
    for_blueprint, for_forms = (np.random.default_rng(seed) for seed in np.random.SeedSequence(sampled.seed).spawn(2))
    node = int(preflop_leaves(policy.tree)[leaf])
    continuations = Continuations(policy, [_form(plan, policy, k)])
    if k == 0:
        base = blueprint_values(continuations, node, sampled.boards, for_blueprint)
        return leaf, (np.stack([base.mean, -base.mean])[:, None], np.stack([base.sem, base.sem])[:, None])
    known = _part(plan, policy, "values-0", VALUES).arrays
    base = TableEstimate(known["values"][leaf, 0, 0], known["sem"][leaf, 0, 0])
    found = class_values(continuations, node, sampled.form_boards, for_forms, base)
    return leaf, (found.mean + np.float32(plan.pot_fraction), found.sem)


def _announce(plan: Plan, policy: Blueprint, size: int, cluster: Cluster) -> None:
    """Print the cost of the run, from a trial of each kind of work."""
    leaves, sampled = len(preflop_leaves(policy.tree)), plan.sampled
    played = sampled.response_boards + 2 * sampled.match_boards
    inputs = Path(sampled.abstraction), Path(sampled.blueprint)
    values, compared, responses = (
        cost([(partial(trial, plan), units)], tasks, cluster, inputs)
        for trial, units, tasks in (
            (_value, sampled.boards, leaves),
            (_compare, sampled.form_boards, leaves),
            (_respond, 2 * played, 2),
        )
    )
    each = f"{compared.cpu:,.0f} s for the values of each, {responses.cpu:,.0f} s for its responses"
    disk = (size - 1) * policy.strategy.nbytes + table_bytes(leaves, size)
    tell(
        f"continuations of {plan.game.name}: {size} strategies, values of {leaves} leaves, {each}",
        Cost(
            values.cpu + (size - 1) * (compared.cpu + responses.cpu),
            values.clock + (size - 1) * (compared.clock + responses.clock),
            max(values.megabytes, compared.megabytes, responses.megabytes),
        ),
        leaves,
        cluster,
        disk / 1e6,
    )


def _value(plan: Plan, number: int, boards: int) -> None:
    """Values of the blueprint at all leaves."""
    policy = _policy(plan)
    continuations, rng = Continuations(policy, [policy]), np.random.default_rng(number)
    for node in preflop_leaves(policy.tree).tolist():
        blueprint_values(continuations, node, boards, rng)


def _compare(plan: Plan, number: int, boards: int) -> None:
    """Values of a form at all leaves."""
    policy = _policy(plan)
    continuations, rng = Continuations(policy, [policy]), np.random.default_rng(number)
    for node in preflop_leaves(policy.tree).tolist():
        class_values(continuations, node, boards, rng, NOTHING)


def _respond(plan: Plan, number: int, boards: int) -> None:
    """Boards of a best response to the blueprint."""
    policy = _policy(plan)
    game = BoardGame(policy, number % 2)
    table = game.table(policy.probs)
    for board in sample_boards(policy.rules, (), boards, np.random.default_rng(number)):
        game.play(table, board, learn=True)
