"""Amounts in files of other programs."""

import re
from collections.abc import Container, Iterable, Iterator
from decimal import Decimal

from poker.run.errors import PokernetsError

MOST_DECIMALS = 6
MOST_DIGITS = 15

_AMOUNT = re.compile(r"(?:0|[1-9][0-9]{0,11}|[1-9][0-9]{0,2}(?:,[0-9]{3}){1,3})(?:\.[0-9]{1,6})?")


def decimal_of(text: str) -> Decimal:
    """Read a number such as `300`, `2.5` or `1,000.50`.

    Numbers have ASCII digits without a leading zero, and at most six decimals.

    Args:
        text: the number.

    Raises:
        PokernetsError: the text is not such a number.
    """
    if not _AMOUNT.fullmatch(text):
        raise PokernetsError(f"`{text[:100]}` is not an amount")
    return Decimal(text.replace(",", ""))


def scale_of(amounts: Iterable[Decimal], money: bool = False) -> int:
    """Choose the number of chips per unit of amounts.

    Args:
        money: whether the amounts are money.

    Returns:
        1, or at least 100 for money and for amounts with decimals.
    """
    most = max(map(places, amounts), default=0)
    return 10 ** max(min(most, MOST_DECIMALS), 2) if most or money else 1


def places(value: Decimal) -> int:
    """Return the number of decimal places without trailing zeros; 0 if the value is not finite."""
    if not value or not value.is_finite() or value.adjusted() > MOST_DIGITS:
        return 0
    digits = value.as_tuple()
    zeros = next(count for count, digit in enumerate(reversed(digits.digits)) if digit)
    return max(0, -int(digits.exponent) - zeros)


def decimals_in(value: object, names: Container[str] = ()) -> Iterator[Decimal]:
    """Iterate over all decimals in nested lists and objects.

    Args:
        value: the value to search.
        names: names of object members that may be decimals.
    """
    if isinstance(value, Decimal):
        yield value
    elif isinstance(value, list):
        for item in value:
            yield from decimals_in(item, names)
    elif isinstance(value, dict):
        for name, item in value.items():
            if name in names or isinstance(item, dict | list):
                yield from decimals_in(item, names)
