"""Couplings of joints: differentials, planetary gears, belts and cables in closed form."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest

import cardan
from cardan.engine import Simulation
from cardan.schemas import load_scene
from cardan.schemas.error import SceneInvalid
from tests.engine.scenes import Document, document, simulate

pytestmark = pytest.mark.reference

G = 9.81
FORMULATIONS = ("maximal", "reduced")
METHODS = ["pgs", "gauss_seidel", "pivoting", "lemke"]
ITERATED = ["jacobi", "nncg", "pgs_sm", "apgd"]
SOLVED = [(form, method) for form in FORMULATIONS for method in METHODS]
SOLVED += [("maximal", method) for method in ITERATED]
FORM = pytest.mark.parametrize("formulation", FORMULATIONS)


def wheel(name: str, inertia: float, at: tuple[float, float, float] = (0, 0, 0)) -> Document:
    """A body of 2 kg that turns about its middle."""
    return {"name": name, "mass": 2.0, "inertia": [inertia] * 3, "position": list(at)}


def hinge(child: str, at: tuple[float, float, float] = (0, 0, 0), **more: Any) -> Document:
    """A hinge about z, of the name of the child."""
    joint = {"name": child, "type": "hinge", "parent": "world", "child": child}
    return joint | {"anchor": list(at), "axis": [0, 0, 1]} | more


def coupling(name: str, terms: dict[str, float], **more: Any) -> Document:
    """A coupling of first coordinates."""
    named = [{"joint": joint, "factor": factor} for joint, factor in terms.items()]
    return {"name": name, "type": "coupling", "terms": named} | more


def torque(body: str, value: float) -> Document:
    """A constant torque about z."""
    return {"type": "wrench", "body": body, "torque": [0, 0, value]}


def scene(
    bodies: list[Document], joints: list[Document], formulation: str, **more: Any
) -> Document:
    """A scene without contacts."""
    simulation = {"formulation": formulation, "collisions": False} | more.pop("simulation", {})
    return document(bodies, joints, simulation=simulation, **({"gravity": [0, 0, 0]} | more))


def rows_of(sim: Simulation) -> dict[str, Any]:
    """The first row of each joint in the joint table."""
    table = sim.joint_table()
    first = table[table["coordinate"] <= 0]
    return dict(zip(sim.joint_names, first, strict=True))


# ---------------------------------------------------------------------- differential

WHEELS = {"carrier": 0.03, "left": 0.02, "right": 0.05}
TORQUES = {"carrier": 1.0, "left": -0.3, "right": 0.1}


def differential(formulation: str, **more: Any) -> Document:
    """left + right = 2 carrier, driven at the carrier; and a pendulum that has no part in it."""
    places = {name: (float(k), 0.0, 0.0) for k, name in enumerate(WHEELS)}
    bodies = [wheel(name, inertia, places[name]) for name, inertia in WHEELS.items()]
    joints = [hinge(name, place) for name, place in places.items()]
    joints.insert(0, coupling("differential", {"left": 1.0, "right": 1.0, "carrier": -2.0}))
    bodies.append(wheel("apart", 0.1, (0, 5, 0)))
    joints.append(hinge("apart", (0, 4, 0)))
    forces = [torque(name, value) for name, value in TORQUES.items()] + [torque("apart", 0.4)]
    return scene(bodies, joints, formulation, forces=forces, **more)


def torque_of_differential() -> tuple[float, dict[str, float]]:
    """lam and accelerations: I a = T + factor lam, and the accelerations obey the relation."""
    factors = {"carrier": -2.0, "left": 1.0, "right": 1.0}
    known = sum(factors[n] * TORQUES[n] / WHEELS[n] for n in WHEELS)
    lam = -known / sum(factors[n] ** 2 / WHEELS[n] for n in WHEELS)
    return lam, {n: (TORQUES[n] + factors[n] * lam) / WHEELS[n] for n in WHEELS}


@FORM
def test_a_differential_splits_the_torque(formulation: str) -> None:
    sim = simulate(differential(formulation))
    sim.advance(400)
    lam, accelerations = torque_of_differential()
    rows = rows_of(sim)
    for name, a in accelerations.items():
        assert rows[name]["qd"] == pytest.approx(0.4 * a, rel=1e-10), name
        assert rows[name]["q"] == pytest.approx(0.08 * a, rel=1e-10), name
    assert rows["differential"]["limit_force"] == pytest.approx(lam, rel=1e-10)
    assert rows["differential"]["q"] == pytest.approx(0.0, abs=1e-12)
    assert rows["differential"]["qd"] == pytest.approx(0.0, abs=1e-11)
    assert abs(rows["carrier"]["q"]) > 0.5
    summary = sim.summary()
    assert summary["energy"]["balance_error"] < 1e-11
    assert abs(summary["energy"]["correction"]) < 1e-10
    assert summary["joints"]["max_angle_error"] < 1e-8


@pytest.mark.parametrize(("formulation", "method"), SOLVED)
def test_every_solver_takes_it_as_one_row(formulation: str, method: str) -> None:
    more = {"solver": {"method": method, "tolerance": 1e-13, "max_iterations": 4000}}
    if method == "pivoting":
        more["contact"] = {"friction_cone": "box"}
    if method == "lemke":
        more["contact"] = {"friction_cone": "polyhedral"}
    sim = simulate(differential(formulation, **more))
    sim.advance(10)
    lam, accelerations = torque_of_differential()
    rows = rows_of(sim)
    assert rows["differential"]["limit_force"] == pytest.approx(lam, rel=1e-6)
    assert rows["left"]["qd"] == pytest.approx(0.01 * accelerations["left"], rel=1e-6)
    assert sim.summary()["solver"]["max_residual"] < 1e-8


@FORM
def test_what_a_drive_starts_starts_with_it(formulation: str) -> None:
    """Rigid drives of two joints give the third its speed at once, and again when it is set."""
    document = differential(formulation)
    document["forces"] = []
    for joint in document["joints"]:
        if joint["name"] in ("carrier", "right"):
            target = 2.0 if joint["name"] == "carrier" else 0.0
            joint["motor"] = {"type": "velocity", "target": target}
    sim = simulate(document)
    for _ in range(2):
        sim.advance(100)
        rows = rows_of(sim)
        assert rows["left"]["qd"] == pytest.approx(4.0, abs=1e-9)
        assert rows["left"]["q"] == pytest.approx(0.4, abs=1e-9)
        energy = sim.summary()["energy"]
        assert abs(energy["correction"]) < 1e-9
        assert energy["balance_error"] < 1e-10
        sim.set_state(dict.fromkeys(("carrier", "left", "right"), 0.0))


# ---------------------------------------------------------------------- planetary gear

SUN, PLANET, RING = 0.1, 0.05, 0.2
ARM = SUN + PLANET


def planetary(formulation: str, ring: Document | None = None) -> Document:
    """Sun, ring and carrier on the ground, a planet on the carrier; two meshes."""
    bodies = [
        wheel("sun", 0.01),
        wheel("ring", 0.08),
        wheel("carrier", 0.03),
        wheel("planet", 0.004, (ARM, 0, 0)),
    ]
    joints = [hinge("sun"), hinge("ring") | (ring or {}), hinge("carrier")]
    joints.append(hinge("planet", (ARM, 0, 0), parent="carrier"))
    joints.append(coupling("inner", {"sun": SUN, "carrier": -SUN, "planet": PLANET}))
    joints.append(coupling("outer", {"ring": RING, "carrier": -RING, "planet": -PLANET}))
    return scene(bodies, joints, formulation, forces=[torque("sun", 0.2)])


def planetary_accelerations(ring_is_held: bool) -> dict[str, float]:
    """From the kinetic energy of the independent motions: constant, the inertia has no angle."""
    # columns: what sun, ring, carrier and planet (in the carrier) do for the rates of sun and ring
    sun, ring = np.array([1.0, 0.0]), np.array([0.0, 1.0])
    carrier = (SUN * sun + RING * ring) / (SUN + RING)
    planet = -SUN / PLANET * (sun - carrier)
    absolute = carrier + planet
    parts = [(0.01, sun), (0.08, ring), (0.03 + 2.0 * ARM**2, carrier), (0.004, absolute)]
    M = np.sum([inertia * np.outer(t, t) for inertia, t in parts], axis=0)
    Q = np.array([0.2, 0.0])
    a = np.array([Q[0] / M[0, 0], 0.0]) if ring_is_held else np.linalg.solve(M, Q)
    return {"sun": a @ sun, "ring": a @ ring, "carrier": a @ carrier, "planet": a @ planet}


@FORM
@pytest.mark.parametrize("held", [False, True])
def test_a_planetary_gear_obeys_willis(formulation: str, held: bool) -> None:
    ring = {"limits": {"lower": 0.0, "upper": 0.0}} if held else None
    sim = simulate(planetary(formulation, ring))
    sim.advance(300)
    rows = rows_of(sim)
    for name, a in planetary_accelerations(held).items():
        assert rows[name]["qd"] == pytest.approx(0.3 * a, rel=1e-6, abs=1e-9), name
    s, r, c = (float(rows[name]["qd"]) for name in ("sun", "ring", "carrier"))
    # in maximal coordinates the planet moves straight between kicks
    speed, force = (1e-9, 1e-6) if formulation == "reduced" else (1e-6, 1e-4)
    assert (s - c) * SUN + (r - c) * RING == pytest.approx(0.0, abs=speed)
    assert abs(c) > 0.5
    # a mesh pushes the planet's wheel as much on both sides as the torques ask
    inner, outer = (float(rows[name]["limit_force"]) for name in ("inner", "outer"))
    expected = 0.01 * planetary_accelerations(held)["sun"]
    assert 0.2 + SUN * inner == pytest.approx(expected, abs=force)
    if not held:
        expected = 0.08 * planetary_accelerations(held)["ring"]
        assert RING * outer == pytest.approx(expected, abs=force)
    assert sim.summary()["energy"]["balance_error"] < 1e-10


# ---------------------------------------------------------------------- joints of a moving chain


def finger(formulation: str, **simulation: Any) -> Document:
    """Three links whose joints a tendon couples: 2 q1 - q2 - q3 = 0; they swing under gravity."""
    bodies, joints = [], []
    for k, name in enumerate(("one", "two", "three")):
        body = {"name": name, "mass": 0.5 - 0.1 * k, "inertia": [2e-3, 3e-3, 3e-3]}
        bodies.append(body | {"position": [0.1 + 0.2 * k, 0, 0]})
        parent = "world" if k == 0 else bodies[k - 1]["name"]
        joints.append(hinge(name, (0.2 * k, 0, 0), parent=parent, axis=[0, 1, 0]))
    joints.append(coupling("tendon", {"one": 2.0, "two": -1.0, "three": -1.0}))
    return scene(bodies, joints, formulation, gravity=[0, 0, -G], simulation=simulation)


def test_coupled_joints_of_a_chain_move_alike_in_both_formulations() -> None:
    exact = simulate(finger("reduced", integrator="rk4", dt=1e-3))
    exact.advance(300)
    wanted = exact.poses()[:, :3]
    assert exact.summary()["energy"]["balance_error"] < 1e-9
    assert np.abs(wanted - simulate(finger("reduced")).poses()[:, :3]).max() > 0.1
    for formulation in FORMULATIONS:
        errors = []
        for dt, steps in ((1e-3, 300), (5e-4, 600)):
            sim = simulate(finger(formulation, dt=dt))
            sim.advance(steps)
            errors.append(float(np.abs(sim.poses()[:, :3] - wanted).max()))
            assert abs(rows_of(sim)["tendon"]["q"]) < (5e-5 if dt == 1e-3 else 1.2e-5)
            assert sim.summary()["energy"]["max_relative_drift"] < 1e-4
            assert sim.summary()["energy"]["balance_error"] < 1e-10
        assert errors[0] < 3e-6
        assert 3.0 < errors[0] / errors[1] < 5.0, "of second order"


# ---------------------------------------------------------------------- belt

PULLEYS = {"motor": (0.05, 0.002), "drum": (0.12, 0.02)}  # radius [m], inertia [kg m^2]
STIFFNESS, DAMPING = 8000.0, 6.0


def belt(formulation: str, **more: Any) -> Document:
    """Two pulleys and a belt between them that stretches."""
    places = {name: (float(k), 0.0, 0.0) for k, name in enumerate(PULLEYS)}
    bodies = [wheel(name, inertia, places[name]) for name, (_, inertia) in PULLEYS.items()]
    joints = [hinge(name, place) for name, place in places.items()]
    (r, _), (R, _) = PULLEYS["motor"], PULLEYS["drum"]
    joints.append(coupling("belt", {"motor": r, "drum": -R}, stiffness=STIFFNESS) | more)
    joints[0]["initial"] = {"position": 0.0, "velocity": 1.0}
    return scene(bodies, joints, formulation, simulation={"dt": 2e-4})


def belt_frequency() -> tuple[float, float]:
    """omega_0 and damping ratio of the stretch: 1/m = sum of r^2/I."""
    inverse = sum(r * r / inertia for r, inertia in PULLEYS.values())
    omega = math.sqrt(STIFFNESS * inverse)
    return omega, 0.5 * DAMPING * inverse / omega


@FORM
def test_a_belt_swings_at_its_natural_frequency(formulation: str) -> None:
    omega, ratio = belt_frequency()
    for damping in (0.0, DAMPING):
        sim = simulate(belt(formulation, damping=damping))
        decay = ratio * omega if damping else 0.0
        swing = math.sqrt(omega**2 - decay**2)
        sim.advance(500)
        t = 0.1
        wanted = 0.05 / swing * math.exp(-decay * t) * math.sin(swing * t)
        row = rows_of(sim)["belt"]
        assert swing * t > 8.0
        assert row["q"] == pytest.approx(wanted, abs=2e-3 * 0.05 / swing)
        energy = sim.summary()["energy"]
        assert energy["balance_error"] < 1e-10
        assert abs(energy["correction"]) < 1e-12
        assert (energy["dissipated_damping"] > 1e-4) == bool(damping)


@FORM
def test_a_belt_does_not_depend_on_the_unit_of_length(formulation: str) -> None:
    # its damper goes by the inertia of what turns; it took a mass for it where that is less
    def angles(scale: float) -> Any:
        bodies = [wheel("a", 0.4 * scale**2), wheel("b", 0.7 * scale**2)]
        units = {"stiffness": 30.0 * scale**2, "damping": 20.0 * scale**2}
        joints = [hinge("a"), hinge("b"), coupling("belt", {"a": 1.0, "b": -0.7}, **units)]
        sim = simulate(scene(bodies, joints, formulation, forces=[torque("a", 5.0 * scale**2)]))
        sim.advance(200)
        return sim.joint_table()["q"][:2]

    assert angles(30.0) == pytest.approx(angles(1.0), rel=1e-10)


def test_a_belt_has_its_mode_and_its_force() -> None:
    omega, ratio = belt_frequency()
    found = cardan.linearize(load_scene(belt("reduced", damping=DAMPING)))
    mode = max(found.modes, key=lambda one: one.frequency)
    assert 2.0 * math.pi * mode.frequency == pytest.approx(omega, rel=1e-8)
    assert mode.damping_ratio == pytest.approx(ratio, rel=1e-7)
    still = belt("maximal")
    still["joints"][0]["initial"] = {"position": 0.3}
    rest = cardan.statics(load_scene(still), search=False)
    assert rest.status == "none"


# ---------------------------------------------------------------------- cables


def cable(masses: dict[str, tuple[float, float, float]], formulation: str, **more: Any) -> Document:
    """Weights on one cable over fixed points above them: name -> mass, depth, factor."""
    bodies, joints, terms = [], [], {}
    for k, (name, (mass, depth, factor)) in enumerate(masses.items()):
        bodies.append({"name": name, "mass": mass, "inertia": [0.1] * 3})
        bodies[-1]["position"] = [float(k), 0.0, -depth]
        ends = {"anchor": [float(k), 0.0, 0.0], "anchor2": [float(k), 0.0, -depth]}
        joint = {"name": f"to {name}", "type": "distance", "parent": "world", "child": name}
        joints.append(joint | ends)
        terms[f"to {name}"] = factor
    length = sum(depth * factor for _, depth, factor in masses.values())
    joints.append(coupling("cable", terms, offset=length) | more)
    return scene(bodies, joints, formulation, gravity=[0, 0, -G])


@FORM
def test_atwoods_machine(formulation: str) -> None:
    sim = simulate(cable({"heavy": (3.0, 1.0, 1.0), "light": (2.0, 2.0, 1.0)}, formulation))
    sim.advance(300)
    a = (3.0 - 2.0) / (3.0 + 2.0) * G
    assert sim.poses()[:, 2] == pytest.approx([-1.0 - 0.045 * a, -2.0 + 0.045 * a], abs=1e-9)
    row = rows_of(sim)["cable"]
    assert row["limit_force"] == pytest.approx(-2.0 * 3.0 * 2.0 / 5.0 * G, rel=1e-9)
    assert row["q"] == pytest.approx(3.0, abs=1e-10)
    assert sim.summary()["energy"]["balance_error"] < 1e-11


@FORM
def test_a_tackle_halves_the_force(formulation: str) -> None:
    masses = {"load": (5.0, 1.0, 2.0), "weight": (2.0, 1.0, 1.0)}
    sim = simulate(cable(masses, formulation))
    sim.advance(200)
    # m z1'' = m g - 2 S and M z2'' = M g - S with 2 z1 + z2 = constant
    a = G * (5.0 - 2.0 * 2.0) / (5.0 + 4.0 * 2.0)
    assert sim.poses()[0, 2] == pytest.approx(-1.0 - 0.02 * a, abs=1e-9)
    assert sim.poses()[1, 2] == pytest.approx(-1.0 + 0.04 * a, abs=1e-9)
    balanced = masses | {"weight": (2.5, 1.0, 1.0)}
    rest = cardan.statics(load_scene(cable(balanced, formulation)), search=False)
    assert rest.status == "equilibrium"
    tension = next(one for one in rest.joints if one["joint"] == "cable")
    assert tension["stops"][0] == pytest.approx(-2.5 * G, rel=1e-9)
    assert tension["unique"]


@FORM
def test_a_rope_only_pulls(formulation: str) -> None:
    document = cable({"heavy": (3.0, 1.0, 1.0), "light": (2.0, 2.0, 1.0)}, formulation, slack=True)
    document["bodies"][1]["linear_velocity"] = [0, 0, 2.0]
    document["bodies"][0]["linear_velocity"] = [0, 0, 1.0]
    sim = simulate(document)
    sim.advance(100)
    # both fly up: the rope is slack, and each of them falls freely
    assert sim.poses()[0, 2] == pytest.approx(-1.0 + 0.1 - 0.5 * G * 0.01, abs=1e-9)
    assert rows_of(sim)["cable"]["limit_force"] == 0.0
    assert rows_of(sim)["cable"]["q"] < 2.8
    longest, pull = 0.0, 0.0
    for _ in range(200):
        sim.advance(5)
        row = rows_of(sim)["cable"]
        longest, pull = max(longest, float(row["q"])), min(pull, float(row["limit_force"]))
    assert 3.0 - 1e-6 < longest < 3.0 + 1e-3
    assert pull < -2.0 * 3.0 * 2.0 / 5.0 * G + 1.0
    energy = sim.summary()["energy"]
    assert energy["dissipated_impact"] > 1.0
    assert energy["balance_error"] < 1e-9


@FORM
@pytest.mark.parametrize("method", ["auto", "pgs", "gauss_seidel"])
def test_a_rope_on_rails_only_pulls_in_every_solver(formulation: str, method: str) -> None:
    """Both weights are thrown up: until the rope is tight again each of them falls freely."""
    bodies, joints = [], []
    for k, (name, mass) in enumerate({"heavy": 3.0, "light": 2.0}.items()):
        bodies.append(wheel(name, 0.1, (float(k), 0, 0)) | {"mass": mass})
        bodies[-1]["linear_velocity"] = [0, 0, 1.0 + k]
        joints.append(hinge(name, (float(k), 0, 0)) | {"type": "slider"})
    joints.append(coupling("rope", {"heavy": -1.0, "light": -1.0}, slack=True))
    solver = {"method": method, "tolerance": 1e-13, "max_iterations": 1000}
    more = {"simulation": {"solver": solver}, "gravity": [0, 0, -G]}
    sim = simulate(scene(bodies, joints, formulation, **more))
    sim.advance(100)
    fallen = 0.5 * G * 0.01
    assert sim.poses()[:, 2] == pytest.approx([0.1 - fallen, 0.2 - fallen], abs=1e-9)
    assert rows_of(sim)["rope"]["limit_force"] == 0.0


# ---------------------------------------------------------------------- what else looks at joints


def test_inverse_kinematics_keeps_couplings() -> None:
    q1 = 0.35
    q = np.array([q1, 0.9, 2 * q1 - 0.9])
    angles = np.cumsum(q)
    tip = [
        float(sum(0.2 * math.cos(a) for a in angles)),
        0.0,
        float(-sum(0.2 * math.sin(a) for a in angles)),
    ]
    target = {"body": "three", "point": [0.1, 0, 0], "position": tip}
    pose = cardan.inverse_kinematics(load_scene(finger("maximal")), [target])
    assert pose.found
    found = [pose.coordinates[name][0] for name in ("one", "two", "three")]
    assert 2 * found[0] - found[1] - found[2] == pytest.approx(0.0, abs=1e-9)


def test_a_linear_model_has_as_many_freedoms_as_the_mechanism() -> None:
    found = cardan.linearize(load_scene(finger("reduced")), {"one": 0.2, "two": 0.4, "three": 0.0})
    assert found.A.shape == (4, 4)
    # the same by the motion: f0 is the acceleration that a step of the reduced formulation starts
    sim = simulate(finger("reduced", integrator="rk4", dt=1e-4))
    sim.set_state({"one": 0.2, "two": 0.4, "three": 0.0})
    sim.advance(1)
    named = {name.split(".")[0]: k for k, name in enumerate(found.coordinates)}
    rows = rows_of(sim)
    for name, k in named.items():
        assert rows[name]["qd"] / 1e-4 == pytest.approx(found.f0[2 + k], rel=1e-5)


def test_the_problem_of_a_step_has_one_row_for_a_coupling() -> None:
    sim = simulate(differential("maximal"))
    problem = sim.problem()
    first = [row.name for row in problem.rows].index("differential: coupling")
    size = np.abs(problem.J).sum(axis=1)
    assert size[first] == pytest.approx(4.0)
    assert (size[first + 1 : first + 3] == 0.0).all()


@pytest.mark.parametrize(
    ("change", "pointer", "code"),
    [
        ({"terms": [{"joint": "nobody", "factor": 1.0}]}, "/terms/0/joint", "unknown_joint"),
        ({"terms": [{"joint": "left", "factor": 0.0}]}, "/terms/0/factor", "zero_factor"),
        (
            {"terms": [{"joint": "left", "factor": 1.0, "coordinate": 1}]},
            "/terms/0/coordinate",
            "out_of_range",
        ),
        ({"terms": [{"joint": "left", "factor": 1.0}] * 2}, "/terms/1/joint", "coordinate_twice"),
        (
            {"terms": [{"joint": "differential", "factor": 1.0}]},
            "/terms/0/joint",
            "no_coordinate_to_couple",
        ),
        ({"offset": 0.5}, "/offset", "coupling_open"),
        ({"friction": 0.1}, "/friction", "not_of_a_coupling"),
        ({"slack": True, "stiffness": 5.0}, "/slack", "slack_spring"),
        ({"terms": []}, "/terms", "wrong_length"),
        ({"parent": "left"}, "/parent", "not_allowed"),
    ],
)
def test_what_a_coupling_cannot_be(change: Document, pointer: str, code: str) -> None:
    broken = differential("maximal")
    broken["joints"][0] |= change
    with pytest.raises(SceneInvalid) as refused:
        simulate(broken)
    faults = [(one.pointer, one.code) for one in refused.value.errors]
    assert (f"/joints/0{pointer}", code) in faults


def test_a_coupling_that_others_imply_is_named() -> None:
    twice = differential("maximal")
    twice["joints"].append(coupling("again", {"left": -2.0, "right": -2.0, "carrier": 4.0}))
    with pytest.raises(SceneInvalid) as refused:
        simulate(twice)
    assert [one.code for one in refused.value.errors] == ["coupling_implied"]


# ---------------------------------------------------------------------- small steps

SMALL = {"method": "small_steps"}


def test_small_steps_split_the_torque_of_a_differential() -> None:
    sim = simulate(differential("maximal", solver=SMALL))
    sim.advance(400)
    _, accelerations = torque_of_differential()
    rows = rows_of(sim)
    for name, a in accelerations.items():
        assert rows[name]["qd"] == pytest.approx(0.4 * a, rel=1e-3), name
    speeds = {name: rows[name]["qd"] for name in WHEELS}
    assert speeds["left"] + speeds["right"] == pytest.approx(2.0 * speeds["carrier"], rel=1e-3)
    assert sim.summary()["energy"]["balance_error"] < 1e-6


@pytest.mark.parametrize("more", [{}, {"stiffness": 30.0}, {"stiffness": 30.0, "damping": 0.2}])
def test_small_steps_move_couplings_as_the_exact_solver_does(more: Document) -> None:
    """Wheels of 0.02 and 0.05 kg m^2 that turn as one, or on a belt."""
    found = []
    for method in ("auto", "small_steps"):
        joints = [hinge("a"), hinge("b", (1, 0, 0)), coupling("c", {"a": 1.0, "b": -1.0}, **more)]
        bodies = [wheel("a", 0.02), wheel("b", 0.05, (1, 0, 0))]
        sim = simulate(
            scene(bodies, joints, "maximal", forces=[torque("a", 0.3)], solver={"method": method})
        )
        sim.advance(300)
        rows = rows_of(sim)
        found.append([rows["a"]["q"], rows["b"]["q"], rows["a"]["qd"], rows["b"]["qd"]])
    assert found[1] == pytest.approx(found[0], rel=2e-3, abs=1e-5)


def test_small_steps_hold_what_a_slack_coupling_bounds() -> None:
    """The sum of two turns stays at most 0.2, and goes back without a pull."""
    joints = [hinge("a"), hinge("b", (1, 0, 0))]
    joints.append(coupling("c", {"a": 1.0, "b": 1.0}, slack=True, offset=0.2))
    bodies = [wheel("a", 0.02), wheel("b", 0.05, (1, 0, 0))]
    sim = simulate(scene(bodies, joints, "maximal", forces=[torque("a", 0.1)], solver=SMALL))
    sim.advance(1000)
    rows = rows_of(sim)
    assert rows["a"]["q"] + rows["b"]["q"] == pytest.approx(0.2, abs=2e-3)
    assert rows["c"]["limit_force"] != 0.0


# ---------------------------------------------------------------------- impacts


@pytest.mark.parametrize(
    "contact",
    [
        {"restitution_law": "newton"},
        {"restitution_law": "poisson"},
        {"restitution_law": "propagating"},
        {"impact_time": "exact"},
    ],
)
def test_an_impact_acts_through_a_lever(contact: Document) -> None:
    """q1 + 2 q2 = 0; a ball of 2 kg strikes with 3 m/s and moves 3 kg: 2 + 3/4 kg, e = 1/2."""
    ball = {"type": "sphere", "radius": 0.1, "material": "rubber"}
    bodies: list[Document] = [{"name": "ground", "type": "static"}]
    bodies[0]["shapes"] = [{"type": "plane", "normal": [0, 0, 1], "material": "rubber"}]
    joints: list[Document] = []
    speeds = {"ball": (2.0, 0.1 + 0.03, -3.0), "far": (3.0, 5.0, 1.5)}
    for k, (name, (mass, z, speed)) in enumerate(speeds.items()):
        bodies.append({"name": name, "mass": mass, "inertia": [0.1] * 3, "shapes": [ball]})
        bodies[-1] |= {"position": [float(k), 0, z], "linear_velocity": [0, 0, speed]}
        joints.append({"name": name, "type": "slider", "parent": "world", "child": name})
        joints[-1]["axis"] = [0, 0, 1]
    joints.append(coupling("lever", {"ball": 1.0, "far": 2.0}))
    rubber = {"rubber": {"restitution": 0.5, "friction": 0.0}}
    options = {"contact": contact}
    sim = simulate(
        document(bodies, joints, simulation=options, gravity=[0, 0, 0], materials=rubber)
    )
    sim.advance(20)
    rows = rows_of(sim)
    assert rows["ball"]["qd"] == pytest.approx(1.5, abs=1e-9)
    assert rows["far"]["qd"] == pytest.approx(-0.75, abs=1e-9)
    assert rows["lever"]["q"] == pytest.approx(0.0, abs=1e-8)
    if "impact_time" in contact:
        assert rows["ball"]["q"] == pytest.approx(-0.03 + 1.5 * (0.02 - 0.01), abs=1e-9)
    energy = sim.summary()["energy"]
    assert energy["dissipated_impact"] == pytest.approx(0.5 * 2.75 * (9.0 - 2.25), rel=1e-6)
    assert energy["balance_error"] < 1e-9
