"""Options of a step as numbers, and the enums that name their values."""

from __future__ import annotations

from enum import IntEnum
from typing import NamedTuple

from cardan.engine.compiler.structs import struct


class SolverMethod(IntEnum):
    """Method of the constraint solver."""

    AUTO = 0
    PGS = 1
    SOR = 2
    GAUSS_SEIDEL = 3
    PIVOTING = 4
    ELIMINATION = 5
    LEMKE = 6
    JACOBI = 7
    NNCG = 8
    PGS_SM = 9
    APGD = 10
    PROXIMAL = 11
    SMALL_STEPS = 12


class Gyroscopic(IntEnum):
    """Treatment of the gyroscopic torque w x I w."""

    OFF = 0
    EXPLICIT = 1
    IMPLICIT = 2


class OrientationUpdate(IntEnum):
    """Update of orientations from angular velocities."""

    FINITE = 0
    INFINITESIMAL = 1


class Stabilisation(IntEnum):
    """Correction of position errors."""

    BAUMGARTE = 0
    SPLIT_IMPULSE = 1
    PROJECTION = 2
    # of joint coordinates: loops by velocities, stops and contacts by poses
    ONE_SIDED = 3


class Integrator(IntEnum):
    """Time integration."""

    SEMI_IMPLICIT_EULER = 0
    IMPLICIT_MIDPOINT = 1
    RK4 = 2
    DOP853 = 3
    RADAU = 4


class RestitutionLaw(IntEnum):
    """Law of restitution."""

    NEWTON = 0
    POISSON = 1
    PROPAGATING = 2


class ImpactTime(IntEnum):
    """Time of an impact within a step."""

    STEP = 0
    EXACT = 1


@struct
class SolverOptions(NamedTuple):
    """Options of the constraint solver."""

    method: int  # SolverMethod
    max_iterations: int  # sweeps of iterative methods; 0: the method's default
    tolerance: float  # m/s or rad/s: residual at which iterations stop
    relaxation: float  # omega of SOR, 0 < omega < 2
    warm_start: int  # 1: start from the last step's impulses
    substeps: int  # of SMALL_STEPS, >= 1
    frequency: float  # Hz       of its soft contacts and stops; 0: the stiffest
    damping_ratio: float  # -    of these, > 0


@struct
class SleepOptions(NamedTuple):
    """Thresholds of sleeping."""

    enabled: int  # 1: bodies may fall asleep
    linear_speed: float  # m/s     of the centre of mass, at most
    angular_speed: float  # rad/s  at most
    steps: int  # steps in a row for which all bodies of an island must be that slow, >= 2


@struct
class StepOptions(NamedTuple):
    """Options of a step."""

    time_step: float  # s
    integrator: int  # Integrator
    integrator_tolerance: float  # -  local error of the adaptive ones, relative
    orientation_update: int  # OrientationUpdate
    gyroscopic: int  # Gyroscopic
    stabilisation: int  # Stabilisation
    energy_return: int  # 1: joints get the energy back that their equations take
    contact_erp: float  # -      share of penetration removed per step by velocities
    position_erp: float  # -     the same by corrections of poses
    restitution_threshold: float  # m/s   slower approaches have no restitution
    restitution_law: int  # RestitutionLaw
    impact_time: int  # ImpactTime
    max_correction_speed: float  # m/s    largest separation speed of penetrating bodies
    margin: float  # m           gap up to which contacts are created
    friction_kind: int  # FRICTION_BOX, FRICTION_CONE or FRICTION_POLYGON
    directions: int  # vertices of the friction polygon
    solver: SolverOptions
    sleep: SleepOptions
