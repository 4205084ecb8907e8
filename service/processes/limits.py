"""Limits of worker processes: they end with their parent, and write no core files."""

import ctypes
import os
import resource
import signal
import sys
from dataclasses import dataclass, field

from cardan.schemas import Limits

PR_SET_PDEATHSIG = 1
PR_SET_NAME = 15
# read by the engine where a simulation is built
THREADS = "CARDAN_THREADS"


@dataclass(frozen=True)
class WorkerLimits:
    """What one worker process may use: bytes, sizes of scenes, niceness, threads of a step."""

    memory: int
    file: int = 0
    scene: Limits = field(default_factory=Limits)
    nice: int = 0
    threads: int = 1


def name_process(name: str) -> None:
    """Show a name in `ps` and `top`, where the kernel has names of processes (Linux)."""
    if sys.platform.startswith("linux"):
        ctypes.CDLL(None).prctl(PR_SET_NAME, name.encode(), 0, 0, 0)


def die_with_parent(parent: int | None = None) -> None:
    """Ask the kernel for SIGKILL when the parent ends (Linux; elsewhere the socket's EOF does).

    parent: its process, where that may have ended before this one got here; none: it is there
    """
    if not sys.platform.startswith("linux"):
        return
    parent = os.getppid() if parent is None else parent
    if ctypes.CDLL(None, use_errno=True).prctl(PR_SET_PDEATHSIG, signal.SIGKILL, 0, 0, 0) != 0:
        raise OSError(ctypes.get_errno(), "prctl(PR_SET_PDEATHSIG) failed")
    if os.getppid() != parent:
        os.kill(os.getpid(), signal.SIGKILL)


def limit_resources(limits: WorkerLimits) -> None:
    """No core files, no more memory, files and threads than allowed, and the niceness."""
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    _limit(resource.RLIMIT_AS, limits.memory)
    # a write past this fails like one on a full disk, and is reported, not fatal
    if limits.file:
        _limit(resource.RLIMIT_FSIZE, limits.file)
    os.nice(limits.nice)
    os.environ[THREADS] = str(limits.threads)


def _limit(what: int, most: int) -> None:
    _, hard = resource.getrlimit(what)
    least = most if hard == resource.RLIM_INFINITY else min(most, hard)
    # hard as well: the process cannot raise it again
    resource.setrlimit(what, (least, least))
