"""Frequencies by position and likelihoods of actions, of hands written out and of agents with themselves."""

import math
from pathlib import Path

import numpy as np
import pytest

from poker.agents.base import SamplingAgent
from poker.experiments import beside_people
from poker.game.state import HandState, Policy
from poker.opponents.profiles import PFR, VPIP
from poker.play.lineup import AgentSpec
from poker.run.errors import PokernetsError
from tests.games import load_rules

SIX = load_rules("holdem_nolimit_6p")


class Even(SamplingAgent):
    """Folds, calls and makes the least and the largest raise, each as often."""

    def policy(self, state: HandState) -> Policy:
        legal = state.legal()
        actions = (-1,) * legal.fold + (0,) + ((legal.min_raise, legal.max_raise) if legal.max_raise else ())
        return actions, np.full((state.rules.num_hands, len(actions)), 1 / len(actions), np.float32)


def test_a_file_of_hands_beside_an_agent(tmp_path: Path) -> None:
    log = tmp_path / "hands.log"
    cards = "AhAd|7c2d|3c3d|KsKd|9h8h|JcTc"
    log.write_text(
        f"STATE:0:fr225ffff:{cards}:-50|-100|0|150|0|0:a|b|c|d|e|f\n"
        f"STATE:1:ffffr300f:{cards}:100|-100|0|0|0|0:b|c|d|e|f|a\n"
    )
    agents = [AgentSpec("even", lambda: Even(name="even"), {})]
    record = beside_people.run(
        game=SIX, agents=agents, log=str(log), player="b", hands=20, seed=1, out=str(tmp_path / "out")
    )
    rows = {(row["of"], row["measure"]): row["share"] for row in record["frequencies"]}
    shares = {(*key, position): share for key, row in rows.items() for position, share in row.items()}
    assert [shares["b", VPIP, position] for position in ("SB", "BB")] == [1, 0]
    assert shares["others", PFR, "HJ"] == 0.5
    assert 0.5 < shares["even", VPIP, "UTG"] < 1.0
    opened = {row["position"]: row["raise"] for row in record["first_in"]}
    assert opened == pytest.approx(dict.fromkeys(("UTG", "HJ", "CO", "BTN", "SB"), 0.5))
    [chance, even] = record["likelihood"]["b"]
    assert chance["log_likelihood"]["mean"] == pytest.approx(-math.log(3))
    folded, raised = (math.log(0.99 * share + 0.01 / 3) for share in (0.25, 0.5))
    assert even["log_likelihood"]["mean"] == pytest.approx((folded + raised) / 2)
    with pytest.raises(PokernetsError, match="none of them of `holdem_nolimit_3p`: 3 players"):
        beside_people.run(
            game=load_rules("holdem_nolimit_3p"), agents=agents, log=str(log), player=None, hands=1, seed=1, out="."
        )
