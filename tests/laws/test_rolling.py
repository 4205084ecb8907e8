"""Bodies that roll, slide and rock on a plane: energy stays, and motion is of second order in h.

The reference is an ordinary differential equation of its own: a rigid body that rolls without slip,
by Newton and Euler about the contact, solved by DOP853.
"""

import math
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray
from scipy.integrate import solve_ivp
from scipy.spatial.transform import Rotation

from cardan import engine
from cardan.schemas import load_scene
from tests.engine.scenes import document, ground

G, UP = 9.81, np.array([0.0, 0.0, 1.0])
Floats = NDArray[np.float64]
# u -> (support point, its derivative along du), body axes
Support = Callable[[Floats, Floats], tuple[Floats, Floats]]


def ellipsoid(radii: list[float]) -> Support:
    squares = np.square(radii)

    def support(u: Floats, du: Floats) -> tuple[Floats, Floats]:
        length = np.sqrt(squares @ u**2)
        x = squares * u / length
        return x, squares * du / length - x * (squares @ (u * du)) / length**2

    return support


def rim(radius: float, half: float) -> Support:
    def support(u: Floats, du: Floats) -> tuple[Floats, Floats]:
        flat, change = u * [1, 1, 0], du * [1, 1, 0]
        length = np.linalg.norm(flat)
        x = radius * flat / length
        along = radius * (change / length - flat * (flat @ change) / length**3)
        return x + half * np.sign(u[2]) * UP, along

    return support


def skew(a: Floats) -> Floats:
    """The matrix of a x; np.cross takes ten times as long."""
    x, y, z = a
    return np.array([[0, -z, y], [z, 0, -x], [-y, x, 0]])


def rolled(body: dict[str, Any], support: Support, duration: float, n: int) -> tuple[Any, Any]:
    """Orientations and angular velocities (world axes) of rolling without slip at n + 1 times."""
    inertia = np.zeros((3, 3))
    given = [*body["inertia"], 0, 0, 0][:6]
    inertia[np.diag_indices(3)] = given[:3]
    inertia[[0, 1, 0, 2, 1, 2], [1, 0, 2, 0, 2, 1]] = np.repeat(given[3:], 2)
    centre, mass = np.array(body.get("center_of_mass", [0, 0, 0])), body["mass"]

    def rates(_: float, y: Floats) -> Floats:
        q, v, w = y[0], y[1:4], y[4:]
        V, W = skew(v), skew(w)
        R = np.eye(3) + 2 / (q * q + v @ v) * (q * V + V @ V)
        u, w_B = -R[2], w @ R
        x, dx = support(u, skew(u) @ w_B)
        s, ds = R @ (x - centre), R @ dx + W @ (R @ (x - centre))
        in_world = R @ inertia @ R.T
        S = skew(s)
        torque = mass * S @ (G * UP - W @ ds) - W @ (in_world @ w)
        turn = np.linalg.solve(in_world - mass * S @ S, torque)
        return np.array([-0.5 * w @ v, *(0.5 * (q * w + W @ v)), *turn])

    start = [*body.get("orientation", [1, 0, 0, 0]), *body["angular_velocity"]]
    times = np.linspace(0, duration, n + 1)
    solved = solve_ivp(rates, (0, duration), start, "DOP853", times, rtol=1e-9, atol=1e-10)
    return Rotation.from_quat(solved.y[:4].T, scalar_first=True), solved.y[4:].T


def scene_of(body: dict[str, Any], friction: float, dt: float, **options: Any) -> dict[str, Any]:
    floor = {"name": "floor", "type": "static",
             "shapes": [{"type": "plane", "normal": [0, 0, 1], "material": "m"}]}  # fmt: skip
    return {
        "gravity": [0, 0, -G],
        "simulation": {"dt": dt, "duration": 100, **options},
        "materials": {"m": {"friction": friction}},
        "bodies": [floor, {"name": "body", **body}],
    }


def simulated(scene: dict[str, Any], duration: float, n: int) -> tuple[Any, Any, Any]:
    """Orientations and angular velocities at n + 1 times, and the simulation."""
    simulation = engine.Simulation(load_scene(scene))
    quaternions, spins = [simulation.poses()[1, 3:]], [simulation.velocities()[1, 3:]]
    for _ in range(n):
        simulation.advance(round(duration / n / scene["simulation"]["dt"]))
        assert simulation.failure is None
        quaternions.append(simulation.poses()[1, 3:])
        spins.append(simulation.velocities()[1, 3:])
    return Rotation.from_quat(np.array(quaternions), scalar_first=True), np.array(spins), simulation


def rocking() -> dict[str, Any]:
    """An ellipsoid turned by half a radian about y, just touching, at rest."""
    radii, angle = [0.2, 0.1, 0.1], 0.5
    height = np.hypot(radii[0] * np.sin(angle), radii[2] * np.cos(angle))
    a, b, c = np.square(radii)
    return {
        "position": [0, 0, float(height)],
        "orientation": [float(np.cos(angle / 2)), 0, float(np.sin(angle / 2)), 0],
        "mass": 1.0,
        "inertia": [0.2 * (b + c), 0.2 * (a + c), 0.2 * (a + b)],
        "angular_velocity": [0, 0, 0],
        "shapes": [{"type": "ellipsoid", "radii": radii, "material": "m"}],
    }


