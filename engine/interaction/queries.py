"""Queries of a simulation: poses, velocities, contact events, ray casts and distances."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from cardan.engine.build.events import event_arrays
from cardan.engine.build.rotations import turn_all
from cardan.engine.build.threads import contact_arrays
from cardan.engine.collision.queries.between_steps import cast_rays, closest_shapes
from cardan.engine.world.collision import MAX_GROUPS, CollisionScratch
from cardan.engine.world.events import (
    EVENT_BODY_A,
    EVENT_BODY_B,
    EVENT_JOINT,
    EVENT_KIND,
    EVENT_SHAPE_A,
    EVENT_SHAPE_B,
    EVENT_STEP,
    Events,
)
from cardan.engine.world.model import Model
from cardan.engine.world.state import State
from cardan.engine.world.workspace import Workspace

Array = NDArray[np.float64]

POINT_FIELDS = ("px", "py", "pz", "nx", "ny", "nz")
EVENT_KINDS = ("begin", "end", "break", "trigger", "appear", "vanish")
EVENT_DTYPE = np.dtype(
    [("time", np.float64), ("step", np.int64)]
    + [(name, np.int32) for name in ("kind", "body_a", "body_b", "shape_a", "shape_b")]
    + [(name, np.int32) for name in ("joint", "trigger")]
    + [(name, np.float64) for name in (*POINT_FIELDS, "approach_speed")]
)
HIT_DTYPE = np.dtype(
    [(name, np.int32) for name in ("ray", "body", "shape")]
    + [(name, np.float64) for name in ("distance", *POINT_FIELDS)]
)
ALL_GROUPS = 2**32 - 1
# capacity for contact events per contact; a step needs at most 10
EVENT_ROOM = 20


def rows_of_three(value: Any, what: str) -> Array:
    """(n, 3) finite numbers; one vector becomes one row. Raises ValueError that names them."""
    array = np.atleast_2d(np.asarray(value, dtype=float))
    if array.ndim != 2 or array.shape[1] != 3 or not np.isfinite(array).all():
        raise ValueError(f"{what} must be three finite numbers each, not {value!r}")
    return array


class Queries:
    """Queries of a simulation between two steps; none changes its further course."""

    model: Model
    state: State
    work: Workspace
    collision: CollisionScratch
    body_names: tuple[str, ...]
    _body_index: dict[str, int]
    _body: Callable[[str], int]
    _events: Events
    _event_parts: list[NDArray[np.void]]

    def _shape_in_body(self, shape: NDArray[np.int64]) -> NDArray[np.int64]:
        """Number of each shape within its body of the scene; pieces of a mesh have the mesh's."""
        return self.model.shapes.number[shape]

    # ------------------------------------------------------------------ motion

    def poses(self) -> Array:
        """(n_bodies, 7): origin px py pz [m], orientation qw qx qy qz."""
        n = len(self.body_names)
        out = np.empty((n, 7))
        out[:, :3] = self.state.p_WB[:n]
        out[:, 3:] = self.state.q_WB[:n]
        out[:, :3] -= turn_all(out[:, 3:], self.model.bodies.com_B[:n])
        return out

    def velocities(self) -> Array:
        """(n_bodies, 6): of the origin vx vy vz [m/s], wx wy wz [rad/s]."""
        n = len(self.body_names)
        out = np.concatenate([self.state.v_WB_W[:n], self.state.w_WB_W[:n]], axis=1)
        out[:, :3] -= np.cross(
            out[:, 3:], turn_all(self.state.q_WB[:n], self.model.bodies.com_B[:n])
        )
        return out

    def asleep(self) -> NDArray[np.bool_]:
        """(n_bodies,): which bodies sleep; none unless the scene enables sleeping."""
        sleeping: NDArray[np.bool_] = self.state.asleep_with[: len(self.body_names)] >= 0
        return sleeping

    # ------------------------------------------------------------------ events

    def watch_events(self, on: bool = True) -> None:
        """Start or stop collecting events; collected events are kept.

        They accumulate until `events` returns them. Pairs already touching have no begin event.
        """
        self._take_events()
        room = EVENT_ROOM * len(self.work.contacts.gap) + len(self.model.joints.kind)
        self._events = event_arrays(room if on else 0)

    def _take_events(self) -> None:
        """Move the events of the last steps to `_event_parts`."""
        n = int(self._events.count[0])
        if n == 0:
            return
        who, where = self._events.who[:n], self._events.where[:n]
        table = np.zeros(n, EVENT_DTYPE)
        table["step"], table["kind"] = who[:, EVENT_STEP], who[:, EVENT_KIND]
        table["body_a"], table["body_b"] = who[:, EVENT_BODY_A], who[:, EVENT_BODY_B]
        touch = who[:, EVENT_JOINT] < 0
        for name, column in (("shape_a", EVENT_SHAPE_A), ("shape_b", EVENT_SHAPE_B)):
            table[name] = -1
            table[name][touch] = self._shape_in_body(who[touch, column])
        table["joint"], table["trigger"] = who[:, EVENT_JOINT], -1
        for k, name in enumerate(("time", *POINT_FIELDS, "approach_speed")):
            table[name] = where[:, k]
        self._event_parts.append(table)
        self._events.count[0] = 0

    def _note_event(self, kind: str, **fields: Any) -> None:
        """Add an event between two steps, if events are collected; what is not given is -1."""
        if len(self._events.who) == 0:
            return
        self._take_events()
        table = np.zeros(1, EVENT_DTYPE)
        for name in ("body_a", "body_b", "shape_a", "shape_b", "joint", "trigger"):
            table[name] = -1
        for name in POINT_FIELDS:
            table[name] = math.nan
        table["kind"], table["step"] = EVENT_KINDS.index(kind), self.state.step[0]
        table["time"] = self.state.time[0]
        for name, value in fields.items():
            table[name] = value
        self._event_parts.append(table)

    def events(self) -> NDArray[np.void]:
        """Events since the last call (dtype EVENT_DTYPE), in order; see `watch_events`.

        A pair of shapes touches in a step when its surfaces meet or a force acts between them.
        kind 0: begin, with the approach speed [m/s] of the surfaces; kind 1: end, at the last
        contact point. Time is the middle of the step; shapes are
        numbered within their bodies.
        kind 2: a joint broke, at the end of the step; body_a is its parent, body_b its child (the
        number of bodies means the world), the point its anchor, the normal the direction of the
        force on the child (not a number: a command ended it). `joint` is -1 elsewhere; shapes are
        -1, the speed is 0 here.
        kind 3: a trigger fired, at the end of the step; `trigger` is its number, -1 elsewhere.
        Bodies and shapes are -1, point and normal not a number, the speed is 0 here.
        kind 4: body_a appeared, kind 5: it vanished, between two steps; the point is where its
        centre of mass appears. All else as of a trigger, which is -1.
        """
        self._take_events()
        parts, self._event_parts = self._event_parts, []
        return np.concatenate(parts) if parts else np.zeros(0, EVENT_DTYPE)

    def forget_events(self, step: int) -> None:
        """Drop the collected events of this step and of those before it."""
        self._take_events()
        self._event_parts = [part[part["step"] > step] for part in self._event_parts]

    # ------------------------------------------------------------------ rays

    def raycast(
        self,
        origins: Any,
        directions: Any,
        max_distance: Any = math.inf,
        mask: int = ALL_GROUPS,
        every: bool = False,
    ) -> NDArray[np.void]:
        """Hits of rays (dtype HIT_DTYPE): for each ray the nearest shape, or all shapes.

        Origins [m] and directions (of any length) are one vector or (n, 3), in W, the largest
        distance one number or (n,); rows ascend by ray, then by distance [m]. `mask` keeps shapes
        whose collision group shares a bit with it. A ray that starts inside of a shape hits it at
        distance 0, against its own direction.
        Raises ValueError for a direction without length.
        """
        o, d = np.broadcast_arrays(
            rows_of_three(origins, "origin"), rows_of_three(directions, "direction")
        )
        far = np.broadcast_to(np.asarray(max_distance, dtype=float), len(o))
        # scale by the largest component first: squares of tiny or huge numbers under- or overflow
        most = np.abs(d).max(axis=1, keepdims=True)
        if (most <= 0.0).any():
            raise ValueError("a direction has length zero; a vector that is not zero is needed")
        if not (far >= 0.0).all():
            raise ValueError(f"max_distance must not be negative, not {max_distance!r}")
        unit = d / most
        unit /= np.linalg.norm(unit, axis=1, keepdims=True)
        rays = np.concatenate([o, unit, far[:, None]], axis=1)
        n = len(rays)
        who, where = self._cast(rays, int(mask), every, n)
        if len(who) > n:
            who, where = self._cast(rays, int(mask), every, len(who))
        table = np.zeros(len(who), HIT_DTYPE)
        table["ray"], table["body"] = who[:, 0], self.model.shapes.body[who[:, 1]]
        table["shape"] = self._shape_in_body(who[:, 1])
        for k, name in enumerate(("distance", *POINT_FIELDS)):
            table[name] = where[:, k]
        return table[np.lexsort((who[:, 1], where[:, 0], who[:, 0]))]

    def _cast(
        self, rays: Array, mask: int, every: bool, room: int
    ) -> tuple[NDArray[np.int64], Array]:
        """Arrays with one entry per hit; only the first `room` entries are written."""
        who, where = np.zeros((room, 2), np.int64), np.zeros((room, 7))
        found = cast_rays(self.model, self.state, self.collision, rays, mask, every, who, where)
        if found > room:
            return np.zeros((found, 2), np.int64), np.zeros((found, 7))
        return who[:found], where[:found]

    # ------------------------------------------------------------------ distances

    def closest_points(self, body_a: str, body_b: str) -> dict[str, Any]:
        """Distance between two bodies: closest points of their nearest pair of shapes.

        `distance` [m] is negative where they overlap (then the depth of that pair of shapes),
        `point_a`, `point_b` [m] lie on the surfaces, `normal` points from a to b; all in W.
        Raises ValueError when there is no such pair: a body without shapes, two planes, a body
        that is absent.
        """
        a, b = self._body(body_a), self._body(body_b)
        if a == b:
            raise ValueError("a body has no distance to itself")
        for i, name in ((a, body_a), (b, body_b)):
            if self.state.present[i] == 0:
                raise ValueError(f"'{name}' is absent")
        who, where = np.zeros(2, np.int64), np.zeros((3, 3))
        room = contact_arrays(4 * MAX_GROUPS)
        if not closest_shapes(self.model, self.state, self.collision, room, (a, b), who, where):
            raise ValueError(
                f"'{body_a}' and '{body_b}' have no two shapes with a distance: "
                "both need shapes, and one of them neither a plane nor a fixed mesh"
            )
        shape_a, shape_b = self._shape_in_body(who)
        return {
            "distance": float((where[1] - where[0]) @ where[2]),
            "point_a": where[0].copy(),
            "point_b": where[1].copy(),
            "normal": where[2].copy(),
            "shape_a": int(shape_a),
            "shape_b": int(shape_b),
        }
