"""Analysis of a scene before it runs: its degrees of freedom, and which step it allows.

Joints are constraint rows of all bodies here, whatever the formulation of the scene:

    G  =  J M^(-1/2),     degrees of freedom  =  6 n - rank G

Rows are taken joint by joint in the order of the scene; a row that the rows before it already imply
is redundant: its share of the reactions is not determined by the laws of rigid bodies.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from cardan.engine.build.components import components
from cardan.engine.build.limits import LARGEST_TURN, body_lengths, can_touch
from cardan.engine.build.loops import closes_loops
from cardan.engine.build.options import with_options, without_rotors
from cardan.engine.outputs.reports import REACTION_FIELDS
from cardan.engine.simulation import Simulation
from cardan.engine.world.model import CYLINDRICAL, DISTANCE, DYNAMIC, HINGE2, SLIDER, Model
from cardan.engine.world.rows import ROW_COUPLING, ROW_EQUATION, SLOT_LOWER, Rows
from cardan.schemas import GivenScene, Scene, scene_of

Array = NDArray[np.float64]

# rows are judged at the start: after a step of this share of dt
STILL = 1e-9
# a row counts as implied when this share of it is left beside those before it
RANK_TOLERANCE = 1e-7
# scenes with more rows are not judged: the cost grows with the cube
MOST_ROWS = 2000
# the same of what every summary says of loops: some tens of milliseconds
MOST_ROWS_OF_LOOPS = 400
# joints whose springs act along a way, not a turn
ALONG = (SLIDER, CYLINDRICAL, DISTANCE, HINGE2)
# the setting that keeps overlapping bodies from colliding
IGNORE = "ignore_initial_overlaps"
# phase per step of a spring that is still followed: (0.2)^2/24 of it is lost per rad [rad]
SPRING_TURN = 0.2


def preview(scene: GivenScene, simulation: Simulation | None = None) -> dict[str, Any]:
    """Look at a scene at its start; `simulation`: of it with its options, before its first step.

    Returns the keys of schemas.api.ScenePreview. Raises SceneInvalid or SceneError.
    """
    scene = with_options(scene_of(scene))
    simulation = simulation or Simulation(scene)
    found = overlaps_of(simulation)
    return {
        **mobility(scene),
        "overlaps": found,
        "loose": loose_bodies(simulation),
        "steps": allowed_steps(simulation),
    }


def overlaps_of(simulation: Simulation) -> list[dict[str, Any]]:
    """Pairs of bodies that overlap at the start, the worst first."""
    names = simulation.body_names
    kind = "initial_overlap"
    return [
        {
            "body": one["body"],
            "other_body": one["other_body"],
            "depth": one["value"],
            "remedy": IGNORE if IGNORE in one["change"] else None,
        }
        for one in simulation.findings()
        if one["quantity"] == kind and one["body"] in names
    ]


def rows_at_start(scene: Scene) -> tuple[Model, Array, Array, NDArray[np.int64]]:
    """The scene's model, rows G (r, 6 n) of its joints, their wrenches (r, 6) and their joints."""
    options = scene.simulation
    still = options.model_copy(
        update={
            "dt": STILL * options.dt,
            "duration": STILL * options.dt,
            "formulation": "maximal",
            "integrator": "semi_implicit_euler",
        }
    )
    simulation = Simulation(without_rotors(scene.model_copy(update={"simulation": still})))
    simulation.advance(1)
    model, rows = simulation.model, simulation.work.rows
    count = int(rows.count[1])
    chosen = (rows.kind[:count] == ROW_EQUATION) & (rows.joint[:count] >= 0)
    chosen &= rows.slot[:count] < SLOT_LOWER
    joints = model.joints
    is_rigid = (joints.spring_on == 0) & (joints.limit_on[:, 0] == 0)
    coupled = np.flatnonzero(rows.kind[:count] == ROW_COUPLING)
    chosen[coupled] = is_rigid[rows.joint[coupled]]
    at = np.flatnonzero(chosen)
    at = at[np.argsort(rows.joint[at], kind="stable")]
    G, joint = scaled_rows(model, simulation, at), rows.joint[at]
    W = wrenches(rows, at)
    # a coupling is one equation: the sum of its terms
    further = np.zeros(len(at), bool)
    further[1:] = (rows.kind[at[1:]] == ROW_COUPLING) & (joint[1:] == joint[:-1])
    first = np.flatnonzero(~further)
    if len(first) == 0:
        return model, G, W, joint
    return model, np.add.reduceat(G, first), np.add.reduceat(W, first), joint[first]


