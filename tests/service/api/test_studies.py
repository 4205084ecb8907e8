"""Studies through a real server: closed forms are the truth."""

import io
import json
import math
from typing import Any

import pyarrow.parquet as pq
import pytest

from tests.service.real_server import end_of, wait_for

pytestmark = pytest.mark.e2e

GRAVITY = 9.81


def post(client, study, status=202, **headers):
    answer = client.post("/v1/studies", json=study, headers=headers)
    assert answer.status_code == status, answer.text
    return answer.json()


# a body on its suspension, let go 0.1 m above its rest
MASS, STIFFNESS, DROP_HEIGHT = 250.0, 16000.0, 0.1
SUSPENSION = {
    "version": 1,
    "name": "suspension",
    "gravity": [0, 0, 0],
    "simulation": {"dt": 0.001, "duration": 3.0},
    "bodies": [
        {"name": "body", "position": [0, 0, DROP_HEIGHT], "mass": MASS, "inertia": [40, 40, 40]}
    ],
    "joints": [
        {
            "name": "strut",
            "type": "slider",
            "parent": "world",
            "child": "body",
            "anchor": [0, 0, DROP_HEIGHT],
            "axis": [0, 0, 1],
            "spring": {"stiffness": STIFFNESS, "damping": 500.0, "rest": -DROP_HEIGHT},
        }
    ],
    "record": {"every": 5, "channels": ["pose", "joints"]},
}
DAMPING = "/joints/0/spring/damping"
TUNE: dict[str, Any] = {
    "scene": SUSPENSION,
    "variables": [{"pointers": [DAMPING], "lower": 200.0, "upper": 8000.0, "scale": "log"}],
    "objective": {"type": "signal", "body": "body", "column": "pz", "reduce": "rms"},
    "tolerance": 1e-3,
    "name": "tune a suspension",
}

# a block that slides on a plane until friction stops it
SPEED, FRICTION = 3.0, 0.32
SLIDE = {
    "version": 1,
    "name": "slide",
    "gravity": [0, 0, -GRAVITY],
    "simulation": {"dt": 0.001, "duration": 1.2},
    "materials": {"table": {"friction": 0.5}},
    "bodies": [
        {
            "name": "table",
            "type": "static",
            "shapes": [{"type": "plane", "normal": [0, 0, 1], "offset": 0, "material": "table"}],
        },
        {
            "name": "block",
            "position": [0, 0, 0.02],
            "mass": 0.5,
            "linear_velocity": [SPEED, 0, 0],
            "shapes": [{"type": "box", "size": [0.2, 0.2, 0.04], "material": "table"}],
        },
    ],
    "record": {"every": 1, "channels": ["pose"]},
}


def slid(time):
    """Way of a block with Coulomb friction [m]: v t - mu g t^2 / 2 until it stops."""
    t = min(time, SPEED / (FRICTION * GRAVITY))
    return SPEED * t - 0.5 * FRICTION * GRAVITY * t * t


def measured(noise=0.0):
    """A table of the slide, as of a camera: with a missing field, and an error that alternates."""
    lines = ["time,way"]
    for number in range(1, 25):
        time = 0.05 * number
        value = slid(time) + noise * (-1) ** number
        lines.append(f"{time:.3f},{'' if number == 7 else f'{value:.6f}'}")
    return "\n".join(lines) + "\n"


def fit(noise=0.0, **more):
    return {
        "scene": SLIDE,
        "variables": [{"pointers": ["/materials/table/friction"], "lower": 0.05, "upper": 1.0}],
        "objective": {
            "type": "data",
            "csv": measured(noise),
            "series": [{"body": "block", "column": "px", "csv_column": "way", "deviation": 0.002}],
        },
        "name": "fit friction",
        **more,
    }


def test_a_suspension_is_tuned_to_the_damping_that_theory_gives(client):
    """The integral of x^2 after a release is least at half the critical damping.

    x'' + 2 zeta w x' + w^2 x = 0 from x0 at rest:  int x^2 dt = x0^2 (1 + 4 zeta^2) / (4 zeta w)
    """
    info = end_of(client, post(client, TUNE))
    assert (info["status"], info["method"], info["failed"]) == ("succeeded", "nelder_mead", 0)
    best = info["best"]
    zeta = best["values"][DAMPING] / (2.0 * math.sqrt(STIFFNESS * MASS))
    # the minimum is flat: a share of 1e-3 of the range is 0.4 % of the damping
    assert zeta == pytest.approx(0.5, rel=0.02)
    w = math.sqrt(STIFFNESS / MASS)
    least = DROP_HEIGHT * math.sqrt((1 + 4 * 0.25) / (4 * 0.5 * w) / 3.0)
    assert best["objective"] == pytest.approx(least, rel=2e-3)
    scene = client.get(info["links"]["scene"]).json()
    assert scene["joints"][0]["spring"]["damping"] == best["values"][DAMPING]
    # the table of all evaluations is that of the batch
    rows = client.get(info["links"]["results"], params={"format": "json"}).json()["rows"]
    assert len(rows) == info["evaluations"] <= info["max_evaluations"]
    assert rows[best["run"]]["id"] == best["simulation"]
    assert rows[best["run"]]["objective"] == best["objective"]
    assert min(row["objective"] for row in rows) == best["objective"]
    assert client.get(info["links"]["batch"]).json()["status"] == "succeeded"
    summary = client.get(f"/v1/simulations/{best['simulation']}/summary").json()
    assert summary["measures"]["objective"] == [best["objective"]]


