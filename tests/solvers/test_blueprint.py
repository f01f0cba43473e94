"""The stored blueprint: exact sums, lookups by hand, biased forms, and what it refuses.

Matches between blueprints at kernel speed, against exact values.
"""

import dataclasses
from collections.abc import Mapping
from functools import partial
from pathlib import Path

import numpy as np
import pytest
from numpy.typing import NDArray

from poker.abstraction.buckets import SmallGameBuckets, make_abstraction
from poker.abstraction.dealers import SmallGameDealer
from poker.game.cards import PREFLOP_CLASS
from poker.game.rules import CALL, FOLD, Rules
from poker.game.state import Betting
from poker.report.estimates import estimate
from poker.run.errors import PokernetsError
from poker.solvers.best_response.ranges import evaluate_policy
from poker.solvers.blueprint import Blueprint, always_call, blueprint_from, quantise, tree_fingerprint
from poker.solvers.exact import ExactSolver
from poker.solvers.policy_match import play_match
from poker.store.artifacts import CorruptArtifactError, MismatchedArtifactError, MissingArtifactError, fingerprint_of
from poker.tree import bet_menu, build_tree
from tests.blueprints import random_blueprint
from tests.games import LEDUC as RULES
from tests.games import load_rules
from tests.solvers.sampling.test_tree import three_players

CARDS = SmallGameBuckets(RULES)
TREE = build_tree(Betting.start(RULES))


def random_strategy(node: int) -> NDArray[np.float32]:
    """[B, A] of a node, the same each time."""
    rng = np.random.default_rng(node)
    shape = (CARDS.num_buckets[int(TREE.street[node])], int(TREE.num_children[node]))
    return rng.dirichlet(np.ones(shape[1]), shape[0]).astype(np.float32)


@pytest.fixture
def blueprint() -> Blueprint:
    return blueprint_from(TREE, CARDS, random_strategy, bits=16)


@pytest.mark.parametrize("bits", [8, 16])
def test_quantised_rows_sum_to_the_top(bits: int) -> None:
    probs = np.random.default_rng(0).dirichlet(np.full(7, 0.3), 2000).astype(np.float32)
    stored = quantise(probs, bits)
    top = 2**bits - 1
    assert (stored.sum(axis=1, dtype=np.int64) == top).all()
    error = np.abs(stored / top - probs)
    assert error.max() < 4 / top
    assert np.sort(error, axis=1)[:, :-1].max() <= 0.5001 / top


@pytest.mark.parametrize(("bits", "tolerance"), [(8, 2 / 255), (16, 2 / 65535), (32, 1e-7)])
def test_probs_are_the_strategy_given(bits: int, tolerance: float) -> None:
    blueprint = blueprint_from(TREE, CARDS, random_strategy, bits)
    for node in TREE.decision_nodes:
        assert np.abs(blueprint.probs(node) - random_strategy(node)).max() < tolerance
        assert np.allclose(blueprint.probs(node).sum(axis=1), 1)


def test_probs_by_hand_follow_buckets_and_board(blueprint: Blueprint) -> None:
    node = TREE.find((CALL, CALL))
    by_hand = blueprint.probs(node, (3,))
    assert (by_hand[3] == 0).all()
    for hand in (0, 1, 2, 4, 5):
        assert np.array_equal(by_hand[hand], blueprint.probs(node)[CARDS.buckets((3,))[hand]])
    with pytest.raises(PokernetsError, match="1 board cards, not 0"):
        blueprint.probs(node, ())


@pytest.mark.parametrize(("kind", "favoured"), [("fold", 0), ("call", 1), ("raise", 2)])
def test_biased_forms_multiply_and_renormalise(blueprint: Blueprint, kind: str, favoured: int) -> None:
    node = TREE.find((2 + 1,))
    assert TREE.actions(node) == (FOLD, CALL, 5)
    expected = blueprint.probs(node).astype(np.float64)
    expected[:, favoured] *= 10
    expected /= expected.sum(axis=1, keepdims=True)
    assert np.allclose(blueprint.biased(kind).probs(node), expected, atol=1e-6)
    assert np.array_equal(blueprint.biased("blueprint").probs(node), blueprint.probs(node))
    if kind == "fold":  # nothing to fold: the form is the blueprint
        assert np.allclose(blueprint.biased(kind).probs(0), blueprint.probs(0), atol=1e-6)


def test_unknown_continuation_is_named(blueprint: Blueprint) -> None:
    with pytest.raises(PokernetsError, match="unknown continuation 'bluff': choose from blueprint, fold, call, raise"):
        blueprint.biased("bluff")


@pytest.mark.parametrize("from_rules", [True, False])
def test_saved_and_loaded(blueprint: Blueprint, from_rules: bool, tmp_path: Path) -> None:
    """A tree that follows from the rules is not stored."""
    same = dataclasses.replace(blueprint, tree=dataclasses.replace(TREE, from_rules=from_rules))
    same.save(tmp_path / "blueprint", {"solver": "test"}, {"iterations": 5})
    assert (tmp_path / "blueprint" / "tree_kind.npy").exists() is not from_rules
    loaded = Blueprint.load(tmp_path / "blueprint", CARDS)
    assert loaded.rules == RULES
    assert tree_fingerprint(loaded.tree) == tree_fingerprint(TREE)
    assert np.array_equal(loaded.strategy, blueprint.strategy)
    assert loaded.fingerprint != ""
    assert all(np.array_equal(loaded.probs(node), blueprint.probs(node)) for node in TREE.decision_nodes)


