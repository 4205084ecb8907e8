"""A tree of fat boxes and the pairs of intersecting boxes, both cached between steps.

Each bounded shape is a leaf whose box is slightly larger than its bounds. While the bounds stay
inside the box, the leaf is unchanged; a shape that has left its box gets a new box and new pairs.
The pairs of a step are the cached ones whose exact bounds overlap: the structure of the tree
affects only the time to find them, not the result.

Source  Catto 2019, insertion by surface area
"""

from __future__ import annotations

from numpy.typing import NDArray

from cardan.engine.collision.broad.all_pairs import balls_meet, boxes_meet
from cardan.engine.collision.broad.filter import is_excluded, is_live, masks_agree
from cardan.engine.collision.broad.sort_pairs import merge_fresh, sort_fresh
from cardan.engine.compiler.kernel import kernel
from cardan.engine.world.collision import Sweep, Tree
from cardan.engine.world.model import PLANE, Bodies, Shapes

# Boxes are wider than bounds by this share of their mean width on every side ...
FAT = 0.1
# ... and extend ahead by the motion of this many steps, but by no more than their width; ...
AHEAD = 15.0
# ... they are rebuilt when wider than SLACK times FAT allows, after a fast body has slowed down.
SLACK = 8.0
# Mark of a valid tree of m shapes: STAMP + m.
STAMP = 7_215_349_871

# columns of tree.meta
ROOT, STAMPED, NEAR, MISSED = 0, 1, 2, 3
# columns of tree.box
LOWER, UPPER, SURFACE = 0, 3, 6


@kernel
def joint_surface(box: NDArray, a: int, b: int) -> float:
    """Half the surface [m^2] of the box around the boxes of nodes a and b."""
    x = max(box[a, 3], box[b, 3]) - min(box[a, 0], box[b, 0])
    y = max(box[a, 4], box[b, 4]) - min(box[a, 1], box[b, 1])
    z = max(box[a, 5], box[b, 5]) - min(box[a, 2], box[b, 2])
    return float(x * y + y * z + z * x)


@kernel
def nodes_meet(box: NDArray, a: int, b: int) -> bool:
    """True if the boxes of nodes a and b share a point."""
    apart = (
        (box[a, 0] > box[b, 3])
        | (box[b, 0] > box[a, 3])
        | (box[a, 1] > box[b, 4])
        | (box[b, 1] > box[a, 4])
        | (box[a, 2] > box[b, 5])
        | (box[b, 2] > box[a, 5])
    )
    return not apart


@kernel
def enclose(tree: Tree, node: int) -> bool:
    """Set the box of an inner node to that around its children; True if it changes."""
    box = tree.box
    a, b = tree.left[node], tree.right[node]
    same = True
    for k in range(3):
        lower, upper = min(box[a, k], box[b, k]), max(box[a, 3 + k], box[b, 3 + k])
        same &= (box[node, k] == lower) & (box[node, 3 + k] == upper)
        box[node, k] = lower
        box[node, 3 + k] = upper
    box[node, SURFACE] = joint_surface(box, node, node)
    return not same


@kernel
def refit(tree: Tree, node: int) -> None:
    """Update the boxes from `node` upwards until one does not change."""
    while node >= 0 and enclose(tree, node):
        node = tree.parent[node]


@kernel
def best_sibling(tree: Tree, leaf: int) -> int:
    """Descend while a place below a child costs less surface than a place beside the node."""
    box = tree.box
    node = tree.meta[ROOT]
    here = joint_surface(box, node, leaf)
    while tree.left[node] >= 0:
        grown = here - box[node, SURFACE]
        a, b = tree.left[node], tree.right[node]
        with_a, with_b = joint_surface(box, a, leaf), joint_surface(box, b, leaf)
        cost_a = with_a + grown
        cost_b = with_b + grown
        if tree.left[a] >= 0:
            cost_a -= box[a, SURFACE]
        if tree.left[b] >= 0:
            cost_b -= box[b, SURFACE]
        if here < cost_a and here < cost_b:
            break
        node = a if cost_a < cost_b else b
        here = with_a if cost_a < cost_b else with_b
    return node


@kernel
def replace_child(tree: Tree, parent: int, old: int, new: int) -> None:
    """Replace `old` by `new` below its parent, or as the root."""
    tree.parent[new] = parent
    if parent < 0:
        tree.meta[ROOT] = new
    elif tree.left[parent] == old:
        tree.left[parent] = new
    else:
        tree.right[parent] = new


