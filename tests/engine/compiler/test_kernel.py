"""How the engine is compiled: once, into a folder of its sources, with the same results."""

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from cardan import engine
from cardan.engine.compiler import cache, ir_cache
from cardan.engine.compiler.kernel import kernel
from cardan.engine.compiler.mode import INTERPRETED
from cardan.engine.compiler.progress import watched
from cardan.engine.compiler.source_hash import (
    ENGINE,
    Package,
    dependencies,
    is_of_a_module,
    source_hash,
)

ROOT = Path(__file__).parents[3]
RATES = "cardan.engine.integrators.rates"

compiled = pytest.mark.skipif(INTERPRETED, reason="nothing is compiled")


def python(code: str, kept: Path, **variables: str) -> str:
    """What a fresh interpreter prints."""
    found = subprocess.run(
        [sys.executable, "-c", code],
        cwd=kept if (kept / "kernels.py").exists() else ROOT,
        env=os.environ
        | {
            "CARDAN_KERNEL_CACHE": str(kept),
            "PYTHONPATH": f"{os.environ['PYTHONPATH']}{os.pathsep}{kept}",
        }
        | variables,
        capture_output=True,
        text=True,
        timeout=600,
        check=False,
    )
    assert found.returncode == 0, found.stderr
    return found.stdout


# ---------------------------------------------------------------------- the folder


def test_the_folder_is_named_after_all_sources(tmp_path: Path) -> None:
    original, copy = tmp_path / "a", tmp_path / "b"
    (original / "deep").mkdir(parents=True)
    (original / "one.py").write_text("x = 1\n")
    (original / "deep" / "two.py").write_text("y = 2\n")
    shutil.copytree(original, copy)
    assert source_hash(original) == source_hash(copy)
    (copy / "deep" / "two.py").write_text("y = 3\n")
    edited = source_hash(copy)
    assert edited != source_hash(original)
    (copy / "deep" / "two.py").rename(copy / "deep" / "three.py")
    assert source_hash(copy) not in (edited, source_hash(original))


def test_the_engines_hash_is_that_of_its_sources() -> None:
    folder = Path(engine.__file__).parent
    assert Package(engine.__name__, folder) == ENGINE
    assert source_hash(folder) == cache.SOURCE_HASH
    assert folder.parent / "kernels" == cache.SHIPPED.base
    # every module of the engine, and nothing else, is known by its name
    assert is_of_a_module("cardan.engine.step.step", "run")
    assert not is_of_a_module("tests.engine.test_kernel", "run")
    assert not is_of_a_module("cardan.engine.step.step", "made.<locals>.run")


# ------------------------------------------------------------ IR libraries and entry points


@kernel
def shifted(x: float, k: int) -> float:
    return x + 0.5 * k


@kernel
def summed(values: np.ndarray) -> float:
    total = shifted(0.0, 1) + shifted(0.0, 2)
    for k in range(len(values)):
        total += shifted(values[k], k)
    return total


@kernel
def third(x: float) -> float:
    return x / 3.0


@pytest.fixture
def own_cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Kernels are kept in a folder of the test."""
    monkeypatch.setattr(ir_cache, "USER_CACHE", cache.Folder(tmp_path))
    return tmp_path


@compiled
def test_what_kernels_call_is_no_kernel_of_its_own(own_cache: Path) -> None:
    told: list[tuple[int, int, str]] = []
    with watched(lambda *report: told.append(report)):
        assert summed(np.arange(3.0)) == 0.5 + 1.0 + 3.0 + 1.5
    entry: Any = shifted
    assert not entry.signatures
    # an integer that is a constant is an integer
    assert [str(a) for a in entry.inner.signatures[0]] == ["float64", "int64"]
    assert len(entry.inner.signatures) == 1
    assert all(done < total for done, total, _ in told)
    assert any("summed" in what for _, _, what in told)
    # only what Python called was kept
    assert [path.name.partition("-")[0] for path in entries(own_cache)] == ["summed"]
    # called from Python as well, it becomes an entry
    assert shifted(1.0, 3) == 2.5
    assert len(entries(own_cache)) == 2


def entries(base: Path) -> list[Path]:
    """Files of machine code below a cache."""
    return [path for path in (base / cache.PLACE).rglob("*") if path.is_file()]


def machine_code(function: Any, types: tuple[Any, ...]) -> bytes:
    """Object code of a kernel, compiled anew."""
    from numba.core.caching import NullCache

    from cardan.engine.compiler.linker import Kernel

    fresh: Any = Kernel(function.py_func, function.targetoptions)
    fresh._cache = NullCache()
    fresh.compile(types)
    code: bytes = fresh.overloads[types].library._get_compiled_object()
    return code


@compiled
def test_passes_that_are_left_out_change_no_machine_code(monkeypatch: pytest.MonkeyPatch) -> None:
    """A loop over arrays, and branches with tuples: as with all of Numba's passes."""
    from numba import float64, int64
    from numba.core.compiler import Flags as NumbasFlags

    from cardan.engine.compiler import linker
    from cardan.engine.problem.projection import project_cone
    from cardan.engine.solvers.direct.cholesky import dot

    vector = float64[::1]
    cases = [(dot, (vector, vector, int64)), (project_cone, (float64,) * 4)]
    ours = [machine_code(*case) for case in cases]
    monkeypatch.setattr(linker, "UNNEEDED_PASSES", ())
    monkeypatch.setattr(linker, "Flags", NumbasFlags)
    assert [machine_code(*case) for case in cases] == ours
    assert len(ours[0]) > 500


