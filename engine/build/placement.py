"""Bodies placed by joint coordinates, and the coordinates of bodies that are placed.

A placement has trees of its own over all rigid joints, those that may break included. They serve
both formulations: poses and velocities of bodies follow from q and qd by forward kinematics, q and
qd follow from bodies joint by joint. Joints outside of the trees close loops; whether they do is
measured (accounting/joint_errors.py).
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from cardan.engine.accounting.joint_errors import write_joint_errors
from cardan.engine.accounting.joint_reports import write_coordinates
from cardan.engine.build.allocate import row_arrays
from cardan.engine.build.coordinates import bodies_led_to
from cardan.engine.build.poses import Poses
from cardan.engine.build.rotations import inverse, product, turn
from cardan.engine.build.tree import build_tree
from cardan.engine.trees import batches
from cardan.engine.trees.arrays import tree_work
from cardan.engine.world.model import BALL, FORCE_TORSION, Joints, Model
from cardan.engine.world.state import State
from cardan.engine.world.tree import NODE_BALL, NODE_FREE, Tree

Array = NDArray[np.float64]

# [rad] between two poses on the way to a state: angles of loops and gears are followed across turns
FOLLOWED_TURN, MOST_POSES = 1.0, 2000


class Placed(NamedTuple):
    """Poses and velocities of all bodies, the world included."""

    p: Array  # (n, 3) m  centres of mass
    q: Array  # (n, 4)
    v: Array  # (n, 3) m/s
    w: Array  # (n, 3) rad/s


def exponential(phi: Array) -> Array:
    """The quaternion of a rotation vector [rad]."""
    angle = float(np.linalg.norm(phi))
    share = 0.5 * float(np.sinc(0.5 * angle / math.pi))
    return np.array([math.cos(0.5 * angle), *(share * phi)])


def logarithm(q: Array) -> Array:
    """The rotation vector [rad] of a unit quaternion, at most pi long."""
    w, v = (q[0], q[1:]) if q[0] >= 0.0 else (-q[0], -q[1:])
    sine = float(np.linalg.norm(v))
    share: Array = (2.0 if sine < 1e-12 else 2.0 * math.atan2(sine, w) / sine) * v
    return share


def ball_axes(joints: Joints, j: int) -> Array:
    """(3, 3): the axes of a ball joint's rotation vector as rows, fixed in its parent."""
    first, second = joints.tangent1_A[j], joints.tangent2_A[j]
    return np.stack([first, second, np.cross(first, second)])


