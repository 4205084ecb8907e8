"""The files of the page: what ships, how much it weighs, where it comes from."""

import gzip
import hashlib
import json
import re
import shutil
import subprocess
from pathlib import Path

import pytest

from cardan.schemas.examples import example_names
from tests.web.conftest import WEB

MAX_GZIP_BYTES = 450_000
MAX_LINES = 310
SHIPPED = {".html", ".js", ".css", ".svg"}


def shipped() -> list[Path]:
    """What a browser may load."""
    return [
        file
        for file in sorted(WEB.rglob("*"))
        if file.suffix in SHIPPED and "node_modules" not in file.parts
    ]


def test_the_page_is_light() -> None:
    sizes = {file: len(gzip.compress(file.read_bytes(), 9)) for file in shipped()}
    assert len(sizes) > 30
    assert sum(sizes.values()) <= MAX_GZIP_BYTES, sizes


def test_every_example_has_its_pictures() -> None:
    """Renewed by `CARDAN_KEEP_SCREENSHOT=1 pytest tests/web -k keeps`."""
    wanted = {f"{name}-{theme}.webp" for name in example_names() for theme in ("dark", "light")}
    pictures = {file.name: file for file in (WEB / "pictures").iterdir()}
    assert set(pictures) == wanted
    for file in pictures.values():
        data = file.read_bytes()
        assert (data[:4], data[8:12]) == (b"RIFF", b"WEBP")
        assert 500 < len(data) < 12_000, file.name


def test_files_are_short() -> None:
    for file in WEB.glob("*.js"):
        assert len(file.read_text().splitlines()) <= MAX_LINES, file.name


def test_vendored_files_are_those_on_record() -> None:
    vendor = WEB / "vendor"
    record = json.loads((vendor / "VENDOR.json").read_text())
    expected = {file["path"]: file["sha256"] for file in record["files"]}
    found = {
        file.relative_to(vendor).as_posix(): hashlib.sha256(file.read_bytes()).hexdigest()
        for file in vendor.rglob("*")
        if file.is_file() and file.name != "VENDOR.json"
    }
    assert found == expected
    licensed = {Path(path).parts[0] for path in expected if path.endswith("LICENSE")}
    assert licensed == {package["name"] for package in record["packages"]}
    assert all(package["license"] and package["version"] for package in record["packages"])


def test_the_lock_names_no_registry() -> None:
    lock = (WEB / "package-lock.json").read_text()
    assert "resolved" not in lock
    assert not re.search(r"https?://(?!(www\.)?(github|opencollective)\.com)", lock)
    wanted = json.loads((WEB / "package.json").read_text())["devDependencies"]
    locked = json.loads(lock)["packages"]
    assert all(locked[f"node_modules/{name}"]["version"] == v for name, v in wanted.items())


def test_every_import_exists_and_leaves_the_page_nowhere() -> None:
    known = json.loads(
        re.search(r'<script type="importmap">(.*?)</script>', page(), re.DOTALL).group(1)
    )["imports"]
    for file in WEB.glob("*.js"):
        for name in re.findall(r'^import .*?from "([^"]+)";', file.read_text(), re.MULTILINE):
            folders = [key for key in known if key.endswith("/") and name.startswith(key)]
            target = known.get(name) or name
            if folders:
                target = known[folders[0]] + name.removeprefix(folders[0])
            assert target.startswith("./"), (file.name, name)
            assert (WEB / target).is_file(), (file.name, name)
    assert not re.search(r'(src|href)="(https?:)?//', page())


def test_controls_have_names() -> None:
    """Each button, input and select of the page can be named by a screen reader."""
    for tag, attributes, inside in re.findall(
        r"<(button|input|select|textarea)\b([^>]*)>([^<]*)", page()
    ):
        labelled = "aria-label" in attributes or inside.strip() not in ("", "\n")
        name = re.search(r'id="([^"]+)"', attributes)
        in_label = name and re.search(
            rf'<label[^>]*>[^<]*(<span>[^<]*</span>)?[^<]*<{tag}[^>]*id="{name.group(1)}"', page()
        )
        assert labelled or in_label, (tag, attributes)


def test_types_hold() -> None:
    compiler = WEB / "node_modules" / ".bin" / "tsc"
    if not compiler.exists() or shutil.which("node") is None:
        pytest.skip("run `npm ci` in web/ to check the types of the page")
    done = subprocess.run(
        [str(compiler), "--project", "tsconfig.json"],
        cwd=WEB, capture_output=True, text=True, timeout=300, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stdout


def page() -> str:
    return (WEB / "index.html").read_text()
