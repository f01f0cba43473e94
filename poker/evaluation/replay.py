"""`evaluate=replay`: replay the hands of a file, check every line by the rules, and report the results.

The log of a match, ours or another dealer's, does not define its game. In our matches, the hands and sessions that the
match counted also count here (`poker/play/hand_store.py`), so both have the same result. In another log all hands
count. A deal is one unit of the intervals if consecutive hands are seatings of the same cards; otherwise a hand is. The
legs of a duplicate match are as many logs as there are seatings, and hands with the same number are a deal.

`poker.formats.histories` reads any other file, and recognises its format by content. Then a hand, with its own stacks
and posts, is one unit, and its result is in big blinds of its own table.
"""

from array import array
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import islice, zip_longest
from pathlib import Path
from typing import Any, Literal, get_args

import numpy as np

from poker.evaluation.aivat.value_functions import CheckDownValues, ValueFunctionFactory
from poker.evaluation.matches.match_report import match_report
from poker.evaluation.matches.match_results import MatchResults
from poker.evaluation.matches.noted import NotedAivat
from poker.evaluation.matches.results import Results, Unit
from poker.evaluation.tally import FileTally
from poker.formats.acpc.log import LoggedHand, read_log
from poker.formats.acpc.tables import has_definition
from poker.formats.histories import ACPC, PHH, SUFFIXES, format_of, read_hands, read_text, why_unwritable, write_hands
from poker.formats.phh import write_phhs
from poker.formats.played import HistoryError, PlayedHand
from poker.game.rules import Rules
from poker.kernels.types import I64, Floats
from poker.play.hand_store import counted_in
from poker.play.lineup import LineUp, Rotation
from poker.report import Report
from poker.run.errors import PokernetsError
from poker.run.progress import Console
from poker.store.artifacts import fingerprint_of

Format = Literal["phh", "pokerstars", "acpc", "ohh"]

_HEAD = 1 << 16
"""Number of bytes of a file from which its format is recognised."""
_Columns = dict[str, "array[float]"]
"""Numbers of each hand, by name."""


def run(
    *,
    game: Rules,
    log: str | Sequence[str],
    out: str,
    hands: int | None = None,
    session: int | None = None,
    convert: Format | None = None,
    to: str | None = None,
    skip: bool = False,
    unit: Unit = "mbb",
    notes: Sequence[str] = (),
    values: Callable[[], ValueFunctionFactory] = CheckDownValues,
) -> MatchResults | dict[str, Any]:
    """Replay a log or a file of hands, and write a report.

    Args:
        game: the game of a match's log.
        log: the log or file; several logs for the legs of a duplicate match.
        out: folder of the report.
        hands: number of first hands that count; 0 for all, None for the hands that the match counted, or all.
        session: deals per unit; None for the match's number.
        convert: format to write the hands in that count; None for no conversion.
        to: file of the converted hands; None for a file beside the report.
        skip: leave out and count hands that cannot be read or written; otherwise the first of them is an error.
        unit: unit of the results.
        notes: files of recorded policies (`poker.play.notes`) for AIVAT. With several logs, the same number of files
            for each, in their order.
        values: value function of AIVAT.

    Returns:
        Results of a match's log; the record of the report of any other file.

    Raises:
        PokernetsError: the arguments do not fit the file, or the hands are not whole sessions of a match.
        HistoryError: a hand cannot be read or written, and `skip` is False.
    """
    if convert not in (None, *get_args(Format)):
        raise PokernetsError(f"`convert` must be one of {', '.join(get_args(Format))}, not {convert}")
    paths = [Path(log)] if isinstance(log, str) else list(map(Path, log))
    path = paths[0]
    text = read_text(path, _HEAD) if path.is_file() else ""
    is_match = not text.strip("\ufeff \r\n") or (format_of(text, path) == ACPC and not has_definition(text))
    if len(paths) > 1 and (not is_match or convert is not None):
        raise PokernetsError(
            "several logs must be the halves of a duplicate match: leave out `convert` and definitions of games"
        )
    is_played = is_match and convert in (None, PHH)
    folder = report_folder(Path(out) / game.name if is_played else Path(out), *paths)
    target = None if convert is None else Path(to) if to else folder / f"{path.stem}{SUFFIXES[convert]}"
    if target is not None and target.resolve() == path.resolve():
        raise PokernetsError(f"{path} would be overwritten: set `to` to another file")
    if is_played:
        _check_logs(game, paths)
        if (hands or 0) < 0 or (session is not None and session < 1):
            raise PokernetsError("`hands` must be 0 (all) or more and `session` at least 1")
        return _replay_match(game, paths, hands, session, target, folder, unit, _aivat(game, paths, notes, values))
    if notes:
        raise PokernetsError("`notes` need the log of a match with numbered hands: leave them out here")
    if session is not None or (hands or 0) < 0:
        raise PokernetsError("hand histories have no sessions: leave `session` out, and set `hands` to 0 (all) or more")
    return _replay_file(FileTally(unit), path, game, hands, convert, target, skip, folder)


