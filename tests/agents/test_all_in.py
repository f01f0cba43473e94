import numpy as np
import pytest

from poker.abstraction.features import hand_features
from poker.agents.all_in import AllInPlayer, best_hands
from poker.game.cards import hand_index
from poker.game.rules import CALL, FOLD
from poker.game.state import HandState
from poker.run.errors import PokernetsError
from tests.games import HEADS_UP as NOLIMIT
from tests.games import load_rules


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


def test_games_and_shares_that_make_no_sense_are_refused() -> None:
    with pytest.raises(PokernetsError, match="share"):
        AllInPlayer(name="none", share=0.0)
    with pytest.raises(PokernetsError, match="leduc"):
        AllInPlayer(name="all", share=1.0).check_game(load_rules("leduc"))
