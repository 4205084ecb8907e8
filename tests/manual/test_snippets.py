"""Every snippet of the manual does what the manual says."""

import itertools
import json
import os
import re
import subprocess
import sys
from pathlib import Path
from typing import Any, get_args

import pytest
from pydantic import BaseModel

import cardan
from cardan.schemas import (
    action,
    body,
    drive,
    force,
    initial,
    joint,
    material,
    options,
    record,
    scene,
    sensor,
    series,
    shape,
    study,
    trigger,
    visual,
)
from docs.manual.blocks import Block, all_blocks
from docs.manual.fields import values_of
from tests.service.real_server import Server

BLOCKS = all_blocks()
SCENES = [block for block in BLOCKS if block.language == "json" and block.is_scene]
# what the manual shows to be found
FOUND = {
    "too fast for its step": ["travel_per_step", "step_error"],
}
LANGUAGES = {"json", "python", "sh"}
# modules of the scene's parts
PARTS = (
    action, body, drive, force, initial, joint, material, options, record, scene, sensor, series,
    shape, trigger, visual,
)  # fmt: skip
# options that docs/manual/options.md varies in Python
CHOICES = {
    "method", "stabilisation", "formulation", "integrator", "gyroscopic", "orientation_update",
    "restitution_law", "friction_cone",
}  # fmt: skip


def test_every_block_is_of_a_kind_that_is_run() -> None:
    assert {block.language for block in BLOCKS} == LANGUAGES
    assert len(SCENES) > 60
    names = [block.document["name"] for block in SCENES]
    assert len(set(names)) == len(names)


@pytest.mark.parametrize("block", SCENES, ids=lambda block: block.name)
def test_a_scene_runs_without_warnings_and_its_result_is_trusted(block: Block) -> None:
    document = cardan.load_scene(block.text)
    assert cardan.scene_warnings(document) == []
    _, summary = cardan.run(document)
    assert summary["status"] == "succeeded"
    found = [finding["quantity"] for finding in summary["verdict"]["findings"]]
    assert found == FOUND.get(block.document["name"], [])


def models(*modules: Any) -> set[type[BaseModel]]:
    """Parts of a scene that these modules define."""
    return {
        value
        for module in modules
        for value in vars(module).values()
        if isinstance(value, type)
        and issubclass(value, BaseModel)
        and value.__module__ == module.__name__
    }


def types_of(union: Any, field: str = "type") -> set[str]:
    """The texts of the field `type`, or another, in a union."""
    branches = get_args(get_args(union)[0])
    return {get_args(get_args(branch)[0].model_fields[field].annotation)[0] for branch in branches}


def parts(value: Any) -> list[dict[str, Any]]:
    """All objects of a document."""
    if isinstance(value, dict):
        return [value, *itertools.chain.from_iterable(map(parts, value.values()))]
    return list(itertools.chain.from_iterable(map(parts, value))) if isinstance(value, list) else []


def test_every_kind_of_part_is_shown() -> None:
    kinds = (
        "shapes", "visuals", "joints", "forces", "motors", "balls", "sensors", "conditions",
        "actions",
    )  # fmt: skip
    shown: dict[str, set[str]] = {kind: set() for kind in kinds}
    for block in SCENES:
        document = block.document
        for kind in ("shapes", "visuals"):
            shown[kind] |= {s["type"] for b in document["bodies"] for s in b.get(kind, [])}
        for kind in ("forces", "sensors"):
            shown[kind] |= {one["type"] for one in document.get(kind, [])}
        for one in document.get("triggers", []):
            shown["conditions"].add(one["when"]["type"])
            shown["actions"] |= {command["op"] for command in one["do"]}
        for one in document.get("joints", []):
            shown["joints"].add(one["type"])
            kind = "balls" if one["type"] == "ball" else "motors"
            shown[kind] |= {one[m]["type"] for m in ("motor", "motor2", "motor3") if m in one}
    assert shown == {
        "shapes": types_of(shape.Shape),
        "visuals": types_of(visual.Visual),
        "joints": types_of(joint.Joint),
        "forces": types_of(force.Force),
        "sensors": types_of(sensor.Sensor),
        "conditions": types_of(trigger.When),
        "actions": types_of(action.Action, "op"),
        "motors": types_of(drive.Motor),
        "balls": types_of(drive.BallMotor),
    }


