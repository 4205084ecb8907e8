"""What is installed is one package, `cardan`: nothing is imported by a second name."""

import ast
import re
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

import cardan
from cardan.engine import ENGINE_VERSION
from tests.architecture.sources import ROOT, python_files, text_of, tracked, tree_of

ROOMS = ("engine", "schemas", "service")
USES = (
    r"^\s*(?:from|import) (?:{0})\b",
    r"-m[\"', ]+(?:{0})\.",
    r"\b(?:find_spec|import_module|files)\([\"'](?:{0})[\"'.]",
)
BARE = re.compile("|".join(USES).format("|".join(ROOMS)), re.M)


def python(code: str) -> str:
    """What a fresh interpreter prints, in the checkout."""
    found = subprocess.run(
        [sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, check=False
    )
    assert found.returncode == 0, found.stderr
    return found.stdout


def test_nothing_names_a_room_without_its_package() -> None:
    texts = [path for path in tracked() if path.suffix in (".py", ".md", ".yml", ".toml", "")]
    assert len(texts) > 100
    assert [str(path) for path in texts if BARE.search(text_of(path))] == []


@pytest.mark.parametrize(
    "line", ["from {} import run", "    import {}.step", "python -m {}.cli", "find_spec('{}')"]
)
@pytest.mark.parametrize("room", ROOMS)
def test_the_rule_catches(line: str, room: str) -> None:
    assert BARE.search(line.format(room))
    assert not BARE.search(line.format(f"cardan.{room}"))


@pytest.mark.parametrize("room", ROOMS)
def test_a_room_by_another_name_is_refused(room: str) -> None:
    """The checkout lies on the path of its own tests: `import engine` would find it there."""
    code = f"try:\n    import {room}\nexcept ImportError as error:\n    print(error)"
    assert python(code).startswith(f"import cardan.{room}: ")


def test_the_package_alone_loads_nothing() -> None:
    code = "import sys, cardan; print([name for name in sys.modules if 'cardan' in name])"
    assert python(code).strip() == "['cardan']"


def test_the_engine_loads_nothing_of_scipy() -> None:
    # Numba looks for its version
    code = "import sys, cardan.engine; print([name for name in sys.modules if 'scipy.' in name])"
    loaded = ast.literal_eval(python(code))
    heavy = ("scipy.sparse", "scipy.linalg", "scipy.spatial", "scipy.optimize", "scipy.interpolate")
    assert [name for name in loaded if name.startswith(heavy)] == []


def test_every_public_name_is_there_for_interpreter_and_type_checker() -> None:
    tree = tree_of(Path(".package/cardan/__init__.py"))
    typed = {
        alias.asname: f"{node.module}.{alias.name}"
        for node in ast.walk(tree)
        if isinstance(node, ast.ImportFrom) and node.module != "typing" and node.module
        for alias in node.names
        if alias.asname is not None
    }
    assert sorted(typed) == sorted(cardan._MODULE_OF)
    assert {"Simulation", "load_scene", "run", "solve_lcp", "Dynamics", "warmup"} <= set(typed)
    for name in typed:
        value = getattr(cardan, name)
        assert value.__name__ == name
        assert value.__module__.startswith("cardan.")
    assert set(typed) <= set(dir(cardan))


def test_an_unknown_name_is_an_attribute_error() -> None:
    with pytest.raises(AttributeError, match=r"module 'cardan' has no attribute 'nothing'"):
        getattr(cardan, "nothing")  # noqa: B009


def test_the_version_is_written_once() -> None:
    project = tomllib.loads(text_of(Path("pyproject.toml")))
    assert "version" in project["project"]["dynamic"]
    assert project["tool"]["hatch"]["version"]["path"] == ".package/cardan/__init__.py"
    assert cardan.__version__ == ENGINE_VERSION
    written = [
        path
        for path in python_files("engine", "schemas", "service")
        if cardan.__version__ in text_of(path)
    ]
    assert written == []
