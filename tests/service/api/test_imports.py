"""`POST /v1/scenes:import`: models go in, scenes and reports come out, nothing else does."""

import io
import json
import zipfile

import pytest

from tests.service.importing.models import BOB, SWING

pytestmark = pytest.mark.e2e


def zipped(files):
    stream = io.BytesIO()
    with zipfile.ZipFile(stream, "w") as archive:
        for name, content in files.items():
            archive.writestr(name, content)
    return stream.getvalue()


def test_zip_becomes_a_scene_that_runs(client):
    body = zipped({"swing/swing.xml": SWING, "swing/bob.obj": BOB})
    answer = client.post(
        "/v1/scenes:import", content=body, headers={"Content-Type": "application/zip"}
    )
    assert answer.status_code == 200, answer.text
    said = answer.json()
    assert said["report"]["format"] == "mjcf"
    assert said["report"]["source"] == "swing/swing.xml"
    assert "hull" in {note["code"] for note in said["report"]["notes"]}
    assert said["scene"]["joints"][0]["motor"]["type"] == "position"
    checked = client.post("/v1/scenes:validate", json=said["scene"]).json()
    assert checked["valid"] is True
    scene = {**said["scene"], "simulation": {**said["scene"]["simulation"], "duration": 0.1}}
    run = client.post("/v1/simulations", json={"scene": scene}, headers={"Prefer": "wait=30"})
    assert run.json()["status"] == "succeeded"


def test_an_empty_body_is_refused_as_a_form_without_a_file_is(client):
    answer = client.post(
        "/v1/scenes:import", content=b"", headers={"Content-Type": "application/octet-stream"}
    )
    assert (answer.status_code, answer.json()["code"]) == (422, "invalid_request")


def test_files_of_a_form_are_the_folder(client):
    files = [
        ("files", ("swing.xml", SWING.encode(), "application/xml")),
        ("files", ("bob.obj", BOB.encode(), "application/octet-stream")),
    ]
    answer = client.post("/v1/scenes:import?ground=true", files=files)
    assert answer.status_code == 200, answer.text
    assert len(answer.json()["scene"]["bodies"]) == 3
    outside = [("files", ("../swing.xml", SWING.encode(), "application/xml"))]
    refused = client.post("/v1/scenes:import", files=outside)
    assert (refused.status_code, refused.json()["code"]) == (422, "path_outside")


@pytest.mark.parametrize("visuals", [True, False])
def test_what_is_only_seen_may_be_left_out(client, visuals):
    text = SWING.replace('<geom type="mesh"', '<geom contype="0" conaffinity="0" type="mesh"')
    files = [("files", ("swing.xml", text)), ("files", ("bob.obj", BOB))]
    answer = client.post(f"/v1/scenes:import?visuals={str(visuals).lower()}", files=files)
    assert answer.status_code == 200, answer.text
    assert any("visuals" in body for body in answer.json()["scene"]["bodies"]) == visuals


@pytest.mark.parametrize(
    "names", [["a", "a/b.xml"], ["a/b.xml", "a"], [f"{'a' * 300}.xml"], ["a/" * 2500 + "b.xml"]]
)
def test_names_that_no_file_can_have_are_refused(client, names):
    answer = client.post("/v1/scenes:import", files=[("files", (name, SWING)) for name in names])
    assert (answer.status_code, answer.json()["code"]) == (422, "invalid_request")
    assert repr(names[-1][:200]) in answer.json()["detail"]


def test_a_scene_comes_with_the_mesh_files_it_names(client):
    part = {"name": "part", "mass": 1, "shapes": [{"type": "convex", "file": "bob.obj"}]}
    files = [
        ("files", ("scene.json", json.dumps({"version": 1, "bodies": [part]}).encode())),
        ("files", ("bob.obj", BOB.encode())),
    ]
    answer = client.post("/v1/scenes:import", files=files)
    assert answer.status_code == 200, answer.text
    assert answer.json()["report"]["format"] == "scene"
    scene = answer.json()["scene"]
    assert client.post("/v1/scenes:validate", json=scene).json()["valid"] is True
    alone = client.post("/v1/scenes:import", files=files[:1])
    assert (alone.status_code, alone.json()["code"]) == (422, "import_refused")
    assert "/bodies/0/shapes/0/file" in alone.json()["errors"][0]["message"]


def test_refusals_are_problems_with_a_reason(client):
    def post(content, kind="application/xml", query=""):
        headers = {"Content-Type": kind}
        return client.post(f"/v1/scenes:import{query}", content=content, headers=headers)

    missing = post(SWING)
    assert (missing.status_code, missing.json()["code"]) == (422, "import_refused")
    assert missing.json()["errors"][0]["code"] == "file_missing"
    assert post(b"").status_code == 422
    assert post(b"{}", "application/json").status_code == 415
    assert post(b"{}").json()["errors"][0]["code"] == "not_xml"
    assert post(SWING, query="?root=loose").status_code == 422
    assert post(SWING, query="?rot=free").json()["code"] == "unknown_parameter"
    key = post(SWING.replace("<asset>", "<!--").replace("</asset>", "-->"), query="?keyframe=7")
    assert key.status_code == 422
    archive = post(b"PK\x03\x04 no archive", "application/zip")
    assert archive.json()["errors"][0]["code"] == "not_an_archive"


@pytest.mark.parametrize("path", ["/etc/passwd", "../../../../../../etc/passwd"])
def test_no_file_of_the_server_is_read(client, path):
    text = SWING.replace('file="bob.obj"', f'file="{path}"')
    answer = client.post(
        "/v1/scenes:import", content=text, headers={"Content-Type": "application/xml"}
    )
    assert answer.json()["errors"][0]["code"] == "file_missing"
    text = f'<mujoco><include file="{path}"/></mujoco>'
    answer = client.post(
        "/v1/scenes:import", content=text, headers={"Content-Type": "application/xml"}
    )
    assert answer.json()["errors"][0]["code"] == "file_missing"
    assert "root:" not in answer.text
