"""What is installed from a wheel: one package that starts without compiling anything."""

import json
import os
import shutil
import subprocess
import sys
import sysconfig
import urllib.request
import venv
import zipfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from cardan.engine.compiler.mode import INTERPRETED
from tests.service.test_durability import kernel_files

ROOT = Path(__file__).resolve().parents[2]

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(INTERPRETED, reason="nothing is compiled"),
]


@pytest.fixture(scope="module")
def wheels(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    """Wheels by what they are for: "any" or "platform"."""
    folder = tmp_path_factory.mktemp("dist")
    command = [sys.executable, str(ROOT / ".ci" / "wheel.py"), "--here", str(folder)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=900, check=False)
    assert done.returncode == 0, done.stderr
    found = {"any" if "-none-any" in path.name else "platform": path for path in folder.iterdir()}
    assert sorted(found) == ["any", "platform"]
    return found


class Installation:
    """An environment with one wheel; what that depends on is that of the tests.

    Each test is another user, whose folder, home and cache of kernels begin empty.
    """

    def __init__(self, base: Path, wheel: Path) -> None:
        venv.create(base / "venv", with_pip=False, symlinks=True)
        self.python = base / "venv" / "bin" / "python"
        self.packages = Path(sysconfig.get_path("purelib", vars={"base": str(base / "venv")}))
        self.kernels = self.packages / "cardan" / "kernels"
        (self.packages / "dependencies.pth").write_text(sysconfig.get_path("purelib"))
        install = ["-m", "pip", "--python", str(self.python), "install", "--no-index", "--no-deps"]
        subprocess.run(
            [sys.executable, *install, "--quiet", "--force-reinstall", str(wheel)],
            check=True,
            capture_output=True,
        )
        self.give_to(base)

    def give_to(self, base: Path) -> None:
        """Let somebody else use it, who works in this folder."""
        self.base, self.cache = base, base / "kernels"
        self.environment = {
            name: text
            for name, text in os.environ.items()
            if name not in ("PYTHONPATH", "CARDAN_COMPILER") and not name.startswith("NUMBA_CPU")
        }
        self.environment |= {"CARDAN_KERNEL_CACHE": str(self.cache), "HOME": str(base)}

    def run(self, code: str, **variables: str) -> dict:
        """What a program prints, as JSON."""
        done = subprocess.run(
            [self.python, "-c", code],
            cwd=self.base,
            env=self.environment | variables,
            capture_output=True,
            text=True,
            timeout=900,
            check=False,
        )
        assert done.returncode == 0, done.stderr
        return json.loads(done.stdout)


@pytest.fixture(scope="module")
def with_kernels(wheels: dict[str, Path], tmp_path_factory: pytest.TempPathFactory) -> Installation:
    """The wheel with kernels."""
    return Installation(tmp_path_factory.mktemp("installed"), wheels["platform"])


@pytest.fixture
def installed(with_kernels: Installation, tmp_path: Path) -> Iterator[Installation]:
    """The wheel with kernels as it was installed, for a user who never compiled anything."""
    before = kernel_files(with_kernels.kernels)
    with_kernels.give_to(tmp_path)
    yield with_kernels
    # an installation is written by nobody
    assert kernel_files(with_kernels.kernels) == before


def test_a_wheel_holds_one_package(wheels: dict[str, Path]) -> None:
    names = {kind: zipfile.ZipFile(path).namelist() for kind, path in wheels.items()}
    for found in names.values():
        tops = {name.split("/")[0] for name in found}
        assert {top for top in tops if not top.endswith(".dist-info")} == {"cardan"}
        rooms = {name.split("/")[1] for name in found if name.startswith("cardan/")}
        assert {"engine", "schemas", "service", "web", "verification", "__init__.py"} <= rooms
        assert not [name for name in found if "node_modules" in name or "__pycache__" in name]
    with_kernels = {
        kind: any("/kernels/" in name for name in found) for kind, found in names.items()
    }
    assert with_kernels == {"any": False, "platform": True}
    assert f"-cp{sys.version_info[0]}{sys.version_info[1]}-" in wheels["platform"].name


EVERYTHING = """
import json
from numba.core import event
compiled = []
class Listener(event.Listener):
    def on_start(self, event): compiled.append(event.data["dispatcher"].py_func.__name__)
    def on_end(self, event): pass
with event.install_listener("numba:compile", Listener()):
    import cardan
    cardan.warmup()
    for name in cardan.example_names():
        cardan.Simulation(cardan.load_scene(cardan.example_text(name))).advance(3)
    x = cardan.solve_lcp([[2.0, 1.0], [1.0, 2.0]], [-5.0, -6.0]).x.tolist()
from cardan.engine.compiler.cache import complete_folder
print(json.dumps({"file": cardan.__file__, "compiled": compiled, "x": x,
                  "folder": str(complete_folder())}))
"""


def test_an_installed_wheel_compiles_nothing(installed: Installation) -> None:
    found = installed.run(EVERYTHING)
    assert Path(found["file"]).is_relative_to(installed.packages)
    assert Path(found["folder"]).is_relative_to(installed.kernels)
    assert found["compiled"] == []
    assert found["x"] == pytest.approx([4 / 3, 7 / 3])
    assert not installed.cache.exists()


SOLVE = """
import json
from numba.core import event
with event.install_recorder("numba:compile") as recorder:
    import cardan
    x = cardan.solve_lcp([[2.0, 1.0], [1.0, 2.0]], [-5.0, -6.0], method="lemke").x.tolist()
print(json.dumps({"compiled": len(recorder.buffer), "x": x}))
"""


def test_a_processor_that_does_not_fit_compiles(installed: Installation) -> None:
    other = {"NUMBA_CPU_NAME": "x86-64", "NUMBA_CPU_FEATURES": "+sse,+sse2"}
    if sysconfig.get_platform() != "linux-x86_64":
        other = {"NUMBA_CPU_NAME": "generic", "NUMBA_CPU_FEATURES": ""}
    first = installed.run(SOLVE, **other)
    assert first["compiled"] > 0
    assert first["x"] == pytest.approx([4 / 3, 7 / 3])
    # what it compiled is kept in the user's cache, as without shipped kernels
    again = installed.run(SOLVE, **other)
    assert again == {"compiled": 0, "x": first["x"]}


@pytest.fixture
def damaged(installed: Installation) -> Iterator[list[Path]]:
    """All shipped kernels, to be damaged: a copy takes their place until the test ends."""
    whole = installed.kernels.rename(installed.kernels.with_name("whole"))
    shutil.copytree(whole, installed.kernels)
    yield [path for path in kernel_files(installed.kernels) if path.name != "complete"]
    shutil.rmtree(installed.kernels)
    whole.rename(installed.kernels)


@pytest.mark.parametrize("damage", ["cut", "gone", "changed"])
def test_a_damaged_kernel_is_compiled_again(
    installed: Installation, damaged: list[Path], damage: str
) -> None:
    assert len(damaged) > 20
    for path in damaged:
        content = path.read_bytes()
        if damage == "gone":
            path.unlink()
        else:
            path.write_bytes(content[: len(content) // 2] + (b"" if damage == "cut" else b"x" * 99))
    found = installed.run(SOLVE)
    assert found["compiled"] > 0
    assert found["x"] == pytest.approx([4 / 3, 7 / 3])


def test_the_command_serves_page_and_report(installed: Installation) -> None:
    command = [str(installed.python.parent / "cardan"), "serve", "--port", "0", "--data", "data"]
    with subprocess.Popen(
        command,
        cwd=installed.base,
        env=installed.environment,
        stdout=subprocess.PIPE,
        text=True,
    ) as process:
        try:
            assert process.stdout is not None
            line = next(text for text in process.stdout if "Cardan serves at http" in text)
            address = line.split(" at ")[1].split("/  ")[0]
            for path, kind in {"/": "text/html", "/v1/verification": "application/json"}.items():
                with urllib.request.urlopen(address + path, timeout=60) as answer:
                    assert answer.headers["content-type"].startswith(kind)
                    assert len(answer.read()) > 1000
        finally:
            process.terminate()
            assert process.wait(60) == 0
    assert not [
        path
        for path in installed.cache.rglob("*")
        if path.suffix == "" and "notes" not in path.parts and path.is_file()
    ]
