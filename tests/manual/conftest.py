"""A server of its own for what the manual asks of one."""

from collections.abc import Iterator

import pytest

from tests.service.real_server import Server


@pytest.fixture(scope="session")
def manual_server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    """A server with one worker."""
    running = Server(tmp_path_factory.mktemp("data"), {"CARDAN_WORKERS": "1"}).start()
    yield running
    running.stop()
