"""Worlds whose shapes come near each other leave their lanes in time; all others stay."""

from typing import Any

import numpy as np
import pytest

from cardan.engine import Simulation, rollout, rollout_states
from cardan.engine.build.rotations import rotation_matrix
from cardan.engine.compiler.lanes import HAS_LANES, W
from cardan.engine.lanes.boxes import lane_boxes, touching_pairs
from cardan.schemas import load_scene
from tests.engine.lanes.test_lanes import (
    Document,
    alone,
    arm,
    assert_worlds_are_those_alone,
    body,
    free_chain,
    joint,
    varied,
)
from tests.engine.random_scenes import BOUNDED

needs_lanes = pytest.mark.skipif(not HAS_LANES, reason="this way to compile has no lanes")

GROUND = {"name": "ground", "type": "static", "shapes": [{"type": "plane", "normal": [0, 0, 1]}]}
SHAPES = [shape for shape in BOUNDED if shape["type"] != "mesh"]


def placed(shape: Document, rng: np.random.Generator) -> Document:
    """A shape anywhere on its body, turned."""
    q = rng.normal(size=4)
    at = rng.uniform(-0.05, 0.05, 3).tolist()
    return {**shape, "position": at, "orientation": (q / np.linalg.norm(q)).tolist()}


@pytest.mark.parametrize("is_turned", [False, True])
def test_boxes_hold_their_shapes(is_turned: bool) -> None:
    """Against the bounds of the broad phase, which are widths along the axes of W."""
    rng = np.random.default_rng(5)
    bodies = []
    for k, shape in enumerate(SHAPES):
        kept = placed(shape, rng) if is_turned else shape
        q = rng.normal(size=4) if is_turned else np.array([1.0, 0.0, 0.0, 0.0])
        turned = {"orientation": (q / np.linalg.norm(q)).tolist()}
        bodies.append(body(f"b{k}", [float(k), 0.0, 0.5], shapes=[kept], **turned))
    simulation = Simulation(load_scene({"bodies": [*bodies, GROUND]}))
    simulation.find_contacts()
    pairs = touching_pairs(simulation.model)
    assert pairs is not None
    boxes, state = lane_boxes(simulation.model, 0.0, pairs), simulation.state
    sweep, half_margin = simulation.collision.sweep, 0.5 * simulation.options.margin
    for i in range(len(SHAPES)):
        R = rotation_matrix(state.q_WB[boxes.body[i]])
        centre = state.p_WB[boxes.body[i]] + R @ boxes.centre_B[i]
        wide = np.abs(R @ boxes.R_BA[i]) @ boxes.half[i]
        lower, upper = sweep.lower[i] + half_margin, sweep.upper[i] - half_margin
        assert (centre - wide <= lower + 1e-12).all()
        assert (centre + wide >= upper - 1e-12).all()
        if not is_turned:
            # along the axes of its own frame nothing is left between shape and box
            assert centre - wide == pytest.approx(lower, abs=1e-12)
            assert centre + wide == pytest.approx(upper, abs=1e-12)
    plane = len(SHAPES)
    assert boxes.is_plane.tolist() == [0] * plane + [1]
    assert set(boxes.pairs[boxes.pairs[:, 1] == 0, 0].tolist()) == {plane}


def shaped_chain(steps: int, height: float) -> Document:
    """A floating chain whose links may touch each other and the ground."""
    document = free_chain(steps)
    for one in document["bodies"]:
        one["shapes"] = [{"type": "box", "size": [0.3, 0.1, 0.1]}]
        one["position"][2] += height
    for one in document["joints"]:
        one["anchor"][2] += height
    document["bodies"].append(GROUND)
    return document


@needs_lanes
def test_worlds_with_shapes_have_the_bits_they_have_alone() -> None:
    document = shaped_chain(60, 5.0)
    found = assert_worlds_are_those_alone(document)
    assert (found.metrics["contacts.max_count"] == 0).all()


