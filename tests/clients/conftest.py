"""The client of clients/python, beside the package of the service, and a real server."""

import sys

import pytest

from tests.service.real_server import ROOT, Server

sys.path.insert(0, str(ROOT / "clients" / "python"))


@pytest.fixture(scope="session")
def server(tmp_path_factory):
    running = Server(tmp_path_factory.mktemp("data"), {"CARDAN_WORKERS": "2"}).start()
    yield running
    running.stop()