@compiled
def test_flags_are_equal_where_numbas_are() -> None:
    from numba.core.compiler import Flags as NumbasFlags

    from cardan.engine.compiler.linker import Flags

    # made by a metaclass: options are attributes that only run time knows
    one: Any = NumbasFlags()
    other: Any = NumbasFlags()
    named: Any = NumbasFlags()
    other.fastmath = True
    named.error_model = one.error_model  # set to what it is by default
    for x in (one, other, named):
        for y in (one, other, named):
            assert (Flags(x) == Flags(y)) == (Flags(x) == y) == (x == y)
            assert x != y or hash(Flags(x)) == hash(Flags(y))
    assert Flags(other).get_mangle_string() == other.get_mangle_string()
    assert Flags(one) != "flags"


KERNELS = """
from cardan.engine.compiler.kernel import kernel, fast_kernel

@fast_kernel
def dot(a, b):
    total = 0.0
    for k in range(len(a)):
        total += a[k] * b[k]
    return total

@kernel
def twice(a, b):
    return dot(a, b) + dot(b, a)
"""

USE = """
import numpy as np
from kernels import dot, twice
random = np.random.default_rng(1)
a, b = random.normal(size=257), random.normal(size=257)
print(twice(a, b).hex(), sum(twice.stats.cache_hits.values()), len(dot.inner.signatures))
"""


@compiled
def test_a_second_process_loads_the_machine_code_of_the_first(tmp_path: Path) -> None:
    (tmp_path / "kernels.py").write_text(KERNELS)
    first, hits, lowered = python(USE, tmp_path).split()
    assert (hits, lowered) == ("0", "1")
    again, hits, lowered = python(USE, tmp_path).split()
    assert (hits, lowered) == ("1", "0")
    assert again == first


@compiled
def test_without_a_folder_kernels_still_run(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "file").write_text("in the way")
    folder = cache.Folder(tmp_path / "file")
    assert not folder.is_writable()
    monkeypatch.setattr(ir_cache, "USER_CACHE", folder)
    assert third(1.5) == 0.5
    assert third(float("inf")) == float("inf")
    assert (tmp_path / "file").read_text() == "in the way"


ASK_EVERYTHING = """
import gc, json
from numba.core import event
from cardan import engine
from cardan.engine.compiler.linker import Kernel
from cardan.engine.compiler.progress import COMPILE_EVENT
from cardan.engine.simulation import Simulation
from cardan.schemas import load_scene
from cardan.schemas.examples import example_names, example_text

engine.warmup()
with event.install_recorder(COMPILE_EVENT) as recorder:
    for name in example_names():
        simulation = Simulation(load_scene(example_text(name)))
        simulation.advance(3)
        simulation.joint_table()
        simulation.contact_table()
        simulation.summary()
        simulation.solver_report()
        moving = next(i for i, m in enumerate(simulation.model.bodies.mass) if m > 0.0)
        body = simulation.body_names[moving]
        simulation.apply_impulse(body, [0, 0, 1])
        simulation.apply_wrench(body, [1, 0, 0], [0, 1, 0], [0, 0, 1])
        simulation.set_velocity(body, [0, 0, 1], [1, 0, 0])
        simulation.set_gravity([0, 0, -1])
        simulation.grab(body, simulation.poses()[moving, :3])
        simulation.grab_move([0, 0, 1])
        simulation.restore(simulation.snapshot())
        simulation.advance(2)
        simulation.momentum()
    scene = json.loads(example_text("double-pendulum"))
    scene["simulation"]["formulation"] = "reduced"
    for integrator in ("semi_implicit_euler", "implicit_midpoint", "rk4", "dop853", "radau"):
        scene["simulation"]["integrator"] = integrator
        simulation = Simulation(load_scene(scene))
        simulation.advance(2)
        simulation.set_velocity("lower", [0, 0, 1], [0, 0, 0])
        simulation.joint_table()
        simulation.summary()
        simulation.restore(simulation.snapshot())
        simulation.advance(1)
kernels = [k for k in gc.get_objects() if type(k) is Kernel]
print(json.dumps({
    "late": [e.data["dispatcher"].py_func.__name__ for _, e in recorder.buffer],
    "signatures": {k.__module__ + "." + k.__name__: len(k.signatures)
                   for k in kernels if k.signatures},
}))
"""


