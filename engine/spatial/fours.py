"""Rows of four bodies at once: a tuple of numbers becomes a tuple of fours (compiler/fours.py)."""

from __future__ import annotations

from typing import Any

from numpy.typing import NDArray

from cardan.engine.compiler.fours import together
from cardan.engine.compiler.kernel import kernel
from cardan.engine.spatial.quaternion import Quaternion
from cardan.engine.spatial.rotation import Mat3
from cardan.engine.spatial.vec3 import Vec3

# numbers of four bodies
Four = tuple[int, int, int, int]


@kernel
def of_four(array: NDArray, four: Four, c: int) -> Any:
    """One column of the rows of four bodies."""
    i, j, k, m = four
    return together(array[i, c], array[j, c], array[k, c], array[m, c])


@kernel
def load3_of_four(array: NDArray, four: Four) -> Vec3:
    """Rows of an (n, 3) array."""
    return of_four(array, four, 0), of_four(array, four, 1), of_four(array, four, 2)


@kernel
def load4_of_four(array: NDArray, four: Four) -> Quaternion:
    """Rows of an (n, 4) array."""
    x, y, z = load3_of_four(array, four)
    return x, y, z, of_four(array, four, 3)


@kernel
def load33_of_four(array: NDArray, four: Four) -> Mat3:
    """Matrices of an (n, 3, 3) array."""
    return (
        load3_of_four(array[:, 0], four),
        load3_of_four(array[:, 1], four),
        load3_of_four(array[:, 2], four),
    )
