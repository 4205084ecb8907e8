"""What of a scene is not computed in reduced coordinates."""

from __future__ import annotations

from engine.build.faults import Faults
from schemas import Scene

# solvers that know that bodies of a tree move together
METHODS = ("auto", "pgs", "pivoting", "gauss_seidel", "lemke")


def check_reduced(scene: Scene, faults: Faults) -> None:
    """Note every choice of a scene that needs the other formulation."""
    simulation, contact = scene.simulation, scene.simulation.contact
    asked: list[tuple[str, str, tuple[str, ...]]] = [
        ("/simulation/gyroscopic", simulation.gyroscopic, ("implicit",)),
        ("/simulation/orientation_update", simulation.orientation_update, ("finite",)),
        ("/simulation/contact/restitution_law", contact.restitution_law, ("newton",)),
        ("/simulation/contact/impact_time", contact.impact_time, ("step",)),
        ("/simulation/solver/method", simulation.solver.method, METHODS),
    ]
    if "stabilisation" in simulation.model_fields_set:
        asked.append(("/simulation/stabilisation", simulation.stabilisation, ("baumgarte",)))
    for pointer, value, available in asked:
        if value not in available:
            name = pointer.rsplit("/", 1)[1]
            what = f"`{name}` '{value}' with the formulation 'reduced'"
            faults.missing(pointer, what, ", ".join(available))
    if simulation.sleeping.enabled:
        what = "sleeping with the formulation 'reduced'"
        faults.missing("/simulation/sleeping/enabled", what, "false")
