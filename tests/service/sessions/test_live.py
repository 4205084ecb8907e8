"""A live session over a real server and a real client: watch, steer, step, seek, reset."""

import socket
import threading
import time
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from cardan.engine import Simulation
from cardan.schemas import SceneInvalid, load_scene
from cardan.schemas.frame import BlockTag, Frame, FrameFlags, FrameKind, decode_frame
from cardan.schemas.session import FramesAnswer
from cardan.service.api import session_history
from cardan.service.processes.channel import Channel
from cardan.service.processes.worker import Stop
from cardan.service.sessions import replay_worker
from cardan.service.sessions.replay_messages import FramesAt, ReplayFolder

from .conftest import BOX, FLOOR, ROD, SCENE, Service, wait_until

pytestmark = pytest.mark.e2e


def position(frame: Any, body: int) -> np.ndarray:
    row = frame.blocks[BlockTag.POSES][body]
    return np.array([row["px"], row["py"], row["pz"]])


def at_step(step: int) -> Callable[[Frame], bool]:
    return lambda frame: frame.header.step == step


def test_frames_arrive_while_time_passes_and_stop_when_paused(service: Service, session: str):
    with service.watch(session) as viewer:
        assert viewer.welcome["body_names"] == ["floor", "box", "rod"]
        assert viewer.welcome["state"] == "paused"
        viewer.subscribe(poses={}, energy={}, joints={}, solver={}, contacts={})
        first = viewer.frame(lambda frame: True)
        assert first.header.step == 0
        assert first.header.flags & FrameFlags.PAUSED
        assert len(first.blocks[BlockTag.POSES]) == 3
        viewer.do("resume")
        later = viewer.frame(lambda frame: frame.header.time > 0.3)
        assert {BlockTag.ENERGY, BlockTag.JOINTS, BlockTag.SOLVER, BlockTag.CONTACTS} <= set(
            later.blocks
        )
        sequences = [frame.header.sequence for frame in viewer.frames]
        assert sequences == sorted(sequences)
        paused = viewer.do("pause")
        last = viewer.view(lambda frame: bool(frame.header.flags & FrameFlags.PAUSED))
        assert last.header.step == paused["applied_step"] == service.state(session)["step"]


@pytest.mark.parametrize("formulation", ["reduced", "auto"])
def test_a_session_has_the_formulation_of_its_scene(service: Service, formulation: str):
    """It was refused, or computed with equations: defaults were taken for what was asked for."""
    hinge = {"name": "hinge", "type": "hinge", "parent": "world", "child": "arm", "armature": 0.1}
    arm = {"name": "arm", "position": [0.5, 0, 0], "mass": 1.0, "inertia": [0.1, 0.1, 0.1]}
    scene = {"bodies": [arm], "joints": [hinge | {"anchor": [0, 0, 0], "axis": [0, 1, 0]}]}
    session = service.create(scene | {"simulation": {"formulation": formulation}})
    service.http.post(f"/sessions/{session}:step", json={"n": 5})
    summary = service.http.get(f"/sessions/{session}/summary").json()
    assert summary["solver"]["formulation"] == "reduced"
    # what it answers with is the same scene
    again = service.http.get(f"/sessions/{session}/scene").json()
    assert Simulation(load_scene(again)).formulation == "reduced"
    service.http.delete(f"/sessions/{session}")


def test_momentum_velocities_and_reactions_come_when_asked_for(service: Service, session: str):
    tags = {BlockTag.MOMENTUM, BlockTag.VELOCITIES, BlockTag.REACTIONS}
    with service.watch(session) as viewer:
        viewer.do("set_velocity", body="box", linear=[1, 2, 3], angular=[0.1, 0.2, 0.3])
        viewer.do("step", n=5)
        viewer.subscribe(poses={})
        assert not tags & set(viewer.frame(at_step(5)).blocks)
        viewer.subscribe(momentum={}, velocities={}, reactions={})
        frame = viewer.frame(lambda f: f.header.step == 5 and tags <= set(f.blocks))
        state = service.http.get(f"/sessions/{session}/state").json()
        assert list(frame.blocks[BlockTag.MOMENTUM][0].item()) == state["momentum"]
        moved = [list(row.item()) for row in frame.blocks[BlockTag.VELOCITIES]]
        np.testing.assert_array_equal(
            np.array(moved, np.float32), np.array(state["velocities"], np.float32)
        )
        (pivot,) = frame.blocks[BlockTag.REACTIONS]
        told = state["joints"][0]
        for name in ("fx", "fy", "fz", "tx", "ty", "tz"):
            assert pivot[name] == np.float32(told[name])
        # the motor holds the rod, and the pivot its weight
        assert pivot["fz"] == pytest.approx(9.81, rel=1e-3)
        # a moment of the past has them too
        viewer.do("seek", step=3, exact=True)
        assert tags <= set(viewer.view(at_step(3)).blocks)


