"""The manual as it is built, and a server of its own for what the manual asks of one."""

import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.architecture.sources import ROOT
from tests.service.real_server import Server


@pytest.fixture(scope="session")
def manual_server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    """A server with one worker."""
    running = Server(tmp_path_factory.mktemp("data"), {"CARDAN_WORKERS": "1"}).start()
    yield running
    running.stop()


@pytest.fixture(scope="session")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The manual, built as `make manual` builds it: a link that leads nowhere ends it."""
    folder = tmp_path_factory.mktemp("cardan") / "manual"
    done = subprocess.run(
        [sys.executable, "-m", "docs.manual", str(folder)],
        cwd=ROOT,
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return folder
