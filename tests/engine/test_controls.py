"""Controls over a run: what is commanded between two steps of a kernel is what `set_motor` says."""

from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from cardan.engine import Simulation, rollout_states
from cardan.schemas import load_scene

Document = dict[str, Any]
Array = NDArray[np.float64]

STEPS, EVERY, ROWS, WORLDS = 120, 8, 24, 2
SERVO = {"type": "position", "target": 0.1, "stiffness": 60.0, "damping": 2.0}
RIGID = {"type": "position", "target": 0.0}
SPEED = {"type": "velocity", "target": 0.5}
WEAK = {"type": "velocity", "target": 0.5, "max_force": 3.0}
PUSH = {"type": "force", "target": 0.3}


def arm(motor: Document, **simulation: Any) -> Document:
    """Two driven links whose second one falls on the ground."""
    plane = {"type": "plane", "normal": [0, 0, 1]}
    bodies: list[Document] = [{"name": "ground", "type": "static", "shapes": [plane]}]
    joints: list[Document] = []
    for i in range(2):
        one: Document = {"name": f"b{i}", "position": [0.5 * i + 0.25, 0.0, 0.12], "mass": 1.0}
        ball = {"type": "sphere", "radius": 0.1, "position": [0.2, 0.0, 0.0]}
        bodies.append(one | {"inertia": [0.01, 0.03, 0.03], "shapes": [ball]})
        link: Document = {"type": "hinge", "parent": "world" if i == 0 else "b0", "child": f"b{i}"}
        link |= {"name": f"to b{i}", "anchor": [0.5 * i, 0.0, 0.12], "axis": [0, 1, 0]}
        joints.append(link | {"motor": motor})
    settings = {"dt": 2e-3, "duration": STEPS * 2e-3} | simulation
    return {"simulation": settings, "bodies": bodies, "joints": joints}


def loop(motor: Document) -> Document:
    """A parallelogram with a driven crank, its loop closed by a joint of rows."""
    document = arm(motor, formulation="maximal")
    end = {"type": "hinge", "parent": "world", "child": "b2", "name": "to b2", "axis": [0, 1, 0]}
    document["bodies"].append(
        {"name": "b2", "position": [1.0, 0.0, 0.37], "mass": 1.0, "inertia": [0.03, 0.03, 0.01]}
    )
    document["joints"].append(end | {"anchor": [1.0, 0.0, 0.62]})
    last = end | {"parent": "b1", "name": "closes", "anchor": [1.0, 0.0, 0.12]}
    document["joints"].append(last)
    return document


def breaking(motor: Document) -> Document:
    """The joint that is driven second breaks as it falls."""
    document = arm(motor, formulation="maximal")
    document["joints"][1]["breaking_force"] = 25.0
    return document


def free(motor: Document, integrator: str) -> Document:
    """The arm far above the ground, its motion smooth."""
    document = arm(motor, integrator=integrator, formulation="reduced")
    for one in document["bodies"][1:]:
        del one["shapes"]
    return document


SCENES = {
    "servo": lambda: arm(SERVO, formulation="reduced"),
    "servo, rows": lambda: arm(SERVO, formulation="maximal"),
    "rigid": lambda: arm(RIGID, formulation="reduced"),
    "speed": lambda: arm(SPEED, formulation="reduced"),
    "speed, rows": lambda: arm(SPEED, formulation="maximal"),
    "speed at once, exact impacts": lambda: arm(SPEED, contact={"impact_time": "exact"}),
    "weak": lambda: arm(WEAK, formulation="reduced"),
    "push": lambda: arm(PUSH, formulation="reduced"),
    "loop": lambda: loop(SPEED),
    "breaks": lambda: breaking(WEAK),
    "rk4": lambda: free(SERVO, "rk4"),
}


def targets(motors: int) -> Array:
    """Controls of each world, some of them as they were the time before."""
    found = np.random.default_rng(3).uniform(-2.0, 2.0, (WORLDS, ROWS, motors))
    found[:, 5:9] = found[:, 4:5]
    return found


