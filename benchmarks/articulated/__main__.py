"""This engine beside its peers: `python -m benchmarks.articulated [--scenes ...] [--peers ...]`.

Every scene is run by every engine in turn, a few times over, single threaded, each in a process of
its own on the same core; times are of the processor, and the least of the repetitions counts.
Prints one table per scene and keeps all in results/articulated.json and articulated.md.
"""

import sys

from benchmarks.articulated.peers import find
from benchmarks.articulated.quality import Quality
from benchmarks.articulated.report import ARTICULATED
from benchmarks.articulated.scenes import SCENES, write_flat
from benchmarks.contacts.beside import Comparison, run
from benchmarks.contacts.peers import Peer

COMMAND = [sys.executable, "-m", "benchmarks.articulated.ours"]
OURS = Peer("Cardan", 64, False, lambda s, out: [*COMMAND, s, out])
# the same with steps that are longer than the scene's
LONGER = tuple(
    Peer(f"Cardan, {k} steps in one", 64, False, lambda s, out, k=k: [*COMMAND, s, out, f"{k}"])
    for k in (2, 5, 10)
)

if __name__ == "__main__":
    run(
        Comparison(ARTICULATED, (OURS, *LONGER), find, dict(SCENES), Quality, write_flat, {}),
        __doc__,
    )
