"""Amounts in files of other programs."""

import re
from decimal import Decimal

from poker.errors import PokernetsError

_AMOUNT = re.compile(r"(?:0|[1-9][0-9]{0,11}|[1-9][0-9]{0,2}(?:,[0-9]{3}){1,3})(?:\.[0-9]{1,6})?")


def decimal_of(text: str) -> Decimal:
    """The number in text such as `300`, `2.5` or `1,000.50`: ASCII digits without a leading zero, up to six decimals.
    PokernetsError for other texts."""
    if not _AMOUNT.fullmatch(text):
        raise PokernetsError(f"`{text[:100]}` is no amount")
    return Decimal(text.replace(",", ""))
