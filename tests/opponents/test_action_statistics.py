import numpy as np
import pytest

from poker.game.betting import Betting
from poker.game.rules import CALL_CLASS, FOLD_CLASS, RAISE_CLASS, action_class
from poker.opponents.action_statistics import GENERIC_TABLE, BestOf, Constant, ContextCounts, majority, of_players
from poker.opponents.inputs.limit import bets_to_call
from poker.opponents.model import NUM_CONTEXTS, Context, Predictor, context_of
from poker.run.errors import PokernetsError
from tests.games import load_rules

FLOP_BET = Context("ann", 1, 1)


def table_of(fold: float, call: float, bet: float) -> np.ndarray:
    return np.tile([fold, call, bet], (NUM_CONTEXTS, 1))


def all_predictors() -> list[Predictor]:
    return [Constant(), majority(), ContextCounts(), of_players(12), BestOf({"a": Constant()})]


@pytest.mark.parametrize(
    ("text", "level"),
    [("", 1), ("r", 2), ("fff", 1), ("cr", 2), ("rffffffff", 1), ("cccccccccc/c", 0), ("cccccccccc/crr", 2)],
)
def test_bets_to_call_counts_started_bets(text: str, level: int) -> None:
    """After `rffffffff` the big blind has one bet in; the small blind of half a bet counts as one to call."""
    rules = load_rules("holdem_limit_10p")
    assert bets_to_call(Betting.parse(rules, text)) == level


def test_context_of_small_blind_and_class_of_actions() -> None:
    rules = load_rules("holdem_limit_10p")
    context = context_of(Betting.parse(rules, "cccccccc"), (), "bob")
    assert (context.player, context.street, context.bets_to_call, context.index) == ("bob", 0, 1, 1)
    assert Context("x", 3, 2).index == NUM_CONTEXTS - 1
    assert [action_class(action) for action in (-1, 0, 40)] == [FOLD_CLASS, CALL_CLASS, RAISE_CLASS]


def test_every_predictor_gives_probabilities_and_forgets() -> None:
    for predictor in all_predictors():
        before = [predictor.probs(Context("ann", street, bets)) for street in range(4) for bets in range(3)]
        for _ in range(50):
            predictor.update(FLOP_BET, RAISE_CLASS)
        after = predictor.probs(FLOP_BET)
        assert isinstance(predictor, Predictor)
        assert after.min() > 0
        assert after.sum() == pytest.approx(1)
        predictor.forget()
        again = [predictor.probs(Context("ann", street, bets)) for street in range(4) for bets in range(3)]
        np.testing.assert_array_equal(before, again)


def test_shrinkage_is_the_number_of_pseudo_observations() -> None:
    predictor, population = of_players(10), ContextCounts()
    for _ in range(20):
        predictor.update(FLOP_BET, CALL_CLASS)
        population.update(FLOP_BET, CALL_CLASS)
    base = population.probs(FLOP_BET)
    np.testing.assert_allclose(predictor.probs(FLOP_BET), ([0, 20, 0] + 10 * base) / 30)
    np.testing.assert_allclose(predictor.probs(Context("ann", 2, 1)), GENERIC_TABLE[7])
    np.testing.assert_allclose(predictor.probs(Context("bob", 1, 1)), base)


def test_population_learns_from_everybody() -> None:
    predictor = of_players(12)
    for player in ("ann", "bob", "eve"):
        for _ in range(100):
            predictor.update(Context(player, 1, 1), RAISE_CLASS)
    assert predictor.probs(Context("unseen", 1, 1))[RAISE_CLASS] > 0.95
    assert predictor.probs(Context("unseen", 2, 1))[RAISE_CLASS] == pytest.approx(GENERIC_TABLE[7, RAISE_CLASS])


def test_best_of_uses_the_best_predictor_of_the_player() -> None:
    caller, folder = Constant(table_of(0.1, 0.8, 0.1)), Constant(table_of(0.8, 0.1, 0.1))
    mixture = BestOf({"caller": caller, "folder": folder})
    assert mixture.chosen("ann") == "caller"
    for _ in range(3):
        mixture.update(FLOP_BET, FOLD_CLASS)
        mixture.update(Context("bob", 1, 1), CALL_CLASS)
    assert (mixture.chosen("ann"), mixture.chosen("bob")) == ("folder", "caller")
    for _ in range(20):
        mixture.update(FLOP_BET, CALL_CLASS)
    assert mixture.chosen("ann") == "caller"


def test_weight_is_positive() -> None:
    with pytest.raises(PokernetsError, match="above 0"):
        of_players(0)
