"""Limits of worker processes: they end with their parent, and write no core files."""

import ctypes
import os
import resource
import signal
import sys

PR_SET_PDEATHSIG = 1


def die_with_parent() -> None:
    """Ask the kernel for SIGKILL when the parent ends (Linux; elsewhere the socket's EOF does)."""
    if not sys.platform.startswith("linux"):
        return
    parent = os.getppid()
    if ctypes.CDLL(None, use_errno=True).prctl(PR_SET_PDEATHSIG, signal.SIGKILL, 0, 0, 0) != 0:
        raise OSError(ctypes.get_errno(), "prctl(PR_SET_PDEATHSIG) failed")
    if os.getppid() != parent:
        os.kill(os.getpid(), signal.SIGKILL)


def limit_resources(address_space: int) -> None:
    """No core files, and at most `address_space` bytes of memory."""
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    _, hard = resource.getrlimit(resource.RLIMIT_AS)
    soft = address_space if hard == resource.RLIM_INFINITY else min(address_space, hard)
    resource.setrlimit(resource.RLIMIT_AS, (soft, hard))
