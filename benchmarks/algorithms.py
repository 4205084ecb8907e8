"""RNEA, CRBA and ABA per call beside Pinocchio and MuJoCo: `make algorithms`.

All in one process, one thread, in turns; least time of many. Ours are called in a compiled loop.
The peers are called from Python, less what the same functions cost on a model without joints.
Before anything is timed, the peers' forces and accelerations are compared with ours. Keeps
benchmarks/results/algorithms.json.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from collections.abc import Callable
from importlib import import_module, util
from typing import Any

import numpy as np
from rich.console import Console
from rich.table import Table

from benchmarks import machine
from benchmarks.mechanisms import MECHANISMS, Mechanism
from benchmarks.report import FOLDER
from cardan.engine import Dynamics
from cardan.engine.compiler.kernel import kernel
from cardan.engine.trees.aba import forward_dynamics
from cardan.engine.trees.batches import inverse_dynamics_of_states
from cardan.engine.trees.crba import joint_inertia
from cardan.engine.trees.rnea import inverse_dynamics
from cardan.engine.world.tree import NODE_FREE
from cardan.schemas import load_scene
from cardan.schemas.examples import example_text

GRAVITY = (0.0, 0.0, -9.81)
ALGORITHMS = ("RNEA", "CRBA", "ABA")
REPEATS = 25
SAMPLE_S = 2e-3
# chains are ill-conditioned: peers that invert H lose digits
AGREEMENT = 1e-7

Array = np.ndarray
Call = Callable[[], object]
Peers = dict[str, dict[str, Call]]


@kernel
def many_rnea(
    n: int, tree: Any, q: Array, qd: Array, qdd: Array, g: Any, work: Any, tau: Array
) -> None:
    """n calls."""
    for _ in range(n):
        inverse_dynamics(tree, q, qd, qdd, g, work, tau)


@kernel
def many_crba(n: int, tree: Any, q: Array, work: Any) -> None:
    """n calls."""
    for _ in range(n):
        joint_inertia(tree, q, work)


@kernel
def many_aba(
    n: int, tree: Any, q: Array, qd: Array, tau: Array, wrench: Array, work: Any, qdd: Array
) -> None:
    """n calls."""
    for _ in range(n):
        forward_dynamics(tree, q, qd, tau, wrench, GRAVITY, work, qdd)


class Ours:
    """The engine's kernels on one mechanism."""

    def __init__(self, one: Mechanism) -> None:
        """Room for answers."""
        self.one = one
        n, v = len(one.tree.kind), len(one.qd)
        self.tau, self.found = np.zeros(v), np.zeros(v)
        self.free, self.wrench = np.zeros(v), np.zeros((n, 6))

    def loops(self) -> dict[str, Callable[[int], object]]:
        """Each algorithm so many times in a compiled loop."""
        one = self.one
        return {
            "RNEA": lambda n: many_rnea(
                n, one.tree, one.q, one.qd, one.qdd, GRAVITY, one.work, self.tau
            ),
            "CRBA": lambda n: many_crba(n, one.tree, one.q, one.work),
            "ABA": lambda n: many_aba(
                n, one.tree, one.q, one.qd, self.free, self.wrench, one.work, self.found
            ),
        }


def pinocchio_model(pin: Any, one: Mechanism) -> Any:
    """The same tree, its joints along coordinate axes as Pinocchio's special ones."""
    model, tree, frames = pin.Model(), one.tree, [0] * len(one.tree.kind)
    turning = (pin.JointModelRX, pin.JointModelRY, pin.JointModelRZ)
    zero = pin.SE3.Identity()
    for i, kind in enumerate(tree.kind):
        up = int(tree.parent[i])
        # Pinocchio's frames lie on the joints, ours in the centres of mass
        moved = tree.anchor_P[i] - (tree.anchor_B[up] if up >= 0 else 0.0)
        if kind == NODE_FREE:
            joint, moved = pin.JointModelFreeFlyer(), np.zeros(3)
        else:
            joint = turning[int(np.argmax(tree.axis_B[i]))]()
        place = pin.SE3(np.eye(3), moved)
        frames[i] = model.addJoint(frames[up] if up >= 0 else 0, joint, place, f"j{i}")
        if tree.mass[i] > 0.0:
            moments = np.diag(tree.inertia_B[i, :3])
            body = pin.Inertia(float(tree.mass[i]), -tree.anchor_B[i], moments)
            model.appendBodyToJoint(frames[i], body, zero)
    return model


