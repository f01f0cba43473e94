"""Value functions of AIVAT that play on, and the choice between value functions."""

import pickle
from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path

import numpy as np
import pytest

from conf.compose import call, compose
from conf.help import choices
from poker.abstraction.buckets import game_cards
from poker.agents.simple import RandomAgent
from poker.betting import Betting
from poker.cards import HOLDEM
from poker.errors import PokernetsError
from poker.evaluation.aivat import round_values
from poker.evaluation.aivat.heads_up import Aivat
from poker.evaluation.aivat.round_values import Known, RoundPlayValues, RoundValues
from poker.evaluation.aivat.value_functions import (
    DEFAULT,
    CheckDown,
    CheckDownValues,
    FoldEquityValues,
    ValueFunctionFactory,
    ValueFunctionSpec,
)
from poker.evaluation.matches.match import run
from poker.evaluation.matches.match_results import MatchResults
from poker.parallel import LocalCluster
from poker.play.lineup import AgentSpec
from poker.rules import CALL, Rules
from poker.search.beliefs import Ranges
from poker.search.lru_cache import LRUCache
from poker.solvers.blueprint import always_call
from poker.solvers.rollout.leaf_values import LeafValues
from poker.state import PolicyFunction
from poker.tree import BetMenu, build_tree
from tests.evaluation.aivat.test_heads_up import moments, wrong_values
from tests.evaluation.small_games import RandomPolicy
from tests.games import load_rules

LEDUC = load_rules("leduc")


def round_guess(rules: Rules) -> RoundPlayValues:
    """Round-play values by a blueprint that always calls."""
    tree = build_tree(Betting.start(rules), BetMenu(()))
    blueprint = always_call(tree, game_cards(rules, "none"))
    return RoundPlayValues(blueprint=blueprint, translation_seed=1, leaves=[], growth=[])


@pytest.mark.parametrize("game", ["kuhn", "leduc"])
@pytest.mark.parametrize("known", [(True, True), (True, False)])
@pytest.mark.parametrize("guess", ["check_down", "fold_equity", "round"])
def test_every_guess_is_unbiased(game: str, known: tuple[bool, bool], guess: str) -> None:
    rules = load_rules(game)
    policies = [RandomPolicy(rules, 1), RandomPolicy(rules, 2)]
    others = [RandomPolicy(rules, 11).policy, None]
    guesses: dict[str, Callable[[], ValueFunctionFactory]] = {
        "check_down": CheckDownValues,
        "fold_equity": FoldEquityValues,
        "round": partial(round_guess, rules),
    }
    value, mean, _ = moments(rules, policies, known, guesses[guess]()(rules, others))
    assert mean == pytest.approx(value, abs=1e-9)


@pytest.mark.parametrize("known", [(True, True), (True, False), (False, True)])
def test_actions_may_be_judged_by_anything_if_cards_are_judged_by_equity(known: tuple[bool, bool]) -> None:
    policies = [RandomPolicy(LEDUC, 1), RandomPolicy(LEDUC, 2)]
    aivat = Aivat(LEDUC, wrong_values(LEDUC), CheckDown(LEDUC))
    value, mean, _ = moments(LEDUC, policies, known, aivat)
    assert mean == pytest.approx(value, abs=1e-9)


def test_playing_on_with_the_true_policies_leaves_no_variance() -> None:
    policies = [RandomPolicy(LEDUC, 5), RandomPolicy(LEDUC, 6)]
    values = RoundValues(LEDUC, [policy.policy for policy in policies], [])
    value, mean, deviation = moments(LEDUC, policies, (True, True), values)
    assert mean == pytest.approx(value, abs=1e-9)
    assert deviation == pytest.approx(0.0, abs=1e-6)


def test_playing_on_helps_more_than_fold_equity() -> None:
    policies = [RandomPolicy(LEDUC, 3), RandomPolicy(LEDUC, 4)]
    functions = [policy.policy for policy in policies]
    _, _, plain = moments(LEDUC, policies, (True, True), FoldEquityValues()(LEDUC, functions))
    _, _, deviation = moments(LEDUC, policies, (True, True), round_guess(LEDUC)(LEDUC, functions))
    assert deviation < 0.9 * plain


class Clusters:
    """A leaf evaluator of random numbers over random clusters, in chips."""

    num_continuations = 2

    def __init__(self) -> None:
        self.asked = 0

    def values(self, leaves: Sequence[Betting], board: tuple[int, ...], ranges: Ranges, own: int) -> LeafValues:
        self.asked += len(leaves)
        rng = np.random.default_rng(7)
        clusters = np.where(HOLDEM.live(board), rng.integers(0, 9, 1326), -1).astype(np.int32)
        chips = [np.random.default_rng(list(leaf.text().encode())).normal(size=(2, 9, 9)) for leaf in leaves]
        return LeafValues(own, clusters, clusters, np.array(chips, dtype=np.float32))


@pytest.mark.parametrize("player", [0, 1])
def test_leaves_count_every_pair_of_hands_that_shares_no_card(player: int) -> None:
    rules = load_rules("holdem_nolimit_2p")
    random = RandomAgent(name="random", raises=["a"])
    clusters = Clusters()
    values = RoundValues(rules, [random.policy] * 2, [clusters, clusters])
    board = rules.parse_cards("Ah7d7c")
    leaf = Betting.start(rules)
    for _ in range(4):
        leaf = leaf.apply(CALL)
    own, opponent = np.random.default_rng(3).random((2, 1326)) * HOLDEM.live(board)
    predicted = clusters.values([leaf], board, np.empty((2, 1326), np.float32), 0)
    hands = np.maximum(predicted.own_cluster, 0)
    pairs = predicted.values[0, 0][np.ix_(hands, hands)] * rules.space.possible(board)
    expected = pairs @ opponent if player == 0 else -pairs.T @ opponent
    found = values.values_before(leaf, board, player, own, opponent)
    assert found == pytest.approx(own @ expected, rel=1e-5)
    asked = clusters.asked
    values.values_before(leaf, board, player, own, opponent)
    assert clusters.asked == asked


