"""Contact detection.

1 pose     shapes in world axes; bounds include the motion of the next step
2 broad    pairs whose bounds overlap
3 narrow   gap, normal and up to four points of each pair; of a mesh, of each group of normals
4 match    impulses of the last step for persistent contacts
"""

from __future__ import annotations

import math

from numpy.typing import NDArray

from cardan.engine.collision.broad.aabb import pose_shape, sweep_bounds, write_bounds
from cardan.engine.collision.broad.aabb_tree import find_pairs_tree
from cardan.engine.collision.broad.all_pairs import find_pairs_all, find_plane_pairs
from cardan.engine.collision.broad.filter import may_touch
from cardan.engine.collision.hollow.distance import is_hollow
from cardan.engine.collision.hollow.pairs import write_hollow_contacts
from cardan.engine.collision.keep_contact import keep_point
from cardan.engine.collision.manifold.contact_points import frame_of
from cardan.engine.collision.manifold.extent import clear_share
from cardan.engine.collision.manifold.persistence import match_contacts
from cardan.engine.collision.materials import write_surfaces
from cardan.engine.collision.mesh.contacts import write_mesh_contacts
from cardan.engine.collision.narrow.closest_feature import hit_of_points
from cardan.engine.collision.narrow.conservative_advancement import comes_within
from cardan.engine.collision.narrow.dispatch import find_points, nearest
from cardan.engine.collision.narrow.posed_pair import write_pair
from cardan.engine.collision.narrow.solid import faces_of
from cardan.engine.collision.passing import pass_by
from cardan.engine.compiler.kernel import kernel
from cardan.engine.spatial.quaternion import load4
from cardan.engine.spatial.vec3 import (
    ZERO3,
    Vec3,
    add,
    add_scaled,
    load3,
    load3_from,
    negate,
    norm,
    scale,
    store3,
    store3_from,
    sub,
)
from cardan.engine.threads.shares import part_of
from cardan.engine.world.collision import (
    CENTRE,
    KIND,
    NEAREST_FEATURE,
    POSITION,
    RADIUS,
    REACH,
    TURNING,
    VELOCITY,
    CollisionScratch,
    Faces,
    Pair,
)
from cardan.engine.world.contacts import Contacts
from cardan.engine.world.crew import LINE, PARTS
from cardan.engine.world.model import MESH, PLANE, SPHERE, Bodies, Model, Shapes
from cardan.engine.world.report import CONTACTS_FULL, PAIRS_FULL
from cardan.engine.world.state import State
from cardan.engine.world.world import World

# Up to this many shapes the plain loop over all pairs is as fast as the tree.
FEW_SHAPES = 24
# Up to this many shapes, testing whether any two may touch costs less than posing them.
FEW_PAIRS = 4
# With more contacts in the last step margins are larger by a share of what shapes move in a step.
CROWDED, LARGER = 100, 0.5
# Bounding spheres are enlarged by this factor against rounding.
ROUNDED = 1.0 + 1e-9


@kernel
def pose_all(
    shapes: Shapes, state: State, scratch: CollisionScratch, half_margin: float, h: float
) -> None:
    """Rows of `solids`, hull vertices and bounds of all shapes.

    In a time h no point of a shape moves farther than |v| h + min(|w| h, 2) (|p_BS| + bounding
    radius). The radius of its sphere is the sum of that, its bounding radius and half the margin.
    """
    sweep = scratch.sweep
    solids = scratch.solids
    for i in range(len(shapes.kind)):
        body = shapes.body[i]
        p_WB = load3(state.p_WB, body)
        pose_shape(shapes, i, p_WB, load4(state.q_WB, body), solids, scratch.points)
        store3_from(solids, i, VELOCITY, load3(state.v_WB_W, body))
        store3_from(solids, i, TURNING, load3(state.w_WB_W, body))
        store3_from(solids, i, CENTRE, p_WB)
        write_bounds(solids, scratch.points, i, sweep.lower, sweep.upper)
        motion = scale(h, load3(state.v_WB_W, body))
        turn = h * norm(load3(state.w_WB_W, body))
        reach = norm(load3(shapes.p_BS, i)) + shapes.bounding_radius[i]
        carried = norm(motion) + (min(turn, 2.0) * reach if turn > 0.0 else 0.0)
        solids[i, REACH] = carried
        store3(sweep.motion, i, motion)
        store3_from(sweep.ball, i, 0, load3_from(solids, i, POSITION))
        sweep.ball[i, 3] = ROUNDED * (shapes.bounding_radius[i] + half_margin + carried)
        if shapes.kind[i] != PLANE:
            sweep_bounds(i, p_WB, motion, turn, reach, sweep.lower, sweep.upper)
            for k in range(3):
                sweep.lower[i, k] -= half_margin
                sweep.upper[i, k] += half_margin


