"""What a refused model is answered with is in the manual."""

from __future__ import annotations

import ast
import re
from pathlib import Path

ROOT = Path(__file__).parents[3]


def test_every_code_of_a_refusal_has_its_row() -> None:
    raised = set()
    for path in (ROOT / "service" / "importing").glob("*.py"):
        for node in ast.walk(ast.parse(path.read_text("utf-8"))):
            if isinstance(node, ast.Call) and ast.unparse(node.func) == "ImportRefusedError":
                raised.add(ast.literal_eval(node.args[0]))
    manual = (ROOT / "docs" / "import.md").read_text("utf-8")
    _, section = manual.split("## Models that are refused")
    rows = re.findall(r"^\| `(\w+)` \| .+ \|$", section, re.MULTILINE)
    assert rows == sorted(raised)
