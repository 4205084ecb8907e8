"""A tree of fat boxes and the pairs of boxes that share a point, both kept from step to step.

Each bounded shape is a leaf whose box is a little larger than its bounds. While the bounds stay
inside, the leaf is left alone; who has left its box gets a new one, and its pairs are sought anew.
The pairs of a step are those of the cache whose exact bounds overlap: what the tree looks like has
no influence on them, only on how long it takes to find them.

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
# ... and reach ahead as far as the body goes in so many steps, but by no more than their width; ...
AHEAD = 15.0
# ... they are made anew when they are wider by so many times FAT: who was fast has slowed down.
SLACK = 8.0
# What a tree that belongs to m shapes carries: stamp + m. Anything else is garbage.
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
    """The box of an inner node around those of its children; whether that changes it."""
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
    """Boxes from `node` upwards hold those of their children, as far as that changes them."""
    while node >= 0 and enclose(tree, node):
        node = tree.parent[node]


@kernel
def best_sibling(tree: Tree, leaf: int) -> int:
    """Go down as long as it costs less surface to be below a child than beside the node."""
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
    """`new` takes the place of `old` below its parent, or becomes the root."""
    tree.parent[new] = parent
    if parent < 0:
        tree.meta[ROOT] = new
    elif tree.left[parent] == old:
        tree.left[parent] = new
    else:
        tree.right[parent] = new


@kernel
def insert_leaf(tree: Tree, leaf: int, node: int) -> None:
    """Hang the leaf beside its best sibling, below the free inner node `node`."""
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
    """Take the leaf out of a tree of two or more; returns the inner node that is free now."""
    node = tree.parent[leaf]
    sibling = tree.right[node] if tree.left[node] == leaf else tree.left[node]
    above = tree.parent[node]
    replace_child(tree, above, node, sibling)
    refit(tree, above)
    return int(node)


@kernel
def fatten(sweep: Sweep, tree: Tree, i: int) -> None:
    """The box of leaf i around the bounds of now and where they go."""
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
    """True if the bounds of shape i are inside of its box and the box is not far too large."""
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
    """A tree of all bounded shapes, inserted in a scattered order: rows of shapes make no chains.

    Writes  tree; every leaf counts as moved, so that its pairs are sought
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
    """Divisor, by Euclid."""
    while b != 0:
        a, b = b, a % b
    return a


@kernel
def move_leaves(shapes: Shapes, sweep: Sweep, tree: Tree) -> None:
    """New boxes and places for the leaves whose bounds have left theirs; notes who has moved."""
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
    """Forget the cached pairs of shapes that have moved."""
    kept = 0
    for c in range(tree.meta[NEAR]):
        a, b = tree.near_a[c], tree.near_b[c]
        tree.near_a[kept] = a
        tree.near_b[kept] = b
        kept += 1 if tree.moved[a] + tree.moved[b] == 0 else 0
    tree.meta[NEAR] = kept


@kernel
def may_ever_touch(shapes: Shapes, bodies: Bodies, i: int, j: int) -> bool:
    """What does not change in a run: two bodies, one of them with a mass, masks that agree."""
    a, b = shapes.body[i], shapes.body[j]
    if a == b or (bodies.inverse_mass[a] == 0.0 and bodies.inverse_mass[b] == 0.0):
        return False
    return masks_agree(shapes, i, j)


@kernel
def seek_pairs(shapes: Shapes, bodies: Bodies, sweep: Sweep, tree: Tree, i: int, found: int) -> int:
    """Append the pairs of leaf i, which has moved, to `found` fresh ones; how many there are then.

    Of two that have moved, the smaller number seeks. Beyond the capacity they are counted.
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
    """The cached pairs without those of who has moved, and with those they have now."""
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
    """Those cached pairs whose bounds overlap now and that may touch now; returns how many.

    Writes  pair_a, pair_b
    """
    pair_a, pair_b = sweep.pair_a, sweep.pair_b
    # every pair is written, and the next one over it unless it stays: nothing to foretell
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

    Where the cache has no room the pairs count as found but not kept, as any that do not fit.

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