def test_friction_is_fitted_to_a_measured_slide(client):
    exact = end_of(client, post(client, fit()))
    assert (exact["status"], exact["method"]) == ("succeeded", "least_squares")
    pointer = "/materials/table/friction"
    assert exact["best"]["values"][pointer] == pytest.approx(FRICTION, abs=1e-3)
    assert exact["evaluations"] < 40
    table = pq.read_table(
        io.BytesIO(client.get(exact["links"]["results"]).content),
        columns=["objective", pointer],
    ).to_pylist()
    assert table[exact["best"]["run"]]["objective"] == exact["best"]["objective"]
    assert len({row["objective"] for row in table}) == len({row[pointer] for row in table})
    noisy = end_of(client, post(client, fit(noise=0.002)))
    assert noisy["best"]["values"][pointer] == pytest.approx(FRICTION, abs=3e-3)
    # errors of one deviation: the mean square is near 1, and the deviation that of a linear fit
    assert noisy["best"]["objective"] == pytest.approx(1.0, rel=0.15)
    times = [0.05 * n for n in range(1, 25) if n != 7]
    stop = SPEED / (FRICTION * GRAVITY)
    slopes = [
        -0.5 * GRAVITY * t * t if t < stop else -(SPEED**2) / (2 * FRICTION**2 * GRAVITY)
        for t in times
    ]
    expected = 0.002 / math.sqrt(sum(slope**2 for slope in slopes))
    assert noisy["best"]["deviations"][pointer] == pytest.approx(expected, rel=0.15)


def test_a_constraint_bounds_the_answer(client):
    """The softest damper whose body does not swing back by more than 10 % of the drop.

    Overshoot of a release: exp(-pi zeta / sqrt(1 - zeta^2)).
    """
    zeta = 1.0 / math.sqrt(1.0 + (math.pi / math.log(10.0)) ** 2)
    info = end_of(
        client,
        post(
            client,
            TUNE
            | {
                "objective": {"type": "signal", "joint": "strut", "column": "qd", "reduce": "peak",
                              "goal": "maximise"},
                "constraints": [
                    {
                        "quantity": {"type": "signal", "body": "body", "column": "pz",
                                     "reduce": "min"},
                        "at_least": -0.1 * DROP_HEIGHT,
                    }
                ],
            },
        ),
    )  # fmt: skip
    assert (info["status"], info["method"]) == ("succeeded", "cobyqa"), info
    best = info["best"]
    assert best["feasible"]
    assert best["values"][DAMPING] == pytest.approx(
        2 * zeta * math.sqrt(STIFFNESS * MASS), rel=0.02
    )
    assert best["constraints"] == pytest.approx([-0.1 * DROP_HEIGHT], rel=0.02)
    found = client.get(info["links"]["results"], params={"format": "json"}).json()
    assert found["columns"][3:6] == [DAMPING, "objective", "constraints.0"]
    row = found["rows"][best["run"]]
    assert (row["objective"], [row["constraints.0"]]) == (best["objective"], best["constraints"])


def test_a_killed_service_goes_on_and_finds_the_same_answer(own_server):
    """The search of a study is deterministic, and stands on the rows of its evaluations alone."""
    study = fit(noise=0.002) | {"method": "cma_es", "seed": 3, "max_evaluations": 30}
    second = {"pointers": ["/bodies/1/linear_velocity/0"], "lower": 2.0, "upper": 4.0}
    study["variables"] = [*study["variables"], second]
    own_server.start()
    with own_server.client() as client:
        undisturbed = end_of(client, post(client, study))
        rows = client.get(undisturbed["links"]["results"], params={"format": "json"}).json()["rows"]
        info = post(client, study)
        wait_for(
            lambda: client.get(info["links"]["self"]).json()["evaluations"] > 6,
            what="a second generation",
        )
    own_server.kill()
    own_server.start()
    with own_server.client() as client:
        again = end_of(client, info)
        found = client.get(again["links"]["results"], params={"format": "json"}).json()["rows"]
    assert again["evaluations"] == undisturbed["evaluations"] == 30
    for name in ("values", "objective", "run"):
        assert again["best"][name] == undisturbed["best"][name]
    for row, other in zip(rows, found, strict=True):
        for pointer in ("/materials/table/friction", "/bodies/1/linear_velocity/0"):
            assert row[pointer] == other[pointer]