def test_rounds_with_more_ends_than_are_remembered(monkeypatch: pytest.MonkeyPatch) -> None:
    rules = load_rules("holdem_nolimit_2p")
    random = RandomAgent(name="random", raises=[1, "a"])
    board = rules.parse_cards("Ah7d7c")
    state = Betting.start(rules).apply(CALL).apply(CALL)
    policies, leaves = [random.policy] * 2, [Clusters(), Clusters()]
    live = HOLDEM.live(board).astype(np.float64)
    plenty, one = (
        RoundValues(rules, policies, leaves, Known(leaves=LRUCache(size))).values_before(state, board, 0, live, live)
        for size in (256, 1)
    )
    assert plenty == one
    monkeypatch.setattr(round_values, "_MOST_LEAVES", 2)
    with pytest.raises(PokernetsError, match="too many to value each; choose values=fold_equity"):
        RoundValues(rules, policies, leaves).values_before(state, board, 0, live, live)


def test_a_blueprint_of_another_game_is_refused() -> None:
    with pytest.raises(PokernetsError, match=r"made for `kuhn`, where num_suits .* choose values=fold_eq"):
        round_guess(load_rules("kuhn"))(LEDUC, [None, None])


def test_games_are_compared_by_their_rules_and_not_by_their_names() -> None:
    renamed = replace(LEDUC, name="other")
    policies = [RandomPolicy(LEDUC, 1), RandomPolicy(LEDUC, 2)]
    value, mean, _ = moments(renamed, policies, (True, True), round_guess(LEDUC)(renamed, [None, None]))
    assert mean == pytest.approx(value, abs=1e-9)


class Counting:
    """Factory of check-down estimators that counts them."""

    given = 0

    def __call__(self, rules: Rules, responses: Sequence[object], solved: Sequence[object] = ()) -> Aivat:
        Counting.given += 1
        return Aivat(rules, CheckDown(rules))


def randomly() -> RandomAgent:
    return RandomAgent(name="random", raises=[1])


def play(out: Path, values: ValueFunctionSpec | None, *, fresh: bool = False) -> MatchResults:
    return run(
        game=LEDUC,
        agents=[AgentSpec("random", randomly, {})],
        lineups=[["random", "random"]],
        hands=40,
        session=1,
        seed=3,
        half_width=None,
        decision_seconds=None,
        aivat=True,
        values=values,
        cluster=LocalCluster(1),
        fresh=fresh,
        out=str(out),
    )


def test_estimates_of_different_guesses_are_kept_apart(tmp_path: Path) -> None:
    checked = ValueFunctionSpec(Counting, {"_target_": "counting"})
    Counting.given = 0
    plain, other = play(tmp_path, None), play(tmp_path, checked)
    assert Counting.given == 40
    hands = tmp_path / "leduc" / "hands"
    assert len(list(hands.glob("*.aivat.jsonl"))) == 2
    [commits] = hands.glob("*.commits.jsonl")
    assert len(commits.read_text().splitlines()) == 1  # estimated from the log, not played again
    chips = [result.lineups[0].values().tolist() for result in (plain, other)]
    assert chips[0] == chips[1]
    estimates = [result.lineups[0].values(aivat=True).tolist() for result in (plain, other)]
    assert estimates[0] != estimates[1]
    again = [play(tmp_path, values).lineups[0] for values in (ValueFunctionSpec(FoldEquityValues, DEFAULT), checked)]
    assert [table.values(aivat=True).tolist() for table in again] == estimates
    assert [table.kept for table in again] == [40, 40]
    assert Counting.given == 40
    play(tmp_path, None, fresh=True)
    assert len(list((tmp_path / "leduc" / "hands").glob("*.aivat.jsonl"))) == 1


class Recording:
    """`FoldEquityValues` that records the policies it is given."""

    def __init__(self) -> None:
        self.responses: set[object] = set()

    def __call__(
        self, rules: Rules, responses: Sequence[PolicyFunction | None], solved: Sequence[object] = ()
    ) -> Aivat:
        self.responses.update(responses)
        return FoldEquityValues()(rules, responses)


def test_policies_of_an_agent_are_the_same_from_hand_to_hand(tmp_path: Path) -> None:
    recording = Recording()
    play(tmp_path, ValueFunctionSpec(lambda: recording, {"_target_": "recording"}))
    assert len(recording.responses) == 2


@pytest.mark.parametrize("name", choices("values"))
def test_every_choice_is_known_to_the_command_line(name: str) -> None:
    spec = call(compose("evaluate", ["evaluate=match", f"values={name}"]).given["values"])
    assert (spec.mark is None) == (name == "fold_equity")
    assert str(spec.settings["_target_"]).startswith("poker.evaluation.aivat.")


def test_a_guess_is_built_once_and_travels_unbuilt() -> None:
    spec = ValueFunctionSpec(CheckDownValues, {"_target_": "x"})
    assert spec() is spec()
    assert spec.mark == {"_target_": "x"}
    copy = pickle.loads(pickle.dumps(spec))
    assert copy() is not spec()
    assert ValueFunctionSpec(FoldEquityValues, DEFAULT).mark is None
