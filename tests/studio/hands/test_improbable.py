"""Reviews after improbable actions list no loss that another plausible range turns around."""

import pytest

import pokernets
from poker.agents.searching.heads_up import DepthLimitedAgent
from tests.games import load_rules
from tests.search.even_leaf import even_solver
from tests.studio.hands.improbable import HANDS, turned


@pytest.mark.parametrize("source", ["few bets", pytest.param("laptop", marks=pytest.mark.slow)])
def test_no_loss_is_listed_that_a_plausible_range_turns_around(source: str) -> None:
    agent = even_solver() if source == "few bets" else pokernets.load_agent(source).agent
    assert isinstance(agent, DepthLimitedAgent)
    decisions = list(turned(agent, load_rules("holdem_nolimit_2p")))
    improbable = [one for one in decisions if one.review.guesses]
    assert len(improbable) >= (len(HANDS) if source == "laptop" else 5)
    assert sum(one.is_turned for one in improbable if one.is_found) >= 2
    listed = [one for one in improbable if one.review.is_certain]
    assert len(listed) >= (1 if source == "laptop" else 0)
    assert not any(one.is_turned for one in listed)
    assert all(one.review.is_guess for one in improbable if one.is_found and not one.review.is_certain)
