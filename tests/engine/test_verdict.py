"""Runs that leave their limits say so, with the place and the time; others are trusted."""

import numpy as np
import pytest

from cardan.engine import Simulation
from cardan.engine.build.limits import body_lengths
from cardan.schemas.examples import example_names, example_text
from cardan.schemas.load import load_scene
from cardan.schemas.summary import Verdict
from tests.engine.scenes import document, ground, simulate

LINKS, LINK = 6, 0.1


def crane(mass=1e-3, dt=0.002, **more):
    """A chain of links, of a gram by default, that carries a ton, let go level."""
    bodies = [
        {"name": f"link{k}", "position": [LINK * (k + 0.5), 0, 0], "mass": mass,
         "shapes": [{"type": "box", "size": [LINK, 0.02, 0.02], "collision_mask": 0}]}
        for k in range(LINKS)
    ]  # fmt: skip
    load = {"name": "load", "position": [LINK * LINKS + 0.5, 0, 0], "mass": 1000.0}
    bodies.append({**load, "shapes": [{"type": "box", "size": [1, 1, 1], "collision_mask": 0}]})
    names = ["world", *(body["name"] for body in bodies)]
    joints = [
        {"name": f"pin{k}", "type": "ball", "parent": names[k], "child": names[k + 1],
         "anchor": [LINK * k, 0, 0]}
        for k in range(LINKS + 1)
    ]  # fmt: skip
    return document(bodies, joints, simulation={"dt": dt, "duration": 1.0, **more})


def comet(dt):
    """A body without size on a long ellipse about a heavy one."""
    sun = {"name": "sun", "mass": 1e3, "inertia": [1.0] * 3}
    comet = {"name": "comet", "mass": 1e-3, "inertia": [1e-6] * 3}
    comet |= {"position": [1, 0, 0], "linear_velocity": [0, 0.2, 0]}
    forces = [{"name": "pull", "type": "point_gravity", "constant": 1e-3}]
    simulation = {"dt": dt, "duration": 3.0}
    return document([sun, comet], forces=forces, simulation=simulation, gravity=[0, 0, 0])


def ball(**more):
    """A ball of 10 cm that nothing pulls, above the ground."""
    shape = {"type": "sphere", "radius": 0.05}
    return {"name": "ball", "position": [0, 0, 1], "mass": 1.0, "shapes": [shape], **more}


def free(*bodies, **simulation):
    """Bodies without gravity, for 0.1 s."""
    return document(list(bodies), gravity=[0, 0, 0], simulation={"duration": 0.1, **simulation})


def ran(scene, steps=None):
    """A scene after some steps, by default after all."""
    simulation = simulate(scene)
    simulation.advance(simulation.total_steps if steps is None else steps)
    return simulation


def the_finding(simulation, quantity):
    """The only finding of a run, of the kind that is expected."""
    (finding,) = simulation.findings()
    assert finding["quantity"] == quantity
    return finding


def test_joints_that_come_apart_are_found_when_they_do():
    scene = crane()
    simulation = simulate(scene)
    anchors = [np.array([LINK * k, 0.0, 0.0]) for k in range(LINKS + 1)]
    start = simulation.poses()[:, :3]
    first, joint, worst = None, None, 0.0
    while simulation.step_count < simulation.total_steps and simulation.failure is None:
        simulation.advance(1)
        gaps = gaps_of(simulation.poses(), start, anchors)
        over = np.flatnonzero(gaps > 0.01 * LINK)
        if first is None and len(over):
            first, joint = simulation.step_count, f"pin{over[0]}"
        worst = max(worst, float(np.nanmax(gaps[:-1])))
    finding = next(f for f in simulation.findings() if f["quantity"] == "joint_error")
    assert (finding["first_step"], finding["joint"]) == (first, joint)
    assert finding["first_time"] == pytest.approx(first * simulation.time_step)
    assert finding["limit"] == pytest.approx(0.01 * LINK)
    assert finding["value"] == pytest.approx(worst, rel=1e-6)
    assert simulation.summary()["verdict"]["status"] == "wrong"
    text = next(said for said in simulation.warnings() if "comes apart" in said)
    for word in (joint, f"{finding['value']:.3g} m", "0.001 m", "reduced", "simulation.dt"):
        assert word in text, text


