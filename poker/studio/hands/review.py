"""Reviews of a player's decisions: each is solved, and every action valued for the hand held.

The solve is that of the agent against which the decision was made, or of one in its place: `poker.search` gives the
range that it believes the player to have, and the values of the actions against its own range. Neither depends on cards
that the player has not seen.

Symbols: A actions.
"""

import threading
from collections.abc import Iterator
from dataclasses import dataclass, replace

import numpy as np

from poker.agents.base import hand_number
from poker.game.betting import Betting
from poker.game.cards import HOLDEM, PREFLOP_CLASS
from poker.game.rules import Rules
from poker.game.state import HandState, public_state
from poker.kernels.types import Floats
from poker.report.grids import class_shares
from poker.run.errors import PokernetsError
from poker.search.multiplayer.heads_up_rest import SOLVED_TO_THE_END, HeadsUpRest
from poker.search.opponent_decision import DecisionSolver, SolvedDecision
from poker.store.lru_cache import LRUCache

_KEPT = 200
"""Reviews that are kept in memory."""
_MIXED = 0.05
"""Least frequency of an action that is mixed in, rather than left over from early iterations."""


@dataclass(frozen=True)
class PlayedDecision:
    """A decision at `betting` with `cards`; `chosen` is the action taken, None before that.

    `frequencies` [A] are those of the solver's play with the hand held, `grid` [169, A] by class of hand, NaN where
    there is none. `weight` is how likely the solver would have come here with the hand held, relative to the likeliest.
    """

    betting: Betting
    board: tuple[int, ...]
    cards: tuple[int, ...]
    chosen: int | None
    actions: tuple[int, ...]
    frequencies: Floats
    grid: Floats
    weight: float


@dataclass(frozen=True)
class Advice(PlayedDecision):
    """A decision that the solver does not value, and `why` not."""

    why: str


@dataclass(frozen=True)
class DecisionReview(PlayedDecision):
    """A decision that the solver values, where its play is sound.

    By action, with the hand held: `evs`, chips that it wins from here on (a fold: 0); `best_evs` if the player goes on
    as well as possible. `believed` [169] is the share of each class in the range that the opponent believes the player
    to have.

    `exploitability` of the solve is in chips, `finished` whether that is as low as the settings say. `answers` of the
    opponent, by the actions that lead there: how likely and the EV then, which add up to `evs`.

    `likelihoods` are those of the opponent's last actions by the solver's model of them; where one was improbable,
    `guesses` [A] are EVs against other ranges that may have taken it. `method` is how it was solved, in words.
    """

    evs: Floats
    best_evs: Floats
    believed: Floats
    exploitability: float
    finished: bool
    answers: dict[tuple[int, ...], tuple[float, float]]
    likelihoods: tuple[float, ...] = ()
    guesses: tuple[Floats, ...] = ()
    method: str = ""

    @property
    def best(self) -> int:
        return self.actions[int(np.argmax(self.evs))]

    @property
    def loss(self) -> float | None:
        """Chips by which the action taken is worth less than the best one."""
        return None if self.chosen is None else self._lost(self.evs)

    def _lost(self, evs: Floats) -> float:
        assert self.chosen is not None
        return float(evs.max() - evs[self.actions.index(self.chosen)])

    @property
    def range_error(self) -> float:
        """Chips by which `loss`, against the best action here or there, may be off because the opponent's range is a
        guess; 0 where it is not."""
        if self.chosen is None:
            return 0.0
        best, taken, loss = self.actions.index(self.best), self.actions.index(self.chosen), self._lost(self.evs)
        others = [lost for evs in self.guesses for lost in (evs[best] - evs[taken], self._lost(evs))]
        return float(max((abs(lost - loss) for lost in others), default=0.0))

    @property
    def error(self) -> float:
        """Chips by which `loss` may be off: `range_error`, the exploitability of the solve, and what better play after
        the action taken, or after the best one, would add."""
        after = self.best_evs.max() - self.evs.max()
        if self.chosen is not None:
            at = self.actions.index(self.chosen)
            after = max(after, self.best_evs[at] - self.evs[at])
        return float(self.exploitability + max(after, 0.0)) + self.range_error

    @property
    def is_guess(self) -> bool:
        """Whether the action taken, which loses something against the range that was solved for, loses nothing against
        another that is as plausible."""
        return self.loss is not None and 0 < self.loss <= self.range_error

    @property
    def frequency(self) -> float:
        """How often sound play takes the action taken."""
        return 0.0 if self.chosen is None else float(self.frequencies[self.actions.index(self.chosen)])

    @property
    def is_certain(self) -> bool:
        """Whether a finished solve finds a loss beyond its error, in an action not mixed in: mixed ones are equals."""
        return self.loss is not None and self.finished and self.loss > self.error and self.frequency < _MIXED


