"""Amounts in files of other programs."""

import re
from collections.abc import Container, Iterable, Iterator
from decimal import Decimal

from poker.run.errors import PokernetsError

MOST_DECIMALS = 6
MOST_DIGITS = 15

_AMOUNT = re.compile(r"(?:0|[1-9][0-9]{0,11}|[1-9][0-9]{0,2}(?:,[0-9]{3}){1,3})(?:\.[0-9]{1,6})?")


def decimal_of(text: str) -> Decimal:
    """The number in text such as `300`, `2.5` or `1,000.50`: ASCII digits without a leading zero, up to six decimals.
    PokernetsError for other texts."""
    if not _AMOUNT.fullmatch(text):
        raise PokernetsError(f"`{text[:100]}` is no amount")
    return Decimal(text.replace(",", ""))


def scale_of(amounts: Iterable[Decimal], money: bool = False) -> int:
    """Chips in one unit of amounts: 1, or 100 or more where they are `money` or have decimals."""
    most = max(map(places, amounts), default=0)
    return 10 ** max(min(most, MOST_DECIMALS), 2) if most or money else 1


def places(value: Decimal) -> int:
    """Decimal places that are not zeros; 0 of what is no finite number."""
    if not value or not value.is_finite() or value.adjusted() > MOST_DIGITS:
        return 0
    digits = value.as_tuple()
    zeros = next(count for count, digit in enumerate(reversed(digits.digits)) if digit)
    return max(0, -int(digits.exponent) - zeros)


def decimals_in(value: object, names: Container[str] = ()) -> Iterator[Decimal]:
    """All decimals in nested lists and, under these names, in objects."""
    if isinstance(value, Decimal):
        yield value
    elif isinstance(value, list):
        for item in value:
            yield from decimals_in(item, names)
    elif isinstance(value, dict):
        for name, item in value.items():
            if name in names or isinstance(item, dict | list):
                yield from decimals_in(item, names)
