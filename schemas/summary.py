"""The summary of a run: stable keys, SI units."""

from typing import Any, Literal, get_args

from pydantic import BaseModel, ConfigDict, Field

from cardan.schemas.base import Base

Measured = float | None
"""A measured number; null: not finite, as in a run that failed, or not measured yet."""


class Open(Base):
    """A part of the summary that may gain keys."""

    model_config = ConfigDict(frozen=True, extra="allow", use_attribute_docstrings=True)


class ReturnedEnergy(Open):
    """Energy that velocities were scaled for: errors of the steps that the drift does not show.

    Joints, and loops of trees, get the energy back that their equations took, unless
    `simulation.energy_return` is false; trees in free flight keep their kinetic energy.
    """

    sum: Measured
    """What joints got back: magnitudes over sets of bodies and steps, added up [J]."""
    net: Measured
    """The same with signs; above zero: equations took more than they gave [J]."""
    largest_step: Measured
    """The largest of one step [J]."""
    largest_time: Measured
    """End of that step; 0: nothing was returned [s]."""
    share: Measured
    """`sum` over the largest kinetic energy, as `max_relative_drift` [-]."""
    flight: Measured
    """By how much trees in free flight were scaled: magnitudes, added up [J]."""


class EnergySummary(Open):
    """Energies [J] and how well they are kept [-]."""

    initial: Measured
    """Total energy at the start."""
    final: Measured
    """Total energy at the end."""
    max_relative_drift: Measured
    """Largest |E(t) - E(0) - work done + dissipation| over the largest kinetic energy."""
    balance_error: Measured
    """What the balance of energy, work and dissipation leaves unexplained at the end."""
    max_kinetic: Measured = None
    """Largest kinetic energy."""
    work_in: Measured = None
    """Work of motors, drives, forces and hands on the scene, over the whole run."""
    dissipated_friction: Measured = None
    """What friction took."""
    dissipated_impact: Measured = None
    """What impacts took."""
    dissipated_damping: Measured = None
    """What damping took."""
    correction: Measured = None
    """What the correction of positions put in (above zero) or took out."""
    returned: ReturnedEnergy | None = None
    """What the drift does not show; none: of a run before it was recorded."""


class MomentumSummary(Open):
    """Largest change of momentum, of an isolated scene."""

    max_linear_drift: Measured
    """[kg m/s]."""
    max_angular_drift: Measured
    """About the origin of W [kg m^2/s]."""


class BrokenJoint(Open):
    """A joint that broke."""

    joint: str
    """Its name."""
    time: Measured
    """End of the step in which it broke [s]."""
    force: Measured
    """Its reaction then [N], of a gear [N m]; 0: a command ended it."""


class UndeterminedReaction(Open):
    """A joint whose reaction the laws of rigid bodies do not determine: it is part of a loop with
    more equations than it needs. Of all reactions that balance the bodies the results have the
    least: the sum over joints of |force|^2 + |torque|^2 / L^2, L the median length of bodies."""

    joint: str
    """Its name."""
    equations: int
    """How many of its equations the joints before it imply."""
    channels: list[Literal["fx", "fy", "fz", "tx", "ty", "tz"]] = Field(default_factory=list)
    """Which of its force and torque are not determined, at the start; the others are."""
    least: bool = True
    """False: they are a choice of the solver's instead, in sets of more than 64 joints that form
    loops together (24 if one may break), with impact laws beside Newton's, exact impacts and
    integrators of smooth motion."""


class JointSummary(Open):
    """Largest errors of the joints, and which of them broke."""

    max_position_error: Measured
    """[m]."""
    max_angle_error: Measured
    """[rad]."""
    broken: list[BrokenJoint] = Field(default_factory=list)
    """Joints that broke, in the order of the scene."""
    not_unique: list[UndeterminedReaction] = Field(default_factory=list)
    """Joints whose reactions are not unique at the start, in the order of the scene; of scenes
    whose joints have at most 400 equations. There, reactions of all others are those that the laws
    of mechanics ask for."""


class FiredTrigger(Open):
    """A trigger that fired."""

    trigger: str
    """Its name."""
    times: int
    """How often."""
    last: Measured
    """End of the step in which it last did [s]."""


class IgnoredOverlap(Open):
    """Two bodies that overlap at the start and do not collide."""

    body: str
    """One of them."""
    other_body: str
    """The other."""
    depth: float
    """How deep they are in one another at the start [m]."""


