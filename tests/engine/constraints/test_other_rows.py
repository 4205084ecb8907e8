"""J v = dC/dt of the rows that no joint equation writes: stops, springs, the hand, contacts."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from cardan.engine.bodies.forces import elongation
from cardan.engine.constraints.contacts import write_contacts
from cardan.engine.constraints.force_elements import write_elements, write_line
from cardan.engine.constraints.grab import write_grab
from cardan.engine.constraints.joints.coordinates import coordinate, n_coordinates
from cardan.engine.constraints.joints.frames import joint_frame
from cardan.engine.constraints.limits import write_limits
from cardan.engine.constraints.row import row_speed
from cardan.engine.constraints.write_rows import write_rows
from cardan.engine.simulation import Simulation
from cardan.engine.world.rows import ROW_LIMIT, ROW_NORMAL
from cardan.engine.world.state import State
from tests.engine.constraints.test_rows import AXIS, at
from tests.engine.scenes import Document, brick, document, ground, simulate

pytestmark = pytest.mark.law

D = 1e-6
POINT = [0.3, 0.1, 0.2]
STOPS = {"limits": {"lower": -9, "upper": 9}}
STOPS2 = {**STOPS, "limits2": {"lower": -9, "upper": 9}}
STOPPED: dict[str, dict[str, Any]] = {
    "hinge": {"anchor": POINT, "axis": AXIS, **STOPS},
    "slider": {"anchor": POINT, "axis": AXIS, **STOPS},
    "cylindrical": {"anchor": POINT, "axis": AXIS, **STOPS2},
    "universal": {"anchor": POINT, "axis": [0, 0, 1], "axis2": [1, 0, 0], **STOPS2},
    "planar": {"anchor": POINT, "axis": AXIS, **STOPS2, "limits3": {"lower": -9, "upper": 9}},
    "screw": {"anchor": POINT, "axis": AXIS, "pitch": 0.7, **STOPS},
    "distance": {"anchor": POINT, "anchor2": [0.9, -0.3, 0.4], **STOPS},
}


def tumbling(scene: Any, seed: int) -> Simulation:
    """Its first two bodies with random velocities that stay constant between kicks."""
    sim = simulate({**scene, "simulation": {"gyroscopic": "off"}})
    rng = np.random.default_rng(seed)
    sim.state.v_WB_W[:2], sim.state.w_WB_W[:2] = rng.normal(size=(2, 3)), rng.normal(size=(2, 3))
    return sim


def pair() -> list[dict[str, Any]]:
    """Two bricks."""
    return [
        brick("a", orientation=[0.8, 0.6, 0.0, 0.0], center_of_mass=[0.1, -0.05, 0.02]),
        brick("b", position=[0.7, 0.2, -0.1], orientation=[0.5, 0.5, -0.5, 0.5]),
    ]


def allow_only_what_the_joint_allows(sim: Simulation) -> None:
    """Take from the velocities what the equations forbid: only then are angles coordinates."""
    state: State = sim.state
    write_rows(sim.world)
    rows = sim.work.rows
    keep = [i for i in range(int(rows.count[0])) if rows.kind[i] == 0]
    J = np.concatenate([rows.J_a[keep], rows.J_b[keep]], axis=1)
    v = np.concatenate([state.w_WB_W[0], state.v_WB_W[0], state.w_WB_W[1], state.v_WB_W[1]])
    v = v - np.linalg.pinv(J) @ (J @ v) if keep else v
    state.w_WB_W[0], state.v_WB_W[0], state.w_WB_W[1], state.v_WB_W[1] = v.reshape(4, 3)


def stops(sim: Simulation) -> tuple[np.ndarray, np.ndarray]:
    """C and J v of every stop of the only joint, however far."""
    joints, rows, state = sim.model.joints, sim.work.rows, sim.state
    rows.count[:] = 0
    frame = joint_frame(joints, state, 0)
    sim.world.clock.h[0] = 1e9  # of a step so long all stops are within reach
    for axis in range(n_coordinates(int(joints.kind[0]))):
        state.joint_q[0, axis] = coordinate(joints, state, 0, axis, frame)
        write_limits(sim.world, (0, axis), frame)
    sim.world.clock.h[0] = sim.time_step
    n = int(rows.count[0])
    assert (rows.kind[:n] == ROW_LIMIT).all()
    return rows.error[:n].copy(), np.array([row_speed(rows, i, state) for i in range(n)])


@pytest.mark.parametrize("kind", STOPPED)
def test_stops(kind: str) -> None:
    joint = {"name": "j", "type": kind, "parent": "a", "child": "b", **STOPPED[kind]}
    sim = tumbling(document(pair(), [joint]), 1)
    allow_only_what_the_joint_allows(sim)
    C, speed = stops(sim)
    assert len(C) == 2 * n_coordinates(int(sim.model.joints.kind[0]))
    assert np.abs(speed).min() > 1e-3
    ahead, behind = (at(sim, s * D, stops)[0] for s in (1.0, -1.0))
    assert speed == pytest.approx((ahead - behind) / (2 * D), abs=1e-8, rel=1e-7)


@pytest.mark.parametrize("kind", ["spring", "torsion"])
def test_force_elements(kind: str) -> None:
    element: dict[str, Any] = {"type": kind, "parent": "a", "child": "b", "stiffness": 1.0}
    element |= {"damping": 1.0}
    element |= {"axis": AXIS} if kind == "torsion" else {"anchor": POINT, "anchor2": [0.9, 0, 0.4]}
    # a torsion spring turns about an axis that a hinge keeps
    hinge: Document = {"name": "j", "type": "hinge", "parent": "a", "child": "b"}
    hinge |= {"anchor": POINT, "axis": AXIS}
    sim = tumbling(document(pair(), [hinge] if kind == "torsion" else [], forces=[element]), 2)
    allow_only_what_the_joint_allows(sim)
    rows, state, forces = sim.work.rows, sim.state, sim.model.forces

    def extension(_: Simulation) -> float:
        return float(elongation(forces, state, 0))

    rows.count[:] = 0
    write_elements(
        rows, state, forces, sim.model.bodies.kind, 1e-3, sim.work.motion.bias_acceleration
    )
    assert rows.count[0] == 1
    speed = row_speed(rows, 0, state)
    ahead, behind = (at(sim, s * D, extension) for s in (1.0, -1.0))
    assert speed == pytest.approx((ahead - behind) / (2 * D), abs=1e-8, rel=1e-7)


def test_the_second_derivative_of_a_spring_s_length() -> None:
    element: dict[str, Any] = {"type": "spring", "parent": "a", "child": "b", "stiffness": 1.0}
    element |= {"anchor": POINT, "anchor2": [0.9, 0, 0.4]}
    sim = tumbling(document(pair(), forces=[element]), 4)
    state, forces, far = sim.state, sim.model.forces, 1e-4

    def extension(_: Simulation) -> float:
        return float(elongation(forces, state, 0))

    curvature = write_line(sim.work.rows, 0, state, forces, 0, np.zeros((3, 6)))
    behind, here, ahead = (at(sim, s * far, extension) for s in (-1.0, 0.0, 1.0))
    assert abs(curvature) > 0.1
    assert curvature == pytest.approx((ahead - 2.0 * here + behind) / far**2, rel=1e-5)


def test_hand() -> None:
    sim = tumbling(document(pair()), 3)
    sim.grab("b", [0.9, 0.1, 0.2])
    rows, state = sim.work.rows, sim.state
    rows.count[:] = 0
    write_grab(rows, state, sim.model.bodies, 1e-3)
    speed = np.array([row_speed(rows, i, state) for i in range(3)])

    def held(_: Simulation) -> np.ndarray:
        grabbed = sim.grab_state()
        assert grabbed is not None
        return np.array(grabbed["point"])

    rows.count[:] = 0
    ahead, behind = (at(sim, s * D, held) for s in (1.0, -1.0))
    assert speed == pytest.approx((ahead - behind) / (2 * D), abs=1e-8, rel=1e-7)


SHAPES: dict[str, dict[str, Any]] = {
    "sphere": {"type": "sphere", "radius": 0.3},
    "capsule": {"type": "capsule", "radius": 0.2, "length": 0.5},
    "ellipsoid": {"type": "ellipsoid", "radii": [0.3, 0.4, 0.2]},
    "box": {"type": "box", "size": [0.4, 0.6, 0.8]},
}


@pytest.mark.parametrize("other", ["plane", "sphere"])
@pytest.mark.parametrize("shape", SHAPES)
def test_contact_normals(shape: str, other: str) -> None:
    turned = np.array([0.9, 0.3, 0.2, 0.1]) / np.linalg.norm([0.9, 0.3, 0.2, 0.1])
    bodies = [
        {"name": "one", "mass": 1.0, "position": [0, 0, 0.9], "orientation": turned.tolist()}
        | {"shapes": [SHAPES[shape]]},
        {"name": "sphere", "mass": 1.0, "position": [0.05, -0.1, 1.85]}
        | {"shapes": [SHAPES["sphere"]]},
        ground() | {"name": "plane"},
    ]
    sim = tumbling(document(bodies), 4)
    contacts, rows = sim.work.contacts, sim.work.rows
    second = 1 if other == "sphere" else 2

    def gap(_: Simulation) -> float:
        return float(sim.closest_points("one", other)["distance"])

    near = sim.closest_points("one", other)
    assert near["distance"] > 0.01
    contacts.count[0] = 1
    contacts.body_a[0], contacts.body_b[0] = 0, second
    contacts.point_W[0] = 0.5 * (near["point_a"] + near["point_b"])
    contacts.normal_W[0], contacts.gap[0] = near["normal"], near["distance"]
    write_rows(sim.world)
    write_contacts(sim.world, 0, 1)
    normal = rows.kind[: rows.count[0]].tolist().index(ROW_NORMAL)
    speed = row_speed(rows, normal, sim.state)
    ahead, behind = (at(sim, s * D, gap) for s in (1.0, -1.0))
    assert abs(speed) > 1e-2
    # distances to the ellipsoid come from an iteration
    assert speed == pytest.approx((ahead - behind) / (2 * D), abs=1e-5)
