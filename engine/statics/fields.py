"""Fields of what is given as mappings: targets, loads, inputs and outputs."""

from __future__ import annotations

import difflib
from collections.abc import Mapping, Sequence
from typing import Any


def check_fields(what: str, given: Mapping[str, Any], allowed: Sequence[str]) -> None:
    """Raise ValueError for a field that such a mapping does not have: it would be left out."""
    for field in given:
        if field not in allowed:
            close = difflib.get_close_matches(str(field), allowed, n=1)
            hint = f"; did you mean '{close[0]}'?" if close else ""
            fields = ", ".join(allowed)
            raise ValueError(f"{what} has no field '{field}'; it has {fields}{hint}")
