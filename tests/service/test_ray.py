"""A service whose runs are computed by actors on two nodes of Ray; the answers are the same."""

import time
from pathlib import Path

import psutil
import pytest

from tests.service.real_server import DROP, Server, long_scene, run_to_end, wait_for
from tests.service.test_storage import (
    KEY,
    VARIANTS,
    batch_of,
    database_of,
    ended,
    hash_of,
    hashes,
    with_key,
)

pytestmark = pytest.mark.e2e

OWNERS = "SELECT DISTINCT split_part(owner, '/', 1) FROM attempts WHERE outcome = 'succeeded'"
HOLDERS = "SELECT DISTINCT split_part(owner, '/', 1) FROM runs WHERE owner IS NOT NULL"


@pytest.fixture
def placed(on_ray, tmp_path):
    """A service on the cluster, not started."""
    made = Server(tmp_path / "data", on_ray() | {"CARDAN_API_KEY": KEY})
    yield made
    if made.process is not None and made.process.poll() is None:
        made.stop()


def members(ray_cluster):
    """Processes of the cluster in which Cardan runs: actors, fork servers and workers."""
    found = []
    for node in ray_cluster.nodes:
        for process in psutil.Process(node.pid).children(recursive=True):
            try:
                words = " ".join(process.cmdline())
            except psutil.Error:
                continue
            if "Member" in words or "forkserver" in words:
                found.append(process)
    return found


def test_a_batch_on_two_nodes_ends_with_the_bits_of_one_machine(placed, client, ray_cluster):
    undisturbed = batch_of(client)
    with with_key(placed.start()) as there, database_of(placed) as ask:
        batch = batch_of(there)
        assert hashes(there, batch) == hashes(client, undisturbed)
        assert len(ask(OWNERS)) == 2, "one member on each node"
        assert there.get("/v1/limits").json()["parallel_runs"] == 2
        assert there.get("/readyz").json()["checks"]["cluster"]
