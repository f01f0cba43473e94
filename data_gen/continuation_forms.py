"""Self-generated continuations of a blueprint that plays by buckets: strategies by sampling, one part on disk a step.

Step k solves the first round for either seat with the continuations so far, learns both seats' responses and values
them at every preflop leaf (`poker.search.leaves.self_generated`).
"""

import shutil
import sys
from collections.abc import Mapping
from dataclasses import asdict, dataclass
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

_KINDS = {"form": "continuation_form", "values": "continuation_values"}


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
    """All that a part depends on, and how parts are made: the strategy of a continuation, and its values at leaves."""

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

    @property
    def inputs(self) -> tuple[Path, ...]:
        return Path(self.sampled.abstraction), Path(self.sampled.blueprint)

    @property
    def policy(self) -> Blueprint:
        return _loaded(self.game, self.sampled.abstraction, self.sampled.blueprint)

    @property
    def origin(self) -> dict[str, str]:
        return {"blueprint": self.policy.fingerprint}

    def path(self, name: str, k: int) -> Path:
        return Path(f"{self.output}.parts") / f"{name}-{k}"

    def is_there(self, name: str, k: int) -> bool:
        return find_artifact(self.path(name, k), _KINDS[name], config=self.config, made_from=self.origin) is not None

    def part(self, name: str, k: int) -> Artifact:
        return open_artifact(self.path(name, k), _KINDS[name], config=self.config, made_from=self.origin)

    def keep(self, name: str, k: int, arrays: dict[str, NDArray[Any]], counts: Mapping[str, Any] | None = None) -> None:
        path, made_from = self.path(name, k), self.origin
        write_artifact(path, _KINDS[name], config=self.config, arrays=arrays, counts=counts, made_from=made_from)

    def form(self, k: int) -> Blueprint:
        """Continuation k; 0 is the blueprint."""
        policy = self.policy
        return policy if k == 0 else policy.form(self.part("form", k), "strategy")

    def response(self, k: int, seat: int) -> tuple[int, dict[str, Any]]:
        """The response of a seat to the searcher with k continuations, and what it wins from that searcher."""
        policy, sampled = self.policy, self.sampled
        parts = [self.part("values", i).arrays for i in range(k)]
        values, sem = (np.concatenate([part[name] for part in parts], axis=2) for name in ("values", "sem"))
        table = LeafTable(preflop_leaves(policy.tree), values, sem)
        seed = sampled.seed * 1000 + k
        found = respond(policy, table, self.menu, seat, solving=self.solving, boards=sampled.response_boards, seed=seed)
        response, kept = _winnings(found, policy, seat, sampled.match_boards, seed)
        counts = {"limited_value_mbb": found.limited_value * 1000 / max(self.game.big_blind, 1)}
        for name, winnings in (("won", response), ("blueprint", kept), ("gain", response - kept)):
            mean = estimate(winnings)
            counts |= {f"{name}_mbb": mean.mean, f"{name}_half_width_95": mean.interval()["half_width_95"]}
        return seat, {"strategy": dict(found.strategy), "counts": counts}

    def leaf_values(self, k: int, leaf: int) -> tuple[int, tuple[NDArray[np.float32], NDArray[np.float32]]]:
        """Values, standard errors [2, 1, 169, 169] of continuation k at a leaf; every k sees the same boards."""
        policy, sampled = self.policy, self.sampled
        for_blueprint, for_forms = map(np.random.default_rng, np.random.SeedSequence(sampled.seed).spawn(2))
        node = int(preflop_leaves(policy.tree)[leaf])
        continuations = Continuations(policy, [self.form(k)])
        if k == 0:
            base = blueprint_values(continuations, node, sampled.boards, for_blueprint)
            return leaf, (np.stack([base.mean, -base.mean])[:, None], np.stack([base.sem, base.sem])[:, None])
        known = self.part("values", 0).arrays
        base = TableEstimate(known["values"][leaf, 0, 0], known["sem"][leaf, 0, 0])
        found = class_values(continuations, node, sampled.form_boards, for_forms, base)
        return leaf, (found.mean + np.float32(self.pot_fraction), found.sem)

    def trial(self, work: str, number: int, boards: int) -> None:
        """Some work on `boards` boards: values of the blueprint or of a form at all leaves, or a best response."""
        policy, rng = self.policy, np.random.default_rng(number)
        if work == "response":
            game = BoardGame(policy, number % 2)
            table = game.table(policy.probs)
            for board in sample_boards(policy.rules, (), boards, rng):
                game.play(table, board, learn=True)
            return
        continuations = Continuations(policy, [policy])
        for node in preflop_leaves(policy.tree).tolist():
            if work == "blueprint":
                blueprint_values(continuations, node, boards, rng)
            else:
                class_values(continuations, node, boards, rng, NOTHING)

    def tell_cost(self, size: int, leaves: int, cluster: Cluster) -> None:
        """Print the cost of the run, from a trial of each kind of work."""
        sampled = self.sampled
        units = {"blueprint": (sampled.boards, leaves), "form": (sampled.form_boards, leaves)}
        units["response"] = (2 * (sampled.response_boards + 2 * sampled.match_boards), 2)
        values, compared, responses = (
            cost([(partial(self.trial, work), boards)], tasks, cluster, self.inputs)
            for work, (boards, tasks) in units.items()
        )
        each = f"{compared.cpu:,.0f} s for the values of each, {responses.cpu:,.0f} s for its responses"
        what = f"continuations of {self.game.name}: {size} strategies, values of {leaves} leaves, {each}"
        cpu, clock = (
            getattr(values, of) + (size - 1) * (getattr(compared, of) + getattr(responses, of))
            for of in ("cpu", "clock")
        )
        found = Cost(cpu, clock, max(values.megabytes, compared.megabytes, responses.megabytes))
        disk = (size - 1) * self.policy.strategy.nbytes + table_bytes(leaves, size)
        tell(what, found, leaves, cluster, disk / 1e6)


