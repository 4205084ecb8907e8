"""The comparison as tables: on the terminal, as JSON and as Markdown."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

from rich.console import Console
from rich.table import Table

from benchmarks.pages import row

FOLDER = Path(__file__).parents[1] / "results"
OURS = "Cardan"
COLUMNS = {
    "us": "µs/step",
    "ratio": "of the fastest peer",
    "contacts": "contacts",
    "touching": "pairs < 1 mm",
    "depth_mm": "depth [mm]",
    "moved_mm": "moved [mm]",
    "energy_left_j": "energy left [J]",
    "energy_error": "energy error",
    "spin_error": "L error",
}

Rows = dict[str, dict[str, Any]]


def fastest(rows: Rows, floats: tuple[int, ...]) -> tuple[str, float] | None:
    """The quickest peer with floats of these widths that stayed finite, and its time."""
    times = {
        name: one["us"]
        for name, one in rows.items()
        if not name.startswith(OURS) and one.get("finite") and one["floats"] in floats
    }
    return min(times.items(), key=lambda item: item[1]) if times else None


# what nobody sees: a thousandth of a millimetre, a ten-thousandth of an energy
UNSEEN = {"depth_mm": 1e-3, "apart_mm": 1e-3, "gain": 1e-4, "energy_error": 1e-4}


def is_as_good(one: dict[str, Any], other: dict[str, Any]) -> bool:
    """Whether depth, joints and energy of a run are at least those of another, or unseen."""
    return bool(one.get("finite")) and all(
        one.get(key, 0.0) <= max(other.get(key, 0.0), least) for key, least in UNSEEN.items()
    )


def as_good(rows: Rows) -> float | None:
    """Least time of our runs over that of the fastest float64 peer, of those that are as good.

    Runs in longer steps count by the time that they take for a step of the scene. None: none is.
    """
    best = fastest(rows, (64,))
    if best is None:
        return None
    peer = rows[best[0]]
    ours = [one for name, one in rows.items() if name.startswith(OURS) and is_as_good(one, peer)]
    return min((one["us"] / best[1] for one in ours), default=None)


def verdict(name: str, rows: Rows) -> list[str]:
    """Our time against the fastest peers, and where it goes."""
    ours = rows.get(OURS, {})
    if "us" not in ours:
        return [f"{name}: {OURS}: {ours.get('error', 'did not run')}"]
    lines = []
    for what, floats in (("float64", (64,)), ("any", (64, 32))):
        best = fastest(rows, floats)
        if best is not None:
            ratio = ours["us"] / best[1]
            lines.append(f"{name}: {ratio:.2f} times the fastest {what} peer ({best[0]})")
    spent = sorted(ours["phases"].items(), key=lambda item: -item[1])
    lines.append(f"{name}: " + ", ".join(f"{phase} {us:.4g}" for phase, us in spent) + " µs")
    return lines


def cells(one: dict[str, Any], columns: list[str], best: float) -> list[str]:
    """One row of a table; best: the fastest peer's time [us]."""
    if "error" in one:
        return [one["error"]] + [""] * (len(columns) - 1)
    if not one["finite"]:
        return ["not finite"] + [""] * (len(columns) - 1)
    values = one | {"ratio": one["us"] / best}
    return [f"{values[key]:.3g}" if key in values else "" for key in columns]


class Page(NamedTuple):
    """How one comparison is shown and kept."""

    name: str  # of the module below benchmarks, and of its files
    columns: dict[str, str]
    remarks: Callable[[str, Rows], list[str]]
    how: str  # scenes were run


CONTACTS = Page("contacts", COLUMNS, verdict, "Single thread, sleeping off, time on the processor.")


def table(rows: Rows, page: Page) -> tuple[tuple[str, ...], list[tuple[str, ...]]]:
    """Head and rows of one scene, the fastest first."""
    shown = page.columns
    columns = [c for c in shown if c == "ratio" or any(c in one for one in rows.values())]
    peer = fastest(rows, (64, 32))
    best = peer[1] if peer is not None else rows[OURS].get("us", float("nan"))
    order = sorted(rows, key=lambda name: rows[name].get("us", 1e300))
    head = ("engine", "bits", *(shown[c] for c in columns))
    bits = {name: str(rows[name].get("floats", "")) for name in order}
    return head, [(name, bits[name], *cells(rows[name], columns, best)) for name in order]


def write(results: dict[str, Any], latest: str, page: Page) -> None:
    """Print the scene measured last; keep everything so far."""
    console = Console()
    console.width = max(console.width, 130)
    head, lines = table(results["scenes"][latest], page)
    shown = Table(*head, title=latest)
    for line in lines:
        shown.add_row(*line)
    console.print(shown)
    for remark in page.remarks(latest, results["scenes"][latest]):
        console.print(remark)
    FOLDER.mkdir(exist_ok=True)
    text = json.dumps(results, indent=1) + "\n"
    (FOLDER / f"{page.name}.json").write_text(text, encoding="utf-8")
    (FOLDER / f"{page.name}.md").write_text(markdown(results, page), encoding="utf-8")


def markdown(results: dict[str, Any], page: Page) -> str:
    """All tables."""
    about = results["machine"]
    parts = [
        f"One run of `python -m benchmarks.{page.name}` on {about['processor']}, "
        f"{about['cores']} cores (load before: {about['load_before']}), engine at "
        f"`{about['commit']}`. {page.how}\n"
    ]
    for name, rows in results["scenes"].items():
        head, lines = table(rows, page)
        parts.append(f"### {name}\n")
        parts.append("\n".join([row(head), row(("---",) * len(head)), *map(row, lines)]) + "\n")
        parts.append("\n".join(f"- {line}" for line in page.remarks(name, rows)) + "\n")
    return "\n".join(parts)
