"""One client steers, others look on; without anybody who has taken control everybody steers."""

from typing import Any

import pytest

from cardan.service.errors import ErrorCode, ServiceError
from cardan.service.sessions.control import SILENCE_SECONDS, Control
from tests.service.sessions.conftest import Service


def test_control_ends_with_silence_and_not_with_the_word_of_another():
    heard: list[str | None] = []
    now = [0.0]
    control = Control(heard.append, lambda: now[0])
    for client in (None, "a", "b"):
        control.check(client)
    control.take("a")
    now[0] = 0.9 * SILENCE_SECONDS
    control.check("a")
    now[0] += 0.9 * SILENCE_SECONDS
    for client in (None, "b"):
        with pytest.raises(ServiceError) as caught:
            control.check(client)
        assert caught.value.code is ErrorCode.CONTROL_TAKEN
        assert caught.value.retry_after_s == round(0.1 * SILENCE_SECONDS)
    control.release("b")
    assert control.holder == "a"
    now[0] += 0.2 * SILENCE_SECONDS
    control.take("b")
    control.release("b")
    assert heard == ["a", "b", None]


def test_only_the_client_that_took_control_changes_the_run(service: Service, session: str):
    here = f"/sessions/{session}"
    with service.watch(session, "teacher") as teacher, service.watch(session, "pupil") as pupil:
        assert teacher.welcome["role"] == pupil.welcome["role"] == "control"
        pupil.do("step", n=1)
        teacher.do("take_control")
        assert pupil.message(op="event", type="control")["client_id"] == "teacher"
        assert service.state(session)["control"] == "teacher"
        for op in ("step", "take_control", "reset"):
            refused = pupil.do(op)
            assert (refused["op"], refused["problem"]["code"]) == ("error", "control_taken")
            assert refused["problem"]["holder"] == "teacher"
        # whoever has no control may look at the past, ask, and let go of nothing
        assert pupil.do("seek", step=0)["op"] == "result"
        assert pupil.do("release_control")["op"] == "result"
        assert service.http.get(f"{here}/state").status_code == 200
        for path in (":pause", ":resume", ":reset", ":step"):
            answer = service.http.post(here + path)
            assert (answer.status_code, answer.json()["code"]) == (409, "control_taken")
            assert int(answer.headers["retry-after"]) <= SILENCE_SECONDS
        assert service.http.patch(here, json={"speed": 2.0}).status_code == 409
        with service.watch(session, "late") as late:
            assert (late.welcome["role"], late.welcome["control"]) == ("view", "teacher")
        # the same client over HTTP
        ours = {"Client-Id": "teacher"}
        assert service.http.post(f"{here}:step", headers=ours).json()["step"] == 2
        assert teacher.do("step", n=1)["op"] == "result"
    # its connection is gone, and with it its control
    assert service.http.post(f"{here}:step").status_code == 200
    assert service.state(session)["control"] is None


def test_control_is_taken_and_released_over_http_by_whoever_names_itself(service, session):
    here = f"/sessions/{session}"

    def do(op: str, client_id: str | None) -> tuple[int, dict[str, Any]]:
        headers = {} if client_id is None else {"Client-Id": client_id}
        answer = service.http.post(f"{here}/commands", json={"op": op, "id": "1"}, headers=headers)
        return answer.status_code, answer.json()

    for nobody in (None, ""):
        status, refused = do("take_control", nobody)
        assert (status, refused["errors"][0]["pointer"]) == (422, "/header/Client-Id")
    with service.watch(session, "pupil") as pupil:
        result = {"op": "result", "applied_step": 0, "step": 0, "time": 0.0, "id": "1"}
        assert do("take_control", "script") == (200, result)
        assert pupil.message(op="event", type="control")["client_id"] == "script"
        assert service.state(session)["control"] == "script"
        assert do("take_control", "other")[1]["code"] == "control_taken"
        assert pupil.do("step", n=1)["problem"]["code"] == "control_taken"
        assert do("step", "script")[1]["step"] == 1
        # of somebody who has no control it changes nothing
        assert do("release_control", "other")[0] == 200
        assert service.state(session)["control"] == "script"
        assert do("release_control", "script")[0] == 200
        assert pupil.do("step", n=1)["op"] == "result"
