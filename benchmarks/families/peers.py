"""Which engines are here, what each can express, and how it is run on a scene of the families."""

import sys
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import NamedTuple

from benchmarks.contacts import peers as contact_peers
from benchmarks.contacts.peers import Command, Peer, command, compiled, has_module, python
from benchmarks.families.flat import JOINTS, SHAPES, plain
from benchmarks.families.solids import Scene

DRIVERS = Path(__file__).parent / "drivers"
MODULE = "benchmarks.families.ours"
_OWN = (sys.executable, "-m", MODULE)
OURS = Peer("Cardan", 64, False, partial(command, _OWN, ()))
# the same with steps that are longer than the scene's: so many in place of ten
LONGER = tuple(
    Peer(f"Cardan, 10 steps in {n}", 64, False, partial(command, _OWN, (f"10/{n}",)))
    for n in (5, 4, 3, 2, 1)
)


class Scope(NamedTuple):
    """Shapes and joints that an engine's driver knows; loops: joints that may close a loop."""

    shapes: tuple[str, ...]
    joints: tuple[str, ...]
    loops: tuple[str, ...]
    plain: bool = False  # only what benchmarks.contacts can say


ODE = Scope(("sphere", "box", "capsule", "mesh"), (*JOINTS[:6], "distance"), JOINTS)
BULLET = Scope(SHAPES, JOINTS[:7], JOINTS)
MUJOCO = Scope(SHAPES[:5], JOINTS[:7], ("ball", "hinge"))
PLAIN = Scope(SHAPES[:3], (), (), plain=True)
ALL = Scope(SHAPES, JOINTS, JOINTS)


def _loops(scene: Scene) -> set[str]:
    """Kinds of the joints that close loops, the world counted as a body."""
    root = list(range(len(scene["bodies"]) + 1))
    found = set()
    for one in scene["joints"]:
        a, b = one["parent"], one["child"]
        while root[a] != a % len(root):
            a = root[a]
        while root[b] != b:
            b = root[b]
        if a % len(root) == b:
            found.add(one["kind"])
        root[a] = b
    return found


def lacks(scope: Scope, scene: Scene) -> str | None:
    """What of a scene an engine cannot express; None: nothing."""
    shapes = {s["kind"] for b in scene["bodies"] for s in b["shapes"]} - set(scope.shapes)
    joints = {j["kind"] for j in scene["joints"]} - set(scope.joints)
    if scope.plain and scene["joints"]:
        return "joints"
    loops = _loops(scene) - set(scope.loops) - joints
    found = [*sorted(shapes), *(f"{kind} joints" for kind in sorted(joints))]
    found += [f"loops closed by {kind} joints" for kind in sorted(loops)]
    if not found and scope.plain and plain(scene) is None:
        found = ["bodies of several or shifted shapes"]
    return ", ".join(found) or None


def find() -> tuple[list[tuple[Peer, Scope]], list[str]]:
    """The peers that are here with what they can express, and what the others would need.

    PhysX and Rapier are driven as in benchmarks.contacts, on scenes that it can say.
    """
    built, missing = compiled(DRIVERS, "families-")
    found = [(peer, ODE if peer.name.startswith("ODE") else BULLET) for peer in built]
    if has_module("mujoco"):
        start = (python(), str(DRIVERS / "mujoco_driver.py"))
        for name in ("Newton", "CG"):
            run = partial(command, start, (name,))
            found.append((Peer(f"MuJoCo {name}", 64, False, run), MUJOCO))
    else:
        missing.append("MuJoCo (pip install mujoco)")
    others, absent = contact_peers.find()
    for peer in others:
        if peer.name.startswith(("PhysX", "Rapier")):
            found.append((peer._replace(command=_on_plain(peer)), PLAIN))
    missing += [one for one in absent if one.startswith(("PhysX", "Rapier"))]
    return found, missing


def _on_plain(peer: Peer) -> Callable[[str, str], Command]:
    """The command of a peer, on the same scene as benchmarks.contacts writes it."""

    def on_plain(file: str, out: str) -> Command:
        return peer.command(str(Path(file).with_name("plain.json")), out)

    return on_plain
