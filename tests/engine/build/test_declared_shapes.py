"""Arrays of a world have the shapes that `engine/world/` declares, as NOTATION.md prints them."""

from __future__ import annotations

import re
from typing import Any

import numpy as np
import pytest

from cardan.schemas.examples import example_document, example_names
from tests.architecture.test_world import WORLD, fields_of
from tests.engine.scenes import Document, brick, document, ground, simulate

SCENE: Document = {
    "bodies": [
        ground(),
        brick("upper", position=[0, 0, 2], shapes=[{"type": "box", "size": [0.3, 0.2, 0.1]}]),
        brick("lower", position=[0, 0, 1], shapes=[{"type": "sphere", "radius": 0.2}]),
    ],
    "joints": [
        {"name": "pin", "type": "hinge", "parent": "upper", "child": "lower",
         "anchor": [0, 0, 1.5], "axis": [0, 1, 0]}
    ],
    "triggers": [
        {"name": "float", "when": {"type": "time", "at": 1.0},
         "do": [{"op": "gravity", "value": [0, 0, 0]}]}
    ],
}  # fmt: skip


def declared_shapes() -> dict[str, list[str]]:
    """Class.field -> dimensions; two structs have the name Tree, so a field may have several."""
    found: dict[str, list[str]] = {}
    for path in WORLD:
        for name, annotation, comment in fields_of(path):
            shape = re.match(r"\(([^()]*)\)", comment)
            if annotation == "NDArray" and shape is not None:
                found.setdefault(name, []).append(shape.group(1))
    return found


DECLARED = declared_shapes()


def faults_of(struct: Any, name: str) -> list[str]:
    """Fields whose shape is not the declared one; a letter has one value within a struct."""
    faults: list[str] = []
    sizes: dict[str, int] = {}
    for field, value in zip(struct._fields, struct, strict=True):
        if hasattr(value, "_fields"):
            faults += faults_of(value, f"{name}.{field}")
        for shape in DECLARED.get(f"{type(struct).__name__}.{field}", []):
            dimensions = [one.strip() for one in shape.split(",") if one.strip()]
            if len(dimensions) != value.ndim:
                faults.append(f"{name}.{field}: ({shape}), not {value.shape}")
                continue
            for dimension, length in zip(dimensions, value.shape, strict=True):
                is_number, is_letter = dimension.isdecimal(), dimension.isidentifier()
                # what a scene does not need has no room
                if is_number and int(dimension) != length:
                    faults.append(f"{name}.{field}: ({shape}), not {value.shape}")
                elif is_letter and value.size and sizes.setdefault(dimension, length) != length:
                    faults.append(f"{name}.{field}: {dimension} is {sizes[dimension]} elsewhere")
    return faults


@pytest.mark.parametrize("formulation", ["maximal", "reduced"])
def test_arrays_have_the_shapes_that_are_declared(formulation: str) -> None:
    scene = document(**SCENE, simulation={"formulation": formulation})
    assert faults_of(simulate(scene).world, "world") == []


@pytest.mark.parametrize("name", example_names())
def test_arrays_of_every_example_have_them_too(name: str) -> None:
    assert faults_of(simulate(example_document(name)).world, "world") == []


def test_a_wrong_shape_is_found() -> None:
    state = simulate(document(**SCENE)).state
    assert faults_of(state._replace(gravity_W=np.zeros(4)), "state") == [
        "state.gravity_W: (3,), not (4,)"
    ]
    assert faults_of(state._replace(p_WB=np.zeros((9, 3))), "state") != []
