"""Our agents in OpenSpiel's harness and its bots in ours: the same hands for the same deals."""

import sys
from pathlib import Path
from typing import Any

import numpy as np
import pyspiel
import pytest
from open_spiel.python.algorithms.evaluate_bots import evaluate_bots
from open_spiel.python.bots.policy import PolicyBot

from poker.abstraction.buckets import SmallGameBuckets
from poker.agents.base import Agent
from poker.agents.blueprint import BlueprintAgent
from poker.agents.foreign.openspiel import OpenSpielAgent, UniversalPoker
from poker.agents.simple import RandomAgent
from poker.game.betting import Betting
from poker.game.rules import Rules
from poker.game.state import HandState
from poker.play.hand import play_hand
from poker.run.errors import PokernetsError
from poker.tree import build_tree
from pokernets.openspiel import AgentBot
from tests.blueprints import random_blueprint
from tests.commands import run_here
from tests.games import load_rules

ANY = RandomAgent(name="random", raises=[0.5, 1.0, "a"])
RANDOM = "uniform_random(seed={seed})"


class Uniform:
    """A policy as of `open_spiel.python.policy`, whose import lets absl close the captured stderr of a test."""

    def action_probabilities(self, state: Any, player: int) -> dict[int, float]:
        legal = state.legal_actions(player)
        return dict.fromkeys(legal, 1 / len(legal))


def uniform(game: Any, player: int, seed: int) -> PolicyBot:
    return PolicyBot(player, np.random.RandomState(seed), Uniform())


class Dealt:
    """OpenSpiel's source of random numbers, which deals the cards of one hand."""

    def __init__(self, cards: list[int]) -> None:
        self._cards = iter(cards)

    def choice(self, outcomes: Any, p: Any) -> int:
        return next(self._cards)


def blueprint(rules: Rules) -> BlueprintAgent:
    tree = build_tree(Betting.start(rules))
    return BlueprintAgent(
        name="blueprint", blueprint=random_blueprint(tree, SmallGameBuckets(rules)), translation_seed=1
    )


def in_both(ours: Agent, rules: Rules, seat: int, deals: list[HandState]) -> tuple[list[list[int]], list[Any]]:
    """Payoffs of the deals in our harness and in OpenSpiel's; its random bot sits in the other seat."""
    poker, theirs = UniversalPoker(rules), OpenSpielAgent(name="bot", game=rules, bot=RANDOM)
    ours.reset(3)
    theirs.reset(7)
    players: list[Agent] = [theirs, theirs]
    players[seat] = ours
    here = [play_hand(players, deal).payoffs() for deal in deals]
    bots = [pyspiel.load_bot("uniform_random(seed=7)", poker.game, player) for player in range(2)]
    bots[seat] = AgentBot(ours, rules, seat, seed=3)
    start = poker.game.new_initial_state
    return here, [evaluate_bots(start(), bots, Dealt(poker.chance_actions(deal))) for deal in deals]


@pytest.mark.parametrize("seat", range(2))
@pytest.mark.parametrize("game", ["leduc", "holdem_nolimit_2p"])
def test_the_same_deals_end_alike_in_both_harnesses(game: str, seat: int) -> None:
    rules, cards = load_rules(game), np.random.default_rng(5)
    ours: Agent = blueprint(rules) if game == "leduc" else ANY
    deals = [HandState.deal(rules, cards) for _ in range(1000 if game == "leduc" else 50)]
    here, there = in_both(ours, rules, seat, deals)
    assert here == there
    assert len(set(map(tuple, here))) > 5


def test_a_bot_provides_the_policy_of_its_agent_and_policies_play_as_agents() -> None:
    rules = load_rules("leduc")
    poker, ours = UniversalPoker(rules), blueprint(rules)
    state = poker.game.new_initial_state()
    for action in (5, 2, 1):  # cards of both, and a check
        state.apply_action(action)
    bot = AgentBot(ours, rules, 1)
    policy, action = bot.step_with_policy(state)
    assert bot.provides_policy()
    assert [one for one, _ in policy] == state.legal_actions()
    assert action in state.legal_actions()
    assert sum(share for _, share in policy) == pytest.approx(1)
    _, rows = ours.policy(poker.from_openspiel(state).view(1))
    assert [share for _, share in policy] == rows[2].tolist()

    agent = OpenSpielAgent(name="uniform", game=rules, bot=uniform)
    agent.reset(2)
    ends = [play_hand([agent, ours], HandState.deal(rules, np.random.default_rng(n))).payoffs() for n in range(30)]
    assert len(set(map(tuple, ends))) > 3


def test_bots_play_matches(tmp_path: Path) -> None:
    match = ["evaluate=match", "game=leduc", "agents=[openspiel,always_call]", "hands=20", f"runs={tmp_path}"]
    done = run_here("evaluate", *match, "cluster.processes=1", "aivat=false")
    assert "openspiel vs always_call" in done.stdout
    made = f"{{_target_:{__name__}.uniform,_partial_:true}}"
    done = run_here("evaluate", *match, "cluster.processes=1", "aivat=false", f"agent.openspiel.bot={made}")
    assert "openspiel vs always_call" in done.stdout
    refused = run_here("evaluate", *match, "agent.openspiel.bot=alphago")
    assert "OpenSpiel has no bot `alphago`; it has fixed_action_preference, uniform_random" in refused.stderr


def test_error_without_openspiel_names_the_package_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "pyspiel", None)
    with pytest.raises(PokernetsError, match=r"not installed: pip install -e '\.\[openspiel\]'"):
        UniversalPoker(load_rules("leduc"))
