"""`CARDAN_COMPILER=plain`: the same kernels as Numba compiles them by itself."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from cardan.engine.compiler.mode import INTERPRETED

pytestmark = pytest.mark.skipif(INTERPRETED, reason="nothing is compiled")

KERNELS = """
from typing import NamedTuple
import json
import numba
import numpy as np
from cardan.engine.compiler.structs import struct
from cardan.engine.compiler.handles import handle_of, struct_of
from cardan.engine.compiler.inline import inlined_kernel
from cardan.engine.compiler.kernel import clock_ns, fast_kernel, kernel

@struct
class Inner(NamedTuple):
    x: np.ndarray
    n: int

@struct
class Outer(NamedTuple):
    inner: Inner
    scale: float

@fast_kernel
def total(inner):
    found = 0.0
    for k in range(inner.n):
        found += inner.x[k]
    return found

@inlined_kernel
def scaled(x, scale):
    return x * scale

@kernel
def made(x, scale):
    return Outer(Inner(x, len(x)), scale)

@kernel
def run(handle):
    outer = struct_of(handle)
    outer.inner.x[0] = 5.0
    began = clock_ns()
    again = made(outer.inner.x, outer.scale)
    return scaled(total(again.inner), again.scale), clock_ns() >= began

x = np.arange(4.0)
found, passed = run(handle_of(Outer(Inner(x, 4), 0.5)))
print(json.dumps({"kind": type(run).__module__, "found": found, "passed": passed, "x": x.tolist(),
                  "hits": sum(run.stats.cache_hits.values()), "folder": numba.config.CACHE_DIR}))
"""


def run(program: str, folder: Path, compiler: str) -> dict:
    """What a program of its own prints."""
    script = folder / "program.py"
    if not script.exists():  # Numba's cache looks at the time of change
        script.write_text(program)
    chosen = {"CARDAN_COMPILER": compiler, "CARDAN_KERNEL_CACHE": str(folder / "kernels")}
    done = subprocess.run(
        # imported: Numba's cache does not know the classes of a main program again
        [sys.executable, "-c", "import program"],
        env=os.environ | chosen,
        cwd=folder,
        capture_output=True,
        text=True,
        timeout=20_000,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


def test_kernels_are_ordinary_ones_of_numba(tmp_path: Path) -> None:
    plain = run(KERNELS, tmp_path, "plain")
    linked = run(KERNELS, tmp_path, "ordinary")
    assert plain["kind"].startswith("numba.")
    assert linked["kind"].startswith("cardan.")
    for one in (plain, linked):
        assert (one["found"], one["passed"], one["x"]) == (5.5, True, [5.0, 1.0, 2.0, 3.0])
        assert one["folder"] == ""
    # kept by Numba, beside what is linked, below the folder of these sources
    assert run(KERNELS, tmp_path, "plain")["hits"] == 1
    assert list((tmp_path / "kernels" / "plain").rglob("*.nbi"))


SOLVE = """
import json, sys
import cardan
W, q = [[2.0, 0.1, 0.0], [0.1, 2.0, 0.0], [0.0, 0.0, 2.0]], [-1.0, 1.0, 0.5]
x = cardan.solve_lcp(W, q, method="lemke").x.tolist()
print(json.dumps({"linking": "cardan.engine.compiler.linker" in sys.modules, "lcp": x}))
"""


def test_problems_are_solved_without_the_linker(tmp_path: Path) -> None:
    plain, linked = run(SOLVE, tmp_path, "plain"), run(SOLVE, tmp_path, "ordinary")
    assert not plain["linking"]
    assert linked["linking"]
    assert plain["lcp"] == linked["lcp"]


SIMULATE = """
import json
import cardan
found = {}
for name, steps in (("double-pendulum", 40), ("box-tower", 2)):
    simulation = cardan.Simulation(cardan.load_scene(cardan.example_text(name)))
    simulation.advance(steps)
    found[name] = [simulation.poses().tolist(), simulation.velocities().tolist()]
print(json.dumps(found))
"""


@pytest.mark.plain
@pytest.mark.skipif(
    os.environ.get("CARDAN_COMPILER") != "plain", reason="hours of compiling: run by `make plain`"
)
def test_scenes_move_as_with_the_linker(tmp_path: Path) -> None:
    plain, linked = run(SIMULATE, tmp_path, "plain"), run(SIMULATE, tmp_path, "ordinary")
    for name, values in linked.items():
        for mine, other in zip(plain[name], values, strict=True):
            flat = [
                abs(a - b)
                for x, y in zip(mine, other, strict=True)
                for a, b in zip(x, y, strict=True)
            ]
            assert max(flat) < 1e-12, name