@needs_lanes
def test_a_world_that_touches_the_ground_is_computed_alone() -> None:
    # after 0.2 s the lower ones have fallen 0.2 m, and every second world starts lower
    document = shaped_chain(200, 5.0)
    for one in document["bodies"][:-1]:
        one["linear_velocity"], one["angular_velocity"] = [0, 0, 0], [0, 0, 0]
    variations = [
        {"/bodies/5/position": [0.0, 0.0, 4.9 if k % 2 else 0.0], "/gravity": [0, 0, -9.8 - k]}
        for k in range(W)
    ]
    found = rollout(document, variations, ("state_hash", "contacts.max_count"))
    assert found.in_lanes == W // 2
    assert (found.metrics["contacts.max_count"] > 0).tolist() == [False, True] * (W // 2)
    for k, overrides in enumerate(variations):
        assert found.metrics["state_hash"][k] == alone(document, overrides).state_hash()


def tumbling(seed: int, steps: int) -> Document:
    """Two floating chains of any shapes that fly through each other's neighbourhood."""
    rng = np.random.default_rng(seed)
    bodies, joints = [], []
    for c in range(2):
        for k in range(3):
            at = [0.5 * k, 1.05 * c, 0.0]
            kind = SHAPES[int(rng.integers(len(SHAPES)))]
            moves = {"linear_velocity": [0.0, float(rng.uniform(0.0, 3.0)) * (1 - 2 * c), 0.0]}
            bodies.append(body(f"b{c}{k}", at, shapes=[placed(kind, rng)], **moves))
            if k:
                one = joint("ball", f"b{c}{k - 1}", f"b{c}{k}", 0.5 * k - 0.25)
                joints.append({**one, "anchor": [0.5 * k - 0.25, 1.05 * c, 0.0]})
    simulation = {"dt": 2e-3, "duration": steps * 2e-3, "formulation": "reduced"}
    return {"simulation": simulation, "gravity": [0, 0, 0], "bodies": bodies, "joints": joints}


@needs_lanes
def test_whoever_touches_is_left_and_bits_are_those_alone() -> None:
    left, touched, runs = 0, 0, 2 * W
    for seed in range(6):
        document, rng = tumbling(seed, 120), np.random.default_rng(seed)
        # every body has a speed of its own towards the other chain
        variations = [
            {
                f"/bodies/{i}/linear_velocity": [0.0, (1 - 2 * (i // 3)) * rng.uniform(0, 2.4), 0.0]
                for i in range(6)
            }
            for _ in range(runs)
        ]
        found = rollout(document, variations, ("state_hash", "contacts.max_count"))
        hits = 0
        for k, overrides in enumerate(variations):
            own = alone(document, overrides)
            assert found.metrics["state_hash"][k] == own.state_hash()
            hits += own.summary()["contacts"]["max_count"] > 0
        assert found.in_lanes <= runs - hits
        left += runs - found.in_lanes
        touched += hits
    # many come near enough to be left, and most of those that do not touch stay
    assert touched > runs
    assert 6 * runs - left > runs
    assert left - touched < 0.5 * (6 * runs - touched)


def shaped_arm(steps: int) -> Document:
    """An arm of capsules over a table."""
    document = arm(steps)
    for one in document["bodies"]:
        one["shapes"] = [{"type": "capsule", "radius": 0.04, "length": 0.3}]
        one["shapes"][0]["orientation"] = [0.5**0.5, 0.0, 0.5**0.5, 0.0]
    table = {"type": "box", "size": [4.0, 4.0, 0.1]}
    document["bodies"].append(
        {"name": "table", "type": "static", "position": [0.0, 0.0, -0.5], "shapes": [table]}
    )
    return document


@needs_lanes
def test_driven_arms_that_hit_the_table_run_alone_from_arrays_of_states() -> None:
    document = shaped_arm(240)
    start = Simulation(load_scene(document)).joint_state()
    q, qd = np.tile(start.q, (2 * W, 1)), np.tile(start.qd, (2 * W, 1))
    # every third arm bends its elbow down to the table
    controls = np.zeros((2 * W, 1, 3))
    controls[::3, 0, 1] = 1.5
    found = rollout_states(document, q, qd, controls, ("contacts.max_count", "energy.final"))
    hits = found.metrics["contacts.max_count"] > 0
    assert hits[::3].all()
    assert found.in_lanes == 2 * W - np.count_nonzero(hits)
    for k in range(2 * W):
        own = Simulation(load_scene(document))
        own.reset(q[k], qd[k])
        for (name, axis), target in zip(found.motors, controls[k, 0], strict=True):
            own.set_motor(name, float(target), axis)
        own.advance(240)
        assert np.abs(found.q[k, -1] - own.state.tree_q).max() < (0.0 if hits[k] else 1e-12) + 1e-15


@needs_lanes
def test_worlds_that_begin_in_contact_are_computed_alone() -> None:
    brick = body("b0", [0.0, 0.0, 0.1], shapes=[{"type": "sphere", "radius": 0.1}])
    rail = joint("slider", "world", "b0", 0.0, axis=[0, 0, 1])
    simulation = {"dt": 1e-3, "duration": 0.05, "formulation": "reduced"}
    document = {"simulation": simulation, "bodies": [GROUND, brick], "joints": [rail]}
    found = rollout_states(document, [[0.0], [0.2], [0.0], [0.3]], n_steps=50)
    assert found.in_lanes == 2
    assert found.q[[0, 2], -1, 0] == pytest.approx([0.0, 0.0], abs=1e-4)
    assert found.q[1, -1, 0] == pytest.approx(0.2 - 0.5 * 9.81 * 0.05**2, abs=1e-6)


def test_a_crowd_of_shapes_is_no_scene_for_lanes() -> None:
    """More pairs than lanes look at."""
    crowd: Any = [
        body(f"b{k}", [float(k), 0, 0], shapes=[{"type": "sphere", "radius": 0.1}])
        for k in range(40)
    ]
    simulation = {"dt": 1e-3, "duration": 0.01, "formulation": "reduced"}
    found = rollout({"simulation": simulation, "bodies": crowd}, varied(2), ("steps",))
    assert found.in_lanes == 0
