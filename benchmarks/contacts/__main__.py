"""This engine beside its peers: `python -m benchmarks.contacts [--scenes ...] [--peers ...]`.

Every scene is run by every engine in turn, a few times over, single threaded, sleeping off, each in
a process of its own on the same core; times are of the processor, and the least of the repetitions
counts. Prints one table per scene and keeps all in results/contacts.json and contacts.md.
"""

import sys
from functools import partial

from benchmarks.contacts.beside import Comparison, run
from benchmarks.contacts.ours import pour
from benchmarks.contacts.peers import Peer, find
from benchmarks.contacts.quality import Quality
from benchmarks.contacts.report import CONTACTS
from benchmarks.contacts.scenes import SCENES, write_flat

# what takes a second a step there
LEFT_OUT = {"MuJoCo Newton": ("bin1000", "pile5000")}
COMMAND = [sys.executable, "-m", "benchmarks.contacts.ours"]
OURS = Peer("Cardan", 64, False, lambda s, out: [*COMMAND, s, out])
SMALL = Peer("Cardan small_steps", 64, False, lambda s, out: [*COMMAND, s, out, "small_steps"])

if __name__ == "__main__":
    scenes = {name: partial(make, pour) for name, make in SCENES.items()}
    run(Comparison(CONTACTS, (OURS, SMALL), find, scenes, Quality, write_flat, LEFT_OUT), __doc__)
