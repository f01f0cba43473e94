"""Hand histories in the text of Winamax: invented hands in the shapes of public samples."""

from poker.formats.histories import WINAMAX, format_of
from tests.formats.samples import read, read_all, sample

CASH = sample("winamax_cash")
BET = sample("winamax_bet")
TOURNAMENT = sample("winamax_tournament")


def test_cash_games_and_tournaments_are_read_and_played() -> None:
    assert format_of(CASH, "x") == WINAMAX
    cash, bet, tournament = read_all(CASH + BET + TOURNAMENT)
    assert cash.names == ("Dot", "Ed", "Ann", "Ben C", "Cy")
    assert (cash.payoffs, cash.rake, cash.rules.min_bet) == ((-2, -295, -60, 315, 0), 42, 5)
    assert (bet.names, bet.payoffs, bet.rake) == (("Ben", "Ann"), (696, -800), 104)
    assert (tournament.names, tournament.payoffs) == (("Cy", "Ann", "Ben"), (-870, 920, -50))
    assert (tournament.scale, tournament.rules.min_bet) == (1, 400)
    assert str(tournament.details["time"]) == "17:10:11"


def test_a_small_blind_out_of_position_is_dead() -> None:
    text = CASH.replace("Ann posts big", "Ann posts small blind 0.02€ out of position\nAnn posts big")
    text = text.replace("6.10€", "6.12€")
    hand = read(text)
    assert (hand.payoffs, hand.rake) == ((-2, -295, -62, 317, 0), 42)


def test_raises_over_an_all_in_blind_count_from_it() -> None:
    text = TOURNAMENT.replace("Ann (870", "Ann (169").replace("blind 400", "blind 119 and is all-in")
    text = text.replace("raises 960 to 1360", "raises 1241 to 1360").replace("Ann calls 420 and is all-in\n", "")
    text = text.replace("Cy collected 540 from side pot 1", "Cy collected 1241 from side pot 1").replace("1790", "388")
    hand = read(text.replace("Total pot 2330", "Total pot 1629"))
    assert hand.payoffs == (-169, 219, -50)