def review(solved: SolvedDecision, state: HandState, chosen: int | None) -> DecisionReview:
    """Review the decision at `state`, which has the cards of the player to act, from its solve."""
    hand, live = hand_number(state, state.to_act), HOLDEM.live(state.board).astype(np.float64)
    paid = state.betting.committed[state.to_act]
    weights = solved.ranges[solved.player].astype(np.float64)
    believed = np.bincount(PREFLOP_CLASS, weights, minlength=169) / weights.sum()
    return DecisionReview(
        state.betting,
        state.board,
        state.hole_cards[state.to_act],
        chosen,
        solved.actions,
        solved.strategy[hand].astype(np.float64),
        class_shares(np.maximum(weights, live * 1e-12) * solved.strategy.any(axis=1), solved.strategy),
        float(solved.weights[hand]),
        solved.values[hand].astype(np.float64) + paid,
        solved.best[hand].astype(np.float64) + paid,
        believed,
        solved.exploitability,
        solved.finished,
        {path: (float(share[hand]), float(value[hand]) + paid) for path, (share, value) in solved.answers.items()},
        solved.likelihoods,
        tuple(
            evs
            for evs in (values[hand].astype(np.float64) + paid for values in solved.guesses)
            if np.isfinite(evs).all()
        ),
        f"search={solved.search}, {solved.method}",
    )


def decisions_of(state: HandState, player: int) -> Iterator[tuple[HandState, int]]:
    """The states in which the player has acted, as the player saw them, and what they did."""
    for before, actor, action in state.betting.turns():
        if actor == player:
            yield replace(state, betting=before).view(player), action


class Reviews:
    """Reviews of one player's decisions in the hands of a game by `solver`, one at a time.

    `hinting` solves decisions that are still to come; None: `solver` does.
    """

    def __init__(self, rules: Rules, solver: DecisionSolver, hinting: DecisionSolver | None = None) -> None:
        self._rules, self._solver, self._lock = rules, solver, threading.Lock()
        self._hinting = hinting or solver
        self.big_blind = rules.big_blind
        self._reviews = LRUCache[tuple[HandState, int | None], DecisionReview](_KEPT)

    @property
    def why_not(self) -> str:
        """Why no decision is reviewed, empty if some are."""
        reviewable = (self._rules.num_hole_cards, self._rules.deck_size) == (2, 52)
        return "" if reviewable else f"reviews are of hold'em, not of `{self._rules.name}`"

    def refusal(self, state: HandState) -> str:
        """Why the decision at `state` is not reviewed, empty if it is."""
        rules = state.rules
        if (
            self.why_not
            or rules.num_players == 2
            or HeadsUpRest.of(state.betting, rules.num_streets - SOLVED_TO_THE_END)
        ):
            return self.why_not
        return "At tables of more than two, turns and rivers that began with two players left are reviewed."

    def decision(self, state: HandState, chosen: int | None) -> DecisionReview:
        """Review the decision of the player to act, in their view; takes as long as the solve needs."""
        if refusal := self.refusal(state):
            raise PokernetsError(refusal)

        def made() -> DecisionReview:
            raises = (chosen,) if chosen is not None and chosen > 0 else ()
            hand = hand_number(state, state.to_act)
            solver = self._hinting if chosen is None else self._solver
            solved = self._solved(solver, public_state(state.betting, state.board), raises, hand)
            return review(solved, state, chosen)

        with self._lock:
            return self._reviews.get_or_make((state, chosen), made)

    def opinion(self, state: HandState, chosen: int | None) -> DecisionReview | Advice:
        """Review the decision or, where that is refused at a table of more than two, say what the solver would do."""
        why = self.refusal(state)
        if not why or self.why_not or state.rules.num_players == 2:
            return self.decision(state, chosen)
        with self._lock:
            policy = self._solver.ranged_policy(state)
        hand, cards = hand_number(state, state.to_act), state.hole_cards[state.to_act]
        frequencies, weight = policy.probs[hand].astype(np.float64), float(policy.weights[hand])
        expected = HOLDEM.live(state.board) & np.isfinite(policy.probs).all(axis=1)
        grid = class_shares(expected.astype(np.float64), np.nan_to_num(policy.probs))
        return Advice(state.betting, state.board, cards, chosen, policy.actions, frequencies, grid, weight, why)

    def reviewed(self, state: HandState, player: int) -> list[tuple[HandState, int]]:
        """The decisions of a hand that can be reviewed, as `decisions_of` gives them."""
        return [(view, action) for view, action in decisions_of(state, player) if not self.refusal(view)]

    def refused(self, state: HandState, player: int) -> list[tuple[HandState, str]]:
        """The decisions of a hand that are not reviewed, and why."""
        return [(view, why) for view, _ in decisions_of(state, player) if (why := self.refusal(view))]

    def _solved(self, solver: DecisionSolver, state: HandState, raises: tuple[int, ...], hand: int) -> SolvedDecision:
        return solver.opponents_decision(state, raises, hand)