def test_another_abstraction_or_game_is_refused_by_name(blueprint: Blueprint, tmp_path: Path) -> None:
    blueprint.save(tmp_path / "blueprint", {}, {})
    with pytest.raises(MismatchedArtifactError, match="made with another abstraction"):
        Blueprint.load(tmp_path / "blueprint", SmallGameBuckets(load_rules("kuhn")))
    assert Blueprint.load(tmp_path / "blueprint", CARDS, dataclasses.replace(RULES, name="ours")).rules == RULES
    with pytest.raises(PokernetsError, match=r"where stacks is .* in `leduc` it is \(5, 5\): make one for this game"):
        Blueprint.load(tmp_path / "blueprint", CARDS, dataclasses.replace(RULES, stacks=(5, 5)))
    with pytest.raises(MissingArtifactError, match="job=blueprint"):
        Blueprint.load(tmp_path / "elsewhere", CARDS)
    file = tmp_path / "blueprint" / "strategy.npy"
    file.write_bytes(file.read_bytes()[:-3])
    with pytest.raises(CorruptArtifactError, match="strategy"):
        Blueprint.load(tmp_path / "blueprint", CARDS)


def test_tree_fingerprint_sees_every_node() -> None:
    kuhn = build_tree(Betting.start(load_rules("kuhn")))
    assert tree_fingerprint(kuhn) != tree_fingerprint(TREE)
    assert tree_fingerprint(build_tree(Betting.start(RULES))) == tree_fingerprint(TREE)


def test_the_fingerprint_of_a_tree_is_that_of_all_its_arrays_as_text() -> None:
    """The fingerprint is computed piece by piece."""
    fields = {field.name: getattr(TREE, field.name) for field in dataclasses.fields(TREE)}
    arrays = {name: array.tobytes().hex() for name, array in fields.items() if isinstance(array, np.ndarray)}
    assert tree_fingerprint(TREE) == fingerprint_of({"rules": dataclasses.asdict(RULES), **arrays})


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


def test_three_players_share_the_pot() -> None:
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


def solver(game: str, algorithm: str, options: Mapping[str, float] | None = None) -> ExactSolver:
    rules = load_rules(game)
    tree, cards, dealer = build_tree(Betting.start(rules)), SmallGameBuckets(rules), SmallGameDealer(rules)
    return ExactSolver(tree, cards, dealer, algorithm=algorithm, options=options)


@pytest.mark.parametrize("algorithm", ["cfr_plus", "dcfr"])
def test_stored_blueprint_is_the_solution(algorithm: str) -> None:
    run = solver("leduc", algorithm)
    run.run(iterations=1000)
    metrics = run.metrics()
    assert metrics["nash_conv"] < 0.02
    assert metrics["game_value"] == pytest.approx(-0.0856, abs=0.001)
    blueprint = blueprint_from(run.tree, SmallGameBuckets(run.tree.rules), run.average, bits=32)
    assert evaluate_policy(run.tree, blueprint.probs).nash_conv == pytest.approx(metrics["nash_conv"], abs=1e-5)


@pytest.mark.parametrize("algorithm", ["cfr_plus", "apdcfr"])
def test_resumed_equals_uninterrupted(algorithm: str) -> None:
    whole, first, second = (solver("leduc", algorithm) for _ in range(3))
    whole.run(iterations=50)
    first.run(iterations=20)
    arrays, counters = first.state()
    second.restore({name: array.copy() for name, array in arrays.items()}, dict(counters))
    second.run(iterations=50)
    assert (second.iterations, second.visits) == (whole.iterations, whole.visits)
    for node in whole.tree.decision_nodes:
        assert np.array_equal(second.average(int(node)), whole.average(int(node)))


def test_hold_em_is_referred_to_sampling() -> None:
    rules = load_rules("flop_holdem_nolimit")
    tree = build_tree(Betting.start(rules), bet_menu(preflop=[["a"]], flop=[["a"]]))
    cards = make_abstraction((PREFLOP_CLASS[None],), (169,))
    with pytest.raises(PokernetsError, match=r"solver=cfr_plus solves .* use solver=external_sampling"):
        ExactSolver(tree, cards, SmallGameDealer(load_rules("leduc")), algorithm="cfr_plus")


def test_options_change_the_schedule_and_are_recorded() -> None:
    strategies = []
    for options in ({}, {"gamma": 4.0}, {"gamma": 2.0}):
        run = solver("leduc", "dcfr", options)
        run.run(iterations=30)
        strategies.append(run.metrics()["nash_conv"])
        assert run.settings == {"solver": "dcfr", "options": options}
    assert strategies[0] == strategies[1] != strategies[2]
    for wrong, message in (({"gamma": "x"}, "gamma must be a number, not 'x'"), ({"gamme": 1.0}, "gamme")):
        with pytest.raises(PokernetsError, match=message):
            solver("leduc", "dcfr", wrong)  # type: ignore[arg-type]
