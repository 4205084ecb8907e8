"""Friction of contacts as vectors."""

from __future__ import annotations

from numpy.typing import NDArray

from cardan.engine.compiler.kernel import kernel
from cardan.engine.spatial.vec3 import add, scale, store3, tangents_of
from cardan.engine.world.samples import CONTACT_LAM, CONTACT_NORMAL


@kernel
def write_friction(values: NDArray, h: float, out: NDArray) -> None:
    """Write the friction force on body B of each contact, in W.

        f = (lam_1 t1 + lam_2 t2)/h,   t1, t2 the tangents of n (spatial/vec3.py)

    Reads   values (n, N_CONTACT) as in world/samples.py; h [s], the step of the impulses
    Writes  out (n, 3) [N]
    Check   tests/references/test_friction_vectors.py
    """
    for c in range(values.shape[0]):
        place, tangential = values[c, CONTACT_NORMAL:], values[c, CONTACT_LAM + 1 :]
        n = (place[0], place[1], place[2])
        t1, t2 = tangents_of(n)
        push = add(scale(tangential[0] / h, t1), scale(tangential[1] / h, t2))
        store3(out, c, push)