def wrenches(rows: Rows, at: NDArray[np.int64]) -> Array:
    """(r, 6) force and torque of the chosen rows on their child, at the anchor, W."""
    push, arm = rows.J_b[at, 3:], rows.joint_arm[rows.joint[at]]
    return np.hstack([push, rows.J_b[at, :3] - np.cross(arm, push)])


def reactions_not_unique(scene: Scene) -> list[dict[str, Any]]:
    """Joints whose reactions the laws of rigid bodies do not determine at the start.

    Forces x of rows with G^T x = 0 push nothing: what they hold can be added to any solution. Each
    entry has `joint`, `equations`, how many of its own the joints before it imply, `channels`,
    which of its force and torque are open, and `least`, whether those reported are the least.
    Scenes of more than MOST_ROWS_OF_LOOPS rows have none.
    """
    model, G, wrench, joint = rows_at_start(with_options(scene))
    if len(G) > MOST_ROWS_OF_LOOPS:
        return []
    size = np.linalg.norm(G, axis=1)
    unit = G / np.where(size > 0.0, size, 1.0)[:, None]
    left, found, _ = np.linalg.svd(unit)
    rank = int((found > RANK_TOLERANCE).sum())
    free = left[:, rank:] / np.where(size > 0.0, size, 1.0)[:, None]
    share = np.linalg.norm(left[:, rank:], axis=1)
    _, implied = implied_equations(G, joint)
    names = [one.name for one in scene.joints]
    least = np.full(len(names), least_is_found(scene)) & (model.joints.loop >= 0)
    entries = []
    for j in np.unique(joint[share > RANK_TOLERANCE]):
        mine = joint == j
        # each of the open combinations is a unit; what of it is in a channel
        by_channel = np.linalg.norm(free[mine].T @ wrench[mine], axis=0)
        open_ = by_channel > RANK_TOLERANCE * by_channel.max()
        channels = [name for name, is_open in zip(REACTION_FIELDS, open_, strict=True) if is_open]
        entry = {"joint": names[j], "equations": implied.get(int(j), 0), "channels": channels}
        entries.append(entry | {"least": bool(least[j])})
    return entries


def least_is_found(scene: Scene) -> bool:
    """Whether the laws of impact and the integrator of a scene leave least reactions."""
    contact, options = scene.simulation.contact, scene.simulation
    plain = contact.restitution_law == "newton" and contact.impact_time == "step"
    return plain and options.integrator == "semi_implicit_euler"


def add_reactions(summary: dict[str, Any], simulation: Simulation) -> None:
    """Put the joints whose reactions are not unique into the summary of a run."""
    loops = closes_loops(simulation.model.joints, simulation.model.bodies.kind)
    found = reactions_not_unique(simulation.scene) if loops else []
    summary["joints"]["not_unique"] = found


def scaled_rows(model: Model, simulation: Simulation, at: NDArray[np.int64]) -> Array:
    """J M^(-1/2) of the chosen rows, (r, 6 n): angular columns first."""
    rows, bodies = simulation.work.rows, model.bodies
    n = len(bodies.kind)
    G = np.zeros((len(at), 6 * n))
    for body, J in ((rows.body_a, rows.J_a), (rows.body_b, rows.J_b)):
        for r, i in enumerate(at):
            b = int(body[i])
            if bodies.kind[b] != DYNAMIC:
                continue
            moment = max(float(np.trace(bodies.inertia_B[b])) / 3.0, 1e-300)
            G[r, 6 * b : 6 * b + 3] += J[i, :3] / np.sqrt(moment)
            G[r, 6 * b + 3 : 6 * b + 6] += J[i, 3:] * np.sqrt(bodies.inverse_mass[b])
    return G


