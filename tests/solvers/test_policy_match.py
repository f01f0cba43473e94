"""Matches between blueprints at kernel speed, against exact values."""

from functools import partial

import numpy as np
import pytest

from poker.abstraction.buckets import SmallGameBuckets
from poker.abstraction.dealers import SmallGameDealer
from poker.game.rules import Rules
from poker.game.state import Betting
from poker.report.estimates import estimate
from poker.run.errors import PokernetsError
from poker.solvers.best_response.ranges import evaluate_policy
from poker.solvers.blueprint import Blueprint, always_call
from poker.solvers.policy_match import play_match
from poker.tree import build_tree
from tests.blueprints import random_blueprint
from tests.games import load_rules
from tests.solvers.sampling.test_tree import three_players


def random_policy(rules: Rules, seed: int) -> Blueprint:
    return random_blueprint(build_tree(Betting.start(rules)), SmallGameBuckets(rules), seed)


@pytest.mark.parametrize("game", ["kuhn", "leduc"])
def test_mean_is_the_exact_value_of_both_seatings(game: str) -> None:
    rules = load_rules(game)
    first, second = random_policy(rules, 1), random_policy(rules, 2)
    tree = first.tree

    def value(seats: tuple[Blueprint, Blueprint]) -> float:
        return evaluate_policy(tree, lambda node, board: seats[int(tree.player[node])].probs(node, board)).value

    exact = (value((first, second)) - value((second, first))) / 2 * 1000
    winnings = estimate(play_match(first, second, SmallGameDealer(rules), 200_000, seed=3))
    assert winnings.n == 100_000
    assert winnings.half_width < 30
    assert winnings.mean == pytest.approx(exact, abs=2.2 * winnings.half_width)  # about 4.3 standard errors
    assert play_match(first, first, SmallGameDealer(rules), 200_000, seed=3).mean() == pytest.approx(0, abs=40)


def test_three_players_share_what_there_is() -> None:
    rules = three_players()
    dealer = SmallGameDealer(rules)
    first, second = random_policy(rules, 1), random_policy(rules, 2)
    forth, back = (
        estimate(play_match(one, other, dealer, 60_000, seed=1)) for one, other in ((first, second), (second, first))
    )
    assert forth.n == 10_000  # six seatings of a deal
    assert forth.mean == pytest.approx(-back.mean, abs=2.2 * np.hypot(forth.half_width, back.half_width))


def test_any_number_of_threads_plays_the_same(monkeypatch: pytest.MonkeyPatch) -> None:
    rules = load_rules("kuhn")
    first, second, dealer = random_policy(rules, 1), random_policy(rules, 2), SmallGameDealer(rules)
    matches = []
    for threads in (1, 3):
        monkeypatch.setattr("poker.solvers.policy_match.cores", partial(int, threads))
        matches.append(play_match(first, second, dealer, 250_000, seed=5))
    assert len(matches[0]) == 125_000
    assert np.array_equal(matches[0], matches[1])
    parts = matches[0][:120_000].reshape(12, 10_000)  # the deals of no batch are those of another
    assert len(np.unique(parts, axis=0)) == 12


def test_other_games_do_not_mix() -> None:
    kuhn, leduc = (
        always_call(build_tree(Betting.start(load_rules(name))), SmallGameBuckets(load_rules(name)))
        for name in ("kuhn", "leduc")
    )
    with pytest.raises(PokernetsError, match="same betting tree and abstraction"):
        play_match(kuhn, leduc, SmallGameDealer(load_rules("kuhn")), 10, seed=1)
