"""`job=opponent_actions`: observed decisions as rows, to train and measure predictors of opponents on.

`source=irc path=ARCHIVE` takes them from hands of people, `source=self_play` from matches among our own players. What
of an archive could not be used is counted by reason in the manifest and listed in `problems.json` beside it.
"""

import json
import sys
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any, Protocol

import numpy as np
from rich.console import Console

from data_gen.progress import JobProgress
from poker.artifacts import find_artifact
from poker.betting import Betting
from poker.features.action_rows import COLUMNS, KIND, MAX_BOARD, NO_CARD, STAMP, write_rows
from poker.features.opponent import bets_to_call, encode
from poker.formats.irc import Problems
from poker.opponents.predictor import CLASS_NAMES, action_class
from poker.report import Table

REPORT_HANDS = 200


@dataclass(frozen=True)
class ObservedHand:
    """A finished hand: `decisions` are (betting before, board on the table, action), those in turn alone."""

    time: int
    names: tuple[str, ...]
    decisions: list[tuple[Betting, tuple[int, ...], int]]


class HandSource(Protocol):
    """Where observed hands come from."""

    config: dict[str, Any]
    made_from: dict[str, str]
    expected_hands: int | None

    def hands(self, problems: Problems) -> Iterator[ObservedHand]:
        """In the order of time; what cannot be used is added to `problems`."""


@dataclass
class RowBuilder:
    columns: dict[str, list[Any]] = field(default_factory=lambda: {name: [] for name in COLUMNS})
    players: dict[str, int] = field(default_factory=dict)
    hands: int = 0

    def add(self, hand: ObservedHand) -> None:
        columns = self.columns
        for betting, board, action in hand.decisions:
            seat = betting.to_act
            columns["features"].append(encode(betting, board))
            columns["action"].append(action_class(action))
            columns["street"].append(betting.street)
            columns["bets"].append(bets_to_call(betting))
            columns["player"].append(self.players.setdefault(hand.names[seat], len(self.players)))
            columns["seat"].append(seat)
            columns["board"].append([*board, *[NO_CARD] * (MAX_BOARD - len(board))])
            columns["hand"].append(self.hands)
            columns["time"].append(hand.time)
        self.hands += 1


def run(*, source: HandSource, output: str, runs: str) -> None:
    """Write the rows of all hands of `source` to `output`, unless they are there."""
    console = Console(stderr=True)
    found = find_artifact(output, KIND, config={**source.config, **STAMP}, made_from=source.made_from)
    if found is not None:
        console.print(f"{found.counts['rows']:,} decisions at {output} are there already", soft_wrap=True)
        return
    rows, problems = RowBuilder(), Problems()
    total = source.expected_hands
    with JobProgress("hands", total=total or 0, logs=runs) as progress:
        for hand in source.hands(problems):
            rows.add(hand)
            if rows.hands % REPORT_HANDS == 0:
                progress.update(rows.hands, step=rows.hands, decisions=len(rows.columns["action"]))
    unused = dict(problems.counts.most_common())
    classes = Counter(rows.columns["action"])
    artifact = write_rows(
        output,
        {name: np.array(column) for name, column in rows.columns.items()},
        list(rows.players),
        config=source.config,
        made_from=source.made_from,
        counts={
            "hands": rows.hands,
            "unused": unused,
            "after_the_flop": int(np.count_nonzero(rows.columns["street"])),
            "classes": {name: classes[index] for index, name in enumerate(CLASS_NAMES)},
        },
        files={"problems.json": json.dumps({"counts": unused, "examples": problems.examples}, indent=2).encode()},
    )
    counted = {name.replace("_", " "): artifact.counts[name] for name in ("hands", "rows", "after_the_flop", "players")}
    counted |= {f"not used: {reason}": count for reason, count in unused.items()}
    lines = [(what, f"{count:,}") for what, count in counted.items()]
    Table(("observed", "count"), lines, f"observed decisions: {output}").print(console)
    if problems.counts:
        print(f"what could not be used is listed in {output}/problems.json", file=sys.stderr)
