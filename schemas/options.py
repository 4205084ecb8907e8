"""How a scene is simulated: time step, formulation, integrator, solver, contacts."""

from typing import Annotated, Literal

from pydantic import Field

from cardan.schemas.base import Base
from cardan.schemas.quantities import Boolean, Count, Fraction, Integer, NonNegative, Positive

SolverMethod = Literal[
    "auto",
    "pgs",
    "sor",
    "pivoting",
    "gauss_seidel",
    "jacobi",
    "lemke",
    "pgs_sm",
    "nncg",
    "apgd",
    "proximal",
    "small_steps",
]
ChosenFormulation = Literal["maximal", "reduced"]
Formulation = Literal[ChosenFormulation, "auto"]
Integrator = Literal["semi_implicit_euler", "implicit_midpoint", "rk4", "dop853", "radau"]


class SolverOptions(Base):
    """How the complementarity problem of a step is solved."""

    method: SolverMethod = "auto"
    """Solver; `auto` lets the engine choose."""
    tolerance: Positive = 1e-8
    """Residual at which iterations stop, absolute, the largest over all rows [m/s or rad/s]; sweeps
    stop at this change of velocity per sweep."""
    max_iterations: Count | None = None
    """Largest number of iterations per step; none: the method's own."""
    relaxation: Annotated[float, Field(strict=True, allow_inf_nan=False, gt=0.0, lt=2.0)] = 1.0
    """Over- or under-relaxation of `sor`, between 0 and 2 [-]."""
    warm_start: Boolean = True
    """Whether the impulses of the last step are the first guess."""
    substeps: Annotated[Count, Field(le=100)] = 4
    """Pieces of a step that `small_steps` does one after the other."""
    frequency: Positive | None = None
    """Of soft contacts and stops of `small_steps`, at most a quarter of the rate of its substeps;
    none: an eighth [Hz]."""
    damping_ratio: Positive = 10.0
    """Of the soft contacts and stops of `small_steps` [-]."""


class ContactOptions(Base):
    """How contacts are treated."""

    erp: Fraction = 0.2
    """Share of the penetration removed per step [-]."""
    restitution_threshold: NonNegative = 0.5
    """Approach speed below which an impact does not rebound; of stops a fiftieth of it, at most
    0.01 m/s or rad/s [m/s]."""
    restitution_law: Literal["newton", "poisson", "propagating"] = "newton"
    """Impact law; with `newton` and `poisson` contacts act at once, with `propagating` in turn."""
    impact_time: Literal["step", "exact"] = "step"
    """`exact`: bodies fly to the moment at which they meet; `step`: impacts happen in mid-step."""
    friction_cone: Literal["cone", "box", "polyhedral"] = "cone"
    """Shape of the set of friction forces; `polyhedral`: a polygon inscribed in the cone."""
    directions: Annotated[Count, Field(ge=3, le=64)] = 4
    """Edges of the polyhedral cone, which has one along the first tangent."""
    margin: Positive | None = None
    """Gap below which a contact is handed to the solver; none: chosen by the engine [m]."""
    max_correction_speed: Positive | None = None
    """Largest speed at which penetration is removed; none: not bounded [m/s]."""


class SleepingOptions(Base):
    """Whether bodies that have come to rest are left alone until something happens to them."""

    enabled: Boolean = False
    """Whether bodies may fall asleep."""
    linear_speed: NonNegative = 0.01
    """Largest speed of a centre of mass that counts as rest [m/s]."""
    angular_speed: NonNegative = 0.05
    """Largest angular speed that counts as rest [rad/s]."""
    time: Positive = 0.5
    """How long all bodies of an island must be at rest before it falls asleep [s]."""


