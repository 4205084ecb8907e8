"""The constraint rows of the last step as a table: what each asked for and what it gave."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from cardan.engine.rows.names import KINDS, Place, name_row, places_of
from cardan.engine.rows.redundant import implied_by_bodies, rows_within_bounds
from cardan.engine.world.options import StepOptions
from cardan.engine.world.problem import Problem
from cardan.engine.world.rows import ROW_NORMAL, Rows

Array = NDArray[np.float64]

AXES = ("wx", "wy", "wz", "vx", "vy", "vz")
J_FIELDS = tuple(f"{side}_{axis}" for side in "ab" for axis in AXES)
ROW_DTYPE = np.dtype(
    [(name, np.int32) for name in Place._fields]
    + [("active", np.bool_), ("redundant", np.bool_)]
    + [(name, np.float64) for name in ("lam", "w", "lo", "hi", *J_FIELDS)]
)


def bounds_at(rows: Rows, part: Problem, lam: Array) -> tuple[Array, Array]:
    """Bounds (n,) of each row by itself, at these impulses."""
    n = len(lam)
    lo, hi = part.lo[:n].copy(), part.hi[:n].copy()
    normal, kind = part.normal_row[:n], rows.kind[:n]
    lo[kind == ROW_NORMAL], hi[kind == ROW_NORMAL] = 0.0, np.inf
    bound = np.flatnonzero(normal >= 0)
    hi[bound] = part.mu[bound] * np.maximum(lam[normal[bound]], 0.0)
    lo[bound] = -hi[bound]
    return lo, hi


def row_table(
    rows: Rows,
    part: Problem,
    options: StepOptions,
    redundant: NDArray[np.bool_] | None,
) -> NDArray[np.void]:
    """One row per constraint of the last step (dtype ROW_DTYPE), J by both its bodies, in W.

    The bound of a row without one is NaN.

    redundant (n,): which equations others imply; None: found here, for bodies in no tree
    """
    n = int(rows.count[0])
    table, lam = np.zeros(n, ROW_DTYPE), part.lam[:n].copy()
    for name, column in zip(Place._fields, places_of(rows), strict=True):
        table[name] = column
    lo, hi = bounds_at(rows, part, lam)
    friction = (int(options.friction_kind), int(options.directions))
    table["active"] = rows_within_bounds(lam, lo, hi, part.normal_row[:n], friction)
    table["redundant"] = implied_by_bodies(part, lo, hi) if redundant is None else redundant
    table["lam"], table["w"] = lam, part.w[:n]
    table["lo"], table["hi"] = np.where(np.isinf([lo, hi]), np.nan, [lo, hi])
    for k in range(6):
        table[J_FIELDS[k]], table[J_FIELDS[6 + k]] = part.J_a[:n, k], part.J_b[:n, k]
    return table


def named_columns(
    table: NDArray[np.void], bodies: Sequence[str], joints: Sequence[str]
) -> dict[str, NDArray[np.generic]]:
    """Columns of such tables, with names: row, kind, body_a, body_b; `bodies` without the world."""
    world = (*bodies, "world")
    places = [Place(*map(int, row)) for row in table[list(Place._fields)].tolist()]
    known = {place: name_row(place, world, joints).name for place in set(places)}
    words = {
        "row": np.array([known[place] for place in places], np.str_),
        "kind": np.array([KINDS[place.kind] for place in places], np.str_),
        "body_a": np.array([world[place.body_a] for place in places], np.str_),
        "body_b": np.array([world[place.body_b] for place in places], np.str_),
    }
    values = [name for name in table.dtype.names or () if name not in Place._fields]
    return words | {name: np.ascontiguousarray(table[name]) for name in values}
