"""Statics against closed forms: springs, drives, loops, blocks, ladders, tipping and sliding."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest

from cardan import linearize, statics
from cardan.engine.build.rotations import unit
from cardan.schemas import load_scene
from tests.engine.scenes import Document, brick, document, ground
from tests.engine.statics.cams import CAM, cam

G = 9.81
GRAVITY = [0, 0, -G]


def judged(scene: Document, **more: Any) -> Any:
    return statics(load_scene({"gravity": GRAVITY, **scene}), **more)


def arm(length: float = 1.0, mass: float = 2.0, **hinge: Any) -> Document:
    """A bar that hangs from a hinge at the origin, heavy at its end; its angle turns it to -x."""
    bob = {"name": "bob", "mass": mass, "position": [0, 0, -length], "inertia": [0.1] * 3}
    pin = {"name": "pin", "type": "hinge", "parent": "world", "child": "bob"}
    return document([bob], [pin | {"anchor": [0, 0, 0], "axis": [0, 1, 0], **hinge}])


def reaction(found: Any, joint: str) -> dict[str, Any]:
    return next(one for one in found.joints if one["joint"] == joint)


@pytest.mark.reference
def test_a_pendulum_falls_to_its_lowest_place_and_hangs_on_its_pin() -> None:
    found = judged(arm(1.5, 2.0, initial={"position": 1.0}))
    assert (found.status, found.moved) == ("equilibrium", True)
    assert found.coordinates["pin"][0] == pytest.approx(0.0, abs=1e-9)
    assert reaction(found, "pin")["force"] == pytest.approx([0, 0, 2.0 * G], abs=1e-9)
    assert reaction(found, "pin")["torque"] == pytest.approx([0, 0, 0], abs=1e-9)
    assert found.stability.stable is True
    assert found.stability.least_stiffness == pytest.approx(2.0 * G * 1.5, rel=1e-9)
    assert found.stability.eigenvalues == pytest.approx([2.0 * G * 1.5 / (0.1 + 2.0 * 1.5**2)])


@pytest.mark.parametrize("top", [0.0, 0.3])
def test_a_bob_on_a_rod_falls_to_its_lowest_place(top: float) -> None:
    """A rod of one equation: 0.76 m, held at its end, or beside the centre of the bob."""
    bob = {"name": "bob", "mass": 4.0, "inertia": [0.05] * 3, "position": [0.2, 0, -1.0]}
    rod: Document = {"name": "rod", "type": "distance", "parent": "world", "child": "bob"}
    rod |= {"anchor": [0.5, 0, 0], "anchor2": [0.2, 0, top - 1.0]}
    found = judged(document([bob], [rod]))
    assert found.status == "equilibrium"
    lowest = [0.5, 0, -math.hypot(0.3, 1.0 - top) - top]
    assert found.poses[0, :3] == pytest.approx(lowest, abs=1e-6)


def test_upright_it_is_balanced_but_not_stable() -> None:
    found = judged(arm(1.0, 2.0, initial={"position": math.pi}))
    assert (found.status, found.moved, found.stability.stable) == ("equilibrium", False, False)
    assert found.stability.least_stiffness == pytest.approx(-2.0 * G, rel=1e-9)


@pytest.mark.reference
def test_a_strut_on_a_torsion_spring_buckles() -> None:
    """m g l sin a = k a: upright beyond k = m g l, tilted below."""
    for k, upright in ((25.0, True), (15.0, False)):
        spring = {"stiffness": k, "rest": math.pi}
        found = judged(arm(spring=spring, initial={"position": math.pi + 0.2}))
        tilt = found.coordinates["pin"][0] - math.pi
        assert found.status == "equilibrium"
        assert found.stability.stable is True
        if upright:
            assert tilt == pytest.approx(0.0, abs=1e-9)
            assert found.stability.least_stiffness == pytest.approx(k - 2.0 * G, rel=1e-7)
        else:
            assert tilt > 0.5
            assert 2.0 * G * math.sin(tilt) == pytest.approx(k * tilt, rel=1e-9)


def train(n: int, stiffness: float, mass: float) -> Document:
    """Masses that hang below one another, each on a spring from the one above it."""
    bodies, joints = [], []
    for i in range(n):
        bodies.append({"name": f"m{i}", "mass": mass, "position": [0, 0, -i], "inertia": [0.1] * 3})
        slide = {"name": f"s{i}", "type": "slider", "axis": [0, 0, 1], "child": f"m{i}"}
        slide["parent"] = f"m{i - 1}" if i else "world"
        joints.append(slide | {"spring": {"stiffness": stiffness}})
    return document(bodies, joints)


@pytest.mark.reference
def test_a_train_of_springs_sags_and_has_the_frequencies_of_a_chain() -> None:
    n, k, m = 5, 400.0, 1.5
    found = judged(train(n, k, m))
    sag = [found.coordinates[f"s{i}"][0] for i in range(n)]
    assert sag == pytest.approx([-(n - i) * m * G / k for i in range(n)], rel=1e-9)
    modes = 4.0 * k / m * np.sin((2 * np.arange(1, n + 1) - 1) * math.pi / (2 * (2 * n + 1))) ** 2
    assert found.stability.eigenvalues == pytest.approx(modes, rel=1e-8)
    assert found.stability.frequencies == pytest.approx(np.sqrt(modes) / (2.0 * np.pi), rel=1e-8)


@pytest.mark.parametrize("mass", [1e-6, 1.0, 1e3, 1e5])
def test_a_door_whose_axis_is_upright_is_neutral_however_heavy(mass: float) -> None:
    """The axis is along no axis of W, so that rounding leaves something of its stiffness of 0."""
    dice = np.random.default_rng(3)
    for _ in range(4):
        place, down = 2.0 * dice.normal(size=3), unit(dice.normal(size=3))
        door = {"name": "door", "mass": mass, "position": place.tolist(), "inertia": [mass] * 3}
        pin = {"name": "pin", "type": "hinge", "parent": "world", "child": "door"}
        scene = document([door], [pin | {"anchor": [0, 0, 0], "axis": down.tolist()}])
        found = judged(scene | {"gravity": (G * down).tolist()})
        assert (found.status, found.stability.stable) == ("equilibrium", None)


@pytest.mark.reference
@pytest.mark.parametrize("upright", [False, True])
def test_a_pendulum_of_a_micrometre_is_judged_as_a_large_one(upright: bool) -> None:
    length, mass, turned = 1e-6, 1e-12, math.pi if upright else 0.0
    scene = arm(length, mass, initial={"position": turned})
    scene["bodies"][0]["inertia"] = [0.1 * mass * length**2] * 3
    found = judged(scene)
    assert (found.status, found.stability.stable) == ("equilibrium", not upright)
    stiffness = mass * G * length * math.cos(turned)
    assert found.stability.least_stiffness == pytest.approx(stiffness, rel=1e-6)


@pytest.mark.parametrize("limit", [None, 30.0, 10.0])
def test_a_servo_holds_as_long_as_its_torque_allows(limit: float | None) -> None:
    motor: Document = {"type": "position", "target": 0.5 * math.pi}
    if limit is not None:
        motor["max_force"] = limit
    found = judged(arm(1.0, 2.0, motor=motor, initial={"position": 0.5 * math.pi}))
    if limit == 10.0:
        assert found.status == "not_found"
        assert "within the bounds" in found.reason
        return
    assert (found.status, found.moved) == ("equilibrium", False)
    # the bob is at -x; its weight turns it back about y
    assert reaction(found, "pin")["drives"][0] == pytest.approx(2.0 * G, rel=1e-9)
    assert found.stability.stable is None


def test_dry_friction_of_a_joint_carries_the_start_as_it_is() -> None:
    held = judged(arm(friction=12.0, initial={"position": 0.5}))
    assert (held.status, held.moved) == ("equilibrium", False)
    assert held.stability is None
    assert 2.0 * G * math.sin(0.5) < 12.0
    slips = judged(arm(friction=8.0, initial={"position": 0.5}), search=False)
    assert slips.status == "none"


def test_an_arm_comes_to_rest_on_its_stop() -> None:
    found = judged(arm(limits={"lower": 0.3, "upper": 2.0}, initial={"position": 1.0}))
    assert (found.status, found.moved) == ("equilibrium", True)
    assert found.coordinates["pin"][0] == pytest.approx(0.3, abs=1e-9)
    assert reaction(found, "pin")["stops"][0] == pytest.approx(2.0 * G * math.sin(0.3), rel=1e-9)


def test_nothing_holds_a_body_that_falls() -> None:
    found = judged(document([{"name": "stone", "mass": 1.0, "inertia": [0.1] * 3}]))
    assert found.status == "not_found"
    judged_only = judged(
        document([{"name": "stone", "mass": 1.0, "inertia": [0.1] * 3}]), search=False
    )
    assert judged_only.status == "none"
    assert "'stone'" in judged_only.reason
    assert judged_only.unbalanced == pytest.approx(G)


def door() -> Document:
    """A door of 20 kg, 0.8 m wide, on two hinges 1.6 m apart."""
    leaf = {"name": "leaf", "mass": 20.0, "position": [0.4, 0, 1], "inertia": [4, 5, 1]}
    joints = [
        {"name": name, "type": "hinge", "parent": "world", "child": "leaf", "anchor": [0, 0, z]}
        | {"axis": [0, 0, 1]}
        for name, z in (("low", 0.2), ("high", 1.8))
    ]
    return document([leaf], joints)


@pytest.mark.reference
def test_a_door_on_two_hinges_is_indeterminate_and_balanced() -> None:
    found = judged(door())
    assert (found.status, found.moved) == ("equilibrium", False)
    # ten equations hold five ways of the door to move
    assert found.indeterminate == 5
    low, high = (reaction(found, name) for name in ("low", "high"))
    assert not low["unique"]
    force = np.add(low["force"], high["force"])
    assert force == pytest.approx([0, 0, 20.0 * G], abs=1e-6)
    moment = sum(
        np.cross([-0.4, 0, z - 1.0], one["force"]) + one["torque"]
        for one, z in ((low, 0.2), (high, 1.8))
    )
    assert moment == pytest.approx([0, 0, 0], abs=1e-6)


@pytest.mark.reference
def test_a_loop_finds_its_place_under_a_spring() -> None:
    """A parallelogram of massless bars with a heavy coupler and a torsion spring at one foot."""
    bars = [("crank", 0.0), ("rocker", 1.0)]
    light = {"mass": 1e-3, "inertia": [1e-4] * 3}
    bodies = [{"name": name, "position": [x, 0, -0.5], **light} for name, x in bars]
    bodies.append({"name": "coupler", "position": [0.5, 0, -1], "mass": 4.0, "inertia": [0.1] * 3})
    pins = [
        {"name": "a", "parent": "world", "child": "crank", "anchor": [0, 0, 0]},
        {"name": "b", "parent": "crank", "child": "coupler", "anchor": [0, 0, -1]},
        {"name": "c", "parent": "coupler", "child": "rocker", "anchor": [1, 0, -1]},
        {"name": "d", "parent": "world", "child": "rocker", "anchor": [1, 0, 0]},
    ]
    joints: list[Document] = [{"type": "hinge", "axis": [0, 1, 0], **pin} for pin in pins]
    joints[0]["spring"] = {"stiffness": 30.0, "rest": 1.0}
    found = judged(document(bodies, joints))
    assert (found.status, found.moved) == ("equilibrium", True)
    angle = found.coordinates["a"][0]
    weight = (4.0 + 2 * 1e-3 * 0.5) * G
    assert weight * math.sin(angle) == pytest.approx(30.0 * (1.0 - angle), rel=1e-8)
    assert [found.coordinates[name][0] for name in "bcd"] == pytest.approx(
        [-angle, angle, angle], abs=1e-9
    )


def parallelogram(length: float, **motor: Any) -> Document:
    """Two bars of 0.5 kg that hang from the world, and a plate of 2 kg between their ends."""
    bar = {"mass": 0.5, "inertia": [0.04 * length**2] * 3}
    feet = [("left", 0.0), ("right", 0.8 * length)]
    bodies = [{"name": n, "position": [x, 0, -0.5 * length], **bar} for n, x in feet]
    plate = {"name": "plate", "mass": 2.0, "inertia": [0.1 * length**2] * 3}
    bodies.append(plate | {"position": [0.4 * length, 0, -length]})
    ends = [("world", n, x, 0.0) for n, x in feet] + [(n, "plate", x, -length) for n, x in feet]
    joints: list[Document] = [
        {"name": f"j{k}", "type": "hinge", "axis": [0, 1, 0], "anchor": [x, 0, z]}
        | {"parent": parent, "child": child}
        for k, (parent, child, x, z) in enumerate(ends)
    ]
    joints[0] |= motor
    return document(bodies, joints)


@pytest.mark.reference
@pytest.mark.parametrize("length", [1.0, 0.01, 1e-3])
def test_a_parallelogram_that_hangs_is_stable(length: float) -> None:
    """Any of its four angles can be the one that the others follow, and no two have one sign."""
    found = judged(parallelogram(length))
    assert (found.status, found.stability.stable) == ("equilibrium", True)
    stiffness, inertia = 2.5 * G * length, (2 * (0.04 + 0.5 / 4) + 2.0) * length**2
    assert found.stability.least_stiffness == pytest.approx(stiffness, rel=1e-9)
    assert found.stability.eigenvalues == pytest.approx([stiffness / inertia], rel=1e-9)
    [mode] = linearize(load_scene({"gravity": GRAVITY, **parallelogram(length)})).modes
    assert (2 * math.pi * mode.frequency) ** 2 == pytest.approx(stiffness / inertia, rel=1e-7)


@pytest.mark.reference
@pytest.mark.parametrize("length", [1.0, 0.01, 1e-3])
def test_what_a_servo_holds_does_not_move_however_small_it_is(length: float) -> None:
    scene = parallelogram(length, motor={"type": "position", "target": 0.1})
    found = judged(scene)
    assert found.status == "equilibrium"
    assert (found.stability.stable, len(found.stability.eigenvalues)) == (None, 0)
    torque = reaction(found, "j0")["drives"][0]
    assert torque == pytest.approx(2.5 * G * length * math.sin(0.1), rel=1e-9)
    assert len(linearize(load_scene({"gravity": GRAVITY, **scene})).coordinates) == 0


# ---------------------------------------------------------------------- contacts


def block(width: float, height: float, friction: float) -> Document:
    """A block on a plane."""
    box = {"type": "box", "size": [width, width, height], "material": "wood"}
    body = {"name": "block", "mass": 3.0, "position": [0, 0, 0.5 * height], "shapes": [box]}
    floor = ground(material="wood")
    return document([floor, body], materials={"wood": {"friction": friction}})


@pytest.mark.reference
@pytest.mark.parametrize(
    ("size", "friction", "how"),
    [((1.0, 0.8), 0.3, "sliding"), ((0.4, 1.0), 0.7, "tipping"), ((0.4, 1.0), 0.2, "sliding")],
)
def test_a_block_slides_or_tips(size: tuple[float, float], friction: float, how: str) -> None:
    load = {"acceleration": [G, 0, 0]}
    found = judged(block(*size, friction), load=load)
    assert (found.status, found.moved) == ("equilibrium", False)
    assert sum(c["normal_force"] for c in found.contacts) == pytest.approx(3.0 * G, rel=1e-9)
    # a tilt by a: tan a is the factor
    assert found.margin.factor == pytest.approx(min(friction, size[0] / size[1]), rel=1e-6)
    assert found.margin.gives_way == how


def test_the_largest_tilt_is_the_same_in_every_direction_of_a_cone() -> None:
    for angle in (0.1, 0.7, 2.0):
        load = {"acceleration": [G * math.cos(angle), G * math.sin(angle), 0]}
        found = judged(block(1.0, 0.2, 0.35), load=load)
        assert found.margin.factor == pytest.approx(0.35, rel=1e-6)


@pytest.mark.parametrize(("tilt", "holds"), [(0.28, True), (0.30, False)])
def test_a_block_on_an_incline_stays_or_not(tilt: float, holds: bool) -> None:
    scene = block(1.0, 0.5, math.tan(0.29))
    scene["gravity"] = [G * math.sin(tilt), 0, -G * math.cos(tilt)]
    found = judged(scene, search=False)
    assert (found.status == "equilibrium") is holds


@pytest.mark.reference
def test_a_push_beside_the_middle_of_a_block_turns_it() -> None:
    """A horizontal force at half height slides it at mu m g; on its upper edge it tips first."""
    mass, friction = 3.0, 0.6
    for point, force in (
        ([-0.2, 0, 0.5], friction * mass * G),
        ([-0.2, 0, 1.0], 0.5 * 0.4 / 1.0 * mass * G),
    ):
        push = {"body": "block", "force": [1, 0, 0], "point": point}
        found = judged(block(0.4, 1.0, friction), load={"forces": [push]})
        expected = min(force, 0.2 * mass * G / point[2])
        assert found.margin.factor == pytest.approx(expected, rel=1e-6)


def ladder(angle: float, floor: float) -> Document:
    """A round ladder, 4 m between the middles of its ends, against a wall without friction."""
    length, radius = 4.0, 0.05
    materials = {"floor": {"friction": floor}, "wall": {"friction": 0.0}, "rung": {"friction": 1.0}}
    pairs = [
        {"materials": ["floor", "rung"], "friction": floor},
        {"materials": ["wall", "rung"], "friction": 0.0},
    ]
    lean = 0.5 * math.pi - angle
    body = {
        "name": "ladder",
        "mass": 12.0,
        "position": [
            radius + 0.5 * length * math.cos(angle),
            0,
            radius + 0.5 * length * math.sin(angle),
        ],
        "orientation": [math.cos(0.5 * lean), 0, -math.sin(0.5 * lean), 0],
        "shapes": [{"type": "capsule", "radius": radius, "length": length, "material": "rung"}],
    }
    planes = [
        {"name": "floor", "type": "static", "shapes": [
            {"type": "plane", "normal": [0, 0, 1], "material": "floor"}]},
        {"name": "wall", "type": "static", "shapes": [
            {"type": "plane", "normal": [1, 0, 0], "material": "wall"}]},
    ]  # fmt: skip
    return document([*planes, body], materials=materials, material_pairs=pairs)


@pytest.mark.reference
def test_a_ladder_needs_the_friction_of_the_books() -> None:
    angle, length, radius = math.radians(62.0), 4.0, 0.05
    # moments about the foot; both forces of the floor act a radius below the middle of the end
    needed = 0.5 * length * math.cos(angle) / (radius + length * math.sin(angle))
    for friction, holds in ((needed * 1.0001, True), (needed * 0.9999, False)):
        found = judged(ladder(angle, friction), search=False)
        assert (found.status == "equilibrium") is holds
        if not holds:
            continue
        assert found.indeterminate == 0
        wall = next(c for c in found.contacts if "wall" in (c["body_a"], c["body_b"]))
        assert wall["normal_force"] == pytest.approx(needed * 12.0 * G, rel=1e-6)


def test_a_load_that_acts_on_nothing_is_refused() -> None:
    with pytest.raises(ValueError, match="no body 'brick'"):
        judged(block(1, 1, 0.5), load={"forces": [{"body": "brick", "force": [1, 0, 0]}]})
    with pytest.raises(ValueError, match="acts on no body that can move"):
        judged(block(1, 1, 0.5), load={"forces": [{"body": "ground", "force": [1, 0, 0]}]})


@pytest.mark.parametrize(
    "load", [{}, {"acceleration": [0, 0, 0]}, {"forces": [{"body": "ground"}]}]
)
def test_a_load_of_zero_is_refused_as_that(load: Document) -> None:
    with pytest.raises(ValueError, match="the load is zero"):
        judged(block(1, 1, 0.5), load=load)


def test_a_heap_is_too_large_for_the_search_and_says_so() -> None:
    heap = [brick(f"brick {k}", position=[3.0 * k, 0, 0]) for k in range(167)]
    scene = load_scene(document(heap))
    found = statics(scene)
    assert found.status == "not_found"
    assert "take at most 1000" in found.reason
    with pytest.raises(ValueError, match="take at most 1000"):
        linearize(scene)


def two_arms(sum_at_most: float, **first: Any) -> Document:
    """Two hanging arms on the ground whose angles may add up to so much."""
    bodies, joints = [], []
    for k, name in enumerate(("left", "right")):
        place = [float(3 * k), 0.0, 0.0]
        bob = {"name": name, "mass": 2.0, "inertia": [0.1] * 3}
        bodies.append(bob | {"position": [place[0], 0.0, -1.0]})
        pin = {"type": "hinge", "parent": "world", "anchor": place, "axis": [0, 1, 0]}
        joints.append(pin | {"name": f"pin {name}", "child": name})
    joints[0] |= first
    terms = [{"joint": joint["name"], "factor": 1.0} for joint in joints]
    bound = {"name": "cord", "type": "coupling", "slack": True, "offset": sum_at_most}
    return document(bodies, [*joints, bound | {"terms": terms}])


def test_what_is_slack_does_not_hold_and_what_is_taut_does() -> None:
    """Loose, both arms swing as one alone; the search falls to the lowest place of both."""
    loose = two_arms(0.9, initial={"position": 0.4})
    found = judged(loose)
    assert (found.status, found.moved) == ("equilibrium", True)
    assert found.coordinates["pin left"][0] == pytest.approx(0.0, abs=1e-9)
    model = linearize(load_scene({"gravity": GRAVITY, **two_arms(0.9)}))
    assert len(model.eigenvalues) == 4
    assert "slack of coupling 'cord'" in model.left_out
    assert len(linearize(load_scene({"gravity": GRAVITY, **two_arms(0.0)})).eigenvalues) == 2


def test_an_equilibrium_beyond_a_bound_is_none() -> None:
    """Without the cord the first arm would fall to 0, where the sum is beyond -0.2."""
    found = judged(two_arms(-0.2, initial={"position": -0.5}))
    assert found.status == "not_found"
    assert "'cord'" in found.reason


def test_a_body_that_hovers_is_named() -> None:
    """A millimetre above the ground it does not stand; the search, without contacts, finds none."""
    box = {"type": "box", "size": [0.2, 0.2, 0.2]}
    crate = {"name": "crate", "mass": 1.0, "position": [0, 0, 0.105], "shapes": [box]}
    found = judged(document([ground(), crate]))
    assert found.status == "not_found"
    assert "no contact is at body 'crate'" in found.reason
    crate["position"] = [0, 0, 0.1]
    assert judged(document([ground(), crate])).status == "equilibrium"


def test_couplings_hold_where_the_search_ends() -> None:
    """The follower of a cam comes to rest at the lowest place of the cam, on it."""
    found = judged(cam())
    assert (found.status, found.moved) == ("equilibrium", True)
    assert found.coordinates["turn"][0] == pytest.approx(-0.5 * math.pi, abs=1e-6)
    assert found.coordinates["lift"][0] == pytest.approx(-CAM, abs=1e-8)


@pytest.mark.reference
def test_a_servo_holds_a_parallelogram_at_its_target() -> None:
    link = {"mass": 1.0, "inertia": [0.1] * 3}
    bodies = [
        {"name": name, "position": place, **link}
        for name, place in (("left", [0, 0, 0.5]), ("right", [2, 0, 0.5]), ("top", [1, 0, 1]))
    ]
    ends = [
        ("world", "left", [0, 0, 0]), ("world", "right", [2, 0, 0]),
        ("left", "top", [0, 0, 1]), ("right", "top", [2, 0, 1]),
    ]  # fmt: skip
    joints: list[Document] = [
        {"name": f"j{k}", "type": "hinge", "axis": [0, 1, 0], "anchor": anchor}
        | {"parent": parent, "child": child}
        for k, (parent, child, anchor) in enumerate(ends)
    ]
    joints[0]["motor"] = {"type": "position", "target": 0.3}
    found = judged(document(bodies, joints))
    assert found.status == "equilibrium"
    angles = [found.coordinates[f"j{k}"][0] for k in range(4)]
    assert angles == pytest.approx([0.3, 0.3, -0.3, -0.3], abs=1e-9)
    # virtual work: the weights rise by 0.5 cos, 0.5 cos and cos
    expected = -2.0 * G * math.sin(0.3)
    assert reaction(found, "j0")["drives"][0] == pytest.approx(expected, rel=1e-9)


def test_what_cannot_move_is_in_equilibrium() -> None:
    weld = {"name": "weld", "type": "fixed", "parent": "world", "child": "bob"}
    scene = arm() | {"joints": [weld]}
    found = judged(scene)
    assert found.status == "equilibrium"
    assert reaction(found, "weld")["force"] == pytest.approx([0, 0, 2.0 * G])
    assert (found.stability.stable, len(found.stability.eigenvalues)) == (None, 0)
    assert judged(document([ground()])).status == "equilibrium"


def test_what_a_winch_holds_is_judged_and_its_stability_is_not() -> None:
    scene = arm()
    winch: Document = {"name": "winch", "type": "distance", "parent": "world", "child": "bob"}
    winch |= {"anchor": [0, 0, 1], "anchor2": [0, 0, -1]}
    scene["joints"] = [winch | {"motor": {"type": "position", "target": 2.0}}]
    found = judged(scene)
    assert (found.status, found.stability) == ("equilibrium", None)
    assert reaction(found, "winch")["drives"][0] == pytest.approx(-2.0 * G)
    assert "stability: Joint 'winch' is held rigidly" in found.left_out[0]


def test_a_drive_or_a_lock_that_is_elsewhere_is_no_equilibrium() -> None:
    servo = {"type": "position", "target": 1.5}
    for held in ({"motor": servo}, {"limits": {"lower": 1.5, "upper": 1.5}}):
        assert judged(arm(**held), search=False).status == "none"
        found = judged(arm(**held))
        assert (found.status, found.coordinates["pin"][0]) == ("equilibrium", pytest.approx(1.5))
    # a servo that is too weak pushes with all it has, wherever it is stopped
    weak = servo | {"max_force": G}
    stalled = {"position": math.asin(0.5)}
    found = judged(arm(motor=weak, initial=stalled), search=False)
    assert found.status == "equilibrium"
    assert reaction(found, "pin")["drives"][0] == pytest.approx(G)
    assert judged(arm(motor=weak), search=False).status == "none"


def test_what_is_light_beside_the_rest_must_be_held_too() -> None:
    box = {"type": "box", "size": [0.2, 0.2, 0.2]}
    heavy = {"name": "heavy", "mass": 1e6, "position": [0, 0, 0.1], "shapes": [box]}
    feather = {"name": "feather", "mass": 1e-6, "position": [3, 0, 0.1], "shapes": [box]}
    scene = document([ground(), heavy, feather])
    assert judged(scene, search=False).status == "equilibrium"
    feather["position"] = [3, 0, 1]
    found = judged(scene, search=False)
    assert found.status == "none"
    assert "'feather'" in found.reason


def test_stops_that_the_search_does_not_hold_are_named() -> None:
    """It leaves out the cone of a ball joint, and soft stops."""
    scene = arm() | {"gravity": [G, 0, 0]}
    pin = {"name": "pin", "type": "ball", "parent": "world", "child": "bob", "anchor": [0, 0, 0]}
    scene["joints"] = [pin | {"axis": [0, 0, 1], "limits": {"swing": 0.3}}]
    found = judged(scene)
    assert found.status == "not_found"
    assert "'pin' is beyond its limits" in found.reason
    soft = {"lower": 0.5, "upper": 2.0, "stiffness": 50.0}
    found = judged(arm(limits=soft, initial={"position": 1.0}))
    assert found.status == "not_found"
    assert "soft stop of joint 'pin'" in found.reason


def test_on_a_soft_stop_stability_is_not_judged() -> None:
    stiffness = 2.0 * G * math.sin(0.45) / 0.05
    soft = {"lower": 0.5, "upper": 2.0, "stiffness": stiffness}
    found = judged(arm(limits=soft, initial={"position": 0.45}), search=False)
    assert (found.status, found.stability) == ("equilibrium", None)


def test_a_torque_that_turns_along_has_an_equilibrium() -> None:
    """Forces without a potential: Newton's steps converge, gradients of an energy do not."""
    scene = arm()
    pin = {"name": "pin", "type": "ball", "parent": "world", "child": "bob", "anchor": [0, 0, 0]}
    scene["joints"] = [pin | {"motor": {"type": "force", "target": [4.0, 0, 0]}}]
    found = judged(scene)
    assert found.status == "equilibrium"
    assert found.coordinates["pin"] == pytest.approx([math.asin(4.0 / (2.0 * G)), 0, 0], abs=1e-4)


