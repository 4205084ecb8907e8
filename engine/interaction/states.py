"""States in generalised coordinates: reading them from a simulation, and setting them."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from cardan.engine.accounting.commanded import forget_drives
from cardan.engine.accounting.energy import momenta, moving_energy, potential_energy
from cardan.engine.accounting.stretches import forget_stretches
from cardan.engine.build.coordinates import Coordinate, coordinates_of
from cardan.engine.build.faults import QUATERNION_TOLERANCE, GivenInvalid
from cardan.engine.build.faults import found as in_words
from cardan.engine.build.initial import open_joints
from cardan.engine.build.placement import Placed, Placement, place
from cardan.engine.build.poses import Poses
from cardan.engine.build.rewrite import clear_run, forget_contacts
from cardan.engine.build.world import copied, no_controls
from cardan.engine.constraints.joints.coordinates import n_coordinates
from cardan.engine.errors import Failure
from cardan.engine.outputs.sampler import Sampler, no_sampler
from cardan.engine.world.collision import CollisionScratch
from cardan.engine.world.model import Model
from cardan.engine.world.report import Report
from cardan.engine.world.state import LEDGER_WORK_IN, State
from cardan.engine.world.workspace import Workspace
from cardan.engine.world.world import Controls

Array = NDArray[np.float64]
# a vector of all coordinates, or values by the names of joints
Values = Mapping[str, Any] | Any
# "q" or "qd", the number of a joint outside of the trees, and what it is said to have there
Claim = tuple[str, int, Array]

# by rounding alone the length of a quaternion that was divided by its length differs from 1 by this
ROUNDED_LENGTH = 4e-16


class JointState(NamedTuple):
    """Generalised coordinates and velocities of all trees, in the order of `coordinates`."""

    q: Array  # (nq,) m, rad or -
    qd: Array  # (nv,) m/s or rad/s


def of_unit_length(quaternions: Array, length: Any) -> Array:
    """(..., 4): divided by their length (...,), once: the second time no bit changes."""
    divided: Array = quaternions / np.expand_dims(length, -1)
    is_unit = np.abs(np.expand_dims(length, -1) - 1.0) <= ROUNDED_LENGTH
    return np.where(is_unit, quaternions, divided)


def copy_state(source: Any, target: Any) -> None:
    """Overwrite a state of the same shapes; contact caches of the target may have more room."""
    for one, other in zip(source, target, strict=True):
        if isinstance(one, tuple):
            copy_state(one, other)
        else:
            other[: len(one)] = one


class States:
    """States of a simulation by the coordinates of its trees, in both formulations.

    A hinge or screw has an angle, a slider a displacement: of the child relative to the parent, 0
    at the poses of the scene. In vectors a ball has a quaternion and a free body its pose, as in
    `Dynamics`; by name a ball has the rotation vector of `joints[].initial`.
    """

    model: Model
    state: State
    work: Workspace
    body_names: tuple[str, ...]
    joint_names: tuple[str, ...]
    scene: Any
    report: Report
    collision: CollisionScratch
    failure: Failure | None
    sampler: Sampler
    _controls: Controls
    restart: Callable[[Any], bool]
    _joint_index: dict[str, int]
    _forget_readings: Callable[[], None]
    leave_scene: Callable[[], None]
    begin_trail: Callable[[], None]
    _zero: Poses
    _events: Any
    _event_parts: list[NDArray[np.void]]
    _placement: Placement | None = None
    _first: State | None = None

    @property
    def placement(self) -> Placement:
        """The trees of the scene."""
        if self._placement is None:
            self._placement = Placement(self.model, self._zero)
        return self._placement

    @property
    def coordinates(self) -> tuple[Coordinate, ...]:
        """The motions of the trees, in the order of q and qd."""
        return coordinates_of(self.placement.tree, self.joint_names, self.body_names)

    def joint_state(self) -> JointState:
        """Coordinates and velocities now; those of joints that are open are those of their axes."""
        return JointState(*self.placement.coordinates(self.placement.tree, self.state))

    def set_state(self, q: Values = None, qd: Values = None) -> None:
        """Put the bodies at coordinates q with velocities qd; what is not given stays.

        q, qd: vectors in the order of `coordinates`, or mappings from names of joints to values: a
        number, or as many as the joint has coordinates. Time stays, and so do bodies that are
        absent; impulses and contacts of the last step are forgotten; changes of energy and
        momentum are booked as external.

        Raises ValueError, and changes nothing, for values that do not fit, for loops that do not
        close (it names the joint), and after a joint of a tree broke.
        """
        placement = self.placement
        broken = np.flatnonzero(np.isfinite(self.state.broken[:, 0]) & (placement.tree.inner == 1))
        if len(broken):
            name = self.joint_names[broken[0]]
            raise ValueError(f"joint '{name}' broke: its coordinates are no state; reset first")
        old = self.joint_state()
        claims: list[Claim] = []
        new_q = self._coordinates_from(q, old.q, claims)
        new_qd = self._velocities_from(qd, old.qd, new_q, claims)
        before = self._kept_motion()
        energy, momentum = self._books()
        self._write(new_q, new_qd)
        tolerance = self.scene.simulation.anchor_tolerance
        opened = open_joints(placement, self.state, tolerance, self.joint_names)
        place: tuple[str, ...] = () if q is None else ("q",)
        refusals = [GivenInvalid(place, sentence) for _, sentence in opened] + self._missed(claims)
        if refusals:
            for array, kept in zip(self._motion_arrays(), before, strict=True):
                array[...] = kept
            raise refusals[0]
        self._forget_the_past()
        now, momentum_now = self._books()
        self.state.ledger[LEDGER_WORK_IN] += now - energy
        self.state.momentum_in[:] += momentum_now - momentum

    def reset(self, q: Values = None, qd: Values = None) -> None:
        """Go back to the start of the scene, then to q and qd if they are given.

        Raises ValueError as `set_state`; the simulation is then at its start.
        """
        if self._first is None:
            self.restart(self.scene)
            self._first = copied(self.state)
        else:
            copy_state(self._first, self.state)
            clear_run(self.report, self.work, self.collision)
            self.failure = None
            self.sampler, self._controls = no_sampler(), no_controls()
            self._events.count[0] = 0
            self._event_parts = []
            self._forget_readings()
            self.begin_trail()
        if q is not None or qd is not None:
            self.set_state(q, qd)

    # ------------------------------------------------------------------ what is given

    def _missed(self, claims: list[Claim]) -> list[GivenInvalid]:
        """Joints outside of trees whose coordinates or velocities are not those that were given."""
        motion, found = self.placement.joint_motion(self.state), []
        for what, j, numbers in claims:
            reached = motion[j, : len(numbers), ("q", "qd").index(what)]
            if np.abs(reached - numbers).max() > self.scene.simulation.anchor_tolerance:
                name, comes = self.joint_names[j], "comes to" if what == "q" else "moves at"
                message = (
                    f"joint '{name}' closes a loop or holds a moving body: with the others it "
                    f"{comes} {reached.tolist()}, not {numbers.tolist()}"
                )
                found.append(GivenInvalid((what, name), message))
        return found

    def _coordinates_from(self, given: Values, old: Array, claims: list[Claim]) -> Array:
        if given is None:
            return old
        if not isinstance(given, Mapping):
            found = _vector(given, len(old), "q")
            for motion in self.coordinates:
                if motion.motion in ("ball", "free"):
                    end = motion.q[1]
                    length = float(np.linalg.norm(found[end - 4 : end]))
                    if abs(length - 1.0) > QUATERNION_TOLERANCE:
                        raise ValueError(
                            f"the quaternion q[{end - 4}:{end}] has length {length:.6g}; 1 within "
                            f"{QUATERNION_TOLERANCE} is needed"
                        )
                    found[end - 4 : end] = of_unit_length(found[end - 4 : end], length)
            return found
        found = old.copy()
        for name, values in given.items():
            j, numbers = self._named(name, values, "q")
            if j in self.placement.nodes:
                self.placement.put(found, j, numbers)
            else:
                claims.append(("q", j, numbers))
        return found

    def _velocities_from(self, given: Values, old: Array, q: Array, claims: list[Claim]) -> Array:
        if given is None:
            return old
        if not isinstance(given, Mapping):
            return _vector(given, len(old), "qd")
        found = old.copy()
        for name, values in given.items():
            j, numbers = self._named(name, values, "qd")
            if j in self.placement.nodes:
                self.placement.put_velocity(found, q, j, numbers)
            else:
                claims.append(("qd", j, numbers))
        return found

    def _named(self, name: str, values: Any, what: str) -> tuple[int, Array]:
        """Number of a joint and its values. Raises ValueError."""
        if name not in self._joint_index:
            raise GivenInvalid((what, name), f"there is no joint '{name}'")
        j = self._joint_index[name]
        count = int(n_coordinates(int(self.model.joints.kind[j])))
        if count == 0:
            message = f"joint '{name}' is rigid: it has no coordinates"
            raise GivenInvalid((what, name), message, values)
        try:
            return j, _vector(values, count, f"the {what} of joint '{name}'")
        except ValueError as error:
            raise GivenInvalid((what, name), str(error), values) from error

    # ------------------------------------------------------------------ writing

    def _write(self, q: Array, qd: Array) -> None:
        """Poses and velocities of bodies, coordinates of joints and of the trees of the model."""
        self.leave_scene()
        state, placement = self.state, self.placement
        others = Placed(
            state.p_WB.copy(), state.q_WB.copy(), state.v_WB_W.copy(), state.w_WB_W.copy()
        )
        placement.follow(state, q)
        place(state, placement.bodies(q, qd, others))
        gone = state.present == 0
        state.p_WB[gone], state.q_WB[gone] = others.p[gone], others.q[gone]
        state.v_WB_W[gone], state.w_WB_W[gone] = 0.0, 0.0
        if len(state.tree_q):
            state.tree_q[:], state.tree_qd[:] = placement.coordinates(self.model.tree, state)

    def _turn_rotors(self) -> None:
        """Give rotors the rates of their joints at the start, which the first step computes again.

        What is recorded before that step has their energy, too.
        """
        state, tree = self.state, self.model.tree
        if tree.armature.any() and (state.v_WB_W.any() or state.w_WB_W.any()):
            state.tree_qd[:] = self.placement.coordinates(tree, state)[1]

    def _forget_the_past(self) -> None:
        """Forget what the next step would take from the last one; nothing sleeps."""
        state = self.state
        forget_contacts(state)
        forget_drives(self.model, state)
        forget_stretches(self.model, state)
        state.joint_lam[:], state.elastic[:] = 0.0, 0.0
        state.tree_bias_acceleration[:] = 0.0
        state.L_conserved[:], state.w_drifted[:], state.link_inertia[:] = 0.0, 0.0, 0.0
        state.still_steps[:], state.asleep_with[:], state.woken[:] = 0, -1, 0
        state.velocities_changed[0] = 1
        self.work.contacts.count[0] = 0
        self.work.rows.count[:] = 0
        self._forget_readings()

    def _motion_arrays(self) -> tuple[NDArray[Any], ...]:
        s = self.state
        return (
            s.p_WB, s.q_WB, s.v_WB_W, s.w_WB_W, s.joint_q, s.twist, s.tree_q, s.tree_qd
        )  # fmt: skip

    def _kept_motion(self) -> tuple[NDArray[Any], ...]:
        return tuple(array.copy() for array in self._motion_arrays())

    def _books(self) -> tuple[float, Array]:
        """Energy [J] and momenta (6,) now."""
        model, state = self.model, self.state
        energy = float(moving_energy(model, state) + potential_energy(model, state))
        linear, angular = momenta(model.bodies, state)
        return energy, np.array([*linear, *angular])


def _vector(given: Any, length: int, what: str) -> Array:
    """So many finite numbers, a copy. Raises ValueError that names them."""
    try:
        found = np.atleast_1d(np.array(given, float))
    except (TypeError, ValueError):
        found = np.zeros(0)
    if found.shape != (length,) or not np.isfinite(found).all():
        numbers = "1 finite number" if length == 1 else f"{length} finite numbers"
        found_words = in_words(given.tolist() if isinstance(given, np.ndarray) else given)
        raise ValueError(f"{what} must be {numbers}, not {found_words}")
    return found
