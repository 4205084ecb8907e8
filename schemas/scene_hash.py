"""The identity of a scene: equal scenes have equal hashes, however they were written."""

import hashlib
import json

from cardan.schemas.scene import Scene


def scene_hash(scene: Scene) -> str:
    """Return the SHA-256 (hex) of the scene in canonical JSON, defaults filled in."""
    document = scene.model_dump(mode="json")
    text = json.dumps(document, sort_keys=True, separators=(",", ":"), ensure_ascii=False)
    return hashlib.sha256(text.encode("utf-8")).hexdigest()
