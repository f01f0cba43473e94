"""The unabstracted best response to buckets: equal to the walk over ranges, and to itself."""

import math
from collections.abc import Callable
from dataclasses import replace
from functools import lru_cache

import numpy as np
import pytest
from numpy.typing import NDArray

from poker.abstraction.buckets import CardAbstraction, make_abstraction
from poker.betting import Betting
from poker.cards import NUM_HANDS, parse_cards
from poker.errors import PokernetsError
from poker.kernels.cards.isomorphism import NUM_BOARDS
from poker.rules import CALL, FOLD, Rules
from poker.solvers.best_response.flops import NUM_CLASSES, NUM_FLOPS, value_of_all
from poker.solvers.best_response.ranges import RangePolicy, evaluate_policy
from poker.solvers.best_response.unabstracted import UnabstractedResponse
from poker.state import HandState
from poker.tree import BettingTree, bet_menu, build_tree
from tests.games import load_rules
from tests.solvers.best_response.classes import response_by_hand
from tests.solvers.games import ORACLES, kuhn

SIZES = (0, 3, 4, 5)


@lru_cache(maxsize=4)
def abstraction(streets: int, buckets: int) -> CardAbstraction:
    """Buckets that treat suits alike: of a hand's two ranks, and of its strength on the flop."""
    ranks = np.array([(a // 4, b // 4) for b in range(52) for a in range(b)])
    by_rank = ((ranks * (1, 5)).sum(axis=1) % buckets).astype(np.uint8)
    tables = [np.broadcast_to(by_rank, (NUM_BOARDS[size], NUM_HANDS)).copy() for size in SIZES[:streets]]
    return make_abstraction(tables, [buckets] * streets)


def random_policy(tree: BettingTree, buckets: int, pure: float = 0.4) -> Callable[[int], NDArray[np.float32]]:
    """Random probabilities of every bucket; a share of the buckets plays one action."""

    def policy(node: int) -> NDArray[np.float32]:
        rng, actions = np.random.default_rng(node), int(tree.num_children[node])
        rows = rng.dirichlet(np.ones(actions), buckets)
        chosen = rng.random(buckets) < pure
        rows[chosen] = np.eye(actions)[rng.integers(actions, size=int(chosen.sum()))]
        return rows.astype(np.float32)

    return policy


def limit_game(max_raises: tuple[int, ...], streets: int = 4) -> Rules:
    return replace(load_rules("holdem_limit_2p"), max_raises=max_raises[:streets])


def by_hand(cards: CardAbstraction, policy: Callable[[int], NDArray[np.float32]]) -> RangePolicy:
    """The policy in the form that the vector engine takes."""
    return lambda node, board: policy(node)[np.maximum(cards.buckets(board), 0)]


def equals_vector_engine(tree: BettingTree, board: tuple[int, ...], buckets: int = 5) -> bool:
    cards, policy = abstraction(4, buckets), random_policy(tree, buckets)
    response = UnabstractedResponse(tree, cards, policy, board)
    wanted = evaluate_policy(tree, by_hand(cards, policy), board).best_response
    pairs = math.comb(52 - len(board), 2) * math.comb(50 - len(board), 2)
    found = [each.sum() / pairs for each in response.board_values(board, response.scratch())]
    return found == pytest.approx(wanted, rel=1e-5)


def test_limit_river_equals_the_vector_engine() -> None:
    rules = limit_game((3, 4, 4, 4))
    assert equals_vector_engine(build_tree(Betting.at_street(rules, 3, (20, 20))), parse_cards("AhKd7h7c2s"))


def test_limit_turn_equals_the_vector_engine() -> None:
    rules = limit_game((3, 4, 1, 2))
    assert equals_vector_engine(build_tree(Betting.at_street(rules, 2, (20, 20))), parse_cards("AhKd7h7c"))


def test_all_in_on_the_turn_equals_the_vector_engine() -> None:
    """Lines of several shapes, among them run-outs, and raises that the opponent cannot call in full."""
    rules = replace(load_rules("holdem_nolimit_2p"), stacks=(900, 700))
    tree = build_tree(Betting.at_street(rules, 2, (200, 200)), bet_menu(turn=[["1", "a"], ["a"]], river="a"))
    assert equals_vector_engine(tree, parse_cards("AhKh7hKc"))


def test_more_than_sixteen_lines_equal_the_vector_engine() -> None:
    """No-limit with three sizes: 19 lines of one shape reach the river."""
    menu = bet_menu(turn=[["0.3", "0.6", "1"], ["0.5", "1"], []], river=[["0.5"], []])
    tree = build_tree(Betting.at_street(load_rules("holdem_nolimit_2p"), 2, (200, 200)), menu)
    assert equals_vector_engine(tree, parse_cards("AhKd7h7c"))


@pytest.mark.slow
def test_limit_flop_equals_the_vector_engine() -> None:
    rules = limit_game((3, 1, 0, 1))
    assert equals_vector_engine(build_tree(Betting.at_street(rules, 1, (20, 20))), parse_cards("AhKd7h"), buckets=3)


@pytest.mark.parametrize("flop", ["AhAd7c", "9h6h2h"])
def test_classes_of_boards_stand_for_all(flop: str) -> None:
    """Compare values with and without merged turns and rivers; one flop keeps three suits alike, the other two."""
    tree = build_tree(Betting.at_street(limit_game((3, 1, 0, 1)), 1, (20, 20)))
    cards, policy = abstraction(4, 5), random_policy(tree, 5)
    values = []
    for renamings in (24, 1):
        response = UnabstractedResponse(tree, cards, policy, parse_cards(flop))
        response.renamings = np.arange(renamings)
        values.append(response.board_values(parse_cards(flop), response.scratch()))
    for merged, all_boards in zip(*values, strict=True):
        assert np.allclose(merged, all_boards, rtol=1e-4, atol=1e-3 * abs(all_boards).max())
        assert merged.any()


def over_all_flops(response: UnabstractedResponse) -> list[float]:
    """Chips per hand of either seat."""
    scratch = response.scratch()
    return list(value_of_all(response.roots, [response.flop_values(flop, scratch) for flop in range(NUM_FLOPS)]))


@pytest.mark.slow
def test_flop_holdem_equals_the_walk_of_public_states() -> None:
    """All flops, the betting before them included, against the engine that asks agents."""
    rules = replace(
        load_rules("holdem_limit_2p"), max_raises=(1, 1), raise_sizes=(10, 10), first_player=(1, 0), board_cards=(0, 3)
    )
    tree = build_tree(Betting.start(rules))
    cards, policy = abstraction(2, 5), random_policy(tree, 5)

    def public(state: HandState) -> tuple[tuple[int, ...], NDArray[np.float32]]:
        node = tree.find(state.betting.line)
        return tree.actions(node), policy(node)[np.maximum(cards.buckets(state.board), 0)]

    wanted = [response_by_hand(rules, public, player).mean() for player in range(2)]
    assert over_all_flops(UnabstractedResponse(tree, cards, policy)) == pytest.approx(wanted, rel=1e-5)


def test_always_folding_loses_the_blinds() -> None:
    """750 mbb per hand: five chips of the small blind, ten of the big blind."""
    tree = build_tree(Betting.start(load_rules("holdem_limit_2p")))

    def folder(node: int) -> NDArray[np.float32]:
        actions = tree.actions(node)
        return np.eye(len(actions), dtype=np.float32)[None, actions.index(FOLD if FOLD in actions else CALL)]

    response = UnabstractedResponse(tree, abstraction(4, 1), folder)
    won = [root.best(np.zeros((len(root.entries), NUM_CLASSES)))[0] for root in response.roots]
    assert sum(won) / 2 / 10 * 1000 == pytest.approx(ORACLES["limit_holdem"]["always_fold_mbb"])


def test_what_is_refused() -> None:
    with pytest.raises(PokernetsError, match="two-player hold'em"):
        UnabstractedResponse(
            build_tree(Betting.start(kuhn())), abstraction(1, 1), lambda _: np.ones((1, 2), np.float32)
        )
    rules = limit_game((1, 0, 0, 1))
    tree = build_tree(Betting.start(rules))
    tables = [table.copy() if size == 3 else table for size, table in zip(SIZES, abstraction(4, 3).tables, strict=True)]
    tables[1][:] = np.arange(NUM_HANDS) % 3
    with pytest.raises(PokernetsError, match="treats suits alike"):
        UnabstractedResponse(tree, make_abstraction(tables, [3] * 4), random_policy(tree, 3))
    with pytest.raises(PokernetsError, match="does not add to 1"):
        UnabstractedResponse(tree, abstraction(4, 2), lambda node: np.ones((2, tree.num_children[node]), np.float32))
