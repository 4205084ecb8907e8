"""One word per concept: the synonyms of the glossary are in no name and in no docstring."""

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.architecture.sources import comments_by_line, python_files, text_of, tree_of

GLOSSARY = Path("engine/GLOSSARY.md")
ROW = re.compile(r"^\| (?!word|-)([^|]+) \| ([^|]+) \| ?([^|]*?) ?\|$", re.MULTILINE)

# words of our own that were renamed: no module, and no name that others see, has them
OF_MODULES = {
    "alone", "apart", "coloured", "forest", "guard", "kept", "settle", "standing", "stopwatch",
    "strangers", "tally", "told", "transposed", "turning", "wish",
}  # fmt: skip
OF_NAMES = {
    "belt", "bend", "bends", "checker", "cushion", "cushions", "ease", "eased", "flown",
    "follower", "followers", "office", "rouse", "runner", "stands", "strangers", "unguarded",
    "wish",
}  # fmt: skip


def refused() -> dict[str, str]:
    """Synonym -> the word we take, as the glossary says; words in italics are not searched for."""
    table = {}
    for word, _, others in ROW.findall(text_of(GLOSSARY)):
        for other in re.sub(r"\*[^*]+\*[^,]*", "", others).split(","):
            if other.strip():
                table[other.strip().lower()] = word
    return table


REFUSED = refused()
SEARCHED = re.compile(r"\b(" + "|".join(map(re.escape, sorted(REFUSED))) + r")s?\b", re.IGNORECASE)
CODE = python_files("engine", "service")


def words_of(name: str) -> set[str]:
    """The words of a name: `first_follower` and `FirstFollower` have two."""
    parts = re.findall(r"[A-Z]?[a-z]+|[A-Z]+(?![a-z])", name)
    return {part.lower() for part in parts}


def names_of(tree: ast.Module) -> Iterator[tuple[str, int]]:
    """Names that others see: of modules' functions, classes and constants, of fields, arguments."""
    for node in ast.walk(tree):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
            yield node.name, node.lineno
        if isinstance(node, ast.ClassDef):
            for item in node.body:
                if isinstance(item, ast.AnnAssign) and isinstance(item.target, ast.Name):
                    yield item.target.id, item.lineno
        if isinstance(node, ast.arg):
            yield node.arg, node.lineno
    for item in tree.body:
        if isinstance(item, ast.Assign):
            yield from ((x.id, item.lineno) for x in item.targets if isinstance(x, ast.Name))


def prose_of(path: Path) -> Iterator[tuple[str, int]]:
    """Docstrings and comments of a file."""
    for node in ast.walk(tree_of(path)):
        if isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef):
            text = ast.get_docstring(node)
            if text:
                yield text, node.body[0].lineno
    yield from ((text, line) for line, text in comments_by_line(path).items())


def test_the_glossary_is_read() -> None:
    assert len(ROW.findall(text_of(GLOSSARY))) > 40
    assert {"follower", "cushion", "collider", "office"} <= REFUSED.keys()
    assert "ledger" not in REFUSED


def test_no_word_is_taken_and_refused() -> None:
    taken = {
        word.strip().lower()
        for words, _, _ in ROW.findall(text_of(GLOSSARY))
        for word in words.split(",")
    }
    assert taken & REFUSED.keys() == set()


def test_no_module_has_a_private_name() -> None:
    named = {path for path in CODE if words_of(path.stem) & OF_MODULES}
    assert {str(path) for path in named} == set()


def test_no_name_has_a_refused_word() -> None:
    single = {word for word in REFUSED if " " not in word} | OF_NAMES
    found = [
        f"{path}:{line} {name}"
        for path in CODE
        for name, line in names_of(tree_of(path))
        if words_of(name) & single
    ]
    assert found == []


def test_no_text_has_a_refused_word() -> None:
    found = [
        f"{path}:{line} {match.group()}: say {REFUSED[match.group(1).lower()]}"
        for path in CODE
        for text, line in prose_of(path)
        for match in SEARCHED.finditer(text)
    ]
    assert found == []


@pytest.mark.parametrize("text", ["the follower rows", "two cushions", "a Collider"])
def test_the_search_finds(text: str) -> None:
    assert SEARCHED.search(text)


def test_words_of_a_name_are_found() -> None:
    assert words_of("first_follower") == {"first", "follower"}
    assert words_of("BoxFollower") == {"box", "follower"}
    assert words_of("N_BEND") == {"n", "bend"}