def test_masses_of_a_session(service: Service, session: str):
    answer = service.http.get(f"/sessions/{session}/masses")
    answer.raise_for_status()
    box, rod = answer.json()["bodies"]
    assert (box["body"], rod["body"]) == ("box", "rod")
    assert box["box"] == pytest.approx([0.2, 0.2, 0.2])
    assert sorted(rod["box"]) == pytest.approx([0.02, 0.02, 0.5])


def test_time_passes_at_the_speed_asked_for(service: Service, session: str):
    def simulated() -> float:
        answer = service.http.get(f"/sessions/{session}/state").raise_for_status()
        return float(answer.json()["time"])

    service.http.post(f"/sessions/{session}:resume").raise_for_status()
    for speed in (1.0, 0.25, 4.0):
        before = time.monotonic()
        service.http.patch(f"/sessions/{session}", json={"speed": speed}).raise_for_status()
        begin, shares = simulated(), list[float]()
        # never faster than asked since it was asked; slower only while the machine is short of time
        while not shares or (shares[-1] < 0.6 and len(shares) < 60):
            first, since = simulated(), time.monotonic()
            while time.monotonic() - since < 1.0:
                until, last = time.monotonic(), simulated()
            assert last - begin < 1.05 * speed * (time.monotonic() - before) + 0.02
            shares.append((last - first) / (speed * (until - since)))
        assert shares[-1] >= 0.6


def test_step_does_exactly_n_steps(service: Service, session: str):
    with service.watch(session) as viewer:
        viewer.subscribe()
        for expected in (10, 20, 21):
            n = 1 if expected == 21 else 10
            result = viewer.do("step", n=n)
            assert (result["applied_step"], result["step"]) == (expected - n, expected)
            viewer.view(at_step(expected))
    assert service.state(session)["state"] == "paused"


def test_steps_sent_at_once_are_all_done(service: Service, session: str):
    with service.watch(session) as viewer:
        for number in range(20):
            viewer.send({"op": "step", "n": 3, "id": f"s{number}"})
        ends = [viewer.message(id=f"s{number}")["step"] for number in range(20)]
    assert ends == list(range(3, 63, 3))


def test_step_returns_the_series(service: Service, session: str):
    body = {"n": 25, "sample_every": 10}
    result = service.http.post(f"/sessions/{session}:step", json=body).json()
    assert [sample["step"] for sample in result["series"]] == [10, 20, 25]
    assert len(result["series"][0]["poses"]) == 3
    assert len(result["series"][0]["poses"][0]) == 7


def test_set_motor_turns_the_joint(service: Service, session: str):
    with service.watch(session) as viewer:
        viewer.subscribe(joints={})
        assert viewer.do("set_motor", joint="pivot", target=2.0)["op"] == "result"
        viewer.do("step", n=500)
        frame = viewer.view(lambda f: f.header.step == 500)
        assert frame.blocks[BlockTag.JOINTS]["qd"][0] == pytest.approx(2.0, rel=0.01)
        event = viewer.message(op="event", type="command", command="set_motor")
        assert event["applied_step"] == 0


def test_the_state_has_the_gravity_that_acts(service: Service, session: str):
    def gravity(name: str) -> Any:
        return service.http.get(f"/sessions/{name}/state").json()["gravity"]

    first = gravity(session)
    with service.watch(session) as viewer:
        viewer.do("gravity", value=[0, 1, -2])
        viewer.do("step", n=5)
    assert gravity(session) == [0, 1, -2]
    fork = service.http.post(f"/sessions/{session}:fork", json={}).json()["id"]
    service.http.post(f"/sessions/{session}:reset").raise_for_status()
    assert gravity(session) == first
    assert gravity(fork) == [0, 1, -2]