RATTLEBACK: dict[str, Any] = {
    "position": [8.726535498373936e-05, 0.0, 0.020075249336022047],
    "orientation": [0.9999904807207345, 0.0, 0.004363309284746571, 0.0],
    "linear_velocity": [0.0, 0.0869382526942315, 0.0],
    "angular_velocity": [-0.04363267749186968, 0.0, -4.999809615320856],
    "mass": 1.0,
    "center_of_mass": [0, 0, -0.01],
    "inertia": [0.0002, 0.0016, 0.0017, -2e-05, 0, 0],
    "shapes": [{"type": "ellipsoid", "radii": [0.2, 0.03, 0.02], "material": "m"}],
}
DISK: dict[str, Any] = {
    "position": [0.03, 0, 0.051732050807568875],
    "orientation": [0.9659258262890682, 0.0, 0.2588190451025207, 0.0],
    "linear_velocity": [0.0, 0.4742691565156753, 0.0],
    "angular_velocity": [-9.137786552725643, 0.0, -0.018138694184639093],
    "mass": 1.0,
    "inertia": [0.0025013333333333337, 0.0025013333333333337, 0.005000000000000001],
    "shapes": [{"type": "cylinder", "radius": 0.1, "length": 0.004, "material": "m"}],
}
SUPPORTS = {
    "rocking": (rocking(), 1.0, ellipsoid([0.2, 0.1, 0.1])),
    "rattleback": (RATTLEBACK, 5.0, ellipsoid([0.2, 0.03, 0.02])),
    "disk": (DISK, 1.0, rim(0.1, 0.002)),
}


def upright(turns: Any) -> Floats:
    """Angle of the body's z axis to the vertical [rad]."""
    return np.arccos(np.clip(turns.as_matrix()[:, 2, 2], -1, 1))


@pytest.mark.parametrize("friction", [0.0, 1.0])
@pytest.mark.parametrize("stabilisation", ["projection", "split_impulse"])
def test_an_ellipsoid_rocks_on(friction: float, stabilisation: str) -> None:
    scene = scene_of(rocking(), friction, 1e-3, stabilisation=stabilisation)
    turns, _, simulation = simulated(scene, 20, 4000)
    assert upright(turns)[-1000:].max() == pytest.approx(0.5, rel=0.003)
    energy = simulation.energy()
    # nothing hits, and nothing slides that has friction
    assert energy["dissipated_impact"] < 1e-6
    assert abs(energy["dissipated_friction"]) < 1e-4
    assert abs(energy["correction"]) < 1e-3


@pytest.mark.parametrize("name", ["rocking", "rattleback"])
def test_rolling_is_of_second_order(name: str) -> None:
    body, friction, support = SUPPORTS[name]
    duration, n = 1.0, 50
    truth, _ = rolled(body, support, duration, n)
    errors = []
    for dt in (2e-3, 1e-3, 5e-4):
        turns, _, _ = simulated(scene_of(body, friction, dt), duration, n)
        errors.append(np.abs((turns * truth.inv()).magnitude()).max())
    orders = np.log2(np.array(errors[:-1]) / errors[1:])
    assert errors[1] < 0.008, errors
    assert (orders > 1.8).all(), (orders, errors)


def test_a_disk_rolls_on_its_circle() -> None:
    truth, _ = rolled(DISK, SUPPORTS["disk"][2], 4, 400)
    turns, _, _ = simulated(scene_of(DISK, 1.0, 1e-3), 4, 400)
    assert np.degrees(np.abs(upright(turns) - upright(truth))).max() < 0.3


@pytest.mark.parametrize("formulation", ["maximal", "reduced"])
def test_a_rattleback_reverses(formulation: str) -> None:
    _, truth = rolled(RATTLEBACK, SUPPORTS["rattleback"][2], 8, 8)
    scene = scene_of(RATTLEBACK, 5.0, 1e-3, formulation=formulation)
    _, spins, simulation = simulated(scene, 8, 8)
    assert truth[0, 2] < -4.9
    assert truth[-1, 2] > 5.0
    assert spins[-1, 2] == pytest.approx(truth[-1, 2], rel=0.01)
    # friction that sticks does no work
    assert abs(simulation.energy()["dissipated_friction"]) < 1e-4


def test_a_rattleback_rolls_on_a_belt_as_on_the_floor() -> None:
    n, still = 50, scene_of(RATTLEBACK, 5.0, 1e-3)
    belt = scene_of(RATTLEBACK, 5.0, 1e-3)
    belt["materials"]["belt"] = {"friction": 5.0, "surface_velocity": [0.3, 0.2, 0.0]}
    belt["bodies"][0]["shapes"][0]["material"] = "belt"
    belt["bodies"][1]["linear_velocity"] = [0.3, 0.2 + RATTLEBACK["linear_velocity"][1], 0.0]
    turns, _, _ = simulated(still, 1.0, n)
    carried, _, _ = simulated(belt, 1.0, n)
    assert np.abs((turns * carried.inv()).magnitude()).max() < 1e-6


