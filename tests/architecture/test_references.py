"""What the texts of the project name, exists."""

import ast
import re
from collections.abc import Iterator
from pathlib import Path

from cardan.schemas.examples import example_names
from tests.architecture.sources import ROOT, python_files, text_of, tracked, tree_of

CHECK = re.compile(r"tests/[\w/]+\.py(?:::(\w+))?")


def docstrings(path: Path) -> Iterator[str]:
    """Every docstring of a file."""
    for node in ast.walk(tree_of(path)):
        if isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef):
            text = ast.get_docstring(node)
            if text:
                yield text


def test_every_check_names_a_test_that_exists() -> None:
    texts = [
        (path, text)
        for path in python_files("schemas", "engine", "service")
        for text in docstrings(path)
    ]
    named = [(path, match.group()) for path, text in texts for match in CHECK.finditer(text)]
    assert [f"{path} names {test}" for path, test in named if not exists(test)] == []


def exists(test: str) -> bool:
    """Whether there is this test file, and in it the function if one is named."""
    name, _, function = test.partition("::")
    file = ROOT / name
    return file.is_file() and (not function or f"def {function}(" in file.read_text("utf-8"))


def test_equations_are_checked() -> None:
    checked = [path for path in python_files("engine") if "Check" in text_of(path)]
    assert len(checked) > 20


MARKDOWN = [path for path in tracked() if path.suffix == ".md"]
LINK = re.compile(r"\]\((?!https?:|mailto:|#)([^)#\s]+)")


def test_links_of_documents_lead_somewhere() -> None:
    links = [(path, name) for path in MARKDOWN for name in LINK.findall(text_of(path))]
    assert [link for link in links if not (ROOT / link[0].parent / link[1]).exists()] == []


def test_the_page_of_examples_names_every_example() -> None:
    page = text_of(Path("docs/examples.md"))
    assert [name for name in example_names() if f"| `{name}` |" not in page] == []


def test_readme_targets_and_commands_exist() -> None:
    readme, makefile = text_of(Path("README.md")), text_of(Path("Makefile"))
    targets = set(re.findall(r"`make ([a-z-]+)", readme)) | set(
        re.findall(r"^make ([a-z-]+)", readme, re.MULTILINE)
    )
    assert {"run", "test"} <= targets
    assert [name for name in targets if f"\n{name}:" not in makefile] == []
    commands = set(re.findall(r"\bcardan ([a-z]+) ", readme))
    source = text_of(Path("service/cli/app.py"))
    assert {"run"} <= commands
    # a command whose name is a word of Python's has an underscore behind it
    unknown = [name for name in commands if not re.search(rf"\ndef {name}_?\(", source)]
    assert unknown == []


def test_every_decision_is_listed() -> None:
    folder = Path("docs/decisions")
    listed = text_of(folder / "README.md")
    decisions = [path for path in tracked() if path.parent == folder and path.stem != "README"]
    assert len(decisions) > 3
    assert [path.name for path in decisions if f"({path.name})" not in listed] == []
