from dataclasses import replace

import numpy as np
import pytest

from poker.abstraction.equities import showdown_equity
from poker.abstraction.features import hand_features
from poker.agents.all_in import AllInPlayer, best_hands
from poker.agents.base import hand_number
from poker.game.cards import HOLDEM, hand_index
from poker.game.rules import CALL, FOLD
from poker.game.state import HandState
from poker.report.estimates import estimate
from poker.run.errors import PokernetsError
from tests.games import load_rules

NOLIMIT = load_rules("holdem_nolimit_2p")
SHORT = replace(NOLIMIT, stacks=(1000, 1000))


@pytest.mark.parametrize("share", [0.05, 0.1, 0.2, 1.0])
def test_the_share_of_hands_is_exact_and_the_best(share: float) -> None:
    played = best_hands(share)
    equity = hand_features(()).ehs
    assert played.sum() == pytest.approx(share * 1326)
    assert played[hand_index(50, 51)] == 1  # aces
    if share < 1:
        assert equity[played == 1].min() >= equity[played < 1].max() - 1e-9
        assert played[hand_index(0, 20)] == 0  # seven and deuce


def test_others_are_checked_and_folded_and_nothing_is_bet_later() -> None:
    player = AllInPlayer(name="some", share=0.1)
    button = HandState.deal(NOLIMIT, np.random.default_rng(1))
    actions, probs = player.policy(button)
    assert actions == (FOLD, 20000)
    np.testing.assert_allclose(probs[:, 1], best_hands(0.1), atol=1e-6)
    limped = button.apply(CALL)
    assert player.policy(limped)[0] == (CALL, 20000)
    assert player.policy(button.apply(20000))[0] == (FOLD, CALL)
    flop = limped.apply(CALL)
    assert player.policy(flop)[0] == (CALL,)
    assert player.policy(flop.apply(200))[0] == (FOLD,)


def test_against_any_hand_the_best_reply_calls_what_its_equity_pays_for() -> None:
    big, small = AllInPlayer(name="all", share=1.0).best_reply(NOLIMIT)
    called = (2 * hand_features(()).ehs - 1) * 20000
    assert big == pytest.approx(np.maximum(called, -100).mean(), rel=1e-4)
    assert small == pytest.approx(np.maximum(called, -50).mean(), rel=1e-4)


def test_what_the_best_reply_wins_when_it_is_played() -> None:
    """Limping, betting what is checked, and calling an all-in where that loses less than the blind."""
    player = AllInPlayer(name="fifth", share=0.2)
    weight = HOLDEM.disjoint * best_hands(0.2)
    call = ((2 * showdown_equity(SHORT, ()) - 1) * 1000 * weight).sum(axis=1) > -100 * weight.sum(axis=1)

    def reply(state: HandState) -> int:
        legal = state.legal()
        if not legal.fold:
            return legal.min_raise if state.betting.street and legal.min_raise else CALL
        facing_all_in = state.betting.to_call > 100
        return CALL if not facing_all_in or call[hand_number(state, state.to_act)] else FOLD

    won = np.zeros((3000, 2))
    for deal in range(len(won)):
        for seat in range(2):
            player.reset(2 * deal + seat)
            state = HandState.deal(SHORT, np.random.default_rng([7, deal]))
            while not state.is_over:
                state = state.apply(reply(state) if state.to_act == seat else player.act(state))
            won[deal, seat] = state.payoffs()[seat]
    mean_won = estimate(won.mean(axis=1))
    assert abs(mean_won.mean - sum(player.best_reply(SHORT)) / 2) < 2 * mean_won.half_width
    assert mean_won.half_width < 15  # chips; the best reply wins about 60


def test_games_and_shares_that_make_no_sense_are_refused() -> None:
    with pytest.raises(PokernetsError, match="share"):
        AllInPlayer(name="none", share=0.0)
    with pytest.raises(PokernetsError, match="leduc"):
        AllInPlayer(name="all", share=1.0).check_game(load_rules("leduc"))
