"""The Python client against a real server."""

import asyncio
import json
import re
import threading
import time
from concurrent.futures import as_completed
from http.server import BaseHTTPRequestHandler, HTTPServer
from typing import ClassVar

import httpx
import numpy as np
import pytest
from cardan_client import AsyncClient, Client, Problem, RunFailed, aio
from cardan_client.aio import may_help, may_repeat
from cardan_client.errors import problem_of
from cardan_client.frames import CONTACTS, ENERGY, EVENTS, JOINTS, SOLVER, decode

import cardan
from cardan.engine import Dynamics
from cardan.schemas import frame as theirs
from cardan.schemas.quantised import quantise
from tests.service.real_server import DROP, Server, long_scene, wait_for

pytestmark = pytest.mark.e2e

MASS = "/bodies/1/mass"


@pytest.fixture
def client(server):
    with Client(server.url) as made:
        yield made


def test_a_run_has_the_arrays_that_the_engine_computes(client):
    result = client.run(DROP, {MASS: 2.0})
    track = client.trajectory(result)
    scene = cardan.load_scene(cardan.apply_overrides(DROP, {MASS: 2.0}))
    recording, summary = cardan.run(scene)
    assert result.metric("state_hash") == summary["state_hash"]
    assert np.array_equal(track.poses, recording.poses())
    assert np.array_equal(track.times, recording.times())
    assert track.bodies == ("floor", "ball 0", "ball 1", "ball 2")
    assert track.velocities.shape == (*track.poses.shape[:2], 6)
    assert track.units["bodies"]["px"] == "m"
    assert set(track.tables) >= {"bodies", "contacts", "energy", "solver"}
    part = client.trajectory(result.id, stride=2, bodies="ball 1")
    assert part.bodies == ("ball 1",)
    assert np.array_equal(part.poses[:, 0], track.poses[::2, 2])
    middle = client.trajectory(result.id, from_=0.05, to=0.1, bodies=["ball 1", "floor"])
    assert middle.bodies == ("floor", "ball 1")
    assert middle.times.min() >= 0.05
    with pytest.raises(ValueError, match="no recorded time lies between"):
        client.trajectory(result, from_=5.0)
    named = {**DROP, "bodies": [*DROP["bodies"][:-1], {**DROP["bodies"][-1], "name": 'a, "b"'}]}
    other = client.run(named)
    assert client.trajectory(other, bodies=['a, "b"']).bodies == ('a, "b"',)


def test_faults_are_problems_with_pointers(client):
    with pytest.raises(Problem) as caught:
        client.run(DROP, {MASS: -1.0})
    assert (caught.value.status, caught.value.code) == (422, "scene_invalid")
    assert caught.value.errors[0]["pointer"] == "/overrides/~1bodies~11~1mass"
    assert "/overrides/~1bodies~11~1mass" in str(caught.value)
    assert not client.validate({**DROP, "bodies": 3})["valid"]
    assert "pile" in client.examples()


def test_what_is_wrong_is_said_once(client):
    balls = [{**DROP["bodies"][1], "name": f"b{i}", "velocity": [1, 0, 0]} for i in range(50)]
    with pytest.raises(Problem) as caught:
        client.run({"bodies": balls})
    assert len(caught.value.errors) == 50
    said = str(caught.value)
    assert "/scene/bodies/0/velocity and 49 more, the last /scene/bodies/49/velocity" in said
    assert "Did you mean 'linear_velocity'?" in said
    assert len(said.splitlines()) == 2
    with pytest.raises(Problem) as one:
        client.run("double_pendulum")
    assert str(one.value).count("There is no example") == 1
    assert "Did you mean 'double-pendulum'?" in str(one.value)


def test_results_are_shown_in_a_line(client):
    result = client.run(DROP)
    assert repr(result) == f"<Result {result.id}: succeeded, trusted>"
    assert repr(client.trajectory(result)) == "<Trajectory: 11 frames of 4 bodies, 0 to 0.2 s>"


def test_a_service_that_is_not_there_is_named():
    with pytest.raises(httpx.ConnectError) as caught:
        Client("http://127.0.0.1:9").examples()
    assert "http://127.0.0.1:9" in "".join(caught.value.__notes__)
    with pytest.raises(httpx.ConnectError) as caught:
        Client("http://127.0.0.1:9", patience_s=0.0).examples()
    (told,) = caught.value.__notes__
    assert re.fullmatch(r"asked once of http://127\.0\.0\.1:9 in \d+\.\d s", told)


