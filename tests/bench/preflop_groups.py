"""Income rates beside the groups of Sklansky and Malmuth: `python -m tests.bench.preflop_groups ARTIFACT FILE`.

ARTIFACT is made by `python -m data_gen job=preflop_rollouts`. Hands in the order of their rates fill groups of the same
sizes: how many come to stand in their own group, and how well both orders agree (Kendall's tau-b, in which hands of one
group are tied; the hands of no group are the ninth). And the table of iterated rates.
"""

import argparse
import json
from typing import Any

import numpy as np
from numpy.typing import NDArray

from poker.game.cards import RANKS
from poker.kernels.types import Floats
from poker.opponents.limit.preflop import KIND, MIN_PLAYERS, IncomeRates
from poker.store.artifacts import open_artifact
from tests.bench.record import record


def _name(row: int, column: int) -> str:
    high, low = max(row, column), min(row, column)
    return RANKS[high] + RANKS[low] + ("" if row == column else "s" if row > column else "o")


GROUPS = (
    "AA KK QQ JJ AKs",
    "TT AQs AJs KQs AKo",
    "99 JTs QJs KJs ATs AQo",
    "T9s KQo 88 QTs 98s J9s AJo KTs",
    "77 87s Q9s T8s KJo QJo JTo 76s 97s A9s A8s A7s A6s A5s A4s A3s A2s 65s",
    "66 ATo 55 86s KTo QTo 54s K9s J8s 75s",
    "44 J9o 64s T9o 53s 33 98o 43s 22 K8s K7s K6s K5s K4s K3s K2s T7s Q8s",
    "87o A9o Q9o 76o 42s 32s 96s 85s J8o J7s 65o 54o 74s K9o T8o 43o",
)
"""D. Sklansky and M. Malmuth, Hold'em Poker for Advanced Players."""
_TABLE_SIZES = 7, 10
_LISTED = 10
NAMES = [_name(row, column) for row in range(len(RANKS)) for column in range(len(RANKS))]
"""[169] `AKs` and so on, in the order of the classes."""
OF_NAME = {name: number for number, members in enumerate(GROUPS, 1) for name in members.split()}
group_of = np.array([OF_NAME.get(name, len(GROUPS) + 1) for name in NAMES])


def main(path: str) -> dict[str, Any]:
    rates = IncomeRates.load(path)
    kinds = {"roll-outs": rates.plain, "iterated roll-outs": rates.iterated}
    orders = [
        {"rates": f"{kind}, {players} players", **agreement(of_kind[players - MIN_PLAYERS])}
        for players in _TABLE_SIZES
        for kind, of_kind in kinds.items()
    ]
    row = max(_TABLE_SIZES) - MIN_PLAYERS
    profitable = [
        {
            "hand": NAMES[hand],
            "group": int(group_of[hand]),
            "roll-outs": round(1000 * rates.plain[row, hand]),
            "iterated": round(1000 * rates.iterated[row, hand]),
            "standard_error": round(1000 * float(rates.iterated_error[row, hand]), 1),
        }
        for hand in np.argsort(-rates.iterated[row], kind="stable")
        if rates.iterated[row, hand] > 0
    ]
    config = open_artifact(path, KIND).config
    return record([path], config=config, orders=orders, profitable=profitable, furthest=furthest(rates.iterated[row]))


def places(rates: Floats) -> NDArray[np.int64]:
    """[169] the group in which each class stands if they fill groups of the same sizes in the order of their rates."""
    filled = np.empty_like(group_of)
    filled[np.argsort(-rates, kind="stable")] = np.sort(group_of)
    return filled


def agreement(rates: Floats) -> dict[str, Any]:
    """Kendall's tau-b of rates and groups, and of the hands that have a group how many stand how far from it."""
    filled, ranked = places(rates), group_of <= len(GROUPS)
    off = np.abs(filled - group_of)[ranked]
    own = {f"group {number}": int((filled[group_of == number] == number).sum()) for number in range(1, len(GROUPS) + 1)}
    counts = {"own group": int((off == 0).sum()), "next": int((off == 1).sum()), "further": int((off > 1).sum())}
    return {"tau_b": round(tau_b(-rates, group_of), 4), **counts, **own}


def furthest(rates: Floats) -> dict[str, list[dict[str, Any]]]:
    """The hands that stand furthest above and below their groups, of those that have one."""
    filled = places(rates)
    by_gap = sorted(np.flatnonzero(group_of <= len(GROUPS)), key=lambda hand: filled[hand] - group_of[hand])
    each = [{"hand": NAMES[hand], "group": int(group_of[hand]), "stands_in": int(filled[hand])} for hand in by_gap]
    return {"above": each[:_LISTED], "below": each[: -_LISTED - 1 : -1]}


def tau_b(one: NDArray[Any], other: NDArray[Any]) -> float:
    """Kendall's tau-b: pairs in the same order less those in the other, over the mean number without ties."""
    signs = [np.sign(values[:, None] - values) for values in (one, other)]
    return float((signs[0] * signs[1]).sum() / np.sqrt(np.prod([np.abs(each).sum() for each in signs])))


if __name__ == "__main__":
    parser = argparse.ArgumentParser(prog="python -m tests.bench.preflop_groups")
    parser.add_argument("artifact")
    parser.add_argument("output")
    given = parser.parse_args()
    with open(given.output, "w") as file:
        json.dump(main(given.artifact), file, indent=1)
