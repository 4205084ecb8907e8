"""Nothing here is bound to one machine or to one package registry."""

import re
from pathlib import Path

import pytest

from tests.architecture.sources import ROOT, text_of, tracked

TEXT = {".py", ".js", ".mjs", ".json", ".md", ".toml", ".yml", ".lock", ".html", ".css", ".txt", ""}
FILES = [path for path in tracked() if path.suffix in TEXT]

# home folders and working folders of a machine; a test may say /tmp/... of the image, not of here
MACHINE = re.compile(r"(?<![\w./])/(?:home|root|Users|work|mnt|srv)/\w+|[A-Z]:\\\\")
REGISTRY = re.compile(
    r"pypi\.org|pythonhosted\.org|registry\.npmjs\.org|registry\.yarnpkg\.com|--index-url"
    r"|--extra-index-url|--find-links"
)


def test_no_path_of_a_machine_and_no_registry() -> None:
    own = Path("tests/architecture/test_portability.py")
    texts = {path: text_of(path) for path in FILES if path != own}
    found = {path: MACHINE.findall(text) + REGISTRY.findall(text) for path, text in texts.items()}
    assert {path: words for path, words in found.items() if words} == {}


def test_the_rules_catch() -> None:
    assert MACHINE.search("see /home/ada/cardan")
    assert REGISTRY.search("--index-url https://pypi.org/simple")


@pytest.mark.parametrize(
    "name",
    [f"requirements{part}.lock" for part in ("", "-test", "-robots", "-manual")],
)
def test_every_locked_package_has_hashes(name: str) -> None:
    text = (ROOT / name).read_text(encoding="utf-8")
    blocks = re.split(r"\n(?=[a-z0-9])", text)
    packages = [block for block in blocks if re.match(r"[a-z0-9][\w.-]*==", block)]
    assert len(packages) > 20
    assert [block.splitlines()[0] for block in packages if "--hash=sha256:" not in block] == []
