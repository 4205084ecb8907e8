"""Reading one side of a pair."""

from __future__ import annotations

from cardan.engine.compiler.kernel import kernel
from cardan.engine.spatial.mat3 import turned_back
from cardan.engine.spatial.vec3 import Vec3, load3_from
from cardan.engine.world.collision import BOUND, KIND, POSITION, RADIUS, ROTATION, SIZE, Faces, Pair
from cardan.engine.world.model import Shapes


@kernel
def faces_of(shapes: Shapes) -> Faces:
    """Faces of all hulls."""
    return Faces(
        shapes.face_normal, shapes.face_loop_start, shapes.face_loop_count, shapes.face_loop
    )


@kernel
def kind_of(pair: Pair, s: int) -> int:
    """SPHERE ... PLANE."""
    return int(pair.solids[s, KIND])


@kernel
def size_of(pair: Pair, s: int) -> Vec3:
    """Size of side s, as Shapes.size [m]."""
    return load3_from(pair.solids, s, SIZE)


@kernel
def position_of(pair: Pair, s: int) -> Vec3:
    """Origin of the shape [m]."""
    return load3_from(pair.solids, s, POSITION)


@kernel
def axis_of(pair: Pair, s: int, k: int) -> Vec3:
    """Axis k of the shape in world axes: column k of R_WS."""
    return (
        pair.solids[s, ROTATION + k],
        pair.solids[s, ROTATION + 3 + k],
        pair.solids[s, ROTATION + 6 + k],
    )


@kernel
def radius_of(pair: Pair, s: int) -> float:
    """Thickness around the core [m]."""
    return float(pair.solids[s, RADIUS])


@kernel
def scale_of(pair: Pair) -> float:
    """Length that tolerances of this pair refer to [m]: the smaller bounding radius.

    Not below 1e-4 of the larger one, whose coordinates set the rounding; planes are left out.
    """
    a = pair.solids[0, BOUND]
    b = pair.solids[1, BOUND]
    if b > 1e300:
        return float(a)
    return float(max(min(a, b), 1e-4 * max(a, b)))


@kernel
def to_world(pair: Pair, s: int, x: Vec3) -> Vec3:
    """R_WS x: directions of the shape in world axes."""
    c = pair.solids
    k = ROTATION
    return (
        c[s, k] * x[0] + c[s, k + 1] * x[1] + c[s, k + 2] * x[2],
        c[s, k + 3] * x[0] + c[s, k + 4] * x[1] + c[s, k + 5] * x[2],
        c[s, k + 6] * x[0] + c[s, k + 7] * x[1] + c[s, k + 8] * x[2],
    )


@kernel
def to_shape(pair: Pair, s: int, x: Vec3) -> Vec3:
    """R_WS^T x: directions of the world in the shape's axes."""
    return turned_back(pair.solids, s, ROTATION, x)
