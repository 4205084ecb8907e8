"""NOTATION.md lists every array of the engine, as it is declared."""

import re
from pathlib import Path

from tests.architecture.test_world import WORLD, fields_of

ROW = re.compile(r"^\| `(\w+)` \| `(\w+)` \| (\([^|]*\)) \|", re.M)


def test_notation_names_every_array_with_its_shape() -> None:
    listed = {(where, field): shape for where, field, shape in ROW.findall(_text())}
    declared = {}
    for name, annotation, comment in (field for path in WORLD for field in fields_of(path)):
        if "NDArray" in annotation:
            where, field = name.split(".")
            declared[where, field] = comment[: comment.index(")") + 1]
    assert listed == declared


def _text() -> str:
    return Path("engine/NOTATION.md").read_text(encoding="utf-8")
