"""A heads-up opponent learned from hands: how often they fold, call and raise by public context, and with which hands.

Every action counts in one of 360 contexts: street, size of the bet faced, raises of the round, seat, who raised last.
Their frequencies are estimated from coarse to fine (`poker.opponents.inputs.no_limit.LEVELS`); each level is the prior
of the next with a weight of `half` observations (`poker.opponents.inputs.frequencies`). The confidence starts from 0,
for the frequencies of nobody in particular. Raises are told apart by size, in pots, alike in all contexts of a street.

With a prior, such as a net that knows how players of a population go on (`models.opponent.inference.NetPrior`), the
frequencies of a decision are the prior's, to which what was seen in the context is added; how many actions the prior
counts like, in the confidence too, is learned where it was trained and from how it predicted the player.

What each hand does follows from its strength (`poker.kernels.opponents.conditional`), so that the frequencies come out
for the range at hand: the best raise, the worst fold. How steeply, with how many bluffs among the bets, what share
of the actions does not depend on the cards, and how far higher raises are made with better hands is learned from the
hands shown at showdowns (`poker.opponents.shown`).

Symbols: B boards, H hands, A actions, S size classes, G groups of decisions.
"""

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property, lru_cache
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from poker.formats.histories import read_hands
from poker.game.betting import Betting
from poker.game.cards import hand_index
from poker.game.rules import CALL, FOLD, NOLIMIT, Rules
from poker.game.state import HandState
from poker.kernels.opponents.conditional import conditional, graded
from poker.kernels.types import Board, Floats, Reals, Singles
from poker.opponents.action_statistics import ANYBODY
from poker.opponents.hand_classes import by_strength
from poker.opponents.inputs.frequencies import WEIGHTS, by_levels, by_weight, confidence, mixed, share_of_weights
from poker.opponents.inputs.history import by_class
from poker.opponents.inputs.no_limit import ALL_IN, LEVELS, NOTHING, NUM_SIZES, SPOTS, SpotKey, size_class, spot_of
from poker.opponents.inputs.rows import COLUMNS, NAMES, open_rows
from poker.opponents.model import CALL_CLASS, FOLD_CLASS, RAISE_CLASS, Prior, action_class
from poker.opponents.responses import FOLD_SLOPE, RAISE_SLOPE, Z, odds_by_strength
from poker.opponents.shown import BLUFFS, STEEPNESS, TILTS, Shape, ShownHands, group_of
from poker.run.errors import PokernetsError

_REMEMBERED = 10_000
"""Decisions that are not worked out again."""


