from datetime import UTC, datetime

import pytest
from pydantic import TypeAdapter, ValidationError

from cardan.schemas.api import BatchRequest, SessionInfo, SessionRequest, SimulationRequest
from cardan.schemas.command import Command, SetMotor
from cardan.schemas.error import Fault, Problem, SceneInvalid
from cardan.schemas.translate import translate

COMMAND = TypeAdapter(Command)
COMMANDS = [
    {"op": "pause", "id": "c1"},
    {"op": "resume"},
    {"op": "step", "n": 5},
    {"op": "speed", "factor": 2},
    {"op": "speed", "factor": None},
    {"op": "reset"},
    {"op": "set_motor", "joint": "pivot", "axis": 1, "target": 2.5, "max_force": 10},
    {"op": "grab", "body": "rod", "point": [0, 0, 1]},
    {"op": "grab_move", "target": [0, 0, 2]},
    {"op": "release"},
    {"op": "apply_force", "body": "rod", "force": [1, 0, 0], "duration": 0.1},
    {"op": "apply_impulse", "body": "rod", "impulse": [1, 0, 0], "point": [0, 0, 1]},
    {"op": "set_velocity", "body": "rod", "linear": [1, 0, 0], "angular": [0, 0, 1]},
    {"op": "set_state", "q": {"pin": 0.3, "knee": [0.1, 0.2]}, "qd": {"pin": 1}},
    {"op": "gravity", "value": [0, 0, -1.62]},
    {"op": "seek", "step": 100},
    {"op": "live"},
]


@pytest.mark.parametrize("document", COMMANDS, ids=lambda document: document["op"])
def test_every_command_is_read_and_written_back(document):
    command = COMMAND.validate_python(document)
    assert COMMAND.dump_python(command, exclude_unset=True, mode="json") == document


@pytest.mark.parametrize(
    "document",
    [
        {"op": "jump"},
        {"joint": "pivot"},
        {"op": "step", "n": 0},
        {"op": "speed", "factor": 65},
        {"op": "speed", "factor": 0},
        {"op": "speed", "factor": True},
        {"op": "grab", "body": "rod", "point": [0, 0, float("nan")]},
        {"op": "set_motor", "joint": "pivot", "target": "fast"},
        {"op": "pause", "now": True},
        [],
        None,
    ],
)
def test_what_is_no_command_is_refused(document):
    with pytest.raises(ValidationError):
        COMMAND.validate_python(document)


@pytest.mark.parametrize(
    ("model", "document", "pointer", "code"),
    [
        (Command, {"op": "jmp"}, "/op", "unknown_type"),
        (Command, {"n": 1}, "/op", "missing"),
        (Command, {"op": "step", "n": 0}, "/n", "out_of_range"),
        (Command, {"op": "step", "m": 1}, "/m", "unknown_field"),
        (SimulationRequest, {"scene": 5}, "/scene", "not_an_object"),
        (SimulationRequest, {"scene": ""}, "/scene", "wrong_length"),
        (SimulationRequest, {"scene": "pile", "timeout": 1}, "/timeout", "unknown_field"),
        (SessionRequest, {"scene": "pile", "paused": 1}, "/paused", "not_a_boolean"),
        (BatchRequest, {"scene": "pile", "mode": "gird"}, "/mode", "not_allowed"),
        (BatchRequest, {"scene": "pile", "variations": {"/a": []}}, "/variations/~1a",
         "wrong_length"),
        (BatchRequest, {"scene": "pile", "variations": [{"pointer": "/a", "values": 1}]},
         "/variations/0/values", "not_a_list"),
    ],
)  # fmt: skip
def test_faults_of_requests_point_into_the_request(model, document, pointer, code):
    with pytest.raises(ValidationError) as caught:
        TypeAdapter(model).validate_python(document)
    (fault,) = translate(caught.value, model, document)
    assert (fault.pointer, fault.code) == (pointer, code)


@pytest.mark.parametrize(
    ("values", "pointer", "message"),
    [
        ({"low": 1}, "/variations/~1a/type",
         "The field `type` is missing; it must be one of uniform, log_uniform, normal, integers."),
        ({"type": 3}, "/variations/~1a/type",
         "`type` must be one of uniform, log_uniform, normal, integers; found 3."),
        ({"type": "uniform", "low": 1, "high": 2, "seed": 3}, "/variations/~1a/seed",
         "Unknown field `seed`; the fields allowed here are type, low, high."),
    ],
)  # fmt: skip
def test_faults_of_distributions_say_what_is_allowed(values, pointer, message):
    """A union within a union: both branches are in the path of an error."""
    document = {"scene": "pile", "variations": {"/a": values}}
    with pytest.raises(ValidationError) as caught:
        BatchRequest.model_validate(document)
    (fault,) = translate(caught.value, BatchRequest, document)
    assert (fault.pointer, fault.message) == (pointer, message)


def test_commands_are_told_apart_by_op():
    command = COMMAND.validate_python({"op": "set_motor", "joint": "pivot", "target": 1})
    assert isinstance(command, SetMotor)
    assert (command.axis, command.max_force) == (0, None)


def test_a_batch_takes_variations_as_a_list_or_as_an_object():
    values = {"/bodies/0/mass": [1, 2, 3]}
    by_pointer = BatchRequest.model_validate({"scene": "pile", "variations": values})
    listed = BatchRequest.model_validate(
        {"scene": "pile", "variations": [{"pointer": "/bodies/0/mass", "values": [1, 2, 3]}]}
    )
    assert by_pointer.variation_list() == listed.variation_list()


@pytest.mark.parametrize("rule", ["continue", "stop", "stop_after:3"])
def test_rules_on_failure(rule):
    assert BatchRequest.model_validate({"scene": "pile", "on_failure": rule}).on_failure == rule


@pytest.mark.parametrize("rule", ["stop_after:0", "stop_after", "never", ""])
def test_other_rules_on_failure_are_refused(rule):
    with pytest.raises(ValidationError):
        BatchRequest.model_validate({"scene": "pile", "on_failure": rule})


def test_unknown_request_fields_are_refused():
    for model in (SimulationRequest, SessionRequest, BatchRequest):
        with pytest.raises(ValidationError, match="Extra inputs"):
            model.model_validate({"scene": "pile", "sceen": {}})


def test_times_are_written_in_utc():
    info = SessionInfo(
        id="s1", state="paused", created_at=datetime(2030, 1, 2, 3, 4, 5, tzinfo=UTC)
    )
    assert info.model_dump(mode="json")["created_at"] == "2030-01-02T03:04:05Z"


def test_a_problem_carries_every_fault():
    fault = Fault(pointer="/bodies/0/mass", code="out_of_range", message="It is -1.", got=-1)
    problem = Problem(title="Invalid scene", status=422, code="scene_invalid", errors=[fault])
    assert problem.model_dump(mode="json")["errors"][0] == {
        "pointer": "/bodies/0/mass",
        "code": "out_of_range",
        "message": "It is -1.",
        "got": -1,
        "hint": None,
    }
    assert "/bodies/0/mass: It is -1." in str(SceneInvalid([fault]))
