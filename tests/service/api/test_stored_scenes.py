"""Scenes that are stored: written, listed, changed under `If-Match`, named by runs and sessions."""

import json
from concurrent.futures import ThreadPoolExecutor

import pytest

from cardan.schemas.merge_patch import merge_patch
from tests.service.real_server import DROP

SHORT = {"/simulation/duration": 0.02}
# written by hand: order, spaces and numbers are the owner's
WRITTEN = (
    '{"version": 1,\n "name": "Мост 桥 🌉",\n "simulation": {"duration": 2e-2, "dt": 0.0020},\n'
    ' "bodies": [ {"name": "глыба", "mass": 1.50, "shapes": [{"type": "sphere", "radius": 0.1}]} ]}'
).encode()
JSON = {"Content-Type": "application/json"}
PATCH = {"Content-Type": "application/merge-patch+json"}


@pytest.fixture
def stored(client):
    answer = client.post("/v1/scenes", content=WRITTEN, headers=JSON)
    assert answer.status_code == 201, answer.text
    return answer


def change(client, place, patch, etag):
    return client.patch(place, content=json.dumps(patch), headers={**PATCH, "If-Match": etag})


def test_a_scene_comes_back_as_it_was_written(client, stored):
    place, info = stored.headers["location"], stored.json()
    assert info["links"]["self"] == place == f"/v1/scenes/{info['id']}"
    assert (info["name"], info["revision"], info["bytes"]) == ("Мост 桥 🌉", 1, len(WRITTEN))
    answer = client.get(place)
    assert answer.content == WRITTEN
    assert answer.headers["etag"] == stored.headers["etag"] == info["etag"]
    assert client.get(place, headers={"If-None-Match": info["etag"]}).status_code == 304
    report = client.post("/v1/scenes:validate", content=WRITTEN, headers=JSON).json()
    assert info["scene_hash"] == report["scene_hash"]


def test_what_validation_refuses_is_not_stored(client):
    bad = {**DROP, "bodies": [{"name": "a", "mass": -1.0}], "gravitee": [0, 0, 0]}
    before = client.get("/v1/scenes").json()["items"]
    answer = client.post("/v1/scenes", json=bad)
    assert answer.status_code == 422
    judged = client.post("/v1/scenes:validate", json=bad).json()["errors"]
    assert [one["pointer"] for one in answer.json()["errors"]] == [one["pointer"] for one in judged]
    assert client.post("/v1/scenes", content=b'{"version": 1,', headers=JSON).status_code == 400
    assert client.post("/v1/scenes", content=WRITTEN).status_code == 415
    assert client.get("/v1/scenes").json()["items"] == before


def test_a_long_run_may_be_a_session_where_its_recording_would_be_too_large(client):
    long = {**DROP, "simulation": {"dt": 0.002, "duration": 2e4}, "record": {"every": 1}}
    refused = client.post("/v1/scenes:validate", json=long).json()
    assert [one["code"] for one in refused["errors"]] == ["limit_exceeded"]
    judged = client.post("/v1/scenes:validate", params={"kind": "session"}, json=long).json()
    assert (judged["valid"], judged["errors"]) == (True, [])
    made = client.post("/v1/sessions", json={"scene": long})
    assert made.status_code == 201
    client.delete(made.headers["location"])
    assert client.post("/v1/scenes:validate?kind=batch", json=long).status_code == 422


def test_lists_have_pages_newest_first(client):
    made = [client.post("/v1/scenes", json=DROP).json()["id"] for _ in range(3)]
    first = client.get("/v1/scenes", params={"page_size": 2}).json()
    token = first["next_page_token"]
    second = client.get("/v1/scenes", params={"page_size": 1, "page_token": token}).json()
    shown = [one["id"] for one in first["items"] + second["items"]]
    assert shown == made[::-1]
    assert "bodies" not in first["items"][0]


