"""Whole numbers in headers, of any length."""

MOST_DIGITS = 18
"""Decimal digits that fit into a database integer and a file offset."""
HUGE = 10**MOST_DIGITS


def whole_number(digits: str) -> int:
    """Return the value of decimal digits; more than 18 digits count as 10^18.

    Python itself refuses to convert more than some thousand digits.
    """
    significant = digits.lstrip("0")
    return int(significant or "0") if len(significant) <= MOST_DIGITS else HUGE