class ContactSummary(Open):
    """Contacts over the run."""

    max_count: int
    """Largest number at once."""
    max_penetration: Measured
    """Deepest penetration [m]."""
    ignored_overlaps: list[IgnoredOverlap] = Field(default_factory=list)
    """Pairs that do not collide because of `ignore_initial_overlaps`."""


class SolverSummary(Open):
    """Methods, residuals and iterations of the solvers."""

    methods: list[str]
    """Methods that were used."""
    max_residual: Measured
    """Largest residual of a step's rows; 0 where there are none, as where drives act alone, which
    are solved by one factor [m/s or rad/s]."""
    max_coulomb_error: Measured
    """Largest violation of Coulomb's law [m/s]."""
    mean_iterations: Measured
    """Iterations per step."""
    formulation: str | None = None
    """`maximal` or `reduced`: what `auto` became; none: of a run before there was a choice."""


class TimingSummary(Open):
    """Processing time by phase."""

    total_s: Measured
    """Wall clock [s]."""
    compile_s: Measured
    """Compiling or loading kernels [s]."""
    per_step_us: Measured
    """Mean time of a step [us]."""
    real_time_factor: Measured
    """Simulated time over wall clock [-]."""
    phases: dict[str, Measured] = Field(default_factory=dict)
    """Mean time per step and phase [us]."""


class Finding(Open):
    """A limit that the run left: what, by how much, where, when first, and what mends it."""

    quantity: str
    """`initial_overlap`, `initial_velocity`, `joint_error`, `joint_angle`, `drive_error`,
    `energy_growth`, `energy_drift`, `travel_per_step`, `turn_per_step`, `penetration`,
    `step_error`, `stretch_error`, `solver_error`, `simultaneous_impacts`, `turning_on_face`,
    `facet_impacts`, `trigger_late`, `loop_jump`, `drive_noise`, `step_dependence` or `accuracy`."""
    value: float
    """The worst one of the run, by share of its limit [`unit`]."""
    limit: float
    """The limit of that one, relative to the scene: sizes of bodies, energies [`unit`]."""
    unit: str
    """m, J, rad, `bodies` or - for shares."""
    body: str | None = None
    """The first body that left its limit; of an overlap one of the two."""
    other_body: str | None = None
    """Of an overlap the other body."""
    joint: str | None = None
    """The first joint that left its limit."""
    worst: str | None = None
    """The body or joint of `value`."""
    first_time: float
    """End of the step in which the limit was left first; 0: before the run [s]."""
    first_step: int
    """Steps done then."""
    change: str
    """What mends it: a setting of the scene."""
    others: int = 0
    """Further pairs of bodies that overlap, beyond those that are listed."""


class Verdict(Open):
    """Whether the numbers of a run can be trusted."""

    status: Literal["trusted", "suspect", "wrong"]
    """`wrong`: it failed, or a joint, a drive, a penetration or the energy is far beyond its limit;
    `suspect`: it has findings; `trusted`: it has none."""
    findings: list[Finding] = Field(default_factory=list)
    """Every limit that was left."""


class Verification(Open):
    """How far the answer depends on the step: the same scene with dt, dt/2 and, unless these
    agree, dt/4. Errors are those of the run with dt, up to the horizon."""

    tolerance: float
    """Share of `size` within which answers count as the same [-]."""
    size: float
    """Size of the scene: the diagonal of all ways of its bodies, at least the longest body [m]."""
    runs: int
    """Runs that were compared: 2 or 3."""
    order: float | None
    """Observed order of convergence; none: two runs agree, or the differences mean nothing [-]."""
    horizon: float
    """Up to this time the answer does not depend on the step [s]."""
    horizon_step: int
    """Steps done then."""
    within: bool
    """Whether the horizon is the end of the run."""
    position_error: float
    """Largest estimated error of a position, ends of long bodies included [m]."""
    final_error: float | None
    """The same at the end of the run, beyond the horizon, too; none: a run failed [m]."""
    velocity_error: float
    """Largest estimated error of a velocity; about impacts that come at other times as large as
    their jumps [m/s]."""
    reaction_error: float | None
    """Largest estimated error of the force of a joint, a vector; none: there are no joints [N]."""
    worst: str
    """The body that depends on the step most."""
    motion_error: float | None = None
    """Largest estimated error of a motion as a share of its own reach: the place and orientation of
    a body, the coordinate of a spring; none: a run failed [-]."""
    motion_worst: str | None = None
    """The body of that motion; of a spring its child."""
    motion_of: str | None = None
    """Whose motion that is: `body`, or `spring`: of the spring that ends at this body."""


