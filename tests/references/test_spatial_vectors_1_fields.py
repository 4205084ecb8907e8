"""Featherstone 2022, first part: vectors and vector fields."""

from __future__ import annotations

import numpy as np
import pytest

from cardan.engine.spatial import vec3
from tests.engine.trees.projection import skew
from tests.references.spatial_vectors import (
    O3,
    X3,
    Y3,
    Z3,
    close,
    field,
    random_rotation,
    rotation_about,
    three,
    translation,
)

pytestmark = pytest.mark.reference
rng = np.random.default_rng(101)
Array = np.ndarray

# planar motions: unit rotation about O and unit translations
D_O, D_X, D_Y = rotation_about(Z3, O3), translation(X3), translation(Y3)


def cross(a: Array, b: Array) -> Array:
    return np.array(vec3.cross(three(a), three(b)))


def dot(a: Array, b: Array) -> float:
    return float(vec3.dot(three(a), three(b)))


def test_section_6_products_of_euclidean_vectors() -> None:
    a, b, c = rng.normal(size=(3, 3))
    x, y = 0.7, -1.3
    assert close(dot(a, b), dot(b, a))
    assert close(dot(x * a + y * b, c), x * dot(a, c) + y * dot(b, c))
    angle = 0.4
    turned = np.cos(angle) * X3 + np.sin(angle) * Y3
    assert close(dot(2.0 * X3, 3.0 * turned), 6.0 * np.cos(angle))
    assert close(cross(2.0 * X3, 3.0 * turned), 6.0 * np.sin(angle) * Z3)
    along = dot(a, X3) * X3
    assert close(dot(a - along, X3), 0.0)
    assert close(cross(x * a + y * b, c), x * cross(a, c) + y * cross(b, c))
    assert close(cross(a, b), -cross(b, a))
    assert not close(cross(cross(a, b), c), cross(a, cross(b, c)))
    assert close(cross(a, a), O3)
    assert close(dot(cross(a, b), c), dot(a, cross(b, c)))
    assert close(cross(a, cross(b, c)), dot(a, c) * b - dot(a, b) * c)
    assert np.linalg.norm(a) + np.linalg.norm(b) >= np.linalg.norm(a + b)
    R = random_rotation(rng)
    assert close(np.linalg.norm(R @ a - R @ b), np.linalg.norm(a - b))
    assert close(R @ cross(a, b), cross(R @ a, R @ b))


def test_section_6_the_cross_operator() -> None:
    a, b, c = rng.normal(size=(3, 3))
    x = 1.7
    assert close(skew(a) @ b, cross(a, b))
    assert close(skew(a), -skew(a).T)
    assert close(skew(x * a), x * skew(a))
    assert close(skew(a + b), skew(a) + skew(b))
    E = random_rotation(rng)
    assert close(skew(E @ a), E @ skew(a) @ np.linalg.inv(E))
    assert close(skew(cross(a, b)), skew(a) @ skew(b) - skew(b) @ skew(a))
    assert close(skew(cross(a, b)), np.outer(b, a) - np.outer(a, b))
    # a x b x c is a x (b x c), whichever way it is read
    assert close(skew(a) @ skew(b) @ c, cross(a, cross(b, c)))


def test_exercise_a1_coordinates_in_an_orthonormal_basis() -> None:
    basis, a = random_rotation(rng), rng.normal(size=3)
    coordinates = np.array([dot(basis[:, i], a) for i in range(3)])
    assert close(basis @ coordinates, a)


def test_exercise_a2_multiplication_table() -> None:
    i, j, k = X3, Y3, Z3
    table = [[O3, k, -j], [-k, O3, i], [j, -i, O3]]
    for first, row in zip((i, j, k), table, strict=True):
        for second, product in zip((i, j, k), row, strict=True):
            assert (cross(first, second) == product).all()


def test_exercise_a3_product_of_two_cross_operators() -> None:
    a, b = rng.normal(size=(2, 3))
    assert close(skew(a) @ skew(b), np.outer(b, a) - dot(a, b) * np.eye(3))


