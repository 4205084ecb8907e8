"""Whole numbers in headers, however long somebody made them."""

MOST_DIGITS = 18
"""Of a number that a database and a file offset hold."""
HUGE = 10**MOST_DIGITS


def whole_number(digits: str) -> int:
    """The number of decimal digits; one of more than 18 counts as 10^18.

    Python itself refuses to read more than some thousand digits.
    """
    significant = digits.lstrip("0")
    return int(significant or "0") if len(significant) <= MOST_DIGITS else HUGE
