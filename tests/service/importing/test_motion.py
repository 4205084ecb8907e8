"""Imported joints move as MuJoCo's do: no contact, MuJoCo by RK4, both with small steps."""

import mujoco
import numpy as np
import pytest

from cardan.engine import Simulation
from cardan.schemas import load_scene
from cardan.schemas.imported import ImportOptions
from cardan.service.importing import import_path

WORLD = """
<mujoco model="trial">
  <option timestep="0.0005" integrator="RK4" gravity="0.3 -0.2 -9.81"/>
  <worldbody>
    <body name="a" pos="0.1 0.2 0.3" euler="20 -30 50">
      {first}
      <inertial pos="0.02 -0.05 0.11" mass="1.3" fullinertia="0.02 0.03 0.025 0.001 -0.002 0.003"/>
      <body name="b" pos="0.1 -0.05 0.3" euler="-40 10 15">
        {second}
        <inertial pos="-0.03 0.04 0.12" mass="0.7"
          fullinertia="0.011 0.009 0.008 0.001 0.0005 -0.001"/>
      </body>
    </body>
  </worldbody>
  {more}
</mujoco>
"""
HINGE = '<joint name="one" type="hinge" axis="0.2 1 -0.1" pos="0.05 0 -0.02"/>'
CASES = {
    "hinge": '<joint type="hinge" axis="1 0.4 -0.3" pos="0 0.03 0"/>',
    "spring": '<joint type="hinge" axis="0 1 0.5" stiffness="3" springref="40" damping="0.05"/>',
    "slider": '<joint type="slide" axis="0.3 0.2 1" stiffness="60" damping="0.4"/>',
    "ball": '<joint type="ball" pos="0 0.02 -0.05"/>',
    "universal": '<joint type="hinge" axis="1 0 0" damping="0.02"/>'
    '<joint type="hinge" axis="0 0 1" damping="0.02"/>',
    "cylindrical": '<joint type="slide" axis="0 0 1" stiffness="50"/>'
    '<joint type="hinge" axis="0 0 -1"/>',
    "planar": '<joint type="slide" axis="1 0 0"/><joint type="slide" axis="0 0 1"/>'
    '<joint type="hinge" axis="0 1 0"/>',
    "gimbal": '<joint type="hinge" axis="1 0 0"/><joint type="hinge" axis="0 1 0"/>'
    '<joint type="hinge" axis="0 0 1"/>',
    "chain": '<joint type="hinge" axis="1 0 0" damping="0.03"/>'
    '<joint type="slide" axis="0 1 0" stiffness="40"/><joint type="hinge" axis="0 0.3 1"/>',
}
# 1e-3 of its mass goes to each body between two joints
ACCURACY = {"chain": 2e-3}
TYPES = {
    "hinge": ["hinge"],
    "spring": ["hinge"],
    "slider": ["slider"],
    "ball": ["ball"],
    "universal": ["universal"],
    "cylindrical": ["cylindrical"],
    "planar": ["planar"],
    "gimbal": ["ball"],
    "chain": ["hinge", "slider", "hinge"],
}


def both(tmp_path, text, options=None, dt=1e-4, seconds=0.3):
    """Poses of MuJoCo's bodies a and b, and of the scene's, after some time."""
    path = tmp_path / "model.xml"
    path.write_text(text)
    answer = import_path(path, options or ImportOptions())
    model = mujoco.MjModel.from_xml_string(text)
    data = mujoco.MjData(model)
    if options is not None and options.keyframe is not None:
        mujoco.mj_resetDataKeyframe(model, data, int(options.keyframe))
    mujoco.mj_step(model, data, round(seconds / model.opt.timestep))
    mujoco.mj_forward(model, data)
    document = {**answer.scene}
    document["simulation"] = {**document["simulation"], "dt": dt}
    simulation = Simulation(load_scene(document))
    simulation.advance(round(seconds / dt))
    assert simulation.failure is None
    index = [simulation.body_names.index(name) for name in ("a", "b")]
    wanted = np.hstack([data.xpos[1:3], data.xquat[1:3]])
    found = simulation.poses()[index]
    found[:, 3:] *= np.sign(np.sum(found[:, 3:] * wanted[:, 3:], axis=1))[:, None]
    return wanted, found, answer


