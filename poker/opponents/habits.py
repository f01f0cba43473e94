"""A heads-up opponent learned from hands: how often they fold, call and raise, and with which hands.

Each action is counted in one of 360 public contexts: street, size of the bet faced, number of raises in the round, seat
and last raiser. Frequencies are estimated from coarse levels to fine ones (`poker.opponents.inputs.no_limit.LEVELS`).
Each level is the prior of the next and counts like `half` observations (`poker.opponents.inputs.frequencies`). The
coarsest prior is a generic table with confidence 0. Raises are also counted by size in pots, over all contexts of a
street.

With a prior, such as a net trained on a population (`models.opponent.inference.NetPrior`), the prior's frequencies take
the place of the coarser levels. The number of actions that the prior counts like was learned in training, and depends
on how well the prior has predicted this player. The confidence uses the same number.

The strength of a hand determines how it is played (`poker.kernels.opponents.conditional`): the best hands raise and the
worst fold, such that the range as a whole acts with the estimated frequencies. Four things are learned from hands shown
at showdowns (`poker.opponents.shown`): how steeply actions depend on strength, the share of bluffs among bets, the
share of actions independent of the cards, and whether larger raises mean better hands.

Symbols: B boards, H hands, A actions, S size classes, G groups of decisions, W weights of a prior.
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
from poker.game.rules import CALL, CALL_CLASS, FOLD, FOLD_CLASS, NOLIMIT, RAISE_CLASS, Rules, action_class
from poker.game.state import HandState
from poker.kernels.opponents.conditional import conditional, graded
from poker.kernels.types import Board, Floats, Reals, Singles
from poker.opponents.action_statistics import ANYBODY
from poker.opponents.hand_classes import by_strength
from poker.opponents.inputs.frequencies import WEIGHTS, by_levels, by_weight, confidence, mixed, share_of_weights
from poker.opponents.inputs.history import by_class
from poker.opponents.inputs.no_limit import ALL_IN, LEVELS, NOTHING, NUM_SIZES, SPOTS, SpotKey, size_class, spot_of
from poker.opponents.inputs.rows import COLUMNS, NAMES, open_rows
from poker.opponents.model import Prior
from poker.opponents.responses import FOLD_SLOPE, RAISE_SLOPE, Z, odds_by_strength
from poker.opponents.shown import BLUFFS, STEEPNESS, TILTS, Shape, ShownHands, group_of
from poker.run.errors import PokernetsError

_REMEMBERED = 10_000
"""Number of decisions in each cache."""


@dataclass(frozen=True, eq=False)
class Habits:
    """A player's counted actions, as a `poker.opponents.model.OpponentModel`.

    Two models are equal if all their fields are.

    Attributes:
        half: number of observations that each level of detail counts like in the next.
        people: whether actions depend on a hand's strength against strong hands, as people's do, or against any hand.
        counts: [4, 5, 3, 2, 3, 3] actions by context and class.
        sizes: [4, S] raises by street and size class.
        shown_hands: statistics of the hands shown.
        prior: source of the prior frequencies, if any.
        explained: [W] log-likelihood of the observed actions, by the weight of the prior.
    """

    half: float = 5.0
    people: bool = False

    counts: Floats = field(default_factory=lambda: np.zeros((*SPOTS, 3)))
    sizes: Floats = field(default_factory=lambda: np.zeros((SPOTS[0], NUM_SIZES)))
    shown_hands: ShownHands = field(default_factory=ShownHands)
    prior: Prior | None = None
    explained: Floats = field(default_factory=lambda: np.zeros(len(WEIGHTS)))

    def __post_init__(self) -> None:
        """Check the settings.

        Raises:
            PokernetsError: `half` is not positive.
        """
        if not self.half > 0:
            raise PokernetsError(f"habits: `half` must be a positive number of observations, not {self.half}")

    def after(self, hand: HandState, player: int) -> "Habits":
        """Return the habits after a finished hand.

        Args:
            hand: the hand. The opponent's cards count if they were shown.
            player: seat of the opponent.
        """
        cards = hand.hole_cards[player] if hand.betting.is_showdown else ()
        counts, sizes, explained = self.counts.copy(), self.sizes.copy(), self.explained.copy()
        shown_hands, weights = self.shown_hands, np.ones((1, hand.rules.num_hands))
        decisions: list[tuple[Betting, Board, int]] = []
        for past, actor, action in hand.betting.turns():
            if actor != past.to_act or not past.legal().allows(action):  # folds out of turn or without a bet
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
        """Return the shown hands and the range after one action with a known hand.

        Args:
            decision: betting before the action, board and action.
            hand: index of the hand.
            shown_hands: statistics before the action.
            weights: [1, H] range before the action.
        """
        betting, board, action = decision
        context, kind = spot_of(betting), action_class(action)
        group, bins = _group(context), by_strength(betting.rules, (board,), self.people)
        frequencies, size_shares = self._frequencies(betting, (board,), context)

        def chances(shape: Shape) -> Singles:
            """Return the probability [H] of the action."""
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
        """Return the probabilities of actions for every hand, and the confidence in them.

        Args:
            betting: the public betting state.
            boards: B boards.
            actions: A actions.
            weights: [B, H] range of the player to act, up to a factor.

        Returns:
            [B, H, A] probabilities, and the confidence from 0 to 1.
        """
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
        """Return the frequencies of fold, call and raise, [B, 3], and the shares of each size of raise, [B, S]."""
        if self.prior is not None:
            return _from_prior(self, self.prior, betting, boards)
        here = self.frequencies[context], self._size_shares[context[0]]
        return np.tile(here[0], (len(boards), 1)), np.tile(here[1], (len(boards), 1))

    def later(self, rules: Rules, street: int) -> tuple[Floats, float]:
        """Return frequencies on the streets to come, and the confidence in them.

        Args:
            street: the current street.

        Returns:
            [n, 2, 3] frequencies of fold, call and raise on each later street, without and with a bet to call, and the
            confidence from 0 to 1.
        """
        by_price = self.counts.sum(axis=(2, 3, 4))[street + 1 : rules.num_streets]
        seen = np.stack([by_price[:, NOTHING], by_price[:, 1:].sum(axis=1)], axis=1)
        prior = np.stack([ANYBODY[NOTHING], ANYBODY[1:ALL_IN].mean(axis=0)])
        return mixed(seen, prior, self.half), float(confidence(seen.sum(axis=2), self.half).mean())

    @cached_property
    def frequencies(self) -> Floats:
        """Frequencies [4, 5, 3, 2, 3, 3] of fold, call and raise by context, without the prior."""
        return self._estimates[0]

    @cached_property
    def confidence(self) -> Floats:
        """Confidence [4, 5, 3, 2, 3] in the frequencies: from observations, or from the prior's weight if greater."""
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
        """Shares [4, S] of each size among the raises of a street."""
        return by_levels(self.sizes, np.full(NUM_SIZES, 1 / NUM_SIZES), self.half, ((), (0,)))[0]

    @cached_property
    def _fingerprint(self) -> bytes:
        arrays = self.counts, self.sizes, self.shown_hands.seen, self.shown_hands.sizes, self.explained
        prior = b"" if self.prior is None else self.prior.fingerprint
        return hashlib.sha256(
            b"".join([*(array.tobytes() for array in arrays), repr((self.half, self.people)).encode(), prior])
        ).digest()

    def __eq__(self, other: object) -> bool:
        """Return whether all fields are equal."""
        return isinstance(other, Habits) and self._fingerprint == other._fingerprint

    def __hash__(self) -> int:
        """Return a hash of all fields."""
        return hash(self._fingerprint)

    @cached_property
    def _shapes(self) -> list[Shape]:
        """Shapes [G] of how actions depend on hands."""
        return [self.shown_hands.shape(group) for group in range(len(self.shown_hands.seen))]


