"""The words of the project as data: scenes, requests, frames, errors. Knows no engine, no HTTP."""

from schemas.scene import Scene

__all__ = ["Scene"]
