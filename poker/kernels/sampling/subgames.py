"""External-sampling MCCFR of a subgame over ranges: the traverser plays all hands at once, the others one hand each.

The hands of the others are drawn from their ranges, and the rest of the board from the deck. Along a traversal::

    nodes of i        all actions a, for each hand h:    v(h) = sum_a sigma(a | h) v(a, h),   R(a, h) += v(a, h) - v(h)
    nodes of others   one action is drawn from sigma for the drawn hand
    leaves            each remaining player picks a continuation k by regret matching, i for each hand; the values
                      v(k, h) come from one rollout of a blueprint, where the others draw actions and i plays all

The walk is depth first, with or without a rollout, and each decision of i on the path stores the values of its actions.
Average strategies are updated separately from traversals (`accumulate`), over the whole tree and weighted by own reach.

N is the number of nodes of the subgame, T of actions of all its decisions and choices, P of players, H of hands, C of
columns of a table (hands on the first street, buckets on later ones), Z of ends, L of leaves, K of continuations, M of
nodes of the blueprint, S of streets, B of buckets, D of deals and m of the traverser's hands that are possible in a
deal.
"""

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from poker.kernels.registry import entry, inline, kernel
from poker.kernels.rng import next_float
from poker.kernels.sampling.deals import draw_cards
from poker.kernels.sampling.nodes import DECISION, MAX_ACTIONS, TREE, Tree, multiway_payoff
from poker.kernels.types import F32, F64, I8, I32, I64, U8, U64, Bools, Records

LEAF = 4
"""Kind of nodes at which a round ends, in addition to the kinds in `nodes`; `row` is the number of the leaf."""
MAX_LEVELS = 16
"""Largest number of decisions of one player on a path."""
_MAX_FAILED_DRAWS = 10_000
"""Failed draws after which two hands may share a card, for ranges that are almost incompatible."""


class Subgame(NamedTuple):
    """The tree of a subgame; the actions of a decision have the rows of a table from `row` on.

    Attributes:
        nodes: [N] nodes of type NODE.
        committed: int32 [Z, P] chips at the ends.
        folded: bool [Z, P] who has folded there.
        stacks: int32 [P] chips of each player at the start.
    """

    nodes: Records  # [N] of NODE
    committed: I32  # [Z, P]
    folded: Bools  # [Z, P]
    stacks: I32  # [P]
    leaves: "Ends"


class Ends(NamedTuple):
    """The leaves: chips and players there, and the node of the blueprint that represents each.

    Attributes:
        node: int32 [L] node of the blueprint, -1 for none.
        row: int32 [L, P] first row of each player's choice in a table.
        committed: int32 [L, P] chips of each player.
        folded: bool [L, P] who has folded.
        base: int32 [L, P] chips of each player at the blueprint's node.
        absent: bool [L, P] players who are left but have folded in the blueprint; they put in nothing more.
        scale: float64 [L] factor of chips that the blueprint puts in later.
    """

    node: I32  # [L]
    row: I32  # [L, P]
    committed: I32  # [L, P]
    folded: Bools  # [L, P]
    base: I32  # [L, P]
    absent: Bools  # [L, P]
    scale: F64  # [L]


class Rollout(NamedTuple):
    """The blueprint that is rolled out.

    Attributes:
        tree: its sampling tree.
        strategy: [entries] action weights.
        classes: int8 [M] class of the action into each node.
        bias: float32 [3, K] factors by class of action.
        buckets: int32 [S] number of buckets on each street.
    """

    tree: Tree
    strategy: NDArray[Any]
    classes: I8  # [M]
    bias: F32  # [3, K]
    buckets: I32  # [S] how many there are


class Deal(NamedTuple):
    """Several deals on one board.

    Attributes:
        held: int32 [D, P] hands, -1 for players who have folded.
        own: int32 [D] traversers.
        infosets: int32 [S, H] columns of a table on this board.
        ranks: int32 [H] showdown ranks, -1 for hands that the board rules out.
    """

    held: I32  # [D, P] hands, -1 for players who are out
    own: I32  # [D] traversers
    infosets: I32  # [S, H] columns of a table on this board
    ranks: I32  # [H] -1 for hands that the board rules out


