"""One obvious room for each thing: no dumping grounds, no second versions."""

import ast
import re

import pytest

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


def test_every_file_says_what_it_is() -> None:
    trees = {path: tree_of(path) for path in python_files("schemas", "engine", "service")}
    silent = [path for path, tree in trees.items() if tree.body and not ast.get_docstring(tree)]
    assert silent == []
