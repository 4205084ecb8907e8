"""Families of scenes drawn from a seed: `python -m benchmarks.families [--seed N] [--only ...]`.

Every scene is run by every engine that can express it, each in a process of its own on the same
core, single threaded, sleeping off; times are of the processor, and the least of the repetitions
counts. Prints one table per scene and one of all, and keeps both in results/families.json and .md.
"""

import argparse
import json
import tempfile
from pathlib import Path
from typing import Any

from benchmarks import machine
from benchmarks.contacts.beside import measure
from benchmarks.contacts.peers import Peer
from benchmarks.families import report
from benchmarks.families.draw import FAMILIES, draw
from benchmarks.families.flat import plain, write_flat
from benchmarks.families.peers import ALL, LONGER, OURS, Scope, find, lacks
from benchmarks.families.quality import Quality
from benchmarks.families.solids import Scene


def compare(scene: Scene, engines: list[tuple[Peer, Scope]], repeats: int) -> dict[str, Any]:
    """Engine -> figures; the repetition with the least time counts."""
    quality = Quality(scene)
    best: dict[str, Any] = {}
    with tempfile.TemporaryDirectory() as place:
        folder = Path(place)
        (folder / "scene.json").write_text(json.dumps(scene), encoding="utf-8")
        (folder / "plain.json").write_text(json.dumps(plain(scene)), encoding="utf-8")
        write_flat(scene, folder / "scene.txt")
        for peer, scope in repeats * engines:
            before, missing = best.get(peer.name), lacks(scope, scene)
            if missing is not None:
                best[peer.name] = {"error": f"cannot express {missing}"}
            if missing is not None or (before is not None and "error" in before):
                continue
            found = measure(peer, scene, quality, folder)
            if before is None or found.get("us", 1e300) < before["us"]:
                best[peer.name] = found
    return best


def main() -> None:
    """Read the command line, measure, print, keep."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--only", nargs="*", default=list(FAMILIES), choices=list(FAMILIES))
    about = "names as the table has them; none after it: this engine alone; default: all"
    parser.add_argument("--peers", nargs="*", help=about)
    parser.add_argument("--repeats", type=int, default=2)
    asked = parser.parse_args()
    peers, missing = find()
    for one in missing:
        print(f"skipped, not installed: {one}")
    chosen = [(p, s) for p, s in peers if asked.peers is None or p.name in asked.peers]
    results: dict[str, Any] = {"machine": machine.describe(), "missing": missing}
    results |= {"seed": asked.seed, "repeats": asked.repeats, "scenes": {}}
    for name in asked.only:
        ours = [(one, ALL) for one in (OURS, *LONGER)]
        rows = compare(draw(name, asked.seed), [*ours, *chosen], asked.repeats)
        results["scenes"][name] = rows
        report.show(*report.table(rows), f"{name}, seed {asked.seed}")
        report.write(results)
    report.show(report.HEAD, report.summary(results["scenes"]), f"seed {asked.seed}")
    for line in report.remarks(results["scenes"]):
        print(line)


if __name__ == "__main__":
    main()
