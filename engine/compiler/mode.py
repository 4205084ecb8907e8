"""`$CARDAN_COMPILER`: how kernels are compiled, for the whole process."""

from __future__ import annotations

import os

import numba

ORDINARY, BOUNDSCHECK, PLAIN = "ordinary", "boundscheck", "plain"


def chosen_compiler() -> str:
    """`$CARDAN_COMPILER`: "ordinary", "boundscheck" or "plain".

    "boundscheck": an index out of range is an IndexError. "plain": every kernel is an ordinary
    `numba.njit(cache=True)` and structs are named tuples; nothing internal to Numba is used.
    Raises ValueError for anything else.
    """
    chosen = os.environ.get("CARDAN_COMPILER") or ORDINARY
    if chosen not in (ORDINARY, BOUNDSCHECK, PLAIN):
        raise ValueError(
            f"CARDAN_COMPILER is '{chosen}'; allowed: {ORDINARY}, {BOUNDSCHECK}, {PLAIN}"
        )
    return chosen


COMPILER = chosen_compiler()
CHECKED = COMPILER == BOUNDSCHECK
INTERPRETED = bool(numba.config.DISABLE_JIT)
# whether a struct is passed from kernel to kernel as one pointer, or as the tuple it is in Python
STRUCTS_ARE_TUPLES = INTERPRETED or COMPILER == PLAIN
