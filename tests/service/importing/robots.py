"""Where the robots are that other packages ship; nothing of these packages is imported."""

import importlib.metadata
import importlib.util
from pathlib import Path

import mujoco
import pytest

GYMNASIUM = [
    "ant",
    "half_cheetah",
    "hopper",
    "humanoid",
    "humanoidstandup",
    "inverted_double_pendulum",
    "inverted_pendulum",
    "point",
    "pusher_v5",
    "reacher",
    "swimmer",
    "walker2d_v5",
]
DM_CONTROL = [
    "acrobot",
    "ball_in_cup",
    "cartpole",
    "cheetah",
    "dog",
    "finger",
    "fish",
    "hopper",
    "humanoid",
    "humanoid_CMU",
    "manipulator",
    "pendulum",
    "point_mass",
    "quadruped",
    "reacher",
    "stacker",
    "swimmer",
    "walker",
]
URDF = {
    "allegro": "allegro_hand_description/urdf/allegro_left_hand",
    "anymal": "anymal_b_simple_description/robots/anymal",
    "double_pendulum": "double_pendulum_description/urdf/double_pendulum",
    "go2": "go2_description/urdf/go2",
    "hyq": "hyq_description/robots/hyq_no_sensors",
    "icub": "icub_description/robots/icub",
    "kinova": "kinova_description/robots/kinova",
    "panda": "panda_description/urdf/panda",
    "pr2": "pr2_description/urdf/pr2",
    "talos": "talos_data/robots/talos_reduced",
    "tiago": "tiago_description/robots/tiago",
    "ur5": "ur_description/urdf/ur5_robot",
    "xarm7": "xarm_description/urdf/xarm7",
}
ALL = [
    *(f"gymnasium/{name}" for name in GYMNASIUM),
    *(f"dm_control/{name}" for name in DM_CONTROL),
    *(f"urdf/{name}" for name in URDF),
]


def robot_path(robot: str) -> Path:
    """The file of a robot, or skip."""
    package, _, name = robot.partition("/")
    if package == "urdf":
        return _urdf_folder() / f"{URDF[name]}.urdf"
    spec = importlib.util.find_spec(package)
    if spec is None or spec.origin is None:
        pytest.skip(f"the package {package} is not installed (extra `robots`)")
    folder = "envs/mujoco/assets" if package == "gymnasium" else "suite"
    return Path(spec.origin).parent / folder / f"{name}.xml"


def _urdf_folder() -> Path:
    try:
        package = importlib.metadata.distribution("example-robot-data")
    except importlib.metadata.PackageNotFoundError:
        pytest.skip("the package example-robot-data is not installed (extra `robots`)")
    return Path(str(package.locate_file("cmeel.prefix/share/example-robot-data/robots")))


def compiled_by_mujoco(path: Path) -> tuple[mujoco.MjModel, mujoco.MjData]:
    """An MJCF model as MuJoCo itself loads it, at its reference configuration."""
    # its warnings would go into a file of the working folder
    mujoco.set_mju_user_warning(lambda text: None)
    try:
        model = mujoco.MjModel.from_xml_path(str(path))
    finally:
        mujoco.set_mju_user_warning(None)
    data = mujoco.MjData(model)
    mujoco.mj_forward(model, data)
    return model, data
