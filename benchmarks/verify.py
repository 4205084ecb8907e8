"""Everything that is verified, asked and reached: `python -m benchmarks.verify` or `make verify`.

Runs what tests/references/sections.py lists, as the tests do, and writes what it found to
docs/verification (tables as Markdown and as JSON) and the examples' table into the README. Names
of sections as arguments: only those are run, the others are kept as they were. Sections whose
published data are not there keep what was found before, too. Exit status 1 when one is missed.
"""

import json
import sys
import time
from pathlib import Path
from typing import Any

import engine
from benchmarks.readme import fill, row
from tests.references.rows import MissingDataError
from tests.references.sections import SECTIONS, Section

ROOT = Path(__file__).parents[1]
FOLDER = ROOT / "docs" / "verification"
PAGE, FILE = FOLDER / "README.md", FOLDER / "report.json"
INTRO = "`make verify` measures and writes this, as the tests do that bear the same names."
HEAD = ("case", "what", "asked", "reached", "holds", "source")

Report = dict[str, Any]


def run_section(section: Section) -> list[dict[str, Any]] | None:
    """The rows of a section as plain values; None where its data are not there."""
    rows = []
    for name, case in section.cases.items():
        began = time.perf_counter()
        try:
            found = case.measure()
        except MissingDataError as missing:
            print(f"{section.name}: skipped, {missing}")
            return None
        missed = [one for one in found if not one.ok]
        spent = time.perf_counter() - began
        print(f"{section.name}/{name}: {len(found)} checks, {len(missed)} missed, {spent:.1f} s")
        for one in missed:
            print(f"    {one.what}: asked {one.asked}, reached {one.reached}")
        rows += [{"case": name, "source": case.source, **one._asdict()} for one in found]
    return rows


def table(rows: list[dict[str, Any]], columns: int = len(HEAD)) -> str:
    """Rows as a Markdown table of the first columns."""
    lines = [row(HEAD[:columns]), row(("---",) * columns)]
    for one in rows:
        holds = "yes" if one["ok"] else "**no**"
        name = f"`{one['case']}`"
        cells = (name, one["what"], one["asked"], one["reached"], holds, one["source"])
        lines.append(row(cells[:columns]))
    return "\n".join(lines)


def markdown(report: Report) -> str:
    """The whole report."""
    parts = ["# Verification: asked and reached", INTRO]
    for section in report["sections"]:
        missed = sum(not one["ok"] for one in section["rows"])
        count = f"{len(section['rows'])} checks, {missed} missed."
        parts += [f"## {section['title']}", f"{section['intro']} {count}", table(section["rows"])]
    return "\n\n".join(parts) + "\n"


def main(names: list[str]) -> int:
    """Measure, write the report; 0 when all of it holds."""
    engine.warmup()
    before: dict[str, Report] = {}
    if FILE.is_file():
        kept = json.loads(FILE.read_text(encoding="utf-8"))
        before = {section["name"]: section for section in kept["sections"]}
    sections = []
    for section in SECTIONS:
        rows = run_section(section) if not names or section.name in names else None
        if rows is not None:
            found = {"name": section.name, "title": section.title, "intro": section.intro}
            sections.append({**found, "rows": rows})
        elif section.name in before:
            sections.append(before[section.name])
    report = {"engine": engine.ENGINE_VERSION, "sections": sections}
    FOLDER.mkdir(parents=True, exist_ok=True)
    FILE.write_text(json.dumps(report, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")
    PAGE.write_text(markdown(report), encoding="utf-8")
    examples = next(s["rows"] for s in sections if s["name"] == "examples")
    fill("scenes", table(examples, columns=5))
    every = [one for section in sections for one in section["rows"]]
    missed = sum(not one["ok"] for one in every)
    print(f"{len(every)} checks, {missed} missed; written to {FOLDER.relative_to(ROOT)}")
    return 1 if missed else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
