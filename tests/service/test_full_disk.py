"""A disk that is full for a while: a file system of its own, filled and emptied by the test."""

import shutil
import subprocess
import sys
from typing import Any

import pytest

from tests.service.real_server import DROP, Server, end_of, run_to_end

pytestmark = pytest.mark.e2e

BYTES = 12 * 1024**2


@pytest.fixture
def disk(tmp_path):
    """A small file system in memory."""
    if sys.platform != "linux":
        pytest.skip("mounting a small file system is done on Linux only")
    place = tmp_path / "disk"
    place.mkdir()
    command = ["mount", "-t", "tmpfs", "-o", f"size={BYTES}", "none", str(place)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        pytest.skip(f"a small file system cannot be mounted here: {done.stderr.strip()}")
    yield place
    subprocess.run(["umount", str(place)], check=True)


def fill(path):
    """Take all the space there is."""
    with path.open("wb", buffering=0) as file:
        for size in (65536, 4096):
            try:
                while True:
                    file.write(bytes(size))
            except OSError:
                pass


def test_nothing_accepted_is_lost_on_a_full_disk_and_the_user_hears_of_it(disk):
    server = Server(disk / "data", {"CARDAN_WORKERS": "1", "CARDAN_MIN_FREE_BYTES": "0"}).start()
    try:
        with server.client() as client:
            before = run_to_end(client, DROP)
            session = client.post("/v1/sessions", json={"scene": DROP}).json()
            fill(disk / "ballast")
            accepted: list[dict[str, Any]] = []
            refused = None
            # the journal of the database may still have room for some
            while refused is None and len(accepted) < 200:
                answer = client.post("/v1/simulations", json={"scene": DROP})
                if answer.status_code == 202:
                    accepted.append(answer.json())
                else:
                    refused = answer
            assert refused is not None
            assert (refused.status_code, refused.json()["code"]) == (507, "insufficient_storage")
            assert refused.json()["retryable"] is True
            assert refused.headers["retry-after"] == "60"
            assert client.post("/v1/sessions", json={"scene": DROP}).status_code == 507
            # what is there can be read
            summary = client.get(before["links"]["summary"])
            assert summary.json()["status"] == "succeeded"
            assert client.get(session["links"]["self"]).json()["id"] == session["id"]
            listed = {one["id"] for one in client.get("/v1/simulations").json()["items"]}
            assert listed == {before["id"], *(one["id"] for one in accepted)}
            (disk / "ballast").unlink()
            for info in accepted:
                found = end_of(client, info)
                told = found["error"] and found["error"]["code"]
                assert (found["status"], told) in (
                    ("succeeded", None),
                    ("failed", "storage_failed"),
                )
            after = run_to_end(client, DROP)
            assert after["status"] == "succeeded"
            hashes = [
                client.get(one["links"]["summary"]).json()["state_hash"] for one in (before, after)
            ]
            assert hashes[0] == hashes[1]
    finally:
        server.stop()


def test_a_change_on_a_full_disk_is_whole_or_none(disk):
    """Some find room in the journal of the database; each is there, or 507 and not."""
    server = Server(disk / "data", {"CARDAN_WORKERS": "1", "CARDAN_MIN_FREE_BYTES": "0"}).start()
    try:
        with server.client() as client:
            made = client.post("/v1/scenes", json=DROP)
            place, etag = made.headers["location"], made.headers["etag"]
            fill(disk / "ballast")
            for number in range(200):
                # many pages of the database, and others each time
                names = [f"{number} {'x' * 60} {one}" for one in range(500)]
                bodies = [{**DROP["bodies"][1], "name": name} for name in names]
                answer = client.patch(place, json={"bodies": bodies}, headers={"If-Match": etag})
                if answer.status_code != 200:
                    break
                etag = answer.headers["etag"]
            assert (answer.status_code, answer.json()["code"]) == (507, "insufficient_storage")
            assert answer.json()["retryable"] is True
            now = client.get(place)
            assert now.headers["etag"] == etag
            (disk / "ballast").unlink()
            patch = {"name": "there is room"}
            answer = client.patch(place, json=patch, headers={"If-Match": etag})
            assert answer.status_code == 200, answer.text
            assert client.get(place).json() == {**now.json(), **patch}
    finally:
        server.stop()


def test_without_its_database_a_service_accepts_nothing_and_asks_for_a_restart(own_server):
    own_server.start()
    file = own_server.data / "cardan.sqlite3"
    batch = {"scene": DROP, "variations": {"/simulation/dt": [0.001, 0.002]}}
    with own_server.client() as client:
        before = run_to_end(client, DROP)
        # as `rm -r` does it, or a copy that was put in its place
        aside = file.rename(own_server.data / "aside")
        for path, body in (("/v1/simulations", {"scene": DROP}), ("/v1/batches", batch)):
            refused = client.post(path, json=body)
            assert (refused.status_code, refused.json()["code"]) == (503, "database_gone"), path
        assert client.get("/healthz").status_code == 503
        assert client.get("/readyz").json()["checks"]["database"] is False
        file.write_bytes(aside.read_bytes())
        assert client.post("/v1/simulations", json={"scene": DROP}).status_code == 503
        aside.rename(file)
        assert client.get("/healthz").status_code == 200
        assert run_to_end(client, DROP)["status"] == before["status"] == "succeeded"


def test_a_folder_that_is_gone_for_a_while_is_told_and_loses_nothing(own_server):
    own_server.start()
    results, downloads = (own_server.data / name for name in ("results", "downloads"))
    with own_server.client() as client:
        stored = run_to_end(client, DROP)["links"]["trajectory"]
        aside = results.rename(own_server.data / "aside")
        refused = client.post("/v1/simulations", json={"scene": DROP})
        assert (refused.status_code, refused.json()["code"]) == (507, "insufficient_storage")
        assert "read-only or gone" in refused.json()["detail"]
        ready = client.get("/readyz")
        assert (ready.status_code, ready.json()["checks"]["storage"]) == (503, False)
        assert client.get(stored).status_code == 410
        aside.rename(results)
        assert run_to_end(client, DROP)["status"] == "succeeded"
        # a download that cannot be written is no lost process
        shutil.rmtree(downloads)
        downloads.touch()
        refused = client.get(stored, params={"format": "csv"})
        assert (refused.status_code, refused.json()["code"]) == (507, "storage_failed")
        downloads.unlink()
        downloads.mkdir()
        assert client.get(stored, params={"format": "csv"}).status_code == 200