@kernel
def insert_leaf(tree: Tree, leaf: int, node: int) -> None:
    """Insert the leaf beside its best sibling, below the unused inner node `node`."""
    tree.left[leaf] = -1
    if tree.meta[ROOT] < 0:
        tree.meta[ROOT] = leaf
        tree.parent[leaf] = -1
        return
    sibling = best_sibling(tree, leaf)
    replace_child(tree, tree.parent[sibling], sibling, node)
    tree.left[node] = sibling
    tree.right[node] = leaf
    tree.parent[sibling] = node
    tree.parent[leaf] = node
    enclose(tree, node)
    refit(tree, tree.parent[node])


@kernel
def remove_leaf(tree: Tree, leaf: int) -> int:
    """Remove the leaf from a tree of two or more; returns the inner node that becomes unused."""
    node = tree.parent[leaf]
    sibling = tree.right[node] if tree.left[node] == leaf else tree.left[node]
    above = tree.parent[node]
    replace_child(tree, above, node, sibling)
    refit(tree, above)
    return int(node)


@kernel
def fatten(sweep: Sweep, tree: Tree, i: int) -> None:
    """Set the box of leaf i to its present bounds, enlarged and extended along its motion."""
    width = 0.0
    way = 0.0
    for k in range(3):
        width += sweep.upper[i, k] - sweep.lower[i, k]
        way += abs(sweep.motion[i, k])
    ahead = AHEAD if AHEAD * way <= width else width / way
    for k in range(3):
        go = ahead * sweep.motion[i, k]
        tree.box[i, k] = sweep.lower[i, k] - FAT / 3.0 * width + min(0.0, go)
        tree.box[i, 3 + k] = sweep.upper[i, k] + FAT / 3.0 * width + max(0.0, go)


@kernel
def fits(sweep: Sweep, tree: Tree, i: int) -> bool:
    """True if the bounds of shape i are inside its box and the box is not much too large."""
    bounds = 0.0
    box = 0.0
    for k in range(3):
        if not (sweep.lower[i, k] >= tree.box[i, k] and sweep.upper[i, k] <= tree.box[i, 3 + k]):
            return False
        bounds += sweep.upper[i, k] - sweep.lower[i, k]
        box += tree.box[i, 3 + k] - tree.box[i, k]
    return bool(box <= (1.0 + SLACK * 2.0 * FAT) * bounds)


@kernel
def build_tree(shapes: Shapes, sweep: Sweep, tree: Tree) -> None:
    """Build a tree of all bounded shapes, inserted in scattered order so that rows form no chains.

    Writes  tree; every leaf is marked as moved, so that its pairs are found
    """
    m = len(shapes.kind)
    tree.meta[ROOT] = -1
    tree.meta[NEAR] = 0
    stride = 2_654_435_761 % m
    while greatest_common(stride, m) != 1:
        stride += 1
    i = 0
    for _ in range(m):
        i = (i + stride) % m
        tree.moved[i] = 0
        if shapes.kind[i] != PLANE:
            fatten(sweep, tree, i)
            tree.moved[i] = 1
            insert_leaf(tree, i, m + i)
    tree.meta[STAMPED] = STAMP + m


@kernel
def greatest_common(a: int, b: int) -> int:
    """Greatest common divisor, by Euclid's algorithm."""
    while b != 0:
        a, b = b, a % b
    return a


@kernel
def move_leaves(shapes: Shapes, sweep: Sweep, tree: Tree) -> None:
    """Reinsert the leaves whose bounds have left their boxes, and mark them as moved."""
    for i in range(len(shapes.kind)):
        tree.moved[i] = 0
        if shapes.kind[i] != PLANE and not fits(sweep, tree, i):
            tree.moved[i] = 1
            if tree.parent[i] >= 0:
                node = remove_leaf(tree, i)
                fatten(sweep, tree, i)
                insert_leaf(tree, i, node)
            else:
                fatten(sweep, tree, i)


@kernel
def drop_moved(tree: Tree) -> None:
    """Remove the cached pairs of moved shapes."""
    kept = 0
    for c in range(tree.meta[NEAR]):
        a, b = tree.near_a[c], tree.near_b[c]
        tree.near_a[kept] = a
        tree.near_b[kept] = b
        kept += 1 if tree.moved[a] + tree.moved[b] == 0 else 0
    tree.meta[NEAR] = kept