def test_a_change_says_of_what(client, stored):
    place, etag = stored.headers["location"], stored.headers["etag"]
    without = client.patch(place, content=b"{}", headers=PATCH)
    assert (without.status_code, without.headers["etag"]) == (428, etag)
    assert client.put(place, content=WRITTEN, headers=JSON).status_code == 428
    changed = change(client, place, {"simulation": {"dt": 0.001, "duration": None}}, etag)
    assert changed.status_code == 200, changed.text
    assert changed.json()["revision"] == 2
    again = client.get(place)
    assert again.headers["etag"] == changed.headers["etag"] != etag
    assert again.json() == merge_patch(
        json.loads(WRITTEN), {"simulation": {"dt": 0.001, "duration": None}}
    )
    assert list(again.json()) == ["version", "name", "simulation", "bodies"]
    assert "глыба" in again.text
    stale = change(client, place, {"name": "late"}, etag)
    assert (stale.status_code, stale.json()["code"]) == (412, "precondition_failed")
    assert stale.headers["etag"] == stale.json()["etag"] == changed.headers["etag"]
    back = client.put(
        place, content=WRITTEN, headers={**JSON, "If-Match": f'"x", {again.headers["etag"]}'}
    )
    assert (back.status_code, back.headers["etag"], back.json()["revision"]) == (200, etag, 3)
    assert client.get(place).content == WRITTEN
    # the same again is no change
    assert (
        client.put(place, content=WRITTEN, headers={**JSON, "If-Match": "*"}).json()["revision"]
        == 3
    )
    # weak tags never match for a change
    assert change(client, place, {}, f"W/{etag}").status_code == 412


def test_an_if_match_that_names_no_tag_is_said_to_name_none(client, stored):
    place, etag = stored.headers["location"], stored.headers["etag"]
    for wrong in (etag.strip('"'), etag[:-1], f"{etag} {etag}", f"{etag}, *", ""):
        answer = change(client, place, {"name": "new"}, wrong)
        (fault,) = answer.json()["errors"]
        assert (answer.status_code, fault["pointer"]) == (422, "/header/If-Match")
        assert fault["got"] == wrong
        assert "double quotes" in fault["message"]
    # several headers are one list
    two = [*PATCH.items(), ("If-Match", '"a"'), ("If-Match", etag)]
    answer = client.patch(place, content=b"{}", headers=two)
    assert answer.status_code == 200
    etag = answer.headers["etag"]
    # lists may have empty places, and tags commas
    assert change(client, place, {}, f'"a,b" ,, {etag},').status_code == 200
    assert change(client, place, {}, f'"a,{etag[1:-1]},b"').status_code == 412


def test_a_patch_to_something_invalid_changes_nothing(client, stored):
    place, etag = stored.headers["location"], stored.headers["etag"]
    for patch, pointer in (
        ({"bodies": [{"name": "a", "mass": -1.0}]}, "/bodies/0/mass"),
        ({"simulation": {"dt": -1}}, "/simulation/dt"),
        ([], ""),
        (None, ""),
        ("\ud800", ""),
        ({"description": "\ud800"}, "/description"),
    ):
        answer = change(client, place, patch, etag)
        assert answer.status_code == 422, answer.text
        assert pointer in [one["pointer"] for one in answer.json()["errors"]]
    assert client.patch(place, content=b"{", headers={**PATCH, "If-Match": etag}).status_code == 400
    told = client.patch(place, content=b"{}", headers={"Content-Type": "text/plain"})
    assert (told.status_code, "merge-patch" in told.headers["accept-patch"]) == (415, True)
    assert client.get(place).content == WRITTEN


def test_of_changes_at_once_one_wins(client, stored):
    place, etag = stored.headers["location"], stored.headers["etag"]
    with ThreadPoolExecutor(6) as pool:
        answers = list(pool.map(lambda n: change(client, place, {"name": f"n{n}"}, etag), range(6)))
    codes = sorted(one.status_code for one in answers)
    assert codes == [200, 412, 412, 412, 412, 412]
    winner = next(one for one in answers if one.status_code == 200)
    now = client.get(place)
    assert now.json()["name"] == winner.json()["name"]
    assert {one.headers["etag"] for one in answers} == {now.headers["etag"]}
    assert winner.json()["revision"] == 2


