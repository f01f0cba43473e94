"""Charts before the flop, and a blueprint at a table of six: what hands do on the charts, and where neither helps."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from poker.abstraction.buckets import make_abstraction
from poker.agents.base import ranges_at
from poker.agents.blueprint import BlueprintAgent, pot_odds_policy
from poker.agents.charts import ChartAgent
from poker.formats.ranges import parse_range
from poker.game.beliefs import observe_board
from poker.game.betting import Betting
from poker.game.cards import NUM_HANDS, PREFLOP_CLASS, hand_index, parse_cards
from poker.game.rules import CALL, FOLD
from poker.game.state import HandState
from poker.kernels.cards.isomorphism import NUM_BOARDS
from poker.run.errors import PokernetsError
from poker.tree import bet_menu, build_tree
from tests.blueprints import random_blueprint
from tests.cases import cases
from tests.formats.samples import sample
from tests.games import SIX

CHARTS = sample("charts")
OPEN = "r200ffff"


@pytest.fixture
def charts(agent: BlueprintAgent, tmp_path: Path) -> ChartAgent:
    (tmp_path / "charts.txt").write_text(CHARTS)
    path = str(tmp_path / "charts.txt")
    return ChartAgent(name="charts", blueprint=agent.blueprint, translation_seed=0, charts=path)


def played(charts: ChartAgent, text: str, cards: str) -> dict[str, float]:
    """Probabilities by `fold`, `call` or the total of a raise."""
    actions, probs = charts.policy(HandState(Betting.parse(SIX, text), ((),) * 6, BOARD))
    assert probs.sum(axis=1) == pytest.approx(1)
    names = [{FOLD: "fold", CALL: "call"}.get(action, str(action)) for action in actions]
    return dict(zip(names, probs[hand_index(*sorted(parse_cards(cards)))].tolist(), strict=True))


@cases
def test_hands_play_the_first_chart_of_the_spot(charts: ChartAgent, text: str, cards: str, expected: Any) -> None:
    assert played(charts, text, cards) == pytest.approx(expected)


def test_ranges_of_a_line_follow_its_charts(charts: ChartAgent) -> None:
    ranges = ranges_at(charts.policy, Betting.parse(SIX, f"{OPEN}c"), BOARD[:3])
    opened, called = observe_board(np.stack([parse_range("QQ+,AK:.5"), parse_range("22+,AA:0,KK:.5")]), BOARD[:3])
    assert ranges[2] / ranges[2].max() == pytest.approx(opened / opened.max())
    assert ranges[1] / ranges[1].max() == pytest.approx(called / called.max())


def test_blueprint_plays_where_charts_end(charts: ChartAgent, agent: BlueprintAgent) -> None:
    for text in ("f", f"{OPEN}c/"):
        state = HandState(Betting.parse(SIX, text), ((),) * 6, BOARD[:3])
        (actions, probs), (others, their_probs) = charts.policy(state), agent.policy(state)
        assert actions == others
        assert (probs == their_probs).all()


@cases
def test_charts_that_cannot_be_read(agent: BlueprintAgent, tmp_path: Path, line: str, message: str) -> None:
    (tmp_path / "bad.txt").write_text(line)
    for path, reason in {
        str(tmp_path / "bad.txt"): message,
        str(tmp_path / "none.txt"): "the charts of `charts`",
    }.items():
        with pytest.raises(PokernetsError, match=reason):
            ChartAgent(name="charts", blueprint=agent.blueprint, translation_seed=0, charts=path)


def test_handmade_charts_have_the_lines_of_public_solutions(agent: BlueprintAgent) -> None:
    charts = ChartAgent(name="charts", blueprint=agent.blueprint, translation_seed=0, charts=None)
    for text in ("r200ffffc", "fffr250fc", "ffffr300c", "r200r650ffffc", "fr200fffr1230c", "ffr230r750ffc"):
        betting = Betting.parse(SIX, text)
        for weights in ranges_at(charts.policy, betting, BOARD[:3])[~np.array(betting.folded)]:
            assert 0.01 < (weights / weights.max()).mean() < 0.5


BOARD = parse_cards("AhKd7c7s2d")


@pytest.fixture(scope="module")
def agent() -> BlueprintAgent:
    tables = [np.zeros((NUM_BOARDS[size], NUM_HANDS), np.uint8) for size in (3, 4, 5)]
    menu = bet_menu(preflop=[["2.25x"], ["3x"], ["2.3x"], []], flop=[[]], turn=[[]], river=[[]], beyond=[2])
    tree = build_tree(Betting.start(SIX), menu)
    blueprint = random_blueprint(tree, make_abstraction([PREFLOP_CLASS[None], *tables], [169, 1, 1, 1]))
    return BlueprintAgent(name="blueprint", blueprint=blueprint, translation_seed=0)


def calls(agent: BlueprintAgent, text: str, cards: str) -> float:
    state = HandState(Betting.parse(SIX, text), ((),) * 6, BOARD)
    actions, probs = agent.policy(state)
    assert actions == (FOLD, CALL)
    return float(probs[hand_index(*sorted(parse_cards(cards))), 1])


@cases
def test_hands_call_by_pot_odds(agent: BlueprintAgent, text: str, cards: str, called: float) -> None:
    assert calls(agent, text, cards) == called


def test_player_after_an_own_raise_plays_the_blueprint(agent: BlueprintAgent) -> None:
    actions, _ = agent.policy(HandState(Betting.parse(SIX, "r225r675r1552fff"), ((),) * 6, BOARD))
    assert len(actions) == len(
        agent.blueprint.tree.actions(agent.blueprint.tree.find((225, 675, 1552, FOLD, FOLD, FOLD)))
    )
    assert pot_odds_policy(Betting.parse(SIX, "ffffcc/"), BOARD[:3])[0] == (CALL,)
