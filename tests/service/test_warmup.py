"""Kernels are compiled by a child, and only where there is something to compile."""

import os
import subprocess
from typing import Any

import pytest

import engine
from service import warmup

compiled = pytest.mark.skipif("NUMBA_DISABLE_JIT" in os.environ, reason="nothing is compiled")

Reports = list[tuple[int, int, str]]


class Children:
    """Counts the processes that are started, and lets them start."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.codes: list[int | None] = []
        start = subprocess.Popen

        def counted(*arguments: Any, **options: Any) -> Any:
            child = start(*arguments, **options)
            self.codes.append(None)
            position, wait = len(self.codes) - 1, child.wait

            def waited(timeout: float | None = None) -> int:
                self.codes[position] = wait(timeout)
                return wait(timeout)

            child.wait = waited  # type: ignore[method-assign]
            return child

        monkeypatch.setattr("service.warmup.subprocess.Popen", counted)


@pytest.fixture
def children(monkeypatch: pytest.MonkeyPatch) -> Children:
    engine.warmup()
    return Children(monkeypatch)


@compiled
def test_a_complete_cache_is_loaded_without_a_child(children: Children) -> None:
    told: Reports = []
    seconds = warmup.compile_kernels(lambda *report: told.append(report))
    assert children.codes == []
    assert seconds < 30.0
    assert told[-1][0] == told[-1][1]
    assert told[-1][2] == "ready"


@compiled
def test_an_incomplete_cache_is_completed_by_a_child(
    children: Children, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(warmup, "is_complete", lambda: False)
    told: Reports = []
    warmup.compile_kernels(lambda *report: told.append(report))
    assert children.codes == [0]
    # the child's end is not the end: this process has still to load
    assert [done == total for done, total, _ in told].count(True) == 1
    assert told[-1][2] == "ready"


@compiled
def test_a_cache_that_cannot_be_written_needs_no_child(
    children: Children, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(warmup, "is_complete", lambda: False)
    monkeypatch.setattr(warmup, "cache_is_writable", lambda: False)
    warmup.compile_kernels()
    assert children.codes == []


@compiled
def test_a_child_that_dies_is_made_up_for(
    children: Children, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(warmup, "is_complete", lambda: False)
    monkeypatch.setattr("service.warmup.sys.executable", "/bin/false")
    told: Reports = []
    warmup.compile_kernels(lambda *report: told.append(report))
    assert children.codes == [1]
    assert told[-1][2] == "ready"


@compiled
def test_a_child_passes_its_progress_on(
    monkeypatch: pytest.MonkeyPatch, tmp_path_factory: pytest.TempPathFactory
) -> None:
    """A child that starts from nothing reports from its first kernel on."""
    cache = tmp_path_factory.mktemp("kernels")
    monkeypatch.setitem(os.environ, "CARDAN_KERNEL_CACHE", str(cache))
    monkeypatch.setattr(warmup, "is_complete", lambda: False)
    told: Reports = []

    class EnoughSeenError(Exception):
        pass

    def look(*report: Any) -> None:
        told.append(report)
        if len(told) == 4:
            raise EnoughSeenError

    with pytest.raises(EnoughSeenError):
        warmup.compile_kernels(look)
    assert all(done < total for done, total, _ in told)
    assert told[-1][0] > 0
