"""Engines beside one another on scenes: each in a process of its own, in turn, a few times over."""

import argparse
import json
import os
import subprocess
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from benchmarks import machine
from benchmarks.contacts.peers import Peer
from benchmarks.contacts.report import Page, write
from benchmarks.contacts.scenes import Scene

LIMIT_S = 900.0


class Comparison(NamedTuple):
    """What is compared, and how a run is judged."""

    page: Page
    ours: tuple[Peer, ...]
    find: Callable[[], tuple[list[Peer], list[str]]]  # peers, what is missing
    scenes: dict[str, Callable[[], Scene]]
    quality: Callable[[Scene], Any]  # whose figures(states) are those of one run
    write_flat: Callable[[Scene, Path], None]  # the scene for drivers in C++
    left_out: dict[str, tuple[str, ...]]  # peer -> scenes it is not asked for


def measure(peer: Peer, scene: Scene, quality: Any, folder: Path) -> dict[str, Any]:
    """One run of one engine: its figures, or what went wrong."""
    out = folder / "out"
    out.mkdir(exist_ok=True)
    for old in out.iterdir():
        old.unlink()
    file = folder / ("scene.txt" if peer.flat else "scene.json")
    command = ["taskset", "-c", str(os.cpu_count() - 1), *peer.command(str(file), str(out))]
    try:
        done = subprocess.run(
            command,
            env=machine.single_threaded(),
            check=False,
            capture_output=True,
            text=True,
            timeout=LIMIT_S,
        )
    except subprocess.TimeoutExpired:
        return {"error": f"took longer than {LIMIT_S:g} s"}
    if done.returncode != 0:
        return {"error": (done.stderr.strip() or "no message").splitlines()[-1]}
    moving = sum(not b.get("fixed", False) for b in scene["bodies"])
    times, contacts = np.fromfile(out / "times.f64"), np.fromfile(out / "contacts.f64")
    states = np.fromfile(out / "states.f64").reshape(len(times), moving, 13)
    begin, end = (edge // scene["every"] for edge in scene["window"])
    found = {
        "about": (out / "about.txt").read_text(encoding="utf-8").strip(),
        "floats": peer.floats,
        "us": float(np.median(times[begin:end])),
        "us_all": float(times.mean()),
        "contacts": float(contacts[begin:end].mean()),
        **quality.figures(states),
    }
    phases, more = out / "phases.json", out / "plain.json"
    if phases.is_file():
        found["phases"] = json.loads(phases.read_text(encoding="utf-8"))
    if more.is_file():
        found |= json.loads(more.read_text(encoding="utf-8"))
    return found


def compare(what: Comparison, name: str, engines: list[Peer], repeats: int) -> dict[str, Any]:
    """Engine -> figures; the repetition with the least time counts."""
    scene = what.scenes[name]()
    quality = what.quality(scene)
    best: dict[str, Any] = {}
    with tempfile.TemporaryDirectory() as place:
        folder = Path(place)
        (folder / "scene.json").write_text(json.dumps(scene), encoding="utf-8")
        what.write_flat(scene, folder / "scene.txt")
        for _ in range(repeats):
            for peer in engines:
                if name in what.left_out.get(peer.name, ()):
                    continue
                before = best.get(peer.name)
                if before is not None and "error" in before:
                    continue
                found = measure(peer, scene, quality, folder)
                if before is None or found.get("us", 1e300) < before["us"]:
                    best[peer.name] = found
    return best


def run(what: Comparison, about: str | None) -> None:
    """Read the command line, measure, print, keep."""
    parser = argparse.ArgumentParser(description=about)
    parser.add_argument("--scenes", nargs="*", default=list(what.scenes))
    parser.add_argument("--peers", nargs="*", help="names as the table has them; default: all")
    parser.add_argument("--repeats", type=int, default=3)
    asked = parser.parse_args()
    peers, missing = what.find()
    for one in missing:
        print(f"skipped, not installed: {one}")
    engines = [*what.ours, *(p for p in peers if asked.peers is None or p.name in asked.peers)]
    results: dict[str, Any] = {"machine": machine.describe(), "missing": missing, "scenes": {}}
    for name in asked.scenes:
        results["scenes"][name] = compare(what, name, engines, asked.repeats)
        write(results, name, what.page)
