"""Loops, gears, ropes, springs, and weight that is taken off: beside MuJoCo's own."""

import mujoco
import numpy as np
import pytest

from cardan.engine import Simulation
from cardan.schemas import load_scene
from cardan.service.importing import import_path

SWINGS = """
<mujoco><option timestep="0.0002"/><worldbody>
  <body name="a" pos="0 0 1"><joint name="one" type="{kinds[0]}" axis="0 1 0"/>
    <inertial pos="0.2 0 0" mass="1" diaginertia="0.02 0.02 0.02"/>
    <site name="tip_a" pos="0.4 0 0"/></body>
  <body name="b" pos="1 0 1"><joint name="two" type="{kinds[1]}" axis="0 1 0"/>
    <inertial pos="-0.2 0 0.05" mass="2" diaginertia="0.03 0.03 0.03"/>
    <site name="tip_b" pos="-0.3 0 0"/>{inside}</body>
</worldbody>{more}</mujoco>
"""


def model_of(tmp_path, more="", kinds=("hinge", "hinge"), inside=""):
    text = SWINGS.format(more=more, kinds=kinds, inside=inside)
    path = tmp_path / "model.xml"
    path.write_text(text)
    return import_path(path), text


def codes(answer):
    return {(note.kind, note.code) for note in answer.report.notes}


def positions_after(answer, text, seconds=0.4, steps=4000):
    document = {**answer.scene, "simulation": {"dt": seconds / steps}}
    simulation = Simulation(load_scene(document))
    simulation.advance(steps)
    assert simulation.failure is None
    model = mujoco.MjModel.from_xml_string(text)
    data = mujoco.MjData(model)
    mujoco.mj_step(model, data, round(seconds / model.opt.timestep))
    mujoco.mj_forward(model, data)
    index = [simulation.body_names.index(name) for name in ("a", "b")]
    return simulation.poses()[index], np.hstack([data.xpos[1:3], data.xquat[1:3]])


def test_connect_closes_a_loop(tmp_path):
    more = '<equality><connect name="link" body1="a" body2="b" anchor="0.5 0 0"/></equality>'
    answer, text = model_of(tmp_path, more)
    loop = answer.scene["joints"][-1]
    assert (loop["type"], loop["name"]) == ("ball", "link")
    assert loop["anchor"] == pytest.approx([0.5, 0, 1])
    found, wanted = positions_after(answer, text)
    # the closed chain a - b cannot move at all but by giving way: MuJoCo's constraint is soft
    assert np.abs(found - wanted).max() < 5e-2


def test_a_weld_without_torque_holds_a_point(tmp_path):
    more = '<equality><weld name="w" body1="a" body2="b" torquescale="0"/></equality>'
    answer, _ = model_of(tmp_path, more)
    assert (answer.scene["joints"][-1]["type"], answer.scene["joints"][-1]["name"]) == ("ball", "w")


def test_weld_fixes(tmp_path):
    more = '<equality><weld name="glue" body1="a" body2="b"/></equality>'
    answer, _ = model_of(tmp_path, more)
    assert answer.scene["joints"][-1]["type"] == "fixed"
    simulation = Simulation(load_scene(answer.scene))
    before = simulation.poses().copy()
    simulation.advance(200)
    assert np.abs(simulation.poses() - before).max() < 1e-6


def test_joints_on_the_ground_are_geared(tmp_path):
    more = '<equality><joint joint1="one" joint2="two" polycoef="0 -1.5 0 0 0"/></equality>'
    answer, text = model_of(tmp_path, more)
    gear = answer.scene["joints"][-1]
    assert (gear["type"], gear["parent"], gear["child"]) == ("gear", "b", "a")
    assert gear["ratio"] == -1.5
    found, wanted = positions_after(answer, text)
    assert np.abs(wanted[:, 3:] - [1, 0, 0, 0]).max() > 0.1, "nothing turned"
    # MuJoCo's coupling is soft
    assert np.abs(found - wanted).max() < 1e-2


