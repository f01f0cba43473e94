"""The packed tree against the betting tree it was made from."""

import numpy as np
import pytest

from poker.game.rules import Rules
from poker.game.state import Betting
from poker.kernels.sampling import nodes
from poker.run.errors import PokernetsError
from poker.solvers.sampling.tree import sampling_tree
from poker.tree import BetMenu, DepthLimit, Kind, bet_menu, build_tree
from tests.games import load_rules
from tests.solvers.sampling.tables import rows

MENU = bet_menu(preflop=[1, "a"], flop=[1], turn=[1], river=[1, "a"])


def three_players() -> Rules:
    return Rules(
        name="kuhn 3p", num_players=3, betting="limit", blinds=(1, 1, 1), stacks=(4, 3, 2), raise_sizes=(1, 2),
        max_raises=(2, 1), first_player=(0, 0), num_suits=2, num_ranks=4, num_hole_cards=1, board_cards=(0, 1),
    )  # fmt: skip


GAMES = [(load_rules("kuhn"), BetMenu(()), (5,)), (load_rules("leduc"), BetMenu(()), (5, 7))]
GAMES += [(load_rules("holdem_nolimit_2p"), MENU, (169, 5, 6, 7)), (three_players(), BetMenu(()), (4, 16))]


@pytest.mark.parametrize(("rules", "menu", "buckets"), GAMES, ids=lambda value: getattr(value, "name", ""))
def test_same_decisions_and_ends(rules: Rules, menu: BetMenu, buckets: tuple[int, ...]) -> None:
    tree = build_tree(Betting.start(rules), menu)
    packed = sampling_tree(tree, buckets)
    nodes = packed.nodes
    origins = packed.origin()
    assert sorted(origins) == np.flatnonzero(tree.kind != Kind.STREET).tolist()
    for node, origin in enumerate(origins):
        assert packed.index[origin] == node
        if tree.kind[origin] != Kind.DECISION:
            assert nodes["arity"][node] == 0
            continue
        children = [tree.after_deal(child) for child in tree.children(origin)]
        first = nodes["first"][node]
        assert first > node
        assert origins[first : first + nodes["arity"][node]].tolist() == children
        assert nodes["player"][node] == tree.player[origin]
        assert nodes["street"][node] == tree.street[origin]


@pytest.mark.parametrize(("rules", "menu", "buckets"), GAMES, ids=lambda value: getattr(value, "name", ""))
def test_rows_fill_the_table_once(rules: Rules, menu: BetMenu, buckets: tuple[int, ...]) -> None:
    packed = sampling_tree(build_tree(Betting.start(rules), menu), buckets)
    table = np.zeros(packed.table_size, np.float32)
    for node in np.flatnonzero(packed.nodes["kind"] == nodes.DECISION):
        rows(packed, table, int(node))[:] += 1
    assert (table == 1).all()
    last = (packed.nodes["kind"] == nodes.DECISION) & (packed.nodes["street"] == len(buckets) - 1)
    assert packed.before_last == packed.nodes["row"][last].min()


def test_stakes_of_two_players() -> None:
    tree = build_tree(Betting.start(load_rules("holdem_nolimit_2p")), MENU)
    packed = sampling_tree(tree, (169, 5, 6, 7))
    by_text = {tree.path_text(origin): packed.nodes["row"][node] for node, origin in enumerate(packed.origin())}
    assert by_text["f"] == 50  # the small blind, player 1, gives up
    assert by_text["r300f"] == -100
    assert by_text["r20000c///"] == 20000


def test_ends_of_three_players_are_stored_once() -> None:
    tree = build_tree(Betting.start(three_players()))
    packed = sampling_tree(tree, (4, 16))
    ends = packed.nodes["kind"] == nodes.MULTIWAY
    origins, rows = packed.origin()[ends], packed.nodes["row"][ends]
    assert (packed.committed[rows] == tree.committed[origins]).all()
    assert (packed.folded[rows] == tree.folded[origins]).all()
    both = np.hstack([packed.committed, packed.folded])
    assert len(np.unique(both, axis=0)) == len(both) < ends.sum()


def test_depth_limited_trees_are_refused() -> None:
    tree = build_tree(Betting.start(load_rules("leduc")), None, DepthLimit(street=0, choosers=(1,)))
    with pytest.raises(PokernetsError, match="depth limit"):
        sampling_tree(tree, (3, 9))
