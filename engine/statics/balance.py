"""Whether reactions balance what acts, which of many, and how much more a scene carries."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import block_array, coo_array, csr_array, identity, kron, lil_array
from scipy.sparse.csgraph import connected_components

from cardan.engine.simulation import Simulation
from cardan.engine.statics.cones import Cone, Program, minimise
from cardan.engine.statics.fields import check_fields
from cardan.engine.statics.reactions import NAMES, Reactions
from cardan.engine.world.model import DYNAMIC
from cardan.engine.world.rows import ROW_EQUATION, ROW_NORMAL
from cardan.schemas.given import GivenInvalid

Array = NDArray[np.float64]

# unbalanced forces this share of all that act count as none
BALANCED = 1e-8
# bounds and cones may be missed by this share of all forces that act
WITHIN = 1e-9
# room to a bound, as a share of all forces, from which more counts as none
OFF = 1e-3
# singular values below this share of the largest are zero: reactions are not determined
UNDETERMINED = 1e-9
# velocities of a mechanism this share of the largest are motions
MOVES = 1e-6


@dataclass(frozen=True)
class Margin:
    """How much of a load a scene carries, and how it gives way beyond."""

    factor: float | None  # -   largest multiple of the load; None: any
    gives_way: str | None  # tipping, sliding, free to move, drive, stop, ...; None: never
    opens: list[int] = field(default_factory=list)  # contacts that open beyond it
    slides: list[int] = field(default_factory=list)
    joints: list[str] = field(default_factory=list)  # whose drives, stops or friction give way


class Island(NamedTuple):
    """Bodies that share unknown forces, and those forces; other bodies have no part in them."""

    bodies: NDArray[np.int64]  # places in `Reactions.bodies`
    unknowns: NDArray[np.int64]
    program: Program  # in units of what acts on these bodies
    scale: float  # that, in units of all forces


def islands(reactions: Reactions) -> list[Island]:
    """The scene in parts that are in balance each for itself: what is light is no rounding."""
    program = reactions.program
    n_bodies, n = len(reactions.bodies), program.A.shape[1]
    acts = np.abs(program.A).reshape(n_bodies, 6, n).max(axis=1, initial=0.0) > 0.0
    body, unknown = np.nonzero(acts)
    links = coo_array(
        (np.ones(len(body)), (body, n_bodies + unknown)), shape=(n_bodies + n, n_bodies + n)
    )
    _, label = connected_components(links, directed=False)
    return [_island(reactions, label, part) for part in np.unique(label[:n_bodies])]


def _island(reactions: Reactions, label: NDArray[np.int32], part: int) -> Island:
    program, n_bodies = reactions.program, len(reactions.bodies)
    bodies = np.flatnonzero(label[:n_bodies] == part)
    unknowns = np.flatnonzero(label[n_bodies:] == part)
    scale = float(reactions.sizes[bodies].sum()) or 1.0
    place = {int(k): i for i, k in enumerate(unknowns)}
    cones = [
        Cone(
            place[cone.normal] if cone.normal >= 0 else -1,
            tuple(place[k] for k in cone.tangents),
            cone.mu if cone.normal >= 0 else cone.mu / scale,
        )
        for cone in program.cones
        if cone.tangents[0] in place
    ]
    rows = (6 * bodies[:, None] + np.arange(6)).ravel()
    lo, hi = program.lo[unknowns] / scale, program.hi[unknowns] / scale
    A, b = program.A[np.ix_(rows, unknowns)], program.b[rows] / scale
    return Island(bodies, unknowns, Program(A, b, lo, hi, cones), scale)


def admissible(reactions: Reactions) -> tuple[Array | None, float]:
    """Forces (n,) of the unknown rows that balance what acts, and what is left unbalanced [N].

    Of many the shortest, if it is within its bounds; else one that a linear program finds.
    """
    x, left, balanced = np.zeros(reactions.program.A.shape[1]), 0.0, True
    equations = reactions.simulation.work.rows.kind[reactions.rows] == ROW_EQUATION
    for island in islands(reactions):
        part, slack = _admissible(island.program, equations[island.unknowns])
        left += slack * island.scale * reactions.force
        balanced = balanced and part is not None
        if part is not None:
            x[island.unknowns] = island.scale * part
    return (x if balanced else None), left


def _admissible(program: Program, equations: NDArray[np.bool_]) -> tuple[Array | None, float]:
    """Admissible forces of one island, in its units, and the imbalance that is left."""
    shortest, left = _shortest(program)
    if left <= BALANCED and is_within(program, shortest):
        return shortest, 0.0
    m, n = program.A.shape
    elastic = Program(
        np.hstack([program.A, np.eye(m), -np.eye(m)]),
        program.b,
        np.concatenate([program.lo, np.zeros(2 * m)]),
        np.concatenate([program.hi, np.full(2 * m, np.inf)]),
        program.cones,
    )
    solved = minimise(elastic, np.concatenate([np.zeros(n), np.ones(2 * m)]))
    if solved.x is None:
        return None, math.inf
    slack = float(solved.x[n:].sum())
    if slack > BALANCED:
        return None, slack
    return _with_shortest_equations(program, equations, interior(program, solved.x[:n])), 0.0


def interior(program: Program, x: Array) -> Array:
    """Forces that balance like x and are off their bounds and cones where any such forces are.

    Where these are on a bound every solution is, so that what they leave open is open. Each room
    to a bound counts up to OFF:  x = lo + s + u,  0 <= s <= OFF,  u >= 0;  the sum of s is largest.
    """
    n = program.A.shape[1]
    rooms: list[tuple[dict[int, float], float]] = []
    for k in range(n):
        for bound, sign in ((program.lo[k], 1.0), (program.hi[k], -1.0)):
            if np.isfinite(bound):
                rooms.append(({k: sign}, sign * float(bound)))
    first = n + 2 * len(rooms)
    cones = []
    for c, cone in enumerate(program.cones):
        given = cone.normal >= 0
        rooms.append(({cone.normal: cone.mu}, 0.0) if given else ({}, -cone.mu))
        cones.append(Cone(first + 2 * c + 1, cone.tangents, 1.0))
    q = len(rooms)
    if not q:
        return x
    left = lil_array((q, n))
    for i, (terms, _) in enumerate(rooms):
        for k, factor in terms.items():
            left[i, k] = factor
    pairs = kron(identity(q), np.array([[-1.0, -1.0]]))
    A = block_array([[csr_array(program.A), None], [left, pairs]], format="csr")
    b = np.concatenate([program.b, [bound for _, bound in rooms]])
    room = np.tile([OFF, np.inf], q)
    free = np.full(n, np.inf)
    cost = np.concatenate([np.zeros(n), np.tile([-1.0, 0.0], q)])
    least, most = np.concatenate([-free, np.zeros(2 * q)]), np.concatenate([free, room])
    wide = Program(A, b, least, most, cones)
    solved = minimise(wide, cost)
    return x if solved.x is None else solved.x[:n]


def _shortest(program: Program) -> tuple[Array, float]:
    """The shortest forces that balance as much as any, and the largest that is left."""
    found: Any = np.zeros(program.A.shape[1])
    if program.A.size:
        found = np.linalg.lstsq(program.A, program.b, rcond=UNDETERMINED)[0]
    return found, float(np.abs(program.A @ found - program.b).max(initial=0.0))


def _with_shortest_equations(program: Program, chosen: NDArray[np.bool_], x: Array) -> Array:
    """The same forces of stops, drives and contacts, and of joints the shortest beside them."""
    A = program.A[:, chosen]
    x = x.copy()
    if A.size:
        x[chosen] = np.linalg.lstsq(A, A @ x[chosen], rcond=UNDETERMINED)[0]
    return x


def is_within(program: Program, x: Array) -> bool:
    """Whether forces keep their bounds and cones."""
    if (x < program.lo - WITHIN).any() or (x > program.hi + WITHIN).any():
        return False
    return all(_size(cone, x) <= _radius(cone, x) + WITHIN for cone in program.cones)


def _size(cone: Cone, x: Array) -> float:
    return float(np.linalg.norm(x[list(cone.tangents)]))


def _radius(cone: Cone, x: Array) -> float:
    return cone.mu * (float(x[cone.normal]) if cone.normal >= 0 else 1.0)


def undetermined(program: Program, x: Array) -> tuple[int, NDArray[np.bool_]]:
    """How many combinations of forces within their bounds are open, and which forces they change.

    Forces on a bound, and friction on its cone, are taken as they are.
    """
    inside = (x > program.lo + WITHIN) & (x < program.hi - WITHIN)
    for cone in program.cones:
        if _size(cone, x) >= _radius(cone, x) - WITHIN:
            inside[list(cone.tangents)] = False
    places = np.flatnonzero(inside)
    touched = np.zeros(len(x), bool)
    if not len(places):
        return 0, touched
    _, values, Vt = np.linalg.svd(program.A[:, places])
    rank = int((values > UNDETERMINED * values.max(initial=0.0)).sum())
    null = Vt[rank:]
    touched[places] = (np.abs(null) > 1e-7).any(axis=0)
    return len(null), touched


def why_not(reactions: Reactions) -> str:
    """A sentence on what is missing at poses without equilibrium."""
    for island in islands(reactions):
        shortest, left = _shortest(island.program)
        if left > BALANCED:
            rest = np.abs(island.program.A @ shortest - island.program.b)
            body = reactions.bodies[island.bodies[int(np.argmax(rest)) // 6]]
            name = reactions.simulation.body_names[int(body)]
            return f"Nothing balances the forces on body '{name}': it is free to move that way."
    return "No reactions within the bounds of contacts, stops, friction and drives balance it."


def hovering(reactions: Reactions) -> str:
    """A sentence on a body that no joint and no contact holds; empty: there is none."""
    rows = reactions.simulation.work.rows
    held = np.union1d(rows.body_a[reactions.rows], rows.body_b[reactions.rows])
    alone = np.setdiff1d(reactions.bodies, held)
    if not len(alone):
        return ""
    name = reactions.simulation.body_names[int(alone[0])]
    return (
        f" No joint and no contact is at body '{name}' at the start: place it where it touches, or "
        "take the poses of the end of a run."
    )


def load_wrench(simulation: Simulation, load: Mapping[str, Any]) -> Array:
    """(bodies and the world, 6) moments about the centres of mass and forces. Raises ValueError."""
    model, state = simulation.model, simulation.state
    wrench = np.zeros((len(model.bodies.kind), 6))
    check_fields("a load", load, ("acceleration", "forces"))
    if "acceleration" in load and load["acceleration"] is not None:
        wrench[:, 3:] += model.bodies.mass[:, None] * np.asarray(load["acceleration"], float)
    for i, one in enumerate(load.get("forces") or ()):
        check_fields("a force of a load", one, ("body", "force", "torque", "point"))
        if one.get("body") not in simulation.body_names:
            message = f"there is no body '{one.get('body')}'"
            raise GivenInvalid(("load", "forces", i, "body"), message)
        b = simulation.body_names.index(one["body"])
        force = np.asarray(one.get("force") or (0.0, 0.0, 0.0), float)
        wrench[b, 3:] += force
        wrench[b, :3] += np.asarray(one.get("torque") or (0.0, 0.0, 0.0), float)
        if one.get("point") is not None:
            arm = np.asarray(one["point"], float) - state.p_WB[b]
            wrench[b, :3] += np.cross(arm, force)
    if not wrench.any():
        raise GivenInvalid(("load",), "the load is zero: an acceleration or a force is needed")
    if not wrench[model.bodies.kind == DYNAMIC].any():
        raise GivenInvalid(("load",), "the load acts on no body that can move")
    return wrench


def margin(reactions: Reactions, wrench: Array) -> Margin:
    """The largest multiple of a load that reactions balance, and what happens beyond it."""
    program = reactions.program
    loaded = Program(
        np.hstack([program.A, reactions.load(wrench)[:, None]]),
        program.b,
        np.append(program.lo, 0.0),
        np.append(program.hi, np.inf),
        program.cones,
    )
    cost = np.zeros(len(loaded.lo))
    cost[-1] = -1.0
    solved = minimise(loaded, cost)
    if solved.x is None:
        return Margin(None, None)
    rate = -program.A.T @ solved.dual
    small = MOVES * max(float(np.abs(rate).max(initial=0.0)), 1e-300)
    rows = reactions.simulation.work.rows
    slip = dict.fromkeys(reactions.rows[rows.kind[reactions.rows] == ROW_NORMAL].tolist(), 0.0)
    for cone in program.cones:
        if cone.normal >= 0:
            slip[int(reactions.rows[cone.normal])] += cone.mu * _size(cone, rate)
    opens, slides, joints = [], [], set()
    for k, i in enumerate(reactions.rows):
        kind, j = int(rows.kind[i]), int(rows.joint[i])
        if kind == ROW_NORMAL:
            # in the mechanism of the program a contact that slides rises with mu times its slip;
            # one that rises faster opens
            if rate[k] > slip[int(i)] + small:
                opens.append(int(rows.slot[i]))
            elif slip[int(i)] > small:
                slides.append(int(rows.slot[i]))
        elif j >= 0 and kind != ROW_EQUATION and abs(rate[k]) > small:
            joints.add(f"{reactions.simulation.joint_names[j]} ({NAMES[kind]})")
    what = ["tipping"] * bool(opens) + ["sliding"] * bool(slides) + sorted(joints)
    # + 0.0: no -0
    factor = float(solved.x[-1]) + 0.0
    return Margin(
        factor, " and ".join(what) or "free to move", sorted(opens), sorted(slides), sorted(joints)
    )
