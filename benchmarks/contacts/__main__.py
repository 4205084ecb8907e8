"""This engine beside its peers: `python -m benchmarks.contacts [--scenes ...] [--peers ...]`.

Every scene is run by every engine in turn, a few times over, single threaded, sleeping off, each in
a process of its own on the same core; times are of the processor, and the least of the repetitions
counts. Prints one table per scene and keeps all in results/contacts.json and contacts.md.
"""

import argparse
import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks import machine
from benchmarks.contacts.ours import pour
from benchmarks.contacts.peers import Peer, find
from benchmarks.contacts.quality import Quality
from benchmarks.contacts.report import CONTACTS, write
from benchmarks.contacts.scenes import SCENES, Scene, write_flat

LIMIT_S = 900.0
# what takes a second a step there
LEFT_OUT = {"MuJoCo Newton": ("bin1000", "pile5000")}
COMMAND = [sys.executable, "-m", "benchmarks.contacts.ours"]
OURS = Peer("Cardan", 64, False, lambda s, out: [*COMMAND, s, out])
SMALL = Peer("Cardan small_steps", 64, False, lambda s, out: [*COMMAND, s, out, "small_steps"])


def measure(peer: Peer, scene: Scene, quality: Quality, folder: Path) -> dict[str, Any]:
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
    moving = sum(not b["fixed"] for b in scene["bodies"])
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
    phases = out / "phases.json"
    if phases.is_file():
        found["phases"] = json.loads(phases.read_text(encoding="utf-8"))
    return found


def compare(scene: Scene, engines: list[Peer], repeats: int) -> dict[str, Any]:
    """Engine -> figures; the repetition with the least time counts."""
    quality = Quality(scene)
    best: dict[str, Any] = {}
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        (folder / "scene.json").write_text(json.dumps(scene), encoding="utf-8")
        write_flat(scene, folder / "scene.txt")
        for _ in range(repeats):
            for peer in engines:
                if scene["name"] in LEFT_OUT.get(peer.name, ()):
                    continue
                before = best.get(peer.name)
                if before is not None and "error" in before:
                    continue
                found = measure(peer, scene, quality, folder)
                if before is None or found.get("us", 1e300) < before["us"]:
                    best[peer.name] = found
    return best


def main() -> None:
    """Measure, print, keep."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--scenes", nargs="*", default=list(SCENES))
    parser.add_argument("--peers", nargs="*", help="names as the table has them; default: all")
    parser.add_argument("--repeats", type=int, default=3)
    asked = parser.parse_args()
    peers, missing = find()
    for one in missing:
        print(f"skipped, not installed: {one}")
    engines = [OURS, SMALL, *(p for p in peers if asked.peers is None or p.name in asked.peers)]
    results: dict[str, Any] = {"machine": machine.describe(), "missing": missing, "scenes": {}}
    for name in asked.scenes:
        scene = SCENES[name](pour)
        results["scenes"][name] = compare(scene, engines, asked.repeats)
        write(results, name, CONTACTS)


if __name__ == "__main__":
    main()
