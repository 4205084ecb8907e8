"""Nothing passes through thin walls, and nothing is stopped by what it passes by."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from cardan.engine import Simulation
from cardan.engine.collision.find_contacts import pose_all
from cardan.engine.collision.narrow.conservative_advancement import comes_within
from cardan.engine.step.find_contacts import keep_deflected
from cardan.engine.world.model import BOX, CAPSULE, CONVEX, SPHERE
from tests.engine.collision.reference import gap_by_search
from tests.engine.collision.worlds import Solid, World, about
from tests.engine.scenes import Document, document, ground, simulate

SPEED = 300.0
BULLETS: dict[str, Document] = {
    "sphere": {"type": "sphere", "radius": 0.005},
    "box": {"type": "box", "size": [0.01, 0.01, 0.01]},
    "capsule": {"type": "capsule", "radius": 0.003, "length": 0.006},
    "convex": {
        "type": "convex",
        "points": [[s * 0.005 * (k == i) for i in range(3)] for k in range(3) for s in (-1, 1)],
    },
}
# in steps of flight from the surface of the wall: within the first half step, and later
OFFSETS = (1e-6, 0.03, 0.25, 0.4999, 0.5001, 0.8, 1.0, 1.7, 3.3)


def thin_wall(x: float = 0.0, **more: object) -> dict[str, object]:
    shape = {"type": "box", "size": [0.001, 1, 1], "material": "m"}
    return {"name": f"wall{x:g}", "position": [x, 0, 0], "shapes": [shape], **more}


def shot(kind: str, offset: float, dt: float, wall: Document, **more: Any) -> Simulation:
    """A bullet on its way to the wall, `offset` steps of flight before it."""
    x = -0.0055 - offset * SPEED * dt
    bullet = {
        "name": "bullet", "mass": 0.01, "position": [x, 0.013, 0.021],
        "linear_velocity": [SPEED, 0, 0], "shapes": [{**BULLETS[kind], "material": "m"}],
        **more.pop("bullet", {}),
    }  # fmt: skip
    return simulate(
        document(
            [wall, bullet], gravity=[0, 0, 0], materials={"m": {"restitution": more.pop("e", 0.0)}},
            simulation={"dt": dt}, **more,
        )
    )  # fmt: skip


@pytest.mark.parametrize("dt", [1 / 60, 1 / 240, 1e-3])
@pytest.mark.parametrize("heavy", ["static", "dynamic"])
@pytest.mark.parametrize("kind", BULLETS)
def test_a_bullet_does_not_pass_a_wall_of_a_millimetre(kind: str, heavy: str, dt: float) -> None:
    more = {"type": "static"} if heavy == "static" else {"mass": 100.0}
    for number, offset in enumerate(OFFSETS):
        spin = {"angular_velocity": [30.0 * (number % 3), -20.0 * (number % 2), 10.0]}
        sim = shot(kind, offset, dt, thin_wall(**more), bullet=spin)
        before = sim.momentum()
        sim.advance(8)
        apart = sim.poses()[1, 0] - sim.poses()[0, 0]
        # on its own side, and come to it; what is left of its turning may carry it off a little
        assert -0.05 < apart < -0.0005
        if heavy == "dynamic":
            assert sim.momentum() == pytest.approx(before, abs=1e-12)
        assert sim.summary()["energy"]["balance_error"] < 1e-12


@pytest.mark.parametrize("offset", OFFSETS)
def test_a_bullet_bounces_with_its_restitution(offset: float) -> None:
    sim = shot("sphere", offset, 1e-3, thin_wall(type="static"), e=0.5)
    sim.watch_events()
    sim.advance(8)
    assert sim.velocities()[1, 0] == pytest.approx(-0.5 * SPEED, rel=1e-12)
    events = sim.events()
    assert list(events["kind"]) == [0, 1]
    assert events["approach_speed"][0] == pytest.approx(SPEED)


@pytest.mark.parametrize("e", [0.0, 0.5])
@pytest.mark.parametrize("law", ["newton", "poisson", "propagating"])
def test_no_law_of_impacts_lets_a_bullet_pass(law: str, e: float) -> None:
    for offset in OFFSETS:
        contact = {"restitution_law": law}
        sim = shot("sphere", offset, 1e-3, thin_wall(type="static"), e=e, contact=contact)
        sim.advance(8)
        assert sim.poses()[1, 0] < -0.005
        assert sim.velocities()[1, 0] == pytest.approx(-e * SPEED, abs=1e-9)


@pytest.mark.parametrize("dt", [1 / 240, 1e-3])
@pytest.mark.parametrize(
    "shape", [{"type": "sphere", "radius": 0.03}, {"type": "box", "size": [0.06] * 3}]
)
def test_substeps_let_no_fast_body_through(shape: Document, dt: float) -> None:
    """They end half a step before contacts are found again; the wall is of 2 cm."""
    plate: Document = {"type": "box", "size": [0.02, 1, 1]}
    for offset in OFFSETS:
        wall: Document = {"name": "wall", "type": "static", "shapes": [plate]}
        fast: Document = {"name": "fast", "mass": 0.1, "linear_velocity": [100, 0, 0]}
        fast |= {"position": [-0.07 - offset * 100 * dt, 0.01, 0.02], "shapes": [shape]}
        solver = {"method": "small_steps"}
        sim = simulate(
            document([wall, fast], gravity=[0, 0, 0], simulation={"dt": dt}, solver=solver)
        )
        sim.advance(20)
        assert -0.3 < sim.poses()[1, 0] < -0.02
        assert sim.summary()["energy"]["balance_error"] < 1e-12


@pytest.mark.parametrize("how", ["set_velocity", "apply_impulse"])
def test_velocities_that_were_commanded_are_guarded(how: str) -> None:
    rest = {"linear_velocity": [0, 0, 0]}
    for offset in OFFSETS[:5]:
        sim = shot("sphere", offset, 1e-3, thin_wall(type="static"), bullet=rest)
        sim.advance(3)
        if how == "set_velocity":
            sim.set_velocity("bullet", [SPEED, 0, 0], [0, 0, 0])
        else:
            sim.apply_impulse("bullet", [0.01 * SPEED, 0, 0])
        middle = sim.snapshot()
        sim.advance(8)
        assert sim.poses()[1, 0] < -0.005
        end = sim.state_hash()
        sim.restore(middle)
        sim.advance(8)
        assert sim.state_hash() == end


@pytest.mark.parametrize("gravity", [[0, 0, 0], [-300, 0, -50]])
def test_what_a_bullet_strikes_does_not_pass_the_next_wall(gravity: list[float]) -> None:
    """The second wall moves only because of the kick: nobody could foresee it.

    Nor could gravity, which then does other work in the rest of the step.
    """
    for gap in (0.004, 0.03, 0.1):
        dt = 1e-3
        bodies = [
            thin_wall(type="static"),
            thin_wall(-gap, mass=0.001),
            {
                "name": "bullet", "mass": 1.0, "position": [-gap - 0.2, 0, 0],
                "linear_velocity": [SPEED, 0, 0], "shapes": [BULLETS["sphere"]],
            },
        ]  # fmt: skip
        sim = simulate(
            document(bodies, gravity=gravity, simulation={"dt": dt}, materials={"m": {}})
        )
        for _ in range(12):
            sim.advance()
            assert sim.poses()[1, 0] < 0.0
            assert sim.poses()[2, 0] < sim.poses()[1, 0]
        assert sim.summary()["energy"]["balance_error"] < 1e-12


def test_a_sleeping_wall_wakes_of_a_bullet_in_its_first_half_step_and_takes_its_momentum() -> None:
    dt = 1e-3
    wall = thin_wall(mass=1.0)
    bullet = {
        "name": "bullet", "mass": 0.01, "position": [-0.1, 0.02, 0], "shapes": [BULLETS["sphere"]],
    }  # fmt: skip
    scene = document(
        [wall, bullet], gravity=[0, 0, 0], materials={"m": {}},
        simulation={"dt": dt, "sleeping": {"enabled": True, "time": 0.01}},
    )  # fmt: skip
    sim = simulate(scene)
    sim.advance(30)
    assert (sim.state.asleep_with[:2] >= 0).all()
    sim.set_velocity("bullet", [SPEED, 0, 0], [0, 0, 0])
    momentum = sim.momentum()
    sim.advance(8)
    assert sim.momentum() == pytest.approx(momentum, abs=1e-12)
    assert sim.velocities()[0, 0] > 1.0
    assert sim.poses()[1, 0] < sim.poses()[0, 0]


@pytest.mark.parametrize("hinged", [True, False])
@pytest.mark.parametrize("shape", ["box", "capsule"])
def test_a_spinning_rod_does_not_pass_a_plate(shape: str, hinged: bool) -> None:
    """300 rad/s, 0.3 rad and 15 cm at the tip in a step; a plate of a millimetre in its way."""
    w, dt = 300.0, 1e-3
    shapes = {
        "box": {"type": "box", "size": [1.0, 0.01, 0.01]},
        "capsule": {
            "type": "capsule", "radius": 0.005, "length": 0.99,
            "orientation": [0.7071067811865476, 0, 0.7071067811865475, 0],
        },
    }  # fmt: skip
    joint = {"name": "h", "type": "hinge", "parent": "world", "child": "rod", "anchor": [0, 0, 0],
             "axis": [0, 0, 1]}  # fmt: skip
    for angle in (0.03, 0.1, 0.149, 0.151, 0.4, 0.77, 1.3):
        c, s = np.cos(angle), np.sin(angle)
        plate = {
            "name": "plate", "type": "static", "position": [0.4 * c, 0.4 * s, 0],
            "orientation": [np.cos(angle / 2), 0, 0, np.sin(angle / 2)],
            "shapes": [{"type": "box", "size": [0.25, 0.001, 0.2]}],
        }  # fmt: skip
        rod = {
            "name": "rod", "mass": 1.0, "angular_velocity": [0, 0, w], "shapes": [shapes[shape]],
            "inertia": [0.001, 0.08, 0.08],
        }  # fmt: skip
        sim = simulate(
            document([plate, rod], [joint] if hinged else [], gravity=[0, 0, 0],
                     simulation={"dt": dt})
        )  # fmt: skip
        for _ in range(10):
            sim.advance()
            pose = sim.poses()[1]
            turned = 2.0 * np.arctan2(pose[6], pose[3])
            # the rod's line at the plate's place, across the plate
            tip = pose[:2] + 0.4 * np.array([np.cos(turned), np.sin(turned)])
            assert -s * tip[0] + c * tip[1] < 0.0005
        if hinged:
            assert sim.summary()["joints"]["max_position_error"] < 1e-6


# -------------------------------------------------------------------- passing by


def test_pairs_of_deflected_bodies_are_looked_at_again() -> None:
    """The other pairs go where contacts were found for."""
    ball = {"type": "sphere", "radius": 0.1}
    balls = [
        {"name": f"b{k}", "density": 1000.0, "position": [x, 0, 0], "shapes": [ball]}
        for k, x in enumerate((0.0, 0.2005, 5.0, 5.2005))
    ]
    simulation = simulate(document(balls, gravity=[0, 0, 0]))
    simulation.advance(1)
    world = simulation.world
    sweep, marked = world.collision.sweep, world.work.motion.deflected
    pairs = [(0, 1), (1, 2), (2, 3)]
    for one, last in ((0, 1), (2, 3), (3, 3)):
        sweep.pair_a[:3], sweep.pair_b[:3] = zip(*pairs, strict=True)
        sweep.pair_count[:] = 3, 5
        marked[:] = 0
        marked[[one, last]] = 1
        keep_deflected(world)
        kept = [pair for pair in pairs if one in pair or last in pair]
        n = sweep.pair_count[0]
        assert list(zip(sweep.pair_a[:n], sweep.pair_b[:n], strict=True)) == kept
        # two found no room: they are not forgotten
        assert sweep.pair_count[1] == n + 2


@pytest.mark.parametrize("kind", BULLETS)
def test_what_passes_beside_an_obstacle_is_not_deflected(kind: str) -> None:
    """4 mm beside the wall's edge, at any part of a step: not even the last bit changes."""
    for offset in (0.01, 0.3, 0.49, 0.9, 1.4):
        edge = thin_wall(type="static")
        edge["position"] = [0, 0.5 + 0.013 + 0.009, 0]
        sim = shot(kind, offset, 1e-3, edge, bullet={"angular_velocity": [5, 3, 2]})
        far = edge | {"position": [0, 50, 0]}
        free = shot(kind, offset, 1e-3, far, bullet={"angular_velocity": [5, 3, 2]})
        sim.advance(8)
        free.advance(8)
        assert sim.poses()[1].tobytes() == free.poses()[1].tobytes()
        assert sim.poses()[1, 0] > 0.5