@kernel
def find_pairs(
    shapes: Shapes, bodies: Bodies, excluded: NDArray, half_margin: float, scratch: CollisionScratch
) -> None:
    """Pairs of shapes whose bounds overlap and that may touch, ascending."""
    sweep = scratch.sweep
    sweep.pair_count[0] = 0
    sweep.pair_count[1] = 0
    if len(shapes.kind) <= FEW_SHAPES:
        find_pairs_all(shapes, bodies.kind, excluded, sweep)
    else:
        find_pairs_tree(shapes, bodies, excluded, sweep, scratch.tree)
    find_plane_pairs(shapes, bodies.kind, excluded, scratch.solids, half_margin, sweep)


@kernel
def can_any_touch(shapes: Shapes, kind: NDArray, excluded: NDArray) -> bool:
    """Whether any two shapes may touch; of more than FEW_PAIRS shapes only their groups are asked.

    Reads   kind (n,) int64   of bodies
    """
    n = len(shapes.kind)
    if n > FEW_PAIRS:
        groups, masks = 0, 0
        for i in range(n):
            groups |= shapes.group[i]
            masks |= shapes.mask[i]
        return bool((groups & masks) != 0)
    for i in range(n):
        for j in range(i + 1, n):
            if may_touch(shapes, kind, excluded, i, j):
                return True
    return False


@kernel
def write_sphere_contact(
    shapes: Shapes,
    scratch: CollisionScratch,
    ij: tuple[int, int],
    reach: tuple[float, float],
    contacts: Contacts,
) -> None:
    """The contact of two spheres, if there is one, from centres and radii."""
    i, j = ij
    solids = scratch.solids
    c = load3_from(solids, i, POSITION)
    d = sub(load3_from(solids, j, POSITION), c)
    r_i, r_j = solids[i, RADIUS], solids[j, RADIUS]
    gap, n, p = hit_of_points(ZERO3, d, r_i, r_j, (0.0, 0.0, 1.0))
    before, dropped = contacts.count[0], contacts.dropped[0]
    clear_share(scratch.patch)
    kept = keep_point(scratch, ij, (add(c, p), n, gap, NEAREST_FEATURE), reach, contacts)
    if kept and gap > reach[0] and not comes_within(shapes, scratch, ij, i, reach[0], reach[1]):
        contacts.count[0] = before
        contacts.dropped[0] = dropped


@kernel
def keep_patch(
    scratch: CollisionScratch,
    ij: tuple[int, int],
    count: int,
    place: tuple[Vec3, Vec3, bool],
    reach: tuple[float, float],
    contacts: Contacts,
) -> float:
    """Append the chosen points of the patch; the least gap among those kept, or inf.

    place = (origin of the pair, its normal, whether that leads from j to i)
    """
    origin, n, swap = place
    patch = scratch.patch
    _, t1, t2 = frame_of(n)
    n_ij = negate(n) if swap else n
    least = math.inf
    for k in range(count):
        chosen = patch.chosen[k]
        x, y = patch.candidate[chosen, 0], patch.candidate[chosen, 1]
        z, gap = patch.candidate[chosen, 2], patch.candidate[chosen, 3]
        p = add(origin, add_scaled(add_scaled(scale(x, t1), y, t2), z, n))
        point = (p, n_ij, gap, patch.feature[chosen])
        if keep_point(scratch, ij, point, reach, contacts):
            least = min(least, gap)
    return least


