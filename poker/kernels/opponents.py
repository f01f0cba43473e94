"""Hand strength against weighted opponents, re-weighting of their hands after an action, and play-outs with them.

Letters: P players, n opponents, L live hands of a board in ascending order, N completions of the board to five cards.
Weights are relative frequencies of hands; hands that share a card with one's own never count. `wins[i, j]` and
`losses[i, j]` are completions of the board on which hand i ends above or below hand j, of `total` completions that two
hands allow.

Play-outs are for selective sampling [POKI] section 5.6, in limit hold'em with stacks that cover every raise. A trial
draws a hand for every opponent still in and a completion of the board, and plays the rest of the hand twice from there:
after one's own call and after one's own raise. Both lines use the same cards, and the same random number for the k-th
action of a player on a street. Hands are positions among the live ones; chips are integers.
"""

import numpy as np
from numba import njit
from numpy.typing import NDArray

from poker.kernels.hands import HAND_CARDS, HANDS_WITH_CARD
from poker.kernels.rng import next_below, next_float

HS, PPOT, NPOT = range(3)
STREET, TO_ACT, NUM_RAISES, HIGHEST, IN = range(5)
"""Fields of the public state [5] of a play-out: `IN` counts players who have not folded."""
CALLS, RAISES, CALLS_2, RAISES_2, GAIN_2, TRIALS = range(6)
"""Sums over trials: values of the two lines, their squares, the square of their difference, and their number."""

_BLOCKED = np.iinfo(np.int16).max
_ACTIONS = 6
_HAND_TRIES = 100
_BOARD_TRIES = 1000
_FOLD, _CALL, _RAISE = range(3)


