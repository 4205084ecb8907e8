"""Find a model and its meshes: in a folder, in an unpacked archive, by ROS `package://` URLs.

Only files below the allowed folder are read; an archive is written only below its own folder.
"""

import lzma
import re
import zipfile
import zlib
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from urllib.parse import unquote, urlsplit

from cardan.schemas.spelling import listed
from cardan.service.importing.refusal import ImportRefusedError

MAX_FILES = 4_000
MAX_BYTES = 512 * 1024**2
COPY_BYTES = 1024**2
HEAD_BYTES = 65536
"""Beginning of a file in which the first element of a model is looked for."""
MODEL_ENDINGS = (".urdf", ".xml", ".mjcf")
SCENE_ENDING = ".json"
ARCHIVE_BEGINNINGS = (b"PK\x03\x04", b"PK\x05\x06")
"""How a zip archive begins, and one without files."""
BEGINNING = re.compile(rb"<(?:robot|mujoco)[\s/>]")
"""How the first element of a model begins."""
DAMAGES = (
    zipfile.BadZipFile,
    zlib.error,
    lzma.LZMAError,
    NotImplementedError,
    RuntimeError,
    EOFError,
    OSError,
)
"""Errors of archives: damaged or encrypted data, unknown methods, names that no file can have."""


@dataclass(frozen=True)
class Folder:
    """Files a model may name: all below `root`."""

    root: Path
    packages: tuple[Path, ...] = ()
    """Folders in which packages of `package://` are looked for first."""

    def text(self, path: Path) -> str:
        """The text of a file of the model. Raises ImportRefusedError."""
        inside = self.inside(path)
        if inside is None or not inside.is_file():
            raise ImportRefusedError("file_missing", f"There is no file '{self.shown(path)}'.")
        try:
            return inside.read_text(encoding="utf-8-sig")
        except UnicodeDecodeError as error:
            what = f"byte {error.start} is {error.object[error.start]:#04x}"
            raise ImportRefusedError(
                "file_unreadable",
                f"'{self.shown(path)}' is not a text in UTF-8: {what}.",
                "Save it in UTF-8.",
            ) from error
        except OSError as error:
            why = error.strerror or error
            raise ImportRefusedError(
                "file_unreadable", f"'{self.shown(path)}' cannot be read: {why}."
            ) from error

    def inside(self, path: Path) -> Path | None:
        """The path with links and `..` resolved, if it is below the root."""
        resolved = path.resolve()
        return resolved if resolved.is_relative_to(self.root.resolve()) else None

    def shown(self, path: Path) -> str:
        """A path for messages: relative to the root, or its name if that is the whole machine."""
        if self.root == Path(self.root.anchor):
            return path.name
        try:
            return path.resolve().relative_to(self.root.resolve()).as_posix()
        except ValueError:
            return path.name

    def find(self, reference: str, base: Path) -> Path | None:
        """The file of a reference: relative to `base`, `package://name/...`, or `file://`."""
        for candidate in self._candidates(reference, base):
            try:
                inside = self.inside(candidate)
                if inside is not None and inside.is_file():
                    return inside
            except (OSError, ValueError):
                continue
        return None

    def _candidates(self, reference: str, base: Path) -> list[Path]:
        scheme = urlsplit(reference).scheme if "://" in reference else ""
        if scheme == "package":
            parts = PurePosixPath(unquote(reference.removeprefix("package://"))).parts
            return self._in_packages(parts, base) if len(parts) > 1 else []
        if scheme == "file":
            return [Path(unquote(urlsplit(reference).path))]
        if scheme:
            return []
        plain = Path(reference.replace("\\", "/"))
        return [base / plain, base / plain.name, self.root / plain]

    def _in_packages(self, parts: tuple[str, ...], base: Path) -> list[Path]:
        """A package is a folder of its name: in or among `packages` and those above the model."""
        name, rest = parts[0], Path(*parts[1:])
        above = [folder for folder in (base, *base.parents) if self.inside(folder) is not None]
        found = [folder / name / rest for folder in self.packages]
        found += [folder / rest for folder in (*self.packages, *above) if folder.name == name]
        found += [folder / name / rest for folder in above]
        # an archive of a package may lack the folder of its name
        return found + [folder / rest for folder in above]