@pytest.mark.parametrize("url", ["nonsense", "127.0.0.1:9", "localhost:8000", "http://a:b", ""])
def test_what_is_no_address_is_refused_and_named(url):
    with pytest.raises(httpx.UnsupportedProtocol, match=re.escape(f"found {url!r}")):
        Client(url)


def test_a_service_that_starts_again_is_waited_for(tmp_path, monkeypatch):
    """For longer than one that was never there, also with a command: nobody has heard it."""
    tries = []

    async def note(request):
        tries.append(request.url.path)

    running = Server(tmp_path).start()
    running.port = int(running.url.rpartition(":")[2])
    with Client(running.url, event_hooks={"request": [note]}) as client:
        session = client.session(DROP)
        running.stop()
        asked, stepped = [], threading.Thread(target=lambda: asked.append(session.step(3)))
        stepped.start()
        # what was given up after three seconds had five
        wait_for(lambda: len(tries) > 7)
        running.start()
        stepped.join()
        running.stop()
        # that of another is so long that no machine is as slow
        monkeypatch.setattr(aio, "FIRST_PATIENCE_SECONDS", 120.0)
        began = time.monotonic()
        with Client(running.url, patience_s=1.0) as hasty, pytest.raises(httpx.ConnectError):
            hasty.examples()
        assert time.monotonic() - began < 50.0
    assert asked[0]["step"] == 3


def test_what_the_service_says_of_when_is_followed():
    def refused(status, **headers):
        return problem_of(httpx.Response(status, json={"retryable": True}, headers=headers))

    # a request whose answer was lost is still being answered
    again = refused(409, **{"Retry-After": "1"})
    assert again.retry_after_s == 1.0
    assert may_help(again, "POST", "/v1/simulations")
    assert not may_help(again, "POST", "/v1/sessions/ses_1/commands")
    assert not may_help(refused(409), "GET", "/v1/studies/study_1/scene")
    assert may_help(refused(503), "GET", "/v1/limits")
    lost = httpx.ReadError("")
    assert not may_help(lost, "POST", "/v1/sessions/ses_1/commands")
    assert may_help(httpx.ConnectError(""), "POST", "/v1/sessions/ses_1/commands")


def test_a_client_that_is_closed_says_so(server):
    client = Client(server.url)
    client.close()
    client.close()
    with pytest.raises(RuntimeError, match="the client is closed"):
        client.examples()


def test_a_study_finds_the_lightest_ball(client):
    """What rests on the floor has the energy m g r, so the least mass is the best."""
    objective = {"type": "metric", "metric": "energy.final"}
    study = client.study(DROP, {MASS: (1.0, 2.0)}, objective, tolerance=0.05)
    info = study.wait()
    assert info["best"]["values"] == {MASS: 1.0}
    least = min(study.table(), key=lambda row: row["objective"])
    assert (least["run"], least[MASS]) == (info["best"]["run"], 1.0)
    assert study.scene()["bodies"][1]["mass"] == 1.0
    with pytest.raises(Problem, match="/variables/0/lower"):
        client.study(DROP, {MASS: (2.0, 1.0)}, objective)


def test_a_run_that_is_stopped_says_why(client):
    with pytest.raises(RunFailed, match="timeout_s") as caught:
        client.run(long_scene(), timeout_s=0.2)
    assert caught.value.error["code"] == "timed_out"


def test_map_gives_futures_in_the_order_of_the_grid(client):
    masses = np.array([1.0, 2.0, 4.0])
    futures = client.map(DROP, {MASS: masses, "/bodies/2/mass": [1.0, 3.0]}, metrics=["steps"])
    assert len(futures) == 6
    done = [future.result(timeout=60) for future in as_completed(futures, timeout=60)]
    assert len(done) == 6
    results = [future.result() for future in futures]
    assert [r.overrides[MASS] for r in results] == [1.0, 1.0, 2.0, 2.0, 4.0, 4.0]
    assert [dict(one) for one in futures.overrides] == [dict(r.overrides) for r in results]
    assert len({r.metric("state_hash") for r in results}) == 6
    assert futures.wait()["status"] == "succeeded"
    assert [row["steps"] for row in futures.table()] == [100] * 6
    source = {MASS: {"type": "uniform", "low": 1, "high": 2}}
    drawn = client.map(DROP, source, mode="sobol", samples=2)
    listed = client.map(DROP, [{MASS: 3.0}])
    assert 1.0 <= drawn[0].result(timeout=60).overrides[MASS] <= 2.0
    assert listed[0].result(timeout=60).overrides == {MASS: 3.0}


