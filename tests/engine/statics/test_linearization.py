"""Linear models against closed forms, and against differences of other code."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
import scipy.linalg

import cardan
from cardan import Dynamics, SceneError, linearize
from cardan.engine.build.rotations import rotation_matrix
from cardan.schemas import load_scene
from tests.engine.scenes import Document, document
from tests.engine.statics.cams import CAM, cam
from tests.engine.statics.test_statics import GRAVITY, G, arm, train
from tests.engine.trees.trees import random_scene, unit


def linear(scene: Document, **more: Any) -> Any:
    return linearize(load_scene({"gravity": GRAVITY, **scene}), **more)


def frequencies(found: Any) -> list[float]:
    """Angular frequencies of the oscillating modes [rad/s]."""
    return [2.0 * math.pi * mode.frequency for mode in found.modes if mode.frequency > 0.0]


def pendulums(m: float = 1.0, length: float = 1.0) -> Document:
    """Two point masses on massless rods, hanging."""
    bodies = [
        {"name": f"m{i}", "mass": m, "position": [0, 0, -length * (i + 1)], "inertia": [1e-12] * 3}
        for i in range(2)
    ]
    joints = [
        {"name": f"j{i}", "type": "hinge", "axis": [0, 1, 0], "anchor": [0, 0, -length * i]}
        | {"parent": f"m{i - 1}" if i else "world", "child": f"m{i}"}
        for i in range(2)
    ]
    return document(bodies, joints)


@pytest.mark.reference
def test_a_double_pendulum_has_its_two_frequencies_and_shapes() -> None:
    found = linear(pendulums(length=0.7))
    expected = [math.sqrt(G / 0.7 * (2.0 - s * math.sqrt(2.0))) for s in (1.0, -1.0)]
    assert frequencies(found) == pytest.approx(expected, rel=1e-9)
    assert found.f0 == pytest.approx(0.0, abs=1e-9)
    for mode, s in zip(found.modes, (1.0, -1.0), strict=True):
        # angles in W are 1 : +-sqrt 2; the second coordinate is relative to the first rod
        ratio = mode.shape[1] / mode.shape[0]
        assert ratio == pytest.approx(s * math.sqrt(2.0) - 1.0, rel=1e-8)
        moved = mode.bodies[:, 3] / mode.shape[0]
        assert moved == pytest.approx([-0.7, -0.7 * (1.0 + s * math.sqrt(2.0))], rel=1e-8)


def hung(radius: float) -> Document:
    """A body on a line of 0.7 m, 0.3 m above its centre, from a point or a wheel that rests."""
    bob = {"name": "bob", "mass": 4.0, "inertia": [0.05] * 3, "position": [radius, 0, -1.0]}
    line: Document = {"name": "line", "type": "distance", "parent": "world", "child": "bob"}
    line |= {"anchor": [0, 0, 0], "anchor2": [radius, 0, -0.7]}
    if radius:
        line["wheel"] = {"radius": radius, "axis": [0, 1, 0]}
    glass = {
        "name": "glass",
        "type": "planar",
        "parent": "world",
        "child": "bob",
        "axis": [0, 1, 0],
    }
    return document([bob], [line, {**glass, "direction": [1, 0, 0]}])


@pytest.mark.reference
@pytest.mark.parametrize("radius", [0.0, 0.2])
def test_a_bob_on_a_line_swings_as_two_links(radius: float) -> None:
    """One equation of length, small errors of which are none of a singular place."""
    length, top, inertia = 0.7, 0.3, 0.05 / 4.0
    M = np.array([[length**2, length * top], [length * top, top**2 + inertia]])
    squares = scipy.linalg.eigvalsh(G * np.diag([length, top]), M)
    assert frequencies(linear(hung(radius))) == pytest.approx(np.sqrt(squares), rel=1e-8)


@pytest.mark.reference
def test_a_chain_of_many_links_has_the_stiffness_and_inertia_of_the_text() -> None:
    """120 equal links of length l, hanging: with absolute angles K is diagonal."""
    n, m, length, inertia = 120, 1.0, 0.1, 0.002
    bodies = [
        {"name": f"m{i}", "mass": m, "position": [0, 0, -length * (i + 0.5)]}
        | {"inertia": [inertia] * 3}
        for i in range(n)
    ]
    joints = [
        {"name": f"j{i}", "type": "hinge", "axis": [0, 1, 0], "anchor": [0, 0, -length * i]}
        | {"parent": f"m{i - 1}" if i else "world", "child": f"m{i}"}
        for i in range(n)
    ]
    found = linear(document(bodies, joints))
    below = np.arange(n)[::-1]
    K = np.diag(m * G * length * (below + 0.5))
    carried = np.minimum.outer(below, below)
    M = m * length**2 * (carried + 0.5) + np.diag([inertia - 0.25 * m * length**2] * n)
    absolute = np.tril(np.ones((n, n)))
    stiffness, mass = absolute.T @ K @ absolute, absolute.T @ M @ absolute
    assert found.mass == pytest.approx(mass, rel=1e-9, abs=1e-9)
    assert -found.mass @ found.A[n:, :n] == pytest.approx(stiffness, rel=1e-6, abs=1e-6)
    slowest = np.sqrt(scipy.linalg.eigh(K, M, eigvals_only=True)[:3])
    assert frequencies(found)[:3] == pytest.approx(slowest.tolist(), rel=1e-7)
    assert found.modes[0].bodies.shape == (n, 6)


def test_a_damped_train_has_the_matrices_of_a_chain() -> None:
    n, k, m, c = 4, 300.0, 2.0, 0.9
    scene = train(n, k, m)
    for joint in scene["joints"]:
        joint["damping"] = c
    scene["gravity"] = [0, 0, 0]
    found = linear(scene)
    # elongations: with L of ones below the diagonal, places are L z
    L = np.tril(np.ones((n, n)))
    mass = m * L.T @ L
    assert found.mass == pytest.approx(mass, rel=1e-12)
    assert found.A[n:, :n] == pytest.approx(-np.linalg.solve(mass, k * np.eye(n)), abs=1e-8)
    assert found.A[n:, n:] == pytest.approx(-np.linalg.solve(mass, c * np.eye(n)), abs=1e-10)
    assert found.A[:n] == pytest.approx(np.hstack([np.zeros((n, n)), np.eye(n)]), abs=1e-12)
    omega = 2 * math.sqrt(k / m) * np.sin((2 * np.arange(1, n + 1) - 1) * math.pi / (4 * n + 2))
    assert frequencies(found) == pytest.approx(omega, rel=1e-8)
    # stiffness-proportional damping: ratio (c/k) omega/2
    assert [mode.damping_ratio for mode in found.modes] == pytest.approx(c / k * omega / 2)


@pytest.mark.reference
def test_a_parallelogram_swings_like_its_equivalent_pendulum() -> None:
    """Two bars of mass m and a coupler: (2 m/3 + m) l^2 a'' = -2 m g l a."""
    m, length = 1.5, 0.8
    bar = {"mass": m, "inertia": [m * length**2 / 12] * 3}
    bodies = [
        {"name": name, "position": [x, 0, -0.5 * length], **bar}
        for name, x in (("crank", 0.0), ("rocker", 1.0))
    ]
    bodies.append({"name": "coupler", "position": [0.5, 0, -length], **bar})
    pins = [
        ("a", "world", "crank", [0, 0, 0]),
        ("b", "crank", "coupler", [0, 0, -length]),
        ("c", "coupler", "rocker", [1, 0, -length]),
        ("d", "world", "rocker", [1, 0, 0]),
    ]
    joints = [
        {"name": n, "type": "hinge", "parent": p, "child": c, "anchor": a, "axis": [0, 1, 0]}
        for n, p, c, a in pins
    ]
    found = linear(document(bodies, joints))
    assert len(found.coordinates) == 1
    assert frequencies(found) == pytest.approx([math.sqrt(2 * G / (5 / 3 * length))], rel=1e-8)
    # all four angles of the parallelogram follow the one coordinate
    sizes = np.abs(found.C[:, 0])
    assert sizes == pytest.approx([1, 1, 1, 1], abs=1e-8)


@pytest.mark.reference
def test_a_spinning_body_has_the_roots_of_euler() -> None:
    I1, I2, I3, spin = 0.4, 0.7, 0.9, 3.0
    body = {"name": "top", "mass": 1.0, "inertia": [I1, I2, I3]}
    body |= {"angular_velocity": [0, 0, spin]}
    scene = document([body])
    scene["gravity"] = [0, 0, 0]
    found = linear(scene)
    rate = spin * math.sqrt((I3 - I1) * (I3 - I2) / (I1 * I2))
    rows = [found.coordinates.index(f"top.r{axis}") + 6 for axis in "xy"]
    values = np.linalg.eigvals(found.A[np.ix_(rows, rows)])
    assert sorted(values.imag) == pytest.approx([-rate, rate], rel=1e-8)
    assert values.real == pytest.approx([0, 0], abs=1e-9)


@pytest.mark.reference
@pytest.mark.parametrize("spin", [15.0, 30.0])
@pytest.mark.parametrize("hangs", [False, True])
def test_a_top_has_the_modes_of_its_axis(spin: float, hangs: bool) -> None:
    """Upright it sleeps from 22.9 rad/s on; it moves as It s^2 - I3 w s + m g l = 0 with s = mode
    over i (Goldstein 1980, 5.7)."""
    It, I3, mass, length = 0.06, 0.03, 1.0, 0.2
    top: Document = {"name": "top", "mass": mass, "position": [0, 0, length]}
    top |= {"inertia": [It - mass * length**2] * 2 + [I3]}
    ball = {"name": "tip", "type": "ball", "parent": "world", "child": "top", "anchor": [0, 0, 0]}
    scene = document([top], [ball])
    place = {"tip": [0.0, math.pi if hangs else 0.0, 0.0]}
    found = linearize(scene, place, {"tip": [0, 0, spin]})
    weight = mass * G * length * (-1.0 if hangs else 1.0)
    roots = np.roots([It, -I3 * spin, weight])
    wanted = np.concatenate([1j * roots, -1j * roots, [0, 0]])
    values = np.linalg.eigvals(found.A)
    apart = np.abs(wanted[:, None] - values)
    assert apart.min(axis=1) == pytest.approx(np.zeros(6), abs=1e-6)
    assert apart.min(axis=0) == pytest.approx(np.zeros(6), abs=1e-6)
    assert found.f0 == pytest.approx(np.zeros(6), abs=1e-9)


@pytest.mark.reference
@pytest.mark.parametrize("held", [False, True])
def test_a_body_that_spins_is_seen_from_its_axes(held: bool) -> None:
    """From there a tilt that stands turns back once a turn; nothing else does but Euler's roots."""
    spin, body = 5.0, {"name": "top", "mass": 1.0, "inertia": [0.1, 0.2, 0.3]}
    ball = {"name": "tip", "type": "ball", "parent": "world", "child": "top", "anchor": [0, 0, 0]}
    scene = document([body], [ball] if held else [])
    scene["gravity"] = [0, 0, 0]
    body |= {} if held else {"angular_velocity": [spin, 0, 0]}
    found = linearize(scene, {}, {"tip": [spin, 0, 0]} if held else {})
    rate = spin * math.sqrt(0.1 * 0.2 / (0.2 * 0.3))
    values = np.linalg.eigvals(found.A)
    assert np.sort(values.imag[values.imag > 1e-3]) == pytest.approx([rate, spin], rel=1e-8)
    assert values.real == pytest.approx(np.zeros(len(values)), abs=1e-6)


