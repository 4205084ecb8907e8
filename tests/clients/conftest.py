"""The client of clients/python, beside the package of the service, and a real server."""

import pytest

from tests.service.real_server import Server


@pytest.fixture(scope="session")
def server(tmp_path_factory):
    running = Server(tmp_path_factory.mktemp("data"), {"CARDAN_WORKERS": "2"}).start()
    yield running
    running.stop()
