"""Compile or load every kernel a simulation may call."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any, Literal

from numba import boolean, float64, typeof

from cardan.engine.compiler.cache import is_complete, mark_complete
from cardan.engine.compiler.lanes import HAS_LANES, W, compile_for_width, lanes_handle
from cardan.engine.compiler.processor import NARROW, WIDE
from cardan.engine.compiler.progress import Defined, Progress, watched
from cardan.engine.dynamics import Dynamics
from cardan.engine.lanes.arrays import lane_world
from cardan.engine.lanes.many import run_worlds
from cardan.engine.lanes.step import run
from cardan.engine.lanes.step import step as step_of_lanes
from cardan.engine.lanes.transfer import read_motion
from cardan.engine.runs.recording import Recording
from cardan.engine.runs.states import rollout_states
from cardan.engine.runs.variants import rollout
from cardan.engine.simulation import Simulation
from cardan.engine.solvers.islands import solve_problem
from cardan.engine.step.step import drift_kick_drift, end_step
from cardan.engine.world.state import VELOCITIES_KEPT
from cardan.schemas import load_scene

# one process compiles the step, which is more than half of all; others beside it may take the rest,
# and lower what the step calls
Share = Literal["step", "solvers", "parts", "lanes", "algorithms", "motion"]
LOWERED: tuple[Share, ...] = ("solvers", "parts", "lanes") if HAS_LANES else ()
BESIDE: tuple[Share, ...] = (*LOWERED, "algorithms", "motion")


def tiny_scene() -> dict[str, Any]:
    """One body on one hinge, above a plane."""
    return {
        "simulation": {"dt": 0.001, "duration": 0.01},
        "bodies": [
            {
                "name": "ground",
                "type": "static",
                "shapes": [{"type": "plane", "normal": [0, 0, 1]}],
            },
            {
                "name": "rod",
                "position": [0, 0, 1],
                "mass": 1,
                "shapes": [{"type": "box", "size": [0.1, 0.1, 0.1]}],
            },
        ],
        "joints": [
            {
                "name": "pin",
                "type": "hinge",
                "parent": "world",
                "child": "rod",
                "anchor": [0.5, 0, 1],
                "axis": [0, 1, 0],
            }
        ],
    }


def use_everything(simulation: Simulation) -> None:
    """Call every query and report that uses kernels."""
    simulation.joint_table()
    simulation.contact_table()
    simulation.energy()
    simulation.momentum()
    simulation.watch_events()
    simulation.events()
    Recording(simulation).observe()
    simulation.raycast([0, 0, 2], [0, 0, -1])
    simulation.closest_points("ground", "rod")
    simulation.set_state()


def compute_everything(tree: Dynamics) -> None:
    """Call every algorithm in joint coordinates."""
    q, qd = tree.start, tree.start
    tree.inverse_dynamics(q)
    tree.forward_dynamics(q)
    tree.mass_matrix(q)
    tree.jacobian(q, "rod")
    tree.jacobian_rate(q, qd, "rod")
    tree.kinematics(q)
    tree.energy(q)


def solve_plain_problems() -> None:
    """Solve problems without a scene by every method."""
    # imports SciPy, which a process that only simulates does not need
    from cardan.engine.complementarity import solve_cone, solve_lcp

    W, q = [[2.0, 0.1, 0.0], [0.1, 2.0, 0.0], [0.0, 0.0, 2.0]], [-1.0, 1.0, 0.5]
    for method in ("jacobi", "gauss_seidel", "nncg", "pgs_sm", "apgd", "proximal"):
        solve_cone(W, q, [0.5], method=method)
    solve_cone(W, q, [0.5], method="gauss_seidel", law="relaxed")
    for method in ("lemke", "pivoting"):
        solve_lcp(W, q, method=method)


def move_in_steps() -> Simulation:
    """Run the step."""
    scene = tiny_scene()
    # a drive with a stiffness: the build calls a kernel for the kind of its coordinate
    scene["joints"][0]["motor"] = {"type": "position", "target": 0.0, "stiffness": 1.0}
    simulation = Simulation(load_scene(scene))
    simulation.advance(2)
    return simulation


def start_smoothly() -> Simulation:
    """Build a scene of smooth motion, without calling the kernel of the step."""
    scene = tiny_scene()
    # smooth motion has no contacts
    scene["simulation"] |= {"formulation": "reduced", "integrator": "rk4", "collisions": False}
    return Simulation(load_scene(scene))


def move_smoothly() -> Simulation:
    """Run the integrators of smooth motion and commands to trees.

    The kernel of the step, which projects velocities that were set, is left to `move_in_steps`.
    """
    simulation = start_smoothly()
    simulation.state.velocities_changed[0] = VELOCITIES_KEPT
    simulation.advance(1)
    simulation.apply_impulse("rod", [0, 0, 1])
    return simulation


def lower_solvers() -> None:
    """Lower the solvers of the step, for the process that compiles it."""
    solve_problem.inner.compile((typeof(start_smoothly().world),))


def lower_parts() -> None:
    """Lower the later parts of the step, for the process that compiles it."""
    world = typeof(start_smoothly().world)
    end_step.inner.compile((world, boolean))
    drift_kick_drift.inner.compile((world,))


def lower_lanes() -> None:
    """Lower the step of worlds side by side, for the process that compiles the other step."""
    lanes = lanes_handle(lane_world(start_smoothly().built))._numba_type_.struct_type
    step_of_lanes.inner.compile((lanes, float64))


def move_side_by_side() -> None:
    """Run two worlds in lanes, as variants with frames and as states."""
    scene = tiny_scene()
    del scene["bodies"][0]
    scene["simulation"] |= {"formulation": "reduced"}
    rollout(scene, {"/bodies/0/mass": [1.0, 2.0]}, trajectories=True)
    rollout_states(scene, [[0.0], [0.1]])


def compile_for_all_processors() -> None:
    """Compile worlds side by side, which were moved, for registers of every width."""
    for width in {NARROW, WIDE} - {W}:
        for entry_point in (run, run_worlds, read_motion):
            compile_for_width(entry_point, width)


def compile_step() -> None:
    """Compile or load the step, and worlds side by side, which begin with one."""
    move_in_steps()
    move_side_by_side()


def compile_algorithms() -> None:
    """Compile or load what needs no simulation."""
    compute_everything(Dynamics(load_scene(tiny_scene())))
    solve_plain_problems()


def compile_motion() -> None:
    """Compile or load smooth motion, queries and reports."""
    use_everything(move_smoothly())


COMPILE: dict[Share, Callable[[], None]] = {
    "step": compile_step,
    "solvers": lower_solvers,
    "parts": lower_parts,
    "lanes": lower_lanes,
    "algorithms": compile_algorithms,
    "motion": compile_motion,
}


def call_every_kernel() -> None:
    """Compile or load all kernels."""
    compile_step()
    compile_algorithms()
    compile_motion()


def warmup(progress: Progress | None = None, share: Share | None = None) -> float:
    """Compile (or load from the cache) every kernel; returns the seconds it took.

    progress(done, total, what) is called whenever a kernel is compiled, and once at the end with
    done = total. Loading a complete cache takes well under a second and reports only the end.
    With a `share`, only its kernels are compiled, and the cache is not marked complete: one process
    takes "step", others beside it those of BESIDE, in this order.
    """
    began = time.perf_counter()
    report = progress if progress is not None else quietly
    with watched(report):
        if share is not None:
            COMPILE[share]()
        elif is_complete():
            use_everything(move_in_steps())
            move_side_by_side()
        else:
            call_every_kernel()
    if share is None:
        mark_complete()
        # kernels that were imported on the way count as well
        total = max(Defined.count, 1)
        report(total, total, "ready")
    return time.perf_counter() - began


def quietly(done: int, total: int, what: str) -> None:
    """Ignore progress."""