def is_archive(path: Path) -> bool:
    """Whether a file is a zip archive, by how it begins."""
    with path.open("rb") as file:
        return file.read(4) in ARCHIVE_BEGINNINGS


def unpack(archive: Path, into: Path) -> None:
    """Unpack a zip archive below a folder.

    Raises ImportRefusedError if it is damaged, too large, or names a path outside itself.
    """
    try:
        with zipfile.ZipFile(archive) as source:
            entries = [entry for entry in source.infolist() if not entry.is_dir()]
            if len(entries) > MAX_FILES:
                raise ImportRefusedError(
                    "too_many_files",
                    f"The archive holds {len(entries)} files; {MAX_FILES} are allowed.",
                )
            left = MAX_BYTES
            for entry in entries:
                left -= _unpack_one(source, entry, into, left)
    except DAMAGES as error:
        # messages of operating-system errors name the folder of the service
        why = getattr(error, "strerror", None) or error
        raise ImportRefusedError(
            "not_an_archive", f"The zip archive cannot be read: {why}."
        ) from error


def _unpack_one(source: zipfile.ZipFile, entry: zipfile.ZipInfo, into: Path, left: int) -> int:
    """Write one file; returns its unpacked size, whatever size the archive claims [bytes]."""
    path = PurePosixPath(entry.filename.replace("\\", "/"))
    odd = ":" in entry.filename or "\0" in entry.filename or not path.parts
    if path.is_absolute() or ".." in path.parts or odd:
        raise ImportRefusedError(
            "path_outside", f"The archive names a path outside of itself: '{entry.filename}'."
        )
    # a link in an archive is a file that says where: it is written as that text, never followed
    target = into.joinpath(*path.parts)
    target.parent.mkdir(parents=True, exist_ok=True)
    written = 0
    with source.open(entry) as packed, target.open("wb") as file:
        while block := packed.read(COPY_BYTES):
            written += len(block)
            if written > left:
                raise ImportRefusedError(
                    "too_large", f"The archive unpacks to more than {MAX_BYTES} bytes."
                )
            file.write(block)
    return written


def find_model(folder: Folder, main: str | None) -> Path:
    """The model of an unpacked archive: the one named, or the only one near the top."""
    if main is not None:
        found = folder.find(main, folder.root)
        if found is None:
            raise ImportRefusedError("file_missing", f"There is no file '{main}'.")
        return found
    files = [path for path in sorted(folder.root.rglob("*")) if path.is_file()]
    models = [path for path in files if is_model(path)] if len(files) > 1 else files
    models = models or [path for path in files if is_scene(path)]
    if not models:
        names = listed([folder.shown(path) for path in files])
        there = f"There is no model among the files: {names}." if files else "There are no files."
        raise ImportRefusedError(
            "no_model",
            there,
            "A .urdf, an .xml with <mujoco> or <robot> as its root, or a .json with `bodies`.",
        )
    depth = min(len(path.parts) for path in models)
    first = [path for path in models if len(path.parts) == depth]
    if len(first) > 1:
        # a scene beside the robot it includes is the whole
        first = [path for path in first if path.stem == "scene"] or first
    if len(first) > 1:
        names = ", ".join(folder.shown(path) for path in first[:20])
        raise ImportRefusedError(
            "several_models",
            f"There are several models: {names}.",
            "Name one with `main`.",
        )
    return first[0]


def is_model(path: Path) -> bool:
    """Whether a file looks like a URDF or MJCF model."""
    if path.suffix.lower() not in MODEL_ENDINGS:
        return False
    with path.open("rb") as file:
        return BEGINNING.search(file.read(HEAD_BYTES)) is not None


def is_scene(path: Path) -> bool:
    """Whether a file looks like a scene document."""
    return path.suffix.lower() == SCENE_ENDING and b'"bodies"' in path.read_bytes()