class SubgameScratch(NamedTuple):
    """Scratch of one thread.

    Attributes:
        live: int32 [H] possible hands.
        columns: int32 [S, H] their columns.
        places: int32 [H] their places among the ranks of the others.
        value: float32 [H] values of the current node.
        below: float32 [MAX_LEVELS, A, H] values of the actions of each decision on the path.
        sums: float32 [2, H] sums of positive regrets.
        chosen: float32 [K, H] values of the continuations.
        rolled: float32 [MAX_LEVELS, K, H] values of the actions so far, times their probabilities.
        chances: float32 [MAX_LEVELS, K, MAX_ACTIONS, B] probabilities by bucket.
    """

    live: I32  # [H] hands
    columns: I32  # [S, H]
    places: I32  # [H] among the ranks of the others
    value: F32  # [H]
    below: F32  # [MAX_LEVELS, A, H]
    sums: F32  # [2, H]
    chosen: F32  # [K, H]
    rolled: F32  # [MAX_LEVELS, K, H] values of the actions so far, times their probabilities
    chances: F32  # [MAX_LEVELS, K, MAX_ACTIONS, B] probabilities by bucket


def new_scratch(num_hands: int, num_streets: int, actions: int, forms: int, buckets: int) -> SubgameScratch:
    """Create scratch.

    Args:
        num_hands: number of hands H.
        num_streets: number of streets S.
        actions: largest number of actions A of a node.
        forms: number of continuations K.
        buckets: largest number of buckets B of the blueprint.
    """
    live, places = np.zeros((2, num_hands), np.int32)
    columns = np.zeros((num_streets, num_hands), np.int32)
    below = np.zeros((MAX_LEVELS, actions, num_hands), np.float32)
    rolled = np.zeros((MAX_LEVELS, forms, num_hands), np.float32)
    chances = np.zeros((MAX_LEVELS, forms, MAX_ACTIONS, buckets), np.float32)
    value, sums, chosen = (np.zeros(shape, np.float32) for shape in (num_hands, (2, num_hands), (forms, num_hands)))
    return SubgameScratch(live, columns, places, value, below, sums, chosen, rolled, chances)


_ENDS = "Ends(i4_1, i4_2, i4_2, b1_2, i4_2, b1_2, f8_1)"
_SUBGAME = f"Subgame(NODE_1, i4_2, b1_2, i4_1, {_ENDS})"
_ROLLOUT = f"Rollout({TREE}, {{}}, i1_1, f4_2, i4_1)"
_DEAL = "Deal(i4_2, i4_1, i4_2, i4_1)"
_WORK = "SubgameScratch(i4_1, i4_2, i4_1, f4_1, f4_3, f4_2, f4_2, f4_3, f4_4)"


@entry("f8_2, i8_1, i8, i8, i4_1, i4_2, u1_2, u8_1")
def draw_deals(chances: F64, masks: I64, board: int, deck: int, own: I32, held: I32, boards: U8, rng: U64) -> None:
    """Draw hands and board cards for several deals.

    Args:
        chances: float64 [P, H] cumulative ranges; 0 for players who have folded.
        masks: int64 [H] cards of each hand as bits.
        board: bit mask of the cards on the board.
        deck: number of cards in the deck.
        own: int32 [D] traversers, who receive no hand.
        held: int32 [D, P] receives the hands.
        boards: uint8 [D, n] receives the cards to come.
        rng: uint64 [4] random state; advanced.
    """
    last = chances.shape[1] - 1
    for deal in range(len(held)):
        used, player, refused = board, 0, 0
        while player < len(chances):
            held[deal, player] = -1
            if player != own[deal] and chances[player, last] > 0.0:
                drawn = next_float(rng) * chances[player, last]
                low, high = 0, last
                while low < high:
                    middle = (low + high) // 2
                    if chances[player, middle] > drawn:
                        high = middle
                    else:
                        low = middle + 1
                if masks[low] & used and refused < _MAX_FAILED_DRAWS:
                    used, player, refused = board, 0, refused + 1  # restart all, so that no range has priority
                    continue
                held[deal, player] = low
                used |= masks[low]
            player += 1
        draw_cards(rng, deck, used, boards[deal])


