"""Every array of the engine says its shape and unit where it is declared."""

import ast
import re
from pathlib import Path

from cardan.engine.world.world import World
from tests.architecture.sources import comments_by_line, python_files, tree_of

WORLD = [path for path in python_files("engine") if path.parts[1] == "world"]
SHAPE = re.compile(r"^\([^)]*\)")
UNITS = (
    r"m(?:/s(?:\^2)?)?|mm|rad(?:/s(?:\^2)?)?|s|ns|kg(?: m\^2)?|N(?: m)?(?: s)?|J|W|Hz|1"
    r"|1/(?:kg|s|m|\(kg m(?:\^2)?\))|u?int(?:8|16|32|64)|bool|-"
)
UNIT = re.compile(rf"(?:^|[\s,(])(?:{UNITS})(?=$|[\s,;:.)])|unit")

Field = tuple[str, str, str]


def fields_of(path: Path) -> list[Field]:
    """(Class.field, annotation, comment) of every NamedTuple in a file."""
    comments = comments_by_line(path)
    found = []
    for node in tree_of(path).body:
        if not isinstance(node, ast.ClassDef):
            continue
        if not any(isinstance(base, ast.Name) and base.id == "NamedTuple" for base in node.bases):
            continue
        for item in node.body:
            if isinstance(item, ast.AnnAssign) and isinstance(item.target, ast.Name):
                lines = range(item.lineno, (item.end_lineno or item.lineno) + 1)
                comment = " ".join(comments[line] for line in lines if line in comments)
                name = f"{node.name}.{item.target.id}"
                found.append((name, ast.unparse(item.annotation), comment))
    return found


def test_fields_are_found_with_their_comments() -> None:
    found = {name: (kind, text) for path in WORLD for name, kind, text in fields_of(path)}
    assert set(World._fields) == {
        name.removeprefix("World.") for name in found if name.startswith("World.")
    }
    assert found["State.p_WB"] == ("NDArray", "(n, 3) m             centre of mass")


def test_every_array_has_shape_and_unit() -> None:
    missing = []
    for name, annotation, comment in (field for path in WORLD for field in fields_of(path)):
        if "NDArray" not in annotation:
            continue
        shape = SHAPE.match(comment)
        if shape is None:
            missing.append(f"{name}: its comment does not start with a shape: {comment!r}")
        elif not UNIT.search(comment[shape.end() :]):
            missing.append(f"{name}: no unit in {comment!r}")
    assert missing == []


def test_every_number_has_a_comment() -> None:
    silent = [
        name
        for path in WORLD
        for name, annotation, comment in fields_of(path)
        if annotation in ("int", "float") and not comment
    ]
    assert silent == []
