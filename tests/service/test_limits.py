"""What processes ask of the kernel."""

from __future__ import annotations

import subprocess
import sys

import pytest

# a process whose parent has ended before it asks to end with it
ORPHAN = """
import os, sys
from cardan.service.processes.limits import die_with_parent
parent = os.getpid()
closed, held = os.pipe()
if os.fork() == 0:
    os.close(held)
    os.read(closed, 1)
    while os.getppid() == parent:
        pass
    die_with_parent(parent if sys.argv[1] == "told" else None)
    os.write(1, b"outlives its parent")
"""


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="only Linux tells of parents")
@pytest.mark.parametrize(("way", "said"), [("told", ""), ("not told", "outlives its parent")])
def test_a_process_ends_with_a_parent_that_has_ended_already(way: str, said: str) -> None:
    done = subprocess.run(
        [sys.executable, "-c", ORPHAN, way], capture_output=True, text=True, timeout=60, check=True
    )
    assert done.stdout == said
