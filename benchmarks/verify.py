"""The example scenes against what is asked of them: `python -m benchmarks.verify` or `make verify`.

Measures with tests/references/scenes.py, as the tests do, and writes what it found to
docs/verification/scenes.md and into the README. Exit status 1 when something asked is missed.
"""

import sys
from pathlib import Path

import engine
from benchmarks.readme import fill, row
from schemas.examples import example_names
from tests.references.scenes import measure

ROOT = Path(__file__).parents[1]
PAGE = ROOT / "docs" / "verification" / "scenes.md"
INTRO = "The examples as they stand, default settings; `make verify` measures and writes this."
HEAD = ("scene", "what", "asked", "reached", "holds")


def main() -> int:
    """Measure every example, write the table; 0 when all of it holds."""
    engine.warmup()
    lines, missed = [row(HEAD), row(("---",) * len(HEAD))], 0
    for name in example_names():
        for found in measure(name):
            missed += not found.ok
            holds = "yes" if found.ok else "**no**"
            lines.append(row((f"`{name}`", found.what, found.asked, found.reached, holds)))
            print(f"{name}: {found.what}: asked {found.asked}, reached {found.reached}: {holds}")
    table = "\n".join(lines)
    PAGE.parent.mkdir(parents=True, exist_ok=True)
    PAGE.write_text(f"# Examples: asked and reached\n\n{INTRO}\n\n{table}\n", encoding="utf-8")
    fill("scenes", table)
    print(f"{len(lines) - 2} checks, {missed} missed; written to {PAGE.relative_to(ROOT)}")
    return 1 if missed else 0


if __name__ == "__main__":
    sys.exit(main())
