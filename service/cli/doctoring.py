"""`cardan doctor`: checks that all requirements are installed and work."""

import os
import platform
import shutil
import sqlite3
import sys
import tempfile
from collections.abc import Callable
from dataclasses import dataclass
from importlib import metadata

from cardan.service.cli import console
from cardan.service.page import page_folder
from cardan.service.settings import Settings, SettingsError

PACKAGES = ("numba", "numpy", "scipy", "pydantic", "fastapi", "uvicorn", "sqlalchemy", "pyarrow")


@dataclass(frozen=True)
class Finding:
    """The result of one check."""

    what: str
    good: bool
    found: str


def doctor(*, as_json: bool) -> bool:
    """Run all checks, print them, and return whether all succeeded."""
    findings = [look() for look in _LOOKS]
    if as_json:
        console.print_json({"findings": [vars(finding) for finding in findings]})
    else:
        for finding in findings:
            mark = "[green]ok[/]  " if finding.good else "[red]bad[/] "
            console.out().print(f"{mark}{finding.what}: {finding.found}")
    return all(finding.good for finding in findings)


def _python() -> Finding:
    version = platform.python_version()
    return Finding("Python", sys.version_info >= (3, 11), version)


def _packages() -> Finding:
    missing, found = [], []
    for name in PACKAGES:
        try:
            found.append(f"{name} {metadata.version(name)}")
        except metadata.PackageNotFoundError:
            missing.append(name)
    text = ", ".join(found) + (f"; missing: {', '.join(missing)}" if missing else "")
    return Finding("packages", not missing, text)


def _machine() -> Finding:
    return Finding("processor", True, f"{os.cpu_count()} cores, {platform.machine()}")


def _database() -> Finding:
    good = sqlite3.sqlite_version_info >= (3, 35)
    return Finding("SQLite", good, f"{sqlite3.sqlite_version} (3.35 or newer is needed)")


def _data() -> Finding:
    try:
        folder = Settings.from_environment(os.environ).data
        folder.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryFile(dir=folder):
            free = shutil.disk_usage(folder).free
    except (OSError, SettingsError) as error:
        return Finding("data folder", False, str(error))
    return Finding("data folder", free > 2**30, f"{folder}, {free / 2**30:.1f} GiB free")


def _page() -> Finding:
    folder = page_folder()
    return Finding("page", folder is not None, str(folder or "not found: only the API is served"))


def _engine() -> Finding:
    try:
        from cardan import engine
        from cardan.engine.compiler.cache import USER_CACHE, complete_folder
        from cardan.service.cli.compiling import compile_kernels

        with console.progress_bar("Compiling kernels") as tell:
            seconds = compile_kernels(lambda done, total, what: tell(done / max(total, 1), what))
    except Exception as error:
        return Finding("engine", False, f"{type(error).__name__}: {error}")
    where = complete_folder()
    found = f"{engine.ENGINE_VERSION}, kernels in {seconds:.1f} s, "
    if where is None:
        return Finding("engine", False, f"{found}not cached: {USER_CACHE.base} cannot be used")
    return Finding("engine", True, f"{found}kept in {where}")


_LOOKS: tuple[Callable[[], Finding], ...] = (
    _python,
    _packages,
    _machine,
    _database,
    _data,
    _page,
    _engine,
)
