"""Reviews after ten improbable actions of the opponent list no loss that another plausible range turns around."""

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
import pytest

import pokernets
from poker.abstraction.equities import check_down_chances
from poker.agents.searching.heads_up import DepthLimitedAgent
from poker.game.betting import Betting
from poker.game.cards import HOLDEM, CanonicalBoard, hand_index, parse_cards
from poker.game.rules import CALL, FOLD, Rules
from poker.game.state import HandState, public_state
from poker.kernels.types import Floats
from poker.search.opponent_decision import Believed, SolvedDecision, decision
from poker.studio.hands.review import DecisionReview, review
from tests.games import load_rules
from tests.search.even_leaf import even_solver

HANDS = (
    ("r300c/cr600c/cr1600c/r4800", "Qs8h3c5d2s", "AhQd", FOLD),
    ("r250c/cr500c/cr1200c/r20000", "Kd7s2h9c4d", "AcKh", FOLD),
    ("r250c/cr500c/cr1200c/r20000", "Kd7s2h9c4d", "7h7d", FOLD),
    ("r250c/cr500r1000c/cc/r20000", "Ac8d3s6hJh", "AdTd", FOLD),
    ("r250c/cr500r1000c/cc/r20000", "Ac8d3s6hJh", "Td9d", CALL),
    ("r300r20000", "", "QsQd", FOLD),
    ("r250c/cr625c/cr1625c/r4875", "Qs8h3c5d2s", "AhQd", FOLD),
    ("r250c/cr625c/cr1625c/r4875", "Qs8h3c5d2s", "KcQd", FOLD),
    ("r300c/r450c/r1200c/r4000", "JhTd4s4c8c", "AsJd", FOLD),
    ("r300c/r450c/r1200c/r4000", "JhTd4s4c8c", "9c9d", CALL),
)
"""Betting up to the decision of the button, the board, its cards and what it does."""
FEW_LINES = 6
"""The first hands, whose four lines the released agent solves."""


@dataclass(frozen=True)
class Turned:
    """A review, and the chips by which what it calls best beats the action taken against each plausible range."""

    review: DecisionReview
    gains: dict[str, float]

    @property
    def is_turned(self) -> bool:
        """Whether there is a plausible range against which nothing was lost."""
        return min(self.gains.values()) <= 0

    @property
    def is_found(self) -> bool:
        """Whether the solve for the believed range alone finds a loss that is certain."""
        one = self.review
        assert one.loss is not None
        return one.finished and one.loss > one.error - one.range_error and one.frequency < 0.05


def plausible(rules: Rules, board: tuple[int, ...], believed: Floats) -> dict[str, Floats]:
    """Ranges [H] of somebody who bets, by their share of the hands that the board leaves, from the weakest: 0 to 1."""
    live = HOLDEM.live(board)
    chances = np.where(live, check_down_chances(rules, board, live / live.sum()), -np.inf)
    order = np.argsort(chances, kind="stable")[np.count_nonzero(~live) :]
    place = np.full(len(live), np.nan)
    place[order] = (np.arange(len(order)) + 0.5) / len(order)
    best, worst = place > 0.85, place < 0.5
    strong = best / best.sum()
    return {
        "only strong hands": strong,
        "two strong hands for each bluff": strong + 0.5 * (place < 0.2) / (place < 0.2).sum(),
        "as many bluffs": strong + worst / worst.sum(),
        "hands of the middle": ((place > 0.5) & (place < 0.95)).astype(float),
        "any hand": live.astype(float),
        "half as believed": 0.5 * strong + 0.5 * believed / believed.sum(),
    }


def turned(agent: DepthLimitedAgent, game: Rules, hands: int) -> Iterator[Turned]:
    """The first `hands` hands reviewed, and solved for each plausible range of the opponent."""
    for text, board, cards, chosen in HANDS[:hands]:
        betting, dealt = Betting.parse(game, text), parse_cards(board)
        player, hand = betting.to_act, hand_index(*parse_cards(cards))
        held = [parse_cards(cards) if seat == player else () for seat in range(2)]
        state = HandState(betting, (held[0], held[1]), dealt)
        solved = agent.opponents_decision(public_state(betting, dealt), (chosen,) if chosen > 0 else ())
        decision = review(solved, state, chosen)
        gains = {}
        for name, weights in plausible(game, dealt, solved.ranges[1 - player].astype(np.float64)).items():
            values = _against(agent, solved, state, weights)[hand]
            gains[name] = float(values[decision.actions.index(decision.best)] - values[decision.actions.index(chosen)])
        yield Turned(decision, gains)


def _against(agent: DepthLimitedAgent, solved: SolvedDecision, state: HandState, weights: Floats) -> Floats:
    """[H, A] values of the decision if `weights` [H] are the opponent's range."""
    player = state.to_act
    board = CanonicalBoard.of(state.board)
    ranges = solved.ranges.copy()
    ranges[1 - player] = weights / weights.sum()
    ranges = np.stack([board.renamed(row) for row in ranges])
    raises = tuple(action for action in solved.actions if action > 0)
    believed = Believed(ranges, solved.weights, ())
    values = decision(agent.without_time_limit, believed, state.betting, board, raises).values
    return values.astype(np.float64)


@pytest.mark.parametrize(
    ("source", "hands"), [("few bets", len(HANDS)), pytest.param("laptop", FEW_LINES, marks=pytest.mark.slow)]
)
def test_no_loss_is_listed_that_a_plausible_range_turns_around(source: str, hands: int) -> None:
    agent = even_solver() if source == "few bets" else pokernets.load_agent(source).agent
    assert isinstance(agent, DepthLimitedAgent)
    decisions = list(turned(agent, load_rules("holdem_nolimit_2p"), hands))
    improbable = [one for one in decisions if one.review.guesses]
    assert len(improbable) >= (hands if source == "laptop" else 5)
    assert sum(one.is_turned for one in improbable if one.is_found) >= 2
    listed = [one for one in improbable if one.review.is_certain]
    assert len(listed) >= (1 if source == "laptop" else 0)
    assert not any(one.is_turned for one in listed)
    assert all(one.review.is_guess for one in improbable if one.is_found and not one.review.is_certain)