@dataclass(frozen=True, eq=False)
class Habits:
    """Actions seen of a player: `counts` [4, 5, 3, 2, 3, 3] by context, `sizes` [4, S] of raises by street.

    A `poker.opponents.model.OpponentModel`, equal to another if these, `half`, the `shown_hands` and the `prior` are.
    """

    half: float = 5.0
    people: bool = False
    """Whether actions follow a hand's strength against strong hands, as people's do, not against any hand."""
    counts: Floats = field(default_factory=lambda: np.zeros((*SPOTS, 3)))
    sizes: Floats = field(default_factory=lambda: np.zeros((SPOTS[0], NUM_SIZES)))
    shown_hands: ShownHands = field(default_factory=ShownHands)
    prior: Prior | None = None
    explained: Floats = field(default_factory=lambda: np.zeros(len(WEIGHTS)))
    """[W] log-likelihood of the actions seen, by the weight of the prior."""

    def __post_init__(self) -> None:
        if not self.half > 0:
            raise PokernetsError(f"habits: `half` is a number of observations above 0, not {self.half}")

    def after(self, hand: HandState, player: int) -> "Habits":
        """Habits after a finished hand in which the opponent was `player`; their cards count where they were shown."""
        cards = hand.hole_cards[player] if hand.betting.is_showdown else ()
        counts, sizes, explained = self.counts.copy(), self.sizes.copy(), self.explained.copy()
        shown_hands, weights = self.shown_hands, np.ones((1, hand.rules.num_hands))
        decisions: list[tuple[Betting, Board, int]] = []
        for past, actor, action in hand.betting.turns():
            if actor != past.to_act or not past.legal().allows(action):  # folds out of turn, or where nothing is asked
                break
            if actor == player:
                context, kind, board = spot_of(past), action_class(action), _board_of(hand, past)
                decisions.append((past, board, action))
                if self.prior is not None:
                    expected = by_class(self.prior.frequencies(past, [board]))[0]
                    explained += np.log(by_weight(self.counts[context], expected)[:, kind])
                counts[(*context, kind)] += 1
                if kind == RAISE_CLASS:
                    sizes[past.street, size_class(past, action)] += 1
                if cards:
                    shown_hands, weights = self._after_shown(decisions[-1], hand_index(*cards), shown_hands, weights)
        prior = None if self.prior is None else self.prior.after(decisions)
        return replace(self, counts=counts, sizes=sizes, shown_hands=shown_hands, prior=prior, explained=explained)

    def _after_shown(
        self, decision: tuple[Betting, Board, int], hand: int, shown_hands: ShownHands, weights: Floats
    ) -> tuple[ShownHands, Floats]:
        """Shown hands and range [1, H] after an action with `hand`: betting before, board, action."""
        betting, board, action = decision
        context, kind = spot_of(betting), action_class(action)
        group, bins = _group(context), by_strength(betting.rules, (board,), self.people)
        frequencies, size_shares = self._frequencies(betting, (board,), context)

        def chances(shape: Shape) -> Singles:
            """[H] probability of the action."""
            return _by_hand(bins, context, frequencies, weights, shape)[0, :, kind]

        looking = [[chances(Shape(factor, share, 0.0))[hand] for share in BLUFFS] for factor in STEEPNESS]
        shown_hands = shown_hands.after(group, np.array(looking), float(frequencies[0, kind]))
        acting: Floats = weights * chances(self._shapes[group])
        if kind != RAISE_CLASS:
            return shown_hands, acting
        size = size_class(betting, action)
        *by_tilt, own = (
            _by_size(bins, acting, tilt, size_shares)[0, :, size]
            for tilt in (*TILTS, self.shown_hands.tilt(betting.street))
        )
        looked = np.array([probs[hand] for probs in by_tilt])
        return shown_hands.after_raise(betting.street, looked, float(size_shares[0, size])), acting * own

    def probs(
        self, betting: Betting, boards: Sequence[Board], actions: tuple[int, ...], weights: Reals
    ) -> tuple[Reals, float]:
        """See `poker.opponents.model.OpponentModel`."""
        context, split, taken, by_size = _split(betting, actions)
        bins = by_strength(betting.rules, boards, self.people)
        frequencies, sizes = self._frequencies(betting, tuple(boards), context)
        chances = _by_hand(bins, context, frequencies, weights, self._shapes[_group(context)])
        raised, raises, tilt = chances[:, :, RAISE_CLASS], sizes @ taken, self.shown_hands.tilt(betting.street)
        probs = chances[:, :, :RAISE_CLASS] @ split + raised[:, :, None] * raises[:, None]
        if tilt != 0 and len(by_size) > 1:
            shares = np.stack([raises[:, alike].sum(axis=1) for alike in by_size], axis=1)
            raising = np.multiply(weights, raised, dtype=np.float64)
            chances = raised[:, :, None] * _by_size(bins, raising, tilt, shares)
            for alike, chance in zip(by_size, np.moveaxis(chances, 2, 0), strict=True):
                probs[:, :, alike] = chance[:, :, None] / len(alike)
        return probs, float(self.confidence[context])

    def _frequencies(self, betting: Betting, boards: tuple[Board, ...], context: SpotKey) -> tuple[Floats, Floats]:
        """Frequencies [B, 3] of fold, call and raise in a context, and shares [B, S] of the sizes of raises there."""
        if self.prior is not None:
            return _from_prior(self, self.prior, betting, boards)
        here = self.frequencies[context], self._size_shares[context[0]]
        return np.tile(here[0], (len(boards), 1)), np.tile(here[1], (len(boards), 1))

    def later(self, rules: Rules, street: int) -> tuple[Floats, float]:
        """See `poker.opponents.model.OpponentModel`."""
        by_asked = self.counts.sum(axis=(2, 3, 4))[street + 1 : rules.num_streets]
        seen = np.stack([by_asked[:, NOTHING], by_asked[:, 1:].sum(axis=1)], axis=1)
        prior = np.stack([ANYBODY[NOTHING], ANYBODY[1:ALL_IN].mean(axis=0)])
        return mixed(seen, prior, self.half), float(confidence(seen.sum(axis=2), self.half).mean())

    @cached_property
    def frequencies(self) -> Floats:
        """[4, 5, 3, 2, 3, 3] frequencies of fold, call and raise by context, without a prior."""
        return self._estimates[0]

    @cached_property
    def confidence(self) -> Floats:
        """[4, 5, 3, 2, 3] confidence in the frequencies: by what was seen, or with a prior's weight if that is more."""
        sure = self._estimates[1]
        if self.prior is None:
            return sure
        observed = self.counts.sum(axis=-1)[..., None] + WEIGHTS
        shares = share_of_weights(self.prior.weights, self.explained)
        return np.maximum(sure, confidence(observed, self.half) @ shares)

    @cached_property
    def _estimates(self) -> tuple[Floats, Floats]:
        return by_levels(self.counts, ANYBODY[:, None, None, None], self.half, LEVELS)

    @cached_property
    def _size_shares(self) -> Floats:
        """[4, S] share of each size among the raises of a street."""
        return by_levels(self.sizes, np.full(NUM_SIZES, 1 / NUM_SIZES), self.half, ((), (0,)))[0]

    @cached_property
    def _fingerprint(self) -> bytes:
        arrays = self.counts, self.sizes, self.shown_hands.seen, self.shown_hands.sizes, self.explained
        prior = b"" if self.prior is None else self.prior.fingerprint
        return hashlib.sha256(
            b"".join([*(array.tobytes() for array in arrays), repr((self.half, self.people)).encode(), prior])
        ).digest()

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Habits) and self._fingerprint == other._fingerprint

    def __hash__(self) -> int:
        return hash(self._fingerprint)

    @cached_property
    def _shapes(self) -> list[Shape]:
        """[G]"""
        return [self.shown_hands.shape(group) for group in range(len(self.shown_hands.seen))]


