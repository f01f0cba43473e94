from dataclasses import replace

import numpy as np
import pytest
from hydra.utils import instantiate
from omegaconf import OmegaConf

from poker.agents.base import Agent, PolicyAgent, sample_action
from poker.agents.equity import EquityAgent
from poker.game.betting import Betting
from poker.game.rules import CALL, FOLD, Rules
from poker.game.state import HandState
from poker.play.hand import play_hand
from poker.run.errors import PokernetsError
from tests.games import CONF, load_rules
from tests.random_play import nolimit

BASELINES = ["random", "always_call", "always_raise", "equity"]


def build(name: str) -> Agent:
    agent = instantiate(OmegaConf.load(CONF / "agents" / f"{name}.yaml"), _convert_="all")
    assert isinstance(agent, Agent)
    assert agent.name == name
    return agent


def play(agents: list[Agent], state: HandState, seed: int) -> HandState:
    for seat, agent in enumerate(agents):
        agent.reset(seed + seat)
    return play_hand(agents, state)


def winnings(rules: Rules, first: str, second: str, deals: int) -> tuple[float, float]:
    """Mean and standard error of the first agent's big blinds per hand over duplicate deals."""
    one, two = build(first), build(second)
    results = []
    for deal in range(deals):
        start = HandState.deal(rules, np.random.default_rng([5, deal]))
        ahead = play([one, two], start, 4 * deal).payoffs()[0] + play([two, one], start, 4 * deal + 2).payoffs()[1]
        results.append(ahead / 2 / rules.big_blind)
    return float(np.mean(results)), float(np.std(results) / np.sqrt(deals))


@pytest.mark.slow
@pytest.mark.parametrize("opponent", ["random", "always_call", "always_raise"])
@pytest.mark.parametrize("game", ["holdem_nolimit_2p", "holdem_limit_2p", "flop_holdem_nolimit", "leduc", "kuhn"])
def test_equity_beats_the_card_blind(game: str, opponent: str) -> None:
    mean, error = winnings(load_rules(game), "equity", opponent, 600)
    assert mean > 0.1
    assert mean > 3 * error


@pytest.mark.parametrize("name", BASELINES)
@pytest.mark.parametrize("game", ["kuhn", "leduc", "holdem_limit_3p", "holdem_limit_10p", "holdem_nolimit_6p"])
def test_every_baseline_plays_every_game_and_the_seed_decides(game: str, name: str) -> None:
    rules = load_rules(game)
    agents = [build(name) for _ in range(rules.num_players)]
    for deal in range(20):
        start = HandState.deal(rules, np.random.default_rng(deal))
        hand = play(agents, start, 100 * deal)
        assert sum(hand.payoffs()) == 0
        assert play([build(name) for _ in agents], start, 100 * deal) == hand


@pytest.mark.parametrize("name", ["random", "always_call", "always_raise"])
def test_policies_are_distributions_over_legal_actions(name: str) -> None:
    agent = build(name)
    assert isinstance(agent, PolicyAgent)
    rules = load_rules("holdem_nolimit_2p")
    state = HandState.deal(rules, np.random.default_rng(1))
    for action in (300, CALL, 500, CALL, CALL, 20000):
        actions, probs = agent.policy(state)
        assert probs.shape == (rules.num_hands, len(actions))
        assert all(state.legal().allows(action) for action in actions)
        np.testing.assert_allclose(probs.sum(axis=1), 1.0, rtol=1e-6)
        state = state.apply(action)


def test_frequencies_of_random_and_always_raise() -> None:
    state = HandState.deal(load_rules("holdem_nolimit_2p"), np.random.default_rng(1))
    agent = build("random")
    assert isinstance(agent, PolicyAgent)
    actions, probs = agent.policy(state)
    assert actions == (FOLD, CALL, 200, 300, 20000)
    np.testing.assert_allclose(probs[0], [1 / 3, 1 / 3, 1 / 9, 1 / 9, 1 / 9], rtol=1e-6)
    raiser = build("always_raise")
    assert raiser.act(state) == 300
    assert raiser.act(state.apply(20000)) == CALL