@pytest.mark.parametrize("law", ["0 0.5 0.4 -0.2 0", "0 0.5 0.4 0 0.3", "0 0 1 0 0"])
def test_a_polynomial_is_a_coupling_with_a_curve(tmp_path, law):
    more = f'<equality><joint joint1="one" joint2="two" polycoef="{law}"/></equality>'
    answer, _ = model_of(tmp_path, more)
    assert answer.scene["joints"][-1]["type"] == "coupling"
    assert not {"coupling", "open_coupling"} & {code for _, code in codes(answer)}
    simulation = Simulation(load_scene(answer.scene))
    simulation.advance(400)
    index = [simulation.body_names.index(name) for name in ("a", "b")]
    turns = simulation.poses()[index, 3:]
    one, two = 2 * np.arctan2(turns[:, 2], turns[:, 0])
    wanted = np.polynomial.Polynomial([float(c) for c in law.split()])(two)
    assert abs(two) > 0.05
    assert one == pytest.approx(wanted, abs=5e-5)


def test_slider_and_hinge_are_a_rack(tmp_path):
    more = '<equality><joint joint1="one" joint2="two" polycoef="0 0.1 0 0 0"/></equality>'
    answer, _ = model_of(tmp_path, more, kinds=("slide", "hinge"))
    rack = answer.scene["joints"][-1]
    assert (rack["type"], rack["parent"], rack["child"], rack["ratio"]) == ("rack", "b", "a", 0.1)
    simulation = Simulation(load_scene(answer.scene))
    simulation.advance(500)
    poses = simulation.poses()
    way = poses[simulation.body_names.index("a"), 1]
    turn = poses[simulation.body_names.index("b"), 3:]
    angle = 2 * np.arctan2(turn[2], turn[0])
    assert abs(angle) > 0.05
    assert way == pytest.approx(0.1 * angle, abs=1e-5)


def test_a_single_coupled_joint_is_locked(tmp_path):
    more = '<equality><joint joint1="one" polycoef="0.2 0 0 0 0"/></equality>'
    answer, _ = model_of(tmp_path, more)
    assert answer.scene["joints"][0]["limits"] == {"lower": 0.2, "upper": 0.2}


@pytest.mark.parametrize(
    ("more", "code"),
    [
        ('<equality><weld body1="a" body2="b" active="false"/></equality>', "inactive_equality"),
        ('<tendon><fixed name="t"><joint joint="one" coef="1"/></fixed></tendon>', "tendon"),
        (
            '<tendon><fixed name="t"><joint joint="one" coef="1"/></fixed></tendon>'
            '<actuator><motor tendon="t"/></actuator>',
            "actuator",
        ),
        ("<option density='1000'/>", "fluid"),
    ],
)
def test_what_has_no_place_is_dropped_and_said(tmp_path, more, code):
    inner = (
        '<body name="c"><joint name="in" axis="0 1 0"/>'
        '<inertial pos="0 0 0.1" mass="1" diaginertia="0.1 0.1 0.1"/></body>'
    )
    answer, _ = model_of(tmp_path, more, inside=inner)
    assert ("dropped", code) in codes(answer)
    assert [joint["type"] for joint in answer.scene["joints"]] == ["hinge"] * 3


SITES = '<site site="tip_a"/><site site="tip_b"/></spatial></tendon>'


def test_a_spring_between_sites_pulls(tmp_path):
    spring = '<spatial name="s" stiffness="30" damping="0.5" springlength="0.2">'
    answer, text = model_of(tmp_path, f"<tendon>{spring}{SITES}")
    made = answer.scene["forces"][0]
    assert (made["type"], made["stiffness"], made["rest"]) == ("spring", 30.0, 0.2)
    found, wanted = positions_after(answer, text)
    assert np.abs(found - wanted).max() < 1e-3


def test_a_rope_between_sites_holds(tmp_path):
    rope = '<spatial name="r" limited="true" range="0 0.32">'
    answer, _ = model_of(tmp_path, f"<tendon>{rope}{SITES}")
    made = answer.scene["joints"][-1]
    assert (made["type"], made["limits"]) == ("distance", {"upper": 0.32})
    simulation = Simulation(load_scene(answer.scene))
    index = [simulation.body_names.index(name) for name in ("a", "b")]
    longest = 0.0
    for _ in range(100):
        simulation.advance(20)
        ends = []
        for pose, site in zip(simulation.poses()[index], (0.4, -0.3), strict=True):
            out = np.zeros(3)
            mujoco.mju_rotVecQuat(out, np.array([site, 0.0, 0.0]), pose[3:])
            ends.append(pose[:3] + out)
        longest = max(longest, float(np.linalg.norm(ends[1] - ends[0])))
    assert 0.319 < longest < 0.3201


