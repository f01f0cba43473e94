"""The external-sampling kernel: payoffs of side pots, one traversal by hand, pruning, determinism."""

import numpy as np
import pytest

from poker.abstraction.buckets import SmallGameBuckets
from poker.abstraction.dealers import SmallGameDealer
from poker.game.state import Betting
from poker.kernels.rng import streams
from poker.kernels.sampling import external_sampling, nodes
from poker.solvers.sampling.tree import SamplingTree, sampling_tree
from poker.tree import build_tree
from tests.cases import cases
from tests.games import load_rules
from tests.solvers.sampling.tables import rows


@cases
def test_side_pots(
    committed: tuple[int, ...], folded: tuple[int, ...], ranks: tuple[int, ...], net: tuple[int, ...]
) -> None:
    arrays = np.array(committed, np.int32), np.array(folded, np.bool_), np.array(ranks, np.int32)
    assert tuple(nodes.multiway_payoff(*arrays, player) for player in range(len(net))) == net


class _Kuhn:
    """Kuhn poker with a table to traverse: hands 0 J, 1 Q, 2 K; node 0 is the first decision of player 0."""

    def __init__(self) -> None:
        rules = load_rules("kuhn")
        self.tree: SamplingTree = sampling_tree(build_tree(Betting.start(rules)), SmallGameBuckets(rules).num_buckets)
        self.table = np.zeros(self.tree.table_size, dtype=np.float32)
        self.scratch = external_sampling.new_scratch(len(self.tree.nodes))
        self.rng = streams(1, 1)[0]

    def traverse(self, hands: tuple[int, int], traverser: int) -> tuple[int, int]:
        ranks = np.array(hands, np.int32)
        visits, decisions = external_sampling.traverse(
            self.tree.arrays, self.table, ranks.reshape(2, 1), ranks, traverser, self.rng, self.scratch
        )
        return visits, decisions

    def row(self, node: int, hand: int) -> np.ndarray:
        row: np.ndarray = rows(self.tree, self.table, node)[hand]
        return row


def test_regrets_of_one_traversal_by_hand() -> None:
    """King against queen, player 1 checks and folds: a bet and a check both win 1."""
    game = _Kuhn()
    after_pass, after_bet = (int(game.tree.nodes["first"][0]) + a for a in (0, 1))
    game.row(after_pass, 1)[0] = (1, 0)
    game.row(after_bet, 1)[0] = (1, 0)
    assert game.traverse((2, 1), 0) == (5, 1)  # two ends, two decisions of player 1, the root
    assert np.array_equal(game.row(0, 2), [[0, 0], [0, 0]])
    assert np.array_equal(game.row(after_pass, 1), [[1, 0], [1, 0]])  # sigma of the other player was added to its sums
    game.row(after_bet, 1)[0] = (0, 1)  # now a bet is called and wins 2, so betting gains 1 / 2 on the mean of 1 and 2
    game.traverse((2, 1), 0)
    assert np.array_equal(game.row(0, 2)[0], [-0.5, 0.5])


def test_strategy_sums_count_visits_of_the_other_player() -> None:
    """Player 1 is asked once in every traversal of player 0 for each action, and its sums grow by 1 a visit."""
    game = _Kuhn()
    after_pass, after_bet = (int(game.tree.nodes["first"][0]) + a for a in (0, 1))
    for _ in range(10):
        game.traverse((0, 1), 0)
    assert game.row(after_pass, 1)[1].sum() == pytest.approx(10)
    assert game.row(after_bet, 1)[1].sum() == pytest.approx(10)
    assert game.row(0, 0)[1].sum() == 0


def test_one_stream_gives_one_table() -> None:
    tables = []
    for _ in range(2):
        game = _Kuhn()
        deals = SmallGameDealer(load_rules("kuhn")).deal(game.rng, 500)
        external_sampling.external_sampling(game.tree.arrays, game.table, deals, game.rng, game.scratch)
        tables.append(game.table.tobytes())
    assert tables[0] == tables[1]
    assert any(tables[0])


def test_positive_regret_takes_the_best_action_of_every_infoset() -> None:
    game = _Kuhn()
    game.row(0, 0)[0] = (2, 3)
    game.row(0, 1)[0] = (-2, -3)
    game.row(0, 2)[0] = (4, -1)
    assert external_sampling.positive_regret(game.tree.arrays, game.table, np.array([3], np.int32)) == 7
