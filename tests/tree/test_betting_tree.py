"""Trees of whole games: counts, order, depth limits, extra actions."""

from dataclasses import replace

import numpy as np
import pytest

from poker.game.rules import CALL, FOLD, NO_ACTION, Rules
from poker.game.state import Betting
from poker.run.errors import PokernetsError
from poker.tree import BetMenu, BettingTree, DepthLimit, Gadget, Kind, bet_menu, build_tree
from poker.tree.limit import build_limit_tree, is_covered
from tests.games import load_rules

MENU = bet_menu(
    preflop=[[0.5, 1.0], [1.0], ["a"]], flop=[[0.5, 1.0, "a"], ["a"]], turn=[[1.0, "a"], ["a"]], river=[["a"]]
)


def holdem(stack: int = 20000) -> Rules:
    return replace(load_rules("holdem_nolimit_2p"), stacks=(stack, stack))


def check_structure(tree: BettingTree) -> None:
    for node in range(len(tree)):
        for child in tree.children(node):
            assert tree.parent[child] == node < child
        if tree.kind[node] == Kind.STREET:
            assert tree.num_children[node] == 1
            assert tree.street[tree.first_child[node]] == tree.street[node] + 1
    kinds = tree.kind[tree.num_children == 0]
    assert set(kinds) <= {Kind.FOLD, Kind.SHOWDOWN, Kind.LEAF}
    assert (tree.street[tree.kind == Kind.SHOWDOWN] == tree.rules.num_streets - 1).all()
    assert (np.diff(tree.parent) >= 0).all()


def test_kuhn_and_leduc_have_their_published_sizes() -> None:
    tree = build_tree(Betting.start(load_rules("kuhn")))
    check_structure(tree)
    assert [int((tree.kind == kind).sum()) for kind in Kind] == [4, 0, 2, 3, 0, 0, 0, 0]
    tree = build_tree(Betting.start(load_rules("leduc")))
    check_structure(tree)
    # 6 betting nodes before the board; 5 ways to see it, 6 nodes each
    assert int((tree.kind == Kind.DECISION).sum()) == 6 + 5 * 6
    assert int((tree.kind == Kind.STREET).sum()) == 5


def test_find_inverts_path() -> None:
    tree = build_tree(Betting.start(holdem(2000)), MENU)
    check_structure(tree)
    for node in range(0, len(tree), 7):
        assert tree.find(tree.path(node)) == tree.after_deal(node)
    node = tree.find((CALL, CALL, CALL, 200))
    assert tree.path_text(node) == "cc/cr200"
    with pytest.raises(PokernetsError, match="no action 12345"):
        tree.find((12345,))


def test_allin_runs_out_through_street_nodes() -> None:
    tree = build_tree(Betting.start(holdem(300)), bet_menu(preflop=[["a"]], flop=[["a"]], turn=[["a"]], river=[["a"]]))
    node = tree.child(0, 300)
    called = next(child for child in tree.children(node) if tree.action[child] == CALL)
    kinds = []
    while tree.num_children[called]:
        kinds.append(int(tree.kind[called]))
        called = int(tree.first_child[called])
    assert kinds == [Kind.STREET] * 3
    assert tree.kind[called] == Kind.SHOWDOWN
    assert tree.committed[called].tolist() == [300, 300]


@pytest.mark.parametrize("choosers", [(), (0,), (0, 1)])
def test_depth_limit_ends_the_round_in_choices(choosers: tuple[int, ...]) -> None:
    full = build_tree(Betting.start(holdem()), MENU)
    cut = build_tree(Betting.start(holdem()), MENU, DepthLimit(0, 4, choosers))
    check_structure(cut)
    rounds_over = [n for n in np.flatnonzero(full.kind == Kind.STREET) if full.street[n] == 0]
    live = [n for n in rounds_over if full.kind[full.first_child[n]] == Kind.DECISION]
    assert cut.num_leaf_states == len(live)
    assert [cut.path_text(int(n)) for n in cut.leaves] == [full.path_text(int(n)) for n in live]
    leaves = np.flatnonzero(cut.kind == Kind.LEAF)
    assert len(leaves) == len(live) * 4 ** len(choosers)
    assert sorted(zip(cut.leaf_state[leaves], cut.leaf_choice[leaves], strict=True)) == [
        (state, k) for state in range(len(live)) for k in range(4 ** len(choosers))
    ]
    top = cut.leaves[0]
    players = []
    while cut.kind[top] == Kind.CHOICE:
        players.append(int(cut.player[top]))
        top = cut.first_child[top]
    assert tuple(players) == choosers
    assert (cut.street[leaves] == 0).all()


