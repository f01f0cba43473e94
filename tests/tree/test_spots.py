"""The betting trees of the reference spots, node by node (tests/golden/spots.json)."""

import json
from pathlib import Path

import pytest

from poker.run.errors import PokernetsError
from poker.tree import BettingTree, Kind
from poker.tree.spots import spot_tree
from tests.cases import cases

SPOTS = json.loads((Path(__file__).parents[1] / "golden" / "spots.json").read_text())["spots"]
NOT_MENU = ("board", "oop_range", "ip_range", "pot", "stack")


def reference_lines(tree: BettingTree, node: int = 0, path: str = "") -> list[str]:
    """Decision nodes depth first, in the notation of the golden file."""
    if tree.kind[node] == Kind.STREET:
        return reference_lines(tree, int(tree.first_child[node]), path)
    if tree.kind[node] != Kind.DECISION:
        return []
    names = {child: action_name(tree, node, child) for child in tree.children(node)}
    bets = [int(c) for c in tree.committed[node]]
    lines = [f"{path or '/'} bets={bets} -> [{', '.join(names.values())}]"]
    for child, name in names.items():
        lines += reference_lines(tree, child, f"{path}/{name}")
    return lines


def action_name(tree: BettingTree, node: int, child: int) -> str:
    committed, action = tree.committed[node], int(tree.action[child])
    if action <= 0:
        return "Fold" if action < 0 else ("Check" if committed[0] == committed[1] else "Call")
    base = street_start(tree, node)
    if action == tree.rules.stacks[0]:
        return f"AllIn({action - base})"
    return f"{'Bet' if committed[0] == committed[1] else 'Raise'}({action - base})"


def street_start(tree: BettingTree, node: int) -> int:
    while tree.parent[node] >= 0 and tree.street[tree.parent[node]] == tree.street[node]:
        node = int(tree.parent[node])
    return int(tree.committed[node].max())


@pytest.mark.parametrize("name", SPOTS)
def test_tree_equals_the_reference(name: str) -> None:
    spot = SPOTS[name]
    config = dict(spot["config"])
    menu = {key: value for key, value in config.items() if key not in NOT_MENU}
    tree = spot_tree(len(config["board"]) // 2, int(config["pot"]), int(config["stack"]), menu)
    assert reference_lines(tree) == spot["tree"]
    assert len(tree.decision_nodes) == spot["betting_nodes"]


@cases
def test_bad_spots_are_refused(pot: int, stack: int, menu: dict[str, object], what: str) -> None:
    with pytest.raises(PokernetsError, match=what):
        spot_tree(5, pot, stack, menu)