def gaps_of(poses, start, anchors):
    """(j,) m: how far the anchors of the chain are apart, from poses alone."""
    points = []
    for pose, origin in zip(poses, start, strict=True):
        w, v = pose[3], pose[4:]
        points.append((pose[:3], origin, w, v))

    def carried(i, anchor):
        p, origin, w, v = points[i]
        r = anchor - origin
        return p + r + 2.0 * np.cross(v, np.cross(v, r) + w * r)

    ends = [anchors[0], *(carried(k, anchors[k + 1]) for k in range(LINKS))]
    return np.array([np.linalg.norm(carried(k, a) - ends[k]) for k, a in enumerate(anchors)])


@pytest.mark.parametrize("formulation", ["maximal", "reduced"])
def test_a_chain_of_heavy_links_is_trusted(formulation):
    simulation = ran(crane(mass=100.0, formulation=formulation))
    assert simulation.summary()["verdict"] == {"status": "trusted", "findings": []}


def test_energy_that_grows_from_nothing_is_found():
    careless, sensible = ran(comet(0.02)), ran(comet(0.0001))
    assert sensible.findings() == []
    finding = the_finding(careless, "energy_growth")
    energy = careless.summary()["energy"]
    assert finding["value"] >= energy["final"] - energy["initial"] > finding["limit"]
    assert 0.0 < finding["first_time"] <= careless.time
    assert "energy grows" in careless.warnings()[0]


def test_work_that_is_done_is_no_growth():
    disc = {"name": "disc", "mass": 1.0, "inertia": [0.1] * 3}
    hinge = {"name": "axle", "type": "hinge", "parent": "world", "child": "disc"}
    hinge |= {"anchor": [0, 0, 0], "axis": [0, 0, 1], "motor": {"type": "force", "target": 20.0}}
    simulation = ran(document([disc], [hinge], simulation={"dt": 0.001, "duration": 0.5}))
    assert simulation.energy()["kinetic"] > 100.0
    assert simulation.findings() == []


def test_a_body_that_moves_farther_in_a_step_than_it_is_long_is_named():
    wall = {"name": "slow", "position": [0, 3, 1], "mass": 1.0, "linear_velocity": [99.0, 0, 0]}
    wall["shapes"] = [{"type": "sphere", "radius": 0.05}]
    fast = ball(linear_velocity=[101.0, 0, 0])
    finding = the_finding(ran(free(wall, fast, dt=0.001)), "travel_per_step")
    assert (finding["body"], finding["first_step"]) == ("ball", 1)
    assert finding["value"] == pytest.approx(0.101)
    assert finding["limit"] == pytest.approx(0.1)
    assert "0.00099 s" in finding["change"]


def test_what_can_touch_nothing_may_fly_as_fast_as_it_likes():
    ghost = {"type": "sphere", "radius": 0.05, "collision_mask": 0}
    fast = ball(linear_velocity=[500.0, 0, 0], shapes=[ghost])
    assert ran(free(fast, ground(), dt=0.001)).findings() == []


def test_a_body_that_turns_far_in_a_step_is_named_with_the_time_of_it():
    disc = {"name": "disc", "mass": 1.0, "inertia": [0.1] * 3}
    hinge = {"name": "axle", "type": "hinge", "parent": "world", "child": "disc"}
    hinge |= {"anchor": [0, 0, 0], "axis": [0, 0, 1], "motor": {"type": "force", "target": 100.0}}
    # w = 1000 t: 0.2 rad a step of 1 ms from 200 rad/s on, after 200 steps
    simulation = ran(document([disc], [hinge], simulation={"dt": 0.001, "duration": 0.3}))
    finding = the_finding(simulation, "turn_per_step")
    assert (finding["body"], finding["worst"]) == ("disc", "disc")
    assert finding["first_time"] == pytest.approx(0.2, abs=0.0015)
    assert finding["value"] == pytest.approx(0.3, rel=1e-6)
    assert finding["limit"] == pytest.approx(0.2)
    assert simulation.summary()["verdict"]["status"] == "suspect"


def crate(name, x, size=1.0):
    """A box of a metre above the ground."""
    shape = {"type": "box", "size": [size, size, size]}
    return {"name": name, "position": [x, 0, 5], "mass": 1.0, "shapes": [shape]}


