"""Numbers of Pinocchio and MuJoCo for small robots: tests/data/peers/mechanics.json.

`python -m tests.references.peers` writes it; that needs both (extra `robots`).
"""

from __future__ import annotations

import importlib
import json
from importlib.metadata import version
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]

FOLDER = Path("tests/data/peers")
STORED = FOLDER / "mechanics.json"
HANDS = {"arm": "hand", "torso": "left_hand"}
POSES = 2
# central differences of MuJoCo's accelerations [rad, m, and per s]
STEP = 1e-6
SPRUNG = {"q": [0.4, -0.7, 0.05], "qd": [0.3, 0.2, -0.1]}


def imported(path: Path) -> dict[str, Any]:
    """The scene of a robot, in reduced coordinates."""
    from cardan.service.importing import import_path

    scene: dict[str, Any] = import_path(path).scene
    scene["simulation"] |= {"formulation": "reduced", "collisions": False}
    scene.pop("description", None)
    for joint in scene["joints"]:
        joint.pop("limits", None)
    return scene


def of_pinocchio(name: str) -> dict[str, Any]:
    """Gravity terms, derivatives of forward dynamics at tau = 0, and places of a hand."""
    pin: Any = importlib.import_module("pinocchio")
    model = pin.buildModelFromUrdf(str(FOLDER / f"{name}.urdf"))
    data = model.createData()
    joints = [model.names[k] for k in range(1, model.njoints)]
    rng = np.random.default_rng(17)
    poses = []
    for _ in range(POSES):
        q, qd = rng.uniform(-0.2, 1.2, model.nv), rng.normal(size=model.nv)
        pin.computeABADerivatives(model, data, q, qd, np.zeros(model.nv))
        upper = np.triu(data.Minv)
        one = {
            "q": q,
            "qd": qd,
            "ddq_dq": data.ddq_dq.copy(),
            "ddq_dv": data.ddq_dv.copy(),
            "inverse_mass": upper + np.triu(upper, 1).T,
            "gravity": pin.computeGeneralizedGravity(model, data, q),
        }
        pin.framesForwardKinematics(model, data, q)
        place = data.oMf[model.getFrameId(HANDS[name])]
        one["hand"] = place.translation.copy()
        one["hand_orientation"] = pin.Quaternion(place.rotation).coeffs()[[3, 0, 1, 2]]
        poses.append({key: value.tolist() for key, value in one.items()})
    return {"joints": joints, "hand": HANDS[name], "poses": poses}


def of_mujoco() -> dict[str, Any]:
    """Rates of an arm with springs and dampers about a moving state, by central differences."""
    import mujoco

    model = mujoco.MjModel.from_xml_path(str(FOLDER / "sprung.xml"))
    data = mujoco.MjData(model)

    def rates(x: Array) -> Array:
        data.qpos[:], data.qvel[:] = x[:3], x[3:]
        mujoco.mj_forward(model, data)
        return np.concatenate([data.qvel, data.qacc])

    x0 = np.array([*SPRUNG["q"], *SPRUNG["qd"]])
    columns = [(rates(x0 + STEP * e) - rates(x0 - STEP * e)) / (2 * STEP) for e in np.eye(6)]
    A = np.stack(columns, axis=1)
    return SPRUNG | {
        "joints": ["shoulder", "elbow", "rail"],
        "A": A.tolist(),
        "rates": rates(x0).tolist(),
    }


def numbers() -> dict[str, Any]:
    """The whole file."""
    robots = {
        name: {"scene": imported(FOLDER / f"{name}.urdf"), **of_pinocchio(name)} for name in HANDS
    }
    sprung = {"scene": imported(FOLDER / "sprung.xml"), **of_mujoco()}
    return {
        "origin": {"pinocchio": version("pin"), "mujoco": version("mujoco")},
        "pinocchio": robots,
        "mujoco": {"sprung": sprung},
    }


if __name__ == "__main__":
    STORED.write_text(json.dumps(numbers(), indent=1) + "\n", encoding="utf-8")
