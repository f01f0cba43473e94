"""Play-outs of limit hold'em for selective sampling ([POKI] section 5.6), in games whose stacks cover every raise.

P is the number of players, L of live hands of a board in ascending order, N of completions of the board to five cards,
M of particles of a player and B of bins of strength. Hands are positions among the live ones, and chips are integers.

A trial draws a hand for every remaining opponent and a completion of the board. It plays the rest of the hand twice:
after one's own call and after one's own raise. Both lines use the same cards, and the same random number for the k-th
action of a player on a street.

Opponents act by `responses`, given their cards. One's own later actions follow a formula player, who does not know
them. Each opponent's possible hands are M weighted particles, whose weights are multiplied by the likelihood of each
action. The probability of beating all of them is the input to `style_triple`.
"""

import math
from typing import NamedTuple

import numpy as np
from numba import njit

from poker.kernels.registry import KERNEL, entry, kernel
from poker.kernels.rng import next_below, next_float
from poker.kernels.types import F32, F64, I16, I64, U8, U64, Bools

STREET, TO_ACT, NUM_RAISES, HIGHEST, IN = range(5)
"""Fields of `LimitHand.public`; `IN` counts players who have not folded."""
CALLS, RAISES, CALLS_2, RAISES_2, GAIN_2, TRIALS = range(6)
"""Sums over trials: values of the two lines, their squares, the square of their difference, and their number."""


class LimitHand(NamedTuple):
    """A hand being played.

    Attributes:
        public: int64 [5] public state.
        committed: int64 [P] chips of each player.
        folded: bool [P] who has folded.
        waiting: bool [P] who still has to act.
    """

    public: I64
    committed: I64
    folded: Bools
    waiting: Bools


class Limits(NamedTuple):
    """The betting rules of each street.

    Attributes:
        raise_sizes: int64 [4] chips that a raise adds.
        max_raises: int64 [4] largest number of raises.
        first_player: int64 [4] player who acts first.
    """

    raise_sizes: I64
    max_raises: I64
    first_player: I64


class Style(NamedTuple):
    """The playing style of a formula player; each value is from 0 to 1.

    Attributes:
        tightness: how strong hands must be to enter and to continue.
        aggressiveness: how often a played hand is raised.
        bluffing: how often a worthless hand is bet.
    """

    tightness: float
    aggressiveness: float
    bluffing: float


class LiveHands(NamedTuple):
    """The live hands of a board and their strength.

    Attributes:
        masks: uint64 [L] cards as bits.
        now: float32 [L] share of weaker hands now.
        turn: float32 [52, L] share of weaker hands by turn card.
        river: float32 [N, L] share of weaker hands by completion.
        ranks: int16 [N, L] showdown ranks from 0 on, 255 where a hand and a completion share a card.
        boards: uint8 [N, 5] the completions.
    """

    masks: U64
    now: F32
    turn: F32
    river: F32
    ranks: I16
    boards: U8


class Trial(NamedTuple):
    """The random draws of a trial.

    Attributes:
        uniforms: float64 [4, P, actions] random numbers.
        strength: float32 [4, P] strength of the players' hands on each street.
        ranks: int16 [P] their ranks at the showdown.
        theirs: float32 [4, P, M] strength of the particles (ranks on the river).
        bins: uint8 [4, P, M] bin of strength of the particles.
    """

    uniforms: F64
    strength: F32
    ranks: I16
    theirs: F32
    bins: U8


_BLOCKED = 255
_ACTIONS = 6
_HAND_TRIES = 100
_BOARD_TRIES = 1000
_FOLD, _CALL, _RAISE = range(3)
_RIVER = 3

_WIDTH = 0.06
"""Half-width of the soft thresholds of `style_triple`."""
_SPREAD = 0.16
"""Before the river, a hand whose share of weaker hands is larger by q ends ahead with probability
1 / (1 + exp(-q / _SPREAD)). Fitted by least squares over pairs of hands on six turn boards; the error is 0.16."""

