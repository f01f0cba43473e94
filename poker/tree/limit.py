"""Betting trees of whole limit games, level by level in numpy: minutes faster than node by node for three players.

For games whose stacks cover every raise: nobody is all-in before the last bet of the hand, so a state is who is to
act, who has yet to act, the number of raises, and the chips. The result equals that of the general builder.
"""

from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from poker.errors import PokernetsError
from poker.rules import CALL, FOLD, NO_ACTION, Rules
from poker.tree.betting_tree import BettingTree, Kind


def is_covered(rules: Rules) -> bool:
    """Whether this is a limit game whose stacks cover every raise, with nobody folded or all-in by the blinds."""
    if not rules.is_limit:
        return False
    most = max(rules.blinds) + sum(n * size for n, size in zip(rules.max_raises, rules.raise_sizes, strict=True))
    return min(rules.stacks) >= most and max(rules.blinds) < most


@dataclass(frozen=True)
class _Level:
    """The n nodes of one depth. Bit i of `waiting` and `folded` is player i; `raises` counts those of the street."""

    kind: NDArray[np.int8]
    street: NDArray[np.int8]
    player: NDArray[np.int8]
    parent: NDArray[np.int32]
    action: NDArray[np.int32]
    raises: NDArray[np.int8]
    waiting: NDArray[np.int16]
    folded: NDArray[np.int16]
    committed: NDArray[np.int32]  # [n, P]

    def __len__(self) -> int:
        return len(self.kind)

    def take(self, rows: NDArray[np.intp]) -> "_Level":
        return _Level(**{name: array[rows] for name, array in vars(self).items()})


def build_limit_tree(rules: Rules, max_nodes: int) -> BettingTree:
    """The whole tree of a game that `is_covered`; PokernetsError beyond `max_nodes`."""
    levels = [_root(rules)]
    first_child: list[NDArray[np.int32]] = []
    num_children: list[NDArray[np.int32]] = []
    start = 0
    while len(levels[-1]):
        level = levels[-1]
        children, counts = _children(rules, level, start)
        start += len(level)
        if start + len(children) > max_nodes:
            raise PokernetsError(f"the betting tree exceeds {max_nodes:,} nodes: use a game with fewer raises")
        first_child.append(np.where(counts > 0, start + np.cumsum(counts) - counts, -1).astype(np.int32))
        num_children.append(counts)
        levels.append(children)
    players = np.arange(rules.num_players)
    nothing = np.full(start, -1, dtype=np.int32)
    return BettingTree(
        rules=rules,
        kind=np.concatenate([level.kind for level in levels]),
        player=np.concatenate([level.player for level in levels]),
        street=np.concatenate([level.street for level in levels]),
        parent=np.concatenate([level.parent for level in levels]),
        first_child=np.concatenate(first_child),
        num_children=np.concatenate(num_children),
        action=np.concatenate([level.action for level in levels]),
        committed=np.concatenate([level.committed for level in levels]),
        folded=np.concatenate([(level.folded[:, None] >> players & 1).astype(np.bool_) for level in levels]),
        leaf_state=nothing,
        leaf_choice=nothing,
        from_rules=True,
    )


def _root(rules: Rules) -> _Level:
    return _Level(
        kind=np.array([Kind.DECISION], dtype=np.int8),
        street=np.zeros(1, dtype=np.int8),
        player=np.array([rules.first_player[0]], dtype=np.int8),
        parent=np.array([-1], dtype=np.int32),
        action=np.array([NO_ACTION], dtype=np.int32),
        raises=np.zeros(1, dtype=np.int8),
        waiting=np.array([(1 << rules.num_players) - 1], dtype=np.int16),
        folded=np.zeros(1, dtype=np.int16),
        committed=np.array([rules.blinds], dtype=np.int32),
    )


