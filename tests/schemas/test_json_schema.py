import importlib
import json
import pkgutil
from collections import Counter
from importlib.resources import files

import pytest

import cardan.schemas
from cardan.schemas.base import Base
from cardan.schemas.examples import example_document, example_names
from cardan.schemas.json_schema import scene_json_schema, schema_text
from tests.schemas.broken import BROKEN

jsonschema = pytest.importorskip("jsonschema")

LOCAL = {
    "out_of_range",
    "not_a_number",
    "not_an_integer",
    "not_a_text",
    "not_a_boolean",
    "not_a_list",
    "not_an_object",
    "unknown_field",
    "unknown_type",
    "wrong_length",
}
CROSS = {"huge-step"}


@pytest.fixture(scope="module")
def validator():
    schema = scene_json_schema()
    jsonschema.Draft202012Validator.check_schema(schema)
    return jsonschema.Draft202012Validator(schema)


def test_the_published_schema_is_current():
    published = (files("cardan.schemas") / "scene.schema.json").read_text(encoding="utf-8")
    assert published == schema_text()


@pytest.mark.parametrize("name", example_names())
def test_every_example_meets_the_schema(validator, name):
    validator.validate(example_document(name))


@pytest.mark.parametrize(
    "broken",
    [
        b
        for b in BROKEN
        if b.code in LOCAL and not isinstance(b.document, str) and b.name not in CROSS
    ],
    ids=lambda b: b.name,
)
def test_what_is_wrong_in_one_place_breaks_the_schema_too(validator, broken):
    assert not validator.is_valid(json.loads(broken.text))


def test_every_field_says_what_it_is():
    silent = [
        f"{name}.{field}"
        for name, model in scene_json_schema()["$defs"].items()
        for field, schema in model.get("properties", {}).items()
        if "description" not in schema and field not in ("type", "op")
    ]
    assert silent == []


def test_no_two_parts_of_scenes_and_answers_have_one_name() -> None:
    """In the OpenAPI document one would take the place of the other."""
    rooms = pkgutil.walk_packages(cardan.schemas.__path__, "cardan.schemas.")
    models = {
        value
        for room in rooms
        for value in vars(importlib.import_module(room.name)).values()
        if isinstance(value, type) and issubclass(value, Base)
    }
    # those of a scene's size are settings, and no answer as a whole
    names = Counter(model.__name__ for model in models if model is not cardan.schemas.Limits)
    assert [name for name, count in names.items() if count > 1] == []