def _by_hand(bins: NDArray[np.int16], context: SpotKey, frequencies: Floats, weights: Reals, shape: Shape) -> Singles:
    """[B, H, 3] probabilities of fold, call and raise of every hand: the log odds of its strength in a context, before
    the flop those of the flop, shifted such that the ranges `weights` [B, H] act with `frequencies` [B, 3]."""
    street, _, raises, _, _ = context
    odds = shape.steepness * odds_by_strength(FOLD_SLOPE[max(street, 1), 1], RAISE_SLOPE[max(street, 1), raises])
    mass = np.ascontiguousarray(weights, dtype=np.float64)
    return conditional(bins, mass, np.tile(odds, (len(bins), 1, 1)), frequencies, shape.bluffs, shape.blind)


def _by_size(bins: NDArray[np.int16], weights: Floats, tilt: float, shares: Floats) -> Singles:
    """[B, H, S] probabilities of the size of a raise of every hand, the higher the better for a `tilt` above 0, such
    that the ranges `weights` [B, H] raise in the `shares` [B, S]."""
    return graded(bins, weights, np.tile(tilt * Z, (len(bins), 1)), shares)


@lru_cache(_REMEMBERED)
def _from_prior(habits: Habits, prior: Prior, betting: Betting, boards: tuple[Board, ...]) -> tuple[Floats, Floats]:
    """`Habits._frequencies` with a prior; the last decisions and boards are cached, of all habits together."""
    context, expected = spot_of(betting), prior.frequencies(betting, boards)
    sizes = expected[:, RAISE_CLASS:] / expected[:, RAISE_CLASS:].sum(axis=1, keepdims=True)
    by_prior = by_weight(habits.counts[context], by_class(expected))
    frequencies = share_of_weights(prior.weights, habits.explained) @ by_prior
    return frequencies, mixed(habits.sizes[context[0]], sizes, habits.half)


