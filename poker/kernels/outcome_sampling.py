"""Outcome-sampling Monte-Carlo CFR (Lanctot et al. 2009): an episode plays one deal to its end and updates the path.

With h a decision of player i on the path, a* the action taken there, z the end, q the probability with which the
episode is sampled and pi that of the current strategy sigma (regret matching):

    W       = u_i(z) pi_-i(h) / q(z)
    R(a*)  += W pi(h a* -> z) (1 - sigma(a*)),      R(b) -= W pi(h -> z) for every other action b
    S(b)   += pi_i(h) sigma(b) / q(h)

Parallel form: every player draws from e * uniform + (1 - e) sigma, and all of them update R and S. Alternating form:
one player at a time (the deal's number modulo P) explores so and updates R; the others draw from sigma and update S.

Table and nodes as in `poker.kernels.mccfr`. Symbols: M sampling nodes, P players, S streets, A actions, n deals.
"""

import numpy as np
from numba import njit
from numpy.typing import NDArray

from poker.kernels.rng import next_float
from poker.kernels.sampling_nodes import ARITY, DECISION, FIRST, KIND, PLAYER, ROW, STREET, STRIDE, payoff

MAX_DEPTH = 256
"""Longest path of decisions."""


@njit(cache=True, nogil=True)
def outcome_sampling(
    nodes: NDArray[np.int32],
    committed: NDArray[np.int32],
    folded: NDArray[np.bool_],
    table: NDArray[np.float32],
    explore: float,
    alternating: bool,
    buckets: NDArray[np.int32],
    ranks: NDArray[np.int32],
    rng: NDArray[np.uint64],
) -> int:
    """One episode for each deal of a batch; returns nodes visited. buckets [n, P, S], ranks [n, P]."""
    players = ranks.shape[1]
    rows = np.empty(MAX_DEPTH, dtype=np.int64)
    taken = np.empty((MAX_DEPTH, 3), dtype=np.int64)  # arity, action, player
    drawn = np.empty((MAX_DEPTH, 2))  # sigma(a*), probability with which it was drawn
    reach = np.empty(players)
    visits = 0
    for deal in range(ranks.shape[0]):
        updated = deal % players if alternating else -1
        node, depth, sampled = 0, 0, 1.0
        while nodes[node, KIND] == DECISION:
            player, arity = nodes[node, PLAYER], nodes[node, ARITY]
            bucket = np.int64(buckets[deal, player, nodes[node, STREET]])
            row = 2 * (nodes[node, ROW] + bucket * nodes[node, STRIDE])
            total = 0.0
            for a in range(arity):
                total += max(table[row + a], np.float32(0.0))
            share = explore if updated < 0 or player == updated else 0.0
            threshold = next_float(rng)
            action, sigma, chance = 0, 0.0, 0.0
            for a in range(arity):
                probability = max(table[row + a], np.float32(0.0)) / total if total > 0.0 else 1.0 / arity
                mixed = share / arity + (1.0 - share) * probability
                if mixed > 0.0 and threshold >= 0.0:
                    action, sigma, chance = a, probability, mixed
                    threshold -= mixed
            rows[depth] = row
            taken[depth, 0], taken[depth, 1], taken[depth, 2] = arity, action, player
            drawn[depth, 0], drawn[depth, 1] = sigma, chance
            sampled *= chance
            depth += 1
            node = nodes[node, FIRST] + action
        visits += depth + 1

        reach[:] = 1.0
        prefix = 1.0
        for step in range(depth):
            row, arity, action, player = rows[step], taken[step, 0], taken[step, 1], taken[step, 2]
            sigma = drawn[step, 0]
            total = 0.0
            for a in range(arity):
                total += max(table[row + a], np.float32(0.0))
            if player != updated or updated < 0:
                weight = reach[player] / prefix
                for a in range(arity):
                    probability = max(table[row + a], np.float32(0.0)) / total if total > 0.0 else 1.0 / arity
                    table[row + arity + a] += weight * probability
            if updated < 0 or player == updated:
                others = 1.0
                for other in range(players):
                    if other != player:
                        others *= reach[other]
                below = 1.0
                for later in range(step + 1, depth):
                    below *= drawn[later, 0]
                won = payoff(nodes, committed, folded, node, ranks[deal], player)
                weight = won * others / sampled * below
                for a in range(arity):
                    table[row + a] += weight * (1.0 - sigma) if a == action else -weight * sigma
            reach[player] *= sigma
            prefix *= drawn[step, 1]
    return visits
