"""A service whose runs are computed by actors on two nodes of Ray; the answers are the same."""

from contextlib import suppress

import httpx
import psutil
import pytest

from tests.service.real_server import DROP, Server, long_scene, run_to_end, wait_for
from tests.service.test_storage import KEY, batch_of, database_of, ended, hash_of, hashes, with_key

pytestmark = pytest.mark.e2e

RUNS = 12
HELD = "SELECT DISTINCT split_part(owner, '/', 1) FROM runs WHERE owner IS NOT NULL"
OUTCOMES = "SELECT DISTINCT outcome FROM attempts"


@pytest.fixture
def placed(on_ray, tmp_path):
    """A service on the cluster, not started."""
    made = Server(tmp_path / "data", on_ray() | {"CARDAN_API_KEY": KEY})
    yield made
    if made.process is not None and made.process.poll() is None:
        made.stop()


def members(ray_cluster):
    """Actors of the cluster, by the names that Ray gives to their processes."""
    found = []
    for one in ray_cluster.processes():
        with suppress(psutil.Error):
            if "Member" in " ".join(one.cmdline()):
                found.append(one)
    return found


def test_a_batch_on_two_nodes_ends_with_the_bits_of_one_machine(placed, client):
    undisturbed = batch_of(client, RUNS, 10_000)
    with with_key(placed.start()) as there:
        batch = batch_of(there, RUNS, 10_000)
        assert hashes(there, batch) == hashes(client, undisturbed)
        assert there.get("/v1/limits").json()["parallel_runs"] == 2
        metrics = there.get("/metrics").text
        assert "cardan_cluster_members 2.0" in metrics
        assert "cardan_runs_total{" not in metrics, "the service itself computed nothing"
        assert there.get("/readyz").json()["checks"]["cluster"]

        info = run_to_end(there, DROP)
        assert hash_of(there, info) == hash_of(client, run_to_end(client, DROP))
        link = there.get(info["links"]["trajectory"])
        assert link.status_code == 307, "the member has stored it where all can read it"
        assert httpx.get(link.headers["location"]).content[:4] == b"PAR1"


def test_a_node_that_is_killed_while_it_holds_runs_costs_no_bit(placed, client, ray_cluster):
    undisturbed = batch_of(client, RUNS, 40_000)
    with with_key(placed.start()) as there, database_of(placed) as ask:
        batch = batch_of(there, RUNS, 40_000)
        wait_for(lambda: len(ask(HELD)) == 2, what="runs on both nodes")
        ray_cluster.kill(ray_cluster.nodes[1])
        assert hashes(there, batch) == hashes(client, undisturbed)
        assert "worker_lost" in ask(OUTCOMES)
        # a node that joins gets the member of the one that was lost
        ray_cluster.add()
        hashes(there, batch_of(there, RUNS, 10_000))
        wait_for(lambda: len(members(ray_cluster)) == 2, what="a member on the new node")


def test_a_run_is_cancelled_where_it_is_computed(placed, ray_cluster):
    with with_key(placed.start()) as there:
        url = there.post("/v1/simulations", json={"scene": long_scene()}).json()["links"]["self"]
        wait_for(lambda: there.get(url).json()["status"] == "running", what="the run")
        there.post(f"{url}:cancel")
        done = wait_for(lambda: ended(there, url), 60.0, "its end")
        assert done["status"] == "cancelled"


def test_members_end_with_their_service_and_return_their_runs(placed, ray_cluster):
    with with_key(placed.start()) as there, database_of(placed) as ask:
        url = there.post("/v1/simulations", json={"scene": long_scene()}).json()["links"]["self"]
        wait_for(lambda: there.get(url).json()["status"] == "running", what="the run")
        assert len(members(ray_cluster)) == 1, "as many as there are runs"
        placed.stop()
        assert members(ray_cluster) == []
        assert ask("SELECT outcome FROM attempts") == ["released"]
        assert ask("SELECT state FROM runs") == ["queued"]
    with with_key(placed.start()) as there:
        wait_for(lambda: there.get(url).json()["status"] == "running", what="the run")
        # nobody tells the members of one that is killed
        placed.kill()
        wait_for(lambda: members(ray_cluster) == [], 60.0, "the end of the members")


def test_no_process_of_the_cluster_is_given_a_key(placed, ray_cluster):
    secrets = [KEY, placed.environ["CARDAN_DATABASE_URL"], placed.environ["AWS_SECRET_ACCESS_KEY"]]
    with with_key(placed.start()) as there:
        url = there.post("/v1/simulations", json={"scene": long_scene()}).json()["links"]["self"]
        wait_for(lambda: there.get(url).json()["status"] == "running", what="the run")
        own = psutil.Process(placed.process.pid).children(recursive=True)
        processes = [*own, *ray_cluster.processes()]
        assert len(processes) > 10
        for process in processes:
            with suppress(psutil.Error):
                words = [*process.cmdline(), *process.environ().values()]
                assert [word for word in words for secret in secrets if secret in word] == []
        # what only computes has not even the token of the cluster
        workers = [p for p in processes if p.name() == "simulations"]
        assert workers
        assert all(ray_cluster.token not in p.environ().values() for p in workers)


def test_a_service_that_is_on_no_node_joins_by_the_port_for_clients(placed, ray_cluster):
    placed.environ["CARDAN_RAY_ADDRESS"] = f"ray://127.0.0.1:{ray_cluster.client_port}"
    with with_key(placed.start()) as there, database_of(placed) as ask:
        assert run_to_end(there, DROP)["status"] == "succeeded"
        assert ask(OUTCOMES) == ["succeeded"]


@pytest.mark.parametrize(
    ("variable", "value", "said"),
    [
        ("CARDAN_DATABASE_URL", "", "needs CARDAN_DATABASE_URL"),
        ("CARDAN_RESULTS_URL", "", "needs CARDAN_RESULTS_URL"),
        ("CARDAN_RAY_ADDRESS", "", "needs CARDAN_RAY_ADDRESS"),
        ("CARDAN_RAY_ADDRESS", "somewhere", "must be HOST:PORT"),
        ("CARDAN_RAY_ADDRESS", "127.0.0.1:1", "no cluster answers at 127.0.0.1:1"),
        ("CARDAN_RAY_TOKEN", "not-the-token" * 4, "cannot be joined"),
    ],
)
def test_what_a_cluster_lacks_ends_the_start(placed, variable, value, said):
    if value:
        placed.environ[variable] = value
    else:
        del placed.environ[variable]
    with pytest.raises(AssertionError, match=said) as raised:
        placed.start()
    assert placed.environ.get("AWS_SECRET_ACCESS_KEY", "") not in str(raised.value)