def test_deletion_may_say_of_what(client, stored):
    place, etag = stored.headers["location"], stored.headers["etag"]
    now = change(client, place, {"name": "other"}, etag).headers["etag"]
    assert client.delete(place, headers={"If-Match": etag}).status_code == 412
    assert client.delete(place, headers={"If-Match": now}).status_code == 204
    for answer in (client.get(place), client.delete(place), change(client, place, {}, now)):
        assert (answer.status_code, answer.json()["code"]) == (404, "not_found")


def test_earlier_revisions_are_listed_read_and_restored(client, stored):
    place, first = stored.headers["location"], stored.headers["etag"]
    second = change(client, place, {"name": "second"}, first).headers["etag"]
    third = change(client, place, {"name": "third"}, second).headers["etag"]
    assert stored.json()["links"]["revisions"] == f"{place}/revisions"
    listed = client.get(f"{place}/revisions").json()["items"]
    assert [one["revision"] for one in listed] == [3, 2, 1]
    assert [one["etag"] for one in listed] == [third, second, first]
    assert [one["name"] for one in listed] == ["third", "second", "Мост 桥 🌉"]
    assert listed[2]["bytes"] == len(WRITTEN)
    assert listed[2]["scene_hash"] == stored.json()["scene_hash"]
    assert "bodies" not in listed[0]
    oldest = client.get(listed[2]["links"]["self"])
    assert (oldest.content, oldest.headers["etag"]) == (WRITTEN, first)
    assert client.get(oldest.url, headers={"If-None-Match": first}).status_code == 304
    assert client.get(listed[0]["links"]["self"]).content == client.get(place).content
    without = client.post(f"{place}:restore", json={"revision": 1})
    assert (without.status_code, without.headers["etag"]) == (428, third)
    stale = client.post(f"{place}:restore", json={"revision": 1}, headers={"If-Match": second})
    assert stale.status_code == 412
    back = client.post(f"{place}:restore", json={"revision": 1}, headers={"If-Match": third})
    assert (back.status_code, back.headers["etag"], back.json()["revision"]) == (200, first, 4)
    assert client.get(place).content == WRITTEN
    # nothing is lost by it
    listed = client.get(f"{place}/revisions").json()["items"]
    assert [one["revision"] for one in listed] == [4, 3, 2, 1]
    for number in (5, 2**31 - 1):
        assert client.get(f"{place}/revisions/{number}").status_code == 404
        missing = {"json": {"revision": number}, "headers": {"If-Match": first}}
        assert client.post(f"{place}:restore", **missing).status_code == 404
    for wrong in (0, -1, 2**31, 10**30, "x"):
        assert client.get(f"{place}/revisions/{wrong}").status_code == 422
        bad = {"json": {"revision": wrong}, "headers": {"If-Match": first}}
        assert client.post(f"{place}:restore", **bad).status_code == 422
    assert client.delete(place).status_code == 204
    for path in ("revisions", "revisions/1"):
        assert client.get(f"{place}/{path}").status_code == 404


def test_an_idempotency_key_stores_once(client):
    headers = {**JSON, "Idempotency-Key": "scene-once"}
    first = client.post("/v1/scenes", content=WRITTEN, headers=headers)
    second = client.post("/v1/scenes", content=WRITTEN, headers=headers)
    assert first.json()["id"] == second.json()["id"]
    assert second.headers["idempotency-replayed"] == "true"
    assert (
        client.post("/v1/scenes", json=DROP, headers={"Idempotency-Key": "scene-once"}).status_code
        == 422
    )
    client.delete(first.headers["location"])
    assert client.post("/v1/scenes", content=WRITTEN, headers=headers).status_code == 410