class Accuracy(Open):
    """What `simulation.accuracy` led to: how the run was done, and the error that it has."""

    asked: float
    """Error of positions that was asked for [m]."""
    position_error: float | None
    """Estimated error of positions, ends of long bodies included; none: no two trials came to the
    end [m]."""
    velocity_asked: float | None = None
    """Error of velocities that was asked for [m/s]."""
    velocity_error: float | None = None
    """Estimated error of velocities, if one was asked for [m/s]."""
    angle_asked: float | None = None
    """Error of orientations that was asked for [rad]."""
    angle_error: float | None = None
    """Estimated error of orientations, if one was asked for [rad]."""
    reaction_asked: float | None = None
    """Error of forces of joints that was asked for [N]."""
    reaction_error: float | None = None
    """Estimated error of forces of joints, if one was asked for [N]."""
    reached: bool
    """Whether all are within what was asked for; if not, the verdict is `suspect`."""
    formulation: str
    """`maximal` or `reduced`."""
    integrator: str
    """As in `simulation.integrator`."""
    solver: str
    """As in `simulation.solver.method`."""
    solver_tolerance: float
    """As in `simulation.solver.tolerance` [m/s]."""
    integrator_tolerance: float | None
    """Local error of `dop853` and `radau`; none: of another integrator [-]."""
    dt: float
    """Step [s]; of `dop853` and `radau` the grid of the recording."""
    order: float | None
    """Observed order of convergence; none: fewer than three steps were tried, or the differences
    mean nothing [-]."""
    runs: int
    """Trial runs."""
    trial_steps: int
    """Steps of all trial runs together."""
    size: float
    """Size of the scene: the diagonal of all ways of its bodies, at least the longest body [m]."""
    worst: str | None
    """The body that errs most."""
    reasons: list[str]
    """Why it was chosen, in sentences."""


class Summary(Open):
    """The summary of a run."""

    status: str
    """`succeeded`, `failed`, `cancelled` or `timed_out`."""
    reason: str | None = None
    """Why it stopped, when it did not succeed: step, body, quantity."""
    steps: int
    """Steps done."""
    time: float
    """Simulated time reached [s]."""
    scene_hash: str
    """Identity of the scene."""
    state_hash: str
    """Identity of the final state, hex."""
    versions: dict[str, str]
    """Versions of the engine and what it stands on."""
    energy: EnergySummary
    """Energies."""
    momentum: MomentumSummary
    """Momenta."""
    joints: JointSummary
    """Joints."""
    contacts: ContactSummary
    """Contacts."""
    solver: SolverSummary
    """Solvers."""
    timing: TimingSummary
    """Timing."""
    verdict: Verdict | None = None
    """Whether the run can be trusted; none: of a run before there were verdicts."""
    verification: Verification | None = None
    """How far the answer depends on the step, with `simulation.verify`."""
    measures: dict[str, list[Measured]] | None = None
    """Of an evaluation of a study: `objective` (for data every residual) and `constraints`."""
    accuracy: Accuracy | None = None
    """How the run was done to reach `simulation.accuracy`."""
    triggers: list[FiredTrigger] = Field(default_factory=list)
    """Triggers that fired, in the order of the scene."""
    warnings: list[str] = Field(default_factory=list)
    """What the user should know: the findings in words, and notes."""


def stray_key(name: str) -> tuple[str, tuple[str, ...]] | None:
    """Return the part of a dotted key that leaves the summary, and the keys there are instead."""
    model: type[BaseModel] = Summary
    for part in name.split("."):
        if part not in model.model_fields:
            return part, tuple(model.model_fields)
        models = [one for one in _types(model, part) if issubclass(one, BaseModel)]
        if not models:
            return None
        model = models[0]
    return None


def is_no_number(name: str) -> bool:
    """Whether a dotted key of the summary is a text, a list or an object in every run."""
    model: type[BaseModel] = Summary
    *above, last = name.split(".")
    for part in above:
        models = [one for one in _types(model, part) if issubclass(one, BaseModel)]
        if not models:
            return False
        model = models[0]
    return not {int, float, bool} & set(_types(model, last))


def _types(model: type[BaseModel], field: str) -> list[type]:
    """The classes that a field may have, without what they hold."""
    annotation: Any = model.model_fields[field].annotation
    return [one for one in (annotation, *get_args(annotation)) if isinstance(one, type)]
