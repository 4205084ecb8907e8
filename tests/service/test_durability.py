"""What a crash may not do: lose a run, change its bits, commit it twice."""

import contextlib
import os
import shutil
import signal
import sqlite3
from concurrent.futures import ThreadPoolExecutor

import pytest

from cardan.engine.compiler.cache import PLACE, complete_folder
from cardan.schemas.examples import example_document
from cardan.service.simulations.checkpoints import CheckpointFolder
from tests.service.real_server import DROP, Server, end_of, long_scene, run_to_end, wait_for

pytestmark = pytest.mark.e2e


def chaos():
    """A double pendulum for minutes: any difference in one bit would grow to the whole."""
    scene = example_document("double-pendulum")
    scene["simulation"]["duration"] = 300.0
    scene["record"] = {"every": 1000, "channels": ["pose", "velocity", "energy"]}
    return scene


MIDDLE = chaos()


def children(pid):
    """Process ids of all descendants."""
    below: dict[int, list[int]] = {}
    for entry in filter(str.isdecimal, os.listdir("/proc")):
        with contextlib.suppress(OSError), open(f"/proc/{entry}/stat") as file:
            parent = int(file.read().rpartition(")")[2].split()[1])
            below.setdefault(parent, []).append(int(entry))
    found = list(below.get(pid, []))
    for one in found:
        found += below.get(one, [])
    return found


def busy_worker(server):
    """The descendant that uses the processor: the one that computes."""
    used = {}
    for pid in children(server.process.pid):
        try:
            with open(f"/proc/{pid}/stat") as file:
                used[pid] = int(file.read().rpartition(")")[2].split()[11])
        except OSError:
            continue
    return used


def running(client, where):
    return wait_for(lambda: (now := client.get(where).json())["step"] > 1000 and now)


def stop_the_computing_worker(server, number):
    before = busy_worker(server)

    def grown():
        now = busy_worker(server)
        most = max(before.keys() & now.keys(), key=lambda pid: now[pid] - before[pid])
        return most if now[most] - before[most] >= 5 else None

    victim = wait_for(grown, what="a computing worker")
    os.kill(victim, number)


@pytest.fixture(scope="module")
def steady(tmp_path_factory):
    """A server for all tests that kill something; its runs leave checkpoints often."""
    environ = {"CARDAN_WORKERS": "1", "CARDAN_CHECKPOINT_S": "0.1", "CARDAN_SILENCE_S": "4"}
    made = Server(tmp_path_factory.mktemp("steady"), environ).start()
    yield made
    made.stop()


KEY = "a-key-of-some-length"
MUCH = 2**60


@pytest.fixture(scope="module")
def careful(tmp_path_factory):
    """A server that wants a key, and more room than there is."""
    environ = {"CARDAN_API_KEY": KEY, "CARDAN_MIN_FREE_BYTES": str(MUCH)}
    made = Server(tmp_path_factory.mktemp("careful"), environ).start()
    yield made
    made.stop()


@pytest.fixture(scope="module")
def undisturbed(steady):
    """The recording and the summary of a run that nothing disturbed."""
    with steady.client() as client:
        return found(client, run_to_end(client, MIDDLE))


def success_of(client, info):
    ended = end_of(client, info)
    assert ended["status"] == "succeeded", ended
    return ended


def found(client, info):
    """The recording, and the summary but for its times."""
    summary = client.get(info["links"]["summary"]).json()
    del summary["timing"]
    return client.get(info["links"]["trajectory"]).content, summary


def test_a_killed_worker_costs_an_attempt_and_no_bits(steady, undisturbed):
    with steady.client() as client:
        info = client.post("/v1/simulations", json={"scene": MIDDLE}).json()
        running(client, info["links"]["self"])
        stop_the_computing_worker(steady, signal.SIGKILL)
        ended = success_of(client, info)
        events = client.get(info["links"]["events"]).text
        assert '"attempt":2' in events
        told = client.get(info["links"]["logs"]).json()["items"]
        lost = [line for line in told if line["level"] == "warning" and "lost" in line["message"]]
        assert [line["attempt"] for line in lost] == [1]
        said = [line["message"] for line in told if line["level"] == "info"]
        assert (said[0], said[-1]) == ("It is queued.", "It is succeeded.")
        assert [line["at"] for line in told] == sorted(line["at"] for line in told)
        assert found(client, ended) == undisturbed


def checkpoint_of(server, info, attempt):
    return CheckpointFolder(server.data / "checkpoints" / f"{info['id']}-{attempt}")