class AccuracyOptions(Base):
    """How exact a run shall be, instead of how long its step."""

    position: Positive
    """Largest error of a position at any time, ends of long bodies included [m]."""
    velocity: Positive | None = None
    """Largest error of the velocity of a body's origin at any time; none: any. Where an impact is
    at another moment, velocities differ by what it changes, however small the step is [m/s]."""
    angle: Positive | None = None
    """Largest error of an orientation at any time; none: any [rad]."""
    reaction: Positive | None = None
    """Largest error of the force of any joint at the time it belongs to, of steps their middle;
    none: any. In impacts no step is small enough: forces are impulses over the step there [N]."""
    max_steps: Annotated[Count, Field(le=20_000_000)] = 1_000_000
    """Largest number of steps of all trial runs together."""


class SimulationOptions(Base):
    """Time, formulation and numerical method."""

    dt: Positive = 0.001
    """Time step; with `dop853` and `radau` the grid of the recording [s]."""
    duration: Positive = 5.0
    """Simulated time [s]."""
    formulation: Formulation = "maximal"
    """`maximal`: every body with constraint rows; `reduced`: joint coordinates of a tree; `auto`:
    `reduced` where all joints form a few trees and little else moves, else `maximal`."""
    integrator: Integrator = "semi_implicit_euler"
    """Time stepping; `dop853` and `radau` need the reduced formulation."""
    integrator_tolerance: Positive = 1e-10
    """Local error of `dop853` and `radau`, relative [-]."""
    orientation_update: Literal["finite", "infinitesimal"] = "finite"
    """`finite`: exp(h w/2) q, exact for constant w; `infinitesimal`: first order."""
    gyroscopic: Literal["implicit", "explicit", "off"] = "implicit"
    """How the torque -w x I w enters a step."""
    stabilisation: Literal["baumgarte", "split_impulse", "projection"] | None = None
    """What becomes of position errors: `baumgarte`: velocities take a share of them away;
    `split_impulse`: poses are moved by that share, velocities never know; `projection`: the same
    for stops and contacts, and joints are put in place at the end of every step; none:
    `projection`; in joint coordinates stops and contacts as with it, and loops as `baumgarte`."""
    energy_return: Boolean = True
    """Whether joints get the energy back that their equations take in a step; false: only what
    `split_impulse`, `projection` and loops of trees return is left out, joints stay in place."""
    anchor_tolerance: Positive = 1e-3
    """Largest mismatch between anchors and initial poses that is accepted [m]."""
    collisions: Boolean = True
    """Whether bodies touch at all; false: all pass through each other, for mechanisms."""
    ignore_initial_overlaps: Boolean = False
    """Whether pairs of bodies that overlap at the start by more than 1 % of the smaller one never
    collide in this run. What floats still collides with static and kinematic bodies, on which it
    may stand."""
    threads: Annotated[Count, Field(le=16)] | Literal["auto"] = 1
    """Threads that may share the work of a step with many contacts; `auto`: as many as there are
    cores in scenes of 1000 moving bodies and more, else one. Results have the same bits with any
    number, and more than one work where that is found to be faster."""
    verify: Boolean = False
    """Whether a run is repeated with half and, unless both agree, a quarter of `dt`: the summary
    then says how far the answer depends on the step. Costs up to seven times the steps; live
    sessions do not verify."""
    verify_tolerance: Positive = 0.01
    """Share of the scene's size within which answers of different steps count as the same [-]."""
    accuracy: AccuracyOptions | None = None
    """An error that shall not be exceeded: trial runs choose formulation and integrator, unless the
    scene names them, and the step; `dt` is the longest step and the grid of the recording. The
    summary says what was chosen, why, and the error reached. Live sessions refuse it."""
    seed: Annotated[Integer, Field(ge=0)] = 0
    """Not used, as a simulation makes no random choices; written to recordings as metadata."""
    solver: SolverOptions = SolverOptions()
    """Solver options."""
    contact: ContactOptions = ContactOptions()
    """Contact options."""
    sleeping: SleepingOptions = SleepingOptions()
    """When bodies are left alone."""
