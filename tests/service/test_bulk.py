"""Batches in groups on a real server: bits, deaths, cancelling, failures, recordings on demand."""

import io
import signal

import pyarrow.parquet as pq
import pytest

from cardan.engine import rollout
from cardan.schemas.examples import example_document
from tests.service.real_server import Server, end_of, wait_for
from tests.service.test_durability import stop_the_computing_worker

pytestmark = pytest.mark.e2e

MASS = "/bodies/1/mass"


def pendulum(seconds=1.0):
    scene = example_document("double-pendulum")
    scene["simulation"]["duration"] = seconds
    scene["record"] = {"every": 100}
    return scene


def masses(runs):
    return [0.5 + k / runs for k in range(runs)]


def post(client, scene, **more):
    answer = client.post("/v1/batches", json={"scene": scene, **more})
    assert answer.status_code == 202, answer.text
    return answer.json()


def rows_of(client, info):
    return client.get(info["links"]["results"], params={"format": "json"}).json()["rows"]


def succeeded(client, info):
    return client.get(info["links"]["self"]).json()["counts"].get("succeeded", 0)


def stories(client, rows):
    """The states of every run, as they were told."""
    return [client.get(f"{row['link']}/events").text for row in rows]


def test_a_batch_of_metrics_has_the_bits_of_a_rollout_and_trajectories_on_demand(client):
    runs = 60
    info = post(
        client,
        pendulum(),
        variations={MASS: masses(runs)},
        metrics=["state_hash", "energy.final"],
        record="metrics",
    )
    ended = end_of(client, info)
    assert ended["counts"] == {"succeeded": runs}
    rows = rows_of(client, info)
    expected = rollout(pendulum(), {MASS: masses(runs)}, ("state_hash", "energy.final"))
    assert [row["state_hash"] for row in rows] == expected.metrics["state_hash"].tolist()
    assert [row["energy.final"] for row in rows] == expected.metrics["energy.final"].tolist()
    assert {row["attempt"] for row in rows} == {1}
    story = stories(client, rows[-1:])[0]
    assert story.count('"status":"succeeded"') >= 1
    # nothing was stored; the trajectory is made when it is asked for, and is then kept
    first = client.get(f"{rows[7]['link']}/trajectory")
    assert first.status_code == 200, first.text
    alone = client.post(
        "/v1/simulations", json={"scene": pendulum(), "overrides": {MASS: masses(runs)[7]}}
    ).json()
    end_of(client, alone)
    own = client.get(alone["links"]["trajectory"])
    assert pq.read_table(io.BytesIO(first.content)).equals(pq.read_table(io.BytesIO(own.content)))
    again = client.get(
        f"{rows[7]['link']}/trajectory", headers={"If-None-Match": first.headers["etag"]}
    )
    assert again.status_code == 304
    assert client.delete(info["links"]["self"]).status_code == 204
    assert client.get(f"{rows[7]['link']}/trajectory").status_code == 404


@pytest.fixture(scope="module")
def beaten(tmp_path_factory):
    """A server with one worker, for the tests that kill something."""
    made = Server(tmp_path_factory.mktemp("beaten"), {"CARDAN_WORKERS": "1"}).start()
    yield made
    made.stop()


def test_a_killed_worker_costs_a_group_attempts_and_no_bits(beaten):
    runs = 300
    expected = rollout(pendulum(), {MASS: masses(runs)}, ("state_hash",)).metrics["state_hash"]
    with beaten.client() as client:
        info = post(
            client,
            pendulum(),
            variations={MASS: masses(runs)},
            metrics=["state_hash"],
            record="metrics",
        )
        for ended in (20, 80):
            # a group is being computed: what of it is not committed is lost with its worker
            wait_for(lambda least=ended: succeeded(client, info) >= least)
            stop_the_computing_worker(beaten, signal.SIGKILL)
        assert end_of(client, info)["counts"] == {"succeeded": runs}
        rows = rows_of(client, info)
        assert [row["state_hash"] for row in rows] == expected.tolist()
        assert max(row["attempt"] for row in rows) >= 2
        for told in stories(client, rows[::7]):
            # stored events only: the last progress says the state as well
            states = [line for line in told.splitlines() if line.startswith('data: {"status":')]
            assert sum('"succeeded"' in line for line in states if '"id"' not in line) == 1


def test_a_killed_service_ends_every_run_of_a_group_once(beaten):
    runs = 200
    expected = rollout(pendulum(), {MASS: masses(runs)}, ("state_hash",)).metrics["state_hash"]
    with beaten.client() as client:
        info = post(
            client,
            pendulum(),
            variations={MASS: masses(runs)},
            metrics=["state_hash"],
            record="metrics",
        )
        wait_for(lambda: succeeded(client, info) >= 20)
    beaten.kill()
    beaten.start()
    with beaten.client() as client:
        assert end_of(client, info)["counts"] == {"succeeded": runs}
        assert [row["state_hash"] for row in rows_of(client, info)] == expected.tolist()


def test_cancelling_a_batch_ends_its_groups(client):
    info = post(client, pendulum(5.0), variations={MASS: masses(2000)}, record="metrics")
    wait_for(lambda: succeeded(client, info) >= 3)
    answer = client.post(info["links"]["self"] + ":cancel")
    assert answer.status_code == 202
    ended = end_of(client, info)
    assert set(ended["counts"]) == {"succeeded", "cancelled"}
    assert sum(ended["counts"].values()) == 2000
    assert ended["counts"]["cancelled"] > 1000
    # a run that was cancelled may be run again, and then ends
    client.delete(info["links"]["self"])


def test_one_run_of_a_group_can_be_cancelled(client):
    info = post(client, pendulum(20.0), variations={MASS: masses(12)}, record="metrics")
    rows = rows_of(client, info)
    client.post(rows[-1]["link"] + ":cancel")
    ended = end_of(client, info)
    assert ended["counts"] == {"succeeded": 11, "cancelled": 1}
    assert [row["status"] for row in rows_of(client, info)] == [*["succeeded"] * 11, "cancelled"]


def diverging(client, rule, record):
    """Ninety pendulums, of which the last thirty are thrown beyond all numbers."""
    speeds = [[0.0, 0.0, 0.0]] * 60 + [[0.0, 1e50, 0.0]] * 30
    return post(
        client,
        pendulum(0.2),
        variations={"/bodies/1/angular_velocity": speeds},
        on_failure=rule,
        record=record,
    )


def test_the_failure_rule_holds_within_groups(client):
    info = diverging(client, "stop_after:2", "metrics")
    ended = end_of(client, info)
    assert ended["counts"]["succeeded"] == 60
    # each worker may be in the middle of a run when the rule strikes
    assert 2 <= ended["counts"]["failed"] <= 4
    assert ended["error"]["code"] == "batch_stopped"


def test_only_failed_runs_store_their_trajectory(client):
    info = diverging(client, "continue", "failed")
    ended = end_of(client, info)
    assert ended["counts"] == {"succeeded": 60, "failed": 30}
    rows = rows_of(client, info)
    assert {row["error_code"] for row in rows[60:]} == {"engine_diverged"}
    assert client.get(f"{rows[75]['link']}/trajectory").status_code == 200
    assert client.get(f"{rows[5]['link']}/trajectory").status_code == 200