def test_the_state_has_the_targets_that_were_commanded(service: Service, session: str):
    def targets(name: str) -> Any:
        return service.http.get(f"/sessions/{name}/state").json()["motor_targets"]

    assert targets(session) == []
    with service.watch(session) as viewer:
        viewer.do("set_motor", joint="pivot", target=2.0)
        viewer.do("step", n=5)
    commanded = [{"joint": "pivot", "axis": 0, "target": 2.0}]
    assert targets(session) == commanded
    fork = service.http.post(f"/sessions/{session}:fork", json={}).json()["id"]
    service.http.post(f"/sessions/{session}:reset").raise_for_status()
    assert targets(session) == []
    assert targets(fork) == commanded
    service.http.delete(f"/sessions/{fork}")


def test_grab_moves_a_body_and_ends_with_the_viewer(service: Service, session: str):
    with service.watch(session) as viewer:
        viewer.subscribe()
        viewer.do("resume")
        before = position(viewer.frame(lambda f: True), BOX)
        viewer.do("grab", body="box", point=[0.0, 0.0, 0.15])
        viewer.do("grab_move", target=[0.5, 0.0, 1.0])
        frame = viewer.frame(lambda f: position(f, BOX)[2] > 0.6)
        assert np.linalg.norm(position(frame, BOX) - before) > 0.5
        assert frame.blocks[BlockTag.GRAB]["body"][0] == BOX
        assert frame.blocks[BlockTag.GRAB]["target"][0] == pytest.approx([0.5, 0, 1])
        assert position(frame, FLOOR) == pytest.approx([0, 0, 0])
    with service.watch(session, "other") as viewer:
        viewer.subscribe()
        frame = viewer.frame(lambda f: position(f, BOX)[2] < 0.15)
        assert BlockTag.GRAB not in frame.blocks


def test_nobody_has_hold_of_a_body_in_a_state_that_is_restored_or_forked(
    service: Service, session: str
):
    def post(name: str, call: str, **body: Any) -> Any:
        answer = service.http.post(f"/sessions/{name}{call}", json=body)
        answer.raise_for_status()
        return answer.json()

    def grabbed(name: str) -> Any:
        return service.http.get(f"/sessions/{name}/state").json()["grab"]

    with service.watch(session) as viewer:
        viewer.do("grab", body="box", point=[0.0, 0.0, 0.15])
        viewer.do("grab_move", target=[0.0, 0.0, 1.0])
        viewer.do("step", n=500)
        kept = post(session, ":snapshot")["id"]
        fork = post(session, ":fork")["id"]
        assert grabbed(fork) is None
        assert grabbed(session) is not None
        past = post(session, ":fork", step=400)["id"]
        # whoever was there at this step, time does not pass before it is let go
        viewer.do("release")
        post(session, ":restore", snapshot=kept)
        assert grabbed(session) is None
    # a program has no hand that could leave: what it holds belongs to the state
    post(session, "/commands", op="grab", body="box", point=[0.0, 0.0, 0.15])
    kept = post(session, ":snapshot")["id"]
    post(session, "/commands", op="release")
    post(session, ":restore", snapshot=kept)
    assert grabbed(session) is not None
    for name in (fork, past):
        post(name, ":step", n=1500)
        height = service.http.get(f"/sessions/{name}/state").json()["poses"][BOX][2]
        assert height == pytest.approx(0.1, abs=0.01)
        service.http.delete(f"/sessions/{name}")