@pytest.mark.parametrize("floating", [False, True])
def test_a_moving_tree_agrees_with_differences_of_forward_dynamics(floating: bool) -> None:
    rng = np.random.default_rng(11)
    kinds = ("hinge", "slider", "universal", "cylindrical", "planar", "screw")
    scene = random_scene(rng, 5, kinds=kinds, floating=floating)
    counts = {"universal": 2, "cylindrical": 2, "planar": 3}
    for joint in scene["joints"]:
        n = counts.get(joint["type"], 1)
        values = rng.uniform(-0.8, 0.8, (2, n)).tolist()
        position, velocity = values if n > 1 else (values[0][0], values[1][0])
        joint["initial"] = {"position": position, "velocity": velocity}
    found = linear(scene)
    n = len(found.coordinates)
    tree = Dynamics(load_scene({"gravity": GRAVITY, **scene}))
    start = 6 if floating else 0
    q, qd = tree.start.copy(), np.zeros(tree.nv)
    state = found.x0
    for motion in tree.coordinates:
        if motion.motion != "free":
            q[motion.q[0]] = state[motion.v[0]]
        qd[motion.v[0] : motion.v[1]] = state[n + motion.v[0] : n + motion.v[1]]
    axes = np.eye(n)
    if floating:
        # velocities of the free body are in W here, in its axes there
        axes[3:6, 3:6] = rotation_matrix(q[3:7])
        qd = axes.T @ qd
    step = 1e-5
    for k in range(start, n):
        motion = next(one for one in tree.coordinates if one.v[0] <= k < one.v[1])
        ahead, behind = q.copy(), q.copy()
        ahead[motion.q[0]] += step
        behind[motion.q[0]] -= step
        slope = tree.forward_dynamics(ahead, qd) - tree.forward_dynamics(behind, qd)
        slope = axes @ slope / (2 * step)
        size = max(1e-3, np.abs(slope).max())
        assert found.A[n:, k] == pytest.approx(slope, rel=1e-6, abs=1e-6 * size)
        fast, slow = qd.copy(), qd.copy()
        fast[k] += step
        slow[k] -= step
        slope = tree.forward_dynamics(q, fast) - tree.forward_dynamics(q, slow)
        slope = axes @ slope / (2 * step)
        size = max(1e-3, np.abs(slope).max())
        assert found.A[n:, n + k] == pytest.approx(slope, rel=1e-6, abs=1e-6 * size)


