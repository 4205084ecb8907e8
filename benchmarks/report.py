"""One run's figures as a table on the terminal, as JSON, and as Markdown for docs/figures.md."""

import json
from pathlib import Path
from typing import Any

from rich.console import Console
from rich.table import Table

from benchmarks.pages import DOCS, fill, row

FOLDER = Path(__file__).parent / "results"
WIDTH = 132

Rows = list[tuple[str, ...]]


def write(results: dict[str, Any]) -> None:
    """Keep results as JSON and Markdown, and put the tables into docs/figures.md."""
    FOLDER.mkdir(exist_ok=True)
    text = markdown(results)
    (FOLDER / "latest.json").write_text(json.dumps(results, indent=2) + "\n", encoding="utf-8")
    (FOLDER / "latest.md").write_text(text, encoding="utf-8")
    fill(DOCS / "figures.md", "figures", text)


def show(results: dict[str, Any]) -> None:
    """Print the tables."""
    console = Console()
    console.width = max(console.width, WIDTH)
    for title, head, rows in _tables(results):
        table = Table(*head, title=title)
        for cells in rows:
            table.add_row(*cells)
        console.print(table)


def markdown(results: dict[str, Any]) -> str:
    """All tables, and the machine they were measured on."""
    machine = results["machine"]
    versions = ", ".join(f"{name} {version}" for name, version in machine["packages"].items())
    lines = [
        f"Measured {results['date']} in one run of `make bench` on {machine['processor']}, "
        f"{machine['cores']} cores (load before: {machine['load_before']}), Python "
        f"{machine['python']}, {versions}; engine at `{machine['commit']}`.",
        "",
    ]
    for _, head, rows in _tables(results):
        if head[1] == "peer":
            lines += ["One step's price, each engine with its own default settings:", ""]
        lines += [row(head), row(tuple("---" for _ in head)), *map(row, rows), ""]
    return "\n".join(lines)


def _tables(results: dict[str, Any]) -> list[tuple[str, tuple[str, ...], Rows]]:
    return [
        ("Start and stream", ("what", "asked", "measured", "met"), _start_rows(results)),
        (
            "Steps",
            (
                "scene",
                "bodies",
                "joints",
                "contacts",
                "dt",
                "µs per step",
                "wall clock",
                "times real time",
            ),
            _scene_rows(results["scenes"]),
        ),
        *(
            [("Peers", ("scene", "peer", "its µs per step", "ours", "ratio"), peers)]
            if (peers := _peer_rows(results))
            else []
        ),
    ]


def _met(value: float, bound: float) -> str:
    """Whether a bar is reached; one that is missed stands out."""
    return "yes" if value <= bound else "**missed**"


def _price_rows(results: dict[str, Any]) -> Rows:
    return [
        (
            f"a step's price: {one['what']}",
            f"≤ {one['asked']:g} times",
            f"{one['ratio']:g} times ({one['exact_us']:g} against {one['plain_us']:g} µs)",
            _met(one["ratio"], one["asked"]),
        )
        for one in results["prices"]
    ]


def _start_rows(results: dict[str, Any]) -> Rows:
    starts, live = results["starts"], results["viewers"]
    trip, late = live["round_trip_ms"], live["frame_spread_ms"]
    begin = live["session_start_ms"]
    viewers, scene = live["viewers"], live["scene"]
    return [
        (
            "kernels, cold: process start to first frame, everything compiled",
            "≤ 90 s",
            f"{starts['cold']['first_frame_s']:.1f} s "
            f"({starts['cold']['processor_s']:.1f} s of one core)",
            _met(starts["cold"]["processor_s"], 90.0),
        ),
        (
            "kernels, warm: process start to first frame",
            "≤ 3 s",
            f"{starts['warm']['first_frame_s']:.2f} s "
            f"({starts['warm']['processor_s']:.2f} s of one core)",
            _met(starts["warm"]["first_frame_s"], 3.0),
        ),
        (
            "`cardan serve`, warm: process start to ready for sessions",
            "≤ 3 s",
            f"{results['server_ready_s']:.2f} s",
            _met(results["server_ready_s"], 3.0),
        ),
        (
            f"session start (`{scene}`): request to first frame at a viewer",
            "≤ 50 ms",
            f"p50 {begin['p50']} ms, p99 {begin['p99']} ms",
            _met(begin["p50"], 50.0),
        ),
        (
            f"frame latency, upper bound: a `step` sent to its frame at each of {viewers} viewers",
            "≤ 20 ms p99",
            f"p50 {trip['p50']} ms, p99 {trip['p99']} ms",
            _met(trip["p99"], 20.0),
        ),
        (
            f"a frame at each of {viewers} viewers after the first has it (`{scene}`, running)",
            "≤ 5 ms p99",
            f"p50 {late['p50']} ms, p99 {late['p99']} ms at {live['frames_per_second']} frames/s",
            _met(late["p99"], 5.0),
        ),
        *_price_rows(results),
    ]


def _scene_rows(scenes: dict[str, Any]) -> Rows:
    return [
        (
            f"`{name}`",
            str(one["bodies"]),
            str(one["joints"]),
            f"{one['contacts_mean']:g}",
            f"{1e3 * one['dt']:g} ms",
            f"{one['per_step_us']:g} ({one['fastest_us']:g} to {one['slowest_us']:g})",
            f"{one['wall_us']:g}",
            f"{one['real_time_factor']:g}",
        )
        for name, one in scenes.items()
    ]


def _peer_rows(results: dict[str, Any]) -> Rows:
    rows: Rows = []
    for one in results.get("peers", []):
        ours = results["scenes"][one["scene"]]["per_step_us"]
        theirs = one["per_step_us"]
        ratio = f"{ours / theirs:.2f}"
        rows.append((f"`{one['scene']}`", one["peer"], f"{theirs:g}", f"{ours:g}", ratio))
    return rows