def test_a_body_vanishes_and_appears_again(service: Service, session: str):
    with service.watch(session) as viewer:
        viewer.subscribe(poses={}, events={})
        viewer.do("set_velocity", body="box", linear=[2, 0, 0], angular=[0, 0, 0])
        viewer.do("step", n=100)
        assert position(viewer.view(at_step(100)), BOX)[0] > 0.1
        viewer.do("vanish", body="box")
        viewer.do("step", n=1)
        frame = viewer.view(at_step(101))
        assert frame.blocks[BlockTag.ABSENT]["absent"].tolist() == [0, 1, 0]
        # it waits where the scene has it
        assert position(frame, BOX) == pytest.approx([0, 0, 0.1])
        state = service.http.get(f"/sessions/{session}/state").raise_for_status().json()
        assert state["present"] == [True, False, True]
        assert "absent" in str(viewer.do("apply_impulse", body="box", impulse=[1, 0, 0]))
        # a body on a joint can, too
        viewer.do("vanish", body="rod")
        viewer.do("appear", body="rod")
        viewer.do("appear", body="box")
        viewer.do("step", n=100)
        frame = viewer.view(at_step(201))
        assert BlockTag.ABSENT not in frame.blocks
        assert position(frame, BOX) == pytest.approx([0, 0, 0.1], abs=1e-6)
        happened = [
            one.blocks[BlockTag.EVENTS] for one in viewer.frames if BlockTag.EVENTS in one.blocks
        ]
        kinds = np.concatenate([one["kind"] for one in happened])
        assert kinds[kinds > 3].tolist() == [5, 5, 4, 4]


def test_reset_begins_a_new_epoch(service: Service, session: str):
    with service.watch(session) as viewer:
        viewer.subscribe()
        viewer.do("step", n=100)
        start = service.http.get(f"/sessions/{session}/state").json()["state_hash"]
        result = viewer.do("reset")
        assert (result["step"], result["time"]) == (0, 0.0)
        frame = viewer.view(lambda f: f.header.epoch == 1)
        assert frame.header.step == 0
        assert viewer.message(op="event", type="reset")["epoch"] == 1
        viewer.do("step", n=100)
    assert service.http.get(f"/sessions/{session}/state").json()["state_hash"] == start
    assert service.state(session)["epoch"] == 1


def test_reset_to_coordinates(service: Service, session: str):
    def first() -> list[float]:
        rows = service.http.get(f"/sessions/{session}/state").json()["joints"]
        return [rows[0]["q"], rows[0]["qd"]]

    with service.watch(session) as viewer:
        viewer.do("step", n=20)
        viewer.do("reset", q={"pivot": 0.3}, qd={"pivot": -1.0})
    assert first() == pytest.approx([0.3, -1.0], abs=1e-9)
    assert service.state(session)["epoch"] == 1
    answer = service.http.post(f"/sessions/{session}:reset", json={"q": {"pivot": 0.2}})
    answer.raise_for_status()
    assert first()[0] == pytest.approx(0.2, abs=1e-9)
    refused = service.http.post(f"/sessions/{session}:reset", json={"q": {"nothing": 1.0}})
    assert (refused.status_code, refused.json()["code"]) == (422, "unknown_joint")
    [fault] = refused.json()["errors"]
    assert (fault["pointer"], fault["got"]) == ("/q/nothing", "nothing")
    assert fault["message"] == "There is no joint named 'nothing'; the scene has pivot."
    refused = service.http.post(f"/sessions/{session}:reset", json={"q": {"pivot": [1.0, 2.0]}})
    assert (refused.status_code, refused.json()["code"]) == (422, "command_impossible")
    words = "he q of joint 'pivot' must be 1 finite number, not [1.0, 2.0]."
    assert refused.json()["detail"] == f"The simulation cannot take reset: t{words}"
    [fault] = refused.json()["errors"]
    assert (fault["pointer"], fault["message"]) == ("/q/pivot", f"T{words}")
    # what is refused changes nothing
    assert first()[0] == pytest.approx(0.2, abs=1e-9)
    assert service.state(session)["epoch"] == 2


def test_a_motor_of_a_broken_joint_is_refused(service: Service, session: str):
    with service.watch(session) as viewer:
        viewer.do("break_joint", joint="pivot")
        viewer.do("step", n=1)
        answer = viewer.do("set_motor", joint="pivot", target=2.0)
        assert answer["op"] == "error"
        assert "joint 'pivot' broke at 0 s" in str(answer)
    asked = {"op": "set_motor", "joint": "pivot", "target": 2.0}
    refused = service.http.post(f"/sessions/{session}/commands", json=asked)
    assert (refused.status_code, refused.json()["code"]) == (422, "command_impossible")
    (fault,) = refused.json()["errors"]
    assert (fault["pointer"], fault["got"]) == ("/joint", "pivot")


