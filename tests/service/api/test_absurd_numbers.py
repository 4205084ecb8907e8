"""Numbers that nobody means, in every place that takes one: refused or taken, never a 500."""

import pytest

from tests.service.real_server import DROP, run_to_end

pytestmark = pytest.mark.e2e

DIGITS = "9" * 5000
WORD = 2**63  # the first whole number that no machine word holds


@pytest.fixture(scope="module")
def recording(server):
    with server.client() as client:
        return run_to_end(client, DROP)["links"]["trajectory"]


@pytest.fixture(scope="module")
def session(server):
    with server.client() as client:
        made = client.post("/v1/sessions", json={"scene": DROP})
        assert made.status_code == 201, made.text
        where = made.json()["links"]["self"]
        assert client.post(f"{where}:step", json={"n": 5}).status_code == 200
        yield where
        client.delete(where)


@pytest.mark.parametrize(
    ("asked", "status", "length"),
    [
        (f"bytes={DIGITS}-", 416, None),
        (f"bytes={DIGITS}-{DIGITS}", 416, None),
        (f"bytes=0-{DIGITS}", 206, "all"),
        (f"bytes=-{DIGITS}", 206, "all"),
        (f"bytes={'0' * 5000}-0", 206, 1),
        (f"bytes=0-{'0' * 5000}7", 206, 8),
        (f"bytes=5-{'0' * 5000}", 200, "all"),
        (f"bytes={WORD}-", 416, None),
        ("bytes=\xb2-", 200, "all"),
    ],
)
def test_ranges(client, recording, asked, status, length):
    whole = client.get(recording).content
    answer = client.get(recording, headers={"Range": asked.encode("latin-1")})
    assert answer.status_code == status, answer.text[:500]
    if length is None:
        assert answer.headers["content-range"] == f"bytes */{len(whole)}"
        assert len(answer.text) < 1000
    else:
        assert len(answer.content) == (len(whole) if length == "all" else length)


@pytest.mark.parametrize("stride", [WORD, 2**64, 10**30])
def test_a_stride_beyond_all_frames_leaves_the_first(client, recording, session, stride):
    frames = client.get(f"{session}/frames", params={"stride": stride})
    assert frames.status_code == 200, frames.text
    assert len(frames.json()["frames"]) == 1
    table = client.get(recording, params={"stride": stride, "format": "json"})
    assert table.status_code == 200, table.text
    steps = table.json()["tables"]["bodies"]["step"]
    assert set(steps) == {0}


@pytest.mark.parametrize("number", [WORD, 10**30, DIGITS])
@pytest.mark.parametrize(
    ("where", "name"),
    [
        ("session/frames", "from"),
        ("session/frames", "to"),
        ("session/frames", "stride"),
        ("recording", "from"),
        ("recording", "to"),
        ("recording", "stride"),
        ("/v1/simulations", "page_size"),
        ("/v1/simulations", "page_token"),
        ("/v1/sessions", "page_size"),
        ("/v1/batches", "page_size"),
    ],
)
def test_whole_numbers_of_queries(client, recording, session, where, name, number):
    path = where.replace("session/", f"{session}/", 1).replace("recording", recording)
    answer = client.get(path, params={name: str(number)})
    assert answer.status_code in (200, 422), answer.text
    answer = client.get(path, params={name: f"-{number}"})
    assert answer.status_code in (200, 422), answer.text


@pytest.mark.parametrize(
    ("header", "allowed"),
    [
        ("Last-Event-ID", (422,)),
        ("Prefer", (200,)),
        ("If-None-Match", (200,)),
        ("If-Range", (200,)),
        ("Accept", (406, 200)),
        ("Idempotency-Key", (200,)),
    ],
)
def test_headers(client, recording, header, allowed):
    here = recording.removesuffix("/trajectory")
    path = {"Last-Event-ID": f"{here}/events", "Prefer": here}.get(header, recording)
    value = {"Prefer": f"wait={DIGITS}", "Accept": f"text/csv;q={DIGITS}"}.get(header, DIGITS)
    answer = client.get(path, headers={header: value})
    assert answer.status_code in allowed, answer.text[:500]


@pytest.mark.parametrize("origin", ["http://[", "http://[::1", "null", "]", "\xff"])
def test_an_origin_that_is_no_url_is_a_foreign_one(client, origin):
    answer = client.post(
        "/v1/scenes:validate", json=DROP, headers={"Origin": origin.encode("latin-1")}
    )
    assert (answer.status_code, answer.json()["code"]) == (403, "foreign_origin")


@pytest.mark.parametrize(
    ("origin", "direction"),
    [
        ([0, 0, 1e50], [1.0, 0.0, -1e-30]),
        ([1e50, 1e50, 1e50], [1e50, 0.0, -1e-50]),
        ([0, 0, 1e50], [1.0, 0.0, -1e-10]),
        ([-1e50, -1e50, 1.0], [1e-50, 0.0, -1e-50]),
    ],
)
@pytest.mark.parametrize("hits", ["nearest", "all"])
def test_rays_that_end_far_outside(client, session, origin, direction, hits):
    asked = {"rays": [{"origin": origin, "direction": direction}], "hits": hits}
    answer = client.post(f"{session}:raycast", json=asked)
    assert answer.status_code == 200, answer.text
    for hit in answer.json()["results"][0]["hits"]:
        assert all(isinstance(x, float) for x in [hit["distance"], *hit["point"], *hit["normal"]])


def test_a_ray_reaches_the_plane_beyond_what_may_be_given(client, session):
    # z = 1e50 - 1e-10 d meets the floor at d = 1e60
    asked = {"rays": [{"origin": [0, 0, 1e50], "direction": [1.0, 0.0, -1e-10]}]}
    (hit,) = client.post(f"{session}:raycast", json=asked).json()["results"][0]["hits"]
    assert hit["body"] == "floor"
    assert hit["distance"] == pytest.approx(1e60)
    assert hit["point"][0] == pytest.approx(1e60)


def test_bodies_that_are_far_apart_have_a_distance(client):
    far = {
        "version": 1,
        "simulation": {"dt": 0.001, "duration": 1.0},
        "bodies": [
            {
                "name": name,
                "position": [side, side, side],
                "mass": 1.0,
                "shapes": [{"type": "sphere", "radius": 1.0}],
            }
            for name, side in (("a", -1e50), ("b", 1e50))
        ],
    }
    made = client.post("/v1/sessions", json={"scene": far})
    if made.status_code == 422:
        return
    assert made.status_code == 201, made.text
    where = made.json()["links"]["self"]
    answer = client.post(f"{where}:closest-points", json={"body_a": "a", "body_b": "b"})
    assert answer.status_code == 200, answer.text
    assert answer.json()["distance"] == pytest.approx(2e50 * 3**0.5)
    client.delete(where)


@pytest.mark.parametrize("operation", ["energy", "momentum", "kinematics", "bias", "inverse"])
def test_motion_as_fast_as_may_be_given(client, operation):
    asked = {"scene": "double-pendulum", "qd": [[1e50, -1e50]]}
    answer = client.post(f"/v1/dynamics/{operation}", json=asked)
    assert answer.status_code in (200, 422), answer.text
    if answer.status_code == 422:
        asked |= {"q": [[0.0, 0.0]]}
        answer = client.post(f"/v1/dynamics/{operation}", json=asked)
        assert answer.status_code in (200, 422), answer.text
