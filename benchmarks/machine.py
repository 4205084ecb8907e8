"""The machine and the versions a figure belongs to."""

import os
import platform
import subprocess
from importlib import metadata
from pathlib import Path

from cardan.engine import ENGINE_VERSION

PACKAGES = ("numba", "llvmlite", "numpy", "uvicorn", "websockets")
THREADS = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "NUMBA_NUM_THREADS")


def single_threaded() -> dict[str, str]:
    """The environment with every library held to one thread."""
    return {**os.environ, **dict.fromkeys(THREADS, "1")}


def describe() -> dict[str, object]:
    """Processor, cores, load and versions."""
    return {
        "processor": _processor(),
        "cores": os.cpu_count(),
        "load_before": round(os.getloadavg()[0], 2),
        "system": f"{platform.system()} {platform.machine()}",
        "python": platform.python_version(),
        "engine": ENGINE_VERSION,
        "commit": _commit(),
        "packages": {name: _version(name) for name in PACKAGES},
    }


def parent_and_time(pid: int) -> tuple[int, float]:
    """Parent of a process, and its processor time so far [s]. Raises OSError once it is gone."""
    fields = Path(f"/proc/{pid}/stat").read_text(encoding="utf-8").rpartition(")")[2].split()
    return int(fields[1]), (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def _version(package: str) -> str | None:
    """Version of a package; None where it is not installed."""
    try:
        return metadata.version(package)
    except metadata.PackageNotFoundError:
        return None


def _processor() -> str:
    try:
        text = Path("/proc/cpuinfo").read_text(encoding="utf-8")
    except OSError:
        return platform.processor()
    names = [line.partition(":")[2] for line in text.splitlines() if line.startswith("model name")]
    return names[0].strip() if names else platform.processor()


def _commit() -> str | None:
    found = subprocess.run(
        ["git", "describe", "--always", "--dirty"], capture_output=True, check=False, text=True
    )
    return found.stdout.strip() or None