def _replay_file(
    tally: FileTally,
    path: Path,
    game: Rules,
    hands: int | None,
    kind: Format | None,
    target: Path | None,
    skip: bool,
    folder: Path,
) -> dict[str, Any]:
    read = islice(read_hands(path, game, tally.refused.append if skip else None), hands or None)
    if kind is None or target is None:
        for hand in read:
            tally.add(hand)
    else:
        write_hands(target, kind, _written(read, kind, path, tally, skip))
    if not tally.hands:
        why_not = f"; {tally.refused[0]}" if tally.refused else ""
        raise PokernetsError(f"{path} has no hands that can be read and written{why_not}")
    title = f"{path.name}: {tally.hands:,} hands, {tally.legality()}"
    files: dict[str, Path] = {} if kind is None or target is None else {kind: target}
    return Report(title, tally.sections(title), tally.record(), {}, files).write(folder, Console())


def _replay_match(
    game: Rules,
    paths: Sequence[Path],
    hands: int | None,
    session: int | None,
    phh: Path | None,
    folder: Path,
    unit: Unit,
    aivat: list[NotedAivat] | None,
) -> MatchResults:
    path = paths[0]
    match = counted_in(path) if len(paths) == 1 else None
    if hands is None:
        hands = match.hands if match else 0
    if session is None and match is not None:
        session = match.session
    played = _Hands.read(game, paths, aivat)
    seatings = Rotation(game, 0, 1).seatings
    units = _units(played, hands, session, len(seatings))
    if len(paths) > 1 and units.shape[1] != len(paths):
        raise PokernetsError("the logs do not have the same cards: replay them separately")
    if units.shape[1] % len(seatings):
        seatings = seatings[:1]
    if phh is not None:
        wanted = set(units.ravel().tolist())
        write_phhs(phh, (hand for place, hand in enumerate(read_log(game, path)) if place in wanted))
    deals = units.shape[1] // len(seatings)
    names = sorted(played.chips)
    result = Results(game, LineUp(tuple(names)), seatings, deals, unit=unit, log=path)

    def by_unit(by_name: Mapping[str, Floats]) -> Floats:
        chips = np.stack([by_name[name][units] for name in names], axis=-1)
        return chips.reshape(len(units), deals, len(seatings), len(names)).transpose(0, 2, 1, 3)

    result.fill(by_unit(played.chips), None if aivat is None else by_unit(played.aivat))
    unknown = {name: why for one in aivat or () for name, why in one.unknown.items()}
    if unknown:
        result.unknown_in[0] = unknown
    results = MatchResults(game, unit, 0, deals, {}, [result])
    some = (
        f"{units.size:,} hands"
        if units.size == len(played.numbers)
        else f"{units.size:,} of {len(played.numbers):,} hands"
    )
    title = f"{' and '.join(log.name for log in paths)}: {some} of {game.name}, all legal, payoffs as logged"
    hands_of = {"hands": units.size, "hands_in_log": len(played.numbers), "hands_in_unit": units.shape[1]}
    match_report(results, title=title, record={"settings": {**hands_of, "phh": phh and str(phh)}}).write(
        folder, Console()
    )
    return results


def _check_logs(game: Rules, paths: Sequence[Path]) -> None:
    for path in paths:
        if not path.is_file():
            missing = f"{path} is a directory, not a log" if path.is_dir() else f"no log at {path}"
            raise PokernetsError(f"{missing}; matches write theirs to runs/*/matches/<game>/hands")
    if len({path.resolve() for path in paths}) < len(paths) or len(paths) not in (1, game.num_players):
        raise PokernetsError(
            f"a duplicate match of `{game.name}` has {game.num_players} different logs, not {len(paths)}"
        )


def _aivat(
    game: Rules, paths: Sequence[Path], notes: Sequence[str], values: Callable[[], ValueFunctionFactory]
) -> list[NotedAivat] | None:
    """Return estimators from the notes, one for each log; None without notes."""
    if not notes:
        return None
    per_log, over = divmod(len(notes), len(paths))
    if over:
        raise PokernetsError(f"{len(notes)} `notes` for {len(paths)} logs: give one per log, in the same order")
    parts = [notes[i * per_log : (i + 1) * per_log] for i in range(len(paths))]
    function = values()
    return [NotedAivat(game, part, read_log(game, path), function) for path, part in zip(paths, parts, strict=True)]


def report_folder(out: Path, *paths: Path) -> Path:
    """Return the folder of the report on some files; files with equal names in different places have different folders.

    Args:
        out: folder of the reports.
        *paths: the files.
    """
    places = "|".join(str(path.resolve()) for path in paths)
    return out / f"{'+'.join(path.stem for path in paths)}-{fingerprint_of(places)[:8]}"