def test_a_run_that_is_killed_again_and_again_goes_on_from_its_checkpoints(steady, undisturbed):
    with steady.client() as client:
        info = client.post("/v1/simulations", json={"scene": MIDDLE}).json()
        # more losses than a run without progress is forgiven
        for attempt in range(1, 5):
            kept = checkpoint_of(steady, info, attempt)
            wait_for(lambda kept=kept: kept.progressed, what=f"a checkpoint of attempt {attempt}")
            stop_the_computing_worker(steady, signal.SIGKILL)
        ended = success_of(client, info)
        events = client.get(info["links"]["events"]).text
        assert events.count('"resumed_step"') == 4
        assert found(client, ended) == undisturbed
    assert list((steady.data / "checkpoints").iterdir()) == []


def test_a_service_keeps_the_runs_that_it_computes_when_their_leases_end(own_server):
    # as when it stood still for longer than that, or its clock was set; another slot has no work
    own_server.environ |= {"CARDAN_LEASE_S": "0.05", "CARDAN_WORKERS": "2"}
    own_server.start()
    with own_server.client() as client:
        ended = success_of(client, client.post("/v1/simulations", json={"scene": MIDDLE}).json())
        told = client.get(ended["links"]["logs"]).json()["items"]
        assert {line["attempt"] for line in told} <= {0, 1, None}


def test_a_worker_that_hangs_is_replaced(steady, undisturbed):
    with steady.client() as client:
        info = client.post("/v1/simulations", json={"scene": MIDDLE}).json()
        running(client, info["links"]["self"])
        stop_the_computing_worker(steady, signal.SIGSTOP)
        ended = success_of(client, info)
        assert '"attempt":2' in client.get(info["links"]["events"]).text
        assert found(client, ended) == undisturbed


def test_a_killed_service_finds_its_runs_again(steady, undisturbed):
    with steady.client() as client:
        before = client.get("/v1/simulations").json()["items"]
        infos = [client.post("/v1/simulations", json={"scene": MIDDLE}).json() for _ in range(2)]
        wait_for(lambda: checkpoint_of(steady, infos[0], 1).progressed, what="a checkpoint")
        workers = children(steady.process.pid)
    steady.kill()
    # nobody computes for a service that is gone
    wait_for(lambda: not any(os.path.exists(f"/proc/{pid}") for pid in workers))
    orphan = steady.data / "results" / "tmp-orphan"
    orphan.mkdir()
    steady.start()
    assert not orphan.exists()
    with steady.client() as client:
        for info in infos:
            assert found(client, success_of(client, info)) == undisturbed
        assert '"resumed_step"' in client.get(infos[0]["links"]["events"]).text
        assert len(client.get("/v1/simulations").json()["items"]) == len(before) + 2


def test_a_stopped_service_answers_whoever_waits_for_a_run_and_gives_it_back(own_server):
    own_server.start()
    with own_server.client() as client, ThreadPoolExecutor(1) as callers:
        asked = {"json": {"scene": MIDDLE}, "headers": {"Prefer": "wait=30"}}
        posted = callers.submit(client.post, "/v1/simulations", **asked)
        info = wait_for(lambda: client.get("/v1/simulations").json()["items"])[0]
        with client.stream("GET", info["links"]["events"]) as events:
            lines = events.iter_lines()
            assert next(lines).startswith("id: ")
            running(client, info["links"]["self"])
            own_server.process.terminate()
            # to its end in order: httpx raises where a stream is cut off
            assert "event: state" in list(lines)
        answer = posted.result(30)
        assert (answer.status_code, answer.json()["id"]) == (202, info["id"])
    own_server.stop()
    assert own_server.process.returncode == 0
    assert not any("Traceback" in line for line in own_server.errors)
    own_server.start()
    with own_server.client() as client:
        success_of(client, info)
        # it left a checkpoint when it was stopped, whatever it had computed by then
        events = client.get(info["links"]["events"]).text
        assert '"attempt":2' in events
        assert '"resumed_step"' in events


def test_a_full_disk_fails_the_run_and_not_the_service(own_server):
    # the recording of the drop is larger than any file may be
    own_server.environ["CARDAN_RESULT_FILE_BYTES"] = "1000"
    own_server.start()
    with own_server.client() as client:
        info = run_to_end(client, DROP)
        assert (info["status"], info["error"]["code"]) == ("failed", "storage_failed")
        assert "could not be written" in info["error"]["message"]
        assert info["error"]["retryable"] is True
        assert client.get("/readyz").status_code == 200
        assert list((own_server.data / "results").iterdir()) == []


def test_no_room_is_said_before_work_begins(careful):
    with careful.client(headers={"Authorization": f"Bearer {KEY}"}) as client:
        answer = client.post("/v1/simulations", json=DROP)
        assert (answer.status_code, answer.json()["code"]) == (507, "insufficient_storage")
        ready = client.get("/readyz")
        assert ready.status_code == 503
        assert f"Less than {MUCH} bytes of disk space are free" in ready.json()["detail"]


