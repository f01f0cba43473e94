from pathlib import Path

import numpy as np
import pytest

from poker.abstraction.features import hand_features
from poker.game.cards import NUM_HANDS, PREFLOP_CLASS, hand_index, parse_cards
from poker.opponents.limit.preflop import IncomeRates, RollOuts
from poker.run.errors import PokernetsError
from poker.store.artifacts import MissingArtifactError


def hand_class(text: str) -> int:
    return int(PREFLOP_CLASS[hand_index(*parse_cards(text))])


@pytest.fixture(scope="module")
def rates() -> IncomeRates:
    rollouts = RollOuts(deals=100_000, iterations=8, iteration_deals=20_000, seed=7)
    return IncomeRates.of(map(rollouts.of, range(10, 1, -1)))


def test_heads_up_rate_is_twice_the_equity_less_one(rates: IncomeRates) -> None:
    equity = hand_features(()).ehs
    for text in ("AsAh", "7c2d", "3s2s", "3s2d", "QhJh"):
        index = hand_class(text)
        expected = 2 * equity[hand_index(*parse_cards(text))] - 1
        assert abs(rates.plain[0, index] - expected) < 4.5 * rates.plain_error[0, index], text


def test_published_rates(rates: IncomeRates) -> None:
    """[POKI] and the tables it rests on, in bets won for each bet paid: seven players and two."""
    published = {("AsAh", 7): 2.043, ("7c2d", 7): -0.495, ("3s2s", 2): -0.279, ("3s2d", 2): -0.351}
    for (text, players), rate in published.items():
        index = hand_class(text)
        tolerance = 4 * rates.plain_error[players - 2, index] + 0.006
        assert rates.plain[players - 2, index] == pytest.approx(rate, abs=tolerance), text
    assert (rates.plain[5] >= 0).sum() == pytest.approx(88, abs=6)


def test_bets_of_a_plain_roll_out_go_round(rates: IncomeRates) -> None:
    """Nothing is forfeited, so the income of all hands together is 0 for every number of players."""
    sizes = np.bincount(PREFLOP_CLASS)
    error = np.sqrt((rates.plain_error**2) @ (sizes / NUM_HANDS) ** 2)
    assert (np.abs(rates.plain @ sizes / NUM_HANDS) < 4 * error).all()


def test_iterated_players_enter_with_less_at_larger_tables(rates: IncomeRates) -> None:
    shares = [rates.entering_share(players) for players in range(2, 11)]
    assert shares == sorted(shares, reverse=True)
    assert shares[0] > 0.9
    assert rates.enters[:, hand_class("AsAh")].min() == 1
    assert rates.enters[-1, hand_class("7c2d")] < 0.2


def test_entering_settles() -> None:
    changes = RollOuts(deals=1000, iterations=20, iteration_deals=20_000, seed=7).of(6).changes
    assert len(changes) == 20
    assert changes[-1] < changes[0] / 4


def test_rates_of_no_deals_are_refused() -> None:
    with pytest.raises(PokernetsError, match="at least 1"):
        RollOuts(deals=0, iterations=8, iteration_deals=1, seed=7)


def test_quantiles_rank_hands_and_survive_the_disk(rates: IncomeRates, tmp_path: Path) -> None:
    quantile = rates.quantile(10)
    assert quantile[hand_index(*parse_cards("AsAh"))] == pytest.approx(1 - 3 / NUM_HANDS)
    assert quantile.mean() == pytest.approx(0.5, abs=1e-6)
    rates.save(tmp_path / "rates", {"deals": 100_000})
    loaded = IncomeRates.load(tmp_path / "rates")
    np.testing.assert_array_equal(loaded.iterated, rates.iterated)
    np.testing.assert_array_equal(loaded.quantile(2), rates.quantile(2))
    with pytest.raises(MissingArtifactError, match="job=preflop_rollouts"):
        IncomeRates.load(tmp_path / "elsewhere")
