"""`job=opponent_actions`: observed decisions as rows, to train and measure opponent models.

`source=irc path=ARCHIVE` and `source=hands path=FILES` take them from hands of people, `source=self_play` from matches
among our own players.

Hands that cannot be used are counted by reason in the manifest and listed in `problems.json` beside it. This process
reads or plays the hands; each task makes the rows of some hundreds of them.
"""

import json
import sys
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from data_gen.support.progress import JobProgress
from data_gen.support.sources import HandSource, Observe, ObservedHand
from poker.formats.irc.archive import Problems
from poker.game.cards import NO_CARD
from poker.game.rules import RAISE_CLASS
from poker.opponents.inputs.limit import bets_to_call, encode
from poker.opponents.inputs.no_limit import spot_index, spot_of
from poker.opponents.inputs.rows import COLUMNS, KIND, MAX_BOARD, STAMP, write_rows
from poker.opponents.model import CLASS_NAMES, sized_class
from poker.report import Table
from poker.run.parallel import Cluster, Given, Work
from poker.run.progress import Console
from poker.store.artifacts import find_artifact


@dataclass(frozen=True)
class ActionRows:
    """Decisions as rows.

    Attributes:
        columns: columns of `COLUMNS`, each [rows, ...]; a hand is an index into `times` and a player an index into
            `names`.
        names: names of the players.
        times: int64 [hands] time of each hand.
    """

    columns: dict[str, NDArray[Any]]
    names: list[str]
    times: NDArray[np.int64]

    @classmethod
    def of(cls, hands: Iterable[ObservedHand]) -> "ActionRows":
        """Return the decisions of some hands."""
        columns: dict[str, list[Any]] = {name: [] for name in COLUMNS}
        players: dict[str, int] = {}
        times = []
        for number, hand in enumerate(hands):
            times.append(hand.time)
            for betting, board, action in hand.decisions:
                seat = betting.to_act
                columns["features"].append(encode(betting, board))
                columns["action"].append(sized_class(betting, action))
                columns["street"].append(betting.street)
                columns["bets"].append(bets_to_call(betting))
                columns["player"].append(players.setdefault(hand.names[seat], len(players)))
                columns["seat"].append(seat)
                columns["board"].append([*board, *[NO_CARD] * (MAX_BOARD - len(board))])
                columns["spot"].append(0 if betting.rules.is_limit else spot_index(spot_of(betting)))
                columns["hand"].append(number)
                columns["time"].append(hand.time)
        arrays = {
            name: np.array(columns[name], dtype=dtype).reshape(-1, *shape)
            for name, (dtype, shape, *_) in COLUMNS.items()
        }
        return cls(arrays, list(players), np.array(times, dtype=np.int64))

    @classmethod
    def joined(cls, parts: Sequence["ActionRows"]) -> "ActionRows":
        """Join parts in the order of time; hands of the same time stay in their order."""
        players: dict[str, int] = {}
        columns: dict[str, list[NDArray[Any]]] = {name: [] for name in COLUMNS}
        hands = 0
        for part in parts:
            numbers = np.array([players.setdefault(name, len(players)) for name in part.names], dtype=np.int32)
            moved = {"player": numbers[part.columns["player"]], "hand": part.columns["hand"] + np.int32(hands)}
            for name, column in (part.columns | moved).items():
                columns[name].append(column)
            hands += len(part.times)
        joined = {name: np.concatenate(pieces) for name, pieces in columns.items()}
        times = np.concatenate([part.times for part in parts])
        if (np.diff(times) < 0).any():
            by_time = np.argsort(times, kind="stable")
            times, joined["hand"] = times[by_time], np.argsort(by_time).astype(np.int32)[joined["hand"]]
            by_hand = np.argsort(joined["hand"], kind="stable")
            joined = {name: column[by_hand] for name, column in joined.items()}
        return cls(joined, list(players), times)


def run(*, source: HandSource, cluster: Cluster, output: str, runs: str) -> None:
    """Write the rows of all hands of a source, unless the artifact exists.

    Args:
        output: folder of the artifact.
        runs: folder of the logs.
    """
    console = Console(stderr=True)
    made = find_artifact(output, KIND, config={**source.config, **STAMP}, made_from=source.made_from)
    if made is not None:
        console.print(f"{made.counts['rows']:,} decisions at {output} are there already", soft_wrap=True, markup=False)
        return
    rows, problems = _gather(source, cluster, runs)
    unused = dict(problems.counts.most_common())
    classes = np.bincount(np.minimum(rows.columns["action"], RAISE_CLASS), minlength=len(CLASS_NAMES)).tolist()
    counts: dict[str, Any] = {
        "hands": len(rows.times),
        "unused": unused,
        "after_the_flop": int(np.count_nonzero(rows.columns["street"])),
        "classes": dict(zip(CLASS_NAMES, classes, strict=True)),
    }
    files = {"problems.json": json.dumps({"counts": unused, "examples": problems.examples}, indent=2).encode()}
    settings: dict[str, Any] = {"config": source.config, "made_from": source.made_from}
    artifact = write_rows(output, rows.columns, rows.names, **settings, counts=counts, files=files)
    counted = {name.replace("_", " "): artifact.counts[name] for name in ("hands", "rows", "after_the_flop", "players")}
    counted |= {f"not used: {reason}": count for reason, count in unused.items()}
    lines = [(what, f"{count:,}") for what, count in counted.items()]
    Table(("observed", "count"), lines, f"observed decisions: {output}").print(console)
    if problems.counts:
        print(f"hands that were not used are listed in {output}/problems.json", file=sys.stderr)


def _gather(source: HandSource, cluster: Cluster, runs: str) -> tuple[ActionRows, Problems]:
    """Return all rows, independent of the order in which batches finish, and all problems."""
    parts: list[ActionRows] = []
    unused, unread = Problems(), Problems()
    waiting: dict[int, tuple[ActionRows, Problems]] = {}
    hands = decisions = 0
    work = Work(Given(partial(_rows_of, source.observe)))
    with JobProgress("hands", total=source.expected_hands or 0, logs=runs) as progress:
        for number, rows, problems in cluster.run(work, enumerate(source.batches(unread))):
            hands, decisions = hands + len(rows.times), decisions + len(rows.columns["action"])
            progress.update(hands, step=hands, decisions=decisions)
            waiting[number] = rows, problems
            while len(parts) in waiting:
                rows, problems = waiting.pop(len(parts))
                parts.append(rows)
                unused.take(problems)
    unused.take(unread)
    return ActionRows.joined([ActionRows.of(()), *parts]), unused


def _rows_of(observe: Observe, task: tuple[int, list[Any]]) -> tuple[int, ActionRows, Problems]:
    number, batch = task
    hands, problems = observe(batch)
    return number, ActionRows.of(hands), problems