def test_stored_scenes_are_changed_by_one_at_a_time_and_run(client):
    scene = client.store(DROP)
    assert scene.info["revision"] == 1
    assert scene.id in [one.id for one in client.stored()]
    (other,) = [one for one in client.stored() if one.id == scene.id]
    scene.patch({"simulation": {"duration": 0.1}, "record": None})
    changed = scene.read()
    assert changed["simulation"] == {"dt": 0.002, "duration": 0.1}
    assert "record" not in changed
    with pytest.raises(Problem) as caught:
        other.replace(DROP)
    assert (caught.value.status, caught.value.code) == (412, "precondition_failed")
    assert other.read() == changed
    other.replace({**DROP, "name": "again"})
    assert other.info["revision"] == 3
    result = client.run(scene.id)
    assert result.info["stored_scene"] == {"id": scene.id, "revision": 3}
    assert result.metric("state_hash") == client.run(DROP).metric("state_hash")
    other.delete()
    with pytest.raises(Problem) as gone:
        scene.read()
    assert gone.value.status == 404


def test_earlier_revisions_of_a_stored_scene_come_back(client):
    scene = client.store(DROP)
    scene.patch({"name": "second"})
    assert [one["revision"] for one in scene.revisions()] == [2, 1]
    assert scene.read_revision(1) == DROP
    assert scene.read_revision(2) == {**DROP, "name": "second"}
    scene.restore(1)
    assert scene.info["revision"] == 3
    assert scene.read() == DROP
    # the next change is of what was restored
    scene.patch({"name": "fourth"})
    with pytest.raises(Problem) as caught:
        scene.restore(9)
    assert caught.value.status == 404
    scene.delete()


def test_links_to_a_stored_scene_are_made_and_revoked(client):
    scene = client.store(DROP)
    made = scene.share("the class", expires_in_s=3600.0)
    other = scene.share()
    assert made["url"] == f"/?share={made['token']}"
    assert [(one["id"], one["name"]) for one in scene.shares()] == [
        (made["id"], "the class"),
        (other["id"], ""),
    ]
    scene.revoke(made["id"])
    assert [one["id"] for one in scene.shares()] == [other["id"]]
    scene.delete()


def test_a_session_is_steered(client):
    with client.session(DROP) as session:
        first = session.state()
        kept = session.snapshot()
        assert session.step(10)["step"] == 10
        series = session.step(10, sample_every=5)["series"]
        assert [row["step"] for row in series] == [15, 20]
        moved = session.state()
        assert moved.step == 20
        assert moved.poses.shape == (4, 7)
        assert moved.poses[1, 2] < first.poses[1, 2]
        session.restore(kept)
        assert session.state().state_hash == first.state_hash
        session.apply_force("ball 0", [100.0, 0.0, 0.0])
        session.step(1)
        assert session.state().velocities[1, 0] == pytest.approx(100.0 * 0.002, rel=1e-3)
    with pytest.raises(Problem) as caught:
        session.state()
    assert caught.value.status in (404, 410)


def test_a_session_is_forked(client):
    with client.session(DROP) as session:
        session.step(10)
        then = session.state()
        session.step(10)
        with session.fork(step=10, name="other") as fork, fork.fork() as again:
            assert fork.state().state_hash == again.state().state_hash == then.state_hash
            fork.step(10)
            assert fork.state().state_hash == session.state().state_hash
            assert again.state().step == 10
        with session.fork(time=0.02) as nearest:
            assert nearest.state().step == 10
        with pytest.raises(Problem) as caught:
            session.fork(step=1000)
    assert caught.value.code == "step_out_of_range"


def test_who_takes_control_of_a_session_steers_alone(client, server):
    with client.session(DROP) as session, Client(server.url) as other:
        pause = f"/v1/sessions/{session.id}/commands", {"op": "pause"}
        session.take_control()
        session.take_control()
        session.step(1)
        with pytest.raises(Problem) as caught:
            other.post(*pause)
        assert caught.value.code == "control_taken"
        session.release_control()
        other.post(*pause)


def test_leaving_a_session_that_ended_keeps_the_error_of_the_body(client):
    def body(session):
        client.delete(f"/v1/sessions/{session.id}")
        raise KeyError("mine")

    with pytest.raises(KeyError, match="mine"), client.session(DROP) as session:
        body(session)
    session.close()


