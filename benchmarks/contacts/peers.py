"""Which engines are here, and how each is run on a scene.

Python peers are looked for in the interpreter `$CARDAN_PEERS_PYTHON` (default: this one), Rapier in
the folder `$CARDAN_PEERS_NODE` (default: the present one) that holds node_modules, ODE and Bullet
where Debian puts them (libode-dev, libbullet-dev) with g++ to build their drivers.
"""

import os
import shutil
import subprocess
import sys
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import NamedTuple

DRIVERS = Path(__file__).parent / "drivers"
BUILT = Path(__file__).parents[2] / "build" / "benchmarks"
BULLET = ("-lBulletDynamics", "-lBulletCollision", "-lLinearMath")

Command = list[str]


class Peer(NamedTuple):
    """An engine that is there."""

    name: str
    floats: int  # 64 or 32 bits
    flat: bool  # reads the flat scene file, not JSON
    command: Callable[[str, str], Command]  # scene file, output folder


def python() -> str:
    """The interpreter of the Python peers."""
    return os.environ.get("CARDAN_PEERS_PYTHON", sys.executable)


def has_module(name: str) -> bool:
    """Whether that interpreter imports a module."""
    code = f"import {name}"
    return subprocess.run([python(), "-c", code], check=False, capture_output=True).returncode == 0


def build(source: Path, name: str, options: tuple[str, ...]) -> str | None:
    """Compile a driver; None where its library or the compiler is missing."""
    if shutil.which("g++") is None:
        return None
    BUILT.mkdir(parents=True, exist_ok=True)
    target = BUILT / name
    command = ["g++", "-O3", "-march=native", "-w", "-o", str(target), str(source)]
    done = subprocess.run([*command, *options], check=False, capture_output=True)
    return str(target) if done.returncode == 0 else None


def command(before: tuple[str, ...], after: tuple[str, ...], scene: str, out: str) -> Command:
    """A driver with its own arguments before and after the scene file and the output folder."""
    return [*before, scene, out, *after]


def compiled(drivers: Path, prefix: str = "") -> tuple[list[Peer], list[str]]:
    """ODE and Bullet by the drivers of a folder: those that are here, and what others would need.

    prefix: before the names of the programs in the build folder, which all benchmarks share.
    """
    found: list[Peer] = []
    missing: list[str] = []
    wide = tuple(f"{library}-float64" for library in BULLET)
    include = "-I/usr/include/bullet"
    for name, floats, source, options, package in (
        ("ODE QuickStep", 64, "ode.cpp", ("-lode",), "libode-dev"),
        (
            *("Bullet f64", 64, "bullet.cpp"),
            *(("-DBT_USE_DOUBLE_PRECISION", include, *wide), "libbullet-dev"),
        ),
        ("Bullet f32", 32, "bullet.cpp", (include, *BULLET), "libbullet-dev"),
    ):
        target = build(drivers / source, prefix + name.replace(" ", "-"), options)
        if target is None:
            missing.append(f"{name} (g++ and {package})")
        else:
            found.append(Peer(name, floats, True, partial(command, (target,), ())))
    return found, missing


def _scripted(found: list[Peer], missing: list[str]) -> None:
    def add(name: str, floats: int, script: str, *arguments: str) -> None:
        start = (python(), str(DRIVERS / script))
        found.append(Peer(name, floats, False, partial(command, start, arguments)))

    if has_module("mujoco"):
        add("MuJoCo Newton", 64, "mujoco_driver.py", "Newton")
        add("MuJoCo CG", 64, "mujoco_driver.py", "CG")
    else:
        missing.append("MuJoCo (pip install mujoco)")
    if has_module("sapien"):
        add("PhysX TGS 4", 32, "physx_driver.py", "4")
        add("PhysX TGS 10", 32, "physx_driver.py", "10")
    else:
        missing.append("PhysX (pip install sapien)")
    modules = Path(os.environ.get("CARDAN_PEERS_NODE", ".")).resolve()
    package = modules / "node_modules" / "@dimforge" / "rapier3d-simd-compat"
    if shutil.which("node") and package.is_dir():
        start = ("node", "--no-liftoff", "--no-wasm-lazy-compilation", str(DRIVERS / "rapier.mjs"))
        found.append(Peer("Rapier", 32, False, partial(command, start, (str(modules),))))
    else:
        missing.append("Rapier (node, npm install @dimforge/rapier3d-simd-compat)")


def find() -> tuple[list[Peer], list[str]]:
    """The peers that are here, and what the others would need."""
    found, missing = compiled(DRIVERS)
    _scripted(found, missing)
    return found, missing