_USUAL_PRICE = 10.0
"""Usual ratio of chips in the pot to chips to call. The odds of folding are inversely proportional to this ratio. On
74,800 decisions of people facing a bet after the flop, the logit of folding falls by 0.7 to 1.6 per unit of its
logarithm, depending on the context."""


@kernel
def _ramp(x: float, width: float) -> float:
    """Return 0 below -width, 1 above width, and a linear transition between."""
    return min(1.0, max(0.0, 0.5 + x / (2 * width)))


_STYLE = "Style(f8, f8, f8)"


@entry(f"f8, f8, f8, i8, i8, i8, i8, i8, {_STYLE}")
def style_triple(
    ehs: float, win: float, ppot: float, pot: int, to_call: int, size: int, streets_left: int, others: int, style: Style
) -> tuple[float, float, float]:
    """Return fold, call and raise probabilities of a formula player after the flop.

    This is [POKI] section 5.5, with soft thresholds that depend on the style.

    Args:
        ehs: effective hand strength.
        win: probability of being ahead of the others at the end.
        ppot: positive potential.
        pot: chips in the pot.
        to_call: chips to call.
        size: chips of a bet.
        streets_left: streets after this one.
        others: number of opponents left.
        style: the playing style.
    """
    tightness, aggressiveness, bluffing = style
    eager = 0.4 * (aggressiveness - 0.5)
    level = min(2, (to_call + size - 1) // size)
    threshold = 0.52 if level == 0 else 0.64 if level == 1 else 0.72
    bet = _ramp(ehs - (threshold - eager), _WIDTH)
    if level == 0:
        draw = aggressiveness if ppot >= 2 * size / (pot + 4 * size) else 0.0
        bet = max(bet, draw, bluffing / others)
        return 0.0, 1 - bet, bet
    later = 0.5 * streets_left * size
    price = (to_call + later) / (pot + to_call + 2 * later)
    needed = price * (0.6 + 1.2 * tightness)
    fold = min(_ramp(needed - win, _WIDTH * (0.3 + needed)), 1 - bet)
    return fold, 1 - fold - bet, bet


@kernel
def _next_player(start: int, waiting: Bools) -> int:
    P = len(waiting)
    for step in range(P):
        player = (start + step) % P
        if waiting[player]:
            return player
    return -1


@njit(**KERNEL)
def apply_class(action: int, hand: LimitHand, limits: Limits) -> None:
    """Let the player to act fold, call or raise; a raise over the cap counts as a call.

    TO_ACT is -1 when the hand is over. The rules are as in `poker.game.betting.Betting` for a limit game in which
    nobody is all-in.

    Args:
        action: class of the action.
        hand: the hand [P]; updated.
        limits: the betting rules [4].
    """
    public, committed, folded, waiting = hand
    player, street = public[TO_ACT], public[STREET]
    waiting[player] = False
    if action == _FOLD:
        folded[player] = True
        public[IN] -= 1
        if public[IN] == 1:
            public[TO_ACT] = -1
            return
    elif action == _CALL or public[NUM_RAISES] >= limits.max_raises[street]:
        committed[player] = public[HIGHEST]
    else:
        public[HIGHEST] += limits.raise_sizes[street]
        committed[player] = public[HIGHEST]
        public[NUM_RAISES] += 1
        for other in range(len(waiting)):
            waiting[other] = not folded[other] and other != player
    public[TO_ACT] = _next_player(player + 1, waiting)
    if public[TO_ACT] < 0 and street + 1 < len(limits.raise_sizes):
        public[STREET] += 1
        public[NUM_RAISES] = 0
        for other in range(len(waiting)):
            waiting[other] = not folded[other]
        public[TO_ACT] = _next_player(limits.first_player[street + 1], waiting)


@kernel
def _fold_share(three: F32, dearness: float) -> float:
    """Return the fold probability of a hand with this response [3] if a call costs `dearness` times the usual price."""
    fold = three[_FOLD] * dearness
    rest = three[_FOLD] + three[_CALL]
    return fold * rest / (three[_CALL] + fold) if rest > 0 else 0.0


@kernel
def _follow(player: int, probs: F32, dearness: float, action: int, bins: U8, particles: F32) -> None:
    """Multiply the weights `particles` [P, M] of a player by the likelihood of a call or raise; `probs` is [B, 3]."""
    for m in range(particles.shape[1]):
        three = probs[bins[player, m]]
        if action == _RAISE:
            particles[player, m] *= three[_RAISE]
        else:
            particles[player, m] *= 1 - three[_RAISE] - _fold_share(three, dearness)


@kernel
def _win_chance(hero: int, folded: Bools, mine: float, theirs: F32, final: bool, particles: F32) -> float:
    """Return the probability that `hero` beats the particles of all other players.

    The hero's hand has strength `mine`, the particles `theirs` [P, M]. Strengths are ranks on the river and shares of
    weaker hands before it.
    """
    win = 1.0
    for player in range(len(folded)):
        if folded[player] or player == hero:
            continue
        total, beaten = 0.0, 0.0
        for m in range(particles.shape[1]):
            lead = mine - theirs[player, m]
            chance = 0.5 * (1 + np.sign(lead)) if final else 1 / (1 + math.exp(-lead / _SPREAD))
            total += particles[player, m]
            beaten += particles[player, m] * chance
        win *= beaten / total if total > 0 else 0.5
    return win


@kernel
def _line_value(
    action: int, hero: int, hand: LimitHand, limits: Limits, trial: Trial, particles: F32, responses: F32, style: Style
) -> float:
    """Return the chips that `hero` wins from here on with `action` when the models play the rest.

    The hand and the weights `particles` [P, M] are changed.
    """
    public, committed, folded, _ = hand
    uniforms, strength, ranks, theirs, bins = trial
    before = committed[hero]
    taken = np.zeros(uniforms.shape[:2], dtype=np.int64)
    B = responses.shape[2]
    while True:
        taken[public[STREET], public[TO_ACT]] += 1
        apply_class(action, hand, limits)
        if folded[hero]:
            return float(before - committed[hero])
        player, street = public[TO_ACT], public[STREET]
        if player < 0:
            break
        owed, size = public[HIGHEST] - committed[player], limits.raise_sizes[street]
        u = uniforms[street, player, min(taken[street, player], _ACTIONS - 1)]
        if player == hero:
            final = street == _RIVER
            mine = float(ranks[hero]) if final else float(strength[street, hero])
            win = _win_chance(hero, folded, mine, theirs[street], final, particles)
            fold, _, bet = style_triple(
                win, win, 0.0, committed.sum(), owed, size, _RIVER - street, public[IN] - 1, style
            )
            action = _FOLD if u < fold else _RAISE if u >= 1 - bet else _CALL
        else:
            probs = responses[player, street * 3 + min(2, (owed + size - 1) // size)]
            three = probs[min(B - 1, int(strength[street, player] * B))]
            dearness = _USUAL_PRICE * owed / committed.sum()
            action = _FOLD if u < _fold_share(three, dearness) else _RAISE if u >= 1 - three[_RAISE] else _CALL
            if action != _FOLD:
                _follow(player, probs, dearness, action, bins[street], particles)
    best, winners = np.int16(-1), 0
    for player in range(len(committed)):
        if not folded[player]:
            winners = 1 if ranks[player] > best else winners + (ranks[player] == best)
            best = max(best, ranks[player])
    share = committed.sum() / winners if ranks[hero] == best else 0.0
    return share - float(committed[hero] - before)


@kernel
def _draw_hand(cumulative: F32, masks: U64, used: np.uint64, rng: U64) -> np.int64:
    """Return the position of a hand drawn from cumulative weights [L] without the cards `used`; -1 if none is found."""
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


@kernel
def _draw_deal(hero: int, folded: Bools, cumulative: F32, masks: U64, ranks: I16, rng: U64, hands: I64) -> np.int64:
    """Draw hands into `hands` [P] for all other remaining players, and a completion; return its row of `ranks` or -1.

    Players draw in an order that starts at random, so that card removal favours nobody.
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


_HAND, _LIMITS = "LimitHand(i8_1, i8_1, b1_1, b1_1)", "Limits(i8_1, i8_1, i8_1)"
_LIVE = "LiveHands(u8_1, f4_1, f4_2, f4_2, i2_2, u1_2)"


@entry(f"i8, i8, i8, {_HAND}, {_LIMITS}, {_LIVE}, f4_2, f4_4, {_STYLE}, i8, u8_1, f8_1")
def sample_lines(
    trials: int,
    hero: int,
    held: int,
    hand: LimitHand,
    limits: Limits,
    live: LiveHands,
    cumulative: F32,
    responses: F32,
    style: Style,
    M: int,
    rng: U64,
    sums: F64,
) -> None:
    """Play several trials and add their results to `sums`.

    Args:
        hero: the player to act.
        held: position of the hero's hand among the live ones.
        hand: the hand [P].
        limits: the betting rules [4].
        live: the live hands [L] of the board.
        cumulative: float32 [P, L] running sums of the weight tables.
        responses: float32 [P, 12, B, 3] action probabilities of each player by context and bin of strength.
        style: the hero's playing style.
        M: number of particles per player.
        rng: uint64 [4] random state; advanced.
        sums: float64 [6] sums over trials; updated.
    """
    public, committed, folded, waiting = hand
    masks, now, turn, river, ranks, boards = live
    P, B = len(committed), responses.shape[2]
    hands = np.zeros(P, dtype=np.int64)
    hands[hero] = held
    strength = np.zeros((4, P), dtype=np.float32)
    uniforms = np.empty((4, P, _ACTIONS), dtype=np.float64)
    at_showdown = np.empty(P, dtype=np.int16)
    cloud = np.zeros((P, M), dtype=np.int64)
    theirs = np.zeros((4, P, M), dtype=np.float32)
    bins = np.zeros((4, P, M), dtype=np.uint8)
    fresh = np.zeros((P, M), dtype=np.float32)
    trial = Trial(uniforms, strength, at_showdown, theirs, bins)
    root = public[STREET]
    value = np.empty(2, dtype=np.float64)
    for player in range(P):
        if not folded[player] and player != hero:
            for m in range(M):
                cloud[player, m] = max(np.int64(0), _draw_hand(cumulative[player], masks, masks[held], rng))
    for _ in range(trials):
        row = _draw_deal(hero, folded, cumulative, masks, ranks, rng, hands)
        if row < 0:
            continue
        turn_card = boards[row, 3 + np.int64(next_below(rng, 2))]
        for player in range(P):
            if folded[player]:
                continue
            at_showdown[player] = ranks[row, hands[player]]
            for street in range(root, 4):
                table = now if street == root else turn[turn_card] if street == 2 else river[row]
                strength[street, player] = table[hands[player]]
                for k in range(_ACTIONS):
                    uniforms[street, player, k] = next_float(rng)
                if player != hero:
                    for m in range(M):
                        other = cloud[player, m]
                        theirs[street, player, m] = ranks[row, other] if street == _RIVER else table[other]
                        bins[street, player, m] = min(B - 1, int(table[other] * B))
            if player != hero:
                for m in range(M):
                    fresh[player, m] = 0 if ranks[row, cloud[player, m]] == _BLOCKED else 1
        for line in range(2):
            played = LimitHand(public.copy(), committed.copy(), folded.copy(), waiting.copy())
            value[line] = _line_value(_CALL + line, hero, played, limits, trial, fresh.copy(), responses, style)
        sums[CALLS] += value[0]
        sums[RAISES] += value[1]
        sums[CALLS_2] += value[0] ** 2
        sums[RAISES_2] += value[1] ** 2
        sums[GAIN_2] += (value[1] - value[0]) ** 2
        sums[TRIALS] += 1