@pytest.mark.reference
def test_inputs_are_targets_and_forces_and_outputs_what_is_asked() -> None:
    inertia = 0.1 + 2.0 * 1.0**2
    motor = {"type": "position", "target": 0.4, "stiffness": 50.0, "damping": 3.0}
    found = linear(
        arm(1.0, 2.0, motor=motor, initial={"position": 0.4}),
        inputs=[{"joint": "pin"}, {"joint": "pin", "kind": "force"}],
        outputs=[
            {"joint": "pin"},
            {"joint": "pin", "quantity": "acceleration"},
            {"body": "bob", "quantity": "velocity"},
        ],
    )
    stiffness = 50.0 + 2.0 * G * math.cos(0.4)
    assert (
        pytest.approx(np.array([[0, 1], [-stiffness / inertia, -3.0 / inertia]]), abs=1e-8)
        == found.A
    )
    assert pytest.approx(np.array([[0, 0], [50.0 / inertia, 1.0 / inertia]]), abs=1e-8) == found.B
    assert found.inputs == ("pin target", "pin force")
    assert found.u0 == pytest.approx([0.4, 0.0])
    assert found.C[0] == pytest.approx([1, 0], abs=1e-10)
    assert found.C[1] == pytest.approx(found.A[1], abs=1e-9)
    assert found.D[1] == pytest.approx(found.B[1], abs=1e-9)
    # the bob is at -(sin, cos): velocity per rate
    assert found.C[2:, 1] == pytest.approx([-math.cos(0.4), 0, math.sin(0.4)], abs=1e-10)
    assert found.f0[1] == pytest.approx(-2.0 * G * math.sin(0.4) / inertia, rel=1e-10)


