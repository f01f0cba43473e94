"""Reviews of a player's decisions: each decision is solved, and every action valued for the player's hand.

The solver is the agent that the player faced, or another in its place. `poker.search` gives the range that the agent
attributes to the player, and the values of the actions against its own range. Neither depends on cards that the player
has not seen.

Symbols: A actions.
"""

import threading
from collections.abc import Iterator
from dataclasses import dataclass, replace

import numpy as np

from poker.agents.base import Agent, hand_number
from poker.game.betting import Betting
from poker.game.cards import HOLDEM, PREFLOP_CLASS
from poker.game.rules import Rules
from poker.game.state import HandState, public_state
from poker.kernels.types import Floats
from poker.report.grids import class_shares
from poker.run.errors import PokernetsError
from poker.search.multiplayer.heads_up_rest import SOLVED_TO_THE_END, HeadsUpRest
from poker.search.opponent_decision import SolvedDecision
from poker.store.lru_cache import LRUCache

_KEPT = 200
"""Number of cached reviews."""
_MIXED = 0.05
"""Least frequency of an action that counts as part of a mixed strategy; less may be left over from early iterations."""


@dataclass(frozen=True)
class PlayedDecision:
    """A decision of a player.

    Attributes:
        betting: betting before it.
        cards: the player's hole cards.
        chosen: the action taken; None before that.
        actions: the A actions.
        frequencies: [A] the solver's probabilities with the player's hand.
        grid: [169, A] the solver's probabilities by class of hands; NaN where there is none.
        weight: how likely the solver would have reached the decision with the player's hand, relative to the likeliest
            hand.
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
    """A decision that the solver does not value; `why` is the reason."""

    why: str


@dataclass(frozen=True)
class DecisionReview(PlayedDecision):
    """A decision that the solver values.

    Attributes:
        evs: [A] chips that each action wins from here on with the player's hand; 0 for a fold.
        best_evs: [A] the same if the player then plays as well as possible.
        believed: [169] share of each class in the range that the opponent attributes to the player.
        exploitability: exploitability of the solve in chips.
        finished: whether `exploitability` is as low as the settings require.
        answers: probability and EV of each of the opponent's answers, by the player's action and the answer; their
            products add up to `evs`.
        likelihoods: likelihoods of the opponent's last actions in the solver's model of them.
        guesses: if one of these was improbable, EVs [A] against other ranges that may have taken it.
        method: description of how it was solved.
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
        """The action with the highest EV."""
        return self.actions[int(np.argmax(self.evs))]

    @property
    def loss(self) -> float | None:
        """Chips by which the EV of the action taken is below the best EV; None if no action was taken."""
        return None if self.chosen is None else self._lost(self.evs)

    def _lost(self, evs: Floats) -> float:
        assert self.chosen is not None
        return float(evs.max() - evs[self.actions.index(self.chosen)])

    @property
    def range_error(self) -> float:
        """Error of `loss` in chips because the opponent's range is a guess; 0 if it is not."""
        if self.chosen is None:
            return 0.0
        best, taken, loss = self.actions.index(self.best), self.actions.index(self.chosen), self._lost(self.evs)
        others = [lost for evs in self.guesses for lost in (evs[best] - evs[taken], self._lost(evs))]
        return float(max((abs(lost - loss) for lost in others), default=0.0))

    @property
    def error(self) -> float:
        """Total error of `loss` in chips.

        It is the sum of `range_error`, the exploitability of the solve, and the gain from better play after the action
        taken or after the best action.
        """
        after = self.best_evs.max() - self.evs.max()
        if self.chosen is not None:
            at = self.actions.index(self.chosen)
            after = max(after, self.best_evs[at] - self.evs[at])
        return float(self.exploitability + max(after, 0.0)) + self.range_error

    @property
    def is_guess(self) -> bool:
        """Whether the action taken loses against the solved range, but not against another range as plausible."""
        return self.loss is not None and 0 < self.loss <= self.range_error

    @property
    def frequency(self) -> float:
        """Probability with which sound play takes the action taken."""
        return 0.0 if self.chosen is None else float(self.frequencies[self.actions.index(self.chosen)])

    @property
    def is_certain(self) -> bool:
        """Whether a finished solve finds a loss beyond its error, in an action that is not part of a mixed strategy."""
        return self.loss is not None and self.finished and self.loss > self.error and self.frequency < _MIXED


