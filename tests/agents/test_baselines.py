"""The equity player whose policy is known: its equities match sampled ones, and its policy follows its rules."""

from dataclasses import replace

import numpy as np
import pytest
from hydra.utils import instantiate
from omegaconf import OmegaConf

from poker.abstraction.features import hand_features
from poker.agents.all_in import AllInPlayer, best_hands
from poker.agents.base import Agent, hand_number, sample_action
from poker.agents.equity import EquityAgent, EquityPolicyAgent
from poker.game.betting import Betting
from poker.game.cards import HOLDEM, hand_index, parse_cards
from poker.game.rules import CALL, FOLD, Rules
from poker.game.state import HandState, public_state
from poker.play.hand import play_hand
from poker.run.errors import PokernetsError
from tests.cases import cases
from tests.games import CONF, load_rules
from tests.games import HEADS_UP as NOLIMIT
from tests.games import HEADS_UP as RULES
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
@pytest.mark.parametrize("game", ["holdem_nolimit_2p", "leduc", "kuhn"])
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
    assert agent.has_policy
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
    assert agent.has_policy
    actions, probs = agent.policy(state)
    assert actions == (FOLD, CALL, 200, 300, 20000)
    np.testing.assert_allclose(probs[0], [1 / 3, 1 / 3, 1 / 9, 1 / 9, 1 / 9], rtol=1e-6)
    raiser = build("always_raise")
    assert raiser.act(state) == 300
    assert raiser.act(state.apply(20000)) == CALL


def test_sampling_uses_the_row_of_the_agents_hand() -> None:
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


@cases
def test_raises_bound_the_strength_of_hands(
    text: str, pots: tuple[tuple[float, ...], ...], monkeypatch: pytest.MonkeyPatch
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


ROOT = {"raise_size": 0.75, "value": 0.58, "value_step": 0.04, "margin": 0.0, "bluff": 0.1, "fear": 0.7, "noise": 0.25}


def agent(samples: int = 60) -> EquityPolicyAgent:
    return EquityPolicyAgent(name="known", samples=samples, **ROOT)


def with_equities(monkeypatch: pytest.MonkeyPatch, text: str, *equities: float) -> tuple[tuple[int, ...], np.ndarray]:
    """Actions, and the policy's rows for the first hands when those have the given `equities`."""
    player = agent()
    values = np.full(RULES.num_hands, 0.5)
    values[: len(equities)] = equities
    monkeypatch.setattr(player, "equities", lambda *_: values)
    actions, probs = player.policy(public_state(Betting.parse(RULES, text), parse_cards("2c2d7h")))
    np.testing.assert_allclose(probs.sum(axis=1), 1.0)
    return actions, probs[: len(equities)]


@pytest.mark.parametrize("board", ["", "KhKd9h4c", "AsKsQs7d2c"])
@pytest.mark.parametrize("floor", [0.0, 0.6])
def test_equities_are_those_that_are_sampled(board: str, floor: float) -> None:
    """Compare with 6,000 samples, each 0, a half or 1, to within four standard errors."""
    sampling, cards = EquityAgent(name="sampling", samples=6000, **ROOT), parse_cards(board)
    betting = Betting.start(RULES)
    while RULES.board_sizes[betting.street] < len(cards):
        betting = betting.apply(CALL)
    exact = agent().equities(RULES, cards, floor)
    for text in ("QcJc", "3h3s", "AhTd"):
        hole: list[tuple[int, ...]] = [(), ()]
        hole[betting.to_act] = parse_cards(text)
        sampled = sampling.equity(HandState(betting, tuple(hole), cards), [floor])
        assert sampled == pytest.approx(exact[hand_index(*parse_cards(text))], abs=4 * 0.5 / np.sqrt(6000))


def test_flops_are_looked_at_by_the_same_runouts_each_time() -> None:
    board = parse_cards("Th6d8s")
    exact, some = agent(1176).equities(RULES, board, 0.5), agent(60).equities(RULES, board, 0.5)
    live = HOLDEM.live(board)
    apart = np.abs(exact - some)[live]
    assert 0.005 < apart.mean() < 0.05
    assert apart.max() < 0.25
    np.testing.assert_array_equal(agent(60).equities(RULES, (board[2], board[0], board[1]), 0.5), some)


def test_the_policy_is_the_rules(monkeypatch: pytest.MonkeyPatch) -> None:
    actions, probs = with_equities(monkeypatch, "cc/", 0.59, 0.55, 0.45)  # nothing is asked: 0.58 is worth a bet
    assert actions == (CALL, 250)
    np.testing.assert_allclose(probs, [[0.0, 1.0], [1.0, 0.0], [0.9, 0.1]], atol=1e-6)
    actions, probs = with_equities(monkeypatch, "cc/r300", 0.63, 0.61, 0.34, 0.33)  # 200 for 600: a third
    assert actions[:2] == (FOLD, CALL)
    np.testing.assert_allclose(probs, [[0, 0, 1], [0, 1, 0], [0, 1, 0], [1, 0, 0]], atol=1e-6)
    actions, probs = with_equities(monkeypatch, "cc/r20000", 0.99, 0.4)  # nothing is left to raise with
    assert actions == (FOLD, CALL)
    np.testing.assert_allclose(probs, [[0, 1], [1, 0]])


def test_it_plays_by_its_policy() -> None:
    player, rng = agent(), np.random.default_rng(2)
    assert player.has_policy
    assert not EquityAgent(name="sampling", samples=10, **ROOT).has_policy
    taken = 0
    for deal in range(30):
        player.reset(deal)
        state = HandState.deal(RULES, rng)
        while not state.is_over:
            actions, probs = player.policy(state)
            action = player.act(state.view(state.to_act))
            assert probs[hand_number(state, state.to_act), actions.index(action)] > 0
            state, taken = state.apply(action), taken + 1
    assert taken > 100