@lru_cache(maxsize=1)
def _loaded(game: Rules, abstraction: str, blueprint: str) -> Blueprint:
    """The blueprint, loaded once in each process."""
    return Blueprint.load(blueprint, game_cards(game, abstraction), game)


def run(plan: Plan, size: int, runs: str, cluster: Cluster, dry: bool) -> None:
    """Make `size` continuations at `plan.output`, the blueprint among them. Parts of an interrupted run are used."""
    if find_artifact(plan.output, KIND, config={**plan.config, "size": size}, made_from=plan.origin) is not None:
        print(f"continuations {plan.output} are there", file=sys.stderr)
        return
    policy = plan.policy
    leaves = len(preflop_leaves(policy.tree))
    plan.tell_cost(size, leaves, cluster)
    if dry:
        return
    with JobProgress("continuations", total=size, logs=runs) as progress:
        for k in range(size):
            metrics: dict[str, float] = {}
            if k and not plan.is_there("form", k):
                values = [plan.path("values", i) for i in range(k)]
                responses = Work(Given(partial(plan.response, k)), inputs=(*plan.inputs, *values))
                found = dict(cluster.run(responses, [0, 1]))
                strategy = {**found[0]["strategy"], **found[1]["strategy"]}
                bits = policy.strategy.itemsize * 8
                form = blueprint_from(policy.tree, policy.cards, strategy.__getitem__, bits=bits)
                counts = {"seats": [found[seat]["counts"] for seat in range(2)]}
                plan.keep("form", k, {"strategy": form.strategy}, counts)
            if not plan.is_there("values", k):
                made = (plan.path("form", k), plan.path("values", 0)) if k else ()
                work = Work(Given(partial(plan.leaf_values, k)), inputs=(*plan.inputs, *made))
                valued = dict(cluster.run(work, range(leaves)))
                values_of, sem_of = zip(*(valued[leaf] for leaf in range(leaves)), strict=True)
                plan.keep("values", k, {"values": np.stack(values_of), "sem": np.stack(sem_of)})
            if k:
                seats = plan.part("form", k).counts["seats"]
                metrics = {f"gain_{seat}_mbb": found["gain_mbb"] for seat, found in enumerate(seats)}
                for told in filter(None, (shortfall(k, seat, found) for seat, found in enumerate(seats))):
                    print(told, file=sys.stderr)
            progress.update(k + 1, step=k + 1, **metrics)
    steps = [plan.part("form", k).counts for k in range(1, size)]
    save_forms(plan.output, [plan.form(k) for k in range(size)], plan.config, {"steps": steps})
    shutil.rmtree(f"{plan.output}.parts")


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