def test_sampling_follows_the_row_of_the_hand_held() -> None:
    state = HandState.deal(load_rules("leduc"), np.random.default_rng(1))
    probs = np.zeros((6, 2), dtype=np.float32)
    probs[:, 0] = 1
    probs[state.hole_cards[0][0]] = (0.25, 0.75)
    rng = np.random.default_rng(2)
    draws = [sample_action(((CALL, 3), probs), state, rng) for _ in range(2000)]
    assert draws.count(3) / 2000 == pytest.approx(0.75, abs=0.04)


def _equity_of(state: HandState, floors: list[float]) -> float:
    agent = build("equity")
    assert isinstance(agent, EquityAgent)
    return float(np.mean([_seeded(agent, seed).equity(state, floors) for seed in range(20)]))


def _seeded(agent: EquityAgent, seed: int) -> EquityAgent:
    agent.reset(seed)
    return agent


@pytest.mark.parametrize(("opponents", "expected"), [(1, 0.852), (2, 0.734), (5, 0.492)])
def test_equity_of_aces_against_random_hands(opponents: int, expected: float) -> None:
    """Published all-in equities of a pair of aces against 1, 2 and 5 random hands."""
    rules = nolimit((1000,) * (opponents + 1))
    hands = [rules.parse_cards("AsAh")] + [()] * opponents
    first_to_act = replace(rules, first_player=(0, 0, 0, 0))
    state = HandState.start(first_to_act, hands, ())
    assert _equity_of(state, [0.0] * opponents) == pytest.approx(expected, abs=0.015)


def test_equity_against_hands_that_raise_is_lower() -> None:
    rules = load_rules("holdem_nolimit_2p")
    state = HandState.start(rules, [(), rules.parse_cards("Qs9d")], ())
    strong, better, any_hand = (_equity_of(state, [floor]) for floor in (0.9, 0.5, 0.0))
    assert strong < better - 0.05 < any_hand - 0.08


@pytest.mark.parametrize(
    ("text", "pots"),
    [
        ("cccc", [[], [], [], [], []]),
        ("r350fffc", [[], [1]]),
        ("r225fffc", [[], [0.5]]),
        ("r350fffr1150f", [[1]]),
        ("r350fffcc/ccr1400", [[], [1, 1]]),
    ],
)
def test_raises_say_how_weak_hands_cannot_be(
    text: str, pots: list[list[float]], monkeypatch: pytest.MonkeyPatch
) -> None:
    """`pots`: what each opponent still in has raised, in pots."""
    agent, state = build("equity"), HandState.deal(load_rules("holdem_nolimit_6p"), np.random.default_rng(1))
    assert isinstance(agent, EquityAgent)
    floors_asked: list[list[float]] = []

    def noted(state: HandState, floors: list[float]) -> float:
        floors_asked.append(floors)
        return 0.5

    monkeypatch.setattr(agent, "equity", noted)
    agent.act(replace(state, betting=Betting.parse(state.rules, text)))
    assert floors_asked == [
        [pytest.approx(1 - np.prod([1 / (1 + agent.fear * size) for size in sizes])) for sizes in pots]
    ]


def test_exact_equity_in_leduc() -> None:
    rules = load_rules("leduc")
    state = HandState.start(rules, [rules.parse_cards("Kh"), ()], ())
    assert _equity_of(state, [0.0]) == pytest.approx(0.5)
    state = HandState.start(rules, [rules.parse_cards("Ah"), ()], ()).apply(CALL).apply(CALL)
    state = state.with_board(rules.parse_cards("Kh"))
    assert _equity_of(state, [0.0]) == pytest.approx((0.5 + 1 + 1 + 0) / 4)


def test_equity_agent_refuses_other_games() -> None:
    rules = replace(nolimit((1000, 1000)), num_ranks=9)
    state = HandState.deal(rules, np.random.default_rng(0))
    with pytest.raises(PokernetsError, match=r"plays hold'em and one-card games, not `nolimit 2p`"):
        build("equity").act(state)
