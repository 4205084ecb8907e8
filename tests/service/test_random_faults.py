"""Workers, the fork server and the service are killed at random while clients submit and watch.

`CARDAN_FAULT_SECONDS` says for how long (20 s); `CARDAN_FAULT_SEED` which faults.
"""

import contextlib
import hashlib
import os
import random
import signal
import sqlite3
import threading
import time
import uuid

import httpx
import pytest

from tests.service.real_server import DROP, wait_for
from tests.service.test_durability import chaos, children

pytestmark = pytest.mark.e2e

SECONDS = float(os.environ.get("CARDAN_FAULT_SECONDS", "20"))
SEED = int(os.environ.get("CARDAN_FAULT_SEED", "1"))
MOST_WAITING = 12


def lasting_scene():
    """Long enough for checkpoints: any difference in one bit would grow to the whole."""
    scene = chaos()
    scene["simulation"]["duration"] = 100.0
    return scene


SCENES = {"short": DROP, "long": lasting_scene()}
LIVE = {**DROP, "simulation": {"dt": 0.002, "duration": 1000.0}}
STEPS = 40


class Faults:
    """Kills something every now and then, and starts the service again when it was that."""

    def __init__(self, server):
        self.server = server
        self.chance = random.Random(SEED)
        self.over = threading.Event()
        self.kills = {"worker": 0, "fork server": 0, "service": 0}
        self.thread = threading.Thread(target=self.work)

    def work(self):
        # every kind happens, whatever the seed
        kinds = ["service", "fork server", "worker", "worker", "worker"]
        while not self.over.wait(self.chance.uniform(0.3, 1.5)):
            self.kill(kinds.pop() if kinds else self.chance.choice(["worker"] * 6 + ["service"]))

    def kill(self, kind):
        if kind == "service":
            self.server.kill()
            self.server.start()
        else:
            below = children(self.server.process.pid)
            parents = {pid for pid in below if children(pid)}
            victims = sorted(parents if kind == "fork server" else set(below) - parents)
            if not victims:
                return
            with contextlib.suppress(ProcessLookupError):
                os.kill(self.chance.choice(victims), signal.SIGKILL)
        self.kills[kind] += 1


class Client:
    """Submits with keys, so that a request without an answer can be repeated."""

    def __init__(self, server):
        self.server = server
        self.accepted = []
        self.session = None

    def ask(self, method, path, **more):
        """The answer of the service, whichever process it is by then."""
        until = time.monotonic() + 120
        while time.monotonic() < until:
            try:
                answer = httpx.request(method, self.server.url + path, timeout=30, **more)
            except httpx.HTTPError:
                continue
            if answer.status_code < 500 and answer.status_code != 409:
                return answer
        raise AssertionError(f"{method} {path} was not answered")

    def submit(self, path, body):
        key = {"Idempotency-Key": str(uuid.uuid4())}
        answer = self.ask("POST", path, json=body, headers=key)
        assert answer.status_code in (200, 201, 202), answer.text
        return answer.json()["id"]

    def work(self, over):
        """Simulations, batches and the steps of a session until it is over."""
        self.session = self.submit("/v1/sessions", {"scene": LIVE})
        chance = random.Random(SEED + 1)
        while not over.is_set():
            step = {"op": "step", "n": STEPS}
            self.ask("POST", f"/v1/sessions/{self.session}/commands", json=step)
            open_ = [run for run, _ in self.accepted if not self.ended(run)]
            if len(open_) < MOST_WAITING:
                kind = chance.choice(["short", "long", "batch"])
                if kind == "batch":
                    runs = [{"/bodies/1/mass": 1.0}] * 5
                    body = {"scene": DROP, "mode": "list", "runs": runs, "metrics": ["state_hash"]}
                    batch = self.submit("/v1/batches", body)
                    listed = self.ask("GET", f"/v1/batches/{batch}/runs").json()["items"]
                    assert len(listed) == 5
                    self.accepted += [(run["id"], "short") for run in listed]
                else:
                    run = self.submit("/v1/simulations", {"scene": SCENES[kind]})
                    self.accepted.append((run, kind))

    def ended(self, run):
        return self.ask("GET", f"/v1/simulations/{run}").json()["finished_at"] is not None

    def bits(self, run):
        """Hash of the final state, and of the recording."""
        summary = self.ask("GET", f"/v1/simulations/{run}/summary").json()
        recording = self.ask("GET", f"/v1/simulations/{run}/trajectory").content
        return summary["state_hash"], hashlib.sha256(recording).hexdigest()


def test_every_accepted_job_ends_once_with_the_bits_of_an_undisturbed_run(own_server):
    own_server.environ |= {"CARDAN_CHECKPOINT_S": "0.2", "CARDAN_WORKERS": "2"}
    own_server.start()
    client = Client(own_server)
    expected = {}
    for kind, scene in SCENES.items():
        run = client.submit("/v1/simulations", {"scene": scene})
        wait_for(lambda run=run: client.ended(run), 120)
        expected[kind] = client.bits(run)
    faults = Faults(own_server)
    over = threading.Event()
    submitting = threading.Thread(target=client.work, args=(over,))
    submitting.start()
    faults.thread.start()
    until = time.monotonic() + SECONDS
    wait_for(
        lambda: time.monotonic() > until and faults.kills["service"], SECONDS + 120, "the faults"
    )
    faults.over.set()
    faults.thread.join()
    over.set()
    submitting.join()
    assert all(faults.kills.values()), faults.kills
    assert {kind for _, kind in client.accepted} == set(SCENES)
    for run, kind in client.accepted:
        wait_for(lambda run=run: client.ended(run), 120, f"the end of {run}")
        info = client.ask("GET", f"/v1/simulations/{run}").json()
        assert info["status"] == "succeeded", (info, faults.kills)
        assert client.bits(run) == expected[kind], run
    the_session_did_what_its_log_says(client)
    own_server.stop()
    with sqlite3.connect(own_server.data / "cardan.sqlite3") as file:
        ends = file.execute(
            "SELECT run_id, count(*) FROM attempts WHERE outcome = 'succeeded' GROUP BY run_id"
        ).fetchall()
    file.close()
    # the two undisturbed ones as well; none ended twice
    assert len(ends) == len(client.accepted) + 2
    assert {count for _, count in ends} == {1}
    results = {path.name.rpartition("-")[0] for path in (own_server.data / "results").iterdir()}
    assert results == {run for run, _ in ends}
    assert list((own_server.data / "checkpoints").glob("*")) == []


def the_session_did_what_its_log_says(client):
    """Its state is that of a session that did the same steps and was not disturbed."""
    here = f"/v1/sessions/{client.session}"
    steps = sum(one["n"] for one in client.ask("GET", f"{here}/commands").json()["items"])
    assert steps > 0
    wait_for(lambda: client.ask("GET", f"{here}/state").json()["step"] == steps, 60)
    calm = client.submit("/v1/sessions", {"scene": LIVE})
    client.ask("POST", f"/v1/sessions/{calm}:step", json={"n": steps})
    one, other = (
        client.ask("GET", f"/v1/sessions/{session}/state").json()["state_hash"]
        for session in (client.session, calm)
    )
    assert one == other
