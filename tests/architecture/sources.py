"""The files of this project, as the architecture tests read them."""

import ast
import io
import subprocess
import tokenize
from functools import cache
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
PACKAGES = ("schemas", "engine", "service")


@cache
def tracked() -> tuple[Path, ...]:
    """Every file of the project, vendored ones not, relative to its root: what git would take."""
    listed = subprocess.run(
        ["git", "ls-files", "--cached", "--others", "--exclude-standard", "-z"],
        cwd=ROOT,
        capture_output=True,
        check=False,
        text=True,
    )
    if listed.returncode == 0:
        names = [name for name in listed.stdout.split("\0") if name]
        paths = [Path(name) for name in names]
    else:  # an unpacked archive without .git
        tops = (*PACKAGES, "tests", "benchmarks", "web", "docs", ".ci", ".package")
        paths = [
            path.relative_to(ROOT)
            for path in ROOT.rglob("*")
            if path.parent == ROOT or path.relative_to(ROOT).parts[0] in tops
        ]
    apart = {"vendor", "node_modules", "__pycache__", ".hypothesis"}
    found = [path for path in paths if (ROOT / path).is_file() and not apart & set(path.parts)]
    return tuple(sorted(found))


def python_files(*tops: str) -> list[Path]:
    """Python sources under these folders of the root."""
    return [path for path in tracked() if path.suffix == ".py" and path.parts[0] in tops]


def text_of(path: Path) -> str:
    """The text of a file named relative to the root."""
    return (ROOT / path).read_text(encoding="utf-8")


@cache
def tree_of(path: Path) -> ast.Module:
    """The syntax tree of a Python file."""
    return ast.parse(text_of(path), filename=str(path))


def comments_by_line(path: Path) -> dict[int, str]:
    """Line number -> comment without its hash."""
    tokens = tokenize.generate_tokens(io.StringIO(text_of(path)).readline)
    return {
        token.start[0]: token.string.lstrip("# ")
        for token in tokens
        if token.type == tokenize.COMMENT
    }


def code_lines(path: Path) -> frozenset[int]:
    """Numbers of the lines that hold more than a comment or nothing."""
    quiet = {
        tokenize.COMMENT,
        tokenize.NL,
        tokenize.NEWLINE,
        tokenize.INDENT,
        tokenize.DEDENT,
        tokenize.ENDMARKER,
    }
    lines: set[int] = set()
    for token in tokenize.generate_tokens(io.StringIO(text_of(path)).readline):
        if token.type not in quiet:
            lines.update(range(token.start[0], token.end[0] + 1))
    return frozenset(lines)
