"""The example scenes against what is asked of them: `python -m benchmarks.verify` or `make verify`.

Runs the measuring functions of tests/references/test_scenes.py and writes what they found to
docs/verification/scenes.md, which the README shows. Exit status 1 when something asked is missed.
"""

import sys
from collections.abc import Callable
from importlib import import_module
from pathlib import Path

import engine
from schemas.examples import example_names

ROOT = Path(__file__).parents[1]
PAGE = ROOT / "docs" / "verification" / "scenes.md"
README = ROOT / "README.md"
BEGIN, END = "<!-- scenes: begin (make verify writes this) -->", "<!-- scenes: end -->"

Line = tuple[str, str, str, bool]


def main() -> int:
    """Measure every example, write the table; 0 when all of it holds."""
    measure: Callable[[str], list[Line]] = import_module("tests.references.test_scenes").measure
    engine.warmup()
    rows, missed = [], 0
    for name in example_names():
        for what, asked, reached, holds in measure(name):
            missed += not holds
            rows.append(
                f"| `{name}` | {what} | {asked} | {reached} | {'yes' if holds else '**no**'} |"
            )
            print(
                f"{'ok  ' if holds else 'MISS'} {name}: {what}: {reached} (asked {asked})",
                flush=True,
            )
    table = "\n".join(
        ["| scene | what | asked | reached | holds |", "|---|---|---|---|---|", *rows]
    )
    PAGE.parent.mkdir(parents=True, exist_ok=True)
    intro = "The examples as they stand, default settings; `make verify` measures and writes this."
    PAGE.write_text(f"# Examples: asked and reached\n\n{intro}\n\n{table}\n", encoding="utf-8")
    _show_in_readme(table)
    print(f"{len(rows)} checks, {missed} missed; written to {PAGE.relative_to(ROOT)}")
    return 1 if missed else 0


def _show_in_readme(table: str) -> None:
    text = README.read_text(encoding="utf-8")
    if BEGIN not in text or END not in text:
        return
    before, _, rest = text.partition(BEGIN)
    README.write_text(
        f"{before}{BEGIN}\n\n{table}\n\n{END}{rest.partition(END)[2]}", encoding="utf-8"
    )


if __name__ == "__main__":
    sys.exit(main())