@entry(
    *(
        f"{_SUBGAME}, {_ROLLOUT.format(bits)}, f4_2, {_DEAL}, f4_2, i8_1, f8, u8_1, {_WORK}"
        for bits in ("u1_1r", "u2_1r")
    )
)
def traverse(
    game: Subgame,
    rollout: Rollout,
    table: F32,
    deal: Deal,
    prior: F32,
    masks: I64,
    weight: float,
    rng: U64,
    work: SubgameScratch,
) -> int:
    """Traverse each of several deals.

    The last traversal leaves the values of the root in `work.value` [m] for the hands in `work.live`.

    Args:
        rollout: the blueprint that values leaves.
        table: float32 [T, C] regrets; updated.
        prior: float32 [P, H] ranges; the updates of a hand are weighted by it, and hands with weight 0 are skipped.
        masks: int64 [H] cards of each hand as bits.
        weight: weight of this iteration.
        rng: uint64 [4] random state; advanced.

    Returns:
        Number of possible hands m.
    """
    num_players = deal.held.shape[1]
    places, order = np.empty(num_players, np.int32), np.empty(num_players, np.int32)
    count = 0
    for number in range(len(deal.held)):
        own, held = deal.own[number], deal.held[number]
        dead = 0
        for player in range(num_players):
            if held[player] >= 0:
                dead |= masks[held[player]]
        count = 0
        for hand in range(len(masks)):
            if prior[own, hand] > 0.0 and deal.ranks[hand] >= 0 and not masks[hand] & dead:
                work.live[count] = hand
                count += 1
        for street in range(len(work.columns)):
            for i in range(count):
                work.columns[street, i] = deal.infosets[street, work.live[i]]
        distinct = _rank_others(deal.ranks, held, order, places)
        for i in range(count):
            rank, place = deal.ranks[work.live[i]], 0
            while place < distinct and order[place] < rank:
                place += 1
            work.places[i] = 2 * place + (1 if place < distinct and order[place] == rank else 0)
        _traverse(game, rollout, table, deal, held, own, prior, weight, places, count, rng, work)
    return count


@inline
def _rank_others(ranks: I32, held: I32, order: I32, places: I32) -> int:
    """Write the different ranks of the drawn hands to `order`, ascending, and 2 i + 1 to `places` [P] for rank i.

    Returns how many there are. A hand between two of them has an even place.
    """
    distinct = 0
    for player in range(len(held)):
        places[player] = -1
        if held[player] >= 0:
            rank, at = ranks[held[player]], 0
            while at < distinct and order[at] < rank:
                at += 1
            if at == distinct or order[at] != rank:
                for later in range(distinct, at, -1):
                    order[later] = order[later - 1]
                order[at] = rank
                distinct += 1
    for player in range(len(held)):
        if held[player] >= 0:
            at = 0
            while order[at] != ranks[held[player]]:
                at += 1
            places[player] = 2 * at + 1
    return distinct


@kernel
def _traverse(
    game: Subgame,
    rollout: Rollout,
    table: F32,
    deal: Deal,
    held: I32,
    own: int,
    prior: F32,
    weight: float,
    places: I32,
    count: int,
    rng: U64,
    work: SubgameScratch,
) -> None:
    nodes = game.nodes
    value = work.value
    at, taken = np.empty(MAX_LEVELS, np.int32), np.empty(MAX_LEVELS, np.int32)
    paid = np.empty(2 * len(held) + 1)
    level, node = -1, 0
    while True:
        kind, player = nodes[node].kind, nodes[node].player
        if kind == DECISION:
            if player == own:
                level += 1
                at[level], taken[level] = node, 0
                node = nodes[node].first
            else:
                column = deal.infosets[nodes[node].street, held[player]]
                node = nodes[node].first + _drawn(table, nodes[node].row, nodes[node].arity, column, rng)
            continue
        end = nodes[node].row
        if kind != LEAF:
            _payoffs(game.committed[end], game.folded[end], places, own, paid)
            for i in range(count):
                value[i] = paid[work.places[i]]
        elif game.leaves.node[end] < 0:
            _payoffs(game.leaves.committed[end], game.leaves.folded[end], places, own, paid)
            for i in range(count):
                value[i] = paid[work.places[i]]
        else:
            _roll_out(game, rollout, table, deal, held, own, end, places, count, rng, work)
            columns = work.columns[nodes[0].street]
            row, forms = game.leaves.row[end, own], rollout.bias.shape[1]
            _learn(table, row, forms, work.chosen, columns, prior[own], weight, count, work)
        while level >= 0:
            for i in range(count):
                work.below[level, taken[level], i] = value[i]
            taken[level] += 1
            if taken[level] < nodes[at[level]].arity:
                node = nodes[at[level]].first + taken[level]
                break
            decision = nodes[at[level]]
            columns = work.columns[decision.street]
            _learn(table, decision.row, decision.arity, work.below[level], columns, prior[own], weight, count, work)
            level -= 1
        if level < 0:
            return


