"""Names of constraint rows: the joint, contact or force that each one belongs to."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from cardan.engine.world.rows import (
    ROW_COUPLING,
    ROW_DRAG,
    ROW_ELEMENT,
    ROW_EQUATION,
    ROW_FRICTION,
    ROW_GRAB,
    ROW_LIMIT,
    ROW_MOTOR,
    ROW_NORMAL,
    ROW_ROLLING,
    ROW_SPINNING,
    ROW_SPRING,
    ROW_TANGENT,
    SLOT_FRICTION,
    SLOT_LOWER,
    SLOT_SPRING,
    SLOT_UPPER,
    Rows,
)

KINDS = {
    ROW_EQUATION: "equation",
    ROW_LIMIT: "stop",
    ROW_MOTOR: "motor",
    ROW_FRICTION: "friction",
    ROW_SPRING: "spring",
    ROW_GRAB: "grab",
    ROW_NORMAL: "normal",
    ROW_TANGENT: "tangent",
    ROW_ELEMENT: "element",
    ROW_SPINNING: "spinning",
    ROW_ROLLING: "rolling",
    ROW_DRAG: "drag",
    ROW_COUPLING: "coupling",
}


class Place(NamedTuple):
    """Where a row belongs, in numbers."""

    kind: int  # ROW_EQUATION ...
    joint: int  # -1: none
    slot: int  # impulse slot of the joint, contact, or force element
    axis: int  # coordinate of limits, motors and dampers
    second: int  # 1: the second of two rows in a plane
    body_a: int
    body_b: int


class ProblemRow(NamedTuple):
    """The joint, contact or force that a row belongs to, and the part of it that the row holds."""

    name: str  # `pin: equation 1`, `floor - box: normal`
    kind: str  # one of KINDS
    joint: str | None  # None: of a contact, a force or a hand
    contact: int | None  # number among the contacts of the step; None: of none
    body_a: str  # the force acts on b, its opposite on a
    body_b: str


def places_of(rows: Rows) -> tuple[NDArray[np.int64], ...]:
    """The columns of Place of all rows, each (n,)."""
    n = int(rows.count[0])
    kind, joint, slot, axis = rows.kind[:n], rows.joint[:n], rows.slot[:n], rows.axis[:n]
    second = np.zeros(n, np.int64)
    in_plane = (kind[1:] == ROW_TANGENT) | (kind[1:] == ROW_ROLLING)
    second[1:] = in_plane & (kind[1:] == kind[:-1]) & (slot[1:] == slot[:-1])
    return kind, joint, slot, axis, second, rows.body_a[:n], rows.body_b[:n]


def name_row(place: Place, bodies: Sequence[str], joints: Sequence[str]) -> ProblemRow:
    """The words for a row; `bodies` end with the world."""
    a, b = bodies[place.body_a], bodies[place.body_b]
    joint = joints[place.joint] if place.joint >= 0 else None
    of_contact = place.kind in (ROW_NORMAL, ROW_TANGENT, ROW_SPINNING, ROW_ROLLING)
    return ProblemRow(
        f"{joint or f'{a} - {b}'}: {_what(place)}",
        KINDS[place.kind],
        joint,
        place.slot if of_contact else None,
        a,
        b,
    )


def _what(place: Place) -> str:
    """Which row of its joint or pair of bodies."""
    kind, slot, number = place.kind, place.slot, place.axis + 1
    if kind == ROW_EQUATION:
        return f"equation {slot + 1}" if slot < SLOT_LOWER else f"lock {number}"
    if kind == ROW_LIMIT:
        return f"{'upper' if slot >= SLOT_UPPER else 'lower'} stop {number}"
    if kind == ROW_MOTOR:
        return f"motor {number}"
    if kind == ROW_FRICTION:
        return f"friction {slot - SLOT_FRICTION + 1}"
    if kind == ROW_SPRING:
        return "spring" if slot == SLOT_SPRING else f"damper {number}"
    if kind in (ROW_TANGENT, ROW_ROLLING):
        return f"{KINDS[kind]} {place.second + 1}"
    return KINDS[kind]