def test_exercise_a4_coordinates_in_a_skew_basis() -> None:
    # the text's figure is not kept; any basis serves to show that a = 1.5 b1 + 0.5 b2 etc.
    basis = np.array([[1.0, 0.6], [0.2, 1.1]])
    for coordinates in ((1.5, 0.5), (0.5, 1.0), (0.5, 0.5)):
        vector = basis @ np.array(coordinates)
        assert close(np.linalg.inv(basis) @ vector, np.array(coordinates))
        # not by products with the basis itself: it is not orthonormal
        assert not close(basis.T @ vector, np.array(coordinates))


def test_exercise_a5_dual_basis() -> None:
    D = np.array([[1.25, -0.6], [0.0, 1.0]])
    E = np.linalg.inv(D).T
    assert close(E[:, 0], np.array([0.8, 0.48]))
    assert close(E[:, 1], np.array([0.0, 1.0]))
    assert close(D.T @ E, np.eye(2))


def test_section_9_fields_add_and_scale_point_by_point() -> None:
    v1, v2, P = rng.normal(size=6), rng.normal(size=6), rng.normal(size=3)
    assert close(field(v1 + v2, P), field(v1, P) + field(v2, P))
    assert close(field(2.5 * v1, P), 2.5 * field(v1, P))


def test_section_12_planar_velocity_of_a_rotation() -> None:
    w, P = 1.7, np.array([0.4, -0.9, 0.0])
    v = rotation_about(Z3, P, w)
    assert close(v, w * D_O + w * P[1] * D_X - w * P[0] * D_Y)
    assert close(field(v, O3), np.array([w * P[1], -w * P[0], 0.0]))
    assert close(field(v, P), O3)


def test_section_13_a_translation_moves_the_centre_of_a_rotation_sideways() -> None:
    w, speed = 2.0, 0.6
    centre = np.array([0.0, speed / w, 0.0])  # at right angles to the translation
    assert close(rotation_about(Z3, O3, w) + translation(X3, speed), rotation_about(Z3, centre, w))


def test_exercise_b1_planar_fields_in_words() -> None:
    assert close(D_O + D_X, rotation_about(Z3, np.array([0.0, 1.0, 0.0])))
    assert close(2.0 * D_O + D_Y, rotation_about(Z3, np.array([-0.5, 0.0, 0.0]), 2.0))
    angle = np.arctan(2.0)
    along = np.cos(angle) * X3 + np.sin(angle) * Y3
    assert close(D_X + 2.0 * D_Y, translation(along, np.sqrt(5.0)))


def test_exercise_b2_velocity_at_a_point() -> None:
    w, r = 1.3, 0.8
    V = w * D_O + r * w * D_X
    for P in rng.normal(size=(5, 3)):
        assert close(field(V, P), w * ((r - P[1]) * X3 + P[0] * Y3))
    assert close(field(V, np.array([0.0, r, 0.0])), O3)


def test_exercise_b3_combinations_of_rotations() -> None:
    V1, V2 = rotation_about(Z3, O3), rotation_about(Z3, X3)
    assert close(V2, D_O - D_Y)
    for a in (-0.5, 0.3, 2.0):
        assert close(a * V1 + (1.0 - a) * V2, rotation_about(Z3, (1.0 - a) * X3))
    assert close(V1 - V2, D_Y)


def test_exercise_b3_in_space_about_parallel_axes() -> None:
    P, Q = rng.normal(size=(2, 3))
    a, b = 1.4, 0.5
    V = a * rotation_about(Z3, P) + b * rotation_about(Z3, Q)
    # a rotation about a parallel axis in the same plane
    assert close(V, rotation_about(Z3, (a * P + b * Q) / (a + b), a + b))
    # equal and opposite: a translation at right angles to that plane
    V = rotation_about(Z3, P) - rotation_about(Z3, Q)
    assert close(V[:3], O3)
    assert close(dot(V[3:], Z3), 0.0)
    assert close(dot(V[3:], P - Q), 0.0)