def test_frames_stream_to_a_coroutine(server):
    async def watch():
        async with AsyncClient(server.url) as client:
            session = await client.session("double-pendulum", {"/simulation/duration": 60.0})
            async with session:
                await session.resume()
                seen = []
                async for frame in session.frames(hz=60, channels=("poses", "energy")):
                    seen.append(frame)
                    if len(seen) == 12:
                        break
                return seen

    seen = asyncio.run(watch())
    assert [frame.sequence for frame in seen] == sorted({frame.sequence for frame in seen})
    assert seen[-1].time > seen[0].time
    quaternions = seen[-1].poses[:, 3:]
    assert np.allclose(np.linalg.norm(quaternions, axis=1), 1.0, atol=1e-6)
    energies = [frame.tables["energy"]["total"][0] for frame in seen if "energy" in frame.tables]
    assert np.ptp(energies) <= 1e-3 * abs(energies[0])


def test_frames_that_are_refused_are_problems(server):
    async def watch(**how):
        async with AsyncClient(server.url) as client, await client.session("pile") as session:
            async with asyncio.timeout(30.0):
                return await anext(session.frames(**how))

    with pytest.raises(Problem, match="There is no channel 'pose'; there are contacts") as caught:
        asyncio.run(watch(channels=["poses", "pose"]))
    assert (caught.value.status, caught.value.code) == (422, "unknown_channel")
    with pytest.raises(Problem, match="/channels/poses/hz") as caught:
        asyncio.run(watch(hz=0.0))
    assert caught.value.code == "message_invalid"


def test_frames_end_with_the_session(server):
    """Also when it ends between a frame and its acknowledgement."""

    async def watch():
        async with AsyncClient(server.url) as client:
            session = await client.session("double-pendulum")
            await session.resume()
            seen = 0
            async for _ in session.frames():
                seen += 1
                if seen == 3:
                    await session.close()
            return seen

    assert asyncio.run(watch()) >= 3


def test_frames_are_read_as_the_service_writes_them():
    header = theirs.FrameHeader(7, 0.5, 2, 9, dropped=3)
    poses = np.arange(14.0).reshape(2, 7)
    tables = {
        theirs.BlockTag.STATE_HASH: theirs.row_from(theirs.BlockTag.STATE_HASH, {"hash": 5}),
        theirs.BlockTag.POSES: theirs.poses_table(poses),
        theirs.BlockTag.ENERGY: theirs.row_from(theirs.BlockTag.ENERGY, {"total": 2.5}),
    }
    found = decode(theirs.encode_frame(header, tables))
    assert (found.step, found.time, found.epoch, found.sequence) == (7, 0.5, 2, 9)
    assert found.dropped == 3
    assert np.array_equal(found.poses, poses)
    assert found.tables["energy"]["total"] == 2.5
    ours = (CONTACTS, JOINTS, ENERGY, SOLVER, EVENTS)
    names = ("CONTACT", "JOINT", "ENERGY", "SOLVER", "EVENT")
    assert [getattr(theirs, f"{name}_DTYPE") for name in names] == list(ours)
    with pytest.raises(ValueError, match="40 bytes"):
        decode(b"short")


def test_quantised_frames_are_read_as_the_service_writes_them():
    rng = np.random.default_rng(1)
    q = rng.normal(size=(40, 4))
    poses = theirs.poses_table(
        np.hstack([9.0 * rng.random((40, 3)), q / np.linalg.norm(q, axis=1, keepdims=True)])
    )
    quantised = quantise(poses)
    assert quantised is not None
    table, box = quantised
    blocks = {theirs.BlockTag.QUANTISED: table, theirs.BlockTag.QUANTISED_BOX: box}
    found = decode(theirs.encode_frame(theirs.FrameHeader(7, 0.5), blocks))
    sent = poses.view("<f4").reshape(40, 7)
    # q and -q are the same rotation
    same = np.sign((found.poses[:, 3:] * sent[:, 3:]).sum(axis=1, keepdims=True))
    assert np.abs(found.poses[:, 3:] - same * sent[:, 3:]).max() < 7e-5
    assert np.abs(found.poses[:, :3] - sent[:, :3]).max() <= 0.51 * box["step"].max()


