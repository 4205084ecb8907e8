"""A tree of fat boxes and the pairs of boxes that share a point, both kept from step to step.

Each bounded shape is a leaf whose box is a little larger than its bounds. While the bounds stay
inside, the leaf is left alone; who has left its box gets a new one, and its pairs are sought anew.
The pairs of a step are those of the cache whose exact bounds overlap: what the tree looks like has
no influence on them, only on how long it takes to find them.

Source  Box2D, b2DynamicTree (insertion by surface area); Catto 2019, Dynamic BVHs
"""

from __future__ import annotations

from numpy.typing import NDArray

from engine.collision.broad_all_pairs import add_pair, boxes_meet
from engine.collision.filter import masks_agree, may_touch
from engine.collision.scratch import Sweep, Tree
from engine.kernel import kernel
from engine.world.model import PLANE, Bodies, Shapes

# Boxes are wider than bounds by this share of their mean width on every side ...
FAT = 0.1
# ... and are made anew when they are wider by so many times that: who was fast has slowed down.
SLACK = 8.0
# What a tree that belongs to m shapes carries: stamp + m. Anything else is garbage.
STAMP = 7_215_349_871

# columns of tree.meta
ROOT, STAMPED, NEAR, MISSED = 0, 1, 2, 3


@kernel
def joint_surface(tree: Tree, a: int, b: int) -> float:
    """Half the surface [m^2] of the box around the boxes of nodes a and b."""
    x = max(tree.upper[a, 0], tree.upper[b, 0]) - min(tree.lower[a, 0], tree.lower[b, 0])
    y = max(tree.upper[a, 1], tree.upper[b, 1]) - min(tree.lower[a, 1], tree.lower[b, 1])
    z = max(tree.upper[a, 2], tree.upper[b, 2]) - min(tree.lower[a, 2], tree.lower[b, 2])
    return float(x * y + y * z + z * x)


@kernel
def refit(tree: Tree, node: int) -> None:
    """Boxes from `node` up to the root hold those of their children."""
    while node >= 0:
        a, b = tree.left[node], tree.right[node]
        for k in range(3):
            tree.lower[node, k] = min(tree.lower[a, k], tree.lower[b, k])
            tree.upper[node, k] = max(tree.upper[a, k], tree.upper[b, k])
        node = tree.parent[node]


@kernel
def best_sibling(tree: Tree, leaf: int) -> int:
    """Go down as long as it costs less surface to be below a child than beside the node."""
    node = tree.meta[ROOT]
    while tree.left[node] >= 0:
        here = joint_surface(tree, node, leaf)
        grown = here - joint_surface(tree, node, node)
        a, b = tree.left[node], tree.right[node]
        cost_a = joint_surface(tree, a, leaf) + grown
        cost_b = joint_surface(tree, b, leaf) + grown
        if tree.left[a] >= 0:
            cost_a -= joint_surface(tree, a, a)
        if tree.left[b] >= 0:
            cost_b -= joint_surface(tree, b, b)
        if here < cost_a and here < cost_b:
            break
        node = a if cost_a < cost_b else b
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
    refit(tree, node)


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
    """The box of leaf i around the bounds of now."""
    skin = 0.0
    for k in range(3):
        skin += FAT / 3.0 * (sweep.upper[i, k] - sweep.lower[i, k])
    for k in range(3):
        tree.lower[i, k] = sweep.lower[i, k] - skin
        tree.upper[i, k] = sweep.upper[i, k] + skin


@kernel
def fits(sweep: Sweep, tree: Tree, i: int) -> bool:
    """True if the bounds of shape i are inside of its box and the box is not far too large."""
    bounds = 0.0
    box = 0.0
    for k in range(3):
        if not (sweep.lower[i, k] >= tree.lower[i, k] and sweep.upper[i, k] <= tree.upper[i, k]):
            return False
        bounds += sweep.upper[i, k] - sweep.lower[i, k]
        box += tree.upper[i, k] - tree.lower[i, k]
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
        if tree.moved[a] == 0 and tree.moved[b] == 0:
            tree.near_a[kept] = a
            tree.near_b[kept] = b
            kept += 1
    tree.meta[NEAR] = kept


@kernel
def may_ever_touch(shapes: Shapes, bodies: Bodies, i: int, j: int) -> bool:
    """What does not change in a run: two bodies, one of them with a mass, masks that agree."""
    a, b = shapes.body[i], shapes.body[j]
    if a == b or (bodies.inverse_mass[a] == 0.0 and bodies.inverse_mass[b] == 0.0):
        return False
    return masks_agree(shapes, i, j)


@kernel
def seek_pairs(shapes: Shapes, bodies: Bodies, tree: Tree, i: int) -> None:
    """Append the pairs of leaf i, which has moved; of two that have, the smaller number seeks."""
    stack = tree.stack
    stack[0] = tree.meta[ROOT]
    top = 1
    while top > 0:
        top -= 1
        node = stack[top]
        if not boxes_meet(tree.lower, tree.upper, node, i):
            continue
        if tree.left[node] >= 0:
            stack[top] = tree.left[node]
            stack[top + 1] = tree.right[node]
            top += 2
            continue
        is_mine = node != i and not (tree.moved[node] == 1 and node < i)
        if is_mine and may_ever_touch(shapes, bodies, i, node):
            c = tree.meta[NEAR]
            if c < len(tree.near_a):
                tree.near_a[c] = i
                tree.near_b[c] = node
                tree.meta[NEAR] = c + 1
            else:
                tree.meta[MISSED] += 1


@kernel
def find_pairs_tree(
    shapes: Shapes, bodies: Bodies, excluded: NDArray, sweep: Sweep, tree: Tree
) -> None:
    """Every pair of bounded shapes with overlapping bounds, in any order.

    Where the cache has no room the pairs count as found but not kept, as any that do not fit.

    Check   tests/engine/collision/test_broad.py: the same set as find_pairs_all, step by step
    """
    m = len(shapes.kind)
    if tree.meta[STAMPED] != STAMP + m:
        build_tree(shapes, sweep, tree)
    else:
        move_leaves(shapes, sweep, tree)
        drop_moved(tree)
    tree.meta[MISSED] = 0
    for i in range(m):
        if tree.moved[i] == 1:
            seek_pairs(shapes, bodies, tree, i)
    for c in range(tree.meta[NEAR]):
        i, j = tree.near_a[c], tree.near_b[c]
        if boxes_meet(sweep.lower, sweep.upper, i, j) and may_touch(
            shapes, bodies.kind, excluded, i, j
        ):
            add_pair(sweep, i, j)
    if tree.meta[MISSED] > 0:
        sweep.pair_count[1] = max(sweep.pair_count[1], sweep.pair_count[0] + tree.meta[MISSED])
        tree.meta[STAMPED] = 0