def test_runs_keep_the_version_they_were_made_from(client, stored):
    scene_id, place = stored.json()["id"], stored.headers["location"]
    wait = {"Prefer": "wait=30"}
    run = client.post("/v1/simulations", json={"scene": scene_id}, headers=wait).json()
    assert run["status"] == "succeeded", run
    assert run["stored_scene"] == {"id": scene_id, "revision": 1}
    assert run["name"] == "Мост 桥 🌉"
    alone = client.post("/v1/simulations", content=WRITTEN, headers={**JSON, **wait}).json()
    assert alone["stored_scene"] is None
    hashes = [client.get(one["links"]["summary"]).json()["state_hash"] for one in (run, alone)]
    assert hashes[0] == hashes[1]
    change(client, place, {"gravity": [0.0, 0.0, -1.62]}, stored.headers["etag"])
    batch = client.post(
        "/v1/batches",
        json={"scene": scene_id, "variations": {"/bodies/0/mass": [1.0, 2.0]}},
        headers=wait,
    ).json()
    assert batch["status"] == "succeeded"
    assert batch["stored_scene"] == {"id": scene_id, "revision": 2}
    runs = client.get(batch["links"]["runs"]).json()["items"]
    assert [one["stored_scene"]["revision"] for one in runs] == [2, 2]
    study = client.post(
        "/v1/studies",
        json={
            "scene": scene_id,
            "variables": [{"pointers": ["/gravity/2"], "lower": -10.0, "upper": -1.0}],
            "objective": {"type": "metric", "metric": "energy.final"},
            "max_evaluations": 4,
        },
        headers=wait,
    ).json()
    assert study["stored_scene"] == {"id": scene_id, "revision": 2}
    session = client.post("/v1/sessions", json={"scene": scene_id}).json()
    fork = client.post(f"{session['links']['self']}:fork", json={}).json()
    assert session["stored_scene"] == fork["stored_scene"] == {"id": scene_id, "revision": 2}
    assert client.delete(place).status_code == 204
    assert client.get(run["links"]["scene"]).json() == json.loads(WRITTEN)
    assert client.get(runs[0]["links"]["scene"]).json()["gravity"] == [0.0, 0.0, -1.62]
    assert client.get(session["links"]["self"]).json()["stored_scene"]["id"] == scene_id
    for one in (session, fork):
        client.delete(one["links"]["self"])


def test_algorithms_take_stored_scenes(client):
    scene = client.get("/v1/examples/double-pendulum").json()
    scene_id = client.post("/v1/scenes", json=scene).json()["id"]
    for path in ("dynamics/model", "statics"):
        named = client.post(f"/v1/{path}", json={"scene": scene_id})
        whole = client.post(f"/v1/{path}", json={"scene": scene})
        assert named.status_code == 200, named.text
        assert named.json() == whole.json()
    estimate = client.post(
        "/v1/batches",
        params={"estimate": True},
        json={"scene": scene_id, "variations": {"/simulation/dt": [0.001, 0.002]}},
    )
    assert estimate.json()["runs"] == 2


@pytest.mark.parametrize("path", ["simulations", "sessions", "statics"])
def test_a_scene_that_is_not_there_is_named(client, path):
    answer = client.post(f"/v1/{path}", json={"scene": "scene_0123456789"})
    assert answer.status_code == 422
    fault = answer.json()["errors"][0]
    assert (fault["pointer"], fault["code"]) == ("/scene", "unknown_scene")


def test_overrides_change_the_copy_of_a_run(client, stored):
    scene_id = stored.json()["id"]
    body = {"scene": scene_id, "overrides": {"/bodies/0/mass": 3.0}}
    run = client.post("/v1/simulations", json=body).json()
    assert client.get(run["links"]["scene"]).json()["bodies"][0]["mass"] == 3.0
    bad = client.post("/v1/simulations", json={**body, "overrides": {"/bodies/0/mass": -3.0}})
    assert bad.json()["errors"][0]["pointer"] == "/overrides/~1bodies~10~1mass"
    assert client.get(stored.headers["location"]).content == WRITTEN