@kernel
def _drawn(table: F32, row: int, arity: int, column: int, rng: U64) -> int:
    """Return an action drawn by regret matching."""
    total = np.float32(0.0)
    for a in range(arity):
        total += max(table[row + a, column], np.float32(0.0))
    threshold = next_float(rng)
    if total <= 0.0:
        return min(arity - 1, int(threshold * arity))
    drawn, left = 0, threshold * total
    for a in range(arity):
        if table[row + a, column] > 0.0 and left >= 0.0:
            drawn = a
            left -= table[row + a, column]
    return drawn


@kernel
def _learn(
    table: F32,
    row: int,
    arity: int,
    below: F32,
    columns: I32,
    prior: F32,
    weight: float,
    count: int,
    work: SubgameScratch,
) -> None:
    """Set work.value to the mean of `below` [A, m] under regret matching, and update the regrets."""
    value, total, plain = work.value, work.sums[0], work.sums[1]
    for i in range(count):
        value[i] = total[i] = plain[i] = 0.0
    for a in range(arity):
        for i in range(count):
            regret = max(table[row + a, columns[i]], np.float32(0.0))
            total[i] += regret
            value[i] += regret * below[a, i]
            plain[i] += below[a, i]
    share = np.float32(1.0) / np.float32(arity)
    for i in range(count):
        value[i] = value[i] / total[i] if total[i] > 0.0 else plain[i] * share
    factor = np.float32(weight)
    for a in range(arity):
        for i in range(count):
            table[row + a, columns[i]] += factor * prior[work.live[i]] * (below[a, i] - value[i])


@kernel
def _payoffs(committed: I32, folded: Bools, places: I32, own: int, paid: F64) -> None:
    """Set `paid` to the net chips of `own` by the place of its hand."""
    for place in range(len(paid)):
        places[own] = place
        paid[place] = multiway_payoff(committed, folded, places, own)