def test_compensated_weight_does_not_fall(tmp_path):
    text = SWINGS.format(more="", kinds=("hinge", "hinge"), inside="")
    text = text.replace(
        "</worldbody>",
        '<body name="c" pos="0 3 1" gravcomp="1"><freejoint/><geom size="0.1"/></body></worldbody>',
    )
    path = tmp_path / "model.xml"
    path.write_text(text)
    simulation = Simulation(load_scene(import_path(path).scene))
    simulation.advance(500)
    at = simulation.body_names.index("c")
    assert simulation.poses()[at, :3] == pytest.approx([0, 3, 1], abs=1e-9)


def test_without_gravity_no_weight_is_taken_off(tmp_path):
    text = SWINGS.format(
        more='<option><flag gravity="disable"/></option>', kinds=("hinge", "hinge"), inside=""
    ).replace('<body name="a"', '<body name="a" gravcomp="1"')
    path = tmp_path / "model.xml"
    path.write_text(text)
    scene = import_path(path).scene
    assert scene["gravity"] == [0, 0, 0]
    assert scene["forces"] == []


@pytest.mark.parametrize("kind", ["spatial", "fixed"])
@pytest.mark.parametrize(
    ("flag", "left"),
    [
        ("spring", {"limit", "damping"}),
        ("damper", {"limit", "stiffness"}),
        ("limit", {"stiffness", "damping"}),
        ("constraint", {"stiffness", "damping"}),
    ],
)
def test_what_a_model_switches_off_is_off_in_tendons(tmp_path, kind, flag, left):
    path = {
        "spatial": '<site site="tip_a"/><site site="tip_b"/>',
        "fixed": '<joint joint="one" coef="1"/><joint joint="two" coef="-1"/>',
    }
    more = (
        f'<option><flag {flag}="disable"/></option><tendon><{kind} name="t" stiffness="30" '
        f'damping="0.5" limited="true" range="0.1 9">{path[kind]}</{kind}></tendon>'
    )
    scene = model_of(tmp_path, more)[0].scene
    made = [*scene["joints"][2:], *scene["forces"]]
    found = {key for part in made for key in ("stiffness", "damping") if part.get(key)}
    if any("limits" in part or "slack" in part for part in made):
        found.add("limit")
    assert found == left


TENDON = """<tendon><fixed name="belt"{more}>
  <joint joint="one" coef="2"/><joint joint="two" coef="3"/></fixed></tendon>
  <equality><tendon name="keeps" tendon1="belt"/></equality>"""


def test_a_fixed_tendon_that_keeps_its_length_is_a_gear(tmp_path):
    answer, _ = model_of(tmp_path, TENDON.format(more=""))
    # 2 q1 + 3 q2 = constant
    coupling = '<joint name="keeps" joint1="one" joint2="two" polycoef="0 -1.5 0 0 0"/>'
    same, _ = model_of(tmp_path, f"<equality>{coupling}</equality>")
    assert answer.scene == same.scene
    assert answer.scene["joints"][-1]["type"] == "gear"
    assert codes(answer) == codes(same)


def test_a_spring_of_a_fixed_tendon_is_a_coupling_beside_the_gear(tmp_path):
    pulls, _ = model_of(tmp_path, TENDON.format(more=' stiffness="5"'))
    assert [joint["type"] for joint in pulls.scene["joints"][-2:]] == ["gear", "coupling"]
    assert pulls.scene["joints"][-1]["stiffness"] == 5.0
    assert not [one for one in pulls.report.notes if one.code == "tendon"]


def test_limits_of_a_fixed_tendon_bound_a_sum(tmp_path):
    tendon = """<tendon><fixed name="t" limited="true" range="-0.3 0.2">
      <joint joint="one" coef="1"/><joint joint="two" coef="-1"/></fixed></tendon>"""
    answer, _ = model_of(tmp_path, tendon)
    assert not [one for one in answer.report.notes if one.code == "tendon"]
    simulation = Simulation(load_scene(answer.scene))
    sums = []
    for _ in range(200):
        simulation.advance(20)
        q, _ = simulation.joint_state()
        sums.append(q[0] - q[1])
    # one arm falls to the right, the other to the left: free, the sum would pass 0.2
    assert 0.1999 < max(sums) < 0.2001
    assert min(sums) > -0.3001


