"""What a worker may use holds in its process."""

import subprocess
import sys

PROGRAM = """
from cardan.engine import Simulation
from cardan.schemas import load_scene
from cardan.service.processes.limits import WorkerLimits, limit_resources

ball = {"name": "ball", "mass": 1.0, "shapes": [{"type": "sphere", "radius": 0.1}]}
scene = load_scene({"simulation": {"threads": 8}, "bodies": [ball]})
before = len(Simulation(scene).work.dense.lanes.crew.ticket)
limit_resources(WorkerLimits(memory=2**33, threads=3))
print(before, len(Simulation(scene).work.dense.lanes.crew.ticket))
"""


def test_a_worker_uses_no_more_threads_than_the_service_allows(monkeypatch):
    monkeypatch.delenv("CARDAN_THREADS", raising=False)
    found = subprocess.run(
        [sys.executable, "-c", PROGRAM], capture_output=True, text=True, check=True
    )
    assert found.stdout.split() == ["8", "3"]