@lru_cache(_REMEMBERED)
def _split(betting: Betting, actions: tuple[int, ...]) -> tuple[SpotKey, Floats, Floats, list[NDArray[np.intp]]]:
    """The spot; [2, A] and [S, A]: the share of folds and calls, and of raises by size class, that goes to each action.
    Classes that are missing check or call; raises of a size that is missing take the nearest. And the raises of each
    size class that is there, from the smallest."""
    split = np.zeros((RAISE_CLASS, len(actions)))
    split[:, actions.index(CALL)] = 1
    if FOLD in actions:
        split[FOLD_CLASS] = [action == FOLD for action in actions]
    classes = np.array([size_class(betting, action) if action > 0 else -1 for action in actions])
    there = np.unique(classes[classes >= 0])
    taken = np.tile(split[CALL_CLASS], (NUM_SIZES, 1))
    for size in range(NUM_SIZES if len(there) else 0):
        taken[size] = classes == there[np.abs(there - size).argmin()]
        taken[size] /= taken[size].sum()
    return spot_of(betting), split, taken, [np.flatnonzero(classes == size) for size in there]


def _board_of(hand: HandState, betting: Betting) -> Board:
    return hand.runout[: hand.rules.board_sizes[betting.street]]


def habits(
    *,
    half: float = 5.0,
    people: bool = False,
    hands: str | None = None,
    player: str | None = None,
    game: Rules | None = None,
    prior: Prior | None = None,
) -> Habits:
    """Habits of nobody or, from a `prior`, of an unseen player; or of `player` in the heads-up no-limit hands of a file
    that `poker.formats.histories` reads. `game` is that of an ACPC log which does not define its own."""
    model = Habits(half, people, prior=prior)
    if hands is None:
        return model
    number = 0
    for hand in read_hands(Path(hands), game):
        if player in hand.names and hand.rules.num_players == 2 and not hand.rules.is_limit:
            seat = hand.names.index(player)
            model, number = model.after(hand.state.view(1 - seat), seat), number + 1
    if not number:
        raise PokernetsError(f"{hands} has no heads-up no-limit hands of the player `{player}`: set `player` to a name")
    return model


def of_rows(
    *,
    rows: str,
    player: str | None = None,
    voluntary: Sequence[float] = (0.0, 1.0),
    last: float = 1.0,
    half: float = 5.0,
) -> Habits:
    """Habits of people in the `last` share of the no-limit hands that `job=opponent_actions` wrote to `rows`, all seats
    and tables together: of `player`, or of those between two quantiles of how often they put chips in before the flop
    of their own will, each player weighed by the number of hands."""
    artifact = open_rows(rows)
    columns, names = {name: np.asarray(artifact.arrays[name]) for name in COLUMNS}, artifact.arrays[NAMES].tolist()
    who, action, hand = (columns[name].astype(np.int64) for name in ("player", "action", "hand"))
    if player is None:
        preflop = columns["street"] == 0
        paid = preflop & (action + (columns["bets"] > 0) > CALL_CLASS)
        dealt, joined = (_hands_of(who[some], hand[some], len(names)) for some in (preflop, paid))
        share = joined / np.maximum(dealt, 1)
        order = np.argsort(share, kind="stable")
        place = np.cumsum(dealt[order]) / dealt.sum()
        chosen = order[(voluntary[0] < place) & (place <= voluntary[1])]
    else:
        chosen = np.array([names.index(player)] if player in names else [], dtype=np.int64)
    taken = np.isin(who, chosen) & (hand >= (1 - last) * (hand.max() + 1))
    if artifact.config.get("betting") != NOLIMIT or not taken.any():
        raise PokernetsError(f"{rows} has no no-limit hands of {player or 'such players'}: set `player` to a name")
    model = habits(half=half, people=True)
    kind, spots = np.minimum(action, RAISE_CLASS)[taken], np.unravel_index(columns["spot"][taken], SPOTS)
    np.add.at(model.counts, (*spots, kind), 1)
    raised = kind == RAISE_CLASS
    np.add.at(model.sizes, (spots[0][raised], (action[taken] - RAISE_CLASS)[raised]), 1)
    return model


def _hands_of(player: NDArray[np.int64], hand: NDArray[np.int64], players: int) -> NDArray[np.int64]:
    """[players] different hands of each, from rows [n]."""
    pairs = np.unique(np.stack([player, hand]), axis=1)
    return np.bincount(pairs[0], minlength=players)


def _group(context: SpotKey) -> int:
    return group_of(context[0], context[1] != NOTHING)
