"""Everything that is verified, asked and reached: `python -m benchmarks.verify` or `make verify`.

Runs what tests/references/sections.py lists, as the tests do, and writes what it found to
docs/verification (tables as Markdown and as JSON, plots), and the table of docs/examples.md.
Names of sections as arguments: only those are run, the others are kept as they were. Sections whose
published data are not there keep what was found before, too. Exit status 1 when one is missed.
"""

import json
import sys
import time
from importlib import import_module, util
from pathlib import Path
from typing import Any

from benchmarks.pages import DOCS, fill, row
from cardan import engine
from tests.references.sections import SECTIONS, Section

ROOT = Path(__file__).parents[1]
FOLDER = ROOT / "docs" / "verification"
PAGE, FILE = FOLDER / "README.md", FOLDER / "report.json"
INTRO = "`make verify` measures and writes this, as the tests do that bear the same names."
HEAD = ("case", "what", "asked", "reached", "holds", "source")

Report = dict[str, Any]


def run_section(section: Section) -> list[dict[str, Any]]:
    """The rows of a section as plain values."""
    rows = []
    for name, case in section.cases.items():
        began = time.perf_counter()
        found = case.measure()
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


def pictures(name: str, before: Report) -> list[dict[str, str]]:
    """Draw the plots of a section; without matplotlib those there are stay."""
    if util.find_spec("matplotlib") is None:
        print(f"{name}: plots stay as they are, matplotlib is not installed (extra `report`)")
        kept: list[dict[str, str]] = before.get("plots", [])
        return kept
    plots = import_module("benchmarks.plots")
    found = [plot for plot in plots.PLOTS if plot.section == name]
    for plot in found:
        plots.draw(plot, FOLDER)
    return [{"name": plot.name, "title": plot.title} for plot in found]


def markdown(report: Report) -> str:
    """The whole report."""
    parts = ["# Verification: asked and reached", INTRO]
    for section in report["sections"]:
        missed = sum(not one["ok"] for one in section["rows"])
        count = f"{len(section['rows'])} checks, {missed} missed."
        parts += [f"## {section['title']}", f"{section['intro']} {count}"]
        parts += [f"![{plot['title']}]({plot['name']}.svg)" for plot in section["plots"]]
        parts.append(table(section["rows"]))
    return "\n\n".join(parts) + "\n"


def section_of(section: Section, before: Report | None, wanted: bool) -> Report | None:
    """A section as it is measured now; as it was where it is not wanted."""
    if not wanted:
        return before
    rows = run_section(section)
    found: Report = {"name": section.name, "title": section.title, "intro": section.intro}
    return found | {"rows": rows, "plots": pictures(section.name, before or {})}


def main(names: list[str]) -> int:
    """Measure, write the report; 0 when all of it holds."""
    engine.warmup()
    FOLDER.mkdir(parents=True, exist_ok=True)
    before: dict[str, Report] = {}
    if FILE.is_file():
        kept = json.loads(FILE.read_text(encoding="utf-8"))
        before = {section["name"]: section for section in kept["sections"]}
    found = [
        section_of(section, before.get(section.name), not names or section.name in names)
        for section in SECTIONS
    ]
    sections = [section for section in found if section is not None]
    report = {"engine": engine.ENGINE_VERSION, "sections": sections}
    FILE.write_text(json.dumps(report, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")
    PAGE.write_text(markdown(report), encoding="utf-8")
    examples = next(section["rows"] for section in sections if section["name"] == "examples")
    fill(DOCS / "examples.md", "scenes", table(examples, columns=5))
    every = [one for section in sections for one in section["rows"]]
    missed = sum(not one["ok"] for one in every)
    print(f"{len(every)} checks, {missed} missed; written to {FOLDER.relative_to(ROOT)}")
    return 1 if missed else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