def test_extra_action_appears_once_and_only_there() -> None:
    start = Betting.start(holdem())
    raised = start.apply(250)
    plain, extended = build_tree(start, MENU), build_tree(start, MENU.with_action(start, 250))
    assert plain.actions(0) == (FOLD, CALL, 200, 300)
    assert extended.actions(0) == (FOLD, CALL, 200, 250, 300)
    assert extended.actions(extended.child(0, 200)) == plain.actions(plain.child(0, 200))
    inside = build_tree(raised, MENU)
    assert inside.action[0] == NO_ACTION
    assert inside.actions(0) == extended.actions(extended.child(0, 250))


def test_a_missing_menu_is_refused() -> None:
    with pytest.raises(PokernetsError, match="needs a bet menu"):
        build_tree(Betting.start(holdem()))


def limit_games() -> list[Rules]:
    three = Rules("three", 3, "limit", (5, 10, 0), (90, 80, 70), (10, 20), (2, 2), (2, 0), 4, 13, 1, (0, 1))
    four = Rules("four", 4, "limit", (1, 2, 0, 0), (9, 9, 9, 9), (1, 2), (1, 1), (2, 3), 4, 13, 1, (0, 1))
    return [*map(load_rules, ("kuhn", "leduc", "holdem_limit_2p")), three, four]


@pytest.mark.parametrize("rules", limit_games(), ids=lambda rules: rules.name)
def test_level_by_level_equals_node_by_node(rules: Rules) -> None:
    """Every array of a limit tree, built both ways."""
    assert is_covered(rules)
    fast = build_limit_tree(rules, 100_000)
    plain = build_tree(Betting.start(rules), BetMenu((), extra={"never": ()}))  # which only the general builder takes
    for name, array in vars(plain).items():
        if isinstance(array, np.ndarray):
            other = getattr(fast, name)
            assert other.dtype == array.dtype
            np.testing.assert_array_equal(other, array)
    assert vars(build_tree(Betting.start(rules)))["kind"].tobytes() == fast.kind.tobytes()
    with pytest.raises(PokernetsError, match="exceeds 8 nodes"):
        build_limit_tree(rules, 8)


def test_short_stacks_are_left_to_the_general_builder() -> None:
    assert not is_covered(Rules("short", 2, "limit", (1, 1), (12, 13), (2, 4), (2, 2), (0, 0), 2, 3, 1, (0, 1)))
    assert not is_covered(holdem())


def test_gadgets_stand_where_subgames_begin_and_leave_paths_alone() -> None:
    start = Betting.start(load_rules("leduc"))
    plain, tree = build_tree(start), build_tree(start, gadget=Gadget(1, 1))
    assert len(tree.gadgets) == (plain.kind == Kind.STREET).sum() == 5
    assert len(tree) == len(plain) + 2 * 5
    for gadget in tree.gadgets.tolist():
        alternative, root = tree.children(gadget)
        assert tree.kind[tree.parent[gadget]] == Kind.STREET
        assert tree.kind[alternative] == Kind.ALTERNATIVE
        assert tree.after_deal(gadget) == root
        assert tree.path_text(root) == tree.path_text(gadget)
        same = plain.find(tree.path(root))
        assert plain.path_text(same) == tree.path_text(root)
        assert plain.actions(same) == tree.actions(root)
    at_root = build_tree(start, gadget=Gadget(1, 0))
    assert at_root.gadgets.tolist() == [0]
    assert at_root.find(()) == 2