def test_quantised_frames_stream_on_request(server):
    """Of a run that pauses: the same moment as it is, and quantised."""

    async def looked(session, **how):
        # a viewer may come while the last steps are done
        frames = session.frames(hz=60, **how)
        return await anext(frame async for frame in frames if frame.step == 50)

    async def watch():
        async with AsyncClient(server.url) as client:
            session = await client.session("pile")
            async with session:
                await session.step(50)
                exact = await looked(session)
                return exact, await looked(session, quantised=True)

    exact, compact = asyncio.run(watch())
    assert exact.step == compact.step == 50
    assert exact.poses.shape == compact.poses.shape
    assert not np.array_equal(exact.poses, compact.poses)
    extent = np.ptp(exact.poses[:, :3], axis=0)
    assert (np.abs(exact.poses - compact.poses)[:, :3] <= extent / 131_070 + 1e-6).all()
    turned = np.abs((exact.poses[:, 3:] * compact.poses[:, 3:]).sum(axis=1))
    assert turned.min() > np.cos(0.5 * 1.6e-4) - 1e-6


class LossyProxy(BaseHTTPRequestHandler):
    """Forwards requests, and loses the answer to the first POST."""

    target = ""
    lost: ClassVar[list[str]]

    def forward(self):
        length = int(self.headers.get("content-length", 0))
        kept = {k: v for k, v in self.headers.items() if k.lower() != "host"}
        answer = httpx.request(
            self.command, self.target + self.path, headers=kept, content=self.rfile.read(length),
            timeout=60,
        )  # fmt: skip
        if self.command == "POST" and not self.lost:
            self.lost.append(answer.json()["id"])
            self.close_connection = True
            return
        self.send_response(answer.status_code)
        self.send_header("Content-Type", answer.headers["content-type"])
        self.send_header("Content-Length", str(len(answer.content)))
        self.end_headers()
        self.wfile.write(answer.content)

    do_GET = do_POST = forward

    def log_message(self, *_):
        """Say nothing."""


def test_a_lost_answer_creates_nothing_twice(server):
    class Handler(LossyProxy):
        target = server.url
        lost: ClassVar[list[str]] = []

    proxy = HTTPServer(("127.0.0.1", 0), Handler)
    thread = threading.Thread(target=proxy.serve_forever)
    thread.start()
    try:
        with Client(f"http://127.0.0.1:{proxy.server_port}") as client:
            result = client.run(DROP)
        assert [result.id] == Handler.lost
    finally:
        proxy.shutdown()
        thread.join()
        proxy.server_close()


def test_what_would_be_the_same_again_is_asked_once(tmp_path):
    """An equilibrium that takes longer than an answer may."""
    hang = {"mass": 0.1, "inertia": [1e-4, 1e-4, 1e-4]}
    links = [{"name": f"b{k}", "position": [0.1 * k, 0, 0], **hang} for k in range(300)]
    balls = [
        {"name": f"j{k}", "type": "ball", "child": f"b{k}", "anchor": [0.1 * k, 0, 0.05]}
        | {"parent": f"b{k - 1}" if k else "world"}
        for k in range(300)
    ]
    asked = []

    async def note(answer):
        asked.append(answer.status_code)

    running = Server(tmp_path, {"CARDAN_ANSWER_S": "1"}).start()
    try:
        with (
            Client(running.url, event_hooks={"response": [note]}) as client,
            pytest.raises(Problem) as caught,
        ):
            client.statics({"version": 1, "bodies": links, "joints": balls})
    finally:
        running.stop()
    assert caught.value.code == "compute_timed_out"
    assert asked == [504]


def test_commands_are_sent_once():
    assert may_repeat("POST", "/v1/simulations")
    assert may_repeat("POST", "/v1/scenes")
    for path in ("statics", "linearization", "inverse-kinematics", "dynamics/bias"):
        assert may_repeat("POST", f"/v1/{path}")
    assert may_repeat("POST", "/v1/sessions/ses_1:fork")
    assert not may_repeat("POST", "/v1/sessions/ses_1/commands")
    assert not may_repeat("PATCH", "/v1/scenes/scene_1")
    assert not may_repeat("DELETE", "/v1/sessions/ses_1")