@pytest.mark.parametrize(
    ("command", "pointer", "what"),
    [
        ({"op": "jump"}, "/op", "found the text 'jump'."),
        ({"op": 3}, "/op", "found 3."),
        ({}, "/op", "it is missing."),
        ([1], "", "A command is a JSON object; found [1]."),
        ({"op": "set_state", "q": {"pivot": "x"}}, "/q/pivot", "found the text 'x'."),
    ],
)
def test_what_is_no_command_is_refused_in_words(
    service: Service, session: str, command: Any, pointer: str, what: str
):
    refused = service.http.post(f"/sessions/{session}/commands", json=command)
    (fault,) = refused.json()["errors"]
    assert (refused.status_code, fault["pointer"]) == (422, pointer)
    assert fault["message"].endswith(what)
    place = pointer or "The document"
    assert refused.json()["detail"] == f"The command has 1 fault. {place}: {fault['message']}"


def test_the_history_of_an_epoch_begins_with_its_first_moment(service: Service, session: str):
    with service.watch(session) as viewer:
        for message in ({"op": "reset"}, {"op": "step", "n": 30, "id": "last"}):
            viewer.send(message)
        viewer.message(id="last")
        viewer.subscribe()
        viewer.view(lambda f: f.header.step == 30)
    assert service.sessions.get(session).history.range == (0, 30)


def test_snapshot_and_restore_are_exact(service: Service, session: str):
    def post(call: str, **body: Any) -> dict[str, Any]:
        answer = service.http.post(f"/sessions/{session}:{call}", json=body or None)
        answer.raise_for_status()
        found: dict[str, Any] = answer.json()
        return found

    def state_hash() -> str:
        return str(service.http.get(f"/sessions/{session}/state").json()["state_hash"])

    post("step", n=137)
    kept = post("snapshot")
    assert kept["step"] == 137
    post("step", n=200)
    after = state_hash()
    assert post("restore", snapshot=kept["id"])["step"] == 137
    assert state_hash() == kept["state_hash"]
    post("step", n=200)
    assert state_hash() == after
    answer = service.http.post(f"/sessions/{session}:restore", json={"snapshot": "snap_99"})
    assert answer.status_code == 404
    assert answer.json()["errors"][0]["pointer"] == "/snapshot"
    listed = service.http.post(f"/sessions/{session}:step", json=[1])
    [fault] = listed.json()["errors"]
    assert (listed.status_code, fault["pointer"], fault["got"]) == (422, "", "[1]")


def test_seek_shows_the_past_and_live_brings_back(service: Service, session: str):
    with service.watch(session) as viewer, service.watch(session, "other") as other:
        viewer.subscribe()
        other.subscribe()
        for _ in range(5):
            viewer.do("step", n=100)
        other.view(lambda f: f.header.step == 500)
        kept = [f.step for f in service.sessions.get(session).history.between(None, None)]
        shown = viewer.do("seek", step=250)["shown_step"]
        assert shown == max(step for step in kept if step <= 250)
        frame = viewer.view(lambda f: f.header.step == shown and f.header.kind is FrameKind.KEY)
        viewer.do("step", n=100)
        other.view(lambda f: f.header.step == 600)
        assert viewer.frames[-1] is frame
        viewer.do("live")
        viewer.view(lambda f: f.header.step == 600)


def wait_for_frame(service: Service, session: str, step: int) -> None:
    history = service.sessions.get(session).history
    wait_until(lambda: history.range == (0, step), f"the frame of step {step}")


def test_frames_of_the_past_as_json_and_binary(service: Service, session: str):
    for end in range(50, 301, 50):
        service.http.post(f"/sessions/{session}:step", json={"n": 50}).raise_for_status()
        # steps that follow at once would leave no frame in between
        wait_for_frame(service, session, end)
    kept = [f.step for f in service.sessions.get(session).history.between(None, None)]
    assert {0, 50, 100, 150, 200, 250, 300} <= set(kept)
    found = service.http.get(f"/sessions/{session}/frames?from=50&to=250&stride=2").json()
    wanted = [step for step in kept if 50 <= step <= 250]
    assert [frame["step"] for frame in found["frames"]] == wanted[::2]
    assert (found["from"], found["to"]) == (0, 300)
    refused = service.http.get(f"/sessions/{session}/frames?from=5&to=0")
    assert refused.status_code == 422
    assert refused.json()["errors"][0]["pointer"] == "/query/from"
    assert len(found["frames"][0]["poses"][ROD]) == 7
    headers = {"Accept": "application/octet-stream"}
    data = service.http.get(f"/sessions/{session}/frames?from=50", headers=headers).content
    steps = []
    while data:
        size = int.from_bytes(data[:4], "little")
        steps.append(decode_frame(data[4 : 4 + size]).header.step)
        data = data[4 + size :]
    assert steps == [step for step in kept if step >= 50]


