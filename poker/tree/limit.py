"""Fast construction of the trees of whole limit games, level by level in numpy.

The 17,221 nodes of a two-player game take 0.006 s, compared with 0.15 s for the general builder. The 24 million nodes
of a three-player game take 4 s instead of minutes.

The stacks must cover every raise, so that nobody is all-in before the last bet of the hand. A state is then the player
to act, the players who have yet to act, the number of raises, and the chips. The result equals that of the general
builder.
"""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from poker.game.rules import CALL, FOLD, NO_ACTION, Rules
from poker.kernels.types import Bools, Columns
from poker.run.errors import PokernetsError
from poker.tree.betting_tree import BettingTree, Kind, children_of

_Level = Columns
"""Nodes of one depth by fields of BettingTree. Bit i of `waiting` and `folded` is player i. `raises` is per street."""


def is_covered(rules: Rules) -> bool:
    """Return whether this is a limit game whose stacks cover every raise and whose blinds put nobody all-in."""
    if not rules.is_limit:
        return False
    highest = max(rules.blinds) + sum(n * size for n, size in zip(rules.max_raises, rules.raise_sizes, strict=True))
    return min(rules.stacks) >= highest and max(rules.blinds) < highest


def build_limit_tree(rules: Rules, max_nodes: int) -> BettingTree:
    """Build the whole tree of a limit game for which `is_covered` is true.

    Args:
        max_nodes: largest number of nodes.

    Raises:
        PokernetsError: the tree would exceed `max_nodes` nodes.
    """
    small = {"kind": Kind.DECISION, "street": 0, "player": rules.first_player[0], "raises": 0}
    root: _Level = {name: np.array([value], np.int8) for name, value in small.items()}
    root |= {"waiting": np.array([(1 << rules.num_players) - 1], np.int16), "folded": np.zeros(1, np.int16)}
    root |= {"parent": np.array([-1], np.int32), "action": np.array([NO_ACTION], np.int32)}
    root["committed"] = np.array([rules.blinds], np.int32)
    levels, start = [root], 0
    while len(levels[-1]["kind"]):
        following = _children(rules, levels[-1], start)
        start += len(levels[-1]["kind"])
        if start + len(following["kind"]) > max_nodes:
            raise PokernetsError(f"the betting tree exceeds {max_nodes:,} nodes: use a game with fewer raises")
        levels.append(following)
    names = ("kind", "player", "street", "parent", "action", "committed")
    columns: dict[str, Any] = {name: np.concatenate([level[name] for level in levels]) for name in names}
    first_child, num_children = children_of(columns["parent"])
    bits = 1 << np.arange(rules.num_players)
    nothing = np.full(start, -1, np.int32)
    return BettingTree(
        rules=rules,
        **columns,
        first_child=first_child,
        num_children=num_children,
        folded=np.concatenate([level["folded"][:, None] & bits != 0 for level in levels]),
        leaf_state=nothing,
        leaf_choice=nothing,
        from_rules=True,
    )


def _children(rules: Rules, level: _Level, start: int) -> _Level:
    """Return the next level, ordered by parent and then FOLD, CALL, raise; `start` is the first parent's number."""
    highest = level["committed"].max(axis=1)
    acts = level["kind"] == Kind.DECISION
    behind = highest > level["committed"][np.arange(len(acts)), level["player"]]
    may_raise = level["raises"] < np.array(rules.max_raises)[level["street"]]
    everybody = (1 << rules.num_players) - 1

    folds, _, bits = _successors(level, acts & behind, FOLD)
    folds["folded"] |= bits
    folds["waiting"] &= ~bits

    calls, seats, bits = _successors(level, acts, CALL)
    calls["committed"][seats] = highest[calls["parent"]]
    calls["waiting"] &= ~bits

    raises, seats, bits = _successors(level, acts & may_raise, NO_ACTION)
    raises["action"][:] = highest[raises["parent"]] + np.array(rules.raise_sizes)[raises["street"]]
    raises["committed"][seats] = raises["action"]
    raises["waiting"][:] = everybody & ~(raises["folded"] | bits)
    raises["raises"] += 1

    deals, _, _ = _successors(level, level["kind"] == Kind.STREET, NO_ACTION)
    deals["street"] += 1
    deals["player"][:] = np.array(rules.first_player)[deals["street"]] - 1  # the seat before the first to act
    deals["waiting"][:] = everybody & ~deals["folded"]
    deals["raises"][:] = 0

    parts = folds, calls, raises, deals
    origin = np.concatenate([part["parent"] for part in parts])
    order = np.argsort(origin, kind="stable")  # parts of one parent stay in their order
    children = {name: np.concatenate([part[name] for part in parts])[order] for name in level}
    children["parent"] += start
    _set_kinds(rules, children)
    return children


def _successors(level: _Level, where: Bools, action: int) -> tuple[_Level, tuple[NDArray[Any], ...], NDArray[Any]]:
    """Return copies of the masked nodes with `parent` set to their row, and index and bit of the player who acted."""
    rows = np.flatnonzero(where).astype(np.int32)
    nodes = {name: column[rows] for name, column in level.items()}
    nodes |= {"parent": rows, "action": np.full(len(rows), action, np.int32)}
    return nodes, (np.arange(len(rows)), nodes["player"]), (1 << nodes["player"].astype(np.int16)).astype(np.int16)


def _set_kinds(rules: Rules, level: _Level) -> None:
    """Set the kinds of new nodes and the next player to act; on entry `player` is the one who acted."""
    live = rules.num_players - np.bitwise_count(level["folded"].astype(np.uint16))
    last = level["street"] == rules.num_streets - 1
    ended = np.where(last, Kind.SHOWDOWN, Kind.STREET)
    level["kind"][:] = np.where(live == 1, Kind.FOLD, np.where(level["waiting"] != 0, Kind.DECISION, ended))
    player = np.full(len(live), -1, np.int8)
    for distance in range(rules.num_players, 0, -1):  # the nearest seat is written last
        seat = (level["player"] + distance) % rules.num_players
        waits = level["waiting"] >> seat & 1 == 1
        player[waits] = seat[waits]
    level["player"][:] = np.where(level["kind"] == Kind.DECISION, player, -1)
