"""Contacts of round solids with hollows of facets, against the smooth surface."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from cardan.engine.world.model import BOX, CAPSULE, SPHERE
from tests.engine.collision.worlds import Solid, World, mesh

RADIUS, BALL = 1.0, 0.1


def trough(facets: int) -> Solid:
    """The lower half of a pipe along y whose facets touch the circle in their middles."""
    angle = np.linspace(-1.5, 1.5, facets + 1)
    out = RADIUS / np.cos(0.5 * (angle[1] - angle[0]))
    vertices = [[out * np.sin(a), y, -out * np.cos(a)] for a in angle for y in (-0.5, 0.5)]
    n = 2 * facets
    faces = [f for i in range(0, n, 2) for f in ([i, i + 2, i + 3], [i, i + 3, i + 1])]
    return mesh(np.array(vertices), np.array(faces))


def in_trough(
    kind: int, size: tuple[float, float, float], angle: float, gap: float, **more: Any
) -> Any:
    d = RADIUS - BALL - gap
    p = (d * np.sin(angle), 0.01, -d * np.cos(angle))
    moving = Solid(kind, size, p=p, dynamic=True, **more)
    return World([trough(600), moving], margin=1e-3, h=1e-3).find()


@pytest.mark.parametrize("angle", np.linspace(0.2, 0.21, 9))
@pytest.mark.parametrize("speed", [0.0, 8.0])
def test_a_ball_meets_the_circle_wherever_it_is(angle: float, speed: float) -> None:
    v = (speed * np.cos(angle), 0.0, speed * np.sin(angle))
    found = in_trough(SPHERE, (BALL, 0, 0), angle, 1e-4, v=v)
    assert len(found["gap"]) == 1
    assert found["facet"][0] >= 0
    assert found["gap"][0] == pytest.approx(1e-4, abs=1e-8)
    inward = [-np.sin(angle), 0.0, np.cos(angle)]
    assert found["normal_W"][0] == pytest.approx(inward, abs=1e-5)
    assert found["point_W"][0] == pytest.approx([np.sin(angle), 0.01, -np.cos(angle)], abs=1e-4)


def test_a_capsule_along_the_trough_keeps_both_its_ends() -> None:
    q = (np.sqrt(0.5), np.sqrt(0.5), 0.0, 0.0)
    found = in_trough(CAPSULE, (BALL, 0.2, 0), 0.2033, 1e-4, q=q)
    assert np.ptp(found["point_W"][:, 1]) == pytest.approx(0.4, abs=1e-3)
    assert (found["facet"] >= 0).all()
    assert found["gap"] == pytest.approx(1e-4, abs=1e-8)


def test_a_box_stands_on_the_facets() -> None:
    found = in_trough(BOX, (0.05, 0.05, 0.1), 0.0, 0.0)
    assert (found["facet"] == -1).all()


def test_a_ball_as_large_as_the_hollow_meets_the_facets() -> None:
    moving = Solid(SPHERE, (0.9, 0, 0), p=(0, 0.01, -0.1), dynamic=True)
    found = World([trough(600), moving], margin=1e-3, h=1e-3).find()
    assert (found["facet"] == -1).all()
