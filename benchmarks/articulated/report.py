"""The comparison as tables: on the terminal, as JSON and as Markdown."""

import json
from typing import Any

from rich.console import Console
from rich.table import Table

from benchmarks.contacts.report import FOLDER, OURS, Rows, cells, fastest, verdict
from benchmarks.readme import row

COLUMNS = {
    "us": "µs/step",
    "ratio": "of the fastest peer",
    "energy_error": "largest energy error",
    "energy_end": "energy error at the end",
    "apart_mm": "joints apart [mm]",
    "contacts": "contacts",
    "depth_mm": "depth [mm]",
    "energy_left_j": "energy left [J]",
}
# what an engine that keeps the energy may cost at most, in steps of semi-implicit Euler
PRICE = 2.0


def table(rows: Rows) -> tuple[tuple[str, ...], list[tuple[str, ...]]]:
    """Head and rows of one scene, the fastest first."""
    columns = [c for c in COLUMNS if c == "ratio" or any(c in one for one in rows.values())]
    peer = fastest(rows, (64, 32))
    best = peer[1] if peer is not None else rows[OURS]["us"]
    order = sorted(rows, key=lambda name: rows[name].get("us", 1e300))
    head = ("engine", "bits", *(COLUMNS[c] for c in columns))
    bits = {name: str(rows[name].get("floats", "")) for name in order}
    return head, [(name, bits[name], *cells(rows[name], columns, best)) for name in order]


def remarks(name: str, rows: Rows) -> list[str]:
    """Our time against the fastest peers, where it goes, and what keeping the energy costs."""
    lines = verdict(name, rows)
    ours, euler = rows.get(OURS, {}), rows.get("MuJoCo Euler", {})
    if "energy_error" in ours:
        prices = [f"{ours['us'] / ours['plain_us']:.2f} times a bare step of our own"]
        if "us" in euler:
            prices.append(f"{ours['us'] / euler['us']:.2f} times MuJoCo's Euler step")
        lines.append(
            f"{name}: energy within {ours['energy_error']:.1e} at {' and '.join(prices)} "
            f"(asked: 1e-4 at {PRICE:g})"
        )
    return lines


def write(results: dict[str, Any], latest: str) -> None:
    """Print the scene measured last; keep everything so far."""
    console = Console()
    console.width = max(console.width, 130)
    head, lines = table(results["scenes"][latest])
    shown = Table(*head, title=latest)
    for one in lines:
        shown.add_row(*one)
    console.print(shown)
    for line in remarks(latest, results["scenes"][latest]):
        console.print(line)
    FOLDER.mkdir(exist_ok=True)
    text = json.dumps(results, indent=1) + "\n"
    (FOLDER / "articulated.json").write_text(text, encoding="utf-8")
    (FOLDER / "articulated.md").write_text(markdown(results), encoding="utf-8")


def markdown(results: dict[str, Any]) -> str:
    """All tables."""
    about = results["machine"]
    parts = [
        f"One run of `python -m benchmarks.articulated` on {about['processor']}, "
        f"{about['cores']} cores (load before: {about['load_before']}), engine at "
        f"`{about['commit']}`. Single thread, 1 ms a step, time on the processor; chains move for "
        "5 s, their energy errors are shares of the energy they fall from.\n"
    ]
    for name, rows in results["scenes"].items():
        head, lines = table(rows)
        parts.append(f"### {name}\n")
        parts.append("\n".join([row(head), row(("---",) * len(head)), *map(row, lines)]) + "\n")
        parts.append("\n".join(f"- {line}" for line in remarks(name, rows)) + "\n")
    return "\n".join(parts)
