"""Kept kernels: read only where nobody else can write, and only undamaged."""

import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import numba
import pytest
from llvmlite import binding as llvm

from cardan.engine.compiler import cache, ir_cache, processor
from cardan.engine.compiler.cache import Folder
from cardan.engine.compiler.kernel import kernel
from cardan.engine.compiler.mode import INTERPRETED
from tests.engine.compiler.fresh import answer_of

compiled = pytest.mark.skipif(INTERPRETED, reason="nothing is compiled")


@pytest.fixture
def folder(tmp_path: Path) -> Folder:
    """A private folder with one file."""
    kept = Folder(tmp_path / "kernels")
    kept.write("a/b/code", b"content")
    assert kept.read("a/b/code") == b"content"
    return kept


# ---------------------------------------------------------------------- who may write


@pytest.mark.parametrize("mode", [0o775, 0o757, 0o777])
def test_a_folder_that_others_can_write_is_not_used(tmp_path: Path, mode: int) -> None:
    base = tmp_path / "kernels"
    base.mkdir()
    base.chmod(mode)
    kept = Folder(base)
    with pytest.warns(RuntimeWarning, match=r"not cached: others can write to .*kernels"):
        assert not kept.is_writable()
    kept.write("code", b"content")
    assert list(base.iterdir()) == []


def test_what_lies_in_a_folder_of_everybody_is_not_read(folder: Folder) -> None:
    folder.base.parent.chmod(0o777)
    other = Folder(folder.base.parent / "." / "kernels" / "a")
    with pytest.warns(RuntimeWarning, match="others can write"):
        assert other.read("b/code") is None
    folder.base.parent.chmod(0o1777)  # everybody may add here, but replace only what is theirs
    cache.may_be_used.cache_clear()
    assert other.read("b/code") == b"content"


@pytest.mark.parametrize("name", ["a", "a/b", "a/b/code"])
@pytest.mark.parametrize("bits", [0o020, 0o002])
def test_a_file_that_others_can_write_is_not_read(folder: Folder, name: str, bits: int) -> None:
    path = folder.base / name
    path.chmod(path.stat().st_mode | bits)
    assert folder.read("a/b/code") is None
    path.chmod(path.stat().st_mode & ~bits)
    assert folder.read("a/b/code") == b"content"


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can give files away")
@pytest.mark.parametrize("name", ["a", "a/b/code"])
def test_a_file_of_another_user_is_not_read(folder: Folder, name: str) -> None:
    os.chown(folder.base / name, 12345, 12345)
    assert folder.read("a/b/code") is None


def test_what_is_kept_is_private_whatever_the_umask(tmp_path: Path) -> None:
    before = os.umask(0)
    try:
        kept = Folder(tmp_path / "new" / "kernels")
        kept.write("a/code", b"content")
    finally:
        os.umask(before)
    assert kept.read("a/code") == b"content"
    modes = {path.stat().st_mode & 0o022 for path in [kept.base.parent, *kept.base.rglob("*")]}
    assert modes == {0}


def test_what_came_with_the_package_is_never_written(tmp_path: Path) -> None:
    Folder(tmp_path).write("code", b"content")
    tmp_path.chmod(0o775)  # as trusted as the code beside it
    shipped = Folder(tmp_path, shipped=True)
    shipped.write("code", b"another")
    shipped.write("more", b"another")
    assert not shipped.is_writable()
    assert shipped.read("code") == b"content"
    assert shipped.read("more") is None


# ---------------------------------------------------------------------- what is damaged


@pytest.mark.parametrize("damage", ["short", "empty", "changed", "gone"])
def test_a_damaged_file_is_no_file(folder: Folder, damage: str) -> None:
    path = folder.base / "a/b/code"
    content = path.read_bytes()
    if damage == "gone":
        path.unlink()
    else:
        changed = {"short": content[:-1], "empty": b"", "changed": content[:-1] + b"x"}
        path.write_bytes(changed[damage])
    assert folder.read("a/b/code") is None


@kernel
def halved(x: float) -> float:
    return 0.5 * x


@compiled
@pytest.mark.parametrize("content", [b"no pickle", b"", b"N.", b"cos\nnothing\n."])
def test_a_kernel_whose_load_fails_is_compiled(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, content: bytes
) -> None:
    kept = Folder(tmp_path)
    monkeypatch.setattr(ir_cache, "USER_CACHE", kept)
    monkeypatch.setattr(ir_cache, "folders", lambda: [kept])
    entry: Any = halved
    store = entry._cache
    name = store.name((numba.float64,))
    kept.write(name, content)
    assert store.load_overload((numba.float64,), entry.targetctx) is None
    assert halved(3.0) == 1.5


def test_nothing_of_numba_is_set() -> None:
    """Other code of the process compiles for its own processor, into its own cache."""
    code = """
import json, numba, os
from numba.core.registry import cpu_target
def state():
    names = [name for name in dir(numba.config) if name.isupper()]
    return {name: repr(getattr(numba.config, name)) for name in names}, \
        cpu_target.target_context.codegen().magic_tuple()
before = state()
from cardan import engine
assert state() == before
"""
    subprocess.run([sys.executable, "-c", code], check=True, timeout=300)


# ---------------------------------------------------------------------- for which processor


def ask(**variables: str) -> dict[str, str]:
    """The processor that a fresh process compiles for."""
    code = "import json; from cardan.engine.compiler.processor import target; print(json.dumps("
    code += "{**target()._asdict(), 'key': target().key}))"
    answer: dict[str, str] = answer_of(code, **variables)
    return answer


def test_kernels_are_for_a_family_of_processors_or_for_the_one_that_is_named() -> None:
    features = llvm.get_host_cpu_features()
    ours = ask()
    if processor.fits_family(features) and llvm.get_process_triple().startswith("x86_64"):
        assert ours["name"] == "x86-64-v3"
    else:
        assert ours["name"] == llvm.get_host_cpu_name()
    named = ask(NUMBA_CPU_NAME="generic", NUMBA_CPU_FEATURES="+sse2")
    assert (named["name"], named["features"]) == ("generic", "+sse2")
    assert named["key"] != ours["key"]


@pytest.mark.parametrize("missing", processor.FAMILY_FEATURES)
def test_a_processor_without_one_feature_is_not_of_the_family(missing: str) -> None:
    features = dict.fromkeys(processor.FAMILY_FEATURES, True)
    assert processor.fits_family(features)
    assert processor.fits_family(features | {"avx512f": True})
    assert not processor.fits_family(features | {missing: False})
    del features[missing]
    assert not processor.fits_family(features)