def test_a_linear_model_foretells_the_motion() -> None:
    from cardan import Simulation

    scene = {"gravity": GRAVITY, **pendulums()}
    found = linearize(load_scene(scene))
    simulation = Simulation(load_scene(scene))
    simulation.set_state({"j0": 1e-3, "j1": -2e-3})
    simulation.advance(400)
    values, vectors = np.linalg.eig(found.A)
    x = np.array([1e-3, -2e-3, 0, 0])
    after = (vectors * np.exp(values * 0.4)) @ np.linalg.solve(vectors, x)
    assert simulation.joint_table()["q"] == pytest.approx(after.real[:2], abs=1e-7)


def test_a_rigid_drive_takes_its_coordinate_out() -> None:
    scene = pendulums()
    scene["joints"][0]["motor"] = {"type": "position", "target": 0.0}
    found = linear(scene)
    assert found.coordinates == ("j1",)
    assert frequencies(found) == pytest.approx([math.sqrt(G)], rel=1e-8)


@pytest.mark.parametrize("bound", [{}, {"max_force": 5.0}])
def test_a_ball_that_a_drive_of_a_speed_holds_is_refused_by_its_place(bound: Document) -> None:
    """Joints that drives hold come first in the trees of the model, not in what is told."""
    body: Document = {"mass": 1.0, "inertia": [0.1, 0.1, 0.1]}
    bodies = [{**body, "name": "arm"}, {**body, "name": "wheel", "position": [3, 0, 0]}]
    ball: Document = {"name": "ball", "type": "ball", "anchor": [0.3, 0, 0], "child": "arm"}
    ball["motor"] = {"type": "velocity", "target": [0, 0, 0], **bound}
    axle: Document = {"name": "axle", "type": "hinge", "anchor": [3, 0, 0], "child": "wheel"}
    axle |= {"axis": [0, 0, 1], "motor": {"type": "velocity", "target": 0.0}}
    joints = [{"parent": "world", **joint} for joint in (ball, axle)]
    with pytest.raises(SceneError, match="/joints/0/motor: Joint 'ball' is held rigidly"):
        linear(document(bodies, joints))


