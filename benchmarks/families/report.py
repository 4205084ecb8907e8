"""The families as tables: each scene, and all of them against the fastest peer."""

import json
import math
from typing import Any

from rich.console import Console
from rich.table import Table

from benchmarks.contacts.report import FOLDER, OURS, as_good, fastest
from benchmarks.pages import row

COLUMNS = {"contacts": "contacts", "depth_mm": "depth [mm]", "apart_mm": "joints apart [mm]"}
COLUMNS |= {"gain": "energy gained", "kinetic_j": "energy left [J]"}
HEAD = (
    *("family", "µs/step", "fastest f64", "ratio", "fastest", "ratio"),
    *("depth [mm]", "apart [mm]", "gained", "as good"),
)

Rows = dict[str, dict[str, Any]]

# an engine that gains more, as a share of the energy at the start and without a motor, has lost the
# scene: its time is not that of the scene
MOST_GAIN = 0.1


def faithful(rows: Rows) -> Rows:
    """The engines whose energy is about that of the scene; all, where motors drive it."""
    return {name: one for name, one in rows.items() if one.get("gain", 0.0) <= MOST_GAIN}


def _value(one: dict[str, Any], key: str) -> str:
    return f"{one[key]:.2g}" if key in one else "-"


def table(rows: Rows) -> tuple[tuple[str, ...], list[tuple[str, ...]]]:
    """Head and rows of one scene, the fastest first; then who cannot express it and why."""
    best = fastest(faithful(rows), (64,))
    head = ("engine", "bits", "µs/step", "of the fastest f64 peer", *COLUMNS.values())
    found = []
    for name in sorted(rows, key=lambda name: rows[name].get("us", 1e300)):
        one = rows[name]
        if "us" not in one or not one["finite"]:
            why = one.get("error", "not finite")
            found.append((name, "", why, *[""] * (len(head) - 3)))
            continue
        ratio = f"{one['us'] / best[1]:.2f}" if best else "-"
        cells = [_value(one, key) for key in COLUMNS]
        found.append((name, str(one["floats"]), f"{one['us']:.4g}", ratio, *cells))
    return head, found


def ratio(rows: Rows, floats: tuple[int, ...]) -> float | None:
    """Our time over that of the fastest faithful peer with floats of these widths."""
    rows = faithful(rows)
    best, ours = fastest(rows, floats), rows.get(OURS, {})
    return ours["us"] / best[1] if best and ours.get("finite") else None


def ratio_as_good(rows: Rows) -> float | None:
    """The `ratio` for float64, with our steps as long as they may be to be as good as that peer.

    Runs in longer steps count by the time that they take for a step of the scene.
    """
    return as_good(faithful(rows)) or ratio(rows, (64,))


def mean(ratios: list[float]) -> float:
    """Geometric mean; NaN of nothing."""
    return math.exp(sum(map(math.log, ratios)) / len(ratios)) if ratios else float("nan")


def summary(scenes: dict[str, Rows]) -> list[tuple[str, ...]]:
    """One row per family: ours, and its quality beside that of the fastest float64 peer."""
    found = []
    for name, rows in scenes.items():
        ours, count = rows.get(OURS, {}), faithful(rows)
        best, quickest = fastest(count, (64,)), fastest(count, (64, 32))
        cells = [name, _time(ours)]
        for peer, floats in ((best, (64,)), (quickest, (64, 32))):
            against = ratio(rows, floats)
            cells += [peer[0] if peer else "-", f"{against:.2f}" if against else "-"]
        other = rows[best[0]] if best else {}
        for key in ("depth_mm", "apart_mm", "gain"):
            cells.append(f"{_value(ours, key)} / {_value(other, key)}")
        as_good = ratio_as_good(rows)
        cells.append(f"{as_good:.2f}" if as_good else "-")
        found.append(tuple(cells))
    return found


def _time(one: dict[str, Any]) -> str:
    return f"{one['us']:.4g}" if "us" in one else one.get("error", "-")


def remarks(scenes: dict[str, Rows]) -> list[str]:
    """Geometric means, and where we are slower than the fastest float64 peer."""
    lines = []
    failed = [n for n, rows in scenes.items() if not faithful(rows).get(OURS, {}).get("finite")]
    lost = [
        f"{name} of {peer} ({one['gain']:.2g} times)"
        for name, rows in scenes.items()
        for peer, one in rows.items()
        if one.get("gain", 0.0) > MOST_GAIN
    ]
    if lost:
        lines.append(f"lost, for the energy they gained of that at the start: {', '.join(lost)}")
    if failed:
        lines.append(f"{OURS} failed: {', '.join(failed)}")
    for what, floats in (("float64", (64,)), ("any", (64, 32))):
        ratios = {name: ratio(rows, floats) for name, rows in scenes.items()}
        known = {name: x for name, x in ratios.items() if x is not None}
        slower = [f"{name} {x:.2f}" for name, x in known.items() if x > 1.0]
        lines.append(
            f"geometric mean of {len(known)} families against the fastest {what} peer: "
            f"{mean(list(known.values())):.2f}; above 1: {', '.join(slower) or 'none'}"
        )
    good = {name: x for name, rows in scenes.items() if (x := ratio_as_good(rows)) is not None}
    slower = [f"{name} {x:.2f}" for name, x in good.items() if x > 1.0]
    lines.append(
        "the same with our steps as long as they may be for depth, joints and energy at least as "
        f"good as those of the fastest float64 peer: {mean(list(good.values())):.2f}; "
        f"above 1: {', '.join(slower) or 'none'}"
    )
    return lines


def show(head: tuple[str, ...], rows: list[tuple[str, ...]], title: str) -> None:
    """A table on the terminal."""
    console = Console()
    console.width = max(console.width, 150)
    shown = Table(*head, title=title)
    for line in rows:
        shown.add_row(*line)
    console.print(shown)


def write(results: dict[str, Any]) -> None:
    """Keep everything so far, as JSON and Markdown."""
    FOLDER.mkdir(exist_ok=True)
    text = json.dumps(results, indent=1) + "\n"
    (FOLDER / "families.json").write_text(text, encoding="utf-8")
    about, scenes = results["machine"], results["scenes"]
    lines = [
        f"One run of `make bench-families SEED={results['seed']}` on {about['processor']}, "
        f"{about['cores']} cores (load before: {about['load_before']}), engine at "
        f"`{about['commit']}`. Single thread, sleeping off, time on the processor, least of "
        f"{results['repeats']} repetitions. Quality: ours / that of the fastest float64 peer.\n",
        "\n".join([row(HEAD), row(("---",) * len(HEAD)), *map(row, summary(scenes))]) + "\n",
        "\n".join(f"- {line}" for line in remarks(scenes)) + "\n",
    ]
    for name, rows in scenes.items():
        head, body = table(rows)
        lines.append(f"### {name}\n")
        lines.append("\n".join([row(head), row(("---",) * len(head)), *map(row, body)]) + "\n")
    (FOLDER / "families.md").write_text("\n".join(lines), encoding="utf-8")
