"""The abstract best response, learned: what can be won from a blueprint with its own bets and buckets.

For either seat boards are drawn, and on each the whole game is swept with all hands of both players at once
(`on_boards`), the blueprint's strategy held fixed in the other seat: regrets are those of playing against the
blueprint, and only the board is sampled. Early boards count less, linearly. Regrets start from the blueprint's own
strategy times `trust` pots for each hand that a board has in a bucket, and keep that part: the response leaves the
blueprint for what gained more than that, since the hands of one bucket share the luck of a board. If the abstract game
has perfect recall, this converges to its exact best response. Buckets that forget give no such guarantee, nor can an
exact value be computed from probabilities of one bucket following another: both players' later buckets depend on the
same board. So nothing is claimed from the abstract game. The response is a policy of the real game, and what it wins in
matches there is a lower bound on the best response.

Symbols: B buckets, A actions.
"""

from collections.abc import Callable
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from poker.abstraction.buckets import game_cards
from poker.artifacts import find_artifact, fingerprint_of
from poker.solvers.best_response.on_boards import BoardGame
from poker.solvers.blueprint import KIND, Blueprint, blueprint_from
from poker.solvers.rollout.continuation import sample_boards
from poker.solvers.sampling.base import normalised

TRUST = 50.0
_PERIODS = 20
"""Periods of a run; the regrets of period k = 1, 2, ... keep weight proportional to k."""

Progress = Callable[[int], None]
"""Boards played since the last call."""


def learn_response(
    blueprint: Blueprint, *, boards: int, seed: int, progress: Progress | None = None, trust: float = TRUST
) -> Blueprint:
    """A strategy for both seats, learned on `boards` boards in each."""
    found: dict[int, NDArray[np.float32]] = {}
    for player in range(2):
        found |= learn_seat(blueprint, player, boards, seed, progress, trust)
    return blueprint_from(blueprint.tree, blueprint.cards, found.__getitem__)


def learn_seat(
    blueprint: Blueprint,
    player: int,
    boards: int,
    seed: int,
    progress: Progress | None = None,
    trust: float = TRUST,
) -> dict[int, NDArray[np.float32]]:
    """[B, A] of every decision of `player`, whose regrets start from what `blueprint` plays there."""
    tree, sampling, game = blueprint.tree, blueprint.sampling, BoardGame(blueprint, player)
    hands = blueprint.rules.space.live(range(blueprint.rules.total_board_cards)).sum()
    pots = trust * hands / np.array(blueprint.cards.num_buckets)
    start = game.table(lambda node: np.float32(pots[tree.street[node]] * tree.pot(node)) * blueprint.probs(node))
    table = start.copy()
    period = max(1, boards // _PERIODS)
    rng = np.random.default_rng(np.random.SeedSequence([seed, player]))
    for done, board in enumerate(sample_boards(blueprint.rules, (), boards, rng), 1):
        game.play(table, board, learn=True)
        if done % period == 0:
            kept = np.float32((done // period) / (done // period + 1))
            table += (1 - kept) * (start - table)
        if progress is not None:
            progress(1)
    found = {}
    for node in game.decisions.tolist():
        regrets = sampling.entries(table, int(sampling.index[node]))
        found[node] = normalised(np.maximum(regrets, 0.0), np.eye(regrets.shape[1])[regrets.argmax(axis=1)])
    return found


def stored_response(
    folder: Path,
    blueprint: Blueprint,
    abstraction: str,
    *,
    boards: int,
    seed: int,
    fresh: bool = False,
    progress: Progress | None = None,
) -> Path:
    """Path in `folder` of the response, an artifact that loads like a blueprint.

    It is learned if it is not there, and with `fresh` anew.
    """
    cards = game_cards(blueprint.rules, abstraction)
    config = {"response_to": blueprint.fingerprint, "boards": boards, "seed": seed}
    path = folder / f"response-{fingerprint_of(config)[:10]}"
    if fresh or find_artifact(path, KIND, config=config, made_from={"abstraction": cards.fingerprint}) is None:
        found = learn_response(blueprint, boards=boards, seed=seed, progress=progress)
        found.save(path, config, {"boards": 2 * boards})
    return path