def test_ratios_that_are_rounding_are_none() -> None:
    assert [mode.damping_ratio for mode in linear(pendulums()).modes] == [0.0, 0.0]
    # a slow one beside a fast one, damped by a millionth
    scene = pendulums()
    scene["joints"][0]["damping"] = 1e-6
    assert all(0.0 < mode.damping_ratio < 1e-5 for mode in linear(scene).modes)


def test_contacts_are_left_out_where_something_touches() -> None:
    """A ball at the end of an arm, above the ground or on it."""
    scene = arm()
    ball = {"type": "sphere", "radius": 0.1}
    scene["bodies"][0]["shapes"] = [ball]
    scene["bodies"].append({"name": "wall", "type": "static", "shapes": [ball]})
    place = scene["bodies"][0].get("position", [0, 0, 0])
    found = []
    for distance in (0.3, 0.2):
        scene["bodies"][1]["position"] = [place[0], place[1] + distance, place[2]]
        found.append(linear(scene).left_out)
    assert found == [(), ("contacts",)]


def test_drives_that_hold_everything_leave_a_model_without_states() -> None:
    scene = pendulums()
    for joint in scene["joints"]:
        joint["motor"] = {"type": "position", "target": 0.0}
    found = linear(scene)
    assert (found.coordinates, found.modes) == ((), ())
    assert (found.A.shape, found.C.shape[1], found.mass.shape) == ((0, 0), 0, (0, 0))
    assert len(found.y0) == len(found.outputs) == 2


