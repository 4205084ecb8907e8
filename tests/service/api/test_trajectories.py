import io
import json

import h5py
import numpy as np
import pyarrow as pa
import pyarrow.csv
import pyarrow.ipc
import pyarrow.parquet as pq
import pytest

from cardan.schemas.record import POSE, VELOCITY
from tests.service.real_server import DROP, run_to_end

pytestmark = pytest.mark.e2e


@pytest.fixture(scope="module")
def done(server):
    with server.client() as client:
        return run_to_end(client, DROP)


@pytest.fixture
def get(client, done):
    def ask(headers=None, **params):
        return client.get(done["links"]["trajectory"], params=params, headers=headers)

    return ask


BODIES = ["time", "step", "body", *POSE, *VELOCITY]
MORE = ["arrow", "hdf5", "mcap", "gltf", "usda", "html"]


def test_parquet_is_the_default_and_carries_its_meaning(get, done, client):
    answer = get()
    assert answer.headers["content-type"] == "application/vnd.apache.parquet"
    table = pq.read_table(io.BytesIO(answer.content))
    assert table.column_names == BODIES
    assert table.num_rows == 11 * 4
    about = json.loads(table.schema.metadata[b"cardan"])
    assert about["scene_hash"] == client.post("/v1/scenes:validate", json=DROP).json()["scene_hash"]
    assert about["quaternion_order"].startswith("w x y z")
    assert about["seed"] == 0
    assert table.schema.field("pz").metadata[b"unit"] == b"m"
    # they fall, then they rest on the floor
    heights = table.filter(pa.compute.equal(table["body"].cast("string"), "ball 0"))["pz"]
    assert heights[0].as_py() == 0.15
    assert heights[-1].as_py() == pytest.approx(0.1, abs=2e-3)


@pytest.mark.parametrize(
    ("accept", "kind"),
    [
        ("text/csv", "text/csv"),
        ("application/json", "application/json"),
        ("application/x-npz", "application/x-npz"),
        ("model/gltf-binary", "model/gltf-binary"),
        ("model/vnd.usda", "model/vnd.usda"),
        ("application/vnd.apache.arrow.stream", "application/vnd.apache.arrow.stream"),
        ("text/html, text/csv;q=0.5, */*;q=0.1", "text/csv"),
        ("text/csv;q=0, */*", "application/vnd.apache.parquet"),
        ("", "application/vnd.apache.parquet"),
    ],
)
def test_accept_chooses_the_format(get, accept, kind):
    answer = get({"Accept": accept})
    assert answer.headers["content-type"].partition(";")[0] == kind
    assert "Accept" in answer.headers["vary"]


def test_a_web_page_plots_the_energy_that_was_recorded(get):
    page = get(format="html").text
    run = json.loads(page.split('id="run">')[1].split("</script>")[0])
    (plot,) = run["plots"]
    energy = get(format="json").json()["tables"]["energy"]
    assert plot["title"] == "Energy [J]"
    assert plot["times"] == pytest.approx(energy["time"], rel=1e-5)
    curves = {curve["label"]: curve["values"] for curve in plot["curves"]}
    for name in ("kinetic", "potential", "total"):
        assert curves[name] == pytest.approx(energy[name], rel=1e-5, abs=1e-9)
    # they fall onto the floor: what is lost there is in the balance
    assert curves["total"][-1] < 0.9 * curves["total"][0]
    assert curves["balance"] == pytest.approx([curves["balance"][0]] * 11, rel=1e-3)


def test_every_format_holds_the_same_numbers(get):
    table = pq.read_table(io.BytesIO(get().content))
    csv = get(format="csv").content
    head, _, rest = csv.partition(b"\n")
    assert head.startswith(b"# cardan: {")
    from_csv = pyarrow.csv.read_csv(io.BytesIO(rest))
    from_json = get(format="json").json()["tables"]
    archive = np.load(io.BytesIO(get(format="npz").content), allow_pickle=False)
    stream = pyarrow.ipc.open_stream(get(format="arrow").content).read_all()
    hdf5 = h5py.File(io.BytesIO(get(format="hdf5").content))
    assert hdf5["bodies/px"].attrs["unit"] == "m"
    for name in BODIES:
        values = table[name].to_pylist()
        assert stream[name].to_pylist() == values
        column = hdf5["bodies"][name]
        assert (column.asstr()[:] if name == "body" else column[:]).tolist() == values
        assert from_csv[name].to_pylist() == values
        assert from_json["bodies"][name] == values
        assert archive[f"bodies/{name}"].tolist() == values
    assert {"contacts", "energy", "solver"} <= set(from_json)


def test_formats_that_do_not_exist_are_refused_with_a_list(get):
    for answer in (get(format="xlsx"), get({"Accept": "image/png"})):
        assert answer.status_code == 406
        assert answer.json()["formats"] == ["parquet", "npz", "csv", "json", *MORE]


