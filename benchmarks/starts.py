"""Time from the start of a process to its first frame, without and with compiled kernels."""

import json
import subprocess
import sys
import tempfile
from pathlib import Path
from statistics import median

from benchmarks.machine import single_threaded

FIRST_FRAME = """
import json, time
began = time.perf_counter()
from cardan import engine
from cardan.schemas import load_scene
from cardan.schemas.examples import example_text
loaded = time.perf_counter()
seconds = engine.warmup()
simulation = engine.Simulation(load_scene(example_text("double-pendulum")))
simulation.advance(1)
simulation.poses()
print(json.dumps({"import_s": loaded - began, "kernels_s": seconds,
                  "first_frame_s": time.perf_counter() - began,
                  "processor_s": time.process_time()}))
"""

EVERY_SCENE = """
from cardan import engine
from cardan.schemas import load_scene
from cardan.schemas.examples import example_names, example_text
for name in example_names():
    engine.Simulation(load_scene(example_text(name))).advance(20)
"""


def measure(repeats: int = 5) -> dict[str, object]:
    """Times [s]: cold, once in an empty cache; warm, the median of `repeats` processes."""
    with tempfile.TemporaryDirectory(prefix="cardan-kernels-") as folder:
        environment = {**single_threaded(), "CARDAN_KERNEL_CACHE": folder}
        cold = _first_frame(environment)
        files = _files(folder)
        warm = [_first_frame(environment) for _ in range(repeats)]
        subprocess.run([sys.executable, "-c", EVERY_SCENE], env=environment, check=True)
        later = len(_files(folder) - files)
    return {
        "cold": cold,
        "warm": {key: median(one[key] for one in warm) for key in cold},
        "warm_repeats": repeats,
        "kernel_files": len(files),
        "kernel_files_after_all_examples": later,
    }


def _first_frame(environment: dict[str, str]) -> dict[str, float]:
    done = subprocess.run(
        [sys.executable, "-c", FIRST_FRAME],
        env=environment,
        check=True,
        stdout=subprocess.PIPE,
        text=True,
    )
    found: dict[str, float] = json.loads(done.stdout)
    return found


def _files(folder: str) -> set[Path]:
    return {path for path in Path(folder).rglob("*") if path.suffix == ".nbc"}
