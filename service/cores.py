"""How many cores this process may use: affinity, and the quota of its control groups."""

import os
from pathlib import Path

CGROUPS = Path("/sys/fs/cgroup")
MEMBERSHIP = Path("/proc/self/cgroup")


def usable_cores(root: Path = CGROUPS, membership: Path = MEMBERSHIP) -> int:
    """Whole cores that this process may use all the time; at least 1."""
    if hasattr(os, "sched_getaffinity"):
        cores = float(len(os.sched_getaffinity(0)))
    else:
        cores = float(os.cpu_count() or 1)
    return max(1, int(min([cores, *quotas(root, membership)])))


def quotas(root: Path, membership: Path) -> list[float]:
    """Quotas of the control groups of this process and of those above them [cores], v1 and v2."""
    found = []
    for line in _lines(membership):
        _, controllers, path = line.split(":", 2)
        if controllers == "":
            bases, read = [root], _quota_of_version_2
        elif "cpu" in controllers.split(","):
            bases, read = [root / controllers, root / "cpu"], _quota_of_version_1
        else:
            continue
        for base in bases:
            # in a container the path may be that on the host, with the group mounted at the root
            below = [base / path.lstrip("/"), base]
            for folder in dict.fromkeys([*below, *below[0].parents]):
                quota = read(folder) if folder.is_relative_to(base) else None
                if quota is not None:
                    found.append(quota)
    return found


def _quota_of_version_2(folder: Path) -> float | None:
    for line in _lines(folder / "cpu.max"):
        quota, _, period = line.partition(" ")
        if quota != "max":
            return int(quota) / int(period or 100_000)
    return None


def _quota_of_version_1(folder: Path) -> float | None:
    quota, period = _lines(folder / "cpu.cfs_quota_us"), _lines(folder / "cpu.cfs_period_us")
    if quota and period and int(quota[0]) > 0:
        return int(quota[0]) / int(period[0])
    return None


def _lines(path: Path) -> list[str]:
    try:
        return path.read_text(encoding="utf-8").split("\n")[:-1]
    except OSError:
        return []
