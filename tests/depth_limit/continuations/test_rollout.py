"""Continuation values against a slow recursion over betting and against hands that are played out."""

import inspect
import itertools

import numpy as np
import pytest

from poker.abstraction.buckets import SmallGameBuckets
from poker.abstraction.dealers import sample_boards
from poker.abstraction.equities import hand_ranks
from poker.depth_limit.continuations.forms import Biased
from poker.depth_limit.continuations.rollout import Continuations, Moments
from poker.game.rules import CALL, Rules
from poker.game.state import Betting, HandState
from poker.kernels.sampling.continuation import BLOCK
from poker.run.errors import PokernetsError
from poker.solvers.blueprint import CONTINUATIONS, Blueprint
from poker.solvers.subtree import subtree
from poker.tree import Kind, build_tree
from tests.blueprints import random_blueprint
from tests.games import LEDUC, load_rules, option

FACTOR = 10.0


def test_the_bias_is_that_of_the_paper_wherever_it_is_set() -> None:
    """[DLS] section 4: ten times as likely. Tables, nets and roll-outs in play must mean the same by a continuation."""
    places = ("continuations", "biased"), ("leaf", "rollout"), ("agents", "depth_limited_ring")
    set_factors = [option(*place)["factor"] for place in places]
    default = inspect.signature(Blueprint.biased).parameters["factor"].default
    assert [Biased().factor, default, *set_factors] == [10.0] * 5


def small_blueprint(rules: Rules) -> Blueprint:
    return random_blueprint(build_tree(Betting.start(rules)), SmallGameBuckets(rules))


def expected(forms: tuple[Blueprint, Blueprint], node: int, board: tuple[int, ...], hands: tuple[int, int]) -> float:
    """Net chips of player 0 from `node` on, one policy a player, by recursion over the betting tree."""
    tree = forms[0].tree
    if tree.kind[node] == Kind.STREET:
        return expected(forms, int(tree.first_child[node]), board, hands)
    if tree.kind[node] == Kind.FOLD:
        return -float(tree.committed[node, 0]) if tree.folded[node, 0] else float(tree.committed[node, 1])
    if tree.kind[node] == Kind.SHOWDOWN:
        ranks = hand_ranks(tree.rules, board)
        return float(np.sign(ranks[hands[0]] - ranks[hands[1]]) * tree.committed[node].min())
    player = int(tree.player[node])
    cards = board[: tree.rules.board_sizes[int(tree.street[node])]]
    probs = forms[player].probs(node, cards)[hands[player]]
    return sum(
        float(p) * expected(forms, child, board, hands) for p, child in zip(probs, tree.children(node), strict=True)
    )


@pytest.mark.parametrize("name", ["kuhn", "leduc"])
def test_equal_to_recursion(name: str) -> None:
    rules = load_rules(name)
    blueprint = small_blueprint(rules)
    continuations = Continuations(blueprint, Biased(FACTOR).of(blueprint))
    biased = [blueprint.biased(kind, FACTOR) for kind in CONTINUATIONS]
    nodes = [0, *np.flatnonzero(blueprint.tree.kind == Kind.STREET)[:3].tolist()]
    hands = np.arange(rules.num_hands)
    boards: list[tuple[int, ...]] = [(3,), (0,)] if name == "leduc" else [()]
    for node in nodes:
        values, won, possible, _ = continuations.on_boards(node, boards, hands, hands)
        for (r, board), h0, h1 in itertools.product(enumerate(boards), hands.tolist(), hands.tolist()):
            assert possible[r, h0, h1] == (len({h0, h1, *board}) == 2 + len(board))
            if not possible[r, h0, h1]:
                assert (values[:, :, r, h0, h1] == 0).all()
                continue
            ranks = hand_ranks(rules, board)
            assert won[r, h0, h1] == (np.sign(ranks[h0] - ranks[h1]) + 1) / 2
            for k, form in enumerate(biased):
                first, second = (
                    expected(pair, node, board, (h0, h1)) for pair in ((blueprint, form), (form, blueprint))
                )
                assert values[:, k, r, h0, h1] == pytest.approx([first, -second], abs=1e-4)


def test_value_of_one_form_does_not_depend_on_the_others() -> None:
    blueprint, hands = small_blueprint(load_rules("leduc")), np.arange(6)
    alone = Continuations(blueprint, [blueprint]).on_boards(0, [(2,)], hands, hands)[0]
    assert np.abs(alone).max() > 0.1
    forms = Biased(FACTOR).of(blueprint)
    among, last = (Continuations(blueprint, each).on_boards(0, [(2,)], hands, hands) for each in (forms, forms[-1:]))
    np.testing.assert_allclose(alone[:, 0], among[0][:, 0], atol=1e-5)
    np.testing.assert_allclose(last[0][:, 0], among[0][:, -1], atol=1e-5)
    for values in (among, last):
        np.testing.assert_allclose(values[3], alone[0, 0], atol=1e-5)
        assert values[2].sum() == 5 * 4


