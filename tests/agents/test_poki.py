from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from poker.agents.base import Agent
from poker.agents.poki.formula import PokiFormula, postflop_triple, preflop_triple
from poker.agents.simple import AlwaysCall, AlwaysRaise
from poker.game.betting import Betting
from poker.game.cards import hand_index, parse_cards
from poker.game.rules import FOLD, RAISE_CLASS
from poker.game.state import HandState
from poker.kernels.opponents.playout import Style
from poker.opponents.limit.modelling import Modelling
from poker.opponents.limit.playout import LineValues, line_values
from poker.opponents.limit.strength import Strength, board_strength
from poker.play.hand import play_hand
from poker.play.lineup import LineUp, Rotation
from poker.play.session import SessionRecord, play_session
from poker.run.errors import PokernetsError
from tests.games import load_rules
from tests.opponents.limit.test_tracker import deal
from tests.poki import formula, rates, simulation

RULES = load_rules("holdem_limit_10p")
TIGHT, LOOSE = Style(0.9, 0.5, 0.0), Style(0.1, 0.5, 0.0)
PASSIVE, AGGRESSIVE = Style(0.5, 0.1, 0.0), Style(0.5, 0.9, 0.0)


def strength(hs: float, ppot: float = 0.1, npot: float = 0.1) -> Strength:
    win = hs * (1 - npot) + (1 - hs) * ppot
    return Strength(*(np.array(value) for value in (hs, ppot, npot, win)))


def quantile(text: str, players: int = 10) -> float:
    return float(rates().quantile(players)[hand_index(*parse_cards(text))])


def test_styles_order_the_share_of_hands_played_before_the_flop() -> None:
    first_in = Betting.start(RULES)
    for hand in ("AcTd", "JcTd"):
        loose, tight, passive, aggressive = (
            preflop_triple(quantile(hand), first_in, style, rates()) for style in (LOOSE, TIGHT, PASSIVE, AGGRESSIVE)
        )
        assert loose[0] < tight[0]
        assert passive[2] < aggressive[2]
    assert preflop_triple(quantile("AsAh"), first_in, TIGHT, rates())[2] == 1
    assert preflop_triple(quantile("7c2d"), first_in, LOOSE, rates())[0] == 1


def test_raised_pots_are_entered_with_less_and_a_free_look_is_never_folded() -> None:
    style = Style(0.5, 0.5, 0.1)
    hand = quantile("JcTd")
    limped, raised = Betting.parse(RULES, "c"), Betting.parse(RULES, "r")
    assert preflop_triple(hand, limped, style, rates())[0] < preflop_triple(hand, raised, style, rates())[0]
    big_blind = Betting.parse(RULES, "cccccccc" + "c")
    assert big_blind.to_call == 0
    assert preflop_triple(0.0, big_blind, style, rates())[0] == 0


@pytest.mark.parametrize("text", ["ffffffffcc/", "ffffffffcc/r", "ffffffffcc/rr"])
def test_after_the_flop_strength_decides(text: str) -> None:
    betting = Betting.parse(RULES, text)
    triples = [postflop_triple(strength(hs), betting, Style(0.5, 0.5, 0.0)) for hs in (0.05, 0.5, 0.99)]
    for triple in triples:
        assert sum(triple) == pytest.approx(1)
        assert min(triple) >= 0
    assert [triple[2] for triple in triples] == sorted(triple[2] for triple in triples)
    assert triples[2][2] == 1
    assert triples[0][0] == (1 if betting.to_call else 0)


def test_draws_are_called_for_the_price_and_nothing_is_bet_by_bluffers() -> None:
    bet = Betting.parse(RULES, "ffffffcccc/r")
    draw = strength(0.1, ppot=0.36)
    assert postflop_triple(draw, bet, Style(0.5, 0.5, 0.0))[0] < 0.1
    open_pot = Betting.parse(RULES, "ffffffffcc/")
    assert postflop_triple(strength(0.1), open_pot, Style(0.5, 0.5, 0.3))[2] == pytest.approx(0.3)
    assert postflop_triple(strength(0.1), open_pot, Style(0.5, 0.5, 0.0))[2] == 0