@kernel
def write_contacts(
    shapes: Shapes,
    scratch: CollisionScratch,
    faces: Faces,
    ij: tuple[int, int],
    margin: float,
    h: float,
    contacts: Contacts,
) -> None:
    """Append the contacts of one pair of shapes i < j; beyond the capacity they are counted.

    A point is kept when its gap may close within the step: gap <= margin + closing speed * h.
    Shapes farther apart than the margin must also come within it during the step.
    """
    i, j = ij
    solids = scratch.solids
    # side 0 has the smaller kind
    swap = solids[i, KIND] > solids[j, KIND]
    first = j if swap else i
    origin = load3_from(solids, first, POSITION)
    limit = margin + solids[i, REACH] + solids[j, REACH]
    pair = Pair(scratch.pair, scratch.points, scratch.cosine)
    write_pair(scratch, i, j, first, origin)
    hit = nearest(pair, faces, limit, scratch)
    if not hit[0] <= limit:
        return
    before, dropped = contacts.count[0], contacts.dropped[0]
    clear_share(scratch.patch)
    if solids[first, KIND] == SPHERE:
        # a sphere touches any shape in one point
        n = negate(hit[1]) if swap else hit[1]
        point = (add(origin, hit[2]), n, hit[0], NEAREST_FEATURE)
        is_kept = keep_point(scratch, ij, point, (margin, h), contacts)
        least = hit[0] if is_kept else math.inf
    else:
        count, n = find_points(pair, faces, hit, limit, scratch)
        least = keep_patch(scratch, ij, count, (origin, n, swap), (margin, h), contacts)
    # beyond the margin: a contact must not stop bodies that pass each other
    if margin < least < math.inf and not comes_within(shapes, scratch, ij, first, margin, h):
        contacts.count[0] = before
        contacts.dropped[0] = dropped


@kernel
def broad_phase(
    model: Model, state: State, scratch: CollisionScratch, reach: tuple[float, float]
) -> None:
    """Pose all shapes, and find the pairs whose bounds overlap within a time.

    reach = (margin [m], time [s])

    Writes  scratch.solids, points, sweep, tree
    """
    half_margin = 0.5 * reach[0]
    pose_all(model.shapes, state, scratch, half_margin, reach[1])
    find_pairs(model.shapes, model.bodies, state.excluded, half_margin, scratch)


@kernel
def narrow_pairs(
    model: Model,
    state: State,
    scratch: CollisionScratch,
    reach: tuple[float, float],
    pairs: tuple[int, int],
    contacts: Contacts,
) -> None:
    """Append what touches of the pairs [first, end) that `broad_phase` found, as `narrow_phase`."""
    shapes = model.shapes
    near, h = reach
    share = LARGER if state.contacts.count[0] > CROWDED else 0.0
    solids = scratch.solids
    faces = faces_of(shapes)
    for k in range(pairs[0], pairs[1]):
        ij = (scratch.sweep.pair_a[k], scratch.sweep.pair_b[k])
        margin = near + share * (solids[ij[0], REACH] + solids[ij[1], REACH])
        before, dropped = contacts.count[0], contacts.dropped[0]
        if MESH in (shapes.kind[ij[0]], shapes.kind[ij[1]]):
            write_mesh_contacts(scratch, faces, model.meshes, ij, margin, h, contacts)
        elif shapes.kind[ij[0]] == SPHERE and shapes.kind[ij[1]] == SPHERE:
            write_sphere_contact(shapes, scratch, ij, (margin, h), contacts)
        elif is_hollow(shapes.kind[ij[0]]) or is_hollow(shapes.kind[ij[1]]):
            if shapes.kind[ij[0]] == PLANE or shapes.kind[ij[1]] == PLANE:
                write_contacts(shapes, scratch, faces, ij, margin, h, contacts)
            else:
                write_hollow_contacts(shapes, scratch, faces, ij, (margin, h), contacts)
        else:
            write_contacts(shapes, scratch, faces, ij, margin, h, contacts)
        pair = (ij[0], ij[1], before)
        if pass_by(model, state, scratch, pair, (near, h), contacts, share > 0.0):
            contacts.count[0], contacts.dropped[0] = before, dropped


