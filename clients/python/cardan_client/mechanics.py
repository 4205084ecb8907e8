"""What a scene does without being simulated: equilibria, linear models, poses of robots."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]
MATRICES = ("A", "B", "C", "D", "x0", "u0", "y0", "f0", "mass")


@dataclass(frozen=True)
class Equilibrium:
    """What the laws of statics say of a scene."""

    status: str
    """`equilibrium`; `none`: not at these poses; `not_found`: nor did the search find one."""
    reason: str
    """Why there is none."""
    coordinates: Mapping[str, Array]
    """Of the joints, by name [m or rad]."""
    bodies: tuple[str, ...]
    """Names of the bodies, in the order of the poses."""
    poses: Array = field(repr=False)
    """(bodies, 7): px py pz [m], qw qx qy qz, in W."""
    document: Mapping[str, Any] = field(repr=False)
    """Everything the service says: reactions of joints and contacts, stability, margin."""


@dataclass(frozen=True)
class LinearModel:
    """dx/dt = f0 + A (x - x0) + B (u - u0), y = y0 + C (x - x0) + D (u - u0), x = (z, dz/dt)."""

    coordinates: tuple[str, ...]
    """Names of z."""
    inputs: tuple[str, ...]
    """Names of u."""
    outputs: tuple[str, ...]
    """Names of y."""
    A: Array = field(repr=False)
    """(2 n, 2 n)."""
    B: Array = field(repr=False)
    """(2 n, inputs)."""
    C: Array = field(repr=False)
    """(outputs, 2 n)."""
    D: Array = field(repr=False)
    """(outputs, inputs)."""
    x0: Array = field(repr=False)
    """The state."""
    u0: Array = field(repr=False)
    """Inputs at the state."""
    y0: Array = field(repr=False)
    """Outputs at the state."""
    f0: Array = field(repr=False)
    """dx/dt at the state: 0 at rest in equilibrium."""
    mass: Array = field(repr=False)
    """(n, n): kinetic energy is dz/dt . mass dz/dt/2."""
    eigenvalues: NDArray[np.complex128] = field(repr=False)
    """Of the modes, from the slowest; of a pair the one with the positive imaginary part [1/s]."""
    frequencies: Array
    """Of the modes, without damping; 0: it does not oscillate [Hz]."""
    damping_ratios: Array
    """Of the modes; negative: it grows [-]."""
    document: Mapping[str, Any] = field(repr=False)
    """Everything the service says: shapes of the modes, what the model leaves out."""


@dataclass(frozen=True)
class Posture:
    """Joint coordinates that bring bodies to targets, the best that were found."""

    found: bool
    """Whether every target is met within the tolerance."""
    coordinates: Mapping[str, Array]
    """Of the joints, by name [m or rad]."""
    errors: Array
    """(targets, 2): of the position [m], of the orientation [rad]."""
    document: Mapping[str, Any] = field(repr=False)
    """Everything the service says: steps, starts, joints at their limits."""


def read_equilibrium(document: Mapping[str, Any]) -> Equilibrium:
    """Return the answer about an equilibrium with arrays."""
    poses = [[*one["position"], *one["orientation"]] for one in document["poses"]]
    return Equilibrium(
        status=document["status"],
        reason=document["reason"],
        coordinates=_coordinates(document),
        bodies=tuple(one["body"] for one in document["poses"]),
        poses=np.array(poses, float).reshape(len(poses), 7),
        document=document,
    )


def read_linear_model(document: Mapping[str, Any]) -> LinearModel:
    """Return a linear model with arrays; those without rows or columns keep their shape."""
    found = {name: np.array(document[name], float) for name in MATRICES}
    n, inputs, outputs = len(found["x0"]), len(document["inputs"]), len(document["outputs"])
    shapes = {"A": (n, n), "B": (n, inputs), "C": (outputs, n), "D": (outputs, inputs)}
    found |= {name: found[name].reshape(shape) for name, shape in shapes.items()}
    modes = document["modes"]
    return LinearModel(
        coordinates=tuple(document["coordinates"]),
        inputs=tuple(document["inputs"]),
        outputs=tuple(document["outputs"]),
        **found,
        eigenvalues=np.array([complex(*mode["eigenvalue"]) for mode in modes], complex),
        frequencies=np.array([mode["frequency"] for mode in modes], float),
        damping_ratios=np.array([mode["damping_ratio"] for mode in modes], float),
        document=document,
    )


def read_dynamics(document: Mapping[str, Any]) -> dict[str, Any]:
    """Return numbers by state as arrays, and the layout of coordinates as it is."""
    if "coordinates" in document:
        return dict(document)
    return {name: np.array(values, float) for name, values in document.items()}


def read_posture(document: Mapping[str, Any]) -> Posture:
    """Return the answer about poses with arrays."""
    errors = [[one["position"], one["orientation"]] for one in document["errors"]]
    return Posture(
        found=document["found"],
        coordinates=_coordinates(document),
        errors=np.array(errors, float).reshape(len(errors), 2),
        document=document,
    )


def _coordinates(document: Mapping[str, Any]) -> dict[str, Array]:
    return {name: np.array(values, float) for name, values in document["coordinates"].items()}
