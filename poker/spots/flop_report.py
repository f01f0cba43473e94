"""`evaluate=flops`: one spot solved on many flops, with averages over all flops.

Each flop is solved as `evaluate=spot` does. Its weight is the number of deals that it represents
(`poker.abstraction.flops`) times the weight of the pairs of hands that both ranges have on it. Flops without such a
pair are left out and counted. Results are stored by flop, so that the same command resumes and a larger set of flops
reuses them.
"""

import csv
import io
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from itertools import groupby
from pathlib import Path
from typing import Any

import numpy as np

from poker.abstraction.flops import FlopSubset, representative_flops
from poker.formats.ranges import parse_range
from poker.game.cards import HOLDEM, RANKS, cards_text
from poker.kernels.cards.hands import HAND_PERMUTATION
from poker.kernels.cards.isomorphism import canonical_boards
from poker.kernels.types import Floats
from poker.report import Figure, Report, Section, Table
from poker.report.charts import stacked
from poker.run.atomic import written_atomically
from poker.run.errors import PokernetsError
from poker.run.lock import alone
from poker.run.progress import Console, progress_bars
from poker.solve import batches
from poker.solve.types import Budget
from poker.spots.report import SEATS, prepare, seat
from poker.spots.spots import LOCK, read_keys, spot_of
from poker.spots.walk import Walk
from poker.store.artifacts import fingerprint_of
from poker.store.lines import JsonLines

_SMALL_MENU = {"flop_bet": "33%", "bet": "75%", "flop_raise": "60%"}
"""Bet sizes for files that give none."""
_RANGES = ("oop_range", "ip_range")
_OTHERS = ("board", *_RANGES, "pot", "stack", "rake", "rake_cap")
_SUITS = {1: "monotone", 2: "two-tone", 3: "rainbow"}
_RANKS = {1: "three of a kind", 2: "paired", 3: "unpaired"}
_SHOWN = 40


def run(*, spot: str, flops: int, budget: Budget, nodes: list[str], out: str) -> dict[str, Any]:
    """Solve a spot on representative flops and write the report.

    Args:
        spot: file of the spot; its board is ignored.
        flops: number of representative flops.
        budget: limits of each solve.
        nodes: decisions of the flop to report, in words such as `check bet120`.
        out: folder below which the report is written.

    Returns:
        the record.

    Raises:
        PokernetsError: the spot is invalid, or its ranges distinguish suits.
    """
    keys, subset = flop_keys(spot), representative_flops(flops)
    solving = (budget.algorithm, budget.exploitability, budget.iterations)
    folder = Path(out) / f"flops-{fingerprint_of([keys, *solving, nodes])[:8]}"
    folder.mkdir(parents=True, exist_ok=True)
    boards = canonical_boards(3)
    with alone(folder, f"another command is solving the flops in {folder}"):
        journal = JsonLines(folder / "flops.jsonl")
        journal.cut_unfinished()
        solved: dict[int, dict[str, Any]] = {row["number"]: row for row in journal.rows()}
        console = Console(stderr=True)
        with progress_bars("flops", console) as bars:
            done = sum(number in solved for number in subset.numbers.tolist())
            bar = bars.add_task(Path(spot).name, total=flops, completed=done, found="")
            for number in subset.numbers.tolist():
                if number not in solved:
                    board = cards_text(np.sort(boards[number])[::-1])
                    row = solved[number] = {"number": number, **_solved({**keys, "board": board}, budget, nodes)}
                    journal.append([row])
                    news = f"OOP {row['ev'][0]:.2f} chips" if row["pairs"] else "the ranges have no hands on it"
                    bars.update(bar, advance=1, found=f"{board}: {news}")
    return _write([solved[number] for number in subset.numbers.tolist()], subset, keys, budget, nodes, folder)


def flop_keys(file: str) -> dict[str, Any]:
    """Return the keys of a spot without its board, with default bet sizes if it has none.

    Raises:
        PokernetsError: a range is missing, or distinguishes suits, which a report over classes of flops cannot
            represent.
    """
    keys = {str(key): value for key, value in read_keys(file).items() if key != "board"}
    for name in _RANGES:
        if name not in keys:
            raise PokernetsError(f"{file} lacks `{name}`")
        weights = parse_range(str(keys[name]))
        if any((weights[images] != weights).any() for images in HAND_PERMUTATION):
            raise PokernetsError(f"`{name}` depends on suits, which a report over classes of flops cannot show")
    sizes = [key for key in keys if key not in _OTHERS and key.split(" ")[0] != LOCK]
    return keys if sizes else {**keys, **_SMALL_MENU}


def _solved(keys: Mapping[str, Any], budget: Budget, nodes: Sequence[str]) -> dict[str, Any]:
    """Solve one flop; if the ranges have no pair of hands on it, the result says only that."""
    spot = spot_of(keys)
    first, second = (parse_range(str(keys[name])).astype(np.float64) * HOLDEM.live(spot.board) for name in _RANGES)
    if not (first * HOLDEM.compatible_mass(second)).any():
        return {"flop": keys["board"], "pairs": 0.0}
    solver, _ = prepare(spot, budget)
    (done,) = batches.run([solver], [budget])
    walk = Walk(spot, solver)
    root = walk.view([])
    return {
        "flop": keys["board"],
        "pairs": solver.game.total_weight,
        "ev": [solver.game_value(0), solver.game_value(1)],
        "equity": [root.mean(root.equity[player], player) for player in range(2)],
        "exploitability_percent_pot": 100 * done.exploitability / spot.pot,
        "seconds": round(done.seconds, 3),
        "nodes": {
            words: {
                "player": seat(view),
                "reach": float(view.weights[SEATS.index(seat(view))].sum()) / solver.game.total_weight,
                "frequencies": {action: figures["frequency"] for action, figures in view.totals.items()},
            }
            for words, view in ((words, walk.view(words.split())) for words in nodes)
        },
    }