@njit(cache=True, nogil=True, fastmath=True)
def _transitions(
    rank: int,
    ranks: NDArray[np.int16],
    wins: NDArray[np.int16],
    losses: NDArray[np.int16],
    weights: NDArray[np.float32],
    out: NDArray[np.float64],
) -> None:
    """Sums over opponents' hands [L] into out [5]: the weight one is ahead of, tied with and behind; the weighted
    completions wins - losses where behind plus wins where tied; losses - wins where ahead plus losses where tied.
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


@njit(cache=True, nogil=True)
def _measures(sums: NDArray[np.float64], total: float, out: NDArray[np.float64]) -> None:
    """HS, PPot and NPot [3] from the sums of `_transitions`. [POKI] section 5.3: a tie counts one half.

    Behind now: wins + ties / 2 = (total + wins - losses) / 2. Tied now: wins / 2.
    """
    ahead, tied, behind = sums[0], sums[1], sums[2]
    mass = ahead + tied + behind
    out[HS] = (ahead + tied / 2) / mass if mass > 0 else 0.5
    room_up, room_down = behind + tied / 2, ahead + tied / 2
    out[PPOT] = min(1.0, max(0.0, (behind * total + sums[3]) / (2 * total * room_up))) if room_up > 0 else 0.0
    out[NPOT] = min(1.0, max(0.0, (ahead * total + sums[4]) / (2 * total * room_down))) if room_down > 0 else 0.0


@njit(cache=True, nogil=True)
def _without_cards_of(
    hand: int, position: NDArray[np.int16], weights: NDArray[np.float32], out: NDArray[np.float32]
) -> None:
    """Copy into `out` [L] what `weights` [L] holds, with 0 for the hands that share a card with `hand`."""
    out[:] = weights
    for k in range(2):
        for other in HANDS_WITH_CARD[HAND_CARDS[hand, k]]:
            if position[other] >= 0:
                out[position[other]] = 0


@njit(cache=True, nogil=True)
def measures(
    hands: NDArray[np.int16],
    position: NDArray[np.int16],
    ranks: NDArray[np.int16],
    wins: NDArray[np.int16],
    losses: NDArray[np.int16],
    total: float,
    weights: NDArray[np.float32],
) -> NDArray[np.float64]:
    """[3, n, h] HS, PPot and NPot of h live hands against n opponents with weights [n, L].

    `position` [1326] is the place of each hand among the live ones, -1 if dead; `wins` and `losses` are [h, L].
    """
    out = np.empty((3, len(weights), len(hands)), dtype=np.float64)
    sums, three = np.empty(5, dtype=np.float64), np.empty(3, dtype=np.float64)
    mine = np.empty(len(ranks), dtype=np.float32)
    for h in range(len(hands)):
        i = position[hands[h]]
        for k in range(len(weights)):
            _without_cards_of(hands[h], position, weights[k], mine)
            _transitions(int(ranks[i]), ranks, wins[h], losses[h], mine, sums)
            _measures(sums, total, three)
            for m in range(3):
                out[m, k, h] = three[m]
    return out


@njit(cache=True, nogil=True)
def _ramp(x: float, width: float) -> float:
    """0 below -width, 1 above width, linear between; a step where the width is 0."""
    if width <= 0:
        return 1.0 if x > 0 else 0.0
    return min(1.0, max(0.0, 0.5 + x / (2 * width)))


@njit(cache=True, nogil=True)
def triple(quantile: float, probs: NDArray[np.float64], width: float, noise: float, out: NDArray[np.float64]) -> None:
    """[3] probabilities of fold, call and raise of a hand, where `quantile` of all hands are weaker.

    A player whose habits are `probs` raises with the strongest of all hands and folds the weakest, with linear
    transitions of half-width `width` that shrink towards the ends, so that the mean over all hands is `probs`. With
    probability `noise` he acts without looking at his cards.
    """
    fold, bet = probs[_FOLD], probs[_RAISE]
    p_raise = _ramp(quantile - (1 - bet), min(width, bet, 1 - bet))
    p_fold = _ramp(fold - quantile, min(width, fold, 1 - fold))
    both = max(1.0, p_raise + p_fold)
    out[_FOLD] = (1 - noise) * p_fold / both + noise * fold
    out[_RAISE] = (1 - noise) * p_raise / both + noise * bet
    out[_CALL] = max(0.0, 1 - out[_FOLD] - out[_RAISE])


@njit(cache=True, nogil=True)
def action_likelihood(
    quantile: NDArray[np.float32], probs: NDArray[np.float64], action: int, width: float
) -> NDArray[np.float32]:
    """[1326] probability of the observed action given each hand, for a player who looks at his cards; see `triple`.

    `quantile` [1326] is the share of weaker hands, negative for hands that are impossible.
    """
    out = np.zeros(len(quantile), dtype=np.float32)
    three = np.empty(3, dtype=np.float64)
    for hand in range(len(quantile)):
        if quantile[hand] >= 0:
            triple(quantile[hand], probs, width, 0.0, three)
            out[hand] = three[action]
    return out


@njit(cache=True, nogil=True)
def reweight(weights: NDArray[np.float32], informed: NDArray[np.float32], noise: float, blind: float) -> None:
    """Multiply weights [1326] by (1 - noise) * informed + blind, then scale them so that the largest is 1.

    `blind` is the probability to have acted so without looking at the cards.
    """
    largest = np.float32(0)
    for hand in range(len(weights)):
        weights[hand] *= np.float32((1 - noise) * informed[hand] + blind)
        largest = max(largest, weights[hand])
    if largest > 0:
        for hand in range(len(weights)):
            weights[hand] /= largest


@njit(cache=True, nogil=True)
def _next_player(start: int, waiting: NDArray[np.bool_]) -> int:
    P = len(waiting)
    for step in range(P):
        player = (start + step) % P
        if waiting[player]:
            return player
    return -1


@njit(cache=True, nogil=True)
def apply_class(
    action: int,
    public: NDArray[np.int64],
    committed: NDArray[np.int64],
    folded: NDArray[np.bool_],
    waiting: NDArray[np.bool_],
    raise_sizes: NDArray[np.int64],
    max_raises: NDArray[np.int64],
    first_player: NDArray[np.int64],
) -> None:
    """The player to act folds, calls or raises (a raise over the cap is a call); TO_ACT is -1 when the hand is over.

    The rules are those of `poker.betting.Betting` for a limit game in which nobody is all-in.
    """
    player, street = public[TO_ACT], public[STREET]
    waiting[player] = False
    if action == _FOLD:
        folded[player] = True
        public[IN] -= 1
        if public[IN] == 1:
            public[TO_ACT] = -1
            return
    elif action == _CALL or public[NUM_RAISES] >= max_raises[street]:
        committed[player] = public[HIGHEST]
    else:
        public[HIGHEST] += raise_sizes[street]
        committed[player] = public[HIGHEST]
        public[NUM_RAISES] += 1
        for other in range(len(waiting)):
            waiting[other] = not folded[other] and other != player
    public[TO_ACT] = _next_player(player + 1, waiting)
    if public[TO_ACT] < 0 and street + 1 < len(raise_sizes):
        public[STREET] += 1
        public[NUM_RAISES] = 0
        for other in range(len(waiting)):
            waiting[other] = not folded[other]
        public[TO_ACT] = _next_player(first_player[street + 1], waiting)


@njit(cache=True, nogil=True)
def _modelled_class(
    public: NDArray[np.int64],
    owed: int,
    size: int,
    quantile: float,
    habits: NDArray[np.float64],
    width: float,
    noise: float,
    u: float,
    three: NDArray[np.float64],
) -> int:
    """What a player with these habits [12, 3] does with a hand of this strength, drawn with the uniform number `u`."""
    level = min(2, (owed + size - 1) // size)
    triple(quantile, habits[public[STREET] * 3 + level], width, noise, three)
    if owed > 0 and u < three[_FOLD]:
        return _FOLD
    return _RAISE if u >= 1 - three[_RAISE] else _CALL


@njit(cache=True, nogil=True)
def _line_value(
    action: int,
    hero: int,
    public: NDArray[np.int64],
    committed: NDArray[np.int64],
    folded: NDArray[np.bool_],
    waiting: NDArray[np.bool_],
    raise_sizes: NDArray[np.int64],
    max_raises: NDArray[np.int64],
    first_player: NDArray[np.int64],
    strength: NDArray[np.float32],
    ranks: NDArray[np.int16],
    habits: NDArray[np.float64],
    width: float,
    noise: NDArray[np.float64],
    uniforms: NDArray[np.float64],
) -> float:
    """Chips that `hero`, to act, wins from here on with `action` when the models play the rest; changes the state.

    `strength` [4, P] and `ranks` [P] are of the hands drawn, on each street and at the showdown.
    """
    before = committed[hero]
    taken = np.zeros(uniforms.shape[:2], dtype=np.int64)
    three = np.empty(3, dtype=np.float64)
    while True:
        taken[public[STREET], public[TO_ACT]] += 1
        apply_class(action, public, committed, folded, waiting, raise_sizes, max_raises, first_player)
        if folded[hero]:
            return float(before - committed[hero])
        player, street = public[TO_ACT], public[STREET]
        if player < 0:
            break
        owed, size = public[HIGHEST] - committed[player], raise_sizes[street]
        u = uniforms[street, player, min(taken[street, player], _ACTIONS - 1)]
        quantile = float(strength[street, player])
        action = _modelled_class(public, owed, size, quantile, habits[player], width, noise[player], u, three)
    best, winners = np.int16(-1), 0
    for player in range(len(committed)):
        if not folded[player]:
            winners = 1 if ranks[player] > best else winners + (ranks[player] == best)
            best = max(best, ranks[player])
    share = committed.sum() / winners if ranks[hero] == best else 0.0
    return share - float(committed[hero] - before)


@njit(cache=True, nogil=True)
def _draw_hand(
    cumulative: NDArray[np.float32], masks: NDArray[np.uint64], used: np.uint64, rng: NDArray[np.uint64]
) -> np.int64:
    """Position of a hand drawn from cumulative weights [L] without the cards `used`; -1 if none was found."""
    L = len(cumulative)
    for attempt in range(_HAND_TRIES):
        if attempt < _HAND_TRIES // 2 and cumulative[L - 1] > 0:
            drawn = np.float32(next_float(rng)) * cumulative[L - 1]
            hand = np.int64(min(np.searchsorted(cumulative, drawn, side="right"), L - 1))
        else:
            hand = np.int64(next_below(rng, L))
        if masks[hand] & used == 0:
            return hand
    return np.int64(-1)


@njit(cache=True, nogil=True)
def _draw_deal(
    hero: int,
    folded: NDArray[np.bool_],
    cumulative: NDArray[np.float32],
    masks: NDArray[np.uint64],
    ranks: NDArray[np.int16],
    rng: NDArray[np.uint64],
    hands: NDArray[np.int64],
) -> np.int64:
    """Draw a hand into `hands` [P] for everybody else still in, and a completion; its row of `ranks`, or -1 to skip.

    The order in which players draw starts anywhere, so that card removal favours nobody.
    """
    P = len(folded)
    used = masks[hands[hero]]
    start = np.int64(next_below(rng, P))
    for step in range(P):
        player = (start + step) % P
        if player == hero or folded[player]:
            continue
        hand = _draw_hand(cumulative[player], masks, used, rng)
        if hand < 0:
            return np.int64(-1)
        hands[player] = hand
        used |= masks[hand]
    for _ in range(_BOARD_TRIES):
        row = np.int64(next_below(rng, len(ranks)))
        free = True
        for other in range(P):
            if not folded[other] and ranks[row, hands[other]] == _BLOCKED:
                free = False
                break
        if free:
            return row
    return np.int64(-1)


@njit(cache=True, nogil=True)
def sample_lines(
    trials: int,
    hero: int,
    hand: int,
    public: NDArray[np.int64],
    committed: NDArray[np.int64],
    folded: NDArray[np.bool_],
    waiting: NDArray[np.bool_],
    raise_sizes: NDArray[np.int64],
    max_raises: NDArray[np.int64],
    first_player: NDArray[np.int64],
    cumulative: NDArray[np.float32],
    masks: NDArray[np.uint64],
    now: NDArray[np.float32],
    turn: NDArray[np.float32],
    river: NDArray[np.float32],
    ranks: NDArray[np.int16],
    boards: NDArray[np.uint8],
    habits: NDArray[np.float64],
    width: float,
    noise: NDArray[np.float64],
    rng: NDArray[np.uint64],
    sums: NDArray[np.float64],
) -> None:
    """Add `trials` trials to `sums` [6] for `hero`, to act with the live hand `hand`.

    `cumulative` [P, L] are running sums of the weight tables, `habits` [P, 12, 3] the modelled frequencies, `noise` [P]
    the shares of blind actions. Strengths are shares of weaker hands: `now` [L], `turn` [52, L] by turn
    card, `river` [N, L] by completion. `ranks` [N, L] decide the showdown, `boards` [N, 5] are the completions.
    """
    P = len(committed)
    hands = np.zeros(P, dtype=np.int64)
    hands[hero] = hand
    strength = np.zeros((4, P), dtype=np.float32)
    uniforms = np.empty((4, P, _ACTIONS), dtype=np.float64)
    at_showdown = np.empty(P, dtype=np.int16)
    root = public[STREET]
    for _ in range(trials):
        row = _draw_deal(hero, folded, cumulative, masks, ranks, rng, hands)
        if row < 0:
            continue
        turn_card = boards[row, 3 + np.int64(next_below(rng, 2))]
        for player in range(P):
            strength[root, player] = now[hands[player]]
            if root < 2:
                strength[2, player] = turn[turn_card, hands[player]]
            if root < 3:
                strength[3, player] = river[row, hands[player]]
            at_showdown[player] = ranks[row, hands[player]]
            for street in range(root, 4):
                for k in range(_ACTIONS):
                    uniforms[street, player, k] = next_float(rng)
        value = np.empty(2, dtype=np.float64)
        for line in range(2):
            value[line] = _line_value(
                _CALL + line,
                hero,
                public.copy(),
                committed.copy(),
                folded.copy(),
                waiting.copy(),
                raise_sizes,
                max_raises,
                first_player,
                strength,
                at_showdown,
                habits,
                width,
                noise,
                uniforms,
            )
        sums[CALLS] += value[0]
        sums[RAISES] += value[1]
        sums[CALLS_2] += value[0] ** 2
        sums[RAISES_2] += value[1] ** 2
        sums[GAIN_2] += (value[1] - value[0]) ** 2
        sums[TRIALS] += 1
