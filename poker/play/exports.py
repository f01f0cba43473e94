"""Files that a finished match leaves beside the log of a line-up: which of its hands count, and poker hand histories.

A log may hold more hands than its last match counts: those of an earlier, longer match, and of sessions under way when
a match stopped early. The hands that count are always the first by number.
"""

import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from pathlib import Path

from rich.console import Console

from poker.artifacts import write_atomically
from poker.errors import PokernetsError
from poker.formats.acpc.log import read_log
from poker.formats.phh import unwritable, write_phhs
from poker.rules import Rules


@dataclass(frozen=True)
class Counted:
    """The first `hands` hands of a log count; `session` deals in all seatings are one unit of the intervals."""

    hands: int
    session: int


def export(rules: Rules, counted: Mapping[Path, Counted], console: Console) -> None:
    """Writes `<log>.counted.json` and, of games that have one, `<log>.phhs` with all hands of the log."""
    for log, what in counted.items():
        write_atomically(_counted_path(log), json.dumps(asdict(what)).encode() + b"\n")
    write_histories(rules, list(counted), console)


def write_histories(rules: Rules, logs: list[Path], console: Console) -> None:
    """Write `<log>.phhs` for each log, hand by hand, so that long logs take no more memory."""
    why_not = unwritable(rules)
    if why_not:
        console.print(f"no .phhs files: {why_not}", soft_wrap=True, highlight=False)
        return
    with console.status("writing poker hand histories"):
        for log in logs:
            write_phhs(log.with_suffix(".phhs"), read_log(rules, log))


def counted_in(log: Path) -> Counted | None:
    """The hands that the last finished match with this log counted; None for logs that no match of ours wrote."""
    path = _counted_path(log)
    if not path.exists():
        return None
    try:
        found = Counted(**json.loads(path.read_text(encoding="utf-8")))
        if any(type(number) is not int or number < 1 for number in vars(found).values()):
            raise ValueError(found)
    except (ValueError, TypeError) as error:
        raise PokernetsError(f"{path} is damaged: {error}; remove it, or play the match again") from error
    return found


def _counted_path(log: Path) -> Path:
    return log.with_suffix(".counted.json")
