"""Outcome-sampling Monte Carlo CFR (Lanctot et al. 2009): an episode plays one deal to its end and updates the path.

Let h be a decision of player i on the path, a* the action taken there, z the end, q the sampling probability of the
episode and pi the probability under the current strategy sigma (regret matching)::

    W       = u_i(z) pi_-i(h) / q(z)
    R(a*)  += W pi(h a* -> z) (1 - sigma(a*)),      R(b) -= W pi(h -> z) for every other action b
    S(b)   += pi_i(h) sigma(b) / q(h)

Parallel form: every player draws from e * uniform + (1 - e) sigma, and all of them update R and S. Alternating form:
one player at a time (number of the deal modulo P) explores in this way and updates R. The others draw from sigma, or
explore as well, and update S.

The table is as in `external_sampling`. M is the number of sampling nodes, P of players, S of streets, A of actions and
n of deals.
"""

import numpy as np

from poker.kernels.registry import entry
from poker.kernels.rng import next_float
from poker.kernels.sampling.nodes import DEALS, DECISION, TREE, Deals, Tree, matched, payoffs, positive_sum
from poker.kernels.types import U64, Reals

MAX_DEPTH = 256
"""Longest path of decisions."""


@entry(*(f"{TREE}, {table}, f8, b1, b1, i8, {DEALS}, u8_1" for table in ("f4_1", "f8_1")))
def outcome_sampling(
    tree: Tree, table: Reals, explore: float, all_explore: bool, alternating: bool, first: int, deals: Deals, rng: U64
) -> int:
    """Play one episode for each deal of a batch.

    Args:
        tree: the sampling tree.
        table: [entries] regrets and strategy sums; updated.
        explore: e, the probability of a uniformly random action.
        all_explore: let all players explore in the alternating form too.
        alternating: use the alternating form.
        first: number of the first deal.
        deals: n deals.
        rng: uint64 [4] random state; advanced.

    Returns:
        Number of nodes visited.
    """
    nodes, strides = tree.nodes, tree.strides
    buckets, ranks = deals
    players = ranks.shape[1]
    rows = np.empty(MAX_DEPTH, dtype=np.int64)
    taken = np.empty((MAX_DEPTH, 3), dtype=np.int64)  # arity, action, player
    drawn = np.empty((MAX_DEPTH, 2))  # sigma(a*), sum of the positive regrets
    before = np.empty((MAX_DEPTH, 3))  # up to the decision: q, pi_i, pi_-i
    reach = np.empty(players)
    results = np.empty(players)
    visits = 0
    for deal in range(len(ranks)):
        updated = (first + deal) % players if alternating else -1
        node, depth, sampled = 0, 0, 1.0
        reach[:] = 1.0
        while nodes[node].kind == DECISION:
            player, street, arity = nodes[node].player, nodes[node].street, nodes[node].arity
            row = 2 * (nodes[node].row + np.int64(buckets[deal, player, street]) * strides[player, street])
            total = positive_sum(table, row, arity)
            share = explore if all_explore or updated < 0 or player == updated else 0.0
            threshold = next_float(rng)
            action, sigma, chance = 0, 0.0, 0.0
            for a in range(arity):
                probability = matched(table[row + a], total, arity)
                mixed = share / arity + (1.0 - share) * probability
                if mixed > 0.0 and threshold >= 0.0:
                    action, sigma, chance = a, probability, mixed
                    threshold -= mixed
            others = 1.0
            for other in range(players):
                if other != player:
                    others *= reach[other]
            rows[depth] = row
            taken[depth, 0], taken[depth, 1], taken[depth, 2] = arity, action, player
            drawn[depth, 0], drawn[depth, 1] = sigma, total
            before[depth, 0], before[depth, 1], before[depth, 2] = sampled, reach[player], others
            sampled *= chance
            reach[player] *= sigma
            depth += 1
            node = nodes[node].first + action
        visits += depth + 1

        payoffs(tree, node, ranks[deal], results)
        below = 1.0
        for step in range(depth - 1, -1, -1):
            row, arity, action, player = rows[step], taken[step, 0], taken[step, 1], taken[step, 2]
            sigma, total = drawn[step, 0], drawn[step, 1]
            if player != updated or updated < 0:
                weight = before[step, 1] / before[step, 0]
                for a in range(arity):
                    probability = matched(table[row + a], total, arity)
                    table[row + arity + a] += weight * probability
            if updated < 0 or player == updated:
                weight = results[player] * before[step, 2] / sampled * below
                for a in range(arity):
                    table[row + a] += weight * (1.0 - sigma) if a == action else -weight * sigma
            below *= sigma
    return visits
