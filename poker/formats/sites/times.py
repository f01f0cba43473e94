"""Days and times at which hands began, in the time zones of their files and in UTC.

The details of a hand have `year`, `month`, `day` and `time`, as in PHH, and the zone in one of `ZONE_FIELDS`. A time
without a zone, or in a zone that is not in `TIME_ZONES` and has no IANA name, counts as UTC.
"""

import re
from collections.abc import Mapping
from contextlib import suppress
from datetime import UTC, date, datetime, time
from zoneinfo import ZoneInfo

from poker.run.errors import PokernetsError

ZONE_FIELDS = ("_time_zone", "time_zone_abbreviation", "time_zone")
TIME_ZONES = {
    **dict.fromkeys(("UTC", "GMT"), "UTC"),
    **dict.fromkeys(("ET", "EST", "EDT"), "America/New_York"),
    **dict.fromkeys(("PT", "PST", "PDT"), "America/Los_Angeles"),
    **dict.fromkeys(("BRT", "BRST"), "America/Sao_Paulo"),
    "ART": "America/Argentina/Buenos_Aires",
    "BST": "Europe/London",
    **dict.fromkeys(("WET", "WEST"), "Europe/Lisbon"),
    **dict.fromkeys(("CET", "CEST"), "Europe/Paris"),
    **dict.fromkeys(("EET", "EEST"), "Europe/Athens"),
    **dict.fromkeys(("MSK", "MSD", "MSKS"), "Europe/Moscow"),
    **dict.fromkeys(("AEST", "AEDT"), "Australia/Sydney"),
}
"""IANA names of the abbreviations in files. Sites use the abbreviation of the winter in the summer too."""

_CLOCK = r"(?P<hour>[0-9]{1,2}):(?P<minute>[0-9]{2})(?::(?P<second>[0-9]{2}))?"
_ZONE = r"\(?(?P<zone>[A-Z]{2,5})\b"
_TIMES = (
    rf"(?P<year>[0-9]{{4}})[/.-](?P<month>[0-9]{{1,2}})[/.-](?P<day>[0-9]{{1,2}})[ T,-]+{_CLOCK}(?: {_ZONE})?",
    rf"(?P<name>[A-Z][a-z]{{2}})[a-z]* (?P<day>[0-9]{{1,2}}),? {_CLOCK} (?:{_ZONE}\S* )?(?P<year>[0-9]{{4}})",
    rf"\b(?P<day>[0-9]{{2}}) (?P<month>[0-9]{{2}}) (?P<year>[0-9]{{4}}) {_CLOCK}",
)
_MONTHS = ("Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec")


def day_and_time(text: str) -> dict[str, object]:
    """Read the day and time in a text.

    Examples are `2019-04-04 13:47:54`, `2019/04/04 9:47 ET`, `Thursday, April 04, 13:47:54 EDT 2019` and `04 04 2019
    13:47:54`. Of several times, it is the first one in a known time zone.

    Returns:
        The details of a hand; empty if the text has no time.

    Raises:
        PokernetsError: the time is impossible.
    """
    matches = next(filter(None, (list(re.finditer(pattern, text)) for pattern in _TIMES)), None)
    if not matches:
        return {}
    match = next((match for match in matches if match.groupdict().get("zone") in TIME_ZONES), matches[0])
    parts = match.groupdict("0")
    try:
        month = int(parts["month"]) if "month" in parts else _MONTHS.index(parts["name"]) + 1
        day = date(int(parts["year"]), month, int(parts["day"]))
        clock = time(int(parts["hour"]), int(parts["minute"]), int(parts["second"]))
    except ValueError:
        raise PokernetsError(f"`{match[0]}` is not a time") from None
    zone = {"_time_zone": parts["zone"]} if parts.get("zone", "0") != "0" else {}
    return {"year": day.year, "month": day.month, "day": day.day, "time": clock} | zone


def local_time(details: Mapping[str, object]) -> date | None:
    """Return the time in the zone of the file, or the day if the file has no time.

    Args:
        details: the details of a hand.

    Returns:
        A datetime without a zone, a date, or None if the details have no valid day.
    """
    year, month, day, clock = (details.get(name) for name in ("year", "month", "day", "time"))
    try:
        begun = date(year, month, day)  # type: ignore[arg-type]
    except (TypeError, ValueError, OverflowError):
        return None
    return datetime.combine(begun, clock.replace(tzinfo=None)) if isinstance(clock, time) else begun


def utc_time(details: Mapping[str, object]) -> date | None:
    """Return the time in UTC, or the day as the file has it if it has no time.

    Args:
        details: the details of a hand.

    Returns:
        As `local_time`.
    """
    begun = local_time(details)
    if not isinstance(begun, datetime):
        return begun
    for name in (str(details[name]) for name in ZONE_FIELDS if name in details):
        with suppress(OSError, KeyError, ValueError, OverflowError):
            zone = ZoneInfo(TIME_ZONES.get(name, name))
            return begun.replace(tzinfo=zone).astimezone(UTC).replace(tzinfo=None)
    return begun
