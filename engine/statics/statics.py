"""Statics of a scene: its equilibrium, reactions, stability, and how much more it carries."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from cardan.engine.simulation import Simulation
from cardan.engine.statics.balance import (
    WITHIN,
    Margin,
    admissible,
    hovering,
    load_wrench,
    margin,
    undetermined,
    why_not,
)
from cardan.engine.statics.equilibrium import (
    NOTHING_MOVES,
    Equilibrium,
    Stability,
    find_equilibrium,
    judge,
)
from cardan.engine.statics.reactions import Reactions, reactions_at
from cardan.engine.statics.smooth import SmoothModel
from cardan.engine.statics.smooth_scene import ENDINGS, Held, is_yielding, yields
from cardan.engine.statics.stops import beyond_limits
from cardan.engine.statics.tables import contact_forces, coordinates_of_joints, joint_reactions
from cardan.engine.world.rows import ROW_COUPLING, ROW_EQUATION, ROW_LIMIT, ROW_MOTOR
from cardan.schemas import GivenScene, Scene, SceneInvalid, scene_of

Array = NDArray[np.float64]

# a coordinate may be beyond its limit by this [m or rad]
BEYOND = 1e-9
Status = Literal["equilibrium", "none", "not_found"]


@dataclass(frozen=True)
class Statics:
    """The answer of the laws of statics for a scene."""

    status: Status  # equilibrium; none: at these poses; not_found: by the search
    reason: str
    moved: bool  # whether the bodies are elsewhere than at the start
    steps: int  # of the search
    unbalanced: float  # N  what reactions cannot balance; 0 in equilibrium
    coordinates: dict[str, list[float]]  # of joints [m, rad]
    poses: Array  # (bodies, 7)  origins and quaternions
    joints: list[dict[str, Any]]  # force and torque on the child at the anchor, W; drives
    contacts: list[dict[str, Any]]
    indeterminate: int  # how many reactions statics leaves open
    stability: Stability | None  # None: contacts, stops or dry friction carry
    margin: Margin | None
    left_out: list[str]  # what stability leaves out


def statics(
    scene: GivenScene,
    *,
    search: bool = True,
    load: Mapping[str, Any] | None = None,
) -> Statics:
    """Equilibrium of a scene at its start, or the one a search from there finds.

    First the poses of the start are judged, with all contacts, stops, drives and dry friction: are
    there reactions that balance everything? If not, and `search` is set, a damped Newton method
    looks for an equilibrium of the mechanism without contacts and friction; stops that it runs into
    hold. Its reactions are then judged alike.

    load: what `margin` multiplies, added to what acts: {"acceleration": [x, y, z]} on every body
        [m/s^2], and {"forces": [{"body", "force", "torque", "point"}]} in W [N, N m, m]; `point`
        defaults to the centre of mass.

    Raises SceneInvalid, SceneError, and ValueError for a load that names no body.
    """
    scene = scene_of(scene)
    reactions = reactions_at(scene)
    smooth, moved, steps, stopped = None, False, 0, ""
    unknown, slack = admissible(reactions)
    beyond = reactions.misplaced or _beyond_stops(scene, reactions.simulation)
    if beyond:
        unknown, stopped = None, beyond
    if unknown is None and search:
        smooth, found, stopped = _search(scene)
        stopped += hovering(reactions) if stopped else ""
        steps = found.steps if found is not None else 0
        if smooth is not None and found is not None and found.found:
            smooth.sample(found.q, np.zeros(smooth.nv), np.zeros(smooth.nv))
            there = reactions_at(scene, smooth.simulation)
            unknown, left = admissible(there)
            beyond = there.misplaced or _beyond_stops(scene, smooth.simulation)
            if beyond:
                unknown, stopped = None, f"The search ended elsewhere. {beyond}"
            elif unknown is not None:
                reactions, slack, moved = there, left, True
            else:
                stopped = why_not(there) + _yielding_stops(scene, smooth.simulation)
    elif unknown is None:
        stopped = stopped or why_not(reactions)
    status: Status = "equilibrium" if unknown is not None else "none"
    if unknown is None and search:
        status = "not_found"
    return _answer(scene, reactions, unknown, smooth, load, (status, stopped, moved, steps, slack))


def _search(scene: Scene) -> tuple[SmoothModel | None, Equilibrium | None, str]:
    """The smooth model at the equilibrium that the search ended at; stops it runs into hold."""
    smooth = None
    try:
        smooth = SmoothModel(scene)
        for _ in range(1 + 3 * len(scene.joints)):
            found = find_equilibrium(smooth)
            beyond = _beyond(scene, smooth, found.q) if found.found else None
            if beyond is None:
                break
            place, held = beyond
            smooth.held_places[place] = held
    except ValueError as error:
        message = str(error).rstrip(".")
        return smooth, None, f"The search ended: {message}."
    if found.found:
        return smooth, found, ""
    return smooth, found, (
        f"The search ended after {found.steps} steps with {found.residual:.3g} N m left: nothing "
        "holds the mechanism in some direction, or its equilibrium is far away."
    )  # fmt: skip


def _beyond_stops(scene: Scene, pose: Simulation) -> str:
    """A sentence on a joint that is beyond a stop that does not yield; empty: none is."""
    hard = (joint for joint in scene.joints if not yields(joint))
    names = {joint.name for joint in hard}.intersection(beyond_limits(scene, pose))
    return f"Joint '{min(names)}' is beyond its limits." if names else ""


def _yielding_stops(scene: Scene, pose: Simulation) -> str:
    """A sentence on a soft stop that the search went beyond; empty: on none."""
    soft = {joint.name for joint in scene.joints if yields(joint)}
    names = soft.intersection(beyond_limits(scene, pose))
    return f" The soft stop of joint '{min(names)}' is no part of the search." if names else ""


def _beyond(scene: Scene, smooth: SmoothModel, q: Array) -> tuple[int, Held] | None:
    """The coordinate of a tree that is farthest beyond a hard limit, held there."""
    worst, found = BEYOND, None
    tree, names = smooth.tree, smooth.simulation.joint_names
    for joint in scene.joints:
        for axis, ending in enumerate(ENDINGS):
            limits = getattr(joint, f"limits{ending}", None)
            if limits is None or not hasattr(limits, "lower") or is_yielding(limits):
                continue
            j = names.index(joint.name)
            node = np.flatnonzero((tree.joint == j) & (tree.axis == axis))
            if not len(node) or int(tree.v_start[node[0]]) in smooth.held_places:
                continue
            value = float(q[tree.q_start[node[0]]])
            for limit, sign in ((limits.lower, 1.0), (limits.upper, -1.0)):
                if limit is not None and sign * (limit - value) > worst:
                    worst = sign * (limit - value)
                    place = int(tree.v_start[node[0]])
                    found = place, Held(joint.name, axis, limit, f"limits{ending}")
    return found


def _answer(
    scene: Scene,
    reactions: Reactions,
    unknown: Array | None,
    smooth: SmoothModel | None,
    load: Mapping[str, Any] | None,
    course: tuple[Status, str, bool, int, float],
) -> Statics:
    status, reason, moved, steps, slack = course
    simulation = reactions.simulation
    count, touched = 0, np.zeros(len(reactions.rows), bool)
    if unknown is not None:
        count, touched = undetermined(reactions.program, unknown)
    stability: Stability | None = None
    left_out: list[str] = []
    if unknown is not None and not _carried_by_bounds(reactions, unknown):
        stability, left_out = _stability(reactions, scene, smooth, moved)
    held = None
    if load is not None:
        wrench = load_wrench(simulation, load)
        held = margin(reactions, wrench) if unknown is not None else Margin(0.0, "no equilibrium")
    return Statics(
        status, reason, moved, steps, slack,
        coordinates_of_joints(scene, simulation),
        simulation.poses(),
        joint_reactions(scene, reactions, unknown, touched),
        contact_forces(reactions, unknown, touched),
        count, stability, held, left_out,
    )  # fmt: skip


def _stability(
    reactions: Reactions, scene: Scene, smooth: SmoothModel | None, moved: bool
) -> tuple[Stability | None, list[str]]:
    """Stability at an equilibrium, and what it leaves out, or why it is not judged."""
    try:
        smooth = smooth or SmoothModel(scene)
        found = find_equilibrium(_at(smooth, moved), search=False)
        stability = judge(smooth, found, reactions.force * reactions.length)
    except SceneInvalid as error:
        if any(fault.code == "nothing_moves" for fault in error.errors):
            return NOTHING_MOVES, []
        return None, [f"stability: {error.errors[0].message}"]
    except ValueError as error:
        return None, [f"stability: {error}"]
    return stability, smooth.all_left_out()


def _at(smooth: SmoothModel, moved: bool) -> SmoothModel:
    """The smooth model with its coordinates where the search left them."""
    if moved:
        smooth.q = smooth.simulation.state.tree_q.copy()
    return smooth


def _carried_by_bounds(reactions: Reactions, x: Array) -> bool:
    """Whether contacts, stops or dry friction carry a part of the load."""
    kind = reactions.simulation.work.rows.kind
    carried = ~np.isin(kind[reactions.rows], (ROW_COUPLING, ROW_EQUATION, ROW_MOTOR))
    yielding = any(kind[i] == ROW_LIMIT and force != 0.0 for i, force in reactions.fixed)
    return yielding or bool((np.abs(x[carried]) > WITHIN).any())