def _children(rules: Rules, level: _Level, start: int) -> tuple[_Level, NDArray[np.int32]]:
    """The next level, parents in order and their children as FOLD, CALL, raise; and how many each node has."""
    rows = np.arange(len(level))
    highest = level.committed.max(axis=1)
    decision = level.kind == Kind.DECISION
    behind = highest > level.committed[rows, np.maximum(level.player, 0)]
    open_to_raise = level.raises < np.array(rules.max_raises)[level.street]
    parts = [
        _folds(level, np.flatnonzero(decision & behind)),
        _calls(level, np.flatnonzero(decision), highest),
        _raises(rules, level, np.flatnonzero(decision & open_to_raise), highest),
        _deals(rules, level, np.flatnonzero(level.kind == Kind.STREET)),
    ]
    origin = np.concatenate([part.parent for part in parts])
    order = np.argsort(origin, kind="stable")  # parts of one parent stay in the order of `parts`
    merged = _Level(**{name: np.concatenate([getattr(part, name) for part in parts]) for name in vars(level)})
    counts = np.bincount(origin, minlength=len(level)).astype(np.int32)
    ordered = _settled(rules, merged.take(order))
    return replace(ordered, parent=(ordered.parent + start).astype(np.int32)), counts


def _folds(level: _Level, rows: NDArray[np.intp]) -> _Level:
    after = _acted(level, rows, FOLD)
    return replace(after, folded=after.folded | _bit(level.player[rows]))


def _calls(level: _Level, rows: NDArray[np.intp], highest: NDArray[np.int32]) -> _Level:
    after = _acted(level, rows, CALL)
    after.committed[np.arange(len(rows)), level.player[rows]] = highest[rows]
    return after


def _raises(rules: Rules, level: _Level, rows: NDArray[np.intp], highest: NDArray[np.int32]) -> _Level:
    after = _acted(level, rows, NO_ACTION)
    total = highest[rows] + np.array(rules.raise_sizes, dtype=np.int32)[level.street[rows]]
    after.committed[np.arange(len(rows)), level.player[rows]] = total
    others = ((1 << rules.num_players) - 1) & ~(after.folded | _bit(level.player[rows]))
    return replace(after, action=total, raises=(after.raises + 1).astype(np.int8), waiting=others.astype(np.int16))


def _acted(level: _Level, rows: NDArray[np.intp], action: int) -> _Level:
    """The nodes after the player to act did something; `parent` counts within the level, `player` is who acted."""
    after = level.take(rows)
    actions = np.full(len(rows), action, dtype=np.int32)
    return replace(after, parent=rows.astype(np.int32), action=actions, waiting=after.waiting & ~_bit(after.player))


def _bit(player: NDArray[np.int8]) -> NDArray[np.int16]:
    return (1 << player.astype(np.int16)).astype(np.int16)


def _deals(rules: Rules, level: _Level, rows: NDArray[np.intp]) -> _Level:
    """The first decisions of the next street; `player` is the seat before the first to act."""
    after = level.take(rows)
    street = after.street + 1
    live = ((1 << rules.num_players) - 1) & ~after.folded
    return replace(
        after,
        kind=np.full(len(rows), Kind.DECISION, dtype=np.int8),
        street=street.astype(np.int8),
        player=(np.array(rules.first_player)[street] - 1).astype(np.int8),
        parent=rows.astype(np.int32),
        action=np.full(len(rows), NO_ACTION, dtype=np.int32),
        raises=np.zeros(len(rows), dtype=np.int8),
        waiting=live.astype(np.int16),
    )


def _settled(rules: Rules, level: _Level) -> _Level:
    """Kinds of new nodes, and who acts next where somebody does."""
    live = rules.num_players - np.bitwise_count(level.folded.astype(np.uint16))
    ended = level.waiting == 0
    last = level.street == rules.num_streets - 1
    kind = np.where(live == 1, Kind.FOLD, np.where(~ended, Kind.DECISION, np.where(last, Kind.SHOWDOWN, Kind.STREET)))
    player = np.full(len(level), -1, dtype=np.int8)
    for distance in range(rules.num_players, 0, -1):  # the nearest seat is written last
        seat = (level.player + distance) % rules.num_players
        waits = (level.waiting >> seat & 1) == 1
        player[waits] = seat[waits]
    return replace(level, kind=kind.astype(np.int8), player=np.where(kind == Kind.DECISION, player, -1).astype(np.int8))