def test_a_study_is_listed_followed_cancelled_and_deleted(client):
    study = TUNE | {"method": "differential_evolution", "max_evaluations": 1000}
    info = post(client, study, **{"Idempotency-Key": "study-1"})
    assert post(client, study, **{"Idempotency-Key": "study-1"})["id"] == info["id"]
    url, batch = info["links"]["self"], info["links"]["batch"]
    assert info["id"] in [one["id"] for one in client.get("/v1/studies").json()["items"]]
    assert client.delete(url).status_code == 409
    kinds = set()
    with client.stream("GET", info["links"]["events"]) as stream:
        for line in stream.iter_lines():
            kind, _, text = line.partition(": ")
            if kind == "event":
                kinds.add(text)
            if kind == "data" and "best" in (data := json.loads(text)) and data["best"]:
                break
    assert kinds == {"run", "progress"}
    assert client.delete(batch).json()["code"] == "part_of_study"
    assert client.post(f"{batch}:retry-failed").status_code == 409
    assert client.post(f"{url}:cancel").json()["status"] in ("cancelling", "cancelled")
    ended = end_of(client, info)
    assert ended["status"] == "cancelled"
    assert ended["best"]["objective"] > 0.0
    assert (
        client.get(info["links"]["events"], headers={"Last-Event-ID": "9" * 12}).status_code == 204
    )
    assert client.delete(url).status_code == 204
    for address in (
        url,
        batch,
        info["links"]["scene"],
        f"/v1/simulations/{ended['best']['simulation']}",
    ):
        assert client.get(address).status_code == 404


def faults_of(client, **changes):
    problem = post(client, TUNE | changes, 422)
    return {(fault["pointer"], fault["message"]) for fault in problem["errors"]}


def test_faults_of_a_study_name_their_place(client):
    def pointers(**changes):
        return {pointer for pointer, _ in faults_of(client, **changes)}

    variable = TUNE["variables"][0]
    assert pointers(variables=[variable | {"lower": 9000.0}]) == {"/variables/0/lower"}
    assert pointers(variables=[variable | {"lower": 0.0}]) == {"/variables/0/lower"}
    assert pointers(variables=[variable | {"start": 100.0}]) == {"/variables/0/start"}
    assert pointers(variables=[variable | {"pointers": ["/joints/0/spring/colour"]}]) == {
        "/variables/0/pointers/0"
    }
    assert pointers(variables=[variable, variable]) == {"/variables/1/pointers/0"}
    signal = TUNE["objective"]
    assert pointers(objective=signal | {"body": "wheel"}) == {"/objective/body"}
    assert pointers(objective=signal | {"column": "vz"}) == {"/objective/column"}
    assert pointers(objective=signal | {"joint": "strut"}) == {"/objective/joint"}
    assert pointers(method="cma_es") == {"/method"}
    assert pointers(method="least_squares") == {"/method"}
    assert pointers(max_evaluations=10**6) == {"/max_evaluations"}
    bound = {"quantity": signal | {"body": "body"}}
    bound["quantity"].pop("goal", None)
    assert pointers(constraints=[bound]) == {"/constraints/0"}
    assert pointers(constraints=[bound | {"at_least": 1.0}], method="nelder_mead") == {"/method"}
    data = {"type": "data", "series": [{"body": "body", "column": "pz"}]}
    assert pointers(objective=data) == {"/objective/series/0"}
    column = {"body": "body", "column": "pz", "csv_column": "z"}
    table = data | {"series": [column]}
    for text in ("t,y\n0,1\n", "t,z\n0,x\n", "t,z\n0\n", "t,z\n", "z,z\n0,1\n", "t,z\n0,inf\n"):
        assert faults_of(client, objective=table | {"csv": text}), text
    assert pointers(objective=table | {"csv": "t,z\n1,1\n0,1\n"}) == {"/objective/series/0/times"}
    assert pointers(objective=table | {"csv": "t,z\n1,1\n9,1\n"}) == {"/objective/series/0/times"}


def test_a_metric_that_no_run_has_is_told(client):
    wrong = TUNE | {"objective": {"type": "metric", "metric": "energy.no_such"}}
    assert post(client, wrong, 422)["errors"][0]["pointer"] == "/objective/metric"
    for metric in ("state_hash", "energy", "verdict.status", "warnings", "timing.phases"):
        fault = post(client, TUNE | {"objective": {"type": "metric", "metric": metric}}, 422)
        assert fault["errors"][0]["message"] == "It is no number.", metric
    study = TUNE | {"objective": {"type": "metric", "metric": "accuracy.position_error"}}
    info = end_of(client, post(client, study | {"max_evaluations": 4}))
    assert (info["status"], info["error"]["code"], info["best"]) == ("failed", "no_value", None)
    rows = client.get(info["links"]["results"], params={"format": "json"}).json()["rows"]
    assert {row["objective"] for row in rows} == {None}
    assert client.get(info["links"]["scene"]).status_code == 409