def review(solved: SolvedDecision, state: HandState, chosen: int | None) -> DecisionReview:
    """Return the review of a solved decision.

    Args:
        state: its state, with the cards of the player to act.
        chosen: the action taken; None for none.
    """
    hand, live = hand_number(state, state.to_act), HOLDEM.live(state.board).astype(np.float64)
    paid = state.betting.committed[state.to_act]
    weights = solved.ranges[solved.player].astype(np.float64)
    believed = np.bincount(PREFLOP_CLASS, weights, minlength=169) / weights.sum()
    guesses = (values[hand].astype(np.float64) + paid for values in solved.guesses)
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
        tuple(evs for evs in guesses if np.isfinite(evs).all()),
        f"search={solved.search}, {solved.method}",
    )


def decisions_of(state: HandState, player: int) -> Iterator[tuple[HandState, int]]:
    """Yield the states in which a player has acted, as the player saw them, and the actions."""
    for before, actor, action in state.betting.turns():
        if actor == player:
            yield replace(state, betting=before).view(player), action


class Reviews:
    """Reviews of one player's decisions in the hands of a game, one at a time.

    Args:
        solver: solves the decisions.
        hinting: solves decisions that the player has not made yet; None for `solver`.
    """

    def __init__(self, rules: Rules, solver: Agent, hinting: Agent | None = None) -> None:
        """Start with an empty cache."""
        self._rules, self._solver, self._lock = rules, solver, threading.Lock()
        self._hinting = hinting or solver
        self.big_blind = rules.big_blind
        self._reviews = LRUCache[tuple[HandState, int | None], DecisionReview](_KEPT)

    @property
    def why_not(self) -> str:
        """The reason why no decision is reviewed; empty if some are."""
        reviewable = (self._rules.num_hole_cards, self._rules.deck_size) == (2, 52)
        return "" if reviewable else f"only hold'em can be reviewed, not `{self._rules.name}`"

    def refusal(self, state: HandState) -> str:
        """Return the reason why the decision at `state` is not reviewed; empty if it is."""
        rules = state.rules
        if self.why_not or rules.num_players == 2:
            return self.why_not
        if HeadsUpRest.of(state.betting, rules.num_streets - SOLVED_TO_THE_END):
            return ""
        return "At tables of more than two players, only turns and rivers that began with two can be reviewed."

    def decision(self, state: HandState, chosen: int | None) -> DecisionReview:
        """Review the decision of the player to act; takes as long as the solve.

        Args:
            state: the player's view.
            chosen: the action taken; None for none.

        Raises:
            PokernetsError: the decision cannot be reviewed.
        """
        if refusal := self.refusal(state):
            raise PokernetsError(refusal)

        def made() -> DecisionReview:
            raises = (chosen,) if chosen is not None and chosen > 0 else ()
            hand = hand_number(state, state.to_act)
            solver = self._hinting if chosen is None else self.solver_of(state)
            solved = self._solved(solver, public_state(state.betting, state.board), raises, hand)
            return review(solved, state, chosen)

        with self._lock:
            return self._reviews.get_or_make((state, chosen), made)

    def opinion(self, state: HandState, chosen: int | None) -> DecisionReview | Advice:
        """Review a decision or, if that is refused at a table of more than two, return what the solver would do.

        Args:
            state: the player's view.
            chosen: the action taken; None for none.

        Raises:
            PokernetsError: the decision cannot be reviewed at any table.
        """
        why = self.refusal(state)
        if not why or self.why_not or state.rules.num_players == 2:
            return self.decision(state, chosen)
        with self._lock:
            policy = self.solver_of(state).ranged_policy(state)
        hand, cards = hand_number(state, state.to_act), state.hole_cards[state.to_act]
        frequencies, weight = policy.probs[hand].astype(np.float64), float(policy.weights[hand])
        expected = HOLDEM.live(state.board) & np.isfinite(policy.probs).all(axis=1)
        grid = class_shares(expected.astype(np.float64), np.nan_to_num(policy.probs))
        return Advice(state.betting, state.board, cards, chosen, policy.actions, frequencies, grid, weight, why)

    def reviewed(self, state: HandState, player: int) -> list[tuple[HandState, int]]:
        """Return the decisions of a hand that can be reviewed, as in `decisions_of`."""
        return [(view, action) for view, action in decisions_of(state, player) if not self.refusal(view)]

    def refused(self, state: HandState, player: int) -> list[tuple[HandState, str]]:
        """Return the decisions of a hand that cannot be reviewed, with the reasons."""
        return [(view, why) for view, _ in decisions_of(state, player) if (why := self.refusal(view))]

    def solver_of(self, state: HandState) -> Agent:
        """Return the solver of the decision at `state`."""
        return self._solver

    def _solved(self, solver: Agent, state: HandState, raises: tuple[int, ...], hand: int) -> SolvedDecision:
        return solver.opponents_decision(state, raises, hand)
