"""One obvious room for each thing: no dumping grounds, no second versions."""

import ast
import re
from enum import IntEnum
from pathlib import Path

import pytest

from cardan.engine.world import options
from tests.architecture.sources import python_files, tracked, tree_of

FORBIDDEN = re.compile(
    r"^(utils?|helpers?|common|misc|managers?|stuff|new_.*|.*_(v\d+|old|new|deprec(ated)?|utils?))$"
)


def test_no_file_has_a_name_that_says_nothing() -> None:
    code = [path for path in tracked() if path.suffix in (".py", ".js", ".mjs")]
    assert len(code) > 100
    named = {part for path in code for part in (*path.parent.parts, path.stem)}
    assert {name for name in named if FORBIDDEN.match(name)} == set()


@pytest.mark.parametrize("name", ["utils", "helper", "scene_utils", "solver_v2", "new_solver"])
def test_the_rule_catches(name: str) -> None:
    assert FORBIDDEN.match(name)


def enum_numbers() -> set[tuple[str, int]]:
    """Names and numbers of the members of all options."""
    kinds = [kind for kind in vars(options).values() if isinstance(kind, type)]
    enums = [kind for kind in kinds if issubclass(kind, IntEnum) and kind is not IntEnum]
    return {(member.name, int(member)) for kind in enums for member in kind}


def written_numbers(tree: ast.Module) -> set[tuple[str, int]]:
    """Constants of a module that are written as whole numbers."""
    return {
        (node.targets[0].id, node.value.value)
        for node in tree.body
        if isinstance(node, ast.Assign)
        and isinstance(node.targets[0], ast.Name)
        and isinstance(node.value, ast.Constant)
        and isinstance(node.value.value, int)
    }


def test_numbers_of_options_are_written_once() -> None:
    numbers, place = enum_numbers(), Path("engine/world/options.py")
    assert written_numbers(ast.parse("IMPLICIT = 2\nfar = 2.0")) == {("IMPLICIT", 2)}
    assert ("IMPLICIT", 2) in numbers
    again = {
        path: written_numbers(tree_of(path)) & numbers
        for path in python_files("engine")
        if path != place
    }
    assert {path: found for path, found in again.items() if found} == {}


def test_every_file_says_what_it_is() -> None:
    trees = {path: tree_of(path) for path in python_files("schemas", "engine", "service")}
    silent = [path for path, tree in trees.items() if tree.body and not ast.get_docstring(tree)]
    assert silent == []


# "Of one world.", "As `run`, of a simulation": a first line without what it is that is described
FRAGMENT = re.compile(r"(Of|As|To|From|None|Nothing|Its?|Those|That)\b")


def fragments(tree: ast.Module) -> list[str]:
    """First lines of docstrings of functions and classes that do not name their subject."""
    kinds = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)
    nodes = [node for node in ast.walk(tree) if isinstance(node, kinds)]
    lines = [(ast.get_docstring(node) or "").partition("\n")[0] for node in nodes]
    return [line for line in lines if FRAGMENT.match(line)]


def test_first_lines_of_docstrings_name_their_subject() -> None:
    assert fragments(ast.parse('def size():\n    """Its size [m]."""')) == ["Its size [m]."]
    assert fragments(ast.parse('def size():\n    """Size of a shape [m]."""')) == []
    trees = {
        path: tree_of(path)
        for path in python_files("schemas", "engine", "service", "benchmarks", "clients")
    }
    found = {path: fragments(tree) for path, tree in trees.items()}
    assert {path: lines for path, lines in found.items() if lines} == {}