def _by_hand(bins: NDArray[np.int16], context: SpotKey, frequencies: Floats, weights: Reals, shape: Shape) -> Singles:
    """Return the probabilities of fold, call and raise for every hand.

    The log odds depend on the hand's strength; before the flop the slopes of the flop are used. They are shifted such
    that the range acts with the given frequencies.

    Args:
        bins: [B, H] strength class of each hand.
        frequencies: [B, 3] frequencies of fold, call and raise.
        weights: [B, H] range.
        shape: how actions depend on hands.

    Returns:
        [B, H, 3] probabilities.
    """
    street, _, raises, _, _ = context
    odds = shape.steepness * odds_by_strength(FOLD_SLOPE[max(street, 1), 1], RAISE_SLOPE[max(street, 1), raises])
    mass = np.ascontiguousarray(weights, dtype=np.float64)
    return conditional(bins, mass, np.tile(odds, (len(bins), 1, 1)), frequencies, shape.bluffs, shape.blind)


def _by_size(bins: NDArray[np.int16], weights: Floats, tilt: float, shares: Floats) -> Singles:
    """Return the probabilities of each size of raise for every hand, such that the range raises with the given shares.

    Args:
        bins: [B, H] strength class of each hand.
        weights: [B, H] range that raises.
        tilt: above 0, better hands raise more.
        shares: [B, S] share of each size.

    Returns:
        [B, H, S] probabilities.
    """
    return graded(bins, weights, np.tile(tilt * Z, (len(bins), 1)), shares)