def test_what_is_left_out_is_said() -> None:
    found = linear(arm(friction=0.1, limits={"lower": -1.0, "upper": 1.0}))
    assert found.left_out == ("limits of joint 'pin'", "dry friction of joint 'pin'")


@pytest.mark.parametrize(
    ("more", "words"),
    [
        ({"inputs": [{"joint": "pin"}]}, "has no motor with a target"),
        ({"outputs": [{"joint": "pins"}]}, "no joint 'pins'"),
        ({"outputs": [{"joint": "pin", "coordinate": 1}]}, "has 1 coordinate;"),
        ({"outputs": [{"body": "rod"}]}, "no body 'rod'"),
        ({"outputs": [{"joint": "pin", "quantity": "speed"}]}, "quantity must be one of"),
        ({"outputs": [{"body": "bob", "coordinate": 2}]}, "of a body has no coordinate"),
        ({"outputs": [{"joint": "pin", "point": [0, 0, 1]}]}, "of a joint has no point"),
        ({"q": {"pins": 1.0}}, "no joint 'pins'"),
    ],
)
def test_channels_that_do_not_exist_are_refused(more: Any, words: str) -> None:
    with pytest.raises(ValueError, match=words):
        linear(arm(), **more)


def test_triggers_do_not_concern_a_linear_model() -> None:
    release = [{"op": "break_joint", "joint": "pin"}]
    touched = {"type": "contact", "body": "bob"}
    scene = arm() | {"triggers": [{"name": "off", "when": touched, "do": release}]}
    assert frequencies(linear(scene)) == pytest.approx(frequencies(linear(arm())), rel=1e-12)


def test_fields_that_do_not_exist_are_refused() -> None:
    """They would be left out, and the answer would be that of another question."""
    scene = load_scene(
        {
            "bodies": [{"name": "a", "mass": 1.0, "inertia": [1, 1, 1]}],
            "joints": [
                {
                    "name": "j",
                    "type": "hinge",
                    "parent": "world",
                    "child": "a",
                    "anchor": [0, 0, 0.3],
                    "axis": [0, 1, 0],
                }
            ],
        }
    )
    with pytest.raises(ValueError, match="no field 'type'"):
        cardan.linearize(scene, inputs=[{"joint": "j", "type": "force"}])
    with pytest.raises(ValueError, match="kind of an input"):
        cardan.linearize(scene, inputs=[{"joint": "j", "kind": "torque"}])
    with pytest.raises(ValueError, match="did you mean 'quantity'"):
        cardan.linearize(scene, outputs=[{"joint": "j", "quantitiy": "velocity"}])
    target = {"body": "a", "position": [0, 0, 0], "orientaton": [1, 0, 0, 0]}
    with pytest.raises(ValueError, match="did you mean 'orientation'"):
        cardan.inverse_kinematics(scene, [target])
    with pytest.raises(ValueError, match="no field 'force'"):
        cardan.statics(scene, load={"force": [1, 0, 0]})


def sprung_crate(orientation: list[float]) -> Document:
    """A free body between three pairs of springs along x, y, z."""
    crate = {"name": "crate", "mass": 2.0, "inertia": [0.1] * 3, "orientation": orientation}
    springs = [
        {"type": "spring", "parent": "world", "child": "crate", "stiffness": k}
        | {"anchor": (2.0 * side * axis).tolist(), "anchor2": (0.3 * side * axis).tolist()}
        for axis, k in zip(np.eye(3), (100.0, 200.0, 400.0), strict=True)
        for side in (1.0, -1.0)
    ]
    return document([crate], forces=springs) | {"gravity": [0, 0, 0]}


