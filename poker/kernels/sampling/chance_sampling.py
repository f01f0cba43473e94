"""Chance-sampling Monte-Carlo CFR (Zinkevich et al. 2007): a deal is drawn, then the whole betting tree is swept.

With h a decision of player i, sigma the current strategy (regret matching) and pi its probabilities of reaching h:

    v_j(h)  = sum_a sigma(a) v_j(h a)                        for every player j
    R(a)   += pi_-i(h) (v_i(h a) - v_i(h)),      S(a) += pi_i(h) sigma(a)

Reach probabilities and S go forward over the breadth-first nodes, values and R backward. All players are updated in
one sweep. What nobody reaches is passed over.

Table as in `external_sampling`. Symbols: M sampling nodes, P players, S streets, A actions, n deals.
"""

import numpy as np

from poker.kernels.registry import entry
from poker.kernels.sampling.nodes import DEALS, DECISION, TREE, Deals, Tree, matched, payoffs, positive_sum
from poker.kernels.types import F64, Reals


@entry(*(f"{TREE}, {table}, {DEALS}, f8_2, f8_2" for table in ("f4_1", "f8_1")))
def chance_sampling(tree: Tree, table: Reals, deals: Deals, reach: F64, values: F64) -> int:
    """One sweep for each deal of a batch; returns nodes reached. `reach` and `values` [M, P] are scratch."""
    nodes, strides = tree.nodes, tree.strides
    buckets, ranks = deals
    size, players = len(nodes), ranks.shape[1]
    visits = 0
    for deal in range(len(ranks)):
        reach[0, :] = 1.0
        for node in range(size):
            if nodes[node].kind != DECISION:
                visits += reach[node].sum() > 0.0
                continue
            arity, first, mover, street = nodes[node].arity, nodes[node].first, nodes[node].player, nodes[node].street
            if reach[node].sum() == 0.0:
                reach[first : first + arity] = 0.0
                continue
            visits += 1
            row = 2 * (nodes[node].row + np.int64(buckets[deal, mover, street]) * strides[mover, street])
            total = positive_sum(table, row, arity)
            for a in range(arity):
                probability = matched(table[row + a], total, arity)
                for player in range(players):
                    reach[first + a, player] = reach[node, player]
                reach[first + a, mover] *= probability
                table[row + arity + a] += reach[node, mover] * probability

        for node in range(size - 1, -1, -1):
            values[node] = 0.0
            if reach[node].sum() == 0.0:
                continue
            if nodes[node].kind != DECISION:
                payoffs(tree, node, ranks[deal], values[node])
                continue
            arity, first, mover, street = nodes[node].arity, nodes[node].first, nodes[node].player, nodes[node].street
            row = 2 * (nodes[node].row + np.int64(buckets[deal, mover, street]) * strides[mover, street])
            total = positive_sum(table, row, arity)
            for a in range(arity):
                probability = matched(table[row + a], total, arity)
                for player in range(players):
                    values[node, player] += probability * values[first + a, player]
            others = 1.0
            for player in range(players):
                if player != mover:
                    others *= reach[node, player]
            for a in range(arity):
                table[row + a] += others * (values[first + a, mover] - values[node, mover])
    return visits