@lru_cache(_REMEMBERED)
def _from_prior(habits: Habits, prior: Prior, betting: Betting, boards: tuple[Board, ...]) -> tuple[Floats, Floats]:
    """Compute `Habits._frequencies` with a prior, through one cache for all habits."""
    context, expected = spot_of(betting), prior.frequencies(betting, boards)
    sizes = expected[:, RAISE_CLASS:] / expected[:, RAISE_CLASS:].sum(axis=1, keepdims=True)
    by_prior = by_weight(habits.counts[context], by_class(expected))
    frequencies = share_of_weights(prior.weights, habits.explained) @ by_prior
    return frequencies, mixed(habits.sizes[context[0]], sizes, habits.half)


@lru_cache(_REMEMBERED)
def _split(betting: Betting, actions: tuple[int, ...]) -> tuple[SpotKey, Floats, Floats, list[NDArray[np.intp]]]:
    """Return the spot, and how the probabilities of classes are divided among the actions.

    Returns:
        The spot; [2, A] share of folds and calls that goes to each action; [S, A] share of raises of each size class;
        and the raises of each size class present, from the smallest. Missing classes check or call. Raises of a missing
        size go to the nearest size.
    """
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
    """Create the habits of an unseen player, or learn a player's habits from a file of hands.

    Args:
        half: see `Habits`.
        people: see `Habits`.
        hands: file that `poker.formats.histories` reads; None for an unseen player.
        player: name of the player in the file. Only heads-up no-limit hands count.
        game: the game of an ACPC log that does not define its own.
        prior: source of the prior frequencies; None for the generic table.

    Raises:
        PokernetsError: the file has no heads-up no-limit hand of the player.
    """
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
    """Learn habits from the no-limit rows that `job=opponent_actions` wrote, over all seats and tables.

    Args:
        rows: folder of the rows.
        player: name of one player; None for all players selected by `voluntary`.
        voluntary: two quantiles of players by how often they put chips in voluntarily before the flop, each player
            weighted by the number of hands. Players between them are selected.
        last: share of the hands to use, from the end.
        half: see `Habits`.

    Raises:
        PokernetsError: no no-limit hand is left.
    """
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
    """Count the different hands of each player, [players], from rows [n]."""
    pairs = np.unique(np.stack([player, hand]), axis=1)
    return np.bincount(pairs[0], minlength=players)


def _group(context: SpotKey) -> int:
    return group_of(context[0], context[1] != NOTHING)
