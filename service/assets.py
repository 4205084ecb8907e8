"""Files of the page in memory: read once, compressed once, named by what they contain.

Modules name each other by relative paths. Below `assets/VERSION/`, where the version is a digest of
all files, they keep these names, and a browser may keep them for a year. Modules of the page are
sent without their comments and without indentation: a third of their bytes.
"""

import gzip
import hashlib
import os
import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

# the platform's own table of types differs from machine to machine
TYPES = {
    ".html": "text/html; charset=utf-8",
    ".js": "text/javascript; charset=utf-8",
    ".mjs": "text/javascript; charset=utf-8",
    ".css": "text/css; charset=utf-8",
    ".json": "application/json",
    ".map": "application/json",
    ".svg": "image/svg+xml",
    ".png": "image/png",
    ".webp": "image/webp",
    ".ico": "image/x-icon",
    ".wasm": "application/wasm",
    ".woff2": "font/woff2",
    ".txt": "text/plain; charset=utf-8",
    ".ipynb": "application/x-ipynb+json",
}
COMPRESSED = frozenset({".html", ".js", ".mjs", ".css", ".json", ".map", ".svg", ".txt", ".ipynb"})
HIDDEN = frozenset({"node_modules"})
PREFIX = "assets/"
# what a page of HTML loads by a relative address, and what its import map names
LOADED = re.compile(r'(?P<before>\b(?:src|href)=")(?!#|/|[a-z]+:)(?P<path>[^"]+)')
MAPPED = re.compile(r'(?P<before>": ")\./(?P<path>[^"]+)')


# a comment that has its lines to itself; licences in vendored files stay
COMMENT = re.compile(r"^[ \t]*(?:/\*\*(?:(?!\*/).)*\*/|//[^\n]*)[ \t]*$", re.DOTALL | re.MULTILINE)
# types of expressions, within a line; and what a line begins with
CAST = re.compile(r"/\*\* @(?:type|param)(?:(?!\*/)[^\n])*\*/ ?")
INDENT = re.compile(r"^[ \t]+", re.MULTILINE)
VENDORED = "vendor"


# time of the last change [ns] and size [bytes] of a file
Stamp = tuple[int, int]


@dataclass(frozen=True, slots=True)
class Asset:
    """One file: `gzipped` is None where compression gains nothing."""

    data: bytes
    gzipped: bytes | None
    media_type: str
    etag: str
    lasting: bool
    """Whether this address will always have this content."""


class Assets:
    """The files below a folder. What changes on disk is read again."""

    def __init__(self, folder: Path, *, versioned: bool = True) -> None:
        """Begin without reading; not `versioned`: files are sent as they are."""
        self._folder = folder.resolve()
        self._versioned = versioned
        self._known: dict[str, tuple[object, Asset]] = {}
        self._stamps: dict[Path, Stamp] = {}
        self._version = ""

    def version(self) -> str:
        """A digest of all files, the same while none of them changes."""
        stamps = {file: _stamp(file) for file in sorted(self._files())}
        if stamps != self._stamps:
            digest = hashlib.sha256()
            for file in stamps:
                digest.update(file.relative_to(self._folder).as_posix().encode() + b"\0")
                digest.update(hashlib.sha256(file.read_bytes()).digest())
            self._stamps, self._version = stamps, digest.hexdigest()[:16]
        return self._version

    def find(self, path: str) -> Asset | None:
        """The file at a path, with or without `assets/VERSION/` before it."""
        asked, wanted = "", path
        if self._versioned and path.startswith(PREFIX):
            asked, _, wanted = path.removeprefix(PREFIX).partition("/")
        file = self._inside(wanted)
        if file is None:
            return None
        stamp = _stamp(file)
        if not self._versioned:
            return self._remembered(wanted, (stamp,), lambda: _asset(file, file.read_bytes()))
        # only HTML needs the version of now; other files are as they were in the last one, or not
        names_others = file.suffix == ".html"
        version = self.version() if names_others or not self._version else self._version
        lasting = not names_others and asked == version and self._stamps.get(file) == stamp
        key = (stamp, version if names_others else "", lasting)
        inside = file.relative_to(self._folder)
        return self._remembered(wanted, key, lambda: _read(file, inside, version, lasting=lasting))

    def _remembered(self, wanted: str, key: object, read: Callable[[], Asset]) -> Asset:
        """What was read of this file under this key, or what is read now."""
        known = self._known.get(wanted)
        if known is None or known[0] != key:
            known = self._known[wanted] = (key, read())
        return known[1]

    def _files(self) -> Iterator[Path]:
        for place, folders, names in os.walk(self._folder):
            folders[:] = [name for name in folders if not _is_hidden(name)]
            for name in names:
                if not _is_hidden(name) and Path(name).suffix.lower() in TYPES:
                    yield Path(place, name)

    def _inside(self, path: str) -> Path | None:
        """The file of a path, if it is a visible file of a known type inside the folder."""
        parts = Path(path).parts
        if not parts or any(_is_hidden(part) for part in parts):
            return None
        try:
            file = (self._folder / path).resolve()
            inside = file.is_relative_to(self._folder) and file.is_file()
        except (OSError, ValueError):
            # a name the file system cannot have
            return None
        return file if inside and file.suffix.lower() in TYPES else None


def _is_hidden(name: str) -> bool:
    return name in HIDDEN or name.startswith((".", "/"))


def _read(file: Path, inside: Path, version: str, *, lasting: bool) -> Asset:
    data = file.read_bytes()
    suffix = file.suffix.lower()
    if suffix == ".js" and inside.parts[0] != VENDORED:
        data = shortened(data.decode()).encode()
    if suffix == ".html":
        data = with_version(data.decode(), version).encode()
    return _asset(file, data, lasting=lasting)


def _asset(file: Path, data: bytes, *, lasting: bool = False) -> Asset:
    suffix = file.suffix.lower()
    gzipped = gzip.compress(data, 9, mtime=0) if suffix in COMPRESSED else None
    if gzipped is not None and len(gzipped) > 0.9 * len(data):
        gzipped = None
    return Asset(data, gzipped, TYPES[suffix], hashlib.sha256(data).hexdigest()[:32], lasting)


def with_version(html: str, version: str) -> str:
    """HTML whose relative addresses lead below `assets/VERSION/`.

    >>> with_version('<img src="a.svg"><a href="#top">', "1f")
    '<img src="assets/1f/a.svg"><a href="#top">'
    >>> with_version('{"three": "./three.js"}', "1f")
    '{"three": "./assets/1f/three.js"}'
    """
    html = LOADED.sub(rf"\g<before>{PREFIX}{version}/\g<path>", html)
    return MAPPED.sub(rf"\g<before>./{PREFIX}{version}/\g<path>", html)


def shortened(module: str) -> str:
    """A module without comments that have lines to themselves, types of expressions, indentation.

    Every line keeps its number.

    >>> shortened("/** Two\\n * lines. */\\nlet a = 1; // said\\n")
    '\\n\\nlet a = 1; // said\\n'
    >>> shortened("  f(/** @type {number} */ (a));")
    'f((a));'
    """
    plain = COMMENT.sub(lambda found: "\n" * found.group().count("\n"), module)
    return INDENT.sub("", CAST.sub("", plain))


def _stamp(file: Path) -> Stamp:
    status = file.stat()
    return status.st_mtime_ns, status.st_size
