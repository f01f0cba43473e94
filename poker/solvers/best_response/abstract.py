"""The abstract best response, learned: what can be won from a blueprint with its own bets and buckets.

For either seat external sampling (`kernels.sampling`) runs with the blueprint's strategy held fixed in the other, so
regrets are those of playing against the blueprint; early deals count less, linearly. Regrets start from the blueprint's
own strategy times `trust` pots, and keep that part: where little was seen the response plays as the blueprint does,
and leaves it for what gained more than that. If the abstract game has perfect recall, this converges to its exact best
response. Buckets that forget give no such guarantee, nor can an exact value be computed from probabilities of one
bucket following another: both players' later buckets hang on the same board. So nothing is claimed from the abstract
game. The response is a policy of the real game, and what it wins in matches there is a lower bound on the best
response.

Symbols: B buckets, A actions.
"""

from collections.abc import Callable
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from poker.abstraction.buckets import game_cards
from poker.abstraction.dealers import Dealer, dealer_of
from poker.artifacts import find_artifact, fingerprint_of
from poker.kernels.rng import streams
from poker.kernels.sampling import external_sampling
from poker.solvers.blueprint import KIND, Blueprint, blueprint_from
from poker.solvers.sampling.base import normalised
from poker.tree import Kind

_BATCH = 1000
TRUST = 10.0
_PERIODS = 20
"""Stretches of a run; those of number k = 1, 2, ... keep weight proportional to k."""

Progress = Callable[[int], None]
"""Deals played since the last call."""


def learn_response(
    blueprint: Blueprint, dealer: Dealer, *, deals: int, seed: int, progress: Progress | None = None
) -> Blueprint:
    """A strategy for both seats, learned on `deals` deals in each, rounded up to whole batches."""
    found: dict[int, NDArray[np.float32]] = {}
    for player in range(2):
        found |= learn_seat(blueprint, dealer, player, deals, seed, progress)
    return blueprint_from(blueprint.tree, blueprint.cards, found.__getitem__)


def learn_seat(
    blueprint: Blueprint,
    dealer: Dealer,
    player: int,
    deals: int,
    seed: int,
    progress: Progress | None = None,
    trust: float = TRUST,
) -> dict[int, NDArray[np.float32]]:
    """[B, A] of every decision of `player`, whose regrets start from what `blueprint` plays there."""
    tree, sampling = blueprint.tree, blueprint.sampling
    decisions = np.flatnonzero(tree.kind == Kind.DECISION).tolist()
    table = np.zeros(sampling.table_size, dtype=np.float32)
    for node in decisions:
        scale = trust * tree.pot(node) if tree.player[node] == player else 1.0
        sampling.rows(table, int(sampling.index[node]))[:, 0] = scale * blueprint.probs(node)
    _play(blueprint, dealer, table, player, deals, seed, progress)
    found = {}
    for node in decisions:
        if tree.player[node] == player:
            regrets = sampling.rows(table, int(sampling.index[node]))[:, 0]
            found[node] = normalised(np.maximum(regrets, 0.0), np.eye(regrets.shape[1])[regrets.argmax(axis=1)])
    return found


def _play(
    blueprint: Blueprint,
    dealer: Dealer,
    table: NDArray[np.float32],
    player: int,
    deals: int,
    seed: int,
    progress: Progress | None,
) -> None:
    sampling = blueprint.sampling
    start = table.copy()
    rng = streams(np.random.SeedSequence([seed, player]), 1)[0]
    tree, scratch = sampling.arrays, external_sampling.new_scratch(len(sampling.nodes))
    batches = -(-deals // _BATCH)
    period = max(1, batches // _PERIODS)
    for done in range(1, batches + 1):
        dealt = dealer.deal(rng, _BATCH)
        for buckets, ranks in zip(dealt.buckets, dealt.ranks, strict=True):
            external_sampling.traverse(tree, table, buckets, ranks, player, -np.inf, rng, scratch)
        if done % period == 0:
            kept = np.float32((done // period) / (done // period + 1))
            table += (1 - kept) * (start - table)
        if progress is not None:
            progress(_BATCH)


def stored_response(
    folder: Path,
    blueprint: Blueprint,
    abstraction: str,
    *,
    deals: int,
    seed: int,
    fresh: bool = False,
    progress: Progress | None = None,
) -> Path:
    """Where in `folder` the response is, as an artifact that loads like a blueprint.

    It is learned if it is not there, and with `fresh` anew.
    """
    cards = game_cards(blueprint.rules, abstraction)
    config = {"response_to": blueprint.fingerprint, "deals": deals, "seed": seed}
    path = folder / f"response-{fingerprint_of(config)[:10]}"
    if fresh or find_artifact(path, KIND, config=config, made_from={"abstraction": cards.fingerprint}) is None:
        dealer = dealer_of(blueprint.rules, cards)
        found = learn_response(blueprint, dealer, deals=deals, seed=seed, progress=progress)
        found.save(path, config, {"deals": 2 * deals})
    return path