@compiled
def test_after_a_warm_up_no_scene_compiles_anything() -> None:
    engine.warmup()
    found = json.loads(python(ASK_EVERYTHING, cache.USER_CACHE.base))
    assert found["late"] == []
    assert found["signatures"].pop("cardan.engine.step.step.run") == 1
    # the world, where its samples go, worlds side by side, and their starts and ends
    assert found["signatures"].pop("cardan.engine.compiler.handles.write_block") == 4
    assert found["signatures"]
    assert set(found["signatures"].values()) == {1}


SHARE = """
import json
from cardan.engine.compiler.warmup import BESIDE, COMPILE
from cardan.engine.integrators.rates import smooth_rates
from cardan.engine.step.step import run
for share in BESIDE:
    COMPILE[share]()
print(json.dumps([len(smooth_rates.signatures), len(run.signatures)]))
"""

LOWERED = """
import json
from numba import typeof
from cardan.engine.compiler import warmup
from cardan.engine.lanes.step import run, step as step_of_lanes
from cardan.engine.solvers.islands import solve_problem
from cardan.engine.step.kick import solve_kick
from cardan.engine.step.step import advance, drift_kick_drift, end_step, step
for share in warmup.BESIDE:
    warmup.COMPILE[share]()
beside = {one: one.inner.signatures for one in
          (solve_problem, end_step, drift_kick_drift, step_of_lanes)}
world = (typeof(warmup.move_in_steps().world),)
warmup.move_side_by_side()
found = []
for caller, arguments, callee in (
    (solve_kick, world, solve_problem), (step, world, end_step),
    (advance, world, drift_kick_drift), (run, run.signatures[0], step_of_lanes),
):
    caller.inner.compile(arguments)
    called = [one.origin for one in caller.inner.overloads[arguments].library.callees]
    types = [one[2] for one in called if one[:2] == (callee.__module__, callee.__name__)]
    found.append(types == beside[callee])
print(json.dumps(found))
"""


@compiled
def test_smooth_motion_leaves_the_step_to_the_other_process() -> None:
    engine.warmup()
    assert json.loads(python(SHARE, cache.USER_CACHE.base)) == [1, 0]


@compiled
def test_what_other_processes_lower_is_what_the_step_calls() -> None:
    """With other types of arguments it would be lowered once more."""
    engine.warmup()
    assert json.loads(python(LOWERED, cache.USER_CACHE.base)) == [True] * 4


def test_smooth_motion_contains_no_second_copy_of_the_solvers() -> None:
    rates = {str(path.relative_to(ENGINE.folder)) for path in dependencies(RATES)}
    assert "solvers/direct/tree_elimination.py" in rates
    assert not rates & {"solvers/islands.py", "integrators/velocity_projection.py"}


# ---------------------------------------------------------------------- the same results

RUN = """
import json, sys
from cardan.engine.simulation import Simulation
from cardan.schemas import load_scene
from cardan.schemas.examples import example_text
out = {}
for name, steps in (("double-pendulum", 40), ("wheeled-cart", 4), ("box-tower", 2)):
    simulation = Simulation(load_scene(example_text(name)))
    simulation.advance(steps)
    out[name] = [simulation.poses().tolist(), simulation.velocities().tolist()]
print(json.dumps(out))
"""


@compiled
def test_compiled_steps_agree_with_interpreted_ones() -> None:
    kept = cache.USER_CACHE.base
    ours = json.loads(python(RUN, kept))
    theirs = json.loads(python(RUN, kept, NUMBA_DISABLE_JIT="1"))
    for name, values in ours.items():
        for mine, other in zip(values, theirs[name], strict=True):
            # sweeps sum in another order, and the tower is swept while it settles
            np.testing.assert_allclose(mine, other, rtol=0, atol=1e-9, err_msg=name)


COLD = """
import gc, json
from cardan.engine.compiler.linker import Kernel
from cardan.engine.compiler.progress import watched
from cardan.engine.compiler.warmup import compute_everything, tiny_scene
from cardan.engine.dynamics import Dynamics
from cardan.schemas import load_scene
told = []
# a part of the work: a clean checkout does all of it before the tests
with watched(lambda *report: told.append(report)):
    compute_everything(Dynamics(load_scene(tiny_scene())))
kernels = [k for k in gc.get_objects() if type(k) is Kernel]
print(json.dumps({
    "last": told[-1],
    "rising": all(a[0] <= b[0] for a, b in zip(told, told[1:])),
    "inner": sum(len(k.inner.signatures) for k in kernels),
    "several": {k.__module__ + "." + k.__name__: [str(s) for s in k.inner.signatures]
                for k in kernels if len(k.inner.signatures) > 1},
}))
"""


@compiled
@pytest.mark.slow
def test_a_cold_start_compiles_every_kernel_once(tmp_path: Path) -> None:
    found = json.loads(python(COLD, tmp_path))
    done, total, _ = found["last"]
    assert 50 < done < total
    assert found["rising"]
    assert found["inner"] > 50
    assert found["several"] == {}
