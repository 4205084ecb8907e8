"""This engine beside its peers: `python -m benchmarks.articulated [--scenes ...] [--peers ...]`.

Every scene is run by every engine in turn, a few times over, single threaded, each in a process of
its own on the same core; times are of the processor, and the least of the repetitions counts.
Prints one table per scene and keeps all in results/articulated.json and articulated.md.
"""

import argparse
import json
import sys
import tempfile
from pathlib import Path
from typing import Any

from benchmarks import machine
from benchmarks.articulated.peers import find
from benchmarks.articulated.quality import Quality
from benchmarks.articulated.report import ARTICULATED
from benchmarks.articulated.scenes import SCENES, Scene, write_flat
from benchmarks.contacts.__main__ import measure
from benchmarks.contacts.peers import Peer
from benchmarks.contacts.report import write

OURS = Peer(
    "Cardan",
    64,
    False,
    lambda s, out: [sys.executable, "-m", "benchmarks.articulated.ours", s, out],
)


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
                before = best.get(peer.name)
                if before is not None and "error" in before:
                    continue
                found = measure(peer, scene, quality, folder)
                plain = folder / "out" / "plain.json"
                if plain.is_file():
                    found |= json.loads(plain.read_text(encoding="utf-8"))
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
    engines = [OURS, *(p for p in peers if asked.peers is None or p.name in asked.peers)]
    results: dict[str, Any] = {"machine": machine.describe(), "missing": missing, "scenes": {}}
    for name in asked.scenes:
        results["scenes"][name] = compare(SCENES[name](), engines, asked.repeats)
        write(results, name, ARTICULATED)


if __name__ == "__main__":
    main()
