"""Reports: tables of joint coordinates, joint forces and contacts of a step, and the summary."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from cardan.engine.accounting.contact_reports import write_friction
from cardan.engine.accounting.energy import momenta, moving_energy, potential_energy
from cardan.engine.accounting.extremes import inner_errors
from cardan.engine.accounting.joint_reports import write_coordinates, write_last_joint_forces
from cardan.engine.constraints.joints.coordinates import n_coordinates
from cardan.engine.world.contacts import Contacts
from cardan.engine.world.model import Joints, Model
from cardan.engine.world.problem import Problem
from cardan.engine.world.report import (
    PHASE_APPLY,
    PHASE_ASSEMBLE,
    PHASE_BROAD,
    PHASE_MOVE,
    PHASE_NARROW,
    PHASE_ROWS,
    PHASE_SOLVE,
)
from cardan.engine.world.rows import Rows
from cardan.engine.world.samples import CONTACT_LAM, CONTACT_MU
from cardan.engine.world.state import (
    EXTREME_ANGULAR,
    EXTREME_BALANCE,
    EXTREME_CONTACTS,
    EXTREME_COULOMB,
    EXTREME_DRIFT,
    EXTREME_JOINT_ANGLE,
    EXTREME_JOINT_POSITION,
    EXTREME_KINETIC,
    EXTREME_LINEAR,
    EXTREME_PENETRATION,
    EXTREME_RESIDUAL,
    FIRST_ENERGY,
    FLIGHT_SUM,
    LEDGER_CORRECTION,
    LEDGER_DAMPING,
    LEDGER_FRICTION,
    LEDGER_IMPACT,
    LEDGER_WORK_IN,
    RETURNED_LARGEST,
    RETURNED_NET,
    RETURNED_SUM,
    RETURNED_TIME,
    SUM_ITERATIONS,
    State,
)
from cardan.engine.world.triggers import FIRED_COUNT, FIRED_TIME
from cardan.engine.world.world import World

Array = NDArray[np.float64]

# m/s: energy errors are compared with the largest kinetic energy, but at least with that of all
# bodies at this speed, so that a scene at rest has a scale too
REST_SPEED = 1e-3


PHASES = {
    "move": PHASE_MOVE,
    "broad": PHASE_BROAD,
    "narrow": PHASE_NARROW,
    "rows": PHASE_ROWS,
    "assemble": PHASE_ASSEMBLE,
    "solve": PHASE_SOLVE,
    "account": PHASE_APPLY,
}


ENERGIES = (
    "kinetic",
    "potential",
    "total",
    "work_in",
    "dissipated_friction",
    "dissipated_impact",
    "dissipated_damping",
    "correction",
)


def energies(model: Model, state: State) -> dict[str, float]:
    """Energies now and work so far [J]."""
    kinetic = float(moving_energy(model, state))
    potential = float(potential_energy(model, state))
    ledger = state.ledger
    values = (
        kinetic,
        potential,
        kinetic + potential,
        float(ledger[LEDGER_WORK_IN]),
        float(ledger[LEDGER_FRICTION]),
        float(ledger[LEDGER_IMPACT]),
        float(ledger[LEDGER_DAMPING]),
        float(ledger[LEDGER_CORRECTION]),
    )
    return dict(zip(ENERGIES, values, strict=True))


def total_energy(model: Model, state: State) -> float:
    """Kinetic and potential energy [J]."""
    return float(moving_energy(model, state) + potential_energy(model, state))


def total_momentum(model: Model, state: State) -> NDArray[np.float64]:
    """(6,) linear, then angular about the origin of W."""
    linear, angular = momenta(model.bodies, state)
    return np.array([*linear, *angular])


def broken_joints(state: State, names: Sequence[str]) -> list[dict[str, Any]]:
    """Joints that broke: name, end of that step [s] and reaction [N], of a gear [N m]."""
    return [
        {"joint": name, "time": float(time), "force": float(force)}
        for name, (time, force) in zip(names, state.broken, strict=True)
        if not math.isnan(time)
    ]


def fired_triggers(state: State, names: Sequence[str]) -> list[dict[str, Any]]:
    """Triggers that fired: name, how often, and the end of the last such step [s].

    After those with names state.triggers has what `appears` and `vanishes` of bodies ask.
    """
    return [
        {"trigger": name, "times": int(row[FIRED_COUNT]), "last": float(row[FIRED_TIME])}
        for name, row in zip(names, state.triggers[: len(names)], strict=True)
        if row[FIRED_COUNT] > 0.0
    ]


# a run that blew up has shares that are no numbers
@np.errstate(invalid="ignore")
def account_of(
    extremes: Array, ledger: Array, energy: tuple[Any, Any], mass: float, steps: Any
) -> dict[str, Any]:
    """Numbers of the parts `energy`, `momentum`, `contacts` and `solver` of a summary.

    Energy errors are relative to the largest kinetic energy so far (at least that of all bodies at
    REST_SPEED).

    extremes (..., m), ledger (..., 8) as in State, of one run or of many; energy: kinetic and
        potential now (...,) [J]; mass [kg] of all bodies; steps (...,) done
    """
    largest = extremes[..., EXTREME_KINETIC]
    scale = np.maximum(largest, 0.5 * mass * REST_SPEED**2)
    scale = np.where(scale > 0.0, scale, 1.0)
    return {
        "energy": {
            "initial": extremes[..., FIRST_ENERGY],
            "final": energy[0] + energy[1],
            "max_kinetic": largest,
            "max_relative_drift": extremes[..., EXTREME_DRIFT] / scale,
            "balance_error": extremes[..., EXTREME_BALANCE] / scale,
            "returned": {
                "sum": extremes[..., RETURNED_SUM],
                "net": extremes[..., RETURNED_NET],
                "largest_step": extremes[..., RETURNED_LARGEST],
                "largest_time": extremes[..., RETURNED_TIME],
                "share": extremes[..., RETURNED_SUM] / scale,
                "flight": extremes[..., FLIGHT_SUM],
            },
            "work_in": ledger[..., LEDGER_WORK_IN],
            "dissipated_friction": ledger[..., LEDGER_FRICTION],
            "dissipated_impact": ledger[..., LEDGER_IMPACT],
            "dissipated_damping": ledger[..., LEDGER_DAMPING],
            "correction": ledger[..., LEDGER_CORRECTION],
        },
        "momentum": {
            "max_linear_drift": extremes[..., EXTREME_LINEAR],
            "max_angular_drift": extremes[..., EXTREME_ANGULAR],
        },
        "contacts": {
            "max_count": extremes[..., EXTREME_CONTACTS].astype(np.int64),
            "max_penetration": extremes[..., EXTREME_PENETRATION],
        },
        "solver": {
            "max_residual": extremes[..., EXTREME_RESIDUAL],
            "max_coulomb_error": extremes[..., EXTREME_COULOMB],
            "mean_iterations": extremes[..., SUM_ITERATIONS] / np.maximum(steps, 1),
        },
    }


def _plain(found: Any) -> Any:
    """The same with numbers of Python."""
    if isinstance(found, dict):
        return {name: _plain(one) for name, one in found.items()}
    return found.item()


def account_now(model: Model, state: State) -> dict[str, Any]:
    """`account_of` a run up to a state, as plain numbers."""
    energy = np.float64(moving_energy(model, state)), np.float64(potential_energy(model, state))
    mass = float(model.bodies.mass.sum())
    found: dict[str, Any] = _plain(
        account_of(state.extremes, state.ledger, energy, mass, state.step[0])
    )
    return found


def summarise(
    model: Model, state: State, methods: list[str], joint_names: Sequence[str]
) -> dict[str, Any]:
    """Parts `energy`, `momentum`, `joints`, `contacts` and `solver` of a summary.

    `methods` names the solvers that were used.
    """
    extremes, inner = state.extremes, inner_errors(model, state)
    found = account_now(model, state)
    return {
        "energy": found["energy"],
        "momentum": found["momentum"],
        "joints": {
            "max_position_error": max(float(extremes[EXTREME_JOINT_POSITION]), inner[0]),
            "max_angle_error": max(float(extremes[EXTREME_JOINT_ANGLE]), inner[1]),
            "broken": broken_joints(state, joint_names),
        },
        "contacts": found["contacts"],
        "solver": {"methods": methods, **found["solver"]},
    }


# force and torque on the child at the anchor, W
REACTION_FIELDS = ("fx", "fy", "fz", "tx", "ty", "tz")
JOINT_FIELDS = ("q", "qd", "motor_force", "limit_force", *REACTION_FIELDS)
JOINT_DTYPE = np.dtype(
    [("joint", np.int32), ("coordinate", np.int32)] + [(name, np.float64) for name in JOINT_FIELDS]
)
# point, normal (from A to B) and gap, as they are sampled; then forces on B
CONTACT_PLACE = ("px", "py", "pz", "nx", "ny", "nz", "gap")
FRICTION_FIELDS = ("friction_x", "friction_y", "friction_z")
CONTACT_FIELDS = (
    *CONTACT_PLACE,
    "normal_force",
    "friction_force",
    *FRICTION_FIELDS,
    "friction_coefficient",
)
CONTACT_DTYPE = np.dtype(
    [("body_a", np.int32), ("body_b", np.int32)] + [(name, np.float64) for name in CONTACT_FIELDS]
)


def coordinate_rows(joints: Joints) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Joint and coordinate of each row of a joint table; -1: a joint without coordinates."""
    counts = np.array([n_coordinates(int(kind)) for kind in joints.kind], dtype=np.int64)
    rows = np.maximum(counts, 1)
    joint = np.repeat(np.arange(len(counts)), rows)
    first = np.cumsum(rows) - rows
    axis = np.arange(len(joint)) - np.repeat(first, rows)
    return joint, np.where(np.repeat(counts, rows) == 0, -1, axis)


