"""Local best response: known values, and never more than the exact best response."""

import math

import numpy as np
import pytest

from poker.agents.base import Agent
from poker.agents.simple import AlwaysCall, RandomAgent
from poker.errors import PokernetsError
from poker.evaluation.lbr import LbrActions, LbrStreet, LocalBestResponse
from poker.evaluation.policies import require_policy
from poker.rules import CALL, FOLD, Rules
from poker.state import HandState
from tests.evaluation.small_games import RandomPolicy, best_response_value
from tests.games import load_rules

EVERYTHING = LbrStreet(fold=True, raises=("0.5", "1", "a"))


class AlwaysFold(RandomAgent):
    """Folds to every bet."""

    def __init__(self) -> None:
        super().__init__(name="always_fold", raises=())

    def _weights(self, state: HandState) -> dict[int, float]:
        return {FOLD: 1.0} if state.legal().fold else {CALL: 1.0}


def lbr_value(rules: Rules, policy: RandomPolicy, seat: int, actions: LbrActions) -> float:
    """Exact chips of the adversary in `seat` over all hands of a game of one-card hands."""
    agent = LocalBestResponse(name="lbr", game=rules, opponent=policy, actions=actions)
    chosen: dict[tuple[object, ...], int] = {}

    def value(state: HandState, probability: float) -> float:
        if state.is_over:
            return probability * state.payoffs()[seat]
        if state.to_act == seat:
            key = (state.betting.text(), state.board, state.hole_cards[seat])
            if key not in chosen:
                agent.start_hand(seat)
                chosen[key] = agent.act(state.view(seat))
            return value(state.apply(chosen[key]), probability)
        options, probs = policy.policy(state)
        row = probs[state.hole_cards[state.to_act][0]]
        return math.fsum(
            value(state.apply(action), probability * chance)
            for action, chance in zip(options, row.tolist(), strict=True)
            if chance > 0
        )

    deck = range(rules.deck_size)
    deals = [(a, b, c) for a in deck for b in deck for c in deck if len({a, b, c}) == 3]
    starts = [HandState.start(rules, [(a,), (b,)], (c,)) for a, b, c in deals]
    return math.fsum(value(start, 1 / len(deals)) for start in starts)


@pytest.mark.parametrize("seed", range(4))
def test_never_more_than_the_best_response_in_leduc(seed: int) -> None:
    rules = load_rules("leduc")
    policy = RandomPolicy(rules, seed)
    for seat in range(2):
        best = best_response_value(rules, policy, seat)
        found = lbr_value(rules, policy, seat, LbrActions([EVERYTHING, EVERYTHING]))
        assert 0 < found < best + 1e-9


def play(rules: Rules, agents: list[Agent], hands: int, seed: int) -> float:
    """Mean chips of agents[0], cards played in both seats."""
    rng = np.random.default_rng(seed)
    chips = 0
    for _ in range(hands):
        start = HandState.deal(rules, rng)
        for seat in range(2):
            line_up = agents if seat == 0 else agents[::-1]
            state = start
            for player, agent in enumerate(line_up):
                agent.start_hand(player)
            while not state.is_over:
                state = state.apply(line_up[state.to_act].act(state.view(state.to_act)))
            chips += state.payoffs()[seat]
    return chips / (2 * hands)


@pytest.mark.parametrize("game", ["holdem_limit_2p", "holdem_nolimit_2p"])
def test_always_fold_loses_750_mbb(game: str) -> None:
    rules = load_rules(game)
    folder = AlwaysFold()
    lbr = LocalBestResponse(name="lbr", game=rules, opponent=folder, actions=LbrActions([EVERYTHING] * 4))
    assert play(rules, [lbr, folder], 3, 1) * 1000 / rules.big_blind == 750.0


def test_opening_raise_comes_first_and_then_calls_only() -> None:
    rules = load_rules("holdem_nolimit_2p")
    plain = LbrStreet(fold=False, raises=())
    actions = LbrActions([plain, LbrStreet(fold=True, raises=[0.33 * 2**x for x in range(11)]), plain, plain], "0.75")
    state = HandState.deal(rules, np.random.default_rng(1))
    assert actions.choices(state.betting) == (250,)
    assert actions.choices(state.betting.apply(250).apply(1000)) == (CALL,)
    flop = state.betting.apply(250).apply(CALL)
    assert actions.choices(flop) == (CALL, 415, 580, 910, 1570, 2890, 5530, 10810, 20000)
    assert actions.choices(flop.apply(1000))[:2] == (FOLD, CALL)


def test_an_agent_without_a_policy_is_refused_by_name() -> None:
    class Opaque:
        name = "opaque"

        def reset(self, seed: int) -> None:
            """Nothing."""

        def start_hand(self, seat: int) -> None:
            """Nothing."""

        def act(self, state: HandState) -> int:
            return CALL

    with pytest.raises(PokernetsError, match="`opaque` has no policy interface"):
        LocalBestResponse(
            name="lbr", game=load_rules("leduc"), opponent=Opaque(), actions=LbrActions([EVERYTHING, EVERYTHING])
        )
    assert require_policy(AlwaysCall(name="caller"), "this test").name == "caller"
