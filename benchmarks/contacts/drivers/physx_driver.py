"""PhysX 5 (SAPIEN, CPU, float32) on a scene: physx_driver.py SCENE.json OUT ITERATIONS."""

import json
import sys
import time
from pathlib import Path
from typing import Any

import numpy as np
import sapien
from sapien import physx

# PhysX's planes and capsules look along x
UP = [0.5**0.5, 0.0, -(0.5**0.5), 0.0]


def write(out: Path, times: list[float], states: list[Any], contacts: list[int]) -> None:
    """What every driver leaves."""
    np.array(times).tofile(out / "times.f64")
    np.array(states, float).tofile(out / "states.f64")
    np.array(contacts, float).tofile(out / "contacts.f64")


def main() -> None:
    """Run and write."""
    s = json.loads(Path(sys.argv[1]).read_text(encoding="utf-8"))
    out, iterations = Path(sys.argv[2]), int(sys.argv[3])
    physx.set_scene_config(gravity=np.array(s["gravity"], np.float32), cpu_workers=0)
    physx.set_body_config(
        solver_position_iterations=iterations, solver_velocity_iterations=1, sleep_threshold=0.0
    )
    system = physx.PhysxCpuSystem()
    system.set_timestep(s["dt"])
    scene = sapien.Scene([system])
    material = physx.PhysxMaterial(s["mu"], s["mu"], 0.0)

    def add(component: object, shape: object, pose: object) -> None:
        entity = sapien.Entity()
        component.attach(shape)  # type: ignore[attr-defined]
        entity.add_component(component)
        entity.pose = pose
        scene.add_entity(entity)

    if s["plane"]:
        plane = physx.PhysxCollisionShapePlane(material)
        plane.set_local_pose(sapien.Pose([0, 0, 0], UP))
        add(physx.PhysxRigidStaticComponent(), plane, sapien.Pose())
    moving = []
    for b in s["bodies"]:
        size = b["size"]
        if b["kind"] == "sphere":
            shape = physx.PhysxCollisionShapeSphere(size[0], material)
        elif b["kind"] == "box":
            shape = physx.PhysxCollisionShapeBox(np.array(size, np.float32), material)
        else:
            shape = physx.PhysxCollisionShapeCapsule(size[0], size[1], material)
            shape.set_local_pose(sapien.Pose([0, 0, 0], UP))
        x = physx.PhysxRigidStaticComponent() if b["fixed"] else physx.PhysxRigidDynamicComponent()
        add(x, shape, sapien.Pose(b["pos"], b["quat"]))
        if not b["fixed"]:
            x.set_mass(b["mass"])
            x.set_cmass_local_pose(sapien.Pose())
            x.set_inertia(np.array(b["inertia"], np.float32))
            x.set_linear_damping(0.0)
            x.set_angular_damping(0.0)
            x.set_max_angular_velocity(1e4)
            x.set_linear_velocity(np.array(b["vel"], np.float32))
            x.set_angular_velocity(np.array(b["angvel"], np.float32))
            moving.append(x)
    times, states, contacts = [], [], []
    for _ in range(0, s["steps"], s["every"]):
        began = time.thread_time()
        for _ in range(s["every"]):
            system.step()
        times.append(1e6 * (time.thread_time() - began) / s["every"])
        contacts.append(sum(len(c.points) for c in system.get_contacts()))
        for x in moving:
            states.append(
                np.concatenate([x.pose.p, x.pose.q, x.linear_velocity, x.angular_velocity])
            )
    write(out, times, states, contacts)
    name = f"PhysX 5 (SAPIEN {sapien.__version__}), float32, TGS with {iterations} iterations\n"
    (out / "about.txt").write_text(name)


main()
