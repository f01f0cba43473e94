"""`evaluate=replay`: reads the log of a match, ours or another dealer's, plays every hand again and says who won.

Each line is checked against the rules: betting, cards, and payoffs. When all hands come in groups of seatings on the
same cards, the log is of duplicate deals, and a deal counts as one unit of the intervals; otherwise a hand does.
"""

from pathlib import Path

import numpy as np
from rich.console import Console
from rich.table import Table as TextTable

from poker.artifacts import write_atomically
from poker.errors import PokernetsError
from poker.evaluation.acpc.report import mbb_per_hand, write_hands_report
from poker.evaluation.matches.table import Schedule
from poker.evaluation.statistics import Estimate
from poker.formats.acpc_log import LoggedHand, read_log
from poker.formats.phh import phh_text
from poker.rules import Rules


def run(*, game: Rules, log: str, phh: str | None, out: str) -> dict[str, Estimate]:
    """Mbb per hand by name, with a report in `out`; with `phh` the hands are also written to that file as poker hand
    histories."""
    path = Path(log)
    if not path.is_file():
        raise PokernetsError(f"there is no log {path}; matches write theirs to runs/*/matches/<game>/hands")
    hands = list(read_log(game, path))
    if not hands:
        raise PokernetsError(f"{path} holds no hands")
    names = sorted({name for hand in hands for name in hand.names})
    units = _units(hands, len(Schedule(game, 0, 1).seatings))
    scale = mbb_per_hand(game)
    values = {name: [scale * mean for unit in units if (mean := _mean(unit, name)) is not None] for name in names}
    if phh is not None:
        write_atomically(Path(phh), phh_text(hands).encode())
    console = Console()
    found = write_hands_report(
        Path(out) / game.name / path.stem,
        f"{path.name}: {len(hands):,} hands of {game.name}, replayed",
        game,
        values,
        {"hands": len(hands), "phh": phh},
        unit="deal" if len(units) < len(hands) else "hand",
        log=path,
        console=console,
    )
    text = TextTable(title=f"{path.name}: {len(hands):,} hands of {game.name}, all legal, payoffs as logged")
    for heading in ("name", "mbb/hand", "hands", "deals"):
        text.add_column(heading, justify="left" if heading == "name" else "right")
    for name, result in sorted(found.items(), key=lambda item: -item[1].mean):
        text.add_row(name, f"{result:,}", f"{sum(name in hand.names for hand in hands):,}", f"{result.n:,}")
    console.print(text)
    return found


def _units(hands: list[LoggedHand], seatings: int) -> list[list[LoggedHand]]:
    deals = [hands[i : i + seatings] for i in range(0, len(hands), seatings)]
    same = all(len({hand.state.hole_cards for hand in deal}) == 1 and len(deal) == seatings for deal in deals)
    return deals if same else [[hand] for hand in hands]


def _mean(hands: list[LoggedHand], name: str) -> float | None:
    """Chips per hand of `name` in hands that he played."""
    chips = [hand.payoffs[hand.names.index(name)] for hand in hands if name in hand.names]
    return float(np.mean(chips)) if chips else None