@pytest.mark.parametrize("case", CASES)
def test_joint_moves_as_in_mujoco(tmp_path, case):
    text = WORLD.format(first=HINGE, second=CASES[case], more="")
    wanted, found, answer = both(tmp_path, text)
    joints = answer.scene["joints"]
    assert [joint["type"] for joint in joints] == ["hinge", *TYPES[case]]
    start = np.array([b["position"] for b in answer.scene["bodies"] if b["name"] in ("a", "b")])
    assert np.linalg.norm(wanted[:, :3] - start, axis=1).max() > 0.02, "nothing moved"
    assert np.abs(found - wanted).max() < ACCURACY.get(case, 1e-4)


@pytest.mark.parametrize(
    "drive",
    [
        '<motor joint="one" gear="2" ctrlrange="-3 3"/>',
        '<position joint="one" kp="8" kv="0.4"/>',
        '<general joint="one" gear="1.5" gainprm="4" biastype="affine" biasprm="0.3 -4 -0.2"/>',
    ],
)
def test_drives_push_as_in_mujoco(tmp_path, drive):
    more = (
        f"<actuator>{drive}</actuator>"
        '<keyframe><key qpos="0.4 0.2" qvel="-1.5 2" ctrl="0.7"/></keyframe>'
    )
    text = WORLD.format(first=HINGE, second=CASES["spring"], more=more)
    # implicit damping is of first order in the step
    wanted, found, answer = both(tmp_path, text, ImportOptions(keyframe="0"), dt=4e-5)
    assert answer.report.keyframe is not None
    assert "motor" in answer.scene["joints"][0]
    assert np.abs(found - wanted).max() < 1e-4


ARM = """
<mujoco>
  <option timestep="0.0002" integrator="RK4"/>
  <default><geom type="capsule" size="0.03" mass="1" contype="0" conaffinity="0"/></default>
  <worldbody>
    <body pos="0 0 1">
      <joint name="one" axis="0 1 0" damping="0.1" {joint}/><geom fromto="0 0 0 0.5 0 0.1"/>
      {rest}
    </body>
  </worldbody>
  <actuator>{drives}</actuator>
  <keyframe><key name="home" ctrl="{controls}"/></keyframe>
</mujoco>
"""
FOREARM = """
<body pos="0.5 0 0">
  <joint name="two" axis="1 0 0"/><geom fromto="0 0 0 0.5 0 0.1"/>
  <body pos="0.5 0 0">
    <joint name="three" axis="0 1 0"/><geom fromto="0 0 0 0.5 0 0.1"/>
  </body>
</body>
"""
ONE = '<velocity joint="one" kv="0.5"/>'
THREE = (
    '<velocity joint="one" kv="2"/><velocity joint="two" kv="0.3" gear="-2"/>'
    '<velocity joint="three" kv="0.5" gear="1.5"/>'
)


def arm_in_both(tmp_path, drives, controls, rest="", joint=""):
    """Angles of MuJoCo's arm and of the scene's after 1 s; the joints and notes of the import."""
    text = ARM.format(rest=rest, joint=joint, drives=drives, controls=controls)
    path = tmp_path / "arm.xml"
    path.write_text(text)
    answer = import_path(path)
    model = mujoco.MjModel.from_xml_string(text)
    data = mujoco.MjData(model)
    mujoco.mj_resetDataKeyframe(model, data, 0)
    mujoco.mj_step(model, data, 5000)
    simulation = Simulation(load_scene(answer.scene))
    simulation.advance(5000)
    assert simulation.failure is None
    notes = [note.code for note in answer.report.notes]
    return data.qpos, simulation.joint_state()[0], answer.scene["joints"], notes


@pytest.mark.parametrize(
    ("drives", "controls", "rest"),
    [
        (ONE, "0", ""),
        (ONE, "2", ""),
        ('<velocity joint="one" kv="0.5" gear="3"/>', "2", ""),
        (THREE, "0 0 0", FOREARM),
        (THREE, "1 -2 3", FOREARM),
        # the largest force is not reached
        ('<velocity joint="one" kv="0.5" forcerange="-20 20" ctrlrange="-4 4"/>', "2", ""),
    ],
)
def test_drives_towards_a_speed_damp_as_in_mujoco(tmp_path, drives, controls, rest):
    wanted, found, joints, notes = arm_in_both(tmp_path, drives, controls, rest)
    assert all(joint["motor"]["type"] == "force" for joint in joints)
    # damping is of second order in the step here, 5e-6 where it is strong
    assert np.abs(found - wanted).max() < 2e-5
    assert ("velocity_drive" in notes) == ("forcerange" in drives)