def pinocchio_calls(one: Mechanism) -> tuple[dict[str, Call], dict[str, Call], tuple[Any, Any]]:
    """Calls, empty calls, and the forces and accelerations of the state."""
    pin = import_module("pinocchio")
    model = pinocchio_model(pin, one)
    data, nothing = model.createData(), pin.Model()
    no_data, none = nothing.createData(), np.zeros(0)
    q, qd, qdd, tau = pin.neutral(model), one.qd.copy(), one.qdd.copy(), np.zeros(model.nv)
    joints = model.nv - (6 if one.tree.kind[0] == NODE_FREE else 0)
    q[len(q) - joints :] = one.q[len(one.q) - joints :]
    calls = {
        "RNEA": lambda: pin.rnea(model, data, q, qd, qdd),
        "CRBA": lambda: pin.crba(model, data, q),
        "ABA": lambda: pin.aba(model, data, q, qd, tau),
    }
    empty = {
        "RNEA": lambda: pin.rnea(nothing, no_data, none, none, none),
        "CRBA": lambda: pin.crba(nothing, no_data, none),
        "ABA": lambda: pin.aba(nothing, no_data, none, none, none),
    }
    return calls, empty, (calls["RNEA"]().copy()[-joints:], calls["ABA"]().copy()[-joints:])


def mujoco_document(one: Mechanism) -> str:
    """The same tree for MuJoCo: massless nodes are further hinges of the next body."""
    tree = one.tree
    children: dict[int, list[int]] = {}
    for i, up in enumerate(tree.parent):
        children.setdefault(int(up), []).append(i)

    def text(v: Any) -> str:
        return " ".join(repr(float(x)) for x in v)

    def body(i: int, offset: Any) -> str:
        hinges = [i]
        while tree.mass[hinges[-1]] == 0.0:
            hinges += children[hinges[-1]]
        last = hinges[-1]
        at = offset + tree.anchor_P[i] - tree.anchor_B[last]
        if tree.kind[i] == NODE_FREE:
            joints = "<freejoint/>"
            at = one.q[:3]
        else:
            joints = "".join(
                f'<joint type="hinge" pos="{text(tree.anchor_B[last])}" '
                f'axis="{text(tree.axis_B[k])}"/>'
                for k in hinges
            )
        inertial = (
            f'<inertial pos="0 0 0" mass="{float(tree.mass[last])!r}" '
            f'diaginertia="{text(tree.inertia_B[last, :3])}"/>'
        )
        below = "".join(body(k, 0.0) for k in children.get(last, []))
        return f'<body pos="{text(at)}">{joints}{inertial}{below}</body>'

    bodies = "".join(body(i, 0.0) for i in children[-1])
    return (
        '<mujoco><compiler angle="radian" balanceinertia="false"/>'
        f'<option gravity="{text(GRAVITY)}"/><worldbody>{bodies}</worldbody></mujoco>'
    )


def mujoco_calls(one: Mechanism) -> tuple[dict[str, Call], dict[str, Call], tuple[Any, Any]]:
    """Calls, empty calls, and the forces and accelerations of the state."""
    mujoco = import_module("mujoco")
    model = mujoco.MjModel.from_xml_string(mujoco_document(one))
    data = mujoco.MjData(model)
    joints = model.nv - (6 if one.tree.kind[0] == NODE_FREE else 0)
    data.qpos[len(data.qpos) - joints :] = one.q[len(one.q) - joints :]
    data.qvel[:], data.qacc[:] = one.qd, one.qdd
    mujoco.mj_inverse(model, data)
    tau = data.qfrc_inverse[-joints:].copy()
    mujoco.mj_forward(model, data)
    qdd = data.qacc[-joints:].copy()
    empty_model = mujoco.MjModel.from_xml_string("<mujoco><worldbody/></mujoco>")
    nothing = mujoco_algorithms(mujoco, empty_model, mujoco.MjData(empty_model))
    return mujoco_algorithms(mujoco, model, data), nothing, (tau, qdd)


def mujoco_algorithms(mujoco: Any, model: Any, data: Any) -> dict[str, Call]:
    """What each algorithm is made of there."""
    room = np.zeros(model.nv)
    make = getattr(mujoco, "mj_makeM", None) or mujoco.mj_crb

    def places() -> None:
        mujoco.mj_kinematics(model, data)
        mujoco.mj_comPos(model, data)

    def rnea() -> None:
        places()
        mujoco.mj_comVel(model, data)
        mujoco.mj_rne(model, data, 1, room)

    def crba() -> None:
        places()
        make(model, data)

    return {"RNEA": rnea, "CRBA": crba, "ABA": lambda: mujoco.mj_forward(model, data)}


PEERS = {"Pinocchio": ("pinocchio", pinocchio_calls), "MuJoCo": ("mujoco", mujoco_calls)}


