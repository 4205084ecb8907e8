"""A file is read in one sitting, a function on one screen."""

import ast
from pathlib import Path

from tests.architecture.sources import code_lines, python_files, text_of, tracked, tree_of

MAX_FILE_LINES = 400
MAX_PAGE_FILE_LINES = 350
MAX_FUNCTION_LINES = 60
MAX_ARGUMENTS = 8

SOURCES = python_files("schemas", "engine", "service", "benchmarks", ".ci")


def test_files_are_within_their_budget() -> None:
    lines = {str(path): text_of(path).count("\n") for path in SOURCES}
    assert len(lines) > 100
    # beyond the budget: which two concepts are in it?
    assert {name: n for name, n in lines.items() if n > MAX_FILE_LINES} == {}


def test_modules_of_the_page_are_within_their_budget() -> None:
    modules = [path for path in tracked() if path.parts[0] == "web" and path.suffix == ".js"]
    long = {str(path): text_of(path).count("\n") for path in modules}
    assert modules
    assert {name: n for name, n in long.items() if n > MAX_PAGE_FILE_LINES} == {}


def test_functions_are_within_their_budget() -> None:
    assert [text for path in SOURCES for text in beyond_budget(path)] == []


def beyond_budget(path: Path) -> list[str]:
    """Functions of a file with too many lines of code or too many arguments."""
    code = code_lines(path)
    beyond = []
    for node in ast.walk(tree_of(path)):
        if not isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            continue
        own = {line for line in code if node.lineno <= line <= (node.end_lineno or node.lineno)}
        if ast.get_docstring(node) is not None:
            text = node.body[0]
            own -= set(range(text.lineno, (text.end_lineno or text.lineno) + 1))
        arguments = node.args.posonlyargs + node.args.args + node.args.kwonlyargs
        named = [one for one in arguments if one.arg not in ("self", "cls")]
        if len(own) > MAX_FUNCTION_LINES:
            beyond.append(
                f"{path} {node.name}: {len(own)} lines of code, {MAX_FUNCTION_LINES} allowed"
            )
        if len(named) > MAX_ARGUMENTS:
            beyond.append(f"{path} {node.name}: {len(named)} arguments, {MAX_ARGUMENTS} allowed")
    return beyond