DISCS: dict[str, dict[str, Any]] = {
    "cylinder": {"type": "cylinder", "radius": 0.36, "length": 0.02},
    "box": {"type": "box", "size": [0.72, 0.72, 0.02]},
    "cone": {"type": "cone", "radius": 0.36, "length": 0.02, "orientation": [0, 1, 0, 0]},
}


@pytest.mark.parametrize("driven", [False, True])
@pytest.mark.parametrize("shape", DISCS)
def test_a_box_stays_where_it_is_on_a_turntable(shape: str, driven: bool) -> None:
    """Friction of m w^2 r, far below its largest, leads it on its circle."""
    w, r, mass, size, dt = 3.49, 0.12, 2.0, 0.05, 1e-3
    on_top = {"position": [0, 0, -0.005 if shape == "cone" else -0.01]}
    table: dict[str, Any] = {"name": "table", "angular_velocity": [0, 0, w]}
    table["shapes"] = [DISCS[shape] | on_top]
    joints = []
    if driven:
        table |= {"mass": 20.0, "inertia": [1.0, 1.0, 1.0]}
        axle = {"name": "axle", "type": "hinge", "parent": "world", "child": "table"}
        motor = {"motor": {"type": "velocity", "target": w}}
        joints = [axle | motor | {"anchor": [0, 0, 0], "axis": [0, 0, 1]}]
    else:
        table["type"] = "kinematic"
    load = {"name": "load", "position": [r, 0, 0.5 * size], "mass": mass}
    load |= {"linear_velocity": [0, w * r, 0], "angular_velocity": [0, 0, w]}
    load |= {"shapes": [{"type": "box", "size": [size] * 3}]}
    options = {"dt": dt, "duration": 2.0}
    scene = {"bodies": [table, load], "joints": joints, "simulation": options}
    simulation = engine.Simulation(load_scene(scene))
    simulation.advance(simulation.total_steps - 10)
    for _ in range(10):
        simulation.advance(1)
        place = simulation.state.p_WB[1] * [1, 1, 0]
        pushes = [row["normal_force"] for row in simulation.contact_table()]
        assert sum(pushes) == pytest.approx(mass * 9.81, rel=1e-3)
        n = int(simulation.work.contacts.count[0])
        friction = np.abs(simulation.work.contacts.impulse_W[:n].sum(axis=0) @ place) / r / dt
        assert friction == pytest.approx(mass * w * w * r, rel=1e-3)
    assert np.linalg.norm(place) == pytest.approx(r, rel=1e-5)


@pytest.mark.parametrize("formulation", ["maximal", "reduced"])
def test_a_cone_rolls_about_the_ball_joint_at_its_apex(formulation: str) -> None:
    """What touches at the apex only repeats the joint: it pushes nothing, however they differ by
    rounding. On a slope b the cone swings as a pendulum, from a quarter turn off its lowest place:

        A phi'^2/2 = m g sin b (3/4) h cos a cos phi,   a half its angle

    with A = m h^2 (3/20) (1 + 5 cos^2 a), twice its kinetic energy per phi'^2 (Landau and Lifshitz,
    Mechanics, 32).
    """
    height, radius, slope = 0.5, 0.2, 0.3
    side = math.hypot(height, radius)
    up, out = radius / side, height / side
    # the axis lies at the angle a over the plane, and the apex at the origin
    axis = np.array([0.0, out, up])
    turned = Rotation.align_vectors([-axis], [[0, 0, 1]])[0].as_quat()
    cone = {"type": "cone", "radius": radius, "length": height, "material": "rough"}
    body = {"name": "cone", "mass": 1.0, "shapes": [cone]}
    body |= {"position": (0.5 * height * axis).tolist()}
    body |= {"orientation": turned[[3, 0, 1, 2]].tolist()}
    apex = {"name": "apex", "type": "ball", "parent": "world", "child": "cone"}
    scene = document(
        [ground(material="rough"), body],
        [apex | {"anchor": [0, 0, 0], "collide_connected": True}],
        gravity=[9.81 * math.sin(slope), 0, -9.81 * math.cos(slope)],
        simulation={"dt": 1e-3, "duration": 2.0, "formulation": formulation},
    )
    scene["materials"] = {"rough": {"friction": 2.0}}
    one = engine.Simulation(load_scene(scene))
    cos2 = (height / side) ** 2
    inertia = 0.15 * height**2 * (1.0 + 5.0 * cos2)
    drop = 9.81 * math.sin(slope) * 0.75 * height * out
    for _ in range(20):
        one.advance(100)
        (x, y), (vx, vy) = one.state.p_WB[1, :2], one.state.v_WB_W[1, :2]
        phi = math.atan2(y, x)
        rate = (x * vy - y * vx) / (x * x + y * y)
        assert 0.5 * inertia * rate**2 == pytest.approx(drop * math.cos(phi), abs=1e-4 * drop)
    assert one.summary()["verdict"] == {"status": "trusted", "findings": []}