def test_a_soft_drive_carries_nothing_more_where_it_is() -> None:
    scene = arm(motor={"type": "position", "target": 0.0, "stiffness": 100.0})
    found = judged(scene, load={"acceleration": [1, 0, 0]})
    assert (found.margin.factor, found.margin.gives_way) == (0.0, "free to move")


def test_a_tower_that_leans_has_as_many_open_reactions_as_one_that_stands() -> None:
    """Where the shortest forces leave the cones of friction, others are off their bounds too."""
    box = {"shapes": [{"type": "box", "size": [0.3, 0.3, 0.2]}], "mass": 1.0}
    tower = [{"name": f"b{k}", "position": [0, 0, 0.1 + 0.2 * k], **box} for k in range(5)]
    for tilt in (0.0, 0.35):
        down = [G * math.sin(tilt) * 0.8, G * math.sin(tilt) * 0.6, -G * math.cos(tilt)]
        found = statics(load_scene(document([ground(), *tower]) | {"gravity": down}), search=False)
        assert (found.status, found.indeterminate) == ("equilibrium", 30)
        assert not any(contact["unique"] for contact in found.contacts)
        load = sum(contact["normal_force"] for contact in found.contacts)
        for contact in found.contacts:
            beyond = np.linalg.norm(contact["friction_force"])
            beyond -= contact["friction"] * contact["normal_force"]
            assert beyond <= 1e-9 * load
