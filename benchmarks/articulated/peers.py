"""Which engines with joints are here, and how each is run on a scene: see benchmarks.contacts."""

from functools import partial
from pathlib import Path

from benchmarks.contacts.peers import BULLET, Peer, build, command, has_module, python

DRIVERS = Path(__file__).parent / "drivers"


def find() -> tuple[list[Peer], list[str]]:
    """The peers that are here, and what the others would need."""
    found: list[Peer] = []
    missing: list[str] = []
    if has_module("mujoco"):
        start = (python(), str(DRIVERS / "mujoco_driver.py"))
        for name in ("Euler", "RK4"):
            found.append(Peer(f"MuJoCo {name}", 64, False, partial(command, start, (name,))))
    else:
        missing.append("MuJoCo (pip install mujoco)")
    ode = build(DRIVERS / "ode.cpp", "articulated-ODE", ("-lode",))
    if ode is None:
        missing.append("ODE (g++ and libode-dev)")
    else:
        for name, way in (("ODE Dantzig", "step"), ("ODE QuickStep", "quick")):
            found.append(Peer(name, 64, True, partial(command, (ode,), (way,))))
    wide = tuple(f"{library}-float64" for library in BULLET)
    options = ("-DBT_USE_DOUBLE_PRECISION", "-I/usr/include/bullet", *wide)
    bullet = build(DRIVERS / "bullet.cpp", "articulated-Bullet", options)
    if bullet is None:
        missing.append("Bullet (g++ and libbullet-dev)")
    else:
        found.append(Peer("Bullet multibody", 64, True, partial(command, (bullet,), ())))
    return found, missing