@kernel
def _roll_out(
    game: Subgame,
    rollout: Rollout,
    table: F32,
    deal: Deal,
    held: I32,
    own: int,
    leaf: int,
    places: I32,
    count: int,
    rng: U64,
    work: SubgameScratch,
) -> None:
    """Set work.chosen [K, m] to the values of the continuations of `own` at a leaf, given the choices of the others."""
    nodes, strides, committed, folded = rollout.tree
    leaves, strategy, bias = game.leaves, rollout.strategy, rollout.bias
    forms, players = bias.shape[1], len(held)
    sums, chances = work.rolled, work.chances
    picked = np.zeros(players, np.int32)
    for player in range(players):
        if held[player] >= 0 and not leaves.folded[leaf, player]:
            picked[player] = _drawn(table, leaves.row[leaf, player], forms, held[player], rng)
    at, taken = np.empty(MAX_LEVELS, np.int32), np.empty(MAX_LEVELS, np.int32)
    chips, out = np.empty(players, np.int32), np.empty(players, np.bool_)
    paid = np.empty(2 * players + 1)
    level, node = -1, leaves.node[leaf]
    while True:
        player, street, arity = nodes[node].player, nodes[node].street, nodes[node].arity
        if nodes[node].kind == DECISION:
            first = nodes[node].first
            if player == own:
                level += 1
                at[level], taken[level] = node, 0
                for form in range(forms):
                    for i in range(count):
                        sums[level, form, i] = 0.0
                for bucket in range(rollout.buckets[street]):
                    row = nodes[node].row + np.int64(bucket) * strides[player, street]
                    for form in range(forms):
                        total = np.float32(0.0)
                        for a in range(arity):
                            total += bias[rollout.classes[first + a], form] * strategy[row + a]
                        for a in range(arity):
                            weighted = bias[rollout.classes[first + a], form] * strategy[row + a]
                            chances[level, form, a, bucket] = weighted / total
                node = first
                continue
            bucket = deal.infosets[street, held[player]] if held[player] >= 0 else 0
            row = nodes[node].row + np.int64(bucket) * strides[player, street]
            total = np.float32(0.0)
            for a in range(arity):
                total += strategy[row + a] * bias[rollout.classes[first + a], picked[player]]
            left, drawn = next_float(rng) * total, 0
            for a in range(arity):
                chance = strategy[row + a] * bias[rollout.classes[first + a], picked[player]]
                if chance > 0.0 and left >= 0.0:
                    drawn = a
                    left -= chance
            node = first + drawn
            continue
        end = nodes[node].row
        for other in range(players):
            added = committed[end, other] - leaves.base[leaf, other]
            chips[other] = leaves.committed[leaf, other]
            if not leaves.absent[leaf, other] and added > 0:
                chips[other] += np.int32(added * leaves.scale[leaf] + 0.5)
                if chips[other] > game.stacks[other] or committed[end, other] >= game.stacks[other]:
                    chips[other] = game.stacks[other]
            gone = folded[end, other] and not leaves.absent[leaf, other]
            out[other] = leaves.folded[leaf, other] or gone
        _payoffs(chips, out, places, own, paid)
        if level < 0:
            for form in range(forms):
                for i in range(count):
                    work.chosen[form, i] = paid[work.places[i]]
            return
        for i in range(count):
            work.value[i] = paid[work.places[i]]
        is_end = True
        while level >= 0:
            parent = at[level]
            columns = work.columns[nodes[parent].street]
            for form in range(forms):
                chance, out_of = chances[level, form, taken[level]], sums[level, form]
                worth = work.value if is_end else sums[level + 1, form]
                for i in range(count):
                    out_of[i] += chance[columns[i]] * worth[i]
            taken[level] += 1
            if taken[level] < nodes[parent].arity:
                node = nodes[parent].first + taken[level]
                break
            is_end = False
            level -= 1
        if level < 0:
            for form in range(forms):
                for i in range(count):
                    work.chosen[form, i] = sums[0, form, i]
            return


@entry(f"{_SUBGAME}, f4_2, f4_2, i8, i4_2, f4_1, f8, f4_2")
def accumulate(
    game: Subgame, table: F32, averages: F32, player: int, infosets: I32, prior: F32, weight: float, reach: F32
) -> None:
    """Add the current strategy of a player to its average.

    Args:
        table: float32 [T, C] regrets.
        averages: float32 [T, C] strategy sums; updated.
        infosets: int32 [S, H] columns of a table on the board.
        prior: float32 [H] range of the player.
        weight: weight of the strategy.
        reach: float32 [N, H] scratch.
    """
    nodes = game.nodes
    hands = len(prior)
    source = np.zeros(len(nodes), np.int32)
    total = np.empty(hands, np.float32)
    reach[0] = prior
    for node in range(len(nodes)):
        if nodes[node].kind != DECISION:
            continue
        first, row, arity, mine = nodes[node].first, nodes[node].row, nodes[node].arity, reach[source[node]]
        if nodes[node].player != player:
            for a in range(arity):
                source[first + a] = source[node]
            continue
        columns = infosets[nodes[node].street]
        for hand in range(hands):
            total[hand] = 0.0
        for a in range(arity):
            for hand in range(hands):
                total[hand] += max(table[row + a, max(columns[hand], 0)], np.float32(0.0))
        share = np.float32(1.0) / np.float32(arity)
        factor = np.float32(weight)
        for a in range(arity):
            source[first + a] = first + a
            for hand in range(hands):
                column = max(columns[hand], 0)
                chance = max(table[row + a, column], np.float32(0.0)) / total[hand] if total[hand] > 0.0 else share
                gone = columns[hand] < 0
                reach[first + a, hand] = np.float32(0.0) if gone else mine[hand] * chance
                averages[row + a, column] += factor * reach[first + a, hand]