@pytest.mark.reference
@pytest.mark.parametrize("turned", [[1.0, 0, 0, 0], unit(np.array([0.8, 0.2, 0.5, -0.3])).tolist()])
def test_axes_of_a_free_body_make_no_difference(turned: list[float]) -> None:
    scene = sprung_crate(turned)
    stability = cardan.statics(load_scene(scene)).stability
    assert stability is not None
    assert stability.symmetric
    assert stability.eigenvalues[3:] == pytest.approx([100, 200, 400], rel=1e-8)
    found = linear(scene)
    assert found.A[:6, 6:] == pytest.approx(np.eye(6), abs=1e-8)
    swings = [mode for mode in found.modes if mode.frequency > 1.0]
    for axis, mode in enumerate(swings):
        assert np.abs(mode.bodies[0, 3:]) == pytest.approx(np.eye(3)[axis], abs=1e-8)


@pytest.mark.parametrize(("longest", "states"), [(4.0, 2), (3.0, 0)])
def test_a_rope_holds_where_it_is_taut(longest: float, states: int) -> None:
    scene = arm(length=1.0)
    rope = {"name": "rope", "type": "distance", "parent": "world", "child": "bob"}
    scene["joints"].append(
        rope | {"anchor": [3, 0, -1], "anchor2": [0, 0, -1], "limits": {"upper": longest}}
    )
    found = linear(scene)
    assert len(found.eigenvalues) == states
    assert "limits of joint 'rope'" in found.left_out
    if states:
        assert frequencies(found) == pytest.approx([math.sqrt(2.0 * G / 2.1)], rel=1e-9)


def cam_acceleration(x: float, rate: float) -> float:
    """Of the shaft, by Lagrange: (I + m f'^2) x'' + m f' f'' x'^2 + m g f' = 0."""
    first, second = CAM * math.cos(x), -CAM * math.sin(x)
    return -(2.0 * first * second * rate**2 + 2.0 * G * first) / (0.2 + 2.0 * first**2)


@pytest.mark.reference
@pytest.mark.parametrize(("x", "rate"), [(0.4, 0.0), (0.4, 3.0), (-1.2, 5.0)])
def test_a_cam_that_turns_has_the_model_of_lagrange(x: float, rate: float) -> None:
    q = {"turn": x, "lift": CAM * math.sin(x)}
    qd = {"turn": rate, "lift": CAM * math.cos(x) * rate}
    found = linear(cam(), q=q, qd=qd)
    assert found.coordinates == ("turn",)
    e = 1e-5
    by_x = (cam_acceleration(x + e, rate) - cam_acceleration(x - e, rate)) / (2 * e)
    by_rate = (cam_acceleration(x, rate + e) - cam_acceleration(x, rate - e)) / (2 * e)
    # the spline through 401 points has the curvature of the sine within 4e-5
    assert found.A[1] == pytest.approx([by_x, by_rate], rel=2e-4, abs=1e-8)
    assert found.f0[1] == pytest.approx(cam_acceleration(x, rate), rel=1e-4)


def test_bodies_that_are_tied_twice_are_tied_once() -> None:
    """Equations that cancel to rounding hold nothing."""
    scene = arm(length=1.0)
    scene["bodies"].append({"name": "cap", "mass": 0.5, "inertia": [0.1] * 3})
    weld = {"name": "weld", "type": "fixed", "parent": "bob", "child": "cap"}
    again = [
        {"name": f"again {y}", "type": "ball", "parent": "bob", "child": "cap"}
        | {"anchor": [0.1, y, -0.4]}
        for y in (-0.2, 0.3)
    ]
    scene["joints"] += [weld, *again]
    found = linear(scene, q={"pin": 0.3})
    assert len(found.coordinates) == 1
    slope = -2.0 * G * math.cos(0.3) / (2.1 + 0.1)
    assert found.A[1, 0] == pytest.approx(slope, rel=1e-8)
    rest = cardan.statics(load_scene(scene | {"gravity": [1, 0, -G]}))
    assert (rest.status, rest.indeterminate) == ("equilibrium", 6)


