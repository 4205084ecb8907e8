import json
from copy import deepcopy

import pytest

from cardan.schemas import Limits, SceneInvalid, load_scene
from tests.schemas.broken import BROKEN, GOOD, Broken


def faults_of(data):
    with pytest.raises(SceneInvalid) as caught:
        load_scene(data)
    return caught.value.errors


def test_the_scene_that_is_broken_below_is_good():
    assert len(load_scene(json.dumps(GOOD)).bodies) == 3


@pytest.mark.parametrize("broken", BROKEN, ids=lambda broken: broken.name)
def test_broken_scene_is_refused_with_pointer_code_and_finding(broken: Broken):
    (fault,) = faults_of(broken.text)
    assert (fault.pointer, fault.code) == (broken.pointer, broken.code)
    assert broken.finding in fault.message
    json.dumps(fault.model_dump(), allow_nan=False).encode("utf-8")


def test_names_of_broken_scenes_are_distinct():
    assert len({broken.name for broken in BROKEN}) == len(BROKEN)


def test_all_faults_are_reported_at_once():
    document = deepcopy(GOOD)
    document["bodies"][0]["mass"] = -1
    document["bodies"][1]["typ"] = "static"
    document["bodies"][2]["name"] = "rod"
    document["joints"][0] |= {"parent": "nobody", "limits": {"lower": 2, "upper": 1}}
    document["simulation"]["dt"] = "fast"
    document["record"]["rate"] = 30
    found = {(fault.pointer, fault.code) for fault in faults_of(json.dumps(document))}
    assert found == {
        ("/bodies/0/mass", "out_of_range"),
        ("/bodies/1/typ", "unknown_field"),
        ("/bodies/2/name", "duplicate_name"),
        ("/joints/0/parent", "unknown_body"),
        ("/joints/0/limits/lower", "limits_crossed"),
        ("/simulation/dt", "not_a_number"),
        ("/record/rate", "record_conflict"),
    }


def test_a_faulty_body_is_still_a_known_name():
    document = deepcopy(GOOD)
    document["bodies"][1]["mass"] = "heavy"
    assert [fault.pointer for fault in faults_of(document)] == ["/bodies/1/mass"]


@pytest.mark.parametrize(
    ("pointer", "name", "meant"),
    [("masss", 1.0, "mass"), ("postion", [0, 0, 0], "position")],
)
def test_misspelt_fields_get_a_suggestion(pointer, name, meant):
    document = deepcopy(GOOD)
    document["bodies"][0][pointer] = name
    (fault,) = faults_of(document)
    assert fault.hint == f"Did you mean '{meant}'?"


@pytest.mark.parametrize(
    ("place", "value", "meant"),
    [("child", "rood", "rod"), ("type", "hing", "hinge"), ("frame", "parnt", "parent")],
)
def test_misspelt_values_get_a_suggestion(place, value, meant):
    document = deepcopy(GOOD)
    document["joints"][0][place] = value
    (fault,) = faults_of(document)
    assert fault.hint == f"Did you mean '{meant}'?"


def test_a_field_named_like_an_inner_branch_keeps_its_pointer():
    document = deepcopy(GOOD)
    document["bodies"][0]["shapes"][0]["union:sphere"] = 1
    (fault,) = faults_of(document)
    assert fault.pointer == "/bodies/0/shapes/0/union:sphere"


def test_a_million_bodies_are_refused_before_they_are_looked_at():
    document = {"bodies": [{"no": "body"}] * 1_000_000}
    (fault,) = faults_of(document)
    assert (fault.pointer, fault.got) == ("/bodies", 1_000_000)


def test_limits_are_configurable():
    with pytest.raises(SceneInvalid, match="3 bodies; the limit is 2"):
        load_scene(GOOD, Limits(max_bodies=2))
    with pytest.raises(SceneInvalid, match="recorded values; the limit is 100"):
        load_scene(GOOD, Limits(max_recorded_values=100))
    with pytest.raises(SceneInvalid, match="1000 steps; the limit is 999"):
        load_scene(GOOD, Limits(max_steps=999))


def test_a_flood_of_faults_is_cut_off_and_counted():
    document = deepcopy(GOOD)
    document["bodies"] = [{"mass": 1.0, "inertia": [1, 1, 1]} for _ in range(1500)]
    document["joints"] = []
    document["forces"] = []
    faults = faults_of(document)
    assert len(faults) == 1001
    assert faults[-1].message == "500 more faults follow."


def test_bytes_that_are_not_utf8_are_refused():
    (fault,) = faults_of(b'{"name": "\xff"}')
    assert fault.code == "not_utf8"
    assert "0xff" in fault.message


def test_lone_surrogates_are_refused_and_can_be_answered():
    (fault,) = faults_of('{"name": "\\ud800", "bodies": [{"name": "a", "type": "static"}]}')
    assert fault.pointer == "/name"
    fault.model_dump_json().encode("utf-8")


def test_lone_surrogates_in_suggestions_can_be_answered():
    document = deepcopy(GOOD)
    document["materials"] = {"\ud800": {}}
    document["bodies"][0]["shapes"][0]["material"] = "steel"
    for fault in faults_of(document):
        fault.model_dump_json().encode("utf-8")
