"""What the code imports is what pyproject.toml asks for, and what the lock file holds."""

import ast
import re
import sys
import tomllib
from pathlib import Path

import pytest

from tests.architecture.sources import python_files, text_of, tree_of

PROJECT = tomllib.loads(text_of(Path("pyproject.toml")))["project"]
OWN = {"cardan", "cardan_client", "docs", "tests", "benchmarks"}
# imported by another name than the one they are installed by, or pinned by the one they belong to
DISTRIBUTION = {
    "yaml": "pyyaml",
    "cuda": "cuda-bindings",
    "pydantic_core": "pydantic",
    "llvmlite": "numba",
    "mujoco": "mujoco-core",
    "pinocchio": "pin",
    "xdist": "pytest-xdist",
    # a name that several share
    "opentelemetry": "opentelemetry-api",
}


def name_of(requirement: str) -> str:
    """The name in a requirement, normalised."""
    match = re.match(r"[A-Za-z0-9._-]+", requirement)
    assert match, requirement
    return match.group().lower().replace("_", "-")


RUNTIME = {name_of(one) for one in PROJECT["dependencies"]}
EXTRAS = {
    extra: {name_of(one) for one in names}
    for extra, names in PROJECT["optional-dependencies"].items()
}


def imported(*tops: str) -> set[str]:
    """Distributions that files under these folders import, of the standard library and own not."""
    found = set()
    for path in python_files(*tops):
        for node in ast.walk(tree_of(path)):
            if isinstance(node, ast.Import):
                names = [alias.name for alias in node.names]
            elif isinstance(node, ast.ImportFrom) and node.level == 0 and node.module:
                names = [node.module]
            else:
                continue
            found |= {name.partition(".")[0] for name in names}
    return {
        DISTRIBUTION.get(name, name).replace("_", "-")
        for name in found - OWN - set(sys.stdlib_module_names)
    }


def test_what_is_imported_is_asked_for() -> None:
    optional = EXTRAS["meshes"] | EXTRAS["import"] | EXTRAS["cluster"] | EXTRAS["telemetry"]
    optional |= EXTRAS["gpu"]
    assert imported("schemas", "engine", "service") - RUNTIME - optional == set()


def test_what_is_asked_for_is_imported() -> None:
    assert (EXTRAS["meshes"] | EXTRAS["gpu"]) - imported("engine") == set()
    # pycollada is what trimesh reads COLLADA with
    assert EXTRAS["import"] - imported("service") - {"pycollada"} == set()
    # psycopg is what SQLAlchemy speaks to PostgreSQL with
    assert EXTRAS["cluster"] - imported("service") - {"psycopg"} == set()
    # websockets is what uvicorn speaks WebSocket with
    assert RUNTIME - imported("schemas", "engine", "service") - {"websockets"} == set()


def test_tests_import_what_the_test_extra_brings() -> None:
    assert imported("tests") - RUNTIME - EXTRAS["test"] - EXTRAS["robots"] == set()


@pytest.mark.parametrize(
    ("lock", "asked"),
    [
        ("requirements.lock", RUNTIME | EXTRAS["import"]),
        (
            "requirements-test.lock",
            RUNTIME | EXTRAS["import"] | EXTRAS["test"] | EXTRAS["report"] | EXTRAS["manual"],
        ),
        ("requirements-manual.lock", RUNTIME | EXTRAS["manual"]),
        ("requirements-robots.lock", RUNTIME | EXTRAS["import"] | EXTRAS["robots"]),
        ("requirements-gpu.lock", RUNTIME | EXTRAS["import"] | EXTRAS["gpu"]),
        ("requirements-cluster.lock", RUNTIME | EXTRAS["import"] | EXTRAS["cluster"]),
        ("requirements-cluster-test.lock", RUNTIME | EXTRAS["cluster"] | EXTRAS["test"] | {"moto"}),
    ],
)
def test_lock_holds_what_is_asked_for(lock: str, asked: set[str]) -> None:
    held = {name_of(line) for line in text_of(Path(lock)).splitlines() if "==" in line}
    assert asked - held == set()


def test_locks_agree() -> None:
    def pins(lock: str) -> dict[str, str]:
        lines = text_of(Path(lock)).splitlines()
        found = [line.rstrip(" \\") for line in lines if re.match(r"[a-z0-9].*==", line)]
        # a package that is for one platform here may be for all there
        return {name_of(line): line.split(" ;")[0] for line in found}

    run, test, robots, cluster, manual, gpu = (
        pins(f"requirements{part}.lock")
        for part in ("", "-test", "-robots", "-cluster", "-manual", "-gpu")
    )
    assert {name: pin for name, pin in run.items() if gpu.get(name, pin) != pin} == {}
    # the manual is built by the packages of the image
    assert {name: pin for name, pin in manual.items() if cluster.get(name, pin) != pin} == {}
    assert run.items() <= test.items()
    assert {name: pin for name, pin in run.items() if cluster.get(name, pin) != pin} == {}
    # what both ask for is one version: the robots are installed on top of the tests' packages
    assert {name: pin for name, pin in robots.items() if test.get(name, pin) != pin} == {}
