"""The same commands against a real server."""

import json
import re
import threading
from http.server import BaseHTTPRequestHandler, HTTPServer

import httpx
import numpy as np
import pyarrow.parquet as pq
import pytest

from cardan.service.cli import remote
from cardan.service.recordings.folder import load
from cardan.service.recordings.tables import to_numpy
from tests.cli.conftest import SCENE
from tests.service.real_server import Server, long_scene, wait_for

pytestmark = pytest.mark.e2e


@pytest.fixture(scope="module")
def url(tmp_path_factory):
    running = Server(tmp_path_factory.mktemp("data")).start()
    yield running.url
    running.stop()


def test_a_server_computes_the_same_bits(cardan, url, scene_file, tmp_path):
    here, there = tmp_path / "here", tmp_path / "there"
    assert cardan("run", scene_file, "-o", here).exit_code == 0
    result = cardan("run", scene_file, "-o", there, "--url", url, "--json")
    assert result.exit_code == 0, result.stdout + result.stderr
    one, other = load(here), load(there)
    assert set(one.tables) == set(other.tables)
    for name in one.tables["bodies"].column_names:
        a, b = (to_numpy(part.tables["bodies"][name]) for part in (one, other))
        assert np.array_equal(a, b), name
    summaries = [json.loads((path / "summary.json").read_text()) for path in (here, there)]
    assert summaries[0]["state_hash"] == summaries[1]["state_hash"]


def test_files_and_faults_come_from_the_server(cardan, url, scene_file, tmp_path):
    out = tmp_path / "out.csv"
    assert cardan("run", scene_file, "-o", out, "--url", url).exit_code == 0
    assert load(out).tables["bodies"].num_rows == 33
    scene = {"bodies": [{"name": "b", "mass": 1.0, "inertia": [1.0, 1.0, 5.0]}]}
    result = cardan("run", "-", "--url", url, text=json.dumps(scene))
    assert result.exit_code == 2
    assert "/bodies/0/inertia" in result.stderr


@pytest.mark.parametrize("url", ["nonsense", "localhost:8000", "http://a:b"])
def test_what_is_no_address_is_refused_and_named(cardan, scene_file, url):
    result = cardan("run", scene_file, "--url", url)
    assert result.exit_code == 2
    assert f"--url needs the address of a server; found '{url}'." in result.stderr


def test_a_batch_runs_on_the_server(cardan, url, tmp_path):
    ask = {"scene": SCENE, "variations": {"/bodies/1/mass": [1.0, 2.0]}}
    (tmp_path / "batch.json").write_text(json.dumps(ask))
    out = tmp_path / "r.parquet"
    assert cardan("batch", tmp_path / "batch.json", "-o", out, "--url", url).exit_code == 0
    assert pq.read_table(out)["status"].to_pylist() == ["succeeded"] * 2


def test_a_run_is_followed_through_a_restart_of_its_server(cardan, tmp_path):
    out, ended = tmp_path / "out.csv", []
    (tmp_path / "long.json").write_text(json.dumps(long_scene(steps=400_000)))
    running = Server(tmp_path / "data").start()
    running.port = int(running.url.rpartition(":")[2])
    call = ("run", tmp_path / "long.json", "-o", out, "--url", running.url)
    following = threading.Thread(target=lambda: ended.append(cardan(*call)))
    try:
        with running.client() as client:
            following.start()
            wait_for(
                lambda: (
                    client.get("/v1/simulations").json()["items"]
                    and client.get("/v1/simulations").json()["items"][0]["step"]
                )
            )
        running.stop()
        running.start()
        following.join(600)
    finally:
        running.stop()
    assert ended[0].exit_code == 0, ended[0].stderr
    assert load(out).tables["bodies"].num_rows > 4


def test_a_server_that_is_not_there_is_said(cardan, scene_file):
    result = cardan("run", scene_file, "--url", "http://127.0.0.1:9")
    assert result.exit_code == 3
    assert "cannot be reached" in result.stderr


def test_an_interrupted_wait_says_where_the_run_goes_on(url, capsys):
    def interrupt(*_):
        raise KeyboardInterrupt

    with remote.Server(url) as server, pytest.raises(KeyboardInterrupt):
        server.run(long_scene(), interrupt)
    said = capsys.readouterr().err
    (run,) = re.findall(rf"{url}/v1/simulations/sim_\w+(?=;)", said)
    assert f"{run}:cancel" in said
    assert httpx.post(f"{run}:cancel").is_success


def test_the_end_of_a_run_is_waited_for(cardan, scene_file, url):
    asked = []

    class Through(BaseHTTPRequestHandler):
        """Hands requests on to the server, and keeps what they prefer."""

        def do_POST(self):
            body = self.rfile.read(int(self.headers.get("content-length", 0)))
            headers = {"Content-Type": "application/json"} if body else {}
            prefer = self.headers.get("prefer")
            asked.append((self.command, prefer))
            answer = httpx.request(
                self.command,
                url + self.path,
                content=body,
                headers=headers | ({"Prefer": prefer} if prefer else {}),
            )
            self.send_response(answer.status_code)
            self.send_header("Content-Length", str(len(answer.content)))
            self.end_headers()
            self.wfile.write(answer.content)

        do_GET = do_POST

        def log_message(self, *_):
            pass

    with HTTPServer(("127.0.0.1", 0), Through) as between:
        threading.Thread(target=between.serve_forever, daemon=True).start()
        result = cardan("run", scene_file, "--url", f"http://127.0.0.1:{between.server_port}")
        between.shutdown()
    assert result.exit_code == 0, result.stderr
    # the last one asks for the summary
    assert {prefer for _, prefer in asked[:-1]} == {"wait=1"}


@pytest.mark.parametrize("keys", ["one-key two-key", "one-key,two-key", "one-key\ntwo-key"])
def test_the_first_key_is_sent_however_keys_are_separated(monkeypatch, keys):
    heard = []

    class Listener(BaseHTTPRequestHandler):
        def do_GET(self):
            heard.append(self.headers["authorization"])
            self.send_response(200)
            self.end_headers()

        def log_message(self, *_):
            pass

    monkeypatch.setenv("CARDAN_API_KEY", keys)
    with HTTPServer(("127.0.0.1", 0), Listener) as listener:
        answering = threading.Thread(target=listener.handle_request)
        answering.start()
        with remote.Server(f"http://127.0.0.1:{listener.server_port}") as server:
            server.ask("GET", "/")
        answering.join()
    assert heard == ["Bearer one-key"]
