"""The files of the page: what ships, how much it weighs, where it comes from."""

import hashlib
import json
import re
import shutil
import subprocess
from pathlib import Path

import pytest

from cardan.schemas.examples import example_names
from cardan.service.assets import CAST, COMMENT, Assets, shortened
from tests.web.conftest import WEB

# of the first visit: what index.html and main.js load at once, and plots that are in view
MAX_GZIP_BYTES = 250_000
MAX_REQUESTS = 75
MAX_LINES = 330
# where the indentation of templates means nothing
SHADERS = {"contact_shadows.js", "reflection.js", "shading.js"}


def loaded_at_once() -> set[Path]:
    """The files of the first visit: those of index.html, and modules by static imports."""
    named = re.findall(r'(?:href|src)="(?!#|data:)([^"]+)"', page())
    mapped = json.loads(import_map())["imports"]
    found: set[Path] = {WEB / "index.html", WEB / "comparisons.json"}
    waiting = [(WEB / name).resolve() for name in named]
    while waiting:
        file = waiting.pop()
        if file in found:
            continue
        found.add(file)
        if file.suffix == ".js" and "vendor" not in file.parts:
            imported = re.findall(r'^import .*?"([^"]+)";', file.read_text(), re.MULTILINE)
            waiting += [(WEB / mapped.get(name, name)).resolve() for name in imported]
    return found


def test_the_first_visit_is_light() -> None:
    """As the service sends them: compressed, the page's own modules shortened; with plots."""
    assets = Assets(WEB)
    files = loaded_at_once() | {WEB / "vendor" / "uplot" / "uPlot.min.js"}
    sent = {file.name: assets.find(str(file.relative_to(WEB))) for file in files}
    sizes = {name: len(asset.gzipped or asset.data) for name, asset in sent.items() if asset}
    assert 40 < len(sizes) == len(sent) <= MAX_REQUESTS
    assert sum(sizes.values()) <= MAX_GZIP_BYTES, (sum(sizes.values()), sizes)


def test_comments_that_are_left_out_are_comments() -> None:
    """None begins within a template, so that none is part of a text or of a shader.

    Nor has a template lines whose indentation would be seen: those that have several are shaders.
    """
    left_out = 0
    for file in WEB.glob("*.js"):
        text = file.read_text()
        assert shortened(text).count("\n") == text.count("\n")
        for found in COMMENT.finditer(text):
            left_out += 1
            assert text[: found.start()].count("`") % 2 == 0, (file.name, found.group())
            assert "*/" not in found.group().rstrip().removesuffix("*/"), file.name
        for found in CAST.finditer(text):
            before = text[: found.start()].rsplit("\n", 1)[-1]
            in_text = before.count("`") % 2 and before.rfind("${") < before.rfind("`")
            assert not in_text, (file.name, found.group())
            assert before.count('"') % 2 == 0, (file.name, found.group())
        ticks = 0
        for line in COMMENT.sub("", text).split("\n"):
            assert not (ticks % 2 and line[:1] == " ") or file.name in SHADERS, (file.name, line)
            ticks += line.count("`")
    assert left_out > 100


def test_the_bundle_of_three_has_what_the_page_names() -> None:
    """`npm run vendor` renews it when a module names something new."""
    record = json.loads((WEB / "vendor" / "VENDOR.json").read_text())
    (bundle,) = (file for file in record["files"] if file["path"] == "three/three.min.js")
    types = {"Material", "Camera", "ColorRepresentation"}
    for file in WEB.glob("*.js"):
        code = re.sub(r"(?s)/\*.*?\*/", "", file.read_text())
        named = set(re.findall(r"\bTHREE\.(\w+)", code)) - types
        assert named <= set(bundle["exports"]), file.name


def test_the_bundle_of_the_editor_has_what_its_module_names() -> None:
    record = json.loads((WEB / "vendor" / "VENDOR.json").read_text())
    (bundle,) = (file for file in record["files"] if file["path"] == "codemirror.min.js")
    code = (WEB / "scene_text.js").read_text()
    named = re.findall(r'^import \{(.*)\} from "(?:@codemirror|@lezer)/', code, re.MULTILINE)
    assert {name.strip() for names in named for name in names.split(",")} == set(bundle["exports"])
    assert set(bundle["packages"]) <= {package["name"] for package in record["packages"]}


def test_every_example_has_its_pictures() -> None:
    """Renewed by `CARDAN_KEEP_SCREENSHOT=1 pytest tests/web -k keeps`."""
    compared = json.loads((WEB / "comparisons.json").read_text())["comparisons"]
    names = [*example_names(), *(one["name"] for one in compared)]
    wanted = {f"{name}-{theme}.webp" for name in names for theme in ("dark", "light")}
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
    licensed = {Path(path).parent.as_posix() for path in expected if path.endswith("/LICENSE.txt")}
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
    known = json.loads(import_map())["imports"]
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


def import_map() -> str:
    found = re.search(r'<script type="importmap">(.*?)</script>', page(), re.DOTALL)
    assert found is not None
    return found.group(1)


def page() -> str:
    return (WEB / "index.html").read_text()
