"""Parts of compiled code: found again by another process, and only while they are true."""

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from llvmlite import binding as llvm

from cardan.engine.compiler import source_hash
from cardan.engine.compiler.mode import INTERPRETED
from cardan.engine.compiler.source_hash import Package

ROOT = Path(__file__).parents[3]

compiled = pytest.mark.skipif(INTERPRETED, reason="nothing is compiled")

# ---------------------------------------------------------------------- what a module depends on


@pytest.fixture
def package(tmp_path: Path) -> Package:
    """Top imports middle imports bottom; aside stands alone."""
    root = tmp_path / "street.house"
    (root / "room").mkdir(parents=True)
    (root / "__init__.py").write_text("from street.house import top, aside\n")
    (root / "top.py").write_text("import math\n\nfrom street.house.room import middle\n")
    (root / "room" / "__init__.py").write_text("")
    (root / "room" / "middle.py").write_text(
        "def f():\n    from street.house.room.bottom import x\n    return x\n"
    )
    (root / "room" / "bottom.py").write_text("x = 1\n")
    (root / "aside.py").write_text("y = 1\n")
    return Package("street.house", root)


@pytest.mark.parametrize(
    ("edited", "changed"),
    [
        (
            "room/bottom.py",
            {"street.house.top", "street.house.room.middle", "street.house.room.bottom"},
        ),
        ("room/middle.py", {"street.house.top", "street.house.room.middle"}),
        ("room/__init__.py", {"street.house.top"}),  # nothing is read from it but by who names it
        ("top.py", {"street.house.top"}),
        ("aside.py", {"street.house.aside"}),
    ],
)
def test_an_edit_changes_the_hash_of_what_imports_it(
    package: Package, tmp_path: Path, edited: str, changed: set[str]
) -> None:
    modules = [
        "street.house.top",
        "street.house.room.middle",
        "street.house.room.bottom",
        "street.house.aside",
    ]
    before = {module: source_hash.dependency_hash(module, package) for module in modules}
    copy = Package("street.house", tmp_path / "again" / "street.house")
    shutil.copytree(package.folder, copy.folder)
    assert before == {module: source_hash.dependency_hash(module, copy) for module in modules}
    other = Package("street.house", tmp_path / "other" / "street.house")
    shutil.copytree(package.folder, other.folder)
    file = other.folder / edited
    file.write_text(file.read_text() + "# another\n")
    after = {module: source_hash.dependency_hash(module, other) for module in modules}
    assert {module for module in modules if before[module] != after[module]} == changed


def test_a_module_of_another_package_has_no_hash(package: Package) -> None:
    with pytest.raises(ValueError, match=r"json.* no module of street.house"):
        source_hash.dependency_hash("json.decoder", package)


@pytest.mark.parametrize("what", ["edited", "touched", "gone"])
def test_sources_that_changed_since_the_import_name_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, what: str
) -> None:
    """A process goes on with what it imported; what lies there now is not what it lowers."""
    mine, other = tmp_path / "mine.py", tmp_path / "other.py"
    for path in (mine, other):
        path.write_text("x = 1\n")
    monkeypatch.setattr(
        source_hash, "IMPORTED", {path: source_hash.stamp(path) for path in (mine, other)}
    )
    assert source_hash.are_as_imported([mine, other])
    if what == "edited":
        mine.write_text("x = 10\n")
    elif what == "touched":
        os.utime(mine, ns=(0, 0))
    else:
        mine.unlink()
    assert not source_hash.are_as_imported([mine, other])
    assert source_hash.are_as_imported([other])
    assert not source_hash.are_as_imported([tmp_path / "later.py", other])


# ---------------------------------------------------------------------- cached IR

SOLVE = """
import gc, hashlib, json, re
from numba.core import event
from cardan.engine.complementarity import solve_lcp
from cardan.engine.compiler.linker import Kernel
from cardan.engine.compiler.progress import COMPILE_EVENT

with event.install_recorder(COMPILE_EVENT) as recorder:
    found = solve_lcp([[2.0, 0.1], [0.1, 2.0]], [-1.0, 0.5], method="lemke")
kernels = [k for k in gc.get_objects() if type(k) is Kernel and k.signatures]
code = {k.__name__: re.sub(r"v[0-9]+B|[0-9]+_name", "", text)
        for k in kernels for text in k.inspect_asm().values()}
functions = [e.data["dispatcher"].py_func for _, e in recorder.buffer]
lowered = {f.__name__ for f in functions if f.__module__.startswith("cardan.engine.")}
print(json.dumps({
    "z": [value.hex() for value in found.x.tolist()],
    "entries": sorted(code),
    "lowered": sorted(lowered - set(code)),
    "code": hashlib.sha256(json.dumps(code, sort_keys=True).encode()).hexdigest(),
}))
"""


