"""Wheels of this checkout: one with compiled kernels for this interpreter, one for all platforms.

    python .ci/wheel.py [FOLDER] [--here]

FOLDER: where the wheels go, dist/ unless given; --here: worlds side by side are compiled for the
width of this processor's registers alone, not with AVX-512 and without it.

Every kernel that a start may call is taken from the user's cache, or compiled now. Kernels are for
x86-64-v3 where this processor has it (engine/compiler/processor.py); an installation whose
interpreter, Numba, llvmlite or processor differs does not find them and compiles its own.
"""

import argparse
import os
import subprocess
import sys
import tempfile
from pathlib import Path

from cardan.engine.compiler import ir_cache
from cardan.engine.compiler.cache import COMPLETE, PLACE, USER_CACHE, Folder
from cardan.engine.compiler.processor import FAMILY, target
from cardan.engine.compiler.warmup import call_every_kernel, compile_for_all_processors

ROOT = Path(__file__).resolve().parents[1]


class Copying(Folder):
    """The user's cache; machine code that passes through is kept in another folder, too."""

    def __init__(self, copies: Folder) -> None:
        super().__init__(USER_CACHE.base)
        self.copies = copies

    def read(self, name: str) -> bytes | None:
        content = super().read(name)
        if content is not None and name.startswith(PLACE):
            self.copies.write(name, content)
        return content

    def write(self, name: str, content: bytes) -> None:
        super().write(name, content)
        if name.startswith(PLACE):
            self.copies.write(name, content)


def collect(folder: Path, for_all: bool) -> int:
    """Fill an empty folder with the machine code of every kernel; number of files.

    for_all: for registers of every width, not of those of this processor alone.
    """
    kept = Folder(folder)
    copying = Copying(kept)
    ir_cache.USER_CACHE = copying
    ir_cache.folders = lambda: [copying]
    call_every_kernel()
    if for_all and target().name == FAMILY:
        compile_for_all_processors()
    kept.write(COMPLETE, b"")
    return sum(path.is_file() for path in folder.rglob("*"))


def build(into: Path, kernels: str) -> None:
    """Build one wheel; `kernels` is empty for the one of all platforms."""
    subprocess.run(
        [sys.executable, "-m", "hatchling", "build", "-t", "wheel", "-d", str(into)],
        cwd=ROOT,
        env=os.environ | {"CARDAN_SHIPPED_KERNELS": kernels},
        check=True,
    )


def main() -> int:
    """Build both."""
    parser = argparse.ArgumentParser()
    parser.add_argument("folder", type=Path, nargs="?", default=ROOT / "dist")
    parser.add_argument("--here", action="store_true")
    asked = parser.parse_args()
    into = asked.folder.absolute()
    with tempfile.TemporaryDirectory() as place:
        kernels = Path(place) / "kernels"
        files = collect(kernels, not asked.here)
        size = sum(path.stat().st_size for path in kernels.rglob("*") if path.is_file())
        print(f"{files} files of machine code, {size / 1e6:.1f} MB")
        build(into, "")
        build(into, str(kernels))
    return 0


if __name__ == "__main__":
    sys.exit(main())
