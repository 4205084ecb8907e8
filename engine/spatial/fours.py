"""Rows of four bodies at once: a tuple of numbers becomes a tuple of fours (compiler/fours.py)."""

from __future__ import annotations

from numpy.typing import NDArray

from cardan.engine.compiler.fours import together
from cardan.engine.compiler.kernel import kernel
from cardan.engine.compiler.lanes import lane_of
from cardan.engine.spatial.quaternion import Quaternion
from cardan.engine.spatial.rotation import Mat3
from cardan.engine.spatial.vec3 import Vec3

# numbers of four bodies
Four = tuple[int, int, int, int]


@kernel
def load3_of_four(array: NDArray, four: Four) -> Vec3:
    """Rows of an (n, 3) array."""
    a, b, c, d = array[four[0]], array[four[1]], array[four[2]], array[four[3]]
    return (
        together(a[0], b[0], c[0], d[0]),
        together(a[1], b[1], c[1], d[1]),
        together(a[2], b[2], c[2], d[2]),
    )


@kernel
def load4_of_four(array: NDArray, four: Four) -> Quaternion:
    """Rows of an (n, 4) array."""
    a, b, c, d = array[four[0]], array[four[1]], array[four[2]], array[four[3]]
    return (
        together(a[0], b[0], c[0], d[0]),
        together(a[1], b[1], c[1], d[1]),
        together(a[2], b[2], c[2], d[2]),
        together(a[3], b[3], c[3], d[3]),
    )


@kernel
def load33_of_four(array: NDArray, four: Four) -> Mat3:
    """Matrices of an (n, 3, 3) array."""
    return (
        load3_of_four(array[:, 0], four),
        load3_of_four(array[:, 1], four),
        load3_of_four(array[:, 2], four),
    )


@kernel
def lane3(x: Vec3, k: int) -> Vec3:
    """The vector of body k of the four."""
    return lane_of(x[0], k), lane_of(x[1], k), lane_of(x[2], k)


@kernel
def lane4(q: Quaternion, k: int) -> Quaternion:
    """The quaternion of body k of the four."""
    return lane_of(q[0], k), lane_of(q[1], k), lane_of(q[2], k), lane_of(q[3], k)
