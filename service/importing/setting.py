"""Options of the whole scene: gravity, time step, integrator, and a ground plane on request."""

from typing import Any

import numpy as np

from cardan.schemas.imported import ImportOptions
from cardan.service.importing.compiled import Compiled
from cardan.service.importing.links import Names
from cardan.service.importing.notes import Notes

ROOM = 1.05
"""Anchors may be apart by half a gap: a little more than that is accepted [-]."""


def simulation_of(
    compiled: Compiled, options: ImportOptions, gap: float, notes: Notes
) -> dict[str, Any]:
    """Gravity and options of the simulation; `gap`: widest mismatch of a loop at the start [m]."""
    import mujoco

    option = compiled.model.opt
    weightless = compiled.is_off("GRAVITY")
    integrator = mujoco.mjtIntegrator(int(option.integrator))
    if integrator != mujoco.mjtIntegrator.mjINT_EULER:
        notes.approximated(
            "integrator",
            f"The model asks for {integrator.name.removeprefix('mjINT_')}; the scene takes the "
            "semi-implicit step.",
        )
    if option.density or option.viscosity or np.any(option.wind):
        notes.dropped("fluid", "There is no fluid around the bodies: density, viscosity, wind.")
    if int(option.enableflags) & int(mujoco.mjtEnableBit.mjENBL_OVERRIDE):
        notes.dropped("contact_override", "Contacts keep their own parameters (flag `override`).")
    if compiled.model.nflex:
        notes.dropped("flex", "Soft bodies (flex) are not rigid bodies.")
    simulation: dict[str, Any] = {
        "dt": float(option.timestep),
        "formulation": options.formulation,
    }
    if gap > 0.0:
        simulation["anchor_tolerance"] = max(1e-3, ROOM * gap)
    gravity = np.zeros(3) if weightless else option.gravity
    return {"gravity": compiled.vector(gravity), "simulation": simulation}


def ground_plane(compiled: Compiled, names: Names, notes: Notes) -> dict[str, Any]:
    """A plane below the lowest shape, found by the boxes around the shapes at the start."""
    model, data = compiled.model, compiled.data
    low = 0.0
    if model.ngeom:
        rows = data.geom_xmat.reshape(-1, 3, 3)[:, 2, :]
        centers = data.geom_xpos[:, 2] + np.sum(rows * model.geom_aabb[:, :3], axis=1)
        low = float(np.min(centers - np.sum(np.abs(rows) * model.geom_aabb[:, 3:], axis=1)))
    notes.guessed(
        "ground", f"A ground was asked for: it lies below the lowest shape, z = {low:g} m."
    )
    plane = {"type": "plane", "normal": [0.0, 0.0, 1.0], "color": "#8a8f98"}
    return {
        "name": names.take("ground"),
        "type": "static",
        "position": [0.0, 0.0, low],
        "shapes": [plane],
    }