def test_equal_to_hands_played_out() -> None:
    """Leduc from the start, jack against king, the opponent raising: 20,000 sampled hands, four standard errors."""
    blueprint = small_blueprint(LEDUC)
    form = blueprint.biased("raise", FACTOR)
    rng = np.random.default_rng(5)
    results = []
    for _ in range(20_000):
        board = (int(rng.choice([1, 2, 3, 5])),)
        betting, node = Betting.start(LEDUC), 0
        while not betting.is_over:
            policy = blueprint if betting.to_act == 0 else form
            probs = policy.probs(node, board[: LEDUC.board_sizes[betting.street]])[0 if betting.to_act == 0 else 4]
            action = blueprint.tree.actions(node)[rng.choice(len(probs), p=probs / probs.sum())]
            betting, node = betting.apply(action), blueprint.tree.child(node, action)
        results.append(HandState(betting, ((0,), (4,)), board).payoffs()[0])
    boards = [(card,) for card in range(6)]
    estimate = Continuations(blueprint, Biased(FACTOR).of(blueprint)).values(0, boards, np.array([0]), np.array([4]))
    assert estimate.count[0, 0] == 4
    error = np.std(results) / np.sqrt(len(results))
    assert abs(np.mean(results) - estimate.mean[0, CONTINUATIONS.index("raise"), 0, 0]) < 4 * error


def test_in_pots_is_net_chips_over_the_pot() -> None:
    blueprint = small_blueprint(LEDUC)
    node = blueprint.tree.children(0)[0]
    node = next(child for child in blueprint.tree.children(node) if blueprint.tree.kind[child] == Kind.STREET)
    hands = np.arange(6)
    estimate = Continuations(blueprint, Biased(FACTOR).of(blueprint)).values(
        node, [(card,) for card in range(6)], hands, hands
    )
    assert blueprint.tree.committed[node].tolist() == [1, 1]
    pots, sem = estimate.in_pots(2)
    assert np.allclose(pots, estimate.mean / 2, atol=1e-6)
    assert np.allclose(sem, estimate.sem / 2)
    assert np.allclose(pots[0, 0], -pots[1, 0], atol=1e-6)  # the unbiased form is one game seen from two sides


def test_subtree_ends_are_all_ends_below() -> None:
    blueprint = small_blueprint(LEDUC)
    tree, root = blueprint.tree, blueprint.tree.find((CALL, CALL))
    folds: list[int] = []
    stakes: list[int] = []
    for node in range(root, len(tree)):
        if tree.path(node)[:2] == (CALL, CALL) and tree.kind[node] in (Kind.FOLD, Kind.SHOWDOWN):
            total = tree.committed[node]
            won = int(total[1]) if tree.folded[node, 1] else -int(total[0])
            (folds if tree.kind[node] == Kind.FOLD else stakes).append(won)
    below = subtree(blueprint, root)
    assert sorted(below.fold_value) == sorted(folds)
    assert sorted(below.stake) == sorted(-np.array(stakes))
    assert sorted(below.end[below.arity == 0].tolist()) == list(range(below.num_ends))


def test_control_variate_narrows_and_does_not_move_the_mean() -> None:
    """Values = 3 * luck + noise: the slope is found, the error falls to that of the noise, the mean stays right."""
    rng = np.random.default_rng(3)
    shape, boards = (2, 1, 20, 20), 50
    plain, steady = Moments(shape), Moments(shape)
    luck = rng.normal(size=(boards, *shape[2:])).astype(np.float32)
    values = (5 + 3 * luck + 0.1 * rng.normal(size=(2, 1, *luck.shape))).astype(np.float32)
    plain.add(values, np.zeros_like(luck), np.ones(luck.shape, bool))
    steady.add(values, luck, np.ones(luck.shape, bool))
    wide, narrow = plain.result(), steady.result()
    assert np.abs(narrow.mean - 5).max() < 5 * 0.1 / np.sqrt(boards)
    assert narrow.sem.mean() == pytest.approx(0.1 / np.sqrt(boards), rel=0.05)
    assert wide.sem.mean() == pytest.approx(3 / np.sqrt(boards), rel=0.05)


def test_sampled_boards_are_distinct_cards_and_stratified() -> None:
    rules = load_rules("holdem_nolimit_2p")
    flop = (0, 13, 51)
    boards = sample_boards(rules, flop, 49, np.random.default_rng(1))
    assert all(board[:3] == flop and len(set(board)) == 5 for board in boards)
    assert sorted(board[3] for board in boards) == sorted(set(range(52)) - set(flop))
    assert sample_boards(load_rules("kuhn"), (), 2, np.random.default_rng(1)) == [(), ()]


def test_values_of_hands_do_not_depend_on_the_batch() -> None:
    """Hands walk the betting in blocks."""
    blueprint, hands = small_blueprint(LEDUC), np.arange(6)
    continuations = Continuations(blueprint, Biased(FACTOR).of(blueprint))
    few, many = (continuations.on_boards(0, [(2,)], each, hands)[0] for each in (hands, np.tile(hands, 50)))
    assert many.shape[3] > BLOCK
    np.testing.assert_allclose(many, np.tile(few, (1, 1, 1, 50, 1)), atol=1e-5)


def test_a_bias_of_nothing_is_refused() -> None:
    with pytest.raises(PokernetsError, match=r"continuations\.factor=0 must be above 0"):
        Biased(0)
