"""Kinetic and potential energy and both momenta, from the state alone."""

from __future__ import annotations

from cardan.engine.bodies.forces import (
    acts_on_both,
    attracting_mass,
    elastic_energy,
    load_gravity,
    present_mass,
    spring_length,
    torsion_angle,
)
from cardan.engine.bodies.gyroscopic import is_round
from cardan.engine.compiler.kernel import kernel
from cardan.engine.constraints.joints.frames import is_open, joint_frame
from cardan.engine.constraints.motors import spring_coordinate
from cardan.engine.spatial.mat3 import load33, times_vector, transposed
from cardan.engine.spatial.quaternion import load4
from cardan.engine.spatial.rotation import matrix
from cardan.engine.spatial.vec3 import ZERO3, Vec3, add, cross, dot, load3, norm, scale, sub
from cardan.engine.world.lanes import LaneModel, LaneState
from cardan.engine.world.model import (
    DYNAMIC,
    FORCE_POINT_GRAVITY,
    FORCE_SPRING,
    FORCE_TORSION,
    Bodies,
    Joints,
    Model,
)
from cardan.engine.world.state import State


@kernel
def motion_of(bodies: Bodies, state: State, i: int) -> tuple[float, Vec3, Vec3]:
    """m v^2/2 + w . I w/2 [J]; m v [N s]; p x m v + R I_B R^T w about the origin of W [N m s]."""
    v, w = load3(state.v_WB_W, i), load3(state.w_WB_W, i)
    push = scale(bodies.mass[i], v)
    inertia = load33(bodies.inertia_B, i)
    if is_round(inertia):
        spin = scale(inertia[0][0], w)
    else:
        R = matrix(load4(state.q_WB, i))
        spin = times_vector(R, times_vector(inertia, times_vector(transposed(R), w)))
    angular = add(cross(load3(state.p_WB, i), push), spin)
    return 0.5 * (dot(v, push) + dot(w, spin)), push, angular


@kernel
def kinetic_energy_of(bodies: Bodies, state: State, i: int) -> float:
    """m v^2/2 + w . I w/2 of a body [J]."""
    return motion_of(bodies, state, i)[0]


@kernel
def kinetic_energy(bodies: Bodies, state: State) -> float:
    """Sum over dynamic bodies [J]."""
    total = 0.0
    for i in range(bodies.kind.shape[0]):
        if bodies.kind[i] == DYNAMIC:
            total += kinetic_energy_of(bodies, state, i)
    return total


@kernel
def rotor_energy(model: Model, state: State) -> float:
    """Kinetic energy of the rotors of joints, armature qd^2/2 [J]."""
    total = 0.0
    for k in range(state.tree_qd.shape[0]):
        total += 0.5 * model.tree.armature[k] * state.tree_qd[k] ** 2
    return total


@kernel
def moving_energy(model: Model, state: State) -> float:
    """Kinetic energy of all bodies, and of the rotors of joints, armature qd^2/2 [J]."""
    return kinetic_energy(model.bodies, state) + rotor_energy(model, state)


@kernel
def gravitational_energy(bodies: Bodies, state: State) -> float:
    """-sum of m g . p [J] over present bodies: zero at the origin of W."""
    g = load_gravity(state)
    total = 0.0
    for i in range(bodies.kind.shape[0]):
        mass = present_mass(bodies, state, i)
        if mass > 0.0:
            total -= mass * dot(g, load3(state.p_WB, i))
    return total


@kernel
def joint_spring_energy(joints: Joints, state: State, j: int) -> float:
    """Energy stored in the spring of joint j [J]; none while the joint is open."""
    if joints.spring_on[j] == 0 or is_open(joints, state, j):
        return 0.0
    frame = joint_frame(joints, state, j)
    x = spring_coordinate(joints, state, j, frame)
    return elastic_energy(joints.spring_k, j, x - joints.spring_rest[j])


@kernel
def force_element_energy(model: Model, state: State) -> float:
    """Energy stored in springs, torsion springs and point gravity [J]."""
    forces = model.forces
    bodies = model.bodies
    total = 0.0
    for f in range(forces.kind.shape[0]):
        kind = forces.kind[f]
        if not acts_on_both(forces, state, f):
            continue
        if kind == FORCE_SPRING:
            length = spring_length(forces, state, f)[2]
            total += elastic_energy(forces.stiffness, f, length - forces.rest[f])
        elif kind == FORCE_TORSION:
            angle = torsion_angle(forces, state, f)[1]
            total += elastic_energy(forces.stiffness, f, angle - forces.rest[f])
        elif kind == FORCE_POINT_GRAVITY:
            for i in range(bodies.kind.shape[0]):
                for k in range(i):
                    d = norm(sub(load3(state.p_WB, i), load3(state.p_WB, k)))
                    r = (d * d + forces.coefficient[f, 1] ** 2) ** 0.5
                    if r > 0.0:
                        masses = attracting_mass(bodies, state, i)
                        masses *= attracting_mass(bodies, state, k)
                        total -= forces.coefficient[f, 0] * masses / r
    return total


@kernel
def spring_energy(model: Model | LaneModel, state: State | LaneState) -> float:
    """Energy stored in the springs of trees on which drives act alone [J]; also of lanes."""
    drives, joints, total = model.drives, model.joints, 0.0
    for k in range(drives.spring.shape[0]):
        if drives.spring[k] >= 0:
            j = drives.joint[k]
            x = state.tree_q[drives.coordinate[k]] - joints.spring_rest[j]
            total += elastic_energy(joints.spring_k, j, x)
    return total


@kernel
def stored_energy(model: Model, state: State) -> float:
    """Energy of all springs and of point gravity [J]."""
    if model.drives.alone[0] == 1:
        return spring_energy(model, state)
    total = force_element_energy(model, state)
    for j in range(model.joints.kind.shape[0]):
        total += joint_spring_energy(model.joints, state, j)
    return total


@kernel
def potential_energy(model: Model, state: State) -> float:
    """Gravity and everything elastic [J]; compliant contacts as at the end of the last step."""
    return (
        gravitational_energy(model.bodies, state) + stored_energy(model, state) + state.elastic[0]
    )


@kernel
def momenta_of(bodies: Bodies, state: State, i: int) -> tuple[Vec3, Vec3]:
    """Momentum [N s] and angular momentum about the origin of W [N m s] of a body."""
    _, linear, angular = motion_of(bodies, state, i)
    return linear, angular


@kernel
def whole_motion(model: Model, state: State) -> tuple[float, Vec3, Vec3]:
    """`moving_energy` [J] and `momenta` [N s], [N m s], in one pass."""
    bodies = model.bodies
    kinetic, linear, angular = 0.0, ZERO3, ZERO3
    for i in range(bodies.kind.shape[0]):
        if bodies.kind[i] == DYNAMIC:
            T, p, L = motion_of(bodies, state, i)
            kinetic += T
            linear = add(linear, p)
            angular = add(angular, L)
    return kinetic + rotor_energy(model, state), linear, angular


@kernel
def momenta(bodies: Bodies, state: State) -> tuple[Vec3, Vec3]:
    """Momentum [N s] and angular momentum about the origin of W [N m s] of dynamic bodies."""
    linear, angular = ZERO3, ZERO3
    for i in range(bodies.kind.shape[0]):
        if bodies.kind[i] == DYNAMIC:
            p, L = momenta_of(bodies, state, i)
            linear = add(linear, p)
            angular = add(angular, L)
    return linear, angular
