"""Chance sampling: the same regrets as external sampling in the mean, from sweeps of the whole tree."""

from typing import Any

import numpy as np
import pytest

from poker.abstraction.buckets import SmallGameBuckets
from poker.abstraction.dealers import SmallGameDealer
from poker.kernels.sampling.chance_sampling import chance_sampling
from poker.kernels.sampling.nodes import Deals, Tree
from poker.rules import Rules
from poker.solvers.sampling.mccfr import ChanceSampling
from poker.state import Betting
from poker.tree import build_tree
from tests.games import load_rules
from tests.solvers.sampling.tables import rows
from tests.solvers.sampling.test_outcome_sampling import Increments, Stream, Table
from tests.solvers.sampling.test_tree import three_players


def solver(game: str = "leduc", **settings: Any) -> ChanceSampling:
    rules = load_rules(game)
    options = {"seed": 1, "batch": 50, "discount_every": 200, **settings}
    return ChanceSampling(build_tree(Betting.start(rules)), SmallGameBuckets(rules), SmallGameDealer(rules), **options)


@pytest.mark.parametrize("rules", [load_rules("kuhn"), three_players()], ids=lambda rules: rules.name)
def test_regrets_are_unbiased(rules: Rules) -> None:
    game = Increments(rules, range(rules.num_players))
    reach, values = (np.zeros((len(game.tree.nodes), rules.num_players)) for _ in range(2))

    def sweep(arrays: Tree, start: Table, deals: Deals, rng: Stream) -> Table:
        table = start.copy()
        chance_sampling(arrays, table, deals, reach, values)
        return table

    game.check(sweep)


def test_a_sweep_reaches_every_node_while_the_strategy_is_uniform() -> None:
    run = solver("kuhn", batch=1)
    run.run(iterations=1)
    assert run.visits == len(run.sampling.nodes) == 9
    assert rows(run.sampling, run.table, 0)[:, 1].sum() == pytest.approx(1)
