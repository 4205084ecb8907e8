import os

import pytest

from cardan.service.cores import usable_cores
from cardan.service.settings import Settings

GRANTED = len(os.sched_getaffinity(0))


@pytest.fixture
def groups(tmp_path):
    """Control groups as files: a function that writes one, and what `usable_cores` reads."""
    root, membership = tmp_path / "cgroup", tmp_path / "membership"
    membership.write_text("0::/a/b\n")

    def write(path, text):
        file = root / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text)

    return root, membership, write


def test_without_a_quota_it_is_the_affinity(groups):
    root, membership, write = groups
    write("a/b/cpu.max", "max 100000\n")
    assert usable_cores(root, membership) == GRANTED
    assert usable_cores(root / "none", membership) == GRANTED


@pytest.mark.parametrize(("quota", "cores"), [(250_000, 2), (100_000, 1), (50_000, 1)])
def test_the_least_quota_above_counts(groups, quota, cores):
    root, membership, write = groups
    write("a/b/cpu.max", "max 100000\n")
    write("a/cpu.max", f"{quota} 100000\n")
    write("cpu.max", "6400000 100000\n")
    assert usable_cores(root, membership) == min(cores, GRANTED)


def test_a_container_sees_its_group_as_the_root(groups):
    root, membership, write = groups
    membership.write_text("0::/host/path/of/it\n")
    write("cpu.max", "100000 100000\n")
    assert usable_cores(root, membership) == 1


def test_groups_of_version_1(groups):
    root, membership, write = groups
    membership.write_text("4:memory:/m\n3:cpu,cpuacct:/a\n")
    write("cpu,cpuacct/a/cpu.cfs_quota_us", "100000\n")
    write("cpu,cpuacct/a/cpu.cfs_period_us", "100000\n")
    assert usable_cores(root, membership) == 1
    write("cpu,cpuacct/a/cpu.cfs_quota_us", "-1\n")
    assert usable_cores(root, membership) == GRANTED


def test_a_service_has_a_worker_for_each_of_them():
    assert Settings().workers == min(usable_cores(), 256)
    assert Settings.from_environment({"CARDAN_WORKERS": "7"}).workers == 7