def test_where_w_has_its_origin_makes_no_difference() -> None:
    """Steps of differences follow the size of the mechanism, not its distance from the origin."""
    near: Document = {}
    far: Document = {}
    for scene, x in ((near, 0.0), (far, 1e5)):
        scene["bodies"] = [
            {"name": "bob", "mass": 1.0, "inertia": [0.1] * 3, "position": [x, 0, 0]}
        ]
        rail = {"name": "rail", "type": "slider", "parent": "world", "child": "bob"}
        scene["joints"] = [rail | {"axis": [1, 0, 0], "spring": {"stiffness": [10.0, 0.0, 4.0]}}]
        guy = {"type": "spring", "parent": "world", "child": "bob", "stiffness": 30.0, "rest": 0.5}
        scene["forces"] = [guy | {"anchor": [x + 1, 1, 0], "anchor2": [x, 0, 0]}]
    stiff = 10.0 + 30.0 * (1.0 - 0.5 / math.sqrt(2.0)) + 30.0 * 0.25 / math.sqrt(2.0)
    for scene in (near, far):
        assert linear(scene).A[1, 0] == pytest.approx(-stiff, rel=1e-6)


def test_motions_from_outside_are_said_to_be_left_out() -> None:
    scene = arm(motor={"type": "velocity", "target": 2.0})
    scene["bodies"].append({"name": "table", "type": "kinematic", "angular_velocity": [0, 0, 1]})
    left_out = linear(scene).left_out
    assert left_out == ("motion of body 'table'", "speed of the drive of joint 'pin'")
    assert "speed" not in " ".join(linear(scene, qd={"pin": 2.0}).left_out)
    off = linear(arm(motor={"type": "position", "target": 0.3}))
    assert off.left_out == ("target of joint 'pin'",)
    # a step function has the value of the last jump, whatever comes next
    steps = {"times": [-1.0, 1.0], "values": [0.0, 1.0], "interpolation": "step"}
    at = linear(arm(motor={"type": "position", "target": steps}))
    assert at.left_out == ()


def test_modes_of_rounding_are_none() -> None:
    """Level, a pendulum has no stiffness: what differences leave of it is no frequency."""
    found = linear(pendulums(length=0.7), q={"j0": -0.5 * math.pi})
    assert found.f0[2] > 1.0
    assert [(mode.eigenvalue, mode.frequency, mode.damping_ratio) for mode in found.modes] == [
        (0.0, 0.0, 0.0)
    ] * len(found.modes)


@pytest.mark.reference
def test_quadratic_terms_are_nothing_at_rest() -> None:
    """A buoy of 10 m on a spring of k1 x + k2 |x| x, with drag |v| v: they have no slope at 0."""
    hull = {"type": "box", "size": [10.0, 10.0, 10.0]}
    buoy: Document = {"name": "buoy", "mass": 1000.0, "shapes": [hull]}
    heave: Document = {"name": "heave", "type": "slider", "parent": "world", "child": "buoy"}
    heave |= {"axis": [0, 0, 1], "spring": {"stiffness": [100.0, 400.0, 0.0]}}
    drag = {"type": "drag", "body": "buoy", "quadratic": 5000.0}
    scene = document([buoy], [heave], forces=[drag]) | {"gravity": [0, 0, 0]}
    found = linear(scene)
    assert pytest.approx(np.array([[0, 1], [-0.1, 0]]), abs=1e-10) == found.A
    assert found.modes[0].damping_ratio == pytest.approx(0.0, abs=1e-9)
    stability = cardan.statics(load_scene(scene)).stability
    assert stability is not None
    assert stability.eigenvalues == pytest.approx([0.1], rel=1e-9)
    # at a speed the drag has the slope 2 k |v|
    moving = cardan.linearize(load_scene(scene), qd={"heave": 0.3})
    assert moving.A[1] == pytest.approx([-0.1, -2 * 5.0 * 0.3], rel=1e-8)
