"""Elastic foundation: stiffness of a contact from the area of its patch (Winkler).

Pressure is stiffness per area times depth. A face of area A yields like a spring k A, shared by
its contact points. Where surfaces are curved the force is k times the volume of their overlap: of
paraboloids of depth d and summed curvatures k1 >= k2

    point   V = pi d^2 / sqrt(k1 k2)         line of length L   V = 4/3 L d sqrt(2 d / k1)

so that the area that counts is V / d. Edges and corners are round with the radius d.

Source  Johnson 1985, Contact Mechanics, 4.3 (elastic foundation)
"""

from __future__ import annotations

from math import pi, sqrt

from cardan.engine.compiler.kernel import kernel
from cardan.engine.constraints.surface_curvature import shape_operator
from cardan.engine.spatial.vec3 import load3, negate, tangents_of
from cardan.engine.world.options import StepOptions
from cardan.engine.world.world import World

# share of the margin: a shallower contact has the area of one so deep
SHALLOW = 1e-3


@kernel
def depth_of(options: StepOptions, gap: float) -> float:
    """Depth that the area of a contact is computed at [m]."""
    return float(max(-gap, SHALLOW * options.margin))


@kernel
def curvatures(world: World, c: int) -> tuple[float, float]:
    """Principal curvatures of the gap at contact c, the larger one first [1/m]."""
    contacts = world.work.contacts
    n = load3(contacts.normal_W, c)
    basis = tangents_of(n)
    a = shape_operator(world, contacts.shape_a[c], c, n, basis)
    b = shape_operator(world, contacts.shape_b[c], c, negate(n), basis)
    xx, xy, yy = a[0] + b[0], a[1] + b[1], a[2] + b[2]
    middle, half = 0.5 * (xx + yy), sqrt(0.25 * (xx - yy) ** 2 + xy * xy)
    return (middle + half, middle - half)


@kernel
def area_of(world: World, c: int) -> tuple[float, float]:
    """Area that stiffness per area acts on at contact c [m^2], and p of force ~ depth^p."""
    contacts, radius = world.work.contacts, world.model.shapes.bounding_radius
    area, length = contacts.patch[c, 0], contacts.patch[c, 1]
    if area > 0.0:
        return (area, 1.0)
    depth = depth_of(world.options, contacts.gap[c])
    largest, least = curvatures(world, c)
    # an area is not larger than the smaller shape, and a corner not sharper than its depth
    flattest = 1.0 / min(radius[contacts.shape_a[c]], radius[contacts.shape_b[c]])
    sharpest = 1.0 / depth
    k1, k2 = max(largest, flattest), max(least, flattest)
    # what is as sharp as it is deep grows with the depth
    power = (0.5 if k1 > sharpest else 0.0) + (0.5 if k2 > sharpest else 0.0)
    k1, k2 = min(k1, sharpest), min(k2, sharpest)
    if length > 0.0:
        return (4.0 / 3.0 * length * sqrt(2.0 * depth / k1), 1.5 + min(power, 0.5))
    return (pi * depth / sqrt(k1 * k2), 2.0 + power)


@kernel
def write_foundation(world: World, c: int) -> None:
    """Compliance and damping of compliant contact c, with that of its area in series.

        c = c1 + c2,  c2 = foundation/area;   d = d1 (c1/c)^2 + d2 area (c2/c)^2

    Writes  contacts.compliance, damping, hardening
    Check   tests/references/test_foundation.py
    """
    contacts, materials, shapes = world.work.contacts, world.model.materials, world.model.shapes
    a, b = shapes.material[contacts.shape_a[c]], shapes.material[contacts.shape_b[c]]
    contacts.hardening[c] = 1.0
    if materials.foundation[a, b] == 0.0:
        return
    area, power = area_of(world, c)
    local, bed = materials.compliance[a, b], materials.foundation[a, b] / area
    both = local + bed
    damping = materials.damping[a, b] * (local / both) ** 2
    contacts.compliance[c] = both
    contacts.damping[c] = damping + materials.foundation_damping[a, b] * area * (bed / both) ** 2
    if local == 0.0:
        contacts.hardening[c] = power


@kernel
def pressed_energy(world: World, c: int, gap: float) -> float:
    """Energy of compliant contact c at a gap < 0 [J].

        F = d/compliance (gap/d)^p,  E = d^2/((p + 1) compliance) (gap/d)^(p + 1)

    with d the depth at which its compliance holds, and p = 1 of a linear spring.
    """
    contacts = world.work.contacts
    depth, power = max(-gap, 0.0), contacts.hardening[c]
    if power == 1.0:
        return float(0.5 * depth**2 / contacts.compliance[c])
    d = depth_of(world.options, contacts.gap[c])
    return float(d * d / ((power + 1.0) * contacts.compliance[c]) * (depth / d) ** (power + 1.0))
