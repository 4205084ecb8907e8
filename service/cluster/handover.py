"""What the members of a cluster are given: settings as text, and which engine has to read them."""

import hashlib
import json
from importlib import metadata
from pathlib import Path
from typing import Any

import cardan
from cardan.service.settings import Settings

# what the bits of a run depend on, beside its scene and its processor
COMPILERS = ("numba", "llvmlite", "numpy", "scipy")


class OtherEngineError(Exception):
    """The engine here is not that of the service: bits would depend on where a run is computed."""


def settings_text(settings: Settings) -> str:
    """Settings without the keys of clients, and the sum of this engine."""
    values = settings.model_dump(mode="json", exclude={"api_keys"})
    for name in ("database_url", "ray_token"):
        secret = getattr(settings, name)
        values[name] = None if secret is None else secret.get_secret_value()
    return json.dumps({"engine": engine_sum(), "settings": values})


def read_settings(text: str) -> Settings:
    """The settings of a text. Raises OtherEngineError."""
    given: dict[str, Any] = json.loads(text)
    if given["engine"] != engine_sum():
        raise OtherEngineError(
            "this node has another version of Cardan, Numba or NumPy than the service that asks "
            "it to compute; install the same on all nodes"
        )
    return Settings(**given["settings"])


def engine_sum() -> str:
    """SHA-256 (hex) of the sources of the engine and the versions of what compiles it."""
    root = Path(cardan.__file__).parent
    digest = hashlib.sha256(cardan.__version__.encode())
    for package in ("engine", "schemas"):
        for path in sorted((root / package).rglob("*.py")):
            digest.update(path.relative_to(root).as_posix().encode())
            digest.update(path.read_bytes())
    for name in COMPILERS:
        digest.update(metadata.version(name).encode())
    return digest.hexdigest()
