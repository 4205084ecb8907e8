from copy import deepcopy

import pytest

from cardan.schemas import SceneInvalid, apply_overrides, load_changed, load_scene
from cardan.schemas.pointer import parse_pointer, to_pointer
from tests.schemas.broken import GOOD


def test_pointers_are_written_and_read_back():
    path = ["a/b", "m~n", "", "0"]
    assert to_pointer(path) == "/a~1b/m~0n//0"
    assert parse_pointer(to_pointer(path)) == path
    assert parse_pointer("") == []


def test_overrides_set_values_and_leave_the_document_alone():
    before = deepcopy(GOOD)
    after = apply_overrides(GOOD, {"/simulation/dt": 0.002, "/bodies/1/position/2": 3})
    assert before == GOOD
    scene = load_scene(after)
    assert scene.simulation.dt == 0.002
    assert scene.bodies[1].position == (0.5, 0, 3)


def test_sections_with_defaults_may_be_begun():
    document = {"bodies": GOOD["bodies"]}
    overrides = {"/simulation/solver/method": "pgs", "/record/every": 5}
    scene = load_scene(apply_overrides(document, overrides))
    assert (scene.simulation.solver.method, scene.record.every) == ("pgs", 5)
    assert "simulation" not in document


def test_a_misspelt_last_part_is_found_by_validation():
    with pytest.raises(SceneInvalid) as caught:
        load_scene(apply_overrides(GOOD, {"/bodies/0/mas": 2}))
    assert caught.value.errors[0].hint == "Did you mean 'mass'?"


@pytest.mark.parametrize(
    ("pointer", "parent", "words"),
    [
        ("/bodies/7/mass", "/bodies", "indices 0 to 2"),
        ("/bodies/-", "/bodies", "indices 0 to 2"),
        ("/bodies/00/mass", "/bodies", "indices 0 to 2"),
        ("/bodies/0/mass/kg", "/bodies/0/mass", "1.0, which has no parts"),
        ("/simulaton/dt", "", "the whole document"),
        ("/bodies/0/shape/0/radius", "/bodies/0", "without that field"),
        ("/bodies/" + "9" * 5000, "/bodies", "indices 0 to 2"),
    ],
)
def test_a_pointer_that_leads_nowhere_names_the_deepest_part_that_exists(pointer, parent, words):
    with pytest.raises(SceneInvalid) as caught:
        apply_overrides(GOOD, {pointer: 1})
    (fault,) = caught.value.errors
    assert (fault.pointer, fault.code, fault.got) == (pointer, "pointer_not_found", parent)
    assert words in fault.message


@pytest.mark.parametrize("pointer", ["simulation/dt", "/a~b", "/a~2"])
def test_what_is_no_pointer_is_refused(pointer):
    with pytest.raises(SceneInvalid) as caught:
        apply_overrides(GOOD, {pointer: 1})
    assert caught.value.errors[0].code == "pointer_invalid"


def test_all_wrong_pointers_are_reported():
    with pytest.raises(SceneInvalid) as caught:
        apply_overrides(GOOD, {"/x/y": 1, "/bodies/9": 2, "/name": "ok"})
    assert [fault.pointer for fault in caught.value.errors] == ["/x/y", "/bodies/9"]


def test_wrong_values_are_reported_beside_wrong_pointers():
    overrides = {"/x/y": 1, "/bodies/1/mass": -2, "/name": "ok", "/simulation/dt": "fast"}
    with pytest.raises(SceneInvalid) as caught:
        load_changed(GOOD, overrides)
    pointers = {fault.pointer for fault in caught.value.errors}
    assert pointers == {"/x/y", "/bodies/1/mass", "/simulation/dt"}
    scene, document = load_changed(GOOD, {"/name": "ok"})
    assert scene.name == document["name"] == "ok"