def test_frames_of_the_past_are_computed_again_with_what_is_not_kept(service, session):
    for end in range(50, 301, 50):
        service.http.post(f"/sessions/{session}:step", json={"n": 50}).raise_for_status()
        wait_for_frame(service, session, end)
    address = f"/sessions/{session}/frames"
    kept = service.http.get(f"{address}?from=50&stride=3").json()["frames"]
    again = service.http.get(f"{address}?from=50&stride=3&channels=velocities,reactions").json()
    assert [one["step"] for one in again["frames"]] == [one["step"] for one in kept]
    for before, now in zip(kept, again["frames"], strict=True):
        assert "velocities" not in before
        assert now["poses"] == before["poses"]
        assert now["energy"] == before["energy"]
    # against the state as JSON, which another path writes
    state = service.http.get(f"{address}/{kept[1]['step']}").json()
    found = list(again["frames"][1]["velocities"][ROD].values())
    assert found == pytest.approx(state["velocities"][ROD], rel=1e-6, abs=1e-9)
    assert again["frames"][1]["reactions"]
    # as the document says of them: with all that can be asked for
    full = f"{address}?channels=contacts,friction,momentum,velocities,reactions"
    for frame in FramesAnswer.model_validate(service.http.get(full).json()).frames:
        assert frame.momentum is not None
        assert frame.friction is not None
    for asked, wrong in (("poses", "poses"), ("velocities,", ""), ("", "")):
        refused = service.http.get(f"{address}?channels={asked}")
        assert refused.status_code == 422
        [fault] = refused.json()["errors"]
        assert (fault["pointer"], fault["got"]) == ("/query/channels", wrong)
        assert fault["message"] == (
            f"There is no channel '{wrong}' to compute again; there are contacts, friction, "
            "momentum, velocities, reactions."
        )


def test_too_many_frames_to_be_computed_again_are_refused(service, session, monkeypatch):
    monkeypatch.setattr(session_history, "MAX_FRAMES_AGAIN", 2)
    for end in (20, 40, 60):
        service.http.post(f"/sessions/{session}:step", json={"n": 20}).raise_for_status()
        wait_for_frame(service, session, end)
    address = f"/sessions/{session}/frames"
    answer = service.http.get(f"{address}?channels=velocities")
    assert (answer.status_code, answer.json()["code"]) == (413, "too_many_frames")
    assert service.http.get(f"{address}?from=60&channels=velocities").status_code == 200


def test_frames_that_are_computed_again_fill_no_more_than_so_many_bytes(
    service, session, monkeypatch
):
    service.http.post(f"/sessions/{session}:step", json={"n": 20}).raise_for_status()
    monkeypatch.setattr(replay_worker, "MOST_BYTES", 100)
    here, there = map(Channel, socket.socketpair())
    worker = threading.Thread(target=replay_worker.main, args=(there, None))
    worker.start()
    here.send(ReplayFolder(str(service.sessions.get(session).folder.path)))
    here.send(FramesAt(1, 0, (20,), ("velocities",)))
    answer = here.receive(60.0)
    here.send(Stop())
    worker.join(60.0)
    assert answer.problem["code"] == "limit_exceeded"
    assert "100 bytes" in answer.problem["detail"]


def test_the_end_of_the_scene_finishes_the_session(service: Service):
    scene = {**SCENE, "simulation": {"dt": 0.001, "duration": 0.2}}
    session = service.create(scene, paused=False, speed=None)
    service.wait_for_state(session, "finished")
    assert service.state(session)["step"] == 200
    answer = service.http.post(f"/sessions/{session}:resume")
    assert answer.status_code == 409
    assert answer.json()["code"] == "session_finished"
    service.http.post(f"/sessions/{session}:reset").raise_for_status()
    assert service.state(session)["state"] == "paused"
    result = service.http.post(f"/sessions/{session}:step", json={"n": 1000}).json()
    assert (result["step"], result["interrupted"]) == (200, "finished")
    service.http.delete(f"/sessions/{session}")


