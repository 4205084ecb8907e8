"""Verbs of the step take the world, and next to nothing else."""

import ast

from tests.architecture.sources import python_files, tree_of

MAX_PARAMETERS = 3
STEP = [path for path in python_files("engine") if path.parts[1] == "step"]


def functions() -> list[tuple[str, list[ast.arg]]]:
    """Name and parameters of every function of the step."""
    found = []
    for path in STEP:
        for node in ast.walk(tree_of(path)):
            if isinstance(node, ast.FunctionDef):
                found.append((f"{path.stem}.{node.name}", node.args.args + node.args.kwonlyargs))
    return found


def test_functions_of_the_step_have_few_parameters() -> None:
    assert len(functions()) > 30
    assert [name for name, args in functions() if len(args) > MAX_PARAMETERS] == []


def test_what_takes_the_world_takes_none_of_its_parts() -> None:
    """Options, state and the rest come with it; contacts may be of either list."""
    parts = {"Model", "State", "Workspace", "CollisionScratch", "StepOptions", "Report", "Events"}
    doubled = []
    for name, args in functions():
        types = [ast.unparse(arg.annotation) for arg in args if arg.annotation is not None]
        if "World" in types and parts & set(types):
            doubled.append(name)
    assert doubled == []
