"""`job=continuations`: generate strategies from which the opponent may choose after the first round.

Step k solves the first round for either seat with the continuations so far. It then learns both seats' best responses
and computes their values at every preflop leaf (`data_gen.support.self_generated`), with the bets and buckets of the
blueprint. Each step stores a part on disk. See [DLS] section 4.
"""

import sys
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from data_gen.support.progress import JobProgress
from data_gen.support.self_generated import Response, respond
from data_gen.support.valuation import StoredBlueprint, table_seconds
from poker.abstraction.buckets import is_holdem
from poker.abstraction.dealers import sample_boards
from poker.depth_limit.continuations.forms import KIND, save_forms
from poker.depth_limit.continuations.generation import Solving
from poker.depth_limit.continuations.rollout import Continuations
from poker.depth_limit.leaves.leaf_table import (
    LeafTable,
    TableEstimate,
    blueprint_values,
    class_values,
    preflop_leaves,
    table_bytes,
)
from poker.game.rules import Rules
from poker.report.estimates import estimate
from poker.run.atomic import remove
from poker.run.errors import PokernetsError
from poker.run.parallel import Cluster, Given, Work, print_cost
from poker.solvers.best_response.abstract import BoardGame
from poker.solvers.blueprint import Blueprint, blueprint_from
from poker.solvers.subtree import subtree
from poker.store.artifacts import Artifact, find_artifact, open_artifact, write_artifact
from poker.tree import BetMenu

_KINDS = {"form": "continuation_form", "values": "continuation_values"}
_RESPONSE_SECONDS = 1.1e-5
"""CPU seconds of a response per terminal node and board. Nine responses of either seat at the laptop scale, on 280
boards each, took 3,192 s including their values (docs/results/costs/laptop.json)."""


@dataclass(frozen=True)
class Sampled:
    """Numbers of sampled boards.

    Attributes:
        boards: boards behind the values of the blueprint.
        form_boards: boards on which responses are compared with the blueprint.
        response_boards: boards from which either seat learns a response.
        match_boards: boards on which a response is measured.
        seed: seed of the boards.
    """

    boards: int
    form_boards: int
    response_boards: int
    match_boards: int
    seed: int

    def __post_init__(self) -> None:
        """Check the numbers.

        Raises:
            PokernetsError: a number is too small.
        """
        if min(self.boards, self.form_boards, self.match_boards) < 2 or self.response_boards < 1:
            raise PokernetsError(
                "job.sampled needs boards, form_boards and match_boards of at least 2 and response_boards of at least 1"
            )