def test_style_out_of_range_and_other_games_are_refused() -> None:
    with pytest.raises(PokernetsError, match=r"tightness must be between 0 and 1"):
        PokiFormula(name="p", preflop="", modelling="none", tightness=1.5, aggressiveness=0.5, bluffing=0.5)
    agent = formula()
    for rules in (load_rules("holdem_nolimit_2p"), replace(RULES, stacks=(100,) * 10)):
        with pytest.raises(PokernetsError, match="plays only limit hold'em"):
            agent.check_game(rules)


def test_strength_is_against_the_tables_of_those_still_in() -> None:
    """Aces, first to act; seat 2 raised before the flop and may bet it."""
    agent = formula()
    agent.start_hand(0)
    before, after = deal("rfffffffcc/"), deal("rfffffffcc/ccr")
    chances = []
    for state in (before.view(0), after.view(0)):
        agent.tracker.follow(state)
        chances.append(float(agent.strength(state).win))
        tables = agent.tracker.tables([1, 2])
        expected = board_strength(state.board).against(hand_index(*state.hole_cards[0]), tables)
        assert chances[-1] == float(expected.win)
    assert chances[1] < chances[0]


def test_simulation_folds_nothing_to_a_river_raise_and_raises_the_nuts() -> None:
    rules, board = load_rules("holdem_limit_2p"), parse_cards("AhKdQs9s7c")
    betting = Betting.parse(rules, "rc/rc/rc/rr")
    for hand, action in (("3d2c", FOLD), ("JhTd", betting.legal().max_raise)):
        agent = simulation()
        agent.start_hand(0)
        assert agent.act(HandState(betting, (parse_cards(hand), ()), board)) == action


def ring(modelling: Modelling, deals: int, players: str = "holdem_limit_10p") -> tuple[SessionRecord, list[Agent]]:
    rules = load_rules(players)
    agents: list[Agent] = [formula(f"p{i}", modelling, (0.1 * i, 1 - 0.1 * i, 0.1)) for i in range(rules.num_players)]
    agents[0] = simulation("p0", modelling, trials=100)
    table = LineUp(tuple(agent.name for agent in agents))
    return play_session(Rotation(rules, 4, deals), table, [agents], 0), agents


@pytest.mark.parametrize("modelling", ["none", "generic", "statistics", "best_of"])
@pytest.mark.slow
def test_players_of_every_modelling_play_without_a_failure(modelling: Modelling) -> None:
    record, agents = ring(modelling, 1)
    assert record.incidents == []
    assert len(record.lines) == 10
    assert all(agent.learns for agent in agents)
    assert np.abs(record.payoffs).sum() > 0


@pytest.mark.parametrize("game", ["holdem_limit_2p", "holdem_limit_3p"])
def test_small_tables(game: str) -> None:
    record, _ = ring("statistics", 3, game)
    assert record.incidents == []
    assert (np.sum(record.payoffs, axis=1) == 0).all()


def test_neighbours_are_distinguished_while_seats_rotate(monkeypatch: pytest.MonkeyPatch) -> None:
    """The next player always raises, the one after that only calls."""
    rules = load_rules("holdem_limit_3p")
    others: list[Agent] = [AlwaysRaise(name="raiser", raises=[1]), AlwaysCall(name="caller")]
    table = [simulation(trials=100), *others]
    raises: list[NDArray[np.float64]] = []

    def sampled(*arguments: Any) -> LineValues:
        raises.append(arguments[4][[seated.index(player) for player in others], :, RAISE_CLASS].mean(axis=1))
        return line_values(*arguments)

    monkeypatch.setattr("poker.agents.poki.simulation.line_values", sampled)
    for number in range(12):
        seated = [table[(seat - number) % 3] for seat in range(3)]
        play_hand(seated, HandState.deal(rules, np.random.default_rng([4, number])))
    by_raiser, by_caller = raises[-1]
    assert by_raiser > 1.5 * by_caller


def test_play_is_a_function_of_the_seed() -> None:
    assert ring("statistics", 1)[0].lines == ring("statistics", 1)[0].lines
