"""A real server process, started once: its own port, its own data folder, real workers."""

import pytest

from tests.service.bucket_server import BucketServer
from tests.service.postgres_server import PostgresServer
from tests.service.real_server import Server


@pytest.fixture(scope="session")
def server(tmp_path_factory):
    running = Server(tmp_path_factory.mktemp("data"), {"CARDAN_WORKERS": "2"}).start()
    yield running
    running.stop()


@pytest.fixture
def client(server):
    with server.client() as open_client:
        yield open_client


@pytest.fixture
def own_server(tmp_path):
    """A server a test may kill and start again on the same data."""
    made = Server(tmp_path / "data", {"CARDAN_WORKERS": "1"})
    yield made
    if made.process is not None and made.process.poll() is None:
        made.stop()


@pytest.fixture(scope="session")
def postgres():
    """A PostgreSQL server of the tests; they skip, and say why, where none can run."""
    running = PostgresServer()
    yield running
    running.stop()


@pytest.fixture(scope="session")
def bucket():
    """An S3 server of the tests; they skip, and say why, where none can run."""
    running = BucketServer()
    yield running
    running.stop()