@kernel
def may_ever_touch(shapes: Shapes, bodies: Bodies, i: int, j: int) -> bool:
    """The constant conditions of contact: two bodies, one of them dynamic, masks that agree."""
    a, b = shapes.body[i], shapes.body[j]
    if a == b or (bodies.inverse_mass[a] == 0.0 and bodies.inverse_mass[b] == 0.0):
        return False
    return masks_agree(shapes, i, j)


@kernel
def seek_pairs(shapes: Shapes, bodies: Bodies, sweep: Sweep, tree: Tree, i: int, found: int) -> int:
    """Append the pairs of the moved leaf i to `found` fresh ones; returns the new number.

    The pair of two moved leaves is found by the smaller one. Pairs beyond the capacity are counted.
    """
    stack = tree.stack
    stack[0] = tree.meta[ROOT]
    top = 1
    while top > 0:
        top -= 1
        node = stack[top]
        if tree.left[node] >= 0:
            for child in (tree.left[node], tree.right[node]):
                stack[top] = child
                top += 1 if nodes_meet(tree.box, child, i) else 0
            continue
        is_mine = node != i and not (tree.moved[node] == 1 and node < i)
        if is_mine and may_ever_touch(shapes, bodies, i, node):
            if found < len(sweep.fresh_a):
                sweep.fresh_a[found] = min(i, node)
                sweep.fresh_b[found] = max(i, node)
                found += 1
            else:
                tree.meta[MISSED] += 1
    return found


@kernel
def update_near(shapes: Shapes, bodies: Bodies, sweep: Sweep, tree: Tree) -> None:
    """Replace the cached pairs of moved shapes by their present ones."""
    tree.meta[MISSED] = 0
    found = 0
    movers = 0
    for i in range(len(shapes.kind)):
        if tree.moved[i] == 1:
            movers += 1
            found = seek_pairs(shapes, bodies, sweep, tree, i, found)
    if movers > 0:
        drop_moved(tree)
        sort_fresh(sweep, found)
        kept = tree.meta[NEAR]
        tree.meta[NEAR] = merge_fresh(sweep, found, tree.near_a, tree.near_b, kept)
        tree.meta[MISSED] += kept + found - tree.meta[NEAR]


@kernel
def take_near(
    shapes: Shapes, body_kind: NDArray, excluded: NDArray, sweep: Sweep, near: Tree
) -> int:
    """Select the cached pairs whose bounds overlap and that may touch now; returns how many.

    Writes  pair_a, pair_b
    """
    pair_a, pair_b = sweep.pair_a, sweep.pair_b
    # every pair is written, and overwritten by the next unless it is kept: no branch to predict
    round_ones = 0
    for c in range(near.meta[NEAR]):
        i, j = near.near_a[c], near.near_b[c]
        pair_a[round_ones] = i
        pair_b[round_ones] = j
        round_ones += 1 if balls_meet(sweep, i, j) else 0
    kept = 0
    for c in range(round_ones):
        i, j = pair_a[c], pair_b[c]
        a, b = shapes.body[i], shapes.body[j]
        pair_a[kept] = i
        pair_b[kept] = j
        stays = boxes_meet(sweep, i, j) & is_live(body_kind[a], body_kind[b])
        if stays and is_excluded(excluded, len(body_kind) - 1, a, b):
            stays = False
        kept += 1 if stays else 0
    return kept


@kernel
def find_pairs_tree(
    shapes: Shapes, bodies: Bodies, excluded: NDArray, sweep: Sweep, tree: Tree
) -> None:
    """Every pair of bounded shapes with overlapping bounds, ascending.

    Pairs beyond the capacity of the cache are counted as found but not kept.

    Check   tests/engine/collision/broad/test_broad.py: the same list as find_pairs_all, step by
    step
    """
    m = len(shapes.kind)
    if tree.meta[STAMPED] != STAMP + m:
        build_tree(shapes, sweep, tree)
    else:
        move_leaves(shapes, sweep, tree)
    update_near(shapes, bodies, sweep, tree)
    kept = take_near(shapes, bodies.kind, excluded, sweep, tree)
    sweep.pair_count[0] = kept
    sweep.pair_count[1] = kept
    if tree.meta[MISSED] > 0:
        sweep.pair_count[1] = kept + tree.meta[MISSED]
        tree.meta[STAMPED] = 0