class Placement:
    """The trees of a model, and the maps between their coordinates and the poses of bodies."""

    def __init__(self, model: Model, zero: Poses) -> None:
        """Build the trees; zero: the poses of the scene, where all coordinates are zero."""
        joints = model.joints
        self.model, self.zero = model, zero
        rigid = joints._replace(
            cfm=np.zeros_like(joints.cfm),
            breaking_force=np.full_like(joints.breaking_force, math.inf),
        )
        self.tree, self.start = build_tree(model.bodies, rigid, zero, lone=True)
        self._work = tree_work(self.tree)
        self._no_offsets = np.zeros_like(model.bodies.com_B)
        self.nodes: dict[int, list[int]] = {}
        for i, j in enumerate(self.tree.joint):
            if j >= 0:
                self.nodes.setdefault(int(j), []).append(i)
        leads_to = bodies_led_to(self.tree)
        # joints that their tree goes through from child to parent
        self.reversed = {
            j for j, nodes in self.nodes.items() if leads_to[nodes[0]] == joints.body_a[j]
        }
        self._scratch = row_arrays(2, 0)

    @property
    def is_closed(self) -> bool:
        """Whether some coordinates are not those of trees: of loops, gears, torsion springs."""
        outside = bool((self.tree.inner == 0).any())
        return outside or bool((self.model.forces.kind == FORCE_TORSION).any())

    # ------------------------------------------------------------------ coordinates to bodies

    def put(self, q: Array, j: int, values: Array) -> None:
        """Write the coordinates of joint j into q; of a ball a rotation vector."""
        for i in self.nodes[j]:
            k, axis = int(self.tree.q_start[i]), int(self.tree.axis[i])
            if self.tree.kind[i] == NODE_BALL:
                q[k : k + 4] = self._ball_coordinates(i, j, values)
            elif axis >= 0:
                q[k] = values[axis]

    def put_velocity(self, qd: Array, q: Array, j: int, values: Array) -> None:
        """Write the velocities of joint j into qd, where the coordinates are q."""
        joints = self.model.joints
        for i in self.nodes[j]:
            k, axis = int(self.tree.v_start[i]), int(self.tree.axis[i])
            if self.tree.kind[i] == NODE_BALL:
                w_A = values @ ball_axes(joints, j)
                back = inverse(self._relative(i, j, q))
                qd[k : k + 3] = -w_A if j in self.reversed else turn(back, w_A)
            elif axis >= 0:
                qd[k] = values[axis]

    def _base(self, i: int, j: int) -> Array:
        """Orientation of what node i is placed in, where that is the ground; else the identity."""
        if self.tree.parent[i] >= 0:
            return np.array([1.0, 0.0, 0.0, 0.0])
        joints = self.model.joints
        known = joints.body_b[j] if j in self.reversed else joints.body_a[j]
        return self.zero.q[known]

    def _ball_coordinates(self, i: int, j: int, values: Array) -> Array:
        joints = self.model.joints
        q_AB = product(exponential(values @ ball_axes(joints, j)), joints.q_AB0[j])
        relative = inverse(q_AB) if j in self.reversed else q_AB
        return product(inverse(self.tree.q_PB0[i]), product(self._base(i, j), relative))

    def _relative(self, i: int, j: int, q: Array) -> Array:
        """q_AB of ball joint j at its node i."""
        k = int(self.tree.q_start[i])
        placed = product(self.tree.q_PB0[i], q[k : k + 4])
        relative = product(inverse(self._base(i, j)), placed)
        return inverse(relative) if j in self.reversed else relative

    def bodies(self, q: Array, qd: Array, others: Placed) -> Placed:
        """Poses and velocities of bodies at q and qd; bodies without a node are as in `others`."""
        n = len(others.p)
        found = np.zeros((1, n, 13))
        batches.kinematics_of_states(
            self.tree, q[None].copy(), qd[None].copy(), self._no_offsets, self._work, found
        )
        moved = (self.tree.node >= 0)[:, None]
        return Placed(
            np.where(moved, found[0, :, :3], others.p),
            np.where(moved, found[0, :, 3:7], others.q),
            np.where(moved, found[0, :, 7:10], others.v),
            np.where(moved, found[0, :, 10:], others.w),
        )

    def scaled(self, q: Array, share: float) -> Array:
        """Coordinates on the way from those at zero (share 0) to q (share 1)."""
        found = share * q
        for i, kind in enumerate(self.tree.kind):
            if kind in (NODE_BALL, NODE_FREE):
                k, end = int(self.tree.q_start[i]), int(self.tree.q_start[i + 1])
                found[k:end] = q[k:end]
                found[end - 4 : end] = exponential(share * logarithm(q[end - 4 : end]))
        return found

    def follow(self, state: State, q: Array) -> None:
        """Write coordinates of joints and twists of springs on the way from zero to q.

        Angles of joints outside of trees continue across whole turns.

        Writes  state.joint_q, twist; poses of bodies
        """
        rest = Placed(state.p_WB.copy(), state.q_WB.copy(), state.v_WB_W * 0.0, state.w_WB_W * 0.0)
        single = np.diff(self.tree.q_start) == 1
        turns = np.abs(q[self.tree.q_start[:-1][single]])
        steps = math.ceil(float(turns.max(initial=math.pi)) / FOLLOWED_TURN)
        state.joint_q[:], state.twist[:] = 0.0, 0.0
        for k in range(1, min(steps, MOST_POSES) + 1 if self.is_closed else 2):
            share = k / min(steps, MOST_POSES) if self.is_closed else 1.0
            place(state, self.bodies(self.scaled(q, share), np.zeros(self.nv), rest))
            motion = self.joint_motion(state)
            outside = (self.tree.inner == 0) & (self.model.joints.kind != BALL)
            state.joint_q[outside] = motion[outside, :, 0]
            self._follow_springs(state)
        for i, j in enumerate(self.tree.joint):
            if j >= 0 and self.tree.axis[i] >= 0 and self.tree.kind[i] != NODE_BALL:
                state.joint_q[j, self.tree.axis[i]] = q[self.tree.q_start[i]]

    def _follow_springs(self, state: State) -> None:
        from cardan.engine.bodies.forces import torsion_angle

        for f in np.flatnonzero(self.model.forces.kind == FORCE_TORSION):
            state.twist[f] = torsion_angle(self.model.forces, state, int(f))[1]

    # ------------------------------------------------------------------ bodies to coordinates

    @property
    def nv(self) -> int:
        """Generalised velocities."""
        return int(self.tree.v_start[-1])

    def joint_motion(self, state: State) -> Array:
        """(j, 3, 2): coordinates and velocities of all joints at the current poses."""
        found = np.zeros((len(self.model.joints.kind), 3, 2))
        write_coordinates(self.model.joints, state, self._scratch, found)
        return found

    def errors(self, state: State) -> Array:
        """(j, 2): by how much each joint is open at the current poses [m], [rad]."""
        found = np.zeros((len(self.model.joints.kind), 2))
        write_joint_errors(self.model.joints, state, found)
        return found

    def coordinates(self, tree: Tree, state: State) -> tuple[Array, Array]:
        """q and qd of a tree of this model at the current poses and velocities of its bodies."""
        q, qd = np.zeros(int(tree.q_start[-1])), np.zeros(int(tree.v_start[-1]))
        motion, leads_to = self.joint_motion(state), bodies_led_to(tree)
        for i, kind in enumerate(tree.kind):
            j, axis, body = int(tree.joint[i]), int(tree.axis[i]), leads_to[i]
            k, v = int(tree.q_start[i]), int(tree.v_start[i])
            if kind == NODE_FREE:
                back = inverse(state.q_WB[body])
                q[k : k + 7] = [*state.p_WB[body], *state.q_WB[body]]
                qd[v : v + 6] = [
                    *turn(back, state.w_WB_W[body]),
                    *turn(back, state.v_WB_W[body]),
                ]
            elif kind == NODE_BALL:
                known = self._known(j, body)
                placed = product(self._seen_from(tree, i, known, state), state.q_WB[body])
                q[k : k + 4] = product(inverse(tree.q_PB0[i]), placed)
                relative = state.w_WB_W[body] - state.w_WB_W[known]
                qd[v : v + 3] = turn(inverse(state.q_WB[body]), relative)
            elif v < tree.v_start[i + 1]:
                q[k], qd[v] = motion[j, axis] if axis >= 0 else self._suspension(j, state)
        return q, qd

    def _known(self, j: int, body: int) -> int:
        """The other body of joint j."""
        joints = self.model.joints
        other = joints.body_b[j] if joints.body_a[j] == body else joints.body_a[j]
        return int(other)

    def _seen_from(self, tree: Tree, i: int, known: int, state: State) -> Array:
        """Turns W into the axes in which node i is placed."""
        if tree.parent[i] >= 0:
            return inverse(state.q_WB[known])
        return np.array([1.0, 0.0, 0.0, 0.0])

    def _suspension(self, j: int, state: State) -> tuple[float, float]:
        """Way of a wheel along its first axis, and its rate [m], [m/s]."""
        joints = self.model.joints
        a, b = int(joints.body_a[j]), int(joints.body_b[j])
        s = turn(state.q_WB[a], joints.axis_A[j])
        arm_b = turn(state.q_WB[b], joints.anchor_B[j])
        arm_a = state.p_WB[b] + arm_b - state.p_WB[a]
        gap = arm_a - turn(state.q_WB[a], joints.anchor_A[j])
        slip = state.v_WB_W[b] + np.cross(state.w_WB_W[b], arm_b) - state.v_WB_W[a]
        rate = slip - np.cross(state.w_WB_W[a], arm_a)
        return float(s @ gap), float(s @ rate)


def place(state: State, placed: Placed) -> None:
    """Write poses and velocities of bodies."""
    state.p_WB[:], state.q_WB[:] = placed.p, placed.q
    state.v_WB_W[:], state.w_WB_W[:] = placed.v, placed.w