def test_slices(get):
    part = get(format="json", **{"from": 0.05, "to": 0.15, "stride": 2, "bodies": "ball 1,floor"})
    bodies = part.json()["tables"]["bodies"]
    assert sorted(set(bodies["step"])) == [40, 60]
    assert set(bodies["body"]) == {"ball 1", "floor"}
    table = pq.read_table(io.BytesIO(get(channels="velocity").content))
    assert table.column_names == ["time", "step", "body", "vx", "vy", "vz", "wx", "wy", "wz"]
    table = pq.read_table(io.BytesIO(get(channels="energy").content))
    assert "kinetic" in table.column_names


def test_names_with_commas_stand_in_quotes(client):
    names = ["a, b", 'c "d"', " e"]
    bodies = [{"name": name, "mass": 1, "inertia": [1, 1, 1]} for name in names]
    done = run_to_end(client, {"version": 1, "simulation": {"duration": 0.01}, "bodies": bodies})
    asked = {"format": "json", "bodies": '"a, b", "c ""d""","" ," e"'}
    answer = client.get(done["links"]["trajectory"], params=asked)
    assert answer.status_code == 200, answer.text
    assert set(answer.json()["tables"]["bodies"]["body"]) == set(names)


def test_the_table_of_a_one_table_format_can_be_chosen(get):
    contacts = pq.read_table(io.BytesIO(get(table="contacts").content))
    assert set(contacts["body_a"].to_pylist()) | set(contacts["body_b"].to_pylist()) == {
        "floor",
        "ball 0",
        "ball 1",
        "ball 2",
    }
    answer = get(table="contact")
    assert (answer.status_code, answer.json()["code"]) == (422, "no_such_table")
    answer = get(table="joints", format="csv")
    assert answer.status_code == 422 or answer.content


@pytest.mark.parametrize(
    ("params", "pointer"),
    [
        ({"bodies": "ball 9"}, "/query/bodies"),
        ({"channels": "poses"}, "/query/channels"),
        ({"channels": "energy", "format": "gltf"}, "/query/channels"),
        ({"bodies": '"ball 0'}, "/query/bodies"),
        ({"from": 2, "to": 1}, "/query/from"),
        ({"from": 1e3, "format": "gltf"}, "/query/from"),
        ({"strid": 2}, "/query/strid"),
    ],
)
def test_wrong_slices_are_named(get, params, pointer):
    answer = get(**params)
    assert answer.status_code == 422
    assert answer.json()["errors"][0]["pointer"] == pointer


def test_what_is_wrong_with_a_slice_is_said_in_a_sentence(get):
    answer = get(**{"from": 2, "to": 1}).json()
    assert answer["errors"][0]["message"] == "2.0 is after to = 1.0."
    assert answer["detail"] == "The request has 1 fault. /query/from: 2.0 is after to = 1.0."
    message = get(bodies="ball 9").json()["errors"][0]["message"]
    assert message.startswith("No body 'ball 9' was recorded; there are ")
    assert message.endswith(".")


@pytest.mark.parametrize("form", ["parquet", "npz", "csv", "json", *MORE])
def test_ranges_put_together_are_the_whole(get, form):
    whole = get(format=form)
    size, tag = len(whole.content), whole.headers["etag"]
    assert whole.headers["accept-ranges"] == "bytes"
    first = get({"Range": "bytes=0-99"}, format=form)
    assert first.status_code == 206
    assert first.headers["content-range"] == f"bytes 0-99/{size}"
    rest = get({"Range": "bytes=100-", "If-Range": tag}, format=form)
    assert first.content + rest.content == whole.content
    assert get({"Range": "bytes=-7"}, format=form).content == whole.content[-7:]
    changed = get({"Range": "bytes=100-", "If-Range": '"other"'}, format=form)
    assert (changed.status_code, changed.content) == (200, whole.content)


def test_a_part_of_what_has_changed_is_refused(get):
    tag = get().headers["etag"]
    for known in (tag, f'"other", {tag}', "*"):
        assert get({"Range": "bytes=0-9", "If-Match": known}).status_code == 206
    for known in ('"other"', f"W/{tag}"):
        answer = get({"Range": "bytes=100-", "If-Match": known, "If-None-Match": tag})
        assert (answer.status_code, answer.json()["code"]) == (412, "precondition_failed")
        assert answer.headers["etag"] == tag


def test_a_range_outside_is_a_problem(get):
    size = len(get().content)
    answer = get({"Range": f"bytes={size}-"})
    assert answer.status_code == 416
    assert answer.headers["content-range"] == f"bytes */{size}"
    assert answer.headers["content-type"] == "application/problem+json"


def test_the_tag_identifies_the_bytes(get):
    tag = get().headers["etag"]
    assert not tag.startswith("W/")
    unchanged = get({"If-None-Match": f'"x", {tag}'})
    assert (unchanged.status_code, unchanged.content) == (304, b"")
    assert unchanged.headers["etag"] == tag
    tags = {get(**p).headers["etag"] for p in ({}, {"stride": 2}, {"format": "csv"})}
    assert len(tags) == 3


def test_head_tells_size_and_tag_without_the_file(client, done, get):
    answer = client.head(done["links"]["trajectory"])
    whole = get()
    assert (answer.status_code, answer.content) == (200, b"")
    assert answer.headers["content-length"] == str(len(whole.content))
    assert answer.headers["etag"] == whole.headers["etag"]