def least(run: Callable[[int], object]) -> Callable[[], float]:
    """A clock of one thing: microseconds per call, of as many calls as fill a sample."""
    run(3)
    began = time.thread_time()
    run(30)
    n = max(10, int(SAMPLE_S * 30 / max(time.thread_time() - began, 1e-6)))

    def sample() -> float:
        began = time.thread_time()
        run(n)
        return 1e6 * (time.thread_time() - began) / n

    return sample


def repeated(call: Call) -> Callable[[int], object]:
    """A call so many times, from Python."""

    def run(n: int) -> None:
        for _ in range(n):
            call()

    return run


def measure_one(one: Mechanism) -> list[dict[str, Any]]:
    """One entry for each algorithm: ours and the peers', in turns."""
    ours = Ours(one)
    clocks = {("ours", name): least(loop) for name, loop in ours.loops().items()}
    first = 6 if one.tree.kind[0] == NODE_FREE else 0
    for peer, (module, calls_of) in PEERS.items():
        if util.find_spec(module) is None:
            print(f"{peer}: not installed", flush=True)
            continue
        calls, empty, answers = calls_of(one)
        for mine, theirs in zip((ours.tau, ours.found), answers, strict=True):
            error = np.abs(mine[first:] - theirs).max() / np.abs(theirs).max()
            if error > AGREEMENT:
                raise RuntimeError(f"{one.name}: {peer} computes something else ({error:.2g})")
        for name in ALGORITHMS:
            clocks[peer, name] = least(repeated(calls[name]))
            clocks[f"{peer}, empty", name] = least(repeated(empty[name]))
    found = dict.fromkeys(clocks, 1e9)
    for _ in range(REPEATS):
        for key, clock in clocks.items():
            found[key] = min(found[key], clock())
    entries = []
    for name in ALGORITHMS:
        entry: dict[str, Any] = {"mechanism": one.name, "algorithm": name}
        entry["ours_us"] = round(found["ours", name], 3)
        for peer in PEERS:
            if (peer, name) in found:
                net = found[peer, name] - found[f"{peer}, empty", name]
                entry[f"{peer}_us"] = round(net, 3)
        entries.append(entry)
    return entries


def price_of_calls() -> dict[str, float]:
    """What a call from Python costs [microseconds]: of the kernel, of `Dynamics`, of each state."""
    tree = Dynamics(load_scene(example_text("double-pendulum")))
    q = np.zeros((1000, tree.nq))
    one, tau = q[:1], np.zeros((1, tree.nv))
    ways: dict[str, Callable[[int], object]] = {
        "kernel": repeated(
            lambda: inverse_dynamics_of_states(tree.tree, one, one, one, GRAVITY, tree._work, tau)
        ),
        "Dynamics, one state": repeated(lambda: tree.inverse_dynamics(one)),
        "Dynamics, 1000 states": repeated(lambda: tree.inverse_dynamics(q)),
    }
    clocks = {name: least(run) for name, run in ways.items()}
    found = {name: min(clock() for _ in range(REPEATS)) for name, clock in clocks.items()}
    return {name: round(us, 3) for name, us in found.items()}


def measure() -> dict[str, Any]:
    """Everything, in a process of its own."""
    done = subprocess.run(
        [sys.executable, "-m", "benchmarks.algorithms", "--here"],
        env={**machine.single_threaded(), "MUJOCO_LOG": os.devnull},
        check=True,
        stdout=subprocess.PIPE,
        text=True,
    )
    found: dict[str, Any] = json.loads(done.stdout.splitlines()[-1])
    return found


def show(results: dict[str, Any]) -> None:
    """Print a table."""
    table = Table(
        "mechanism", "algorithm", "ours", *PEERS, "of the fastest peer", title="us per call"
    )
    for entry in results["algorithms"]:
        peers = {peer: entry.get(f"{peer}_us") for peer in PEERS}
        known = [us for us in peers.values() if us is not None]
        ratio = f"{entry['ours_us'] / min(known):.2f}" if known else "-"
        cells = ["-" if us is None else f"{us:.2f}" for us in peers.values()]
        table.add_row(
            entry["mechanism"], entry["algorithm"], f"{entry['ours_us']:.2f}", *cells, ratio
        )
    console = Console()
    console.print(table)
    for name, us in results["calls_us"].items():
        console.print(f"a call from Python, {name}: {us} us")


def main() -> None:
    """Measure, print, keep."""
    if "--here" in sys.argv:
        entries = [entry for make in MECHANISMS for entry in measure_one(make())]
        print(json.dumps({"algorithms": entries, "calls_us": price_of_calls()}))
        return
    results = {"machine": machine.describe(), **measure()}
    FOLDER.mkdir(exist_ok=True)
    text = json.dumps(results, indent=2) + "\n"
    (FOLDER / "algorithms.json").write_text(text, encoding="utf-8")
    show(results)


if __name__ == "__main__":
    main()