@pytest.mark.parametrize(
    ("drive", "joint"),
    [
        ('<motor joint="one" gear="2" forcerange="-4 1.5"/>', ""),
        ('<motor joint="one" gear="2"/>', 'actuatorfrcrange="-4 3"'),
    ],
)
def test_forces_of_motors_are_bounded_as_in_mujoco(tmp_path, drive, joint):
    wanted, found, joints, _ = arm_in_both(tmp_path, drive, "10", joint=joint)
    assert joints[0]["motor"] == {"type": "force", "target": 3.0}
    assert np.abs(found - wanted).max() < 2e-5


SWITCHED_OFF = '<motor joint="one" gear="5" group="2"/>'


@pytest.mark.parametrize(
    ("option", "drives", "controls"),
    [
        ('actuatorgroupdisable="2"', SWITCHED_OFF, "1"),
        ("", SWITCHED_OFF.replace("5", "0.5"), "1"),
        # controls are clipped to their range, unless that is switched off
        ("", '<motor joint="one" ctrlrange="-1 1"/>', "5"),
        ("clampctrl", '<motor joint="one" ctrlrange="-1 1"/>', "3"),
        # a PID takes two controls: those of the actuators after it are not where they are counted
        ("", '<pid name="p" joint="one" kp="0"/><motor joint="one"/>', "0 0 2"),
    ],
)
def test_controls_reach_their_actuators(tmp_path, option, drives, controls):
    if option == "clampctrl":
        drives += '</actuator><option><flag clampctrl="disable"/></option><actuator>'
    elif option:
        drives += f"</actuator><option {option}/><actuator>"
    wanted, found, _, _ = arm_in_both(tmp_path, drives, controls)
    assert np.abs(found - wanted).max() < 2e-5


def test_what_integrates_its_control_begins_with_what_it_holds(tmp_path):
    path = tmp_path / "arm.xml"
    drive = '<intvelocity joint="one" kp="20"/>'
    text = ARM.format(rest="", joint="", drives=drive, controls="3")
    path.write_text(text.replace('name="home"', 'name="home" act="0.5"'))
    motor = import_path(path).scene["joints"][0]["motor"]
    assert (motor["target"], motor["stiffness"]) == (0.5, 20.0)


@pytest.mark.parametrize("largest", [1, 8])
def test_strong_drives_hold_a_speed_with_their_largest_force(tmp_path, largest):
    drive = f'<velocity joint="one" kv="1000" forcerange="-{largest} {largest}"/>'
    wanted, found, joints, notes = arm_in_both(tmp_path, drive, "2")
    assert joints[0]["motor"] == {"type": "velocity", "target": 2.0, "max_force": float(largest)}
    assert joints[0]["damping"] == pytest.approx(0.1)
    assert "velocity_drive" in notes
    assert np.abs(found - wanted).max() < 5e-3


def test_keyframe_gives_pose_and_velocity(tmp_path):
    more = '<keyframe><key name="home" qpos="0.5 0.1 -0.2 0.3" qvel="1 -2 0.4 3"/></keyframe>'
    text = WORLD.format(first=HINGE, second=CASES["chain"], more=more)
    path = tmp_path / "model.xml"
    path.write_text(text)
    answer = import_path(path)
    assert ("guessed", "keyframe") in {(n.kind, n.code) for n in answer.report.notes}
    simulation = Simulation(load_scene(answer.scene))
    model = mujoco.MjModel.from_xml_string(text)
    data = mujoco.MjData(model)
    mujoco.mj_resetDataKeyframe(model, data, 0)
    mujoco.mj_forward(model, data)
    velocity = np.zeros(6)
    for index, name in ((1, "a"), (2, "b")):
        mujoco.mj_objectVelocity(model, data, mujoco.mjtObj.mjOBJ_XBODY, index, velocity, 0)
        at = simulation.body_names.index(name)
        assert np.allclose(simulation.poses()[at, :3], data.xpos[index], rtol=0, atol=1e-12)
        found = simulation.velocities()[at]
        assert np.allclose(found, [*velocity[3:], *velocity[:3]], rtol=0, atol=1e-9)
    # the bodies of the chain move consistently: the joints have no error of velocity to remove
    simulation.advance(1)
    assert abs(simulation.energy()["correction"]) < 1e-6