def run(
    *,
    game: Rules,
    menu: BetMenu,
    abstraction: str,
    blueprint: str,
    size: int,
    pot_fraction: float,
    solving: Solving,
    sampled: Sampled,
    cluster: Cluster,
    output: str,
    runs: str,
) -> None:
    """Generate `size` continuations for either seat, counting the blueprint; parts of an interrupted run are used.

    Args:
        menu: bet menu of the first round.
        abstraction: folder of the card buckets.
        blueprint: folder of the blueprint.
        size: number of continuations.
        pot_fraction: fraction of the pot that is subtracted from the values of every continuation.
        solving: settings of the solves of the first round.
        sampled: numbers of boards.
        output: folder of the artifact.
        runs: folder of the logs.

    Raises:
        PokernetsError: the game is not hold'em.
    """
    if not is_holdem(game):
        raise PokernetsError(f"job=continuations is for games of hold'em, not {game.name}")
    plan = _Plan(StoredBlueprint(game, abstraction, blueprint), menu, pot_fraction, solving, sampled, output)
    if find_artifact(output, KIND, config={**plan.config, "size": size}, made_from=plan.made_from) is not None:
        print(f"continuations {output} are there", file=sys.stderr)
        return
    policy = plan.policy
    leaves = len(preflop_leaves(policy.tree))
    plan.print_cost(size, leaves, cluster)
    with JobProgress("continuations", total=size, logs=runs) as progress:
        for k in range(size):
            metrics: dict[str, float] = {}
            if k and not plan.is_there("form", k):
                responses = dict(cluster.run(Work(Given(partial(plan.response, k))), [0, 1]))
                strategy = {**responses[0]["strategy"], **responses[1]["strategy"]}
                bits = policy.strategy.itemsize * 8
                form = blueprint_from(policy.tree, policy.cards, strategy.__getitem__, bits=bits)
                counts = {"seats": [responses[seat]["counts"] for seat in range(2)]}
                plan.save("form", k, {"strategy": form.strategy}, counts)
            if not plan.is_there("values", k):
                by_leaf = dict(cluster.run(Work(Given(partial(plan.leaf_values, k))), range(leaves)))
                means, errors = zip(*(by_leaf[leaf] for leaf in range(leaves)), strict=True)
                plan.save("values", k, {"values": np.stack(means), "sem": np.stack(errors)})
            if k:
                seats = plan.part("form", k).counts["seats"]
                metrics = {f"gain_{seat}_mbb": counts["gain_mbb"] for seat, counts in enumerate(seats)}
                for warning in filter(None, (shortfall(k, seat, counts) for seat, counts in enumerate(seats))):
                    print(warning, file=sys.stderr)
            progress.update(k + 1, step=k + 1, **metrics)
    steps = [plan.part("form", k).counts for k in range(1, size)]
    save_forms(output, [plan.form(k) for k in range(size)], plan.config, {"steps": steps})
    remove(Path(f"{output}.parts"))


