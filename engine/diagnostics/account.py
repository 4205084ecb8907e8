"""What a run says of itself: energies, and the largest errors so far, by name."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

from engine.diagnostics.energy import moving_energy, potential_energy
from engine.diagnostics.extremes import inner_errors
from engine.world.model import Model
from engine.world.state import (
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
    LEDGER_CORRECTION,
    LEDGER_DAMPING,
    LEDGER_FRICTION,
    LEDGER_IMPACT,
    LEDGER_WORK_IN,
    SUM_ITERATIONS,
    State,
)

# m/s: energy errors are compared with the largest kinetic energy, but at least with that of all
# bodies at this speed, so that a scene at rest has a scale too
REST_SPEED = 1e-3


def energies(model: Model, state: State) -> dict[str, float]:
    """Energies now and work so far [J]."""
    kinetic = float(moving_energy(model, state))
    potential = float(potential_energy(model, state))
    ledger = state.ledger
    return {
        "kinetic": kinetic,
        "potential": potential,
        "total": kinetic + potential,
        "work_in": float(ledger[LEDGER_WORK_IN]),
        "dissipated_friction": float(ledger[LEDGER_FRICTION]),
        "dissipated_impact": float(ledger[LEDGER_IMPACT]),
        "dissipated_damping": float(ledger[LEDGER_DAMPING]),
        "correction": float(ledger[LEDGER_CORRECTION]),
    }


def broken_joints(state: State, names: Sequence[str]) -> list[dict[str, Any]]:
    """Joints that broke: name, end of that step [s] and reaction [N], of a gear [N m]."""
    return [
        {"joint": name, "time": float(time), "force": float(force)}
        for name, (time, force) in zip(names, state.broken, strict=True)
        if not math.isnan(time)
    ]


def account(
    model: Model, state: State, methods: list[str], joint_names: Sequence[str]
) -> dict[str, Any]:
    """The parts `energy`, `momentum`, `joints`, `contacts` and `solver` of a summary.

    Energy errors are relative to the largest kinetic energy so far (at least that of all bodies at
    REST_SPEED); `methods` names the solvers that were used.
    """
    extremes, now = state.extremes, energies(model, state)
    kinetic = float(extremes[EXTREME_KINETIC])
    scale = max(kinetic, 0.5 * float(model.bodies.mass.sum()) * REST_SPEED**2)
    scale = scale if scale > 0.0 else 1.0
    inner = inner_errors(model, state)
    work = ("work_in", "dissipated_friction", "dissipated_impact", "dissipated_damping")
    return {
        "energy": {
            "initial": float(extremes[FIRST_ENERGY]),
            "final": now["total"],
            "max_kinetic": kinetic,
            "max_relative_drift": float(extremes[EXTREME_DRIFT]) / scale,
            "balance_error": float(extremes[EXTREME_BALANCE]) / scale,
            **{name: now[name] for name in (*work, "correction")},
        },
        "momentum": {
            "max_linear_drift": float(extremes[EXTREME_LINEAR]),
            "max_angular_drift": float(extremes[EXTREME_ANGULAR]),
        },
        "joints": {
            "max_position_error": max(float(extremes[EXTREME_JOINT_POSITION]), inner[0]),
            "max_angle_error": max(float(extremes[EXTREME_JOINT_ANGLE]), inner[1]),
            "broken": broken_joints(state, joint_names),
        },
        "contacts": {
            "max_count": int(extremes[EXTREME_CONTACTS]),
            "max_penetration": float(extremes[EXTREME_PENETRATION]),
        },
        "solver": {
            "methods": methods,
            "max_residual": float(extremes[EXTREME_RESIDUAL]),
            "max_coulomb_error": float(extremes[EXTREME_COULOMB]),
            "mean_iterations": float(extremes[SUM_ITERATIONS]) / max(int(state.step[0]), 1),
        },
    }
