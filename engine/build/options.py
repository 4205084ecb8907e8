"""Convert schema options to numbers: names become enum values here only."""

from __future__ import annotations

import math
from typing import Any

from cardan.engine.build.faults import Faults
from cardan.engine.build.reduced import check_reduced
from cardan.engine.world.options import (
    Gyroscopic,
    ImpactTime,
    Integrator,
    OrientationUpdate,
    RestitutionLaw,
    SleepOptions,
    SolverMethod,
    SolverOptions,
    Stabilisation,
    StepOptions,
)
from cardan.engine.world.problem import FRICTION_BOX, FRICTION_CONE, FRICTION_POLYGON
from cardan.schemas import Scene

METHODS = {
    "auto": SolverMethod.AUTO,
    "pgs": SolverMethod.PGS,
    "sor": SolverMethod.SOR,
    "gauss_seidel": SolverMethod.GAUSS_SEIDEL,
    "pivoting": SolverMethod.PIVOTING,
    "lemke": SolverMethod.LEMKE,
    "jacobi": SolverMethod.JACOBI,
    "nncg": SolverMethod.NNCG,
    "pgs_sm": SolverMethod.PGS_SM,
    "apgd": SolverMethod.APGD,
    "proximal": SolverMethod.PROXIMAL,
    "small_steps": SolverMethod.SMALL_STEPS,
}
DEFAULT_STABILISATION = "projection"
CONES = {"cone": FRICTION_CONE, "box": FRICTION_BOX, "polyhedral": FRICTION_POLYGON}
# methods that support some friction sets only
LIMITED = {"pivoting": ("box",), "lemke": ("box", "polyhedral"), "apgd": ("cone",)}


def with_options(scene: Scene, **options: Any) -> Scene:
    """The scene with other options of the simulation, to be stepped by them: without `accuracy`."""
    stepped = scene.simulation.model_copy(update={"accuracy": None, **options})
    return scene.model_copy(update={"simulation": stepped})


def without_rotors(scene: Scene) -> Scene:
    """The scene without `armature`: where joints are rows and nothing moves, rotors do nothing."""
    joints = tuple(joint.model_copy(update={"armature": 0.0}) for joint in scene.joints)
    return scene.model_copy(update={"joints": joints})


def automatic_margin(smallest: float) -> float:
    """Default contact margin [m]: 2 % of the smallest moving shape, between 0.1 mm and 2 cm."""
    if not math.isfinite(smallest):
        return 1e-2
    return min(max(0.02 * smallest, 1e-4), 2e-2)


def check_options(scene: Scene, faults: Faults) -> None:
    """Add faults for unsupported options."""
    simulation = scene.simulation
    if simulation.accuracy is not None:
        faults.add(
            "/simulation/accuracy",
            "needs_whole_run",
            "`accuracy` is reached by trial runs from start to end; a live session and a "
            "`Simulation` that is advanced by hand have none.",
            "Give `dt` instead, or run the scene as a whole.",
        )
    smooth = simulation.integrator != "semi_implicit_euler"
    if simulation.formulation == "reduced" or (smooth and simulation.formulation == "auto"):
        check_reduced(scene, faults)
    elif smooth:
        faults.missing(
            "/simulation/integrator",
            f"the integrator '{simulation.integrator}' with the formulation 'maximal'",
            "semi_implicit_euler",
        )
    method = simulation.solver.method
    if method not in METHODS:
        faults.missing("/simulation/solver/method", f"the solver '{method}'", ", ".join(METHODS))
    if method == "small_steps":
        check_small_steps(scene, faults)
    contact = simulation.contact
    solvable = LIMITED.get(method, tuple(CONES))
    if contact.friction_cone not in solvable:
        faults.add(
            "/simulation/solver/method",
            f"{method}_needs_{solvable[-1]}",
            f"The solver '{method}' solves friction on {' and '.join(solvable)}, but "
            f"`friction_cone` is '{contact.friction_cone}'.",
            f"Set /simulation/contact/friction_cone to '{solvable[-1]}', or the method to 'auto'.",
        )


def check_small_steps(scene: Scene, faults: Faults) -> None:
    """Add faults for options that exclude substeps, whose soft rows correct positions."""
    simulation = scene.simulation
    if simulation.contact.impact_time == "exact":
        what = "`impact_time` 'exact' with the solver 'small_steps'"
        faults.missing("/simulation/contact/impact_time", what, "step")
    if simulation.stabilisation not in (None, DEFAULT_STABILISATION):
        what = f"`stabilisation` '{simulation.stabilisation}' with the solver 'small_steps'"
        instead = "leave it out: soft constraints correct positions"
        faults.missing("/simulation/stabilisation", what, instead)


def build_options(scene: Scene, smallest: float) -> StepOptions:
    """The options of the step; smallest: size of the smallest moving shape [m] (inf: none)."""
    simulation = scene.simulation
    contact, solver, sleeping = simulation.contact, simulation.solver, simulation.sleeping
    speed = contact.max_correction_speed
    stabilisation = Stabilisation[(simulation.stabilisation or DEFAULT_STABILISATION).upper()]
    small = solver.method == "small_steps"
    if simulation.formulation == "reduced" and simulation.stabilisation is None:
        stabilisation = Stabilisation.ONE_SIDED
    if small:
        stabilisation = Stabilisation.BAUMGARTE
    by_velocity = stabilisation == Stabilisation.BAUMGARTE and not small
    return StepOptions(
        time_step=float(simulation.dt),
        integrator=int(Integrator[simulation.integrator.upper()]),
        integrator_tolerance=float(simulation.integrator_tolerance),
        orientation_update=int(OrientationUpdate[simulation.orientation_update.upper()]),
        gyroscopic=int(Gyroscopic[simulation.gyroscopic.upper()]),
        stabilisation=int(stabilisation),
        energy_return=int(simulation.energy_return),
        contact_erp=float(contact.erp) if by_velocity else 0.0,
        position_erp=float(contact.erp),
        restitution_threshold=float(contact.restitution_threshold),
        restitution_law=int(RestitutionLaw[contact.restitution_law.upper()]),
        impact_time=int(ImpactTime[contact.impact_time.upper()]),
        max_correction_speed=math.inf if speed is None else float(speed),
        margin=float(contact.margin if contact.margin is not None else automatic_margin(smallest)),
        friction_kind=int(CONES[contact.friction_cone]),
        directions=int(contact.directions),
        solver=SolverOptions(
            method=int(METHODS[solver.method]),
            max_iterations=int(solver.max_iterations or 0),
            tolerance=float(solver.tolerance),
            relaxation=float(solver.relaxation),
            warm_start=int(solver.warm_start),
            substeps=int(solver.substeps),
            frequency=float(solver.frequency or 0.0),
            damping_ratio=float(solver.damping_ratio),
        ),
        sleep=SleepOptions(
            enabled=int(sleeping.enabled),
            linear_speed=float(sleeping.linear_speed),
            angular_speed=float(sleeping.angular_speed),
            steps=max(2, math.ceil(sleeping.time / simulation.dt)),
        ),
    )