def _write(
    rows: list[dict[str, Any]],
    subset: FlopSubset,
    keys: Mapping[str, Any],
    budget: Budget,
    nodes: Sequence[str],
    folder: Path,
) -> dict[str, Any]:
    """Write the table, the CSV file, the picture and the record."""
    weights = subset.weights * np.array([row["pairs"] for row in rows])
    weights = weights / weights.sum()
    place = folder / str(len(rows))
    left_out = [row["flop"] for row in rows if not row["pairs"]]
    weights, rows = weights[weights > 0], [row for row in rows if row["pairs"]]
    columns: dict[str, tuple[Floats, Floats]] = {
        "EV OOP": (np.array([row["ev"][0] for row in rows]), weights),
        "EV IP": (np.array([row["ev"][1] for row in rows]), weights),
        "equity OOP": (np.array([row["equity"][0] for row in rows]), weights),
    }
    panels: dict[str, dict[str, Floats]] = {}
    for words in nodes:
        solved = [row["nodes"][words] for row in rows]
        title, reach = f"{solved[0]['player']}{f' after {words}' if words else ''}", [node["reach"] for node in solved]
        panels[title] = {
            action: np.array([node["frequencies"][action] for node in solved]) for action in solved[0]["frequencies"]
        }
        columns |= {f"{title}: {action}": (values, weights * reach) for action, values in panels[title].items()}
    place.mkdir(exist_ok=True)
    order = np.argsort([-row["ev"][0] for row in rows], kind="stable").tolist()
    names = [row["flop"] for row in rows]
    with written_atomically(place / "flops.csv") as file:
        file.write(_csv(names, weights, columns, order).encode())

    def line(name: str, members: Sequence[int]) -> tuple[object, ...]:
        own = list(members)
        means = (_mean(values[own], weight[own]) for values, weight in columns.values())
        return name, 100 * float(weights[own].sum()), *means

    whole, head = line("all", range(len(rows))), ("flop", "weight, %", *columns)
    flops = [line(names[number], [number]) for number in order]
    note = (
        f"EV in chips, of a pot of {keys['pot']}; {len(rows):,} flops to {budget.exploitability:g} pots. Means"
        " weigh flops by deals and by the pairs of hands that come there"
    )
    if left_out:
        note += f"; {len(left_out):,} more are left out, on which the ranges have no hands together"
    sections: list[Section] = [
        Table(head, [whole, *_kinds(names, line)], "By kind of flop", note),
        Table(head, flops, "By flop", console=len(rows) <= _SHOWN),
    ]
    draw = partial(
        stacked,
        f"{len(rows):,} flops, sorted by the EV of OOP",
        [names[number] for number in order],
        {title: {action: shares[order] for action, shares in panel.items()} for title, panel in panels.items()},
    )
    record = {
        "spot": dict(keys),
        **vars(budget),
        "flops": len(rows),
        "left_out": left_out,
        "means": dict(zip(columns, whole[2:], strict=True)),
        "seconds": sum(row["seconds"] for row in rows),
        "rows": [{**row, "weight": float(weight)} for row, weight in zip(rows, weights, strict=True)],
    }
    files = {"CSV": place / "flops.csv"}
    if panels:
        sections.append(Figure("flops", draw))
    return Report("Two ranges on many flops", sections, record, {}, files).write(place)


def _kinds(names: Sequence[str], line: Callable[[str, Sequence[int]], tuple[object, ...]]) -> list[tuple[object, ...]]:
    """Return a line for each kind of flop: by suits, by pairs, by the highest card."""
    kinds: list[Callable[[str], str]] = [
        lambda flop: _SUITS[len(set(flop[1::2]))],
        lambda flop: _RANKS[len(set(flop[::2]))],
        lambda flop: f"{flop[0]} high",
    ]
    lines = []
    for kind in kinds:
        ordered = sorted(range(len(names)), key=lambda number: (kind(names[number]), number))
        groups = [(name, list(group)) for name, group in groupby(ordered, key=lambda number: kind(names[number]))]
        groups.sort(key=lambda group: -max(RANKS.index(names[number][0]) for number in group[1]))
        lines += [line(name, group) for name, group in groups]
    return lines


def _mean(values: Floats, weights: Floats) -> float | None:
    return float(weights @ values / weights.sum()) if weights.any() else None


def _csv(
    names: Sequence[str], weights: Floats, columns: Mapping[str, tuple[Floats, Floats]], order: Sequence[int]
) -> str:
    out = io.StringIO()
    table = csv.writer(out, lineterminator="\n")
    table.writerow(["flop", "weight", *columns])
    for number in order:
        numbers = (weights, *(values for values, _ in columns.values()))
        table.writerow([names[number], *(f"{float(values[number]):.6g}" for values in numbers)])
    return out.getvalue()