@dataclass(frozen=True)
class _Hands:
    """All hands of a log in its order, [n].

    Attributes:
        cards: fingerprints of the hole cards.
        chips: chips by name; NaN for players who were not in the hand.
        aivat: luck-adjusted chips by name, if there are estimators.
    """

    numbers: I64
    cards: I64
    chips: dict[str, Floats]
    aivat: dict[str, Floats]

    @classmethod
    def read(cls, game: Rules, paths: Sequence[Path], aivat: Sequence[NotedAivat] | None) -> "_Hands":
        numbers, cards = array("q"), array("q")
        chips: _Columns = {}
        estimates: _Columns = {}
        for leg, hand in _in_turn(game, paths):
            _add(chips, len(numbers), hand.names, hand.payoffs)
            if aivat is not None:
                _add(estimates, len(numbers), hand.names, aivat[leg].estimate(hand))
            numbers.append(hand.number)
            cards.append(hash(hand.state.hole_cards))
        if not numbers:
            raise PokernetsError(f"{paths[0]} contains no hands")
        by_name = [
            {
                name: np.pad(column, (0, len(numbers) - len(column)), constant_values=np.nan)
                for name, column in of.items()
            }
            for of in (chips, estimates)
        ]
        return cls(np.array(numbers), np.array(cards), *by_name)


def _add(columns: _Columns, hand: int, names: Sequence[str], numbers: Sequence[float]) -> None:
    """Append the numbers of a hand to the columns of `names`, with NaN for earlier hands without the player."""
    for name, number in zip(names, numbers, strict=True):
        column = columns.setdefault(name, array("d"))
        column.extend([np.nan] * (hand - len(column)))
        column.append(number)


def _in_turn(game: Rules, paths: Sequence[Path]) -> Iterator[tuple[int, LoggedHand]]:
    """Iterate over hands with the index of their log; hands with the same number come together, log by log."""
    for row in zip_longest(*(read_log(game, path) for path in paths)):
        deal = [hand for hand in row if hand is not None]
        if len(deal) < len(row) or len({hand.number for hand in deal}) > 1:
            numbers = ", ".join("none" if hand is None else str(hand.number) for hand in row)
            raise PokernetsError(f"the logs do not have the same hands in the same order: hand {numbers}")
        if len({tuple(sorted(hand.names)) for hand in deal}) > 1 or len({hand.names for hand in deal}) < len(deal):
            raise PokernetsError(f"hand {deal[0].number}: the logs must have the same players in different seats")
        yield from enumerate(deal)


def _units(played: _Hands, hands: int, session: int | None, seatings: int) -> I64:
    """Return the places [units, hands of a unit] of the hands that count.

    With `session`, numbers are deal * seatings + seating, and the last line of a repeated hand counts. Without it,
    numbers are ignored.
    """
    if session is None:
        places = np.arange(len(played.numbers))[: hands or None]
        numbers = places
        size = seatings if _same_cards(played.cards[places], seatings) else 1
    else:
        numbers, from_end = np.unique(played.numbers[::-1], return_index=True)
        numbers, places = (values[: hands or None] for values in (numbers, len(played.numbers) - 1 - from_end))
        size = session * seatings
    if hands and (len(places) < hands or (session is not None and numbers[-1] != hands - 1)):
        missing = int(np.setdiff1d(np.arange(hands), numbers)[0])
        raise PokernetsError(
            f"the log has {len(played.numbers):,} hands, without hand {missing} of the first {hands:,}:"
            " continue the match, or set hands=0 to use all hands of the log"
        )
    rows = numbers[: len(numbers) // size * size].reshape(-1, size) // size
    if len(numbers) % size or (session is not None and (rows != rows[:, :1]).any()):
        raise PokernetsError(
            f"{len(numbers):,} hands are not whole sessions of {session} deals in {seatings} seatings: set"
            f" `hands` to a multiple of {size}, or change `session`"
        )
    if session is not None and not _same_cards(played.cards[places], seatings):
        raise PokernetsError(f"not every deal was played in {seatings} seatings: leave `session` out")
    return places.reshape(-1, size)


def _same_cards(cards: I64, seatings: int) -> bool:
    """Return whether every `seatings` consecutive hands have the same hole cards."""
    if len(cards) % seatings:
        return False
    groups = cards.reshape(-1, seatings)
    return bool((groups == groups[:, :1]).all())


def _written(
    hands: Iterable[PlayedHand], kind: Format, path: Path, tally: FileTally, skip: bool
) -> Iterator[PlayedHand]:
    """Iterate over hands that can be written; the first other hand is an error, or with `skip` they are counted."""
    for hand in hands:
        if why_not := why_unwritable(kind, hand):
            error = HistoryError(path, hand.line, f"hand {hand.number} cannot be written as {kind}: {why_not}")
            if not skip:
                raise HistoryError(path, hand.line, f"{error.reason}; skip=true skips such hands")
            tally.refused.append(error)
        else:
            tally.add(hand)
            yield hand