def test_bodies_of_a_chain_do_not_turn_with_a_later_ball(tmp_path):
    """Slider and ball: the body between them only slides, whatever the ball does at the start."""
    chain = '<joint type="slide" axis="1 0 0"/><joint type="ball" pos="0 0.2 0.1"/>'
    more = '<keyframe><key name="home" qpos="0 0.1 0.6 0 0 0.8" qvel="0 1.5 2 3 -1"/></keyframe>'
    path = tmp_path / "model.xml"
    path.write_text(WORLD.format(first=HINGE, second=chain, more=more))
    bodies = {body["name"]: body for body in import_path(path).scene["bodies"]}
    (light,) = [body for name, body in bodies.items() if name.startswith("b/")]
    assert light.get("angular_velocity", [0.0] * 3) == pytest.approx([0, 0, 0], abs=1e-12)
    # the axis of the slider in W is the first column of the rotation of b before its joints
    axis = np.zeros(3)
    frame = mujoco.MjModel.from_xml_string(WORLD.format(first=HINGE, second="", more=""))
    data = mujoco.MjData(frame)
    mujoco.mj_kinematics(frame, data)
    axis = data.xmat[2].reshape(3, 3)[:, 0]
    assert light["linear_velocity"] == pytest.approx(1.5 * axis, abs=1e-12)


def test_friction_of_two_sliders_is_not_shared(tmp_path):
    """A planar joint has one friction for both of its displacements, MuJoCo's one for each."""
    joints = (
        '<joint type="slide" axis="1 0 0" frictionloss="0.1"/>'
        '<joint type="slide" axis="0 0 1" frictionloss="0.1"/>'
        '<joint type="hinge" axis="0 1 0" frictionloss="0.1"/>'
    )
    path = tmp_path / "model.xml"
    path.write_text(WORLD.format(first=HINGE, second=joints, more=""))
    types = [joint["type"] for joint in import_path(path).scene["joints"]]
    assert types == ["hinge", "slider", "slider", "hinge"]


def test_limits_and_springs_count_from_the_start(tmp_path):
    joint = (
        '<joint name="one" type="hinge" axis="0 1 0" range="-60 30" stiffness="2" springref="10"/>'
    )
    more = '<keyframe><key qpos="0.25 0"/></keyframe>'
    path = tmp_path / "model.xml"
    path.write_text(WORLD.format(first=joint, second=CASES["hinge"], more=more))
    made = import_path(path, ImportOptions(keyframe="0")).scene["joints"][0]
    assert made["limits"]["lower"] == pytest.approx(np.radians(-60) - 0.25)
    assert made["limits"]["upper"] == pytest.approx(np.radians(30) - 0.25)
    assert made["spring"]["rest"] == pytest.approx(np.radians(10) - 0.25)


@pytest.mark.parametrize(("fuse", "mass"), [("true", 3.0), ("false", 2.0)])
def test_a_total_mass_counts_what_mujoco_counts(tmp_path, fuse, mass):
    """2 kg that move and 1 kg that is fixed to the world, scaled to 3 kg: MuJoCo drops the mass of
    what it fuses to the world before it scales.
    """
    path = tmp_path / "model.xml"
    path.write_text(
        f"""<mujoco><compiler settotalmass="3" fusestatic="{fuse}"/><worldbody>
        <body><geom size="0.1" mass="1"/></body>
        <body name="a" pos="1 0 0"><joint/><geom size="0.1" mass="2"/></body>
        </worldbody></mujoco>"""
    )
    assert import_path(path).report.mass == pytest.approx(mass)


def test_what_a_model_switches_off_is_off(tmp_path):
    joint = (
        '<joint name="one" type="hinge" axis="0 1 0" range="-60 30" stiffness="2" damping="1" '
        'frictionloss="0.1"/>'
    )
    flags = (
        '<option><flag limit="disable" spring="disable" damper="disable" frictionloss="disable" '
        'gravity="disable" actuation="disable"/></option>'
        '<actuator><motor joint="one"/></actuator>'
    )
    path = tmp_path / "model.xml"
    path.write_text(WORLD.format(first=joint, second=CASES["hinge"], more=flags))
    scene = import_path(path).scene
    assert set(scene["joints"][0]) == {"name", "type", "parent", "child", "anchor", "axis"}
    assert scene["gravity"] == [0.0, 0.0, 0.0]