def test_a_simulation_that_blows_up_says_where_and_can_be_reset(service: Service, session: str):
    with service.watch(session) as viewer:
        viewer.subscribe()
        viewer.do("step", n=5)
        huge = [1e50, 1e50, 1e50]
        viewer.do("set_velocity", body="rod", linear=huge, angular=huge)
        result = viewer.do("step", n=500)
        assert result["interrupted"] == "failed"
        event = viewer.message(op="event", type="failed")
        assert event["failure"]["code"] == "engine_diverged"
        assert event["failure"]["body"] in ("box", "rod")
        assert event["failure"]["step"] == result["step"] < 505
        viewer.view(lambda f: bool(f.header.flags & FrameFlags.FAILED))
        viewer.do("reset")
        viewer.do("set_velocity", body="rod", linear=huge, angular=huge)
        assert viewer.do("step", n=1)["interrupted"] == "failed", "the last step may fail too"
        assert viewer.do("step", n=1)["problem"]["code"] == "session_failed"
        assert service.state(session)["failure"]["quantity"]
        viewer.do("reset")
        assert viewer.do("step", n=10)["step"] == 10
    assert service.state(session)["state"] == "paused"
    assert service.state(session)["failure"] is None


def test_the_log_of_commands_replays_the_run(service: Service, session: str):
    with service.watch(session) as viewer:
        viewer.do("resume")
        viewer.do("set_motor", joint="pivot", target=1.0)
        wait_until(lambda: service.state(session)["step"] > 50, "steps")
        viewer.do("apply_impulse", body="box", impulse=[0.5, 0, 1.0])
        end = viewer.do("pause")["applied_step"]
    first = service.http.get(f"/sessions/{session}/state").json()["state_hash"]
    log = service.http.get(f"/sessions/{session}/commands").json()["items"]
    assert [entry["op"] for entry in log] == ["resume", "set_motor", "apply_impulse", "pause"]
    again = service.create()
    step = 0
    for entry in log:
        if entry["step"] > step:
            service.http.post(f"/sessions/{again}:step", json={"n": entry["step"] - step})
            step = entry["step"]
        if entry["op"] in ("set_motor", "apply_impulse"):
            command = {k: v for k, v in entry.items() if k not in ("number", "epoch", "step")}
            del command["client_id"]
            service.http.post(f"/sessions/{again}/commands", json=command).raise_for_status()
    assert step == end
    assert service.http.get(f"/sessions/{again}/state").json()["state_hash"] == first
    service.http.delete(f"/sessions/{again}")


def test_a_stalled_viewer_does_not_delay_another(service: Service, session: str):
    with service.watch(session, "stalled") as stalled, service.watch(session) as viewer:
        stalled.subscribe()
        viewer.subscribe()
        viewer.do("resume")
        viewer.frame(lambda f: f.header.time > 1.5)
        gaps = np.diff([f.header.time for f in viewer.frames if f.header.step > 0])
        assert np.median(gaps) < 0.03
        assert np.percentile(gaps, 95) < 0.1
        stalled.acknowledging = False
        while not stalled.frames or stalled.frames[-1].header.time < 0.1:
            try:
                stalled.read(1.0)
            except TimeoutError:
                break
        assert len(stalled.frames) <= 4


def test_a_viewer_ends_a_session_only_if_nobody_else_looks_at_it(service: Service, session: str):
    with service.watch(session, "mine"):
        with service.watch(session, "other"):
            answer = service.http.delete(f"/sessions/{session}?viewer=mine")
            assert (answer.status_code, answer.json()["code"]) == (409, "session_in_use")
        wait_until(lambda: service.state(session)["viewers"] == 1, "the other one is gone")
        assert service.http.delete(f"/sessions/{session}?viewer=mine").status_code == 204
    assert service.http.get(f"/sessions/{session}").status_code == 410


def test_a_session_records_nothing_and_so_never_too_much(service: Service):
    long = {**SCENE, "simulation": {"dt": 0.001, "duration": 10_000.0}}
    scene = {**long, "record": {"every": 1}}
    with pytest.raises(SceneInvalid, match="recorded values"):
        load_scene(scene)
    service.http.delete(f"/sessions/{service.create(scene)}").raise_for_status()
