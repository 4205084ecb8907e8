"""A service whose database and recordings lie on other machines; the answers are the same."""

import io
from contextlib import contextmanager

import httpx
import pyarrow.parquet as pq
import pytest
from sqlalchemy import text

from cardan.service.simulations.postgres import open_postgres
from tests.service.real_server import DROP, Server, long_scene, run_to_end, wait_for

pytestmark = pytest.mark.e2e

KEY = "operator-of-sixteen-or-more"


@pytest.fixture
def elsewhere(postgres, bucket, tmp_path):
    environ = {
        "CARDAN_WORKERS": "1",
        "CARDAN_DATABASE_URL": postgres.database(),
        "CARDAN_RESULTS_URL": bucket.folder(),
        "CARDAN_LEASE_S": "2",
        "CARDAN_API_KEY": KEY,
    }
    made = Server(tmp_path / "data", environ | bucket.environ)
    yield made
    if made.process is not None and made.process.poll() is None:
        made.stop()


def with_key(server, **more):
    return server.client(headers={"Authorization": f"Bearer {KEY}"}, **more)


def hash_of(client, info):
    """Of the state at the end of a run: equal hashes are equal bits."""
    return client.get(f"/v1/simulations/{info['id']}/summary").json()["state_hash"]


def test_runs_are_the_same_and_downloads_lead_to_the_store(elsewhere, client):
    here = run_to_end(client, DROP)
    bytes_here = client.get(here["links"]["trajectory"]).content
    with with_key(elsewhere.start()) as there:
        info = run_to_end(there, DROP)
        assert info["status"] == "succeeded"
        assert hash_of(there, info) == hash_of(client, here)
        url = info["links"]["trajectory"]

        link = there.get(url)
        assert link.status_code == 307
        # what is stored is what a machine alone stores, and S3 has no use for the key
        assert httpx.get(link.headers["location"]).content == bytes_here
        assert KEY not in link.headers["location"]
        same = there.get(url, headers={"If-None-Match": link.headers["etag"]})
        assert same.status_code == 304

        part = there.get(url, headers={"Range": "bytes=4-99"}, follow_redirects=True)
        assert (part.status_code, part.content) == (206, bytes_here[4:100])
        wanted = {"bodies": "ball 1", "format": "parquet"}
        sliced = there.get(url, params=wanted)
        assert sliced.status_code == 200, "made here"
        names = pq.read_table(io.BytesIO(sliced.content))["body"].unique().to_pylist()
        assert names == ["ball 1"]
        whole = {"format": "npz"}
        there_npz = there.get(url, params=whole)
        assert there_npz.status_code == 200
        assert there.get(url, params={"table": "sensors"}).status_code == 422
        assert not list((elsewhere.data / "results").iterdir())

        assert there.delete(info["links"]["self"]).status_code == 204
        assert httpx.get(link.headers["location"]).status_code == 404


def test_what_was_accepted_ends_when_the_service_is_killed(elsewhere, client):
    scene = long_scene(60_000)
    expected = hash_of(client, run_to_end(client, scene))
    with with_key(elsewhere.start()) as there:
        info = there.post("/v1/simulations", json={"scene": scene}).json()
        url = info["links"]["self"]
        wait_for(lambda: there.get(url).json()["status"] == "running", what="the run")
    elsewhere.kill()
    with with_key(elsewhere.start()) as there:
        done = wait_for(lambda: ended(there, url), 120.0, "the end of the run")
        assert done["status"] == "succeeded"
        assert hash_of(there, done) == expected
    with database_of(elsewhere) as ask:
        attempts = ask("SELECT outcome FROM attempts ORDER BY attempt")
    assert attempts == ["worker_lost", "succeeded"]


@contextmanager
def database_of(server):
    """Asks the database of a server: the first column of a query."""
    engine = open_postgres(server.environ["CARDAN_DATABASE_URL"])

    def ask(query, **values):
        with engine.connect() as connection:
            return list(connection.execute(text(query), values).scalars())

    try:
        yield ask
    finally:
        engine.dispose()


def ended(client, url):
    info = client.get(url).json()
    return info if info["finished_at"] is not None else None


@pytest.mark.parametrize(
    ("variable", "value", "said"),
    [
        ("CARDAN_DATABASE_URL", "mysql://u:secret-word@h/d", "must be postgresql://"),
        ("CARDAN_DATABASE_URL", "postgresql://u:secret-word@127.0.0.1:1/d", "cannot be used"),
        ("CARDAN_RESULTS_URL", "/tmp/recordings", "must be s3://BUCKET/FOLDER"),
    ],
)
def test_addresses_that_cannot_be_used_end_the_start(elsewhere, variable, value, said):
    elsewhere.environ[variable] = value
    with pytest.raises(AssertionError, match=said) as raised:
        elsewhere.start()
    assert "secret-word" not in str(raised.value)


MASS = "/bodies/1/mass"


def batch_of(client, runs, steps):
    """Queue a batch of so many runs of so many steps; its address."""
    variations = {MASS: [1.0 + 0.1 * number for number in range(runs)]}
    body = {"scene": long_scene(steps), "variations": variations}
    answer = client.post("/v1/batches", json=body)
    assert answer.status_code == 202, answer.text
    return f"/v1/batches/{answer.json()['id']}"


def hashes(client, batch):
    """Of the states at the end of the runs of a batch."""
    done = wait_for(lambda: ended(client, batch), 240.0, "the end of the batch")
    assert done["status"] == "succeeded"
    runs = client.get(f"{batch}/runs", params={"page_size": 100}).json()["items"]
    assert len(runs) == done["runs"]
    return [hash_of(client, run) for run in runs]


def test_two_machines_share_a_queue_and_one_takes_over_from_the_other(elsewhere, client, tmp_path):
    undisturbed = batch_of(client, 24, 30_000)
    owners = "SELECT DISTINCT split_part(owner, '/', 1) FROM attempts WHERE outcome = 'succeeded'"
    held = "SELECT id FROM runs WHERE owner LIKE :who"
    other = Server(tmp_path / "other", elsewhere.environ).start()
    try:
        with with_key(other) as there, database_of(elsewhere) as ask:
            run_to_end(there, DROP)
            (name,) = ask(owners)
            elsewhere.start()
            # what one accepts the other knows, and computes as well
            batch = batch_of(there, 24, 30_000)
            wait_for(lambda: len(ask(owners)) == 2, 120.0, "a run of each")
            wait_for(lambda: ask(held, who=f"{name}/%"), what="a run that will be lost")
            other.kill()
            with with_key(elsewhere) as here:
                assert hashes(here, batch) == hashes(client, undisturbed)
            assert "worker_lost" in ask("SELECT outcome FROM attempts")
    finally:
        if other.process is not None and other.process.poll() is None:
            other.stop()
