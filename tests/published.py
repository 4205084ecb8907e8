"""Published data: what may be copied lies in tests/data, the rest outside the project."""

import os
from pathlib import Path

import pytest

COPIED = Path(__file__).parent / "data"
SETTING = "CARDAN_REFERENCE_DATA"
OUTSIDE = Path(os.environ.get(SETTING, Path(__file__).parents[2] / "shared" / "data"))
FRICTION = OUTSIDE / "friction"

MISSING = f"published friction problems are not in {FRICTION}: set {SETTING}"
needs_friction = pytest.mark.skipif(not FRICTION.is_dir(), reason=MISSING)


def data(*parts: str) -> Path:
    """A file of the published data that lie in the project. Raises FileNotFoundError."""
    path = COPIED.joinpath(*parts)
    if not path.exists():
        raise FileNotFoundError(path)
    return path


def names_in(folder: Path, pattern: str) -> list[str]:
    """Names of the files of a collection, without their ending."""
    return sorted(path.stem for path in folder.glob(pattern))


def is_excused() -> bool:
    """Whether the friction problems are there, or nobody promised them."""
    return FRICTION.is_dir() or "CI" not in os.environ or os.environ.get(SETTING) == "none"