def test_a_data_folder_has_one_owner(steady):
    second = Server(steady.data)
    with pytest.raises(AssertionError, match="in use by another running service"):
        second.start()
    assert second.process is not None
    assert second.process.returncode == 2


def test_a_database_that_is_none_is_said_and_left_alone(own_server):
    own_server.data.mkdir()
    own_server.data.joinpath("cardan.sqlite3").write_bytes(b"not a database" * 100)
    with pytest.raises(AssertionError, match="cannot be used"):
        own_server.start()
    assert own_server.process.returncode == 2
    assert own_server.data.joinpath("cardan.sqlite3").read_bytes() == b"not a database" * 100


def test_a_database_of_another_version_is_refused_with_a_sentence(own_server):
    own_server.data.mkdir()
    with sqlite3.connect(own_server.data / "cardan.sqlite3") as file:
        file.execute("CREATE TABLE runs (id TEXT, colour TEXT)")
        file.execute("PRAGMA user_version=99")
    with pytest.raises(AssertionError, match="another version of Cardan: it says version 99"):
        own_server.start()
    assert own_server.process.returncode == 2
    assert "Traceback" not in "".join(own_server.errors)


def test_a_second_start_loads_no_kernels_beforehand_and_compiles_none(own_server, tmp_path):
    # in a folder of its own: other tests compile kernels at the same time
    complete, own = complete_folder(), tmp_path / "kernels"
    assert complete is not None
    kernels = own / PLACE
    shutil.copytree(complete, kernels, copy_function=os.link)
    own_server.environ["CARDAN_KERNEL_CACHE"] = str(own)
    own_server.start()
    own_server.stop()
    before = kernel_files(kernels)
    assert before
    own_server.start()
    with own_server.client() as client:
        assert client.get("/readyz").status_code == 200
    own_server.stop()
    assert "Compiling kernels" not in "".join(own_server.errors)
    assert kernel_files(kernels) == before


def kernel_files(folder):
    """Times of change of all compiled kernels, and of the mark that they are complete."""
    return {path: path.stat().st_mtime_ns for path in folder.rglob("*") if path.is_file()}


def test_keys_are_asked_for(careful):
    with careful.client() as client:
        answer = client.get("/v1/limits")
        assert (answer.status_code, answer.json()["code"]) == (401, "unauthorized")
        assert answer.headers["www-authenticate"] == "Bearer"
        assert client.get("/healthz").status_code == 200
    with careful.client(headers={"Authorization": f"Bearer {KEY}"}) as client:
        assert client.get("/v1/limits").status_code == 200
    with careful.client(headers={"Authorization": f"Bearer {KEY}x"}) as client:
        assert client.get("/v1/limits").status_code == 401
        assert client.get("/", params={"key": "wrong"}).status_code == 401
    with careful.client() as browser:
        answer = browser.get("/", params={"key": KEY})
        assert (answer.status_code, answer.headers["location"]) == (303, "/")
        cookie = answer.headers["set-cookie"].lower()
        assert "httponly" in cookie
        assert "samesite=strict" in cookie
        assert browser.get("/v1/limits").status_code == 200


def test_stored_scenes_outlive_the_service_and_runs_their_deletion(own_server):
    own_server.start()
    with own_server.client() as client:
        made = client.post("/v1/scenes", json=DROP)
        place, scene_id = made.headers["location"], made.json()["id"]
        change = {"If-Match": made.headers["etag"]}
        changed = client.patch(place, json={"gravity": [0.0, 0.0, -1.62]}, headers=change)
        # the only worker is busy: what comes behind it waits
        busy = client.post("/v1/simulations", json={"scene": long_scene()}).json()
        wait_for(lambda: client.get(busy["links"]["self"]).json()["status"] == "running")
        waits = client.post("/v1/simulations", json={"scene": scene_id}).json()
        assert waits["status"] == "queued"
    own_server.kill()
    own_server.start()
    with own_server.client() as client:
        now = client.get(place)
        assert now.headers["etag"] == changed.headers["etag"]
        assert now.json() == {**DROP, "gravity": [0.0, 0.0, -1.62]}
        assert client.get(waits["links"]["self"]).json()["status"] == "queued"
        assert client.delete(place).status_code == 204
        client.post(f"{busy['links']['self']}:cancel")
        ended = end_of(client, waits)
        assert (ended["status"], ended["stored_scene"]["revision"]) == ("succeeded", 2)
        alone = run_to_end(client, now.json())
        hashes = [
            client.get(one["links"]["summary"]).json()["state_hash"] for one in (ended, alone)
        ]
        assert hashes[0] == hashes[1]
