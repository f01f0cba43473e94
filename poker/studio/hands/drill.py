"""Reviews of hands in the database, and drills: costly decisions of a player, asked again with other hands."""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from poker.agents.base import Agent
from poker.formats.histories import hands_of
from poker.game.cards import HOLDEM
from poker.game.rules import Rules
from poker.game.state import HandState, public_state
from poker.run.errors import PokernetsError
from poker.search.opponent_decision import SolvedDecision
from poker.studio.hands.hand_base import HandBase, HandSearch
from poker.studio.hands.hand_file import FileReviews, in_chips_of
from poker.studio.hands.review import DecisionReview, decisions_of, review

_CANDIDATES = 300
"""Number of the costliest decisions from which one is drawn."""
_UNREVIEWED = 0.01
"""Big blinds added to the cost of every decision, so that not only known mistakes are drawn."""


def reviewable(base: HandBase, hand: int, player: str, reviews: FileReviews) -> tuple[HandState, int, tuple[str, ...]]:
    """Return a hand of the database in the chips of its reviews, the player's seat, and the players' names.

    Args:
        base: the database.
        player: the player whose decisions are reviewed.
        reviews: solves the decisions.

    Raises:
        PokernetsError: the hand cannot be reviewed; the message gives the reason.
    """
    text = base.text(hand)
    if not text:
        raise PokernetsError("it cannot be stored as text")
    [played] = hands_of(text, "the hand")
    return *in_chips_of(reviews.game_of(played.rules.num_players), played, player), played.names


def review_hand(
    base: HandBase,
    hand: int,
    player: str,
    reviews: FileReviews,
    watch: Callable[[int, int], object] = lambda decision, of: None,
) -> list[str]:
    """Review a player's decisions in a hand of the database, and store their costs there.

    Args:
        base: the database.
        reviews: solves the decisions.
        watch: called before each decision with its number and the number of decisions.

    Returns:
        the reasons why decisions were left out.

    Raises:
        PokernetsError: the hand cannot be reviewed.
    """
    state, seat, _ = reviewable(base, hand, player, reviews)
    decisions, costs = list(decisions_of(state, seat)), []
    for place, (view, action) in enumerate(decisions):
        watch(place + 1, len(decisions))
        if not reviews.refusal(view):
            decision = reviews.decision(view, action)
            lost = decision.loss - decision.range_error if decision.is_certain and decision.loss is not None else 0.0
            costs.append((lost / reviews.big_blind, hand, player, place))
    base.set_costs(costs)
    return [why for _, why in reviews.refused(state, seat)]


@dataclass(frozen=True, eq=False)
class DrillSpot:
    """A decision of a hand that was played, solved for all hands.

    Attributes:
        state: the state as the player saw it.
        taken: the action that the player took.
        seat: the player's seat.
        names: names of the players.
    """

    state: HandState
    taken: int
    seat: int
    names: tuple[str, ...]
    solved: SolvedDecision

    def dealt(self, rng: np.random.Generator) -> HandState:
        """Return the decision with a hand drawn from the player's estimated range."""
        weights = self.solved.ranges[self.seat] * HOLDEM.live(self.state.board)
        cards = HOLDEM.hand_cards[rng.choice(len(weights), p=weights / weights.sum())]
        hands = [tuple(map(int, cards)) if seat == self.seat else () for seat in range(2)]
        return HandState(self.state.betting, tuple(hands), self.state.runout)

    def answered(self, state: HandState, action: int) -> DecisionReview:
        """Return the review of `action` with the hand of a `state` that was dealt."""
        return review(self.solved, state, action)


def draw_spot(base: HandBase, search: HandSearch, game: Rules, solver: Agent, rng: np.random.Generator) -> DrillSpot:
    """Draw a decision with a probability that grows with its cost, and solve it.

    Args:
        base: the database.
        search: the decisions to draw from.
        solver: solves the decision.
        rng: generator of random numbers.

    Raises:
        PokernetsError: no decision can be reviewed.
    """
    rows, why_not = base.weighed(search, _CANDIDATES), "no hands found"
    weights = np.array([_UNREVIEWED + cost for _, _, cost in rows])
    reviews = FileReviews(game, solver)
    for place in rng.choice(len(rows), len(rows), replace=False, p=weights / weights.sum()) if rows else ():
        hand, number, _ = rows[place]
        try:
            state, seat, names = reviewable(base, hand, search.player, reviews)
        except PokernetsError as error:
            why_not = str(error)
            continue
        decisions = list(decisions_of(state, seat))
        if number >= len(decisions) or (why_not := reviews.refusal(decisions[number][0])):
            continue
        view, taken = decisions[number]
        solved = solver.others_decision(public_state(view.betting, view.board), (taken,) if taken > 0 else ())
        return DrillSpot(view, taken, seat, names, solved)
    raise PokernetsError(f"there is no decision to drill: {why_not}")
