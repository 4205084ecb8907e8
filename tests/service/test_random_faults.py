"""Whatever can die is killed at random while clients submit and watch: workers, the compute pool,
imports, the fork server, the service, connections to the database.

`CARDAN_FAULT_SECONDS` says for how long (12 s); `CARDAN_FAULT_SEED` which faults.
"""

import contextlib
import hashlib
import io
import os
import random
import signal
import threading
import time
import uuid
import zipfile
from concurrent.futures import ThreadPoolExecutor
from importlib.util import find_spec
from pathlib import Path

import httpx
import pytest
from sqlalchemy import text

from cardan.service.simulations.postgres import open_postgres
from cardan.service.simulations.sqlite import open_database
from tests.service.real_server import DROP, wait_for
from tests.service.test_durability import chaos, children

pytestmark = pytest.mark.e2e

SECONDS = float(os.environ.get("CARDAN_FAULT_SECONDS", "12"))
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


def zipped_model():
    """A ball, as a model of another program."""
    archive = io.BytesIO()
    with zipfile.ZipFile(archive, "w") as file:
        ball = '<body pos="0 0 1"><freejoint/><geom type="sphere" size="0.1"/></body>'
        file.writestr("model.xml", f"<mujoco><worldbody>{ball}</worldbody></mujoco>")
    return archive.getvalue()


MODEL = zipped_model()


# once each, whatever the seed; imports need the compiler of their models
KINDS = ["service", "fork server", "database", "compute", "sessions", "simulations"]
if find_spec("mujoco") is not None:
    KINDS.append("importer")
OFTEN = ["simulations"] * 4 + ["compute"] * 2 + KINDS
# of another process than the service
WORKERS = {"simulations", "sessions", "compute"}
HELD_SECONDS = 0.5
# what a short run takes on a quiet machine; on a slower one kills are farther apart, as a run that
# has lost its workers three times, and got nowhere in between, has failed
SHORT_SECONDS = 0.5


class Faults:
    """Kills something every now and then, and starts the service again when it was that."""

    def __init__(self, server, database, pace):
        self.server = server
        self.database = database
        self.pace = pace
        self.chance = random.Random(SEED)
        self.over = threading.Event()
        self.kills = dict.fromkeys(KINDS, 0)
        self.thread = threading.Thread(target=self.work)

    @property
    def done(self):
        """Whether every kind has happened."""
        return all(self.kills.values())

    def work(self):
        first = list(KINDS)
        self.chance.shuffle(first)
        while not self.over.wait(self.pace * self.chance.uniform(0.2, 1.0)):
            kind = first[-1] if first else self.chance.choice(OFTEN)
            if self.kill(kind):
                self.kills[kind] += 1
                if first:
                    first.pop()

    def kill(self, kind):
        """Whether there was something to kill."""
        if kind == "service":
            self.server.kill()
            self.server.start()
            return True
        if kind == "database":
            return self.database.disturb()
        if kind == "importer":
            return self.strike(lambda pid: "compute.importer" in command(pid), patience=500)
        if kind == "fork server":
            return self.strike(
                lambda pid: "multiprocessing.forkserver" in command(pid) and children(pid)
            )
        return self.strike(lambda pid: name(pid) == kind, patience=100)

    def strike(self, suits, patience=1):
        """Kill a process below the service that suits; look for one so often."""
        for _ in range(patience):
            victims = sorted(pid for pid in children(self.server.process.pid) if suits(pid))
            if victims:
                with contextlib.suppress(ProcessLookupError):
                    os.kill(self.chance.choice(victims), signal.SIGKILL)
                return True
            if self.over.wait(0.01):
                return False
        return False


def name(pid):
    """What a process calls itself."""
    return _read(pid, "comm").strip()


def command(pid):
    """The words a process was started with."""
    return _read(pid, "cmdline")


def _read(pid, file):
    with contextlib.suppress(OSError):
        return Path(f"/proc/{pid}/{file}").read_text(errors="replace")
    return ""


class EmbeddedDatabase:
    """The file of a service that is alone: its fault is a lock that somebody holds."""

    def __init__(self, server):
        self.path = server.data / "cardan.sqlite3"

    def disturb(self):
        """Keep everybody from writing for a while, and write nothing."""
        engine = open_database(self.path)
        with (
            engine.execution_options(writes=True).connect() as connection,
            connection.begin() as held,
        ):
            threading.Event().wait(HELD_SECONDS)
            held.rollback()
        engine.dispose()
        return True

    def engine(self):
        return open_database(self.path)


class ServerDatabase:
    """PostgreSQL, which ends connections."""

    def __init__(self, server):
        self.url = server.environ["CARDAN_DATABASE_URL"]

    def disturb(self):
        """End every connection of the service, also those in the middle of a transaction."""
        engine = self.engine()
        with engine.connect() as connection:
            ended = connection.execute(
                text(
                    "SELECT count(pg_terminate_backend(pid)) FROM pg_stat_activity "
                    "WHERE datname = current_database() AND pid <> pg_backend_pid()"
                )
            ).scalar_one()
        engine.dispose()
        return ended > 0

    def engine(self):
        return open_postgres(self.url)


