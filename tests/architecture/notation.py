"""NOTATION.md from what `engine/world/` declares.

`python -m tests.architecture.notation` writes it.
"""

import re
from pathlib import Path

from tests.architecture.test_world import WORLD, fields_of

PLACE = Path("engine/NOTATION.md")
HEAD = """# Notation

Frames are capital suffixes: `W` world, `B` the body (or the second body of a pair), `A` the first
one, `S` a shape; `p_WB` is the position of B from W, `q_WB` turns components in B into W, a last
letter gives the axes. Spatial rows are angular first. SI units, radians, quaternions (w, x, y, z).
`h` is the time step. A test keeps this list equal to the fields of `engine/world/`.

| where | field | shape | unit and meaning |
|---|---|---|---|
"""


def notation() -> str:
    """The whole file."""
    lines = []
    for name, annotation, comment in (field for path in WORLD for field in fields_of(path)):
        if "NDArray" in annotation:
            where, field = name.split(".")
            end = comment.index(")") + 1
            meaning = re.sub(r"\s+", " ", comment[end:]).strip().replace("|", "\\|")
            lines.append(f"| `{where}` | `{field}` | {comment[:end]} | {meaning} |\n")
    return HEAD + "".join(lines)


if __name__ == "__main__":
    PLACE.write_text(notation(), encoding="utf-8")
