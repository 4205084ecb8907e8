"""Whether reactions balance what acts, which of many, and how much more a scene carries."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from cardan.engine.simulation import Simulation
from cardan.engine.statics.cones import Cone, Program, minimise
from cardan.engine.statics.fields import check_fields
from cardan.engine.statics.reactions import NAMES, Reactions
from cardan.engine.world.model import DYNAMIC
from cardan.engine.world.rows import ROW_EQUATION, ROW_NORMAL

Array = NDArray[np.float64]

# unbalanced forces this share of all that act count as none
BALANCED = 1e-8
# bounds and cones may be missed by this share of all forces that act
WITHIN = 1e-9
# singular values below this share of the largest are zero: reactions are not determined
UNDETERMINED = 1e-9
# velocities of a mechanism this share of the largest are motions
MOVES = 1e-6


@dataclass(frozen=True)
class Margin:
    """How much of a load a scene carries, and how it gives way beyond."""

    factor: float | None  # -   largest multiple of the load; None: any
    gives_way: str | None  # tipping, sliding, tipping and sliding, drive, stop, ...; None: never
    opens: list[int] = field(default_factory=list)  # contacts that open beyond it
    slides: list[int] = field(default_factory=list)
    joints: list[str] = field(default_factory=list)  # whose drives, stops or friction give way


def admissible(reactions: Reactions) -> tuple[Array | None, float]:
    """Forces (n,) of the unknown rows that balance what acts, and what is left unbalanced [N].

    Of many the shortest, if it is within its bounds; else one that a linear program finds.
    """
    program = reactions.program
    n = program.A.shape[1]
    if not len(program.b):
        return np.zeros(n), 0.0
    shortest: Any = np.zeros(0)
    if n:
        shortest = np.linalg.lstsq(program.A, program.b, rcond=UNDETERMINED)[0]
    left = float(np.abs(program.A @ shortest - program.b).max())
    if left <= BALANCED and is_within(program, shortest):
        return shortest, 0.0
    m = len(program.b)
    elastic = Program(
        np.hstack([program.A, np.eye(m), -np.eye(m)]),
        program.b,
        np.concatenate([program.lo, np.zeros(2 * m)]),
        np.concatenate([program.hi, np.full(2 * m, np.inf)]),
        program.cones,
    )
    solved = minimise(elastic, np.concatenate([np.zeros(n), np.ones(2 * m)]))
    if solved.x is None:
        return None, math.inf
    slack = float(solved.x[n:].sum())
    if slack > BALANCED:
        return None, slack * reactions.force
    return _with_shortest_equations(reactions, solved.x[:n]), 0.0


def _with_shortest_equations(reactions: Reactions, x: Array) -> Array:
    """The same forces of stops, drives and contacts, and of joints the shortest beside them."""
    kinds = reactions.simulation.work.rows.kind[reactions.rows]
    chosen = kinds == ROW_EQUATION
    A = reactions.program.A[:, chosen]
    x = x.copy()
    if A.size:
        x[chosen] = np.linalg.lstsq(A, A @ x[chosen], rcond=UNDETERMINED)[0]
    return x


def is_within(program: Program, x: Array) -> bool:
    """Whether forces keep their bounds and cones."""
    if (x < program.lo - WITHIN).any() or (x > program.hi + WITHIN).any():
        return False
    return all(_size(cone, x) <= _radius(cone, x) + WITHIN for cone in program.cones)


def _size(cone: Cone, x: Array) -> float:
    return float(np.linalg.norm(x[list(cone.tangents)]))


def _radius(cone: Cone, x: Array) -> float:
    return cone.mu * (float(x[cone.normal]) if cone.normal >= 0 else 1.0)


def undetermined(program: Program, x: Array) -> tuple[int, NDArray[np.bool_]]:
    """How many combinations of forces within their bounds are open, and which forces they change.

    Forces on a bound, and friction on its cone, are taken as they are.
    """
    inside = (x > program.lo + WITHIN) & (x < program.hi - WITHIN)
    for cone in program.cones:
        if _size(cone, x) >= _radius(cone, x) - WITHIN:
            inside[list(cone.tangents)] = False
    places = np.flatnonzero(inside)
    touched = np.zeros(len(x), bool)
    if not len(places):
        return 0, touched
    _, values, Vt = np.linalg.svd(program.A[:, places])
    rank = int((values > UNDETERMINED * values.max(initial=0.0)).sum())
    null = Vt[rank:]
    touched[places] = (np.abs(null) > 1e-7).any(axis=0)
    return len(null), touched


def why_not(reactions: Reactions) -> str:
    """A sentence on what is missing at poses without equilibrium."""
    program = reactions.program
    shortest = np.linalg.lstsq(program.A, program.b, rcond=UNDETERMINED)[0]
    left = program.A @ shortest - program.b
    if float(np.abs(left).max(initial=0.0)) > BALANCED:
        worst = int(np.argmax(np.abs(left))) // 6
        name = reactions.simulation.body_names[int(reactions.bodies[worst])]
        return f"Nothing balances the forces on body '{name}': it is free to move that way."
    return "No reactions within the bounds of contacts, stops, friction and drives balance it."


def hovering(reactions: Reactions) -> str:
    """A sentence on a body that no joint and no contact holds; empty: there is none."""
    rows = reactions.simulation.work.rows
    held = np.union1d(rows.body_a[reactions.rows], rows.body_b[reactions.rows])
    alone = np.setdiff1d(reactions.bodies, held)
    if not len(alone):
        return ""
    name = reactions.simulation.body_names[int(alone[0])]
    return (
        f" No joint and no contact is at body '{name}' at the start: place it where it touches, or "
        "take the poses of the end of a run."
    )


def load_wrench(simulation: Simulation, load: Mapping[str, Any]) -> Array:
    """(bodies and the world, 6) moments about the centres of mass and forces. Raises ValueError."""
    model, state = simulation.model, simulation.state
    wrench = np.zeros((len(model.bodies.kind), 6))
    check_fields("a load", load, ("acceleration", "forces"))
    if "acceleration" in load and load["acceleration"] is not None:
        wrench[:, 3:] += model.bodies.mass[:, None] * np.asarray(load["acceleration"], float)
    for one in load.get("forces") or ():
        check_fields("a force of a load", one, ("body", "force", "torque", "point"))
        if one.get("body") not in simulation.body_names:
            raise ValueError(f"there is no body '{one.get('body')}'")
        b = simulation.body_names.index(one["body"])
        force = np.asarray(one.get("force") or (0.0, 0.0, 0.0), float)
        wrench[b, 3:] += force
        wrench[b, :3] += np.asarray(one.get("torque") or (0.0, 0.0, 0.0), float)
        if one.get("point") is not None:
            arm = np.asarray(one["point"], float) - state.p_WB[b]
            wrench[b, :3] += np.cross(arm, force)
    if not wrench[model.bodies.kind == DYNAMIC].any():
        raise ValueError("the load acts on no body that can move")
    return wrench


def margin(reactions: Reactions, wrench: Array) -> Margin:
    """The largest multiple of a load that reactions balance, and what happens beyond it."""
    program = reactions.program
    loaded = Program(
        np.hstack([program.A, reactions.load(wrench)[:, None]]),
        program.b,
        np.append(program.lo, 0.0),
        np.append(program.hi, np.inf),
        program.cones,
    )
    cost = np.zeros(len(loaded.lo))
    cost[-1] = -1.0
    solved = minimise(loaded, cost)
    if solved.x is None:
        return Margin(None, None)
    rate = -program.A.T @ solved.dual
    small = MOVES * max(float(np.abs(rate).max(initial=0.0)), 1e-300)
    rows = reactions.simulation.work.rows
    slip = dict.fromkeys(reactions.rows[rows.kind[reactions.rows] == ROW_NORMAL].tolist(), 0.0)
    for cone in program.cones:
        if cone.normal >= 0:
            slip[int(reactions.rows[cone.normal])] += cone.mu * _size(cone, rate)
    opens, slides, joints = [], [], set()
    for k, i in enumerate(reactions.rows):
        kind, j = int(rows.kind[i]), int(rows.joint[i])
        if kind == ROW_NORMAL:
            # in the mechanism of the program a contact that slides rises with mu times its slip;
            # one that rises faster opens
            if rate[k] > slip[int(i)] + small:
                opens.append(int(rows.slot[i]))
            elif slip[int(i)] > small:
                slides.append(int(rows.slot[i]))
        elif j >= 0 and kind != ROW_EQUATION and abs(rate[k]) > small:
            joints.add(f"{reactions.simulation.joint_names[j]} ({NAMES[kind]})")
    what = ["tipping"] * bool(opens) + ["sliding"] * bool(slides) + sorted(joints)
    factor = float(solved.x[-1])
    return Margin(factor, " and ".join(what) or None, sorted(opens), sorted(slides), sorted(joints))
