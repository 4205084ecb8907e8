"""Displacement of a body without change of momentum."""

from __future__ import annotations

from numpy.typing import NDArray

from cardan.engine.bodies.forces import load_gravity
from cardan.engine.bodies.gyroscopic import conserved_momentum, is_round
from cardan.engine.compiler.kernel import kernel
from cardan.engine.spatial.mat3 import load33, times_vector
from cardan.engine.spatial.quaternion import load4, multiply, rotate, rotate_back, store4, unit
from cardan.engine.spatial.vec3 import add, cross, dot, load3, norm, scale, store3, sub
from cardan.engine.world.world import World

# share of the energy of rotation beyond which a shift corrects no error of smooth motion
MOST_GAIN = 0.1


@kernel
def shift_body(world: World, i: int, shift: NDArray) -> float:
    """Rotate and translate a body by six numbers [rad, m]; keep its velocity and spin L.

        gained = 1/2 L . (w+ - w) - m g . move

    The rotation is that of (1, turn/2) normalised, too small by turn^3/12; a further pass corrects
    it. A slender body that is turned far would spin about its own axis, many times as fast: where
    its energy of rotation would grow by MOST_GAIN, it keeps w in its own axes instead of L.

    Writes  state.p_WB, q_WB, w_WB_W (I^-1 L at the new pose); positions.lost: decrease of its
            angular momentum about the origin, p x m v + L
    Returns gain of kinetic energy and of potential energy in gravity [J]
    Check   tests/laws/test_stabilisation.py
    """
    turn, move = (shift[0], shift[1], shift[2]), (shift[3], shift[4], shift[5])
    if norm(turn) == 0.0 and norm(move) == 0.0:
        return 0.0
    bodies, state, lost = world.model.bodies, world.state, world.work.positions.lost
    m = bodies.mass[i]
    gained = -m * dot(load_gravity(state), move)
    inertia = load33(bodies.inertia_B, i)
    half = scale(0.5, turn)
    before, w = load4(state.q_WB, i), load3(state.w_WB_W, i)
    q = unit(multiply((1.0, half[0], half[1], half[2]), before))
    if not is_round(inertia):
        L = conserved_momentum(bodies, state, i)
        inverse = load33(bodies.inverse_inertia_B, i)
        w_new = rotate(q, times_vector(inverse, rotate_back(q, L)))
        more = 0.5 * dot(L, sub(w_new, w))
        if more > MOST_GAIN * 0.5 * dot(L, w):
            w_new, more = rotate(q, rotate_back(before, w)), 0.0
            L_new = rotate(q, times_vector(inertia, rotate_back(before, w)))
            store3(lost, i, add(load3(lost, i), sub(L, L_new)))
        gained += more
        store3(state.w_WB_W, i, w_new)
    store4(state.q_WB, i, q)
    store3(state.p_WB, i, add(load3(state.p_WB, i), move))
    carried = scale(m, cross(move, load3(state.v_WB_W, i)))
    store3(lost, i, sub(load3(lost, i), carried))
    return gained
