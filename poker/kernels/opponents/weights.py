"""Hand strength against weighted opponents, and reweighting of their hands after an action.

n is the number of opponents, L of live hands of a board in ascending order and N of completions of the board to five
cards. Weights are relative frequencies of hands. Hands that share a card with one's own never count. `wins[i, j]` and
`losses[i, j]` are the completions on which hand i ends above or below hand j, out of the `total` completions that two
hands allow.
"""

import numpy as np
from numba import njit

from poker.kernels.cards.hands import HAND_CARDS, HANDS_WITH_CARD
from poker.kernels.registry import INTERNAL, entry, kernel
from poker.kernels.types import F32, F64, I16

HS, PPOT, NPOT = range(3)

_FOLD, _CALL, _RAISE = range(3)


@njit(**INTERNAL, fastmath=True)
def _transitions(rank: int, ranks: I16, wins: I16, losses: I16, weights: F32, out: F64) -> None:
    """Sum over opponents' hands [L] into out [5].

    The entries are the weight one is ahead of, tied with and behind. Then come the weighted completions wins - losses
    where behind plus wins where tied, and losses - wins where ahead plus losses where tied.
    """
    ahead = tied = behind = np.float32(0)
    up = down = np.float32(0)
    for j in range(len(ranks)):
        w = weights[j]
        is_ahead, is_tied = np.float32(ranks[j] < rank), np.float32(ranks[j] == rank)
        is_behind = np.float32(1) - is_ahead - is_tied
        won, lost = np.float32(wins[j]), np.float32(losses[j])
        ahead += w * is_ahead
        tied += w * is_tied
        behind += w * is_behind
        up += w * (is_behind * (won - lost) + is_tied * won)
        down += w * (is_ahead * (lost - won) + is_tied * lost)
    out[0], out[1], out[2], out[3], out[4] = ahead, tied, behind, up, down


@kernel
def _measures(sums: F64, total: float, out: F64) -> None:
    """Compute HS, PPot and NPot [3] from the sums of `_transitions`; [POKI] section 5.3, a tie counts one half.

    Behind now: wins + ties / 2 = (total + wins - losses) / 2. Tied now: wins / 2.
    """
    ahead, tied, behind = sums[0], sums[1], sums[2]
    mass = ahead + tied + behind
    out[HS] = (ahead + tied / 2) / mass if mass > 0 else 0.5
    room_up, room_down = behind + tied / 2, ahead + tied / 2
    out[PPOT] = min(1.0, max(0.0, (behind * total + sums[3]) / (2 * total * room_up))) if room_up > 0 else 0.0
    out[NPOT] = min(1.0, max(0.0, (ahead * total + sums[4]) / (2 * total * room_down))) if room_down > 0 else 0.0


@kernel
def _blocked(hand: int, position: I16, out: I16) -> int:
    """Write the places of the live hands that share a card with `hand` to the start of `out`; return how many."""
    count = 0
    for k in range(2):
        for other in HANDS_WITH_CARD[HAND_CARDS[hand, k]]:
            if position[other] >= 0:
                out[count] = position[other]
                count += 1
    return count


@entry("i2_1, i2_1, i2_1, i2_2, i2_2, f8, f4_2")
def measures(hands: I16, position: I16, ranks: I16, wins: I16, losses: I16, total: float, weights: F32) -> F64:
    """Compute HS, PPot and NPot of several hands against each opponent ([POKI] section 5.3).

    Args:
        hands: int16 [h] live hands.
        position: int16 [1326] place of each hand among the live ones, -1 if dead.
        ranks: int16 [L] ranks of the live hands now.
        wins: int16 [h, L] completions on which each hand ends above each live hand.
        losses: int16 [h, L] completions on which it ends below.
        total: number of completions that two hands allow.
        weights: float32 [n, L] weights of the opponents' hands.

    Returns:
        float64 [3, n, h] HS, PPot and NPot.
    """
    out = np.empty((3, len(weights), len(hands)), dtype=np.float64)
    sums, three = np.empty(5, dtype=np.float64), np.empty(3, dtype=np.float64)
    blocked, possible = np.empty(2 * len(HANDS_WITH_CARD), np.int16), weights.copy()
    for h in range(len(hands)):
        i, count = position[hands[h]], _blocked(hands[h], position, blocked)
        for k in range(len(weights)):
            for j in blocked[:count]:
                possible[k, j] = 0
            _transitions(int(ranks[i]), ranks, wins[h], losses[h], possible[k], sums)
            _measures(sums, total, three)
            for j in blocked[:count]:
                possible[k, j] = weights[k, j]
            for m in range(3):
                out[m, k, h] = three[m]
    return out


@kernel
def _ramp(x: float, width: float) -> float:
    """Return 0 below -width, 1 above width, and a linear transition between; a step where the width is 0."""
    if width <= 0:
        return 1.0 if x > 0 else 0.0
    return min(1.0, max(0.0, 0.5 + x / (2 * width)))


@entry("f4_1, f8_1, i8, f8")
def action_likelihood(quantile: F32, probs: F64, action: int, width: float) -> F32:
    """Compute the probability of an observed action with each hand, for a player who looks at the cards.

    A player with action frequencies `probs` raises with the strongest hands and folds the weakest. Transitions are
    linear with half-width `width` and shrink towards the ends, so that the mean over all hands is `probs`.

    Args:
        quantile: float32 [1326] share of weaker hands, negative for impossible hands.
        probs: float64 [3] frequencies of fold, call and raise.
        action: class of the observed action.
        width: half-width of the transitions.

    Returns:
        float32 [1326] probabilities; 0 for impossible hands.
    """
    out = np.zeros(len(quantile), dtype=np.float32)
    fold, bet = probs[_FOLD], probs[_RAISE]
    for hand in range(len(quantile)):
        if quantile[hand] < 0:
            continue
        p_raise = _ramp(quantile[hand] - (1 - bet), min(width, bet, 1 - bet))
        p_fold = _ramp(fold - quantile[hand], min(width, fold, 1 - fold))
        both = max(1.0, p_raise + p_fold)
        if action == _FOLD:
            out[hand] = p_fold / both
        elif action == _RAISE:
            out[hand] = p_raise / both
        else:
            out[hand] = max(0.0, 1 - (p_fold + p_raise) / both)
    return out


@entry("f4_1, f4_1, f8, f8")
def reweight(weights: F32, informed: F32, noise: float, blind: float) -> None:
    """Multiply weights by (1 - noise) * informed + blind, then scale the largest to 1.

    Args:
        weights: float32 [1326] weights of hands; updated.
        informed: float32 [1326] likelihood for a player who looks at the cards.
        noise: probability of ignoring the cards.
        blind: probability of having acted so without looking at the cards.
    """
    largest = np.float32(0)
    for hand in range(len(weights)):
        weights[hand] *= np.float32((1 - noise) * informed[hand] + blind)
        largest = max(largest, weights[hand])
    if largest > 0:
        for hand in range(len(weights)):
            weights[hand] /= largest
