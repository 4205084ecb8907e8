"""Verbs of the step take the world, and next to nothing else."""

import ast
from pathlib import Path

import pytest

from tests.architecture.sources import python_files, tree_of

MAX_PARAMETERS = 3
# rooms whose functions act on the world alone
ROOMS = {
    room: [path for path in python_files("engine") if path.parts[1] == room]
    for room in ("step", "stabilisation")
}

# what the step calls with more: geometry and books that are tested and used without a world
OF_PARTS = {
    "broad_phase", "narrow_phase", "settle_contacts",
    "record_extremes", "add_impulse", "book_row_impulses", "velocity_at", "copy_geometry",
}  # fmt: skip


def parameters(path: Path) -> dict[str, list[ast.arg]]:
    """Parameters of every function of a file, by name."""
    return {
        node.name: node.args.args + node.args.kwonlyargs
        for node in ast.walk(tree_of(path))
        if isinstance(node, ast.FunctionDef)
    }


def functions(room: str) -> list[tuple[str, list[ast.arg]]]:
    """Name and parameters of every function of a room."""
    return [
        (f"{path.stem}.{name}", args)
        for path in ROOMS[room]
        for name, args in parameters(path).items()
    ]


def called_by_the_step() -> dict[str, list[ast.arg]]:
    """Parameters of the functions that the step imports from other rooms and calls."""
    found = {}
    for path in ROOMS["step"]:
        tree = tree_of(path)
        called = {
            node.func.id
            for node in ast.walk(tree)
            if isinstance(node, ast.Call) and isinstance(node.func, ast.Name)
        }
        for node in ast.walk(tree):
            if not isinstance(node, ast.ImportFrom) or node.module is None:
                continue
            if not node.module.startswith("cardan.engine."):
                continue
            source = Path(*node.module.removeprefix("cardan.").split(".")).with_suffix(".py")
            for alias in node.names:
                args = parameters(source).get(alias.name)
                if args is not None and alias.name in called:
                    found[alias.name] = args
    return found


@pytest.mark.parametrize("room", ROOMS)
def test_functions_of_the_step_have_few_parameters(room: str) -> None:
    assert len(functions(room)) > 30
    assert [name for name, args in functions(room) if len(args) > MAX_PARAMETERS] == []


def test_what_the_step_calls_has_few_parameters() -> None:
    called = called_by_the_step()
    assert len(called) > 60
    assert {name for name, args in called.items() if len(args) > MAX_PARAMETERS} == OF_PARTS


def test_what_takes_the_world_takes_none_of_its_parts() -> None:
    """Options, state and the rest come with it; contacts may be of either list."""
    parts = {"Model", "State", "Workspace", "CollisionScratch", "StepOptions", "Report", "Events"}
    doubled = []
    for room in ROOMS:
        for name, args in functions(room):
            types = [ast.unparse(arg.annotation) for arg in args if arg.annotation is not None]
            if "World" in types and parts & set(types):
                doubled.append(name)
    assert doubled == []