def joint_tables(
    joints: Joints,
    motion: NDArray[np.float64],
    drive: NDArray[np.float64],
    reaction: NDArray[np.float64],
) -> NDArray[np.void]:
    """Rows of frames (dtype JOINT_DTYPE), one per frame and coordinate.

    motion, drive  (frames, j, 3, 2), reaction (frames, j, 6), as in world/samples.py
    """
    joint, axis = coordinate_rows(joints)
    table = np.zeros((len(motion), len(joint)), JOINT_DTYPE)
    table["joint"], table["coordinate"] = joint, axis
    axis = np.maximum(axis, 0)
    table["q"], table["qd"] = motion[:, joint, axis, 0], motion[:, joint, axis, 1]
    table["motor_force"] = drive[:, joint, axis, 0]
    table["limit_force"] = drive[:, joint, axis, 1]
    for k, name in enumerate(REACTION_FIELDS):
        table[name] = reaction[:, joint, k]
    return table.reshape(-1)


def joint_forces(world: World, handle: World) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """(j, 6) reactions and (j, 3, 2) drives of the last step, as in accounting/joint_reports.py.

    handle  of the world (compiler/handles.py)
    """
    n = len(world.model.joints.kind)
    reaction, drive = np.zeros((n, 6)), np.zeros((n, 3, 2))
    write_last_joint_forces(handle, reaction, drive)
    return reaction, drive