@pytest.fixture(params=["embedded", "postgres"])
def database(request, own_server):
    """The database of a server that is not started yet."""
    own_server.environ |= {"CARDAN_CHECKPOINT_S": "0.2", "CARDAN_WORKERS": "2"}
    if request.param == "embedded":
        return EmbeddedDatabase(own_server)
    address = request.getfixturevalue("postgres").database()
    own_server.environ |= {"CARDAN_DATABASE_URL": address, "CARDAN_LEASE_S": "5"}
    return ServerDatabase(own_server)


class Client:
    """Submits with keys, so that a request without an answer can be repeated."""

    def __init__(self, server):
        self.server = server
        self.accepted = []
        self.session = None

    def ask(self, method, path, **more):
        """The answer of the service, whichever process it is by then."""
        until = time.monotonic() + 600
        while time.monotonic() < until:
            try:
                answer = httpx.request(method, self.server.url + path, timeout=30, **more)
            except httpx.HTTPError:
                continue
            if answer.status_code < 500 and answer.status_code != 409:
                return answer
            time.sleep(0.01)
        raise AssertionError(f"{method} {path} was not answered")

    def submit(self, path, body):
        key = {"Idempotency-Key": str(uuid.uuid4())}
        answer = self.ask("POST", path, json=body, headers=key)
        assert answer.status_code in (200, 201, 202), answer.text
        return answer.json()["id"]

    def answers(self):
        """What the compute pool and the import say: always the same."""
        model = self.ask("POST", "/v1/dynamics/model", json={"scene": "double-pendulum"})
        assert model.status_code == 200, model.text
        if "importer" not in KINDS:
            return model.json()
        zipped = {"Content-Type": "application/zip"}
        found = self.ask("POST", "/v1/scenes:import", content=MODEL, headers=zipped)
        assert found.status_code == 200, found.text
        return model.json(), found.json()

    def question(self, over, expected):
        """Ask the same again and again until it is over."""
        while not over.is_set():
            assert self.answers() == expected

    def work(self, over):
        """Simulations, batches and the steps of a session until it is over."""
        self.session = self.submit("/v1/sessions", {"scene": LIVE})
        chance = random.Random(SEED + 1)
        kinds = ["long", "short", "batch"]
        while not over.is_set():
            step = {"op": "step", "n": STEPS}
            self.ask("POST", f"/v1/sessions/{self.session}/commands", json=step)
            open_ = [run for run, _ in self.accepted if not self.ended(run)]
            if len(open_) < MOST_WAITING:
                # every kind is there, however slow the machine
                kind = kinds.pop() if kinds else chance.choice(["short", "long", "batch"])
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


def test_every_accepted_job_ends_once_with_the_bits_of_an_undisturbed_run(own_server, database):
    own_server.start()
    client = Client(own_server)
    expected = {}
    for kind, scene in SCENES.items():
        run = client.submit("/v1/simulations", {"scene": scene})
        wait_for(lambda run=run: client.ended(run), 120)
        expected[kind] = client.bits(run)
    began = time.monotonic()
    run = client.submit("/v1/simulations", {"scene": DROP})
    wait_for(lambda: client.ended(run), 120)
    faults = Faults(own_server, database, max(1.0, (time.monotonic() - began) / SHORT_SECONDS))
    over = threading.Event()
    with ThreadPoolExecutor(2) as threads, contextlib.ExitStack() as ending:
        # also when something is asserted
        ending.callback(over.set)
        ending.callback(faults.over.set)
        asking = threads.submit(client.question, over, client.answers())
        submitting = threads.submit(client.work, over)
        faults.thread.start()
        until = time.monotonic() + SECONDS

        def seen():
            """Every kind of fault, and of work, however slow the machine."""
            return faults.done and {kind for _, kind in client.accepted} == set(SCENES)

        wait_for(
            lambda: submitting.done() or asking.done() or (time.monotonic() > until and seen()),
            SECONDS + 600,
            "every kind of fault and of work",
        )
        faults.over.set()
        faults.thread.join()
        over.set()
        submitting.result()
        asking.result()
    for run, kind in client.accepted:
        wait_for(lambda run=run: client.ended(run), 120, f"the end of {run}")
        info = client.ask("GET", f"/v1/simulations/{run}").json()
        assert info["status"] == "succeeded", (info, faults.kills)
        assert client.bits(run) == expected[kind], run
    the_session_did_what_its_log_says(client)
    own_server.stop()
    engine = database.engine()
    with engine.connect() as connection:
        ends = connection.execute(
            text(
                "SELECT run_id, count(*) FROM attempts WHERE outcome = 'succeeded' GROUP BY run_id"
            )
        ).all()
    engine.dispose()
    # the undisturbed ones as well; none ended twice
    assert len(ends) == len(client.accepted) + len(SCENES) + 1
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