def test_mechanics_are_those_of_the_engine(client):
    rise = {"/simulation/duration": 1.0}
    scene = cardan.load_scene(
        cardan.apply_overrides(json.loads(cardan.example_text("robot-arm")), rise)
    )
    tilt = {"acceleration": np.array([1.0, 0.0, 0.0])}
    still, expected = client.statics("robot-arm", rise, load=tilt), cardan.statics(scene, load=tilt)
    assert (still.status, still.reason) == ("equilibrium", "")
    assert still.bodies == tuple(body.name for body in scene.bodies)
    assert np.array_equal(still.poses, expected.poses)
    assert set(still.coordinates) == {"waist", "shoulder", "elbow", "wrist"}
    assert still.document["margin"] == vars(expected.margin)

    hanging = {"shoulder": np.pi / 2}
    model = client.linearize("double-pendulum", q=hanging, shapes=False)
    pendulum = cardan.load_scene(cardan.example_text("double-pendulum"))
    linear = cardan.linearize(pendulum, hanging)
    for name in ("A", "B", "C", "D", "x0", "u0", "y0", "f0", "mass"):
        assert np.array_equal(getattr(model, name), getattr(linear, name)), name
    assert (model.coordinates, model.inputs) == (("shoulder", "elbow"), ())
    assert (model.B.shape, model.D.shape) == ((4, 0), (2, 0))
    assert model.eigenvalues.tolist() == [mode.eigenvalue for mode in linear.modes]
    assert model.frequencies.tolist() == [mode.frequency for mode in linear.modes]
    nothing = client.linearize("double-pendulum", inputs=[], outputs=[])
    assert (nothing.C.shape, nothing.D.shape) == ((0, 4), (0, 0))

    target = {"body": "hand", "position": np.array([0.5, 0.2, 0.7])}
    pose, reached = (
        client.inverse_kinematics("robot-arm", [target], rise, q={"elbow": 0.1}),
        cardan.inverse_kinematics(scene, [target], q={"elbow": 0.1}),
    )
    assert pose.found is reached.found is True
    assert {name: q.tolist() for name, q in pose.coordinates.items()} == reached.coordinates
    assert pose.errors.shape == (1, 2)
    assert pose.errors.max() < 1e-8
    with pytest.raises(Problem, match="/targets/0/body") as caught:
        client.inverse_kinematics("robot-arm", [{**target, "body": "hind"}])
    assert caught.value.errors[0]["hint"] == "Did you mean 'hand'?"
    with pytest.raises(TypeError, match="object cannot be sent"):
        client.statics({"bodies": [object()]})


def test_dynamics_are_those_of_the_engine(client):
    scene = cardan.load_scene(cardan.example_text("double-pendulum"))
    dynamics = Dynamics(scene)
    q, qd = np.array([[0.0, 0.0], [0.1, -0.2]]), np.array([[1.0, 2.0]])
    layout = client.dynamics("model", "double-pendulum")
    assert (layout["nq"], layout["bodies"]) == (2, ["upper", "lower"])
    tau = client.dynamics("inverse", "double-pendulum", q=q, qd=qd, qdd=[[0.5, 0.0]])["tau"]
    assert np.array_equal(tau, dynamics.inverse_dynamics(q, qd, [[0.5, 0.0]]))
    masses = client.dynamics("mass-matrix", "double-pendulum", q=q)["mass_matrix"]
    assert np.array_equal(masses, dynamics.mass_matrix(q))
    found = client.dynamics("jacobian", "double-pendulum", q=q, body="lower")
    assert np.array_equal(found["jacobian"], dynamics.jacobian(q, "lower"))
    assert found.keys() == {"jacobian"}
    with pytest.raises(Problem, match="/qd"):
        client.dynamics("bias", "double-pendulum", q=q, qd=[[1.0]])


def test_problems_without_a_scene_are_solved(client):
    M, q = np.array([[2.0, 1.0], [1.0, 2.0]]), np.array([-5.0, -6.0])
    found = client.complementarity({"type": "lcp", "M": M, "q": q}, method="lemke", history=True)
    assert (found.status, found.method) == ("solved", "lemke")
    assert np.allclose(found.x, [4 / 3, 7 / 3], rtol=0.0, atol=1e-12)
    assert np.allclose(found.w, 0.0, rtol=0.0, atol=1e-12)
    assert found.document["solved"]
    box = {"type": "box_lcp", "A": M, "b": q, "lo": [-np.inf, 0.0], "hi": np.array([1.0, np.inf])}
    assert np.allclose(client.complementarity(box).x, [1.0, 2.5])
    with pytest.raises(Problem, match="/problem/A"):
        client.complementarity({"type": "lcp", "A": M, "b": [1.0]})


def test_any_address_of_the_api_is_reached(client):
    scene = client.post("/v1/scenes", DROP)
    assert client.get(f"/v1/scenes/{scene['id']}") == DROP
    client.delete(f"/v1/scenes/{scene['id']}")
    with pytest.raises(Problem) as caught:
        client.get(f"/v1/scenes/{scene['id']}")
    assert caught.value.status == 404