@kernel
def narrow_phase(
    model: Model,
    state: State,
    scratch: CollisionScratch,
    reach: tuple[float, float],
    contacts: Contacts,
) -> None:
    """Contacts of the pairs that `broad_phase` found, ascending by pair and feature.

    A point whose gap is at most margin + closing speed * time is a contact; reach = (margin, time).
    In a crowd a kick turns bodies round: there the margin of a pair is larger by a share of what
    its shapes may move (decision 0511).

    Reads   poses, velocities and cached contacts of state
    Writes  contacts, scratch
    Check   tests/engine/collision/test_find_contacts.py
    """
    shapes, pairs = model.shapes, (0, scratch.sweep.pair_count[0])
    narrow_pairs(model, state, scratch, reach, pairs, contacts)
    write_surfaces(model.materials, shapes, state, contacts, (0, contacts.count[0]))
    match_contacts(contacts, len(shapes.kind), state.contacts)


@kernel
def can_share(world: World) -> bool:
    """Whether threads may look at pairs at once: hulls and triangles are moved in place."""
    model = world.model
    return bool(model.shapes.points.shape[0] == 0 and model.meshes.corner.shape[0] == 0)


@kernel
def find_part(world: World, share: int, me: int) -> None:
    """Append the contacts of a share of the pairs to the list of this thread, number `me`.

    Writes  work.found.mine, part; world.collision: scratch of this thread
    """
    found, scratch = world.work.found, world.collision
    mine = found.mine
    begun = mine.count[0]
    pairs = part_of(scratch.sweep.pair_count[0], share, share + 1)
    reach = (world.options.margin, world.clock.h[0])
    narrow_pairs(world.model, world.state, scratch, reach, pairs, mine)
    found.part[share, 0] = me * len(mine.gap) + begun
    found.part[share, 1] = mine.count[0] - begun


@kernel
def clear_lists(world: World) -> None:
    """Empty the lists of all threads."""
    world.work.found.count[:, :] = 0


@kernel
def lay_lists(world: World) -> None:
    """Find the place of each share's contacts in the one list.

    Writes  work.contacts.count, dropped; work.found.part
    """
    contacts, found = world.work.contacts, world.work.found
    for thread in range(found.count.shape[0]):
        contacts.dropped[0] += found.count[thread, LINE]
    n, room = 0, len(contacts.gap)
    for share in range(PARTS):
        fit = min(found.part[share, 1], room - n)
        contacts.dropped[0] += found.part[share, 1] - fit
        found.part[share, 1], found.part[share, 2] = fit, n
        n += fit
    contacts.count[0] = n


@kernel
def copy_found(every: Contacts, i: int, contacts: Contacts, c: int) -> None:
    """Copy what `keep_point` wrote of a contact."""
    contacts.shape_a[c] = every.shape_a[i]
    contacts.shape_b[c] = every.shape_b[i]
    contacts.gap[c] = every.gap[i]
    contacts.facet[c] = every.facet[i]
    contacts.struck[c] = every.struck[i]
    contacts.feature[c] = every.feature[i]
    store3(contacts.point_W, c, load3(every.point_W, i))
    store3(contacts.normal_W, c, load3(every.normal_W, i))
    for k in range(2):
        contacts.patch[c, k] = every.patch[i, k]


@kernel
def take_list(world: World, share: int) -> None:
    """Copy the contacts of a share to the one list, with the properties of their surfaces."""
    contacts, part = world.work.contacts, world.work.found.part
    n, c = part[share, 1], part[share, 2]
    for k in range(n):
        copy_found(world.work.found.every, part[share, 0] + k, contacts, c + k)
    model = world.model
    write_surfaces(model.materials, model.shapes, world.state, contacts, (c, c + n))


@kernel
def shortage(scratch: CollisionScratch, contacts: Contacts) -> int:
    """PAIRS_FULL and CONTACTS_FULL, where some were left out."""
    status = 0
    if scratch.sweep.pair_count[1] > scratch.sweep.pair_count[0]:
        status |= PAIRS_FULL
    if contacts.dropped[0] > 0:
        status |= CONTACTS_FULL
    return status