@dataclass(frozen=True)
class _Plan:
    """Everything that a part depends on, and how parts are made: a continuation's strategy and its values at leaves."""

    stored: StoredBlueprint
    menu: BetMenu
    pot_fraction: float
    solving: Solving
    sampled: Sampled
    output: str

    @property
    def config(self) -> dict[str, Any]:
        own = {"game": self.stored.game.name, "pot_fraction": self.pot_fraction, "solving": asdict(self.solving)}
        return {**own, **asdict(self.sampled)}

    @property
    def policy(self) -> Blueprint:
        return self.stored.load()

    @property
    def made_from(self) -> dict[str, str]:
        return {"blueprint": self.policy.fingerprint}

    @property
    def _big_blind(self) -> int:
        return max(self.stored.game.big_blind, 1)

    def path(self, name: str, k: int) -> Path:
        return Path(f"{self.output}.parts") / f"{name}-{k}"

    def is_there(self, name: str, k: int) -> bool:
        path, made_from = self.path(name, k), self.made_from
        return find_artifact(path, _KINDS[name], config=self.config, made_from=made_from) is not None

    def part(self, name: str, k: int) -> Artifact:
        return open_artifact(self.path(name, k), _KINDS[name], config=self.config, made_from=self.made_from)

    def save(self, name: str, k: int, arrays: dict[str, NDArray[Any]], counts: Mapping[str, Any] | None = None) -> None:
        path, made_from = self.path(name, k), self.made_from
        write_artifact(path, _KINDS[name], config=self.config, arrays=arrays, counts=counts, made_from=made_from)

    def form(self, k: int) -> Blueprint:
        """Return continuation k; 0 is the blueprint."""
        policy = self.policy
        return policy if k == 0 else policy.form(self.part("form", k), "strategy")

    def response(self, k: int, seat: int) -> tuple[int, dict[str, Any]]:
        """Return a seat's response to the searcher with k continuations, and its winnings against that searcher."""
        policy, sampled = self.policy, self.sampled
        parts = [self.part("values", i).arrays for i in range(k)]
        values, sem = (np.concatenate([part[name] for part in parts], axis=2) for name in ("values", "sem"))
        table = LeafTable(preflop_leaves(policy.tree), values, sem)
        seed = sampled.seed * 1000 + k
        response = respond(
            policy, table, self.menu, seat, solving=self.solving, boards=sampled.response_boards, seed=seed
        )
        won, won_by_blueprint = self._winnings(response, seat, seed)
        counts = {"limited_value_mbb": response.limited_value * 1000 / self._big_blind}
        for name, winnings in (("won", won), ("blueprint", won_by_blueprint), ("gain", won - won_by_blueprint)):
            mean = estimate(winnings)
            counts |= {f"{name}_mbb": mean.mean, f"{name}_half_width_95": mean.interval()["half_width_95"]}
        return seat, {"strategy": dict(response.strategy), "counts": counts}

    def _winnings(self, response: Response, seat: int, seed: int) -> NDArray[np.float64]:
        """Return [2, R] mbb that the response and the blueprint win from the searcher on their own boards."""
        policy, game = self.policy, BoardGame(response.searcher, seat)
        tables = [game.table(strategy) for strategy in (response.strategy.__getitem__, policy.probs)]
        rng = np.random.default_rng(np.random.SeedSequence(seed, spawn_key=(seat, 1)))
        boards = sample_boards(policy.rules, (), self.sampled.match_boards, rng)
        chips = np.array([[game.play(table, board) for board in boards] for table in tables])
        return chips * 1000 / self._big_blind

    def leaf_values(self, k: int, leaf: int) -> tuple[int, tuple[NDArray[np.float32], NDArray[np.float32]]]:
        """Return values and errors [2, 1, 169, 169] of continuation k at a leaf; every k sees the same boards."""
        policy, sampled = self.policy, self.sampled
        for_blueprint, for_forms = map(np.random.default_rng, np.random.SeedSequence(sampled.seed).spawn(2))
        node = int(preflop_leaves(policy.tree)[leaf])
        continuations = Continuations(policy, [self.form(k)])
        if k == 0:
            base = blueprint_values(continuations, node, sampled.boards, for_blueprint)
            return leaf, (np.stack([base.mean, -base.mean])[:, None], np.stack([base.sem, base.sem])[:, None])
        first = self.part("values", 0).arrays
        base = TableEstimate(first["values"][leaf, 0, 0], first["sem"][leaf, 0, 0])
        values = class_values(continuations, node, sampled.form_boards, for_forms, base)
        return leaf, (values.mean + np.float32(self.pot_fraction), values.sem)

    def print_cost(self, size: int, leaves: int, cluster: Cluster) -> None:
        """Print the cost of the run: values of every continuation, and the responses, one for each but the first."""
        sampled, policy = self.sampled, self.policy
        ends = sum(subtree(policy, int(node)).num_ends for node in preflop_leaves(policy.tree))
        values = table_seconds(ends, sampled.boards, sampled.form_boards * (size - 1))
        boards = 2 * (sampled.response_boards + 2 * sampled.match_boards) * (size - 1)
        what = f"continuations of {self.stored.game.name}: {size} strategies, values of {leaves} leaves"
        disk = (size - 1) * policy.strategy.nbytes + table_bytes(leaves, size)
        print_cost(what, values + ends * boards * _RESPONSE_SECONDS, leaves, cluster, disk / 1e6)


def shortfall(k: int, seat: int, counts: Mapping[str, Any]) -> str | None:
    """Warn if response k of a seat wins significantly less than the blueprint does.

    Args:
        k: number of the continuation.
        counts: `gain_mbb` in mbb per hand and `gain_half_width_95`.

    Returns:
        the warning; None if there is no significant shortfall.
    """
    gain, width = counts["gain_mbb"], counts["gain_half_width_95"]
    if width is None or gain + width >= 0:
        return None
    return (
        f"continuation {k} of player {seat} wins {-gain:,.0f} +- {width:,.0f} mbb/hand less than the blueprint: it has"
        " learned from too few boards; raise job.sampled.response_boards"
    )
