"""What a constraint row belongs to, in words."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from cardan.engine.world.rows import (
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
}


class ProblemRow(NamedTuple):
    """What a row belongs to."""

    name: str  # `pin: equation 1`, `floor - box: normal`
    kind: str  # one of KINDS
    joint: str | None  # None: of a contact, a force or a hand
    contact: int | None  # number among the contacts of the step; None: of none
    body_a: str  # the force acts on b, its opposite on a
    body_b: str


def name_row(rows: Rows, i: int, bodies: Sequence[str], joints: Sequence[str]) -> ProblemRow:
    """Row i; `bodies` end with the world."""
    kind, j, slot = int(rows.kind[i]), int(rows.joint[i]), int(rows.slot[i])
    a, b = bodies[int(rows.body_a[i])], bodies[int(rows.body_b[i])]
    joint = joints[j] if j >= 0 else None
    of_contact = kind in (ROW_NORMAL, ROW_TANGENT, ROW_SPINNING, ROW_ROLLING)
    return ProblemRow(
        f"{joint or f'{a} - {b}'}: {_what(rows, i)}",
        KINDS[kind],
        joint,
        slot if of_contact else None,
        a,
        b,
    )


def _what(rows: Rows, i: int) -> str:
    """Which row of its joint or pair of bodies."""
    kind, slot, axis = int(rows.kind[i]), int(rows.slot[i]), int(rows.axis[i])
    if kind == ROW_EQUATION:
        return f"equation {slot + 1}" if slot < SLOT_LOWER else f"lock {axis + 1}"
    if kind == ROW_LIMIT:
        return f"{'upper' if slot >= SLOT_UPPER else 'lower'} stop {axis + 1}"
    if kind == ROW_MOTOR:
        return f"motor {axis + 1}"
    if kind == ROW_FRICTION:
        return f"friction {slot - SLOT_FRICTION + 1}"
    if kind == ROW_SPRING:
        return "spring" if slot == SLOT_SPRING else f"damper {axis + 1}"
    if kind in (ROW_TANGENT, ROW_ROLLING):
        second = i > 0 and rows.kind[i - 1] == kind and rows.slot[i - 1] == slot
        return f"{KINDS[kind]} {2 if second else 1}"
    return KINDS[kind]
