"""Kinematics and dynamics of a scene's trees in joint coordinates, for arrays of states.

    arm = Dynamics(load_scene(document))
    tau = arm.inverse_dynamics(q, qd, qdd)      # (n, nq), (n, nv), (n, nv) -> (n, nv)

A single state may be given as a vector; results then have no first axis. SI, radians, W.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from cardan.engine.build.coordinates import coordinates_of
from cardan.engine.build.faults import QUATERNION_TOLERANCE, Faults, SceneError
from cardan.engine.build.initial import initials
from cardan.engine.build.placement import Placement
from cardan.engine.build.poses import Poses
from cardan.engine.build.rotations import turn
from cardan.engine.build.scene import build
from cardan.engine.build.tree import build_tree
from cardan.engine.trees import batches, subspaces
from cardan.engine.trees.arrays import tree_work
from cardan.engine.world.model import DYNAMIC
from cardan.engine.world.tree import NODE_BALL, NODE_FREE, TreeWork
from cardan.schemas import Fault, GivenScene, SceneInvalid, scene_of
from cardan.schemas.checks.names import unknown_name
from cardan.schemas.error import shown

Array = NDArray[np.float64]

ORIGIN = (0.0, 0.0, 0.0)


class StatesInvalid(SceneInvalid):
    """States do not fit the tree; `errors` locates the faults by pointers like /q/3/0."""


class Dynamics:
    """A scene's bodies as trees in joint coordinates.

    `coordinates` lists the motions in their order. The coordinate of a hinge or screw is an
    angle, of a slider a displacement: of the child relative to the parent, 0 at the poses of the
    scene. A ball has a quaternion, child relative to parent, with the relative angular velocity in
    the child's axes as rates. A free body has the position of its centre of mass in W and its
    quaternion, with its angular velocity and the velocity of the centre of mass, both in its own
    axes, as rates.

    Forces are those of the tree: gravity, inertia, tau. Contacts, drives, springs, damping and
    friction of the scene are not included. `outside` names joints that are equations in a
    simulation (they close a loop, couple joints, are elastic, may break or hold a kinematic body):
    with any of them inverse and forward dynamics raise SceneError, since the tree alone does not
    determine them.
    """

    def __init__(self, scene: GivenScene) -> None:
        """Build the tree of a scene, loaded or a document; raises SceneInvalid or SceneError."""
        built = build(scene := scene_of(scene))
        model = built.model
        self.body_names, self.joint_names = built.body_names, built.joint_names
        start = Poses(built.zero.p.copy(), built.zero.q.copy())
        tree, q = build_tree(model.bodies, model.joints, start, lone=True)
        if initials(scene):
            q = Placement(model, start).coordinates(tree, built.state)[0]
        if not len(q):
            faults = Faults()
            faults.add("/bodies", "nothing_moves", "No body of the scene can move.")
            faults.raise_if_any()
        self.tree, self.start = tree, q
        self.outside = tuple(
            name for name, inner in zip(self.joint_names, tree.inner, strict=True) if not inner
        )
        self.coordinates = coordinates_of(tree, self.joint_names, self.body_names)
        self.gravity = scene.gravity
        joints = model.joints
        self._ends = np.stack([joints.body_a, joints.body_b], axis=1)
        self._com_B = model.bodies.com_B
        self._moving = model.bodies.kind[: len(self.body_names)] == DYNAMIC
        self._rest = start
        self._work = tree_work(tree)
        self._dense: TreeWork | None = None
        balls = np.isin(tree.kind, (NODE_BALL, NODE_FREE))
        self._quaternions = tree.q_start[1:][balls] - 4

    @property
    def nq(self) -> int:
        """Coordinates of a state."""
        return len(self.start)

    @property
    def nv(self) -> int:
        """Rates of a state."""
        return int(self.tree.v_start[-1])

    # ------------------------------------------------------------------ algorithms

    def inverse_dynamics(self, q: Any, qd: Any = None, qdd: Any = None) -> Array:
        """Forces tau (n, nv) of the rates [N, N m] that give the accelerations qdd."""
        self._refuse_outside()
        (q, qd, qdd), one = self._take(q, qd=qd, qdd=qdd)
        tau = np.zeros((len(q), self.nv))
        batches.inverse_dynamics_of_states(self.tree, q, qd, qdd, self.gravity, self._work, tau)
        return tau[0] if one else tau

    def bias_forces(self, q: Any, qd: Any = None) -> Array:
        """Forces (n, nv) that keep all rates constant: gravity, centrifugal and Coriolis terms."""
        return self.inverse_dynamics(q, qd)

    def forward_dynamics(self, q: Any, qd: Any = None, tau: Any = None) -> Array:
        """Accelerations qdd (n, nv) under the forces tau of the rates."""
        self._refuse_outside()
        (q, qd, tau), one = self._take(q, qd=qd, tau=tau)
        qdd, wrench = np.zeros((len(q), self.nv)), np.zeros((len(self.tree.kind), 6))
        batches.forward_dynamics_of_states(
            self.tree, q, qd, tau, wrench, self.gravity, self._work, qdd
        )
        return qdd[0] if one else qdd

    def mass_matrix(self, q: Any) -> Array:
        """Mass matrix H (n, nv, nv): kinetic energy is qd . H qd/2."""
        (q,), one = self._take(q)
        H = np.zeros((len(q), self.nv, self.nv))
        self._dense = self._dense or tree_work(self.tree, dense=True)
        batches.mass_matrices(self.tree, q, self._dense, H)
        return H[0] if one else H

    def jacobian(self, q: Any, body: str, point: Any = ORIGIN) -> Array:
        """J (n, 6, nv): angular velocity of a body, then velocity of a point of it, from qd.

        The point is fixed in the body, from its origin, in its axes [m].
        """
        (q,), one = self._take(q)
        J = np.zeros((len(q), 6, self.nv))
        node, point_B = self._place(body, point)
        if node >= 0:
            batches.jacobians(self.tree, q, node, point_B, self._work, J)
        return J[0] if one else J

    def jacobian_rate(self, q: Any, qd: Any, body: str, point: Any = ORIGIN) -> Array:
        """dJ/dt (n, 6, nv) at rates qd."""
        (q, qd), one = self._take(q, qd=qd)
        rate = np.zeros((len(q), 6, self.nv))
        node, point_B = self._place(body, point)
        if node >= 0:
            batches.jacobian_rates(self.tree, q, qd, node, point_B, self._work, rate)
        return rate[0] if one else rate

    def joint_subspaces(self, q: Any, joint: str) -> tuple[Array, Array]:
        """S (n, 6, d) and T (n, 6, 6 - d) of a joint, at the origin of its child, in W.

        S: motions of the child against the parent for each rate of the joint, in the order of
        `coordinates`. T: forces on the child that do no work along them; its columns are
        orthonormal.
        """
        if joint not in self.joint_names:
            raise StatesInvalid([unknown_name("joint", ["joint"], joint, list(self.joint_names))])
        number = self.joint_names.index(joint)
        parent, child = (self.body_names[k] if k < len(self.body_names) else None
                         for k in self._ends[number])  # fmt: skip
        (q,), one = self._take(q)
        spans = [(c.v[0], c.v[1]) for c in self.coordinates if c.joint == joint]
        columns = np.array([k for a, b in spans for k in range(a, b)], np.int64)
        S = np.zeros((len(q), 6, len(columns)))
        where = self.kinematics(q)["position"]
        for name, sign in ((child, 1.0), (parent, -1.0)):
            if name is not None:
                at = where[:, self.body_names.index(name)]
                arm = (where[:, self.body_names.index(child)] if child else 0.0 * at) - at
                S += sign * subspaces.moved_to(self.jacobian(q, name)[:, :, columns], arm)
        T = subspaces.constraint_subspace(S)
        return (S[0], T[0]) if one else (S, T)

    def apparent_inverse_inertia(self, q: Any, body: str, point: Any = ORIGIN) -> Array:
        """Phi (n, 6, 6): acceleration of a body per force on it, in its tree.

        a = Phi f + `bias_acceleration`: f is moment and force at the point, W; a as `jacobian`.
        """
        self._refuse_outside()
        (q,), one = self._take(q)
        J = self.jacobian(q, body, point)
        phi = subspaces.apparent_inverse_inertia(self.mass_matrix(q), J)
        return phi[0] if one else phi

    def bias_acceleration(
        self, q: Any, qd: Any, body: str, point: Any = ORIGIN, tau: Any = None
    ) -> Array:
        """b (n, 6): angular acceleration of a body and acceleration of its point without f."""
        qdd = np.atleast_2d(self.forward_dynamics(q, qd, tau))
        (q, qd), one = self._take(q, qd=qd)
        J, rate = self.jacobian(q, body, point), self.jacobian_rate(q, qd, body, point)
        b = np.einsum("nij,nj->ni", J, qdd) + np.einsum("nij,nj->ni", rate, qd)
        return b[0] if one else b

    def kinematics(self, q: Any, qd: Any = None) -> dict[str, Array]:
        """Poses and velocities of all bodies of the scene.

        `position` (n, bodies, 3) and `velocity` of the origins, `orientation` (n, bodies, 4) and
        `angular_velocity`; bodies that are not dynamic keep the poses of the scene.
        """
        (q, qd), one = self._take(q, qd=qd)
        found = np.zeros((len(q), len(self.body_names), 13))
        for b in np.flatnonzero(~self._moving):
            found[:, b, :3] = self._rest.p[b] - turn(self._rest.q[b], self._com_B[b])
            found[:, b, 3:7] = self._rest.q[b]
        batches.kinematics_of_states(self.tree, q, qd, self._com_B, self._work, found)
        found = found[0] if one else found
        return {
            "position": found[..., :3],
            "orientation": found[..., 3:7],
            "velocity": found[..., 7:10],
            "angular_velocity": found[..., 10:],
        }

    def energy(self, q: Any, qd: Any = None) -> dict[str, Array]:
        """`kinetic` and `potential` (n,) [J]; the potential is zero at the origin of W."""
        sums = self._sums(q, qd)
        return {"kinetic": sums[..., 0], "potential": sums[..., 1]}

    def momentum(self, q: Any, qd: Any = None) -> dict[str, Array]:
        """`linear` [N s] and `angular` about the origin of W [N m s], both (n, 3)."""
        sums = self._sums(q, qd)
        return {"linear": sums[..., 2:5], "angular": sums[..., 5:]}

    def _sums(self, q: Any, qd: Any) -> Array:
        (q, qd), one = self._take(q, qd=qd)
        found = np.zeros((len(q), 8))
        batches.sums_of_states(self.tree, q, qd, self.gravity, self._work, found)
        return found[0] if one else found

    # ------------------------------------------------------------------ what is given

    def _refuse_outside(self) -> None:
        """Raise SceneError when joints besides the tree carry forces."""
        if self.outside:
            raise SceneError(
                [
                    Fault(
                        pointer=f"/joints/{self.joint_names.index(name)}",
                        code="outside_tree",
                        message=f"The joint '{name}' is not part of the tree (it closes a loop, "
                        "couples joints, is elastic, may break or holds a kinematic body), so that "
                        "joint forces and accelerations do not follow from the tree alone.",
                        hint="Leave it out, or simulate the scene.",
                    )
                    for name in self.outside
                ]
            )

    def _place(self, body: str, point: Any) -> tuple[int, tuple[float, float, float]]:
        """Node of a body (-1: fixed) and a point relative to the node's origin."""
        if body not in self.body_names:
            raise StatesInvalid([unknown_name("body", ["body"], body, list(self.body_names))])
        at = np.asarray(point, float)
        if at.shape != (3,) or not np.isfinite(at).all():
            message = "A point is three finite numbers."
            raise StatesInvalid([Fault(pointer="/point", code="wrong_shape", message=message)])
        number = self.body_names.index(body)
        x, y, z = (float(c) for c in at - self._com_B[number])
        return int(self.tree.node[number]), (x, y, z)

    def _take(self, q: Any, **rates: Any) -> tuple[list[Array], bool]:
        """Arrays (n, ...) of their own, rates that are None as zeros; whether one state was given.

        Raises StatesInvalid with every fault.
        """
        faults: list[Fault] = []
        coordinates = self._rows("q", q, self.nq, faults)
        n = len(coordinates)
        found = [coordinates]
        for name, given in rates.items():
            rows = (
                np.zeros((n, self.nv))
                if given is None
                else self._rows(name, given, self.nv, faults)
            )
            if len(rows) not in (1, n):
                message = f"{name} has {len(rows)} states, q has {n}."
                faults.append(
                    Fault(pointer=f"/{name}", code="wrong_shape", message=message, got=len(rows))
                )
                continue
            # a copy: broadcast arrays are read-only, which is another type to kernels
            found.append(np.array(np.broadcast_to(rows, (n, self.nv)), order="C"))
        if not faults:
            self._normalise(coordinates, faults)
        if faults:
            raise StatesInvalid(faults)
        return found, np.ndim(q) == 1

    def _rows(self, name: str, given: Any, width: int, faults: list[Fault]) -> Array:
        """(n, width) finite numbers, a copy."""
        try:
            rows = np.atleast_2d(np.array(given, float))
        except (TypeError, ValueError):
            rows = np.zeros(0)
        if rows.ndim != 2 or rows.shape[1] != width:
            faults.append(_wrong_shape(name, given, width))
            return np.zeros((1, width))
        for s, k in np.argwhere(~np.isfinite(rows))[:10]:
            message = f"{name} must be finite."
            faults.append(Fault(pointer=f"/{name}/{s}/{k}", code="not_finite", message=message))
        return rows

    def _normalise(self, q: Array, faults: list[Fault]) -> None:
        """Quaternions to unit length; those far from it are faults."""
        for k in self._quaternions:
            length = np.linalg.norm(q[:, k : k + 4], axis=1)
            for s in np.flatnonzero(np.abs(length - 1.0) > QUATERNION_TOLERANCE)[:10]:
                message = (
                    f"The quaternion [w, x, y, z] has length {length[s]:.6g}; 1 within "
                    f"{QUATERNION_TOLERANCE} is needed."
                )
                faults.append(Fault(pointer=f"/q/{s}/{k}", code="not_normalised", message=message))
            q[:, k : k + 4] /= np.where(length > 0.0, length, 1.0)[:, None]


def _wrong_shape(name: str, given: Any, width: int) -> Fault:
    """The fault of what is no states of so many numbers: of the first row that has others."""
    numbers = "1 number" if width == 1 else f"{width} numbers"
    pointer, found = f"/{name}", shown(given.tolist() if isinstance(given, np.ndarray) else given)
    if isinstance(given, Sequence | np.ndarray) and np.ndim(given[0] if len(given) else 0) == 1:
        wrong = next((s for s, row in enumerate(given) if np.shape(row) != (width,)), 0)
        pointer, found = f"/{name}/{wrong}", len(given[wrong])
        message = f"A state has {numbers} of {name}; this has {found}."
    else:
        message = f"{name} must be states of {numbers} each; found {found}."
    return Fault(pointer=pointer, code="wrong_shape", message=message, got=found)