def test_two_that_cross_behind_each_other_do_not_meet() -> None:
    """Paths cross in a point, at different times."""

    def ball(name: str, p: list[float], v: list[float]) -> dict[str, object]:
        return {
            "name": name, "mass": 1.0, "position": p, "linear_velocity": v,
            "shapes": [BULLETS["sphere"]],
        }  # fmt: skip

    bodies = [ball("a", [-0.2, 0, 0], [SPEED, 0, 0]), ball("b", [0, -0.16, 0], [0, SPEED, 0])]
    sim = simulate(document(bodies, gravity=[0, 0, 0], simulation={"dt": 1e-3}))
    sim.advance(5)
    assert sim.velocities()[:, :2].tolist() == [[SPEED, 0], [0, SPEED]]


HULL = 0.05 * np.array([[1, 0, 0], [-1, 0.2, 0], [0, 1, 0], [0, -1, 0.1], [0, 0, 1], [0.1, 0, -1]])
KINDS = {
    SPHERE: (0.05, 0, 0), BOX: (0.2, 0.03, 0.02), CAPSULE: (0.02, 0.2, 0), CONVEX: (0, 0, 0),
}  # fmt: skip
unit = st.floats(-1, 1)
vector = st.tuples(unit, unit, unit)


@settings(max_examples=30, deadline=None, derandomize=True)
@given(
    st.sampled_from(list(KINDS)), st.sampled_from(list(KINDS)), vector, vector, vector, vector,
    st.floats(0.05, 1.0),
)  # fmt: skip
def test_the_way_of_a_pair_is_judged_as_by_looking_everywhere(a, b, p, v, wa, wb, spin) -> None:
    h, margin = 1.0, 0.01
    points = {CONVEX: HULL}
    solids = [
        Solid(a, KINDS[a], points=points.get(a), v=tuple(np.array(v) * 0.6),
              w=tuple(spin * np.array(wa))),
        Solid(b, KINDS[b], p=tuple(0.6 * np.array(p) + [0.25, 0, 0]), points=points.get(b),
              w=tuple(spin * np.array(wb))),
    ]  # fmt: skip
    world = World(solids, margin=margin, h=h)
    pose_all(world.model.shapes, world.state, world.scratch, 0.5 * margin, h)
    hull = world.scratch.points.copy()
    first = 0 if a <= b else 1
    near = comes_within(world.model.shapes, world.scratch, (0, 1), first, margin, h)
    # every vertex is back where it was, bit for bit
    assert world.scratch.points.tobytes() == hull.tobytes()
    rng = np.random.default_rng(1)
    least = np.inf
    for t in np.linspace(0.0, h, 25):
        moved = [
            Solid(s.kind, s.size, points=s.points, p=tuple(np.array(s.p) + t * np.array(s.v)),
                  q=about(s.w, t * np.linalg.norm(s.w)) if np.linalg.norm(s.w) > 0 else s.q)
            for s in solids
        ]  # fmt: skip
        gap, _ = gap_by_search(moved[0], moved[1], rng, starts=2, rounds=25, samples=20)
        least = min(least, gap)
    if not near:
        assert least > margin - 1e-4
    elif least > 0.05:
        # a whole body's width away is no doubt
        raise AssertionError(f"held for near at a distance of {least}")


@pytest.mark.parametrize("speed", [1e31, 1e50, 1e160])
@pytest.mark.parametrize(
    "contact",
    [{}, {"impact_time": "exact"}, {"restitution_law": "poisson"}],
    ids=["step", "exact", "poisson"],
)
def test_speeds_beyond_any_motion_end_the_run(contact: dict[str, str], speed: float) -> None:
    shape = {"type": "box", "size": [0.2, 0.2, 0.2]}
    bodies = [
        {"name": f"box-{k}", "mass": 1.0, "position": [0.01 * k, 0, 0.1 + 0.2 * k],
         "shapes": [shape]}
        for k in range(4)
    ]  # fmt: skip
    sim = simulate(document([ground(), *bodies], simulation={"dt": 2e-3}, contact=contact))
    sim.advance(3)
    sim.set_velocity("box-1", [speed, speed, -speed], [speed, 0, speed])
    assert sim.advance(50) < 50
    assert sim.failure is not None
    assert sim.advance(1) == 0