def test_bodies_that_overlap_at_the_start_are_named_before_the_first_step():
    scene = free(crate("a", 0.0), crate("b", 0.95), crate("c", 1.945), dt=0.001)
    simulation = simulate(scene)
    finding = the_finding(simulation, "initial_overlap")
    assert {finding["body"], finding["other_body"]} == {"a", "b"}
    assert finding["value"] == pytest.approx(0.05)
    assert finding["limit"] == pytest.approx(0.01)
    assert finding["first_time"] == 0.0
    simulation.advance(10)
    assert "overlap at the start" in simulation.warnings()[0]


def test_what_flies_towards_the_ground_does_not_overlap_it():
    low = ball(position=[0, 0, 0.05], linear_velocity=[0, 0, -40.0])
    assert simulate(free(low, ground(), dt=0.001)).findings() == []


def test_many_overlaps_are_counted_and_the_worst_are_listed():
    scene = free(*(crate(f"c{k}", 0.9 * k) for k in range(14)), dt=0.001)
    found = simulate(scene).findings()
    assert len(found) == 10
    assert found[-1]["others"] == 3


def test_findings_outlive_pauses_and_snapshots():
    scene = free(ball(angular_velocity=[0, 0, 300.0]), crate("a", 3.0), crate("b", 3.9), dt=0.001)
    whole = ran(scene, 20)
    parts = simulate(scene)
    for _ in range(10):
        parts.advance(2)
    assert parts.findings() == whole.findings()
    later = simulate(scene)
    later.restore(whole.snapshot())
    assert later.findings() == whole.findings()
    assert later.state_hash() == parts.state_hash()


def test_a_run_that_blew_up_is_wrong():
    scene = free(ball(), dt=0.001)
    simulation = simulate(scene)
    simulation.state.v_WB_W[0, 0] = np.inf
    simulation.advance(2)
    assert simulation.failure is not None
    assert simulation.summary()["verdict"]["status"] == "wrong"


def test_findings_have_the_keys_of_the_summary():
    fast = ball(linear_velocity=[500.0, 0, 0], angular_velocity=[0, 0, 900.0])
    simulation = ran(free(fast, crate("a", 3.0), crate("b", 3.9), dt=0.001), 5)
    verdict = simulation.summary()["verdict"]
    assert len(verdict["findings"]) == 3
    read = Verdict.model_validate(verdict)
    assert read.model_dump(exclude_defaults=True)["status"] == "suspect"
    assert not read.model_extra
    assert not any(finding.model_extra for finding in read.findings)


def test_lengths_are_those_of_the_shapes():
    turned = [0.7071067811865476, 0.0, 0.7071067811865475, 0.0]
    points = [[0, 0, 0], [1, 0, 0], [0, 2, 0], [0, 0, 3]]
    two = [
        {"type": "sphere", "radius": 0.5, "position": [-1, 0, 0]},
        {"type": "sphere", "radius": 0.5, "position": [1, 0, 0]},
    ]
    shapes = {
        "box": ([{"type": "box", "size": [1, 2, 3]}], 3.0),
        "capsule": ([{"type": "capsule", "radius": 1, "length": 2, "orientation": turned}], 4.0),
        "cylinder": ([{"type": "cylinder", "radius": 1, "length": 5, "orientation": turned}], 5.0),
        "cone": ([{"type": "cone", "radius": 2, "length": 1}], 4.0),
        "ellipsoid": ([{"type": "ellipsoid", "radii": [1, 2, 3], "orientation": turned}], 6.0),
        "convex": ([{"type": "convex", "points": points, "orientation": turned}], 3.0),
        "dumbbell": (two, 3.0),
    }
    bodies = [
        {"name": name, "position": [9 * k, 0, 0], "mass": 1.0, "shapes": made}
        for k, (name, (made, _)) in enumerate(shapes.items())
    ]
    # a rod of 2 m: m l^2/12; its thickness is nothing
    rod = {"name": "rod", "position": [0, 9, 0], "mass": 3.0, "inertia": [1e-9, 1.0, 1.0]}
    simulation = simulate(document([*bodies, rod]))
    length = body_lengths(simulation.model, simulation.state.p_WB)
    wanted = [most for _, most in shapes.values()]
    assert length[: len(wanted)] == pytest.approx(wanted)
    assert length[len(wanted)] == pytest.approx(2.0)


@pytest.mark.parametrize("name", sorted(set(example_names()) - {"pile"}))
def test_examples_are_trusted(name):
    simulation = Simulation(load_scene(example_text(name)))
    simulation.advance(simulation.total_steps)
    assert simulation.summary()["verdict"] == {"status": "trusted", "findings": []}