def mobility(scene: Scene) -> dict[str, Any]:
    """`degrees_of_freedom`, and `redundant`: how many equations of which joints are implied."""
    if not scene.joints:
        free = sum(body.type == "dynamic" for body in scene.bodies)
        return {"degrees_of_freedom": 6 * free, "redundant": []}
    model, G, _, joint = rows_at_start(scene)
    moving = int((model.bodies.kind == DYNAMIC).sum())
    if len(G) > MOST_ROWS:
        return {"degrees_of_freedom": None, "redundant": []}
    rank, implied = implied_equations(G, joint)
    names = [one.name for one in scene.joints]
    redundant = [{"joint": names[j], "equations": count} for j, count in implied.items()]
    return {"degrees_of_freedom": 6 * moving - rank, "redundant": redundant}


def implied_equations(G: Array, joint: NDArray[np.int64]) -> tuple[int, dict[int, int]]:
    """The rank of G, and how many rows of each joint those before them imply."""
    kept = np.zeros((0, G.shape[1]))
    implied: dict[int, int] = {}
    for row, j in zip(G, joint, strict=True):
        size = float(np.linalg.norm(row))
        # twice: once leaves rounding where rows are nearly parallel
        left = row - kept.T @ (kept @ row)
        left -= kept.T @ (kept @ left)
        rest = float(np.linalg.norm(left))
        if rest <= RANK_TOLERANCE * size:
            implied[int(j)] = implied.get(int(j), 0) + 1
        else:
            kept = np.vstack([kept, left / rest])
    return len(kept), implied


def loose_bodies(simulation: Simulation) -> list[str]:
    """Bodies that gravity pulls, that no joint or spring leads to the world, and that can touch
    nothing: they fall for ever."""
    model = simulation.model
    n = len(model.bodies.kind)
    if not np.linalg.norm(simulation.state.gravity_W) > 0.0:
        return []
    held = model.bodies.kind != DYNAMIC
    world = n - 1
    touching = can_touch(model.shapes, n)
    fixed = np.flatnonzero(held | touching) if touching[held].any() else np.flatnonzero(held)
    first = np.concatenate([model.joints.body_a, model.forces.body_a, fixed])
    second = np.concatenate([model.joints.body_b, model.forces.body_b, np.full(len(fixed), world)])
    linked = (first >= 0) & (second >= 0)
    part = components(n, first[linked], second[linked])
    return [name for i, name in enumerate(simulation.body_names) if part[i] != part[world]]


def allowed_steps(simulation: Simulation) -> dict[str, float | None]:
    """The largest steps [s] that stiffness, speeds with sizes, and rotations allow; None: any."""
    model, state = simulation.model, simulation.state
    touching = can_touch(model.shapes, len(model.bodies.kind))
    moving = model.bodies.kind == DYNAMIC
    speed = np.linalg.norm(state.v_WB_W, axis=1)
    fast = touching & moving & (speed > 0.0)
    travel = body_lengths(model, state.p_WB)[fast] / speed[fast]
    spin = np.linalg.norm(state.w_WB_W, axis=1)[moving]
    joints, forces = model.joints, model.forces
    along = np.isin(joints.kind, ALONG)
    inverse_mass = np.where(along, joints.inverse_mass[:, 0], joints.inverse_mass[:, 1])
    stiffness = np.concatenate(
        [
            forces.stiffness[:, 0] * forces.inverse_mass,
            joints.spring_k[:, 0] * joints.spring_on * inverse_mass,
            (joints.motor_stiffness[:, :, 0] * joints.motor_inverse_mass).max(axis=1, initial=0.0),
        ]
    )
    stiffest = float(stiffness.max(initial=0.0))
    fastest = float(spin.max(initial=0.0))
    return {
        "stiffness": SPRING_TURN / float(np.sqrt(stiffest)) if stiffest > 0.0 else None,
        "speed": float(travel.min()) if len(travel) else None,
        "rotation": LARGEST_TURN / fastest if fastest > 0.0 else None,
    }