def by_hand(document: Document, start: tuple[Array, Array], rows: Array) -> tuple[Array, Array]:
    """Frames of one world by commands between calls of `advance`."""
    one = Simulation(load_scene(document))
    one.reset(*start)
    held = STEPS // len(rows)
    q, qd = [start[0]], [start[1]]
    for step in range(STEPS):
        if step % held == 0:
            for k, target in enumerate(rows[step // held]):
                if one.state.broken[k, 0] != one.state.broken[k, 0]:
                    one.set_motor(f"to b{k}", float(target))
        one.advance(1)
        if (step + 1) % EVERY == 0:
            found = one.joint_state()
            is_tree = len(one.state.tree_q) > 0
            q.append(one.state.tree_q.copy() if is_tree else found.q)
            qd.append(one.state.tree_qd.copy() if is_tree else found.qd)
    return np.array(q), np.array(qd)


@pytest.mark.parametrize("name", SCENES)
def test_controls_are_the_commands_of_set_motor(name: str) -> None:
    """Every frame has the bits that commands between steps give."""
    document = SCENES[name]()
    start = Simulation(load_scene(document)).joint_state()
    driven = sum("motor" in one for one in document["joints"])
    controls = targets(driven)
    qd = start.qd if name == "loop" else start.qd + 0.2
    found = rollout_states(document, start.q, qd, controls, ("energy.final",), every=EVERY)
    assert found.status.tolist() == ["succeeded"] * WORLDS
    for k in range(WORLDS):
        wanted_q, wanted_qd = by_hand(document, (start.q, qd), controls[k])
        assert found.q[k, 1:].tobytes() == wanted_q[1:].tobytes()
        assert found.qd[k, 1:].tobytes() == wanted_qd[1:].tobytes()
    assert np.abs(found.q[0] - found.q[1]).max() > 1e-4


def test_a_joint_that_broke_is_not_driven() -> None:
    """The premise of the case above: it breaks, and the other motor goes on."""
    document = breaking(WEAK)
    one = Simulation(load_scene(document))
    one.advance(STEPS)
    assert np.isfinite(one.state.broken[1, 0])
    assert np.isnan(one.state.broken[0, 0])


def test_who_sleeps_is_woken() -> None:
    """A push that comes late finds the arm asleep on the ground."""
    sleeping = {"enabled": True, "time": 0.02, "linear_speed": 0.05, "angular_speed": 0.3}
    document = arm(PUSH, formulation="maximal", sleeping=sleeping)
    one = Simulation(load_scene(document))
    start = one.joint_state()
    controls = np.zeros((1, 4, 2))
    controls[0, -1] = -5.0
    wanted_q, _ = by_hand(document, start, controls[0])
    found = rollout_states(document, *start, controls, (), every=EVERY)
    assert found.q[0].tobytes() == wanted_q.tobytes()
    # steps 88 and 96: commanded anew after 90
    assert found.qd[0, 11].tolist() == [0.0, 0.0]
    assert np.abs(found.qd[0, 12]).max() > 0.05


def test_another_scene_or_a_reset_has_no_controls() -> None:
    """After `reset` motors follow the scene again."""
    document = arm(SERVO, formulation="reduced")
    found = rollout_states(document, controls=np.full((1, 2), 1.0), metrics=(), every=EVERY)
    plain = rollout_states(document, metrics=(), every=EVERY)
    one = Simulation(load_scene(document))
    one.advance(STEPS)
    assert plain.q[0, -1].tobytes() == one.state.tree_q.tobytes()
    assert np.abs(found.q[0, -1] - plain.q[0, -1]).max() > 1e-3


def test_a_bound_that_is_refused_changes_nothing() -> None:
    one = Simulation(load_scene(arm(WEAK)))
    before = one.snapshot()
    for wrong in (-1.0, float("nan")):
        with pytest.raises(ValueError, match="max_force must not be negative"):
            one.set_motor("to b0", 2.0, max_force=wrong)
    assert one.snapshot() == before