def joint_table(world: World, handle: World) -> NDArray[np.void]:
    """One row per joint coordinate (dtype JOINT_DTYPE); joints without one have coordinate -1.

    handle  of the world (compiler/handles.py)
    """
    joints = world.model.joints
    now = np.zeros((len(joints.kind), 3, 2))
    write_coordinates(joints, world.state, world.work.rows, now)
    reaction, drive = joint_forces(world, handle)
    return joint_tables(joints, now[None], drive[None], reaction[None])


def contact_tables(
    body: NDArray[np.int64], values: NDArray[np.float64], h: float
) -> NDArray[np.void]:
    """One row per contact (dtype CONTACT_DTYPE).

    body (n, 2), values (n, 11): point, normal, gap, impulses and mu, as in world/samples.py
    """
    table = np.zeros(len(body), CONTACT_DTYPE)
    table["body_a"], table["body_b"] = body[:, 0], body[:, 1]
    for k, name in enumerate(CONTACT_PLACE):
        table[name] = values[:, k]
    lam = values[:, CONTACT_LAM:]
    table["normal_force"] = lam[:, 0] / h
    table["friction_force"] = np.hypot(lam[:, 1], lam[:, 2]) / h
    friction = np.zeros((len(body), 3))
    write_friction(values, h, friction)
    for k, name in enumerate(FRICTION_FIELDS):
        table[name] = friction[:, k]
    table["friction_coefficient"] = values[:, CONTACT_MU]
    return table


def contact_table(contacts: Contacts, rows: Rows, problem: Problem, h: float) -> NDArray[np.void]:
    """One row per contact of the last step (dtype CONTACT_DTYPE), as found in its middle."""
    n = int(contacts.count[0])
    lam = problem.lam[rows.count[1] : rows.count[1] + 3 * n].reshape(n, 3)
    body = np.stack([contacts.body_a[:n], contacts.body_b[:n]], axis=1)
    place = (contacts.point_W[:n], contacts.normal_W[:n], contacts.gap[:n, None])
    values = np.concatenate((*place, lam, contacts.friction[:n, None]), axis=1)
    return contact_tables(body, values, h)