def test_every_field_of_a_scene_is_shown_in_one() -> None:
    used = {key for block in SCENES for part in parts(block.document) for key in part}
    wanted = {field for model in models(*PARTS) for field in model.model_fields}
    # a title is what `name` is for, there is one version, and the default of `every` is said
    assert wanted - used - {"version", "description", "every"} == set()


def test_every_value_of_an_option_is_shown() -> None:
    """In a scene, or among the variants that a snippet in Python runs; defaults aside."""
    shown: set[tuple[str, Any]] = set()
    for block in SCENES:
        for part in parts(block.document):
            for key, value in part.items():
                listed = value if isinstance(value, list) else [value]
                shown |= {(key, one) for one in listed if isinstance(one, str)}
    snippets = "".join(block.text for block in BLOCKS if block.language == "python")
    missing = {
        (model.__name__, field, value)
        for model in models(*PARTS)
        for field, info in model.model_fields.items()
        for value in values_of(info.annotation)
        if isinstance(value, str) and value != info.default and (field, value) not in shown
        if not (field in CHOICES and f'"{value}"' in snippets)
    }
    assert missing == set()


def test_every_part_has_its_table() -> None:
    text = "".join(path.read_text("utf-8") for path in Path("docs/manual").glob("*.md"))
    answers = {"StudyBest", "StudyInfo"}
    inherited = {"Signal", "SignalQuantity", "MetricQuantity"}
    shapes = {model.__name__ for model in models(visual) if model.__name__[:6] == "Visual"}
    names = {model.__name__ for model in models(*PARTS, study)} - answers - inherited
    missing = {name for name in names if f"<!-- fields: {name} -->" not in text}
    # visuals have the fields of the shapes they look like
    assert missing == shapes - {"VisualBase"}


def test_every_method_of_a_study_is_said() -> None:
    text = Path("docs/manual/batches.md").read_text("utf-8")
    named = set(re.findall(r"^\| `(\w+)` \|", text, re.MULTILINE))
    assert set(get_args(study.StudyMethod)) <= named


def pages_with(language: str) -> list[str]:
    return sorted({block.page for block in BLOCKS if block.language == language})


@pytest.mark.parametrize("page", pages_with("python"))
def test_python_of_a_page_runs_from_top_to_bottom(
    page: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("MPLBACKEND", "agg")
    names: dict[str, Any] = {"__name__": "__main__"}
    for block in BLOCKS:
        if block.page == page and block.language == "python":
            exec(compile(block.text, f"{block.name}.py", "exec"), names)


@pytest.mark.e2e
@pytest.mark.parametrize("page", pages_with("sh"))
def test_shell_of_a_page_works(page: str, tmp_path: Path, manual_server: Server) -> None:
    """Scenes of the page lie where its commands are given, under the names it gives them."""
    command = f'cardan() {{ "{sys.executable}" -m cardan "$@"; }}\n'
    lines = [block.text for block in BLOCKS if block.page == page and block.language == "sh"]
    text = "\n".join(lines).replace("http://127.0.0.1:8000", manual_server.url)
    for block in SCENES:
        if block.page == page:
            name = block.document["name"].replace(" ", "-")
            (tmp_path / f"{name}.json").write_text(json.dumps(block.document))
    done = subprocess.run(
        ["bash", "-euo", "pipefail", "-c", command + text],
        cwd=tmp_path,
        env=os.environ | {"CARDAN_URL": manual_server.url},
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )
    assert done.returncode == 0, done.stderr
