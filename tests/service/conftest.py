"""A real server process, started once: its own port, its own data folder, real workers."""

import os

import pytest

from tests.service.bucket_server import BucketServer
from tests.service.postgres_server import PostgresServer
from tests.service.ray_cluster import RayCluster
from tests.service.real_server import Server


@pytest.fixture(scope="session")
def server(tmp_path_factory, request):
    environ = {"CARDAN_WORKERS": "2"}
    if os.environ.get("CARDAN_TEST_EXECUTOR") == "ray":
        # the same tests, of a service that computes nothing itself
        environ |= {"CARDAN_RESULTS_LINK_S": "0", **request.getfixturevalue("on_ray")()}
    running = Server(tmp_path_factory.mktemp("data"), environ).start()
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


@pytest.fixture(scope="session")
def ray_cluster():
    """Two nodes of Ray; tests skip, and say why, where none can run."""
    running = RayCluster()
    yield running
    running.stop()


@pytest.fixture(scope="session")
def on_ray(postgres, bucket, ray_cluster):
    """Variables of a service with a new database and store, whose runs the cluster computes."""

    def environ():
        return {
            "CARDAN_EXECUTOR": "ray",
            "CARDAN_RAY_ADDRESS": ray_cluster.address,
            "CARDAN_RAY_TOKEN": ray_cluster.token,
            "CARDAN_DATABASE_URL": postgres.database(),
            "CARDAN_RESULTS_URL": bucket.folder(),
            # a member that others keep from the processor for a while is not lost
            "CARDAN_LEASE_S": "10",
            **bucket.environ,
        }

    return environ