def solve(cache: Path) -> dict[str, Any]:
    """What a fresh interpreter compiles to solve a problem, without machine code from before."""
    for folder in cache.glob("*"):
        if folder.name != "ir":
            shutil.rmtree(folder)
    found = subprocess.run(
        [sys.executable, "-c", SOLVE],
        cwd=ROOT,
        env=os.environ | {"CARDAN_KERNEL_CACHE": str(cache)},
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )
    assert found.returncode == 0, found.stderr
    return json.loads(found.stdout)


SYMBOL = """
import gc
from numba import float64, int64
from cardan import engine
from cardan.engine.trees.paths import dot_paths
from cardan.engine.compiler.linker import Kernel

# names are made of options
kernels = [k for k in gc.get_objects() if type(k) is Kernel]
print(sorted(f"{k.py_func.__module__}.{k.__name__} {k.targetoptions}" for k in kernels))
inner = dot_paths.inner
inner.compile((float64[::1], float64[::1], int64))
print([o.fndesc.mangled_name for o in inner.overloads.values()])
"""


@compiled
@pytest.mark.slow
def test_processes_give_kernels_one_name(tmp_path: Path) -> None:
    """One keeps the kernel, the other what calls it."""
    names = set()
    for seed in ("1", "2", "3"):
        more = {"CARDAN_KERNEL_CACHE": str(tmp_path / seed), "PYTHONHASHSEED": seed}
        found = subprocess.run(
            [sys.executable, "-c", SYMBOL],
            cwd=ROOT,
            env=os.environ | more,
            capture_output=True,
            text=True,
            timeout=100,
            check=False,
        )
        assert found.returncode == 0, found.stderr
        names.add(found.stdout)
    assert len(names) == 1


@compiled
def test_a_call_of_a_kernel_that_is_not_there_is_refused() -> None:
    from cardan.engine.compiler.linker import KERNEL_PREFIX, check_symbols

    lost = f"{KERNEL_PREFIX}4lost"

    text = "declare void @{}()\ndefine void @f() {{\n  call void @{}()\n  ret void\n}}\n"
    check_symbols(llvm.parse_assembly(text.format("sqrt", "sqrt")))
    with pytest.raises(RuntimeError, match=lost):
        check_symbols(llvm.parse_assembly(text.format(lost, lost)))


@pytest.fixture(scope="module")
def lowered(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, dict[str, Any]]:
    """A cache that one process filled, and what it compiled; copied by whoever changes it."""
    cache = tmp_path_factory.mktemp("lowered")
    return cache, solve(cache)


@compiled
@pytest.mark.slow
def test_cached_ir_is_not_lowered_again_and_becomes_the_same_code(
    tmp_path: Path, lowered: tuple[Path, dict[str, Any]]
) -> None:
    cache, first = lowered
    shutil.copytree(cache, tmp_path, dirs_exist_ok=True)
    assert first["lowered"]
    again = solve(tmp_path)
    assert again["lowered"] == []
    assert again["entries"] == first["entries"]
    assert again["z"] == first["z"]
    assert again["code"] == first["code"]


@compiled
@pytest.mark.slow
def test_damaged_ir_is_lowered_again(tmp_path: Path, lowered: tuple[Path, dict[str, Any]]) -> None:
    cache, first = lowered
    shutil.copytree(cache, tmp_path, dirs_exist_ok=True)
    kept = sorted(path for path in (tmp_path / "ir").rglob("*") if path.is_file())
    assert len(kept) >= len(first["lowered"])
    for path in kept:
        path.write_bytes(path.read_bytes()[:-1])
    again = solve(tmp_path)
    assert again["lowered"] == first["lowered"]
    assert again["z"] == first["z"]


@compiled
@pytest.mark.slow
def test_where_nothing_can_be_stored_kernels_are_lowered(tmp_path: Path) -> None:
    (tmp_path / "ir").write_text("in the way")
    assert solve(tmp_path)["lowered"]
    assert (tmp_path / "ir").read_text() == "in the way"


@compiled
def test_what_is_not_kept_costs_no_look_at_registries() -> None:
    from numba import types

    from cardan.engine.compiler.ir_cache import IRStore
    from cardan.engine.spatial.vec3 import dot

    class Context:
        refreshed = False

        def refresh(self) -> None:
            self.refreshed = True

    context = Context()
    store = IRStore(dot.py_func, lambda *_: None)  # type: ignore[attr-defined]
    assert store.load_overload((types.none,), context) is None
    assert not context.refreshed
