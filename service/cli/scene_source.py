"""SCENE on the command line: a path, `-`, or an example's name; JSON or YAML; with `--set`."""

import json
import os
import re
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import yaml

from cardan.schemas import Fault, Scene, SceneInvalid, load_changed
from cardan.schemas.examples import example_names, example_text
from cardan.schemas.parse import parse_json
from cardan.schemas.spelling import did_you_mean
from cardan.service.settings import Settings


class YamlReader(yaml.SafeLoader):
    """YAML with the numbers of JSON: 1e-3 is a number, and a key stands once."""

    def construct_mapping(self, node: yaml.MappingNode, deep: bool = False) -> dict[Any, Any]:
        """An object; keys that stand twice are refused."""
        seen: set[str] = set()
        for key, _ in node.value:
            name = str(key.value)
            if name in seen and name != "<<":
                raise yaml.constructor.ConstructorError(
                    None, None, f"the field {name!r} stands more than once", key.start_mark
                )
            seen.add(name)
        return super().construct_mapping(node, deep)


YamlReader.add_implicit_resolver(
    "tag:yaml.org,2002:float",
    re.compile(r"^[-+]?(\d+(\.\d*)?|\.\d+)[eE][-+]?\d+$"),
    list("-+.0123456789"),
)


def read_scene(source: str, changes: Sequence[str] = ()) -> tuple[Scene, dict[str, Any]]:
    """The checked scene and its document. Raises SceneInvalid with every fault."""
    limits = Settings.from_environment(os.environ).limits
    return load_changed(read_document(source), parse_changes(changes), limits)


def read_document(source: str) -> Any:
    """The document of a path, of standard input, or of an example. Raises SceneInvalid."""
    if source == "-":
        return parse_text(sys.stdin.buffer.read(), "standard input")
    path = Path(source)
    # of os.path: a name that is too long, such as a scene itself, is no path and no error
    is_folder = os.path.isdir(source)
    # a pipe, as of <(...), is read like a file
    if os.path.exists(source) and not is_folder:
        try:
            data = path.read_bytes()
            document = parse_text(data, path.name)
            return _with_meshes(document, path) if b"file" in data else document
        except OSError as error:
            raise _fault("unreadable", f"{source} cannot be read: {error.strerror}.") from error
    if source in example_names():
        return parse_json(example_text(source))
    hint = did_you_mean(source, example_names())
    if source.lstrip().startswith("{"):
        hint = "The text of a scene goes to standard input: name it - then."
    if is_folder:
        raise _fault("not_a_file", f"{source} is a folder, not a scene.", hint)
    raise _fault(
        "not_found", f"There is no file and no example of the name '{source}'.", hint, source
    )


def _with_meshes(document: Any, path: Path) -> Any:
    """The document with the mesh files that it names, which are looked for where it is."""
    from cardan.service.importing.files import Folder
    from cardan.service.importing.mesh_references import with_meshes

    folder = Folder(Path(path.resolve().anchor))
    return with_meshes(document, folder, path.resolve().parent)


def parse_text(data: bytes, name: str) -> Any:
    """JSON, or YAML where the ending says so or the text is no JSON object."""
    if data.lstrip()[:1] == b"<":
        message = f"{name} is XML, not JSON or YAML."
        hint = "Make a scene of a URDF or MJCF model first: cardan import MODEL -o SCENE.json"
        raise _fault("syntax", message, hint)
    yaml_ending = name.endswith((".yaml", ".yml"))
    if not yaml_ending and (name.endswith(".json") or data.lstrip()[:1] in (b"{", b"[", b"")):
        return parse_json(data)
    try:
        return yaml.load(data, YamlReader)
    except (yaml.YAMLError, RecursionError, UnicodeDecodeError) as error:
        words = " ".join(str(error).split())
        raise _fault("syntax", f"{name} is neither JSON nor YAML: {words}") from error


def parse_changes(changes: Sequence[str]) -> dict[str, Any]:
    """`/simulation/dt=0.002` to {pointer: value}; the value is JSON, or else a text."""
    parsed: dict[str, Any] = {}
    for change in changes:
        pointer, equals, text = change.partition("=")
        if not equals:
            raise _fault(
                "pointer_invalid",
                f"--set needs POINTER=VALUE; found '{change}'.",
                "For example --set /simulation/dt=0.002",
                change,
            )
        try:
            parsed[pointer] = json.loads(text)
        except ValueError:
            parsed[pointer] = text
    return parsed


def _fault(
    code: str, message: str, hint: str | None = None, got: str | None = None
) -> SceneInvalid:
    return SceneInvalid([Fault(pointer="", code=code, message=message, got=got, hint=hint)])