ROPES = """
<mujoco><option timestep="0.001"/><worldbody>
  <site name="left" pos="0 0 2"/><site name="right" pos="1 0 2"/>
  <body name="a" pos="0 0 1"><joint type="slide" axis="0 0 1"/>
    <geom size="0.1" mass="2"/><site name="a" pos="0 0 0"/></body>
  <body name="b" pos="1 0 1"><joint type="slide" axis="0 0 1"/>
    <geom size="0.1" mass="1.5"/><site name="b" pos="0 0 0"/></body>
</worldbody><tendon><spatial name="rope" limited="true" range="0 {}">{}</spatial></tendon></mujoco>
"""
OVER = '<site site="a"/><site site="left"/><site site="right"/><site site="b"/>'
BLOCK = (
    '<site site="a"/><site site="left"/><pulley divisor="0.5"/><site site="right"/><site site="b"/>'
)


@pytest.mark.parametrize(("way", "length", "factor"), [(OVER, 3.0, 1.0), (BLOCK, 3.0, 2.0)])
def test_a_tendon_through_sites_is_a_cable(tmp_path, way, length, factor):
    """Two weights on a rope, with b in a loop of it: tension (1 + f) g / (1/m_a + f^2/m_b)."""
    path = tmp_path / "model.xml"
    path.write_text(ROPES.format(length, way))
    answer = import_path(path)
    assert not [one for one in answer.report.notes if one.code == "tendon"]
    simulation = Simulation(load_scene(answer.scene))
    simulation.advance(200)
    tension = (1.0 + factor) * 9.81 / (1.0 / 2.0 + factor**2 / 1.5)
    falls = [9.81 - tension / 2.0, 9.81 - factor * tension / 1.5]
    heights = [simulation.poses()[simulation.body_names.index(name), 2] for name in ("a", "b")]
    assert heights == pytest.approx([1.0 - 0.5 * a * 0.2**2 for a in falls], abs=1e-9)


INSIDE = (
    '<body name="c" pos="0.2 0 0"><joint name="three" axis="0 1 0"/>'
    '<inertial pos="0.1 0 0" mass="1" diaginertia="0.02 0.02 0.02"/></body>'
)


@pytest.mark.parametrize(
    ("more", "terms"),
    [
        (
            '<equality><joint joint1="three" joint2="one" polycoef="0 0.5 0 0 0"/></equality>',
            {"three": 1.0, "one": -0.5},
        ),
        (
            TENDON.format(more="").replace(
                "</fixed>", '<joint joint="three" coef="-1.5"/></fixed>'
            ),
            {"one": 2.0, "two": 3.0, "three": -1.5},
        ),
    ],
)
def test_joints_on_moving_bodies_are_coupled(tmp_path, more, terms):
    answer, text = model_of(tmp_path, more, inside=INSIDE)
    made = answer.scene["joints"][-1]
    assert made["type"] == "coupling"
    assert {term["joint"]: term["factor"] for term in made["terms"]} == terms
    assert not [note for note in answer.report.notes if "coupl" in note.code]
    found, wanted = positions_after(answer, text)
    assert np.abs(wanted[:, 3:] - [1, 0, 0, 0]).max() > 0.1, "nothing turned"
    # MuJoCo's coupling is soft
    assert np.abs(found - wanted).max() < 1e-2


def test_a_coupling_that_is_open_at_the_start_is_said(tmp_path):
    more = '<equality><joint joint1="three" joint2="one" polycoef="0.2 1 0 0 0"/></equality>'
    answer, _ = model_of(tmp_path, more, inside=INSIDE)
    (note,) = [one for one in answer.report.notes if one.code == "open_coupling"]
    assert note.where[0].endswith("-0.2")
    load_scene(answer.scene)


def test_coupled_joints_of_one_body_stay_apart(tmp_path):
    more = '<equality><joint joint1="three" joint2="one" polycoef="0 1 0 0 0"/></equality>'
    second = '<joint name="four" axis="0 0 1"/><inertial'
    answer, _ = model_of(tmp_path, more, inside=INSIDE.replace("<inertial", second))
    joints = {joint["name"]: joint["type"] for joint in answer.scene["joints"]}
    assert joints["three"] == joints["four"] == "hinge"
    load_scene(answer.scene)
